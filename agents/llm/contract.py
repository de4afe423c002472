"""What passes between the harness, which thinks up requests and reads replies, and whatever makes the calls.

The harness knows neither HTTP nor limits nor journals: it is given a :class:`Caller`. A worker's caller looks the
call up in the run's journal first, waits for the account's limits, has the client make the call, and commits the
reply before it returns it; so a game that is played again after a crash gets the replies it already paid for.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call of a reply; ``arguments`` is the model's text, JSON if it kept to the schema."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server reports them; ``cached`` are among ``input``, ``reasoning`` among ``output``."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A chat completion to ask for: the body of the request, without anything that names an account."""

    model: str
    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    """Everything else in the body: temperature, max_tokens, tool_choice, response_format, reasoning …"""

    def body(self) -> dict[str, Any]:
        """The JSON body of the HTTP request."""
        body: dict[str, Any] = {"model": self.model, "messages": list(self.messages), **self.parameters}
        if self.tools:
            body["tools"] = list(self.tools)
        return body

    def digest(self) -> str:
        """32 hexadecimal digits, equal for equal bodies."""
        text = json.dumps(self.body(), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return blake2b(text.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back, cleaned once on the way in (lone surrogates, NUL: ``cleaned``), and what it took.

    ``raw`` is the reply's body as text, from which all else of the model's answer can be read again. Times are
    seconds: ``latency`` of the call that succeeded, ``queued`` waiting for limits and between retries. ``cost_usd``
    is US dollars.
    ``usage_estimated`` is true where the server reported no usage, so that tokens and cost are estimates.
    """

    content: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    usage: Usage
    reasoning: str | None = None
    refusal: str | None = None
    raw: str = ""
    cleaned: bool = False
    latency: float = 0.0
    queued: float = 0.0
    retries: int = 0
    cost_usd: float = 0.0
    usage_estimated: bool = False

    def to_json(self) -> dict[str, Any]:
        """All fields as plain JSON values, for the journal."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> ChatReply:
        """The reply that :meth:`to_json` wrote."""
        calls = tuple(ToolCall(**call) for call in stored["tool_calls"])
        return cls(**{**stored, "tool_calls": calls, "usage": Usage(**stored["usage"])})


class FailureKind(StrEnum):
    """Why a call failed for good (after the retries that its kind allows)."""

    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    CONNECTION = "connection"
    TIME_OUT = "time_out"
    BAD_REQUEST = "bad_request"
    CONTEXT_OVERFLOW = "context_overflow"
    AUTHENTICATION = "authentication"
    MODEL_NOT_FOUND = "model_not_found"
    QUOTA_EXHAUSTED = "quota_exhausted"
    BUDGET = "budget"


class CallFailed(Exception):
    """A call that gave no reply. ``kind`` says why; the text never holds a key.

    The harness handles ``CONTEXT_OVERFLOW`` (history is cut, one more try). Everything else passes through it: a
    provider's failure is never an invalid action of the model, and it is the caller's owner who voids the game or
    pauses the model. ``unanswered`` is for how many seconds it was tried in vain.
    """

    def __init__(self, kind: FailureKind, message: str, retries: int = 0, unanswered: float = 0.0) -> None:
        super().__init__(message)
        self.kind = kind
        self.retries = retries
        self.unanswered = unanswered

    def __reduce__(self) -> tuple[type[CallFailed], tuple[FailureKind, str, int, float]]:
        # An exception is pickled by what it gave its base class, which is not what it is made from.
        return CallFailed, (self.kind, str(self), self.retries, self.unanswered)


@dataclass(frozen=True, slots=True, order=True)
class CallKey:
    """Which call of a game and seat: the number of the decision (of this seat, from 0) and of the call in it."""

    decision: int
    call: int


class Caller(Protocol):
    """Makes the calls of one agent in one game."""

    async def __call__(self, key: CallKey, request: ChatRequest) -> ChatReply:
        """The reply, new or from the journal. Raises :class:`CallFailed`."""
        ...
