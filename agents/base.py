"""The contract between an agent and the game loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from engine.match import Action, Observation


@dataclass(frozen=True, slots=True)
class Decision:
    """What an agent decided and how it came about.

    ``actions`` has one entry, or all picks of one selection prompt in the order in which the engine asks for them.
    Tokens are counts, ``cost_usd`` is US dollars, ``seconds`` is the time the agent itself took (waiting for a rate
    limit left out). ``fallback`` names the rule that chose when the agent itself produced no legal action.
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


class Agent(Protocol):
    """Picks an action from an observation; made anew for every game and seat.

    ``reads_observation`` is false for an agent that never looks at it, which then receives a blank one: observing costs
    more than a random choice. ``waits`` is true for an agent whose ``act`` awaits something outside the process (an LLM
    call): many of its games run in one worker at once, while games of agents that never wait run in batches.
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
