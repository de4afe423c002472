"""Playing a world on by the heuristic for a few turns, then judging it."""

from __future__ import annotations

from agents.heuristic.agent import HeuristicAgent
from agents.search.evaluation import evaluate
from engine.ptcg.game import PtcgMatch
from engine.ptcg.observation import PtcgObservation


def rollout(match: PtcgMatch, seat: int, turns: int, heuristic: HeuristicAgent) -> float:
    """Play ``match`` on in place until ``turns`` turns, of either side, have ended; the value for ``seat`` (−1 to 1).

    The turn that is going on counts where it is the seat's own: 1 is the rest of it, 2 the opponent's reply too. Both
    sides play by the heuristic, which looks at the world as if it could see it: it is a drawn one.
    """
    state = match.state
    end = state.turn + turns + (state.to_move != seat)
    while state.result is None and state.turn < end:
        mover = state.to_move if state.prompt is None else state.prompt.seat
        legal = match.legal_actions(mover)
        if len(legal) == 1:
            match.apply(mover, legal[0])
        else:
            match.apply(mover, heuristic.choose(PtcgObservation(mover, state, (), 0), legal))
    return evaluate(state, seat)
