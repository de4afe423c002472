"""Positions with their official results; the number is that of the position in the project's list of examples.

Seat 0 is the player whose turn it is. A position about cards of another deck stands in that deck's tests.
"""

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
    outcome,
    own,
    play,
    pokemon,
    position,
    prizes_left,
    side,
    view,
)

R, L = "SVE-2", "SVE-4"


def test_01_first_players_first_turn_has_no_attack_supporter_or_evolution() -> None:
    match = position(
        side(
            pokemon("PAF-7", energy=[R, R, R]),
            "MEW-16",
            "BRS-48",
            hand=["PAF-8", "PAF-54", "PAF-89", "OBF-186", "PAF-87", "PAF-84", "OBF-196", "SVI-169", R, "CRZ-111"],
        ),
        turn=1,
        first_player=0,
    )
    legal = keys(match)
    assert not attacks(match)
    assert not [key for key in legal if key.startswith("evolve:")]
    assert not {"play:PAF-89", "play:OBF-186", "play:PAF-87"} & set(legal)
    # Bench, Energy, Item, Stadium, Tool and retreat are allowed, Abilities too.
    assert {"bench:CRZ-111", "attach:SVE-2>active", "attach:SVE-2>bench1"} <= set(legal)
    assert {"play:PAF-84", "play:OBF-196", "attach:SVI-169>bench2", "retreat>bench2"} <= set(legal)
    play(match, "retreat>bench2")
    assert "ability:Fleet-Footed@active" in keys(match)
    play(match, "attach:SVE-2>active")
    assert not [key for key in keys(match) if key.startswith("attach:SVE-2")]


def test_02_second_players_first_turn_may_attack_and_play_a_supporter_but_not_evolve() -> None:
    match = position(
        side(pokemon("PAF-7", energy=[R]), "PAF-7", hand=["PAF-8", "PAF-54", "PAF-89", "OBF-186", R]),
        turn=2,
        first_player=1,
    )
    play(match, "attach:SVE-2>active")
    assert "play:OBF-186" in keys(match)
    assert "play:PAF-89" not in keys(match)
    assert not [key for key in keys(match) if key.startswith("evolve:")]
    play(match, "attack:Steady Firebreathing")
    assert active(match, 1)["damage"] == 30


def test_05_drawing_the_last_card_loses_only_when_the_next_turns_draw_is_impossible() -> None:
    match = position(side("CRZ-111", hand=["PAF-87"], deck=[L], discard=[]))
    play(match, "play:PAF-87")
    assert hand(match, 0) == [L]
    assert own(match, 0)["deck_count"] == 0
    assert match.result is None
    play(match, "attach:SVE-4>active", "pass")
    assert (match.result, actor(match)) == (None, 1)
    play(match, "pass")
    assert outcome(match) == ("win", 1, "deck_out")


def test_06_a_player_without_pokemon_loses() -> None:
    match = position(side(pokemon("PAF-7", energy=[R, R])), pokemon("CRZ-111", damage=30))
    play(match, "attack:Steady Firebreathing")
    assert outcome(match) == ("win", 0, "no_pokemon")


def test_07_evolving_keeps_damage_and_cards_and_ends_special_conditions() -> None:
    match = position(
        side(pokemon("PAF-7", energy=[R], tools=["SVI-169"], damage=60, conditions=["confused"]), hand=["PAF-8"])
    )
    play(match, "evolve:PAF-8>active")
    evolved = active(match, 0)
    assert (evolved["card"], evolved["under"], evolved["max_hp"], evolved["hp"]) == ("PAF-8", ["PAF-7"], 90, 30)
    assert (evolved["energy"], evolved["tools"], evolved["conditions"]) == ([R], ["SVI-169"], [])


def test_08_one_evolution_per_pokemon_and_turn_and_none_of_a_pokemon_put_down_this_turn() -> None:
    match = position(side("PAF-7", hand=["PAF-8", "PAF-54", "PAF-7", "PAF-89", "PAF-8"]))
    play(match, "evolve:PAF-8>active", "bench:PAF-7")
    assert not [key for key in keys(match) if key.startswith("evolve:")]
    assert "play:PAF-89" not in keys(match)
    # In the next turn of that player both are possible.
    play(match, "pass", "pass")
    assert {"evolve:PAF-54>active", "evolve:PAF-8>bench1", "play:PAF-89"} <= set(keys(match))


