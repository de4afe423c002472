"""What the scripted player makes of a request: the position it shows, the actions it lists, the tools it offers.

It reads what the harness writes, ``structured`` or ``raw``, with the legal actions listed or not, and nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents.loopback.sights import CARD, Sights, mapping, read_sights

QUERIES = ("query_card", "query_discard", "activate_skill")
"""The tools that only look something up."""

_TOOL_OF_KIND = {
    "attack": "attack",
    "bench": "play_pokemon",
    "evolve": "evolve_pokemon",
    "ability": "use_ability",
    "stadium": "use_stadium",
    "retreat": "retreat",
    "choose": "choose_card",
    "done": "choose_card",
    "pass": "pass_turn",
}
_TOOL_OF_CARD = {
    "Item": "use_item",
    "Supporter": "use_supporter",
    "Stadium": "put_stadium",
    "Pokémon Tool": "use_tool",
    "Basic Energy": "attach_energy",
    "Special Energy": "attach_energy",
}

_NUMBER = re.compile(r"\d+")
_TOOL_LINE = re.compile(r"^- (\w+)\(([^)\n]*)\):", re.MULTILINE)
_SKILL_LINE = re.compile(r"^- ([a-z0-9][a-z0-9_-]*): ", re.MULTILINE)
_CANDIDATE = re.compile(r"\d+: (.*?)(?:, (\d+) copies)?", re.DOTALL)
_LABEL = re.compile(r"(?:[A-Z]{2,4}-\d{1,3}(?:@\S+)?|(?:opponent\.)?(?:active|bench\d+))(?= |$)")
_PICKED = re.compile(r"\(([A-Z]{2,4}-\d{1,3})\)((?:@\S+)?)$")
_DOUBLE = "Double"
"""In the name of Energy that provides two."""
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Offer:
    """An action: its key, what is said of it, and the tool to call, where known."""

    key: str
    text: str = ""
    tool: str | None = None

    @property
    def kind(self) -> str:
        """The first word of the key."""
        return re.split("[:>]", self.key, maxsplit=1)[0]

    @property
    def largest_number(self) -> int:
        """The largest number in what is said of it: for an attack, mostly its damage."""
        return max(map(int, _NUMBER.findall(self.text)), default=0)


@dataclass(frozen=True, slots=True)
class HandCard:
    """A card in the player's own hand: its id and its kind, such as ``Basic Pokémon`` or ``Item``."""

    card: str
    kind: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a choice offers: its label, how many copies of it there are, how much Energy each of them provides."""

    label: str
    copies: int = 1
    provides: int = 1


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a player needs to answer."""

    offers: tuple[Offer, ...] = ()
    """The legal actions, where they are listed."""
    choosing: bool = False
    """Whether a choice is asked for."""
    candidates: tuple[Candidate, ...] = ()
    """What can be chosen besides what is picked already, where it is told, or where the board shows it."""
    question: str = ""
    """What is to be chosen, in the words of the choice."""
    sights: Sights = field(default_factory=dict)
    """What the position shows that could be named where the candidates are not told."""
    least: int = 0
    most: int = 0
    energy_to_pay: int = 0
    """How much Energy the cards to be chosen must provide; 0 where that is not the matter."""
    hand: tuple[HandCard, ...] = ()
    attacks: tuple[str, ...] = ()
    """Names of the attacks of the player's own Active Pokémon."""
    deck_count: int = 60
    """Cards left in the player's own deck."""
    used: frozenset[str] = frozenset()
    """What has been done this turn."""
    cards: tuple[str, ...] = ()
    """Ids of all cards in sight."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Kinds of cards by id, where the position tells them."""
    refusals: int = 0
    """How often the player has answered this already."""
    said: str = ""
    """What it has answered, as text."""
    queried: bool = False
    tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The names of the arguments of each tool."""
    by_api: bool = True
    """Whether tools are called through the API; else as JSON in the text."""
    skills: tuple[str, ...] = ()
    """The names of the skills that can be read."""
    keys: tuple[str, ...] = ()
    """Where the reply is held to be one of these keys."""

    @property
    def queries(self) -> tuple[str, ...]:
        """The tools that only look something up."""
        return tuple(name for name in QUERIES if name in self.tools)

    def call_for(self, offers: Sequence[Offer]) -> tuple[str, dict[str, Any]]:
        """The tool and arguments that play these actions: one, or all picks of a choice."""
        first = offers[0]
        name = first.tool or self._tool(first)
        if name == "choose_card":
            labels = [offer.key.partition(":")[2] for offer in offers if offer.kind == "choose"]
            return name, {"chosen_cards": labels}
        return name, self.fill(name, {"source_card": first.key, **_parts(first.key)})

    def fill(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments of the tool, those that are not ``given`` null."""
        return {argument: given.get(argument) for argument in self.tools.get(name, tuple(given))}

    def _tool(self, offer: Offer) -> str:
        if offer.kind in _TOOL_OF_KIND:
            return _TOOL_OF_KIND[offer.kind]
        card = CARD.search(offer.key)
        kind = self.kinds.get(card[0], "") if card else ""
        return _TOOL_OF_CARD.get(kind, "attach_energy" if offer.kind == "attach" else "use_item")


