"""Positions with their official results that need cards of the Gardevoir ex, Gholdengo ex and Lugia Archeops decks.

The number is that of the position in the project's list of examples. Seat 0 is the player whose turn it is.
"""

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
    coins,
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
    with_coins,
)

from engine.ptcg.decks import DeckError, parse_deck
from engine.ptcg.game import PtcgMatch

R, W, L, P, D, M = "SVE-2", "SVE-3", "SVE-4", "SVE-5", "SVE-7", "SVE-8"
DOUBLE_TURBO, MIST, JET, GIFT, THERAPEUTIC = "BRS-151", "TEF-161", "PAL-190", "LOR-171", "PAL-193"
WATCHTOWER = {"card": "ASC-210", "owner": 0}


def last_damage(match: PtcgMatch) -> int:
    amount: int = events(match, 0, "damage")[-1]["amount"]
    return amount


def evolution_position(**fields: object) -> PtcgMatch:
    holder = pokemon("PAR-86", energy=[D], tools=["PAR-178"])
    fields = {"deck": ["SIT-68", "SIT-68", R, R], **fields}
    return position(side(holder, "PAF-27", "PAF-27", "TWM-95", **fields))


def test_10_technical_machine_evolves_up_to_two_benched_pokemon_from_the_deck() -> None:
    match = play(evolution_position(), "attack:Evolution")
    choice = choosing(match)
    assert choice is not None
    assert (choice["least"], choice["most"]) == (1, 2)
    assert candidates(match) == {"bench1", "bench2", "bench3"}
    play(match, "choose:bench1", "choose:bench2")
    assert candidates(match) == {"SIT-68"}
    assert "done" in keys(match)
    play(match, "choose:SIT-68", "choose:SIT-68")
    assert bench_cards(match, 0) == ["SIT-68", "SIT-68", "TWM-95"]
    assert bench(match, 0, 1)["under"] == ["PAF-27"]
    assert events(match, 1, "shuffle")
    assert actor(match) == 1
    assert discard(match, 0) == ["PAR-178"]


def test_10_technical_machine_may_take_one_or_find_nothing() -> None:
    one = play(evolution_position(), "attack:Evolution", "choose:bench2", "done", "choose:SIT-68")
    assert bench_cards(one, 0) == ["PAF-27", "SIT-68", "TWM-95"]
    nothing = play(evolution_position(), "attack:Evolution", "choose:bench1", "choose:bench3", "done")
    assert bench_cards(nothing, 0) == ["PAF-27", "PAF-27", "TWM-95"]
    assert actor(nothing) == 1


def test_10_technical_machine_needs_an_energy() -> None:
    assert "Evolution" not in attacks(position(side(pokemon("PAR-86", tools=["PAR-178"]), "PAF-27")))


def test_11_an_unused_technical_machine_is_discarded_at_the_end_of_the_turn() -> None:
    match = position(side("PAR-86", "PAF-27", hand=["PAR-178", "PAL-173"]))
    play(match, "attach:PAR-178>bench1")
    assert "attach:PAL-173>bench1" not in keys(match)
    assert "attach:PAL-173>active" in keys(match)
    play(match, "pass")
    assert bench(match, 0, 1)["tools"] == []
    assert discard(match, 0) == ["PAR-178"]


def test_12_energy_pays_its_own_type_and_colorless() -> None:
    assert "Miracle Force" in attacks(position(side(pokemon("SVI-86", energy=[P, P, D]))))
    assert "Miracle Force" not in attacks(position(side(pokemon("SVI-86", energy=[P, D, D]))))
    assert "Psyshot" in attacks(position(side(pokemon("PAF-27", energy=[D, P]))))
    assert "Psyshot" not in attacks(position(side(pokemon("PAF-27", energy=[D, D]))))


def test_13_special_roll_counts_cards_not_what_they_provide() -> None:
    match = position(side(pokemon("TEF-137", energy=[DOUBLE_TURBO, JET, GIFT])), side("SIT-139"))
    play(match, "attack:Special Roll")
    assert last_damage(match) == 190
    assert active(match, 1)["hp"] == 90


