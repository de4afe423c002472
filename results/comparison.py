"""Whether two runs hold the same games and decisions, whoever played them and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from results.schema import columns_of, operational_columns, table_from_rows
from results.store import KEYS, Run

COMPARED_TABLES = ("games", "decisions")
_ROWS_AT_ONCE = 4096
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

    The first ``most`` differences are told in the order of the tables and of their keys. Only a fingerprint a row is
    held in memory. Raises :class:`results.store.RunError` for a run that cannot be read or has a row twice.
    """
    rows: dict[str, tuple[int, int]] = {}
    differing: dict[str, int] = {}
    first: list[Difference] = []
    for table in COMPARED_TABLES:
        of_a, of_b = _fingerprints(a, table), _fingerprints(b, table)
        keys = _differing_keys(table, of_a, of_b)
        rows[table], differing[table] = (len(of_a), len(of_b)), len(keys)
        first += _differences(a, b, table, keys.slice(0, max(0, most - len(first))))
    return Comparison(rows, differing, tuple(first))


def _compared(table: str) -> list[str]:
    left_out = operational_columns(table)
    return [column.name for column in columns_of(table) if column.name not in left_out]


def _fingerprints(run: Run, table: str) -> pa.Table:
    """The key columns of ``table`` and a digest of all that is compared, a row each."""
    keys = list(KEYS[table])
    whole = [table_from_rows(table, []).select(keys).append_column("fingerprint", pa.array([], pa.binary(16)))]
    for part in run.parts(table, _compared(table)):
        prints: list[bytes] = []
        for batch in part.to_batches(max_chunksize=_ROWS_AT_ONCE):
            values = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            prints += [blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=16).digest() for row in values]
        whole.append(part.select(keys).append_column("fingerprint", pa.array(prints, pa.binary(16))))
    found = pa.concat_tables(whole)
    run.check_unique(table, found)
    return found


def _differing_keys(table: str, a: pa.Table, b: pa.Table) -> pa.Table:
    """The keys, sorted, of rows that only one has or that have another fingerprint in the other."""
    keys = list(KEYS[table])
    both = a.join(b, keys, join_type="full outer", right_suffix="_b")
    same = pc.fill_null(pc.equal(both["fingerprint"], both["fingerprint_b"]), False)
    return both.filter(pc.invert(same)).select(keys).sort_by([(key, "ascending") for key in keys])


def _differences(a: Run, b: Run, table: str, keys: pa.Table) -> list[Difference]:
    rows_a, rows_b = _rows(a, table, keys), _rows(b, table, keys)
    told = []
    for key in zip(*(column.to_pylist() for column in keys.columns), strict=True):
        row_a, row_b = rows_a.get(key), rows_b.get(key)
        if row_a is None or row_b is None:
            text = "only in b" if row_a is None else "only in a"
        else:
            text = "; ".join(
                f"{name}: {_told(row_a[name], row_b[name])}" for name in row_a if repr(row_a[name]) != repr(row_b[name])
            )
        told.append(Difference(table, _key_text(KEYS[table], key), text))
    return told


def _rows(run: Run, table: str, keys: pa.Table) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The compared columns of the rows with ``keys``, by key."""
    if not len(keys):
        return {}
    games = keys["game_id"].combine_chunks()
    return {
        tuple(row[key] for key in KEYS[table]): row
        for part in run.parts(table, _compared(table))
        for row in part.filter(pc.is_in(part["game_id"], value_set=games)).to_pylist()
    }


def _key_text(names: Sequence[str], key: Sequence[Any]) -> str:
    shown = (str(value) if name == "game_id" else f"{name} {value}" for name, value in zip(names, key, strict=True))
    return " ".join(shown)


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
