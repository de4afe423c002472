"""What scenarios of faults are made of: machines, a chat endpoint that counts, the command that plays, and the verdict.

Everything is real: raylets and workers are processes of their own, the endpoint is the loopback server, and the
tournament is started as a user starts it. Scenarios are in :mod:`chaos_scenarios`.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from jobs.processes import LoopbackProcess, descendants
from orchestrator.processes import born, children
from results import Run
from results.comparison import compare

PATIENCE_SECONDS = 180.0
"""How long is waited for something that must happen before that is a miss; says nothing about how fast it should."""
GONE_SECONDS = 12.0
"""What a driver that was stopped or killed gives its workers to end, and a little for a machine that is busy."""
LATENCY_MS = 100
"""So slow that calls are in the air whenever something is killed."""
IN_FLIGHT = 4
"""Games that one worker keeps open, so calls that it can have in the air."""
WORKERS = 2
PLAIN_GAMES = 30
"""Of the stand-in game."""
DONE, RESUMABLE, VOID = 0, 3, 4
"""Exit codes of ``jobs.tournament``."""

AGENTS = "agents=[{model: loopback_weak, name: llm},heuristic,{agent: search_fast, rollouts: 4, name: search}]"
CHAT_GAME = (AGENTS, "decks=[charizard_ex]", "options={turn_cap: 4}", "seed=7")
"""Games that make calls, several of them for one decision at times, and games that keep a processor busy."""
PLAIN_GAME = (
    "game=standin",
    "agents=[random,scripted_first,{agent: scripted_first, wait_seconds: 0.02, name: waiting}]",
    "seed=7",
    "options={turns: 30, work: 5000, attempt: 0}",
)
"""Games of the stand-in, in which all kinds of faults can be brought about: in turn, and many at once in a worker."""


Seen = TypeVar("Seen")


class Miss(AssertionError):
    """What should have happened did not."""


def wait_until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait for ``condition``. Raises :class:`Miss` where it does not come about."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise Miss(f"it never came about that {what}")
        time.sleep(0.02)


def memory_mb() -> tuple[float, float]:
    """All memory of this machine, and what of it is available."""
    rows = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    sizes = {name.rstrip(":"): int(size) / 1024 for name, size, *_ in rows}
    return sizes["MemTotal"], sizes["MemAvailable"]


class Endpoint:
    """The loopback server. It counts requests, so what is paid twice is seen from outside."""

    def __init__(self) -> None:
        self._server = LoopbackProcess(("--latency-ms", str(LATENCY_MS)))

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._server.__exit__(None, None, None)

    @property
    def url(self) -> str:
        """What ``base_url`` of a model has to be."""
        return self._server.base_url

    @property
    def requests(self) -> int:
        """How many have come since :meth:`reset`."""
        return int(self._server.statistics()["requests"])

    def reset(self) -> None:
        """Begin to count anew."""
        request = urllib.request.Request(self.url.removesuffix("/v1") + "/reset", b"", method="POST")
        with urllib.request.urlopen(request, timeout=30) as reply:
            json.load(reply)


class Machines:
    """A Ray cluster of several raylets: a head without processors for the driver, and nodes of one processor each."""

    def __init__(self, nodes: int = WORKERS) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        from ray.cluster_utils import Cluster

        from orchestrator.cluster import _few_servers

        self._few_servers = _few_servers
        with _few_servers():
            self._cluster = Cluster(True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        self._nodes: list[Any] = []
        for _ in range(nodes):
            self.add()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._cluster.shutdown()

    @property
    def address(self) -> str:
        """For ``cluster.address``."""
        return str(self._cluster.address)

    def add(self, environment: Mapping[str, str] | None = None, **settings: Any) -> int:
        """Start one node more, with variables for all its processes; its raylet's process id."""
        with self._few_servers(), _environment(environment or {}):
            node = self._cluster.add_node(**{"num_cpus": 1, "include_dashboard": False, **settings})
        self._nodes.append(node)
        return self.raylet(node)

    @staticmethod
    def raylet(node: Any) -> int:
        """The process id of a node's raylet."""
        return int(node.all_processes["raylet"][0].process.pid)

    @property
    def raylets(self) -> list[int]:
        """Those of the nodes that can play, oldest first."""
        return [self.raylet(node) for node in self._nodes]

    @property
    def head(self) -> int:
        """The head's raylet."""
        return self.raylet(self._cluster.head_node)

    @property
    def head_server(self) -> int:
        """The process of the head that knows of all nodes and actors."""
        return int(self._cluster.head_node.all_processes["gcs_server"][0].process.pid)

    def switch_off(self, raylet: int) -> None:
        """End all processes of a node at once, as when its machine is switched off."""
        for pid in (raylet, *descendants(raylet)):
            os.kill(pid, signal.SIGKILL)

    def workers(self, raylet: int | None = None) -> list[int]:
        """Process ids of game workers, of one node or of all."""
        found = {pid for one in ([raylet] if raylet else self.raylets) for pid in children(one, "ray::GameWorker")}
        return sorted(found)

    def keepers(self) -> list[int]:
        """The process that keeps the limits, if there is one: named by its class or, while it answers, its name."""
        names = ("ray::LimitKeeper", "ray::limits ")
        return [pid for one in (self.head, *self.raylets) for name in names for pid in children(one, name)]

    def remove(self, raylet: int) -> None:
        """Forget a node that was killed, and end what is left of it."""
        node = next(one for one in self._nodes if self.raylet(one) == raylet)
        self._nodes.remove(node)
        self._cluster.remove_node(node, allow_graceful=False)

    def restore(self, nodes: int = WORKERS) -> None:
        """As many whole nodes as at the beginning, for the next scenario."""
        for raylet in self.raylets:
            if not born(raylet):
                self.remove(raylet)
        for raylet in self.raylets[nodes:]:
            os.kill(raylet, signal.SIGKILL)
            self.remove(raylet)
        while len(self._nodes) < nodes:
            self.add()


