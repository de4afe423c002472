"""How far workers are, by what they answer when they are asked, and what that says about their leases."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from orchestrator.cluster import WorkerHandle
from orchestrator.leases import LeaseBook
from orchestrator.workers import Progress

LOOK_SECONDS: Final = 1.0
"""How often workers are asked."""
GRACE_SECONDS: Final = 1.0
"""How much longer than its limit a game may take before it is cut from outside."""


@dataclass(slots=True)
class _Watch:
    """What is known about one worker's progress."""

    seen: Progress | None = None
    asked: Any = None
    """Reference of the question that is not answered yet."""
    returned: float = float("-inf")
    """When it last returned games that never wait, which says as much."""


class Watches:
    """Asks workers, and renews those of ``leases`` whose games go on; a game may take ``game_seconds``."""

    def __init__(self, leases: LeaseBook, game_seconds: float) -> None:
        self._leases = leases
        self._longest = game_seconds + GRACE_SECONDS
        self._watches: dict[str, _Watch] = {}

    @property
    def questions(self) -> dict[Any, str]:
        """The references of questions that are not answered yet, each with the worker that was asked."""
        return {watch.asked: worker for worker, watch in self._watches.items() if watch.asked is not None}

    def ask(self, handles: Iterable[WorkerHandle]) -> None:
        """Ask those workers how far they are that have games and have not told lately; about once a second."""
        now = time.monotonic()
        for handle in handles:
            watch = self._of(handle.name)
            leases = self._leases.of(handle.name)
            is_known = now - watch.returned < LOOK_SECONDS and not any(lease.waits for lease in leases)
            if handle.ready and watch.asked is None and leases and not is_known:
                watch.asked = handle.ask()

    def returned(self, worker: str) -> None:
        """A worker has returned games that never wait: those that lie ready behind them are being played."""
        self._of(worker).returned = time.monotonic()
        self._leases.renew(lease for lease in self._leases.of(worker) if not lease.waits)

    def answered(self, worker: str, progress: Progress | None) -> str | None:
        """Renew the leases of games that went on; returns the id of a game that is over its time and not back.

        ``progress`` is ``None`` where the worker has died instead; the references of its games tell of that.
        """
        watch = self._of(worker)
        watch.asked = None
        if progress is None:
            return None
        before, watch.seen = watch.seen, progress
        went_on = before is None or before.steps != progress.steps
        leases = self._leases.of(worker)
        for lease in leases:
            if lease.waits:
                game_id = lease.tries[0].scheduled.game_id
                steps = progress.waiting_steps.get(game_id)
                held = game_id in progress.held
                if held or before is None or before.waiting_steps.get(game_id) != steps:
                    self._leases.renew([lease])
            elif went_on:
                self._leases.renew([lease])
        out = {one.scheduled.game_id for lease in leases for one in lease.tries}
        return progress.playing if progress.playing_seconds > self._longest and progress.playing in out else None

    def is_silent(self, worker: str) -> bool:
        """Whether a worker owes an answer."""
        return self._of(worker).asked is not None

    def playing(self, worker: str) -> str | None:
        """The game that a worker plays in one go by what it said last; ``None`` for one that owes an answer."""
        watch = self._of(worker)
        return None if watch.asked is not None or watch.seen is None else watch.seen.playing

    def forget(self, worker: str) -> None:
        """A worker has ended."""
        self._watches.pop(worker, None)

    def _of(self, worker: str) -> _Watch:
        return self._watches.setdefault(worker, _Watch())
