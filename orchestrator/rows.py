"""Rows of decisions and calls (``results.schema.DECISIONS`` and ``CALLS``), as JSON text for the journal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from agents.llm.contract import ChatReply
from orchestrator.journal import Answer
from orchestrator.play import Played, Setup
from orchestrator.schedule import ScheduledGame

UNUSED: Final = "unused"
"""The verdict on a reply that nothing came of."""


def decision_row(setup: Setup, scheduled: ScheduledGame, attempt: int, worker: str, now: int, played: Played) -> bytes:
    """The row of a decision; ``now`` is in microseconds since 1970."""
    decision = played.decision
    return _text(
        {
            **_shared(setup, scheduled, attempt, worker, played),
            "turn": played.turn,
            "legal_actions": played.legal_actions,
            "actions": played.actions,
            "fallback": decision.fallback,
            "harness_digest": decision.harness_digest,
            "attempts": decision.attempts,
            "invalid_attempts": decision.invalid_attempts,
            "attempt_log": [asdict(one) for one in decision.attempt_log],
            "tool_calls": decision.tool_calls,
            "calls": len(decision.calls),
            "input_tokens": decision.input_tokens,
            "cached_input_tokens": decision.cached_input_tokens,
            "output_tokens": decision.output_tokens,
            "reasoning_tokens": decision.reasoning_tokens,
            "cost_usd": decision.cost_usd,
            "thought": decision.thought,
            "agent_seconds": decision.seconds,
            "decided_at": now,
        }
    )


def call_rows(
    setup: Setup, scheduled: ScheduledGame, attempt: int, worker: str, answered_at: Mapping[int, int], played: Played
) -> tuple[tuple[int, bytes], ...]:
    """Number and row of each answered call of a decision; ``answered_at`` is by number, as ``now`` above."""
    shared = _shared(setup, scheduled, attempt, worker, played)
    return tuple(
        (call.call, _text({**shared, **asdict(call), "answered_at": answered_at.get(call.call)}))
        for call in played.decision.calls
    )


def unused_call_row(setup: Setup, scheduled: ScheduledGame, attempt: int, model: str, answer: Answer) -> bytes | None:
    """The row of a call whose game became void before its decision was made; ``None`` for one that gave no reply."""
    stored = json.loads(answer.answer.decode("utf-8", "surrogatepass"))
    if "reply" not in stored:
        return None
    reply = ChatReply.from_json(stored["reply"])
    return _text(
        {
            "game_id": scheduled.game_id,
            "run": setup.run,
            "decision": answer.place,
            "call": answer.call,
            "seat": answer.seat,
            "entrant": scheduled.entrants[answer.seat],
            "model": model,
            "request_digest": answer.digest,
            "reply": reply.raw,
            "reply_cleaned": reply.cleaned,
            "finish_reason": reply.finish_reason,
            "verdict": UNUSED,
            "input_tokens": reply.usage.input,
            "cached_input_tokens": reply.usage.cached,
            "output_tokens": reply.usage.output,
            "reasoning_tokens": reply.usage.reasoning,
            "cost_usd": reply.cost_usd,
            "usage_estimated": reply.usage_estimated,
            "latency_seconds": reply.latency,
            "queue_seconds": reply.queued,
            "retries": reply.retries,
            "attempt": attempt,
            "answered_at": stored["at"],
        }
    )


def _shared(setup: Setup, scheduled: ScheduledGame, attempt: int, worker: str, played: Played) -> dict[str, Any]:
    return {
        "game_id": scheduled.game_id,
        "run": setup.run,
        "decision": played.place,
        "seat": played.seat,
        "entrant": scheduled.entrants[played.seat],
        "worker": worker,
        "attempt": attempt,
    }


def _text(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
