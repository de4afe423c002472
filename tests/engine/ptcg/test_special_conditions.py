"""Special Conditions, their effect on the turn, and Pokémon Checkup between turns."""

from __future__ import annotations

import pytest
from ptcg_play import (
    active,
    actor,
    attacks,
    bench,
    choosing,
    coins,
    events,
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

R, L = "SVE-2", "SVE-4"


def checked_up(wanted: str, yours: list[str], theirs: list[str] | None = None, passes: int = 1) -> tuple[object, ...]:
    """Both Active Charizard ex after ``passes`` turns without attacks: (conditions, damage) of seat 0, of seat 1."""
    fields = {
        "yours": side(pokemon("PAF-54", conditions=yours), "CRZ-111"),
        "theirs": side(pokemon("PAF-54", conditions=theirs or []), "CRZ-111"),
    }
    match = with_coins(wanted, fields, *["pass"] * passes)
    return tuple((active(match, seat)["conditions"], active(match, seat)["damage"]) for seat in (0, 1))


@pytest.mark.parametrize("condition", ["asleep", "paralyzed"])
def test_asleep_and_paralyzed_pokemon_neither_attack_nor_retreat(condition: str) -> None:
    match = position(
        side(pokemon("CRZ-111", energy=[R, R], conditions=[condition]), "MEW-16", hand=[R, "PAL-265"]),
        side("CRZ-111", "MEW-16"),
    )
    assert not attacks(match)
    assert not [key for key in keys(match) if key.startswith("retreat")]
    assert {"attach:SVE-2>active", "play:PAL-265", "pass"} <= set(keys(match))


@pytest.mark.parametrize("conditions", [["confused"], ["burned"], ["poisoned"], ["burned", "poisoned", "confused"]])
def test_other_conditions_let_a_pokemon_attack_and_retreat(conditions: list[str]) -> None:
    match = position(side(pokemon("CRZ-111", energy=[R, R], conditions=conditions), "MEW-16"))
    assert attacks(match) == {"Hyper Fang"}
    assert "retreat>bench1" in keys(match)


def test_poison_puts_one_counter_at_each_checkup() -> None:
    assert checked_up("", ["poisoned"]) == ((["poisoned"], 10), ([], 0))
    assert checked_up("", ["poisoned"], passes=2) == ((["poisoned"], 20), ([], 0))
    assert checked_up("", [], ["poisoned"], passes=3) == (([], 0), (["poisoned"], 30))


def test_burn_puts_two_counters_and_then_a_coin_may_end_it() -> None:
    assert checked_up("T", ["burned"]) == ((["burned"], 20), ([], 0))
    assert checked_up("H", ["burned"]) == (([], 20), ([], 0))
    assert checked_up("TH", [], ["burned"], passes=2) == (([], 0), ([], 40))


def test_a_coin_wakes_a_pokemon_at_each_checkup() -> None:
    assert checked_up("H", ["asleep"]) == (([], 0), ([], 0))
    assert checked_up("T", ["asleep"]) == ((["asleep"], 0), ([], 0))
    assert checked_up("TH", [], ["asleep"], passes=2) == (([], 0), ([], 0))


def test_paralysis_ends_at_the_checkup_after_its_players_turn() -> None:
    assert checked_up("", ["paralyzed"]) == (([], 0), ([], 0))
    # The opponent's Pokémon stays Paralyzed through its own next turn.
    assert checked_up("", [], ["paralyzed"]) == (([], 0), (["paralyzed"], 0))
    assert checked_up("", [], ["paralyzed"], passes=2) == (([], 0), ([], 0))


@pytest.mark.parametrize("condition", ["asleep", "paralyzed"])
def test_confused_takes_the_place_of_asleep_and_paralyzed_but_not_of_poisoned(condition: str) -> None:
    munkidori = pokemon("TWM-95", energy=["SVE-5", "SVE-5"])
    match = position(side(munkidori), pokemon("PAF-54", conditions=[condition, "poisoned"]))
    play(match, "attack:Mind Bend")
    assert set(active(match, 1)["conditions"]) == {"confused", "poisoned"}
    assert not coins(match)


def test_all_conditions_of_both_are_checked_in_order() -> None:
    """Poisoned, Burned, Asleep: for both Pokémon, that of the player whose turn has ended first."""
    fields = {
        "yours": side(pokemon("PAF-54", conditions=["poisoned", "burned", "asleep"])),
        "theirs": side(pokemon("PAF-54", conditions=["poisoned", "burned", "asleep"])),
    }
    match = with_coins("HTTH", fields, "pass")
    assert (active(match, 0)["conditions"], active(match, 0)["damage"]) == (["asleep", "poisoned"], 30)
    assert (active(match, 1)["conditions"], active(match, 1)["damage"]) == (["burned", "poisoned"], 30)
    order = [event["event"] for event in events(match, 0) if event["event"] in ("counters", "coin")]
    assert order == ["counters", "counters", "counters", "coin", "counters", "coin", "coin", "coin"]
    assert [event["count"] for event in events(match, 0, "counters")] == [1, 1, 2, 2]


def test_knock_outs_come_after_the_whole_checkup() -> None:
    """Poison brings it to 10 HP left below nothing; the burn's coin is flipped all the same."""
    fields = {
        "yours": side(pokemon("CRZ-111", damage=50, conditions=["poisoned", "burned"]), "MEW-16"),
        "theirs": side("CRZ-111"),
    }
    match = with_coins("H", fields, "pass")
    kinds = [event["event"] for event in events(match, 0)]
    assert kinds.index("coin") < kinds.index("knock_out")
    assert active(match, 0)["card"] == "MEW-16"
    assert prizes_left(match) == (6, 5)


def test_heads_lets_a_confused_pokemon_attack() -> None:
    fields = {
        "yours": side(pokemon("PAF-7", energy=[R, R], conditions=["confused"])),
        "theirs": side("PAF-54"),
    }
    match = with_coins("H", fields, "attack:Steady Firebreathing")
    assert (active(match, 0)["damage"], active(match, 1)["damage"]) == (0, 30)
    assert active(match, 0)["conditions"] == ["confused"]
    assert actor(match) == 1


def test_tails_puts_three_counters_on_a_confused_attacker_and_ends_its_attack() -> None:
    fields = {
        "yours": side(pokemon("PAF-7", energy=[R, R], conditions=["confused"])),
        "theirs": side("PAF-54"),
    }
    match = with_coins("T", fields, "attack:Steady Firebreathing")
    assert (active(match, 0)["damage"], active(match, 1)["damage"]) == (30, 0)
    assert events(match, 1, "counters")[-1]["count"] == 3
    assert actor(match) == 1


def test_confusion_can_knock_out_the_attacker() -> None:
    fields = {
        "yours": side(pokemon("PAF-7", energy=[R, R], damage=40, conditions=["confused"]), "MEW-16", "OBF-80"),
        "theirs": side("PAF-54"),
    }
    match = with_coins("T", fields, "attack:Steady Firebreathing")
    assert prizes_left(match) == (6, 5)
    assert actor(match) == 0
    play(match, "choose:bench2")
    assert active(match, 0)["card"] == "OBF-80"
    assert actor(match) == 1
    # It fell in its own player's turn.
    assert own(match, 0)["knocked_out_last_turn"] is False
    play(match, "pass")
    assert own(match, 0)["knocked_out_last_turn"] is False


def test_flips_for_confusion_come_before_those_of_the_attack() -> None:
    fields = {
        "yours": side(pokemon("CRZ-111", energy=[R, R], conditions=["confused"])),
        "theirs": side("PAF-54"),
    }
    match = with_coins("HT", fields, "attack:Hyper Fang")
    assert (active(match, 0)["damage"], active(match, 1)["damage"]) == (0, 0)
    match = with_coins("HH", fields, "attack:Hyper Fang")
    assert active(match, 1)["damage"] == 30


@pytest.mark.parametrize("conditions", [["asleep"], ["paralyzed"], ["confused", "burned", "poisoned"]])
def test_going_to_the_bench_ends_every_condition(conditions: list[str]) -> None:
    match = position(
        side("CRZ-111", hand=["PAL-265"]), side(pokemon("CRZ-111", damage=10, conditions=conditions), "MEW-16")
    )
    play(match, "play:PAL-265")
    assert bench(match, 1, 1)["conditions"] == []
    assert bench(match, 1, 1)["damage"] == 10
    own_switch = position(side(pokemon("CRZ-111", conditions=conditions), "MEW-16", hand=["ASR-154"]))
    play(own_switch, "play:ASR-154")
    assert bench(own_switch, 0, 1)["conditions"] == []


def test_poison_can_take_the_last_pokemon() -> None:
    match = position(side(pokemon("CRZ-111", damage=50, conditions=["poisoned"])), "MEW-16")
    play(match, "pass")
    assert outcome(match) == ("win", 1, "no_pokemon")


def test_after_a_checkup_the_player_whose_turn_comes_promotes_first() -> None:
    match = position(
        side(pokemon("CRZ-111", damage=50, conditions=["poisoned"]), "MEW-16", "OBF-80"),
        side(pokemon("CRZ-111", damage=50, conditions=["poisoned"]), "PAF-7", "BRS-41"),
    )
    play(match, "pass")
    assert prizes_left(match) == (5, 5)
    assert actor(match) == 1
    play(match, "choose:bench2")
    assert actor(match) == 0
    play(match, "choose:bench1")
    assert (active(match, 0)["card"], active(match, 1)["card"]) == ("MEW-16", "BRS-41")
    assert choosing(match) is None
    assert (actor(match), view(match, 1)["turn"]) == (1, 6)


def test_a_knock_out_between_turns_is_not_one_of_the_opponents_turn() -> None:
    match = position(side("CRZ-111"), side(pokemon("CRZ-111", damage=50, conditions=["poisoned"]), "MEW-16"))
    play(match, "pass")
    assert own(match, 1)["knocked_out_last_turn"] is False


def test_coins_are_seen_by_both() -> None:
    fields = {"yours": side(pokemon("CRZ-111", energy=[R, R])), "theirs": side("PAF-54")}
    match = with_coins("H", fields, "attack:Hyper Fang")
    assert coins(match) == "H"
    assert events(match, 1, "coin") == [{"event": "coin", "seat": 0, "heads": True}]
