"""What a player may do in a turn, and how often: cards from hand, evolving, retreating, Stadiums, attacking."""

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
    play,
    pokemon,
    position,
    side,
    view,
)

from engine.match import IllegalAction, action_with_key
from engine.ptcg.game import PtcgMatch

R, L, DOUBLE = "SVE-2", "SVE-4", "BRS-151"


def starting(match_keys: list[str], prefix: str) -> list[str]:
    return [key for key in match_keys if key.startswith(prefix)]


def test_one_energy_from_hand_a_turn_for_either_kind_of_energy() -> None:
    match = position(side("CRZ-111", "MEW-16", hand=[R, DOUBLE, R]))
    assert starting(keys(match), "attach:") == [
        "attach:BRS-151>active",
        "attach:BRS-151>bench1",
        "attach:SVE-2>active",
        "attach:SVE-2>bench1",
    ]
    play(match, "attach:BRS-151>bench1")
    assert not starting(keys(match), "attach:")
    play(match, "pass", "pass")
    assert starting(keys(match), "attach:SVE-2")


def test_one_supporter_a_turn() -> None:
    match = position(side("CRZ-111", hand=["PAF-87", "PAF-80", "PAF-87"], deck=["PAF-80"] * 20))
    play(match, "play:PAF-87")
    assert "PAF-80" in hand(match, 0)
    assert not starting(keys(match), "play:PAF-8")
    play(match, "pass", "pass")
    assert "play:PAF-80" in keys(match)


def test_items_and_tools_are_not_limited() -> None:
    match = position(side("CRZ-111", "MEW-16", hand=["PAF-84", "PAF-84", "SVI-169", "TEF-159"], deck=["PAF-7"] * 5))
    play(match, "play:PAF-84", "choose:PAF-7", "play:PAF-84", "choose:PAF-7")
    play(match, "attach:SVI-169>active", "attach:TEF-159>bench1")
    assert bench_cards(match, 0) == ["MEW-16", "PAF-7", "PAF-7"]
    assert (active(match, 0)["tools"], bench(match, 0, 1)["tools"]) == (["SVI-169"], ["TEF-159"])


def test_one_tool_on_a_pokemon() -> None:
    match = position(side(pokemon("CRZ-111", tools=["SVI-169"]), "MEW-16", hand=["TEF-159"]))
    assert starting(keys(match), "attach:") == ["attach:TEF-159>bench1"]


def test_one_stadium_a_turn_and_not_the_one_in_play() -> None:
    match = position(side("CRZ-111", hand=["BRS-137", "OBF-196", "OBF-196"]), stadium={"card": "BRS-137", "owner": 1})
    assert starting(keys(match), "play:") == ["play:OBF-196"]
    play(match, "play:OBF-196")
    assert view(match, 1)["stadium"] == {"card": "OBF-196", "owner": 0}
    # It goes to its owner's discard pile.
    assert discard(match, 1) == ["BRS-137"]
    assert starting(keys(match), "play:") == []
    play(match, "pass", "pass")
    assert starting(keys(match), "play:") == ["play:BRS-137"]


def test_a_used_stadium_cannot_be_used_again_but_the_opponent_may_use_it() -> None:
    match = position(
        side("CRZ-111", deck=["SVI-169", "SVI-169", R]),
        side("CRZ-111", deck=["TEF-159", "TEF-159", L]),
        stadium={"card": "OBF-196", "owner": 0},
    )
    play(match, "stadium:OBF-196", "choose:SVI-169")
    assert "stadium:OBF-196" not in keys(match)
    play(match, "pass", "stadium:OBF-196", "choose:TEF-159")
    assert "TEF-159" in hand(match, 1)
    play(match, "pass")
    assert "stadium:OBF-196" in keys(match)


def test_another_stadium_may_be_used_in_the_turn_in_which_the_old_one_was() -> None:
    """Town Store, then Artazon played over it."""
    match = position(
        side("CRZ-111", hand=["PAL-171"], deck=["SVI-169", "PAF-7", R]), stadium={"card": "OBF-196", "owner": 1}
    )
    play(match, "stadium:OBF-196", "choose:SVI-169", "play:PAL-171", "stadium:PAL-171", "choose:PAF-7")
    assert bench_cards(match, 0) == ["PAF-7"]
    assert not starting(keys(match), "stadium:")


def test_a_full_bench_takes_no_further_pokemon() -> None:
    match = position(side("CRZ-111", "MEW-16", "PAF-7", "BRS-41", "OBF-80", hand=["PAF-7", "PAF-7"]))
    play(match, "bench:PAF-7")
    assert len(bench_cards(match, 0)) == 5
    assert "bench:PAF-7" not in keys(match)


