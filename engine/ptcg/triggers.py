"""Abilities that become usable by an event: their player is asked at that moment."""

from __future__ import annotations

from engine.ptcg import modifiers, moves, ops, prompts
from engine.ptcg.card import CARDS, Ability, Program, Trigger
from engine.ptcg.state import Frame, Pokemon, State


def _offer_ability(state: State, frame: Frame) -> None:
    ability = CARDS[frame.card].triggered
    pokemon = ops.source(state, frame)
    if ability is None or pokemon is None:
        return
    could_act = ability.when is None or ability.when(state, frame.seat, pokemon)
    if could_act and modifiers.ability_works(state, frame.seat, pokemon, ability.name):
        prompts.ask_yes_no(state, frame, frame.seat, f"Use {ability.name}?")
    else:
        frame.picks = ("no",)


def _use_offered_ability(state: State, frame: Frame) -> None:
    ability = CARDS[frame.card].triggered
    if frame.picks == ("yes",) and ability is not None and ability.program is not None:
        pokemon = ops.source(state, frame)
        if pokemon is not None:
            log_ability(state, frame.seat, pokemon, frame.card, ability)
        moves.start(state, ability.program, frame.seat, frame.uid, frame.card)


OFFERED_ABILITY = Program((_offer_ability, _use_offered_ability))


def log_ability(state: State, seat: int, pokemon: Pokemon, card: int, ability: Ability) -> None:
    """Note in the log that an Ability (of a Pokémon, or of a Tool it has) is used."""
    state.log.append(("ability", seat, card, state.place(pokemon.uid)[1], ability.name))


def offer(state: State, seat: int, pokemon: Pokemon, trigger: Trigger) -> None:
    """A Pokémon was played from hand: where that makes an Ability of its usable, ask its player."""
    card = CARDS[pokemon.cards[-1]]
    if card.trigger == trigger:
        moves.start(state, OFFERED_ABILITY, seat, pokemon.uid, card.index)
