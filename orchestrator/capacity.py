"""How many workers a run has, and how many games each keeps open: as configured, and fewer where memory runs short."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

QUIET_SECONDS: Final = 60.0
"""After so long without a want of memory, one worker or twice the games are tried again."""


class Capacity:
    """``workers`` as configured, ``None`` for as many as the cluster has processors; ``clock`` never goes back."""

    def __init__(self, workers: int | None, games_in_flight: int, clock: Callable[[], float]) -> None:
        self._configured = workers
        self._most_in_flight = games_in_flight
        self._clock = clock
        self._held_back = 0
        self._changed = clock()
        self.games_in_flight = games_in_flight
        """Games that wait which one worker may have open now."""

    def workers(self, processors: int) -> int:
        """How many there should be on a cluster of so many processors, at least one."""
        self._recover()
        wanted = self._configured or processors
        self._held_back = min(self._held_back, wanted - 1) if wanted > 1 else 0
        return max(wanted - self._held_back, 1)

    def one_worker_fewer(self) -> None:
        """A worker was ended for want of memory on a node that has others: they have more without it."""
        self._held_back += 1
        self._changed = self._clock()

    def fewer_games(self) -> None:
        """The only worker of a node was ended for want of memory with several games open."""
        self.games_in_flight = max(self.games_in_flight // 2, 1)
        self._changed = self._clock()

    def _recover(self) -> None:
        if self._clock() - self._changed >= QUIET_SECONDS:
            self._changed = self._clock()
            self._held_back = max(self._held_back - 1, 0)
            self.games_in_flight = min(self.games_in_flight * 2, self._most_in_flight)
