"""What can go wrong with a call, on order: in the endpoint, or in what the model answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ServerFault(StrEnum):
    """What an endpoint does instead of answering."""

    RATE_LIMITED = "rate_limited"
    """429, with Retry-After where an argument gives its seconds."""
    BURST = "burst"
    """429 for this and every request of as many seconds as the argument says (1), with Retry-After."""
    SILENT_BURST = "silent_burst"
    """The same without Retry-After."""
    OVERLOADED = "overloaded"
    """529."""
    UNAVAILABLE = "unavailable"
    """503, with Retry-After where an argument gives its seconds."""
    SERVER_ERROR = "server_error"
    """500."""
    STALL = "stall"
    """Nothing for as many seconds as the argument says (3600), then a closed connection."""
    DROPPED = "dropped"
    """The connection is closed without a word."""
    HALF_REPLY = "half_reply"
    """The connection is closed in the middle of a reply."""
    NOT_JSON = "not_json"
    """200 with a page of HTML."""
    ERROR_IN_REPLY = "error_in_reply"
    """200 with an error in place of choices."""
    QUOTA_EXHAUSTED = "quota_exhausted"
    """429 that waiting does not cure."""
    NO_CREDITS = "no_credits"
    """402."""
    AUTHENTICATION = "authentication"
    """401."""
    MODEL_NOT_FOUND = "model_not_found"
    """404."""
    BAD_REQUEST = "bad_request"
    """400."""
    CONTEXT_OVERFLOW = "context_overflow"
    """400 that says that the request is too long."""


class ModelFault(StrEnum):
    """What a model answers instead of one good call."""

    MALFORMED_JSON = "malformed_json"
    """Arguments that are cut off."""
    WRONG_TYPE = "wrong_type"
    """Arguments of a wrong type."""
    UNKNOWN_TOOL = "unknown_tool"
    SEVERAL_CALLS = "several_calls"
    """A query and two game actions in one reply."""
    EMPTY = "empty"
    """Neither text nor a call."""
    PROSE = "prose"
    """Text without a call."""
    REFUSAL = "refusal"
    CUT = "cut"
    """Ended at the token limit before the call."""
    SURROGATES = "surrogates"
    """A good call, lone surrogates and NUL in its text and thoughts."""
    LONG_REASONING = "long_reasoning"
    """A good call after 100 kB of thoughts."""
    WRONG_IDS = "wrong_ids"
    """Two calls with one id."""
    NO_IDS = "no_ids"
    """A call without an id."""
    NO_USAGE = "no_usage"
    """A good call, but no count of tokens."""


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of one request: a fault with an argument in seconds, or a good answer (``fault`` is ``None``)."""

    fault: ServerFault | ModelFault | None = None
    argument: float | None = None


def parse_script(text: str) -> tuple[Step, ...]:
    """Steps from text: ``rate_limited*2:1.5,stall:30,ok,empty`` is two 429 with Retry-After, a stall, two answers.

    Raises ``ValueError`` with one line.
    """
    steps: list[Step] = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        body, _, argument = word.partition(":")
        name, _, count = body.partition("*")
        try:
            seconds = float(argument) if argument else None
            times = int(count) if count else 1
        except ValueError:
            raise ValueError(f"{word!r} is not NAME, NAME*COUNT or NAME:SECONDS") from None
        steps += [Step(None if name == "ok" else fault_named(name), seconds)] * times
    return tuple(steps)


def fault_named(name: str) -> ServerFault | ModelFault:
    """The fault of that name. Raises ``ValueError`` that lists all."""
    if name in list(ServerFault):
        return ServerFault(name)
    if name in list(ModelFault):
        return ModelFault(name)
    raise ValueError(f"{name!r} is no fault; known: ok, {', '.join([*ServerFault, *ModelFault])}")
