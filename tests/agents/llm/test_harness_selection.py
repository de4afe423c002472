"""Choices: all picks at once, by label, name or index, played together or not at all."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from random import Random
from typing import Any

import pytest
from llm_play import ask, call, calls, positions
from ptcg_play import bench_cards, choosing, discard, hand, play, pokemon, position, side

from agents.llm.alike import only_choice
from agents.llm.causes import Cause, Refused
from agents.llm.selection import selection
from engine.match import action_with_key
from engine.ptcg.game import PtcgMatch

CHARMANDER, FIRE, LIGHTNING, BIDOOF = "PAF-7", "SVE-2", "SVE-4", "CRZ-111"


def chosen(match: PtcgMatch, *picks: str | int) -> list[str]:
    """The keys that a choice of these picks comes to."""
    return [action.key for action in selection(match.observe(match.seats_to_act()[0]), picks)]


def refused(match: PtcgMatch, *picks: str | int) -> Refused:
    """Why such a choice is refused."""
    with pytest.raises(Refused) as caught:
        chosen(match, *picks)
    return caught.value


def ultra_ball(*more: str) -> PtcgMatch:
    """Ultra Ball has been played: two of the hand's cards are to be discarded."""
    return play(position(side(CHARMANDER, hand=["PAF-91", FIRE, LIGHTNING, *more], deck=[CHARMANDER])), "play:PAF-91")


def test_all_picks_are_played_at_once_in_the_engines_order() -> None:
    match = ultra_ball(BIDOOF)
    assert chosen(match, LIGHTNING, "Bidoof") == ["choose:CRZ-111", "choose:SVE-4"]
    decision, _ = ask(match, [calls(call("choose_card", chosen_cards=[LIGHTNING, "Bidoof"]))])
    for action in decision.actions:
        match.apply(0, action)
    assert discard(match, 0) == [BIDOOF, LIGHTNING]


def test_labels_names_indices_and_keys_all_name_a_candidate() -> None:
    match = ultra_ball(BIDOOF)
    expected = ["choose:CRZ-111", "choose:SVE-2"]
    for picks in (["CRZ-111", "SVE-2"], ["bidoof", "Fire Energy (SVE-2)"], [0, 1], ["0", "1"], ["choose:CRZ-111", 1]):
        assert chosen(match, *picks) == expected
    assert chosen(match, "0: CRZ-111 Bidoof", "1: SVE-2 Fire Energy") == expected


@pytest.mark.parametrize(
    "picks",
    [
        pytest.param([BIDOOF], id="too few"),
        pytest.param([], id="none"),
        pytest.param([BIDOOF, FIRE, LIGHTNING], id="too many"),
        pytest.param([BIDOOF, BIDOOF], id="more copies than there are"),
        pytest.param([BIDOOF, "Mewthree"], id="one that is no candidate"),
        pytest.param([BIDOOF, 9], id="an index out of range"),
        pytest.param([BIDOOF, -1], id="a negative index"),
        pytest.param([BIDOOF, "፩"], id="a digit that is no number"),
    ],
)
def test_one_illegal_pick_and_none_is_played(picks: list[Any]) -> None:
    match = ultra_ball(BIDOOF)
    before = match.digest()
    why = refused(match, *picks)
    assert why.cause is Cause.ILLEGAL_ACTION
    assert "Nothing was chosen" in str(why)
    right = calls(call("choose_card", chosen_cards=[FIRE, LIGHTNING]))
    decision, _ = ask(match, [calls(call("choose_card", chosen_cards=picks)), right])
    assert match.digest() == before
    assert [action.key for action in decision.actions] == ["choose:SVE-2", "choose:SVE-4"]
    assert (decision.attempts, decision.invalid_attempts) == (2, 1)


def test_picks_that_were_forced_are_told_and_the_rest_is_asked_for() -> None:
    """Of three Fire and one Lightning Energy two are to be discarded: the first can only be Fire."""
    match = ultra_ball(FIRE, FIRE)
    _, caller = ask(match, [calls(call("choose_card", chosen_cards=[LIGHTNING]))])
    assert '"picked": ["Fire Energy (SVE-2)"]' in caller.requests[0].messages[-1]["content"]
    assert chosen(match, LIGHTNING) == ["choose:SVE-4"]
    why = str(refused(match, FIRE, LIGHTNING))
    assert "Choose 1 more" in why
    assert "SVE-2 is picked already" in why


