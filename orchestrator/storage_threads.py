"""Threads that talk to a run's storage. A storage that takes connections and answers nothing holds them for long."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from results.location import Location

HURRIED_SECONDS: Final = 0.5
"""How long the end of a run waits for such a thread where the storage is known not to answer."""


class StorageThread(threading.Thread):
    """A daemon thread that talks to the storage at ``place``."""

    def __init__(self, name: str, place: Location, target: Callable[[], object]) -> None:
        super().__init__(target=target, name=name, daemon=True)
        self.place = place


def hanging() -> list[str]:
    """The names of all threads that talk to a storage other than the local disk. At the end of a process: that hang."""
    return [
        thread.name
        for thread in threading.enumerate()
        if isinstance(thread, StorageThread) and not thread.place.is_local
    ]
