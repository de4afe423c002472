"""Pokémon Tools and Special Energy of the two decks."""

from __future__ import annotations

from typing import Any

import pytest
from ptcg_play import (
    active,
    actor,
    attacks,
    bench,
    bench_cards,
    candidates,
    choosing,
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

R, W, L, P, DOUBLE, MIST = "SVE-2", "SVE-3", "SVE-4", "SVE-5", "BRS-151", "TEF-161"
TANK = "PAF-54"


# --- Defiance Band ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mine", "theirs", "amount"), [(6, 5, 60), (5, 5, 30), (5, 6, 30)])
def test_defiance_band_helps_when_behind_on_prizes(mine: int, theirs: int, amount: int) -> None:
    charmander = pokemon("PAF-7", energy=[R, R], tools=["SVI-169"])
    match = play(position(side(charmander, prizes=mine), side(TANK, prizes=theirs)), "attack:Steady Firebreathing")
    assert active(match, 1)["damage"] == amount


def test_defiance_band_adds_before_weakness_and_to_the_active_pokemon_only() -> None:
    greninja = pokemon("ASR-46", energy=[W, W, W], tools=["SVI-169"])
    match = position(side(greninja, prizes=6), side("CRZ-20", "CRZ-45", prizes=5))
    play(match, "attack:Moonlight Shuriken")
    assert [event["amount"] for event in events(match, 0, "damage")] == [(90 + 30) * 2, 90]


def test_defiance_band_on_another_pokemon_helps_nobody() -> None:
    match = position(
        side(pokemon("PAF-7", energy=[R, R]), pokemon("MEW-16", tools=["SVI-169"]), prizes=6), side(TANK, prizes=5)
    )
    assert active(play(match, "attack:Steady Firebreathing"), 1)["damage"] == 30


# --- Bravery Charm ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("card", "hp"), [("PAF-7", 120), ("SVI-253", 270), ("PAF-8", 90), (TANK, 330)])
def test_bravery_charm_gives_basic_pokemon_fifty_more_hp(card: str, hp: int) -> None:
    match = position(side(card, hand=["PAL-173"]))
    play(match, "attach:PAL-173>active")
    assert active(match, 0)["max_hp"] == hp


def test_bravery_charm_decides_over_a_knock_out() -> None:
    attacker = pokemon(TANK, energy=[R, R])
    saved = play(position(side(attacker), side(pokemon("CRZ-20", tools=["PAL-173"]))), "attack:Burning Darkness")
    assert active(saved, 1)["hp"] == 160 + 50 - 180
    assert saved.result is None
    fallen = play(position(side(attacker), side("CRZ-20")), "attack:Burning Darkness")
    assert fallen.result is not None


# --- Rescue Board ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("card", "damage", "cost"),
    [
        ("PAR-248", 0, 3),
        ("PAR-248", 190, 3),
        ("PAR-248", 200, 0),
        ("PAR-248", 220, 0),
        ("CRZ-111", 0, 0),
        ("MEW-151", 0, 0),
    ],
)
def test_rescue_board_lowers_the_retreat_cost(card: str, damage: int, cost: int) -> None:
    match = position(side(pokemon(card, tools=["TEF-159"], damage=damage, energy=[L] * cost), "MEW-16"))
    assert active(match, 0)["retreat_cost"] == cost
    play(match, "retreat>bench1")
    assert discard(match, 0) == [L] * cost


def test_without_the_board_the_full_cost_is_due() -> None:
    match = position(side(pokemon("PAR-248", energy=[L, L, L]), "MEW-16", hand=["TEF-159"]))
    assert "retreat>bench1" not in keys(match)
    play(match, "attach:TEF-159>active")
    assert "retreat>bench1" in keys(match)


# --- Heavy Baton -----------------------------------------------------------------------------------------------------


def knocked_out_with_baton(holder: dict[str, Any], *their_bench: str, attacker_prizes: int = 6) -> Any:
    attacker = pokemon(TANK, energy=[R, R])
    return play(position(side(attacker, prizes=attacker_prizes), side(holder, *their_bench)), "attack:Burning Darkness")


