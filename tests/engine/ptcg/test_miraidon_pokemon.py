"""The Pokémon of the Miraidon ex deck: each attack and Ability where it matters, and where it does not."""

from __future__ import annotations

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
    own,
    play,
    pokemon,
    position,
    prizes_left,
    side,
)

from engine.match import SEATS

R, W, L, DOUBLE, MIST = "SVE-2", "SVE-3", "SVE-4", "BRS-151", "TEF-161"
TANK = "PAF-54"


def abilities(match_keys: list[str]) -> list[str]:
    return [key for key in match_keys if key.startswith("ability:")]


@pytest.mark.parametrize(
    ("card", "energy", "attack", "target", "amount"),
    [
        ("SVI-253", [L, L, R], "Photon Blaster", TANK, 220),
        ("SVI-253", [L, L, R], "Photon Blaster", "BRS-40", 440),
        ("PAR-248", [L, L, R], "Arm Press", TANK, 160),
        ("PAR-248", [L, R, R, R], "Amp You Very Much", TANK, 120),
        ("PGO-29", [L, L, R], "Electric Ball", TANK, 110),
        ("PAL-264", [R], "Motivate", TANK, 20),
        ("BRS-48", [L, R], "Lightning Rondo", TANK, 20),
        ("PAR-56", [W, R, R], "Refrigerated Stream", TANK, 80),
    ],
)
def test_attacks_do_their_printed_damage(card: str, energy: list[str], attack: str, target: str, amount: int) -> None:
    match = play(position(side(pokemon(card, energy=energy)), target), f"attack:{attack}")
    assert events(match, 0, "damage")[-1]["amount"] == amount


# --- Miraidon ex, Iron Hands ex --------------------------------------------------------------------------------------


def test_tandem_unit_benches_up_to_two_basic_lightning_pokemon() -> None:
    match = position(side("SVI-253", deck=["PAR-248", "PGO-29", "MEW-151", "PAR-56", L, R]))
    play(match, "ability:Tandem Unit@active")
    assert candidates(match) == {"PAR-248", "PGO-29"}
    assert "done" in keys(match)
    play(match, "choose:PAR-248", "choose:PGO-29")
    assert sorted(bench_cards(match, 0)) == sorted(["PAR-248", "PGO-29"])
    assert not abilities(keys(match))


def test_tandem_unit_of_each_miraidon_and_as_far_as_the_bench_has_room() -> None:
    match = position(side("SVI-253", "SVI-253", "CRZ-111", "MEW-16", deck=["PGO-29", "PGO-29", "PGO-29", L]))
    play(match, "ability:Tandem Unit@active", "choose:PGO-29", "done")
    assert len(bench_cards(match, 0)) == 4
    play(match, "ability:Tandem Unit@bench1", "choose:PGO-29")
    # The Bench was full after one, so no second pick was asked for.
    assert choosing(match) is None
    assert len(bench_cards(match, 0)) == 5
    full = position(side("SVI-253", "CRZ-111", "MEW-16", "PGO-29", "PGO-29", "PAF-7", deck=["PGO-29"]))
    assert not abilities(keys(full))
    assert not abilities(keys(position(side("SVI-253", deck=[]))))


def test_tandem_unit_under_collapsed_stadium_stops_at_four() -> None:
    match = position(
        side("SVI-253", "CRZ-111", "MEW-16", "PAF-7", deck=["PGO-29", "PGO-29"]),
        stadium={"card": "BRS-137", "owner": 0},
    )
    play(match, "ability:Tandem Unit@active", "choose:PGO-29")
    assert choosing(match) is None
    assert len(bench_cards(match, 0)) == 4


def test_photon_blaster_forbids_every_attack_in_the_next_turn() -> None:
    match = position(side(pokemon("SVI-253", energy=[L, L, L])), side(TANK, TANK))
    play(match, "attack:Photon Blaster", "pass")
    assert not attacks(match)
    play(match, "pass", "pass")
    assert attacks(match) == {"Photon Blaster"}


