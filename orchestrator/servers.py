"""Whether Ray's servers are there: those of an embedded Ray, or the head of a cluster that was joined.

Without them no worker can be started, and whoever asks all the same waits for a minute and is then ended by Ray.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from orchestrator.access import cluster_id
from orchestrator.hanging import AskingThread
from orchestrator.processes import children

_EMBEDDED: Final = ("raylet", "gcs_server")
_LOOK_SECONDS: Final = 2.0
_END_SECONDS: Final = 2.0
_PATIENCE_SECONDS: Final = 30.0
"""A head that is away for so long is given up, in half the time after which Ray would end this process. Games that are
being played meanwhile go on: workers answer without it."""


@contextmanager
def unless_lost() -> Iterator[None]:
    """Within, Ray is told of ends. Where the connection to it is lost nobody is left who could be told."""
    import ray

    try:
        yield
    except Exception:
        if ray.is_initialized():
            raise


def end_actor(actor: Any, patient: bool = True) -> threading.Thread:
    """End an actor at once, with a thread that has told Ray so when it ends.

    Ray is told through its head, and does not come back from that while the head is away: this does after a moment, or
    at once unless it is ``patient``.
    """
    import ray

    def tell() -> None:
        with suppress(Exception):  # Ray is being shut down, which ends it as well.
            ray.kill(actor, no_restart=True)

    thread = AskingThread("end", tell)
    thread.start()
    if patient:
        thread.join(_END_SECONDS)
    return thread


class Servers:
    """Looks at the servers of the Ray that this process is connected to, until :meth:`close`.

    An :attr:`embedded` Ray is looked at through its processes, and the head of a joined cluster is asked who it is:
    one that was started again knows nothing of this process. A client of ``ray://`` hears from Ray of its end. ``head``
    and ``ask`` are by default what Ray says and :func:`orchestrator.access.cluster_id`.
    """

    def __init__(
        self,
        head: str | None = None,
        ask: Callable[[str], bytes | None] = cluster_id,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._names = [name for name in _EMBEDDED if children(os.getpid(), name)]
        self.embedded = bool(self._names)
        self._head = _head() if head is None and not self._names else head
        self._ask = ask
        self._clock = clock
        self._answered = clock()
        self._silent = self._is_another = False
        self._closed = threading.Event()
        if self._head:
            threading.Thread(target=self._follow, args=(self._head,), name="head", daemon=True).start()

    def close(self) -> None:
        """Look no more."""
        self._closed.set()

    @property
    def away(self) -> bool:
        """Whether nothing should be asked of them now."""
        return self._silent or self._is_another or self._has_ended

    @property
    def ended(self) -> str | None:
        """A line about their end, once they will not come back."""
        if self._has_ended:
            return "Ray on this machine has ended"
        if self._is_another:
            return f"another Ray answers at {self._head} than the one that was joined, which is lost"
        if self._silent and self._clock() - self._answered > _PATIENCE_SECONDS:
            return f"the head of the Ray cluster at {self._head} has not answered for {_PATIENCE_SECONDS:.0f} s"
        return None

    @property
    def _has_ended(self) -> bool:
        """Whether a server of an embedded Ray is gone."""
        return any(not children(os.getpid(), name) for name in self._names)

    def _follow(self, head: str) -> None:
        joined = None
        while True:
            found = self._ask(head)
            self._silent = found is None
            if found is not None:
                self._answered = self._clock()
                joined = found if joined is None else joined
                self._is_another = found != joined
            if self._closed.wait(_LOOK_SECONDS):
                return


def _head() -> str:
    """Where the head listens; empty for a client of ``ray://``, which need not be able to reach that."""
    import ray

    client: Any = ray.util.client.ray
    return "" if client.is_connected() else str(ray.get_runtime_context().gcs_address)
