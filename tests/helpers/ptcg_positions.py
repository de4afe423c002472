"""Hypothesis strategies for positions: valid ones out of all cards, and ones with a single fault.

A valid position here is complete (no field is left to its default), so that reading and writing it gives it back. What
Hypothesis prefers, the first of the values to choose from, is a position with something to do in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from engine.ptcg.card import CARDS, Card, Kind
from engine.ptcg.library import INDEX
from engine.ptcg.modifiers import (
    CANNOT_ATTACK,
    CANNOT_USE_ATTACK,
    NO_DAMAGE_OR_EFFECTS,
    NO_ITEMS,
    TWO_SLEEP_COINS,
)
from engine.ptcg.moves import FOREVER

Json = dict[str, Any]

ALL = [card.id for card in CARDS]
ENERGY = [card.id for card in CARDS if card.is_energy]
BASIC_ENERGY = {card.provides: card.id for card in CARDS if card.is_basic_energy}
TOOLS = [card.id for card in CARDS if card.kind is Kind.TOOL]
STADIUMS = [card.id for card in CARDS if card.kind is Kind.STADIUM]
COLLAPSED_STADIUM, BRAVERY_CHARM, LUXURIOUS_CAPE, RARE_CANDY = "BRS-137", "PAL-173", "PAR-166", "PAF-89"
ONCE_BY_NAME = ["Flip the Script", "Quick Search", "Squawk and Seize"]
SUMMONING_STAR = "Summoning Star"
# More different cards in a hand than any of the five decks lets one hold would break the limit on the list of actions.
MOST_IN_HAND = 10


def _lines(card: Card) -> list[list[str]]:
    """All that may lie under a Pokémon card, by the ways in which it can have come into play."""
    if card.is_basic:
        return [[]]
    found: list[list[str]] = []
    for lower in CARDS:
        if lower.is_pokemon and lower.name == card.evolves_from:
            found += [[*under, lower.id] for under in _lines(lower)]
        if lower.is_basic and lower.name == card.basic_form:
            found.append([lower.id])  # by Rare Candy
    if card.types == "C" and not card.rule_box:
        found.append([])  # by Summoning Star
    return found


LINES = [(card, under) for card in CARDS if card.is_pokemon for under in _lines(card)]
BASICS = [(card, under) for card, under in LINES if card.is_basic]


def full_hp(card: Card, tools: list[str]) -> int:
    """HP of an undamaged Pokémon: as printed, 50 more for a Basic with the Charm, 100 without Rule Box in the Cape."""
    charm = 50 if BRAVERY_CHARM in tools and card.is_basic else 0
    cape = 100 if LUXURIOUS_CAPE in tools and not card.rule_box else 0
    return card.hp + charm + cape


def _evolutions(names: set[str]) -> list[str]:
    """Cards that evolve Pokémon of these names, and what helps them to."""
    found = [card.id for card in CARDS if card.evolves_from in names or card.basic_form in names]
    return [*found, RARE_CANDY] if found else []


def _some(of: list[Any], most: int, least: int = 0) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(of), min_size=least, max_size=most)


seldom = st.sampled_from([False, False, False, False, True])


@st.composite
def _energy(draw: st.DrawFn, card: Card) -> list[str]:
    """Any Energy, or what pays for an attack and perhaps more, so that many can attack."""
    attack = draw(st.sampled_from([None, *card.attacks, *card.attacks]))
    cost = [] if attack is None else [letter for letter in attack.cost if letter != "C"]
    paid = [BASIC_ENERGY[letter] for letter in cost]
    colorless = 0 if attack is None else len(attack.cost) - len(cost)
    return draw(st.permutations(paid + draw(_some(ENERGY, max(4, colorless), colorless))))


@st.composite
def _pokemon(draw: st.DrawFn, turn: int, active: bool) -> Json:
    # In the players' first turns nothing has evolved yet.
    card, under = draw(st.sampled_from(LINES if turn > 2 else BASICS))
    tools = draw(_some(TOOLS, 1))
    conditions: list[str] = []
    effects: list[list[Any]] = []
    if active:
        turned = draw(st.sampled_from(["", "", "", "", "", "", "asleep", "confused", "paralyzed"]))
        marked = draw(st.sampled_from([[], [], [], [], ["burned"], ["poisoned"], ["burned", "poisoned"]]))
        conditions = sorted([*marked, *([turned] if turned else [])])
        when = draw(st.integers(turn, turn + 2))
        kinds = [[CANNOT_ATTACK, when, ""], [NO_DAMAGE_OR_EFFECTS, when, ""]]
        kinds += [[CANNOT_USE_ATTACK, when, attack.name] for attack in card.attacks]
        kinds += [[TWO_SLEEP_COINS, FOREVER, ""]] if turned == "asleep" else []
        effects = draw(st.lists(st.sampled_from(kinds), max_size=2, unique_by=tuple)) if draw(seldom) else []
    entered = draw(st.integers(0, turn))
    return {
        "card": card.id,
        "under": under,
        "energy": draw(_energy(card)),
        "tools": tools,
        "damage": 10 * draw(st.integers(0, full_hp(card, tools) // 10 - 1)),
        "conditions": conditions,
        "entered_turn": entered,
        "evolved_turn": draw(st.integers(entered, turn)) if under else 0,
        "ability_used": draw(seldom),
        "effects": effects,
    }


@st.composite
def _bench(draw: st.DrawFn, turn: int, most: int) -> list[Json]:
    return draw(st.lists(_pokemon(turn, False), min_size=draw(st.sampled_from([2, 4, 0])), max_size=most))


@st.composite
def _side(draw: st.DrawFn, turn: int, moves: bool, bench_limit: int, prize_count: int) -> Json:
    active, bench = draw(_pokemon(turn, True)), draw(_bench(turn, bench_limit))
    evolutions = _evolutions({CARDS[INDEX[pokemon["card"]]].name for pokemon in (active, *bench)})
    hand = draw(_some(ALL + 5 * evolutions, MOST_IN_HAND, draw(st.sampled_from([3, 6, 0]))))
    deck = draw(_some(ALL, 20, draw(st.sampled_from([10, 14, 0]))))
    # A deck from the bottom: blocks whose cards are known though not in what order, what nobody knows, the known top.
    bottom: list[Any] = []
    left = deck[::-1]
    for size in draw(st.lists(st.integers(1, 4), max_size=2)):
        if size <= len(left):
            block, left = left[:size], left[size:]
            memories = [draw(st.sets(st.integers(0, size - 1))) for _ in range(2)]
            bottom.append([size, *(sorted(block[i] for i in memory) for memory in memories)])
    knocked_out = draw(st.booleans())
    flags = ("energy", "supporter", "stadium", "stadium_effect", "retreat", "vstar")
    used = {name: draw(seldom) for name in flags}
    names = draw(_some(ONCE_BY_NAME, 1)) if draw(seldom) else []
    # What a Pokémon has used of a limit that it shares with others is used up for its side.
    spent = [a.name for p in (active, *bench) if p["ability_used"] for a in CARDS[INDEX[p["card"]]].abilities]
    used["vstar"] = used["vstar"] or SUMMONING_STAR in spent
    names = list(dict.fromkeys([*names, *(name for name in spent if name in ONCE_BY_NAME)]))
    return {
        "active": active,
        "bench": bench,
        "hand": hand,
        "deck": deck,
        "discard": draw(_some(ALL, 10)),
        "lost_zone": draw(_some(ALL, 3)),
        "prizes": draw(_some(ALL, prize_count, draw(st.sampled_from([min(3, prize_count), prize_count, 1])))),
        "used": {**used, "abilities": names},
        "knocked_out_last_turn": knocked_out and moves and turn > 1,
        "knocked_out_this_turn": knocked_out and not moves,
        "effects": [[NO_ITEMS, draw(st.integers(turn, turn + 1)), ""]] if draw(seldom) else [],
        "known_hand": hand[: draw(st.integers(0, len(hand)))],
        "prizes_known": draw(st.booleans()),
        "top_known": draw(st.integers(0, len(left))),
        "bottom_known": bottom,
    }


@st.composite
def positions(draw: st.DrawFn) -> Json:
    """Any valid position, complete."""
    turn = draw(st.integers(1, 12))
    first = draw(st.integers(0, 1))
    to_move = first if turn % 2 else 1 - first
    sudden_death = draw(st.sampled_from([False, False, False, True]))
    prize_count = 1 if sudden_death else 6
    stadium = draw(st.none() | st.sampled_from(STADIUMS))
    limit = 4 if stadium == COLLAPSED_STADIUM else 5
    position = {
        "turn": turn,
        "first_player": first,
        "to_move": to_move,
        "seed": draw(st.integers(0, 2**63)),
        "counters": draw(st.lists(st.integers(0, 99), min_size=4, max_size=4)),
        "prize_count": prize_count,
        "sudden_death": sudden_death,
        "turns_before": draw(st.integers(1, 30)) if sudden_death else 0,
        "options": {
            "sudden_death": draw(st.sampled_from(["play", "draw"])),
            "turn_cap": turn + draw(st.sampled_from([60, 60, 60, 60, 5, 1, 0])),
        },
        "players": [draw(_side(turn, seat == to_move, limit, prize_count)) for seat in (0, 1)],
    }
    if stadium is not None:
        position["stadium"] = {"card": stadium, "owner": draw(st.integers(0, 1))}
    return position


# --- with one fault --------------------------------------------------------------------------------------------------

Path = tuple[str | int, ...]
# No field of a position takes any of these.
JUNK: list[Any] = ["nonsense", 1.5, -1, [[]], {"nonsense": 1}]


def _inside(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step), inner
        yield from _inside(inner, (*path, step))


def places(position: Json) -> list[tuple[Path, Any]]:
    """Every place in a position with what is there."""
    return list(_inside(position))


def put(position: Json, path: Path, value: Any) -> None:
    """Put ``value`` at a place of ``position``."""
    inner: Any = position
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value


def _is_detail(path: Path) -> bool:
    """The detail of an effect may be any text."""
    return len(path) > 2 and path[-3] == "effects" and path[-1] == 2


@st.composite
def faulty_positions(draw: st.DrawFn) -> tuple[str, Json]:
    """What is wrong, and a position that is valid but for that."""
    position = deepcopy(draw(positions()))
    players: list[Json] = position["players"]
    spots = places(position)
    fault = draw(st.sampled_from(["type", "card", "key", "missing", "too many", "rule"]))
    side = draw(st.sampled_from(players))
    pokemon = draw(st.sampled_from([side["active"], *side["bench"]]))
    if fault == "type":
        path, _ = draw(st.sampled_from([(path, value) for path, value in spots if not _is_detail(path)]))
        junk = draw(st.sampled_from(JUNK))
        put(position, path, junk)
        return f"{path} is {junk!r}", position
    if fault == "card":
        path, card = draw(st.sampled_from([(path, value) for path, value in spots if value in ALL]))
        unknown = draw(st.sampled_from(["", "NONE-1", card.lower(), f"{card}0", f" {card}"]))
        put(position, path, unknown)
        return f"{path} is {unknown!r}", position
    if fault == "key":
        objects = [position, *(value for _, value in spots if isinstance(value, dict))]
        chosen = draw(st.sampled_from(objects))
        chosen["nonsense"] = None
        return "an unknown key", position
    if fault == "missing":
        key, holder = draw(st.sampled_from([("active", side), ("players", position), ("card", pokemon)]))
        del holder[key]
        return f"{key} is missing", position
    if fault == "too many":
        crowds = [
            (side["bench"], [draw(_pokemon(position["turn"], False)) for _ in range(6)]),
            (pokemon["tools"], [TOOLS[0], TOOLS[1]]),
            (side["prizes"], [ALL[0]] * 6),
            (side["known_hand"], [*side["hand"], ALL[0]]),
            (side["bottom_known"], [[len(side["deck"]) + 1, [], []]]),
            (players, [side]),
            (position["counters"], [0]),
        ]
        crowd, more = draw(st.sampled_from(crowds))
        crowd += more
        return f"{more!r} more", position
    hp = full_hp(CARDS[INDEX[pokemon["card"]]], pokemon["tools"])
    name, holder, value = draw(
        st.sampled_from(
            [
                ("damage", pokemon, hp),
                ("damage", pokemon, pokemon["damage"] + 5),
                ("entered_turn", pokemon, position["turn"] + 1),
                ("evolved_turn", pokemon, position["turn"] + 1),
                ("prizes", side, []),
                ("prizes", side, 0),
                ("prize_count", position, 7),
                ("deck_size", side, 61),
                ("top_known", side, len(side["deck"]) + 1),
                ("turn", position, 0),
                ("to_move", position, 2),
                ("conditions", side["active"], ["asleep", "confused"]),
                ("card", pokemon, ENERGY[0]),
                ("energy", pokemon, [TOOLS[0]]),
                ("under", pokemon, [ENERGY[0]]),
                ("stadium", position, {"card": TOOLS[0]}),
            ]
        )
    )
    holder[name] = value
    return f"{name} is {value!r}", position


def own_cards(position: Json, seat: int) -> Counter[str]:
    """All cards of a side of a complete position."""
    side = position["players"][seat]
    zones = [side[name] for name in ("hand", "deck", "discard", "lost_zone", "prizes")]
    for pokemon in (side["active"], *side["bench"]):
        zones += [[pokemon["card"]], pokemon["under"], pokemon["energy"], pokemon["tools"]]
    stadium = position.get("stadium")
    if stadium is not None and stadium["owner"] == seat:
        zones.append([stadium["card"]])
    return Counter(card for zone in zones for card in zone)
