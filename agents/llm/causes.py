"""The words by which replies and tool calls are counted: verdicts and causes of the tables of a run."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What became of a tool call, or of a reply as a whole."""

    PLAYED = "played"
    """A legal action, carried out."""
    REFUSED = "refused"
    """An action attempt that was readable but not to be played."""
    UNREADABLE = "unreadable"
    """An action attempt from which no tool call could be read."""
    ANSWERED = "answered"
    """A query that was answered."""
    QUERY_REFUSED = "query_refused"
    """A query that could not be answered, or was one too many; no action attempt."""
    NOT_EXECUTED = "not_executed"
    """An action after the first one of its reply, or a call after so many; no action attempt."""
    STOPPED = "stopped"
    """The decision reached one of its bounds (the cause) and was left to the fallback; no action attempt."""


INVALID = (Verdict.REFUSED, Verdict.UNREADABLE)
"""The verdicts that make an action attempt an invalid one."""
ATTEMPTS = (Verdict.PLAYED, *INVALID)
"""The verdicts of action attempts."""


class Cause(StrEnum):
    """Why an attempt or query was not accepted, or which bound stopped a decision."""

    EMPTY_REPLY = "empty_reply"
    REFUSAL = "refusal"
    CUT = "cut_at_token_limit"
    NO_TOOL_CALL = "no_tool_call"
    MALFORMED_JSON = "malformed_json"
    UNKNOWN_TOOL = "unknown_tool"
    MISSING_ARGUMENT = "missing_argument"
    WRONG_TYPE = "wrong_type"
    ILLEGAL_ACTION = "illegal_action"
    AMBIGUOUS = "ambiguous"
    UNKNOWN_CARD = "unknown_card"
    UNKNOWN_SKILL = "unknown_skill"
    QUERY_LIMIT = "query_limit"
    AFTER_AN_ACTION = "after_an_action"
    TOO_MANY_CALLS = "too_many_calls"
    ATTEMPT_LIMIT = "attempt_limit"
    TOKEN_LIMIT = "token_limit"
    TIME_LIMIT = "time_limit"


class Refused(Exception):
    """A tool call that is not carried out: ``cause``, and as text what the model is told."""

    def __init__(self, cause: Cause, text: str) -> None:
        super().__init__(text)
        self.cause = cause
