"""The search agent: legal, deterministic under its seed, and drawn to what wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.factory import make_agent
from agents.search.agent import SearchAgent
from engine.match import MatchSpec, play_forced
from engine.ptcg.decks import parse_deck
from engine.ptcg.game import PtcgMatch, new_match
from engine.ptcg.position import match_from_position

DECK_FOLDER = Path(__file__).parents[2] / "conf" / "deck"


def decide(agent: SearchAgent, match: PtcgMatch) -> str:
    """The key of what ``agent`` does in its seat's decision."""
    (seat,) = match.seats_to_act()
    running = agent.act(match.observe(seat), match.legal_actions(seat))
    with pytest.raises(StopIteration) as ended:
        running.send(None)
    (action,) = ended.value.value.actions
    return str(action.key)


def play(deck: str, agents: tuple[SearchAgent, SearchAgent], seed: int, decisions: int) -> list[str]:
    """The keys of a game's first decisions, of all where it ends sooner."""
    cards = parse_deck((DECK_FOLDER / f"{deck}.txt").read_text(encoding="utf-8"))
    match = new_match(MatchSpec("ptcg", seed, (cards, cards)))
    keys: list[str] = []
    while len(keys) < decisions:
        play_forced(match)
        if match.result is not None:
            break
        (seat,) = match.seats_to_act()
        key = decide(agents[seat], match)
        keys.append(key)
        match.apply(seat, next(a for a in match.legal_actions(seat) if a.key == key))
    return keys


def test_the_same_seed_decides_alike_and_another_one_differs() -> None:
    games = [
        play("charizard_ex", (SearchAgent(seed, rollouts=8), SearchAgent(seed + 1, rollouts=8)), 3, 40)
        for seed in (1, 1, 5)
    ]
    assert games[0] == games[1]
    assert games[0] != games[2]


@pytest.mark.parametrize("deck", sorted(path.stem for path in DECK_FOLDER.glob("*.txt")))
def test_plays_legal_actions_with_every_deck(deck: str) -> None:
    keys = play(deck, (SearchAgent(1, rollouts=4), SearchAgent(2, rollouts=4, turns=2, candidates=2)), 9, 50)
    assert len({key.partition(":")[0] for key in keys}) > 3


def winning_position() -> dict[str, Any]:
    return {
        "players": [
            {
                "active": {"card": "BRS-121", "under": ["CRZ-111"], "energy": ["SVE-2"] * 3},
                "bench": ["CRZ-111"],
                "prizes": 1,
            },
            {"active": {"card": "PAF-7", "damage": 60}, "bench": ["PAF-7"], "hand": ["SVE-2"]},
        ]
    }


def test_takes_the_last_prize() -> None:
    position = winning_position()
    position["players"][0]["active"] = {"card": "PAF-8", "under": ["PAF-7"], "energy": ["SVE-2", "SVE-2"]}
    assert decide(SearchAgent(1), match_from_position(position)) == "attack:Combustion"


def test_budget_in_rollouts_is_kept() -> None:
    agent = SearchAgent(1, rollouts=12, candidates=4, sure=100.0)
    decide(agent, match_from_position(winning_position()))
    assert 12 <= agent.rollouts_done <= 12 + 3


def test_budget_in_milliseconds_is_used() -> None:
    agent = SearchAgent(1, milliseconds=40, sure=100.0)
    decide(agent, match_from_position(winning_position()))
    assert agent.rollouts_done >= 4


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"rollout": 5}, "unknown parameter 'rollout'; known: rollouts"),
        ({"rollouts": 0}, "rollouts is 0; a whole number from 1 is wanted"),
        ({"margin": "a"}, "margin is 'a'; a number from 0 is wanted"),
    ],
)
def test_bad_settings_are_refused_in_one_line(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        make_agent({"kind": "search", **setting}, 0, 1)
    assert "\n" not in str(error.value)