def test_14_jet_energy_from_hand_to_the_bench_switches_without_a_retreat() -> None:
    confused = pokemon("BRS-124", conditions=["confused"])
    match = play(position(side(confused, "TEF-137", hand=[JET])), f"attach:{JET}>bench1")
    assert (active(match, 0)["card"], active(match, 0)["energy"]) == ("TEF-137", [JET])
    assert (bench(match, 0, 1)["card"], bench(match, 0, 1)["conditions"]) == ("BRS-124", [])
    assert own(match, 0)["used"]["retreat"] is False
    assert "retreat>bench1" in keys(match)


def test_14_jet_energy_to_the_active_pokemon_switches_nothing() -> None:
    confused = pokemon("BRS-124", conditions=["confused"])
    match = play(position(side(confused, "TEF-137", hand=[JET])), f"attach:{JET}>active")
    assert (active(match, 0)["card"], active(match, 0)["conditions"]) == ("BRS-124", ["confused"])


def gift_holder(hand_size: int) -> Json:
    holder = pokemon("BRS-124", energy=[GIFT], damage=40)
    return side(holder, "SIT-138", "SIT-138", hand=[R] * hand_size, fill=L, deck_size=10)


def test_15_gift_energy_draws_to_seven_before_the_cards_go_and_the_prize_is_taken() -> None:
    match = play(position(side(pokemon("PAF-7", energy=[R, R])), gift_holder(3)), "attack:Steady Firebreathing")
    assert hand(match, 1) == [R] * 3 + [L] * 4
    assert prizes_left(match) == (5, 6)
    kinds = [event["event"] for event in events(match, 1)]
    order = [kinds.index(kind) for kind in ("knock_out", "draw", "discard", "prizes")]
    assert order == sorted(order)


def test_15_gift_energy_draws_nothing_with_seven_cards_in_hand() -> None:
    match = play(position(side(pokemon("PAF-7", energy=[R, R])), gift_holder(7)), "attack:Steady Firebreathing")
    assert prizes_left(match) == (5, 6)
    assert hand(match, 1) == [R] * 7


def test_15_gift_energy_does_nothing_where_damage_counters_knock_out() -> None:
    mover = pokemon("TWM-95", energy=[D], damage=30)
    match = play(
        position(side(mover), gift_holder(3)), "ability:Adrena-Brain@active", "choose:2", "choose:opponent.active"
    )
    assert prizes_left(match) == (5, 6)
    assert hand(match, 1) == [R] * 3


def test_16_therapeutic_energy_keeps_snorlax_awake_and_cures_confusion() -> None:
    match = play(position(side(pokemon("LOR-143", energy=[THERAPEUTIC, P, P])), "SIT-139"), "attack:Thumping Snore")
    assert last_damage(match) == 180
    assert active(match, 0)["conditions"] == []
    match = position(side(pokemon("BRS-124", conditions=["confused", "poisoned"]), hand=[THERAPEUTIC]))
    play(match, f"attach:{THERAPEUTIC}>active")
    assert active(match, 0)["conditions"] == ["poisoned"]


def test_17_modifiers_count_before_the_weakness_of_lugia_vstar() -> None:
    hands = side(pokemon("PAR-248", energy=[L, L, L], tools=["SVI-169"]), "PGO-29", prizes=6)
    match = play(position(hands, side("SIT-139", "BRS-124", prizes=4)), "attack:Arm Press")
    assert last_damage(match) == 400
    assert prizes_left(match)[0] == 4
    zapdos = side(pokemon("PGO-29", energy=[L, L, L], tools=["SVI-169"]), prizes=6)
    match = play(position(zapdos, side("SIT-139", "BRS-124", prizes=4)), "attack:Electric Ball")
    assert last_damage(match) == 280
    assert prizes_left(match)[0] == 4


def test_18_a_reduction_counts_after_weakness() -> None:
    match = position(side(pokemon("PAF-7", energy=[R, R])), pokemon("OBF-141", under=["MEW-123"], tools=["MEW-165"]))
    assert last_damage(play(match, "attack:Steady Firebreathing")) == 30


VEILED = ("SFA-92", "OBF-80", "BRS-41")
ARROW = pokemon("SFA-92", energy=[P, P, P])
SCREAM = pokemon("PAR-86", energy=[P, P], damage=20)
HEX = pokemon("PRE-43", energy=[P, P, P])


