"""The stand-in game keeps the match contract, and mishaps happen where they are ordered."""

from __future__ import annotations

import pickle
import subprocess
import sys
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.match import Cause, IllegalAction, Match, MatchSpec, Outcome, action_with_key
from engine.registry import new_match
from engine.standin import StandinFault, Take

OPTIONS = st.fixed_dictionaries(
    {
        "turns": st.one_of(st.integers(1, 12), st.tuples(st.integers(1, 5), st.integers(5, 9)).map(list)),
        "choices": st.integers(2, 9),
        "forced_every": st.integers(0, 3),
        "simultaneous": st.booleans(),
        "turn_cap": st.one_of(st.none(), st.integers(1, 12)),
    }
)


def started(seed: int = 1, **options: Any) -> Match:
    return new_match(MatchSpec("standin", seed, options=options))


def play_on(match: Match, random: Random) -> list[tuple[int, str]]:
    """Play to the end with random actions; what was played."""
    played = []
    while seats := match.seats_to_act():
        seat = random.choice(seats)
        action = random.choice(match.legal_actions(seat))
        match.apply(seat, action)
        played.append((seat, action.key))
    return played


@given(st.integers(0, 2**63 - 1), OPTIONS, st.integers())
def test_every_game_ends_and_its_actions_lead_to_the_same_state_again(
    seed: int, options: dict[str, Any], agents: int
) -> None:
    first, second = started(seed, **options), started(seed, **options)
    played = play_on(first, Random(agents))
    assert first.result is not None
    for seat, key in played:
        second.apply(seat, action_with_key(second, seat, key))
    assert second == first
    assert second.digest() == first.digest()


@given(st.integers(0, 2**63 - 1), OPTIONS, st.integers(0, 30))
def test_a_clone_and_an_unpickled_match_go_on_as_the_match_would(
    seed: int, options: dict[str, Any], actions: int
) -> None:
    match = started(seed, **options)
    random = Random(seed)
    for _ in range(actions):
        if seats := match.seats_to_act():
            match.apply(seats[0], random.choice(match.legal_actions(seats[0])))
    copies = [match.clone(), pickle.loads(pickle.dumps(match))]
    digest = match.digest()
    assert [copy.digest() for copy in copies] == [digest, digest]
    played = play_on(copies[0], Random(3))
    assert match.digest() == digest, "playing a copy on must leave the match alone"
    assert play_on(copies[1], Random(3)) == play_on(match, Random(3)) == played
    assert copies[0].digest() == copies[1].digest() == match.digest()


@given(st.integers(0, 2**63 - 1), OPTIONS)
def test_legal_actions_can_be_told_apart_and_all_be_played(seed: int, options: dict[str, Any]) -> None:
    match = started(seed, **options)
    for seat in match.seats_to_act():
        legal = match.legal_actions(seat)
        assert len({action.key for action in legal}) == len({action.sentence for action in legal}) == len(legal) > 0
        for action in legal:
            match.clone().apply(seat, action)


def test_an_illegal_action_is_refused_and_changes_nothing() -> None:
    match = started(choices=2)
    (seat,) = match.seats_to_act()
    offered = {action.key for action in match.legal_actions(seat)}
    absent = next(Take(worth) for worth in range(1, 10) if f"take:{worth}" not in offered)
    before = match.digest()
    for who, action in ((seat, absent), (1 - seat, match.legal_actions(seat)[0])):
        with pytest.raises(IllegalAction):
            match.apply(who, action)
    assert match.digest() == before
    assert match.legal_actions(1 - seat) == ()


def test_the_higher_score_wins_and_equal_scores_draw() -> None:
    # One turn is one action of seat 0: whatever it takes, it has more than nothing.
    match = started(turns=1)
    match.apply(0, match.legal_actions(0)[0])
    assert match.result is not None
    assert (match.result.outcome, match.result.winner, match.result.cause) == (Outcome.WIN, 0, Cause.SCORE)
    # The same offer taken by both scores for neither.
    match = started(turns=1, simultaneous=True)
    for seat in (0, 1):
        match.apply(seat, match.legal_actions(seat)[0])
    assert match.result is not None
    assert (match.result.outcome, match.result.winner) == (Outcome.DRAW, None)


