"""What the scripted player makes of a request: the actions it lists, the choice it asks for, the tools it offers."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LIST_NAME = "available_actions"
"""The field of an observation that lists the legal actions."""

_KEY_ARGUMENTS = ("action", "key", "action_key")
"""Names of the argument in which a tool takes an action's short key."""

_QUERIES = ("query_card", "query_discard")

_TOOL_OF_KIND = {
    "attack": ("attack",),
    "bench": ("play_pokemon",),
    "evolve": ("evolve_pokemon",),
    "attach": ("attach_energy", "use_tool"),
    "play": ("use_item", "use_supporter", "put_stadium"),
    "ability": ("use_ability",),
    "stadium": ("use_stadium",),
    "retreat": ("retreat",),
    "pass": ("pass_turn",),
    "choose": ("choose_card",),
    "done": ("choose_card",),
}

_KEY = r"(?:attack|bench|evolve|attach|play|ability|stadium|choose):[^`\"\n]+?|retreat>\w+|pass|done"
_LINE = re.compile(rf"^\s*(?:[-*]|\d+[.):])?\s*[`\"]?({_KEY})[`\"]?(?:\s*(?:$|[—–|:=]|-\s|,\s|\())(.*)$", re.MULTILINE)
_CARD = re.compile(r"\b[A-Z]{2,4}-\d{1,3}\b")
_NUMBER = re.compile(r"\d+")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Offer:
    """A legal action: its key and whatever else is said of it; ``tool`` where the list names the one to call."""

    key: str
    text: str
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
class Situation:
    """All that a player needs to answer."""

    offers: tuple[Offer, ...]
    least: int
    most: int
    cards: tuple[str, ...]
    """Ids of cards in the newest observation."""
    refusals: int
    """Replies to calls since that observation."""
    queried: bool
    """Whether a card was looked up since."""
    tools: Mapping[str, Mapping[str, Any]]
    """The arguments of each tool offered, by name."""

    @property
    def calls_tools(self) -> bool:
        """Whether tools are offered through the API."""
        return bool(self.tools)

    @property
    def choosing(self) -> bool:
        """Whether a selection prompt is open."""
        return any(offer.kind in ("choose", "done") for offer in self.offers)

    @property
    def queries(self) -> tuple[str, ...]:
        """The tools that only look something up."""
        return tuple(name for name in _QUERIES if name in self.tools)

    def call_for(self, offers: Sequence[Offer]) -> tuple[str, dict[str, Any]]:
        """The tool and arguments that play these actions: one, or all picks of a selection prompt."""
        first = offers[0]
        known = _TOOL_OF_KIND.get(first.kind, ("pass_turn",))
        name = first.tool or next((tool for tool in known if tool in self.tools), known[0])
        labels = [offer.key.partition(":")[2] for offer in offers if offer.kind != "done"]
        given: dict[str, Any] = {"chosen_cards": labels}
        if name != "choose_card":
            given |= dict.fromkeys(_KEY_ARGUMENTS, first.key) | _parts(first.key)
        return name, self.fill(name, given)

    def guess(self, rng: random.Random) -> tuple[str, dict[str, Any]]:
        """A call where no list says what is legal: something with a card in sight, and soon the end of the turn."""
        if self.refusals >= 2 or not self.cards or rng.random() < 0.2:
            return self.call_for([Offer("pass", "")])
        card = rng.choice(self.cards)
        kind = rng.choice((f"bench:{card}", f"attach:{card}>active", f"play:{card}", f"evolve:{card}>active"))
        return self.call_for([Offer(kind, "")])

    def fill(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Of ``given`` what the tool takes: its key argument alone where it has one, else the others."""
        takes = self.tools.get(name)
        if takes is None:
            return {key: value for key, value in given.items() if key not in _KEY_ARGUMENTS[1:]}
        short = next((key for key in _KEY_ARGUMENTS if key in takes and key in given), None)
        return {key: value for key, value in given.items() if key == short or (short is None and key in takes)}


def read_situation(body: Mapping[str, Any]) -> Situation:
    """What the request ``body`` asks of a player."""
    messages = body["messages"]
    newest = max((i for i, message in enumerate(messages) if message.get("role") == "user"), default=0)
    text = _text(messages[newest]) if messages else ""
    later = messages[newest + 1 :]
    called = [call.get("function", {}).get("name") for message in later for call in message.get("tool_calls") or ()]
    offers = tuple(_offers(text))
    return Situation(
        offers=offers,
        least=_number_of(text, "least"),
        most=_number_of(text, "most"),
        cards=tuple(dict.fromkeys(_CARD.findall(text))),
        refusals=sum(message.get("role") == "tool" for message in later),
        queried=any(name in _QUERIES for name in called),
        tools=dict(_tools(body.get("tools") or ())),
    )


def _offers(text: str) -> Iterator[Offer]:
    """The actions that the newest list in ``text`` names, as JSON or a line each."""
    start = text.rfind(LIST_NAME)
    if start < 0:
        return
    rest = text[start + len(LIST_NAME) :]
    opening = rest.find("[")
    if 0 <= opening <= 20:
        try:
            entries, _ = _DECODER.raw_decode(rest, opening)
        except ValueError:
            entries = []
        yield from filter(None, map(_offer, entries))
        return
    for match in _LINE.finditer(rest):
        yield Offer(match[1].strip(), match[2].strip())


def _offer(entry: Any) -> Offer | None:
    if isinstance(entry, Mapping):
        key = next((entry[name] for name in _KEY_ARGUMENTS if isinstance(entry.get(name), str)), None)
        if key is None:
            return None
        tool = entry.get("tool")
        return Offer(key, json.dumps(entry), tool if isinstance(tool, str) else None)
    match = _LINE.match(entry) if isinstance(entry, str) else None
    return Offer(match[1].strip(), match[2].strip()) if match else None


def _parts(key: str) -> dict[str, Any]:
    """An action's key taken apart into the arguments that tools have."""
    kind, _, rest = key.partition(":") if ":" in key else key.partition(">")
    card, _, target = rest.partition(">")
    name, _, place = card.partition("@")
    return {
        "source_card": card if kind != "ability" else place,
        "target_card": target,
        "position": "bench",
        "attack_name": name,
        "ability_name": name,
    }


def _number_of(text: str, name: str) -> int:
    match = re.search(rf'"?\b{name}\b"?\s*[:=]?\s*(\d+)', text)
    return int(match[1]) if match else 0


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _tools(tools: Sequence[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for tool in tools:
        function = tool.get("function", {}) if isinstance(tool, Mapping) else {}
        if isinstance(function.get("name"), str):
            yield function["name"], (function.get("parameters") or {}).get("properties") or {}