def test_09_rare_candy_lets_infernal_reign_be_used() -> None:
    match = position(
        side("CRZ-111", "PAF-7", hand=["PAF-89", "PAF-54"], deck=[R, R, R, R, L], fill="SVE-4", prizes=6),
    )
    play(match, "play:PAF-89")
    assert bench(match, 0, 1)["card"] == "PAF-54"
    play(match, "choose:yes")
    # Only Basic Fire Energy can be chosen, and choosing nothing is allowed.
    assert candidates(match) == {R}
    assert "done" in keys(match)
    play(match, "choose:SVE-2", "choose:SVE-2", "choose:SVE-2", "choose:active", "choose:bench1")
    assert active(match, 0)["energy"] == [R]
    assert bench(match, 0, 1)["energy"] == [R, R]
    assert own(match, 0)["deck_count"] == 2
    assert events(match, 1, "shuffle")
    assert discard(match, 0) == ["PAF-89"]
    assert own(match, 0)["used"]["energy"] is False


@pytest.mark.parametrize("answers", [("choose:no",), ("choose:yes", "done")])
def test_09_infernal_reign_may_attach_nothing(answers: tuple[str, ...]) -> None:
    match = play(position(side("CRZ-111", "PAF-7", hand=["PAF-89", "PAF-54"])), "play:PAF-89", *answers)
    assert bench(match, 0, 1)["energy"] == []
    assert choosing(match) is None


def test_17_modifiers_count_before_weakness() -> None:
    def arm_press(target: str) -> int:
        match = position(
            side(pokemon("PAR-248", energy=[L, L, L], tools=["SVI-169"]), "PGO-29", prizes=6),
            side(pokemon(target), "CRZ-111", prizes=4),
        )
        play(match, "attack:Arm Press")
        amount: int = events(match, 0, "damage")[-1]["amount"]
        return amount

    assert arm_press("BRS-40") == (160 + 30 + 10) * 2
    assert arm_press("PAF-54") == 160 + 30 + 10


@pytest.mark.parametrize(("target", "amount"), [("BRS-40", (110 + 30) * 2), ("PAF-54", 110 + 30)])
def test_17_lightning_symbol_adds_nothing_to_any_zapdos(target: str, amount: int) -> None:
    match = position(
        side(pokemon("PGO-29", energy=[L, L, L], tools=["SVI-169"]), "PGO-29", prizes=6),
        side(pokemon(target), "CRZ-111", prizes=4),
    )
    play(match, "attack:Electric Ball")
    assert events(match, 0, "damage")[-1]["amount"] == amount


def test_19_burning_darkness_grows_with_the_prizes_the_opponent_took() -> None:
    match = position(side(pokemon("PAF-54", energy=[R, R])), side("PAF-54", prizes=2))
    play(match, "attack:Burning Darkness")
    assert active(match, 1)["damage"] == 300


@pytest.mark.parametrize(
    ("prizes", "energy", "payable"),
    [
        (2, [R], True),
        (2, [L], False),
        (1, [L, L, L, L], False),
        (4, [R, L], False),
        (4, [R, L, L], True),
        (6, [R, L, L, L], False),
        (6, [R, L, L, L, L], True),
        (3, ["BRS-151"], False),
    ],
)
def test_19_excited_heart_takes_colorless_only(prizes: int, energy: list[str], payable: bool) -> None:
    match = position(side(pokemon("CRZ-20", energy=energy)), side("CRZ-111", prizes=prizes))
    assert (attacks(match) == {"Combustion Blast"}) is payable


