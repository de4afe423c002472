"""Writes Parquet parts from what the journal holds, in a thread of its own.

A part's rows are fixed in the journal, then its file is written and moved into place, then the journal notes it. Killed
anywhere in between, the next start writes the same rows to the same name again: no row is lost and none is there twice.
"""

from __future__ import annotations

import json
import threading
import time
from typing import Final

from orchestrator.config import StorageConfig
from orchestrator.group_commit import GroupCommit
from orchestrator.journal import PART_KINDS, Journal
from results.schema import table_from_rows
from results.store import Run

_PART_BYTES: Final = 16 * 2**20
"""About so much JSON at most is turned into one part, so that memory stays small."""


def part_name(part: int) -> str:
    """The name of a part's file, without ``.parquet``."""
    return f"part-{part:06d}"


class PartWriter:
    """Writes a part whenever enough rows wait or the first has waited long enough; :meth:`close` writes the rest."""

    def __init__(self, run: Run, commits: GroupCommit, journal: Journal, config: StorageConfig) -> None:
        self._run = run
        self._commits = commits
        self._journal = journal
        self._config = config
        self._changed = threading.Condition()
        self._rows = 0
        self._bytes = 0
        self._since = 0.0
        self._closing = False
        self._error: BaseException | None = None
        for kind in PART_KINDS:
            for part in commits.call(journal.unwritten_parts, kind):
                self._write(kind, part)
        self._thread = threading.Thread(target=self._work, name="parts", daemon=True)
        self._thread.start()

    def rows_added(self, rows: int, size: int) -> None:
        """So many rows of that many bytes in all have been committed. Raises what went wrong in the thread, if any."""
        self.check()
        with self._changed:
            if not self._rows:
                self._since = time.monotonic()
            self._rows += rows
            self._bytes += size
            self._changed.notify()

    def check(self) -> None:
        """Raise what went wrong in the thread, if any."""
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Write all that waits. Raises what went wrong; the journal then still has the rows."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()
        self.check()
        for kind in PART_KINDS:
            while self._write_next(kind, self._most()):
                pass

    def _work(self) -> None:
        try:
            while True:
                with self._changed:
                    while not self._closing and not self._due():
                        self._changed.wait(0.5 if self._rows else None)
                    if self._closing:
                        return
                    most = self._most()
                    self._bytes -= self._bytes * min(most, self._rows) // self._rows
                    self._rows -= min(most, self._rows)
                    self._since = time.monotonic()
                for kind in PART_KINDS:
                    self._write_next(kind, most)
        except BaseException as error:
            self._error = error

    def _due(self) -> bool:
        return self._rows > 0 and (
            self._rows >= self._config.part_rows
            or self._bytes >= _PART_BYTES
            or time.monotonic() - self._since >= self._config.part_seconds
        )

    def _most(self) -> int:
        """Rows of the next part."""
        fitting = self._rows * _PART_BYTES // self._bytes if self._bytes else self._config.part_rows
        return max(min(self._config.part_rows, fitting), 1)

    def _write_next(self, kind: str, most: int) -> bool:
        part = self._commits.call(self._journal.plan_part, kind, most)
        if part is None:
            return False
        self._write(kind, part)
        return True

    def _write(self, kind: str, part: int) -> None:
        rows = self._commits.call(self._journal.part_rows, kind, part)
        table = table_from_rows(kind, map(json.loads, rows))
        self._run.write_part(kind, table, part_name(part))
        self._commits.call(self._journal.part_written, kind, part)
