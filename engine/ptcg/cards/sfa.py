"""Shrouded Fable."""

from engine.ptcg import conditions, ops
from engine.ptcg.card import Ability, Attack, Limit, item, pokemon

item(
    "SFA-61",
    "Night Stretcher",
    "Put a Pokémon or a Basic Energy card from your discard pile into your hand.",
    playable=conditions.in_discard(conditions.pokemon_or_basic_energy),
    effect=(
        ops.choose_from_discard(conditions.pokemon_or_basic_energy, 1, question="Choose a Pokémon or a Basic Energy"),
        ops.discard_to_hand,
    ),
)

pokemon(
    "SFA-92",
    "Fezandipiti ex",
    "Basic",
    hp=210,
    types="D",
    weakness="F",
    retreat=1,
    tags=("ex",),
    prizes=2,
    abilities=(
        Ability(
            "Flip the Script",
            "Once during your turn, if any of your Pokémon were Knocked Out during your opponent's last turn, you may "
            "draw 3 cards. You can use only 1 Flip the Script each turn.",
            limit=Limit.ONCE_PER_NAME,
            when=conditions.for_ability(conditions.all_of(conditions.knocked_out_last_turn, conditions.deck_left)),
            effect=(ops.draw(3),),
        ),
    ),
    attacks=(
        Attack(
            "Cruel Arrow",
            "CCC",
            text="100 damage to one of your opponent's Pokémon; Weakness and Resistance do not count for a Benched "
            "one.",
            effect=(ops.choose_opponents_pokemon("Choose the Pokémon to damage"), ops.damage_picked(100)),
        ),
    ),
)