def _copied_shuriken(*their_bench: str) -> list[tuple[str, int]]:
    """Mew ex copies Moonlight Shuriken onto the Active Radiant Greninja and their last Benched Pokémon."""
    match = position(side(pokemon("MEW-151", energy=[L, L, L])), side("ASR-46", *their_bench))
    play(match, "attack:Genome Hacking", "choose:opponent.active", f"choose:opponent.bench{len(their_bench)}")
    return [(event["pokemon"], event["amount"]) for event in events(match, 0, "damage")]


def test_20_wave_veil_keeps_damage_from_the_bench_but_not_from_the_active_pokemon() -> None:
    assert _copied_shuriken("CRZ-20", "BRS-41", "OBF-80") == [("ASR-46", 90), ("OBF-80", 0)]
    assert _copied_shuriken("CRZ-20", "OBF-80") == [("ASR-46", 90), ("OBF-80", 90)]


def test_21_a_benched_tera_pokemon_takes_no_damage_from_attacks() -> None:
    assert _copied_shuriken("CRZ-111", "PAF-54") == [("ASR-46", 90), ("PAF-54", 0)]


def test_21_an_active_tera_pokemon_takes_damage() -> None:
    match = play(position(side(pokemon("PAF-7", energy=[R, R])), "PAF-54"), "attack:Steady Firebreathing")
    assert active(match, 1)["damage"] == 30


def test_23_only_one_quick_search_a_turn() -> None:
    match = position(side("OBF-164", "OBF-164", deck=[R, L]))
    assert {"ability:Quick Search@active", "ability:Quick Search@bench1"} <= set(keys(match))
    play(match, "ability:Quick Search@bench1", "choose:SVE-4")
    assert hand(match, 0) == [L]
    assert not [key for key in keys(match) if key.startswith("ability:")]


def test_23_only_one_squawk_and_seize_a_turn() -> None:
    match = position(side("PAL-264", "PAL-264", hand=[R, R, R]), turn=2)
    play(match, "ability:Squawk and Seize@active")
    assert own(match, 0)["hand_count"] == 6
    assert discard(match, 0) == [R, R, R]
    assert not [key for key in keys(match) if key.startswith("ability:")]


def test_27_one_vstar_power_a_game_even_from_another_copy_or_after_the_stone_left_play() -> None:
    match = position(
        side(
            pokemon("CRZ-45", tools=["SIT-156"]),
            pokemon("BRS-40", tools=["SIT-156"]),
            hand=["CRZ-135", R],
            deck=[R, L, "SIT-156", L, L],
        )
    )
    play(match, "ability:Star Alchemy@bench1", "choose:SIT-156")
    assert "SIT-156" in hand(match, 0)
    assert "ability:Star Alchemy@active" not in keys(match)
    play(match, "play:CRZ-135", "choose:SVE-2", "choose:SIT-156@bench1", "attach:SIT-156>bench1")
    assert own(match, 0)["lost_zone"] == [R, "SIT-156"]
    assert not [key for key in keys(match) if "Star Alchemy" in key]
    play(match, "pass", "pass")
    assert not [key for key in keys(match) if "Star Alchemy" in key]


def test_27_forest_seal_stone_works_on_a_pokemon_v_only() -> None:
    match = position(side("MEW-151", "CRZ-45", hand=["SIT-156", "SIT-156"]))
    play(match, "attach:SIT-156>active", "attach:SIT-156>bench1")
    assert [key for key in keys(match) if "Star Alchemy" in key] == ["ability:Star Alchemy@bench1"]


def test_29_losing_hp_knocks_out_at_once() -> None:
    match = position(
        side("MEW-151", hand=["CRZ-135", R]),
        side(pokemon("BRS-41", damage=80, tools=["PAL-173"]), "CRZ-111", "MEW-16"),
    )
    play(match, "play:CRZ-135")
    assert own(match, 0)["lost_zone"] == [R]
    assert own(match, 1)["lost_zone"] == ["PAL-173"]
    assert discard(match, 0) == ["CRZ-135"]
    assert discard(match, 1) == ["BRS-41"]
    assert prizes_left(match) == (5, 6)
    assert actor(match) == 1
    play(match, "choose:bench2")
    assert active(match, 1)["card"] == "MEW-16"
    # The turn goes on.
    assert actor(match) == 0
    assert "pass" in keys(match)


