"""Which workers fail games that others can play.

A machine may lack a library, a file or its network, so that whatever is played there fails, and quickly: it would take
every game of the run and fail it. A game alone cannot tell whether it or its worker is to blame; others can.

Others can often play, a little later, what failed because of trouble that all had, such as an endpoint that was away.
So a worker is to blame for its streak if others were at work all the while and none of them failed anything; where that
is not so, only if it goes on to fail once others have shown that the trouble is over.
"""

from __future__ import annotations

from typing import Final

STREAK: Final = 3
"""So many games in a row that a worker failed and that others can play make it unfit."""


class Fitness:
    """What workers failed since the last game that they brought to a result; plain bookkeeping without a clock.

    ``streak`` games make one unfit. What is a worker here may as well be a node with all workers on it.
    """

    def __init__(self, streak: int = STREAK) -> None:
        self._most = streak
        self._failed: dict[str, dict[str, bool]] = {}
        """By worker the games of its streak, oldest first, and whether another one has played each since."""
        self._again: set[str] = set()
        """Workers that failed once more after others had played a game of their streak: no passing trouble of all."""
        self._doubtful: set[str] = set()
        """Workers whose streak may be part of trouble that others had as well."""
        self._played: set[str] = set()
        """Workers that brought a game to a result since :meth:`unfit` was asked last."""

    def failed(self, worker: str, game_id: str, alone: bool = False) -> None:
        """A game failed with ``worker`` in a way that may be the worker's own fault.

        ``alone``: no other one is at work, so that trouble of all would show with this one only.
        """
        streak = self._failed.setdefault(worker, {})
        if any(streak.values()):
            self._again.add(worker)
        streak[game_id] = False
        # What comes back together with results, in any order, is no streak yet.
        if alone or len(self._failed) > 1 or worker in self._played:
            self._doubtful.update(self._failed)

    def finished(self, worker: str, game_id: str) -> None:
        """``worker`` brought a game to its result: whatever it failed before was no fault of its own."""
        self._played.add(worker)
        if not self._failed:
            return
        self.forget(worker)
        for streak in self._failed.values():
            if game_id in streak:
                streak[game_id] = True

    def void(self, game_id: str) -> None:
        """Nobody can play that game, so it tells nothing about anybody."""
        for worker, streak in list(self._failed.items()):
            streak.pop(game_id, None)
            if not streak:
                self.forget(worker)

    def forget(self, worker: str) -> None:
        """A worker has ended, or has shown that it can play."""
        self._failed.pop(worker, None)
        self._again.discard(worker)
        self._doubtful.discard(worker)

    def streak(self, worker: str) -> list[str]:
        """The games that it failed since its last result."""
        return list(self._failed.get(worker, ()))

    def unfit(self) -> list[str]:
        """Workers that are to be taken out. To be asked whenever results and failures have been told."""
        self._played.clear()
        to_blame = [worker for worker in self._failed if self._is_to_blame(worker)]
        return [worker for worker in to_blame if sum(self._failed[worker].values()) >= self._most]

    def rests(self, worker: str) -> bool:
        """Whether a worker should get no game until it is known whether others can play those that it failed."""
        streak = self._failed.get(worker, {})
        return len(streak) >= self._most and (self._is_to_blame(worker) or not any(streak.values()))

    def _is_to_blame(self, worker: str) -> bool:
        """Whether it is to blame for those games of its streak that others can play."""
        return worker in self._again or worker not in self._doubtful
