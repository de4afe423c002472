"""Choices under a hidden mask: picks are named as what they are; an index into a list that nobody sees is none."""

from __future__ import annotations

from itertools import islice
from random import Random
from typing import Any

import pytest
from llm_play import ask, call, calls, positions, text
from ptcg_play import choosing, play, pokemon, position, side

from agents.llm.causes import Cause, Refused
from agents.llm.resolve import resolve
from agents.llm.selection import selection
from agents.llm.tools import BY_NAME
from engine.ptcg.card import CARDS
from engine.ptcg.game import PtcgMatch
from engine.ptcg.library import INDEX
from engine.ptcg.state import NUMBER_KIND

CHARMANDER, FIRE, LIGHTNING, BIDOOF, MIST = "PAF-7", "SVE-2", "SVE-4", "CRZ-111", "TEF-161"
HIDDEN = {"mask": "hidden", "further_attempts": 1}


def chosen(match: PtcgMatch, *picks: str | int) -> list[str]:
    """The keys that a choice of these picks comes to where no candidates are listed."""
    observation = match.observe(match.seats_to_act()[0])
    legal = match.legal_actions(observation.seat)
    actions = resolve(BY_NAME["choose_card"], {"chosen_cards": list(picks)}, observation, legal, False)
    return [action.key for action in actions]


def refused(match: PtcgMatch, *picks: str | int) -> Refused:
    """Why such a choice is refused."""
    with pytest.raises(Refused) as caught:
        chosen(match, *picks)
    return caught.value


def ultra_ball() -> PtcgMatch:
    """Two cards of the hand are to be discarded: Bidoof, two Fire Energy, Lightning Energy."""
    hand = ["PAF-91", FIRE, FIRE, LIGHTNING, BIDOOF]
    return play(position(side(CHARMANDER, hand=hand, deck=[CHARMANDER])), "play:PAF-91")


def test_no_choice_of_a_game_takes_a_blind_index() -> None:
    """Over games of all decks: whatever is asked, an index gets nowhere, unless it is the number that is asked for."""
    pick = Random(5)
    kinds = set()
    for match, seat, _ in islice(positions(pick.choice, range(2)), 0, None, 2):
        observation = match.observe(seat)
        prompt = observation.known.prompt
        if prompt is None:
            continue
        kinds.add(prompt.kind)
        least = max(prompt.least - len(prompt.picks), 1)
        labels = [candidate["label"] for candidate in observation.to_json()["choosing"]["candidates"]]
        for first in range(3):
            for item in (first, str(first)):
                if str(first) in labels:
                    assert [action.key for action in selection(observation, [item], False)] == [f"choose:{first}"]
                    continue
                with pytest.raises(Refused) as caught:
                    selection(observation, [item] * least, False)
                assert caught.value.cause is Cause.ILLEGAL_ACTION
                assert not [label for label in labels if len(label) > 3 and label in str(caught.value)]
    assert len(kinds) == 6
    assert NUMBER_KIND in kinds


@pytest.mark.parametrize("protocol", ["tools", "json"])
@pytest.mark.parametrize("index", [0, "0", 1, 61, "choose:0", "0: ", -1])
def test_an_index_is_refused_and_what_is_said_tells_nothing_of_the_candidates(protocol: str, index: Any) -> None:
    reply = {
        "tools": calls(call("choose_card", chosen_cards=[index, index])),
        "json": text(f'{{"call": {{"tool": "choose_card", "arguments": {{"chosen_cards": ["{index}", "{index}"]}}}}}}'),
    }[protocol]
    match = ultra_ball()
    decision, caller = ask(match, [reply, reply], {**HIDDEN, "fallback": "heuristic"}, tool_protocol=protocol)
    assert [(one.verdict, one.cause) for one in decision.attempt_log[:2]] == [("refused", "illegal_action")] * 2
    assert decision.fallback == "heuristic"
    said = caller.requests[1].messages[-1]["content"]
    assert "Nothing was chosen" in said
    assert not [card for card in (FIRE, LIGHTNING, BIDOOF, "Energy", "Bidoof") if card in said]
    listed, _ = ask(match, [calls(call("choose_card", chosen_cards=[0, 1]))])
    assert listed.invalid_attempts == 0


def test_the_refusal_of_an_index_says_how_to_name_a_pick_and_is_the_same_whatever_there_is() -> None:
    few = play(position(side(CHARMANDER, hand=["PAF-91", FIRE, LIGHTNING, BIDOOF])), "play:PAF-91")
    for index in (0, 3, 99):
        told = str(refused(ultra_ball(), index, index))
        assert told == str(refused(few, index, index))
        assert "a card by id or name" in told
        assert len(told) < 300


