"""What things cost, provide, weigh and allow: each computed here, and only here, from what is in play.

A card contributes through its hooks. Which hook is asked for, how it is called, and who contributes it:

- ``hp(state, holder)``: HP more; Tools attached to the holder.
- ``retreat(state, holder)``: Colorless fewer; Tools attached to the holder.
- ``attack_cost(state, seat, holder)``: Colorless fewer; Abilities of the attacker.
- ``damage_done(state, blow, holder)``: damage more; what is attached to the attacker, Abilities of its side.
- ``damage_taken(state, blow, holder)``: damage more; what is attached to the target. ``damage_taken_once`` is the same
  but counts once however many copies of the card are attached.
- ``prevent_damage(state, blow, seat, holder)``: bool; Abilities of the target's side.
- ``prevent_effects(state, blow, seat, holder)``: bool; Abilities of the target, what is attached to it.
- ``prevent_counters(state, blow, seat, holder)``: bool; Abilities of the target's side.
- ``no_abilities(state, owner, seat, pokemon, name)``: bool; the Stadium, Abilities of the other side's Active Pokémon.
- ``bench_limit(state)``: Pokémon; the Stadium.
- ``weakness(state, pokemon)``: a type letter or ""; Abilities of the side opposite the Pokémon.
- ``extra_prizes(state, holder)``: Prizes more; Tools attached to the Pokémon Knocked Out by damage from an attack.
- ``immunity(state, holder)``: a mask of Special Conditions; what is attached to the Pokémon.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.ptcg.card import CARDS, Attack
from engine.ptcg.state import Pokemon, State

BENCH_LIMIT = 5
# Kinds of effects on a Pokémon …
CANNOT_ATTACK = "cannot attack"
CANNOT_USE_ATTACK = "cannot use attack"
NO_DAMAGE_OR_EFFECTS = "no damage or effects"
"""Damage from and effects of attacks do not reach it."""
TWO_SLEEP_COINS = "two coins to wake up"
# … and on a player.
NO_ITEMS = "no Items from hand"


class Blow(NamedTuple):
    """An attack reaching a Pokémon: who attacks from which side, and the target with its side."""

    seat: int
    attacker: Pokemon
    target_seat: int
    target: Pokemon


def ability_works(state: State, seat: int, pokemon: Pokemon, name: str) -> bool:
    """Whether ``pokemon`` of ``seat`` has its Ability called ``name`` now."""
    if state.stadium >= 0:
        hook = CARDS[state.stadium].hooks.get("no_abilities")
        if hook is not None and hook(state, state.stadium_owner, seat, pokemon, name):
            return False
    opposite = state.players[1 - seat].active
    if opposite is not None:
        for ability in CARDS[opposite.cards[-1]].passive:
            hook = ability.hooks.get("no_abilities")
            if (
                hook is not None
                and hook(state, 1 - seat, seat, pokemon, name)
                and ability_works(state, 1 - seat, opposite, ability.name)
            ):
                return False
    return True


def has_ability(state: State, seat: int, pokemon: Pokemon) -> bool:
    """Whether ``pokemon`` has any Ability now (VSTAR Powers printed as Abilities count)."""
    return any(ability_works(state, seat, pokemon, a.name) for a in CARDS[pokemon.cards[-1]].abilities)


def max_hp(state: State, pokemon: Pokemon) -> int:
    """HP of ``pokemon`` without damage."""
    hp: int = CARDS[pokemon.cards[-1]].hp
    for card in pokemon.tools:
        hook = CARDS[card].hooks.get("hp")
        if hook is not None:
            hp += hook(state, pokemon)
    return hp


def remaining_hp(state: State, pokemon: Pokemon) -> int:
    """HP left; 0 or less means Knocked Out."""
    return max_hp(state, pokemon) - 10 * pokemon.damage


def provided(pokemon: Pokemon) -> str:
    """The Energy that all cards attached to ``pokemon`` provide, a type letter each."""
    return "".join([CARDS[card].provides for card in pokemon.energy])


def can_pay(state: State, seat: int, pokemon: Pokemon, attack: Attack, energy: str) -> bool:
    """Whether ``energy`` (type letters) satisfies what ``attack`` costs ``pokemon`` now."""
    for letter, count in attack.colored:
        if energy.count(letter) < count:
            return False
    cost = len(attack.cost)
    if len(energy) >= cost:
        return True
    return len(energy) >= cost - colorless_reduction(state, seat, pokemon, attack)


def colorless_reduction(state: State, seat: int, pokemon: Pokemon, attack: Attack) -> int:
    """How many Colorless fewer ``attack`` costs; never more than it has."""
    fewer = 0
    for ability in CARDS[pokemon.cards[-1]].passive:
        hook = ability.hooks.get("attack_cost")
        if hook is not None and ability_works(state, seat, pokemon, ability.name):
            fewer += hook(state, seat, pokemon)
    return min(fewer, attack.cost.count("C"))


def retreat_cost(state: State, pokemon: Pokemon) -> int:
    """How much Energy has to be discarded to retreat."""
    cost: int = CARDS[pokemon.cards[-1]].retreat
    for card in pokemon.tools:
        hook = CARDS[card].hooks.get("retreat")
        if hook is not None:
            cost -= hook(state, pokemon)
    return max(cost, 0)


def bench_limit(state: State) -> int:
    """How many Benched Pokémon a player may have."""
    if state.stadium >= 0:
        hook = CARDS[state.stadium].hooks.get("bench_limit")
        if hook is not None:
            limit: int = hook(state)
            return limit
    return BENCH_LIMIT


def bench_space(state: State, seat: int) -> int:
    """How many Pokémon more fit on the Bench of ``seat``."""
    return max(bench_limit(state) - len(state.players[seat].bench), 0)


def weakness(state: State, seat: int, pokemon: Pokemon) -> str:
    """The type letter of the Weakness of ``pokemon`` of ``seat``, or an empty string."""
    for other in state.players[1 - seat].in_play():
        for ability in CARDS[other.cards[-1]].passive:
            hook = ability.hooks.get("weakness")
            if hook is not None and ability_works(state, 1 - seat, other, ability.name):
                changed: str = hook(state, pokemon)
                if changed:
                    return changed
    printed: str = CARDS[pokemon.cards[-1]].weakness
    return printed


def immunity(state: State, pokemon: Pokemon) -> int:
    """The Special Conditions that cannot affect ``pokemon``, as a mask."""
    mask = 0
    for card in (*pokemon.energy, *pokemon.tools):
        hook = CARDS[card].hooks.get("immunity")
        if hook is not None:
            mask |= hook(state, pokemon)
    return mask


def _guarded(pokemon: Pokemon, turn: int) -> bool:
    return any(kind == NO_DAMAGE_OR_EFFECTS and when == turn for kind, when, _ in pokemon.effects)


def _side_prevents(state: State, hook_name: str, blow: Blow, seat: int, holders: list[Pokemon]) -> bool:
    for holder in holders:
        for ability in CARDS[holder.cards[-1]].passive:
            hook = ability.hooks.get(hook_name)
            if (
                hook is not None
                and hook(state, blow, seat, holder)
                and ability_works(state, seat, holder, ability.name)
            ):
                return True
    return False


def damage_prevented(state: State, blow: Blow) -> bool:
    """Whether the damage of ``blow`` is prevented as a whole."""
    target = blow.target
    player = state.players[blow.target_seat]
    benched = player.active is not target
    # Tera rule: no damage from attacks, both players', as long as it is on the Bench.
    if benched and "Tera" in CARDS[target.cards[-1]].tags:
        return True
    if blow.seat != blow.target_seat and _guarded(target, state.turn):
        return True
    return _side_prevents(state, "prevent_damage", blow, blow.target_seat, player.in_play())


def effects_prevented(state: State, blow: Blow) -> bool:
    """Whether effects (not damage) of the attack of an opponent's Pokémon do not reach the target."""
    if blow.seat == blow.target_seat:
        return False
    target = blow.target
    if _guarded(target, state.turn):
        return True
    for card in (*target.energy, *target.tools):
        hook = CARDS[card].hooks.get("prevent_effects")
        if hook is not None and hook(state, blow, blow.target_seat, target):
            return True
    return _side_prevents(state, "prevent_effects", blow, blow.target_seat, [target])


