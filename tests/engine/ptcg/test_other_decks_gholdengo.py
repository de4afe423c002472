"""The cards of the Gholdengo ex deck, each where it matters and where something keeps it from acting."""

from __future__ import annotations

from collections import Counter

import pytest
from ptcg_play import (
    active,
    attacks,
    bench,
    candidates,
    choosing,
    deck_counts,
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

from engine.ptcg.game import PtcgMatch

G, R, L, P, D, M = "SVE-1", "SVE-2", "SVE-4", "SVE-5", "SVE-7", "SVE-8"
MIST = "TEF-161"


def last_damage(match: PtcgMatch) -> int:
    amount: int = events(match, 0, "damage")[-1]["amount"]
    return amount


# --- Gimmighoul, Gholdengo ex ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("flips", "amount"), [("T", 0), ("HT", 20), ("HHHT", 60)])
def test_continuous_coin_toss_flips_until_tails(flips: str, amount: int) -> None:
    fields = {"yours": side(pokemon("PAR-88", energy=[R])), "theirs": "SIT-139"}
    match = with_coins(flips, fields, "attack:Continuous Coin Toss")
    assert active(match, 1)["damage"] == amount


def test_coin_bonus_draws_what_is_left_and_nothing_from_an_empty_deck() -> None:
    match = play(position(side("PAR-139", deck=[R])), "ability:Coin Bonus@active")
    assert hand(match, 0) == [R]
    assert "ability:Coin Bonus@active" not in keys(position(side("PAR-139", deck=[])))


def rain(*choices: str, held: tuple[str, ...] = (R, M, M, M, MIST, "PAR-88"), theirs: str = "SIT-139") -> PtcgMatch:
    match = position(side(pokemon("PAR-139", energy=[M]), hand=list(held)), theirs)
    return play(match, "attack:Make It Rain", *choices)


def test_make_it_rain_discards_any_number_of_basic_energy_from_the_hand() -> None:
    match = rain()
    assert candidates(match) == {R, M}
    play(match, f"choose:{M}", f"choose:{M}", "done")
    assert last_damage(match) == 100
    assert discard(match, 0) == [M, M]
    assert active(match, 0)["energy"] == [M]


def test_make_it_rain_with_all_or_none_of_the_energy() -> None:
    match = rain(f"choose:{R}", f"choose:{M}", f"choose:{M}", f"choose:{M}")
    assert (last_damage(match), hand(match, 0)) == (200, ["PAR-88", MIST])
    match = rain("done")
    assert (last_damage(match), len(hand(match, 0))) == (0, 6)
    match = rain(held=(MIST,))
    assert (choosing(match), last_damage(match), hand(match, 0)) == (None, 0, [MIST])


def test_make_it_rain_meets_weakness_after_it_was_added_up() -> None:
    assert last_damage(rain(f"choose:{M}", f"choose:{M}", "done", theirs="JTG-56")) == 200


def test_mew_ex_discards_its_own_players_energy_when_it_copies_make_it_rain() -> None:
    match = position(side(pokemon("MEW-151", energy=[P, P, P]), hand=[R]), side("PAR-139", hand=[M]))
    play(match, "attack:Genome Hacking", f"choose:{R}")
    assert (last_damage(match), discard(match, 0), discard(match, 1)) == (50, [R], [])


# --- Dunsparce, Dudunsparce ------------------------------------------------------------------------------------------


def dug(flips: str, *actions: str) -> PtcgMatch:
    theirs = side(pokemon("TWM-95", energy=[D, P], damage=10), "SFA-92", hand=["PAL-265"])
    fields = {"yours": side(pokemon("TEF-128", energy=[R, R]), "PAR-139"), "theirs": theirs}
    return with_coins(flips, fields, "attack:Dig", *actions)


def test_dig_with_heads_keeps_damage_and_effects_of_attacks_away_for_one_turn() -> None:
    match = dug("H")
    assert active(match, 1)["damage"] == 40
    play(match, "attack:Mind Bend")
    dunsparce = active(match, 0)
    assert (dunsparce["card"], dunsparce["damage"], dunsparce["conditions"]) == ("TEF-128", 0, [])
    assert prizes_left(match) == (6, 6)
    play(match, "pass", "attack:Mind Bend")
    assert prizes_left(match) == (6, 5)


def test_dig_with_tails_keeps_nothing_away() -> None:
    match = dug("T", "attack:Mind Bend")
    assert prizes_left(match) == (6, 5)


def test_dig_does_not_keep_abilities_away() -> None:
    match = dug("H", "ability:Adrena-Brain@active", "choose:3", "choose:opponent.active")
    assert active(match, 0)["damage"] == 30


def test_dig_ends_when_dunsparce_leaves_the_active_spot() -> None:
    theirs = side(pokemon("SFA-92", energy=[P, P, P]), hand=["PAL-265"])
    fields = {"yours": side(pokemon("TEF-128", energy=[R, R]), "PAR-139"), "theirs": theirs}
    match = with_coins("H", fields, "attack:Dig", "play:PAL-265", "attack:Cruel Arrow", "choose:opponent.bench1")
    assert prizes_left(match) == (6, 5)


def test_gnaw_and_land_crush() -> None:
    assert last_damage(play(position(side(pokemon("TEF-128", energy=[R])), "SIT-139"), "attack:Gnaw")) == 10
    match = play(position(side(pokemon("TEF-129", energy=[R, M, P])), "SIT-139"), "attack:Land Crush")
    assert last_damage(match) == 90


def test_dunsparce_and_scyther_retreat_for_free() -> None:
    assert "retreat>bench1" in keys(position(side("TEF-128", "PAR-88")))
    assert "retreat>bench1" in keys(position(side("MEW-123", "PAR-88")))


def test_run_away_draw_needs_a_card_to_draw() -> None:
    assert "ability:Run Away Draw@active" not in keys(position(side("TEF-129", "PAR-88", deck=[])))


def test_run_away_draw_of_the_last_pokemon_loses_the_game() -> None:
    match = play(position(side("TEF-129")), "ability:Run Away Draw@active")
    assert outcome(match) == ("win", 1, "no_pokemon")


def test_run_away_draw_is_each_dudunsparces_own() -> None:
    match = position(side("PAR-88", "TEF-129", "TEF-129"))
    play(match, "ability:Run Away Draw@bench2", "ability:Run Away Draw@bench1")
    assert own(match, 0)["bench"] == []
    assert len(hand(match, 0)) == 6


# --- Scyther, Scizor -------------------------------------------------------------------------------------------------


def test_helpful_slash_attaches_a_G_to_the_bench() -> None:
    scyther = pokemon("MEW-123", energy=[G])
    match = position(side(scyther, "PAR-88", "PAR-139", discard=[G, G, R]), "SIT-139")
    play(match, "attack:Helpful Slash")
    assert candidates(match) == {"bench1", "bench2"}
    play(match, "choose:bench2")
    assert last_damage(match) == 20
    assert bench(match, 0, 2)["energy"] == [G]
    assert discard(match, 0) == [G, R]


def test_helpful_slash_without_G_or_bench_is_damage_only() -> None:
    scyther = pokemon("MEW-123", energy=[G])
    for yours in (side(scyther, "PAR-88", discard=[R]), side(scyther, discard=[G])):
        match = play(position(yours, "SIT-139"), "attack:Helpful Slash")
        assert (last_damage(match), choosing(match)) == (20, None)


def test_slicing_blade_meets_the_resistance_of_metal_pokemon() -> None:
    scyther = side(pokemon("MEW-123", energy=[G, R, R]))
    assert last_damage(play(position(scyther, "SIT-139"), "attack:Slicing Blade")) == 70
    for target in ("PAR-139", "OBF-141"):
        assert last_damage(play(position(scyther, target), "attack:Slicing Blade")) == 40


@pytest.mark.parametrize(
    ("theirs", "stadium", "amount"),
    [
        (["SIT-138"], None, 10),
        (["SIT-139"], None, 60),
        (["SIT-139", "SIT-147", "CRZ-111", "MEW-151", "SIT-138"], None, 10 + 4 * 50),
        (["SIT-139", "SIT-147", "CRZ-111", "MEW-151", "SIT-138"], "ASC-210", 60),
    ],
)
def test_punishing_scissors_counts_pokemon_that_have_an_ability(
    theirs: list[str], stadium: str | None, amount: int
) -> None:
    fields = {} if stadium is None else {"stadium": {"card": stadium, "owner": 0}}
    match = position(side(pokemon("OBF-141", energy=[M]), "PAR-139"), side(*theirs), **fields)
    assert last_damage(play(match, "attack:Punishing Scissors")) == amount


def test_punishing_scissors_counts_a_used_ability_and_no_tool() -> None:
    used = pokemon("SIT-139", ability_used=True)
    stone = pokemon("SIT-138", tools=["SIT-156"])
    match = position(side(pokemon("OBF-141", energy=[M])), side(used, stone, used={"vstar": True}))
    assert last_damage(play(match, "attack:Punishing Scissors")) == 60


def test_cut_does_seventy() -> None:
    assert last_damage(play(position(side(pokemon("OBF-141", energy=[M, M])), "SIT-139"), "attack:Cut")) == 70
    assert attacks(position(side(pokemon("OBF-141", energy=[M, R])))) == {"Punishing Scissors"}


# --- Rigid Band ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("target", "amount"), [("PAR-139", 90), ("TEF-129", 90), ("SIT-138", 120), ("SIT-139", 120)])
def test_rigid_band_protects_stage_1_pokemon_only(target: str, amount: int) -> None:
    # A VSTAR evolves from a Basic Pokémon but is no Stage 1.
    match = position(side(pokemon("SIT-147", energy=[R, R, R])), pokemon(target, tools=["MEW-165"]))
    assert last_damage(play(match, "attack:Speed Wing")) == amount


def test_rigid_band_does_not_turn_small_damage_into_healing() -> None:
    match = position(side(pokemon("TEF-128", energy=[R])), pokemon("PAR-139", tools=["MEW-165"], damage=50))
    play(match, "attack:Gnaw")
    assert (last_damage(match), active(match, 1)["damage"]) == (0, 50)


# --- Trainers --------------------------------------------------------------------------------------------------------


def test_ciphermaniac_puts_two_cards_on_top_in_the_chosen_order() -> None:
    match = position(side("CRZ-111", "PAR-139", hand=["TEF-145"], deck=[R, R, L, P, M, D]))
    play(match, "play:TEF-145", f"choose:{L}", f"choose:{M}")
    assert candidates(match) == {L, M}
    play(match, f"choose:{L}")
    assert own(match, 0)["deck_top"] == [L, M]
    play(match, "ability:Coin Bonus@bench1")
    assert hand(match, 0) == [L]
    assert own(match, 0)["deck_top"] == [M]
    play(match, "pass", "pass")
    assert hand(match, 0) == [L, M]


def test_ciphermaniac_shows_the_opponent_nothing() -> None:
    match = position(side("CRZ-111", hand=["TEF-145"], deck=[R, R, L, P, M, D]))
    play(match, "play:TEF-145", f"choose:{L}", f"choose:{M}", f"choose:{M}")
    assert own(match, 0)["deck_top"] == [M, L]
    assert view(match, 1)["opponent"]["deck_top"] == []
    assert [set(event) for event in events(match, 1, "to_top")] == [{"event", "seat", "count"}]
    # A shuffle forgets them.
    play(match, "pass", "pass")
    assert own(match, 0)["deck_top"] == [L]


def test_ciphermaniac_asks_no_order_of_two_copies() -> None:
    match = position(side("CRZ-111", hand=["TEF-145"], deck=[M, L, L, P]))
    play(match, "play:TEF-145", f"choose:{L}", f"choose:{L}")
    assert choosing(match) is None
    assert own(match, 0)["deck_top"] == [L, L]
    assert "play:TEF-145" not in keys(position(side("CRZ-111", hand=["TEF-145"], deck=[])))


def test_what_lies_on_top_is_forgotten_when_the_deck_is_shuffled() -> None:
    match = position(side("CRZ-111", hand=["TEF-145", "PAF-84"], deck=[M, L, P, R]))
    play(match, "play:TEF-145", f"choose:{L}", f"choose:{M}", f"choose:{L}", "play:PAF-84")
    assert own(match, 0)["deck_top"] == []


def test_mortys_conviction_draws_for_each_of_the_opponents_benched_pokemon() -> None:
    match = position(
        side("CRZ-111", "CRZ-111", hand=["TEF-155", L, M], deck=[R] * 5), side("CRZ-111", "MEW-16", "PAF-7")
    )
    play(match, "play:TEF-155", f"choose:{M}")
    assert hand(match, 0) == [R, R, L]
    assert discard(match, 0) == [M, "TEF-155"]


def test_mortys_conviction_needs_a_card_to_discard_and_an_opposing_bench() -> None:
    theirs = side("CRZ-111", "MEW-16")
    assert "play:TEF-155" not in keys(position(side("CRZ-111", hand=["TEF-155"]), theirs))
    assert "play:TEF-155" not in keys(position(side("CRZ-111", "MEW-16", hand=["TEF-155", M])))
    assert "play:TEF-155" in keys(position(side("CRZ-111", hand=["TEF-155", M]), theirs))


def test_superior_energy_retrieval_cannot_take_what_it_discarded() -> None:
    match = position(side("CRZ-111", hand=["PAL-189", M, M], discard=[M, R, MIST, "PAR-88"]))
    play(match, "play:PAL-189")
    choice = choosing(match)
    assert choice is not None
    assert {c["label"]: c["copies"] for c in choice["candidates"]} == {R: 1, M: 1}
    play(match, f"choose:{R}", f"choose:{M}")
    assert hand(match, 0) == [R, M]
    assert discard(match, 0) == sorted([M, M, "PAL-189", MIST, "PAR-88"])


def test_superior_energy_retrieval_takes_up_to_four_and_needs_two_other_cards_and_energy() -> None:
    match = position(side("CRZ-111", hand=["PAL-189", "PAR-88", "PAR-88"], discard=[M] * 6))
    # The first card is the only one there is to choose.
    play(match, "play:PAL-189", *[f"choose:{M}"] * 3)
    assert hand(match, 0) == [M] * 4
    assert discard(match, 0) == sorted([M, M, "PAL-189", "PAR-88", "PAR-88"])
    assert "play:PAL-189" in keys(position(side("CRZ-111", hand=["PAL-189", M, M], discard=[M])))
    assert "play:PAL-189" not in keys(position(side("CRZ-111", hand=["PAL-189", M], discard=[M])))
    assert "play:PAL-189" not in keys(position(side("CRZ-111", hand=["PAL-189", M, M], discard=[MIST])))


def test_energy_retrieval_takes_one_or_two_basic_energy() -> None:
    match = position(side("CRZ-111", hand=["CRZ-127"], discard=[M, M, R, R, MIST]))
    play(match, "play:CRZ-127")
    assert candidates(match) == {R, M}
    assert "done" not in keys(match)
    play(match, f"choose:{R}", f"choose:{M}")
    assert choosing(match) is None
    assert hand(match, 0) == [R, M]
    assert "play:CRZ-127" not in keys(position(side("CRZ-111", hand=["CRZ-127"], discard=[MIST])))


def test_hyper_aroma_finds_up_to_three_stage_1_pokemon() -> None:
    deck = ["PAR-139", "PAR-139", "OBF-141", "TEF-129", "SIT-139", "SVI-86", "PAR-88"]
    match = play(position(side("CRZ-111", hand=["TWM-152"], deck=deck)), "play:TWM-152")
    assert candidates(match) == {"PAR-139", "OBF-141", "TEF-129"}
    play(match, "choose:OBF-141", "choose:PAR-139", "choose:PAR-139")
    assert hand(match, 0) == ["OBF-141", "PAR-139", "PAR-139"]
    assert view(match, 1)["opponent"]["hand"] == ["OBF-141", "PAR-139", "PAR-139"]
    assert deck_counts(match, 0) == Counter(["TEF-129", "SIT-139", "SVI-86", "PAR-88"])


def test_letter_of_encouragement_finds_up_to_three_basic_energy_after_a_knock_out() -> None:
    assert "play:OBF-189" not in keys(position(side("CRZ-111", hand=["OBF-189"])))
    deck = [M, M, M, M, MIST, "PAR-88"]
    match = position(side("CRZ-111", hand=["OBF-189"], deck=deck, knocked_out_last_turn=True))
    play(match, "play:OBF-189")
    assert candidates(match) == {M}
    play(match, f"choose:{M}", f"choose:{M}", f"choose:{M}")
    assert hand(match, 0) == [M, M, M]
