"""Ray: an embedded local cluster or one that is there, and the game workers on it."""

from __future__ import annotations

import logging
import os
import pickle
import shutil
import subprocess
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from orchestrator.access import give_token, show_token, take_token_back
from orchestrator.config import ClusterConfig, ConfigError
from orchestrator.hanging import AskingThread
from orchestrator.package import product_folder
from orchestrator.play import Setup, one_line
from orchestrator.processes import children
from orchestrator.servers import Servers, end_actor
from orchestrator.workers import HEARING, Errand, GameWorker

_HEARTBEAT_SECONDS = 1.5
_LEAST_OBJECT_STORE_MB = 80
_IN_JOB = "RAY_JOB_CONFIG_JSON_ENV_VAR"
_SHARED_MEMORY = "/dev/shm"
_QUIET = {
    "REPORTER_UPDATE_INTERVAL_MS": "60000",
    "RAY_raylet_report_resources_period_milliseconds": "1000",
    "RAY_task_events_report_interval_ms": "0",
}
"""What an embedded Ray need not do, or not often: to measure its node and list its tasks for a dashboard, and to tell
other nodes what is free on the only one. On two processors it leaves 1 to 2 % more to the games."""
_STARTS = 3
_JOIN_PAUSE_SECONDS = 2.0
_SWEEP_SECONDS = 5.0
_LEAVE_SECONDS = 2.0


class ClusterFailed(OSError):
    """Ray could not be started on this machine."""