class Driver:
    """``python -m jobs.tournament`` as a process of its own, in a session of its own."""

    def __init__(
        self,
        scene: Scene,
        *overrides: str,
        name: str = "disturbed",
        root: Path | None = None,
        enter: Sequence[str] = (),
    ) -> None:
        self.scene = scene
        self.run = (root or scene.folder) / name
        self._log = scene.folder / f"{name}.{scene.starts}.log"
        scene.starts += 1
        command = [sys.executable, "-m", "jobs.tournament", *scene.game, f"run={name}"]
        command += [f"storage.root={self.run.parent}", f"cluster.games_in_flight={IN_FLIGHT}", "storage.part_seconds=1"]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*enter, *command, *overrides],
                cwd=scene.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "LOOPBACK_URL": scene.endpoint.url, **scene.environment},
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Nothing stays behind, whatever a scenario missed."""
        for pid in {self.process.pid, *descendants(self.process.pid)}:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()

    @property
    def said(self) -> str:
        """Everything it has written so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def must_run(self) -> None:
        """Raise :class:`Miss` where it has ended."""
        if self.process.poll() is not None:
            raise Miss(f"the tournament ended by itself with {self.process.returncode}: {self.said[-500:]}")

    def see(self, condition: Callable[[], Seen], what: str) -> Seen:
        """Wait for ``condition`` while the tournament goes on; its value. Raises :class:`Miss` if that ends first."""
        seen = condition()

        def met() -> bool:
            nonlocal seen
            if not seen:
                self.must_run()
                seen = condition()
            return bool(seen)

        wait_until(met, what)
        return seen

    def reach(self, requests: float) -> None:
        """Wait until so many requests have come; a share of those of the undisturbed run, from 0 to 1."""
        wanted = self.scene.undisturbed_requests * requests
        self.see(lambda: self.scene.endpoint.requests >= wanted, f"{wanted:.0f} requests came")

    def journal(self, query: str) -> Any:
        """The first value of a query of the journal; 0 before there is one."""
        try:
            path = self.run / "journal" / "journal.sqlite"
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as journal:
                return journal.execute(query).fetchone()[0]
        except sqlite3.OperationalError:
            return 0

    def embedded(self, name: str) -> list[int]:
        """Processes of its own Ray of that name, such as ``raylet`` or ``ray::GameWorker``."""
        below = children(self.process.pid, "raylet")
        return children(self.process.pid, name) or [pid for one in below for pid in children(one, name)]

    def send(self, number: signal.Signals) -> None:
        """A signal to the process alone."""
        os.kill(self.process.pid, number)

    def end(self, *codes: int) -> int:
        """Wait until it has ended. Raises :class:`Miss` for another exit code, a traceback, or what stays behind."""
        below = set(descendants(self.process.pid)) | set(self.scene.workers())
        try:
            code = self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            raise Miss(f"the tournament does not end: {self.said[-500:]}") from None
        if code not in codes:
            raise Miss(f"exit code {code} instead of {' or '.join(map(str, codes))}: {self.said[-1000:]}")
        if noise := [word for word in ("Traceback", "[state-dump]", "(raylet)") if word in self.said]:
            raise Miss(f"{noise[0]} on the screen: {self.said[-1500:]}")
        wait_until(lambda: not any(map(born, below)), "nothing of the driver stayed behind", GONE_SECONDS)
        return code


