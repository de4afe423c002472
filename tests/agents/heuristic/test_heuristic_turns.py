"""What the heuristic agent does in a turn, told by positions. Cards are only examples: it knows none by name."""

from __future__ import annotations

import pytest
from agent_play import first_choices, play_turn
from ptcg_play import pokemon, position, side

CHARMANDER, CHARMELEON, CHARIZARD_EX, PIDGEY, BIDOOF = "PAF-7", "PAF-8", "PAF-54", "MEW-16", "CRZ-111"
BIBAREL, PIDGEOT_EX, ROTOM_V, MANAPHY = "BRS-121", "OBF-164", "CRZ-45", "BRS-41"
MIRAIDON_EX, IRON_HANDS_EX, RAICHU_V, ZAPDOS, GRENINJA = "SVI-253", "PAR-248", "BRS-158", "PGO-29", "ASR-46"
GHOLDENGO_EX, LUMINEON_V, SCYTHER = "PAR-139", "BRS-40", "MEW-123"
FIRE, LIGHTNING, METAL = "SVE-2", "SVE-4", "SVE-8"
BOSS, ULTRA_BALL, NEST_BALL, RARE_CANDY, RESEARCH = "PAL-265", "PAF-91", "PAF-84", "PAF-89", "PAF-87"
SWITCH_CART, CAPE, COLLAPSED_STADIUM, SUPER_ROD = "ASR-154", "PAL-173", "BRS-137", "PAL-188"

READY_CHARIZARD = pokemon(CHARIZARD_EX, under=[CHARMANDER, CHARMELEON], energy=[FIRE, FIRE])


def share(match: object, key: str) -> float:
    """How often fresh agents choose ``key``, from 0 to 1."""
    found = first_choices(match)  # type: ignore[arg-type]
    return found[key] / found.total()


def test_takes_a_knock_out_that_is_there() -> None:
    match = position(side(pokemon(CHARMELEON, under=[CHARMANDER], energy=[FIRE, FIRE]), PIDGEY), side(PIDGEY, BIDOOF))
    assert share(match, "attack:Combustion") == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_ends_its_turn_with_the_knock_out_whatever_it_does_before(seed: int) -> None:
    you = side(
        READY_CHARIZARD, CHARMANDER, PIDGEY, hand=[FIRE, ULTRA_BALL, NEST_BALL, RESEARCH, BIDOOF, CAPE, CHARMELEON]
    )
    match = position(you, side(LUMINEON_V, BIDOOF))
    assert play_turn(match, seed)[-1] == "attack:Burning Darkness"
    assert len(match.state.players[0].prizes) == 4


def test_wins_at_once_instead_of_developing_first() -> None:
    you = side(READY_CHARIZARD, CHARMANDER, hand=[FIRE, ULTRA_BALL, NEST_BALL, CHARMELEON, RESEARCH], prizes=1)
    assert share(position(you, side(BIDOOF, BIDOOF)), "attack:Burning Darkness") == 1.0


def test_sees_a_win_in_the_last_pokemon_of_the_opponent() -> None:
    you = side(READY_CHARIZARD, CHARMANDER, hand=[FIRE, ULTRA_BALL, NEST_BALL, CHARMELEON, RESEARCH])
    assert share(position(you, side(BIDOOF)), "attack:Burning Darkness") == 1.0


@pytest.mark.parametrize(
    ("hp_left", "attack"), [(120, "attack:Amp You Very Much"), (140, "attack:Arm Press"), (160, "attack:Arm Press")]
)
def test_chooses_the_attack_that_knocks_out_and_of_two_the_one_for_more_prizes(hp_left: int, attack: str) -> None:
    hands = pokemon(IRON_HANDS_EX, energy=[LIGHTNING] * 4)
    target = pokemon(CHARIZARD_EX, under=[CHARMANDER, CHARMELEON], damage=330 - hp_left)
    assert share(position(side(hands, PIDGEY), side(target, BIDOOF)), attack) == 1.0


def test_counts_weakness_towards_a_knock_out() -> None:
    # 30 damage are 60 for Scyther, which is weak to Fire: the last Prize, so nothing comes before the attack.
    you = side(pokemon(CHARMANDER, energy=[FIRE, FIRE]), PIDGEY, hand=[NEST_BALL, BIDOOF, CHARMELEON], prizes=1)
    weak, not_weak = pokemon(SCYTHER, damage=10), pokemon(BIDOOF)
    assert share(position(you, side(weak, BIDOOF)), "attack:Steady Firebreathing") == 1.0
    assert share(position(you, side(not_weak, BIDOOF)), "attack:Steady Firebreathing") == 0.0