def test_heavy_baton_moves_up_to_three_basic_energy_to_the_bench() -> None:
    hands = pokemon("PAR-248", tools=["TEF-151"], energy=[L, L, DOUBLE, R, L], damage=100)
    match = knocked_out_with_baton(hands, "SVI-253", "PGO-29")
    # The owner chooses, before anything is discarded and Prizes are taken.
    assert actor(match) == 1
    assert candidates(match) == {"SVE-4@active", "SVE-2@active"}
    assert discard(match, 1) == []
    play(match, "choose:SVE-2@active", "choose:SVE-4@active", "choose:SVE-4@active")
    # Fire first, then both Lightning.
    play(match, "choose:bench1", "choose:bench1", "choose:bench2")
    assert sorted(bench(match, 1, 1)["energy"]) == sorted([R, L])
    assert bench(match, 1, 2)["energy"] == [L]
    assert discard(match, 1) == sorted(["PAR-248", "TEF-151", DOUBLE, L])
    assert prizes_left(match) == (4, 6)
    play(match, "choose:bench2")
    assert active(match, 1)["card"] == "PGO-29"


def test_heavy_baton_may_move_fewer() -> None:
    hands = pokemon("PAR-248", tools=["TEF-151"], energy=[L, L, L], damage=100)
    match = play(knocked_out_with_baton(hands, "SVI-253", "PGO-29"), "done", "choose:bench2")
    assert bench(match, 1, 2)["energy"] == [L]
    assert discard(match, 1).count(L) == 2


@pytest.mark.parametrize(
    "holder",
    [
        pokemon("CRZ-20", tools=["TEF-151"], energy=[L, L]),
        pokemon("PAR-248", tools=["TEF-151"], energy=[DOUBLE], damage=100),
        pokemon("PAR-248", tools=["TEF-159"], energy=[L], damage=100),
    ],
)
def test_heavy_baton_needs_a_retreat_cost_of_four_and_basic_energy(holder: dict[str, Any]) -> None:
    match = knocked_out_with_baton(holder, "SVI-253")
    assert bench_cards(match, 1) == []
    assert active(match, 1)["energy"] == []
    assert len(discard(match, 1)) == 2 + len(holder["energy"])


def test_heavy_baton_without_a_bench_loses_at_once() -> None:
    match = knocked_out_with_baton(pokemon("PAR-248", tools=["TEF-151"], energy=[L], damage=100))
    assert match.result is not None
    assert match.result.winner == 0


def test_heavy_baton_moves_nothing_to_a_pokemon_that_the_same_attack_knocks_out() -> None:
    greninja = pokemon("ASR-46", energy=["SVE-3", "SVE-3", "SVE-3"])
    hands = pokemon("PAR-248", tools=["TEF-151"], energy=[L, L], damage=140)
    targets = ("choose:opponent.active", "choose:opponent.bench1")
    match = position(side(greninja), side(hands, pokemon("PGO-29", damage=30), "SVI-253"))
    play(match, "attack:Moonlight Shuriken", *targets)
    # Zapdos falls too: all of it goes to Miraidon ex, and nothing is left to choose but how much.
    assert candidates(match) == {"SVE-4@active"}
    play(match, "choose:SVE-4@active")
    assert (active(match, 1)["card"], active(match, 1)["energy"]) == ("SVI-253", [L, L])
    match = position(side(greninja), side(hands, pokemon("PGO-29", damage=30)))
    play(match, "attack:Moonlight Shuriken")
    assert (outcome(match), discard(match, 1).count(L)) == (("win", 0, "no_pokemon"), 2)


def test_heavy_baton_does_nothing_for_a_knock_out_without_damage_from_an_attack() -> None:
    poisoned = pokemon("PAR-248", tools=["TEF-151"], energy=[L], damage=220, conditions=["poisoned"])
    match = play(position(side("CRZ-111"), side(poisoned, "SVI-253")), "pass")
    assert active(match, 1)["energy"] == []
    assert L in discard(match, 1)
    fields = {
        "yours": side(
            pokemon("PAR-248", tools=["TEF-151"], energy=[L, L, L], damage=210, conditions=["confused"]), "SVI-253"
        ),
        "theirs": side(TANK),
    }
    confused = with_coins("T", fields, "attack:Arm Press")
    assert active(confused, 0)["energy"] == []


def test_heavy_baton_does_nothing_on_the_bench() -> None:
    hands = pokemon("PAR-248", tools=["TEF-151"], energy=[L, L], damage=140)
    match = position(side(pokemon("ASR-46", energy=[W, W, W])), side(TANK, hands, "SVI-253"))
    play(match, "attack:Moonlight Shuriken", "choose:opponent.active", "choose:opponent.bench1")
    assert bench_cards(match, 1) == ["SVI-253"]
    assert bench(match, 1, 1)["energy"] == []


# --- Forest Seal Stone -----------------------------------------------------------------------------------------------


