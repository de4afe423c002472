"""Items, Supporters and Stadiums of the two decks: what they do, when they cannot be played, what they cost."""

from __future__ import annotations

import pytest
from ptcg_play import (
    active,
    actor,
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
)

R, L, DOUBLE, MIST = "SVE-2", "SVE-4", "BRS-151", "TEF-161"
FULL_BENCH = ("PAF-7", "MEW-16", "CRZ-111", "BRS-41", "OBF-80")


# --- searching -------------------------------------------------------------------------------------------------------


def test_nest_ball_takes_any_basic_pokemon_onto_the_bench() -> None:
    match = position(side("CRZ-111", hand=["PAF-84"], deck=["SVI-253", "PAF-8", R, "PAF-84"]))
    play(match, "play:PAF-84")
    assert candidates(match) == {"SVI-253"}
    play(match, "choose:SVI-253")
    assert bench_cards(match, 0) == ["SVI-253"]
    assert discard(match, 0) == ["PAF-84"]
    assert own(match, 0)["deck_count"] == 3
    assert bench(match, 0, 1)["entered_this_turn"] is True


@pytest.mark.parametrize("card", ["PAF-84", "PAF-91", "TEF-144", "OBF-186", "SVI-170"])
def test_cards_that_search_need_a_deck(card: str) -> None:
    assert f"play:{card}" not in keys(position(side("CRZ-111", "PGO-29", hand=[card, R, R], deck=[])))
    assert f"play:{card}" in keys(position(side("CRZ-111", "PGO-29", hand=[card, R, R], deck=[R])))


def test_ultra_ball_costs_two_other_cards_and_shows_the_pokemon() -> None:
    match = position(side("CRZ-111", hand=["PAF-91", "PAF-91", R, L], deck=["PAF-8", "PAF-54", R]))
    play(match, "play:PAF-91")
    assert choosing(match) is not None
    assert candidates(match) == {"PAF-91", R, L}
    play(match, "choose:SVE-2", "choose:PAF-54")
    assert hand(match, 0) == ["PAF-54", "PAF-91"]
    assert discard(match, 0) == sorted([R, L, "PAF-91"])
    assert view(match, 1)["opponent"]["hand"] == ["PAF-54"]


@pytest.mark.parametrize(("others", "playable"), [([R], False), ([R, L], True)])
def test_ultra_ball_cannot_be_played_without_two_others(others: list[str], playable: bool) -> None:
    match = position(side("CRZ-111", hand=["PAF-91", *others], deck=["PAF-8"]))
    assert ("play:PAF-91" in keys(match)) is playable


def test_buddy_buddy_poffin_takes_up_to_two_small_basics() -> None:
    deck = ["PAF-7", "OBF-80", "PAF-8", "PGO-29", "CRZ-111", "PAR-56", R]
    match = position(side("CRZ-111", hand=["TEF-144"], deck=deck))
    play(match, "play:TEF-144")
    assert candidates(match) == {"PAF-7", "OBF-80", "CRZ-111"}
    play(match, "choose:CRZ-111", "choose:OBF-80")
    assert sorted(bench_cards(match, 0)) == ["CRZ-111", "OBF-80"]
    one_place = position(side("CRZ-111", *FULL_BENCH[:4], hand=["TEF-144"], deck=["PAF-7", "PAF-7"]))
    play(one_place, "play:TEF-144", "choose:PAF-7")
    assert choosing(one_place) is None
    assert "play:TEF-144" not in keys(position(side("CRZ-111", *FULL_BENCH, hand=["TEF-144"], deck=["PAF-7"])))


def test_arven_takes_an_item_and_a_tool() -> None:
    match = position(side("CRZ-111", hand=["OBF-186"], deck=["PAF-84", "TEF-157", "SVI-169", "PAL-265", R]))
    play(match, "play:OBF-186")
    assert candidates(match) == {"PAF-84", "TEF-157"}
    play(match, "choose:PAF-84")
    assert candidates(match) == {"SVI-169"}
    play(match, "choose:SVI-169")
    assert hand(match, 0) == ["PAF-84", "SVI-169"]
    assert view(match, 1)["opponent"]["hand"] == ["PAF-84", "SVI-169"]
    assert discard(match, 0) == ["OBF-186"]


@pytest.mark.parametrize(("answers", "taken"), [(("done", "choose:SVI-169"), ["SVI-169"]), (("done", "done"), [])])
def test_arven_may_take_only_one_or_none(answers: tuple[str, ...], taken: list[str]) -> None:
    match = position(side("CRZ-111", hand=["OBF-186"], deck=["PAF-84", "SVI-169"]))
    play(match, "play:OBF-186", *answers)
    assert hand(match, 0) == taken
    assert events(match, 0, "shuffle")


