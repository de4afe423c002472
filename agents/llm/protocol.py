"""How a conversation is written for a model, and a reply read: with the API's tool calls, or as JSON in plain text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from agents.llm.causes import Cause
from agents.llm.contract import ChatReply
from agents.llm.replies import clean_json

Message = dict[str, Any]

MOST_CALLS: Final = 16
"""How many calls of one reply are looked at."""
_KEPT_TEXT: Final = 8000
_EXCERPT: Final = 400
_MOST_PLACES: Final = 2000
"""How many opening braces of a text are tried."""
_NAME_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def _no_json(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_json)
"""Unlike ``json.loads`` it takes no NaN or Infinity: endpoints to which these are sent back do not either."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A tool call read from a reply: ``arguments`` is ``None`` where they could not be read; ``written`` is their text.

    ``key`` is set instead where the model gave the short key of an action.
    """

    id: str
    tool: str
    arguments: Mapping[str, Any] | None
    written: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply comes to: tool calls, or why there are none."""

    wishes: tuple[Wish, ...]
    thought: str | None
    cause: Cause | None = None
    excerpt: str = ""
    cut: bool = False
    unread: tuple[str, ...] = ()
    """The tools of calls that are not looked at, being more than :data:`MOST_CALLS`."""

    @property
    def count(self) -> int:
        """How many calls there were."""
        return len(self.wishes) + len(self.unread)


class ToolProtocol(Protocol):
    """One of the two ways in which a model calls tools."""

    def read(self, reply: ChatReply) -> Reading:
        """The calls of a reply, their ids unique among all that were read."""
        ...

    def echo(self, reply: ChatReply, reading: Reading, thoughts: Mapping[str, Any]) -> Message:
        """The reply as the assistant's message of later requests."""
        ...

    def answers(self, reading: Reading, texts: Sequence[str]) -> list[Message]:
        """The messages that answer the calls of ``reading``, or the reply as a whole, with ``texts``."""
        ...


