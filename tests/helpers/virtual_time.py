"""An event loop whose time is not the wall's: where nothing is ready to run, the next timer is due at once."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Value = TypeVar("Value")


class _Selector(selectors.DefaultSelector):  # type: ignore[misc,valid-type]
    """Never waits; what it was to wait goes on the clock."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> Any:
        """What is ready now."""
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "nothing will ever happen any more"
            self.passed += max(timeout, 0.0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Runs timers in the order in which they are due, as fast as it can. Its time begins at 1000 seconds."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        """Seconds."""
        return 1000.0 + self._virtual.passed


def run_virtual(main: Coroutine[Any, Any, Value]) -> Value:
    """The value of ``main``, run in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
