"""What tests of agents share: asking an agent, playing out a turn, playing whole games."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from agents.base import Agent, BlankObservation
from agents.factory import make_agent
from engine.match import Action, Match, MatchSpec, Observation
from engine.ptcg.game import PtcgMatch
from engine.registry import new_match

HEURISTIC: Mapping[str, Any] = {"kind": "heuristic"}
RANDOM: Mapping[str, Any] = {"kind": "random"}


def answer(agent: Agent, match: Match, seat: int) -> Action:
    """What ``agent`` decides for ``seat`` now; it has to be one legal action."""
    legal = match.legal_actions(seat)
    observation: Observation = match.observe(seat) if agent.reads_observation else BlankObservation(seat)
    decision = asyncio.run(agent.act(observation, legal))
    assert len(decision.actions) == 1
    assert decision.actions[0] in legal
    return decision.actions[0]


def first_choices(match: Match, games: int = 40, config: Mapping[str, Any] = HEURISTIC) -> Counter[str]:
    """How often fresh agents with seeds 0, 1, … choose which action now, by key."""
    seat = match.seats_to_act()[0]
    return Counter(answer(make_agent(config, seat, seed), match, seat).key for seed in range(games))


def play_turn(match: PtcgMatch, seed: int = 1, config: Mapping[str, Any] = HEURISTIC) -> list[str]:
    """The keys of everything that the seat to move does until its turn, and the choices of both after it, are over."""
    turn, seats = match.turn, (0, 1)
    mover = match.seats_to_act()[0]
    agents = [make_agent(config, seat, seed) for seat in seats]
    played: list[str] = []
    while match.result is None and match.turn == turn:
        seat = match.seats_to_act()[0]
        legal = match.legal_actions(seat)
        action = legal[0] if len(legal) == 1 else answer(agents[seat], match, seat)
        if seat == mover:
            played.append(action.key)
        match.apply(seat, action)
    return played


def play_game(
    agents: Sequence[Agent], decks: tuple[Mapping[str, int], Mapping[str, int]], seed: int
) -> tuple[Match, list[str]]:
    """A whole game and the keys of all that was decided in it."""
    match = new_match(MatchSpec("ptcg", seed, decks))
    return match, asyncio.run(_play(match, agents))


async def _play(match: Match, agents: Sequence[Agent]) -> list[str]:
    decided: list[str] = []
    while seats := match.seats_to_act():
        seat = seats[0]
        legal = match.legal_actions(seat)
        if len(legal) == 1:
            match.apply(seat, legal[0])
            continue
        observation = match.observe(seat) if agents[seat].reads_observation else BlankObservation(seat)
        action = (await agents[seat].act(observation, legal)).actions[0]
        assert action in legal
        match.apply(seat, action)
        decided.append(action.key)
    return decided
