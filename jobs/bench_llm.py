"""Measures LLM agents against a real loopback server, a process of its own: limits kept, processor time, memory.

What is measured how, case by case (two workers, two agents that ask the same model):

- ``limit``: a tournament at 60 requests a second (3600 a minute), which the server enforces as well. From three seconds
  after the first request on, ``limit_utilisation`` is the requests that the server counts (``GET /stats``) over limit
  times time; ``refusals`` are replies other than 200.
- ``short`` and ``long``, at 50 ms a call: a conversation of about 3 kB, and one of about 120 kB. The short one is the
  smallest prompt there is, replies held to the legal actions, in games that end after two turns (later the position
  alone is longer than that); the long one is everything there is, with a window. ``kb_per_call`` is how long requests
  really were, which depends on the decks, four bytes a token as the server counts. First *alone*: games and clients in
  this process, without Ray, journal and limits.

  - ``cpu_ms_per_decision_harness`` is the processor time of the agents' own steps: observation to text, conversation,
    reading and judging replies. ``…_engine`` is the rest of a game's steps. ``…_client`` is all else that the process
    took: requests, HTTP, replies, the event loop.

  Then a *tournament* with limits that are kept but never reached, once requests are as long as they shall be:

  - ``decisions_per_s`` are decisions with a call that the journal took, over wall-clock time, so it depends on whatever
    else the machine does. ``…_server`` is the processor time of the server's process, ``…_journal`` that of the
    driver's (journal, parts, sending games), ``…_workers`` that of the workers (client, harness and engine again, and
    rows, limits and Ray's part in them), ``…_ray`` that of Ray's servers and of the keeper of the limits;
    ``cpu_ms_per_decision`` is all four.
  - ``limiter_ms_p50`` is the median of ``queue_seconds`` of these calls: what a call waits where no limit is reached.

- ``200 games``: ``rss_mb_per_game`` is resident memory of the workers with 200 open games, less that when they are
  ready and have played nothing, over 200; so it has its share of all that is loaded with the first call. The harness is
  ``full``, its window not filled: ``decisions_per_game`` is how far the games are.

Processor time is user and system time of whole processes, and per decision for which a model was asked.
"""

from __future__ import annotations

import asyncio
import io
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, ClassVar, Final

import pyarrow as pa

from agents.base import Agent, Decision
from agents.llm.agent import LLMAgent
from agents.llm.contract import CallKey, ChatReply, ChatRequest
from agents.llm.models import parse_model
from engine.match import Action, Observation
from jobs.processes import LoopbackProcess, cpu_seconds, descendants, process_name, resident_bytes
from orchestrator import run_tournament
from orchestrator.calls import Decided
from orchestrator.cluster import RayCluster, WorkerPool
from orchestrator.config import ClusterConfig, ConfigError, Deck, Entrant, StorageConfig, TournamentConfig
from orchestrator.play import Playthrough, Setup, build, play
from orchestrator.providers import resolved
from orchestrator.schedule import Schedule
from orchestrator.workers import Errand
from results.store import Run

_WORKERS: Final = 2
_LATENCY: Final = ("--latency-ms", "50")
_ENDLESS: Final = 2**30
"""Games a pair: more than are ever played."""
_LIMIT: Final = 3600
_OPEN_GAMES: Final = 200
_GAME_DECISIONS: Final = 20
"""How far the games shall be when memory is measured, on average."""
_POLL_SECONDS: Final = 0.5
_SHORT: Final = {"history": "none", "prompt": "short", "constraint": "legal"}
_NEVER_REACHED: Final = {"requests_per_minute": 10**6, "tokens_per_minute": 10**10, "in_flight": 10_000}


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    harness: Mapping[str, Any]
    tool_protocol: str
    games: int
    """Open at once, in a worker."""
    kilobytes: float
    """Measured from when requests are so long on average."""
    warm_up_seconds: float
    """But not later than so long after the first request."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the match."""

    def within(self, seconds: float) -> _Case:
        """The case with no longer a warm-up than suits a measurement of so many seconds."""
        return replace(self, warm_up_seconds=min(self.warm_up_seconds, 3 * seconds))


_CASES: Final = (
    _Case("short", _SHORT, "json", 64, 0.0, 10.0, {"turn_cap": 2}),
    # The window is cut to about three quarters when it is full: on average it has six sevenths of its tokens.
    _Case("long", {"history_tokens": 38_000}, "tools", 12, 112.0, 25.0),
)


