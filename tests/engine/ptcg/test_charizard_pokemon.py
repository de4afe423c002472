"""The Pokémon of the Charizard ex deck: each attack and Ability where it matters, and where it does not."""

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


def abilities(match_keys: list[str]) -> list[str]:
    return [key for key in match_keys if key.startswith("ability:")]


def damage_to(attacker: dict[str, Any], attack: str, target: str = TANK) -> int:
    match = play(position(side(attacker), side(target)), f"attack:{attack}")
    amount: int = events(match, 0, "damage")[-1]["amount"]
    return amount


@pytest.mark.parametrize(
    ("card", "energy", "attack", "target", "amount"),
    [
        ("PAF-7", [R, R], "Steady Firebreathing", TANK, 30),
        ("PAF-8", [R, R], "Combustion", TANK, 50),
        ("PAF-8", [R, R], "Combustion", "PAR-126", 100),
        ("MEW-16", [R, R], "Tackle", TANK, 20),
        ("BRS-41", [W], "Rain Splash", TANK, 20),
        ("BRS-41", [W], "Rain Splash", "PAF-7", 40),
        ("OBF-164", [R, R], "Blustery Wind", TANK, 120),
        ("PAF-54", [R, R], "Burning Darkness", TANK, 180),
        ("PAF-54", [R, R], "Burning Darkness", "MEW-151", 360),
        ("CRZ-20", [R, R, R, R, R], "Combustion Blast", TANK, 250),
        ("BRS-40", [W, R, R], "Aqua Return", TANK, 120),
    ],
)
def test_attacks_do_their_printed_damage_and_weakness_doubles_it(
    card: str, energy: list[str], attack: str, target: str, amount: int
) -> None:
    assert damage_to(pokemon(card, energy=energy), attack, target) == amount


# --- Charmander, Charmeleon, Charizard ex ----------------------------------------------------------------------------


def test_blazing_destruction_discards_the_stadium_of_either_player() -> None:
    charmander = pokemon("PAF-7", energy=[R])
    for owner in (0, 1):
        match = position(side(charmander), stadium={"card": "OBF-196", "owner": owner})
        play(match, "attack:Blazing Destruction")
        assert view(match, 0)["stadium"] is None
        assert discard(match, owner) == ["OBF-196"]
        assert actor(match) == 1
    match = play(position(side(charmander)), "attack:Blazing Destruction")
    assert not events(match, 0, "damage")
    assert actor(match) == 1


@pytest.mark.parametrize(
    ("target", "can_attack"),
    [
        ({"card": "BRS-121"}, False),
        ({"card": "MEW-151"}, True),
        ({"card": "BRS-121", "energy": [R, R, R, MIST]}, True),
    ],
)
def test_effects_of_attacks_reach_what_nothing_protects(target: dict[str, Any], can_attack: bool) -> None:
    """Refrigerated Stream stops Evolutions from attacking; Mist Energy keeps effects away, not damage."""
    defender = {"energy": [R, R, R], **target}
    match = play(position(side(pokemon("PAR-56", energy=[W, R, R])), side(defender)), "attack:Refrigerated Stream")
    assert active(match, 1)["damage"] == 80
    assert bool(attacks(match)) is can_attack


def test_flare_veil_keeps_effects_of_attacks_away_but_not_damage() -> None:
    munkidori = pokemon("TWM-95", energy=[P, P])
    match = play(position(side(munkidori), side("PAF-8")), "attack:Mind Bend")
    assert active(match, 1)["conditions"] == []
    assert active(match, 1)["damage"] == 60
    match = play(position(side(munkidori), side(TANK)), "attack:Mind Bend")
    assert active(match, 1)["conditions"] == ["confused"]


def test_infernal_reign_may_be_declined_and_finds_basic_fire_energy_only() -> None:
    match = position(side("CRZ-111", pokemon("PAF-8", under=["PAF-7"]), hand=["PAF-54"], deck=[L, R, MIST, R]))
    play(match, "evolve:PAF-54>bench1")
    assert keys(match) == ["choose:yes", "choose:no"]
    declined = play(match.clone(), "choose:no")
    assert own(declined, 0)["deck_count"] == 4
    assert not events(declined, 0, "shuffle")
    play(match, "choose:yes")
    assert candidates(match) == {R}
    play(match, "choose:SVE-2", "done", "choose:active")
    assert active(match, 0)["energy"] == [R]
    assert own(match, 0)["deck_count"] == 3
    assert "evolve" in [event["event"] for event in events(match, 1)]


