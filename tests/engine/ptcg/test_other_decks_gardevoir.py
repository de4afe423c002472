"""The cards of the Gardevoir ex deck, each where it matters and where something keeps it from acting."""

from __future__ import annotations

from collections import Counter

import pytest
from ptcg_play import (
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

from engine.ptcg.card import CARDS
from engine.ptcg.game import PtcgMatch
from engine.ptcg.library import INDEX

R, L, P, D, M = "SVE-2", "SVE-4", "SVE-5", "SVE-7", "SVE-8"
MIST, THERAPEUTIC = "TEF-161", "PAL-193"


def last_damage(match: PtcgMatch) -> int:
    amount: int = events(match, 0, "damage")[-1]["amount"]
    return amount


# --- Ralts, Kirlia, Gardevoir ex -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attacker", "attack", "amount"),
    [("PAF-27", "Psyshot", 30), ("SIT-68", "Slap", 30), ("PAR-86", "Slap", 30), ("SVI-86", "Miracle Force", 190)],
)
def test_plain_damage(attacker: str, attack: str, amount: int) -> None:
    match = play(position(side(pokemon(attacker, energy=[P, P, P])), "SIT-139"), f"attack:{attack}")
    assert last_damage(match) == amount
    assert active(match, 1)["damage"] == amount


def test_refinement_discards_one_card_and_draws_two() -> None:
    match = position(side("SIT-68", "SIT-68", hand=[R, L], deck=[P, P, P, P]))
    play(match, "ability:Refinement@active")
    assert candidates(match) == {R, L}
    play(match, f"choose:{L}")
    assert discard(match, 0) == [L]
    assert hand(match, 0) == sorted([R, P, P])
    assert "ability:Refinement@active" not in keys(match)
    assert "ability:Refinement@bench1" in keys(match)


def test_refinement_needs_a_card_to_discard_and_one_to_draw() -> None:
    assert "ability:Refinement@active" not in keys(position(side("SIT-68")))
    assert "ability:Refinement@active" not in keys(position(side("SIT-68", hand=[R], deck=[])))
    match = play(position(side("SIT-68", hand=[R], deck=[L])), "ability:Refinement@active")
    assert hand(match, 0) == [L]


def test_psychic_embrace_takes_only_basic_psychic_energy_from_the_discard_pile() -> None:
    assert "ability:Psychic Embrace@active" not in keys(position(side("SVI-86", discard=[D, D, MIST], hand=[P])))


def test_psychic_embrace_is_not_an_attachment_from_hand() -> None:
    match = position(side("SVI-86", hand=[P], discard=[P]))
    play(match, f"attach:{P}>active", "ability:Psychic Embrace@active")
    assert active(match, 0)["energy"] == [P, P]
    assert active(match, 0)["damage"] == 20


def test_psychic_embrace_of_the_active_gardevoir_stops_before_flutter_mane() -> None:
    match = position(side("SVI-86", "SVI-86", discard=[P]), "PRE-43")
    assert "ability:Psychic Embrace@active" not in keys(match)
    assert "ability:Psychic Embrace@bench1" in keys(match)


def test_miracle_force_recovers_from_all_special_conditions() -> None:
    gardevoir = pokemon("SVI-86", energy=[P, P, D], conditions=["poisoned", "burned", "confused"])
    match = with_coins("H", {"yours": side(gardevoir), "theirs": "SIT-139"}, "attack:Miracle Force")
    assert active(match, 0)["conditions"] == []
    # Cured before the Pokémon Checkup: neither Poison nor Burn did anything.
    assert active(match, 0)["damage"] == 0


def test_gardevoir_evolves_from_kirlia_or_with_rare_candy_from_ralts() -> None:
    match = position(side("SIT-68", "PAF-27", "TWM-95", hand=["SVI-86", "SVI-86", "PAF-89"]))
    assert "evolve:SVI-86>active" in keys(match)
    assert "evolve:SVI-86>bench1" not in keys(match)
    play(match, "play:PAF-89")
    assert (bench(match, 0, 1)["card"], bench(match, 0, 1)["under"]) == ("SVI-86", ["PAF-27"])


