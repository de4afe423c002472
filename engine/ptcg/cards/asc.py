"""Ascended Heroes."""

from engine.ptcg import moves, ops
from engine.ptcg.card import CARDS, stadium, supporter
from engine.ptcg.state import Frame, Pokemon, State


def _hand_into_deck(state: State, frame: Frame) -> None:
    moves.hand_to_deck(state, frame.seat)


def _eight_with_all_six_prizes(state: State, frame: Frame) -> int:
    return 8 if len(state.players[frame.seat].prizes) == 6 else 6


def _anything_to_do(state: State, seat: int) -> bool:
    return bool(state.players[seat].deck) or len(state.players[seat].hand) > 1


supporter(
    "ASC-192",
    "Lillie's Determination",
    "Shuffle your hand into your deck and draw 6 cards; 8 cards if you have exactly 6 Prize cards remaining.",
    playable=_anything_to_do,
    effect=(_hand_into_deck, ops.draw(_eight_with_all_six_prizes)),
)


def _is_colorless(state: State, owner: int, seat: int, pokemon: Pokemon, name: str) -> bool:
    return "C" in CARDS[pokemon.cards[-1]].types


stadium(
    "ASC-210",
    "Team Rocket's Watchtower",
    "Colorless Pokémon in play, yours and your opponent's, have no Abilities.",
    hooks={"no_abilities": _is_colorless},
)
