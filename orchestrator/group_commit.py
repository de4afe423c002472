"""Runs operations on the journal from any thread, as many as wait in one transaction."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

from orchestrator.journal import Journal

_Arguments = ParamSpec("_Arguments")
_Value = TypeVar("_Value")
_Operation = tuple[Callable[[], Any], "Future[Any]"]
_MOST_AT_ONCE = 512


class JournalUnwritable(OSError):
    """The disk of the journal is full or gone. What was committed stays; a later start goes on from there."""


class GroupCommit:
    """The journal's only user: one thread that runs what is submitted, in order.

    A future has its value once the transaction with its operation is on the disk. An operation that raises leaves no
    trace and its future has the exception; the others of its transaction are not touched. Where a transaction cannot be
    committed (a full disk, say), all its futures have a :class:`JournalUnwritable`.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._queue: SimpleQueue[_Operation | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def submit(
        self, operation: Callable[_Arguments, _Value], *args: _Arguments.args, **kwargs: _Arguments.kwargs
    ) -> Future[_Value]:
        """Run a method of the journal in the next transaction."""
        future: Future[_Value] = Future()
        self._queue.put((lambda: operation(*args, **kwargs), future))
        return future

    def call(
        self, operation: Callable[_Arguments, _Value], *args: _Arguments.args, **kwargs: _Arguments.kwargs
    ) -> _Value:
        """Run a method of the journal and wait until it is committed."""
        return self.submit(operation, *args, **kwargs).result()

    def close(self) -> None:
        """Commit what was submitted, then close the journal. Nothing may be submitted afterwards."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()
            self._journal.close()

    def _run(self) -> None:
        while True:
            operation = self._queue.get()
            if operation is None:
                return
            group = [operation]
            last = False
            while len(group) < _MOST_AT_ONCE and not self._queue.empty():
                following = self._queue.get()
                if following is None:
                    last = True
                    break
                group.append(following)
            self._commit(group)
            if last:
                return

    def _commit(self, group: list[_Operation]) -> None:
        done: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            with self._journal.transaction():
                self._journal.check_not_fenced()
                for operation, future in group:
                    try:
                        with self._journal.savepoint():
                            done.append((future, operation(), None))
                    except sqlite3.OperationalError:
                        raise  # The disk, not the operation: nothing of the transaction stays.
                    except Exception as error:
                        done.append((future, None, error))
        except BaseException as error:
            told = JournalUnwritable(f"the journal cannot be written: {error}")
            for _, future in group:
                future.set_exception(told if isinstance(error, sqlite3.Error) else error)
            return
        for future, value, failed in done:
            if failed is None:
                future.set_result(value)
            else:
                future.set_exception(failed)