@pytest.mark.parametrize(("attacker", "attack"), [(ARROW, "Cruel Arrow"), (SCREAM, "Roaring Scream")])
def test_20_wave_veil_keeps_damage_from_the_bench_only(attacker: Json, attack: str) -> None:
    match = play(position(side(attacker), side(*VEILED)), f"attack:{attack}", "choose:opponent.bench1")
    assert (last_damage(match), bench(match, 1, 1)["damage"]) == (0, 0)
    match = play(position(side(attacker), side(*VEILED)), f"attack:{attack}", "choose:opponent.active")
    assert active(match, 1)["damage"] > 0


def test_20_wave_veil_keeps_moonlight_shuriken_from_the_bench_only() -> None:
    greninja = pokemon("ASR-46", energy=[W, W, P])
    match = play(position(side(greninja), side(*VEILED)), "attack:Moonlight Shuriken")
    play(match, f"choose:{W}@active", "choose:opponent.active", "choose:opponent.bench1")
    assert (active(match, 1)["damage"], bench(match, 1, 1)["damage"]) == (90, 0)


def test_20_wave_veil_lets_damage_counters_pass() -> None:
    hexed = position(side(HEX), side(*VEILED))
    play(hexed, "attack:Hex Hurl", "choose:opponent.bench1", "choose:opponent.bench1")
    assert bench(hexed, 1, 1)["damage"] == 20
    mover = pokemon("TWM-95", energy=[D], damage=20)
    moved = position(side(mover), side(*VEILED))
    play(moved, "ability:Adrena-Brain@active", "choose:2", "choose:opponent.bench1")
    assert bench(moved, 1, 1)["damage"] == 20


def test_21_a_benched_tera_pokemon_takes_counters_but_no_damage() -> None:
    match = play(position(side(ARROW), side("CRZ-111", "PAF-54")), "attack:Cruel Arrow", "choose:opponent.bench1")
    assert bench(match, 1, 1)["damage"] == 0
    match = play(position(side(ARROW), side("PAF-54")), "attack:Cruel Arrow")
    assert active(match, 1)["damage"] == 100
    match = position(side(pokemon("TWM-95", energy=[D], damage=30)), side("CRZ-111", "PAF-54"))
    play(match, "ability:Adrena-Brain@active", "choose:3", "choose:opponent.bench1")
    assert bench(match, 1, 1)["damage"] == 30


@pytest.mark.parametrize(
    ("card", "ability", "fields"),
    [
        ("BRS-121", "Industrious Incisors", {}),
        ("OBF-164", "Quick Search", {}),
        ("SIT-147", "Primal Turbo", {}),
        ("TEF-129", "Run Away Draw", {}),
        ("PAL-264", "Squawk and Seize", {"turn": 1, "first_player": 0}),
        ("SIT-139", "Summoning Star", {}),
    ],
)
def test_22_watchtower_takes_the_abilities_of_colorless_pokemon(card: str, ability: str, fields: Json) -> None:
    yours = side("MEW-151", card, discard=["SIT-147"])
    key = f"ability:{ability}@bench1"
    assert key in keys(position(yours, **fields))
    assert key not in keys(position(yours, **fields, stadium=WATCHTOWER))
    # It does not matter whose Stadium it is.
    assert key not in keys(position(yours, **fields, stadium={"card": "ASC-210", "owner": 1}))
    assert bench(position(yours, **fields, stadium=WATCHTOWER), 0, 1)["has_ability"] is False


def test_22_watchtower_takes_carefree_countenance() -> None:
    def arrow(**fields: object) -> PtcgMatch:
        match = position(side(ARROW), side("MEW-151", "CRZ-111"), **fields)
        return play(match, "attack:Cruel Arrow", "choose:opponent.bench1")

    assert prizes_left(arrow()) == (6, 6)
    assert prizes_left(arrow(stadium=WATCHTOWER)) == (5, 6)


def test_22_watchtower_leaves_other_types_their_abilities() -> None:
    match = position(
        side("MEW-151", pokemon("TWM-95", energy=[D], damage=10), "SVI-86", hand=["BRS-40"], discard=[P]),
        stadium=WATCHTOWER,
    )
    assert {"ability:Restart@active", "ability:Adrena-Brain@bench1", "ability:Psychic Embrace@bench2"} <= set(
        keys(match)
    )
    play(match, "bench:BRS-40")
    assert keys(match) == ["choose:yes", "choose:no"]


