"""The agent: reads the observation, gives every legal action its points, and samples one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, log
from random import Random
from typing import Any, ClassVar

from agents.base import Decision
from agents.heuristic.attacks import Foresight
from agents.heuristic.choice_points import ChoicePoints
from agents.heuristic.reading import Reading
from agents.heuristic.turn_points import TurnPoints
from agents.heuristic.weights import Weights
from engine.match import Action, Observation
from engine.ptcg.actions import ActionKind, PtcgAction
from engine.ptcg.observation import PtcgObservation

_SMALLEST = 1e-300


class HeuristicAgent:
    """Samples a legal action with a probability proportional to e^(points / temperature).

    ``temperature`` is 0 or more: near 0 the best action is nearly always taken, at 0 always. ``weights`` is the table
    of points; see :mod:`agents.heuristic.weights`. It plays the Pokémon Trading Card Game only.
    """

    reads_observation: ClassVar[bool] = True
    waits: ClassVar[bool] = False

    def __init__(self, rng_seed: int, weights: Weights | None = None, temperature: float = 1.0) -> None:
        self._random = Random(rng_seed).random
        self._weights = weights if weights is not None else Weights()
        self._temperature = temperature
        self._foresight = Foresight(self._weights)
        # How often each Ability was used in the turn, so that one without a limit is not used for ever.
        self._uses: dict[str, int] = {}
        self._uses_turn = -1

    async def act(self, observation: Observation, legal: Sequence[Action]) -> Decision:
        """One of the legal actions. Raises ``TypeError`` for an observation of another game."""
        if not isinstance(observation, PtcgObservation):
            raise TypeError(f"the heuristic agent plays ptcg; it cannot read a {type(observation).__name__}")
        actions = [action for action in legal if isinstance(action, PtcgAction)]
        chosen = self.choose(observation, actions)
        if chosen.kind is ActionKind.ABILITY:
            self._uses[chosen.key] = self._uses.get(chosen.key, 0) + 1
        return Decision((chosen,))

    def choose(self, observation: PtcgObservation, legal: Sequence[PtcgAction]) -> PtcgAction:
        """A sample of the legal actions by their points."""
        return self._sample(legal, self.points(observation, legal))

    def points(self, observation: PtcgObservation, legal: Sequence[PtcgAction]) -> list[float]:
        """The points of each legal action."""
        state = observation.known
        if state.turn != self._uses_turn:
            self._uses_turn = state.turn
            self._uses.clear()
        reading = Reading(observation, self._weights, self._foresight)
        if state.prompt is not None:
            return ChoicePoints(reading, state.prompt).all(legal)
        turn = TurnPoints(reading, legal, self._uses)
        return [turn.of(action) for action in legal]

    def _sample(self, legal: Sequence[PtcgAction], points: Sequence[float]) -> PtcgAction:
        temperature, draw = self._temperature, self._random
        if not temperature:
            return legal[points.index(max(points))]
        best, most = 0, -float("inf")
        for place, value in enumerate(points):
            # The highest of points with Gumbel noise is a sample of the softmax of the points.
            noisy = value - temperature * log(-log(draw() or _SMALLEST) or _SMALLEST)
            if noisy > most:
                best, most = place, noisy
        return legal[best]


def make_heuristic(config: Mapping[str, Any], rng_seed: int) -> HeuristicAgent:
    """The agent that ``config`` (without ``kind``) describes: ``temperature`` and ``weights`` (name to number).

    Raises ``ValueError`` with one line for a value that cannot be used.
    """
    temperature = config.get("temperature", 1.0)
    if isinstance(temperature, bool) or not isinstance(temperature, int | float):
        raise ValueError(f"heuristic agent: temperature is {temperature!r}; a number from 0 is wanted")
    if not isfinite(temperature) or temperature < 0:
        raise ValueError(f"heuristic agent: temperature is {temperature!r}; a number from 0 is wanted")
    weights = config.get("weights") or {}
    if not isinstance(weights, Mapping):
        raise ValueError(f"heuristic agent: weights is {weights!r}; a mapping of names to numbers is wanted")
    return HeuristicAgent(rng_seed, Weights.of(weights), float(temperature))
