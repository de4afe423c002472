"""The log of what happened, as each seat may see it.

In the state an event is a short tuple; here it becomes a dictionary of plain JSON values. What only its player may see
(the cards of a draw, a face-down Pokémon in set-up, cards looked at) is left out for the other seat, the number of
cards is not. ``docs/replay.md`` lists the events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.ptcg.actions import OPPONENT, place_key
from engine.ptcg.card import CARDS
from engine.ptcg.state import CONDITION_NAMES, Event, State

View = dict[str, Any]


def _ids(cards: tuple[int, ...]) -> list[str]:
    return [CARDS[card].id for card in cards]


def _own_cards(event: Event, seat: int) -> View:
    """Cards that only their player sees; the other sees how many."""
    cards = event[2]
    view: View = {"count": len(cards)}
    if seat == event[1]:
        view["cards"] = _ids(cards)
    return view


def _to_hand(event: Event, seat: int) -> View:
    view: View = {"count": len(event[2]), "from": event[3], "revealed": event[4]}
    if event[4] or seat == event[1]:
        view["cards"] = _ids(event[2])
    return view


def _own_card(event: Event, seat: int) -> View:
    return {"card": CARDS[event[2]].id} if seat == event[1] else {}


def _conditions(mask: int) -> list[str]:
    return [name for bit, name in CONDITION_NAMES if mask & bit]


_FORMS: dict[str, Callable[[Event, int], View]] = {
    "coin": lambda e, s: {"heads": e[2]},
    "coin_flip_won": lambda e, s: {},
    "first_player": lambda e, s: {},
    "shuffle": lambda e, s: {},
    "draw": _own_cards,
    "look": _own_cards,
    "prizes": _own_cards,
    "to_top": _own_cards,
    "hand_to_deck": _own_cards,
    "hand_to_bottom": _own_cards,
    "lay_prizes": lambda e, s: {"count": e[2]},
    "mulligan": lambda e, s: {"cards": _ids(e[2])},
    "set_up_active": _own_card,
    "set_up_bench": _own_card,
    "face_up": lambda e, s: {"cards": _ids(e[2])},
    "turn": lambda e, s: {"turn": e[2]},
    "to_hand": _to_hand,
    "to_deck": lambda e, s: {"cards": _ids(e[2]), "from": e[3]},
    "play_to_hand": lambda e, s: {"cards": _ids(e[2])},
    "discard": lambda e, s: {"cards": _ids(e[2]), "from": e[3]},
    "lost": lambda e, s: {"cards": _ids(e[2]), "from": e[3]},
    "bench": lambda e, s: {"card": CARDS[e[2]].id, "from": e[3]},
    "play": lambda e, s: {"card": CARDS[e[2]].id},
    "use_stadium": lambda e, s: {"card": CARDS[e[2]].id},
    "attach": lambda e, s: {
        "card": CARDS[e[2]].id,
        "pokemon": CARDS[e[3]].id,
        "place": place_key(e[4]),
        "from": e[5],
    },
    "evolve": lambda e, s: {"pokemon": CARDS[e[2]].id, "card": CARDS[e[3]].id, "place": place_key(e[4])},
    "switch": lambda e, s: {"in": CARDS[e[2]].id, "out": CARDS[e[3]].id},
    "promote": lambda e, s: {"pokemon": CARDS[e[2]].id},
    "retreat": lambda e, s: {},
    "pass": lambda e, s: {},
    "ability": lambda e, s: {"card": CARDS[e[2]].id, "place": place_key(e[3]), "name": e[4]},
    "attack": lambda e, s: {"pokemon": CARDS[e[2]].id, "name": e[3]},
    "damage": lambda e, s: {"pokemon": CARDS[e[2]].id, "place": place_key(e[3]), "amount": e[4]},
    "counters": lambda e, s: {"pokemon": CARDS[e[2]].id, "place": place_key(e[3]), "count": e[4]},
    "move_counters": lambda e, s: {
        "pokemon": CARDS[e[2]].id,
        "place": place_key(e[3]),
        "to": CARDS[e[4]].id,
        "to_place": place_key(OPPONENT + e[5]),
        "count": e[6],
    },
    "heal": lambda e, s: {"pokemon": CARDS[e[2]].id, "place": place_key(e[3]), "amount": e[4]},
    "condition": lambda e, s: {"pokemon": CARDS[e[2]].id, "conditions": _conditions(e[3])},
    "recover": lambda e, s: {"pokemon": CARDS[e[2]].id, "conditions": _conditions(e[3])},
    "knock_out": lambda e, s: {"pokemon": CARDS[e[2]].id, "place": place_key(e[3])},
    "sudden_death": lambda e, s: {},
    "end": lambda e, s: {"outcome": e[2], "cause": e[3]},
}


def view_event(event: Event, seat: int) -> View:
    """One event as ``seat`` may see it: ``event`` (its kind), ``seat`` (whose it is), then what the kind holds."""
    return {"event": event[0], "seat": event[1], **_FORMS[event[0]](event, seat)}


def view_events(state: State, seat: int, since: int) -> list[View]:
    """The kept events from number ``since`` on as ``seat`` may see them."""
    return [view_event(event, seat) for event in state.log[max(since - state.log_start, 0) :]]