class Scene:
    """One place for one scenario after the other, each in a folder of its own.

    ``machines`` are started when the first scenario wants them, and stay.
    """

    def __init__(self, root: Path, endpoint: Endpoint, games: int) -> None:
        self._root = root
        self.endpoint = endpoint
        self.games = games
        self.game: tuple[str, ...] = ()
        self.folder = root
        self.environment: dict[str, str] = {}
        self.starts = 0
        self.undisturbed_requests = 0
        self._machines: Machines | None = None
        self._undisturbed: dict[tuple[str, ...], tuple[Path, int]] = {}

    def close(self) -> None:
        """End the machines; whoever asks for :attr:`machines` afterwards has others."""
        if self._machines is not None:
            self._machines.__exit__()
            self._machines = None

    @property
    def machines(self) -> Machines:
        """Two nodes, both whole."""
        if self._machines is None:
            self._machines = Machines()
        return self._machines

    def workers(self) -> list[int]:
        """Game workers on the machines, if there are machines."""
        return [] if self._machines is None else self._machines.workers()

    def begin(self, name: str, game: Sequence[str]) -> None:
        """Prepare the scenario ``name`` of the tournament ``game``, an undisturbed run of which is made first."""
        self.game = (*game, f"tournament.games_per_pair={self.games if game == CHAT_GAME else PLAIN_GAMES}")
        self.environment = {}
        if self.game not in self._undisturbed:
            self.folder = self._root / f"undisturbed-{len(self._undisturbed)}"
            self.folder.mkdir()
            self.endpoint.reset()
            with self.here(name="undisturbed") as driver:
                driver.end(DONE)
            self._undisturbed[self.game] = (driver.run, self.endpoint.requests)
        self.undisturbed_requests = self._undisturbed[self.game][1]
        self.folder = self._root / name.replace(" ", "_")
        self.folder.mkdir()
        if self._machines is not None:
            self._machines.restore()
        self.endpoint.reset()

    def here(self, *overrides: str, **how: Any) -> Driver:
        """Start or resume the tournament on this machine, with a Ray of its own."""
        return Driver(self, f"cluster.workers={WORKERS}", *overrides, **how)

    def there(self, *overrides: str, **how: Any) -> Driver:
        """Start or resume the tournament on the machines."""
        overrides = (f"cluster.workers={WORKERS}", *overrides)
        return Driver(self, "cluster=address", f"cluster.address={self.machines.address}", *overrides, **how)

    def seeds(self) -> list[int]:
        """The seeds of the undisturbed run's games."""
        found = Run.open(self._undisturbed[self.game][0]).games(["seed"])["seed"]
        return sorted(set(found.to_pylist()))

    def repeated(self) -> int:
        """Calls that were made more often than without a fault."""
        return self.endpoint.requests - self.undisturbed_requests

    def differences(self, run: Path) -> str:
        """What the games and decisions of ``run`` differ in from those of the undisturbed run; empty for nothing."""
        found = compare(Run.open(self._undisturbed[self.game][0]), Run.open(run), 1)
        return "" if found.equal else "; ".join([str(dict(found.differing)), *map(str, found.first)])


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class Disk(NamedTuple):
    """A small disk that only a mount namespace of its own has."""

    inside: Path
    """Its folder for processes in the namespace …"""
    outside: Path
    """… and for others."""
    enter: tuple[str, ...]
    """What a command begins with that is to run in the namespace."""


@contextmanager
def small_disk(megabytes: int) -> Iterator[Disk]:
    """A file system of its own of so many MB, in a mount namespace that ends with the block.

    Raises :class:`Miss` where the kernel does not let this user have one.
    """
    with tempfile.TemporaryDirectory() as point:
        mount = f"mount -t tmpfs -o size={megabytes}m tmpfs {point} && echo ready && read -r _"
        holder = subprocess.Popen(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stderr is not None
        try:
            if holder.stdout.readline() != b"ready\n":
                raise Miss(f"no small disk can be mounted here: {holder.stderr.read().decode().strip()}")
            enter = ("nsenter", "--user", "--mount", "--preserve-credentials", "--target", str(holder.pid), "--")
            yield Disk(Path(point), Path(f"/proc/{holder.pid}/root{point}"), enter)
        finally:
            holder.communicate()


def fill(folder: Path, leave: int = 0) -> Path:
    """Fill the disk of ``folder`` but for ``leave`` bytes; returns the file that does it."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (2**20, 2**12):
            try:
                while file.write(b"x" * size) == size:
                    pass
            except OSError:
                continue
        if leave:
            file.truncate(max(file.tell() - leave, 0))
    return ballast
