"""Measures search agents: how many rollouts they play and how long they take, against the heuristic in mirror games.

All times are processor time of this process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import process_time
from typing import Any

from agents.base import Agent, Decision
from agents.factory import make_agent
from agents.search.agent import SearchAgent
from engine.match import Action, Match, MatchSpec, play_forced
from engine.registry import new_match


def measure(agent: Mapping[str, Any], spec: MatchSpec, seconds: float) -> Iterator[tuple[str, float, str]]:
    """Metric, value and unit for ``agent`` (a configuration of kind ``search``) playing ``spec`` for that long.

    A *decision* is one with at least two legal actions, those included that are so clear that nothing is searched.
    """
    used = longest = 0.0
    decisions = rollouts = number = 0
    while used < seconds:
        match = new_match(MatchSpec(spec.game, spec.seed + number, spec.decks, spec.options))
        search = make_agent(agent, number % 2, number)
        if not isinstance(search, SearchAgent):
            raise ValueError(f"an agent of kind 'search' is measured, not {agent.get('kind')!r}")
        heuristic = make_agent({"kind": "heuristic"}, 1 - number % 2, number)
        while match.result is None and used < seconds:
            play_forced(match)
            for seat in match.seats_to_act():
                asked = search if seat == number % 2 else heuristic
                began = process_time()
                actions = _decide(asked, match, seat)
                if asked is search:
                    taken = process_time() - began
                    used += taken
                    longest = max(longest, taken)
                    decisions += 1
                for action in actions:
                    match.apply(seat, action)
        rollouts += search.rollouts_done
        number += 1
    yield "ms_per_decision", used / decisions * 1e3, "ms"
    yield "ms_longest_decision", longest * 1e3, "ms"
    yield "rollouts_per_decision", rollouts / decisions, "rollouts"
    yield "rollouts_per_s", rollouts / used, "1/s"


def _decide(agent: Agent, match: Match, seat: int) -> tuple[Action, ...]:
    running = agent.act(match.observe(seat), match.legal_actions(seat))
    try:
        running.send(None)
    except StopIteration as ended:
        decision: Decision = ended.value
        return decision.actions
    raise RuntimeError("a search agent waits")


def lines(
    name: str, agent: Mapping[str, Any], case: str, spec: MatchSpec, seconds: float
) -> Iterator[Mapping[str, Any]]:
    """The output lines of one agent and deck."""
    for metric, value, unit in measure(agent, spec, seconds):
        yield {"suite": "search", "case": f"{name} {case}", "metric": metric, "value": round(value, 3), "unit": unit}
