"""How the heuristic agent samples, what its configuration changes, and what it refuses."""

from __future__ import annotations

import asyncio

import pytest
from agent_play import HEURISTIC, first_choices
from ptcg_play import pokemon, position, side

from agents.base import BlankObservation
from agents.factory import agent_waits, make_agent
from engine.ptcg.game import PtcgMatch

CHARMANDER, CHARMELEON, PIDGEY, BIDOOF, ROTOM_V, FIRE = "PAF-7", "PAF-8", "MEW-16", "CRZ-111", "CRZ-45", "SVE-2"


@pytest.fixture
def two_alike() -> PtcgMatch:
    """Fire Energy for either of two Charmander that do not differ."""
    you = side("BRS-41", CHARMANDER, CHARMANDER, hand=[FIRE])
    return position(you, side(ROTOM_V, BIDOOF))


def test_actions_of_equal_weight_are_equally_likely(two_alike: PtcgMatch) -> None:
    found = first_choices(two_alike, 400)
    left, right = found[f"attach:{FIRE}>bench1"], found[f"attach:{FIRE}>bench2"]
    assert left + right > 380
    # Six standard deviations of 400 fair coins are 60.
    assert abs(left - right) < 120


def test_the_seed_decides(two_alike: PtcgMatch) -> None:
    legal, observation = two_alike.legal_actions(0), two_alike.observe(0)

    def keys(seed: int) -> list[str]:
        agent = make_agent(HEURISTIC, 0, seed)
        return [asyncio.run(agent.act(observation, legal)).actions[0].key for _ in range(30)]

    assert keys(5) == keys(5)
    assert keys(5) != keys(6)


def test_without_temperature_the_best_action_is_always_taken(two_alike: PtcgMatch) -> None:
    assert len(first_choices(two_alike, 40, {"kind": "heuristic", "temperature": 0})) == 1


def test_a_high_temperature_is_nearly_random(two_alike: PtcgMatch) -> None:
    found = first_choices(two_alike, 400, {"kind": "heuristic", "temperature": 10000})
    assert set(found) == {action.key for action in two_alike.legal_actions(0)}
    assert all(count > 50 for count in found.values())


def test_a_weight_of_the_configuration_changes_what_is_played() -> None:
    you = side(pokemon(CHARMANDER), PIDGEY, hand=[CHARMELEON])
    match = position(you, side(ROTOM_V, BIDOOF))
    without = {"kind": "heuristic", "weights": {"evolve": -200}}
    assert first_choices(match)[f"evolve:{CHARMELEON}>active"] == 40
    assert first_choices(match, 40, without)[f"evolve:{CHARMELEON}>active"] == 0


def test_reading_an_observation_leaves_it_as_it_was(two_alike: PtcgMatch) -> None:
    observation = two_alike.observe(0)
    asyncio.run(make_agent(HEURISTIC, 0, 1).act(observation, two_alike.legal_actions(0)))
    assert observation == two_alike.observe(0)


def test_it_never_waits() -> None:
    assert not agent_waits(HEURISTIC)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"temperature": -1}, "temperature is -1"),
        ({"temperature": "hot"}, "temperature is 'hot'"),
        ({"temperature": float("inf")}, "temperature is inf"),
        ({"weights": {"evolv": 1}}, "no weight 'evolv'; there is evolve"),
        ({"weights": {"evolve": "much"}}, "weight evolve is 'much'"),
        ({"weights": {"evolve": float("nan")}}, "weight evolve is nan"),
        ({"weights": 3}, "weights is 3"),
        ({"deck": "any"}, "no setting 'deck'"),
    ],
)
def test_a_bad_configuration_is_refused_in_one_line(config: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said) as refused:
        make_agent({"kind": "heuristic", **config}, 0, 1)
    assert "\n" not in str(refused.value)


def test_another_game_is_refused(two_alike: PtcgMatch) -> None:
    with pytest.raises(TypeError, match="plays ptcg"):
        asyncio.run(make_agent(HEURISTIC, 0, 1).act(BlankObservation(0), two_alike.legal_actions(0)))
