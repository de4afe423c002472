"""Knock Outs, Prize cards, new Active Pokémon, and who has won."""

from __future__ import annotations

import pytest
from ptcg_play import (
    active,
    actor,
    bench,
    bench_cards,
    discard,
    events,
    hand,
    keys,
    outcome,
    own,
    play,
    pokemon,
    position,
    prizes_left,
    side,
    view,
    with_coins,
)

from engine.ptcg.position import match_from_position

R, L = "SVE-2", "SVE-4"
BURNING = pokemon("PAF-54", energy=[R, R])


def test_a_knocked_out_pokemon_goes_to_its_owners_discard_pile_with_all_cards() -> None:
    fallen = pokemon("PAF-8", under=["PAF-7"], energy=[R, L], tools=["SVI-169"])
    match = play(position(side(BURNING), side(fallen, "CRZ-111", "MEW-16")), "attack:Burning Darkness")
    assert discard(match, 1) == sorted(["PAF-8", "PAF-7", R, L, "SVI-169"])
    assert active(match, 1) is None
    assert actor(match) == 1
    assert keys(match) == ["choose:bench1", "choose:bench2"]
    play(match, "choose:bench2")
    assert active(match, 1)["card"] == "MEW-16"
    assert bench_cards(match, 1) == ["CRZ-111"]
    assert match.turn == 6


@pytest.mark.parametrize(
    ("card", "prizes"), [("PAF-7", 1), ("CRZ-20", 1), ("MEW-151", 2), ("CRZ-45", 2), ("OBF-164", 2), ("PAF-54", 2)]
)
def test_prizes_are_those_printed_on_the_card(card: str, prizes: int) -> None:
    match = play(position(side(BURNING), side(pokemon(card), "CRZ-111", prizes=1)), "attack:Burning Darkness")
    assert prizes_left(match)[0] == 6 - prizes
    assert own(match, 0)["hand_count"] == prizes


def test_prizes_come_from_the_top_and_only_their_player_sees_them() -> None:
    mine = ["PAF-7", "PAF-8", "PAF-54", R, R, R]
    match = play(position(side(BURNING, prizes=mine), side("MEW-151", "CRZ-111")), "attack:Burning Darkness")
    assert hand(match, 0) == sorted(["PAF-7", "PAF-8"])
    assert events(match, 0, "prizes")[0]["cards"] == ["PAF-7", "PAF-8"]
    assert events(match, 1, "prizes")[0] == {"event": "prizes", "seat": 0, "count": 2}
    assert view(match, 1)["opponent"]["hand"] == []


def test_the_last_prize_wins() -> None:
    match = position(side(BURNING, prizes=1), side("CRZ-111", "MEW-16"))
    play(match, "attack:Burning Darkness")
    assert outcome(match) == ("win", 0, "prizes")
    assert match.seats_to_act() == ()
    assert keys(match) == []


def test_two_prizes_for_a_player_with_one_left_win_too() -> None:
    match = play(position(side(BURNING, prizes=1), side("MEW-151", "MEW-16")), "attack:Burning Darkness")
    assert outcome(match) == ("win", 0, "prizes")


def test_a_benched_pokemon_is_knocked_out_where_it_is() -> None:
    """Moonlight Shuriken, copied: 90 to the Active Radiant Greninja and to a Benched Pidgey."""
    match = position(side(pokemon("MEW-151", energy=[L, L, L])), side("ASR-46", "MEW-16"))
    play(match, "attack:Genome Hacking")
    assert bench_cards(match, 1) == []
    assert prizes_left(match) == (5, 6)
    assert active(match, 1)["damage"] == 90
    assert match.result is None


def test_several_knock_outs_at_once_give_all_their_prizes() -> None:
    match = position(
        side(pokemon("MEW-151", energy=[L, L, L])), side(pokemon("ASR-46", damage=40), "MEW-16", "CRZ-111", "PAF-7")
    )
    play(match, "attack:Genome Hacking", "choose:opponent.active", "choose:opponent.bench1")
    assert prizes_left(match) == (4, 6)
    play(match, "choose:bench2")
    assert active(match, 1)["card"] == "PAF-7"


def test_both_active_pokemon_knocked_out_the_player_to_move_next_takes_prizes_and_promotes_first() -> None:
    """Between turns, by poison on both sides."""
    sick = pokemon("CRZ-111", damage=50, conditions=["poisoned"])
    match = position(side(sick, "MEW-16", "PAF-7", prizes=2), side(sick, "MEW-16", "PAF-7", prizes=2))
    play(match, "pass")
    assert prizes_left(match) == (1, 1)
    assert [event["seat"] for event in events(match, 0, "prizes")] == [1, 0]
    assert actor(match) == 1
    play(match, "choose:bench1")
    assert actor(match) == 0


