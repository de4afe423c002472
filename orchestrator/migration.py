"""Brings a run that was written by an older version of this program up to date.

Files are made beside the ones that they replace and put in their place whole; the manifest, which says the version,
is the last. Killed at any moment, the run is still one of the older version, and the same command goes on.

Version 1 had no checkpoints: its journal (layout 2) said which parts count. Its tables have the same columns as those
of version 2, so that parts stay as they are.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from orchestrator.config import StorageConfig
from orchestrator.disks import FolderLock
from orchestrator.journal import FILE_NAME, PART_KINDS, Spending
from orchestrator.journal_tables import LAYOUT, TABLES
from orchestrator.start import journal_place
from orchestrator.writer import claim_run
from results.checkpoint import Checkpoint, Part, checkpoint_epochs, write_checkpoint
from results.location import StorageError, first_line
from results.schema import SCHEMA_VERSION
from results.store import Run

_OLD_LAYOUT: Final = 2
_CONVERSION: Final = """
INSERT INTO about SELECT layout, run, 0 FROM old.about;
INSERT INTO starts SELECT start, process, started_at, 0 FROM old.starts;
INSERT INTO attempts SELECT game_id, attempt, cause, detail, worker, epoch, failed_at FROM old.attempts;
INSERT INTO spending SELECT * FROM old.spending;
INSERT INTO answers (game_id, seat, decision, call, place, digest, answer)
    SELECT game_id, seat, decision, call, place, digest, answer FROM old.answers ORDER BY rowid;
-- Games whose rows are in parts come first, so that all up to a certain one are.
INSERT INTO games (game_id, entrant_0, entrant_1, outcome, winner_seat)
    SELECT game_id, entrant_0, entrant_1, outcome, winner_seat FROM old.games ORDER BY row IS NOT NULL, seq;
INSERT INTO games_rows (seq, row)
    SELECT main.games.seq, before.row FROM main.games JOIN old.games AS before USING (game_id)
    WHERE before.row IS NOT NULL;
INSERT INTO taken SELECT 'games', count(*) FROM old.games WHERE row IS NULL;
INSERT INTO decisions SELECT game_id, decision FROM old.decisions
    WHERE game_id NOT IN (SELECT game_id FROM old.games);
INSERT INTO calls SELECT game_id, decision, call FROM old.calls
    WHERE game_id NOT IN (SELECT game_id FROM old.games);
