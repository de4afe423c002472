"""An agent that plays its likeliest actions out in worlds drawn from its observation and takes the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from time import perf_counter
from typing import Any, ClassVar

from agents.base import Decision
from agents.heuristic.agent import HeuristicAgent
from agents.search.rollout import rollout
from engine.match import Action, Observation
from engine.ptcg.actions import PtcgAction
from engine.ptcg.determinize import determinize
from engine.ptcg.game import PtcgMatch
from engine.ptcg.observation import PtcgObservation

_SEED_BITS = 62
_FEW_TRIES = 3
"""Worlds in which every candidate is tried before the worse half is dropped, at least."""


class SearchAgent:
    """Determinized Monte-Carlo search over the current decision, guided by the heuristic.

    The heuristic names the ``candidates`` best actions; one that is ahead of all others by ``sure`` points is played
    at once. Each candidate is then played out in the same drawn worlds, so that luck weighs on all alike; halfway
    through the budget the worse half is dropped (sequential halving, Karnin, Koren and Somekh 2013). Rollouts are cut
    when ``turns`` turns of either side have ended (1: the agent's present one, 2: the opponent's reply as well, 3: the
    agent's next one too) and judged by :mod:`agents.search.evaluation`. Another action than the heuristic's first has
    to be better by ``margin``.

    The budget of a decision is ``rollouts``, or ``milliseconds`` where given; the choice then depends on the machine.
    Under a budget of rollouts it is deterministic under ``seed``. ``opponent_deck`` is the opponent's list (card id to
    count) where it is known; else the own list is assumed.
    """

    reads_observation: ClassVar[bool] = True
    waits: ClassVar[bool] = False

    def __init__(
        self,
        seed: int,
        rollouts: int = 24,
        candidates: int = 4,
        turns: int = 3,
        margin: float = 0.0,
        sure: float = 6.0,
        temperature: float = 0.0,
        milliseconds: float | None = None,
        opponent_deck: Mapping[str, int] | None = None,
    ) -> None:
        self._rng = Random(seed)
        self._heuristic = HeuristicAgent(self._rng.getrandbits(_SEED_BITS), temperature=temperature)
        self._rollouts = rollouts
        self._candidates = candidates
        self._turns = turns
        self._margin = margin
        self._sure = sure
        self._milliseconds = milliseconds
        self._opponent_deck = opponent_deck
        self.rollouts_done = 0

    @property
    def unrepeatable(self) -> bool:
        """Whether the same game may be decided otherwise another time."""
        return self._milliseconds is not None

    async def act(self, observation: Observation, legal: Sequence[Action]) -> Decision:
        """The action with the best mean value. Raises ``TypeError`` for an observation of another game."""
        if not isinstance(observation, PtcgObservation):
            raise TypeError(f"the search agent plays ptcg; it cannot read a {type(observation).__name__}")
        return Decision((self._search(observation, [a for a in legal if isinstance(a, PtcgAction)]),))

    def _search(self, observation: PtcgObservation, legal: Sequence[PtcgAction]) -> PtcgAction:
        points = self._heuristic.points(observation, legal)
        arms = sorted(range(len(legal)), key=lambda arm: -points[arm])[: self._candidates]
        first = arms[0]
        seed = self._rng.getrandbits(_SEED_BITS)
        if len(arms) == 1 or points[first] - points[arms[1]] > self._sure:
            return legal[first]
        began = perf_counter()
        sums = dict.fromkeys(arms, 0.0)
        tries = 0
        spent = 0
        while True:
            share = (
                spent / self._rollouts
                if self._milliseconds is None
                else (perf_counter() - began) * 1000 / self._milliseconds
            )
            if share >= 1:
                break
            if len(arms) > 2 and tries >= _FEW_TRIES and share >= 0.5:
                arms = sorted(arms, key=lambda arm: -sums[arm])[: (len(arms) + 1) // 2]
            world = determinize(observation, Random(seed + tries), self._opponent_deck)
            for arm in arms:
                sums[arm] += self._try(world, observation.seat, legal[arm])
            tries += 1
            spent += len(arms)
        best = max(arms, key=lambda arm: sums[arm])
        if first in arms and sums[best] - sums[first] < self._margin * tries:
            best = first
        return legal[best]

    def _try(self, world: PtcgMatch, seat: int, action: PtcgAction) -> float:
        match = world.clone()
        match.apply(seat, action)
        self.rollouts_done += 1
        return rollout(match, seat, self._turns, self._heuristic)


_WHOLE = {"rollouts": 1, "candidates": 1, "turns": 1}
_NUMBERS = {"margin": 0.0, "sure": 0.0, "temperature": 0.0, "milliseconds": 1.0}


def make_search(config: Mapping[str, Any], rng_seed: int) -> SearchAgent:
    """The agent that ``config`` (without ``kind``) describes; its keys are the parameters of :class:`SearchAgent`.

    Raises ``ValueError`` with one line for a value that cannot be used.
    """
    known = {**_WHOLE, **_NUMBERS, "opponent_deck": None}
    for key, value in config.items():
        if key not in known:
            raise ValueError(f"search agent: unknown parameter {key!r}; known: {', '.join(known)}")
        if key in _WHOLE and (isinstance(value, bool) or not isinstance(value, int) or value < _WHOLE[key]):
            raise ValueError(f"search agent: {key} is {value!r}; a whole number from {_WHOLE[key]} is wanted")
        if key in _NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float) or value < _NUMBERS[key]):
            raise ValueError(f"search agent: {key} is {value!r}; a number from {_NUMBERS[key]:g} is wanted")
    return SearchAgent(rng_seed, **config)