def lines(decks: Sequence[Deck], seed: int, seconds: float) -> Iterator[Mapping[str, Any]]:
    """The output lines; every case is measured for about ``seconds``, the limit for twice as long."""
    base = TournamentConfig("bench", (), tuple(decks), seed, games_per_pair=_ENDLESS)
    base = replace(base, cluster=ClusterConfig(workers=_WORKERS))
    cases = [case.within(seconds) for case in _CASES]
    for case in cases:
        with LoopbackProcess(_LATENCY) as server:
            yield from _lines(case.name, _alone(_tournament(base, server, case, {}), case, seconds))
    with RayCluster(base.cluster) as cluster:
        cluster.sweep_after_death()
        for case in cases:
            with LoopbackProcess(_LATENCY) as server:
                config = _tournament(base, server, case, _NEVER_REACHED)
                yield from _lines(case.name, _together(config, server, case, seconds))
        with LoopbackProcess((*_LATENCY, "--requests-per-minute", str(_LIMIT))) as server:
            config = _tournament(base, server, cases[0], {"requests_per_minute": _LIMIT})
            yield from _lines("limit", _limited(config, server, 2 * seconds))
        with LoopbackProcess(_LATENCY) as server:
            full = replace(cases[1], harness={})
            yield from _lines(f"{_OPEN_GAMES} games", _memory(_tournament(base, server, full, {}), 4 * seconds))


_Found = Iterator[tuple[str, float, str]]
"""Metric, value and unit."""


def _lines(case: str, found: _Found) -> Iterator[Mapping[str, Any]]:
    for metric, value, unit in found:
        yield {"suite": "llm", "case": case, "metric": metric, "value": round(value, 3), "unit": unit}


def _tournament(
    base: TournamentConfig, server: LoopbackProcess, case: _Case, limits: Mapping[str, Any]
) -> TournamentConfig:
    model = {
        "id": "loopback/skill_5",
        "base_url": server.base_url,
        "context_size": 128_000,
        "price": {"input": 0, "output": 0},
        "limits": limits,
        "tool_protocol": case.tool_protocol,
        "json_schema": case.tool_protocol == "json",
    }
    agent = {"kind": "llm", "model": model, "harness": case.harness}
    entrants = (Entrant("loopback_1", agent), Entrant("loopback_2", agent))
    cluster = replace(base.cluster, games_in_flight=case.games)
    return resolved(replace(base, entrants=entrants, cluster=cluster, options=case.options))


# Alone: one process, split by what runs


