"""Stopping on request: Ctrl-C and SIGTERM."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any, Final, Self

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class StopSignals:
    """Within the ``with`` block, Ctrl-C and SIGTERM only set a mark; the second of them raises ``KeyboardInterrupt``.

    Signals reach only a process's main thread; in another thread nothing is changed and no stop is ever asked for.
    """

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._before: dict[signal.Signals, Any] = {}

    def asked(self) -> bool:
        """Whether a stop has been asked for."""
        return self._asked.is_set()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.getsignal(number) for number in _SIGNALS}
            self.take()
        return self

    def take(self) -> None:
        """Take the signals again after something else, such as Ray's start, has taken them."""
        for number in self._before:
            signal.signal(number, self._ask)

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self._asked.is_set():
            raise KeyboardInterrupt
        self._asked.set()
