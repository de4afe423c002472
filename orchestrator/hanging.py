"""Threads that wait for somebody else: a run's storage, the head of a Ray cluster. Whoever never answers holds them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

HURRIED_SECONDS: Final = 0.5
"""How long the end of a run waits for such a thread where its other side is known not to answer."""


class AskingThread(threading.Thread):
    """A daemon thread that asks something of another process, or only of the local disk where not ``remote``."""

    def __init__(self, name: str, target: Callable[[], object], remote: bool = True) -> None:
        super().__init__(target=target, name=name, daemon=True)
        self.remote = remote


def hanging() -> list[str]:
    """The names of all threads that wait for an answer of another process. At the end of a process: that hang."""
    return [thread.name for thread in threading.enumerate() if isinstance(thread, AskingThread) and thread.remote]
