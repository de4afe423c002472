"""Astral Radiance."""

from engine.ptcg import conditions, moves, ops
from engine.ptcg.card import CARDS, Ability, Attack, item, pokemon
from engine.ptcg.state import Frame, Pokemon, State


def _has_energy_in_hand(state: State, seat: int, holder: Pokemon) -> bool:
    player = state.players[seat]
    return bool(player.deck) and any(CARDS[card].is_energy for card in player.hand)


pokemon(
    "ASR-46",
    "Radiant Greninja",
    "Basic",
    hp=130,
    types="W",
    weakness="L",
    retreat=1,
    tags=("Radiant",),
    abilities=(
        Ability(
            "Concealed Cards",
            "Once during your turn, you may discard an Energy card from your hand to draw 2 cards.",
            when=_has_energy_in_hand,
            effect=(ops.discard_cards(1, conditions.an_energy), ops.draw(2)),
        ),
    ),
    attacks=(
        Attack(
            "Moonlight Shuriken",
            "WWC",
            text="Discard 2 Energy from this Pokémon. 90 damage to each of 2 of your opponent's Pokémon; Weakness and "
            "Resistance do not count for Benched ones.",
            effect=(
                ops.choose_own_energy(2),
                ops.choose_opponents_pokemon("Choose 2 Pokémon to damage", 2),
                ops.damage_picked(90),
                ops.discard_chosen_energy,
            ),
        ),
    ),
)


def _active_is_basic(state: State, seat: int) -> bool:
    player = state.players[seat]
    return player.active is not None and CARDS[player.active.cards[-1]].is_basic and bool(player.bench)


def _switch_and_heal(state: State, frame: Frame) -> None:
    moved = state.players[frame.seat].active
    ops.switch_yours(state, frame)
    if frame.picks and moved is not None:
        moves.heal(state, frame.seat, moved, 30)


item(
    "ASR-154",
    "Switch Cart",
    "Switch your Active Basic Pokémon with one of your Benched Pokémon; then heal 30 damage from the one that went to "
    "the Bench. Cannot be played while your Active Pokémon is an Evolution.",
    playable=_active_is_basic,
    effect=(ops.choose_benched("Choose your new Active Pokémon"), _switch_and_heal),
)
