"""Which games are with which worker, and until when without a sign of progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from orchestrator.schedule import ScheduledGame

ATTENTION_SECONDS: Final = 3.0
"""Of the time between two looks at the leases no more counts: whoever does not look sees no progress either."""


@dataclass(slots=True)
class Try:
    """One try of one game."""

    scheduled: ScheduledGame
    attempt: int
    waits: bool
    """An agent of this game waits for something outside the process."""
    company: int = 0
    """How many games at most its worker may have at the time, itself included, so that a crash tells more about whose
    it is than the one before; 0 for a game that is not suspected of anything."""
    epoch: int = 0
    failures: int = 0
    """How many tries of it failed and count."""
    failed_with: frozenset[str] = frozenset()
    """Workers with which it failed at this start of the run."""
    failed_on: frozenset[str] = frozenset()
    """Nodes on which it failed or found too little memory."""
    spared: int = 0
    """How often it was lost with a worker for a reason outside of all games."""


@dataclass(eq=False, slots=True)
class Lease:
    """Games that were sent to a worker together; all are lost to it when the lease lapses.

    Several games only where none of them waits: the worker plays these one after the other, leases in the order in
    which it got them.
    """

    tries: tuple[Try, ...]
    worker: str
    granted: float
    expires: float = field(default=0.0)

    @property
    def waits(self) -> bool:
        """Whether this is one game that is played beside others of its worker."""
        return self.tries[0].waits

    @property
    def company(self) -> int:
        """How many games at most the worker may have meanwhile; 0 where that does not matter."""
        return self.tries[0].company


class Attention:
    """Notices that this process stood still: two turns were more than ``seconds`` apart."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._seconds = seconds
        self._clock = clock
        self._last = clock()
        self._came_back = float("-inf")

    def turn(self) -> None:
        """To be called again and again."""
        now = self._clock()
        if now - self._last > self._seconds:
            self._came_back = now
        self._last = now

    def was_away(self, within: float) -> bool:
        """Whether it came back within the last ``within`` seconds."""
        return self._clock() - self._came_back <= within


class LeaseBook:
    """All leases that are open. Time comes from ``clock``, which must never go back (seconds).

    :meth:`lapsed` is to be asked about every second; where it is not, because this process stood still or was busy,
    the time of all leases stands still with it.
    """

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self.seconds = seconds
        self._clock = clock
        self._looked = clock()
        self._open: dict[str, list[Lease]] = {}
        self._leases = self._games = 0

    def open(self, tries: Iterable[Try], worker: str) -> Lease:
        """A new lease, which lapses after the book's time unless it is renewed."""
        now = self._clock()
        lease = Lease(tuple(tries), worker, granted=now, expires=now + self.seconds)
        self._open.setdefault(worker, []).append(lease)
        self._leases += 1
        self._games += len(lease.tries)
        return lease

    def renew(self, leases: Iterable[Lease]) -> None:
        """There was progress: the time of ``leases`` begins anew."""
        expires = self._clock() + self.seconds
        for lease in leases:
            lease.expires = expires

    def close(self, lease: Lease) -> None:
        """The games of ``lease`` are back; closing twice does nothing."""
        mine = self._open.get(lease.worker, [])
        if lease in mine:
            mine.remove(lease)
            self._leases -= 1
            self._games -= len(lease.tries)

    def lapsed(self) -> list[Lease]:
        """Leases whose time is over."""
        now = self._clock()
        absent = now - self._looked - ATTENTION_SECONDS
        self._looked = now
        if absent > 0:
            for leases in self._open.values():
                for lease in leases:
                    lease.expires += absent
        return [lease for leases in self._open.values() for lease in leases if lease.expires <= now]

    def tries(self) -> list[Try]:
        """All games that are out."""
        return [one for leases in self._open.values() for lease in leases for one in lease.tries]

    def of(self, worker: str) -> list[Lease]:
        """The open leases of ``worker``, oldest first."""
        return list(self._open.get(worker, ()))

    def __len__(self) -> int:
        return self._leases

    def games(self) -> int:
        """How many games are out."""
        return self._games
