"""From a tool call to the action of the engine that it asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agents.llm.alike import alike
from agents.llm.causes import Cause, Refused
from agents.llm.naming import plain, same_name
from agents.llm.selection import selection
from agents.llm.tools import Tool, tool_of
from engine.ptcg.actions import NOWHERE, ActionKind, PtcgAction, place_key
from engine.ptcg.card import CARDS
from engine.ptcg.observation import UNKNOWN, PtcgObservation

Arguments = Mapping[str, Any]

_JSON_TYPES = {"string": "text", "integer": "a whole number", "array": "a list", "null": "null"}
_SHOWN_KEYS = 12
_SHOWN_CHARACTERS = 300


def check_arguments(tool: Tool, arguments: Arguments) -> None:
    """Raises :class:`Refused` where an argument that ``tool`` needs is missing or one has the wrong type."""
    for name, schema in tool.arguments.items():
        value = arguments.get(name)
        if value is None:
            if name in tool.required:
                needed = ", ".join(tool.required)
                raise Refused(Cause.MISSING_ARGUMENT, f"{tool.name} needs {needed}; {name} is missing.")
            continue
        _check(f"{tool.name}.{name}", value, schema)


def _check(name: str, value: Any, schema: Mapping[str, Any]) -> None:
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(_is(value, kind) for kind in types):
        wanted = " or ".join(_JSON_TYPES[kind] for kind in types)
        raise Refused(Cause.WRONG_TYPE, f"{name} must be {wanted}, not {type(value).__name__}.")
    if "enum" in schema and value not in schema["enum"]:
        raise Refused(Cause.WRONG_TYPE, f"{name} must be one of {', '.join(schema['enum'])}.")
    if isinstance(value, list):
        for item in value:
            _check(f"each entry of {name}", item, schema["items"])


def _is(value: Any, kind: str) -> bool:
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str) if kind == "string" else isinstance(value, list) and kind == "array"


def resolve(
    tool: Tool, arguments: Arguments, observation: PtcgObservation, legal: Sequence[PtcgAction], listed: bool
) -> tuple[PtcgAction, ...]:
    """The legal action, or the picks of one choice, that the call of ``tool`` asks for.

    Raises :class:`Refused`; what that says names legal actions only where they are ``listed`` for the model anyway.
    """
    check_arguments(tool, arguments)
    choosing = observation.known.prompt is not None
    if tool.name == "choose_card":
        return selection(observation, arguments["chosen_cards"], listed)
    if choosing and not _sets_up_active(tool, arguments, observation):
        raise Refused(Cause.ILLEGAL_ACTION, "A choice has to be made first; answer it with choose_card.")
    if choosing:
        return selection(observation, [arguments["source_card"]], listed)
    fitting = _fitting(tool, arguments, observation, legal)
    if not fitting:
        raise Refused(Cause.ILLEGAL_ACTION, _not_legal(tool, arguments, legal, listed))
    if any(not alike(observation, fitting[0], other) for other in fitting[1:]):
        raise Refused(Cause.AMBIGUOUS, _which(tool, fitting, listed))
    return (fitting[0],)


def _sets_up_active(tool: Tool, arguments: Arguments, observation: PtcgObservation) -> bool:
    """Whether the call puts a Pokémon into the Active Spot where just that is being asked for."""
    return (
        tool.name == "play_pokemon"
        and arguments["position"] == "active"
        and observation.known.turn == 0
        and observation.you.active is None
        and all(isinstance(item, int) for item in observation.known.prompt.items)  # type: ignore[union-attr]
    )


def _fitting(
    tool: Tool, arguments: Arguments, observation: PtcgObservation, legal: Sequence[PtcgAction]
) -> list[PtcgAction]:
    own = [action for action in legal if tool_of(action) == tool.name]
    source = plain(str(arguments.get("source_card", "")))
    by_key = [action for action in own if source and source == plain(action.key)]
    if by_key:
        return by_key
    if arguments.get("position") == "active":
        return []
    return [action for action in own if _fits(action, source, arguments, observation)]


def _fits(action: PtcgAction, source: str, arguments: Arguments, observation: PtcgObservation) -> bool:
    kind = action.kind
    if kind is ActionKind.PASS:
        return True
    if kind in (ActionKind.BENCH, ActionKind.EVOLVE, ActionKind.ATTACH, ActionKind.PLAY):
        return (
            _is_card(source, action.card)
            and _is_in_hand(action, arguments.get("source_index"), observation)
            and (action.place == NOWHERE or _is_target(action, arguments))
        )
    if kind is ActionKind.STADIUM:
        return _is_card(source, action.card)
    active = observation.you.active
    own_active = active is not None and (_is_card(source, active.cards[-1]) or source == "active")
    if kind is ActionKind.ATTACK:
        named = plain(arguments["attack_name"]) == plain(action.detail)
        return named and (own_active or _is_card(source, action.card))
    if kind is ActionKind.ABILITY:
        return _is_ability(action, source, arguments, observation)
    return own_active and _is_target(action, arguments)


def _is_card(said: str, card: int) -> bool:
    return card != UNKNOWN and same_name(said, CARDS[card])


def _is_in_hand(action: PtcgAction, index: int | None, observation: PtcgObservation) -> bool:
    hand = observation.you.hand
    return index is None or (0 <= index < len(hand) and hand[index] == action.card)


def _is_target(action: PtcgAction, arguments: Arguments) -> bool:
    said, index = arguments.get("target_card"), arguments.get("target_index")
    if index is not None and index != action.place:
        return False
    if said is None:
        return True
    name = plain(said)
    place = place_key(action.place)
    return name == place or _is_card(name.removesuffix(f"@{place}").strip(), action.target)


def _is_ability(action: PtcgAction, source: str, arguments: Arguments, observation: PtcgObservation) -> bool:
    name, index = arguments.get("ability_name"), arguments.get("source_index")
    if (name is not None and plain(name) != plain(action.detail)) or (index is not None and index != action.place):
        return False
    player = observation.you
    holder = player.active if action.place == 0 else player.bench[action.place - 1]
    return (
        _is_card(source, action.card)
        or source == place_key(action.place)
        or (holder is not None and _is_card(source, holder.cards[-1]))
    )


def _not_legal(tool: Tool, arguments: Arguments, legal: Sequence[PtcgAction], listed: bool) -> str:
    said = ", ".join(f"{name}={value!r}" for name, value in arguments.items() if value is not None)
    text = f"Not legal now: {tool.name}({said[:_SHOWN_CHARACTERS]})."
    if not listed:
        return text
    own = [action.key for action in legal if tool_of(action) == tool.name]
    if not own:
        return f"{text} No action of {tool.name} is legal now; see available_actions."
    more = "" if len(own) <= _SHOWN_KEYS else " …"
    return f"{text} Legal with {tool.name}: {', '.join(own[:_SHOWN_KEYS])}{more}"


def _which(tool: Tool, fitting: Sequence[PtcgAction], listed: bool) -> str:
    told = [name for name in ("target_card", "target_index", "source_index", "ability_name") if name in tool.arguments]
    text = f"Several actions fit that. Say which one is meant by {', '.join(told) or 'its exact name'}."
    return f"{text} They are: {', '.join(action.key for action in fitting[:_SHOWN_KEYS])}" if listed else text
