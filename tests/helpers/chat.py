"""Models, requests and gates for tests that make calls."""

from __future__ import annotations

from typing import Any

from agents.llm.client import Estimate
from agents.llm.contract import ChatRequest, Usage
from agents.llm.models import ModelConfig, parse_model
from agents.loopback import LoopbackServer

QUICK = {"deadline_seconds": 20.0, "first_wait_seconds": 0.002, "longest_backoff_seconds": 0.01}
"""A retry section that does not keep a test waiting."""

PASS_TOOL = {
    "type": "function",
    "function": {"name": "pass_turn", "parameters": {"type": "object", "properties": {"action": {"type": "string"}}}},
}


def model_at(place: LoopbackServer | str, **changes: Any) -> ModelConfig:
    """A model of the loopback server, or of the endpoint at that address, with ``changes`` to its configuration."""
    url = place if isinstance(place, str) else place.base_url
    config = {"id": "loopback/skill_5", "base_url": url, "context_size": 100_000, "price": {"input": 1, "output": 4}}
    return parse_model({**config, "retry": QUICK, **changes})


def request_of(
    text: str = "available_actions:\n- `pass`: end your turn", model: str = "loopback/skill_5"
) -> ChatRequest:
    """A request with one message and one tool."""
    return ChatRequest(model, ({"role": "user", "content": text},), (PASS_TOOL,), {"max_tokens": 100})


class CountingGate:
    """A gate that lets all pass and notes what it is told."""

    def __init__(self) -> None:
        self.estimates: list[Estimate] = []
        self.settled: list[tuple[Usage | None, float]] = []
        self.told: list[float | None] = []

    async def acquire(self, estimate: Estimate) -> CountingGate:
        self.estimates.append(estimate)
        return self

    def settle(self, usage: Usage | None, cost_usd: float) -> None:
        self.settled.append((usage, cost_usd))

    def rate_limited(self, retry_after: float | None) -> None:
        self.told.append(retry_after)
