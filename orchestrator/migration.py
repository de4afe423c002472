"""Brings a run that was written by an older version of this program up to date.

Files are made beside the ones that they replace and put in their place whole; the manifest, which says the version,
is the last. Killed at any moment, the run is still one of an older version, and the same command goes on.

Version 1 had no checkpoints: its journal (layout 2) said which parts count. Its tables have the same columns as those
of version 2, so that parts stay as they are.

Version 2 had no column ``usage_estimated`` of calls. It is found again from their replies, in the rows that wait in the
journal and in the parts, which are written anew, so that whoever reads the folder finds one schema.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from agents.llm.replies import MalformedReply, load_body, parse_usage
from orchestrator.config import StorageConfig
from orchestrator.disks import FolderLock
from orchestrator.growing import part_name
from orchestrator.journal import FILE_NAME, PART_KINDS, Spending
from orchestrator.journal_tables import LAYOUT, TABLES
from orchestrator.start import journal_place
from orchestrator.takeover import check_parts
from orchestrator.writer import WriterLease, claim_run
from results.checkpoint import Checkpoint, Held, Part, checkpoint_epochs, write_checkpoint
from results.location import StorageError, first_line
from results.schema import SCHEMA_VERSION, schema_of, version_of
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
_NOTE: Final = "INSERT INTO starts (process, started_at, writer) SELECT 'migration', max(started_at), ? FROM starts"
_CALLS: Final = "calls"
_WITH_USAGE_TOLD: Final = 3
"""The version that brought the column ``usage_estimated``."""


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
            if run.manifest.schema_version == 1:
                _from_version_1(run, folder, lease.epoch)
            _from_version_2(run, folder, name if in_run else run.location.path, lease)
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
    run.write_manifest(replace(run.manifest, schema_version=2, checkpointed=True))


def _from_version_2(run: Run, folder: Path | None, belongs_to: str, lease: WriterLease) -> None:
    before = run.checkpoint()
    if before is None:
        raise StorageError(f"{run.location.path}: checkpoints/ is gone, though the run was begun with it")
    check_parts(run, before)
    if folder is not None and (folder / FILE_NAME).exists():
        # It knows of the checkpoint before that is there: one that it does not know was written elsewhere.
        _tell_usage_in_journal(folder / FILE_NAME, belongs_to, before.epoch, lease.epoch)
    parts = list(before.of(_CALLS))
    for index, part in enumerate(parts):
        version = _version(run, part)
        if version:
            # What a killed writer has left beside it would stand for the same rows twice.
            _delete_held(run, part, lease)
        if version < _WITH_USAGE_TOLD:
            name = part_name(lease.epoch, index + 1)
            prepared = run.prepare_part(_CALLS, _with_usage_told(run.read_part(_CALLS, part)), name)
            holds = (Held(part.name, 0, part.rows), *part.holds)
            parts[index] = Part(name, part.rows, prepared.size, part.sealed, holds)
            # It counts first and is put in place then, so that whoever reads by the checkpoint finds its rows once.
            lease.check()
            listed = {**before.parts, _CALLS: tuple(parts)}
            write_checkpoint(run.location, Checkpoint(lease.epoch, listed, before.writer))
            prepared.place()
            _delete_held(run, parts[index], lease)
    run.write_manifest(replace(run.manifest, schema_version=SCHEMA_VERSION))


def _delete_held(run: Run, part: Part, lease: WriterLease) -> None:
    """Delete the files whose rows are in ``part``, which must be in place."""
    there = run.location.child(_CALLS).sizes()
    for gone in [held.name for held in part.holds if f"{held.name}.parquet" in there]:
        lease.check()
        run.part_location(_CALLS, gone).delete()


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
        file.execute(_NOTE, (epoch,))
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


def _version(run: Run, part: Part) -> int:
    """The schema version of a part of calls; 0 for one that is not in place, so that its rows are in others."""
    where = run.part_location(_CALLS, part.name)
    try:
        with where.filesystem.open_input_file(where.path) as source:
            return version_of(pq.read_schema(source))
    except FileNotFoundError:
        return 0
    except (pa.ArrowException, OSError) as error:
        raise StorageError(f"cannot read {where.path}: {first_line(error)}") from error


def _with_usage_told(calls: pa.Table) -> pa.Table:
    """``calls`` of a version that did not tell whether tokens are estimated, with what their replies say of it."""
    place = calls.schema.get_field_index("usage_estimated")
    told = pa.array([_usage_estimated(reply) for reply in calls["reply"].to_pylist()], pa.bool_())
    return calls.set_column(place, schema_of(_CALLS).field(place), told)


def _usage_estimated(reply: str) -> bool | None:
    try:
        return parse_usage(load_body(reply).get("usage")) is None
    except MalformedReply:
        return None


def _tell_usage_in_journal(journal: Path, belongs_to: str, before: int, epoch: int) -> None:
    """Do the same to the rows that wait in ``journal``, and note there that ``epoch`` writes the run.

    A journal that does not know of the writer ``before``, or that is another run's, is left alone.
    """

    def told(row: bytes) -> bytes:
        call = json.loads(row)
        call.setdefault("usage_estimated", _usage_estimated(call["reply"]))
        return json.dumps(call, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    with closing(sqlite3.connect(journal, isolation_level=None)) as file:
        if file.execute("SELECT layout, run FROM about").fetchone() != (LAYOUT, belongs_to):
            return
        if file.execute("SELECT 1 FROM starts WHERE writer = ?", (before,)).fetchone() is None:
            return
        file.create_function("told", 1, told)
        file.execute("BEGIN IMMEDIATE")
        file.execute("UPDATE calls_rows SET row = told(row)")
        file.execute(_NOTE, (epoch,))
        file.execute("COMMIT")
