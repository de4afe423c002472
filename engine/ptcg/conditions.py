"""What card effects ask of cards and of the state: which cards count, whether something can be done, and how much.

"You" is the player whose effect it is.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.ptcg import modifiers
from engine.ptcg.card import CARDS, Card, Kind
from engine.ptcg.state import Frame, Pokemon, State

CardTest = Callable[[Card], bool]
PokemonTest = Callable[[State, int, Pokemon], bool]
Amount = int | Callable[[State, Frame], int]


def amount_of(amount: Amount, state: State, frame: Frame) -> int:
    """The number that ``amount`` is now."""
    return amount if isinstance(amount, int) else amount(state, frame)


# --- which cards -----------------------------------------------------------------------------------------------------


def any_card(card: Card) -> bool:
    """Every card."""
    return True


def a_pokemon(card: Card) -> bool:
    """A Pokémon card."""
    return card.is_pokemon


def basic_pokemon(card: Card) -> bool:
    """A Basic Pokémon."""
    return card.is_basic


def evolution_pokemon(card: Card) -> bool:
    """A Pokémon card that evolves from another."""
    return card.is_pokemon and not card.is_basic


def pokemon_or_basic_energy(card: Card) -> bool:
    """A Pokémon card or a Basic Energy."""
    return card.is_pokemon or card.is_basic_energy


def of_kind(kind: Kind) -> CardTest:
    """Cards of one kind."""
    return lambda card: card.kind == kind


def an_energy(card: Card) -> bool:
    """A Basic or Special Energy card."""
    return card.is_energy


def basic_energy(letter: str = "") -> CardTest:
    """Basic Energy, of one type where a letter is given."""
    return lambda card: card.is_basic_energy and (not letter or card.provides == letter)


def basic_of_type(letter: str) -> CardTest:
    """Basic Pokémon of one type."""
    return lambda card: card.is_basic and letter in card.types


# --- when a card can be played ---------------------------------------------------------------------------------------


def all_of(*conditions: Callable[[State, int], bool]) -> Callable[[State, int], bool]:
    """Every condition holds."""
    return lambda state, seat: all(condition(state, seat) for condition in conditions)


def for_ability(condition: Callable[[State, int], bool]) -> PokemonTest:
    """The same condition for an Ability, whichever Pokémon has it."""
    return lambda state, seat, holder: condition(state, seat)


def deck_left(state: State, seat: int) -> bool:
    """Your deck has a card."""
    return bool(state.players[seat].deck)


def other_cards(count: int) -> Callable[[State, int], bool]:
    """Your hand has ``count`` cards besides the one to be played."""
    return lambda state, seat: len(state.players[seat].hand) > count


def room_on_bench(state: State, seat: int) -> bool:
    """One more Pokémon fits on your Bench."""
    return modifiers.bench_space(state, seat) > 0


def opponent_has_bench(state: State, seat: int) -> bool:
    """Your opponent has a Benched Pokémon."""
    return bool(state.players[1 - seat].bench)


def in_discard(wanted: CardTest) -> Callable[[State, int], bool]:
    """Your discard pile has such a card."""
    return lambda state, seat: any(wanted(CARDS[card]) for card in state.players[seat].discard)


def more_prizes_left(state: State, seat: int) -> bool:
    """You have more Prize cards remaining than your opponent."""
    return len(state.players[seat].prizes) > len(state.players[1 - seat].prizes)


def is_benched(state: State, seat: int, pokemon: Pokemon) -> bool:
    """This Pokémon of ``seat`` is on the Bench."""
    return state.players[seat].active is not pokemon


def knocked_out_last_turn(state: State, seat: int) -> bool:
    """A Pokémon of yours was Knocked Out during your opponent's last turn."""
    return state.turn > 1 and state.players[seat].knocked_out_turn == state.turn - 1


# --- amounts ---------------------------------------------------------------------------------------------------------


def prizes_taken_by_opponent(state: State, frame: Frame) -> int:
    """How many Prize cards your opponent has taken."""
    return state.prize_count - len(state.players[1 - frame.seat].prizes)


def space(most: int) -> Callable[[State, Frame], int]:
    """Up to ``most``, as many as fit on your Bench."""
    return lambda state, frame: min(most, modifiers.bench_space(state, frame.seat))


def counters_on_this(state: State, frame: Frame) -> int:
    """How many damage counters are on this Pokémon."""
    this = state.find(frame.uid)
    return 0 if this is None else this.damage


def benched_on_both_sides(state: State, frame: Frame) -> int:
    """All Benched Pokémon, yours and your opponent's."""
    return len(state.players[0].bench) + len(state.players[1].bench)
