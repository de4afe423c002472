"""What an attack would do: the numbers behind the points of attacking, retreating, promoting and switching in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agents.heuristic.texts import potential
from agents.heuristic.weights import Weights
from engine.ptcg import modifiers, moves, rules
from engine.ptcg.actions import DONE, OPPONENT, PtcgAction
from engine.ptcg.card import CARDS, Attack, Card
from engine.ptcg.game import PtcgMatch
from engine.ptcg.observation import UNKNOWN, PtcgObservation
from engine.ptcg.randomness import COINS
from engine.ptcg.state import CONFUSED, POKEMON_KIND, Player, Pokemon, State

_CHOICES = 24
"""Choices made while an attack is tried out; no effect known asks for as many."""
_COIN_TRIALS = 4
"""How often an attack that flips coins is tried out."""
_OWN_GAINS = 4
"""Cards, Energy and Pokémon that an attack brings count up to so many."""
_MEMORY = 2048
"""How many outcomes are remembered before the memory is cleared."""


class Outcome(NamedTuple):
    """What an attack does, on average where coins decide.

    ``share`` is the share of the remaining HP of the opponent's Active Pokémon (0 to 1), ``elsewhere`` the damage to
    its other Pokémon, ``knock_out`` the chance of a Knock Out (0 to 1), ``prizes`` the Prizes taken, ``win`` and
    ``lose`` the chance that the opponent, or the player, has no Pokémon left; ``gains`` and ``spent`` count what it
    brings and costs.
    """

    share: float = 0.0
    elsewhere: float = 0.0
    knock_out: float = 0.0
    prizes: float = 0.0
    win: float = 0.0
    lose: float = 0.0
    gains: float = 0.0
    spent: float = 0.0


NOTHING = Outcome()


class Foresight:
    """Finds outcomes of attacks from an observation, and remembers those of earlier decisions."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._memory: dict[tuple[object, ...], Outcome] = {}

    def points(
        self, observation: PtcgObservation, attacker: Pokemon, card: Card, attack: Attack, target: Pokemon | None = None
    ) -> float:
        """Points of using ``attack`` (printed on ``card``) of an own Pokémon, as if it were Active.

        ``target`` is the opponent's Pokémon to be imagined in the Active Spot, by default the one that is there.
        """
        w = self._weights
        outcome = self.outcome(observation, attacker, card, attack, target)
        you = observation.you
        if outcome.win >= 1.0 or (outcome.prizes and outcome.prizes >= len(you.prizes)):
            return w.win - w.spent * outcome.spent
        points = w.attack_without_damage + w.gain * min(outcome.gains, _OWN_GAINS) - w.spent * outcome.spent
        if outcome.share > 0.0 or outcome.elsewhere > 0.0:
            points += w.attack - w.attack_without_damage
            points += w.damage * outcome.share * (1.0 - outcome.knock_out) + w.bench_damage * outcome.elsewhere / 100.0
            points += (w.knock_out - w.attack) * outcome.knock_out + w.prize * outcome.prizes
        if attacker.conditions & CONFUSED:
            points += w.confused
        return points + w.lose * outcome.lose + w.win * outcome.win

    def outcome(
        self, observation: PtcgObservation, attacker: Pokemon, card: Card, attack: Attack, target: Pokemon | None = None
    ) -> Outcome:
        """What ``attack`` would do; see :meth:`points` for the arguments."""
        state, seat = observation.known, observation.seat
        opponent = observation.opponent
        if target is None:
            target = opponent.active
        if target is None:
            # Between a Knock Out and the promotion after it: what is printed is all there is to go by.
            return Outcome(share=min(potential(attack) / 200.0, 1.0))
        if not attack.text and attack.damage.isdecimal():
            return _plain(state, seat, attacker, attack, target)
        key = _situation(state, seat, attacker, card, attack, target)
        found = self._memory.get(key)
        if found is None:
            if len(self._memory) >= _MEMORY:
                self._memory.clear()
            found = self._memory[key] = _tried(observation, attacker, card, attack, target)
        return found


def _plain(state: State, seat: int, attacker: Pokemon, attack: Attack, target: Pokemon) -> Outcome:
    """An attack that does what is printed and nothing else."""
    opponent = state.players[1 - seat]
    benched = opponent.active is not target
    if benched:
        state = state.clone()
        moves.switch(state, 1 - seat, target.uid)
        found = state.find(target.uid)
        assert found is not None
        target = found
    damage = modifiers.damage_dealt(state, modifiers.Blow(seat, attacker, 1 - seat, target), int(attack.damage))
    if damage <= 0:
        return NOTHING
    left = modifiers.remaining_hp(state, target)
    if damage < left:
        return Outcome(share=damage / left)
    prizes = modifiers.prizes_for(state, target, True)
    return Outcome(1.0, 0.0, 1.0, prizes, 0.0 if opponent.bench else 1.0)


def _situation(
    state: State, seat: int, attacker: Pokemon, card: Card, attack: Attack, target: Pokemon
) -> tuple[object, ...]:
    """What the outcome depends on: who fights whom, and what the text of the attack speaks of.

    Equal situations are taken to have equal outcomes.
    """
    you, opponent = state.players[seat], state.players[1 - seat]
    text = attack.text
    return (
        card.index,
        attack.name,
        attacker.uid,
        attacker.cards[-1],
        attacker.damage,
        tuple(attacker.energy),
        tuple(attacker.tools),
        target.uid,
        target.cards[-1],
        target.damage,
        tuple(target.tools),
        tuple(target.energy),
        state.stadium,
        you.knocked_out_turn == state.turn - 1,
        len(you.prizes),
        len(opponent.prizes),
        tuple([(p.cards[-1], p.damage) for p in opponent.bench]) if "opponent" in text else bool(opponent.bench),
        sum([len(p.energy) for p in you.bench]) if "Energy" in text else 0,
        _hand_read(you.hand, text),
        len(you.discard) if "discard pile" in text else 0,
        len(you.bench) if "Bench" in text or not you.bench else 1,
    )


