"""The beginning of a start: what the run's storage has, and what the journal has, brought together.

Where the run was last written with this journal, the journal has all that counts; the checkpoint says which of its rows
are in parts. Where it was written with another one, which is on another machine or lost, the journal is made anew from
the storage: finished games from the parts, games in flight from the answers that were shipped.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from orchestrator.growing import part_name
from orchestrator.in_flight import read_segments
from orchestrator.journal import FILE_NAME, PART_KINDS, FailedAttempt, Journal, Spending
from results.checkpoint import Checkpoint, Part, read_checkpoint
from results.location import Location, StorageError, StorageUnreachable, first_line
from results.store import Run

_LOOKS: Final = 3
_GAME_COLUMNS: Final = ["game_id", "entrant_0", "entrant_1", "outcome", "winner_seat"]


@dataclass(frozen=True)
class Settled:
    """What this start goes on from. ``replaced`` are parts by kind that count no more and whose files are to go."""

    parts: Mapping[str, tuple[Part, ...]]
    segments: tuple[str, ...]
    replaced: Mapping[str, tuple[str, ...]]


def settle(run: Run, journal: Journal, epoch: int, folder: Path, is_new: bool, say: Callable[[str], None]) -> Settled:
    """Bring ``journal``, which is in ``folder``, and the checkpoint of the writer before ``epoch`` together.

    Only a run that ``is_new`` may have none. Raises :class:`StorageError` for a part that is missing or torn, and for a
    storage that has less than the journal.
    """
    for look in range(_LOOKS):
        before = read_checkpoint(run.location, before=epoch)
        try:
            return _settled(run, journal, epoch, folder, before, is_new, say)
        except StorageUnreachable:
            raise
        except StorageError:
            # The writer before may have been in the middle of a commit when it lost the run.
            if look + 1 == _LOOKS or read_checkpoint(run.location, before=epoch) == before:
                raise
    raise AssertionError("the loop returns or raises")


def _settled(
    run: Run,
    journal: Journal,
    epoch: int,
    folder: Path,
    before: Checkpoint | None,
    is_new: bool,
    say: Callable[[str], None],
) -> Settled:
    done = journal.counts()[0]
    if before is None:
        if not is_new:
            raise StorageError(f"{run.location.path}: checkpoints/ is gone, though the run was begun with it")
        return Settled(dict.fromkeys(PART_KINDS, ()), (), {})
    check_parts(run, before)
    before = _without_announced(run, before)
    if journal.knows_writer(before.epoch):
        taken = {kind: int(seq) for kind, seq in before.writer["taken"].items()}
        if any(seq > taken.get(kind, 0) for kind, seq in journal.taken().items()):
            raise StorageError(
                f"{run.location.path} is older than its journal in {folder}, which has parts as written that are not "
                "there; bring the later files back"
            )
        with journal.transaction():
            journal.drop_taken(taken)
        return Settled(before.parts, tuple(before.writer.get("segments") or ()), {})
    if done or journal.spending():
        aside = folder / f"journal-before-{epoch:06d}.sqlite"
        _set_aside(folder, aside)
        say(f"the run was gone on with elsewhere since; the journal that was here is kept as {aside}")
    return _adopt(run, journal, epoch, before)


def check_parts(run: Run, checkpoint: Checkpoint) -> None:
    """Raise :class:`StorageError`, naming the part, where one is missing or torn.

    Sizes are compared with what was written, and footers read where that is cheap or the size is another.
    """
    for kind in PART_KINDS:
        there = run.location.child(kind).sizes()
        for part in checkpoint.of(kind):
            size = there.get(f"{part.name}.parquet")
            where = run.part_location(kind, part.name)
            if size is None:
                if sum(held.rows for held in part.holds if f"{held.name}.parquet" in there) == part.rows:
                    continue  # It was announced and not put in place; those it was to hold are still there.
                raise StorageError(f"{where.path} is gone, though the run's checkpoint has it; bring it back")
            if size != part.size or not where.is_object_store:
                rows = _footer(where)
                if rows is None or rows < part.rows:
                    raise StorageError(
                        f"{where.path} is torn: {size} bytes, {part.size} were written; bring it back from a copy"
                    )


def _without_announced(run: Run, checkpoint: Checkpoint) -> Checkpoint:
    """``checkpoint`` with those parts that were announced and never put in place given back to the ones they hold."""
    parts: dict[str, tuple[Part, ...]] = {}
    for kind in PART_KINDS:
        there = run.location.child(kind).sizes()
        listed: list[Part] = []
        for part in checkpoint.of(kind):
            if f"{part.name}.parquet" in there:
                listed.append(part)
            else:
                held = [(one, there.get(f"{one.name}.parquet")) for one in part.holds]
                listed += [Part(one.name, one.rows, size) for one, size in held if size is not None]
        parts[kind] = tuple(listed)
    return replace(checkpoint, parts=parts)


def _footer(where: Location) -> int | None:
    """The number of rows that a Parquet file's footer tells; ``None`` for a file without a whole one."""
    try:
        with where.filesystem.open_input_file(where.path) as source:
            return int(pq.read_metadata(source).num_rows)
    except pa.ArrowInvalid:
        return None
    except OSError as error:
        if where.is_local:
            return None
        raise StorageUnreachable(f"cannot read {where.path}: {first_line(error)}") from error


