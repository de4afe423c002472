"""The heuristic agent in whole games: with every deck, against random play, and in positions nobody would reach."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from agent_play import HEURISTIC, RANDOM, answer, play_game

from agents.factory import make_agent
from engine.match import MatchSpec
from engine.ptcg.decks import parse_deck
from engine.registry import new_match

LISTS = sorted((Path(__file__).parents[3] / "conf" / "deck").glob("*.txt"))
DECKS = {path.stem: parse_deck(path.read_text(encoding="utf-8")) for path in LISTS}


@pytest.mark.parametrize("deck", DECKS)
def test_beats_random_play_with_every_deck(deck: str) -> None:
    """Forty twin games, of which it wins 34 at least; an even match would give that once in 200 000 times."""
    wins = 0
    for seed in range(20):
        for seat in (0, 1):
            configs = (HEURISTIC, RANDOM) if seat == 0 else (RANDOM, HEURISTIC)
            agents = [make_agent(config, place, 2 * seed + place) for place, config in enumerate(configs)]
            match, _ = play_game(agents, (DECKS[deck], DECKS[deck]), seed)
            assert match.result is not None
            wins += match.result.winner == seat
    assert wins >= 34


def test_a_game_is_the_same_under_the_same_seeds() -> None:
    deck = DECKS["charizard_ex"]

    def game(agent_seed: int) -> tuple[str, list[str]]:
        match, keys = play_game([make_agent(HEURISTIC, seat, agent_seed + seat) for seat in (0, 1)], (deck, deck), 9)
        return match.digest(), keys

    assert game(1) == game(1)
    assert game(1) != game(3)


@pytest.mark.parametrize("deck", DECKS)
def test_answers_legally_wherever_random_play_leads(deck: str) -> None:
    """Every decision of games that random play (half of the time) leads to odd positions, against every other deck."""
    decisions = 0
    for number, other in enumerate(DECKS.values()):
        match = new_match(MatchSpec("ptcg", 100 + number, (DECKS[deck], other)))
        agents = [make_agent(HEURISTIC, seat, seat) for seat in (0, 1)]
        stray = Random(number)
        while seats := match.seats_to_act():
            seat = seats[0]
            legal = match.legal_actions(seat)
            if len(legal) == 1:
                match.apply(seat, legal[0])
                continue
            chosen = answer(agents[seat], match, seat)
            decisions += 1
            match.apply(seat, chosen if stray.random() < 0.5 else legal[stray.randrange(len(legal))])
    assert decisions > 200