def test_town_store_takes_a_tool_and_needs_a_deck() -> None:
    match = position(side("CRZ-111", hand=["OBF-196"], deck=["SVI-169", "PAF-84", R]))
    play(match, "play:OBF-196", "stadium:OBF-196")
    assert candidates(match) == {"SVI-169"}
    play(match, "choose:SVI-169")
    assert view(match, 1)["opponent"]["hand"] == ["SVI-169"]
    empty = position(side("CRZ-111", deck=[]), stadium={"card": "OBF-196", "owner": 0})
    assert "stadium:OBF-196" not in keys(empty)


def test_electric_generator_attaches_to_benched_lightning_pokemon() -> None:
    deck = [L, R, L, L, "PAF-7", L, L]
    match = position(side("SVI-253", "PGO-29", "MEW-151", "PAR-248", hand=["SVI-170"], deck=deck))
    play(match, "play:SVI-170")
    assert candidates(match) == {L}
    assert "done" in keys(match)
    play(match, "choose:SVE-4", "choose:SVE-4")
    # Neither the Active Pokémon nor one of another type.
    assert keys(match) == ["choose:bench1", "choose:bench3"]
    play(match, "choose:bench3")
    assert bench(match, 0, 3)["energy"] == [L, L]
    assert own(match, 0)["deck_count"] == 5
    assert own(match, 0)["used"]["energy"] is False


def test_electric_generator_may_fail_and_needs_a_benched_lightning_pokemon() -> None:
    match = play(position(side("CRZ-111", "PGO-29", hand=["SVI-170"], deck=[R, R, R, R, R, L])), "play:SVI-170")
    assert choosing(match) is None
    assert bench(match, 0, 1)["energy"] == []
    assert events(match, 0, "shuffle")
    assert "play:SVI-170" not in keys(position(side("SVI-253", "MEW-151", hand=["SVI-170"], deck=[L])))
    unwanted = play(position(side("CRZ-111", "PGO-29", hand=["SVI-170"], deck=[L])), "play:SVI-170", "done")
    assert bench(unwanted, 0, 1)["energy"] == []


def test_super_rod_shuffles_up_to_three_pokemon_and_basic_energy_back() -> None:
    pile = ["PAF-7", "PAF-8", R, R, MIST, "PAF-84"]
    match = position(side("CRZ-111", hand=["PAL-188"], discard=pile, deck=[L]))
    play(match, "play:PAL-188")
    assert candidates(match) == {"PAF-7", "PAF-8", R}
    assert "done" not in keys(match)
    play(match, "choose:PAF-8", "choose:SVE-2")
    assert "done" in keys(match)
    play(match, "choose:SVE-2")
    assert own(match, 0)["deck_count"] == 4
    assert discard(match, 0) == sorted(["PAF-7", MIST, "PAF-84", "PAL-188"])
    nothing = position(side("CRZ-111", hand=["PAL-188"], discard=[MIST, "PAF-84"]))
    assert "play:PAL-188" not in keys(nothing)


# --- drawing ---------------------------------------------------------------------------------------------------------


def test_professors_research_discards_the_hand_and_draws_seven() -> None:
    match = play(position(side("CRZ-111", hand=["PAF-87", R, L], deck_size=20)), "play:PAF-87")
    assert own(match, 0)["hand_count"] == 7
    assert discard(match, 0) == sorted([R, L, "PAF-87"])


def test_iono_counts_each_players_own_prizes() -> None:
    match = position(side("CRZ-111", hand=["PAF-80", R], prizes=1), side("CRZ-111", hand=[R, R], prizes=6))
    play(match, "play:PAF-80")
    assert (own(match, 0)["hand_count"], own(match, 1)["hand_count"]) == (1, 6)


# --- evolving --------------------------------------------------------------------------------------------------------


def test_rare_candy_puts_a_stage_2_onto_a_basic_of_its_line() -> None:
    hand_cards = ["PAF-89", "PAF-54", "OBF-164", "PAF-8"]
    match = position(side(pokemon("PAF-7", damage=20, energy=[R]), "MEW-16", "CRZ-111", hand=hand_cards))
    play(match, "play:PAF-89")
    assert keys(match) == ["choose:active", "choose:bench1"]
    play(match, "choose:active", "choose:no")
    evolved = active(match, 0)
    assert (evolved["card"], evolved["under"], evolved["damage"], evolved["energy"]) == ("PAF-54", ["PAF-7"], 20, [R])
    assert evolved["evolved_this_turn"] is True
    pidgeot = position(side("MEW-16", hand=["PAF-89", "OBF-164"], deck=[R, L]))
    play(pidgeot, "play:PAF-89")
    assert active(pidgeot, 0)["card"] == "OBF-164"
    assert "ability:Quick Search@active" in keys(pidgeot)


