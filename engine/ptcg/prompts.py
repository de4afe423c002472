"""Asking a player: each function sets the prompt of the state, whose picks the frame then has.

Where there is nothing to choose from, nobody is asked and the frame has no picks.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.ptcg.card import CARDS
from engine.ptcg.state import (
    ATTACHED_KIND,
    CARDS_KIND,
    NUMBER_KIND,
    OPTION_KIND,
    POKEMON_KIND,
    YES_NO_KIND,
    Frame,
    Pokemon,
    Prompt,
    State,
)


def ask_cards(
    state: State, frame: Frame, seat: int, cards: Iterable[int], question: str, least: int, most: int
) -> None:
    """Let ``seat`` choose between ``least`` and ``most`` of ``cards`` (numbers, copies repeated)."""
    pool = list(cards)
    most = min(most, len(pool))
    least = min(least, most)
    if most <= 0:
        frame.picks = ()
        return
    items = tuple(sorted(set(pool)))
    counts = tuple([pool.count(card) for card in items])
    state.prompt = Prompt(seat, CARDS_KIND, frame.card, question, items, counts, least, most)


def ask_pokemon(
    state: State,
    frame: Frame,
    seat: int,
    pokemon: Iterable[Pokemon],
    question: str,
    least: int = 1,
    most: int = 1,
    each: int = 1,
) -> None:
    """Let ``seat`` choose Pokémon in play, each up to ``each`` times; the picks are their uids."""
    items = tuple([p.uid for p in pokemon])
    most = min(most, each * len(items))
    least = min(least, most)
    if most <= 0:
        frame.picks = ()
        return
    state.prompt = Prompt(seat, POKEMON_KIND, frame.card, question, items, (each,) * len(items), least, most)


def ask_new_active(state: State, frame: Frame, seat: int) -> None:
    """Let ``seat`` choose its new Active Pokémon where it has none."""
    player = state.players[seat]
    bench = player.bench if player.active is None else []
    ask_pokemon(state, frame, seat, bench, "Choose your new Active Pokémon")


def ask_attached(
    state: State,
    frame: Frame,
    seat: int,
    attached: Iterable[tuple[int, int]],
    question: str,
    least: int,
    most: int,
) -> None:
    """Let ``seat`` choose attached cards, given as (uid of the Pokémon, or 0 for the Stadium; card)."""
    pool = list(attached)
    most = min(most, len(pool))
    least = min(least, most)
    if most <= 0:
        frame.picks = ()
        return
    items = tuple(dict.fromkeys(pool))
    counts = tuple([pool.count(item) for item in items])
    state.prompt = Prompt(seat, ATTACHED_KIND, frame.card, question, items, counts, least, most)


def ask_payment(state: State, frame: Frame, pokemon: Pokemon, question: str, cost: int) -> None:
    """Let the frame's player choose Energy attached to ``pokemon`` that provides ``cost`` (which it must have).

    Any cards do that are no more than ``cost`` and provide no less: one or two that provide two Energy each for two.
    Source: TPCi Rules Team, 2025-03-27, on Double Turbo Energy.
    """
    if cost <= 0:
        frame.picks = ()
        return
    energy = sorted(pokemon.energy, key=lambda card: (len(CARDS[card].provides), card))
    cards = tuple(dict.fromkeys(energy))
    items = tuple([(pokemon.uid, card) for card in cards])
    counts = tuple([energy.count(card) for card in cards])
    most = min(cost, len(energy))
    state.prompt = Prompt(frame.seat, ATTACHED_KIND, frame.card, question, items, counts, 1, most, cost)


def ask_number(state: State, frame: Frame, seat: int, question: str, lowest: int, highest: int) -> None:
    """Let ``seat`` choose a number."""
    numbers = tuple(range(lowest, highest + 1))
    state.prompt = Prompt(seat, NUMBER_KIND, frame.card, question, numbers, (1,) * len(numbers), 1, 1)


def ask_option(state: State, frame: Frame, seat: int, question: str, options: tuple[str, ...]) -> None:
    """Let ``seat`` choose one of several texts; the pick is the text."""
    state.prompt = Prompt(seat, OPTION_KIND, frame.card, question, options, (1,) * len(options), 1, 1)


def ask_yes_no(state: State, frame: Frame, seat: int, question: str) -> None:
    """Let ``seat`` answer yes or no; the pick is the text."""
    state.prompt = Prompt(seat, YES_NO_KIND, frame.card, question, ("yes", "no"), (1, 1), 1, 1)