def test_23_coin_bonus_is_once_for_each_gholdengo() -> None:
    gholdengo = pokemon("PAR-139", under=["PAR-88"])
    match = position(side(gholdengo, gholdengo, hand=[]))
    play(match, "ability:Coin Bonus@active")
    assert len(hand(match, 0)) == 2
    play(match, "ability:Coin Bonus@bench1")
    assert len(hand(match, 0)) == 3
    assert not [key for key in keys(match) if key.startswith("ability:")]


def test_23_flip_the_script_is_once_for_all_of_that_name() -> None:
    match = position(side("SFA-92", "SFA-92", knocked_out_last_turn=True))
    play(match, "ability:Flip the Script@active")
    assert len(hand(match, 0)) == 3
    assert "ability:Flip the Script@bench1" not in keys(match)


def embrace(damage: int, *tools: str) -> PtcgMatch:
    target = pokemon("TWM-95", damage=damage, tools=list(tools))
    # Gardevoir ex itself is nearly Knocked Out, Fezandipiti ex is not Psychic: only Munkidori is left.
    return position(
        side(pokemon("SVI-86", damage=290), target, "SFA-92", discard=[P, P, D], used={"energy": True}),
    )


def test_24_psychic_embrace_needs_a_psychic_pokemon_that_survives_it() -> None:
    match = play(embrace(80), "ability:Psychic Embrace@active")
    assert (bench(match, 0, 1)["hp"], bench(match, 0, 1)["energy"]) == (10, [P])
    assert discard(match, 0) == [P, D]
    assert "ability:Psychic Embrace@active" not in keys(match)
    assert "ability:Psychic Embrace@active" not in keys(embrace(90))
    match = play(embrace(90, "PAL-173"), "ability:Psychic Embrace@active")
    assert bench(match, 0, 1)["hp"] == 50


def test_24_psychic_embrace_is_used_as_often_as_there_is_energy() -> None:
    match = position(side("SVI-86", "TWM-95", discard=[P, P, P, D]))
    for _ in range(3):
        play(match, "ability:Psychic Embrace@active")
        assert candidates(match) == {"active", "bench1"}
        play(match, "choose:active")
    assert (active(match, 0)["energy"], active(match, 0)["damage"]) == ([P, P, P], 60)
    assert own(match, 0)["used"]["energy"] is False
    assert "ability:Psychic Embrace@active" not in keys(match)


def runner(**fields: object) -> Json:
    return pokemon("TEF-129", under=["TEF-128"], energy=[M], tools=["MEW-165"], **fields)


def test_25_run_away_draw_takes_everything_into_the_deck() -> None:
    match = position(side("PAR-88", runner(), deck=[R] * 10))
    play(match, "ability:Run Away Draw@bench1")
    assert hand(match, 0) == [R] * 3
    assert bench_cards(match, 0) == []
    assert own(match, 0)["deck_count"] == 11
    (moved,) = events(match, 0, "to_deck")
    assert Counter(moved["cards"]) == Counter(["TEF-129", "TEF-128", M, "MEW-165"])


def test_25_run_away_draw_of_the_active_pokemon_is_followed_by_a_promotion() -> None:
    match = position(side(runner(), "PAR-88", "PAR-139", deck=[R] * 2))
    play(match, "ability:Run Away Draw@active")
    assert hand(match, 0) == [R] * 2
    assert own(match, 0)["deck_count"] == 4
    assert (actor(match), candidates(match)) == (0, {"bench1", "bench2"})
    play(match, "choose:bench2")
    assert active(match, 0)["card"] == "PAR-139"
    assert actor(match) == 0


def test_26_a_knock_out_by_moved_counters_counts_for_the_turn_after() -> None:
    match = position(
        side(pokemon("TWM-95", energy=[D], damage=10)),
        side("SFA-92", pokemon("OBF-80", damage=20), hand=["OBF-189"]),
    )
    play(match, "ability:Adrena-Brain@active", "choose:opponent.bench1", "pass")
    assert actor(match) == 1
    assert {"ability:Flip the Script@active", "play:OBF-189"} <= set(keys(match))
    # Only during the very next turn.
    play(match, "pass", "pass")
    assert not {"ability:Flip the Script@active", "play:OBF-189"} & set(keys(match))