@pytest.mark.parametrize(
    ("in_play", "in_hand", "turn"),
    [
        (pokemon("PAF-7", entered_turn=5), "PAF-54", 5),
        (pokemon("PAF-7"), "PAF-54", 2),
        (pokemon("PAF-8", under=["PAF-7"]), "PAF-54", 5),
        (pokemon("PAF-7"), "OBF-164", 5),
        (pokemon("PAF-7"), "PAF-8", 5),
        (pokemon("CRZ-20"), "PAF-54", 5),
    ],
)
def test_rare_candy_cannot_be_played(in_play: dict[str, object], in_hand: str, turn: int) -> None:
    assert "play:PAF-89" not in keys(position(side(in_play, hand=["PAF-89", in_hand]), turn=turn))


# --- switching -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("card", ["PAL-265", "PAR-160", "TEF-157"])
def test_cards_that_switch_the_opponents_pokemon_need_its_bench(card: str) -> None:
    fields = {"hand": [card], "prizes": 6}
    alone = position(side("CRZ-111", **fields), side("CRZ-111", prizes=5))
    assert f"play:{card}" not in keys(alone)
    match = position(side("CRZ-111", **fields), side(pokemon("CRZ-111", damage=10), "PAF-7", "MEW-16", prizes=5))
    play(match, f"play:{card}")
    assert actor(match) == 0
    assert keys(match) == ["choose:opponent.bench1", "choose:opponent.bench2"]
    play(match, "choose:opponent.bench2")
    assert active(match, 1)["card"] == "MEW-16"
    assert bench_cards(match, 1) == ["PAF-7", "CRZ-111"]
    assert actor(match) == 0


@pytest.mark.parametrize(("mine", "theirs", "playable"), [(5, 4, True), (4, 4, False), (4, 5, False)])
def test_counter_catcher_only_when_behind_on_prizes(mine: int, theirs: int, playable: bool) -> None:
    match = position(side("CRZ-111", hand=["PAR-160"], prizes=mine), side("CRZ-111", "PAF-7", prizes=theirs))
    assert ("play:PAR-160" in keys(match)) is playable


def test_prime_catcher_switches_on_both_sides_and_is_an_item() -> None:
    match = position(
        side(pokemon("CRZ-111", conditions=["poisoned"]), "MEW-16", "OBF-80", hand=["TEF-157", "PAL-265"]),
        side("CRZ-111", "PAF-7"),
    )
    play(match, "play:TEF-157")
    assert keys(match) == ["choose:bench1", "choose:bench2"]
    play(match, "choose:bench2")
    assert (active(match, 0)["card"], active(match, 1)["card"]) == ("OBF-80", "PAF-7")
    assert bench(match, 0, 2)["conditions"] == []
    assert "play:PAL-265" in keys(match)
    assert own(match, 0)["used"]["retreat"] is False


def test_switch_cart_heals_the_basic_pokemon_it_moves() -> None:
    match = position(side(pokemon("SVI-253", damage=50), "MEW-16", hand=["ASR-154"]))
    play(match, "play:ASR-154")
    assert active(match, 0)["card"] == "MEW-16"
    assert bench(match, 0, 1)["damage"] == 20
    assert events(match, 1, "heal")[0]["amount"] == 30
    less = play(position(side(pokemon("SVI-253", damage=10), "MEW-16", hand=["ASR-154"])), "play:ASR-154")
    assert bench(less, 0, 1)["damage"] == 0
    none = play(position(side("SVI-253", "MEW-16", hand=["ASR-154"])), "play:ASR-154")
    assert not events(none, 0, "heal")


def test_switch_cart_needs_an_active_basic_pokemon_and_a_bench() -> None:
    assert "play:ASR-154" not in keys(position(side("BRS-121", "MEW-16", hand=["ASR-154"])))
    assert "play:ASR-154" not in keys(position(side("SVI-253", hand=["ASR-154"])))
    # What the Benched Pokémon is does not matter.
    assert "play:ASR-154" in keys(position(side("SVI-253", "BRS-121", hand=["ASR-154"])))


def test_switch_cart_moves_an_asleep_pokemon() -> None:
    match = position(side(pokemon("SVI-253", conditions=["asleep"]), "MEW-16", hand=["ASR-154"]))
    play(match, "play:ASR-154")
    assert bench(match, 0, 1)["conditions"] == []


def test_turos_scenario_on_the_active_pokemon_lets_its_player_promote() -> None:
    match = position(side(pokemon("SVI-253", energy=[L], damage=200), "MEW-16", "OBF-80", hand=["PAR-257"]))
    play(match, "play:PAR-257", "choose:active")
    assert actor(match) == 0
    assert keys(match) == ["choose:bench1", "choose:bench2"]
    play(match, "choose:bench2")
    assert active(match, 0)["card"] == "OBF-80"
    assert hand(match, 0) == ["SVI-253"]
    assert discard(match, 0) == sorted(["PAR-257", L])
    assert prizes_left(match) == (6, 6)
    # Back on the Bench it has no damage.
    play(match, "bench:SVI-253")
    assert bench(match, 0, 2)["damage"] == 0


