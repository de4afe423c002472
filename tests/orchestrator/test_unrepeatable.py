"""Agents whose choices cannot be repeated: what they chose is journalled, and chosen again when a game is rebuilt."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar, cast

import pytest
from llm_play import new_game

from agents.base import Agent, Decision
from agents.factory import make_agent
from engine.match import Action, Observation
from orchestrator.calls import Answered, Desk
from orchestrator.journal import Answer
from orchestrator.play import FailureCause, GameDropped, GameFailure, Playthrough, play
from orchestrator.unrepeatable import JournalledAgent, is_unrepeatable


class Moody:
    """Picks the first action, or the last one; never the same twice over."""

    reads_observation: ClassVar[bool] = False
    waits: ClassVar[bool] = False
    unrepeatable: ClassVar[bool] = True

    def __init__(self, place: int) -> None:
        self.place = place
        self.asked = 0

    async def act(self, observation: Observation, legal: Sequence[Action]) -> Decision:
        self.asked += 1
        return Decision((legal[self.place],), seconds=0.5)


async def _commit(desk: Desk, taken: list[Answer]) -> None:
    """Commits whatever comes to the desk, as the driver does."""
    settled: list[tuple[int, bool]] = []
    while True:
        entries = await desk.collect(settled)
        settled = [(entry.number, True) for entry in entries]
        for entry in entries:
            assert isinstance(entry, Answered)
            assert (entry.game_id, entry.epoch, entry.entrant, entry.spending.calls) == ("g1", 3, "moody", 0)
            taken.append(entry.answer)


def played(agent: Moody, known: Sequence[Answer], seed: int = 4, steps: int = 30) -> tuple[list[str], list[Answer]]:
    """The first actions of a game of ``agent`` in seat 1 against ``random``, and what was journalled."""
    taken: list[Answer] = []

    async def run() -> list[str]:
        desk, game, match = Desk(), Playthrough(), new_game(seed)
        mine = JournalledAgent(agent, desk, "g1", 3, "moody", 1, game, known)
        committing = asyncio.ensure_future(_commit(desk, taken))
        agents = make_agent({"kind": "random"}, 0, 9), cast(Agent, mine)
        playing = asyncio.ensure_future(play(match, agents, ("random", "moody"), float("inf"), game))
        try:
            while not playing.done() and game.steps < steps:
                await asyncio.sleep(0)
            if playing.done():
                playing.result()
        finally:
            playing.cancel()
            committing.cancel()
            await asyncio.gather(playing, committing, return_exceptions=True)
        return game.actions

    return asyncio.run(run()), taken


def test_a_game_that_is_rebuilt_goes_as_it_went_however_the_agent_would_decide_now() -> None:
    first, taken = played(Moody(0), [])
    assert len(taken) > 5
    assert [one.decision for one in taken] == list(range(len(taken)))
    other = Moody(-1)
    again, more = played(other, taken, steps=60)
    common = min(len(first), len(again))
    assert again[:common] == first[:common]
    assert len(again) > len(first) - 2
    # It was asked again only for what it had not chosen yet, and that was journalled too.
    assert 0 < len(more) <= other.asked <= len(more) + 1
    assert [one.decision for one in more] == list(range(len(taken), len(taken) + len(more)))
    different, _ = played(Moody(-1), [])
    assert different[:common] != first[:common]


def test_a_choice_of_another_position_is_not_played() -> None:
    _, taken = played(Moody(0), [])
    with pytest.raises(GameFailure, match="moody: its decision 0 is not the one that it made before") as caught:
        played(Moody(0), taken, seed=5)
    assert caught.value.cause is FailureCause.REQUEST_CHANGED


def test_nothing_is_played_that_was_not_committed() -> None:
    async def run() -> int:
        desk, game, match = Desk(), Playthrough(), new_game(4)
        mine = JournalledAgent(Moody(0), desk, "g1", 3, "moody", 1, game, [])
        agents: Any = (make_agent({"kind": "random"}, 0, 9), mine)
        playing = asyncio.ensure_future(play(match, agents, ("random", "moody"), float("inf"), game))
        (entry,) = await desk.collect([])
        before = len(game.actions)
        refusing = asyncio.ensure_future(desk.collect([(entry.number, False)]))
        with pytest.raises(GameDropped):
            await playing
        refusing.cancel()
        return len(game.actions) - before

    assert asyncio.run(run()) == 0


def test_a_search_says_whether_it_can_be_repeated() -> None:
    assert is_unrepeatable(make_agent({"kind": "search", "milliseconds": 5}, 0, 1))
    for config in ({"kind": "search", "rollouts": 5}, {"kind": "heuristic"}, {"kind": "random"}):
        assert not is_unrepeatable(make_agent(config, 0, 1))