def test_infernal_reign_is_not_offered_when_charizard_comes_back_in_another_way() -> None:
    """Only evolving from hand counts: a Charizard ex already in play offers nothing."""
    match = position(side(TANK, deck=[R, R]))
    assert not abilities(keys(match))


def test_infernal_reign_can_deal_three_energy_to_three_pokemon() -> None:
    match = position(
        side(
            "CRZ-111", pokemon("PAF-8", under=["PAF-7"]), "MEW-16", hand=["PAF-54"], deck=[R, R, R, R], prizes=["PAF-7"]
        )
    )
    play(match, "evolve:PAF-54>bench1", "choose:yes", "choose:SVE-2", "choose:SVE-2", "choose:SVE-2")
    assert keys(match) == ["choose:active", "choose:bench1", "choose:bench2"]
    play(match, "choose:active", "choose:bench1", "choose:bench2")
    assert [active(match, 0)["energy"], bench(match, 0, 1)["energy"], bench(match, 0, 2)["energy"]] == [[R], [R], [R]]
    # Only seats' views differ: the opponent saw which Pokémon got Energy.
    assert [event["place"] for event in events(match, 1, "attach")] == ["active", "bench1", "bench2"]


@pytest.mark.parametrize(("prizes", "amount"), [(6, 180), (5, 210), (3, 270), (1, 330)])
def test_burning_darkness_counts_the_prizes_the_opponent_has_taken_not_ones_own(prizes: int, amount: int) -> None:
    match = position(side(pokemon(TANK, energy=[R, R]), prizes=2), side(TANK, "CRZ-111", prizes=prizes))
    play(match, "attack:Burning Darkness")
    assert events(match, 0, "damage")[-1]["amount"] == amount


def test_burning_darkness_needs_fire() -> None:
    assert not attacks(position(side(pokemon(TANK, energy=[R, "SVE-7"]))))


# --- Pidgey, Pidgeot ex ----------------------------------------------------------------------------------------------


def test_call_for_family_fills_the_bench_with_up_to_two_basics() -> None:
    pidgey = pokemon("MEW-16", energy=[R])
    match = play(position(side(pidgey, deck=["PAF-7", "PAF-8", "CRZ-20", R, R])), "attack:Call for Family")
    assert candidates(match) == {"PAF-7", "CRZ-20"}
    play(match, "choose:CRZ-20", "choose:PAF-7")
    assert bench_cards(match, 0) == ["CRZ-20", "PAF-7"]
    assert actor(match) == 1
    four = position(side(pidgey, "CRZ-111", "PAF-7", "BRS-41", "OBF-80", deck=["PAF-7", "CRZ-20"]))
    play(four, "attack:Call for Family", "choose:CRZ-20")
    assert len(bench_cards(four, 0)) == 5
    full = position(side(pidgey, "CRZ-111", "PAF-7", "BRS-41", "OBF-80", "CRZ-20", deck=["PAF-7", R]))
    play(full, "attack:Call for Family")
    assert (len(bench_cards(full, 0)), actor(full)) == (5, 1)
    # Without room the attack ends before the search: no look at the deck, no shuffle.
    assert (own(full, 0)["prizes"], events(full, 0, "shuffle")) == (None, [])


def test_a_pokemon_benched_by_an_attack_cannot_evolve_before_ones_next_turn() -> None:
    match = position(side(pokemon("MEW-16", energy=[R]), deck=["PAF-7", R, R], hand=["PAF-8"]))
    play(match, "attack:Call for Family", "choose:PAF-7", "pass")
    assert "evolve:PAF-8>bench1" in keys(match)


