"""A small language for tests that play the Pokémon Trading Card Game as an agent does.

A test sets up a position, plays actions by their keys and looks at what a seat may see: nothing here reaches into a
state or calls a card's effect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from engine.match import SEATS, action_with_key
from engine.ptcg.game import PtcgMatch
from engine.ptcg.position import match_from_position

Json = dict[str, Any]


def pokemon(card: str, **fields: Any) -> Json:
    """A Pokémon of a position."""
    return {"card": card, **fields}


def side(active: str | Json, *bench: str | Json, **fields: Any) -> Json:
    """A side of a position: the Active Pokémon, the Bench, then any other field of ``docs/positions.md``."""
    return {"active": active, "bench": list(bench), **fields}


def position(yours: Json, theirs: Json | str = "CRZ-111", **fields: Any) -> PtcgMatch:
    """A match in turn 5 with seat 0 to move, unless ``fields`` say otherwise; ``theirs`` may be just a Pokémon."""
    opponent = side(theirs) if isinstance(theirs, str) or "card" in theirs else theirs
    return match_from_position({"players": [yours, opponent], "to_move": 0, **fields})


def keys(match: PtcgMatch) -> list[str]:
    """The keys of all legal actions of the seat that is to act."""
    return [action.key for seat in match.seats_to_act() for action in match.legal_actions(seat)]


def attacks(match: PtcgMatch) -> set[str]:
    """The names of the attacks that are legal now."""
    return {key.removeprefix("attack:") for key in keys(match) if key.startswith("attack:")}


def play(match: PtcgMatch, *actions: str, forced: bool = True) -> PtcgMatch:
    """Play actions by their keys, whoever's they are. With ``forced``, a choice that has only one possible answer is
    answered in between, as the game loop does; actions of a turn never are."""
    for key in actions:
        (seat,) = match.seats_to_act()
        match.apply(seat, action_with_key(match, seat, key))
        while forced and choosing(match) is not None and len(keys(match)) == 1:
            (seat,) = match.seats_to_act()
            match.apply(seat, match.legal_actions(seat)[0])
    return match


def choosing(match: PtcgMatch) -> Json | None:
    """The choice that is asked for, as the seat that makes it sees it; ``None`` between effects."""
    for seat in match.seats_to_act():
        found: Json | None = match.observe(seat).to_json()["choosing"]
        return found
    return None


def candidates(match: PtcgMatch) -> set[str]:
    """The labels of all candidates of the choice that is asked for."""
    choice = choosing(match)
    assert choice is not None, "no choice is asked for"
    return {candidate["label"] for candidate in choice["candidates"]}


def actor(match: PtcgMatch) -> int:
    """The seat that is to act."""
    (seat,) = match.seats_to_act()
    return seat


def view(match: PtcgMatch, seat: int) -> Json:
    """The whole observation of a seat."""
    return match.observe(seat).to_json()


def own(match: PtcgMatch, seat: int) -> Json:
    """A seat's own side as it sees it."""
    found: Json = view(match, seat)["you"]
    return found


def active(match: PtcgMatch, seat: int) -> Json:
    """A seat's Active Pokémon."""
    found: Json = own(match, seat)["active"]
    return found


def bench(match: PtcgMatch, seat: int, place: int) -> Json:
    """A seat's Benched Pokémon at place 1–5."""
    found: Json = own(match, seat)["bench"][place - 1]
    return found


def bench_cards(match: PtcgMatch, seat: int) -> list[str]:
    """The cards of a seat's Benched Pokémon, from left to right."""
    return [found["card"] for found in own(match, seat)["bench"]]


def hand(match: PtcgMatch, seat: int) -> list[str]:
    """A seat's hand, sorted by card."""
    return sorted(own(match, seat)["hand"])


def discard(match: PtcgMatch, seat: int) -> list[str]:
    """A seat's discard pile, sorted by card."""
    return sorted(own(match, seat)["discard"])


def deck_counts(match: PtcgMatch, seat: int) -> Counter[str]:
    """How often each card is in a seat's deck: what the seat would count when it looks through it.

    All cards of the seat's list that are nowhere else; its Prize cards are taken off where it knows them.
    """
    return Counter(own(match, seat)["unseen"])


def events(match: PtcgMatch, seat: int, kind: str | None = None) -> list[Json]:
    """The kept events as a seat may see them, all or those of one kind."""
    return [event for event in match.events(seat) if kind is None or event["event"] == kind]


def coins(match: PtcgMatch) -> str:
    """The coins flipped, H for heads and T for tails, in order."""
    return "".join("H" if event["heads"] else "T" for event in events(match, 0, "coin"))


def with_coins(wanted: str, position_fields: Mapping[str, Any], *actions: str) -> PtcgMatch:
    """Play ``actions`` from a position (arguments of :func:`position`) with the first seed that flips ``wanted``."""
    for seed in range(400):
        match = play(position(**position_fields, seed=seed), *actions)
        if coins(match) == wanted:
            return match
    raise AssertionError(f"no seed below 400 flips {wanted}")


def outcome(match: PtcgMatch) -> tuple[str, int | None, str] | None:
    """How the match ended: outcome, winner, cause; ``None`` while it goes on."""
    result = match.result
    return None if result is None else (result.outcome.value, result.winner, result.cause.value)


def prizes_left(match: PtcgMatch) -> tuple[int, int]:
    """How many Prize cards each seat has left."""
    first, second = (own(match, seat)["prize_count"] for seat in SEATS)
    return first, second