@pytest.mark.parametrize(
    ("fields", "turn", "allowed"),
    [
        ({}, 3, True),
        ({}, 4, True),
        ({}, 1, False),
        ({}, 2, False),
        ({"entered_turn": 5}, 5, False),
        ({"entered_turn": 4}, 5, True),
        ({"entered_turn": 3}, 5, True),
    ],
)
def test_when_a_basic_pokemon_may_evolve(fields: dict[str, int], turn: int, allowed: bool) -> None:
    match = position(side(pokemon("PAF-7", **fields), hand=["PAF-8", "PAF-54", "PAF-89"]), turn=turn)
    assert ("evolve:PAF-8>active" in keys(match)) is allowed
    assert ("play:PAF-89" in keys(match)) is allowed


def test_a_pokemon_that_evolved_this_turn_does_not_evolve_again() -> None:
    charmeleon = pokemon("PAF-8", under=["PAF-7"], evolved_turn=5)
    match = position(side(charmeleon, pokemon("PAF-8", under=["PAF-7"], evolved_turn=3), hand=["PAF-54"]))
    assert starting(keys(match), "evolve:") == ["evolve:PAF-54>bench1"]


def test_a_pokemon_evolves_only_from_the_name_on_the_card() -> None:
    match = position(side("CRZ-111", "PAF-7", "MEW-16", hand=["BRS-121", "OBF-164", "PAF-54", "PAF-8"]))
    assert starting(keys(match), "evolve:") == ["evolve:BRS-121>active", "evolve:PAF-8>bench1"]


def test_a_stage_1_or_2_cannot_be_put_on_the_bench() -> None:
    assert not starting(keys(position(side("CRZ-111", hand=["PAF-8", "PAF-54"]))), "bench:")


def test_evolving_keeps_the_entry_and_clears_the_use_of_the_old_ability() -> None:
    """The evolved Pokémon has an Ability of its own, which was not used yet."""
    match = position(side(pokemon("CRZ-111", ability_used=True), hand=["BRS-121", R]))
    play(match, "evolve:BRS-121>active")
    assert "ability:Industrious Incisors@active" in keys(match)


def test_evolving_ends_effects_of_attacks_on_the_pokemon() -> None:
    match = position(
        side(pokemon("PAF-7", energy=[R, R], effects=[["cannot attack", 5, ""]]), hand=["PAF-8"], deck_size=20)
    )
    assert not attacks(match)
    play(match, "evolve:PAF-8>active")
    assert attacks(match) == {"Combustion"}


# --- retreat ---------------------------------------------------------------------------------------------------------


def test_retreat_discards_its_cost_once_a_turn() -> None:
    match = position(side(pokemon("CRZ-111", energy=[R, R]), pokemon("MEW-16", energy=[L]), "PAF-7"))
    assert starting(keys(match), "retreat") == ["retreat>bench1", "retreat>bench2"]
    play(match, "retreat>bench1")
    assert active(match, 0)["card"] == "MEW-16"
    assert bench_cards(match, 0) == ["CRZ-111", "PAF-7"]
    assert bench(match, 0, 1)["energy"] == [R]
    assert discard(match, 0) == [R]
    assert not starting(keys(match), "retreat")
    play(match, "pass", "pass")
    assert starting(keys(match), "retreat")


def test_no_retreat_without_enough_energy_or_without_a_bench() -> None:
    assert not starting(keys(position(side("CRZ-111", "MEW-16"))), "retreat")
    assert not starting(keys(position(side(pokemon("BRS-121", under=["CRZ-111"], energy=[R]), "MEW-16"))), "retreat")
    assert not starting(keys(position(side(pokemon("CRZ-111", energy=[R])))), "retreat")


def test_retreat_for_free_asks_for_nothing() -> None:
    match = play(position(side(pokemon("OBF-80", energy=[R]), "MEW-16")), "retreat>bench1")
    assert active(match, 0)["card"] == "MEW-16"
    assert bench(match, 0, 1)["energy"] == [R]


def test_the_player_chooses_which_energy_pays_the_retreat() -> None:
    match = position(side(pokemon("CRZ-111", energy=[R, L, DOUBLE]), "MEW-16"))
    play(match, "retreat>bench1")
    assert keys(match) == ["choose:SVE-2@active", "choose:SVE-4@active", "choose:BRS-151@active"]
    play(match, "choose:SVE-4@active")
    assert discard(match, 0) == [L]
    assert sorted(bench(match, 0, 1)["energy"]) == sorted([R, DOUBLE])


