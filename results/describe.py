"""The tables' columns as Markdown: ``python -m results.describe`` prints what ``docs/results.md`` shows."""

from __future__ import annotations

from results.schema import TABLES, Column, columns_of


def described(table: str) -> str:
    """The columns of ``table`` as a Markdown table: name, type, unit, meaning."""
    lines = ["| column | type | unit | meaning |", "| --- | --- | --- | --- |"]
    lines += [_line(column) for column in columns_of(table)]
    return "\n".join(lines)


def _line(column: Column) -> str:
    kind = _kind(str(column.type)) + (", may be null" if column.nullable else "")
    meaning = column.meaning
    if column.allowed:
        meaning += ": " + ", ".join(f"`{value}`" for value in column.allowed)
    if column.operational:
        meaning += " (operational)"
    return f"| `{column.name}` | {kind} | {column.unit} | {meaning} |"


def _kind(arrow: str) -> str:
    if arrow.startswith(("list<element: struct", "list<item: struct")):
        return "list of structs"
    if arrow.startswith("list<"):
        return "list of strings"
    return arrow.replace("timestamp[us, tz=UTC]", "timestamp, UTC")


if __name__ == "__main__":
    print("\n\n".join(f"### `{table}`\n\n{described(table)}" for table in TABLES))