def _set_aside(folder: Path, aside: Path) -> None:
    """Copy the journal: it may hold what was not shipped, and whoever wants can look."""
    aside.unlink(missing_ok=True)
    with closing(sqlite3.connect(folder / FILE_NAME)) as source, closing(sqlite3.connect(aside)) as target:
        source.backup(target)


def _adopt(run: Run, journal: Journal, epoch: int, before: Checkpoint) -> Settled:
    """Make the journal anew from the storage."""
    with journal.transaction():
        journal.clear()
        journal.begin_adopting()
    for part in before.of("games"):
        with journal.transaction():
            journal.adopt_games(run.read_part("games", part, _GAME_COLUMNS).to_pylist())
    shipped = before.writer.get("segments")
    parts = dict(before.parts)
    replaced: dict[str, tuple[str, ...]] = {}
    if shipped is None:
        # Games that were in flight are played anew: what they had decided goes, what it has cost stays counted.
        for kind in ("decisions", "calls"):
            parts[kind], replaced[kind] = _without_unfinished(run, journal, epoch, kind, before.of(kind))
    else:
        _adopt_in_flight(run, journal, before, shipped)
    with journal.transaction():
        for entrant, spent in before.writer.get("spending", {}).items():
            journal.add_spending(entrant, Spending(*spent))
        journal.adopt_attempts(FailedAttempt(*failed) for failed in before.writer.get("attempts", ()))
        journal.end_adopting()
    return Settled(parts, tuple(shipped or ()), replaced)


def _adopt_in_flight(run: Run, journal: Journal, before: Checkpoint, shipped: list[str]) -> None:
    try:
        for answers in read_segments(run.location, shipped):
            unfinished = _unfinished(journal, {game_id for game_id, _ in answers})
            with journal.transaction():
                journal.adopt_answers(one for one in answers if one[0] in unfinished)
    except FileNotFoundError as error:
        raise StorageError(f"{run.location.path}: answers of games in flight are gone: {first_line(error)}") from error
    except OSError as error:
        raise StorageUnreachable(f"cannot read in {run.location.path}: {first_line(error)}") from error
    for kind, columns in (("decisions", ["game_id", "decision"]), ("calls", ["game_id", "decision", "call"])):
        for part in before.of(kind):
            table = run.read_part(kind, part, columns)
            open_rows = table.filter(pc.is_in(table["game_id"], _unfinished_of(journal, table)))
            with journal.transaction():
                journal.adopt_keys(kind, zip(*(open_rows[name].to_pylist() for name in columns), strict=True))


def _without_unfinished(
    run: Run, journal: Journal, epoch: int, kind: str, parts: tuple[Part, ...]
) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """``parts`` without rows of games that have no result, and the names of those that had some."""
    kept: list[Part] = []
    replaced: list[str] = []
    for part in parts:
        table = run.read_part(kind, part)
        finished = table.filter(pc.invert(pc.is_in(table["game_id"], _unfinished_of(journal, table))))
        if len(finished) == len(table):
            kept.append(part)
            continue
        replaced.append(part.name)
        if len(finished):
            # Numbers from the end, where no growing part comes to.
            name = part_name(epoch, 999_999 - len(replaced))
            prepared = run.prepare_part(kind, finished, name)
            prepared.place()
            kept.append(Part(name, len(finished), prepared.size, part.sealed))
    return tuple(kept), tuple(replaced)


def _unfinished_of(journal: Journal, table: pa.Table) -> pa.Array:
    ids = set(pc.unique(table["game_id"]).to_pylist())
    return pa.array(sorted(_unfinished(journal, ids)), pa.string())


def _unfinished(journal: Journal, game_ids: set[str]) -> set[str]:
    return {one for some in _chunks(sorted(game_ids)) for one in journal.unfinished(some)}


def _chunks(values: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(values), 500):
        yield values[start : start + 500]


def writer_state(journal: Journal) -> dict[str, Any]:
    """What a checkpoint has of the journal besides rows and answers: what was spent, and which tries have failed."""
    return {
        "spending": {entrant: astuple(spent) for entrant, spent in journal.spending().items()},
        "attempts": [[getattr(failed, field.name) for field in fields(failed)] for failed in journal.open_attempts()],
    }
