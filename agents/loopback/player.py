"""The scripted player: an answer from nothing but a request's own text and tools, and a generator for its whims."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents.loopback.faults import ModelFault
from agents.loopback.profiles import Profile
from agents.loopback.reading import Candidate, Offer, Situation, read_situation
from agents.loopback.unlisted import named_picks

LONG_REASONING = 100_000
"""Characters of the thoughts that ``LONG_REASONING`` stands for."""

_WORTH = {
    "evolve": 90,
    "bench": 85,
    "attach": 80,
    "ability": 75,
    "play": 70,
    "stadium": 60,
    "attack": 50,
    "pass": 10,
    "retreat": 5,
}
"""What looks best first: build up, then attack. Unknown kinds of action are worth as much as an attack."""

_THIN_DECK = 16
"""With so few cards left, what mostly draws more of them is worth less than an attack or the end of the turn."""
_DRAWING = ("ability", "play", "stadium")

_ONCE_A_TURN = {"attach": "energy", "Supporter": "supporter", "Stadium": "stadium"}
_PATIENCE = 2
"""How often a player that is not told what is legal tries something before it ends its turn."""

_MUSINGS = ("Prizes decide this", "Energy comes first", "the Bench is thin", "tempo matters", "they will attack next")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of an answer; ``arguments`` is JSON text, unless a fault spoilt it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says."""

    content: str | None
    calls: tuple[Call, ...] = ()
    finish_reason: str = "tool_calls"
    reasoning: str = ""
    refusal: str | None = None


def answer(body: Mapping[str, Any], profile: Profile, rng: random.Random, fault: ModelFault | None = None) -> Answer:
    """The answer to the request ``body``; equal for equal requests, profiles and generators."""
    situation = read_situation(body)
    query = situation.queries and rng.random() < profile.query and not situation.queried
    name, arguments = _query(situation, rng) if query else _action(situation, profile, rng)
    thought = f"{rng.choice(_MUSINGS)}; {name} it is." if profile.thought else ""
    reasoning = _reasoning(profile.reasoning, rng)
    good = Answer(thought, (Call(_identifier(rng), name, json.dumps(arguments)),), reasoning=reasoning)
    spoilt = good if fault is None else _spoilt(good, fault, situation, rng)
    return spoilt if situation.by_api else _as_text(spoilt, situation, rng)


def _action(situation: Situation, profile: Profile, rng: random.Random) -> tuple[str, dict[str, Any]]:
    if rng.random() < profile.illegal:
        return situation.call_for([Offer("attack:Wild Guess")])
    if situation.choosing:
        return "choose_card", {"chosen_cards": _picks(situation, profile, rng)}
    skilled = rng.random() < profile.skill
    if not situation.offers:
        return situation.call_for([rng.choice(_guesses(situation, skilled))])
    return situation.call_for([_best(situation, situation.offers, rng) if skilled else rng.choice(situation.offers)])


def _best(situation: Situation, offers: Sequence[Offer], rng: random.Random) -> Offer:
    return max(offers, key=lambda offer: (_worth(situation, offer), rng.random()))


def _worth(situation: Situation, offer: Offer) -> float:
    if offer.kind in _DRAWING and situation.deck_count <= _THIN_DECK:
        return 1.0
    # Energy all to one Pokémon, and the strongest attack.
    more = 4.0 * offer.key.endswith(">active") if offer.kind == "attach" else min(offer.largest_number, 400) / 100
    return _WORTH.get(offer.kind, 50) + more


def _picks(situation: Situation, profile: Profile, rng: random.Random) -> list[str | int]:
    """As many picks as are asked for; one pick where few are enough."""
    copies = [one for one in situation.candidates for _ in range(one.copies)]
    if situation.energy_to_pay and copies:
        return _payment(copies, situation.energy_to_pay, rng)
    listed = [offer.key.partition(":")[2] for offer in situation.offers if offer.kind == "choose"]
    everything: list[str | int] = [one.label for one in copies] or list(listed)
    wanted = max(situation.least, 1)
    if situation.most > wanted and situation.least != situation.most and rng.random() < profile.skill / 2:
        wanted = situation.most
    if situation.least == 0 and rng.random() < (1 - profile.skill) / 4:
        return []
    if not everything:
        return named_picks(situation, profile.skill, wanted, rng)
    return rng.sample(everything, min(wanted, len(everything)))


def _payment(copies: Sequence[Candidate], to_pay: int, rng: random.Random) -> list[str | int]:
    """Cards that together provide that much Energy, none of them superfluous."""
    chosen: list[Candidate] = []
    for one in rng.sample(copies, len(copies)):
        if sum(other.provides for other in chosen) < to_pay:
            chosen.append(one)
    for one in sorted(chosen, key=lambda one: one.provides):
        if sum(other.provides for other in chosen) - one.provides >= to_pay:
            chosen.remove(one)
    return [one.label for one in chosen]