def both_fall(yours: int, theirs: int, *their_bench: str, my_bench: tuple[str, ...] = ()) -> object:
    """How the match ends when poison takes both Active Pokémon, with so many Prizes left before."""
    sick = pokemon("CRZ-111", damage=50, conditions=["poisoned"])
    match = position(
        side(sick, *my_bench, prizes=yours, deck=["PAF-7"] * 20),
        side(sick, *their_bench, prizes=theirs, deck=["PAF-7"] * 20),
    )
    play(match, "pass")
    if match.result is None:
        return "sudden death" if view(match, 0)["sudden_death"] else None
    return outcome(match)


def test_when_both_have_won_the_one_with_more_conditions_wins() -> None:
    # Last Prize for both, Benches on both sides: one condition each.
    assert both_fall(1, 1, "MEW-16", my_bench=("MEW-16",)) == "sudden death"
    # Last Prize for both; only the opponent has no Pokémon left: two to one.
    assert both_fall(1, 1, my_bench=("MEW-16",)) == ("win", 0, "prizes")
    assert both_fall(1, 1, "MEW-16") == ("win", 1, "prizes")
    # No Pokémon on either side; one of them has taken its last Prize as well.
    assert both_fall(1, 2) == ("win", 0, "prizes")
    assert both_fall(2, 1) == ("win", 1, "prizes")
    # Neither has a Pokémon, nobody has taken all Prizes: one to one; all of it on both sides: two to two.
    assert both_fall(2, 2) == "sudden death"
    assert both_fall(1, 1) == "sudden death"
    # One has the last Prize, the other no Pokémon against it: each has met one.
    assert both_fall(1, 2, "MEW-16") == "sudden death"
    # Only one of them has won.
    assert both_fall(2, 2, "MEW-16") == ("win", 1, "no_pokemon")
    assert both_fall(1, 3, "MEW-16", my_bench=("MEW-16",)) == ("win", 0, "prizes")


def test_sudden_death_is_a_new_game_with_one_prize_each() -> None:
    sick = pokemon("CRZ-111", damage=50, conditions=["poisoned"], tools=["SVI-169"])
    used = {"vstar": True, "supporter": True}
    match = position(
        side(sick, deck=["PAF-7"] * 20, discard=[R, R], lost_zone=["PAF-80"], hand=[L], used=used),
        side(sick, deck=["MEW-16"] * 20),
        stadium={"card": "BRS-137", "owner": 0},
    )
    total = 20 + 2 + 1 + 1 + 6 + 2 + 1
    play(match, "pass")
    assert events(match, 0, "sudden_death")
    seat = actor(match)
    assert keys(match) == ["choose:go first", "choose:go second"]
    play(match, "choose:go first", forced=False)
    assert view(match, 0)["stadium"] is None
    assert own(match, 0)["used"]["vstar"] is False
    mine = own(match, 0)
    assert mine["hand_count"] + mine["deck_count"] == total
    while view(match, 0)["turn"] == 0:
        play(match, "done" if "done" in keys(match) else keys(match)[0], forced=False)
    assert prizes_left(match) == (1, 1)
    assert (actor(match), view(match, 0)["turn"], match.turn) == (seat, 1, 5 + 1)
    # First-turn rules hold anew.
    assert not [key for key in keys(match) if key.startswith(("attack", "play:PAF-80"))]


def test_the_turn_cap_counts_the_turns_before_a_sudden_death() -> None:
    sick = pokemon("CRZ-111", damage=50, conditions=["poisoned"])
    sick_side = side(sick, deck=["PAF-7"] * 30)
    match = position(sick_side, sick_side, options={"turn_cap": 7})
    play(match, "pass")
    while match.result is None:
        legal = keys(match)
        play(match, next((key for key in ("done", "pass", "choose:0") if key in legal), legal[0]), forced=False)
    assert outcome(match) == ("turn_cap", None, "turn_cap")
    assert match.turn == 7


def test_the_winner_of_a_sudden_death_is_recorded_as_such() -> None:
    match = position(side(BURNING, prizes=1), side("CRZ-111", "MEW-16"), prize_count=1, sudden_death=True)
    play(match, "attack:Burning Darkness")
    assert outcome(match) == ("win", 0, "sudden_death")


