"""Which games a tournament consists of: pure data, computed game by game, so that its size costs no memory.

A round robin in which every pair of entrants plays ``games_per_pair`` games on every deck (``mirror``), or on every
unordered pair of decks (``cross``). Games come as **twins**: two games of one seed in which the entrants change seats
and everything else stays where it is, decks included, so that each has played both sides of the same deal. In ``cross``
the two decks change seats from twin to twin.

A **cycle**, the rating period, is one twin of every pair on every deck. The schedule runs cycle by cycle, so that a run
that is stopped early is balanced up to one cycle.

What a game is does not depend on the schedule around it: its id and seeds are derived from names and numbers of its
own, pairs are named in alphabetical order, and so adding entrants, decks or games, or writing them in another order,
leaves every other game as it was. All pairs of entrants meet the same deals (common random numbers): twin 7 on a deck
has one seed whoever plays it. That takes the luck of the deal out of the comparison of entrants; how far results carry
over to other deals is told by the number of twins, not by the number of games. Agents draw from seeds of their own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from math import isqrt
from typing import Any, NamedTuple

from orchestrator.config import ConfigError, DeckPairing, TournamentConfig

_CHECKED_GAMES = 20_000
_KEPT_IN_COMMON = 8192
_ROUND = 0
"""Rounds belong to tournaments whose agents evolve between them; a round robin is one round."""
_MOST_GAMES_PER_PAIR = 10**13


class ScheduledGame(NamedTuple):
    """One game of a schedule; entrants and decks are names by seat. The row of a finished game has the same fields."""

    game_id: str
    cycle: int
    pair: str
    twin: int
    seating: int
    round: int
    seed: int
    entrants: tuple[str, str]
    decks: tuple[str, str]

    def agent_seed(self, tournament_seed: int, seat: int) -> int:
        """The seed of the generator of the agent in ``seat``, 63 bits."""
        return _number("agent", tournament_seed, self.game_id, seat)


_InCommon = tuple[str, tuple[str, str], tuple[str, str], Any, Any]
"""Pair, entrants, decks, and the digests that ids and seeds begin with."""


class Schedule(Sequence[ScheduledGame]):
    """The games of a tournament in the order in which they are started; any of them can be asked for by its number.

    Raises :class:`ConfigError` for fewer than two entrants, names given twice, or games that cannot be balanced.
    """

    def __init__(self, config: TournamentConfig) -> None:
        _check(config)
        self.seed = config.seed
        self.game = config.game
        self.entrants = tuple(sorted(entrant.name for entrant in config.entrants))
        self.decks = tuple(sorted(deck.name for deck in config.decks)) or ("",)
        self.deck_pairs = deck_pairs(self.decks, config.deck_pairing)
        self.twins = config.games_per_pair // 2
        self.pairs = len(self.entrants) * (len(self.entrants) - 1) // 2
        self.cycle_games = self.pairs * len(self.deck_pairs) * 2
        self._in_common = lru_cache(_KEPT_IN_COMMON)(self._compute_in_common)

    def __len__(self) -> int:
        return self.cycle_games * self.twins

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self.game_at(number) for number in range(*index.indices(len(self)))]
        return self.game_at(index + len(self) if index < 0 else index)

    def __iter__(self) -> Iterator[ScheduledGame]:
        return map(self.game_at, range(len(self)))

    def game_at(self, index: int) -> ScheduledGame:
        """The game number ``index`` from 0; raises ``IndexError`` past the end."""
        if not 0 <= index < len(self):
            raise IndexError(f"game {index} of a schedule of {len(self)} games")
        twin, place = divmod(index, self.cycle_games)
        # A pair's games of all cycles have all but a few digits in common, in what their ids are derived from too.
        pair, entrants, decks, id_digest, seed_digest = self._in_common(place, twin % 2)
        own = f", {twin}, {_ROUND}]".encode()
        id_digest, seed_digest = id_digest.copy(), seed_digest.copy()
        id_digest.update(own)
        seed_digest.update(own)
        return ScheduledGame(
            f"g{id_digest.hexdigest()}",
            twin,
            pair,
            twin,
            place % 2,
            _ROUND,
            int.from_bytes(seed_digest.digest(), "big") >> 1,
            entrants,
            decks,
        )

    def _compute_in_common(self, place: int, turned: int) -> _InCommon:
        """What the games at ``place`` of all cycles have in common whose decks are ``turned``, or not."""
        pair, rest = divmod(place, len(self.deck_pairs) * 2)
        deck_pair, seating = divmod(rest, 2)
        first, second = (self.entrants[number] for number in pair_at(pair))
        deck, other = self.deck_pairs[deck_pair]
        entrants = (second, first) if seating else (first, second)
        decks = (other, deck) if turned else (deck, other)
        return (
            f"{first} vs {second}, {deck} vs {other}" if deck else f"{first} vs {second}",
            entrants,
            decks,
            _digest_of_beginning(12, self.seed, self.game, entrants, decks),
            _digest_of_beginning(8, "match", self.seed, self.game, decks),
        )

    def digest(self) -> str:
        """A digest of the schedule: equal for equal games in equal order, without going through them all."""
        parts = [self.seed, self.game, self.entrants, self.deck_pairs, self.twins]
        return blake2b(json.dumps(parts).encode(), digest_size=12).hexdigest()


def deck_pairs(decks: Sequence[str], pairing: DeckPairing) -> tuple[tuple[str, str], ...]:
    """The unordered pairs of decks that meet, in the order of ``decks``."""
    if pairing is DeckPairing.MIRROR:
        return tuple((deck, deck) for deck in decks)
    return tuple((deck, other) for number, deck in enumerate(decks) for other in decks[number:])


def pair_at(index: int) -> tuple[int, int]:
    """The pair ``(low, high)`` number ``index`` from 0, in the order (0, 1), (0, 2), (1, 2), (0, 3) …"""
    high = (1 + isqrt(1 + 8 * index)) // 2
    return index - high * (high - 1) // 2, high


def check_balance(schedule: Schedule) -> None:
    """Raise ``ValueError`` naming what is not balanced, before anything is played.

    Every cycle has the same form but for the decks' seats, which change from one to the next; so the first two cycles
    stand for all, and of a very wide schedule its first 20,000 games.
    """
    twins = min(schedule.twins, 2)
    block = len(schedule.deck_pairs) * 2
    for twin in range(twins):
        start = twin * schedule.cycle_games
        count = min(schedule.cycle_games, max(_CHECKED_GAMES // block, 1) * block)
        check_counts(islice(map(schedule.game_at, range(start, start + count)), count))


def check_counts(games: Iterable[ScheduledGame]) -> None:
    """Raise ``ValueError`` unless, in ``games``, both entrants of every pair that meets have each seat equally often,
    and all entrants play each deck equally often against every opponent that they meet."""
    seats: Counter[tuple[str, str, int]] = Counter()
    decks: Counter[tuple[str, str, str]] = Counter()
    for game in games:
        for seat in (0, 1):
            entrant, opponent = game.entrants[seat], game.entrants[1 - seat]
            seats[entrant, opponent, seat] += 1
            decks[entrant, opponent, game.decks[seat]] += 1
    for entrant, opponent, seat in seats:
        if seats[entrant, opponent, seat] != seats[entrant, opponent, 1 - seat]:
            raise ValueError(f"{entrant} has not both seats equally often against {opponent}")
    expected = next(iter(decks.values()), 0)
    for (entrant, opponent, deck), count in decks.items():
        if count != expected:
            raise ValueError(f"{entrant} plays {deck or 'no deck'} {count} times against {opponent}, not {expected}")


def _check(config: TournamentConfig) -> None:
    for what, names in (
        ("agents", [entrant.name for entrant in config.entrants]),
        ("decks", [deck.name for deck in config.decks]),
    ):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise ConfigError(f"{what}: the name {twice[0]!r} is given more than once; names tell results apart")
    if len(config.entrants) < 2:
        raise ConfigError(f"agents: a round robin needs at least 2 agents, not {len(config.entrants)}")
    if not 2 <= config.games_per_pair <= _MOST_GAMES_PER_PAIR or config.games_per_pair % 2:
        raise ConfigError(
            f"tournament.games_per_pair: {config.games_per_pair} is not an even number from 2 to 10¹³; "
            "every seed is played in both seatings"
        )


def _digest_of_beginning(size: int, *parts: Any) -> Any:
    """The digest, of ``size`` bytes, of a JSON list that begins with ``parts`` and is still to be ended."""
    return blake2b(json.dumps(parts).encode()[:-1], digest_size=size)


def _number(*parts: Any) -> int:
    """A number of 63 bits derived from plain values."""
    digest = blake2b(json.dumps(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
