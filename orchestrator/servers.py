"""Whether Ray's servers are there: those of an embedded Ray, or the head of a cluster that was joined.

Without them no worker can be started, and whoever asks all the same waits for a minute and is then ended by Ray.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from orchestrator.processes import children

_EMBEDDED: Final = ("raylet", "gcs_server")
_LOOK_SECONDS: Final = 2.0
_CONNECT_SECONDS: Final = 3.0
_END_SECONDS: Final = 2.0
_PATIENCE_SECONDS: Final = 30.0
"""A head that is away for so long is given up, in half the time after which Ray would end this process. Games that are
being played meanwhile go on: workers answer without it."""


def end_actor(actor: Any) -> threading.Thread:
    """End an actor at once, with a thread that has told Ray so when it ends.

    Ray is told through its head, and does not come back from that while the head is away: this does after a moment.
    """
    import ray

    def tell() -> None:
        with suppress(Exception):  # Ray is being shut down, which ends it as well.
            ray.kill(actor, no_restart=True)

    thread = threading.Thread(target=tell, name="end", daemon=True)
    thread.start()
    thread.join(_END_SECONDS)
    return thread


class Servers:
    """Looks at the servers of the Ray that this process is connected to, until :meth:`close`.

    ``head`` is the address of a joined cluster's head, by default what Ray says; an :attr:`embedded` Ray is looked at
    through its processes, and a client of ``ray://`` hears of its end by itself.
    """

    def __init__(self, head: str | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._names = [name for name in _EMBEDDED if children(os.getpid(), name)]
        self.embedded = bool(self._names)
        self._head = _head() if head is None and not self._names else head
        self._clock = clock
        self._answered = clock()
        self._silent = False
        self._closed = threading.Event()
        if self._head:
            threading.Thread(target=self._follow, args=(self._head,), name="head", daemon=True).start()

    def close(self) -> None:
        """Look no more."""
        self._closed.set()

    @property
    def away(self) -> bool:
        """Whether nothing should be asked of them now."""
        return self._silent or any(not children(os.getpid(), name) for name in self._names)

    @property
    def ended(self) -> str | None:
        """A line about their end, once they will not come back."""
        if any(not children(os.getpid(), name) for name in self._names):
            return "Ray on this machine has ended"
        if self._silent and self._clock() - self._answered > _PATIENCE_SECONDS:
            return f"the head of the Ray cluster at {self._head} has not answered for {_PATIENCE_SECONDS:.0f} s"
        return None

    def _follow(self, head: str) -> None:
        host, _, port = head.rpartition(":")
        while not self._closed.wait(_LOOK_SECONDS):
            self._silent = not _answers(host.strip("[]"), int(port))
            if not self._silent:
                self._answered = self._clock()


def _head() -> str:
    """Where the head listens; empty for a client of ``ray://``, which need not be able to reach that."""
    import ray

    client: Any = ray.util.client.ray
    return "" if client.is_connected() else str(ray.get_runtime_context().gcs_address)


def _answers(host: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((host, port), _CONNECT_SECONDS):
        return True
    return False
