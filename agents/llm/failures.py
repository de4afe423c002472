"""Why an endpoint refused a call: what its status and words mean, whether to try again, and when."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from agents.llm.contract import FailureKind

MESSAGE_LENGTH = 500
"""Characters of an endpoint's own words that a failure carries."""

_OVERFLOW = re.compile(
    r"context[ _]length[ _]exceeded|context window|context length|context size|context limit|exceed_context"
    r"|maximum context|prompt is too long|input is too long|maximum prompt length|range of input length"
    r"|input token count.{0,40}exceeds|too large for model|reduce the length of the (messages|prompt|input)"
    r"|maximum model length|exceeded model token limit|too many (input |prompt )?tokens"
    r"|`inputs` tokens \+ `max_new_tokens`|string_above_max_length|request_too_large",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient[ _](quota|credits?|balance|funds)|credit balance|billing|out of credits|requires more credits"
    r"|quota[ _]exhausted|exceeded your current quota|arrearage|overdue|key limit exceeded"
    r"|(monthly|spending|usage) limit (exceeded|reached)|payment required",
    re.IGNORECASE,
)
_PASSING_QUOTA = re.compile(r"retry in \d|per[ -_]?(minute|second)|(requests|tokens)[ /]?(min|sec)", re.IGNORECASE)
_KEY = re.compile(r"api[ _-]?key|invalid[ _]token|unauthenticated|no auth credentials", re.IGNORECASE)
_MODEL = re.compile(
    r"model[ _]not[ _]found|not a valid model|(unknown|invalid|no such) model"
    r"|model\b.{0,80}\b(does not exist|not found)",
    re.IGNORECASE,
)
_FLAGGED = re.compile(r"moderation|flagged|content[ _]policy|content[ _]filter|safety", re.IGNORECASE)
_OVERLOADED = re.compile(r"overloaded|at capacity|no capacity|temporarily unavailable", re.IGNORECASE)

PASSING = frozenset(
    {
        FailureKind.RATE_LIMITED,
        FailureKind.OVERLOADED,
        FailureKind.SERVER_ERROR,
        FailureKind.CONNECTION,
        FailureKind.TIME_OUT,
    }
)
"""Kinds that may go away by themselves, and are tried again."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One attempt that gave no reply. ``retry_after`` is what the endpoint asks to wait, in seconds."""

    kind: FailureKind
    message: str
    retry_after: float | None = None

    @property
    def passing(self) -> bool:
        """Whether the call may be tried again."""
        return self.kind in PASSING


def failure_of(status: int, body: str, headers: Mapping[str, str], now: datetime | None = None) -> Failure:
    """What an HTTP error says; ``headers`` has lower-case names or ignores case."""
    words, message = _words(body)
    kind = _kind(status, words, "retry-after" in headers)
    return Failure(kind, f"HTTP {status}: {message}" if message else f"HTTP {status}", retry_after(headers, now))


def failure_in_reply(error: Any) -> Failure:
    """What an error inside a reply with status 200 says (``{"code": 502, "message": …}``, as gateways send it)."""
    code = error.get("code") if isinstance(error, Mapping) else None
    number = code if isinstance(code, int) and not isinstance(code, bool) else None
    if number is None and isinstance(code, str) and code.isdigit():
        number = int(code)
    status = number if number is not None and 400 <= number <= 599 else 502
    return failure_of(status, json.dumps({"error": error}), {})


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that the endpoint asks to wait, or ``None``: ``Retry-After`` (seconds or a date) or ``retry-after-ms``.

    Source: RFC 9110, section 10.2.3. A date is read against the reply's own ``Date``, so that clocks may differ.
    """
    in_ms = headers.get("retry-after-ms")
    text = headers.get("retry-after")
    try:
        if in_ms is not None:
            return _seconds(float(in_ms) / 1000)
        if text is None:
            return None
        return _seconds(float(text))
    except ValueError:
        pass
    date = _date(text)
    if date is None:
        return None
    return _seconds((date - (_date(headers.get("date")) or now or datetime.now(UTC))).total_seconds())


def _seconds(value: float) -> float | None:
    return max(value, 0.0) if value == value and value != float("inf") else None


def _date(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)


def _kind(status: int, words: str, says_when: bool) -> FailureKind:
    if status == 402:
        return FailureKind.QUOTA_EXHAUSTED
    if status == 429:
        passing = says_when or _PASSING_QUOTA.search(words)
        exhausted = "insufficient_quota" in words or (_QUOTA.search(words) and not passing)
        return FailureKind.QUOTA_EXHAUSTED if exhausted else FailureKind.RATE_LIMITED
    if status == 401:
        return FailureKind.AUTHENTICATION
    if status == 403:
        if _QUOTA.search(words):
            return FailureKind.QUOTA_EXHAUSTED
        return FailureKind.BAD_REQUEST if _FLAGGED.search(words) else FailureKind.AUTHENTICATION
    if status == 413 or _OVERFLOW.search(words):
        return FailureKind.CONTEXT_OVERFLOW
    if status == 404:
        return FailureKind.MODEL_NOT_FOUND
    if status in (503, 529) or (status >= 500 and _OVERLOADED.search(words)):
        return FailureKind.OVERLOADED
    if status in (408, 504):
        return FailureKind.TIME_OUT
    if status >= 500 or status in (409, 425):
        return FailureKind.SERVER_ERROR
    if _QUOTA.search(words):
        return FailureKind.QUOTA_EXHAUSTED
    if _MODEL.search(words):
        return FailureKind.MODEL_NOT_FOUND
    return FailureKind.AUTHENTICATION if _KEY.search(words) else FailureKind.BAD_REQUEST


def _words(body: str) -> tuple[str, str]:
    """All that an error's body says, for recognition, and its message in one short line."""
    try:
        content = json.loads(body)
    except ValueError:
        return body[:10_000], _line(re.sub(r"<[^>]*>", " ", body))
    # Some endpoints wrap their error into a list.
    if isinstance(content, list) and content:
        content = content[0]
    error = content.get("error", content) if isinstance(content, dict) else content
    if not isinstance(error, dict):
        return str(error)[:10_000], _line(str(error))
    told = [str(error[key]) for key in ("code", "type", "status", "message", "detail", "metadata") if error.get(key)]
    message = error.get("message") or error.get("detail") or error.get("type") or error.get("code") or ""
    metadata = error.get("metadata")
    if isinstance(metadata, dict) and metadata.get("raw"):
        message = f"{message} ({metadata['raw']})"
    return " ".join(told)[:10_000], _line(str(message))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MESSAGE_LENGTH else line[: MESSAGE_LENGTH - 1] + "…"