# --- Munkidori -------------------------------------------------------------------------------------------------------


def test_adrena_brain_moves_up_to_three_counters_from_any_of_yours_to_any_of_theirs() -> None:
    match = position(
        side(pokemon("TWM-95", energy=[D]), pokemon("SVI-86", damage=60), pokemon("PAF-27", damage=20)),
        side("SIT-139", "BRS-124"),
    )
    play(match, "ability:Adrena-Brain@active")
    assert candidates(match) == {"bench1", "bench2"}
    play(match, "choose:bench1")
    assert candidates(match) == {"1", "2", "3"}
    play(match, "choose:3")
    assert candidates(match) == {"opponent.active", "opponent.bench1"}
    play(match, "choose:opponent.active")
    assert bench(match, 0, 1)["damage"] == 30
    assert active(match, 1)["damage"] == 30
    assert "ability:Adrena-Brain@active" not in keys(match)
    for seat in (0, 1):
        (event,) = events(match, seat, "move_counters")
        assert (event["place"], event["to_place"], event["count"]) == ("bench1", "opponent.active", 3)


def test_adrena_brain_moves_no_more_counters_than_there_are() -> None:
    match = position(side(pokemon("TWM-95", energy=[D]), pokemon("PAF-27", damage=20)), side("SIT-139", "BRS-124"))
    play(match, "ability:Adrena-Brain@active")
    assert candidates(match) == {"1", "2"}
    play(match, "choose:1", "choose:opponent.bench1")
    assert (bench(match, 0, 1)["damage"], bench(match, 1, 1)["damage"]) == (10, 10)


@pytest.mark.parametrize(("energy", "damage"), [([P], 30), ([], 30), ([D], 0)])
def test_adrena_brain_needs_darkness_energy_and_counters(energy: list[str], damage: int) -> None:
    match = position(side(pokemon("TWM-95", energy=energy, damage=damage)))
    assert "ability:Adrena-Brain@active" not in keys(match)


def test_each_munkidori_may_use_adrena_brain() -> None:
    munkidori = pokemon("TWM-95", energy=[D], damage=60)
    match = position(side(munkidori, munkidori), "SIT-139")
    play(match, "ability:Adrena-Brain@active", "choose:active", "choose:3")
    play(match, "ability:Adrena-Brain@bench1", "choose:active", "choose:3")
    assert active(match, 1)["damage"] == 60


@pytest.mark.parametrize(
    "target",
    [
        pokemon("CRZ-111", energy=[MIST]),
        pokemon("LOR-143"),
        pokemon("TEF-128", effects=[["no damage or effects", 5, ""]]),
        pokemon("PAF-8", under=["PAF-7"]),
    ],
)
def test_what_prevents_effects_of_attacks_does_not_prevent_an_ability(target: dict[str, object]) -> None:
    match = position(side(pokemon("TWM-95", energy=[D], damage=20)), side(target))
    play(match, "ability:Adrena-Brain@active", "choose:2")
    assert active(match, 1)["damage"] == 20


def test_jirachi_does_not_prevent_adrena_brain() -> None:
    match = position(side(pokemon("TWM-95", energy=[D], damage=20)), side("CRZ-111", "PAR-126"))
    play(match, "ability:Adrena-Brain@active", "choose:2", "choose:opponent.bench1")
    assert bench(match, 1, 1)["damage"] == 20


def test_adrena_brain_can_take_the_last_prize() -> None:
    match = position(side(pokemon("TWM-95", energy=[D], damage=30), prizes=1), side("OBF-80", "CRZ-111"))
    play(match, "ability:Adrena-Brain@active", "choose:3", "choose:opponent.active")
    assert outcome(match) == ("win", 0, "prizes")


