"""Journey Together."""

from engine.ptcg import conditions, ops
from engine.ptcg.card import CARDS, Ability, Attack, pokemon
from engine.ptcg.state import Pokemon, State


def _psychic_for_dragons(state: State, target: Pokemon) -> str:
    return "P" if "N" in CARDS[target.cards[-1]].types else ""


pokemon(
    "JTG-56",
    "Lillie's Clefairy ex",
    "Basic",
    hp=190,
    types="P",
    weakness="M",
    retreat=1,
    tags=("ex",),
    prizes=2,
    abilities=(
        Ability(
            "Fairy Zone",
            "The Weakness of each of your opponent's Dragon Pokémon in play is Psychic (×2) instead of what it was.",
            hooks={"weakness": _psychic_for_dragons},
        ),
    ),
    attacks=(
        Attack(
            "Full Moon Rondo",
            "PC",
            damage="20+",
            text="20 more damage for each Benched Pokémon, yours and your opponent's.",
            effect=(ops.damage(lambda state, frame: 20 + 20 * conditions.benched_on_both_sides(state, frame)),),
        ),
    ),
)
