"""The body of a chat completion read into what the harness understands, whatever an endpoint calls its fields."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from agents.llm.contract import ChatReply, ToolCall, Usage

REASONING_FIELDS = ("reasoning", "reasoning_content", "reasoning_details")
"""Where endpoints put a model's thoughts, in the order in which they are looked for."""

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_UNSAVEABLE = re.compile("[\ud800-\udfff\x00]")
# An escaped backslash is passed over whole, so that what follows it is not taken for an escape.
_ESCAPES = re.compile(r"\\\\|\\u(?:d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(d[89a-f][0-9a-f]{2}|0000))", re.IGNORECASE)
_THOUGHT = re.compile(r"\s*<think>(.*?)(?:</think>\s*|\Z)", re.DOTALL)


class MalformedReply(ValueError):
    """A reply's body is no chat completion."""


class ReplyError(Exception):
    """A reply's body says that the call failed after all; ``error`` is what it says."""

    def __init__(self, error: Any) -> None:
        super().__init__("the reply holds an error")
        self.error = error


def clean(text: str) -> str:
    """``text`` with lone surrogates and NUL, which neither UTF-8 nor databases take, replaced by U+FFFD."""
    return _UNSAVEABLE.sub(REPLACEMENT, text) if _UNSAVEABLE.search(text) else text


def clean_json(text: str) -> str:
    """JSON text without such characters, those written as escapes (``\\ud800``, ``\\u0000``) included."""

    def replacement(match: re.Match[str]) -> str:
        return "\\ufffd" if match[1] else match[0]

    return clean(_ESCAPES.sub(replacement, text) if "\\" in text else text)


def load_body(raw: str) -> dict[str, Any]:
    """The JSON object that the text ``raw`` holds. Raises :class:`MalformedReply`."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise MalformedReply("the reply is not JSON") from None
    if not isinstance(body, dict):
        raise MalformedReply("the reply is no JSON object")
    return body


def parse_reply(body: Mapping[str, Any], raw: str) -> ChatReply:
    """The reply whose body is ``body``, written ``raw``; times, retries and cost are left at 0.

    Where the endpoint reports no usage it is 0 and ``usage_estimated`` is true. Raises :class:`MalformedReply` and
    :class:`ReplyError`.
    """
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        if body.get("error"):
            raise ReplyError(body["error"])
        raise MalformedReply("the reply has no choices")
    choice = choices[0]
    if choice.get("error") and choice.get("finish_reason") in ("error", None):
        raise ReplyError(choice["error"])
    message = choice.get("message")
    if not isinstance(message, dict):
        raise MalformedReply("the reply has no message")
    content, thought = _text(message.get("content")), _reasoning(message)
    if thought is None and (match := _THOUGHT.match(content)):
        thought, content = match[1].strip(), content[match.end() :]
    refusal = message.get("refusal")
    told = [content, thought or "", refusal if isinstance(refusal, str) else ""]
    calls = tuple(_tool_calls(message))
    kept = tuple(ToolCall(clean(call.id), clean(call.name), clean_json(call.arguments)) for call in calls)
    usage = parse_usage(body.get("usage"))
    return ChatReply(
        content=clean(content),
        tool_calls=kept,
        finish_reason=clean(str(choice.get("finish_reason") or "")),
        usage=usage or Usage(),
        reasoning=clean(thought) if thought else None,
        refusal=clean(refusal) if isinstance(refusal, str) and refusal else None,
        raw=clean(raw),
        usage_estimated=usage is None,
        cleaned=kept != calls or any(map(_UNSAVEABLE.search, [*told, raw])),
    )


def parse_usage(usage: Any) -> Usage | None:
    """Tokens as the endpoint reports them, or ``None`` where it reports none.

    Thinking that an endpoint counts in its total but not among the completion's tokens is output all the same.
    """
    if not isinstance(usage, Mapping) or "prompt_tokens" not in usage:
        return None
    into = usage.get("prompt_tokens_details")
    out = usage.get("completion_tokens_details")
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    reasoning = _count(out, "reasoning_tokens") or _count(usage, "reasoning_tokens")
    hidden = max(_count(usage, "total_tokens") - prompt - completion, 0)
    cached = (
        _count(into, "cached_tokens")
        or _count(usage, "prompt_cache_hit_tokens")
        or _count(usage, "cache_read_input_tokens")
        or _count(usage, "cached_tokens")
    )
    output = completion + hidden
    return Usage(prompt, output, min(cached, prompt), min(reasoning or hidden, output))


def reported_cost(body: Mapping[str, Any], field: str) -> float | None:
    """US dollars in the ``field`` of the usage in a reply's body, or ``None`` where there is no such number."""
    usage = body.get("usage")
    value = usage.get(field) if isinstance(usage, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value < float("inf") else None


def thoughts_to_send_back(raw: str, field: str) -> dict[str, Any]:
    """``{field: …}`` as the reply's body ``raw`` has it, to be put into the assistant's message; ``{}`` without it."""
    message = json.loads(raw)["choices"][0]["message"]
    value = message.get(field)
    return {field: _clean_value(value)} if value else {}


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_clean_value(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): _clean_value(item) for key, item in value.items()}
    return value


def _count(usage: Any, key: str) -> int:
    value = usage.get(key) if isinstance(usage, Mapping) else None
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 else 0


def _text(content: Any) -> str:
    """The text of a message, in one piece or in parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, (str, dict)))
    return "".join(text for text in texts if isinstance(text, str))


def _reasoning(message: Mapping[str, Any]) -> str | None:
    for name in REASONING_FIELDS:
        value = message.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list):
            parts = [part for part in value if isinstance(part, dict)]
            texts = [part[key] for part in parts for key in ("text", "summary") if isinstance(part.get(key), str)]
            if texts:
                return "".join(texts)
    return None


def _tool_calls(message: Mapping[str, Any]) -> Iterable[ToolCall]:
    """The calls of a message, each with an id of its own: a missing or repeated one is replaced."""
    calls = message.get("tool_calls")
    entries = calls if isinstance(calls, list) else []
    if not entries and isinstance(message.get("function_call"), dict):
        entries = [{"function": message["function_call"]}]
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        entry = entry if isinstance(entry, dict) else {}
        function = entry.get("function")
        function = function if isinstance(function, dict) else {}
        name, arguments, own = function.get("name"), function.get("arguments"), entry.get("id")
        identifier = own if isinstance(own, str) and own and own not in seen else f"call_{index}"
        while identifier in seen:
            identifier += "_"
        seen.add(identifier)
        if not isinstance(arguments, str):
            arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
        yield ToolCall(identifier, name if isinstance(name, str) else "", arguments)