FIVE = ("PAF-7", "MEW-16", "CRZ-111", "BRS-41", "OBF-80")


def test_30_collapsed_stadium_discards_to_four_its_player_first() -> None:
    theirs = side("CRZ-20", *FIVE[:4], pokemon("CRZ-45", energy=[L], tools=["SIT-156"]))
    match = position(side("CRZ-20", *FIVE, hand=["BRS-137", "PAF-84", "OBF-80"]), theirs)
    play(match, "play:BRS-137")
    assert actor(match) == 0
    play(match, "choose:bench2")
    assert actor(match) == 1
    play(match, "choose:bench5")
    assert bench_cards(match, 0) == ["PAF-7", "CRZ-111", "BRS-41", "OBF-80"]
    assert bench_cards(match, 1) == list(FIVE[:4])
    assert discard(match, 0) == ["MEW-16"]
    assert discard(match, 1) == sorted(["CRZ-45", L, "SIT-156"])
    assert prizes_left(match) == (6, 6)
    assert not events(match, 0, "knock_out")
    # Four is the limit as long as it is in play.
    assert not {"play:PAF-84", "bench:OBF-80"} & set(keys(match))


def test_30_when_collapsed_stadium_leaves_the_limit_is_five_again() -> None:
    match = position(
        side(pokemon("PAF-7", energy=[R]), *FIVE[:4], hand=["OBF-196", "OBF-80", "CRZ-135", R]),
        stadium={"card": "BRS-137", "owner": 1},
    )
    assert "bench:OBF-80" not in keys(match)
    replaced = play(match.clone(), "play:OBF-196")
    assert "bench:OBF-80" in keys(replaced)
    assert own(replaced, 1)["discard"] == ["BRS-137"]
    lost = play(match.clone(), "play:CRZ-135", "choose:SVE-2")
    assert "bench:OBF-80" in keys(lost)
    assert own(lost, 1)["lost_zone"] == ["BRS-137"]
    burned = play(match, "attack:Blazing Destruction")
    assert view(burned, 0)["stadium"] is None
    assert own(burned, 0)["bench_limit"] == 5


def test_32_iono_puts_hands_on_the_bottom_and_draws_from_the_top() -> None:
    match = position(
        side(
            "CRZ-111",
            hand=["PAF-80", "PAF-7", "PAF-8", "PAF-54"],
            deck=["BRS-41", "OBF-80", "MEW-16", "CRZ-20", "CRZ-45", L],
            prizes=5,
        ),
        side("CRZ-111", hand=["PAF-84", "PAF-89", "PAF-91", "PAF-87"], deck=[L, "OBF-186", R], prizes=2),
    )
    play(match, "play:PAF-80")
    assert hand(match, 0) == sorted(["BRS-41", "OBF-80", "MEW-16", "CRZ-20", "CRZ-45"])
    assert hand(match, 1) == sorted([L, "OBF-186"])
    assert own(match, 0)["deck_count"] == 1 + 3
    assert own(match, 1)["deck_count"] == 1 + 4
    assert discard(match, 0) == ["PAF-80"]
    assert not events(match, 0, "shuffle")
    # The opponent may play a Supporter in its own turn; it draws the card that was third in its deck.
    play(match, "pass")
    assert R in hand(match, 1)
    assert "play:OBF-186" in keys(match)
    # Below the rest of the decks lie the old hands.
    play(match, "pass")
    assert L in hand(match, 0)
    play(match, "pass", "pass")
    assert len({"PAF-7", "PAF-8", "PAF-54"} & set(hand(match, 0))) == 1


def test_32_with_two_empty_hands_iono_draws_nothing() -> None:
    match = play(position(side("CRZ-111", hand=["PAF-80"]), side("CRZ-111", hand=[])), "play:PAF-80")
    assert (hand(match, 0), hand(match, 1)) == ([], [])