def counters_prevented(state: State, blow: Blow) -> bool:
    """Whether damage counters placed by an effect of the attack do not reach the target."""
    if effects_prevented(state, blow):
        return True
    holders = state.players[blow.target_seat].in_play()
    return _side_prevents(state, "prevent_counters", blow, blow.target_seat, holders)


def damage_dealt(state: State, blow: Blow, base: int) -> int:
    """What an attack of ``base`` damage does to the target.

    Base damage, effects on the attacker, Weakness, Resistance, effects on the target, in this order; no Weakness and
    Resistance on the Bench; never below 0. An attack that does no damage to begin with gets none from modifiers.
    """
    if base <= 0:
        return 0
    attacker, target = blow.attacker, blow.target
    amount = base
    if blow.seat != blow.target_seat:
        for card in (*attacker.tools, *attacker.energy):
            hook = CARDS[card].hooks.get("damage_done")
            if hook is not None:
                amount += hook(state, blow, attacker)
        for holder in state.players[blow.seat].in_play():
            for ability in CARDS[holder.cards[-1]].passive:
                hook = ability.hooks.get("damage_done")
                if hook is not None and ability_works(state, blow.seat, holder, ability.name):
                    amount += hook(state, blow, holder)
    if amount <= 0:
        return 0
    if target is state.players[blow.target_seat].active:
        types = CARDS[attacker.cards[-1]].types
        weak = weakness(state, blow.target_seat, target)
        if weak and weak in types:
            amount *= 2
        resistance = CARDS[target.cards[-1]].resistance
        if resistance and resistance in types:
            amount -= 30
    once: set[int] = set()
    for card in (*target.tools, *target.energy):
        hooks = CARDS[card].hooks
        if not hooks:
            continue
        hook = hooks.get("damage_taken")
        if hook is not None:
            amount += hook(state, blow, target)
        hook = hooks.get("damage_taken_once")
        if hook is not None and card not in once:
            once.add(card)
            amount += hook(state, blow, target)
    if amount <= 0 or damage_prevented(state, blow):
        return 0
    return amount


def prizes_for(state: State, pokemon: Pokemon, by_attack_damage: bool) -> int:
    """How many Prize cards the opponent takes for ``pokemon`` being Knocked Out."""
    prizes: int = CARDS[pokemon.cards[-1]].prizes
    if by_attack_damage:
        prizes += state.bonus_prizes
        for card in pokemon.tools:
            hook = CARDS[card].hooks.get("extra_prizes")
            if hook is not None:
                prizes += hook(state, pokemon)
    return prizes