def _hand_read(hand: Sequence[int], text: str) -> object:
    """What of a hand an attack that says ``text`` may depend on; of one that speaks of Energy, that and the size."""
    if "hand" not in text:
        return None
    read = [card for card in hand if card == UNKNOWN or CARDS[card].is_energy] if "Energy" in text else list(hand)
    read.sort()
    return len(hand), tuple(read)


def _tried(observation: PtcgObservation, attacker: Pokemon, card: Card, attack: Attack, target: Pokemon) -> Outcome:
    first, coins = _try_out(observation, attacker, card, attack, target, 0)
    if not coins:
        return first
    trials = [first]
    trials += [_try_out(observation, attacker, card, attack, target, seed)[0] for seed in range(1, _COIN_TRIALS)]
    return Outcome(*[sum(column) / len(trials) for column in zip(*trials, strict=True)])


def _try_out(
    observation: PtcgObservation, attacker: Pokemon, card: Card, attack: Attack, target: Pokemon, seed: int
) -> tuple[Outcome, bool]:
    """Carry the attack out on a copy in which a known card stands for every unknown one; whether coins were flipped.

    Choices on the way are made simply: as much as is allowed, the first that is offered, the weakest opponent.
    """
    seat = observation.seat
    state = observation.known.clone()
    state.seed = seed
    state.stack = []
    state.prompt = None
    state.attack_knock_outs = ()
    state.bonus_prizes = 0
    stand_in = attacker.cards[0]
    for player in state.players:
        _fill(player, stand_in)
    you, opponent = state.players[seat], state.players[1 - seat]
    moves.switch(state, seat, attacker.uid)
    moves.switch(state, 1 - seat, target.uid)
    before = {pokemon.uid: modifiers.remaining_hp(state, pokemon) for pokemon in opponent.in_play()}
    own_damage = sum([pokemon.damage for pokemon in you.in_play()])
    own_energy = sum([len(pokemon.energy) for pokemon in you.in_play()])
    held = len(you.hand) + len(you.bench)
    conditions = 0 if opponent.active is None else opponent.active.conditions
    moves.start(state, attack.program, seat, attacker.uid, card.index)
    rules.run(state)
    match = PtcgMatch(state)
    for _ in range(_CHOICES):
        if state.prompt is None:
            break
        chooser = state.prompt.seat
        legal = match.legal_actions(chooser)
        match.apply(chooser, legal[0] if len(legal) == 1 else _simple_choice(state, legal))
    after = opponent.in_play()
    share = elsewhere = knock_outs = prizes = 0.0
    for pokemon in after:
        left = modifiers.remaining_hp(state, pokemon)
        done = before.get(pokemon.uid, left) - left
        if left <= 0:
            knock_outs += 1
            prizes += modifiers.prizes_for(state, pokemon, pokemon.uid in state.attack_knock_outs)
        if pokemon.uid == target.uid:
            share = min(max(done, 0) / max(before[pokemon.uid], 1), 1.0)
        else:
            elsewhere += max(done, 0)
    new_energy = sum([len(pokemon.energy) for pokemon in you.in_play()]) - own_energy
    new_damage = sum([pokemon.damage for pokemon in you.in_play()]) - own_damage
    changed = opponent.active is not None and opponent.active.conditions != conditions
    gains = max(len(you.hand) + len(you.bench) - held, 0) + max(new_energy, 0) + changed
    spent = max(-new_energy, 0) + max(new_damage, 0) / 5.0
    lose = 1.0 if you.active is None and not you.bench else 0.0
    win = 1.0 if knock_outs >= len(after) else 0.0
    return Outcome(share, elsewhere, min(knock_outs, 1.0), prizes, win, lose, float(gains), spent), state.counters[
        COINS
    ] > 0


def _fill(player: Player, card: int) -> None:
    player.hand = [card if other == UNKNOWN else other for other in player.hand]
    player.deck = [card if other == UNKNOWN else other for other in player.deck]
    player.prizes = [card if other == UNKNOWN else other for other in player.prizes]


def _simple_choice(state: State, legal: tuple[PtcgAction, ...] | list[PtcgAction]) -> PtcgAction:
    prompt = state.prompt
    assert prompt is not None
    if prompt.kind == POKEMON_KIND and legal[0].place >= OPPONENT:
        bench = state.players[1 - prompt.seat].bench
        active = state.players[1 - prompt.seat].active

        def left(action: PtcgAction) -> int:
            if action is DONE:
                return 1 << 20
            pokemon = active if action.place == OPPONENT else bench[action.place - OPPONENT - 1]
            assert pokemon is not None
            return modifiers.remaining_hp(state, pokemon)

        return min(legal, key=left)
    attacks = {attack.name: attack for attack in _attacks_opposite(state, prompt.seat)}
    if legal[0].detail in attacks:
        return max(legal, key=lambda action: potential(attacks[action.detail]))
    return legal[0]


def _attacks_opposite(state: State, seat: int) -> tuple[Attack, ...]:
    active = state.players[1 - seat].active
    return () if active is None else CARDS[active.cards[-1]].attacks
