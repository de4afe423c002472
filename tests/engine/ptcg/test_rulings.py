"""Positions in which several cards meet, each with the result that rulebook, rulings and card texts give.

Seat 0 is the player whose turn it is. What one card does alone stands in the tests of its deck.
"""

from __future__ import annotations

import json

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
    discard,
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

R, W, L, P, D, M, G = "SVE-2", "SVE-3", "SVE-4", "SVE-5", "SVE-7", "SVE-8", "SVE-1"
DOUBLE, GIFT, JET, MIST, V_GUARD, THERAPEUTIC = "BRS-151", "LOR-171", "PAL-190", "TEF-161", "SIT-169", "PAL-193"
WATCHTOWER = {"card": "ASC-210", "owner": 1}
CHARIZARD_EX = pokemon("PAF-54", under=["PAF-7"])
LUGIA_VSTAR = pokemon("SIT-139", under=["SIT-138"])
MEW_EX = pokemon("MEW-151", energy=[R, R, R])


def used_attack(attacker: Json, theirs: Json, *choices: str, name: str, **fields: Json) -> PtcgMatch:
    """A position in which ``attacker`` has used an attack and ``choices`` were made."""
    return play(position(side(attacker, "CRZ-111"), theirs, **fields), f"attack:{name}", *choices)


# --- what happens on a Knock Out -------------------------------------------------------------------------------------


def test_gift_energy_luxurious_cape_and_amp_you_very_much_all_count() -> None:
    minccino = pokemon("BRS-124", energy=[GIFT], tools=["PAR-166"], damage=50)
    match = used_attack(
        pokemon("PAR-248", energy=[L, L, L, L]), side(minccino, "SIT-138", hand=[R] * 3), name="Amp You Very Much"
    )
    # One for Minccino, one for the Cape, one for the attack; 7 cards and then the one for the turn.
    assert prizes_left(match) == (3, 6)
    assert (own(match, 1)["hand_count"], discard(match, 1)) == (8, ["BRS-124", GIFT, "PAR-166"])


def test_heavy_baton_and_gift_energy_both_work_before_the_prizes_are_taken() -> None:
    hands = pokemon("PAR-248", energy=[L, L, GIFT], tools=["TEF-151"], damage=100)
    match = used_attack(
        pokemon("SVI-253", energy=[L, L, L]), side(hands, "PGO-29", "BRS-158", hand=[R]), name="Photon Blaster"
    )
    assert (actor(match), prizes_left(match)) == (1, (6, 6))
    assert candidates(match) == {"SVE-4@active"}
    play(match, "choose:SVE-4@active", "choose:bench1", "choose:bench2")
    assert (own(match, 1)["hand_count"], prizes_left(match)) == (7, (4, 6))
    play(match, "choose:bench2")
    assert (active(match, 1)["card"], active(match, 1)["energy"]) == ("BRS-158", [L])
    assert sorted(discard(match, 1)) == sorted(["PAR-248", GIFT, "TEF-151"])


def test_moved_counters_bring_neither_gift_nor_the_prize_of_the_cape() -> None:
    caped = pokemon("BRS-124", energy=[GIFT], tools=["PAR-166"], damage=130)
    match = position(side(pokemon("TWM-95", energy=[D], damage=30)), side("PAF-7", caped, hand=[R]))
    play(match, "ability:Adrena-Brain@active", "choose:3", "choose:opponent.bench1")
    assert (prizes_left(match), hand(match, 1)) == ((5, 6), [R])


def test_hex_hurl_on_a_caped_pokemon_with_gift_energy_is_one_prize_and_no_card() -> None:
    caped = pokemon("BRS-124", energy=[GIFT], tools=["PAR-166"], damage=140)
    match = used_attack(pokemon("PRE-43", energy=[R, R, R]), side("SIT-138", caped, hand=[R]), name="Hex Hurl")
    # The card in hand and the one for the turn.
    assert (prizes_left(match), own(match, 1)["hand_count"]) == ((5, 6), 2)


def test_manaphy_protects_the_bench_from_the_attack_that_knocks_it_out() -> None:
    greninja = pokemon("ASR-46", energy=[W, W, W])
    match = used_attack(greninja, side("BRS-41", "BRS-124"), name="Moonlight Shuriken")
    assert (prizes_left(match), active(match, 1)["card"], active(match, 1)["damage"]) == ((5, 6), "BRS-124", 0)


