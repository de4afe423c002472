"""Glicko-2 ratings (M. Glickman, "Example of the Glicko-2 system") of a whole run, period by period.

The ratings depend on the results alone: counts per period and pair go in, every opponent enters with the values of the
period's start, and sums are exact (``math.fsum``), so that no order of games, rows, parts or names can show.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from glicko2 import Player

_POINTS = 173.7178
"""Rating points to one unit of the internal scale (step 2 of the paper)."""


@dataclass(frozen=True, slots=True)
class Rating:
    """Rating and rating deviation in points, and volatility; the defaults are an unrated player's."""

    rating: float = 1500.0
    rating_deviation: float = 350.0
    volatility: float = 0.06


@dataclass(frozen=True, slots=True)
class Opposition:
    """One opponent in a period: rating and deviation at its start, games played and points scored against them."""

    rating: float
    rating_deviation: float
    games: int
    score: float


@dataclass(frozen=True, slots=True)
class PairScore:
    """Results of one pair in one period: ``games`` rated games, of which ``first`` scored ``score`` points.

    A win is one point, a draw or a game stopped by the turn cap half a point; void games are not in it.
    """

    first: str
    second: str
    games: int
    score: float


@dataclass(frozen=True, slots=True)
class PeriodRating:
    """An entrant's values after one period, and what the entrant played in it."""

    after: Rating
    games: int
    score: float


class RatedPlayer(Player):  # type: ignore[misc]  # the package has no types
    """The package's player with version 2.1.0 put right.

    Its volatility iteration takes the rating where step 5 of the paper takes the rating deviation, and a period without
    games raises. Games against one opponent are taken together, and the sums over opponents are exact.
    """

    def __init__(self, start: Rating, tau: float) -> None:
        super().__init__(start.rating, start.rating_deviation, start.volatility)
        self._tau = tau

    @property
    def values(self) -> Rating:
        """The current values."""
        return Rating(self.rating, self.rd, self.vol)

    def play_period(self, opponents: Iterable[Opposition]) -> None:
        """Apply one rating period: steps 3 to 8 of the paper, or step 6 alone where no game was played."""
        played = [opponent for opponent in opponents if opponent.games > 0]
        if not played:
            self.did_not_compete()
            return
        information, surplus = [], []
        for opponent in played:
            weight = self._g(opponent.rating_deviation / _POINTS)
            gap = weight * (self.rating - opponent.rating) / _POINTS
            expected, missing = 1 / (1 + math.exp(-gap)), 1 / (1 + math.exp(gap))
            information.append(opponent.games * weight**2 * expected * missing)
            surplus.append(weight * (opponent.score - opponent.games * expected))
        variance, total = 1 / math.fsum(information), math.fsum(surplus)
        self.vol = self._newVol([], [], total, variance)
        self._preRatingRD()
        deviation = 1 / math.sqrt(1 / (self.rd / _POINTS) ** 2 + 1 / variance)
        self.setRd(deviation * _POINTS)
        self.rating += deviation**2 * total * _POINTS

    def _delta(self, rating_list: Sequence[float], RD_list: Sequence[float], outcome_list: Any, v: float) -> float:
        # The iteration hands its lists through to here only; play_period has summed them already.
        return v * float(outcome_list)

    def _f(self, x: float, delta: float, v: float, a: float) -> float:
        deviation_squared = (self.rd / _POINTS) ** 2
        growth = math.exp(x)
        numerator = growth * (delta**2 - deviation_squared - v - growth)
        denominator = 2 * (deviation_squared + v + growth) ** 2
        return float(numerator / denominator - (x - a) / self._tau**2)


def rate(
    entrants: Iterable[str],
    periods: Iterable[Iterable[PairScore]],
    start: Rating | None = None,
    tau: float = 0.5,
) -> Iterator[dict[str, PeriodRating]]:
    """Values of every entrant after every period, one mapping by name a period.

    ``periods`` holds the results of each period in the periods' order, those of one pair in any number of pieces. An
    entrant without rated games in a period is idle in it: the deviation grows. Raises ``ValueError`` for an entrant
    against itself, an unknown entrant, or a score outside 0 to ``games``.
    """
    players = {name: RatedPlayer(start or Rating(), tau) for name in sorted(set(entrants))}
    for scores in periods:
        games: dict[str, dict[str, int]] = {name: defaultdict(int) for name in players}
        points: dict[str, dict[str, float]] = {name: defaultdict(float) for name in players}
        for pair in scores:
            _check(pair, players)
            for one, other, score in (
                (pair.first, pair.second, pair.score),
                (pair.second, pair.first, pair.games - pair.score),
            ):
                games[one][other] += pair.games
                points[one][other] += score
        before = {name: player.values for name, player in players.items()}
        for name, player in players.items():
            player.play_period(
                Opposition(before[other].rating, before[other].rating_deviation, count, points[name][other])
                for other, count in games[name].items()
            )
        yield {
            name: PeriodRating(player.values, sum(games[name].values()), math.fsum(points[name].values()))
            for name, player in players.items()
        }


def _check(pair: PairScore, players: Mapping[str, RatedPlayer]) -> None:
    if pair.first == pair.second:
        raise ValueError(f"{pair.first!r} cannot be rated by games against itself")
    if pair.first not in players or pair.second not in players:
        raise ValueError(f"{pair} is not between two of the entrants: {', '.join(players)}")
    if not 0 <= pair.score <= pair.games:
        raise ValueError(f"a score lies between 0 and the number of games: {pair}")
