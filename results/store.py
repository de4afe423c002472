"""The run store: a run's directory on disk or in object storage, its manifest, its parts and its aggregated tables.

A file comes into being whole: it is written under ``.partial/`` with a name that ends in neither ``.parquet`` nor
``.json`` and then moved into place, or uploaded as one object, so that a reader sees all of it or nothing. Which parts
count is said by the run's checkpoint (:mod:`results.checkpoint`); in a run without one, every part does.
"""

from __future__ import annotations

import io
import os
import re
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from results.checkpoint import CHECKPOINT_FOLDER, Checkpoint, Part, read_checkpoint
from results.location import Location, Prepared, StorageError, StorageUnreachable, first_line
from results.manifest import MANIFEST_NAME, Manifest, ManifestError
from results.schema import PART_TABLES, SchemaError, check_schema, check_table, columns_of, schema_of, version_of

PARTIAL_FOLDER = ".partial"
_LOOKS = 5
_LOOK_SECONDS = 0.1
_PART_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")

KEYS = {"games": ("game_id",), "decisions": ("game_id", "decision"), "calls": ("game_id", "decision", "call")}
"""The columns that tell two rows of a table of parts apart; no two rows of a run share them."""


class RunError(StorageError):
    """A run that is missing, foreign, torn or written by another schema; one line that says what and where."""