def test_sudden_death_may_be_a_draw_by_the_options() -> None:
    sick = {"card": "CRZ-111", "damage": 50, "conditions": ["poisoned"]}
    sides = [{"active": sick, "deck": ["PAF-7"] * 20}, {"active": sick, "deck": ["PAF-7"] * 20}]
    match = match_from_position({"players": sides, "options": {"sudden_death": "draw"}})
    play(match, "pass")
    assert outcome(match) == ("draw", None, "draw")


def test_a_knock_out_in_ones_own_turn_gives_the_opponent_prizes_and_the_turn_goes_on() -> None:
    """Bravery Charm leaves one's own Pokémon."""
    match = position(
        side(pokemon("BRS-41", damage=100, tools=["PAL-173"]), "CRZ-111", "MEW-16", hand=["CRZ-135", R, L]),
        side("CRZ-111", prizes=3),
    )
    play(match, "play:CRZ-135", "choose:SVE-2")
    assert prizes_left(match) == (6, 2)
    assert actor(match) == 0
    play(match, "choose:bench1", "attach:SVE-4>active")
    assert active(match, 0)["card"] == "CRZ-111"
    assert own(match, 0)["knocked_out_last_turn"] is False


def test_evolving_into_fewer_hp_than_damage_knocks_out() -> None:
    """Bravery Charm counts on Basic Pokémon only: 120 HP as Charmander, 90 as Charmeleon."""
    match = position(
        side("CRZ-111", pokemon("PAF-7", damage=100, tools=["PAL-173"]), hand=["PAF-8"]), side("CRZ-111", prizes=4)
    )
    play(match, "evolve:PAF-8>bench1")
    assert bench_cards(match, 0) == []
    assert discard(match, 0) == sorted(["PAF-7", "PAF-8", "PAL-173"])
    assert prizes_left(match) == (6, 3)


def test_a_knock_out_in_the_opponents_turn_is_remembered_for_one_turn() -> None:
    match = position(side(BURNING), side("PAF-7", "CRZ-111"))
    play(match, "attack:Burning Darkness")
    assert own(match, 1)["knocked_out_last_turn"] is True
    assert view(match, 0)["opponent"]["knocked_out_last_turn"] is True
    play(match, "pass")
    play(match, "pass")
    assert own(match, 1)["knocked_out_last_turn"] is False


def test_damage_beyond_the_hp_is_no_more_than_a_knock_out() -> None:
    match = play(position(side(BURNING), side("CRZ-111", "MEW-16")), "attack:Burning Darkness")
    assert prizes_left(match) == (5, 6)
    assert events(match, 0, "damage")[-1]["amount"] == 180
    assert events(match, 1, "knock_out") == [{"event": "knock_out", "seat": 1, "pokemon": "CRZ-111", "place": "active"}]


def test_confusions_knock_out_of_the_last_pokemon_loses() -> None:
    fields = {
        "yours": side(pokemon("PAF-7", energy=[R, R], damage=40, conditions=["confused"])),
        "theirs": side("PAF-54"),
    }
    match = with_coins("T", fields, "attack:Steady Firebreathing")
    assert outcome(match) == ("win", 1, "no_pokemon")


def test_picking_up_or_shuffling_away_the_last_pokemon_loses() -> None:
    match = play(position(side("CRZ-111", hand=["PAR-257"])), "play:PAR-257")
    assert outcome(match) == ("win", 1, "no_pokemon")


def test_a_pokemon_left_alive_stays() -> None:
    match = play(
        position(side(pokemon("PAF-7", energy=[R, R])), side(pokemon("PAF-7", damage=30))),
        "attack:Steady Firebreathing",
    )
    assert active(match, 1)["hp"] == 10
    assert prizes_left(match) == (6, 6)
    assert bench_cards(match, 1) == []


def test_the_bench_is_hit_by_no_knock_out_of_the_active_pokemon() -> None:
    match = play(
        position(side(BURNING), side("CRZ-111", pokemon("PAF-7", damage=60), "MEW-16")), "attack:Burning Darkness"
    )
    play(match, "choose:bench2")
    assert bench(match, 1, 1)["damage"] == 60


@pytest.mark.parametrize(("damage", "conditions", "prizes"), [(0, [], 2), (150, ["poisoned"], 1)])
def test_a_prize_more_for_damage_from_an_attack_is_not_given_for_poison(
    damage: int, conditions: list[str], prizes: int
) -> None:
    """Luxurious Cape: 100 HP more, and 1 Prize card more where damage from an attack Knocks its holder Out."""
    bidoof = pokemon("CRZ-111", tools=["PAR-166"], damage=damage, conditions=conditions)
    match = position(side(BURNING), side(bidoof, "MEW-16"))
    play(match, "pass" if conditions else "attack:Burning Darkness")
    assert prizes_left(match)[0] == 6 - prizes