def payments(match: PtcgMatch) -> set[tuple[str, ...]]:
    """All that can be discarded for the retreat that is under way."""
    if choosing(match) is None:
        return {tuple(discard(match, 0))}
    return set().union(*(payments(play(match.clone(), key)) for key in keys(match)))


@pytest.mark.parametrize(
    ("energy", "paid"),
    [
        ([R, L, DOUBLE], {(DOUBLE,), (R, L), (DOUBLE, R), (DOUBLE, L)}),
        ([DOUBLE, DOUBLE], {(DOUBLE,), (DOUBLE, DOUBLE)}),
        ([R, R], {(R, R)}),
        ([R, R, R], {(R, R)}),
    ],
)
def test_two_energy_are_paid_with_one_or_two_cards_that_provide_them(
    energy: list[str], paid: set[tuple[str, ...]]
) -> None:
    bibarel = pokemon("BRS-121", under=["CRZ-111"], energy=energy)
    assert payments(play(position(side(bibarel, "MEW-16")), "retreat>bench1")) == paid


def test_one_energy_is_paid_with_one_card_even_if_it_provides_two() -> None:
    bidoof = pokemon("CRZ-111", energy=[R, DOUBLE])
    assert payments(play(position(side(bidoof, "MEW-16")), "retreat>bench1")) == {(R,), (DOUBLE,)}


def test_a_cost_of_four_takes_four_energy() -> None:
    hands = pokemon("PAR-248", energy=[L, L, L, DOUBLE])
    match = play(position(side(hands, "MEW-16")), "retreat>bench1")
    # The Double Turbo Energy is needed: three Lightning Energy are not enough without it.
    assert payments(match) == {(DOUBLE, L, L), (DOUBLE, L, L, L)}
    assert not starting(keys(position(side(pokemon("PAR-248", energy=[L, L, L]), "MEW-16"))), "retreat")


def test_what_is_attached_and_damage_stay_when_a_pokemon_retreats_and_its_conditions_end() -> None:
    active_pokemon = pokemon("CRZ-111", energy=[R, R], tools=["SVI-169"], damage=20, conditions=["confused", "burned"])
    match = play(position(side(active_pokemon, "MEW-16")), "retreat>bench1")
    left = bench(match, 0, 1)
    assert (left["energy"], left["tools"], left["damage"], left["conditions"]) == ([R], ["SVI-169"], 20, [])


def test_effects_of_attacks_end_when_the_pokemon_leaves_the_active_spot() -> None:
    """Miraidon ex cannot attack in its next turn, unless it went to the Bench and came back."""
    miraidon = pokemon("SVI-253", energy=[L, L, L, L])
    match = position(side(miraidon, pokemon("OBF-80")), side("PAF-54", "PAF-54"))
    play(match, "attack:Photon Blaster", "pass")
    assert not attacks(match)
    play(match, "retreat>bench1", "pass", "pass")
    play(match, "retreat>bench1")
    assert attacks(match) == {"Photon Blaster"}


# --- attacking -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("energy", "payable"),
    [
        ([], False),
        ([L, L], False),
        ([L, R, R], False),
        ([L, L, R], True),
        ([R, L, L], True),
        ([L, DOUBLE], False),
        ([L, L, DOUBLE], True),
        ([L, L, "TEF-161"], True),
        ([DOUBLE, DOUBLE], False),
        ([L, L, L, L], True),
    ],
)
def test_an_attack_needs_its_types_and_colorless_of_any_type(energy: list[str], payable: bool) -> None:
    match = position(side(pokemon("SVI-253", energy=energy)), "PAF-54")
    assert ("attack:Photon Blaster" in keys(match)) is payable


def test_energy_stays_after_an_attack_and_the_turn_ends() -> None:
    match = play(position(side(pokemon("PAF-7", energy=[R, R])), "PAF-54"), "attack:Steady Firebreathing")
    assert active(match, 0)["energy"] == [R, R]
    assert (actor(match), match.turn) == (1, 6)


def test_only_the_active_pokemon_attacks_and_only_with_its_top_card() -> None:
    match = position(
        side(pokemon("PAF-54", under=["PAF-7", "PAF-8"], energy=[R, R]), pokemon("CRZ-111", energy=[R, R])), "PAF-54"
    )
    assert attacks(match) == {"Burning Darkness"}