def test_26_a_knock_out_in_ones_own_turn_does_not_count() -> None:
    confused = pokemon("OBF-80", conditions=["confused"])
    fields = {"yours": side(confused, "SFA-92", "SFA-92", hand=["OBF-189"]), "theirs": "CRZ-111"}
    match = with_coins("T", fields, "attack:Grasping Draw", "choose:bench1", "pass")
    assert prizes_left(match) == (6, 5)
    assert actor(match) == 0
    assert not {"ability:Flip the Script@active", "play:OBF-189"} & set(keys(match))


STONE = "SIT-156"


def test_27_star_alchemy_uses_up_summoning_star() -> None:
    lugia = pokemon("SIT-139", under=["SIT-138"])
    match = position(side(pokemon("SIT-138", tools=[STONE]), lugia, discard=["SIT-147"]))
    assert "ability:Summoning Star@bench1" in keys(match)
    play(match, "ability:Star Alchemy@active")
    assert "ability:Summoning Star@bench1" not in keys(match)
    play(match, "pass", "pass")
    assert "ability:Summoning Star@bench1" not in keys(match)
    assert "ability:Star Alchemy@active" not in keys(match)


def test_27_summoning_star_uses_up_star_alchemy() -> None:
    match = position(side(pokemon("SIT-138", tools=[STONE]), "SIT-139", "SIT-139", discard=["SIT-147", "TEF-129"]))
    play(match, "ability:Summoning Star@bench1", "choose:SIT-147", "done")
    legal = set(keys(match))
    assert not {"ability:Star Alchemy@active", "ability:Summoning Star@bench1", "ability:Summoning Star@bench2"} & legal


def test_27_the_stone_works_on_every_pokemon_v_and_on_no_other() -> None:
    match = position(side(pokemon("SIT-138", tools=[STONE]), hand=["SIT-139"]))
    play(match, "evolve:SIT-139>active")
    assert "ability:Star Alchemy@active" in keys(match)
    match = position(side("MEW-151", hand=[STONE]))
    play(match, f"attach:{STONE}>active")
    assert "ability:Star Alchemy@active" not in keys(match)


def test_28_artazon_fetches_basic_pokemon_without_a_rule_box_once_a_turn() -> None:
    deck = ["PAR-126", "PAR-56", "MEW-151", "BRS-40", "ASR-46", "SIT-68", R]
    match = position(side("CRZ-111", deck=deck), side("CRZ-111", deck=deck), stadium={"card": "PAL-171", "owner": 0})
    play(match, "stadium:PAL-171")
    assert candidates(match) == {"PAR-126", "PAR-56"}
    assert "done" in keys(match)
    play(match, "choose:PAR-126")
    assert bench_cards(match, 0) == ["PAR-126"]
    assert "stadium:PAL-171" not in keys(match)
    play(match, "pass", "stadium:PAL-171", "done")
    assert bench_cards(match, 1) == []
    assert "stadium:PAL-171" not in keys(match)
    play(match, "pass")
    assert "stadium:PAL-171" in keys(match)


def snorlax_asleep(wanted: str, *actions: str) -> PtcgMatch:
    fields = {"yours": side(pokemon("LOR-143", energy=[P, P, P]), "TEF-128"), "theirs": side("SIT-139", "CRZ-111")}
    return with_coins(wanted, fields, "attack:Thumping Snore", *actions)


@pytest.mark.parametrize(
    ("flips", "conditions"), [("HH", []), ("HT", ["asleep"]), ("TH", ["asleep"]), ("TT", ["asleep"])]
)
def test_31_snorlax_wakes_up_only_with_two_heads(flips: str, conditions: list[str]) -> None:
    assert active(snorlax_asleep(flips), 0)["conditions"] == conditions


def test_31_asleep_snorlax_flips_two_coins_in_every_checkup_and_can_neither_attack_nor_retreat() -> None:
    match = snorlax_asleep("HTTH", "pass")
    assert actor(match) == 0
    assert active(match, 0)["conditions"] == ["asleep"]
    assert not attacks(match)
    assert not [key for key in keys(match) if key.startswith("retreat")]
    # The events of three turns are kept: two coins after the turn before, two more after this one.
    play(match, "pass")
    assert (len(coins(match)), coins(match)[:2]) == (4, "TH")


