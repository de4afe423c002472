"""What becomes of a reply: its calls in turn, each answered, the first action played if it is legal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.base import Attempt
from agents.llm.causes import INVALID, Cause, Refused, Verdict
from agents.llm.protocol import Reading, Wish
from agents.llm.queries import answer
from agents.llm.resolve import resolve
from agents.llm.skills import SkillLibrary
from agents.llm.texts import (
    NO_CALL_TEXTS,
    NOT_EXECUTED,
    QUERIES_SPENT,
    cut_arguments,
    played_text,
    unknown_tool,
    unreadable_arguments,
)
from agents.llm.tools import BY_NAME, SKILL_TOOL, tool_of
from engine.ptcg.actions import PtcgAction
from engine.ptcg.observation import PtcgObservation

_KEPT_ARGUMENTS = 2000
_UNNAMED = "unnamed"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A reply judged: the answers to its calls in order, what was played, and each call for the record.

    ``verdict`` and ``cause`` are those of the call in it that matters most.
    """

    texts: tuple[str, ...]
    log: tuple[Attempt, ...]
    verdict: Verdict
    cause: Cause | None
    played: tuple[PtcgAction, ...] | None = None

    @property
    def is_failure(self) -> bool:
        """Whether the reply was one of those without a legal action that a decision may have only so many of."""
        return self.verdict in INVALID or self.cause is Cause.QUERY_LIMIT


class Table:
    """One decision as it lies on the table: what is legal, and whether the model is told (``listed``)."""

    def __init__(
        self,
        observation: PtcgObservation,
        legal: Sequence[PtcgAction],
        listed: bool,
        query_limit: int,
        skills: SkillLibrary | None,
    ) -> None:
        self._observation = observation
        self._legal = legal
        self._listed = listed
        self._query_limit = query_limit
        self._skills = skills

    def judge(self, reading: Reading, queries: int) -> Judgement:
        """Go through the calls of a reply to a decision in which ``queries`` queries have been made."""
        if not reading.wishes:
            assert reading.cause is not None
            attempt = _attempt("", reading.excerpt, Verdict.UNREADABLE, reading.cause)
            return Judgement((NO_CALL_TEXTS[reading.cause],), (attempt,), Verdict.UNREADABLE, reading.cause)
        texts: list[str] = []
        log: list[Attempt] = []
        played: tuple[PtcgAction, ...] | None = None
        acted = False
        for wish in reading.wishes:
            if self._is_query(wish):
                text, attempt = self._query(wish, queries)
                queries += 1
            elif acted:
                text, attempt = NOT_EXECUTED, _of(wish, Verdict.NOT_EXECUTED, Cause.AFTER_AN_ACTION)
            elif wish.key is None and not self._has(wish.tool):
                text, attempt = unknown_tool(wish.tool), _of(wish, Verdict.REFUSED, Cause.UNKNOWN_TOOL)
            else:
                acted = True
                text, attempt, played = self._act(wish, reading.cut)
            texts.append(text)
            log.append(attempt)
        log += [_attempt(name or _UNNAMED, "", Verdict.NOT_EXECUTED, Cause.TOO_MANY_CALLS) for name in reading.unread]
        heaviest = min(log, key=lambda attempt: _ORDER.index(Verdict(attempt.verdict)))
        cause = None if heaviest.cause is None else Cause(heaviest.cause)
        return Judgement(tuple(texts), tuple(log), Verdict(heaviest.verdict), cause, played)

    def _has(self, tool: str) -> bool:
        return tool in BY_NAME and (tool != SKILL_TOOL or self._skills is not None)

    def _is_query(self, wish: Wish) -> bool:
        return wish.key is None and self._has(wish.tool) and BY_NAME[wish.tool].query

    def _query(self, wish: Wish, queries: int) -> tuple[str, Attempt]:
        if queries >= self._query_limit:
            return QUERIES_SPENT, _of(wish, Verdict.QUERY_REFUSED, Cause.QUERY_LIMIT)
        try:
            if wish.arguments is None:
                raise Refused(Cause.MALFORMED_JSON, unreadable_arguments(wish.written))
            text = answer(BY_NAME[wish.tool], wish.arguments, self._observation, self._skills)
        except Refused as refused:
            return str(refused), _of(wish, Verdict.QUERY_REFUSED, refused.cause)
        return text, _of(wish, Verdict.ANSWERED, None)

    def _act(self, wish: Wish, cut: bool) -> tuple[str, Attempt, tuple[PtcgAction, ...] | None]:
        nothing_yet = cut and wish.key is None and not wish.written.strip() and bool(BY_NAME[wish.tool].required)
        if wish.arguments is None or nothing_yet:
            text = cut_arguments() if cut else unreadable_arguments(wish.written)
            return text, _of(wish, Verdict.UNREADABLE, Cause.CUT if cut else Cause.MALFORMED_JSON), None
        try:
            played = self._resolved(wish)
        except Refused as refused:
            return str(refused), _of(wish, Verdict.REFUSED, refused.cause), None
        attempt = _attempt(wish.tool if wish.key is None else tool_of(played[0]), wish.written, Verdict.PLAYED, None)
        return played_text(played), attempt, played

    def _resolved(self, wish: Wish) -> tuple[PtcgAction, ...]:
        if wish.key is None:
            assert wish.arguments is not None
            return resolve(BY_NAME[wish.tool], wish.arguments, self._observation, self._legal, self._listed)
        for action in self._legal:
            if action.key == wish.key.strip():
                return (action,)
        raise Refused(Cause.ILLEGAL_ACTION, f"Not legal now: {wish.key[:200]}")


_ORDER = (
    Verdict.PLAYED,
    Verdict.REFUSED,
    Verdict.UNREADABLE,
    Verdict.ANSWERED,
    Verdict.QUERY_REFUSED,
    Verdict.NOT_EXECUTED,
)
"""Of several calls in a reply the first of these verdicts is the reply's."""


def _of(wish: Wish, verdict: Verdict, cause: Cause | None) -> Attempt:
    return _attempt(wish.tool or _UNNAMED, wish.written, verdict, cause)


def _attempt(tool: str, written: str, verdict: Verdict, cause: Cause | None) -> Attempt:
    return Attempt(tool[:64], written[:_KEPT_ARGUMENTS], verdict.value, None if cause is None else cause.value)