# --- Lost Vacuum and Stadiums ----------------------------------------------------------------------------------------


def test_lost_vacuum_puts_a_tool_of_either_player_or_the_stadium_in_its_owners_lost_zone() -> None:
    match = position(
        side(pokemon("CRZ-111", tools=["SVI-169"]), hand=["CRZ-135", "PAF-84", R]),
        side("CRZ-111", pokemon("MEW-16", tools=["TEF-159"])),
        stadium={"card": "OBF-196", "owner": 1},
    )
    play(match, "play:CRZ-135", "choose:PAF-84")
    assert candidates(match) == {"SVI-169@active", "TEF-159@opponent.bench1", "OBF-196@stadium"}
    mine = play(match.clone(), "choose:SVI-169@active")
    assert own(mine, 0)["lost_zone"] == ["PAF-84", "SVI-169"]
    theirs = play(match.clone(), "choose:TEF-159@opponent.bench1")
    assert (own(theirs, 1)["lost_zone"], bench(theirs, 1, 1)["tools"]) == (["TEF-159"], [])
    ground = play(match, "choose:OBF-196@stadium")
    assert own(ground, 1)["lost_zone"] == ["OBF-196"]
    assert view(ground, 0)["stadium"] is None
    assert discard(ground, 0) == ["CRZ-135"]


def test_lost_vacuum_needs_another_card_and_something_to_remove() -> None:
    tooled = pokemon("CRZ-111", tools=["SVI-169"])
    assert "play:CRZ-135" not in keys(position(side(tooled, hand=["CRZ-135"])))
    assert "play:CRZ-135" not in keys(position(side("CRZ-111", hand=["CRZ-135", R])))
    assert "play:CRZ-135" in keys(position(side("CRZ-111", hand=["CRZ-135", R]), side(tooled)))


def test_a_stadium_put_in_the_lost_zone_may_be_played_again_from_another_copy() -> None:
    match = position(
        side("CRZ-111", hand=["CRZ-135", "OBF-196", R]),
        stadium={"card": "OBF-196", "owner": 0},
    )
    assert "play:OBF-196" not in keys(match)
    play(match, "play:CRZ-135", "choose:SVE-2")
    assert "play:OBF-196" in keys(match)


@pytest.mark.parametrize(("mine", "theirs", "asked"), [(4, 5, 1), (5, 4, 0), (4, 4, None)])
def test_collapsed_stadium_asks_only_who_has_too_many(mine: int, theirs: int, asked: int | None) -> None:
    match = position(side("CRZ-20", *FULL_BENCH[:mine], hand=["BRS-137"]), side("CRZ-20", *FULL_BENCH[:theirs]), turn=5)
    play(match, "play:BRS-137")
    if asked is None:
        assert choosing(match) is None
    else:
        assert actor(match) == asked
        play(match, "choose:bench1")
        assert choosing(match) is None
    assert (len(bench_cards(match, 0)), len(bench_cards(match, 1))) == (4, 4)


def test_collapsed_stadium_discards_all_stages_and_can_take_an_opponents_bench_below_no_further() -> None:
    evolved = pokemon("PAF-54", under=["PAF-7", "PAF-8"], energy=[R])
    match = position(side("CRZ-20", hand=["BRS-137"]), side("CRZ-20", *FULL_BENCH[:4], evolved))
    play(match, "play:BRS-137", "choose:bench5")
    assert discard(match, 1) == sorted(["PAF-54", "PAF-7", "PAF-8", R])


# --- common to all ---------------------------------------------------------------------------------------------------


def test_a_trainer_card_is_neither_in_hand_nor_discarded_while_its_effect_goes_on() -> None:
    match = position(side("CRZ-111", hand=["PAF-84"], deck=["PAF-7", R]))
    play(match, "play:PAF-84")
    assert (own(match, 0)["being_played"], hand(match, 0), discard(match, 0)) == (["PAF-84"], [], [])
    assert view(match, 1)["opponent"]["being_played"] == ["PAF-84"]
    play(match, "done")
    assert (own(match, 0)["being_played"], discard(match, 0)) == ([], ["PAF-84"])


def test_super_rod_cannot_shuffle_back_what_is_being_played() -> None:
    match = position(side("CRZ-111", hand=["PAL-188"], discard=[R, R]))
    play(match, "play:PAL-188", "done")
    assert discard(match, 0) == sorted([R, "PAL-188"])
