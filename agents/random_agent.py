"""The agent that picks uniformly among the legal actions."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import ClassVar

from agents.base import Decision
from engine.match import Action, Observation


class RandomAgent:
    """Uniform over the legal actions, from its own generator."""

    reads_observation: ClassVar[bool] = False
    waits: ClassVar[bool] = False

    def __init__(self, rng_seed: int) -> None:
        self._random = Random(rng_seed).random

    async def act(self, observation: Observation, legal: Sequence[Action]) -> Decision:
        """One action, each with the same probability."""
        return Decision((legal[int(self._random() * len(legal))],))