def test_a_game_over_its_turn_cap_is_no_draw() -> None:
    match = started(turns=9, turn_cap=4)
    play_on(match, Random(1))
    assert match.result is not None
    assert (match.result.outcome, match.result.cause, match.turn) == (Outcome.TURN_CAP, Cause.TURN_CAP, 4)


def test_a_simultaneous_choice_is_hidden_from_the_other_seat() -> None:
    match = started(simultaneous=True, choices=4)
    others = []
    for action in match.legal_actions(0):
        copy = match.clone()
        copy.apply(0, action)
        assert copy.seats_to_act() == (1,)
        others.append((copy.observe(1).to_json(), [other.key for other in copy.legal_actions(1)]))
    assert all(other == others[0] for other in others)


def test_every_third_turn_is_forced_where_that_is_asked_for() -> None:
    match = started(turns=9, forced_every=3)
    counts = []
    while seats := match.seats_to_act():
        counts.append(len(match.legal_actions(seats[0])))
        match.apply(seats[0], match.legal_actions(seats[0])[0])
    assert counts == [3, 3, 1] * 3


def test_a_fault_strikes_the_chosen_seed_attempt_and_ply_only() -> None:
    fault = {"kind": "raise", "ply": 3, "seeds": [5], "attempts": [1]}
    struck = started(5, faults=[fault], attempt=1)
    for _ in range(3):
        (seat,) = struck.seats_to_act()
        struck.apply(seat, struck.legal_actions(seat)[0])
    (seat,) = struck.seats_to_act()
    with pytest.raises(StandinFault, match="ply 3"):
        struck.apply(seat, struck.legal_actions(seat)[0])
    for seed, attempt in ((5, 2), (6, 1)):
        assert play_on(started(seed, faults=[fault], attempt=attempt), Random(0)) == play_on(started(seed), Random(0))


@pytest.mark.parametrize(("kind", "code"), [("exit", 70), ("kill", -9)])
def test_a_crash_ends_the_process(kind: str, code: int) -> None:
    program = (
        "from engine.match import MatchSpec; from engine.registry import new_match\n"
        f"match = new_match(MatchSpec('standin', 1, options={{'faults': [{{'kind': '{kind}'}}]}}))\n"
        "match.apply(0, match.legal_actions(0)[0])"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == code


@pytest.mark.parametrize("kind", ["sleep", "spin", "native_hang"])
def test_a_hang_does_not_come_back_and_only_the_native_one_lets_no_other_thread_run(kind: str) -> None:
    program = (
        "import threading, time, os\n"
        "from engine.match import MatchSpec; from engine.registry import new_match\n"
        f"match = new_match(MatchSpec('standin', 1, options={{'faults': [{{'kind': '{kind}'}}]}}))\n"
        "def other():\n"
        "    time.sleep(0.3)\n"
        "    os.write(1, b'other thread')\n"
        "threading.Thread(target=other, daemon=True).start()\n"
        "os.write(1, b'playing,')\n"
        "match.apply(0, match.legal_actions(0)[0])\n"
        "os.write(1, b'came back')"
    )
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, timeout=2.5)
    assert caught.value.stdout == (b"playing," if kind == "native_hang" else b"playing,other thread")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lenght": 3}, "unknown option 'lenght'; known: turns"),
        ({"turns": 0}, "turns is a number from 1"),
        ({"turns": [5, 2]}, "turns is a number from 1"),
        ({"choices": 1}, "choices is 2 to 9, not 1"),
        ({"faults": [{"kind": "burn"}]}, "kind of a fault is one of raise, exit"),
        ({"faults": [{"kind": "raise", "when": 3}]}, "unknown key 'when' of a fault"),
    ],
)
def test_a_bad_option_is_refused_with_what_is_right(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said.replace("[", r"\[")) as caught:
        started(**options)
    assert "\n" not in str(caught.value)