@pytest.mark.parametrize(
    ("target", "damage", "prizes"), [("CRZ-111", 0, 2), ("MEW-151", 60, 3), (TANK, 220, 3), (TANK, 0, 0)]
)
def test_amp_you_very_much_takes_one_more_prize_for_a_knock_out(target: str, damage: int, prizes: int) -> None:
    hands = pokemon("PAR-248", energy=[L, R, R, R])
    match = play(position(side(hands), side(pokemon(target, damage=damage), "PAF-7")), "attack:Amp You Very Much")
    assert prizes_left(match)[0] == 6 - prizes


def test_amp_you_very_much_gives_nothing_for_a_later_knock_out() -> None:
    hands = pokemon("PAR-248", energy=[L, L, L, R])
    match = position(side(hands), side(pokemon(TANK, damage=60), "MEW-16", "PAF-7"))
    play(match, "attack:Amp You Very Much", "pass", "attack:Arm Press")
    assert prizes_left(match)[0] == 6 - 2


def test_arm_press_takes_the_printed_prizes_only() -> None:
    match = play(position(side(pokemon("PAR-248", energy=[L, L, L])), side("CRZ-111", "PAF-7")), "attack:Arm Press")
    assert prizes_left(match)[0] == 5


# --- Radiant Greninja, Squawkabilly ex, Mew ex -----------------------------------------------------------------------


def test_concealed_cards_discards_an_energy_to_draw_two() -> None:
    match = position(side("CRZ-111", "ASR-46", hand=[R, DOUBLE, "PAF-7"], deck=[L, L, L]))
    play(match, "ability:Concealed Cards@bench1")
    assert candidates(match) == {R, DOUBLE}
    play(match, "choose:BRS-151")
    assert hand(match, 0) == sorted([R, "PAF-7", L, L])
    assert discard(match, 0) == [DOUBLE]
    assert not abilities(keys(match))


def test_concealed_cards_needs_energy_in_hand_and_a_deck() -> None:
    assert not abilities(keys(position(side("ASR-46", hand=["PAF-7"]))))
    assert not abilities(keys(position(side("ASR-46", hand=[R], deck=[]))))


def test_moonlight_shuriken_hits_two_different_pokemon_with_weakness_on_the_active_one_only() -> None:
    match = position(side(pokemon("ASR-46", energy=[W, W, R])), side(pokemon("PAF-54"), "CRZ-20", "SVI-253"))
    play(match, "attack:Moonlight Shuriken", "choose:SVE-2@active", "choose:opponent.bench1")
    assert active(match, 0)["energy"] == [W]
    assert discard(match, 0) == sorted([R, W])
    assert keys(match) != ["choose:opponent.bench1"]
    assert [e["amount"] for e in events(match, 0, "damage")] == [90, 90]
    assert bench(match, 1, 1)["damage"] == 90


def test_moonlight_shuriken_doubles_on_a_weak_active_pokemon() -> None:
    match = position(side(pokemon("ASR-46", energy=[W, W, W])), side("CRZ-20", "CRZ-45"))
    play(match, "attack:Moonlight Shuriken")
    assert [e["amount"] for e in events(match, 0, "damage")] == [180, 90]


def test_moonlight_shuriken_with_one_target_hits_it_alone() -> None:
    match = play(position(side(pokemon("ASR-46", energy=[W, W, W])), TANK), "attack:Moonlight Shuriken")
    assert [e["amount"] for e in events(match, 0, "damage")] == [90]


def test_one_card_that_provides_two_energy_is_enough_for_two() -> None:
    match = position(side(pokemon("ASR-46", energy=[W, W, DOUBLE])), TANK)
    play(match, "attack:Moonlight Shuriken")
    assert keys(match) == ["choose:SVE-3@active", "choose:BRS-151@active"]
    by_double = play(match.clone(), "choose:BRS-151@active")
    assert discard(by_double, 0) == [DOUBLE]
    # Two cards provide no less than two Energy, and are no more.
    play(match, "choose:SVE-3@active")
    assert keys(match) == ["choose:SVE-3@active", "choose:BRS-151@active"]
    assert discard(play(match.clone(), "choose:BRS-151@active"), 0) == [DOUBLE, W]
    play(match, "choose:SVE-3@active")
    assert discard(match, 0) == [W, W]