class _Meter:
    """Processor time within :meth:`counting`, blocks within blocks counted once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._since = 0.0

    @contextmanager
    def counting(self) -> Generator[None]:
        self._depth += 1
        if self._depth == 1:
            self._since = time.process_time()
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self.seconds += time.process_time() - self._since


class _Metered:
    """Awaits a coroutine and counts its steps, not what happens while it waits."""

    def __init__(self, running: Any, meter: _Meter) -> None:
        self._running = running
        self._meter = meter

    def __await__(self) -> Generator[Any, Any, Any]:
        step, given = self._running.send, None
        while True:
            with self._meter.counting():
                try:
                    wanted = step(given)
                except StopIteration as ended:
                    return ended.value
            try:
                given = yield wanted
                step = self._running.send
            except BaseException as error:
                step, given = self._running.throw, error


class _MeteredAgent:
    reads_observation: ClassVar[bool] = True
    waits: ClassVar[bool] = True

    def __init__(self, agent: LLMAgent, meter: _Meter) -> None:
        self._agent = agent
        self._meter = meter

    async def act(self, observation: Observation, legal: Sequence[Action]) -> Decision:
        decision: Decision = await _Metered(self._agent.act(observation, legal), self._meter)
        return decision


class _Alone:
    """Games in this process, with one client."""

    def __init__(self, config: TournamentConfig) -> None:
        self._setup = Setup.of(config)
        self._schedule = Schedule(config)
        self._model = parse_model(config.entrants[0].config["model"])
        self._next = 0
        self.agents, self.games = _Meter(), _Meter()
        self.decisions = self.calls = self.tokens = 0
        """Decisions for which a model was asked, calls, and their tokens of input."""

    async def run(self, case: _Case, seconds: float) -> dict[str, float]:
        """Milliseconds of each part, by decision, and ``kilobytes`` of a call."""
        from agents.llm.client import OpenAIClient  # With it comes the SDK, which other suites do not need.

        async with OpenAIClient(self._model) as self._client:
            playing = [asyncio.ensure_future(self._play_on()) for _ in range(case.games)]
            try:
                until = time.monotonic() + case.warm_up_seconds
                while time.monotonic() < until:
                    calls_then, tokens_then = self.calls, self.tokens
                    await asyncio.sleep(1.0)
                    if _kilobytes(self.tokens - tokens_then, self.calls - calls_then) >= max(case.kilobytes, 1e-9):
                        break
                before, began = self._counts(), time.process_time()
                await asyncio.wait(playing, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
                for ended in playing:
                    if ended.done():
                        ended.result()
                took = time.process_time() - began
                counted = [now - then for now, then in zip(self._counts(), before, strict=True)]
            finally:
                for task in playing:
                    task.cancel()
                await asyncio.gather(*playing, return_exceptions=True)
        agents, games, decisions, calls, tokens = counted
        parts = {"client": took - games, "harness": agents, "engine": games - agents}
        if not decisions:
            raise ConfigError(f"seconds: no decision was made in {seconds:g} s; measure for longer")
        split = {part: part_seconds / decisions * 1e3 for part, part_seconds in parts.items()}
        return {**split, "kilobytes": _kilobytes(tokens, calls)}

    def _counts(self) -> tuple[float, float, float, float, float]:
        return self.agents.seconds, self.games.seconds, self.decisions, self.calls, self.tokens

    async def _play_on(self) -> None:
        while True:
            with self.games.counting():
                scheduled = self._schedule.game_at(self._next)
                self._next += 1
                match, agents = build(self._setup, scheduled, 1)
                metered: list[Agent] = []
                for agent in agents:
                    assert isinstance(agent, LLMAgent)
                    agent.connect(self._call)
                    metered.append(_MeteredAgent(agent, self.agents))
                game = Playthrough(recorder=lambda played: self._decided(bool(played.decision.calls)))
            pair = metered[0], metered[1]
            await _Metered(play(match, pair, scheduled.entrants, float("inf"), game), self.games)

    def _decided(self, asked: bool) -> None:
        self.decisions += asked

    async def _call(self, key: CallKey, request: ChatRequest) -> ChatReply:
        # A task of its own: its steps are no steps of the game.
        reply = await asyncio.ensure_future(self._client.complete(request))
        self.calls += 1
        self.tokens += reply.usage.input
        return reply


def _kilobytes(tokens: float, calls: float) -> float:
    return tokens * 4 / 1e3 / calls if calls else 0.0


def _alone(config: TournamentConfig, case: _Case, seconds: float) -> _Found:
    found = asyncio.run(_Alone(config).run(case, seconds))
    yield "kb_per_call_alone", found.pop("kilobytes"), "kB"
    for part, milliseconds in found.items():
        yield f"cpu_ms_per_decision_{part}", milliseconds, "ms"


# Together: a whole tournament, split by process


@dataclass(frozen=True, slots=True)
class _Snapshot:
    at: float
    microseconds: int
    """Wall clock, since 1970."""
    statistics: Mapping[str, Any]
    cpu: Mapping[str, float]

    @classmethod
    def take(cls, server: LoopbackProcess) -> _Snapshot:
        others = set(descendants(os.getpid())) - server.pids()
        workers = _workers()
        cpu = {
            "server": server.cpu_seconds(),
            "journal": time.process_time(),
            "workers": sum(map(cpu_seconds, workers)),
            "ray": sum(map(cpu_seconds, others - workers)),
        }
        return cls(time.monotonic(), time.time_ns() // 1000, server.statistics(), cpu)


def _workers() -> set[int]:
    return {pid for pid in descendants(os.getpid()) if process_name(pid) == "ray::GameWorker"}


_Steady = Callable[[Mapping[str, Any], Mapping[str, Any], float], bool]
"""Whether to begin, by the last two statistics and the seconds since the first request."""


class _Watch(threading.Thread):
    """Measures a tournament that this process's main thread plays, then asks it to stop as Ctrl-C does."""

    def __init__(self, server: LoopbackProcess, steady: _Steady, seconds: float) -> None:
        super().__init__(name="bench", daemon=True)
        self._server = server
        self._steady = steady
        self._seconds = seconds
        self.over = threading.Event()
        self.error: Exception | None = None
        self.found: tuple[_Snapshot, _Snapshot] | None = None

    def run(self) -> None:
        try:
            self._measure()
        except Exception as error:
            self.error = error
        finally:
            if not self.over.is_set():
                os.kill(os.getpid(), signal.SIGINT)

    def _measure(self) -> None:
        then = self._server.statistics()
        began: float | None = None
        while not self.over.wait(_POLL_SECONDS):
            now = self._server.statistics()
            if now["answered"] and began is None:
                began = time.monotonic()
            elif began is not None and self._steady(then, now, time.monotonic() - began):
                break
            then = now
        first = _Snapshot.take(self._server)
        if not self.over.wait(self._seconds):
            self.found = first, _Snapshot.take(self._server)


