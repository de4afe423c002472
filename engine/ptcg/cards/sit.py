"""Silver Tempest."""

from engine.ptcg import ops
from engine.ptcg.card import CARDS, Ability, Limit, tool
from engine.ptcg.state import Pokemon, State


def _holder_is_pokemon_v(state: State, seat: int, holder: Pokemon) -> bool:
    return "V" in CARDS[holder.cards[-1]].tags and bool(state.players[seat].deck)


tool(
    "SIT-156",
    "Forest Seal Stone",
    "The Pokémon V this is attached to can use the VSTAR Power on this card.",
    abilities=(
        Ability(
            "Star Alchemy",
            "During your turn, you may search your deck for any card, put it into your hand and shuffle your "
            "deck. You can use only 1 VSTAR Power in a game.",
            limit=Limit.VSTAR,
            when=_holder_is_pokemon_v,
            effect=(
                ops.search_deck(ops.any_card, at_least=1),
                ops.deck_to_hand(reveal=False),
                ops.shuffle_deck,
            ),
        ),
    ),
)
