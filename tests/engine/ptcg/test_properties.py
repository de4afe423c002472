"""The six properties of a match (docs/match.md), held over random games of every pairing of decks."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations_with_replacement
from pathlib import Path
from random import Random

import pytest
from ptcg_invariants import (
    hold_cards_in_one_zone,
    hold_determinization,
    hold_hidden,
    hold_legal_list,
    hold_refusal,
    hold_table,
    hold_value,
)

from engine.match import MatchSpec, Outcome, play_forced
from engine.ptcg.actions import PASS, PtcgAction
from engine.ptcg.decks import parse_deck
from engine.ptcg.determinize import determinize
from engine.ptcg.game import PtcgMatch, new_match

HELPERS = Path(__file__).parents[2] / "helpers"
DECK_FOLDER = Path(__file__).parents[3] / "conf" / "deck"
DECKS = {path.stem: parse_deck(path.read_text(encoding="utf-8")) for path in sorted(DECK_FOLDER.glob("*.txt"))}
PAIRINGS = list(combinations_with_replacement(sorted(DECKS), 2))
CHEAP_GAMES = int(os.environ.get("PROPERTY_GAMES", "3000"))
DEAR_GAMES = CHEAP_GAMES // 10


def new_game(pairing: tuple[str, str], seed: int) -> PtcgMatch:
    return new_match(MatchSpec("ptcg", seed, (DECKS[pairing[0]], DECKS[pairing[1]])))


def random_game(pairing: tuple[str, str], seed: int) -> Iterator[PtcgMatch]:
    """The match before its first action and after every one, played at random."""
    match = new_game(pairing, seed)
    rng = Random(seed)
    yield match
    while match.result is None:
        (seat,) = match.seats_to_act()
        match.apply(seat, rng.choice(match.legal_actions(seat)))
        yield match


@pytest.mark.parametrize("pairing", PAIRINGS, ids="-".join)
def test_invariants_after_every_action(pairing: tuple[str, str]) -> None:
    for seed in range(max(CHEAP_GAMES // len(PAIRINGS), 1)):
        for match in random_game(pairing, seed):
            hold_cards_in_one_zone(match)
            hold_legal_list(match)
            hold_table(match)
        assert match.result is not None
        assert (match.result.winner is None) == (match.result.outcome != Outcome.WIN)


def decisions(pairing: tuple[str, str], seeds: range) -> Iterator[tuple[PtcgMatch, int]]:
    for seed in seeds:
        for match in random_game(pairing, 1000 + seed):
            if match.result is None:
                (seat,) = match.seats_to_act()
                if len(match.legal_actions(seat)) > 1:
                    yield match, seat


def dear_seeds(share: int) -> range:
    return range(max(DEAR_GAMES // share // len(PAIRINGS), 1))


@pytest.mark.parametrize("pairing", PAIRINGS, ids="-".join)
def test_a_state_is_a_value(pairing: tuple[str, str]) -> None:
    for match, seat in decisions(pairing, dear_seeds(3)):
        hold_value(match, match.legal_actions(seat)[:3])


def test_actions_survive_pickling() -> None:
    for match, seat in decisions(PAIRINGS[0], range(2)):
        for action in match.legal_actions(seat):
            assert pickle.loads(pickle.dumps(action)) is action


def test_equal_spec_and_actions_give_equal_states_in_another_process() -> None:
    program = (
        "from test_properties import PAIRINGS, random_game\n"
        "for pairing in PAIRINGS:\n"
        "    *_, match = random_game(pairing, 7)\n"
        "    print(match.digest(), match.turn, match.result)\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent,
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(HELPERS)},
        ).stdout
        for hash_seed in ("1", "2")
    }
    here = ""
    for pairing in PAIRINGS:
        *_, match = random_game(pairing, 7)
        here += f"{match.digest()} {match.turn} {match.result}\n"
    assert outputs == {here}


@pytest.mark.parametrize("pairing", PAIRINGS, ids="-".join)
def test_replaying_the_keys_gives_the_same_game(pairing: tuple[str, str]) -> None:
    for seed in dear_seeds(6):
        match = new_game(pairing, seed)
        rng = Random(seed)
        keys: list[tuple[int, str]] = []
        while match.result is None:
            (seat,) = match.seats_to_act()
            action = rng.choice(match.legal_actions(seat))
            keys.append((seat, action.key))
            match.apply(seat, action)
        again = new_game(pairing, seed)
        for seat, key in keys:
            again.apply(seat, next(a for a in again.legal_actions(seat) if a.key == key))
        assert again == match


@pytest.mark.parametrize("pairing", PAIRINGS, ids="-".join)
def test_hidden_stays_hidden(pairing: tuple[str, str]) -> None:
    rng = Random(5)
    changed = 0
    for match, _ in decisions(pairing, dear_seeds(3)):
        for seat in (0, 1):
            changed += hold_hidden(match, seat, rng)
    assert changed > 0


@pytest.mark.parametrize("pairing", PAIRINGS, ids="-".join)
def test_determinize_keeps_what_is_known_and_can_give_the_truth(pairing: tuple[str, str]) -> None:
    rng = Random(6)
    for match, seat in decisions(pairing, dear_seeds(3)):
        hold_determinization(match, seat, rng, DECKS[pairing[1 - seat]])


def test_a_determinized_match_can_be_played_to_its_end() -> None:
    rng = Random(8)
    for pairing in PAIRINGS:
        for number, (match, seat) in enumerate(decisions(pairing, range(1))):
            if number % 10 == 0:
                world = determinize(match.observe(seat), rng, DECKS[pairing[1 - seat]])
                while world.result is None:
                    (mover,) = world.seats_to_act()
                    world.apply(mover, rng.choice(world.legal_actions(mover)))


def test_an_illegal_action_changes_nothing() -> None:
    for match, seat in decisions(PAIRINGS[-1], range(3)):
        wrong = PtcgAction(PASS.kind, 0, 3, 0, "no such action")
        hold_refusal(match, seat, wrong)
        hold_refusal(match, 1 - seat, match.legal_actions(seat)[0])


def test_the_turn_cap_ends_a_game_apart_from_a_draw() -> None:
    pairing = PAIRINGS[0]
    match = new_match(MatchSpec("ptcg", 3, (DECKS[pairing[0]], DECKS[pairing[1]]), {"turn_cap": 4}))
    while match.result is None:
        play_forced(match)
        for seat in match.seats_to_act():
            match.apply(seat, next((a for a in match.legal_actions(seat) if a is PASS), match.legal_actions(seat)[0]))
    assert match.result.outcome == Outcome.TURN_CAP
    assert match.result.winner is None
    assert match.turn == 4