def test_after_a_knock_out_by_adrena_brain_the_opponent_promotes_and_the_turn_goes_on() -> None:
    match = position(
        side(pokemon("TWM-95", energy=[D, P], damage=30)), side(pokemon("OBF-80"), "CRZ-111", "SIT-139", prizes=4)
    )
    play(match, "ability:Adrena-Brain@active", "choose:3", "choose:opponent.active")
    assert (actor(match), candidates(match)) == (1, {"bench1", "bench2"})
    play(match, "choose:bench2")
    assert (actor(match), active(match, 1)["card"], prizes_left(match)) == (0, "SIT-139", (5, 4))
    assert "Mind Bend" in attacks(match)


@pytest.mark.parametrize(
    ("target", "conditions"),
    [
        (pokemon("SIT-139"), ["confused"]),
        (pokemon("SIT-139", energy=[MIST]), []),
        (pokemon("SIT-139", energy=[THERAPEUTIC]), []),
        (pokemon("LOR-143"), []),
        (pokemon("PAF-8", under=["PAF-7"]), []),
    ],
)
def test_mind_bend_confuses_unless_something_prevents_it(target: dict[str, object], conditions: list[str]) -> None:
    match = play(position(side(pokemon("TWM-95", energy=[P, D])), side(target)), "attack:Mind Bend")
    assert active(match, 1)["damage"] == 60
    assert active(match, 1)["conditions"] == conditions


# --- Scream Tail, Frillish, Lillie's Clefairy ex, Fezandipiti ex -----------------------------------------------------


def test_roaring_scream_counts_the_counters_on_scream_tail() -> None:
    scream = side(pokemon("PAR-86", energy=[P, P], damage=60))
    match = play(position(scream, side("SIT-139", "SIT-138")), "attack:Roaring Scream", "choose:opponent.bench1")
    assert bench(match, 1, 1)["damage"] == 120
    match = play(position(scream, "SIT-139"), "attack:Roaring Scream")
    assert active(match, 1)["damage"] == 120


def test_roaring_scream_without_counters_does_nothing() -> None:
    match = play(position(side(pokemon("PAR-86", energy=[P, P])), "SIT-139"), "attack:Roaring Scream")
    assert (active(match, 1)["damage"], actor(match)) == (0, 1)


def test_bravery_charm_lets_scream_tail_hold_more_counters() -> None:
    scream = pokemon("PAR-86", energy=[P, P], tools=["PAL-173"], damage=130)
    match = play(position(side(scream), "SIT-139"), "attack:Roaring Scream")
    assert active(match, 1)["damage"] == 260


def test_oceanic_gloom_keeps_items_in_the_hand_for_one_turn() -> None:
    theirs = side("SIT-139", "CRZ-111", hand=["PAF-91", "PAF-84", "PAF-80", "SVI-169", "BRS-137", R])
    match = play(position(side(pokemon("WHT-44", energy=[P])), theirs), "attack:Oceanic Gloom")
    assert last_damage(match) == 20
    assert not {"play:PAF-91", "play:PAF-84"} & set(keys(match))
    # Tools, Supporters, Stadiums and Energy are no Items.
    assert {"play:PAF-80", "attach:SVI-169>active", "play:BRS-137", f"attach:{R}>active"} <= set(keys(match))
    play(match, "pass", "pass")
    assert {"play:PAF-91", "play:PAF-84"} <= set(keys(match))


def test_oceanic_gloom_is_no_effect_on_the_pokemon() -> None:
    theirs = side(pokemon("SIT-139", energy=[MIST]), hand=["PAF-84"])
    match = play(position(side(pokemon("WHT-44", energy=[P])), theirs), "attack:Oceanic Gloom")
    assert "play:PAF-84" not in keys(match)
    # Switching the Pokémon does not end it: it is an effect on the player.
    theirs = side(pokemon("SIT-139", energy=[P, P]), "CRZ-111", hand=["PAF-84"])
    match = play(position(side(pokemon("WHT-44", energy=[P])), theirs), "attack:Oceanic Gloom", "retreat>bench1")
    assert active(match, 1)["card"] == "CRZ-111"
    assert "play:PAF-84" not in keys(match)


