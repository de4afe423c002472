"""Writes Parquet parts from what the journal holds, and ships answers in flight, in a thread of its own.

A commit to the storage has three steps. Parts are written with the rows that wait in the journal; the run's checkpoint,
which lists the parts and says up to which row of the journal they go, is replaced whole; then the journal drops those
rows. Killed before the checkpoint, nothing of it counts, and the next start writes the rows again; killed after it, the
next start finds in the checkpoint what to drop. No row is lost and none counts twice.

Nothing waits for a slow storage but this thread: rows stay in the journal, on the local disk, until they are in a part.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from orchestrator.config import StorageConfig
from orchestrator.group_commit import GroupCommit
from orchestrator.growing import GrowingParts
from orchestrator.hanging import HURRIED_SECONDS, AskingThread
from orchestrator.in_flight import InFlight
from orchestrator.journal import ANSWERS, PART_KINDS, Journal
from orchestrator.patience import Patience, StorageGivenUp
from orchestrator.takeover import Settled, writer_state
from orchestrator.writer import WriterLease
from results.checkpoint import Checkpoint, delete_checkpoints, write_checkpoint
from results.json_rows import table_from_json
from results.location import Prepared
from results.store import Run

_CHUNK_ROWS: Final = 5000
_CHUNK_BYTES: Final = 8 * 2**20
"""About so much JSON at most is turned into a table at once, so that memory stays small."""
_DUE_BYTES: Final = 32 * 2**20
_PARTS_A_COMMIT: Final = 4
_SWEEP_SECONDS: Final = 60.0
_GRACE_SECONDS: Final = 2.0


class PartWriter:
    """Brings what is committed to the run's storage: whenever enough rows wait, or the first has waited long enough.

    Making one finishes what earlier starts have left; this writer's checkpoint is the one that counts already. With
    ``ships``, answers of games in flight are brought there too, at least every ``storage.flush_seconds``. ``say`` is
    told, by :meth:`check` and :meth:`close`, of trouble with the storage.
    """

    def __init__(
        self,
        run: Run,
        commits: GroupCommit,
        journal: Journal,
        config: StorageConfig,
        lease: WriterLease,
        settled: Settled,
        ships: bool,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._run = run
        self._commits = commits
        self._journal = journal
        self._config = config
        self._lease = lease
        self._say = say
        self._lines: deque[str] = deque()
        self._patiently = Patience(run.location, self._lines.append)
        self._tables = {
            kind: GrowingParts(run, kind, lease.epoch, settled.parts.get(kind, ()), config.part_rows)
            for kind in PART_KINDS
        }
        self._in_flight = InFlight(run.location, lease.epoch, journal, commits, settled.segments) if ships else None
        self._taken = commits.call(journal.taken)
        self._state = commits.call(writer_state, journal)
        self._marks: Mapping[str, int] = {}
        self._changed = threading.Condition()
        self._rows = sum(commits.call(journal.waiting, kind) for kind in PART_KINDS)
        self._bytes = 0
        self._since = 0.0
        # The first flush is at once: until then the checkpoint has objects of the writer before, which may still act.
        self._shipped_at = float("-inf")
        self._swept_at = time.monotonic()
        self._closing = False
        self._wanted = self._flushed = 0
        self._error: BaseException | None = None
        self._patiently.until(config.patience_seconds)
        self._take_over(settled)
        self._patiently.forever()
        self._thread = AskingThread("parts", self._work, not run.location.is_local)
        self._thread.start()

    def rows_added(self, rows: int, size: int) -> None:
        """So many rows of that many bytes in all have been committed. Raises what went wrong in the thread, if any."""
        self._raise()
        with self._changed:
            if self._rows <= 0:
                self._since = time.monotonic()
            self._rows += rows
            self._bytes += size
            self._changed.notify_all()

    def check(self) -> None:
        """Tell of trouble; raise what went wrong in the thread, if any, and where another has become the writer."""
        while self._lines:
            self._say(self._lines.popleft())
        self._lease.told()
        self._raise()

    def flush(self) -> None:
        """Bring all that waits to the storage now, and return when it counts there. Raises what went wrong."""
        with self._changed:
            self._wanted += 1
            number = self._wanted
            self._changed.notify_all()
            while self._flushed < number and self._thread.is_alive():
                self._changed.wait(0.1)
        self._raise()

    def close(self, seconds: float) -> str | None:
        """Write all that waits, trying for at most so many seconds where the storage does not answer.

        Returns why something is left, which a later start with this journal writes. Raises what went wrong. Unless all
        that was asked of the storage has been answered, also where this is interrupted, the lease is told so.
        """
        self._lease.answers = False
        self._patiently.until(seconds)
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        until = time.monotonic() + seconds + (_GRACE_SECONDS if seconds else HURRIED_SECONDS)
        while self._thread.is_alive() and (self._run.location.is_local or time.monotonic() < until):
            self._thread.join(0.2)
            while self._lines:
                self._say(self._lines.popleft())
        if isinstance(self._error, StorageGivenUp):
            return self._left(str(self._error))
        self._lease.answers = not self._thread.is_alive()
        self._raise()
        if not self._lease.answers:
            return self._left(f"{self._run.location.path}: the storage has not answered for {seconds:g} s")
        return None

    def _left(self, why: str) -> str:
        rows = sum(self._commits.call(self._journal.waiting, kind) for kind in PART_KINDS)
        return f"{why}; {rows} rows wait in the journal, and the same command writes them"

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    # The thread

    def _work(self) -> None:
        try:
            while True:
                with self._changed:
                    while not self._closing and not self._due():
                        self._changed.wait(0.5 if self._rows or self._in_flight is not None else None)
                    closing, wanted = self._closing, self._wanted
                    whole = closing or wanted > self._flushed or self._rows < self._config.part_rows
                self._commit(whole)
                with self._changed:
                    self._flushed = wanted
                    self._changed.notify_all()
                if closing:
                    while any(self._commits.call(self._journal.waiting, kind) for kind in PART_KINDS):
                        self._commit(True)
                    if self._in_flight is not None and self._in_flight.names:
                        self._commit(True)  # Answers of games that are in parts by now go.
                    self._sweep()
                    return
        except BaseException as error:
            self._error = error

    def _due(self) -> bool:
        if self._wanted > self._flushed:
            return True
        now = time.monotonic()
        if self._in_flight is not None and now - self._shipped_at >= self._config.flush_seconds / 2:
            self._shipped_at = now
            marks = self._commits.call(self._journal.marks)
            if marks != self._marks or self._commits.call(writer_state, self._journal) != self._state:
                return True
        return self._rows > 0 and (
            self._rows >= self._config.part_rows
            or self._bytes >= _DUE_BYTES
            or now - self._since >= self._config.part_seconds
        )

    def _commit(self, whole: bool) -> None:
        """Bring rows that wait into parts, all of them if ``whole`` and only as many as fill a part if not."""
        self._since = self._shipped_at = time.monotonic()
        marks, state = self._commits.call(self._snapshot)
        taken = dict(self._taken)
        rows = size = 0
        # Where no part would be filled, all that there is is moved.
        whole = whole or all(marks[kind] - taken[kind] < self._tables[kind].room for kind in PART_KINDS)
        for kind in PART_KINDS:
            moved, moved_bytes = self._move(kind, taken, marks[kind], whole)
            rows += moved
            size += moved_bytes
        shipped = self._in_flight.names if self._in_flight is not None else []
        if self._in_flight is not None:
            self._in_flight.advance(marks[ANSWERS], self._patiently)
        if taken != self._taken or state != self._state or self._in_flight is not None:
            self._state = state
            self._checkpoint(taken)
            self._commits.call(self._journal.drop_taken, taken)
            self._taken = taken
        if self._in_flight is not None and self._in_flight.names != shipped:
            self._patiently(self._lease.check)
            self._patiently(self._in_flight.sweep)
        self._marks = {**marks, **dict.fromkeys(PART_KINDS, 0)}
        with self._changed:
            # Below 0 where rows were moved before their committer has told of them.
            self._rows -= rows
            self._bytes = self._bytes - size if self._rows > 0 else 0
        if not self._run.location.is_local and time.monotonic() - self._swept_at >= _SWEEP_SECONDS:
            self._sweep()

    def _snapshot(self) -> tuple[dict[str, int], dict[str, Any]]:
        return self._journal.marks(), writer_state(self._journal)

    def _move(self, kind: str, taken: dict[str, int], mark: int, whole: bool) -> tuple[int, int]:
        """Bring rows of ``kind`` up to ``mark`` into parts and note so in ``taken``; returns rows and bytes."""
        growing = self._tables[kind]
        rows = size = 0
        full = 0
        while taken[kind] < mark and full < _PARTS_A_COMMIT:
            if not whole and mark - taken[kind] < growing.room:
                break
            most = min(growing.room, _CHUNK_ROWS)
            found, upto = self._commits.call(self._journal.rows, kind, taken[kind], mark, most, _CHUNK_BYTES)
            taken[kind] = upto if found else mark
            if found:
                growing.add(table_from_json(kind, found))
                rows += len(found)
                size += sum(map(len, found))
            if growing.is_full:
                self._write(growing)
                full += 1
        if growing.is_changed:
            self._write(growing)
        return rows, size

    def _write(self, growing: GrowingParts) -> None:
        prepared = growing.write()
        self._patiently(prepared.place)
        growing.turn()

    def _checkpoint(self, taken: Mapping[str, int]) -> None:
        """Make the parts as they are now, and rows up to ``taken`` in them, the ones that count."""
        content = {"taken": dict(taken), **self._state}
        if self._in_flight is not None:
            content["segments"] = self._in_flight.names
        parts = {kind: growing.parts for kind, growing in self._tables.items()}
        checkpoint = Checkpoint(self._lease.epoch, parts, content)
        self._patiently(self._lease.check)
        self._patiently(lambda: write_checkpoint(self._run.location, checkpoint))

    # The beginning

    def _take_over(self, settled: Settled) -> None:
        """Take small parts of earlier writers into own ones, and delete what counts no more."""
        self._delete({kind: list(names) for kind, names in settled.replaced.items()})
        for kind, growing in self._tables.items():
            while taken_in := growing.take_in():
                prepared = growing.write()
                self._announce(kind, prepared, [part.name for part in taken_in])
                growing.turn()
        self._patiently(lambda: delete_checkpoints(self._run.location, self._lease.epoch))
        self._sweep()

    def _announce(self, kind: str, prepared: Prepared, names: list[str]) -> None:
        """Put a part in place of others. It counts first, is put in place then, and at once the others go.

        So whoever lists the folder sees rows twice for no longer than it takes to delete a file, and whoever reads by
        the checkpoint never: a part that is not in place is read from those that it holds.
        """
        self._checkpoint(self._taken)
        self._patiently(prepared.place)
        self._delete({kind: names})

    def _delete(self, names: Mapping[str, list[str]]) -> None:
        """Delete parts that count no more; not where another has become the writer, for whom they may count."""
        for kind, several in names.items():
            for name in several:
                if not self._run.location.is_local:
                    self._patiently(self._lease.check)
                self._patiently(self._run.part_location(kind, name).delete)

    def _sweep(self) -> None:
        """Delete what writers before this one, some of them late, have left without its counting."""
        self._swept_at = time.monotonic()
        for kind, growing in self._tables.items():
            wanted = {f"{part.name}.parquet" for part in growing.parts}
            folder = self._run.location.child(kind)
            there = self._patiently(folder.names)
            strays = [name for name, is_folder in there if not is_folder and name not in wanted and _is_ours(name)]
            if strays:
                self._patiently(self._lease.check)
                for name in strays:
                    self._patiently(folder.child(name).delete)


def _is_ours(name: str) -> bool:
    """Whether the file of that name is one that a writer of parts has written."""
    return name.startswith("part-") and name.endswith(".parquet")