# --- Abilities that are gone -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stadium", [None, WATCHTOWER])
def test_the_power_of_the_stone_is_the_tools_and_stays_without_abilities(stadium: Json | None) -> None:
    match = position(side(pokemon("SIT-138", tools=["SIT-156"])), "PRE-43", stadium=stadium)
    assert "ability:Star Alchemy@active" in keys(match)


def test_the_stone_gives_lugia_v_no_ability_that_scizor_could_count() -> None:
    scizor = pokemon("OBF-141", under=["MEW-123"], energy=[M])
    match = used_attack(scizor, side(pokemon("SIT-138", tools=["SIT-156"])), name="Punishing Scissors")
    assert active(match, 1)["damage"] == 10


def test_watchtower_takes_colorless_pokemon_out_of_scizors_count() -> None:
    scizor = pokemon("OBF-141", under=["MEW-123"], energy=[M])
    theirs = side("SIT-138", LUGIA_VSTAR, "SIT-147", "BRS-40")
    assert active(used_attack(scizor, theirs, name="Punishing Scissors"), 1)["damage"] == 160
    stopped = used_attack(scizor, theirs, name="Punishing Scissors", stadium=WATCHTOWER)
    assert active(stopped, 1)["damage"] == 60


def test_jirachi_opposite_flutter_mane_protects_nobody() -> None:
    flutter_mane = pokemon("PRE-43", energy=[R, R, R])
    caped = pokemon("PAR-126", tools=["PAR-166"])
    assert bench(used_attack(flutter_mane, side(caped, "PAF-27"), name="Hex Hurl"), 1, 1)["damage"] == 20
    benched = used_attack(flutter_mane, side("SIT-138", "PAF-27", "PAR-126"), "choose:opponent.bench1", name="Hex Hurl")
    play(benched, "choose:opponent.bench1")
    assert bench(benched, 1, 1)["damage"] == 0


def test_infernal_reign_on_the_bench_does_not_mind_flutter_mane() -> None:
    yours = side("PAF-7", "PAF-7", hand=["PAF-54", "PAF-54", "PAF-89", "PAF-89"], deck=[R] * 3)
    match = position(yours, "PRE-43")
    play(match, "play:PAF-89", "choose:active")
    assert (choosing(match), active(match, 0)["card"]) == (None, "PAF-54")
    play(match, "play:PAF-89")
    assert keys(match) == ["choose:yes", "choose:no"]


# --- Genome Hacking --------------------------------------------------------------------------------------------------


def test_genome_hacking_may_copy_combustion_blast_in_the_next_turn_again() -> None:
    # Mew ex cannot use an attack of that name then; the attack it uses is Genome Hacking.
    match = used_attack(MEW_EX, side("CRZ-20", "CRZ-20"), name="Genome Hacking")
    assert prizes_left(match) == (5, 6)
    play(match, "pass", "attack:Genome Hacking")
    assert outcome(match) == ("win", 0, "no_pokemon")


def test_genome_hacking_photon_blaster_leaves_mew_without_any_attack() -> None:
    match = used_attack(MEW_EX, side("SVI-253", "SVI-253"), name="Genome Hacking")
    assert prizes_left(match) == (4, 6)
    play(match, "pass")
    assert attacks(match) == set()


def test_genome_hacking_takes_cards_counters_and_energy_from_mews_side() -> None:
    moonlight = used_attack(MEW_EX, side("ASR-46", "SIT-138", "BRS-41"), name="Genome Hacking")
    play(moonlight, "choose:opponent.active", "choose:opponent.bench1")
    assert (active(moonlight, 0)["energy"], active(moonlight, 1)["damage"]) == ([R], 90)
    assert bench(moonlight, 1, 1)["damage"] == 0
    scream = used_attack({**MEW_EX, "damage": 30}, side("PAR-86", "PAF-7"), name="Genome Hacking")
    play(scream, "choose:Roaring Scream", "choose:opponent.bench1")
    assert bench(scream, 1, 1)["damage"] == 60
    roll = used_attack(
        pokemon("MEW-151", energy=[DOUBLE, GIFT]),
        side(pokemon("TEF-137", under=["BRS-124"], tools=["MEW-165"])),
        "choose:Special Roll",
        name="Genome Hacking",
    )
    # Two cards, less 20 for Double Turbo Energy, less 30 for Rigid Band.
    assert active(roll, 1)["damage"] == 90
    aqua = used_attack(MEW_EX, side("BRS-40"), name="Genome Hacking")
    assert (active(aqua, 0)["card"], active(aqua, 1)["damage"]) == ("CRZ-111", 120)