def test_star_alchemy_takes_any_card_unseen_and_leaves_other_abilities_usable() -> None:
    raikou = pokemon("BRS-48", tools=["SIT-156"])
    match = position(side(raikou, deck=["PAF-54", R, L]))
    play(match, "ability:Star Alchemy@active")
    assert candidates(match) == {"PAF-54", R, L}
    play(match, "choose:PAF-54")
    assert hand(match, 0) == ["PAF-54"]
    assert view(match, 1)["opponent"]["hand"] == []
    assert view(match, 1)["opponent"]["used"]["vstar"] is True
    assert [key for key in keys(match) if key.startswith("ability:")] == ["ability:Fleet-Footed@active"]
    assert active(match, 0)["tools"] == ["SIT-156"]


def test_star_alchemy_of_the_opponent_does_not_use_up_ones_own() -> None:
    stone = pokemon("BRS-48", tools=["SIT-156"])
    match = position(side(stone, deck_size=9, used={"vstar": False}), side(stone, deck_size=9, used={"vstar": True}))
    assert "ability:Star Alchemy@active" in keys(match)
    play(match, "pass")
    assert "ability:Star Alchemy@active" not in keys(match)
    assert not [key for key in keys(position(side(stone, deck=[]))) if "Star Alchemy" in key]


# --- Double Turbo Energy ---------------------------------------------------------------------------------------------


def test_double_turbo_provides_two_colorless_and_no_type() -> None:
    assert attacks(position(side(pokemon("MEW-16", energy=[DOUBLE])))) == {"Call for Family", "Tackle"}
    assert attacks(position(side(pokemon("BRS-48", energy=[DOUBLE])))) == set()
    assert active(position(side(pokemon("MEW-16", energy=[DOUBLE]))), 0)["energy_provided"] == "CC"


@pytest.mark.parametrize(("target", "amount"), [(TANK, 200), ("BRS-40", 400)])
def test_double_turbo_takes_twenty_off_before_weakness(target: str, amount: int) -> None:
    miraidon = pokemon("SVI-253", energy=[L, L, DOUBLE])
    match = play(position(side(miraidon), target), "attack:Photon Blaster")
    assert events(match, 0, "damage")[-1]["amount"] == amount


def test_double_turbo_takes_twenty_off_benched_targets_too() -> None:
    greninja = pokemon("ASR-46", energy=[W, W, W, DOUBLE])
    match = position(side(greninja), side(TANK, "SVI-253"))
    play(match, "attack:Moonlight Shuriken", "choose:SVE-3@active", "choose:SVE-3@active")
    assert [event["amount"] for event in events(match, 0, "damage")] == [70, 70]


# --- Mist Energy -----------------------------------------------------------------------------------------------------


def test_mist_energy_keeps_effects_of_attacks_away_but_not_damage() -> None:
    munkidori = pokemon("TWM-95", energy=[P, P])
    match = play(position(side(munkidori), side(pokemon(TANK, energy=[MIST]))), "attack:Mind Bend")
    assert (active(match, 1)["conditions"], active(match, 1)["damage"]) == ([], 60)


def test_mist_energy_keeps_counters_placed_by_attacks_away_from_its_pokemon_only() -> None:
    match = position(side(pokemon("PRE-43", energy=[R, R, R])), side(TANK, pokemon("SVI-253", energy=[MIST]), "PGO-29"))
    play(match, "attack:Hex Hurl")
    while choosing(match) is not None:
        play(match, keys(match)[0])
    assert bench(match, 1, 1)["damage"] == 0


def test_mist_energy_does_not_remove_what_is_there_and_provides_one_colorless() -> None:
    match = position(side(pokemon("MEW-16", conditions=["confused"]), "CRZ-111", hand=[MIST]))
    play(match, "attach:TEF-161>active")
    assert active(match, 0)["conditions"] == ["confused"]
    assert active(match, 0)["energy_provided"] == "C"
    assert attacks(match) == {"Call for Family"}


def test_mist_energy_does_not_stop_trainers_abilities_or_ones_own_attack() -> None:
    misty = pokemon("SVI-253", energy=[L, L, MIST])
    match = position(side("CRZ-111", hand=["PAL-265"]), side("CRZ-111", misty))
    play(match, "play:PAL-265")
    assert active(match, 1)["card"] == "SVI-253"
    match = play(position(side(misty), side(TANK, TANK)), "attack:Photon Blaster", "pass")
    # An effect of one's own attack is not kept away.
    assert not attacks(match)


def test_attached_cards_go_with_the_pokemon_wherever_it_moves() -> None:
    match = position(side(pokemon("MEW-16", energy=[R, R], tools=["SVI-169"]), "CRZ-111"))
    play(match, "retreat>bench1")
    assert (bench(match, 0, 1)["energy"], bench(match, 0, 1)["tools"]) == ([R], ["SVI-169"])
    assert own(match, 0)["used"]["retreat"] is True