@pytest.mark.parametrize(("turn", "usable"), [(1, True), (2, True), (3, False), (4, False)])
def test_squawk_and_seize_in_the_first_turn_only(turn: int, usable: bool) -> None:
    match = position(side("CRZ-111", "PAL-264", hand=[R]), turn=turn)
    assert (abilities(keys(match)) == ["ability:Squawk and Seize@bench1"]) is usable


def test_motivate_attaches_up_to_two_basic_energy_to_one_benched_pokemon() -> None:
    squawk = pokemon("PAL-264", energy=[R])
    match = position(side(squawk, "SVI-253", "PGO-29", discard=[L, L, DOUBLE, R]), TANK)
    play(match, "attack:Motivate")
    assert candidates(match) == {L, R}
    none = play(match.clone(), "done")
    assert (actor(none), bench(none, 0, 1)["energy"], active(none, 1)["damage"]) == (1, [], 20)
    one = play(match.clone(), "choose:SVE-4", "done", "choose:bench1")
    assert bench(one, 0, 1)["energy"] == [L]
    play(match, "choose:SVE-4", "choose:SVE-4")
    assert keys(match) == ["choose:bench1", "choose:bench2"]
    play(match, "choose:bench2")
    assert bench(match, 0, 2)["energy"] == [L, L]
    assert bench(match, 0, 1)["energy"] == []
    assert active(match, 1)["damage"] == 20
    assert sorted(discard(match, 0)) == sorted([DOUBLE, R])


def test_motivate_without_a_bench_or_energy_only_does_damage() -> None:
    squawk = pokemon("PAL-264", energy=[R])
    alone = play(position(side(squawk, discard=[L]), TANK), "attack:Motivate")
    assert (active(alone, 1)["damage"], actor(alone), discard(alone, 0)) == (20, 1, [L])
    nothing = play(position(side(squawk, "PGO-29", discard=[DOUBLE]), TANK), "attack:Motivate")
    assert (active(nothing, 1)["damage"], actor(nothing)) == (20, 1)


def test_restart_draws_up_to_three() -> None:
    match = play(position(side("CRZ-111", "MEW-151", hand=[R], deck_size=9)), "ability:Restart@bench1")
    assert own(match, 0)["hand_count"] == 3
    assert not abilities(keys(match))
    assert not abilities(keys(position(side("MEW-151", hand=[R, R, R]))))
    assert not abilities(keys(position(side("MEW-151", hand=[], deck=[]))))


def test_genome_hacking_copies_either_attack_of_the_opponents_active_pokemon() -> None:
    match = position(side(pokemon("MEW-151", energy=[R, R, R])), side(pokemon("PAR-248", damage=120), "PAF-7"))
    play(match, "attack:Genome Hacking")
    assert keys(match) == ["choose:Arm Press", "choose:Amp You Very Much"]
    press = play(match.clone(), "choose:Arm Press")
    assert prizes_left(press)[0] == 4
    play(match, "choose:Amp You Very Much")
    assert prizes_left(match)[0] == 3


def test_genome_hacking_puts_the_copied_attacks_effects_on_mew() -> None:
    match = position(side(pokemon("MEW-151", energy=[R, R, R])), side(pokemon("SVI-253"), "PAF-7"))
    play(match, "attack:Genome Hacking", "pass")
    assert not attacks(match)


def test_genome_hacking_burning_darkness_counts_from_mews_side() -> None:
    match = position(side(pokemon("MEW-151", energy=[R, R, R]), prizes=1), side(TANK, "CRZ-111", prizes=4))
    play(match, "attack:Genome Hacking")
    assert events(match, 0, "damage")[-1]["amount"] == 180 + 2 * 30