def test_genome_hacking_fast_charge_and_dynamic_spark() -> None:
    yours = side(pokemon("MEW-151", energy=[R, R, L]), pokemon("CRZ-111", energy=[L]), deck=[L, R])
    match = play(position(yours, "BRS-158"), "attack:Genome Hacking")
    charged = play(match.clone(), "choose:Fast Charge", "choose:SVE-4")
    assert active(charged, 0)["energy"] == [R, R, L, L]
    play(match, "choose:Dynamic Spark", "choose:SVE-4@active", "choose:SVE-4@bench1")
    assert active(match, 1)["damage"] == 120


def test_genome_hacking_is_the_attack_of_no_pokemon_v() -> None:
    guarded = pokemon("SIT-138", energy=[V_GUARD])
    match = used_attack(MEW_EX, side(guarded), "choose:Aero Dive", name="Genome Hacking")
    assert active(match, 1)["damage"] == 130


def test_mew_ex_cannot_copy_fast_charge_in_the_first_players_first_turn() -> None:
    assert attacks(position(side(MEW_EX), "BRS-158", turn=1)) == set()
    assert attacks(position(side(MEW_EX), "BRS-158", turn=2)) == {"Genome Hacking"}


# --- what cards change one after the other ---------------------------------------------------------------------------


@pytest.mark.parametrize("picks", [["BRS-151"], ["SVE-3", "SVE-3"]])
def test_energy_that_moonlight_shuriken_discards_is_there_while_it_does_its_damage(picks: list[str]) -> None:
    chosen = [f"choose:{card}@active" for card in picks]
    targets = ["choose:opponent.active", "choose:opponent.bench2"]
    for greninja in (pokemon("ASR-46", energy=[W, W, DOUBLE]), pokemon("MEW-151", energy=[W, W, DOUBLE])):
        radiant = "ASR-46" if greninja["card"] == "MEW-151" else CHARIZARD_EX
        name = "Genome Hacking" if greninja["card"] == "MEW-151" else "Moonlight Shuriken"
        theirs = side(radiant, "CRZ-111", "SIT-138")
        match = used_attack(greninja, theirs, *chosen, *targets, name=name)
        assert (active(match, 1)["damage"], bench(match, 1, 2)["damage"]) == (70, 70)
        assert discard(match, 0) == picks


def test_gholdengo_takes_resistance_and_rigid_band_after_all_else() -> None:
    gholdengo = pokemon("PAR-139", under=["PAR-88"], tools=["MEW-165"])
    match = used_attack(pokemon("MEW-123", energy=[G, G, G]), side(gholdengo), name="Slicing Blade")
    assert active(match, 1)["damage"] == 70 - 30 - 30
    benched = position(side(pokemon("SFA-92", energy=[DOUBLE, R])), side("SIT-138", gholdengo))
    play(benched, "attack:Cruel Arrow", "choose:opponent.bench1")
    assert bench(benched, 1, 1)["damage"] == 100 - 20 - 30


def test_a_stadium_another_copy_and_the_opponents_turn_each_bring_a_use_of_artazon() -> None:
    yours = side("CRZ-111", hand=["CRZ-135", R, "PAL-171"], deck=["PAR-126", "ASR-46", "MEW-151", R])
    match = position(yours, side("CRZ-111", deck=[R, "PAR-56"]), stadium={"card": "PAL-171", "owner": 1})
    play(match, "stadium:PAL-171")
    assert candidates(match) == {"PAR-126"}
    play(match, "done")
    assert "stadium:PAL-171" not in keys(match)
    play(match, "play:CRZ-135", "choose:SVE-2")
    assert own(match, 1)["lost_zone"] == ["PAL-171"]
    play(match, "play:PAL-171", "stadium:PAL-171", "done", "pass", "stadium:PAL-171", "choose:PAR-56")
    assert bench_cards(match, 1) == ["PAR-56"]


