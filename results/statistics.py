"""Counting results and how sure one can be of a win rate."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z_95 = 1.959963984540054
"""The standard normal quantile of a two-sided 95 % interval."""


def wilson_interval(score: float, games: int, z: float = Z_95) -> tuple[float, float]:
    """The Wilson score interval of a proportion (E. B. Wilson, 1927), within 0 to 1.

    ``score`` of ``games`` points were won. Half points of draws enter as they are: the interval then is that of as many
    games without draws, which is a little wide, since a draw varies less than a win or a loss. Raises ``ValueError``
    where there are no games or the score is not within 0 to ``games``.
    """
    if games <= 0 or not 0 <= score <= games:
        raise ValueError(f"no interval for {score} points in {games} games")
    rate = score / games
    width = 1 + z**2 / games
    centre = (rate + z**2 / (2 * games)) / width
    half = z / width * math.sqrt(rate * (1 - rate) / games + z**2 / (4 * games**2))
    # At the ends the exact bound is the rate itself, which rounding must not cross.
    return min(max(0.0, centre - half), rate), max(min(1.0, centre + half), rate)


@dataclass(slots=True)
class Record:
    """Counts of games from one side's view; a void game is in none of the counts but ``voids``."""

    wins: int = 0
    draws: int = 0
    turn_caps: int = 0
    losses: int = 0
    voids: int = 0

    def add(self, result: str, games: int) -> None:
        """Count ``games`` more games that ended in ``win``, ``loss``, ``draw``, ``turn_cap`` or ``void``."""
        match result:
            case "win":
                self.wins += games
            case "loss":
                self.losses += games
            case "draw":
                self.draws += games
            case "turn_cap":
                self.turn_caps += games
            case "void":
                self.voids += games
            case _:
                raise ValueError(f"{result!r} is no result of a game")

    @property
    def games(self) -> int:
        """Games with a result."""
        return self.wins + self.draws + self.turn_caps + self.losses

    @property
    def score(self) -> float:
        """Points: one a win, half a point a draw and a game that the turn cap stopped."""
        return self.wins + (self.draws + self.turn_caps) / 2

    @property
    def win_rate(self) -> float | None:
        """Points a game, ``None`` without games."""
        return self.score / self.games if self.games else None

    @property
    def interval(self) -> tuple[float, float] | tuple[None, None]:
        """95 % Wilson interval of the win rate, ``None`` without games."""
        return wilson_interval(self.score, self.games) if self.games else (None, None)

    def columns(self) -> dict[str, int | float | None]:
        """Counts, win rate and interval as the tables name them."""
        low, high = self.interval
        return {
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "turn_caps": self.turn_caps,
            "losses": self.losses,
            "voids": self.voids,
            "win_rate": self.win_rate,
            "win_rate_low": low,
            "win_rate_high": high,
        }