def test_quick_search_takes_any_card_each_turn_anew_and_needs_a_deck() -> None:
    match = position(side("OBF-164", deck=["PAF-54", R, R]))
    play(match, "ability:Quick Search@active")
    assert candidates(match) == {"PAF-54", R}
    play(match, "choose:PAF-54")
    assert hand(match, 0) == ["PAF-54"]
    assert events(match, 1, "shuffle")
    play(match, "pass", "pass")
    assert abilities(keys(match)) == ["ability:Quick Search@active"]
    assert not abilities(keys(position(side("OBF-164", deck=[]))))


def test_a_second_pidgeot_put_down_later_shares_the_limit() -> None:
    """Once a turn by name, also for a Pokémon that evolves after the first use."""
    match = position(
        side("OBF-164", "MEW-16", hand=["PAF-89", "OBF-164"], deck=[R, L, R]),
    )
    play(match, "ability:Quick Search@active", "choose:SVE-4", "play:PAF-89")
    assert bench(match, 0, 1)["card"] == "OBF-164"
    assert not abilities(keys(match))


@pytest.mark.parametrize(("answer", "left"), [("yes", None), ("no", {"card": "OBF-196", "owner": 1})])
def test_blustery_wind_may_discard_the_stadium(answer: str, left: dict[str, Any] | None) -> None:
    pidgeot = pokemon("OBF-164", energy=[R, R])
    match = position(side(pidgeot), side(TANK), stadium={"card": "OBF-196", "owner": 1})
    play(match, "attack:Blustery Wind")
    assert (actor(match), keys(match)) == (0, ["choose:yes", "choose:no"])
    play(match, f"choose:{answer}")
    assert view(match, 0)["stadium"] == left
    assert active(match, 1)["damage"] == 120
    without = play(position(side(pidgeot), side(TANK)), "attack:Blustery Wind")
    assert actor(without) == 1


# --- Bidoof, Bibarel, Manaphy ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("coin", "amount"), [("H", 30), ("T", 0)])
def test_hyper_fang_does_nothing_on_tails(coin: str, amount: int) -> None:
    fields = {"yours": side(pokemon("CRZ-111", energy=[R, R])), "theirs": side(TANK)}
    assert active(with_coins(coin, fields, "attack:Hyper Fang"), 1)["damage"] == amount


@pytest.mark.parametrize(("coin", "amount"), [("H", 100), ("T", 0)])
def test_tail_smash_does_nothing_on_tails(coin: str, amount: int) -> None:
    fields = {"yours": side(pokemon("BRS-121", energy=[R, R, R])), "theirs": side(TANK)}
    assert active(with_coins(coin, fields, "attack:Tail Smash"), 1)["damage"] == amount


def shuriken_on_the_bench(target: dict[str, Any] | str, *others: str) -> int:
    """Damage that Moonlight Shuriken does to the first Benched Pokémon of the opponent."""
    match = position(side(pokemon("ASR-46", energy=[W, W, R])), side(TANK, target, *others))
    play(match, "attack:Moonlight Shuriken", "choose:SVE-3@active")
    while choosing(match) is not None and actor(match) == 0:
        play(match, "choose:opponent.active" if "choose:opponent.active" in keys(match) else keys(match)[0])
    amount: int = next(e["amount"] for e in events(match, 0, "damage") if e["place"] == "bench1")
    return amount


def test_carefree_countenance_protects_bidoof_on_the_bench_only() -> None:
    assert shuriken_on_the_bench("CRZ-111") == 0
    assert shuriken_on_the_bench("MEW-16") == 90
    assert damage_to(pokemon("PAF-7", energy=[R, R]), "Steady Firebreathing", "CRZ-111") == 30


def test_wave_veil_protects_all_of_the_bench_and_manaphy_itself_there() -> None:
    assert shuriken_on_the_bench("MEW-16", "BRS-41") == 0
    assert shuriken_on_the_bench("BRS-41") == 0
    # The opponent's Manaphy protects its own player's Bench alone.
    match = position(side(pokemon("ASR-46", energy=[W, W, R]), "BRS-41"), side(TANK, "MEW-16"))
    play(match, "attack:Moonlight Shuriken", "choose:SVE-3@active")
    assert bench_cards(match, 1) == []


