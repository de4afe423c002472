"""Runs a submitted job on the cluster: reads the variables that came with it and hands over to the job's own module.

The variables stay in Ray's store until the job has ended for good, so that a job that died finds them again when the
cluster starts it once more.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any, Final, Protocol, Self

from jobs.config import ExitCode
from jobs.early import end_imports
from jobs.submission.variables import PAD, place, unpack

_FOR_GOOD: Final = (ExitCode.COMPLETE, ExitCode.BAD_CONFIG, ExitCode.VOID_GAMES)
"""After these a job that is started again could do no more than before."""
_STOPS: Final = (signal.SIGTERM, signal.SIGINT)
_STORE_SECONDS: Final = 10


class Store(Protocol):
    """Where variables lie while their job is not over."""

    def get(self, name: str) -> bytes | None:
        """What lies under ``name``."""

    def forget(self, name: str) -> None:
        """Have nothing under ``name`` any more."""


def main(argv: Sequence[str], store: Store | None = None) -> int:
    """Run the job that the first of ``argv`` names with the rest of them; returns its exit code."""
    # From now on there is something to clear away when the job is stopped.
    end_imports()
    told = os.environ.pop(PAD, None)
    if told is None:
        return _run(argv)
    if store is None:
        store = _RayStore(os.environ["RAY_ADDRESS"])
    code: int | None = None
    with _Stops() as stops:
        try:
            try:
                os.environ.update(unpack(told, store.get))
            except LookupError as error:
                print(f"jobs.submit: {error}; submit the job again", file=sys.stderr)
                return ExitCode.FAULT
            code = _run(argv)
            return code
        finally:
            if code in _FOR_GOOD or stops.asked():
                _forget(store, place(told))


def _run(argv: Sequence[str]) -> int:
    name, *rest = argv
    code: int = importlib.import_module(f"jobs.{name}").main(rest)
    return code


def _forget(store: Store, name: str) -> None:
    try:
        store.forget(name)
    except Exception as error:  # Whatever it is, the job's own exit code is what matters.
        why = f"{type(error).__name__}: {error}".splitlines()[0]
        print(f"jobs.submit: the job's variables stay in the cluster's memory: {why}", file=sys.stderr)


class _RayStore:
    """The memory of the Ray whose head is at ``address``."""

    def __init__(self, address: str) -> None:
        self._address = address

    def get(self, name: str) -> bytes | None:
        """What lies under ``name``."""
        found: bytes | None = self._client().internal_kv_get(_key(name), None)
        return found

    def forget(self, name: str) -> None:
        """Have nothing under ``name`` any more."""
        self._client().internal_kv_del(_key(name), False, None, timeout=_STORE_SECONDS)

    def _client(self) -> Any:
        # A new one each time: the head may have been away in the hours between.
        return importlib.import_module("ray._raylet").GcsClient(address=self._address)


def _key(name: str) -> bytes:
    return f"gcs://{name}".encode()


class _Stops:
    """Notices, within the ``with`` block, whether somebody stops this process, whoever handles the signal.

    The job has handlers of its own while it plays. Python tells the number of each signal that has one on a pipe; where
    there is none yet, or none any more, SIGTERM ends the process in order here.
    """

    def __enter__(self) -> Self:
        self._reads, self._writes = os.pipe()
        for end in (self._reads, self._writes):
            os.set_blocking(end, False)
        self._wakeup_before = signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)
        self._handler_before = signal.signal(signal.SIGTERM, self._exit)
        return self

    def __exit__(self, *exception: object) -> None:
        signal.signal(signal.SIGTERM, self._handler_before)
        signal.set_wakeup_fd(self._wakeup_before)
        os.close(self._reads)
        os.close(self._writes)

    def asked(self) -> bool:
        """Whether it was stopped since this was last asked."""
        try:
            numbers = os.read(self._reads, 1 << 16)
        except BlockingIOError:
            return False
        return any(number in numbers for number in _STOPS)

    def _exit(self, number: int, frame: FrameType | None) -> None:
        sys.exit(ExitCode.INCOMPLETE)
