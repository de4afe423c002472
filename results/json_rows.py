"""Rows that are kept as JSON text, made into Arrow tables without a Python object a value."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pa_json

from results.schema import check_table, columns_of, schema_of, table_from_rows

_LEAST_BLOCK = 2**20


def table_from_json(table: str, rows: Sequence[bytes]) -> pa.Table:
    """An Arrow table with exactly the schema of ``table`` from rows of JSON text, an object each.

    A nullable column that a row leaves out is null; times are whole microseconds since 1970. Raises
    :class:`results.schema.SchemaError`, naming column and row, as :func:`results.schema.table_from_rows` does.
    """
    try:
        read = _read(table, rows)
        check_table(table, read)
    except (pa.ArrowException, ValueError):
        # Whatever is wrong, or is JSON in Python's eyes only (NaN), the slow way takes it or says where it is.
        return table_from_rows(table, map(json.loads, rows))
    return read


def _read(table: str, rows: Sequence[bytes]) -> pa.Table:
    text = b"\n".join(rows)
    largest = max(map(len, rows), default=0)
    read = pa_json.read_json(
        pa.BufferReader(text),
        # Of a block that a row does not fit into the rest is lost: none is smaller than a row.
        pa_json.ReadOptions(use_threads=False, block_size=max(_LEAST_BLOCK, 2 * largest)),
        pa_json.ParseOptions(explicit_schema=_plain_schema(table), unexpected_field_behavior="error"),
    )
    schema = schema_of(table)
    columns = [
        pc.cast(read[field.name], field.type) if pa.types.is_timestamp(field.type) else read[field.name]
        for field in schema
    ]
    return pa.table(columns, schema=schema)


@cache
def _plain_schema(table: str) -> pa.Schema:
    """The schema with times as numbers, and null allowed everywhere: what is missing is told afterwards."""
    return pa.schema(
        [
            pa.field(column.name, pa.int64() if pa.types.is_timestamp(column.type) else column.type)
            for column in columns_of(table)
        ]
    )