def test_lost_vacuum_on_collapsed_stadium_makes_room_for_lumineon_at_once() -> None:
    yours = side("CRZ-111", *["PAF-7"] * 4, hand=["CRZ-135", R, "BRS-40"], deck=["PAF-80"])
    match = position(yours, stadium={"card": "BRS-137", "owner": 1})
    assert "bench:BRS-40" not in keys(match)
    play(match, "play:CRZ-135", "choose:SVE-2", "bench:BRS-40", "choose:yes", "choose:PAF-80")
    assert (hand(match, 0), own(match, 1)["lost_zone"], discard(match, 0)) == (["PAF-80"], ["BRS-137"], ["CRZ-135"])


def test_psychic_embrace_counts_the_hp_that_tools_give() -> None:
    def offered(target: Json | str) -> bool:
        gardevoir = pokemon("SVI-86", under=["PAF-27", "SIT-68"], damage=300)
        return "ability:Psychic Embrace@active" in keys(position(side(gardevoir, target, discard=[P])))

    assert offered(pokemon("SIT-68", under=["PAF-27"], damage=150, tools=["PAR-166"]))
    assert not offered(pokemon("SIT-68", under=["PAF-27"], damage=60, tools=["PAL-173"]))
    assert not offered(pokemon("MEW-151", damage=160, tools=["PAR-166"]))
    assert offered("PAR-88")
    assert not offered(pokemon("OBF-80", damage=10))


def test_evolving_out_of_bravery_charm_can_knock_out_and_is_no_knock_out_in_the_opponents_turn() -> None:
    ralts = pokemon("PAF-27", damage=110, tools=["PAL-173"])
    match = position(side(ralts, "SFA-92", hand=["SIT-68"]))
    play(match, "evolve:SIT-68>active")
    assert (prizes_left(match), actor(match), active(match, 0)["card"]) == ((6, 5), 0, "SFA-92")
    play(match, "pass", "pass")
    assert "ability:Flip the Script@active" not in keys(match)


def test_lost_vacuum_knocks_out_for_flip_the_script_and_collapsed_stadium_does_not() -> None:
    charmed = pokemon("BRS-41", tools=["PAL-173"], damage=80)
    match = position(side("CRZ-111", hand=["CRZ-135", R]), side(charmed, "SFA-92"))
    play(match, "play:CRZ-135", "pass")
    assert "ability:Flip the Script@active" in keys(match)
    match = position(side("CRZ-111", hand=["BRS-137"]), side("SFA-92", *["PAF-7"] * 5))
    play(match, "play:BRS-137", "choose:bench1", "pass")
    assert (prizes_left(match), "ability:Flip the Script@active" in keys(match)) == ((6, 6), False)


# --- conditions and effects ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "stadium", "confused"),
    [
        ("SIT-138", None, True),
        (pokemon("SIT-138", energy=[MIST]), None, False),
        (pokemon("SIT-138", energy=[THERAPEUTIC]), None, False),
        ("LOR-143", None, False),
        ("LOR-143", WATCHTOWER, True),
        (pokemon("PAF-8", under=["PAF-7"], tools=["PAR-166"]), None, False),
        (pokemon("PAF-8", under=["PAF-7"], tools=["PAR-166"]), WATCHTOWER, False),
    ],
)
def test_mind_bend_against_everything_that_may_stop_it(
    target: Json | str, stadium: Json | None, confused: bool
) -> None:
    match = used_attack(pokemon("TWM-95", energy=[P, P]), side(target, "SIT-138"), name="Mind Bend", stadium=stadium)
    assert (active(match, 1)["conditions"], active(match, 1)["damage"]) == (["confused"] if confused else [], 60)


def test_mew_ex_that_copied_thumping_snore_sleeps_by_two_coins() -> None:
    fields = {"yours": side(MEW_EX), "theirs": side("LOR-143", "CRZ-111")}
    assert active(with_coins("TH", fields, "attack:Genome Hacking"), 0)["conditions"] == ["asleep"]
    assert active(with_coins("HH", fields, "attack:Genome Hacking"), 0)["conditions"] == []


def test_photon_blaster_forbids_a_technical_machine_until_the_pokemon_has_been_on_the_bench() -> None:
    yours = side(pokemon("SVI-253", energy=[L] * 4), "MEW-151", hand=["PAR-178", "ASR-154"])
    match = position(yours, CHARIZARD_EX)
    play(match, "attack:Photon Blaster", "pass", "attach:PAR-178>active")
    assert attacks(match) == set()
    play(match, "play:ASR-154", "retreat>bench1")
    assert attacks(match) == {"Photon Blaster", "Evolution"}


