"""Agents whose choices cannot be repeated, beside agents that are paid for.

A game that was interrupted is rebuilt by letting its agents decide again. One that looks at a clock may decide
otherwise the second time, and then what was paid for the other seat is of no use. So its choices are journalled as the
answers to LLM calls are, before anybody acts on them, and taken from there.
"""

from __future__ import annotations

import base64
import json
import pickle
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from agents.base import Agent, Decision
from engine.match import Action, Observation, Seat
from orchestrator.calls import Answered, Desk
from orchestrator.journal import Answer, Spending
from orchestrator.play import FailureCause, GameFailure, Playthrough


def is_unrepeatable(agent: Agent) -> bool:
    """Whether the agent says of itself that it may decide otherwise where it is shown the same game again."""
    return bool(getattr(agent, "unrepeatable", False))


class JournalledAgent:
    """``agent`` in one seat of one game (:class:`agents.base.Agent`), its choices journalled, or ``known`` from there.

    Raises :class:`GameFailure` where the game offers something else than it did when a choice was journalled, and
    :class:`orchestrator.play.GameDropped` where the worker has lost the game.
    """

    def __init__(
        self,
        agent: Agent,
        desk: Desk,
        game_id: str,
        epoch: int,
        entrant: str,
        seat: Seat,
        game: Playthrough,
        known: Iterable[Answer],
    ) -> None:
        self.reads_observation = agent.reads_observation
        self.waits = agent.waits
        self._agent = agent
        self._desk = desk
        self._game_id = game_id
        self._epoch = epoch
        self._entrant = entrant
        self._seat = seat
        self._game = game
        self._known = {one.decision: one for one in known if one.seat == seat}
        self._decisions = 0

    async def act(self, observation: Observation, legal: Sequence[Action]) -> Decision:
        """What the journal has as decided here, else what the agent decides."""
        number = self._decisions
        self._decisions += 1
        digest = blake2b("\n".join(action.key for action in legal).encode(), digest_size=16).hexdigest()
        known = self._known.pop(number, None)
        if known is not None:
            if known.digest != digest:
                raise GameFailure(
                    FailureCause.REQUEST_CHANGED,
                    f"{self._entrant}: its decision {number} is not the one that it made before; cards or rules have "
                    "changed since, or another agent's choices cannot be repeated",
                )
            return _read(known.answer)
        decision = await self._agent.act(observation, legal)
        taken = Answer(self._seat, number, 0, self._game.places[self._seat], digest, _written(decision))
        await self._desk.commit(Answered(0, self._game_id, self._epoch, self._entrant, taken, Spending()))
        return decision


def _written(decision: Decision) -> bytes:
    actions = base64.b64encode(pickle.dumps(decision.actions)).decode()
    return json.dumps({"decided": actions, "seconds": decision.seconds}).encode()


def _read(answer: bytes) -> Decision:
    stored: dict[str, Any] = json.loads(answer)
    return Decision(pickle.loads(base64.b64decode(stored["decided"])), seconds=stored["seconds"])