def test_full_moon_rondo_counts_both_benches() -> None:
    match = position(side(pokemon("JTG-56", energy=[P, R]), "PAF-27"), side("SIT-139", "CRZ-111", "CRZ-111"))
    assert last_damage(play(match, "attack:Full Moon Rondo")) == 20 + 20 * 3
    match = position(side(pokemon("JTG-56", energy=[P, R])), side("SIT-139"))
    assert last_damage(play(match, "attack:Full Moon Rondo")) == 20


def dragon_hit(monkeypatch: pytest.MonkeyPatch, yours: list[str], **fields: object) -> int:
    # No Dragon Pokémon belongs to these decks: Lugia V stands in for one.
    monkeypatch.setattr(CARDS[INDEX["SIT-138"]], "types", "N")
    match = position(side(pokemon("PAF-27", energy=[P, P]), *yours), side("SIT-138"), **fields)
    return last_damage(play(match, "attack:Psyshot"))


def test_fairy_zone_makes_the_opponents_dragons_weak_to_psychic(monkeypatch: pytest.MonkeyPatch) -> None:
    assert dragon_hit(monkeypatch, []) == 30
    assert dragon_hit(monkeypatch, ["JTG-56"]) == 60
    assert dragon_hit(monkeypatch, ["JTG-56", "JTG-56"]) == 60


def test_fairy_zone_replaces_the_printed_weakness_of_dragons_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def bolt(bench: list[str]) -> int:
        match = position(side(pokemon("PAR-248", energy=[L, L, L]), *bench), side("SIT-138"))
        return last_damage(play(match, "attack:Arm Press"))

    assert bolt(["JTG-56"]) == 320
    monkeypatch.setattr(CARDS[INDEX["SIT-138"]], "types", "N")
    assert bolt([]) == 320
    assert bolt(["JTG-56"]) == 160


def test_fairy_zone_leaves_ones_own_dragons_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CARDS[INDEX["SIT-138"]], "types", "N")
    match = position(side(pokemon("PAF-27", energy=[P, P])), side("SIT-138", "JTG-56"))
    assert last_damage(play(match, "attack:Psyshot")) == 30


def test_cruel_arrow_counts_weakness_for_the_active_pokemon_only() -> None:
    arrow = side(pokemon("SFA-92", energy=[P, R, L]))
    match = play(position(arrow, side("SVI-86", "SVI-86")), "attack:Cruel Arrow", "choose:opponent.active")
    assert active(match, 1)["damage"] == 200
    match = play(position(arrow, side("SVI-86", "SVI-86")), "attack:Cruel Arrow", "choose:opponent.bench1")
    assert bench(match, 1, 1)["damage"] == 100


def test_flip_the_script_draws_three_only_after_a_knock_out() -> None:
    assert "ability:Flip the Script@active" not in keys(position(side("SFA-92")))
    match = position(side("SFA-92", knocked_out_last_turn=True, deck=[R, L]))
    play(match, "ability:Flip the Script@active")
    assert hand(match, 0) == [R, L]
    assert "ability:Flip the Script@active" not in keys(
        position(side("SFA-92", knocked_out_last_turn=True, deck=[], deck_size=0))
    )


# --- Trainers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("prizes", "drawn"), [(6, 8), (5, 6), (1, 6)])
def test_lillies_determination_shuffles_the_hand_in_and_draws(prizes: int, drawn: int) -> None:
    match = position(side("CRZ-111", hand=["ASC-192", L, L], deck=[R] * 10, prizes=prizes))
    play(match, "play:ASC-192")
    assert len(hand(match, 0)) == drawn
    assert own(match, 0)["deck_count"] == 12 - drawn
    assert (Counter(hand(match, 0)) + deck_counts(match, 0))[L] == 2
    assert discard(match, 0) == ["ASC-192"]
    assert events(match, 0, "shuffle")


def test_lillies_determination_does_not_show_the_hand() -> None:
    match = play(position(side("CRZ-111", hand=["ASC-192", L], known_hand=[L])), "play:ASC-192")
    (event,) = events(match, 1, "hand_to_deck")
    assert event["count"] == 1
    assert "cards" not in event
    # What the opponent knew of the hand lies somewhere in the deck now.
    assert view(match, 1)["opponent"]["hand"] == []