INSERT INTO decisions_rows (row) SELECT row FROM old.decisions WHERE row IS NOT NULL ORDER BY seq;
INSERT INTO calls_rows (row) SELECT row FROM old.calls WHERE row IS NOT NULL ORDER BY seq
"""


def migrate(storage: StorageConfig, name: str, say: Callable[[str], None]) -> bool:
    """Bring the run ``name`` up to date; false where it is already.

    Raises :class:`ConfigError` or :class:`results.location.StorageError` for a run that is missing, is being played, or
    is not whole.
    """
    run = Run.named(storage.root, name)
    if run.manifest.schema_version == SCHEMA_VERSION:
        return False
    place = journal_place(storage, run.location, name)
    folder = place if place.is_dir() else None
    lock = FolderLock(folder, f"run {name!r}") if folder is not None else None
    try:
        in_run = storage.journal_dir is None
        at_least = 1 + max(checkpoint_epochs(run.location), default=0)
        lease = claim_run(run.location, name, storage.writer_seconds, at_least, in_run and folder is not None, say)
        try:
            _from_version_1(run, folder, lease.epoch)
        finally:
            lease.release()
    finally:
        if lock is not None:
            lock.release()
    return True


def _from_version_1(run: Run, folder: Path | None, epoch: int) -> None:
    old = None if folder is None else folder / FILE_NAME
    if old is None or not old.exists():
        # The next start makes a journal from what the parts have.
        state = {"taken": dict.fromkeys(PART_KINDS, 0), "spending": _spent(run.calls()), "attempts": []}
        parts = {kind: _parts(run, kind, run.part_names(kind)) for kind in PART_KINDS}
        write_checkpoint(run.location, Checkpoint(epoch, parts, state))
    elif _layout(old) == _OLD_LAYOUT:
        new = old.with_name(f"{FILE_NAME}.migrating")
        written, state = _new_journal(old, new, epoch)
        parts = {kind: _parts(run, kind, written[kind]) for kind in PART_KINDS}
        # The old journal alone says which parts count: the checkpoint is there before that one is gone.
        write_checkpoint(run.location, Checkpoint(epoch, parts, state))
        os.replace(new, old)
    elif run.checkpoint() is None:
        raise StorageError(f"{run.location.path}: its journal is of layout {_layout(old)}, and there is no checkpoint")
    run.write_manifest(replace(run.manifest, schema_version=SCHEMA_VERSION, checkpointed=True))


def _parts(run: Run, kind: str, names: Sequence[str]) -> tuple[Part, ...]:
    """Those parts with their rows and sizes. Raises :class:`StorageError` for one that is missing or torn."""
    sizes = run.location.child(kind).sizes()
    found = []
    for name in sorted(names):
        where = run.location.child(kind, name)
        if name not in sizes:
            raise StorageError(f"{where.path} is gone, though the journal has it as written; bring it back")
        try:
            with where.filesystem.open_input_file(where.path) as source:
                rows = pq.read_metadata(source).num_rows
        except (pa.ArrowException, OSError) as error:
            raise StorageError(f"{where.path} is not a whole Parquet file: {first_line(error)}") from error
        found.append(Part(name.removesuffix(".parquet"), rows, sizes[name]))
    return tuple(found)


def _layout(journal: Path) -> int:
    with closing(sqlite3.connect(journal)) as file:
        return int(file.execute("SELECT layout FROM about").fetchone()[0])


def _new_journal(old: Path, new: Path, epoch: int) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Make ``new`` from ``old``; returns the names of the parts that are written, and what the checkpoint notes."""
    new.unlink(missing_ok=True)
    with closing(sqlite3.connect(old, isolation_level=None)) as file:
        # All of it is in one file then, and nothing beside it is left when that file is replaced.
        file.execute("PRAGMA journal_mode=DELETE").fetchone()
    with closing(sqlite3.connect(new, isolation_level=None)) as file:
        for statement in TABLES.split(";"):
            file.execute(statement)
        file.execute("ATTACH DATABASE ? AS old", (str(old),))
        file.execute("BEGIN")
        for statement in _CONVERSION.split(";"):
            file.execute(statement)
        file.execute("UPDATE about SET layout = ?", (LAYOUT,))
        note = "INSERT INTO starts (process, started_at, writer) SELECT 'migration', max(started_at), ? FROM starts"
        file.execute(note, (epoch,))
        file.execute("COMMIT")
        written = {
            kind: [
                f"part-{part:06d}.parquet"
                for (part,) in file.execute("SELECT part FROM old.parts WHERE kind = ? AND written", (kind,))
            ]
            for kind in PART_KINDS
        }
        taken = dict.fromkeys(PART_KINDS, 0) | dict(file.execute("SELECT kind, seq FROM taken"))
        spending = {row[0]: row[1:] for row in file.execute("SELECT * FROM spending")}
    return written, {"taken": taken, "spending": spending, "attempts": []}


def _spent(calls: pa.Table) -> dict[str, list[float]]:
    """What the calls of each entrant took, as a checkpoint notes it."""
    names = [field.name for field in fields(Spending) if field.name != "calls"]
    summed = calls.group_by("entrant").aggregate([("game_id", "count"), *((name, "sum") for name in names)])
    return {
        row["entrant"]: [row["game_id_count"], *(row[f"{name}_sum"] for name in names)] for row in summed.to_pylist()
    }
