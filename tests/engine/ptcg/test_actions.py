"""Actions: their keys, sentences and payload, and the choices they lead to."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from ptcg_play import actor, choosing, hand, keys, play, pokemon, position, side

from engine.match import IllegalAction, action_with_key, play_forced
from engine.ptcg.card import CARDS
from engine.ptcg.game import PtcgMatch

R, L = "SVE-2", "SVE-4"


def sentences(match: PtcgMatch) -> dict[str, str]:
    return {action.key: action.sentence for action in match.legal_actions(actor(match))}


def test_each_form_of_a_turns_actions_has_its_key_and_sentence() -> None:
    match = position(
        side(
            pokemon("PAF-7", energy=[R, R]),
            "MEW-16",
            pokemon("OBF-164", under=["MEW-16"]),
            hand=["CRZ-111", "PAF-8", R, "SVI-169", "PAF-84", "BRS-137"],
        ),
        stadium={"card": "OBF-196", "owner": 0},
    )
    assert sentences(match) == {
        "bench:CRZ-111": "Put Bidoof (CRZ-111) from your hand onto your Bench.",
        "evolve:PAF-8>active": "Evolve Charmander in your Active Spot into Charmeleon (PAF-8).",
        "attach:SVE-2>active": "Attach Fire Energy (SVE-2) to Charmander in your Active Spot.",
        "attach:SVE-2>bench1": "Attach Fire Energy (SVE-2) to Pidgey in place 1 of your Bench.",
        "attach:SVE-2>bench2": "Attach Fire Energy (SVE-2) to Pidgeot ex in place 2 of your Bench.",
        "attach:SVI-169>active": "Attach Defiance Band (SVI-169) to Charmander in your Active Spot.",
        "attach:SVI-169>bench1": "Attach Defiance Band (SVI-169) to Pidgey in place 1 of your Bench.",
        "attach:SVI-169>bench2": "Attach Defiance Band (SVI-169) to Pidgeot ex in place 2 of your Bench.",
        "play:PAF-84": "Play Nest Ball (PAF-84).",
        "play:BRS-137": "Play Collapsed Stadium (BRS-137).",
        "ability:Quick Search@bench2": "Use Quick Search of Pidgeot ex (OBF-164) in place 2 of your Bench.",
        "stadium:OBF-196": "Use the effect of the Stadium Town Store (OBF-196).",
        "retreat>bench1": "Retreat: switch your Active Pokémon with Pidgey in place 1 of your Bench.",
        "retreat>bench2": "Retreat: switch your Active Pokémon with Pidgeot ex in place 2 of your Bench.",
        "attack:Blazing Destruction": "Attack with Blazing Destruction of Charmander (PAF-7).",
        "attack:Steady Firebreathing": "Attack with Steady Firebreathing of Charmander (PAF-7).",
        "pass": "End your turn without attacking.",
    }


def test_each_form_of_a_choice_has_its_key_and_sentence() -> None:
    match = position(
        side(pokemon("CRZ-111", tools=["SVI-169"]), hand=["CRZ-135", R, L, "PAL-265", "PAF-84"], deck=["PAF-7"]),
        side("CRZ-111", pokemon("MEW-16", tools=["TEF-159"]), "MEW-16"),
        stadium={"card": "OBF-196", "owner": 1},
    )
    gust = play(match.clone(), "play:PAL-265")
    assert sentences(gust) == {
        "choose:opponent.bench1": "Choose Pidgey in place 1 of your opponent's Bench.",
        "choose:opponent.bench2": "Choose Pidgey in place 2 of your opponent's Bench.",
    }
    search = play(match.clone(), "play:PAF-84")
    assert sentences(search) == {"choose:PAF-7": "Choose Charmander (PAF-7).", "done": "Choose no more."}
    play(match, "play:CRZ-135", "choose:SVE-2")
    assert sentences(match) == {
        "choose:SVI-169@active": "Choose Defiance Band (SVI-169) attached to Bidoof in your Active Spot.",
        "choose:TEF-159@opponent.bench1": (
            "Choose Rescue Board (TEF-159) attached to Pidgey in place 1 of your opponent's Bench."
        ),
        "choose:OBF-196@stadium": "Choose the Stadium Town Store (OBF-196).",
    }
    lumineon = play(position(side("CRZ-111", hand=["BRS-40"])), "bench:BRS-40")
    assert sentences(lumineon) == {"choose:yes": "Choose: yes.", "choose:no": "Choose: no."}


def test_an_action_carries_what_it_is_about() -> None:
    match = position(side("CRZ-111", "PAF-7", hand=["PAF-8"]))
    action = next(action for action in match.legal_actions(0) if action.key == "evolve:PAF-8>bench1")
    assert (action.kind.value, CARDS[action.card].id, action.place, CARDS[action.target].id) == (
        "evolve",
        "PAF-8",
        1,
        "PAF-7",
    )
    assert pickle.loads(pickle.dumps(action)) is action
    assert hash(action) == hash(action_with_key(match, 0, "evolve:PAF-8>bench1"))


def test_a_choice_names_its_source_question_limits_and_picks() -> None:
    match = position(side("CRZ-111", hand=["TEF-144"], deck=["PAF-7", "PAF-7", "MEW-16", R]))
    play(match, "play:TEF-144")
    choice = choosing(match)
    assert choice is not None
    assert (choice["source"], choice["least"], choice["most"], choice["picked"]) == ("TEF-144", 0, 2, [])
    assert choice["question"]
    assert choice["candidates"] == [
        {"index": 0, "label": "MEW-16", "copies": 1},
        {"index": 1, "label": "PAF-7", "copies": 2},
    ]
    play(match, "choose:PAF-7")
    choice = choosing(match)
    assert choice is not None
    assert choice["picked"] == ["PAF-7"]
    # A set is offered in one order only: after Charmander no Pidgey.
    assert keys(match) == ["choose:PAF-7", "done"]


def test_a_choice_that_cannot_be_completed_is_not_offered() -> None:
    """Two cards have to be discarded: the last kind alone has only one copy, so it cannot be the first pick."""
    match = position(side("CRZ-111", hand=["PAF-91", R, R, L], deck=["PAF-7"]))
    play(match, "play:PAF-91", forced=False)
    assert keys(match) == ["choose:SVE-2"]
    play(match, "choose:SVE-2", forced=False)
    assert keys(match) == ["choose:SVE-2", "choose:SVE-4"]


def test_a_payment_that_cannot_be_completed_is_not_begun() -> None:
    """A Retreat Cost of 2 from two Energy of different types: after the second in order nothing could follow."""
    match = position(side(pokemon("PAF-54", energy=[L, R]), "MEW-16"))
    play(match, "retreat>bench1", forced=False)
    assert keys(match) == ["choose:SVE-2@active"]


def test_a_choice_ends_by_itself_where_nothing_is_left_to_choose() -> None:
    """Picks go in the order of the candidates: after the last one there is nothing that could follow."""
    match = position(side("CRZ-111", hand=["PAR-163", "PAF-7"], deck=[R, "SVE-8"]))
    play(match, "play:PAR-163", "choose:PAF-7", forced=False)
    assert keys(match) == ["choose:SVE-2", "choose:SVE-8", "done"]
    play(match, "choose:SVE-8", forced=False)
    assert choosing(match) is None
    assert hand(match, 0) == ["SVE-8"]


def test_forced_actions_are_played_until_a_decision() -> None:
    match = position(side("CRZ-111"), side("CRZ-111", deck=["PAF-7"]))
    played = play_forced(match)
    assert [(seat, action.key) for seat, action in played] == [(0, "pass")]
    assert (actor(match), keys(match)) == (1, ["bench:PAF-7", "pass"])


def test_an_unknown_key_is_refused_by_name() -> None:
    match = position(side("CRZ-111"))
    with pytest.raises(IllegalAction, match="seat 0 has no legal action 'attack:Fly' now"):
        action_with_key(match, 0, "attack:Fly")


@pytest.mark.parametrize("given", ["pass", None, 3])
def test_what_is_no_action_is_refused_and_changes_nothing(given: Any) -> None:
    match = position(side("CRZ-111"))
    before = match.clone()
    with pytest.raises(IllegalAction, match=f"^{given!r} is no action of this game; take one of legal_actions"):
        match.apply(0, given)
    assert match == before


def test_a_match_is_a_value_in_the_middle_of_an_effect() -> None:
    match = position(side("CRZ-111", hand=["PAF-91", R, L, L], deck=["PAF-7", "PAF-8"]))
    play(match, "play:PAF-91", "choose:SVE-2")
    copy, packed = match.clone(), pickle.loads(pickle.dumps(match))
    assert match == copy == packed
    assert match.digest() == packed.digest()
    for other in (match, packed):
        play(other, "choose:PAF-8")
        assert other != copy
    assert match == packed
    assert keys(copy) == ["choose:PAF-7", "choose:PAF-8", "done"]


@pytest.mark.parametrize(
    ("card", "words"),
    [
        ("PAF-54", ("Bench", "no damage", "2 Prize cards")),
        ("MEW-151", ("2 Prize cards",)),
        ("CRZ-45", ("2 Prize cards",)),
        ("CRZ-20", ("1 Radiant Pokémon",)),
    ],
)
def test_a_pokemons_text_says_what_its_rule_box_does(card: str, words: tuple[str, ...]) -> None:
    text = next(found.text for found in CARDS if found.id == card)
    assert all(word in text for word in words)