def test_no_weakness_or_resistance_on_the_bench_and_none_without_the_type() -> None:
    # Radiant Greninja (Weakness Lightning) as target of a Lightning, then of a Fire Pokémon.
    match = play(position(side(pokemon("BRS-158", energy=[L, L])), side("ASR-46")), "attack:Dynamic Spark", "done")
    assert active(match, 1)["damage"] == 0
    match = play(position(side(pokemon("BRS-48", energy=[L, L])), side("ASR-46", "MEW-16")), "attack:Lightning Rondo")
    assert events(match, 0, "damage")[-1]["amount"] == (20 + 20) * 2
    match = play(position(side(pokemon("PAF-7", energy=[R, R])), side("ASR-46")), "attack:Steady Firebreathing")
    assert active(match, 1)["damage"] == 30
    # Genome Hacking's copy of Moonlight Shuriken: Psychic Mew ex does 90 to a Benched Charmander all the same.
    match = position(side(pokemon("MEW-151", energy=[L, L, L])), side("ASR-46", "MEW-151"))
    play(match, "attack:Genome Hacking")
    assert bench(match, 1, 1)["damage"] == 90


@pytest.mark.parametrize(
    ("attack", "energy", "amount"),
    [
        ("Slicing Blade", ["SVE-1", R, R], 70 - 30),
        ("Helpful Slash", ["SVE-1"], 0),
        ("Slicing Blade", ["SVE-1", DOUBLE], 70 - 20 - 30),
    ],
)
def test_resistance_takes_thirty_off_the_active_pokemon_and_not_below_zero(
    attack: str, energy: list[str], amount: int
) -> None:
    """Scyther is a Grass Pokémon, Jirachi has Resistance against Grass."""
    match = play(position(side(pokemon("MEW-123", energy=energy)), "PAR-126"), f"attack:{attack}")
    assert active(match, 1)["damage"] == amount


def test_passing_ends_the_turn_and_the_next_player_draws() -> None:
    match = position(side("CRZ-111"), side("CRZ-111", deck=[L, R]))
    play(match, "pass")
    assert hand(match, 1) == [L]
    assert (actor(match), match.turn) == (1, 6)


def test_a_player_with_an_empty_deck_loses_at_the_start_of_the_turn_and_not_before() -> None:
    match = position(side("CRZ-111", deck=[]), side("CRZ-111", deck=[L]))
    play(match, "pass")
    assert match.result is None
    play(match, "pass")
    assert outcome(match) == ("win", 1, "deck_out")


def test_damage_never_falls_below_zero_and_modifiers_add_nothing_to_no_damage() -> None:
    match = position(
        side(pokemon("MEW-16", energy=[DOUBLE], tools=["SVI-169"]), prizes=6),
        side("CRZ-20", prizes=5),
    )
    play(match, "attack:Tackle")
    assert active(match, 1)["damage"] == 20 - 20 + 30
    match = position(side(pokemon("MEW-16", energy=[DOUBLE])), "CRZ-20")
    assert active(play(match, "attack:Tackle"), 1)["damage"] == 0
    match = position(side(pokemon("BRS-158", energy=[L, L], tools=["SVI-169"]), prizes=6), side("PAF-54", prizes=5))
    assert active(play(match, "attack:Dynamic Spark", "done"), 1)["damage"] == 0


def test_an_action_that_is_not_legal_changes_nothing() -> None:
    match = position(side("CRZ-111", hand=["PAF-7"]), "PAF-54")
    bench_it = action_with_key(match, 0, "bench:PAF-7")
    before = match.digest()
    with pytest.raises(IllegalAction, match="other player's decision"):
        match.apply(1, bench_it)
    play(match, "bench:PAF-7", "pass", "pass")
    after = match.digest()
    with pytest.raises(IllegalAction, match="not legal now"):
        match.apply(0, bench_it)
    assert match.digest() == after != before


def test_no_supporter_without_any_effect_to_have() -> None:
    """A card that could do nothing at all cannot be played."""
    empty = position(side("CRZ-111", hand=["PAF-87", "OBF-186", "PAL-265", "PAF-84", "PAF-91"], deck=[]))
    assert starting(keys(empty), "play:") == []
    # To discard a hand is what drawing costs, and no effect.
    costly = position(side("PAL-264", hand=["PAF-87", R, R], deck=[]), turn=2, to_move=0)
    assert not {"play:PAF-87", "ability:Squawk and Seize@active"} & set(keys(costly))
    usable = position(side("PAL-264", hand=["PAF-87", R, R], deck=[R]), turn=2, to_move=0)
    assert {"play:PAF-87", "ability:Squawk and Seize@active"} & set(keys(usable)) == {
        "play:PAF-87",
        "ability:Squawk and Seize@active",
    }


def test_candidates_show_copies_once() -> None:
    match = play(position(side("CRZ-111", hand=["PAF-84"], deck=["PAF-7", "PAF-7", "MEW-16"])), "play:PAF-84")
    assert candidates(match) == {"PAF-7", "MEW-16"}
    assert keys(match).count("choose:PAF-7") == 1
