"""How good a position of the Pokémon TCG is for a seat: a cheap estimate for rollouts that are cut short."""

from __future__ import annotations

from math import tanh

from agents.heuristic.texts import burns_hand, potential
from engine.match import Outcome, Result
from engine.ptcg import modifiers
from engine.ptcg.card import CARDS
from engine.ptcg.state import Player, Pokemon, State

# In units of one Prize card.
NO_BENCH = -1.0  # one Knock Out from losing
POKEMON_IN_PLAY = 0.12
STAGE = 0.25  # for each step of evolution
ENERGY = 0.22  # for each Energy that an attack of the Pokémon can use
READY = 0.5  # the Active Pokémon can pay for an attack, by its damage per 100 HP
BENCH_READY = 0.25  # the same for the best Benched Pokémon
DAMAGE = 0.6  # Prizes that the damaged Pokémon gives up, by the part of its HP that is gone
CARD_IN_HAND = 0.05
HAND_CAP = 9
DECK_LOW = 0.15  # for each card under DECK_SAFE: drawing on would lose the game
DECK_SAFE = 6
ABLE_ABILITY = 0.2
MOST_FUEL = 6
"""Energy cards in hand that count for an attack that discards them for damage."""
SCALE = 3.0
"""The advantage, in Prizes, that is worth about three quarters of a win."""


def evaluate(state: State, seat: int) -> float:
    """Estimated value for ``seat``, from −1 (lost) to 1 (won)."""
    if state.result is not None:
        return result_value(state.result, seat)
    mine, theirs = state.players[seat], state.players[1 - seat]
    advantage = len(theirs.prizes) - len(mine.prizes) + _side(state, seat, mine) - _side(state, 1 - seat, theirs)
    return 0.95 * tanh(advantage / SCALE)


def result_value(result: Result, seat: int) -> float:
    """1 for a win of ``seat``, −1 for a loss, 0 for anything else."""
    if result.outcome is not Outcome.WIN:
        return 0.0
    return 1.0 if result.winner == seat else -1.0


def _side(state: State, seat: int, player: Player) -> float:
    value = CARD_IN_HAND * min(len(player.hand), HAND_CAP)
    if not player.bench:
        value += NO_BENCH
    if len(player.deck) < DECK_SAFE:
        value -= DECK_LOW * (DECK_SAFE - len(player.deck))
    best_ready = 0.0
    for pokemon in player.in_play():
        card = CARDS[pokemon.cards[-1]]
        value += POKEMON_IN_PLAY + STAGE * (len(pokemon.cards) - 1)
        if card.activated or card.passive:
            value += ABLE_ABILITY
        ready, useful = _readiness(player, pokemon)
        value += ENERGY * useful
        if pokemon.damage:
            value -= DAMAGE * card.prizes * min(10 * pokemon.damage / modifiers.max_hp(state, pokemon), 1.0)
        if pokemon is player.active:
            value += READY * ready
        elif ready > best_ready:
            best_ready = ready
    return value + BENCH_READY * best_ready


def _readiness(player: Player, pokemon: Pokemon) -> tuple[float, int]:
    """Damage per 100 HP of the best attack that is paid for, and how many Energy the costliest attack can use."""
    energy = modifiers.provided(pokemon)
    top = pokemon.cards[-1]
    ready = 0.0
    useful = 0
    for attack in CARDS[top].attacks:
        cost = attack.cost
        missing = 0
        for letter, count in attack.colored:
            missing += max(count - energy.count(letter), 0)
        colored = sum([count for _, count in attack.colored]) - missing
        spare = len(energy) - colored
        used = colored + min(spare, cost.count("C"))
        useful = max(useful, used)
        if used == len(cost):
            damage = potential(attack)
            if burns_hand(top) and attack.damage.endswith("×"):
                fuel = sum([CARDS[card].is_basic_energy for card in player.hand])
                damage = attack.estimate * min(fuel, MOST_FUEL)
            ready = max(ready, damage / 100)
    return ready, useful
