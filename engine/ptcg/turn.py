"""What a player may do between effects in their own turn, and how each of these begins."""

from __future__ import annotations

from engine.ptcg import modifiers, moves, rules, triggers
from engine.ptcg.actions import PASS, ActionKind, PtcgAction, action
from engine.ptcg.card import CARDS, Ability, Attack, Card, Kind, Limit, Trigger
from engine.ptcg.modifiers import CANNOT_ATTACK, CANNOT_USE_ATTACK, NO_ITEMS
from engine.ptcg.state import ASLEEP, PARALYZED, Player, Pokemon, State

_BENCH, _EVOLVE, _ATTACH, _PLAY = ActionKind.BENCH, ActionKind.EVOLVE, ActionKind.ATTACH, ActionKind.PLAY


def turn_actions(state: State) -> tuple[PtcgAction, ...]:
    """All legal actions of the player to move: cards from hand, Abilities, the Stadium, retreat, attacks, pass."""
    seat = state.to_move
    player = state.players[seat]
    found: list[PtcgAction] = []
    in_play = player.in_play()
    _hand_actions(state, seat, player, in_play, found)
    _ability_actions(state, seat, in_play, found)
    if state.stadium >= 0 and not player.stadium_effect_used:
        stadium = CARDS[state.stadium]
        if stadium.program is not None and (stadium.playable is None or stadium.playable(state, seat)):
            found.append(action(ActionKind.STADIUM, state.stadium))
    active = player.active
    if active is not None and not active.conditions & (ASLEEP | PARALYZED):
        energy = modifiers.provided(active)
        if player.bench and not player.retreat_used and len(energy) >= modifiers.retreat_cost(state, active):
            for place, benched in enumerate(player.bench, 1):
                found.append(action(ActionKind.RETREAT, -1, place, benched.cards[-1]))
        for card, attack in usable_attacks(state, seat, active, energy):
            found.append(action(ActionKind.ATTACK, card.index, detail=attack.name))
    found.append(PASS)
    return tuple(found)


def _hand_actions(state: State, seat: int, player: Player, in_play: list[Pokemon], found: list[PtcgAction]) -> None:
    turn = state.turn
    no_items = any(kind == NO_ITEMS and when == turn for kind, when, _ in player.effects) if player.effects else False
    room = modifiers.bench_space(state, seat)
    for index in sorted(set(player.hand)):
        card = CARDS[index]
        kind = card.kind
        if kind is Kind.POKEMON:
            if card.is_basic:
                if room:
                    found.append(action(_BENCH, index))
            elif turn > 2:
                evolves_from = card.evolves_from
                for place, pokemon in enumerate(in_play):
                    top = pokemon.cards[-1]
                    if CARDS[top].name == evolves_from and pokemon.entered_turn < turn and pokemon.evolved_turn < turn:
                        found.append(action(_EVOLVE, index, place, top))
        elif card.is_energy:
            if not player.energy_used:
                for place, pokemon in enumerate(in_play):
                    found.append(action(_ATTACH, index, place, pokemon.cards[-1]))
        elif kind is Kind.TOOL:
            for place, pokemon in enumerate(in_play):
                if not pokemon.tools:
                    found.append(action(_ATTACH, index, place, pokemon.cards[-1]))
        elif kind is Kind.ITEM:
            if not no_items and (card.playable is None or card.playable(state, seat)):
                found.append(action(_PLAY, index))
        elif kind is Kind.SUPPORTER:
            if not player.supporter_used and turn > 1 and (card.playable is None or card.playable(state, seat)):
                found.append(action(_PLAY, index))
        elif not player.stadium_used and (state.stadium < 0 or CARDS[state.stadium].name != card.name):
            found.append(action(_PLAY, index))


def _ability_actions(state: State, seat: int, in_play: list[Pokemon], found: list[PtcgAction]) -> None:
    for place, pokemon in enumerate(in_play):
        top = pokemon.cards[-1]
        for ability in CARDS[top].activated:
            if _usable(state, seat, pokemon, ability) and modifiers.ability_works(state, seat, pokemon, ability.name):
                found.append(action(ActionKind.ABILITY, top, place, detail=ability.name))
        for tool in pokemon.tools:
            for ability in CARDS[tool].activated:
                if _usable(state, seat, pokemon, ability):
                    found.append(action(ActionKind.ABILITY, tool, place, detail=ability.name))


def _usable(state: State, seat: int, pokemon: Pokemon, ability: Ability) -> bool:
    player = state.players[seat]
    limit = ability.limit
    if limit is Limit.VSTAR:
        if player.vstar_used:
            return False
    elif limit is not Limit.FREE:
        if pokemon.ability_used:
            return False
        if limit is Limit.ONCE_PER_NAME and ability.name in player.names_used:
            return False
    return ability.when is None or ability.when(state, seat, pokemon)