def read_situation(body: Mapping[str, Any]) -> Situation:
    """What the request ``body`` asks of a player."""
    messages: list[Mapping[str, Any]] = body["messages"]
    place, shown = _newest_position(messages)
    later = messages[place + 1 :]
    schema = _path(body, "response_format", "json_schema", "schema", "properties", "action", "enum")
    given = tuple(_api_tools(body.get("tools") or ()))
    written = [] if given else [match for message in messages[:1] for match in _TOOL_LINE.finditer(_text(message))]
    skills = [found for message in messages[:1] for found in _SKILL_LINE.findall(_text(message))]
    tools = dict(given) or {match[1]: tuple(re.findall(r"\w+", match[2])) for match in written}
    you = mapping(shown.get("you"))
    choosing = mapping(shown.get("choosing_card") or shown.get("choosing"))
    picked = [_picked(str(one)) for one in choosing.get("picked") or ()]
    facts = mapping(shown.get("cards"))
    kinds = {card: str(told[1]) for card, told in facts.items() if len(told) > 1}
    hand = tuple(_hand(you.get("hand") or (), kinds))
    to_pay = _whole(choosing.get("energy_to_pay") or shown.get("energy_to_pay"))
    candidates = tuple(_candidates(choosing.get("candidates") or (), facts))
    if to_pay and not candidates:
        candidates = tuple(_attached(_active(you), facts))
    to_pay -= sum(one.provides for label in picked for one in candidates if one.label == label)
    return Situation(
        offers=tuple(_offers(shown)),
        choosing=bool(choosing),
        candidates=_left(candidates, picked),
        question=str(choosing.get("question", "")),
        sights=read_sights(shown, facts),
        least=max(_whole(choosing.get("least")) - len(picked), 0),
        most=_whole(choosing.get("most")) - len(picked),
        energy_to_pay=max(to_pay, 0),
        hand=hand,
        attacks=tuple(_attacks(_active(you), facts)),
        deck_count=_whole(you.get("deck_count", 60)),
        used=frozenset(name for name, value in mapping(you.get("used")).items() if value),
        cards=tuple(dict.fromkeys(CARD.findall(_text(messages[place])))) if messages else (),
        kinds=kinds | {card.card: card.kind for card in hand},
        refusals=sum(message.get("role") == "assistant" for message in later),
        said="\n".join(_said(message) for message in later if message.get("role") == "assistant"),
        queried=any(name in _text(message) or name in _called(message) for message in later for name in QUERIES),
        tools=tools,
        by_api=bool(given),
        skills=tuple(skills) if "activate_skill" in tools else (),
        keys=tuple(key for key in schema if isinstance(key, str)) if isinstance(schema, list) else (),
    )


def _newest_position(messages: Sequence[Mapping[str, Any]]) -> tuple[int, Mapping[str, Any]]:
    """The last message that shows a position, with what it shows; it may stand behind the answer to a tool call."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].get("role") in ("user", "tool"):
            shown = [
                value for value in _objects(_text(messages[place])) if "you" in value or "available_actions" in value
            ]
            if shown:
                return place, shown[-1]
    return max(len(messages) - 1, 0), {}


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects in ``text``."""
    start = text.find("{")
    while start >= 0:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except ValueError:
            end = start + 1
        else:
            yield value
        start = text.find("{", end)


def _offers(shown: Mapping[str, Any]) -> Iterator[Offer]:
    """The legal actions as listed: by tool as ``key = sentence``, or as pairs of key and sentence."""
    listed = shown.get("available_actions")
    if isinstance(listed, Mapping):
        for tool, entries in listed.items():
            for entry in entries:
                key, _, sentence = str(entry).partition(" = ")
                yield Offer(key, sentence, str(tool))
    for entry in shown.get("legal") or ():
        yield Offer(str(entry[0]), str(entry[1]))


