"""Playing a world on by quick policies until a turn has ended, then judging it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from agents.heuristic.agent import HeuristicAgent
from agents.search.evaluation import evaluate
from engine.ptcg.actions import DONE, ActionKind, PtcgAction
from engine.ptcg.card import CARDS
from engine.ptcg.game import PtcgMatch
from engine.ptcg.observation import PtcgObservation
from engine.ptcg.state import State

# The light policy: how likely an action is picked, against the others of the list; an attack by its damage besides.
WEIGHTS: dict[ActionKind, float] = {
    ActionKind.BENCH: 4.0,
    ActionKind.EVOLVE: 12.0,
    ActionKind.ATTACH: 1.5,
    ActionKind.PLAY: 4.0,
    ActionKind.ABILITY: 8.0,
    ActionKind.STADIUM: 4.0,
    ActionKind.RETREAT: 0.1,
    ActionKind.ATTACK: 0.6,
    ActionKind.PASS: 0.02,
    ActionKind.CHOOSE: 1.0,
    ActionKind.DONE: 0.15,
}
ATTACK_PER_100_DAMAGE = 1.2
LAST_CHOICE_DAMAGE = 50.0
"""Weight of an attack per 100 damage where nothing else but retreat and pass is left."""
_LAST = (ActionKind.ATTACK, ActionKind.PASS, ActionKind.RETREAT)


def rollout(match: PtcgMatch, seat: int, turns: int, heuristic: HeuristicAgent, rng: Random) -> float:
    """Play ``match`` on in place until ``turns`` further turns have begun; the value for ``seat`` (−1 to 1).

    ``seat`` plays by the heuristic, which looks at the world as if it could see it (it is a drawn one); its opponent
    plays by the light policy, which costs a tenth of that.
    """
    state = match.state
    end = state.turn + turns
    while state.result is None and state.turn < end:
        mover = state.to_move if state.prompt is None else state.prompt.seat
        legal = match.legal_actions(mover)
        if len(legal) == 1:
            match.apply(mover, legal[0])
        elif mover == seat:
            match.apply(mover, heuristic.choose(PtcgObservation(mover, state, (), 0), legal))
        else:
            match.apply(mover, light_policy(state, legal, rng))
    return evaluate(state, seat)


def light_policy(state: State, legal: Sequence[PtcgAction], rng: Random) -> PtcgAction:
    """Sample an action by fixed weights of its form."""
    if legal[0].kind is ActionKind.CHOOSE:
        if legal[-1] is DONE and rng.random() < WEIGHTS[ActionKind.DONE]:
            return DONE
        return legal[int(rng.random() * (len(legal) - (legal[-1] is DONE)))]
    weights = [_weight(state, action) for action in legal]
    if all(action.kind in _LAST for action in legal):
        for i, action in enumerate(legal):
            if action.kind is ActionKind.ATTACK:
                weights[i] += LAST_CHOICE_DAMAGE * (0.1 + _damage(action) / 100)
    mark = rng.random() * sum(weights)
    for action, weight in zip(legal, weights, strict=True):
        mark -= weight
        if mark < 0:
            return action
    return legal[-1]


def _weight(state: State, action: PtcgAction) -> float:
    kind = action.kind
    if kind is ActionKind.ATTACK:
        return WEIGHTS[kind] + ATTACK_PER_100_DAMAGE * _damage(action) / 100
    if kind is ActionKind.ATTACH:
        return WEIGHTS[kind] * _attach_factor(state, action)
    return WEIGHTS[kind]


def _damage(action: PtcgAction) -> int:
    for attack in CARDS[action.card].attacks:
        if attack.name == action.detail:
            return attack.estimate
    return 0


def _attach_factor(state: State, action: PtcgAction) -> float:
    """Energy goes where an attack can use it, and rather to the Active Pokémon."""
    if not CARDS[action.card].is_energy:
        return 1.0
    player = state.players[state.to_move]
    pokemon = player.active if action.place == 0 else player.bench[action.place - 1]
    if pokemon is None:
        return 1.0
    costliest = max([len(attack.cost) for attack in CARDS[pokemon.cards[-1]].attacks], default=0)
    factor = 2.0 if len(pokemon.energy) < costliest else 0.15
    return factor * 2.0 if action.place == 0 else factor
