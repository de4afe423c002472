"""White Flare."""

from engine.ptcg import modifiers, ops
from engine.ptcg.card import Attack, pokemon

pokemon(
    "WHT-44",
    "Frillish",
    "Basic",
    hp=80,
    types="P",
    weakness="D",
    resistance="F",
    retreat=3,
    attacks=(
        Attack(
            "Oceanic Gloom",
            "P",
            damage="20",
            text="During your opponent's next turn, they cannot play Item cards from their hand.",
            effect=(ops.damage(20), ops.effect_on_opponent(modifiers.NO_ITEMS, 1)),
        ),
    ),
)
