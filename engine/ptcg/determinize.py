"""Draw a full match from what a seat knows: the worlds that a search agent plays out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from random import Random

from engine.ptcg.card import CARDS
from engine.ptcg.game import PtcgMatch
from engine.ptcg.library import card_index
from engine.ptcg.observation import UNKNOWN, PtcgObservation
from engine.ptcg.state import Player


def determinize(observation: PtcgObservation, rng: Random, opponent_deck: Mapping[str, int] | None = None) -> PtcgMatch:
    """A match in which everything the observer knows holds and everything else is drawn at random.

    ``opponent_deck`` is the opponent's list as card id to count, where it is known or assumed; without one the
    observer's own list is assumed, as in a mirror match. Where the list and what was seen disagree, what was seen
    counts, and the list gives way. The observer must be the one to act. Raises ``ValueError`` otherwise.
    """
    state = observation.known.clone()
    seat = observation.seat
    if state.result is not None or (state.to_move if state.prompt is None else state.prompt.seat) != seat:
        raise ValueError("only a seat that is to act can play its observation out")
    own = state.deck_lists[seat]
    if opponent_deck is None:
        theirs = own
    else:
        theirs = tuple(sorted([card_index(card) for card, count in opponent_deck.items() for _ in range(count)]))
    state.deck_lists = (own, theirs) if seat == 0 else (theirs, own)
    state.seed = rng.getrandbits(63)
    for side, deck_list in ((seat, own), (1 - seat, theirs)):
        in_the_open = [state.stadium] if state.stadium >= 0 and state.stadium_owner == side else []
        _deal(state.players[side], deck_list, in_the_open, rng, owner=side == seat)
    return PtcgMatch(state)


def _deal(player: Player, deck_list: tuple[int, ...], in_the_open: list[int], rng: Random, owner: bool) -> None:
    """Fill in every unknown card of one side from what is left of its list."""
    pool = Counter(deck_list)
    known = [*in_the_open, *player.hand, *player.discard, *player.lost, *player.playing, *player.prizes, *player.deck]
    for pokemon in player.in_play():
        known += [*pokemon.cards, *pokemon.energy, *pokemon.tools]
    pool.subtract(card for card in known if card != UNKNOWN)
    bottom = [(size, list(mine if owner else others)) for size, mine, others in player.bottom]
    for _, cards in bottom:
        pool.subtract(cards)
    rest = sorted((+pool).elements())
    rng.shuffle(rest)
    in_play = [pokemon for pokemon in player.in_play() if pokemon.cards == [UNKNOWN]]
    missing = sum(size - len(cards) for size, cards in bottom) + known.count(UNKNOWN) - sum(size for size, _ in bottom)
    while len(rest) < missing:
        # More was seen than the assumed list holds: repeat cards of the list.
        rest.append(deck_list[rng.randrange(len(deck_list))])
    for pokemon in in_play:
        # Face down in set-up: it is a Basic Pokémon for certain.
        basics = [i for i, card in enumerate(rest) if CARDS[card].is_basic]
        pokemon.cards = [rest.pop(basics[0])] if basics else [next(c for c in deck_list if CARDS[c].is_basic)]
    player.hand = _fill(player.hand, rest)
    player.prizes = _fill(player.prizes, rest)
    rng.shuffle(player.prizes)
    place = 0
    for size, cards in bottom:
        block = cards + [rest.pop() for _ in range(size - len(cards))]
        rng.shuffle(block)
        player.deck[place : place + size] = block
        place += size
    player.deck = _fill(player.deck, rest)


def _fill(cards: Iterable[int], rest: list[int]) -> list[int]:
    return [rest.pop() if card == UNKNOWN else card for card in cards]
