"""Agents that follow a fixed rule and misbehave on order: for tests, load and as the simplest reference points.

Configuration: ``policy`` is ``first``, ``last`` or ``cycle`` (the first action at the first decision, the second at the
second …); ``prefer`` lists beginnings of action keys, the first that fits a legal action comes before the policy;
``wait_seconds`` is awaited at every decision, as an LLM call would be; ``fault`` (``raise``, ``illegal``, ``sleep``)
happens at decision number ``fault_at`` of the agent, from 0.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from agents.base import Decision
from engine.match import Action, Observation

POLICIES: Final = ("first", "last", "cycle")
FAULTS: Final = ("raise", "illegal", "sleep")


class ScriptedFault(RuntimeError):
    """What an agent raises whose fault is ``raise``."""


@dataclass(frozen=True, slots=True)
class NoSuchAction:
    """An action of no game at all, played by an agent whose fault is ``illegal``."""

    key: str = "no_such_action"
    sentence: str = "Do what no game knows."


@dataclass(frozen=True, slots=True)
class Script:
    """What a scripted agent does; see the module's text. Raises ``ValueError`` for values that do not exist."""

    policy: str = "first"
    prefer: tuple[str, ...] = ()
    wait_seconds: float = 0.0
    fault: str | None = None
    fault_at: int = 0

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise ValueError(f"scripted agent: policy is one of {', '.join(POLICIES)}, not {self.policy!r}")
        if self.fault is not None and self.fault not in FAULTS:
            raise ValueError(f"scripted agent: fault is one of {', '.join(FAULTS)}, not {self.fault!r}")


class ScriptedAgent:
    """Follows its script at once."""

    reads_observation: ClassVar[bool] = False
    waits: ClassVar[bool] = False

    def __init__(self, script: Script) -> None:
        self._script = script
        self._decisions = 0

    async def act(self, observation: Observation, legal: Sequence[Action]) -> Decision:
        """The preferred action, or the policy's."""
        return Decision((self._choose(legal),))

    def _choose(self, legal: Sequence[Action]) -> Action:
        script, number = self._script, self._decisions
        self._decisions += 1
        if script.fault is not None and number == script.fault_at:
            if script.fault == "raise":
                raise ScriptedFault(f"scripted fault at decision {number}")
            if script.fault == "illegal":
                return NoSuchAction()
            time.sleep(10**6)
        for beginning in script.prefer:
            for action in legal:
                if action.key.startswith(beginning):
                    return action
        return legal[{"first": 0, "last": -1, "cycle": number % len(legal)}[script.policy]]


class WaitingScriptedAgent(ScriptedAgent):
    """Follows its script after waiting, as an agent does that asks another machine."""

    waits: ClassVar[bool] = True

    async def act(self, observation: Observation, legal: Sequence[Action]) -> Decision:
        """Wait, then the same choice; the time waited is the time the agent took."""
        started = time.perf_counter()
        await asyncio.sleep(self._script.wait_seconds)
        return Decision((self._choose(legal),), seconds=time.perf_counter() - started)


def make_scripted(config: Mapping[str, Any]) -> ScriptedAgent:
    """The agent that ``config`` (without ``kind``) describes; raises ``ValueError`` for a value that does not exist."""
    script = Script(**{**config, "prefer": tuple(config.get("prefer", ()))})
    return WaitingScriptedAgent(script) if script.wait_seconds > 0 else ScriptedAgent(script)