def test_an_active_manaphy_protects_the_bench_too() -> None:
    match = position(side(pokemon("ASR-46", energy=[W, W, R])), side("BRS-41", "MEW-16", TANK))
    play(match, "attack:Moonlight Shuriken", "choose:SVE-3@active")
    play(match, "choose:opponent.active", "choose:opponent.bench1")
    assert [e["amount"] for e in events(match, 0, "damage")] == [90, 0]


def test_industrious_incisors_draws_up_to_five_once_a_turn_for_each_bibarel() -> None:
    match = position(side("BRS-121", "BRS-121", hand=[R, R], deck_size=20))
    play(match, "ability:Industrious Incisors@active")
    assert own(match, 0)["hand_count"] == 5
    assert not abilities(keys(match))
    play(match, "attach:SVE-2>active")
    # One card was played: the other Bibarel draws one.
    assert abilities(keys(match)) == ["ability:Industrious Incisors@bench1"]
    play(match, "ability:Industrious Incisors@bench1")
    assert own(match, 0)["hand_count"] == 5
    assert not abilities(keys(match))


def test_industrious_incisors_needs_fewer_than_five_cards_and_a_deck() -> None:
    assert not abilities(keys(position(side("BRS-121", hand=[R] * 5))))
    assert not abilities(keys(position(side("BRS-121", hand=[R], deck=[]))))
    short = play(position(side("BRS-121", hand=[], deck=[L, L])), "ability:Industrious Incisors@active")
    assert (hand(short, 0), short.result) == ([L, L], None)


# --- Radiant Charizard, Lumineon V, Rotom V, Jirachi, Cleffa ---------------------------------------------------------


def test_combustion_blast_cannot_be_used_in_the_next_turn() -> None:
    radiant = pokemon("CRZ-20", energy=[R, R, R, R, R])
    match = position(side(radiant), side(pokemon(TANK), TANK))
    play(match, "attack:Combustion Blast", "pass")
    assert not attacks(match)
    assert active(match, 0)["effects"] == [{"effect": "cannot use attack", "detail": "Combustion Blast", "in_turns": 0}]
    play(match, "pass", "pass")
    assert attacks(match) == {"Combustion Blast"}


def test_luminous_sign_is_offered_when_lumineon_is_benched_from_hand() -> None:
    match = position(side("CRZ-111", hand=["BRS-40"], deck=["PAF-80", "PAF-84", "PAL-265", R]))
    play(match, "bench:BRS-40")
    assert keys(match) == ["choose:yes", "choose:no"]
    play(match, "choose:yes")
    assert candidates(match) == {"PAF-80", "PAL-265"}
    play(match, "choose:PAL-265")
    assert hand(match, 0) == ["PAL-265"]
    assert view(match, 1)["opponent"]["hand"] == ["PAL-265"]


def test_an_ability_that_searches_an_empty_deck_is_not_offered() -> None:
    match = play(position(side("CRZ-111", hand=["BRS-40"], deck=[])), "bench:BRS-40")
    assert (choosing(match), bench_cards(match, 0)) == (None, ["BRS-40"])
    match = position(side(pokemon("PAF-8", under=["PAF-7"]), hand=["PAF-54"], deck=[]))
    assert choosing(play(match, "evolve:PAF-54>active")) is None


def test_luminous_sign_is_not_offered_when_lumineon_comes_from_the_deck() -> None:
    match = position(side("CRZ-111", hand=["PAF-84"], deck=["BRS-40", "PAF-80"]))
    play(match, "play:PAF-84", "choose:BRS-40")
    assert choosing(match) is None
    assert bench_cards(match, 0) == ["BRS-40"]
    assert not abilities(keys(match))


def test_aqua_return_shuffles_lumineon_and_all_its_cards_away_and_someone_is_promoted() -> None:
    lumineon = pokemon("BRS-40", energy=[W, W, R], tools=["SIT-156"], damage=50)
    match = play(position(side(lumineon, "CRZ-111", "MEW-16", deck=[L]), TANK), "attack:Aqua Return")
    assert own(match, 0)["deck_count"] == 1 + 5
    assert own(match, 0)["unseen"] == {"BRS-40": 1, W: 2, R: 6 + 1, L: 1, "SIT-156": 1}
    assert discard(match, 0) == []
    assert actor(match) == 0
    play(match, "choose:bench2")
    assert active(match, 0)["card"] == "MEW-16"
    assert prizes_left(match) == (6, 6)


