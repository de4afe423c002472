"""The leaderboard and the win matrix as plain text for a terminal, at most 100 columns wide."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

WIDTH = 100
_LONGEST_NAME = 36
_SHORTEST_NAME = 12
_CELL = 6
_GAP = "  "


def leaderboard(ratings: pa.Table) -> str:
    """The table ``ratings`` as text, best first: rating ± deviation, games, wins-draws-losses, win rate and interval.

    Games that the turn cap stopped (``caps``) and void games have a column of their own where there are any.
    """
    rows = ratings.to_pylist()
    if not rows:
        return "no games yet"
    header = ["rank", "agent", "rating ± RD", "games", "W-D-L", "win rate (95 %)"]
    columns: list[list[str]] = [
        [str(row["rank"]) for row in rows],
        [],
        [f"{row['rating']:.0f} ± {row['rating_deviation']:.0f}" for row in rows],
        [str(row["games"]) for row in rows],
        [f"{row['wins']}-{row['draws']}-{row['losses']}" for row in rows],
        [_rate(row) for row in rows],
    ]
    for name, title in (("turn_caps", "caps"), ("voids", "void")):
        if any(row[name] for row in rows):
            header.append(title)
            columns.append([str(row[name]) for row in rows])
    taken = sum(_width(title, cells) + len(_GAP) for title, cells in zip(header, columns, strict=True) if cells)
    longest = min(_LONGEST_NAME, max(_SHORTEST_NAME, WIDTH - taken))
    columns[1] = [printable(row["entrant"], longest) for row in rows]
    return _aligned(header, columns, left=(1,))


def is_out_of_order(ratings: pa.Table) -> bool:
    """Whether somebody is ranked before another who has as many games and a higher win rate.

    Ratings that go from period to period depend on the periods' order, the more so the fewer games there are.
    """
    rows = [row for row in ratings.to_pylist() if row["win_rate"] is not None]
    return any(
        one["games"] == other["games"] and one["win_rate"] < other["win_rate"] and one["periods"] > 1
        for place, one in enumerate(rows)
        for other in rows[place + 1 :]
    )


def win_matrix(ratings: pa.Table, win_rates: pa.Table) -> str:
    """Win rates in percent of each row's entrant against each column's, both in the order of the ranking.

    Columns are numbered by place; ``.`` stands where two have no game with a result. Many entrants make several blocks.
    """
    names = [row["entrant"] for row in ratings.to_pylist()]
    if len(names) < 2:
        return ""
    rate = {(row["entrant"], row["opponent"]): row["win_rate"] for row in win_rates.to_pylist()}
    labels = [f"{place} {printable(name, _LONGEST_NAME)}" for place, name in enumerate(names, start=1)]
    number_width = len(str(len(names)))
    labels = [" " * (number_width - len(str(place))) + label for place, label in enumerate(labels, start=1)]
    label_width = max(display_width(label) for label in labels)
    per_block = max(1, (WIDTH - label_width) // _CELL)
    blocks = ["win rate in % of row against column"]
    for start in range(0, len(names), per_block):
        across = list(enumerate(names, start=1))[start : start + per_block]
        lines = [" " * label_width + "".join(f"{place:>{_CELL}}" for place, _ in across)]
        for name, label in zip(names, labels, strict=True):
            cells = "".join(f"{_percent(rate, name, other):>{_CELL}}" for _, other in across)
            lines.append(_padded(label, label_width) + cells)
        blocks.append("\n".join(lines))
    return "\n".join(blocks)


def printable(text: str, width: int) -> str:
    """``text`` in one line of at most ``width`` columns: control characters escaped, a long middle cut out."""
    shown = "".join(character if character.isprintable() else _escaped(character) for character in text)
    if display_width(shown) <= width:
        return shown
    # Long names often differ at the end (a harness, a version) as much as at the start.
    tail = _cut(shown[::-1], (width - 3) // 2)[::-1]
    return _cut(shown, width - 3 - display_width(tail)) + "..." + tail


def display_width(text: str) -> int:
    """Columns that ``text`` takes on a terminal: two for wide characters, none for combining ones."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _cut(text: str, width: int) -> str:
    taken, kept = 0, []
    for character in text:
        taken += _columns(character)
        if taken > width:
            break
        kept.append(character)
    return "".join(kept)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - display_width(text))


def _rate(row: Mapping[str, Any]) -> str:
    if row["win_rate"] is None:
        return "-"
    rate, low, high = (100 * row[name] for name in ("win_rate", "win_rate_low", "win_rate_high"))
    return f"{rate:.1f} % ({low:.1f}-{high:.1f})"


def _percent(rate: Mapping[tuple[str, str], float | None], name: str, other: str) -> str:
    if name == other:
        return "-"
    value = rate.get((name, other))
    return "." if value is None else f"{100 * value:.1f}"


def _width(title: str, cells: Sequence[str]) -> int:
    return max(map(display_width, [title, *cells]))


def _aligned(header: Sequence[str], columns: Sequence[Sequence[str]], left: tuple[int, ...]) -> str:
    """Columns side by side, those numbered in ``left`` flush left and the others flush right."""
    widths = [_width(title, cells) for title, cells in zip(header, columns, strict=True)]
    lines = []
    for cells in [header, *zip(*columns, strict=True)]:
        padded = [
            _padded(cell, width) if index in left else " " * (width - display_width(cell)) + cell
            for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append(_GAP.join(padded).rstrip())
    return "\n".join(lines)