@pytest.mark.parametrize(
    "picks",
    [
        [BIDOOF, FIRE],
        ["Bidoof", "fire energy"],
        ["Bidoof (CRZ-111)", "Fire Energy (SVE-2)"],
        ["choose:CRZ-111", "choose:SVE-2"],
        ["0: Bidoof (CRZ-111), Basic Pokémon", "1: Fire Energy (SVE-2), Basic Energy"],
    ],
)
def test_cards_are_named_by_id_name_key_or_as_the_hand_shows_them(picks: list[str]) -> None:
    assert chosen(ultra_ball(), *picks) == ["choose:CRZ-111", "choose:SVE-2"]


def test_copies_are_alike_and_picks_stay_atomic() -> None:
    match = ultra_ball()
    assert chosen(match, FIRE, "Fire Energy") == ["choose:SVE-2", "choose:SVE-2"]
    before = match.digest()
    for picks in ([FIRE, 0], [0, FIRE], [FIRE], [FIRE, FIRE, FIRE], [FIRE, "Mewthree"], [LIGHTNING, LIGHTNING]):
        assert "Nothing was chosen" in str(refused(match, *picks))
    assert match.digest() == before


def test_pokemon_of_one_name_are_told_apart_by_their_places() -> None:
    theirs = side(CHARMANDER, BIDOOF, pokemon(CHARMANDER, damage=10), CHARMANDER)
    match = play(position(side(CHARMANDER, hand=["PAL-265"]), theirs), "play:PAL-265")
    assert chosen(match, "Bidoof") == ["choose:opponent.bench1"]
    for named in ("opponent.bench2", "Charmander@opponent.bench2", "Charmander (PAF-7)@opponent.bench2"):
        assert chosen(match, named) == ["choose:opponent.bench2"]
    why = refused(match, "Charmander")
    assert why.cause is Cause.AMBIGUOUS
    assert "the place" in str(why)
    assert "index" not in str(why)
    for wrong in ("Bidoof@opponent.bench2", "Charmander@bench2", "bench2"):
        assert refused(match, wrong).cause is Cause.ILLEGAL_ACTION


def test_cards_attached_to_several_pokemon_are_told_apart_by_their_places() -> None:
    yours = side(pokemon(BIDOOF, tools=["SVI-169"]), pokemon(CHARMANDER, tools=["SVI-169"]), hand=["CRZ-135", FIRE])
    match = play(position(yours), "play:CRZ-135")
    assert choosing(match) is not None
    assert chosen(match, "SVI-169@bench1") == ["choose:SVI-169@bench1"]
    assert chosen(match, "Defiance Band (SVI-169)@active") == ["choose:SVI-169@active"]
    assert chosen(match, "Defiance Band@bench1") == ["choose:SVI-169@bench1"]
    assert refused(match, "Defiance Band").cause is Cause.AMBIGUOUS
    assert refused(match, "Defiance Band@bench3").cause is Cause.ILLEGAL_ACTION


def test_a_number_is_named_by_itself_and_options_by_their_text() -> None:
    munkidori = pokemon("TWM-95", energy=["SVE-7"], damage=30)
    match = play(position(side(munkidori), CHARMANDER), "ability:Adrena-Brain@active")
    assert (chosen(match, 1), chosen(match, "3")) == (["choose:1"], ["choose:3"])
    assert "none of the candidates" in str(refused(match, 0))
    match = next(iter(positions(lambda legal: legal[0], [1], ["charizard_ex"])))[0]
    assert chosen(match, "go second") == ["choose:go second"]
    assert "is an index" in str(refused(match, 1))


def test_the_active_pokemon_of_the_set_up_takes_no_index_either() -> None:
    for match, seat, legal in positions(lambda legal: legal[0], range(6), ["charizard_ex"]):
        observation = match.observe(seat)
        shown = observation.to_json()["choosing"]
        if shown is None or shown["question"] != "Choose your Active Pokémon":
            continue
        with pytest.raises(Refused):
            resolve(BY_NAME["play_pokemon"], {"source_card": "0", "position": "active"}, observation, legal, False)
        label = shown["candidates"][-1]["label"]
        said = {"source_card": CARDS[INDEX[label]].name, "position": "active"}
        (action,) = resolve(BY_NAME["play_pokemon"], said, observation, legal, False)
        assert action.key == f"choose:{label}"
        return
    raise AssertionError("no game offered a choice of the Active Pokémon")


def test_every_candidate_of_a_game_is_within_reach_by_what_the_position_calls_it() -> None:
    """Over games of all decks: name and id, with the place of what is in play, pick just that candidate."""
    pick = Random(6)
    reached = set()
    for match, seat, legal in islice(positions(pick.choice, range(2)), 0, None, 3):
        observation = match.observe(seat)
        prompt = observation.known.prompt
        if prompt is None or prompt.minimum_total or prompt.least - len(prompt.picks) > 1:
            continue
        for action in legal:
            label = action.key.partition(":")[2]
            card = action.card if action.card >= 0 else action.target
            if card < 0:
                continue
            place = label.rpartition("@")[2]
            said = f"{CARDS[card].name} ({CARDS[card].id})" + ("" if place in INDEX else f"@{place}")
            assert selection(observation, [said], False)[0] is action
            reached.add(prompt.kind)
    assert len(reached) == 3