def test_lillies_determination_can_be_played_as_the_last_card() -> None:
    match = play(position(side("CRZ-111", hand=["ASC-192"], deck=[R, R])), "play:ASC-192")
    assert hand(match, 0) == [R, R]
    # With an empty deck it still shuffles a hand in and draws it again; without a hand it would do nothing.
    assert "play:ASC-192" in keys(position(side("CRZ-111", hand=["ASC-192", L], deck=[])))
    assert "play:ASC-192" not in keys(position(side("CRZ-111", hand=["ASC-192"], deck=[])))


def test_earthen_vessel_discards_a_card_and_finds_up_to_two_basic_energy() -> None:
    match = position(side("CRZ-111", hand=["PAR-163", "PAF-27"], deck=[P, D, P, MIST, "PAF-27"]))
    play(match, "play:PAR-163")
    assert candidates(match) == {P, D}
    assert "done" in keys(match)
    play(match, f"choose:{P}", f"choose:{D}")
    assert hand(match, 0) == [P, D]
    assert discard(match, 0) == ["PAF-27", "PAR-163"]
    (event,) = events(match, 1, "to_hand")
    assert event["cards"] == [P, D]
    assert "play:PAR-163" not in keys(position(side("CRZ-111", hand=["PAR-163"])))


def test_night_stretcher_takes_a_pokemon_or_a_basic_energy() -> None:
    match = position(side("CRZ-111", hand=["SFA-61"], discard=["SVI-86", P, MIST, "PAF-89"]))
    play(match, "play:SFA-61")
    assert candidates(match) == {"SVI-86", P}
    assert "done" not in keys(match)
    play(match, "choose:SVI-86")
    assert choosing(match) is None
    assert hand(match, 0) == ["SVI-86"]
    assert view(match, 1)["opponent"]["hand"] == ["SVI-86"]
    assert "play:SFA-61" not in keys(position(side("CRZ-111", hand=["SFA-61"], discard=[MIST, "PAF-89"])))


def test_secret_box_takes_one_card_of_each_kind_of_trainer() -> None:
    deck = ["PAF-91", "PAL-173", "PAF-80", "PAL-171", "PAF-27", P]
    match = position(side("CRZ-111", hand=["TWM-163", R, R, L], deck=deck))
    play(match, "play:TWM-163")
    for wanted in ("PAF-91", "PAL-173", "PAF-80", "PAL-171"):
        assert candidates(match) == {wanted}
        play(match, f"choose:{wanted}")
    assert hand(match, 0) == sorted(["PAF-80", "PAF-91", "PAL-171", "PAL-173"])
    assert discard(match, 0) == sorted([R, R, L, "TWM-163"])
    assert deck_counts(match, 0) == Counter(["PAF-27", P])


def test_secret_box_may_leave_any_kind_out_and_needs_three_other_cards() -> None:
    deck = ["PAF-91", "PAL-173", "PAF-80", "PAL-171"]
    match = position(side("CRZ-111", hand=["TWM-163", R, R, R, L], deck=deck))
    play(match, "play:TWM-163", f"choose:{R}", "done", "choose:PAL-173", "done", "done")
    assert hand(match, 0) == ["PAL-173", L]
    assert discard(match, 0) == [R, R, R, "TWM-163"]
    assert choosing(match) is None
    assert "play:TWM-163" not in keys(position(side("CRZ-111", hand=["TWM-163", R, R])))


# --- Technical Machine: Evolution ------------------------------------------------------------------------------------


def test_evolution_works_on_a_pokemon_put_down_in_ones_first_turn() -> None:
    match = position(
        side("TWM-95", hand=["PAF-27", "PAR-178", P], deck=["SIT-68", R, R]), "SIT-139", turn=2, first_player=1
    )
    play(match, "bench:PAF-27", "attach:PAR-178>active", f"attach:{P}>active", "attack:Evolution", "choose:SIT-68")
    assert (bench(match, 0, 1)["card"], bench(match, 0, 1)["under"]) == ("SIT-68", ["PAF-27"])


