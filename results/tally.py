"""The game rows of a run counted: what ratings, win rates and summaries are made of.

Rows are read part by part and counted by Arrow, so that a run of millions of games is never in memory as a whole. All
that is summed is whole numbers, money and time too, so that no order of rows or parts can show in a sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from results.schema import Outcome
from results.store import Run, RunError

MEASURED_COUNTS = (
    "attempts",
    "invalid_attempts",
    "fallbacks",
    "tool_calls",
    "calls",
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_tokens",
)
"""Per-seat columns of whole numbers that are summed."""
_REAL_UNITS = {"cost_usd": 1e9, "agent_seconds": 1e6}
"""Per-seat real columns, summed as whole numbers of this fraction of a unit."""

_GROUP = ("entrant_0", "entrant_1", "deck_0", "deck_1", "outcome", "cause", "winner_seat", "first_player")
_PERIOD_GROUP = ("cycle", "entrant_0", "entrant_1")
_SUMS = (
    "turns",
    *(f"{name}_{seat}" for name in ("decisions", *MEASURED_COUNTS, *_REAL_UNITS) for seat in (0, 1)),
)
_COUNTED = ("turns", "decisions_0", "decisions_1", "agent_seconds_0", "agent_seconds_1")
"""Summed columns of which means are taken: the number of values is kept as well."""

_COLUMNS = ("game_id", "cycle", *_GROUP, *_SUMS)
_NULL_IF_ALL_ARE = pc.ScalarAggregateOptions(min_count=1)


@dataclass(frozen=True)
class Group:
    """Games alike in seats, decks and ending. ``sums`` has totals by column, ``None`` where never measured."""

    entrants: tuple[str, str]
    decks: tuple[str, str]
    outcome: str
    cause: str
    winner_seat: int | None
    first_player: int | None
    games: int
    sums: dict[str, float | None]
    counts: dict[str, int]

    def result_of(self, seat: int) -> str:
        """``win``, ``loss``, ``draw``, ``turn_cap`` or ``void``, as ``seat`` sees it."""
        if self.outcome == Outcome.WIN:
            return "win" if self.winner_seat == seat else "loss"
        return self.outcome


@dataclass(frozen=True)
class Tally:
    """The counted games of a run.

    ``by_period`` has the columns ``cycle``, ``entrant_0``, ``entrant_1``, ``games`` (with a result) and ``points``
    (twice the score of seat 0), in the order of the cycles; void-only cycles are there with ``games`` 0.
    """

    entrants: tuple[str, ...]
    groups: tuple[Group, ...]
    by_period: pa.Table


def tally(run: Run) -> Tally:
    """Count the games of ``run``; raises :class:`RunError` for a torn part or a row that contradicts itself."""
    ids, groups, periods = [], [], []
    for part in run.parts("games", _COLUMNS):
        _check(run, part)
        ids.append(part.select(["game_id"]))
        groups.append(_grouped(part))
        periods.append(_by_period(part))
    if not ids:
        part = run.games(_COLUMNS)
        ids, groups, periods = [part.select(["game_id"])], [_grouped(part)], [_by_period(part)]
    run.check_unique("games", pa.concat_tables(ids))
    by_period = _added(pa.concat_tables(periods), _PERIOD_GROUP).sort_by([(n, "ascending") for n in _PERIOD_GROUP])
    rows = _added(pa.concat_tables(groups), _GROUP).to_pylist()
    entrants = {row[name] for row in rows for name in ("entrant_0", "entrant_1")}
    return Tally(tuple(sorted(entrants)), tuple(_group(row) for row in rows), by_period)


def _check(run: Run, part: pa.Table) -> None:
    is_win = pc.equal(part["outcome"], Outcome.WIN)
    has_seat = pc.is_in(part["winner_seat"], value_set=pa.array([0, 1], pa.int8()))
    wrong = pc.not_equal(is_win, has_seat)
    if pc.any(wrong, min_count=0).as_py():
        row = part.filter(wrong).slice(0, 1).to_pylist()[0]
        raise RunError(
            f"run {run.manifest.run!r}, game {row['game_id']}: outcome {row['outcome']!r} with winner_seat "
            f"{row['winner_seat']} contradicts itself"
        )


def _grouped(part: pa.Table) -> pa.Table:
    for name, fraction in _REAL_UNITS.items():
        for column in (f"{name}_0", f"{name}_1"):
            whole = pc.cast(pc.round(pc.multiply(part[column], fraction)), pa.int64())
            part = part.set_column(part.schema.get_field_index(column), column, whole)
    sums: list[Any] = [(name, "sum", _NULL_IF_ALL_ARE) for name in _SUMS]
    counts: list[Any] = [(name, "count") for name in _COUNTED]
    counted = part.group_by(list(_GROUP)).aggregate([([], "count_all"), *sums, *counts])
    return counted.rename_columns([_plain(name) for name in counted.column_names])


def _by_period(part: pa.Table) -> pa.Table:
    played = pc.not_equal(part["outcome"], Outcome.VOID)
    won = pc.fill_null(pc.equal(part["winner_seat"], 0), False)
    points = pc.if_else(pc.equal(part["outcome"], Outcome.WIN), pc.if_else(won, 2, 0), pc.if_else(played, 1, 0))
    narrow = part.select(list(_PERIOD_GROUP))
    narrow = narrow.append_column("games", pc.cast(played, pa.int64())).append_column("points", points)
    return _added(narrow, _PERIOD_GROUP)


def _added(table: pa.Table, group: tuple[str, ...]) -> pa.Table:
    """``table`` with equal ``group`` columns taken together and all other columns added up."""
    sums: list[Any] = [(name, "sum", _NULL_IF_ALL_ARE) for name in table.column_names if name not in group]
    added = table.group_by(list(group)).aggregate(sums)
    return added.rename_columns([name.removesuffix("_sum") for name in added.column_names])


def _plain(name: str) -> str:
    """Column names of Arrow's group-by as we call them: ``turns_sum`` is ``turns``, ``turns_count`` stays."""
    return "games" if name == "count_all" else name.removesuffix("_sum")


def _group(row: dict[str, Any]) -> Group:
    sums = {name: row[name] for name in _SUMS}
    for name, fraction in _REAL_UNITS.items():
        for column in (f"{name}_0", f"{name}_1"):
            if sums[column] is not None:
                sums[column] /= fraction
    return Group(
        entrants=(row["entrant_0"], row["entrant_1"]),
        decks=(row["deck_0"], row["deck_1"]),
        outcome=row["outcome"],
        cause=row["cause"],
        winner_seat=row["winner_seat"],
        first_player=row["first_player"],
        games=row["games"],
        sums=sums,
        counts={name: row[f"{name}_count"] for name in _COUNTED},
    )
