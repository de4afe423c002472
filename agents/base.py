"""The contract between an agent and the game loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from engine.match import Action, Observation


@dataclass(frozen=True, slots=True)
class Attempt:
    """One tool call of a model, or a reply in which none could be read.

    ``tool`` and ``arguments`` (JSON text) are as the model wrote them, long ones cut; ``verdict`` is what became of it
    and ``cause`` why it was not accepted (:mod:`agents.llm.causes`).
    """

    tool: str
    arguments: str
    verdict: str
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One answered LLM call of a decision; the columns of a run's calls by the same names. Times are seconds."""

    call: int
    model: str
    request_digest: str
    reply: str
    reply_cleaned: bool
    finish_reason: str
    thought: str | None
    verdict: str
    cause: str | None
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cost_usd: float
    usage_estimated: bool
    latency_seconds: float
    queue_seconds: float
    retries: int


@dataclass(frozen=True, slots=True)
class Decision:
    """What an agent decided and how it came about.

    ``actions`` has one entry, or all picks of one selection prompt in the order in which the engine asks for them
    (picks that are forced among them, ``done`` at the end where it is legal). It is empty where ``forfeit`` is true:
    the agent gives the game up. Tokens are counts, ``cost_usd`` is US dollars, ``seconds`` is the time the agent itself
    took (waiting for a rate limit left out). ``attempts`` are action attempts, 0 where nothing was to be decided.
    ``fallback`` names the rule that chose when the agent itself produced no legal action.
    """

    actions: tuple[Action, ...]
    attempts: int = 1
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0
    thought: str | None = None
    fallback: str | None = None
    invalid_attempts: int = 0
    cached_input_tokens: int = 0
    reasoning_tokens: int = 0
    attempt_log: tuple[Attempt, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    harness_digest: str | None = None
    forfeit: bool = False


class Agent(Protocol):
    """Picks an action from an observation; made anew for every game and seat.

    ``reads_observation`` is false for an agent that never looks at it, which then receives a blank one: observing costs
    more than a random choice. ``waits`` is true for an agent whose ``act`` awaits something outside the process (an LLM
    call): many of its games run in one worker at once, while games of agents that never wait run in batches. An agent
    that may decide otherwise where it is shown the same game again, because it looks at a clock, has a true attribute
    ``unrepeatable``: beside an agent that is paid for, its choices are journalled.
    """

    reads_observation: ClassVar[bool]
    waits: ClassVar[bool]

    async def act(self, observation: Observation, legal: Sequence[Action]) -> Decision: ...


@dataclass(frozen=True, slots=True)
class BlankObservation:
    """Stands in for the observation where an agent does not read it."""

    seat: int

    def to_json(self) -> dict[str, Any]:
        """Only the seat."""
        return {"seat": self.seat}