def test_attacks_rather_than_passes_also_without_a_knock_out() -> None:
    match = position(side(pokemon(CHARMELEON, under=[CHARMANDER], energy=[FIRE, FIRE]), PIDGEY), side(READY_CHARIZARD))
    assert share(match, "pass") == 0.0
    assert share(match, "attack:Combustion") > 0.9


def test_does_not_leave_play_with_its_last_pokemon_for_an_attack() -> None:
    lonely = side(pokemon(LUMINEON_V, energy=["SVE-3", "SVE-3", "SVE-3"]))
    assert share(position(lonely, side(READY_CHARIZARD, BIDOOF)), "attack:Aqua Return") == 0.0
    with_bench = side(pokemon(LUMINEON_V, energy=["SVE-3", "SVE-3", "SVE-3"]), PIDGEY)
    assert share(position(with_bench, side(READY_CHARIZARD, BIDOOF)), "attack:Aqua Return") > 0.9


def test_attaches_energy_where_an_attack_becomes_possible() -> None:
    you = side(
        pokemon(CHARIZARD_EX, under=[CHARMANDER, CHARMELEON], energy=[FIRE]), PIDGEY, BIDOOF, MANAPHY, hand=[FIRE]
    )
    assert share(position(you, side(ROTOM_V, BIDOOF)), f"attach:{FIRE}>active") == 1.0


def test_attaches_energy_to_the_next_attacker_when_the_active_one_has_enough() -> None:
    second = pokemon(CHARIZARD_EX, under=[CHARMANDER, CHARMELEON], energy=[FIRE])
    you = side(READY_CHARIZARD, BIDOOF, second, PIDGEY, hand=[FIRE])
    assert share(position(you, side(pokemon(ROTOM_V), BIDOOF)), f"attach:{FIRE}>bench2") > 0.9


def test_attaches_no_energy_for_an_attack_that_its_deck_cannot_pay_for() -> None:
    # Lumineon V and Manaphy attack with Water Energy; this deck has Lightning Energy only.
    you = side(MANAPHY, LUMINEON_V, MIRAIDON_EX, hand=[LIGHTNING], fill=LIGHTNING)
    assert share(position(you, side(READY_CHARIZARD, BIDOOF)), f"attach:{LIGHTNING}>bench2") > 0.9


def test_pays_for_the_retreat_of_a_pokemon_that_stands_in_the_way() -> None:
    you = side(ROTOM_V, READY_CHARIZARD, BIDOOF, hand=[FIRE])
    match = position(you, side(READY_CHARIZARD, BIDOOF))
    assert play_turn(match) == [
        f"attach:{FIRE}>active",
        "retreat>bench1",
        f"choose:{FIRE}@active",
        "attack:Burning Darkness",
    ]


def test_keeps_energy_in_hand_that_its_attack_is_paid_with() -> None:
    gholdengo = pokemon(GHOLDENGO_EX, under=["PAR-88"], energy=[METAL], ability_used=True)
    you = side(gholdengo, ROTOM_V, BIDOOF, hand=[METAL, METAL, METAL], fill=METAL)
    match = position(you, side(pokemon(ROTOM_V, damage=50), BIDOOF))
    # Three are 150 damage for the 140 HP that remain, two would not be enough.
    assert play_turn(match)[-4:] == ["attack:Make It Rain", *[f"choose:{METAL}"] * 3]
    assert len(match.state.players[0].prizes) == 4


def test_pays_no_more_for_an_attack_than_the_knock_out_needs() -> None:
    gholdengo = pokemon(GHOLDENGO_EX, under=["PAR-88"], energy=[METAL], ability_used=True)
    you = side(gholdengo, ROTOM_V, BIDOOF, hand=[METAL] * 4, fill=METAL)
    match = position(you, side(pokemon(ROTOM_V, damage=100), BIDOOF))
    assert play_turn(match)[-4:] == ["attack:Make It Rain", *[f"choose:{METAL}"] * 2, "done"]


@pytest.mark.parametrize("seed", range(5))
def test_evolves_what_it_can(seed: int) -> None:
    you = side(pokemon(CHARMANDER), CHARMANDER, PIDGEY, "CRZ-111", hand=[CHARMELEON, RARE_CANDY, PIDGEOT_EX, BIBAREL])
    played = play_turn(position(you, side(ROTOM_V, BIDOOF)), seed)
    assert any(key.startswith(f"evolve:{CHARMELEON}") for key in played)
    assert f"evolve:{BIBAREL}>bench3" in played
    assert f"play:{RARE_CANDY}" in played