def _guesses(situation: Situation, skilled: bool) -> list[Offer]:
    """What may well be legal, where no list says it. A skilled player minds what has been done this turn."""
    passing = [Offer("pass")]
    if situation.refusals > _PATIENCE:
        return passing
    attacks = [Offer(f"attack:{name}") for name in situation.attacks]
    if situation.refusals == _PATIENCE:
        return attacks or passing
    offers = []
    for card in situation.hand:
        if "Pokémon" in card.kind and card.kind != "Pokémon Tool":
            key = f"bench:{card.card}" if card.kind.startswith("Basic") else f"evolve:{card.card}>active"
        elif "Energy" in card.kind or card.kind == "Pokémon Tool":
            key = f"attach:{card.card}>active"
        else:
            key = f"play:{card.card}"
        once = _ONCE_A_TURN.get("attach" if "Energy" in card.kind else card.kind)
        if not (skilled and once in situation.used):
            offers.append(Offer(key))
    return [*offers, *attacks, *passing]


def _query(situation: Situation, rng: random.Random) -> tuple[str, dict[str, Any]]:
    name = rng.choice(situation.queries)
    if name == "activate_skill":
        return name, situation.fill(name, {"name": rng.choice(situation.skills or ("none",))})
    return name, situation.fill(name, {"card_id": rng.choice(situation.cards or ("SVE-1",)), "player": "opponent"})


def _reasoning(length: int, rng: random.Random) -> str:
    """Thoughts of so many characters."""
    if length <= 0:
        return ""
    line = f"{rng.choice(_MUSINGS)}, and then what if {rng.choice(_MUSINGS)}? "
    return (line * (length // len(line) + 1))[:length]


def _identifier(rng: random.Random) -> str:
    return f"call_{rng.getrandbits(48):012x}"


def _spoilt(good: Answer, fault: ModelFault, situation: Situation, rng: random.Random) -> Answer:
    call = good.calls[0]
    match fault:
        case ModelFault.MALFORMED_JSON:
            return replace(good, calls=(replace(call, arguments=call.arguments.rstrip("}") + ', "'),))
        case ModelFault.WRONG_TYPE:
            wrong = {name: {"is": "an object"} for name in json.loads(call.arguments)}
            return replace(good, calls=(replace(call, arguments=json.dumps(wrong or [1])),))
        case ModelFault.UNKNOWN_TOOL:
            return replace(good, calls=(replace(call, name="mulligan_everything"),))
        case ModelFault.SEVERAL_CALLS:
            more = [replace(call, id=_identifier(rng))]
            if situation.queries:
                name, arguments = _query(situation, rng)
                more.insert(0, Call(_identifier(rng), name, json.dumps(arguments)))
            return replace(good, calls=(*more, call))
        case ModelFault.EMPTY:
            return Answer(None, finish_reason="stop")
        case ModelFault.PROSE:
            return Answer("I would rather wait and see what happens.", finish_reason="stop")
        case ModelFault.REFUSAL:
            return Answer(None, finish_reason="stop", refusal="I cannot help with that.")
        case ModelFault.CUT:
            return Answer("Let me think about every card in turn, beginning with", finish_reason="length")
        case ModelFault.SURROGATES:
            return replace(good, content=f"{good.content}\ud83d \x00", reasoning="\udc80 hm")
        case ModelFault.LONG_REASONING:
            return replace(good, reasoning=_reasoning(LONG_REASONING, rng))
        case ModelFault.WRONG_IDS:
            return replace(good, calls=(call, call))
        case ModelFault.NO_IDS:
            return replace(good, calls=(replace(call, id=""),))
        case ModelFault.NO_USAGE:
            return good


def _as_text(said: Answer, situation: Situation, rng: random.Random) -> Answer:
    """The answer of a model that calls no tools: its first call as one JSON object in its text, or one of the keys."""
    if not said.calls:
        return said
    call = said.calls[0]
    thought = json.dumps(said.content)
    if situation.keys:
        offers = [offer for offer in situation.offers if offer.key in situation.keys] or list(
            map(Offer, situation.keys)
        )
        key = _best(situation, offers, rng) if rng.random() < 0.5 else rng.choice(offers)
        written = f'{{"thought": {thought}, "action": {json.dumps(key.key)}}}'
    else:
        body = f'{{"tool": {json.dumps(call.name)}, "arguments": {call.arguments}}}'
        written = f'{{"thought": {thought}, "call": {body}}}'
    return replace(said, content=written, calls=(), finish_reason="stop")