def test_copies_are_chosen_by_naming_them_repeatedly() -> None:
    match = ultra_ball(FIRE, FIRE, "TEF-161")
    assert chosen(match, FIRE, "Fire Energy") == ["choose:SVE-2", "choose:SVE-2"]


def test_choosing_fewer_than_allowed_ends_with_done_and_nothing_is_an_answer_where_it_is_allowed() -> None:
    match = position(side(CHARMANDER, hand=["TEF-144"], deck=[CHARMANDER, BIDOOF, BIDOOF]))
    play(match, "play:TEF-144")
    assert chosen(match, "Bidoof") == ["choose:CRZ-111", "done"]
    assert chosen(match) == ["done"]
    assert chosen(match, "done") == ["done"]
    assert chosen(match, CHARMANDER, BIDOOF) == ["choose:CRZ-111", "choose:PAF-7"]
    decision, _ = ask(match, [calls(call("choose_card", chosen_cards=[CHARMANDER, BIDOOF]))])
    for action in decision.actions:
        match.apply(0, action)
    assert sorted(bench_cards(match, 0)) == [BIDOOF, CHARMANDER]


def test_energy_for_a_retreat_is_paid_exactly() -> None:
    yours = side(pokemon(BIDOOF, energy=["TEF-161", FIRE, FIRE]), CHARMANDER)
    match = play(position(yours), "retreat>bench1")
    assert choosing(match) is not None
    assert chosen(match, "SVE-2@active") == ["choose:SVE-2@active"]
    assert chosen(match, "Mist Energy") == ["choose:TEF-161@active"]
    assert "Nothing was chosen" in str(refused(match, "SVE-2@active", "TEF-161@active"))


def test_a_payment_that_is_too_small_is_told_what_all_of_it_must_provide_and_what_is_picked_already() -> None:
    # One Fire Energy has to go whatever else does: Double Turbo Energy alone provides two of three.
    radiant = pokemon("CRZ-20", energy=[FIRE, FIRE, "BRS-151"])
    match = play(position(side(radiant, BIDOOF)), "retreat>bench1")
    assert (choosing(match) or {})["picked"] == ["SVE-2@active"]
    for least in ([], [FIRE]):
        assert "at least 3 Energy, 3 cards at most. SVE-2@active is picked already." in str(refused(match, *least))
    assert chosen(match, "Double Turbo Energy") == ["choose:BRS-151@active"]


def test_pokemon_in_play_are_named_by_place_or_name() -> None:
    yours = side(CHARMANDER, hand=["PAL-265"])
    match = play(position(yours, side(CHARMANDER, BIDOOF, pokemon(CHARMANDER, damage=10), CHARMANDER)), "play:PAL-265")
    assert chosen(match, "Bidoof") == ["choose:opponent.bench1"]
    assert chosen(match, "opponent.bench2") == ["choose:opponent.bench2"]
    assert chosen(match, "1: opponent.bench2 Charmander") == ["choose:opponent.bench2"]
    assert chosen(match, "Charmander@opponent.bench2") == ["choose:opponent.bench2"]
    assert refused(match, "Charmander").cause is Cause.AMBIGUOUS


def test_a_name_for_several_alike_picks_as_many_as_are_asked_for() -> None:
    yours = side(pokemon(CHARMANDER, energy=[FIRE], tools=["PAR-178"]), BIDOOF, BIDOOF, CHARMANDER, deck=[FIRE])
    match = play(position(yours), "attack:Evolution")
    assert chosen(match, "Bidoof", "Bidoof") == ["choose:bench1", "choose:bench2"]
    assert chosen(match, "Bidoof") == ["choose:bench1", "done"]


def test_options_and_yes_or_no_are_answered_by_their_text() -> None:
    match = next(iter(positions(lambda legal: legal[0], [1], ["charizard_ex"])))[0]
    assert chosen(match, "Go second") == ["choose:go second"]
    assert chosen(match, 0) == ["choose:go first"]
    stadium = {"card": "BRS-137", "owner": 1}
    pidgeot = pokemon("OBF-164", energy=["SVE-2", "SVE-2"])
    match = play(position(side(pidgeot), side(pokemon("PAF-54")), stadium=stadium), "attack:Blustery Wind")
    assert chosen(match, "no") == ["choose:no"]
    assert refused(match, "maybe").cause is Cause.ILLEGAL_ACTION