@contextmanager
def _measured(
    config: TournamentConfig, server: LoopbackProcess, steady: _Steady, seconds: float
) -> Generator[tuple[_Snapshot, _Snapshot, Run]]:
    """Play until all is measured: two snapshots ``seconds`` apart, and the run while it is there."""
    watch = _Watch(server, steady, seconds)
    with tempfile.TemporaryDirectory(prefix="prizefight-bench-") as folder:
        watch.start()
        try:
            run_tournament(replace(config, storage=StorageConfig(root=folder)), io.StringIO())
        finally:
            watch.over.set()
            watch.join()
        if watch.error is not None:
            raise watch.error
        if watch.found is None:
            raise KeyboardInterrupt  # Somebody else has stopped it.
        yield *watch.found, Run.named(folder, config.run)


def _together(config: TournamentConfig, server: LoopbackProcess, case: _Case, seconds: float) -> _Found:
    def steady(then: Mapping[str, Any], now: Mapping[str, Any], passed: float) -> bool:
        long_enough = _kilobytes(*(now[count] - then[count] for count in ("input_tokens", "answered")))
        return passed >= case.warm_up_seconds or (passed >= 3.0 and long_enough >= case.kilobytes)

    with _measured(config, server, steady, seconds) as (first, last, run):
        decided = run.decisions(["calls", "decided_at"])
        times = decided["decided_at"].cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_pylist()
        asked = decided["calls"].to_pylist()
        decisions = sum(
            calls > 0 and at is not None and first.microseconds <= at < last.microseconds
            for calls, at in zip(asked, times, strict=True)
        )
        queued = run.calls(["queue_seconds"])["queue_seconds"].to_pylist()
    if not decisions:
        raise ConfigError(f"seconds: no decision was made in {last.at - first.at:.1f} s; measure for longer")
    counted = [last.statistics[count] - first.statistics[count] for count in ("input_tokens", "answered")]
    yield "kb_per_call", _kilobytes(*counted), "kB"
    yield "decisions_per_s", decisions / (last.at - first.at), "1/s"
    cpu = {part: (until - first.cpu[part]) / decisions * 1e3 for part, until in last.cpu.items()}
    yield "cpu_ms_per_decision", sum(cpu.values()), "ms"
    for part, milliseconds in cpu.items():
        yield f"cpu_ms_per_decision_{part}", milliseconds, "ms"
    yield "limiter_ms_p50", median(queued) * 1e3, "ms"


def _limited(config: TournamentConfig, server: LoopbackProcess, seconds: float) -> _Found:
    with _measured(config, server, lambda then, now, passed: passed >= min(3.0, seconds), seconds) as (first, last, _):
        requests = last.statistics["requests"] - first.statistics["requests"]
        statuses = last.statistics["statuses"]
    yield "limit_utilisation", requests / (_LIMIT / 60 * (last.at - first.at)), "1"
    yield "refusals", float(sum(count for status, count in statuses.items() if status != "200")), "requests"


# Memory


def _memory(config: TournamentConfig, seconds: float) -> _Found:
    """Open games are played without a driver: what is to be committed is taken and called committed."""
    import ray

    pool = WorkerPool(Setup.of(config), _WORKERS)
    try:
        for greeting in list(pool.starting):
            ray.get(greeting)
            pool.greeted(greeting)
        workers = _workers()
        empty = sum(map(resident_bytes, workers))
        handles = list(pool.handles.values())
        games = iter(enumerate(Schedule(config)))
        playing: dict[Any, int] = {}
        asked = {handle.actor.collect.remote([]): handle for handle in handles}
        decided, until = 0, time.monotonic() + seconds
        share = -(-_OPEN_GAMES // _WORKERS)
        while decided < _GAME_DECISIONS * _OPEN_GAMES and time.monotonic() < until:
            for place, handle in enumerate(handles):
                for _ in range(share - sum(there == place for there in playing.values())):
                    number, game = next(games)
                    playing[handle.play([Errand(game, 1, number + 1)], True)] = place
            ready, _ = ray.wait(list(asked), num_returns=1, timeout=_POLL_SECONDS)
            for reference in ready:
                handle = asked.pop(reference)
                entries = ray.get(reference)
                decided += sum(isinstance(entry, Decided) for entry in entries)
                asked[handle.actor.collect.remote([(entry.number, True) for entry in entries])] = handle
            for reference in ray.wait(list(playing), num_returns=len(playing), timeout=0)[0]:
                del playing[reference]
                for reply in ray.get(reference):
                    if reply.cause or reply.pauses:
                        raise RuntimeError(f"a game failed: {reply.cause or reply.pauses}: {reply.detail}")
        full = sum(map(resident_bytes, workers))
    finally:
        pool.close()
    yield "rss_mb_per_game", (full - empty) / 2**20 / _OPEN_GAMES, "MB"
    yield "decisions_per_game", decided / _OPEN_GAMES, "decisions"