def usable_attacks(state: State, seat: int, active: Pokemon, energy: str) -> list[tuple[Card, Attack]]:
    """The attacks that ``active`` can use now with this Energy (type letters), each with the card it is printed on."""
    turn = state.turn
    effects = active.effects
    if effects and any(kind == CANNOT_ATTACK and when == turn for kind, when, _ in effects):
        return []
    found: list[tuple[Card, Attack]] = []
    for index in (active.cards[-1], *active.tools):
        card = CARDS[index]
        for attack in card.attacks:
            if turn == 1 and not attack.usable_on_first_turn:
                continue
            if effects and (CANNOT_USE_ATTACK, turn, attack.name) in effects:
                continue
            if modifiers.can_pay(state, seat, active, attack, energy):
                found.append((card, attack))
    return found


def begin(state: State, chosen: PtcgAction) -> None:
    """Carry out the first step of a legal action of the player to move; the rest is left on the stack."""
    seat = state.to_move
    player = state.players[seat]
    kind = chosen.kind
    if kind is _PLAY:
        _play(state, seat, player, CARDS[chosen.card])
    elif kind is _ATTACH:
        _attach(state, seat, player, _at(player, chosen.place), CARDS[chosen.card])
    elif kind is _BENCH:
        moves.remove_from_hand(state, seat, chosen.card)
        pokemon = moves.put_on_bench(state, seat, chosen.card, "hand")
        moves.start(state, rules.SETTLE, seat)
        triggers.offer(state, seat, pokemon, Trigger.PLAYED_TO_BENCH)
    elif kind is _EVOLVE:
        pokemon = _at(player, chosen.place)
        moves.remove_from_hand(state, seat, chosen.card)
        moves.evolve(state, seat, pokemon, chosen.card)
        moves.start(state, rules.SETTLE, seat)
        triggers.offer(state, seat, pokemon, Trigger.PLAYED_TO_EVOLVE)
    elif kind is ActionKind.ABILITY:
        _use_ability(state, seat, player, _at(player, chosen.place), chosen.card, chosen.detail)
    elif kind is ActionKind.STADIUM:
        player.stadium_effect_used = True
        state.log.append(("use_stadium", seat, chosen.card))
        moves.start(state, rules.SETTLE, seat)
        program = CARDS[chosen.card].program
        assert program is not None
        moves.start(state, program, seat, card=chosen.card)
    elif kind is ActionKind.RETREAT:
        player.retreat_used = True
        state.log.append(("retreat", seat))
        moves.start(state, rules.RETREAT, seat, memo=(_at(player, chosen.place).uid,))
    elif kind is ActionKind.ATTACK:
        _attack(state, seat, player, CARDS[chosen.card], chosen.detail)
    else:
        state.log.append(("pass", seat))
        moves.start(state, rules.END_TURN, seat)
    rules.run(state)


def _at(player: Player, place: int) -> Pokemon:
    pokemon = player.active if place == 0 else player.bench[place - 1]
    assert pokemon is not None
    return pokemon


def _play(state: State, seat: int, player: Player, card: Card) -> None:
    moves.remove_from_hand(state, seat, card.index)
    state.log.append(("play", seat, card.index))
    if card.kind is Kind.STADIUM:
        player.stadium_used = True
        moves.leave_stadium(state)
        state.stadium = card.index
        state.stadium_owner = seat
        # Each Stadium is its own to use once a turn, also where another one was used before.
        state.players[seat].stadium_effect_used = False
        moves.start(state, rules.SETTLE, seat)
        if card.on_enter is not None:
            moves.start(state, card.on_enter, seat, card=card.index)
        return
    if card.kind is Kind.SUPPORTER:
        player.supporter_used = True
    player.playing.append(card.index)
    moves.start(state, rules.TRAINER_DONE, seat, card=card.index)
    assert card.program is not None
    moves.start(state, card.program, seat, card=card.index)


def _attach(state: State, seat: int, player: Player, pokemon: Pokemon, card: Card) -> None:
    moves.remove_from_hand(state, seat, card.index)
    if card.is_energy:
        player.energy_used = True
    moves.attach(state, seat, pokemon, card.index, "hand")
    moves.start(state, rules.SETTLE, seat)
    if card.on_attach is not None:
        moves.start(state, card.on_attach, seat, pokemon.uid, card.index)


def _use_ability(state: State, seat: int, player: Player, pokemon: Pokemon, index: int, name: str) -> None:
    ability = next(a for a in CARDS[index].activated if a.name == name)
    if ability.limit is Limit.VSTAR:
        player.vstar_used = True
    elif ability.limit is not Limit.FREE:
        pokemon.ability_used = True
        if ability.limit is Limit.ONCE_PER_NAME:
            player.names_used = (*player.names_used, name)
    triggers.log_ability(state, seat, pokemon, index, ability)
    moves.start(state, rules.END_TURN if ability.ends_turn else rules.SETTLE, seat)
    assert ability.program is not None
    moves.start(state, ability.program, seat, pokemon.uid, index)


def _attack(state: State, seat: int, player: Player, card: Card, name: str) -> None:
    attack = next(a for a in card.attacks if a.name == name)
    assert player.active is not None
    state.attack_knock_outs = ()
    state.bonus_prizes = 0
    state.log.append(("attack", seat, player.active.cards[-1], name))
    moves.start(state, rules.ATTACK, seat, player.active.uid, card.index, memo=(attack.program.number,))
