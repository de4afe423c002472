"""The workers of a run: how many there are and where, who rests or is taken out, and who may have which game."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from orchestrator.backlog import Suits
from orchestrator.capacity import Capacity
from orchestrator.cluster import WorkerHandle, WorkerPool
from orchestrator.config import ClusterConfig
from orchestrator.fitness import STREAK, Fitness
from orchestrator.halt import RunHalted
from orchestrator.leases import Try

_COUNT_SECONDS: Final = 2.0
_FRUITLESS_STARTS: Final = 5
_STARTING_SECONDS: Final = 60.0
_START_AGAIN_SECONDS: Final = 10.0
"""After a worker that died while it was starting, so much later another one is started where others play on."""


class WorkersFail(RunHalted):
    """Game workers die before they have played anything."""


class Staff:
    """Keeps ``pool`` at the number of workers that ``config`` asks for; :meth:`close` ends what it started."""

    def __init__(self, pool: WorkerPool, config: ClusterConfig, clock: Callable[[], float] = time.monotonic) -> None:
        import ray

        self._ray: Any = ray
        self._pool = pool
        self._clock = clock
        self._capacity = Capacity(config.workers, config.games_in_flight, clock)
        self._processors = _Processors() if config.workers is None else None
        self._fitness = Fitness()
        self._nodes = Fitness(2 * STREAK)
        self._node_of: dict[str, str] = {}
        self._host_of: dict[str, str] = {}
        self._last_fault: dict[str, str] = {}
        self._shunned: set[str] = set()
        self._elsewhere: list[str] = []
        """Nodes that the next workers are not to be started on where another one has room."""
        self._started: dict[str, float] = {}
        self._fruitless = 0
        self._start_at = 0.0
        self.taken_out: list[str] = []
        """A line for every worker and every node that was taken out."""
        self.keep_up()

    def close(self) -> None:
        """End the thread that follows the cluster."""
        if self._processors is not None:
            self._processors.close()

    # How many and where

    def keep_up(self) -> None:
        """Start workers that are missing, and give up starting those that are too many."""
        processors = 0 if self._processors is None else self._processors.count
        missing = self._capacity.workers(processors) - len(self._pool.handles)
        if missing > 0 and self._clock() >= self._start_at:
            for _ in range(missing):
                self._started[self._pool.add(self._place()).name] = self._clock()
        for handle in reversed(list(self._pool.starting.values())):
            if missing < 0:
                missing += 1
                self._pool.remove(handle.name)

    def greeted(self, handle: WorkerHandle, node: str, host: str) -> None:
        """A worker is ready, and says where it is."""
        handle.node = node
        self._node_of[handle.name], self._host_of[handle.name] = node, host

    def died_starting(self, error: str) -> None:
        """A worker died before it was ready. Raises :class:`WorkersFail` where that is all that they do."""
        self._fruitless += 1
        if any(handle.ready for handle in self._pool.handles.values()):
            self._start_at = self._clock() + _START_AGAIN_SECONDS
        elif self._fruitless >= _FRUITLESS_STARTS:
            raise WorkersFail(
                f"{self._fruitless} game workers in a row died while they were starting: {error}; "
                "all that was played is kept, and once this is mended the same command goes on"
            )

    @property
    def games_in_flight(self) -> int:
        """Games that wait which one worker may have open now."""
        return self._capacity.games_in_flight

    def short_of_memory(self, worker: str, open_games: int) -> bool:
        """A worker was ended for want of memory; whether others of its node have more now that it is gone.

        If so there is one worker fewer for a while, else fewer open games for each.
        """
        node = self.node(worker)
        beside = [one for one in self._pool.handles.values() if one.ready and one.name != worker and one.node == node]
        if beside:
            self._capacity.one_worker_fewer()
        elif open_games > 1:
            self._capacity.fewer_games()
        return bool(beside)

    # Who may have what

    def ready(self) -> list[WorkerHandle]:
        """Workers that may have games. Those that rest are among them only where all rest and none is starting."""
        ready = [handle for handle in self._pool.handles.values() if handle.ready]
        fit = [handle for handle in ready if not self._fitness.rests(handle.name)]
        # Else the first that is there, if it is the one that can play nothing, fails all games before others start.
        return fit if fit or len(self._others_than(())) > len(ready) else ready

    def suits(self, handle: WorkerHandle) -> Suits:
        """Which games ``handle`` may have: one that failed goes elsewhere, to another node if that is possible."""

        def suits(one: Try) -> bool:
            if not one.failed_with and not one.failed_on:
                return True
            others = self._others_than(one.failed_with)
            if handle.name in one.failed_with:
                return not others
            return handle.node not in one.failed_on or all(other.node in one.failed_on for other in others)

        return suits

    def confirmed(self, one: Try) -> bool:
        """Whether a game has failed with two workers, or there is no second one that it could be tried with."""
        return len(one.failed_with) > 1 or not self._others_than(one.failed_with)

    def _others_than(self, names: Collection[str]) -> list[WorkerHandle]:
        """Workers that a game can be given which has failed with those. Who rests or is starting is waited for."""
        young = self._clock() - _STARTING_SECONDS
        return [
            handle
            for name, handle in self._pool.handles.items()
            if name not in names and (handle.ready or self._started[name] > young)
        ]

    # Who is to blame

    def node(self, worker: str) -> str:
        """The node on which a worker is or was."""
        return self._node_of.get(worker, "")

    def failed(self, one: Try, worker: str, fault: str) -> None:
        """A game failed with ``worker``, or with its process, and either may be the cause."""
        alone = not any(other.ready for name, other in self._pool.handles.items() if name != worker)
        self._fitness.failed(worker, one.scheduled.game_id, alone)
        # Always in doubt: a node whose network was away for a moment is not to be without workers from then on.
        self._nodes.failed(self.node(worker), one.scheduled.game_id, alone=True)
        self._last_fault[worker] = fault

    def finished(self, worker: str, game_id: str) -> None:
        """``worker`` brought a game to its result."""
        self._fruitless = 0
        self._fitness.finished(worker, game_id)
        self._nodes.finished(self.node(worker), game_id)

    def void(self, game_id: str) -> None:
        """A game cannot be played by anybody."""
        self._fitness.void(game_id)
        self._nodes.void(game_id)

    def unfit(self) -> list[str]:
        """Workers that are to be taken out; each once."""
        return [worker for worker in self._fitness.unfit() if worker in self._pool.handles]

    def streak(self, worker: str) -> list[str]:
        """The games that a worker failed since its last result."""
        return self._fitness.streak(worker)

    def take_out(self, worker: str) -> str:
        """Note that a worker is taken out; returns why, in a line."""
        games = len(self._fitness.streak(worker))
        fault = self._last_fault.get(worker, "")
        why = f"taken out, as it failed {games} games in a row that others can play, the last with {fault}"
        node = self.node(worker)
        self.taken_out.append(f"{worker} on {self._where(node)} was {why}")
        self._elsewhere.append(node)
        return why

    def shunned(self) -> list[tuple[str, str]]:
        """Nodes that get no more workers from now on, each with a line that says so; never the last one."""
        told = []
        for node in self._nodes.unfit():
            self._nodes.forget(node)
            if self._others(node):
                self._shunned.add(node)
                line = f"{self._where(node)} gets no more workers: games fail there that others can play"
                self.taken_out.append(line)
                told.append((node, line))
        return told

    def lost(self, worker: str) -> None:
        """A worker has ended."""
        self._fitness.forget(worker)
        self._last_fault.pop(worker, None)

    def _place(self) -> Mapping[str, Any] | None:
        """Options for Ray on where the next worker is to be; ``None``: anywhere."""
        away = self._elsewhere.pop(0) if self._elsewhere else None
        if self._shunned:
            return {"label_selector": {"ray.io/node-id": f"!in({','.join(sorted(self._shunned))})"}}
        others = [] if away is None else self._others(away)
        if not others:
            return None
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        nodes = [handle.node for handle in self._pool.handles.values()]
        # Soft: where that node has no room, anywhere is better than nowhere.
        place = NodeAffinitySchedulingStrategy(min(others, key=nodes.count), soft=True, _spill_on_unavailable=True)
        return {"scheduling_strategy": place}

    def _where(self, node: str) -> str:
        host = next((self._host_of[worker] for worker, its in self._node_of.items() if its == node), "")
        return f"node {node[:8]} ({host})"

    def _others(self, node: str) -> list[str]:
        """Other nodes that can have workers."""
        return [
            one["NodeID"]
            for one in self._ray.nodes()
            if one["Alive"]
            and one["Resources"].get("CPU")
            and one["NodeID"] != node
            and one["NodeID"] not in self._shunned
        ]


class _Processors:
    """How many processors the cluster has, asked by a thread: the question may take long."""

    def __init__(self) -> None:
        self._closed = threading.Event()
        self.count = 0
        threading.Thread(target=self._follow, name="processors", daemon=True).start()

    def close(self) -> None:
        """Ask no more."""
        self._closed.set()

    def _follow(self) -> None:
        import ray

        cluster: Any = ray
        while not self._closed.is_set():
            try:
                self.count = int(cluster.cluster_resources().get("CPU", 0))
            except Exception:
                return  # Ray is being shut down.
            self._closed.wait(_COUNT_SECONDS)
