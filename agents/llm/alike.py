"""Choices that are none, because nothing can ever depend on which of the candidates is picked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from engine.ptcg.actions import NOWHERE, OPPONENT, ActionKind, PtcgAction
from engine.ptcg.card import CARDS
from engine.ptcg.card_text import same_text
from engine.ptcg.observation import UNKNOWN, PtcgObservation
from engine.ptcg.state import Pokemon


def only_choice(observation: PtcgObservation, legal: Sequence[PtcgAction]) -> PtcgAction | None:
    """The first of ``legal`` where there is no other or all pick what cannot be told apart, else ``None``."""
    if len(legal) == 1:
        return legal[0]
    if observation.known.prompt is None or any(action.kind is not ActionKind.CHOOSE for action in legal):
        return None
    first = legal[0]
    return first if all(alike(observation, first, other) for other in legal[1:]) else None


def alike(observation: PtcgObservation, one: PtcgAction, other: PtcgAction) -> bool:
    """Whether two legal actions differ only in which of several indistinguishable things they are about."""
    if one is other:
        return True
    if one.kind is not other.kind or one.detail != other.detail:
        return False
    if (one.card == NOWHERE) != (other.card == NOWHERE):
        return False
    if one.card != NOWHERE and not same_text(CARDS[one.card], CARDS[other.card]):
        return False
    if one.place == other.place:
        return True
    first, second = _at(observation, one.place), _at(observation, other.place)
    if first is None or second is None or one.place // OPPONENT != other.place // OPPONENT:
        return False
    if _is_meant_by_an_effect(observation, first) or _is_meant_by_an_effect(observation, second):
        return False
    return _looks(observation, first) == _looks(observation, second)


def _at(observation: PtcgObservation, place: int) -> Pokemon | None:
    """The Benched Pokémon at ``place``; the Active Spot and the Stadium are like no other place."""
    player = observation.opponent if place >= OPPONENT else observation.you
    number = place % OPPONENT
    return player.bench[number - 1] if place >= 0 and 1 <= number <= len(player.bench) else None


def _is_meant_by_an_effect(observation: PtcgObservation, pokemon: Pokemon) -> bool:
    """Whether an effect that is going on may have singled this Pokémon out."""
    return any(
        frame.uid == pokemon.uid or pokemon.uid in frame.picks or pokemon.uid in frame.memo
        for frame in observation.known.stack
    )


def _looks(observation: PtcgObservation, pokemon: Pokemon) -> tuple[Any, ...]:
    turn = observation.known.turn
    return (
        [_printing(card) for card in pokemon.cards],
        sorted(_printing(card) for card in pokemon.energy),
        sorted(_printing(card) for card in pokemon.tools),
        pokemon.damage,
        pokemon.conditions,
        pokemon.ability_used,
        pokemon.effects,
        pokemon.entered_turn == turn,
        pokemon.evolved_turn == turn,
    )


@cache
def _printing(card: int) -> int:
    """The first card that says the same: copies of one printing and printings alike in everything but the id."""
    if card == UNKNOWN:
        return card
    return next(other.index for other in CARDS if same_text(CARDS[card], other))