def test_does_not_evolve_away_from_a_knock_out() -> None:
    you = side(pokemon("CRZ-111", energy=[FIRE, FIRE]), PIDGEY, hand=[BIBAREL])
    strong = side(pokemon("TEF-128", energy=[FIRE, FIRE]), PIDGEY, hand=["TEF-129"])
    # Dig (2 Energy, 30 damage) knocks out what Land Crush (3 Energy) of the Evolution would not.
    match = position(strong, side(pokemon(PIDGEY, damage=20), BIDOOF))
    assert share(match, "attack:Dig") == 1.0
    assert share(position(you, side(ROTOM_V, BIDOOF)), f"evolve:{BIBAREL}>active") == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_puts_pokemon_onto_an_empty_bench(seed: int) -> None:
    you = side(READY_CHARIZARD, hand=[BIDOOF, FIRE, SUPER_ROD])
    assert f"bench:{BIDOOF}" in play_turn(position(you, side(pokemon(ROTOM_V), BIDOOF)), seed)


@pytest.mark.parametrize("seed", range(5))
def test_searches_before_it_attacks(seed: int) -> None:
    you = side(READY_CHARIZARD, CHARMANDER, hand=[NEST_BALL], deck=[BIDOOF, PIDGEY, FIRE, FIRE], deck_size=40)
    played = play_turn(position(you, side(pokemon(CHARIZARD_EX, under=[CHARMANDER, CHARMELEON]), BIDOOF)), seed)
    assert played[0] == f"play:{NEST_BALL}"
    assert played[-1] == "attack:Burning Darkness"


def test_switches_in_a_pokemon_that_it_can_knock_out() -> None:
    you = side(READY_CHARIZARD, PIDGEY, hand=[BOSS])
    match = position(you, side(pokemon(CHARIZARD_EX, under=[CHARMANDER, CHARMELEON]), BIDOOF, pokemon(LUMINEON_V)))
    # Lumineon V gives two Prizes, Bidoof one; the Active Pokémon cannot be Knocked Out.
    assert play_turn(match) == [f"play:{BOSS}", "choose:opponent.bench2", "attack:Burning Darkness"]


def test_keeps_what_switches_in_opponents_while_it_brings_nothing() -> None:
    you = side(READY_CHARIZARD, PIDGEY, hand=[BOSS])
    match = position(you, side(pokemon(ROTOM_V), pokemon(CHARIZARD_EX, under=[CHARMANDER, CHARMELEON])))
    assert share(match, f"play:{BOSS}") == 0.0


def test_switches_when_only_a_benched_pokemon_can_attack() -> None:
    you = side(pokemon(ROTOM_V), BIDOOF, READY_CHARIZARD, hand=[SWITCH_CART])
    match = position(you, side(READY_CHARIZARD, BIDOOF))
    assert play_turn(match) == [f"play:{SWITCH_CART}", "choose:bench2", "attack:Burning Darkness"]


def test_retreats_when_only_a_benched_pokemon_can_attack_and_not_otherwise() -> None:
    you = side(pokemon(ROTOM_V, energy=[FIRE]), BIDOOF, READY_CHARIZARD)
    assert share(position(you, side(READY_CHARIZARD, BIDOOF)), "retreat>bench2") == 1.0
    settled = side(READY_CHARIZARD, BIDOOF, pokemon(CHARMELEON, under=[CHARMANDER], energy=[FIRE, FIRE]))
    found = first_choices(position(settled, side(READY_CHARIZARD, BIDOOF)))
    assert not any(key.startswith("retreat") for key in found)


def test_does_not_draw_from_a_deck_that_is_nearly_used_up() -> None:
    bibarel = pokemon(BIBAREL, under=["CRZ-111"])
    plenty = position(side(READY_CHARIZARD, bibarel, deck_size=40), side(pokemon(ROTOM_V), BIDOOF))
    little = position(side(READY_CHARIZARD, bibarel, deck_size=5), side(pokemon(ROTOM_V), BIDOOF))
    assert share(plenty, "ability:Industrious Incisors@bench1") == 1.0
    assert share(little, "ability:Industrious Incisors@bench1") == 0.0


def test_does_not_end_its_turn_by_an_ability_where_it_can_attack() -> None:
    charge = "ability:Instant Charge@bench1"
    able = position(
        side(READY_CHARIZARD, ROTOM_V, deck_size=40), side(pokemon(CHARIZARD_EX, under=[CHARMANDER]), BIDOOF)
    )
    assert share(able, charge) == 0.0
    unable = position(side(BIDOOF, ROTOM_V, deck_size=40), side(READY_CHARIZARD, BIDOOF))
    assert share(unable, charge) > 0.8
