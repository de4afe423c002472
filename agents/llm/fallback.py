"""What is played where a model gave no legal action."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from random import Random

from agents.llm.config import Fallback
from engine.match import Action, Observation, Seat

_LEAST_DOING = ("pass", "done", "choose:no")


async def fall_back(
    rule: Fallback, rng_seed: int, decision: int, seat: Seat, observation: Observation, legal: Sequence[Action]
) -> tuple[Action, ...]:
    """The actions that ``rule`` plays; empty for ``forfeit``.

    What is drawn depends on the seed of the agent and the number of the decision alone, so that a game that is played
    again draws the same.
    """
    if rule is Fallback.FORFEIT:
        return ()
    seed = int.from_bytes(blake2b(f"{rng_seed} {decision}".encode(), digest_size=8).digest(), "big")
    if rule is Fallback.HEURISTIC:
        from agents.factory import make_agent

        return (await make_agent({"kind": "heuristic"}, seat, seed).act(observation, legal)).actions
    if rule is Fallback.PASS:
        for key in _LEAST_DOING:
            for action in legal:
                if action.key == key:
                    return (action,)
    return (legal[int(Random(seed).random() * len(legal))],)
