"""How the heuristic agent answers selection prompts."""

from __future__ import annotations

from agent_play import first_choices, play_turn
from ptcg_play import play, pokemon, position, side

CHARMANDER, CHARMELEON, CHARIZARD_EX, PIDGEY, BIDOOF = "PAF-7", "PAF-8", "PAF-54", "MEW-16", "CRZ-111"
ROTOM_V, MANAPHY, RAICHU_V, MIRAIDON_EX = "CRZ-45", "BRS-41", "BRS-158", "SVI-253"
FIRE, LIGHTNING, MIST, DOUBLE_TURBO, BIBAREL = "SVE-2", "SVE-4", "TEF-161", "BRS-151", "BRS-121"
ULTRA_BALL, NEST_BALL, COLLAPSED_STADIUM, ARVEN, LOST_VACUUM = "PAF-91", "PAF-84", "BRS-137", "OBF-186", "CRZ-135"
READY_CHARIZARD = pokemon(CHARIZARD_EX, under=[CHARMANDER, CHARMELEON], energy=[FIRE, FIRE])


def test_keeps_what_it_needs_when_it_discards() -> None:
    # Charmeleon can be evolved into Charizard ex next; the Stadium and the second Bidoof are worth least.
    you = side(
        pokemon(CHARMELEON, under=[CHARMANDER], energy=[FIRE]),
        PIDGEY,
        BIDOOF,
        hand=[ULTRA_BALL, CHARIZARD_EX, COLLAPSED_STADIUM, BIDOOF, FIRE],
        used={"energy": True},
    )
    match = play(position(you, side(ROTOM_V, BIDOOF)), f"play:{ULTRA_BALL}")
    found = first_choices(match, 100)
    assert found[f"choose:{CHARIZARD_EX}"] == 0
    assert found[f"choose:{COLLAPSED_STADIUM}"] + found[f"choose:{BIDOOF}"] > 90


def test_searches_for_the_evolution_of_a_pokemon_in_play() -> None:
    you = side(
        pokemon(CHARMELEON, under=[CHARMANDER], energy=[FIRE, FIRE]),
        PIDGEY,
        BIDOOF,
        hand=[ULTRA_BALL, COLLAPSED_STADIUM, COLLAPSED_STADIUM],
        deck=[CHARIZARD_EX, MANAPHY, BIDOOF, PIDGEY, ROTOM_V],
        deck_size=40,
    )
    match = play(position(you, side(ROTOM_V, BIDOOF)), f"play:{ULTRA_BALL}")
    assert first_choices(match)[f"choose:{CHARIZARD_EX}"] >= 38


def test_takes_a_pokemon_that_a_search_may_find_rather_than_none() -> None:
    you = side(READY_CHARIZARD, hand=[NEST_BALL], deck=[BIDOOF, FIRE], deck_size=30)
    match = play(position(you, side(ROTOM_V, BIDOOF)), f"play:{NEST_BALL}")
    assert first_choices(match)["done"] == 0


def test_promotes_the_pokemon_that_can_attack() -> None:
    you = side(READY_CHARIZARD, PIDGEY)
    weak = pokemon(PIDGEY, damage=10)
    match = play(position(you, side(weak, BIDOOF, READY_CHARIZARD, MANAPHY)), "attack:Burning Darkness")
    assert match.seats_to_act() == (1,)
    assert first_choices(match)["choose:bench2"] == 40


def test_pays_a_retreat_with_the_energy_that_is_missed_least() -> None:
    # Dynamic Spark needs two Lightning Energy; Mist Energy is a third one.
    you = side(pokemon(RAICHU_V, energy=[LIGHTNING, LIGHTNING, MIST]), READY_CHARIZARD)
    match = play(position(you, side(ROTOM_V, BIDOOF)), "retreat>bench1")
    assert first_choices(match)[f"choose:{MIST}@active"] >= 36


def test_pays_no_more_than_a_retreat_costs() -> None:
    # Fire comes before Lightning: after Lightning only the card that provides two is left, which is one too much.
    bibarel = pokemon(BIBAREL, under=[BIDOOF], energy=[FIRE, LIGHTNING, DOUBLE_TURBO])
    match = play(position(side(bibarel, READY_CHARIZARD), side(ROTOM_V, BIDOOF)), "retreat>bench1")
    assert first_choices(match)[f"choose:{FIRE}@active"] >= 30
    play(match, f"choose:{FIRE}@active")
    assert first_choices(match)[f"choose:{LIGHTNING}@active"] >= 30
    bibarel = pokemon(BIBAREL, under=[BIDOOF], energy=[DOUBLE_TURBO, DOUBLE_TURBO])
    match = play(position(side(bibarel, READY_CHARIZARD), side(ROTOM_V, BIDOOF)), "retreat>bench1")
    # The first one has to be paid, and is; a second one may be.
    assert first_choices(match)["done"] >= 30


def test_takes_tools_from_the_opponent_and_not_from_itself() -> None:
    you = side(pokemon(MIRAIDON_EX, tools=["PAL-173"]), PIDGEY, hand=[LOST_VACUUM, COLLAPSED_STADIUM])
    match = play(position(you, side(pokemon(ROTOM_V, tools=["PAL-173"]), BIDOOF)), f"play:{LOST_VACUUM}")
    assert first_choices(match)["choose:PAL-173@opponent.active"] >= 38


def test_attaches_the_energy_of_an_effect_to_an_attacker_until_it_can_attack() -> None:
    # Infernal Reign: up to three Fire Energy from the deck, on evolving.
    you = side(
        pokemon(CHARMELEON, under=[CHARMANDER]), PIDGEY, BIDOOF, hand=[CHARIZARD_EX], deck=[FIRE] * 5, deck_size=40
    )
    match = position(you, side(pokemon(CHARIZARD_EX, under=[CHARMANDER, CHARMELEON]), BIDOOF))
    assert play_turn(match)[-1] == "attack:Burning Darkness"
