"""The keeper of the limits as a Ray actor, the way workers reach it, and how the driver keeps it alive."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

from agents.llm.models import Limits
from orchestrator.limits.book import LimitBook
from orchestrator.limits.gate import KeeperAway
from orchestrator.limits.messages import Answer, Counters, Report
from orchestrator.servers import end_actor

_NUMBER = "#"
"""Between the name of the keepers and the number of each; the highest is the one in office."""


class LimitKeeper:
    """The actor: a :class:`LimitBook` that answers reports, one at a time and at once."""

    def __init__(
        self, accounts: Mapping[str, Limits], budget_usd: float | None, spent_usd: float, recent: bool, heir: bool
    ) -> None:
        self._book = LimitBook(accounts, budget_usd, spent_usd, recent, time.monotonic, heir)

    async def report(self, report: Report) -> Answer:
        """See :meth:`LimitBook.report`."""
        return self._book.report(report)

    async def forget(self, worker: str) -> None:
        """See :meth:`LimitBook.forget`."""
        self._book.forget(worker)

    async def counters(self) -> Counters:
        """See :meth:`LimitBook.counters`."""
        return self._book.counters()


class Keeper:
    """The driver's side: starts the keeper under ``name`` and puts another in its place when it dies.

    ``spent_usd`` is asked at every start of a keeper for what the run has paid so far by its journal; a first keeper
    takes ``recent`` to tell whether calls may have been made within the last minute (by an earlier start of the run),
    the next ones know that they have. Ray must be initialized.
    """

    def __init__(
        self,
        name: str,
        accounts: Mapping[str, Limits],
        budget_usd: float | None,
        spent_usd: Callable[[], float],
        recent: bool,
    ) -> None:
        import ray

        self._ray: Any = ray
        self.name = name
        self._accounts = dict(accounts)
        self._budget = budget_usd
        self._spent = spent_usd
        self._asked: Any = None
        self._counters: Counters | None = None
        self.starts = 0
        self._actor = self._start(recent, heir=False)

    def look(self) -> Counters | None:
        """The newest counters that have come, ``None`` before the first; never waits.

        To be called about every second: it is here that a keeper that died is noticed and replaced.
        """
        if self._asked is None:
            self._asked = self._actor.counters.remote()
            return self._counters
        if self._ray.wait([self._asked], timeout=0)[0]:
            asked, self._asked = self._asked, None
            try:
                self._counters = self._ray.get(asked)
            except self._ray.exceptions.ActorUnavailableError:
                pass  # Out of reach for the moment; were it dead, the next question would say so.
            except self._ray.exceptions.RayActorError:
                self._actor = self._start(recent=True, heir=True)
        return self._counters

    def forget(self, worker: str) -> None:
        """A worker has died: what it held is free at once rather than when its lease lapses."""
        self._actor.forget.remote(worker)

    def close(self) -> None:
        """End the keeper."""
        end_actor(self._actor)

    def _start(self, recent: bool, heir: bool) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        # On the driver's node where that is possible: a node that is lost must not take the limits with it.
        here = NodeAffinitySchedulingStrategy(self._ray.get_runtime_context().get_node_id(), soft=True)
        options = {
            # Ray keeps a dead actor's name for a while.
            "name": f"{self.name}{_NUMBER}{self.starts}",
            "num_cpus": 0,
            "max_restarts": 0,
            "max_concurrency": 1_000,
            "scheduling_strategy": here,
        }
        # It does not restart by itself: it would begin anew with what had been spent when it was first started.
        actor: Any = self._ray.remote(**options)(LimitKeeper)
        keeper = actor.remote(self._accounts, self._budget, self._spent(), recent, heir)
        self.starts += 1
        return keeper


class KeeperLink:
    """How a worker reaches the keeper of the name ``name`` (:data:`orchestrator.limits.gate.Link`)."""

    def __init__(self, name: str) -> None:
        import ray

        self._ray: Any = ray
        self._name = name
        self._actor: Any = None

    async def __call__(self, report: Report) -> Answer:
        """Bring the report there and the answer back. Raises :class:`KeeperAway`."""
        try:
            if self._actor is None:
                # Asks Ray's server and waits for it.
                self._actor = await asyncio.get_running_loop().run_in_executor(None, self._find)
            answer: Answer = await self._actor.report.remote(report)
        except (ValueError, self._ray.exceptions.RayActorError) as error:
            self._actor = None
            raise KeeperAway(f"{self._name}: {type(error).__name__}") from error
        return answer

    def _find(self) -> Any:
        """The keeper in office. Raises ``ValueError`` where there is none."""
        known = [name.rpartition(_NUMBER) for name in self._ray.util.list_named_actors()]
        numbers = [int(number) for name, _, number in known if name == self._name]
        if not numbers:
            raise ValueError("none is there")
        return self._ray.get_actor(f"{self._name}{_NUMBER}{max(numbers)}")