class Run:
    """One run's directory.

    Tables come back as Arrow tables; rows are in no particular order. A part that is torn or has another schema, and a
    row that is there twice, raise :class:`RunError`: nothing is left out or counted twice in silence.
    """

    def __init__(self, location: Location, manifest: Manifest) -> None:
        self.location = location
        self.manifest = manifest

    @classmethod
    def open(cls, address: str | os.PathLike[str] | Location) -> Self:
        """Open the run at a local path or ``pyarrow.fs`` address; raises :class:`RunError` where there is none."""
        location = address if isinstance(address, Location) else Location.parse(address)
        manifest_file = location.child(MANIFEST_NAME)
        if not manifest_file.is_file():
            what = "there is no manifest.json in it" if location.exists() else "there is no such folder"
            raise RunError(f"no run at {location.path}: {what}")
        try:
            manifest = Manifest.from_json(manifest_file.read_bytes())
        except OSError as error:
            raise StorageUnreachable(f"cannot read {manifest_file.path}: {first_line(error)}") from error
        except ManifestError as error:
            raise RunError(f"{manifest_file.path}: {first_line(error)}") from error
        return cls(location, manifest)

    @classmethod
    def named(cls, root: str | os.PathLike[str], name: str) -> Self:
        """Open the run ``name`` under ``root``; the :class:`RunError` for a missing one lists those that exist."""
        parent = Location.parse(root)
        location = parent.child(check_run_name(name))
        if not location.child(MANIFEST_NAME).is_file():
            there = run_names(parent)
            known = f"runs there: {', '.join(there)}" if there else "there are no runs there"
            raise RunError(f"no run {name!r} in {parent.path}; {known}")
        return cls.open(location)

    @classmethod
    def create(cls, address: str | os.PathLike[str] | Location, manifest: Manifest) -> Self:
        """Make the directory of a new run and write its manifest; raises :class:`RunError` where a run exists."""
        location = address if isinstance(address, Location) else Location.parse(address)
        if location.child(MANIFEST_NAME).exists():
            raise RunError(f"there is a run at {location.path} already")
        location.make_folder()
        run = cls(location, manifest)
        run.write_manifest(manifest)
        return run

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest, whole."""
        self._write_whole((MANIFEST_NAME,), lambda sink: sink.write(manifest.to_json().encode()))
        self.manifest = manifest

    # Tables of parts

    def games(self, columns: Sequence[str] | None = None) -> pa.Table:
        """A row a finished game; ``columns`` limits what is read."""
        return self._whole("games", columns)

    def decisions(self, columns: Sequence[str] | None = None) -> pa.Table:
        """A row a decision; ``columns`` limits what is read."""
        return self._whole("decisions", columns)

    def calls(self, columns: Sequence[str] | None = None) -> pa.Table:
        """A row an LLM call; ``columns`` limits what is read."""
        return self._whole("calls", columns)

    def checkpoint(self) -> Checkpoint | None:
        """What counts now; ``None`` for a run all of whose parts do. Raises :class:`RunError` where it is lost."""
        found = read_checkpoint(self.location)
        if found is None and self.manifest.checkpointed:
            raise RunError(f"{self.location.child(CHECKPOINT_FOLDER).path} is gone, though the run was begun with it")
        return found

    def part_names(self, table: str) -> list[str]:
        """File names of the parts of ``table`` that count, sorted."""
        _check_parts(table)
        checkpoint = self.checkpoint()
        if checkpoint is not None:
            return sorted(f"{part.name}.parquet" for part in checkpoint.of(table))
        there = self.location.child(table).names()
        return [name for name, is_folder in there if name.endswith(".parquet") and not is_folder]

    def parts(self, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """The parts of ``table`` one after the other, so that a reader need not hold all at once."""
        for _, data in self.named_parts(table, columns):
            yield data

    def named_parts(self, table: str, columns: Sequence[str] | None = None) -> Iterator[tuple[str, pa.Table]]:
        """The same with the parts' file names.

        The rows are those that counted when the first part was asked for, whatever the writer does meanwhile.
        """
        _check_parts(table)
        checkpoint = self.checkpoint()
        if checkpoint is None:
            for name in self.part_names(table):
                yield name, self._read(table, self.location.child(table, name), columns)
        else:
            for part in checkpoint.of(table):
                yield f"{part.name}.parquet", self.read_part(table, part, columns)

    def read_part(self, table: str, part: Part, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows of ``part`` that count, wherever they are by now."""
        for look in range(_LOOKS):
            time.sleep(look * _LOOK_SECONDS)
            if (found := self._rows(table, part, columns)) is not None:
                return found
            # Its rows have been taken into another part.
            now = self.checkpoint()
            holder = now.holder(table, part.name) if now is not None else None
            if holder is not None and (whole := self._rows(table, holder[0], columns)) is not None:
                return whole.slice(holder[1].first, holder[1].rows)
        raise RunError(f"{self.part_location(table, part.name).path} is gone, though the run's checkpoint has it")

    def _rows(self, table: str, part: Part, columns: Sequence[str] | None) -> pa.Table | None:
        """The rows of ``part`` from its own file, or from those it is about to take the place of."""
        location = self.part_location(table, part.name)
        try:
            whole = self._read(table, location, columns)
        except FileNotFoundError:
            held = [one for one in part.holds if self.part_location(table, one.name).is_file()]
            if sum(one.rows for one in held) != part.rows:
                return None
            return pa.concat_tables([self.read_part(table, Part(one.name, one.rows, 0), columns) for one in held])
        if len(whole) < part.rows:
            raise RunError(f"{location.path} has {len(whole)} rows, though {part.rows} were written")
        return whole.slice(0, part.rows)

    def part_location(self, table: str, name: str) -> Location:
        """Where the file of the part ``name`` (without ``.parquet``) is."""
        return self.location.child(table, f"{name}.parquet")

    def write_part(self, table: str, data: pa.Table, name: str) -> str:
        """Put ``data`` in place as the part ``name`` (without ``.parquet``) of ``table``; returns the part's path.

        A part of that name is replaced whole, so that a writer that was killed can write the same part again. Raises
        :class:`results.schema.SchemaError` unless ``data`` has exactly the schema, ``ValueError`` for a bad name.
        """
        self.prepare_part(table, data, name).place()
        return self.part_location(table, name).path

    def prepare_part(self, table: str, data: pa.Table, name: str) -> Prepared:
        """The first half of :meth:`write_part`: the part is written, but not in place."""
        _check_parts(table)
        if not _PART_NAME.fullmatch(name) or name.endswith(".parquet"):
            raise ValueError(f"a part's name is letters, digits, '.', '_' and '-' without '.parquet', not {name!r}")
        check_table(table, data)
        target = self.part_location(table, name)
        return target.prepare(self._partial(table, f"{name}.parquet"), _parquet(table, data))

    def remove_partials(self, *more: str) -> None:
        """Delete parts and manifests that a killed writer left half written; only the one writer of a run may do so.

        ``more`` are beginnings of further names. What an aggregation, which may go on in another process, is writing is
        left alone.
        """
        mine = (MANIFEST_NAME, f"{CHECKPOINT_FOLDER}-", *(f"{table}-" for table in PART_TABLES), *more)
        folder = self.location.child(PARTIAL_FOLDER)
        for name, _ in folder.names():
            if name.startswith(mine):
                folder.filesystem.delete_file(folder.child(name).path)

    # Tables of one file, written by the aggregation

    def ratings(self) -> pa.Table:
        """A row an entrant, best first."""
        return self.table("ratings")

    def win_rates(self) -> pa.Table:
        """A row an ordered pair of entrants."""
        return self.table("win_rates")

    def agents(self) -> pa.Table:
        """A row an entrant: what it did and what it cost."""
        return self.table("agents")

    def table(self, table: str) -> pa.Table:
        """Any table by name; raises :class:`RunError` where the aggregation has not written it yet."""
        columns_of(table)
        if table in PART_TABLES:
            return self._whole(table, None)
        location = self.location.child(f"{table}.parquet")
        try:
            return self._read(table, location, None)
        except FileNotFoundError:
            name = self.manifest.run
            raise RunError(f"{location.path} is not there yet; python -m jobs.aggregate run={name} writes it") from None

    def write_table(self, table: str, data: pa.Table, csv: bool = False) -> list[str]:
        """Replace ``<table>.parquet`` (and ``.csv``) whole; returns the paths. Raises ``SchemaError`` as above."""
        if table in PART_TABLES:
            raise ValueError(f"{table!r} is a table of parts; use write_part")
        check_table(table, data)
        written = [self._write_table((f"{table}.parquet",), table, data)]
        if csv:
            written.append(self._write_whole((f"{table}.csv",), lambda sink: pa_csv.write_csv(data, sink)))
        return written

    # Files

    def _whole(self, table: str, columns: Sequence[str] | None) -> pa.Table:
        keys = KEYS[table]
        wanted = [column.name for column in columns_of(table)] if columns is None else list(columns)
        read = [*wanted, *(key for key in keys if key not in wanted)]
        parts = list(self.parts(table, read))
        if not parts:
            return _select(table, wanted).empty_table()
        whole = pa.concat_tables(parts)
        self.check_unique(table, whole)
        return whole.select(wanted)

    def check_unique(self, table: str, keys: pa.Table) -> None:
        """Raise :class:`RunError` where two rows of ``keys`` (with the key columns of ``table``) are the same one."""
        columns = list(KEYS[table])
        if len(columns) == 1 and pc.count_distinct(keys[columns[0]]).as_py() == len(keys):
            return
        counted = keys.select(columns).group_by(columns).aggregate([([], "count_all")])
        if len(counted) == len(keys):
            return
        twice = counted.filter(pc.greater(counted["count_all"], 1)).sort_by(columns[0]).slice(0, 1).to_pylist()[0]
        where = [
            f"{table}/{name}"
            for name, part in self.named_parts(table, columns)
            for row in part.filter(pc.equal(part["game_id"], twice["game_id"])).to_pylist()
            if all(row[column] == twice[column] for column in columns)
        ]
        row = ", ".join(f"{column} {twice[column]}" for column in columns)
        raise RunError(f"run {self.manifest.run!r} holds {row} more than once: in {' and '.join(where)}")

    def _read(self, table: str, location: Location, columns: Sequence[str] | None) -> pa.Table:
        """All rows of a file; raises ``FileNotFoundError`` where there is none, :class:`RunError` for a bad one."""
        try:
            # An object may be replaced between two requests: it is read in one.
            with self._opened(location) as source:
                file = pq.ParquetFile(source)
                there = file.schema_arrow
                check_schema(table, there, version_of(there))
                schema = _select(table, columns)
                data: pa.Table = file.read(columns=[name for name in schema.names if name in there.names])
        except FileNotFoundError:
            raise
        except SchemaError as error:
            raise RunError(f"{location.path}: {error}") from error
        except pa.ArrowInvalid as error:
            raise RunError(f"{location.path} is not a whole Parquet file: {first_line(error)}") from error
        except (pa.ArrowException, OSError) as error:
            if location.is_local:
                raise RunError(f"{location.path} is not a whole Parquet file: {first_line(error)}") from error
            raise StorageUnreachable(f"cannot read {location.path}: {first_line(error)}") from error
        return _completed(data, file.metadata.num_rows, schema).replace_schema_metadata(schema.metadata)

    def _opened(self, location: Location) -> Any:
        if location.is_object_store:
            return io.BytesIO(location.read_bytes())
        return location.filesystem.open_input_file(location.path)

    def _write_table(self, names: tuple[str, ...], table: str, data: pa.Table) -> str:
        return self._write_whole(names, _parquet(table, data))

    def _write_whole(self, names: tuple[str, ...], write: Callable[[Any], object]) -> str:
        target = self.location.child(*names)
        target.write_whole(self._partial(*names), write)
        return target.path

    def _partial(self, *names: str) -> Location:
        return self.location.child(PARTIAL_FOLDER, f"{'-'.join(names)}.{uuid.uuid4().hex}.partial")


