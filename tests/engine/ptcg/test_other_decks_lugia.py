"""The cards of the Lugia Archeops deck, each where it matters and where something keeps it from acting."""

from __future__ import annotations

from collections import Counter

import pytest
from ptcg_play import (
    Json,
    active,
    actor,
    attacks,
    bench,
    bench_cards,
    candidates,
    choosing,
    deck_counts,
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

from engine.ptcg.game import PtcgMatch

R, L, P, D, M = "SVE-2", "SVE-4", "SVE-5", "SVE-7", "SVE-8"
DOUBLE_TURBO, MIST, JET, GIFT, THERAPEUTIC, V_GUARD = "BRS-151", "TEF-161", "PAL-190", "LOR-171", "PAL-193", "SIT-169"


def last_damage(match: PtcgMatch) -> int:
    amount: int = events(match, 0, "damage")[-1]["amount"]
    return amount


# --- Archeops --------------------------------------------------------------------------------------------------------


def test_primal_turbo_attaches_two_special_energy_to_one_pokemon() -> None:
    match = position(side("SIT-138", "SIT-147", "SIT-147", deck=[GIFT, MIST, JET, R, R]))
    play(match, "ability:Primal Turbo@bench1")
    assert candidates(match) == {GIFT, MIST, JET}
    play(match, f"choose:{GIFT}", f"choose:{JET}")
    assert candidates(match) == {"active", "bench1", "bench2"}
    play(match, "choose:active")
    assert sorted(active(match, 0)["energy"]) == [GIFT, JET]
    assert deck_counts(match, 0) == Counter([MIST, R, R])
    assert own(match, 0)["used"]["energy"] is False
    assert "ability:Primal Turbo@bench1" not in keys(match)
    assert "ability:Primal Turbo@bench2" in keys(match)


def test_primal_turbo_may_take_one_or_find_nothing_and_always_shuffles() -> None:
    match = position(side("SIT-138", "SIT-147", deck=[GIFT, R]))
    play(match, "ability:Primal Turbo@bench1", f"choose:{GIFT}", "choose:bench1")
    assert bench(match, 0, 1)["energy"] == [GIFT]
    match = play(position(side("SIT-138", "SIT-147", deck=[GIFT, R])), "ability:Primal Turbo@bench1", "done")
    assert (choosing(match), len(events(match, 0, "shuffle"))) == (None, 1)
    assert own(match, 0)["deck_count"] == 2


def test_jet_energy_from_the_deck_switches_nothing() -> None:
    match = position(side("SIT-138", "SIT-147", deck=[JET, R]))
    play(match, "ability:Primal Turbo@bench1", f"choose:{JET}", "choose:bench1")
    assert (active(match, 0)["card"], bench(match, 0, 1)["energy"]) == ("SIT-138", [JET])


def test_therapeutic_energy_from_the_deck_cures() -> None:
    match = position(side(pokemon("SIT-138", conditions=["asleep"]), "SIT-147", deck=[THERAPEUTIC, R]))
    play(match, "ability:Primal Turbo@bench1", f"choose:{THERAPEUTIC}", "choose:active")
    assert active(match, 0)["conditions"] == []


def test_primal_turbo_needs_a_deck() -> None:
    assert "ability:Primal Turbo@active" not in keys(position(side("SIT-147", deck=[])))


def test_archeops_cannot_be_played_from_hand_without_its_line() -> None:
    match = position(side("BRS-124", "SIT-138", hand=["SIT-147", "PAF-89"]))
    assert not [key for key in keys(match) if "SIT-147" in key or key == "play:PAF-89"]


# --- Lugia V, Lugia VSTAR --------------------------------------------------------------------------------------------


def test_read_the_wind_discards_one_and_draws_three() -> None:
    match = position(side(pokemon("SIT-138", energy=[R]), hand=[L, P], deck=[M] * 5))
    play(match, "attack:Read the Wind", f"choose:{P}")
    assert discard(match, 0) == [P]
    assert hand(match, 0) == [L, M, M, M]


def test_read_the_wind_with_an_empty_hand_draws_nothing() -> None:
    match = play(position(side(pokemon("SIT-138", energy=[R]))), "attack:Read the Wind")
    assert (hand(match, 0), actor(match)) == ([], 1)


@pytest.mark.parametrize(
    ("card", "attack", "amount"), [("SIT-138", "Aero Dive", 130), ("SIT-139", "Tempest Dive", 220)]
)
def test_lugia_may_discard_the_stadium(card: str, attack: str, amount: int) -> None:
    def dive(*answers: str, **fields: object) -> PtcgMatch:
        match = position(side(pokemon(card, energy=[R, R, R, R])), "SIT-139", **fields)
        return play(match, f"attack:{attack}", *answers)

    stadium = {"card": "PAL-171", "owner": 1}
    gone = dive("choose:yes", stadium=stadium)
    assert (last_damage(gone), view(gone, 0)["stadium"], discard(gone, 1)) == (amount, None, ["PAL-171"])
    kept = dive("choose:no", stadium=stadium)
    assert (last_damage(kept), view(kept, 0)["stadium"]) == (amount, stadium)
    assert last_damage(dive()) == amount


def test_summoning_star_takes_colorless_pokemon_without_a_rule_box_of_any_stage() -> None:
    pile = ["SIT-147", "TEF-137", "CRZ-111", "SIT-138", "PAL-264", "OBF-164", "PRE-43", R]
    match = position(side("SIT-139", discard=pile))
    play(match, "ability:Summoning Star@active")
    assert candidates(match) == {"SIT-147", "TEF-137", "CRZ-111"}
    assert "done" not in keys(match)
    play(match, "choose:CRZ-111", "choose:SIT-147")
    assert sorted(bench_cards(match, 0)) == ["CRZ-111", "SIT-147"]
    assert sorted(set(pile) - set(discard(match, 0))) == ["CRZ-111", "SIT-147"]
    # They can be used at once.
    place = 1 + bench_cards(match, 0).index("SIT-147")
    assert f"ability:Primal Turbo@bench{place}" in keys(match)


def test_summoning_star_may_take_one() -> None:
    match = position(side("SIT-139", discard=["SIT-147", "TEF-137"]))
    play(match, "ability:Summoning Star@active", "choose:SIT-147", "done")
    assert bench_cards(match, 0) == ["SIT-147"]


def test_summoning_star_needs_room_and_a_pokemon() -> None:
    def legal(bench_size: int, pile: list[str], **fields: object) -> bool:
        match = position(side("SIT-139", *["CRZ-111"] * bench_size, discard=pile), **fields)
        return "ability:Summoning Star@active" in keys(match)

    assert legal(4, ["SIT-147"])
    assert not legal(5, ["SIT-147"])
    assert not legal(4, ["SIT-147"], stadium={"card": "BRS-137", "owner": 0})
    assert not legal(0, ["SIT-138", "PRE-43"])
    match = position(side("SIT-139", *["CRZ-111"] * 4, discard=["SIT-147", "SIT-147"]))
    play(match, "ability:Summoning Star@active")
    assert bench_cards(match, 0)[4:] == ["SIT-147"]


def test_summoning_star_works_in_the_turn_of_evolving_and_not_before_flutter_mane() -> None:
    match = play(position(side("SIT-138", hand=["SIT-139"], discard=["SIT-147"])), "evolve:SIT-139>active")
    assert "ability:Summoning Star@active" in keys(match)
    match = position(side("SIT-139", "SIT-139", discard=["SIT-147"]), "PRE-43")
    assert "ability:Summoning Star@active" not in keys(match)
    assert "ability:Summoning Star@bench1" in keys(match)


def test_knocking_out_lugia_vstar_takes_two_prizes() -> None:
    match = position(side(pokemon("PGO-29", energy=[L, L, L])), side(pokemon("SIT-139", damage=60), "CRZ-111"))
    play(match, "attack:Electric Ball")
    assert last_damage(match) == 220
    assert prizes_left(match) == (4, 6)


# --- Minccino, Cinccino ----------------------------------------------------------------------------------------------


def test_minccino_calls_for_family() -> None:
    match = position(side(pokemon("BRS-124", energy=[R]), deck=["SIT-138", "PRE-43", "PRE-43", "SIT-147", R]))
    play(match, "attack:Call for Family")
    assert candidates(match) == {"SIT-138", "PRE-43"}
    play(match, "choose:PRE-43", "choose:SIT-138")
    assert sorted(bench_cards(match, 0)) == ["PRE-43", "SIT-138"]
    assert events(match, 1, "shuffle")


def test_pound_and_gentle_slap() -> None:
    assert last_damage(play(position(side(pokemon("BRS-124", energy=[R])), "SIT-139"), "attack:Pound")) == 10
    assert last_damage(play(position(side(pokemon("TEF-137", energy=[R])), "SIT-139"), "attack:Gentle Slap")) == 30


@pytest.mark.parametrize(("energy", "amount"), [([R, R], 0), ([R, MIST], 70), ([MIST, GIFT, JET, V_GUARD, R], 280)])
def test_special_roll_counts_special_energy_only(energy: list[str], amount: int) -> None:
    match = play(position(side(pokemon("TEF-137", energy=energy)), "SVI-86"), "attack:Special Roll")
    assert last_damage(match) == amount


# --- Snorlax, Flutter Mane -------------------------------------------------------------------------------------------


def hex_hurl(theirs: Json, *choices: str) -> PtcgMatch:
    return play(position(side(pokemon("PRE-43", energy=[R, R, R])), theirs), "attack:Hex Hurl", *choices)


def test_hex_hurl_deals_its_counters_out_in_any_way() -> None:
    apart = hex_hurl(side("SIT-139", "SIT-138", "MEW-151"), "choose:opponent.bench1", "choose:opponent.bench2")
    assert [bench(apart, 1, i)["damage"] for i in (1, 2)] == [10, 10]
    assert active(apart, 1)["damage"] == 90
    together = hex_hurl(side("SIT-139", "SIT-138", "MEW-151"), "choose:opponent.bench2")
    assert [bench(together, 1, i)["damage"] for i in (1, 2)] == [0, 20]
    (event,) = events(together, 0, "counters")
    assert (event["seat"], event["place"], event["count"]) == (1, "bench2", 2)


def test_hex_hurl_puts_both_counters_where_there_is_one_benched_pokemon_or_none_without() -> None:
    assert bench(hex_hurl(side("SIT-139", "SIT-138")), 1, 1)["damage"] == 20
    match = hex_hurl(side("SIT-139"))
    assert (active(match, 1)["damage"], actor(match)) == (90, 1)


def test_hex_hurl_counters_ignore_weakness_and_knock_out() -> None:
    match = hex_hurl(side("SIT-139", pokemon("OBF-80", damage=10), "CRZ-111"), *["choose:opponent.bench1"] * 2)
    assert prizes_left(match) == (5, 6)
    assert bench_cards(match, 1) == ["CRZ-111"]


@pytest.mark.parametrize(
    "target",
    [pokemon("LOR-143"), pokemon("PAF-7", energy=[MIST]), pokemon("PAF-8", under=["PAF-7"])],
)
def test_effects_of_attacks_prevented_are_hex_hurl_counters_prevented(target: Json) -> None:
    assert bench(hex_hurl(side("SIT-139", target)), 1, 1)["damage"] == 0


def test_jirachi_keeps_the_counters_of_basic_pokemon_from_the_whole_bench() -> None:
    match = hex_hurl(side("SIT-139", "SIT-138", "PAR-126"), "choose:opponent.bench1", "choose:opponent.bench2")
    assert [bench(match, 1, i)["damage"] for i in (1, 2)] == [0, 0]
    # Jirachi in the Active Spot has no Abilities before Flutter Mane.
    match = hex_hurl(side(pokemon("PAR-126", tools=["PAL-173"]), "SIT-138"))
    assert bench(match, 1, 1)["damage"] == 20


def test_unfazed_fat_is_no_protection_from_damage() -> None:
    match = play(position(side(pokemon("PRE-43", energy=[R, R, R])), "LOR-143"), "attack:Hex Hurl")
    assert active(match, 1)["damage"] == 90


def test_midnight_fluttering_takes_the_abilities_of_the_opposite_active_pokemon_only() -> None:
    match = position(side("PRE-43"), side("SIT-139", "SIT-147"))
    assert active(match, 1)["has_ability"] is False
    assert bench(match, 1, 1)["has_ability"] is True
    # On the Bench Flutter Mane does nothing.
    match = position(side("CRZ-111", "PRE-43"), side("SIT-139", "SIT-147"))
    assert active(match, 1)["has_ability"] is True


def test_two_flutter_manes_keep_midnight_fluttering() -> None:
    match = position(side("PRE-43"), side("PRE-43"))
    assert [active(match, seat)["has_ability"] for seat in (0, 1)] == [True, True]


def test_midnight_fluttering_leaves_no_reduced_cost_and_no_infernal_reign() -> None:
    radiant = pokemon("CRZ-20", energy=[R])
    assert attacks(position(side(radiant), side("CRZ-111", prizes=2))) == {"Combustion Blast"}
    assert attacks(position(side(radiant), side("PRE-43", prizes=2))) == set()
    charmeleon = pokemon("PAF-8", under=["PAF-7"])
    match = play(position(side(charmeleon, hand=["PAF-54"]), side("PRE-43")), "evolve:PAF-54>active")
    assert choosing(match) is None


def test_snorlax_keeps_its_two_coins_only_while_it_sleeps() -> None:
    yours = side(pokemon("LOR-143", energy=[R, R, R]))
    match = with_coins("HH", {"yours": yours, "theirs": "SIT-139"}, "attack:Thumping Snore")
    assert (active(match, 0)["conditions"], active(match, 0)["effects"]) == ([], [])


# --- Energy ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("energy", [JET, GIFT, THERAPEUTIC, V_GUARD, MIST])
def test_each_special_energy_provides_one_colorless(energy: str) -> None:
    assert active(position(side(pokemon("SIT-138", energy=[energy]))), 0)["energy_provided"] == "C"
    assert attacks(position(side(pokemon("BRS-124", energy=[energy])))) == {"Call for Family", "Pound"}
    assert attacks(position(side(pokemon("PAR-139", energy=[energy])))) == set()


def test_jet_energy_is_the_attachment_for_the_turn_and_may_move_an_asleep_pokemon_out() -> None:
    match = position(side(pokemon("LOR-143", conditions=["asleep"]), "SIT-138", hand=[JET, JET]))
    play(match, f"attach:{JET}>bench1")
    assert active(match, 0)["card"] == "SIT-138"
    assert bench(match, 0, 1)["conditions"] == []
    assert not [key for key in keys(match) if key.startswith("attach:")]


def test_gift_energy_on_a_benched_pokemon_draws_too() -> None:
    match = position(
        side(pokemon("SFA-92", energy=[R, R, R])),
        side("SIT-139", pokemon("BRS-124", energy=[GIFT]), hand=[L], fill=R),
    )
    play(match, "attack:Cruel Arrow", "choose:opponent.bench1")
    # Seven cards, then the draw for the turn.
    assert len(hand(match, 1)) == 8


def test_two_gift_energy_draw_to_seven_once() -> None:
    holder = pokemon("BRS-124", energy=[GIFT, GIFT], damage=50)
    match = position(side(pokemon("BRS-124", energy=[R])), side(holder, "SIT-138", "SIT-138", hand=[L]))
    play(match, "attack:Pound")
    assert len(hand(match, 1)) == 7


def test_gift_energy_does_nothing_where_its_own_player_knocks_it_out() -> None:
    confused = pokemon("OBF-80", energy=[GIFT], conditions=["confused"])
    fields = {"yours": side(confused, "SIT-138", "SIT-138"), "theirs": "CRZ-111"}
    match = with_coins("T", fields, "attack:Grasping Draw")
    assert (prizes_left(match), hand(match, 0)) == ((6, 5), [])


@pytest.mark.parametrize(
    ("attacker", "attack", "energy", "amount"),
    [
        (pokemon("SIT-138", energy=[R, R, R, R]), "Aero Dive", [V_GUARD], 100),
        (pokemon("SIT-138", energy=[R, R, R, R]), "Aero Dive", [V_GUARD, V_GUARD], 100),
        (pokemon("SIT-139", energy=[R, R, R, R]), "Tempest Dive", [V_GUARD], 190),
        (pokemon("SIT-147", energy=[R, R, R]), "Speed Wing", [V_GUARD], 120),
        (pokemon("SVI-86", energy=[P, P, P]), "Miracle Force", [V_GUARD], 190),
    ],
)
def test_v_guard_energy_protects_from_pokemon_v_once(
    attacker: Json, attack: str, energy: list[str], amount: int
) -> None:
    match = play(position(side(attacker), pokemon("SVI-86", energy=energy)), f"attack:{attack}")
    assert last_damage(match) == amount


def test_v_guard_energy_counts_after_weakness_and_beside_rigid_band() -> None:
    raichu = side(pokemon("BRS-158", energy=[L, L]))
    match = play(position(raichu, pokemon("SIT-139", energy=[V_GUARD])), "attack:Dynamic Spark", f"choose:{L}@active")
    play(match, "done")
    assert last_damage(match) == 60 * 2 - 30
    guarded = pokemon("PAR-139", energy=[V_GUARD], tools=["MEW-165"])
    match = play(position(side(pokemon("SIT-138", energy=[R, R, R, R])), guarded), "attack:Aero Dive")
    assert last_damage(match) == 130 - 60


@pytest.mark.parametrize("condition", ["asleep", "confused", "paralyzed", "poisoned", "burned"])
def test_therapeutic_energy_cures_three_conditions(condition: str) -> None:
    match = position(side(pokemon("SIT-138", conditions=[condition]), hand=[THERAPEUTIC]))
    play(match, f"attach:{THERAPEUTIC}>active")
    cured = condition in ("asleep", "confused", "paralyzed")
    assert active(match, 0)["conditions"] == ([] if cured else [condition])


# --- Trainers --------------------------------------------------------------------------------------------------------


def test_great_ball_sees_seven_cards_and_takes_at_most_one_pokemon() -> None:
    deck = [R, "SIT-138", R, "SIT-147", R, R, MIST, "PRE-43"]
    match = play(position(side("CRZ-111", hand=["PAL-183"], deck=deck, prizes_known=True)), "play:PAL-183")
    assert candidates(match) == {"SIT-138", "SIT-147"}
    assert "done" in keys(match)
    assert events(match, 0, "look")[0]["cards"] == deck[:7]
    assert "cards" not in events(match, 1, "look")[0]
    play(match, "choose:SIT-147")
    assert hand(match, 0) == ["SIT-147"]
    assert events(match, 1, "to_hand")[0]["cards"] == ["SIT-147"]
    assert deck_counts(match, 0) == Counter(deck) - Counter(["SIT-147"])
    assert own(match, 0)["deck_top"] == []


def test_great_ball_may_be_declined_and_may_find_nothing() -> None:
    match = play(position(side("CRZ-111", hand=["PAL-183"], deck=["SIT-138", R])), "play:PAL-183", "done")
    assert hand(match, 0) == []
    match = play(position(side("CRZ-111", hand=["PAL-183"], deck=[R] * 7 + ["SIT-138"])), "play:PAL-183")
    assert (choosing(match), hand(match, 0)) == (None, [])


@pytest.mark.parametrize(("flip", "found"), [("H", {"SIT-147", "SIT-139"}), ("T", {"SIT-138"})])
def test_capturing_aroma_looks_for_evolutions_on_heads_and_basics_on_tails(flip: str, found: set[str]) -> None:
    yours = side("CRZ-111", hand=["SIT-153"], deck=["SIT-147", "SIT-138", "SIT-139", R])
    match = with_coins(flip, {"yours": yours}, "play:SIT-153")
    assert candidates(match) == found
    assert "done" in keys(match)
    play(match, f"choose:{min(found)}")
    assert hand(match, 0) == [min(found)]


def test_jacq_finds_up_to_two_evolutions() -> None:
    yours = side("CRZ-111", hand=["SVI-175"], deck=["SIT-147", "SIT-138", "SIT-139", "TEF-137", R])
    match = play(position(yours), "play:SVI-175")
    assert candidates(match) == {"SIT-147", "SIT-139", "TEF-137"}
    play(match, "choose:SIT-139", "choose:SIT-147")
    assert hand(match, 0) == ["SIT-139", "SIT-147"]


def test_master_ball_finds_any_pokemon_at_no_cost() -> None:
    match = play(position(side("CRZ-111", hand=["TEF-153"], deck=["SIT-147", "SIT-138", R])), "play:TEF-153")
    assert candidates(match) == {"SIT-147", "SIT-138"}
    assert "done" in keys(match)
    play(match, "choose:SIT-138")
    assert hand(match, 0) == ["SIT-138"]


DISCARD = "choose:discard 1 to 3 cards and draw until you have 5"
SWITCH = "choose:switch in a Benched Pokémon V"


def test_serena_discards_up_to_three_cards_and_draws_to_five() -> None:
    match = position(side("CRZ-111", hand=["SIT-164", R, R, L, P]), side("CRZ-111", "SIT-138"))
    play(match, "play:SIT-164")
    assert keys(match) == [DISCARD, SWITCH]
    play(match, DISCARD)
    choice = choosing(match)
    assert choice is not None
    assert (choice["least"], choice["most"]) == (1, 3)
    play(match, f"choose:{L}", f"choose:{P}")
    assert len(hand(match, 0)) == 5
    assert discard(match, 0) == ["SIT-164", L, P]


def test_serena_switches_in_a_pokemon_v_only() -> None:
    theirs = side("CRZ-111", "MEW-151", "SIT-138", "SIT-139", "BRS-40")
    match = position(side("CRZ-111", hand=["SIT-164", R]), theirs)
    play(match, "play:SIT-164", SWITCH)
    assert candidates(match) == {"opponent.bench2", "opponent.bench3", "opponent.bench4"}
    play(match, "choose:opponent.bench3")
    assert active(match, 1)["card"] == "SIT-139"
    assert hand(match, 0) == [R]


def test_serena_offers_only_what_can_be_done() -> None:
    match = position(side("CRZ-111", hand=["SIT-164", R]), side("CRZ-111", "MEW-151"))
    assert [a for a in keys(play(match, "play:SIT-164", forced=False)) if a.startswith("choose")] == [DISCARD]
    match = position(side("CRZ-111", hand=["SIT-164"]), side("CRZ-111", "SIT-138"))
    assert keys(play(match, "play:SIT-164", forced=False)) == [SWITCH]
    assert "play:SIT-164" not in keys(position(side("CRZ-111", hand=["SIT-164"]), side("CRZ-111", "MEW-151")))
