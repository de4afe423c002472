"""Pokémon GO."""

from engine.ptcg import ops
from engine.ptcg.card import CARDS, Ability, Attack, pokemon
from engine.ptcg.modifiers import Blow
from engine.ptcg.state import Pokemon, State


def _basic_lightning_hits_harder(state: State, blow: Blow, holder: Pokemon) -> int:
    attacker = CARDS[blow.attacker.cards[-1]]
    helped = attacker.is_basic and "L" in attacker.types and attacker.name != "Zapdos"
    return 10 if helped and blow.target is state.players[blow.target_seat].active else 0


pokemon(
    "PGO-29",
    "Zapdos",
    "Basic",
    hp=120,
    types="L",
    weakness="F",
    retreat=2,
    abilities=(
        Ability(
            "Lightning Symbol",
            "The attacks of your Basic Lightning Pokémon, except any Zapdos, do 10 more damage to your "
            "opponent's Active Pokémon, before Weakness and Resistance.",
            hooks={"damage_done": _basic_lightning_hits_harder},
        ),
    ),
    attacks=(Attack("Electric Ball", "LLC", damage="110", effect=(ops.damage(110),)),),
)
