"""Whether two runs hold the same games and decisions, whoever played them and when."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from results.schema import columns_of, operational_columns, table_from_rows
from results.store import KEYS, Run

COMPARED_TABLES = ("games", "decisions")
_BYTES_AT_ONCE = 500_000_000
_LONGEST_VALUE = 60


@dataclass(frozen=True)
class Difference:
    """One thing that differs, as a line of text."""

    table: str
    key: str
    text: str

    def __str__(self) -> str:
        return f"{self.table}: {self.key}: {self.text}"


@dataclass(frozen=True)
class Comparison:
    """``rows`` a table: those of both runs; ``differing`` rows are in one run only or differ in a column."""

    rows: dict[str, tuple[int, int]]
    differing: dict[str, int]
    first: tuple[Difference, ...]

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not any(self.differing.values())


def compare(a: Run, b: Run, most: int = 10) -> Comparison:
    """Compare the games and decisions of two runs in all but the operational columns.

    The first ``most`` differences are told in the order of the tables and of their keys. Runs too long for memory are
    compared in slices of the key. Raises :class:`results.store.RunError` for a run that cannot be read.
    """
    rows: dict[str, tuple[int, int]] = {}
    differing: dict[str, int] = {}
    first: list[Difference] = []
    for table in COMPARED_TABLES:
        rows[table] = (_length(a, table), _length(b, table))
        differing[table] = 0
        for of_a, of_b in _slices(a, b, table, max(rows[table])):
            found = _differences(table, of_a, of_b, most - len(first))
            differing[table] += found[0]
            first += found[1]
    return Comparison(rows, differing, tuple(first))


def _compared(table: str) -> list[str]:
    left_out = operational_columns(table)
    return [column.name for column in columns_of(table) if column.name not in left_out]


def _length(run: Run, table: str) -> int:
    """Rows of ``table``, each key there once."""
    keys = list(run.parts(table, KEYS[table]))
    if not keys:
        return 0
    whole = pa.concat_tables(keys)
    run.check_unique(table, whole)
    return len(whole)


def _slices(a: Run, b: Run, table: str, longest: int) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Both runs' rows in slices of game_id, in its order; game_ids are digests, so slices are about equally large."""
    number = max(1, math.ceil(longest * _bytes_a_row(a, table) / _BYTES_AT_ONCE))
    bounds = [f"g{4096 * slice_ // number:03x}" for slice_ in range(1, number)]
    for low, high in zip([None, *bounds], [*bounds, None], strict=True):
        yield _slice(a, table, low, high), _slice(b, table, low, high)


def _bytes_a_row(run: Run, table: str) -> float:
    """What a row takes in memory, going by the first part."""
    part = next((part for part in run.parts(table, _compared(table)) if len(part)), None)
    return part.nbytes / len(part) if part is not None else 0.0


def _slice(run: Run, table: str, low: str | None, high: str | None) -> pa.Table:
    """The rows with ``low <= game_id < high``, sorted by key; ``None`` is no bound."""
    columns = _compared(table)
    slices = [table_from_rows(table, []).select(columns)]
    for part in run.parts(table, columns):
        if low is not None:
            part = part.filter(pc.greater_equal(part["game_id"], low))
        if high is not None:
            part = part.filter(pc.less(part["game_id"], high))
        slices.append(part)
    return pa.concat_tables(slices).sort_by([(key, "ascending") for key in KEYS[table]])


def _differences(table: str, a: pa.Table, b: pa.Table, most: int) -> tuple[int, list[Difference]]:
    if a.equals(b):
        return 0, []
    keys = KEYS[table]
    keys_a, keys_b = (list(zip(*(side[key].to_pylist() for key in keys), strict=True)) for side in (a, b))
    place_a, place_b = ({key: place for place, key in enumerate(found)} for found in (keys_a, keys_b))
    told: list[tuple[tuple[Any, ...], str]] = []
    told += [(key, "only in a") for key in keys_a if key not in place_b]
    told += [(key, "only in b") for key in keys_b if key not in place_a]
    both = [key for key in keys_a if key in place_b]
    rows_a = a.take(pa.array([place_a[key] for key in both], pa.int64()))
    rows_b = b.take(pa.array([place_b[key] for key in both], pa.int64()))
    changed: dict[int, list[str]] = {}
    for name in a.column_names:
        if not rows_a[name].equals(rows_b[name]):
            for row, (value_a, value_b) in enumerate(
                zip(rows_a[name].to_pylist(), rows_b[name].to_pylist(), strict=True)
            ):
                if value_a != value_b:
                    changed.setdefault(row, []).append(f"{name}: {_told(value_a, value_b)}")
    told += [(both[row], "; ".join(texts)) for row, texts in changed.items()]
    told.sort(key=lambda entry: entry[0])
    first = [Difference(table, _key_text(keys, key), text) for key, text in told[: max(0, most)]]
    return len(told), first


def _key_text(names: Sequence[str], key: Sequence[Any]) -> str:
    return " ".join(
        str(value) if name == "game_id" else f"{name} {value}" for name, value in zip(names, key, strict=True)
    )


def _told(a: Any, b: Any) -> str:
    """Two values that differ, side by side; of lists, the first entry that differs."""
    if isinstance(a, list) and isinstance(b, list):
        for index, (one, other) in enumerate(zip(a, b, strict=False)):
            if one != other:
                return f"entry {index}: {_short(one)} in a, {_short(other)} in b"
        return f"{len(a)} entries in a, {len(b)} in b"
    return f"{_short(a)} in a, {_short(b)} in b"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."
