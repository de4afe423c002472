"""Measures the driver against many workers: on several Ray nodes, and against workers that are simulated.

- ``N nodes``: a tournament on so many raylets of this machine with one processor each, and one worker on each. The
  games are played, by processes that share this machine's processors.
- ``N simulated workers``: the driver, its calls through Ray, journal and parts are real; what is left out is the games.
  So many workers live in two processes; each answers a batch after the time that its games would take, with the row of
  a game that was played once. ``share`` is games a second over what the workers could play, ``driver_cores`` how many
  processors the driver's process keeps busy.
"""

from __future__ import annotations

import asyncio
import io
import logging
import pickle
import socket
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from jobs.bench_runs import Play, WatchedRun, cpu_a_game
from orchestrator.cluster import WorkerPool
from orchestrator.config import Report, TournamentConfig
from orchestrator.play import Playthrough, Setup
from orchestrator.tournament import run_tournament
from orchestrator.workers import Errand, Progress, Reply, play_errand

_STORE_BYTES: Final = 100 * 2**20
_HOSTS: Final = 2
_EVERY_SECONDS: Final = 1.0


def node_lines(config: TournamentConfig, games: int, nodes: int) -> Iterator[dict[str, Any]]:
    """Metric lines of a tournament of so many games on so many nodes."""
    config = replace(config, games_per_pair=games - games % 2)
    yield from _lines(config, f"{nodes} nodes", nodes, play_on_nodes, ("driver", "workers", "ray"))


def simulated_lines(
    config: TournamentConfig, seconds: float, game_seconds: float, workers: int
) -> Iterator[dict[str, Any]]:
    """Metric lines of the driver against so many workers whose games take ``game_seconds``, for about ``seconds``."""
    rate = workers / game_seconds
    twins = max(round(rate * seconds / 2), workers)
    config = replace(config, games_per_pair=2 * twins)
    case = f"{workers} simulated workers"
    # What the processes take in which the workers live says nothing.
    for line in _lines(config, case, workers, partial(play_simulated, game_seconds), ("driver",)):
        yield line
        if line["metric"] == "games_per_s":
            yield _line(case, "share", line["value"] / rate, "1")


def _lines(
    config: TournamentConfig, case: str, workers: int, play: Play, measured: Sequence[str]
) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="prizefight-bench-") as folder:
        config = replace(
            config,
            cluster=replace(config.cluster, workers=workers, address=None),
            storage=replace(config.storage, root=folder, journal_dir=None),
        )
        with WatchedRun(config, play) as run:
            first = next(run.samples(_EVERY_SECONDS), None)
            report = run.finish()
    yield _line(case, "games_per_s", report.played / report.playing_seconds, "1/s")
    if first is not None and run.last is not None and run.last.games > first.games:
        for name, microseconds in cpu_a_game(first, run.last).items():
            if name in measured:
                yield _line(case, f"{name}_cpu_us_per_game", microseconds, "us")
        busy = run.last.cpu["driver"] - first.cpu["driver"]
        yield _line(case, "driver_cores", busy / (run.last.at - first.at), "processors")


def _line(case: str, metric: str, value: float, unit: str) -> dict[str, Any]:
    return {"suite": "scale", "case": case, "metric": metric, "value": round(value, 3), "unit": unit}


# What the other process does


def play_on_nodes(config: TournamentConfig, stream: io.StringIO) -> Report:
    """Play on as many raylets as there are workers."""
    from ray.cluster_utils import Cluster

    cluster_class: Any = Cluster
    node = {"num_cpus": 1, "object_store_memory": _STORE_BYTES, "include_dashboard": False}
    cluster = cluster_class(initialize_head=True, head_node_args=node)
    try:
        for _ in range((config.cluster.workers or 1) - 1):
            cluster.add_node(num_cpus=1, object_store_memory=_STORE_BYTES)
        cluster.wait_for_nodes()
        with _connected(address=cluster.address):
            return run_tournament(config, stream)
    finally:
        cluster.shutdown()


def play_simulated(game_seconds: float, config: TournamentConfig, stream: io.StringIO) -> Report:
    """Play against simulated workers."""
    SimulatedPool.game_seconds = game_seconds
    with _connected(address="local", num_cpus=_HOSTS, object_store_memory=_STORE_BYTES, include_dashboard=False):
        return run_tournament(config, stream, SimulatedPool)


class _connected:
    """Connected to Ray within the ``with`` block."""

    def __init__(self, **options: Any) -> None:
        self._options = options

    def __enter__(self) -> None:
        import ray

        ray.init(log_to_driver=False, logging_level=logging.ERROR, **self._options)

    def __exit__(self, *exception: object) -> None:
        import ray

        ray.shutdown()


class SimulatedHost:
    """The actor that many simulated workers live in. All know the same one game."""

    def __init__(self, setup: Setup, game_seconds: float) -> None:
        self._setup = setup
        self._seconds = game_seconds
        self._known: Reply | None = None
        self._steps: defaultdict[str, int] = defaultdict(int)
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def hello(self, worker: str, variables: Mapping[str, str] | None = None) -> tuple[str, str]:
        """As a game worker's."""
        import ray

        return ray.get_runtime_context().get_node_id(), socket.gethostname()

    async def hear(self, worker: str) -> None:
        """As a game worker's."""

    async def stop(self, worker: str) -> None:
        """As a game worker's."""

    async def progress(self, worker: str) -> Progress:
        """As a game worker's."""
        return Progress(self._steps[worker], None, 0.0)

    async def play_in_turn(self, worker: str, packed: bytes) -> bytes:
        """Answer as if the games had been played, after the time that they take."""
        errands: list[Errand] = pickle.loads(packed)
        async with self._turns[worker]:
            await asyncio.sleep(self._seconds * len(errands))
        self._steps[worker] += len(errands)
        if self._known is None:
            self._known = play_errand(self._setup, f"{worker}@bench", errands[0], Playthrough())
        return pickle.dumps([self._reply(self._known, errand) for errand in errands])

    def _reply(self, known: Reply, errand: Errand) -> Reply:
        game_id = errand.scheduled.game_id
        return known._replace(
            game_id=game_id,
            attempt=errand.attempt,
            epoch=errand.epoch,
            seconds=self._seconds,
            row=known.row.replace(known.game_id.encode(), game_id.encode()),
        )


class _Method:
    def __init__(self, method: Any, worker: str) -> None:
        self._method = method
        self._worker = worker

    def remote(self, *arguments: Any) -> Any:
        """Call it in the host."""
        return self._method.remote(self._worker, *arguments)


class _SimulatedWorker:
    """What the driver has in place of a game worker's actor."""

    def __init__(self, host: Any, name: str) -> None:
        for method in ("hello", "hear", "stop", "progress", "play_in_turn"):
            setattr(self, method, _Method(getattr(host, method), name))


class SimulatedPool(WorkerPool):
    """Workers that live in :data:`_HOSTS` processes."""

    game_seconds = 0.0
    _hosts: tuple[Any, ...] = ()
    _started = 0

    def start(self, name: str, place: Mapping[str, Any]) -> Any:
        """A worker more in the host whose turn it is."""
        if not self._hosts:
            host = self._ray.remote(num_cpus=1, max_concurrency=100_000)(SimulatedHost)
            self._hosts = tuple(host.remote(self._setup, self.game_seconds) for _ in range(_HOSTS))
        self._started += 1
        return _SimulatedWorker(self._hosts[self._started % _HOSTS], name)

    def end(self, actor: Any) -> None:
        """Let it be."""

    def close(self) -> None:
        """End the hosts."""
        super().close()
        for host in self._hosts:
            self._ray.kill(host)