def test_32_one_hand_is_enough_for_both_to_draw() -> None:
    match = position(side("CRZ-111", hand=["PAF-80"], prizes=3), side("CRZ-111", hand=[L], prizes=2))
    play(match, "play:PAF-80")
    assert (own(match, 0)["hand_count"], own(match, 1)["hand_count"]) == (3, 2)


@pytest.mark.parametrize(
    "start",
    [("play:PAF-84",), ("play:PAF-91",), ("play:TEF-144",)],
)
def test_33_a_restricted_search_may_find_nothing(start: tuple[str, ...]) -> None:
    match = position(side("CRZ-111", hand=[start[0].removeprefix("play:"), R, R], deck=["PAF-7", "PAF-7", R]))
    play(match, *start)
    assert "PAF-7" in candidates(match)
    play(match, "done")
    assert own(match, 0)["deck_count"] == 3
    assert bench_cards(match, 0) == []
    assert events(match, 1, "shuffle")


def test_33_a_search_for_a_card_cannot_fail() -> None:
    match = play(position(side("OBF-164", deck=[R, L])), "ability:Quick Search@active")
    assert keys(match) == ["choose:SVE-2", "choose:SVE-4"]
    match = position(side(pokemon("CRZ-45", tools=["SIT-156"]), deck=[R, L]))
    play(match, "ability:Star Alchemy@active")
    assert keys(match) == ["choose:SVE-2", "choose:SVE-4"]


def test_33_nest_ball_needs_room_on_the_bench() -> None:
    assert "play:PAF-84" not in keys(position(side("CRZ-20", *FIVE, hand=["PAF-84"])))
    assert "play:PAF-84" in keys(position(side("CRZ-20", *FIVE[:4], hand=["PAF-84"])))


def test_35_turos_scenario_picks_up_all_stages_and_discards_what_is_attached() -> None:
    charizard = pokemon("PAF-54", under=["PAF-7"], energy=[R, R], tools=["SVI-169"], damage=100)
    match = play(position(side("CRZ-111", charizard, hand=["PAR-257"])), "play:PAR-257", "choose:bench1")
    assert hand(match, 0) == sorted(["PAF-7", "PAF-54"])
    assert discard(match, 0) == sorted([R, R, "SVI-169", "PAR-257"])
    assert bench_cards(match, 0) == []


def test_36_prime_catcher_without_a_bench_of_ones_own() -> None:
    match = position(side("CRZ-111", hand=["TEF-157"]), side("PAF-7", "MEW-16"))
    play(match, "play:TEF-157")
    assert active(match, 1)["card"] == "MEW-16"
    assert active(match, 0)["card"] == "CRZ-111"
    assert discard(match, 0) == ["TEF-157"]


@pytest.mark.parametrize(("target", "amount"), [("PAF-54", 120 - 40), ("BRS-40", (120 - 40) * 2)])
def test_37_two_double_turbo_energy_do_forty_less_before_weakness(target: str, amount: int) -> None:
    match = position(side(pokemon("PAR-248", energy=[L, "BRS-151", "BRS-151"])), side(target, "CRZ-111"))
    play(match, "attack:Amp You Very Much")
    assert events(match, 0, "damage")[-1]["amount"] == amount


def test_38_both_sides_out_of_pokemon_is_sudden_death() -> None:
    match = position(
        side(pokemon("MEW-151", energy=[L, L, L]), deck=["PAF-7"], deck_size=20),
        side(pokemon("BRS-40", damage=50), deck=["PAF-7"], deck_size=20),
    )
    play(match, "attack:Genome Hacking")
    assert match.result is None
    assert view(match, 0)["sudden_death"] is True
    assert view(match, 0)["turn"] == 0
    assert view(match, 0)["prizes_to_win"] == 1


def test_38_more_conditions_met_wins() -> None:
    match = position(
        side(pokemon("MEW-151", energy=[L, L, L]), prizes=2, deck=["PAF-7"], deck_size=20),
        side(pokemon("BRS-40", damage=50), deck=["PAF-7"], deck_size=20),
    )
    play(match, "attack:Genome Hacking")
    assert outcome(match) == ("win", 0, "prizes")