class RayCluster:
    """A connection to Ray for as long as the ``with`` block lasts.

    Embedded unless ``config.address`` is given: few processes, a small object store, no dashboard, nothing sent to
    anybody; it ends with the block and with this process, however that ends. Where this process is connected to Ray
    already, that connection is used and left as it is. Raises :class:`ConfigError` where there is no cluster to join.
    """

    def __init__(self, config: ClusterConfig) -> None:
        self._config = config
        self._ours = False
        self._has_own_token = False
        self._sweeper: subprocess.Popen[bytes] | None = None
        self.servers: Servers
        """Within the block, whether Ray is there."""

    def __enter__(self) -> Self:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        import ray

        if not ray.is_initialized():
            try:
                if self._config.address is not None:
                    self._join(ray, self._config.address)
                else:
                    self._start_embedded(ray)
            except (SystemExit, KeyboardInterrupt) as stop:  # While it starts, Ray answers SIGTERM with the first.
                ray.shutdown()
                raise KeyboardInterrupt from stop
            self._ours = True
            _silence_ray()
        self.servers = Servers()
        return self

    def _join(self, ray: Any, address: str) -> None:
        """Connect to the cluster at ``address``. The server of ``ray://`` may take longer to start what serves a new
        driver than it waits for itself: then once more."""
        show_token(address)
        tries = _STARTS if address.startswith("ray://") else 1
        with product_folder(self._sends_code(address)) as folder:
            options = {} if folder is None else {"runtime_env": {"working_dir": str(folder)}}
            for tries_left in reversed(range(tries)):
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
                    return
                except (ConnectionError, RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
                    ray.shutdown()
                    if not tries_left:
                        raise ConfigError(f"cluster.address: no Ray at {address!r}: {one_line(error)}") from error
                    time.sleep(_JOIN_PAUSE_SECONDS)

    def _sends_code(self, address: str) -> bool:
        """Whether workers get the program from this process. Those of a submitted job have it from the job."""
        if _IN_JOB in os.environ:
            return False
        if self._config.send_code is not None:
            return self._config.send_code
        return address.startswith("ray://")

    def _start_embedded(self, ray: Any) -> None:
        """Start Ray on this machine. A busy machine may take longer than Ray waits for itself: then once more."""
        self._has_own_token = give_token()
        for tries_left in reversed(range(_STARTS)):
            try:
                with _few_servers():
                    ray.init(
                        address="local",  # Not one that happens to run here.
                        num_cpus=self._config.workers,
                        object_store_memory=max(self._config.object_store_mb, _LEAST_OBJECT_STORE_MB) * 2**20,
                        include_dashboard=False,
                        log_to_driver=False,
                        logging_level=logging.ERROR,
                    )
            except Exception as error:  # Ray raises a bare Exception where its own node does not come up in time.
                ray.shutdown()
                if not tries_left:
                    raise ClusterFailed(f"Ray does not start on this machine: {one_line(error)}") from error
            else:
                return

    def sweep_after_death(self) -> None:
        """See to it that nothing of an embedded cluster outlives this process, even where it is killed.

        The kernel ends Ray's servers with us and workers end by themselves; the node's two agents would linger for
        more than a minute while they look for the others. A shell that waits for our end of a pipe to close ends them.
        """
        if not self._ours or self._config.address is not None:
            return
        agents = [
            child
            for raylet in children(os.getpid(), "raylet")
            for child in [*children(raylet, "ray::Dashboard"), *children(raylet, "ray::RuntimeEnv")]
        ]
        if agents:
            script = 'read -r _; for p in "$@"; do case "$(cat /proc/$p/comm)" in ray::*) kill -9 $p;; esac; done'
            self._sweeper = subprocess.Popen(
                ["sh", "-c", script, "sh", *map(str, agents)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def __exit__(self, *exception: object) -> None:
        import ray

        self.servers.close()
        if self._ours and self.servers.away and not self.servers.embedded:
            # Its head would be told, and waited for. The rest, and what is still to be written, does not wait.
            end = AskingThread("shutdown", ray.shutdown)
            end.start()
            end.join(_LEAVE_SECONDS)
        elif self._ours:
            ray.shutdown()
        if self._has_own_token:
            take_token_back()
        if self._sweeper is not None:
            # Where Ray's server was killed, nobody has ended them yet.
            assert self._sweeper.stdin is not None
            self._sweeper.stdin.close()
            try:
                self._sweeper.wait(_SWEEP_SECONDS)
            except subprocess.TimeoutExpired:
                self._sweeper.kill()
                self._sweeper.wait()


@contextmanager
def _few_servers() -> Iterator[None]:
    """Within, a Ray cluster starts without the servers that one machine with a fixed number of workers has no use for.

    These are the dashboard's server (which starts even where the dashboard is off), the autoscaler's monitor and the
    one that forwards logs: about 280 MB, and seconds of every start and end. Ray has no setting for it; a version in
    which these methods are called otherwise starts them all, and everything works as well. What is left is told to be
    quiet (:data:`_QUIET`), where the environment does not say otherwise.
    """
    from ray._private.node import Node

    names = [name for name in ("start_api_server", "start_monitor", "start_log_monitor") if hasattr(Node, name)]
    before = {name: getattr(Node, name) for name in names}
    for name in names:
        setattr(Node, name, lambda self, *args, **kwargs: None)
    quiet = {name: value for name, value in _QUIET.items() if name not in os.environ}
    os.environ.update(quiet)
    try:
        yield
    finally:
        for name in quiet:
            os.environ.pop(name, None)
        for name, method in before.items():
            setattr(Node, name, method)


def _silence_ray() -> None:
    """Keep Ray from telling on standard output about every worker that dies: the journal and the display do."""
    from ray._private import worker

    if hasattr(worker, "_worker_logs_enabled"):
        worker._worker_logs_enabled = False


def check_object_store(config: ClusterConfig) -> None:
    """Raise :class:`ConfigError` where the embedded object store would not fit into this machine's shared memory.

    One of the usual size always fits: Ray puts it on the disk where there is no such memory.
    """
    if config.address is not None or config.object_store_mb <= ClusterConfig().object_store_mb:
        return
    try:
        free = shutil.disk_usage(_SHARED_MEMORY).free // 2**20
    except OSError:
        return
    if config.object_store_mb > free:
        raise ConfigError(
            f"cluster.object_store_mb: {config.object_store_mb} MB are more than the {free} MB of shared memory that "
            f"this machine has free ({_SHARED_MEMORY})"
        )


class WorkerHandle:
    """One game worker as the driver sees it."""

    def __init__(self, name: str, actor: Any) -> None:
        self.name = name
        self.actor = actor
        self.ready = False
        self.node = ""
        """The node that it is on, once it is ready."""
        self.told = float("-inf")
        """When something was last sent by which it hears that the driver is alive."""

    def play(self, errands: Sequence[Errand], waits: bool) -> Any:
        """Send games; returns the reference of a list of replies, pickled where these are games that never wait."""
        if waits:
            return self.actor.play_waiting.remote(errands[0])
        self.told = time.monotonic()
        # Ray would look at every value in them by itself, in Python.
        return self.actor.play_in_turn.remote(pickle.dumps(list(errands)))

    def ask(self) -> Any:
        """Ask how far its games are; returns the reference of the answer."""
        self.told = time.monotonic()
        return self.actor.progress.remote()


class WorkerPool:
    """The game workers of a run. They hear of the driver from a thread of its own, however busy it is.

    ``variables`` are environment variables for them, such as keys. They go from process to process with the first call
    of each worker; with what Ray is told of a worker they would stand in its logs.
    """

    def __init__(self, setup: Setup, workers: int, variables: Mapping[str, str] | None = None) -> None:
        import ray

        self._ray: Any = ray
        # A worker never restarts by itself: its games would have lost their leases. More than enough calls at once
        # that a full worker still answers about its progress.
        options = {
            "concurrency_groups": {HEARING: 1},
            "num_cpus": 1,
            "max_restarts": 0,
            "max_task_retries": 0,
            "max_concurrency": 10_000,
        }
        self._class = self._ray.remote(**options)(GameWorker)
        self._setup = setup
        self._variables = dict(variables or {})
        self._numbers = 0
        self._hellos: dict[Any, WorkerHandle] = {}
        self._closed = threading.Event()
        self.handles: dict[str, WorkerHandle] = {}
        self._ending: threading.Thread | None = None
        for _ in range(workers):
            self.add()
        threading.Thread(target=self._heartbeat, name="heartbeat", daemon=True).start()

    def add(self, place: Mapping[str, Any] | None = None) -> WorkerHandle:
        """Start one worker more, with options for Ray on where; it gets games once it is ready."""
        name = f"worker-{self._numbers}"
        self._numbers += 1
        handle = WorkerHandle(name, self.start(name, place or {}))
        self.handles[name] = handle
        self._hellos[handle.actor.hello.remote(self._variables)] = handle
        return handle

    def start(self, name: str, place: Mapping[str, Any]) -> Any:
        """Start the actor of a worker, with those options for Ray."""
        return self._class.options(**place).remote(self._setup, name)

    def end(self, actor: Any) -> None:
        """End the actor of a worker at once. Where the head is away only the first of several is waited for."""
        held_up = self._ending is not None and self._ending.is_alive()
        ending = end_actor(actor, patient=not held_up)
        if not held_up:
            self._ending = ending

    @property
    def starting(self) -> dict[Any, WorkerHandle]:
        """Workers that are not ready yet, by the reference of their greeting."""
        return self._hellos

    def greeted(self, reference: Any) -> None:
        """A worker has answered its greeting and is ready."""
        self._hellos.pop(reference).ready = True

    def remove(self, name: str) -> None:
        """End a worker at once, whatever it does."""
        handle = self.handles.pop(name, None)
        if handle is not None:
            self._hellos = {ref: other for ref, other in self._hellos.items() if other is not handle}
            self.end(handle.actor)

    def close(self) -> None:
        """End all workers. Where the head is away they hear of this process no more, and end by themselves."""
        self._closed.set()
        for name in list(self.handles):
            self.remove(name)

    def _heartbeat(self) -> None:
        while not self._closed.wait(_HEARTBEAT_SECONDS):
            for handle in list(self.handles.values()):
                if handle.ready and time.monotonic() - handle.told >= _HEARTBEAT_SECONDS:
                    try:
                        handle.actor.hear.remote()
                    except Exception:
                        return  # Ray is being shut down.