def _parquet(table: str, data: pa.Table) -> Callable[[Any], object]:
    # The file carries our metadata whatever the caller's table came with.
    data = data.cast(schema_of(table))
    return lambda sink: pq.write_table(data, sink, compression="zstd")


def run_names(root: Location) -> list[str]:
    """Names of the runs under ``root``, sorted."""
    return [name for name, is_folder in root.names() if is_folder and root.child(name, MANIFEST_NAME).is_file()]


def check_run_name(name: str) -> str:
    """``name``, where a run may be called so: it is one folder's name. Raises :class:`RunError` otherwise."""
    if not name.strip() or name.startswith(".") or "/" in name or "\\" in name or not name.isprintable():
        raise RunError(f"a run cannot be called {name!r}: take a folder's name, without '/' and not starting with '.'")
    return name


def _check_parts(table: str) -> None:
    if table not in PART_TABLES:
        raise ValueError(f"{table!r} is no table of parts; those are {', '.join(PART_TABLES)}")


def _completed(data: pa.Table, rows: int, schema: pa.Schema) -> pa.Table:
    """``data`` with the columns of ``schema``, null where its file is older than the column."""
    if data.column_names == schema.names:
        return data
    there = {name: (data.field(name), data[name]) for name in data.column_names}
    whole = [there.get(field.name) or (field, pa.nulls(rows, field.type)) for field in schema]
    return pa.table([values for _, values in whole], schema=pa.schema([field for field, _ in whole]))


def _select(table: str, columns: Sequence[str] | None) -> pa.Schema:
    """The schema of ``table`` with only ``columns``, in the order asked for."""
    schema = schema_of(table)
    if columns is None:
        return schema
    if unknown := [name for name in columns if name not in schema.names]:
        raise ValueError(f"table {table!r} has no column {', '.join(unknown)}; it has {', '.join(schema.names)}")
    return pa.schema([schema.field(name) for name in columns], metadata=schema.metadata)
