"""The aggregation of a run: ratings, win rates and summaries from its game rows."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

from results.attempts import attempt_rows, void_spending
from results.glicko import PairScore, PeriodRating, Rating, rate
from results.schema import schema_of, table_from_rows
from results.store import Run
from results.summary import Row, agent_rows, ending_rows, records, win_rate_by_deck_rows, win_rate_rows
from results.tally import Tally, tally

CSV_TABLES = ("ratings", "win_rates")
"""Tables that are written as CSV beside the Parquet."""


class Period(StrEnum):
    """What a rating period is: one schedule cycle, or the whole run."""

    CYCLE = "cycle"
    RUN = "run"


@dataclass(frozen=True)
class Aggregation:
    """The aggregated tables of a run by name, each with the schema of that name."""

    tables: dict[str, pa.Table]

    def write(self, run: Run) -> list[str]:
        """Write every table of ``run`` whole, replacing earlier ones; returns the paths."""
        return [
            path for name, data in self.tables.items() for path in run.write_table(name, data, csv=name in CSV_TABLES)
        ]


def aggregate(
    run: Run, period: Period | str = Period.CYCLE, start: Rating | None = None, tau: float = 0.5
) -> Aggregation:
    """Aggregate the games that ``run`` holds now, finished or not; reads only.

    Games of an entrant against itself are not rated and in no win rate. A cycle of which no game is finished is no
    period; one that has only void games is an idle period. Raises :class:`results.store.RunError` for a run that cannot
    be read, ``ValueError`` for an unknown period or a ``tau`` that is not positive.
    """
    period = Period(period)
    if not tau > 0:
        raise ValueError(f"tau must be positive, not {tau}")
    counted = tally(run)
    cycles = sorted(set(counted.by_period["cycle"].to_pylist())) if period is Period.CYCLE else [0]
    if not counted.entrants:
        cycles = []
    history = _History(counted.entrants)
    for number, after in zip(cycles, rate(counted.entrants, _period_scores(counted, period), start, tau), strict=True):
        history.add(number, after)
    return Aggregation(
        {
            "ratings": table_from_rows("ratings", _rating_rows(counted, history.last, len(cycles))),
            "rating_history": history.table(),
            "win_rates": table_from_rows("win_rates", win_rate_rows(counted)),
            "win_rates_by_deck": table_from_rows("win_rates_by_deck", win_rate_by_deck_rows(counted)),
            "endings": table_from_rows("endings", ending_rows(counted)),
            "agents": table_from_rows("agents", agent_rows(counted, void_spending(run))),
            "attempts": table_from_rows("attempts", attempt_rows(run)),
        }
    )


def _period_scores(counted: Tally, period: Period) -> Iterator[Sequence[PairScore]]:
    """The results of each period in order; a period with void games only is empty."""
    current: list[PairScore] = []
    number: int | None = None
    for batch in counted.by_period.to_batches(max_chunksize=65536):
        columns = [batch.column(name).to_pylist() for name in ("cycle", "entrant_0", "entrant_1", "games", "points")]
        for cycle, first, second, games, points in zip(*columns, strict=True):
            if number is not None and cycle != number and period is Period.CYCLE:
                yield current
                current = []
            number = cycle
            if games and first != second:
                current.append(PairScore(first, second, games, points / 2))
    if number is not None:
        yield current


class _History:
    """Rating history gathered column by column, since a long run has very many periods."""

    def __init__(self, entrants: Sequence[str]) -> None:
        self._entrants = entrants
        self._periods = array("i")
        self._columns = {name: array("d") for name in ("rating", "rating_deviation", "volatility", "score")}
        self._games = array("q")
        self.last: dict[str, PeriodRating] = {}

    def add(self, number: int, after: dict[str, PeriodRating]) -> None:
        """Take in the values of all entrants after the period ``number``."""
        self._periods.append(number)
        for name in self._entrants:
            rated = after[name]
            self._columns["rating"].append(rated.after.rating)
            self._columns["rating_deviation"].append(rated.after.rating_deviation)
            self._columns["volatility"].append(rated.after.volatility)
            self._columns["score"].append(rated.score)
            self._games.append(rated.games)
        self.last = after

    def table(self) -> pa.Table:
        """The table ``rating_history``, by period and name."""
        width, length = len(self._entrants), len(self._periods)
        periods = pa.array(self._periods, pa.int32()).take(
            pa.array([index for index in range(length) for _ in range(width)], pa.int64())
        )
        names = pa.array(self._entrants, pa.string()).take(
            pa.array([index for _ in range(length) for index in range(width)], pa.int64())
        )
        columns = {name: pa.array(values, pa.float64()) for name, values in self._columns.items()}
        columns |= {"period": periods, "entrant": names, "games": pa.array(self._games, pa.int64())}
        schema = schema_of("rating_history")
        return pa.table([columns[name] for name in schema.names], schema=schema)


def _rating_rows(counted: Tally, last: dict[str, PeriodRating], periods: int) -> list[Row]:
    ordered = sorted(last.items(), key=lambda item: (-item[1].after.rating, item[0]))
    found = records(counted)
    rows: list[Row] = []
    for place, (name, rated) in enumerate(ordered, start=1):
        tied = bool(rows) and rows[-1]["rating"] == rated.after.rating
        rows.append(
            {
                "rank": rows[-1]["rank"] if tied else place,
                "entrant": name,
                "rating": rated.after.rating,
                "rating_deviation": rated.after.rating_deviation,
                "volatility": rated.after.volatility,
                "periods": periods,
                **found[name].columns(),
            }
        )
    return rows