def test_lumineon_that_knocks_out_and_leaves_is_replaced_before_the_opponents_pokemon() -> None:
    lumineon = pokemon("BRS-40", energy=[W, W, R])
    match = position(side(lumineon, "CRZ-111", "MEW-16"), side("CRZ-111", "PAF-7", "MEW-16"))
    play(match, "attack:Aqua Return")
    assert (actor(match), prizes_left(match)) == (0, (6, 6))
    play(match, "choose:bench2")
    assert (actor(match), prizes_left(match)) == (1, (5, 6))
    play(match, "choose:bench1")
    assert (active(match, 0)["card"], active(match, 1)["card"]) == ("MEW-16", "PAF-7")


def test_instant_charge_draws_three_and_ends_the_turn() -> None:
    match = position(side("CRZ-111", pokemon("CRZ-45"), deck=[R, L, R, L]))
    play(match, "ability:Instant Charge@bench1")
    assert hand(match, 0) == sorted([R, L, R])
    assert (actor(match), match.turn) == (1, 6)
    assert not abilities(keys(position(side("CRZ-45", deck=[]))))


def test_instant_charge_ends_the_turn_with_a_checkup() -> None:
    match = play(position(side(pokemon("CRZ-45", conditions=["poisoned"]))), "ability:Instant Charge@active")
    assert active(match, 0)["damage"] == 10


def test_scrap_short_moves_tools_from_the_discard_pile_to_the_lost_zone() -> None:
    rotom = pokemon("CRZ-45", energy=[L, L])
    match = position(side(rotom, discard=["SVI-169", "TEF-159", "TEF-159", R, "PAF-84"]), side(TANK))
    play(match, "attack:Scrap Short")
    assert candidates(match) == {"SVI-169", "TEF-159"}
    none = play(match.clone(), "done")
    assert active(none, 1)["damage"] == 40
    play(match, "choose:SVI-169", "choose:TEF-159", "choose:TEF-159")
    assert active(match, 1)["damage"] == 40 + 3 * 40
    assert own(match, 0)["lost_zone"] == ["SVI-169", "TEF-159", "TEF-159"]
    assert discard(match, 0) == ["PAF-84", R]
    assert damage_to(rotom, "Scrap Short") == 40


def test_charge_energy_takes_up_to_two_basic_energy() -> None:
    match = position(side(pokemon("PAR-126", energy=[R]), deck=[R, L, MIST, "PAF-7"]))
    play(match, "attack:Charge Energy")
    assert candidates(match) == {R, L}
    play(match, "choose:SVE-2", "choose:SVE-4")
    assert hand(match, 0) == [R, L]
    assert view(match, 1)["opponent"]["hand"] == [R, L]


@pytest.mark.parametrize(
    ("attacker", "their_bench", "counters"),
    [("PRE-43", ("MEW-151",), 2), ("PRE-43", ("MEW-151", "PAR-126"), 0)],
)
def test_stellar_veil_keeps_counters_of_basic_attackers_off_the_bench(
    attacker: str, their_bench: tuple[str, ...], counters: int
) -> None:
    match = position(side(pokemon(attacker, energy=[R, R, R])), side(TANK, *their_bench))
    play(match, "attack:Hex Hurl")
    while choosing(match) is not None:
        play(match, keys(match)[0])
    assert bench(match, 1, 1)["damage"] == 10 * counters


def test_grasping_draw_is_free_and_draws_up_to_seven() -> None:
    match = play(position(side("OBF-80", hand=[R, R])), "attack:Grasping Draw")
    assert own(match, 0)["hand_count"] == 7
    assert actor(match) == 1
    full = play(position(side("OBF-80", hand=[R] * 8)), "attack:Grasping Draw")
    assert own(full, 0)["hand_count"] == 8
