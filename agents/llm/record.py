"""How a decision came about, call by call, as a run records it."""

from __future__ import annotations

from collections.abc import Sequence

from agents.base import Attempt, CallRecord, Decision
from agents.llm.causes import ATTEMPTS, INVALID, Cause, Verdict
from agents.llm.contract import ChatReply, ChatRequest
from agents.llm.protocol import Reading
from agents.llm.table import Judgement
from engine.match import Action


class Record:
    """Collects what one decision took and did."""

    def __init__(self, harness_digest: str) -> None:
        self._harness_digest = harness_digest
        self._calls: list[CallRecord] = []
        self._log: list[Attempt] = []
        self._tool_calls = 0
        self._asked = 0
        self.queries = 0

    def next_call(self) -> int:
        """The number of the next call, from 0; calls that failed count."""
        self._asked += 1
        return self._asked - 1

    @property
    def output_tokens(self) -> int:
        """Output tokens so far, thinking included."""
        return sum(call.output_tokens for call in self._calls)

    @property
    def seconds(self) -> float:
        """Seconds that the calls so far took, waiting left out."""
        return sum(call.latency_seconds for call in self._calls)

    def add(self, request: ChatRequest, reply: ChatReply, reading: Reading, judgement: Judgement) -> None:
        """One call with what became of its reply."""
        self._tool_calls += reading.count
        self._log.extend(judgement.log)
        self.queries += sum(attempt.verdict in _QUERIES for attempt in judgement.log)
        usage = reply.usage
        self._calls.append(
            CallRecord(
                call=self._asked - 1,
                model=request.model,
                request_digest=request.digest(),
                reply=reply.raw,
                reply_cleaned=reply.cleaned,
                finish_reason=reply.finish_reason,
                thought=reading.thought,
                verdict=judgement.verdict.value,
                cause=None if judgement.cause is None else judgement.cause.value,
                input_tokens=usage.input,
                cached_input_tokens=usage.cached,
                output_tokens=usage.output,
                reasoning_tokens=usage.reasoning,
                cost_usd=reply.cost_usd,
                usage_estimated=reply.usage_estimated,
                latency_seconds=reply.latency,
                queue_seconds=reply.queued,
                retries=reply.retries,
            )
        )

    def stop(self, cause: Cause) -> None:
        """The decision has reached the bound ``cause``."""
        self._log.append(Attempt("", "", Verdict.STOPPED.value, cause.value))

    def decision(self, actions: Sequence[Action], fallback: str | None = None) -> Decision:
        """The whole record, with the actions that are really played; a fallback that plays none is a forfeit."""
        calls = self._calls
        thoughts = [call.thought for call in calls if call.thought]
        return Decision(
            actions=tuple(actions),
            attempts=sum(attempt.verdict in ATTEMPTS for attempt in self._log),
            invalid_attempts=sum(attempt.verdict in INVALID for attempt in self._log),
            tool_calls=self._tool_calls,
            input_tokens=sum(call.input_tokens for call in calls),
            cached_input_tokens=sum(call.cached_input_tokens for call in calls),
            output_tokens=self.output_tokens,
            reasoning_tokens=sum(call.reasoning_tokens for call in calls),
            cost_usd=sum(call.cost_usd for call in calls),
            seconds=self.seconds,
            thought="\n\n".join(thoughts) or None,
            fallback=fallback,
            attempt_log=tuple(self._log),
            calls=tuple(calls),
            harness_digest=self._harness_digest,
            forfeit=fallback is not None and not actions,
        )


_QUERIES = (Verdict.ANSWERED, Verdict.QUERY_REFUSED)