def test_a_number_is_the_number_itself_and_not_an_index() -> None:
    munkidori = pokemon("TWM-95", energy=["SVE-7"], damage=30)
    match = play(position(side(munkidori), CHARMANDER), "ability:Adrena-Brain@active")
    assert choosing(match) is not None
    assert chosen(match, 1) == ["choose:1"]
    assert chosen(match, "3") == ["choose:3"]
    assert refused(match, 0).cause is Cause.ILLEGAL_ACTION


def test_a_choice_where_none_is_asked_for_is_refused() -> None:
    assert "no choice to make" in str(refused(position(side(CHARMANDER)), CHARMANDER))


def test_any_legal_sequence_of_picks_is_accepted_at_once_in_any_order() -> None:
    """Over games of all decks: what can be picked one by one can be chosen at once, to the same end."""
    pick = Random(5)
    sizes: Counter[int] = Counter()
    for match, seat, _ in islice(positions(pick.choice, range(3)), 0, None, 2):
        observation = match.observe(seat)
        if observation.known.prompt is None or observation.known.prompt.picks:
            continue
        stepwise = match.clone()
        labels: list[str] = []
        question = (choosing(match) or {})["question"]
        while (choice := choosing(stepwise)) is not None and stepwise.seats_to_act() == (seat,):
            if choice["question"] != question or len(choice["picked"]) != len(labels):
                break
            action = pick.choice(stepwise.legal_actions(seat))
            stepwise.apply(seat, action)
            if action.key == "done":
                break
            labels.append(action.key.removeprefix("choose:"))
        pick.shuffle(labels)
        at_once = match.clone()
        for action in selection(observation, labels):
            at_once.apply(seat, action)
        assert at_once.state.players == stepwise.state.players
        sizes[len(labels)] += 1
    assert {0, 1, 2} <= set(sizes)


def test_candidates_that_nothing_can_tell_apart_are_no_choice() -> None:
    damaged = pokemon(CHARMANDER, damage=10)
    catcher = side(CHARMANDER, hand=["PAL-265", FIRE])
    alike = play(position(catcher, side(BIDOOF, CHARMANDER, CHARMANDER)), "play:PAL-265")
    first = only_choice(alike.observe(0), alike.legal_actions(0))
    assert first is not None
    assert first.key == "choose:opponent.bench1"
    decision, caller = ask(alike, [])
    assert [action.key for action in decision.actions] == ["choose:opponent.bench1"]
    assert (decision.attempts, len(caller.requests)) == (0, 0)
    for other in (damaged, pokemon(CHARMANDER, energy=[FIRE]), pokemon(CHARMANDER, tools=["SVI-169"]), BIDOOF):
        different = play(position(catcher, side(BIDOOF, CHARMANDER, other)), "play:PAL-265")
        assert only_choice(different.observe(0), different.legal_actions(0)) is None


def test_whether_to_stop_is_a_choice_also_among_things_alike() -> None:
    match = play(position(side(CHARMANDER, hand=["TEF-144"], deck=[BIDOOF] * 3)), "play:TEF-144")
    assert only_choice(match.observe(0), match.legal_actions(0)) is None


def test_what_is_alike_is_played_alike_in_every_harness() -> None:
    match = play(
        position(side(CHARMANDER, hand=["PAL-265", FIRE]), side(BIDOOF, CHARMANDER, CHARMANDER)), "play:PAL-265"
    )
    for harness in ({}, {"observation": "raw", "mask": "hidden", "history": "none"}, {"prompt": "short"}):
        decision, caller = ask(match, [], harness)
        assert (decision.actions[0].key, caller.requests) == ("choose:opponent.bench1", [])
    assert hand(match, 0) == [FIRE]


def test_a_key_picked_where_more_are_wanted_is_put_right_by_the_next_decision() -> None:
    """Picking one by one by keys alone, as a model does whose replies are held to the legal keys."""
    match = ultra_ball(BIDOOF)
    replies = [calls(call("choose_card", chosen_cards=[FIRE]))] * 4
    decision, _ = ask(match, replies, {"fallback": "pass"})
    assert decision.fallback == "pass"
    match.apply(0, action_with_key(match, 0, "choose:CRZ-111"))
    assert chosen(match, FIRE) == ["choose:SVE-2"]
    assert refused(match, BIDOOF).cause is Cause.ILLEGAL_ACTION
