"""Paldea Evolved."""

from engine.ptcg import ops
from engine.ptcg.card import CARDS, Ability, Attack, Card, Limit, item, pokemon, supporter, tool
from engine.ptcg.state import Pokemon, State


def _more_hp_for_basic(state: State, holder: Pokemon) -> int:
    return 50 if CARDS[holder.cards[-1]].is_basic else 0


tool(
    "PAL-173",
    "Bravery Charm",
    "The Basic Pokémon this is attached to has 50 more HP. On an Evolution it does nothing.",
    hooks={"hp": _more_hp_for_basic},
)


def _pokemon_or_basic_energy(card: Card) -> bool:
    return card.is_pokemon or card.is_basic_energy


item(
    "PAL-188",
    "Super Rod",
    "Choose up to 3 Pokémon and Basic Energy cards, in any combination, in your discard pile and shuffle them"
    " into your deck.",
    playable=ops.in_discard(_pokemon_or_basic_energy),
    effect=(
        ops.choose_from_discard(_pokemon_or_basic_energy, 3, question="Shuffle cards into your deck"),
        ops.discard_to_deck,
    ),
)


def _first_turn_and_something_to_do(state: State, seat: int, holder: Pokemon) -> bool:
    player = state.players[seat]
    return state.turn <= 2 and bool(player.deck or player.hand)


pokemon(
    "PAL-264",
    "Squawkabilly ex",
    "Basic",
    hp=160,
    types="C",
    weakness="L",
    resistance="F",
    retreat=1,
    tags=("ex",),
    prizes=2,
    abilities=(
        Ability(
            "Squawk and Seize",
            "Once during your first turn, you may discard your hand and draw 6 cards. You can use only 1 "
            "Squawk and Seize during your turn.",
            limit=Limit.ONCE_PER_NAME,
            when=_first_turn_and_something_to_do,
            effect=(ops.discard_hand, ops.draw(6)),
        ),
    ),
    attacks=(
        Attack(
            "Motivate",
            "C",
            damage="20",
            text="Attach up to 2 Basic Energy cards from your discard pile to one of your Benched Pokémon.",
            effect=(
                ops.damage(20),
                ops.only_with_bench,
                ops.choose_from_discard(ops.basic_energy(), 2, 0, "Choose up to 2 Basic Energy to attach"),
                ops.remember_picks,
                ops.choose_benched("Attach them to which Pokémon"),
                ops.attach_all_to_picked("discard"),
            ),
        ),
    ),
)

supporter(
    "PAL-265",
    "Boss's Orders",
    "Choose one of your opponent's Benched Pokémon and switch it with their Active Pokémon.",
    playable=ops.opponent_has_bench,
    effect=(ops.choose_benched("Choose the Pokémon to switch in", yours=False), ops.switch_in_opponents),
)
