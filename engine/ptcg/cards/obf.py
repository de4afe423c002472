"""Obsidian Flames."""

from engine.ptcg import conditions, modifiers, ops
from engine.ptcg.card import Ability, Attack, Kind, Limit, item, pokemon, stadium, supporter
from engine.ptcg.state import Frame, State

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


def _opponents_pokemon_with_ability(state: State, frame: Frame) -> int:
    seat = 1 - frame.seat
    return sum(modifiers.has_ability(state, seat, p) for p in state.players[seat].in_play())


pokemon(
    "OBF-141",
    "Scizor",
    "Stage 1",
    evolves_from="Scyther",
    hp=140,
    types="M",
    weakness="R",
    resistance="G",
    retreat=2,
    attacks=(
        Attack(
            "Punishing Scissors",
            "M",
            damage="10+",
            text="50 more damage for each of your opponent's Pokémon in play that has an Ability.",
            effect=(ops.damage(lambda state, frame: 10 + 50 * _opponents_pokemon_with_ability(state, frame)),),
        ),
        Attack("Cut", "MM", damage="70", effect=(ops.damage(70),)),
    ),
)


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
            when=conditions.for_ability(conditions.deck_left),
            effect=(
                ops.search_deck(conditions.any_card, at_least=1),
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
    playable=conditions.deck_left,
    effect=(
        ops.search_deck(conditions.of_kind(Kind.ITEM), question="Choose an Item card"),
        ops.deck_to_hand(reveal=True),
        ops.search_deck(conditions.of_kind(Kind.TOOL), question="Choose a Pokémon Tool card"),
        ops.deck_to_hand(reveal=True),
        ops.shuffle_deck,
    ),
)

item(
    "OBF-189",
    "Letter of Encouragement",
    "Can be played only if any of your Pokémon were Knocked Out during your opponent's last turn. Search your deck for "
    "up to 3 Basic Energy cards, show them to your opponent, put them into your hand and shuffle your deck.",
    playable=conditions.all_of(conditions.knocked_out_last_turn, conditions.deck_left),
    effect=(
        ops.search_deck(conditions.basic_energy(), up_to=3, question="Choose up to 3 Basic Energy"),
        ops.deck_to_hand(reveal=True),
        ops.shuffle_deck,
    ),
)

stadium(
    "OBF-196",
    "Town Store",
    "Once during each player's turn, that player may search their deck for a Pokémon Tool card, show it to the "
    "opponent, put it into their hand and shuffle their deck.",
    usable=conditions.deck_left,
    once_each_turn=(
        ops.search_deck(conditions.of_kind(Kind.TOOL), question="Choose a Pokémon Tool card"),
        ops.deck_to_hand(reveal=True),
        ops.shuffle_deck,
    ),
)
