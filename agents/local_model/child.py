"""The server of the local model in a process of its own, for as long as a ``with`` block lasts."""

from __future__ import annotations

import select
import subprocess
import sys
import time
from types import TracebackType
from typing import IO, Final

from agents.local_model.package import LocalModelError, check_installed

_STOP_SECONDS: Final = 10.0


class LocalServer:
    """Serves the local model on a free port of the loopback interface; ``base_url`` is what a model's file wants.

    Raises :class:`LocalModelError` where the model is not installed or the server does not come up within
    ``start_seconds``.
    """

    def __init__(self, start_seconds: float = 120.0) -> None:
        self._start_seconds = start_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self.base_url = ""

    @property
    def pid(self) -> int:
        """The id of the server's process."""
        assert self._process is not None
        return self._process.pid

    def __enter__(self) -> LocalServer:
        check_installed()
        command = [sys.executable, "-m", "agents.local_model", "--port", "0", "--until-stdin-ends"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        try:
            self.base_url = self._address()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _address(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        line = _first_line(self._process.stdout, self._start_seconds)
        if line is None:
            raise LocalModelError(f"the server of the local model was not ready within {self._start_seconds:g} s")
        _, _, address = line.partition("http://")
        if not address:
            code = self._process.wait()
            raise LocalModelError(f"the server of the local model ended at once, with exit code {code}")
        return f"http://{address.strip()}"

    def _stop(self) -> None:
        process = self._process
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def _first_line(stream: IO[bytes], seconds: float) -> str | None:
    """The first line of the unbuffered ``stream``, as far as it goes at its end, or ``None`` after ``seconds``."""
    deadline = time.monotonic() + seconds
    line = b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([stream], [], [], max(deadline - time.monotonic(), 0.0))
        if not ready:
            return None
        read = stream.read(1)
        if not read:
            break
        line += read
    return line.decode("utf-8", "replace")
