"""An observation as text: ``structured``, or the same information ``raw``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agents.llm.config import HarnessConfig, Mask, ObservationForm, PromptLength
from agents.llm.memory import Memory, View
from agents.llm.tools import tool_of
from engine.ptcg.actions import PtcgAction
from engine.ptcg.card import CARDS, KIND_NAMES
from engine.ptcg.card_text import attack_summary, card_label
from engine.ptcg.library import INDEX
from engine.ptcg.observation import PtcgObservation
from engine.ptcg.state import NUMBER_KIND, OPTION_KIND, YES_NO_KIND

_CARD_ID = re.compile(r"[A-Z]{2,4}-\d+")
_ALWAYS = frozenset({"hp", "max_hp", "damage", "hand_count", "deck_count", "prize_count", "retreat_cost", "index"})
"""Numbers that are said even where they are 0; what else is false, 0 or empty is left out of a structured view."""
_EVENT_NAMES = {"lost": "put_in_lost_zone", "play_to_hand": "take_back_to_hand"}
"""Kinds of event whose names could be misread beside "you" and "opponent"."""


def render(observation: PtcgObservation, legal: Sequence[PtcgAction], memory: Memory, config: HarnessConfig) -> str:
    """The text that puts a decision before the model."""
    listed = legal if config.mask is Mask.LISTED else None
    if config.observation is ObservationForm.STRUCTURED:
        return structured(observation, listed, memory, brief=config.prompt is PromptLength.SHORT)
    return raw(observation, listed, memory)


def structured(
    observation: PtcgObservation, listed: Sequence[PtcgAction] | None, memory: Memory, brief: bool = False
) -> str:
    """A JSON object, a line for each part; ``listed`` are the legal actions, ``None`` where they are hidden.

    Cards are written with their names; what is false, 0 or empty is left out, as the prompt says. A ``brief`` view
    lacks the lists of the own deck and what the opponent did before the last decision.
    """
    view = observation.to_json()
    seat = observation.seat
    sides = {name: _side(view.pop(name)) for name in ("you", "opponent")}
    choosing, stadium = view.pop("choosing"), view.pop("stadium")
    view.pop("events")
    shown: dict[str, Any] = view
    if stadium is not None:
        shown["stadium"] = {"card": _label(stadium["card"]), "owner": _who(stadium["owner"], seat)}
    shown["choosing_card"] = False if choosing is None else _choosing(observation, choosing, listed is not None)
    shown |= sides
    shown["events_since_your_last_decision"] = [event_line(event, seat) for event in memory.untold()]
    if brief:
        for counts in ("deck_list", "unseen"):
            sides["you"].pop(counts, None)
    else:
        shown["opponent_last_turn_actions"] = [event_line(event, seat) for event in memory.opponents_last_turn(seat)]
    if listed is not None:
        shown["available_actions"] = _by_tool(listed)
    return _lines(shown)


def raw(observation: PtcgObservation, listed: Sequence[PtcgAction] | None, memory: Memory) -> str:
    """The observation as it is, the game log, the cards that it names and, where ``listed``, the legal actions."""
    view = observation.to_json()
    view.pop("events")
    choosing = view["choosing"]
    if choosing is not None and listed is None:
        if _is_wording(observation):
            choosing["candidates"] = _wording(choosing)
        else:
            del choosing["candidates"]
    log = memory.recent()
    shown: dict[str, Any] = {**view, "log": log, "new": len(memory.untold())}
    if to_pay := _energy_to_pay(observation):
        shown["energy_to_pay"] = to_pay
    if listed is not None:
        shown["legal"] = [[action.key, action.sentence] for action in listed]
    shown["cards"] = {card: _facts(card) for card in _named(shown)}
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))


def event_line(event: View, seat: int) -> str:
    """One event in a line: whose it is, what it is, and all that is known of it."""
    rest = "; ".join(
        f"{key}={_event_value(value)}" for key, value in event.items() if key not in ("event", "seat") and value != ""
    )
    kind = _EVENT_NAMES.get(event["event"], event["event"])
    head = f"{_who(event['seat'], seat)} {kind}"
    return f"{head}: {rest}" if rest else head


def _event_value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_event_value(item) for item in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _label(value) if isinstance(value, str) else str(value)


def _who(owner: int, seat: int) -> str:
    return "nobody" if owner < 0 else "you" if owner == seat else "opponent"


def _label(card: str) -> str:
    return card_label(CARDS[INDEX[card]]) if card in INDEX else card


def _labels(cards: Iterable[str]) -> list[str]:
    return [_label(card) for card in cards]


def _side(side: Mapping[str, Any]) -> dict[str, Any]:
    shown = dict(side)
    pokemon = [shown.pop("active"), *shown.pop("bench")]
    in_play = [_pokemon(found, index) for index, found in enumerate(pokemon) if found is not None]
    shown["hand"] = [f"{index}: {_label(card)}, {_kind(card)}" for index, card in enumerate(side["hand"])]
    for zone in ("deck_top", "discard", "lost_zone", "being_played"):
        shown[zone] = _labels(side[zone])
    shown["deck_bottom"] = [{**block, "known": _labels(block["known"])} for block in side["deck_bottom"]]
    if side["prizes"] is not None:
        shown["prizes"] = _labels(side["prizes"])
    for counts in ("deck_list", "unseen"):
        if counts in side:
            shown[counts] = [f"{count} {_label(card)}" for card, count in side[counts].items()]
    shown["used"] = _told(side["used"])
    return {"active_and_bench": in_play, **_told(shown)}


def _pokemon(pokemon: Mapping[str, Any], index: int) -> dict[str, Any]:
    if "card" not in pokemon:
        return {"index": index, **pokemon}
    shown: dict[str, Any] = {"index": index, **pokemon}
    card = CARDS[INDEX[pokemon["card"]]]
    for cards in ("under", "energy", "tools"):
        shown[cards] = _labels(pokemon[cards])
    shown["abilities"] = [ability.name for ability in card.abilities]
    shown["attacks"] = [attack_summary(attack) for attack in card.attacks]
    return _told(shown)


def _kind(card: str) -> str:
    found = CARDS[INDEX[card]]
    return found.stage_name + " Pokémon" if found.is_pokemon else KIND_NAMES[found.kind]


def _told(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value or key in _ALWAYS}


def _is_wording(observation: PtcgObservation) -> bool:
    """Whether the candidates of the choice are its own wording (numbers, options), not an outcome of the rules."""
    prompt = observation.known.prompt
    return prompt is not None and prompt.kind in (NUMBER_KIND, OPTION_KIND, YES_NO_KIND)


def _wording(choosing: Mapping[str, Any]) -> list[str]:
    """The candidates of such a choice where nothing is listed: what to answer, without an index."""
    return [item["label"] for item in choosing["candidates"]]


def _energy_to_pay(observation: PtcgObservation) -> int:
    """How much Energy the cards to be chosen must provide; 0 where the choice is not about that."""
    prompt = observation.known.prompt
    return prompt.minimum_total if prompt is not None else 0


def _choosing(observation: PtcgObservation, choosing: Mapping[str, Any], listed: bool) -> dict[str, Any]:
    shown = dict(choosing)
    shown["source"] = "the rules" if choosing["source"] is None else _label(choosing["source"])
    if listed:
        shown["candidates"] = [_candidate(observation, item) for item in choosing["candidates"]]
    elif _is_wording(observation):
        shown["candidates"] = _wording(choosing)
    else:
        del shown["candidates"]
    if to_pay := _energy_to_pay(observation):
        shown["energy_to_pay"] = to_pay
    shown["picked"] = [_named_label(label) for label in choosing["picked"]]
    if not shown["picked"]:
        del shown["picked"]
    return shown


def _candidate(observation: PtcgObservation, item: Mapping[str, Any]) -> str:
    """Index, label and name, as in ``1: PAF-7 Charmander, 3 copies`` or ``0: bench2 Charmander``."""
    label = item["label"]
    card = label.partition("@")[0]
    name = CARDS[INDEX[card]].name if card in INDEX else _place_name(observation, label)
    copies = f", {item['copies']} copies" if item["copies"] > 1 else ""
    return f"{item['index']}: {label}{' ' + name if name else ''}{copies}"


def _named_label(label: str) -> str:
    card, at, place = label.partition("@")
    return f"{_label(card)}{at}{place}"


def _place_name(observation: PtcgObservation, label: str) -> str:
    """The name of the Pokémon where ``label`` is a place."""
    place = label.removeprefix("opponent.")
    player = observation.opponent if place != label else observation.you
    if place == "active":
        found = player.active
    elif place.startswith("bench") and place[5:].isdigit() and int(place[5:]) <= len(player.bench):
        found = player.bench[int(place[5:]) - 1]
    else:
        return ""
    return CARDS[found.cards[-1]].name if found is not None else ""


def _by_tool(listed: Sequence[PtcgAction]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for action in listed:
        grouped.setdefault(tool_of(action), []).append(f"{action.key} = {action.sentence}")
    return grouped


def _lines(shown: Mapping[str, Any]) -> str:
    """``shown`` as JSON with a line for each key, and for each of a side's keys and Pokémon."""
    parts = []
    for key, value in shown.items():
        if key in ("you", "opponent", "available_actions"):
            inner = ",\n".join(f"  {_json(name)}: {_items(item)}" for name, item in value.items())
            parts.append(f"{_json(key)}: {{\n{inner}}}")
        else:
            parts.append(f"{_json(key)}: {_items(value)}")
    return "{" + ",\n".join(parts) + "}"


def _items(value: Any) -> str:
    if isinstance(value, list) and value and (isinstance(value[0], dict) or len(value[0]) > 40):
        return "[" + ",\n    ".join(_json(item) for item in value) + "]"
    return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _named(shown: Any) -> list[str]:
    """The ids of all cards that ``shown`` names, sorted."""
    text = json.dumps(shown, ensure_ascii=False)
    return sorted({card for card in _CARD_ID.findall(text) if card in INDEX})


def _facts(card: str) -> list[str]:
    found = CARDS[INDEX[card]]
    attacks = [attack_summary(attack) for attack in found.attacks]
    return [found.name, _kind(card), *[ability.name for ability in found.abilities], *attacks]