def test_a_confused_miraidon_that_fails_is_not_held_back_by_photon_blaster() -> None:
    fields = {
        "yours": side(pokemon("SVI-253", energy=[L] * 3, conditions=["confused"]), "CRZ-111"),
        "theirs": side(CHARIZARD_EX),
    }
    match = with_coins("T", fields, "attack:Photon Blaster", "pass")
    assert (active(match, 0)["damage"], attacks(match)) == (30, {"Photon Blaster"})


def test_hyper_blower_ends_confusion_and_may_empty_ones_own_bench() -> None:
    match = position(side("CRZ-111", "PAR-56"), side(pokemon("SIT-138", conditions=["confused"]), "PAF-7"))
    play(match, "ability:Hyper Blower@bench1")
    assert (active(match, 1)["card"], bench(match, 1, 1)["conditions"]) == ("PAF-7", [])
    assert (bench_cards(match, 0), discard(match, 0), prizes_left(match)) == ([], ["PAR-56"], (6, 6))


def test_a_poisoned_gardevoir_may_embrace_itself_to_the_brink_and_falls_in_the_checkup() -> None:
    gardevoir = pokemon("SVI-86", under=["PAF-27", "SIT-68"], damage=280, conditions=["poisoned"])
    match = position(side(gardevoir, discard=[P, P]))
    play(match, "ability:Psychic Embrace@active")
    assert (active(match, 0)["hp"], keys(match)) == (10, ["pass"])
    assert outcome(play(match, "pass")) == ("win", 1, "no_pokemon")


# --- what is known ---------------------------------------------------------------------------------------------------


def test_iono_tells_nothing_of_the_opponents_hand_deck_and_prizes() -> None:
    def seen(theirs: list[str], deck: list[str], prizes: list[str]) -> str:
        match = position(
            side("CRZ-111", hand=["PAF-80", R], deck=[P] * 8), side("CRZ-111", hand=theirs, deck=deck, prizes=prizes)
        )
        play(match, "play:PAF-80")
        return json.dumps([view(match, 0), match.events(0)])

    assert seen([R, L], [P, D, M, G, W, R, R], [L] * 6) == seen([L, G], [R, D, R, G, P, W, M], [W] * 6)


def test_ciphermaniacs_order_is_drawn_by_ionos_players_own_hand() -> None:
    yours = side("CRZ-111", hand=["TEF-145"], deck=[D, P, M, G, L], prizes=2)
    match = position(yours, side("CRZ-111", hand=["PAF-80", R]))
    play(match, "play:TEF-145", "choose:SVE-5", "choose:SVE-8", "choose:SVE-8")
    assert (own(match, 0)["deck_top"], view(match, 1)["opponent"]["deck_top"]) == ([M, P], [])
    play(match, "pass", "play:PAF-80")
    # An empty hand puts nothing on the bottom, and the two cards on top are drawn all the same.
    assert (hand(match, 0), own(match, 0)["deck_bottom"]) == (sorted([M, P]), [])


def test_iono_with_fewer_cards_in_the_deck_than_prizes_draws_the_hand_back() -> None:
    match = position(side("CRZ-111", hand=["PAF-80", R, L], deck=[P], prizes=4), side("CRZ-111", deck=[D], prizes=3))
    play(match, "play:PAF-80")
    assert (hand(match, 0), own(match, 0)["deck_count"]) == (sorted([P, R, L]), 0)
    assert (hand(match, 1), outcome(match)) == ([D], None)


def test_a_stone_that_goes_with_lugia_keeps_both_powers_on_offer_until_one_is_used() -> None:
    yours = side("CRZ-111", pokemon("SIT-138", tools=["SIT-156"]), hand=["SIT-139"], discard=["SIT-147"])
    match = play(position(yours), "evolve:SIT-139>bench1")
    assert {"ability:Star Alchemy@bench1", "ability:Summoning Star@bench1"} <= set(keys(match))
    play(match, "ability:Summoning Star@bench1")
    assert not any("Star" in key for key in keys(match))
    # Archeops came from the discard pile in this turn and may use its Ability at once.
    assert "ability:Primal Turbo@bench2" in keys(match)
