"""The games that are still to be played: those of the schedule, and those that come back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from orchestrator.group_commit import GroupCommit
from orchestrator.journal import Journal
from orchestrator.leases import Try
from orchestrator.schedule import Schedule

_SET_ASIDE: Final = 2048
_CHUNK: Final = 500
_LOOKED_THROUGH: Final = 64
"""Of the games that come back, so many are looked through for one that suits a worker."""

Suits = Callable[[Try], bool]
"""Whether a worker may have a game."""


@dataclass(slots=True)
class _Waiting:
    """Games that are to be played, those that come back first."""

    again: deque[Try] = field(default_factory=deque)
    aside: deque[Try] = field(default_factory=deque)

    def take(self, suits: Suits) -> Try | None:
        """The next game that suits, if there is one here."""
        for place, one in enumerate(islice(self.again, _LOOKED_THROUGH)):
            if suits(one):
                del self.again[place]
                return one
        return self.aside.popleft() if self.aside else None


class Backlog:
    """All games of ``schedule`` that have no result yet; ``waits`` tells by entrant whether its agents wait.

    A game of which ``is_paused`` is true is left for a later start. ``give_up`` is asked about every game that failed
    at an earlier start; one of which it is true has its result now. Games that have a ``company`` go to ``suspects``.
    """

    def __init__(
        self,
        schedule: Schedule,
        journal: Journal,
        commits: GroupCommit,
        waits: Mapping[str, bool],
        is_paused: Callable[[tuple[str, str]], bool],
        give_up: Callable[[Try], bool],
    ) -> None:
        self._schedule = schedule
        self._journal = journal
        self._commits = commits
        self._waits = waits
        self._is_paused = is_paused
        self._give_up = give_up
        self._source = self._unfinished()
        self._exhausted = False
        self._queues = {False: _Waiting(), True: _Waiting()}
        self.suspects: deque[Try] = deque()

    def take(self, waits: bool, suits: Suits) -> Try | None:
        """The next game of those that wait, or of those that do not; ``None`` where none can be had now."""
        queue, other = self._queues[waits], self._queues[not waits]
        while True:
            one = queue.take(suits)
            if one is None:
                if self._exhausted or len(other.aside) >= _SET_ASIDE:
                    return None
                one = next(self._source, None)
                if one is None:
                    self._exhausted = True
                    return None
                if one.failures and self._give_up(one):
                    continue
            if self._is_paused(one.scheduled.entrants):
                continue  # A later start plays it.
            if one.company:
                self.suspects.append(one)
            elif one.waits is not waits:
                other.aside.append(one)
            else:
                return one

    def put_back(self, games: Sequence[Try]) -> None:
        """Games that did not come to a result."""
        for one in games:
            if one.company:
                self.suspects.append(one)
            else:
                self._queues[one.waits].again.append(one)

    def come_back(self) -> Iterator[Try]:
        """Games that were out and are to be played again."""
        yield from self.suspects
        for queue in self._queues.values():
            yield from queue.again

    @property
    def empty(self) -> bool:
        """Whether nothing is left to be played."""
        left = bool(self.suspects) or any(queue.again or queue.aside for queue in self._queues.values())
        return self._exhausted and not left

    def _unfinished(self) -> Iterator[Try]:
        """Games of the schedule without a result, with the number of the try that is next."""
        games = iter(self._schedule)
        while chunk := list(islice(games, _CHUNK)):
            ids = [game.game_id for game in chunk]
            unfinished = self._commits.call(self._journal.unfinished, ids)
            failures = self._commits.call(self._journal.failures, list(unfinished))
            for game in chunk:
                if game.game_id in unfinished:
                    waits = any(self._waits[entrant] for entrant in game.entrants)
                    failed = failures.get(game.game_id)
                    if failed is None:
                        yield Try(game, 1, waits)
                    else:
                        yield Try(
                            game,
                            failed.last + 1,
                            waits,
                            company=int(not waits),
                            failures=failed.counted,
                            failed_with=frozenset(failed.workers),
                        )