def test_evolution_does_not_help_who_goes_first() -> None:
    match = position(side(pokemon("TWM-95", energy=[P], tools=["PAR-178"]), "PAF-27"), turn=1, first_player=0)
    assert not attacks(match)


def test_evolution_takes_the_next_stage_only_and_keeps_what_the_pokemon_has() -> None:
    ralts = pokemon("PAF-27", damage=30, energy=[P])
    kirlia = pokemon("SIT-68", under=["PAF-27"])
    yours = side(pokemon("TWM-95", energy=[P], tools=["PAR-178"]), ralts, kirlia, deck=["SVI-86", "SIT-68", R])
    match = play(position(yours), "attack:Evolution", "choose:bench1", "choose:bench2")
    assert candidates(match) == {"SIT-68"}
    play(match, "choose:SIT-68")
    assert candidates(match) == {"SVI-86"}
    play(match, "choose:SVI-86")
    assert [bench(match, 0, i)["under"] for i in (1, 2)] == [["PAF-27"], ["PAF-27", "SIT-68"]]
    assert (bench(match, 0, 1)["damage"], bench(match, 0, 1)["energy"]) == (30, [P])


def test_evolution_is_not_playing_from_hand() -> None:
    charmeleon = pokemon("PAF-8", under=["PAF-7"])
    yours = side(pokemon("TWM-95", energy=[P], tools=["PAR-178"]), charmeleon, deck=["PAF-54", R, R])
    match = play(position(yours), "attack:Evolution", "choose:PAF-54")
    # Infernal Reign is not offered; the turn is over.
    assert (bench(match, 0, 1)["card"], actor(match), choosing(match)) == ("PAF-54", 1, None)


@pytest.mark.parametrize(
    ("bench", "picks", "searched"),
    [
        ([], [], False),
        (["TWM-95"], [], False),
        (["TWM-95", "MEW-151"], ["choose:bench1", "choose:bench2"], False),
        (["TWM-95", "PAF-27"], ["choose:bench1", "choose:bench2"], True),
        # Kirlia and Jellicent are none of the cards in this deck: that is what a search finds out.
        (["SIT-68"], [], True),
        (["{frillish}"], [], True),
        (["{pidgey}"], [], True),
    ],
)
def test_evolution_searches_and_shuffles_only_where_some_card_evolves_from_what_was_chosen(
    bench: list[str], picks: list[str], searched: bool
) -> None:
    named = {f"{{{card.name.lower()}}}": card.id for card in CARDS}
    yours = side(
        pokemon("TWM-95", energy=[P], tools=["PAR-178"]),
        *(named.get(card, card) for card in bench),
        deck=[R, P, "SVE-4"],
        top_known=3,
    )
    match = play(position(yours), "attack:Evolution", *picks)
    assert bool(events(match, 0, "shuffle")) is searched
    assert bool(own(match, 0)["deck_top"]) is not searched
    assert actor(match) == 1
    assert discard(match, 0) == ["PAR-178"]


def test_the_holder_keeps_its_own_attacks_and_mew_ex_cannot_copy_the_machine() -> None:
    assert attacks(position(side(pokemon("TWM-95", energy=[P, P], tools=["PAR-178"])))) == {"Mind Bend", "Evolution"}
    mew = side(pokemon("MEW-151", energy=[P, P, P]))
    match = play(position(mew, side(pokemon("CRZ-111", tools=["PAR-178"]))), "attack:Genome Hacking")
    # Hyper Fang is the only attack of the Active Pokémon itself.
    assert choosing(match) is None
    assert len(events(match, 0, "coin")) == 1


def test_the_opponents_technical_machine_stays_in_your_turn() -> None:
    match = position(side("CRZ-111"), side(pokemon("TWM-95", tools=["PAR-178"])))
    play(match, "pass")
    assert active(match, 1)["tools"] == ["PAR-178"]
    play(match, "pass")
    assert active(match, 1)["tools"] == []


