"""Agents made from their configuration, and the agent that plays at random."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from agent_play import RANDOM

from agents.base import BlankObservation
from agents.factory import agent_kinds, make_agent
from agents.scripted import NoSuchAction


def draws(config: dict[str, Any], seed: int, count: int = 300) -> list[str]:
    """The keys of what an agent chooses among five actions, again and again."""
    legal = [NoSuchAction(key) for key in "abcde"]
    agent = make_agent(config, 0, seed)
    return [asyncio.run(agent.act(BlankObservation(0), legal)).actions[0].key for _ in range(count)]


def test_random_play_is_uniform_and_seeded() -> None:
    found = Counter(draws(dict(RANDOM), 1, 2000))
    # 400 each are expected; five standard deviations are 90.
    assert all(abs(found[key] - 400) < 90 for key in "abcde")
    assert draws(dict(RANDOM), 1) == draws(dict(RANDOM), 1)
    assert draws(dict(RANDOM), 1) != draws(dict(RANDOM), 2)


def test_an_unknown_kind_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ValueError, match="unknown kind of agent 'heuristics'") as refused:
        make_agent({"kind": "heuristics"}, 0, 1)
    assert all(kind in str(refused.value) for kind in agent_kinds())


def test_a_setting_that_a_kind_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="'random' has no setting 'temperature'"):
        make_agent({"kind": "random", "temperature": 1}, 0, 1)
