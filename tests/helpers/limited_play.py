"""Workers, a keeper of limits and a server in virtual time: all of the gate's own code, only the network left out."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from virtual_time import run_virtual

from agents.llm.client import Estimate
from agents.llm.contract import CallFailed, Usage
from agents.llm.models import ModelConfig, parse_model
from orchestrator.limits import Counters, KeeperAway, LimitBook, WorkerLimits, account_limits, in_decision, in_game
from orchestrator.limits.messages import Answer, Report


def model(name: str = "m", url: str = "http://host/v1", price: float = 1.0, **limits: int) -> ModelConfig:
    """A model with such limits and a price in US dollars per million tokens, of input and output alike."""
    config = {"id": name, "base_url": url, "context_size": 1_000_000, "price": {"input": price, "output": price}}
    return parse_model({**config, "limits": limits})


@dataclass
class Server:
    """What a server sees; ``refuse`` says how a call that begins now is refused, if it is: with what Retry-After."""

    clock: Callable[[], float]
    refuse: Callable[[Server], tuple[float | None] | None] = lambda server: None
    sent: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    games: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    in_flight: Counter[str] = field(default_factory=Counter)
    """By worker."""
    most_in_flight: int = 0
    spent: float = 0.0
    most_committed: float = 0.0
    """US dollars spent and being spent, at the worst moment."""
    committed: Counter[str] = field(default_factory=Counter)

    def most_in_a_minute(self, amounts: list[int] | None = None) -> int:
        """The most calls, or the largest sum of their ``amounts``, that began within any 60 seconds."""
        amounts = amounts or [1] * len(self.sent)
        first = total = most = 0
        for last, now in enumerate(self.sent):
            total += amounts[last]
            while self.sent[first] <= now - 60:
                total -= amounts[first]
                first += 1
            most = max(most, total)
        return most


@dataclass
class World:
    """Some workers that play games of calls; see :func:`play`."""

    models: list[ModelConfig]
    budget: float | None = None
    spent: float = 0.0
    hop: float = 0.003
    latency: float = 1.0
    estimate: tuple[int, int] = (1000, 1000)
    took: tuple[int, int] = (1000, 200)
    seed: int = 1
    refuse: Callable[[Server], tuple[float | None] | None] = lambda server: None

    def start(self) -> None:
        """Begin; in the loop."""
        self.loop = asyncio.get_running_loop()
        self.server = Server(self.loop.time, self.refuse)
        self.random = random.Random(self.seed)
        self.book: LimitBook | None = None
        self.start_keeper(self.spent, recent=False)
        self.workers: dict[str, WorkerLimits] = {}
        self.tasks: dict[str, list[asyncio.Task[None]]] = {}
        self.failures: list[CallFailed] = []

    def start_keeper(self, spent: float, recent: bool, heir: bool = False) -> None:
        """A new keeper in place of the one before."""
        self.book = LimitBook(account_limits(self.models), self.budget, spent, recent, self.loop.time, heir)

    async def link(self, report: Report) -> Answer:
        """The way to the keeper and back."""
        await asyncio.sleep(self.random.uniform(0.5, 1.5) * self.hop)
        if self.book is None:
            raise KeeperAway("gone")
        answer = self.book.report(report)
        await asyncio.sleep(self.random.uniform(0.5, 1.5) * self.hop)
        return answer

    def worker(self, name: str) -> WorkerLimits:
        """A new worker."""
        self.workers[name] = WorkerLimits(self.link, name, self.loop.time)
        self.tasks[name] = []
        return self.workers[name]

    def game(self, worker: str, name: str, of: ModelConfig, calls: int | None = None, decision: int = 1) -> None:
        """A game that makes one call after the other, ``calls`` of them or until all ends, ``decision`` to each one."""
        self.tasks[worker].append(self.loop.create_task(self._game(worker, name, of, calls, decision)))

    async def _game(self, worker: str, name: str, of: ModelConfig, calls: int | None, decision: int) -> None:
        gate = self.workers[worker].gate(of)
        server = self.server
        estimated = Estimate(*self.estimate, of.price.cost(Usage(*self.estimate)))
        usage = Usage(*self.took)
        cost = of.price.cost(usage)
        made = 0
        with in_game(name), contextlib.ExitStack() as under_way:
            while calls is None or calls > 0:
                if made % decision == 0:
                    under_way.close()
                    under_way.enter_context(in_decision())
                try:
                    permit = await gate.acquire(estimated)
                except CallFailed as failed:
                    self.failures.append(failed)
                    return
                refused = server.refuse(server)
                server.sent.append(self.loop.time())
                server.tokens.append(sum(self.took))
                server.games[name] += 1
                server.models[of.id] += 1
                server.in_flight[worker] += 1
                server.committed[worker] += estimated.cost_usd  # type: ignore[assignment]
                server.most_in_flight = max(server.most_in_flight, server.in_flight.total())
                server.most_committed = max(server.most_committed, server.spent + server.committed.total())
                try:
                    await asyncio.sleep(self.latency * self.random.uniform(0.2, 1.8) * (0.1 if refused else 1.0))
                except asyncio.CancelledError:
                    permit.settle(None, 0.0)
                    raise
                finally:
                    server.in_flight[worker] -= 1
                    server.committed[worker] -= estimated.cost_usd  # type: ignore[assignment]
                if refused is not None:
                    permit.settle(None, 0.0)
                    gate.rate_limited(refused[0])
                    continue
                server.spent += cost
                permit.settle(usage, cost)
                calls = None if calls is None else calls - 1
                made += 1

    async def die(self, worker: str) -> None:
        """Kill a worker: its calls are cut off, and it tells nobody."""
        limits = self.workers.pop(worker)
        tasks = self.tasks.pop(worker)
        if limits._task is not None:
            tasks.append(limits._task)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.server.in_flight.pop(worker, None)
        self.server.committed.pop(worker, None)

    async def finish(self) -> None:
        """Wait until all games are over, which must not take for ever."""
        async with asyncio.timeout(10_000):
            await asyncio.gather(*(task for tasks in self.tasks.values() for task in tasks))

    async def end(self) -> Counters | None:
        """Stop all."""
        counters = None if self.book is None else self.book.counters()
        for worker in list(self.workers):
            await self.die(worker)
        return counters


def play(script: Callable[[World], Any], **world: Any) -> World:
    """Run ``script`` (a coroutine function of the world) in virtual time; the world afterwards."""
    made = World(**world)

    async def main() -> None:
        made.start()
        try:
            await script(made)
        finally:
            await made.end()

    run_virtual(main())
    return made


__all__ = ["Mapping", "Server", "World", "model", "play"]