def test_everybody_is_told_which_attack_genome_hacking_copies() -> None:
    match = position(side(pokemon("MEW-151", energy=[R, R, R])), side(pokemon("PAR-248"), "CRZ-111"))
    play(match, "attack:Genome Hacking", "choose:Arm Press")
    for seat in SEATS:
        told = [(event["seat"], event["pokemon"], event["name"]) for event in events(match, seat, "attack")]
        assert told == [(0, "MEW-151", "Genome Hacking"), (0, "MEW-151", "Arm Press")]


def test_genome_hacking_against_another_mew_ex_does_nothing() -> None:
    match = play(position(side(pokemon("MEW-151", energy=[R, R, R])), "MEW-151"), "attack:Genome Hacking")
    assert (active(match, 1)["damage"], actor(match)) == (0, 1)


def test_genome_hacking_copies_grasping_draw_and_a_discarded_stadium() -> None:
    mew = pokemon("MEW-151", energy=[R, R, R])
    match = play(position(side(mew, hand=[L]), side("OBF-80")), "attack:Genome Hacking")
    assert own(match, 0)["hand_count"] == 7
    match = position(side(mew), "PAF-7", stadium={"card": "OBF-196", "owner": 1})
    play(match, "attack:Genome Hacking", "choose:Blazing Destruction")
    assert discard(match, 1) == ["OBF-196"]


# --- Iron Bundle, Zapdos, Raichu V, Raikou V -------------------------------------------------------------------------


def test_hyper_blower_lets_the_opponent_choose_and_discards_iron_bundle() -> None:
    bundle = pokemon("PAR-56", energy=[L], tools=["SVI-169"])
    match = position(side("CRZ-111", bundle), side(pokemon("PAF-7", conditions=["asleep"]), "MEW-16", "BRS-41"))
    play(match, "ability:Hyper Blower@bench1")
    assert actor(match) == 1
    assert keys(match) == ["choose:bench1", "choose:bench2"]
    play(match, "choose:bench2")
    assert active(match, 1)["card"] == "BRS-41"
    assert bench(match, 1, 2)["conditions"] == []
    assert bench_cards(match, 0) == []
    assert discard(match, 0) == sorted(["PAR-56", L, "SVI-169"])
    assert prizes_left(match) == (6, 6)
    assert actor(match) == 0


def test_hyper_blower_only_from_the_bench_and_against_a_bench() -> None:
    assert not abilities(keys(position(side("PAR-56"), side("PAF-7", "MEW-16"))))
    assert not abilities(keys(position(side("CRZ-111", "PAR-56"), side("PAF-7"))))


def test_refrigerated_stream_ends_when_the_pokemon_leaves_the_active_spot() -> None:
    bibarel = pokemon("BRS-121", energy=[R, R, R, R, R])
    match = position(side(pokemon("PAR-56", energy=[W, R, R])), side(bibarel, "OBF-80", hand=["ASR-154"]))
    play(match, "attack:Refrigerated Stream")
    assert not attacks(match)
    play(match, "retreat>bench1", "play:ASR-154")
    assert attacks(match) == {"Tail Smash"}


def test_refrigerated_stream_lasts_one_turn() -> None:
    bibarel = pokemon("BRS-121", energy=[R, R, R])
    match = position(side(pokemon("PAR-56", energy=[W, R, R])), side(bibarel))
    play(match, "attack:Refrigerated Stream", "pass", "pass")
    assert attacks(match) == {"Tail Smash"}