@pytest.mark.parametrize(
    ("sleeper", "flips", "conditions"),
    [
        ({}, "HT", ["asleep"]),
        ({}, "HH", []),
        ({"effects": []}, "H", []),
    ],
)
def test_31_a_position_with_snorlax_asleep_needs_two_heads_unless_it_says_otherwise(
    sleeper: Json, flips: str, conditions: list[str]
) -> None:
    snorlax = {**pokemon("LOR-143", conditions=["asleep"]), **sleeper}
    match = with_coins(flips, {"yours": side(snorlax), "theirs": "CRZ-111"}, "pass")
    assert active(match, 0)["conditions"] == conditions


def test_31_leaving_the_active_spot_wakes_snorlax_up() -> None:
    yours = side(pokemon("LOR-143", energy=[P, P, P]), "TEF-128", hand=["ASR-154"])
    match = with_coins("HTTH", {"yours": yours, "theirs": "SIT-139"}, "attack:Thumping Snore", "pass")
    play(match, "play:ASR-154")
    assert (active(match, 0)["card"], bench(match, 0, 1)["conditions"]) == ("TEF-128", [])


def test_33_ciphermaniac_cannot_fail() -> None:
    match = play(position(side("CRZ-111", hand=["TEF-145"], deck=[R, L, P])), "play:TEF-145")
    choice = choosing(match)
    assert choice is not None
    assert (choice["least"], choice["most"]) == (2, 2)
    assert "done" not in keys(match)
    match = play(position(side("CRZ-111", hand=["TEF-145"], deck=[R])), "play:TEF-145")
    assert own(match, 0)["deck_top"] == [R]
    assert choosing(match) is None


PLAIN = ["4 Ralts PAF 27", "4 Gimmighoul PAR 88", "2 Minccino BRS 124"]


@pytest.mark.parametrize(
    ("cards", "reason"),
    [
        (["1 Prime Catcher TEF 157", "1 Secret Box TWM 163", "48 Psychic Energy SVE 5"], "ACE SPEC"),
        (["1 Radiant Greninja ASR 46", "1 Radiant Charizard CRZ 20", "48 Psychic Energy SVE 5"], "Radiant"),
        (["5 Iono PAF 80", "45 Psychic Energy SVE 5"], "5 cards named 'Iono'"),
        (["5 Gift Energy LOR 171", "45 Psychic Energy SVE 5"], "Gift Energy"),
        (["49 Psychic Energy SVE 5"], "the deck has 59 cards"),
        (["51 Psychic Energy SVE 5"], "the deck has 61 cards"),
    ],
)
def test_34_a_deck_list_that_breaks_a_rule_is_refused(cards: list[str], reason: str) -> None:
    with pytest.raises(DeckError, match=reason):
        parse_deck("\n".join([*PLAIN, "", *cards]))


def test_34_any_number_of_basic_energy_and_four_special_energy_are_accepted() -> None:
    deck = parse_deck("\n".join([*PLAIN, "", "4 Double Turbo Energy BRS 151", "46 Basic Psychic Energy SVE 5"]))
    assert (deck["SVE-5"], deck["BRS-151"]) == (46, 4)


def test_34_a_deck_without_a_basic_pokemon_is_refused() -> None:
    with pytest.raises(DeckError, match="no Basic Pokémon"):
        parse_deck("4 Archeops SIT 147\n56 Psychic Energy SVE 5")


def test_37_each_double_turbo_energy_takes_off_twenty() -> None:
    match = position(side(pokemon("SIT-139", energy=[DOUBLE_TURBO, DOUBLE_TURBO])), side("BRS-40"))
    assert last_damage(play(match, "attack:Tempest Dive")) == 180
    # Before Weakness: Zapdos with a Lightning Energy and two Double Turbo.
    match = position(side(pokemon("PGO-29", energy=[L, L, DOUBLE_TURBO, DOUBLE_TURBO])), side("SIT-139"))
    assert last_damage(play(match, "attack:Electric Ball")) == (110 - 40) * 2
