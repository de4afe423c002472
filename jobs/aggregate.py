"""Rate the agents of a run: ``python -m jobs.aggregate run=first``."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Final

from jobs.config import ConfigError, ExitCode, group, job, key
from jobs.schemas import Ratings, Storage
from results import Run, StorageError
from results.aggregation import Aggregation, aggregate
from results.glicko import Rating
from results.leaderboard import is_out_of_order, leaderboard, win_matrix


@dataclass
class AggregateJob:
    """All keys of the job."""

    run: str = key("the run to aggregate, a folder below storage.root", name=True)
    ratings: Ratings = group(Ratings, "how ratings are computed")
    storage: Storage = group(Storage, "where runs are kept", "local")


@job("aggregate", AggregateJob)
def main(config: AggregateJob) -> int:
    """Rate the agents of a run, write ratings and win rates beside its games and print the leaderboard.

    The games that the run holds now are aggregated, whether or not it is complete.
    """
    try:
        run = Run.named(config.storage.root, config.run)
    except StorageError as error:
        raise ConfigError(str(error)) from error
    try:
        found = aggregated(run, config.ratings)
        paths = found.write(run)
    except StorageError as error:
        print(f"jobs.aggregate: {error}", file=sys.stderr)
        return ExitCode.FAULT
    print(standings(found))
    print()
    for path in paths:
        print(f"wrote {path}")
    return ExitCode.COMPLETE


def aggregated(run: Run, ratings: Ratings) -> Aggregation:
    """Aggregate ``run`` as configured; raises :class:`ConfigError` for a value that makes no sense."""
    check_ratings(ratings)
    start = Rating(ratings.rating, ratings.rating_deviation, ratings.volatility)
    return aggregate(run, ratings.period, start, ratings.tau)


def check_ratings(ratings: Ratings) -> None:
    """Raise :class:`ConfigError` for a value that makes no sense."""
    for name in ("tau", "rating_deviation", "volatility"):
        value = getattr(ratings, name)
        if not 0 < value < math.inf:
            raise ConfigError(f"ratings.{name}: must be a number above 0, not {value}")
    if not math.isfinite(ratings.rating):
        raise ConfigError(f"ratings.rating: must be a finite number, not {ratings.rating}")


_ORDER: Final = """Ratings do not follow the win rates: they go from one cycle of the schedule to
the next, so that the cycles' order counts. With ratings.period=run all games weigh alike."""


def standings(found: Aggregation) -> str:
    """Leaderboard and win matrix as text, with a word about ratings that do not follow the win rates."""
    ratings = found.tables["ratings"]
    matrix = win_matrix(ratings, found.tables["win_rates"])
    return "\n\n".join(
        text for text in (leaderboard(ratings), _ORDER if is_out_of_order(ratings) else "", matrix) if text
    )


if __name__ == "__main__":
    sys.exit(main())
