"""Obsidian Flames."""

from engine.ptcg import ops
from engine.ptcg.card import Ability, Attack, Kind, Limit, pokemon, stadium, supporter
from engine.ptcg.state import Pokemon, State

pokemon(
    "OBF-80",
    "Cleffa",
    "Basic",
    hp=30,
    types="P",
    weakness="M",
    retreat=0,
    attacks=(
        Attack(
            "Grasping Draw",
            "",
            text="Draw cards until you have 7 cards in your hand.",
            effect=(ops.draw_until(7),),
        ),
    ),
)


def _deck_left(state: State, seat: int, holder: Pokemon) -> bool:
    return ops.deck_left(state, seat)


pokemon(
    "OBF-164",
    "Pidgeot ex",
    "Stage 2",
    evolves_from="Pidgeotto",
    basic_form="Pidgey",
    hp=280,
    types="C",
    weakness="L",
    resistance="F",
    retreat=0,
    tags=("ex",),
    prizes=2,
    abilities=(
        Ability(
            "Quick Search",
            "Once during your turn, you may search your deck for any card, put it into your hand and shuffle "
            "your deck. You can use only 1 Quick Search each turn.",
            limit=Limit.ONCE_PER_NAME,
            when=_deck_left,
            effect=(
                ops.search_deck(ops.any_card, at_least=1),
                ops.deck_to_hand(reveal=False),
                ops.shuffle_deck,
            ),
        ),
    ),
    attacks=(
        Attack(
            "Blustery Wind",
            "CC",
            damage="120",
            text="You may discard the Stadium in play.",
            effect=(ops.damage(120), ops.may_discard_stadium),
        ),
    ),
)

supporter(
    "OBF-186",
    "Arven",
    "Search your deck for an Item card and a Pokémon Tool card, show them to your opponent, put them into "
    "your hand and shuffle your deck.",
    playable=ops.deck_left,
    effect=(
        ops.search_deck(ops.of_kind(Kind.ITEM), question="Choose an Item card"),
        ops.deck_to_hand(reveal=True),
        ops.search_deck(ops.of_kind(Kind.TOOL), question="Choose a Pokémon Tool card"),
        ops.deck_to_hand(reveal=True),
        ops.shuffle_deck,
    ),
)

stadium(
    "OBF-196",
    "Town Store",
    "Once during each player's turn, that player may search their deck for a Pokémon Tool card, show it to the "
    "opponent, put it into their hand and shuffle their deck.",
    usable=ops.deck_left,
    once_each_turn=(
        ops.search_deck(ops.of_kind(Kind.TOOL), question="Choose a Pokémon Tool card"),
        ops.deck_to_hand(reveal=True),
        ops.shuffle_deck,
    ),
)
