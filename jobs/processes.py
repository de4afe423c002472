"""Processes as a benchmark sees them: what they take, and the loopback server as one. Needs Linux's ``/proc``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_END_SECONDS: Final = 5.0
_KEEPER: Final = '"$@" </dev/null & server=$!; exec >&-; read -r _; kill $server 2>&-; wait $server'
"""Ends the server when our end of its input closes, which the kernel sees to, however this process ends."""


def cpu_seconds(pid: int) -> float:
    """Processor time of a process and all its threads so far, to a hundredth of a second; 0 where it is gone."""
    try:
        # The name, in parentheses, may have spaces.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def resident_bytes(pid: int) -> int:
    """Resident memory of a process, pages that it shares with others included. Raises ``OSError`` where it is gone."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE


def descendants(pid: int) -> Iterator[int]:
    """All processes below ``pid``."""
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in task.read_text().split()]
        except OSError:
            continue
        for child in children:
            yield child
            yield from descendants(child)


def process_name(pid: int) -> str:
    """The first 15 characters of its name; empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().rstrip("\n")
    except OSError:
        return ""


class LoopbackProcess:
    """A loopback server of its own process on 127.0.0.1, for a ``with`` block and never longer than this process."""

    def __init__(self, arguments: Sequence[str] = ()) -> None:
        self._command = [sys.executable, "-m", "agents.loopback", "--port", "0", *arguments]
        self._shell: subprocess.Popen[str] | None = None
        self.base_url = ""

    def __enter__(self) -> LoopbackProcess:
        command = ["sh", "-c", _KEEPER, "sh", *self._command]
        self._shell = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self._shell.stdout is not None
        words = self._shell.stdout.readline().split()
        if len(words) < 2 or not words[1].startswith("http://"):
            self._end()
            raise RuntimeError("the loopback server did not start")
        self.base_url = words[1]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def cpu_seconds(self) -> float:
        """Processor time of the server so far."""
        return sum(map(cpu_seconds, self.pids()))

    def pids(self) -> set[int]:
        """The server's process and the shell above it."""
        return set() if self._shell is None else {self._shell.pid, *descendants(self._shell.pid)}

    def statistics(self) -> dict[str, Any]:
        """What ``GET /stats`` shows. Raises ``OSError`` where the server is gone."""
        with urllib.request.urlopen(self.base_url.removesuffix("/v1") + "/stats", timeout=30) as reply:
            shown: dict[str, Any] = json.load(reply)
        return shown

    def _end(self) -> None:
        if self._shell is None:
            return
        pids = self.pids()
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.close()
        try:
            self._shell.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            for pid in pids:
                os.kill(pid, 9)
            self._shell.wait()
        self._shell.stdout.close()