def _candidates(candidates: Iterable[Any], facts: Mapping[str, Any]) -> Iterator[Candidate]:
    """Written as mappings, or as ``1: PAF-7 Charmander, 3 copies``."""
    for candidate in candidates:
        if isinstance(candidate, Mapping):
            label = str(candidate.get("label"))
            name, copies = _name(label.partition("@")[0], facts), candidate.get("copies", 1)
        else:
            found = _CANDIDATE.fullmatch(str(candidate))
            name, copies = (found[1], int(found[2] or 1)) if found else (str(candidate), 1)
            begins = _LABEL.match(name)
            label = begins[0] if begins else name
        yield Candidate(label, _whole(copies), 1 + (_DOUBLE in name))


def _attached(active: Mapping[str, Any], facts: Mapping[str, Any]) -> Iterator[Candidate]:
    """The Energy cards on the own Active Pokémon, in the order in which a choice has them."""
    counts: dict[str, int] = {}
    names: dict[str, str] = {}
    for entry in active.get("energy") or ():
        found = CARD.search(str(entry))
        if found:
            counts[found[0]] = counts.get(found[0], 0) + 1
            names[found[0]] = f"{entry} {_name(found[0], facts)}"
    for card in sorted(counts):
        yield Candidate(f"{card}@active", counts[card], 1 + (_DOUBLE in names[card]))


def _picked(written: str) -> str:
    """The label of what is picked already, written as it is or as ``Fire Energy (SVE-2)@active``."""
    found = _PICKED.search(written)
    return f"{found[1]}{found[2]}" if found else written


def _left(candidates: Sequence[Candidate], picked: Sequence[str]) -> tuple[Candidate, ...]:
    """What can still be picked: picks go in the order of the candidates."""
    labels = [one.label for one in candidates]
    if not picked or picked[-1] not in labels:
        return tuple(candidates)
    last = labels.index(picked[-1])
    left = candidates[last].copies - picked.count(picked[-1])
    first = (replace(candidates[last], copies=left),) if left > 0 else ()
    return (*first, *candidates[last + 1 :])


def _name(card: str, facts: Mapping[str, Any]) -> str:
    return str((facts.get(card) or ("",))[0])


def _hand(hand: Iterable[Any], kinds: Mapping[str, str]) -> Iterator[HandCard]:
    """Cards of a hand, written as ids or as ``0: Fire Energy (SVE-2), Basic Energy``."""
    for entry in hand:
        found = CARD.search(str(entry))
        if found:
            yield HandCard(found[0], kinds.get(found[0]) or str(entry).rpartition(", ")[2])


def _active(you: Mapping[str, Any]) -> Mapping[str, Any]:
    in_play = you.get("active_and_bench") or [you.get("active")]
    return mapping(in_play[0]) if in_play else {}


def _attacks(active: Mapping[str, Any], facts: Mapping[str, Any]) -> Iterator[str]:
    written = active.get("attacks") or [text for text in facts.get(str(active.get("card")), ()) if "[" in str(text)]
    for attack in written:
        yield str(attack).partition(" [")[0]


def _parts(key: str) -> dict[str, Any]:
    """An action's key taken apart into the arguments that tools have beside the card."""
    rest = key.partition(":")[2]
    name = rest.partition("@")[0]
    target = key.rpartition(">")[2] if ">" in key else None
    return {"target_card": target, "position": "bench", "attack_name": name, "ability_name": name}


def _api_tools(tools: Iterable[Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for tool in tools:
        function = mapping(mapping(tool).get("function"))
        if isinstance(function.get("name"), str):
            yield function["name"], tuple(mapping(_path(function, "parameters", "properties")))


def _called(message: Mapping[str, Any]) -> list[str]:
    return [str(_path(call, "function", "name")) for call in message.get("tool_calls") or ()]


def _said(message: Mapping[str, Any]) -> str:
    arguments = [str(_path(call, "function", "arguments")) for call in message.get("tool_calls") or ()]
    return "\n".join([_text(message), *arguments])


def _path(value: Any, *names: str) -> Any:
    for name in names:
        value = mapping(value).get(name)
    return value


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(mapping(part).get("text", "")) for part in content)
    return content if isinstance(content, str) else ""