@pytest.mark.parametrize(
    ("attacker", "attack", "zapdos", "amount"),
    [
        ("SVI-253", "Photon Blaster", 1, 230),
        ("SVI-253", "Photon Blaster", 2, 240),
        ("SVI-253", "Photon Blaster", 0, 220),
        ("PGO-29", "Electric Ball", 1, 110),
        ("MEW-151", "Genome Hacking", 1, 180),
        ("BRS-48", "Lightning Rondo", 1, 20 + 20 + 10),
    ],
)
def test_lightning_symbol_helps_basic_lightning_pokemon_but_zapdos(
    attacker: str, attack: str, zapdos: int, amount: int
) -> None:
    match = position(side(pokemon(attacker, energy=[L, L, L]), *["PGO-29"] * zapdos), side(TANK))
    play(match, f"attack:{attack}")
    assert events(match, 0, "damage")[-1]["amount"] == amount


def test_lightning_symbol_of_the_opponent_helps_nobody() -> None:
    match = play(position(side(pokemon("SVI-253", energy=[L, L, L])), side(TANK, "PGO-29")), "attack:Photon Blaster")
    assert active(match, 1)["damage"] == 220


def test_fast_charge_can_be_used_in_the_first_players_first_turn() -> None:
    match = position(side(pokemon("BRS-158", energy=[L, L]), deck=[DOUBLE, R, L]), turn=1)
    assert attacks(match) == {"Fast Charge"}
    play(match, "attack:Fast Charge")
    assert candidates(match) == {L}
    play(match, "choose:SVE-4")
    assert active(match, 0)["energy"] == [L, L, L]
    assert (actor(match), match.turn) == (1, 2)
    later = play(position(side(pokemon("BRS-158", energy=[L]), deck=[L])), "attack:Fast Charge", "done")
    assert active(later, 0)["energy"] == [L]


def test_dynamic_spark_discards_lightning_energy_from_any_of_ones_pokemon() -> None:
    raichu = pokemon("BRS-158", energy=[L, L, DOUBLE])
    match = position(side(raichu, pokemon("SVI-253", energy=[L, L, R])), TANK)
    play(match, "attack:Dynamic Spark")
    assert candidates(match) == {"SVE-4@active", "SVE-4@bench1"}
    play(match, "choose:SVE-4@active", "choose:SVE-4@bench1", "choose:SVE-4@bench1")
    # Three cards, less what Double Turbo Energy takes off.
    assert active(match, 1)["damage"] == 3 * 60 - 20
    assert bench(match, 0, 1)["energy"] == [R]
    assert discard(match, 0) == [L, L, L]


def test_lightning_rondo_counts_both_benches() -> None:
    raikou = pokemon("BRS-48", energy=[L, L])
    match = play(position(side(raikou, "CRZ-111", "MEW-16"), side(TANK, "PAF-7")), "attack:Lightning Rondo")
    assert active(match, 1)["damage"] == 20 + 3 * 20


def test_fleet_footed_draws_once_a_turn_in_the_active_spot() -> None:
    match = position(side(pokemon("BRS-48"), pokemon("BRS-48"), deck=[L, R, R]))
    assert abilities(keys(match)) == ["ability:Fleet-Footed@active"]
    play(match, "ability:Fleet-Footed@active")
    assert hand(match, 0) == [L]
    assert not abilities(keys(match))
    assert not abilities(keys(position(side("BRS-48", deck=[]))))


def test_an_ability_used_stays_used_when_the_pokemon_moves() -> None:
    match = position(side(pokemon("BRS-48", energy=[L, L]), pokemon("OBF-80"), deck_size=9, hand=["ASR-154"]))
    play(match, "ability:Fleet-Footed@active", "retreat>bench1", "play:ASR-154")
    assert active(match, 0)["card"] == "BRS-48"
    assert not abilities(keys(match))


def test_a_pokemon_that_left_play_and_came_back_is_a_new_one() -> None:
    match = position(side("BRS-48", "CRZ-111", hand=["PAR-257", "ASR-154"], deck_size=9))
    play(match, "ability:Fleet-Footed@active", "play:PAR-257", "choose:active", "bench:BRS-48", "play:ASR-154")
    assert active(match, 0)["card"] == "BRS-48"
    assert abilities(keys(match)) == ["ability:Fleet-Footed@active"]
