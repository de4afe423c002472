"""A Ray cluster of real processes for tests: a head with a dashboard and further nodes, all of which want a token."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any, Self

from ports import free_port
from standin_tournaments import PATIENCE_SECONDS

from orchestrator.processes import born

_MARK = "PRIZEFIGHT_TEST_CLUSTER"
_BIN = Path(sys.executable).parent


class RealCluster:
    """``ray start --head`` and ``nodes - 1`` times ``ray start --address``, ``cpus`` each, for a ``with`` block."""

    def __init__(self, nodes: int = 2, cpus: int = 1) -> None:
        self._cpus = cpus
        self._count = nodes
        self._nodes: list[subprocess.Popen[bytes]] = []
        # Paths of sockets must be short.
        self.folder = Path(tempfile.mkdtemp(prefix="pf"))
        self._mark = secrets.token_hex(8)
        self.token = secrets.token_hex(16)
        self.gcs = f"127.0.0.1:{free_port()}"
        self.client = f"ray://127.0.0.1:{free_port()}"
        self.dashboard = f"http://127.0.0.1:{free_port()}"
        self.metrics_ports: list[int] = []

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs that is to use the cluster."""
        mine = {name: text for name, text in os.environ.items() if not name.startswith("RAY_")}
        return {
            **mine,
            "RAY_AUTH_TOKEN": self.token,
            "HOME": str(self.folder),
            "RAY_TMPDIR": str(self.folder),
            "RAY_USAGE_STATS_ENABLED": "0",
            "PYTHONWARNINGS": "ignore",
            _MARK: self._mark,
        }

    def __enter__(self) -> Self:
        try:
            ports = [
                "--port", self.gcs.rpartition(":")[2],
                "--ray-client-server-port", self.client.rpartition(":")[2],
                "--dashboard-port", self.dashboard.rpartition(":")[2],
            ]  # fmt: skip
            self._start("--head", "--dashboard-host", "127.0.0.1", *ports)
            self._wait(self._dashboard_answers, "the head came up")
            for _ in range(self._count - 1):
                self.add_node()
            self._wait(lambda: self.alive_nodes() == self._count, "all nodes came up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        for node in self._nodes:
            node.send_signal(signal.SIGTERM)
        until = time.monotonic() + 10
        while self.processes() and time.monotonic() < until:
            time.sleep(0.2)
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for node in self._nodes:
            node.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def add_node(self) -> subprocess.Popen[bytes]:
        """Start a node more; returns before it is ready."""
        return self._start("--address", self.gcs)

    def alive_nodes(self) -> int:
        """How many nodes the cluster has."""
        nodes = self.get("/nodes?view=summary")["data"]["summary"]
        return sum(node["raylet"]["state"] == "ALIVE" for node in nodes)

    def actors(self) -> list[str]:
        """The classes of all actors that are not dead."""
        found = self.get("/logical/actors")["data"]["actors"].values()
        return sorted(str(one["actorClass"]) for one in found if one["state"] != "DEAD")

    def metrics(self) -> str:
        """What all nodes show to Prometheus."""
        shown = []
        for port in self.metrics_ports:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as reply:
                shown.append(reply.read().decode())
        return "\n".join(shown)

    def get(self, path: str) -> Any:
        """What the dashboard answers."""
        request = urllib.request.Request(
            self.dashboard + path, headers={"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.load(reply)

    def processes(self) -> dict[int, str]:
        """All living processes that were started by the cluster or by what runs on it, with their names."""
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if f"{_MARK}={self._mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    name = (entry / "comm").read_text().strip()
                    if born(int(entry.name)):
                        found[int(entry.name)] = name
            except OSError:
                continue
        return found

    def files_with(self, text: str) -> list[Path]:
        """All files of the cluster, logs above all, in which ``text`` stands."""
        found = []
        for path in self.folder.rglob("*"):
            try:
                if path.is_file() and text.encode() in path.read_bytes():
                    found.append(path)
            except OSError:
                continue
        return found

    def command(self, *argv: str) -> list[str]:
        """``python -m ARGV``."""
        return [sys.executable, "-m", *argv]

    def run(self, *argv: str, **changes: str) -> subprocess.CompletedProcess[str]:
        """``python -m ARGV`` with the cluster's token; returns when it has ended."""
        return subprocess.run(
            self.command(*argv),
            env={**self.environment, **changes},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self, *argv: str) -> subprocess.Popen[str]:
        """The same, without waiting for its end."""
        return subprocess.Popen(
            self.command(*argv),
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _start(self, *options: str) -> subprocess.Popen[bytes]:
        metrics, agent = free_port(), free_port()
        self.metrics_ports.append(metrics)
        command = [
            str(_BIN / "ray"), "start", "--block",
            "--num-cpus", str(self._cpus), "--object-store-memory", str(80 * 2**20),
            "--metrics-export-port", str(metrics), "--dashboard-agent-listen-port", str(agent),
            "--min-worker-port", "0", "--max-worker-port", "0",
            # One that nodes share would have them clear away each other's copy of what a job brings.
            "--temp-dir", str(self.folder / f"node-{len(self._nodes)}"), *options,
        ]  # fmt: skip
        environment = {
            **self.environment,
            "RAY_AUTH_MODE": "token",
            "PATH": f"{_BIN}{os.pathsep}{os.environ['PATH']}",
        }
        with open(self.folder / f"node-{len(self._nodes)}.log", "wb") as log:
            node = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=self.folder)
        self._nodes.append(node)
        return node

    def _dashboard_answers(self) -> bool:
        try:
            self.get("/api/version")
        except OSError:
            return False
        return True

    def _wait(self, condition: Any, what: str) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            ended = [node for node in self._nodes if node.poll() is not None]
            logs = [path.read_text(errors="replace")[-2000:] for path in self.folder.glob("node-*.log")]
            assert not ended, f"a node ended by itself: {logs}"
            assert time.monotonic() < until, f"it never came about that {what}: {logs}"
            time.sleep(0.2)