class ToolCalls:
    """The API's own tool calls."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def read(self, reply: ChatReply) -> Reading:
        """The calls of a reply; ids that are missing or were used before are replaced."""
        thought = _thought(reply.content, reply)
        cut = reply.finish_reason == "length"
        wishes = []
        for call in reply.tool_calls[:MOST_CALLS]:
            wishes.append(Wish(self._unique(call.id), call.name, _arguments(call.arguments), call.arguments))
        if wishes:
            more = tuple(call.name for call in reply.tool_calls[MOST_CALLS:])
            return Reading(tuple(wishes), thought, cut=cut, unread=more)
        return Reading((), thought, _why_nothing(reply, Cause.NO_TOOL_CALL), reply.content[:_EXCERPT], cut)

    def _unique(self, given: str) -> str:
        made, number = given, len(self._used)
        while not made or made in self._used:
            made, number = f"call_{number}", number + 1
        self._used.add(made)
        return made

    def echo(self, reply: ChatReply, reading: Reading, thoughts: Mapping[str, Any]) -> Message:
        """Only what every endpoint takes: arguments that are no JSON object are left out, as are empty texts."""
        content = kept(reply.content)
        if not reading.wishes:
            return {"role": "assistant", "content": content or kept(reply.refusal or "") or "(no reply)", **thoughts}
        calls = [
            {
                "id": wish.id,
                "type": "function",
                "function": {
                    "name": _sound_name(wish.tool),
                    "arguments": _sound_arguments(wish),
                },
            }
            for wish in reading.wishes
        ]
        return {"role": "assistant", "content": content or None, "tool_calls": calls, **thoughts}

    def answers(self, reading: Reading, texts: Sequence[str]) -> list[Message]:
        """A tool message for each call, or a user message where there was none."""
        if not reading.wishes:
            return [{"role": "user", "content": "\n".join(texts)}]
        return [
            {"role": "tool", "tool_call_id": wish.id, "content": text}
            for wish, text in zip(reading.wishes, texts, strict=True)
        ]


class JsonText:
    """One JSON object in the text: ``{"thought", "call": {"tool", "arguments"}}`` or ``{"thought", "action"}``."""

    def read(self, reply: ChatReply) -> Reading:
        """The calls found in the text, wherever in it they stand."""
        cut = reply.finish_reason == "length"
        objects = list(_objects(reply.content))
        found = [wish for value in objects for wish in _wishes(value)]
        thoughts = [_text(value.get("thought")) for value in objects]
        said = next((text for text in thoughts if text), "")
        thought = _thought(said or ("" if found else reply.content), reply)
        if found:
            more = tuple(wish.tool for wish in found[MOST_CALLS:])
            return Reading(tuple(found[:MOST_CALLS]), thought, cut=cut, unread=more)
        nothing = Cause.MALFORMED_JSON if "{" in reply.content else Cause.NO_TOOL_CALL
        return Reading((), thought, _why_nothing(reply, nothing), reply.content[:_EXCERPT], cut)

    def echo(self, reply: ChatReply, reading: Reading, thoughts: Mapping[str, Any]) -> Message:
        """The text as it was."""
        return {
            "role": "assistant",
            "content": kept(reply.content) or kept(reply.refusal or "") or "(no reply)",
            **thoughts,
        }

    def answers(self, reading: Reading, texts: Sequence[str]) -> list[Message]:
        """One user message."""
        return [{"role": "user", "content": "\n\n".join(texts)}]


def kept(text: str) -> str:
    """``text`` as it is kept in the conversation: without outer space, the middle of a very long one left out."""
    text = text.strip()
    if len(text) <= _KEPT_TEXT:
        return text
    half = _KEPT_TEXT // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def _thought(said: str, reply: ChatReply) -> str | None:
    return said.strip() or (reply.reasoning or "").strip() or None


def _why_nothing(reply: ChatReply, otherwise: Cause) -> Cause:
    if reply.refusal or reply.finish_reason == "content_filter":
        return Cause.REFUSAL
    if reply.finish_reason == "length":
        return Cause.CUT
    return otherwise if reply.content.strip() else Cause.EMPTY_REPLY


def _arguments(written: str) -> Mapping[str, Any] | None:
    if not written.strip():
        # What endpoints send for a tool without arguments.
        return {}
    try:
        value = _DECODER.decode(written)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _sound_name(name: str) -> str:
    return "".join(letter if letter in _NAME_CHARACTERS else "_" for letter in name[:64]) or "unnamed"


def _sound_arguments(wish: Wish) -> str:
    return "{}" if not wish.arguments or len(wish.written) > _KEPT_TEXT else wish.written


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Every JSON object in ``text`` that is not part of another one."""
    text = clean_json(text)
    place = text.find("{")
    for _ in range(_MOST_PLACES):
        if place < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            place = text.find("{", place + 1)
            continue
        if isinstance(value, dict):
            yield value
        place = text.find("{", end)


def _wishes(value: Mapping[str, Any]) -> Iterator[Wish]:
    call = value.get("call", value)
    if isinstance(call, list):
        for one in call:
            yield from _wishes({"call": one})
        return
    if not isinstance(call, dict):
        if isinstance(value.get("call"), str):
            yield Wish("", value["call"], _given(value.get("arguments", {})), _written(value.get("arguments", {})))
        return
    tool = call.get("tool", call.get("name"))
    key = call.get("action", value.get("action"))
    if isinstance(tool, str):
        arguments = call.get("arguments", {})
        yield Wish("", tool, _given(arguments), _written(arguments))
    elif isinstance(key, str):
        yield Wish("", "action", {}, _written({"action": key}), key)


def _given(arguments: Any) -> Mapping[str, Any] | None:
    if isinstance(arguments, str):
        return _arguments(arguments)
    return arguments if isinstance(arguments, dict) else None


def _written(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    try:
        return json.dumps(arguments, ensure_ascii=False)
    except RecursionError:
        return "{}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