# --- Luxurious Cape, Artazon, Team Rocket's Watchtower ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("card", "hp"), [("PAF-27", 170), ("SIT-68", 180), ("SVI-86", 310), ("SIT-138", 220), ("ASR-46", 130)]
)
def test_luxurious_cape_gives_hp_to_pokemon_without_a_rule_box(card: str, hp: int) -> None:
    match = play(position(side(card, hand=["PAR-166"])), "attach:PAR-166>active")
    assert active(match, 0)["max_hp"] == hp


def test_luxurious_cape_costs_a_prize_more_by_damage_from_an_attack() -> None:
    caped = side(pokemon("PAF-27", tools=["PAR-166"], damage=150), "CRZ-111")
    match = play(position(side(pokemon("PAF-7", energy=[R, R])), caped), "attack:Steady Firebreathing")
    assert prizes_left(match) == (4, 6)


def test_luxurious_cape_costs_no_more_where_counters_knock_out() -> None:
    caped = side(pokemon("PAF-27", tools=["PAR-166"], damage=150), "CRZ-111")
    match = position(side(pokemon("TWM-95", energy=[D], damage=20)), caped)
    play(match, "ability:Adrena-Brain@active", "choose:2", "choose:opponent.active")
    assert prizes_left(match) == (5, 6)


def test_luxurious_cape_costs_no_more_on_a_pokemon_with_a_rule_box() -> None:
    caped = side(pokemon("MEW-151", tools=["PAR-166"], damage=160), "CRZ-111")
    match = play(position(side(pokemon("PAF-7", energy=[R, R])), caped), "attack:Steady Firebreathing")
    assert prizes_left(match) == (4, 6)


def test_luxurious_cape_and_iron_hands_add_up() -> None:
    caped = side(pokemon("PAF-27", tools=["PAR-166"], damage=60), "CRZ-111")
    match = play(position(side(pokemon("PAR-248", energy=[L, L, L, L])), caped), "attack:Amp You Very Much")
    assert prizes_left(match) == (3, 6)


def test_taking_the_cape_away_knocks_out() -> None:
    caped = side(pokemon("PAF-27", tools=["PAR-166"], damage=70), "CRZ-111")
    match = play(position(side("CRZ-111", hand=["CRZ-135", R]), caped), "play:CRZ-135")
    assert prizes_left(match) == (5, 6)
    assert own(match, 1)["lost_zone"] == ["PAR-166"]


def test_artazon_needs_room_and_a_deck() -> None:
    stadium = {"card": "PAL-171", "owner": 1}
    full = side("CRZ-111", *["CRZ-111"] * 5)
    assert "stadium:PAL-171" not in keys(position(full, stadium=stadium))
    assert "stadium:PAL-171" not in keys(position(side("CRZ-111", deck=[]), stadium=stadium))
    match = play(position(side("CRZ-111", hand=["PAL-171"], deck=["PAF-27", R])), "play:PAL-171", "stadium:PAL-171")
    play(match, "choose:PAF-27")
    assert bench_cards(match, 0) == ["PAF-27"]


def test_watchtower_gives_way_to_another_stadium() -> None:
    match = position(side("SIT-147", hand=["PAL-171"]), stadium={"card": "ASC-210", "owner": 1})
    assert "ability:Primal Turbo@active" not in keys(match)
    play(match, "play:PAL-171")
    assert "ability:Primal Turbo@active" in keys(match)
    assert discard(match, 1) == ["ASC-210"]


def test_playing_watchtower_stops_abilities_at_once() -> None:
    match = position(side("BRS-121", hand=["ASC-210"]))
    assert "ability:Industrious Incisors@active" in keys(match)
    play(match, "play:ASC-210")
    assert "ability:Industrious Incisors@active" not in keys(match)
    assert active(match, 0)["has_ability"] is False


def test_watchtower_ends_what_unfazed_fat_prevents() -> None:
    match = position(side(pokemon("TWM-95", energy=[P, D])), side("LOR-143"), stadium={"card": "ASC-210", "owner": 0})
    play(match, "attack:Mind Bend")
    assert active(match, 1)["conditions"] == ["confused"]
