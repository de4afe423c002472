"""The scripted player: an answer from nothing but a request's own text and tools, and a generator for its whims."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents.loopback.faults import ModelFault
from agents.loopback.profiles import Profile
from agents.loopback.reading import Offer, Situation, read_situation

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
    "choose": 40,
    "pass": 10,
    "done": 10,
    "retreat": 5,
}
"""What looks best first: build up, then attack. Unknown kinds of action are worth as much as an attack."""

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
    return spoilt if situation.calls_tools else _as_text(spoilt)


def _action(situation: Situation, profile: Profile, rng: random.Random) -> tuple[str, dict[str, Any]]:
    if rng.random() < profile.illegal:
        return situation.call_for([Offer("attack:Wild Guess", "")])
    offers = situation.offers
    if not offers:
        return situation.guess(rng)
    if situation.choosing:
        return situation.call_for(_picks(situation, profile, rng))
    return situation.call_for([_best(offers, rng) if rng.random() < profile.skill else rng.choice(offers)])


def _best(offers: Sequence[Offer], rng: random.Random) -> Offer:
    worth = [(_WORTH.get(offer.kind, 50) + min(offer.largest_number, 400) / 40, rng.random()) for offer in offers]
    return offers[worth.index(max(worth))]


def _picks(situation: Situation, profile: Profile, rng: random.Random) -> list[Offer]:
    """As many picks as are asked for, at least one where anything is worth picking."""
    picks = [offer for offer in situation.offers if offer.kind != "done"]
    may_end = len(picks) < len(situation.offers) or situation.least == 0
    if may_end and situation.least == 0 and rng.random() < (1 - profile.skill) / 4:
        return [offer for offer in situation.offers if offer.kind == "done"]
    wanted = max(situation.least, 1)
    if rng.random() < profile.skill and situation.most:
        wanted = situation.most
    return rng.sample(picks, min(wanted, len(picks)))


def _query(situation: Situation, rng: random.Random) -> tuple[str, dict[str, Any]]:
    name = rng.choice(situation.queries)
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
            wrong = {
                key: [17.5] if isinstance(value, str) else {"x": 1} for key, value in json.loads(call.arguments).items()
            }
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


def _as_text(said: Answer) -> Answer:
    """The answer of a model that calls no tools: its first call as one JSON object in its text."""
    if not said.calls:
        return said
    call = said.calls[0]
    written = (
        f'{{"thought": {json.dumps(said.content)}, "tool": {json.dumps(call.name)}, "arguments": {call.arguments}}}'
    )
    return replace(said, content=written, calls=(), finish_reason="stop")
