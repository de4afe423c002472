"""The smallest changes of a state: every card and counter moves through here, so events and memory stay right.

Events are tuples ``(kind, seat, …)``; :mod:`engine.ptcg.events` says what each holds and who may see which part.
"""

from __future__ import annotations

from typing import Any

from engine.match import Result
from engine.ptcg import modifiers
from engine.ptcg.card import CARDS, Program
from engine.ptcg.randomness import COINS, SHUFFLE_0, coin, shuffle
from engine.ptcg.state import ASLEEP, CONFUSED, PARALYZED, Effect, Frame, Pokemon, State

FOREVER = 1 << 30
"""A turn that never comes: for an effect that only ends with what it is tied to."""


def start(state: State, program: Program, seat: int, uid: int = 0, card: int = -1, memo: tuple[Any, ...] = ()) -> None:
    """Put a program on the stack; it runs before what is there already."""
    state.stack.append(Frame(program.number, seat, uid, card, memo))


def flip(state: State, seat: int) -> bool:
    """Flip a coin for ``seat``; true for heads."""
    heads = coin(state.seed, COINS, state.counters[COINS])
    state.counters[COINS] += 1
    state.log.append(("coin", seat, heads))
    return heads


def shuffle_deck(state: State, seat: int) -> None:
    """Shuffle a deck; what was known of its order is forgotten."""
    player = state.players[seat]
    stream = SHUFFLE_0 + seat
    shuffle(player.deck, state.seed, stream, state.counters[stream])
    state.counters[stream] += 1
    player.top_known = 0
    player.bottom = ()
    state.log.append(("shuffle", seat))


def take_top(state: State, seat: int) -> int:
    """Take the top card off a deck (which has one) and keep the owner's memory of the rest right."""
    player = state.players[seat]
    card = player.deck.pop()
    if player.top_known:
        player.top_known -= 1
    if player.bottom:
        left = len(player.deck)
        if left < sum(segment[0] for segment in player.bottom):
            size, owner, _ = player.bottom[-1]
            rest = list(owner)
            if card in rest:
                rest.remove(card)
            # The opponent did not see which of the block was drawn, so its own memory of the block is no longer sure.
            player.bottom = player.bottom[:-1] if size == 1 else (*player.bottom[:-1], (size - 1, tuple(rest), ()))
    return card


def draw(state: State, seat: int, count: int) -> int:
    """Draw up to ``count`` cards; returns how many there were."""
    player = state.players[seat]
    count = min(count, len(player.deck))
    if count <= 0:
        return 0
    cards = tuple([take_top(state, seat) for _ in range(count)])
    player.hand.extend(cards)
    if not player.deck:
        # All cards but the Prizes have been seen.
        player.prizes_known = True
    state.log.append(("draw", seat, cards))
    return count


def add_to_hand(state: State, seat: int, card: int, seen: bool) -> None:
    """Put a card into a hand; ``seen`` says whether the opponent knows which card it is."""
    player = state.players[seat]
    player.hand.append(card)
    if seen:
        player.known_hand.append(card)


def remove_from_hand(state: State, seat: int, card: int) -> None:
    """Take a copy of ``card`` out of a hand, in the open."""
    player = state.players[seat]
    player.hand.remove(card)
    if card in player.known_hand:
        player.known_hand.remove(card)


def discard_from_hand(state: State, seat: int, cards: tuple[int, ...]) -> None:
    """Discard cards from a hand."""
    for card in cards:
        remove_from_hand(state, seat, card)
    state.players[seat].discard.extend(cards)
    if cards:
        state.log.append(("discard", seat, cards, "hand"))


def hand_to_deck(state: State, seat: int) -> None:
    """Shuffle a hand into the deck."""
    player = state.players[seat]
    if player.hand:
        player.deck.extend(player.hand)
        state.log.append(("hand_to_deck", seat, tuple(sorted(player.hand))))
        player.hand = []
        player.known_hand = []
    shuffle_deck(state, seat)


def picks_to_top(state: State, seat: int, cards: tuple[int, ...]) -> None:
    """Shuffle a deck without these cards of it, then put them on top, the last one uppermost."""
    player = state.players[seat]
    for card in cards:
        player.deck.remove(card)
    shuffle_deck(state, seat)
    player.deck.extend(cards)
    player.top_known = len(cards)
    if cards:
        state.log.append(("to_top", seat, cards))


def hand_to_bottom(state: State, seat: int) -> int:
    """Shuffle a hand and put it on the bottom of the deck, which keeps its order; returns how many cards."""
    player = state.players[seat]
    cards = player.hand
    if not cards:
        return 0
    stream = SHUFFLE_0 + seat
    shuffle(cards, state.seed, stream, state.counters[stream])
    state.counters[stream] += 1
    player.deck[:0] = cards
    # The owner knows which cards lie there, the opponent those it had seen; nobody knows in what order.
    player.bottom = ((len(cards), tuple(sorted(cards)), tuple(sorted(player.known_hand))), *player.bottom)
    state.log.append(("hand_to_bottom", seat, tuple(sorted(cards))))
    player.hand = []
    player.known_hand = []
    return len(cards)


def new_pokemon(state: State, seat: int, card: int) -> Pokemon:
    """Make the Pokémon that ``card`` becomes in play; the caller puts it somewhere."""
    state.last_uid += 1
    return Pokemon(state.last_uid, card, state.turn)


def put_on_bench(state: State, seat: int, card: int, origin: str) -> Pokemon:
    """Put a Pokémon card that was already taken out of ``origin`` onto the Bench."""
    pokemon = new_pokemon(state, seat, card)
    state.players[seat].bench.append(pokemon)
    state.log.append(("bench", seat, card, origin))
    return pokemon


def clear_effects(pokemon: Pokemon) -> None:
    """What ends when a Pokémon leaves the Active Spot, evolves or devolves: Special Conditions and effects on it."""
    pokemon.conditions = 0
    pokemon.paralyzed_turn = 0
    pokemon.effects = ()


def evolve(state: State, seat: int, pokemon: Pokemon, card: int) -> None:
    """Put ``card`` onto ``pokemon``: damage and attached cards stay, Special Conditions and effects end."""
    old = pokemon.cards[-1]
    pokemon.cards.append(card)
    pokemon.evolved_turn = state.turn
    pokemon.ability_used = False
    clear_effects(pokemon)
    state.log.append(("evolve", seat, old, card, state.place(pokemon.uid)[1]))


def switch(state: State, seat: int, uid: int) -> None:
    """Switch the Active Pokémon of ``seat`` with its Benched Pokémon ``uid``."""
    player = state.players[seat]
    old = player.active
    i = next((i for i, pokemon in enumerate(player.bench) if pokemon.uid == uid), -1)
    if i < 0:
        return
    pokemon = player.bench[i]
    player.active = pokemon
    if old is None:
        del player.bench[i]
        state.log.append(("promote", seat, pokemon.cards[-1]))
    else:
        clear_effects(old)
        player.bench[i] = old
        state.log.append(("switch", seat, pokemon.cards[-1], old.cards[-1]))


def remove_from_play(state: State, seat: int, pokemon: Pokemon) -> None:
    """Take a Pokémon out of play; the caller says where its cards go."""
    player = state.players[seat]
    if player.active is pokemon:
        player.active = None
    else:
        player.bench.remove(pokemon)


def discard_pokemon(state: State, seat: int, pokemon: Pokemon) -> None:
    """Discard a Pokémon and all cards attached to it (not a Knock Out)."""
    remove_from_play(state, seat, pokemon)
    cards = (*pokemon.cards, *pokemon.energy, *pokemon.tools)
    state.players[seat].discard.extend(cards)
    state.log.append(("discard", seat, cards, "play"))


def shuffle_into_deck(state: State, seat: int, pokemon: Pokemon) -> None:
    """Shuffle a Pokémon and all cards attached to it into its owner's deck."""
    remove_from_play(state, seat, pokemon)
    cards = (*pokemon.cards, *pokemon.energy, *pokemon.tools)
    state.players[seat].deck.extend(cards)
    state.log.append(("to_deck", seat, cards, "play"))
    shuffle_deck(state, seat)


def attach(state: State, seat: int, pokemon: Pokemon, card: int, origin: str) -> None:
    """Attach an Energy or Tool card that was already taken out of ``origin``."""
    if CARDS[card].is_energy:
        pokemon.energy.append(card)
    else:
        pokemon.tools.append(card)
    state.log.append(("attach", seat, card, pokemon.cards[-1], state.place(pokemon.uid)[1], origin))
    immune = modifiers.immunity(state, pokemon)
    if immune & pokemon.conditions:
        recover(state, seat, pokemon, immune)


def discard_attached(state: State, seat: int, pokemon: Pokemon, card: int) -> None:
    """Discard one attached Energy or Tool card."""
    detach(pokemon, card)
    state.players[seat].discard.append(card)
    state.log.append(("discard", seat, (card,), "attached"))


def detach(pokemon: Pokemon, card: int) -> None:
    """Take one copy of an attached card off; the caller says where it goes."""
    (pokemon.energy if CARDS[card].is_energy else pokemon.tools).remove(card)


def put_counters(state: State, seat: int, pokemon: Pokemon, count: int) -> None:
    """Put damage counters on a Pokémon of ``seat``."""
    pokemon.damage += count
    state.log.append(("counters", seat, pokemon.cards[-1], state.place(pokemon.uid)[1], count))


def move_counters(state: State, seat: int, origin: Pokemon, target: Pokemon, count: int) -> None:
    """Move damage counters from a Pokémon of ``seat`` to one of its opponent; this is neither healing nor damage."""
    origin.damage -= count
    target.damage += count
    places = (state.place(origin.uid)[1], state.place(target.uid)[1])
    state.log.append(("move_counters", seat, origin.cards[-1], places[0], target.cards[-1], places[1], count))


def heal(state: State, seat: int, pokemon: Pokemon, amount: int) -> None:
    """Heal up to ``amount`` damage (in HP)."""
    count = min(amount // 10, pokemon.damage)
    if count:
        pokemon.damage -= count
        state.log.append(("heal", seat, pokemon.cards[-1], state.place(pokemon.uid)[1], 10 * count))


def strike(state: State, blow: modifiers.Blow, base: int) -> int:
    """Do the damage of an attack of ``base`` to a target; returns what was done after all modifiers."""
    amount = modifiers.damage_dealt(state, blow, base)
    target = blow.target
    state.log.append(("damage", blow.target_seat, target.cards[-1], state.place(target.uid)[1], amount))
    if amount > 0:
        alive = modifiers.remaining_hp(state, target) > 0
        target.damage += amount // 10
        if alive and blow.seat != blow.target_seat and modifiers.remaining_hp(state, target) <= 0:
            state.attack_knock_outs = (*state.attack_knock_outs, target.uid)
    return amount


def afflict(state: State, seat: int, pokemon: Pokemon, condition: int) -> bool:
    """Put a Special Condition on an Active Pokémon; Asleep, Confused and Paralyzed replace each other."""
    if modifiers.immunity(state, pokemon) & condition:
        return False
    if condition in (ASLEEP, CONFUSED, PARALYZED):
        pokemon.conditions &= ~(ASLEEP | CONFUSED | PARALYZED)
        pokemon.effects = tuple(e for e in pokemon.effects if e[0] != modifiers.TWO_SLEEP_COINS)
    pokemon.conditions |= condition
    if condition == PARALYZED:
        pokemon.paralyzed_turn = state.turn
    state.log.append(("condition", seat, pokemon.cards[-1], condition))
    return True


def recover(state: State, seat: int, pokemon: Pokemon, conditions: int) -> None:
    """Remove Special Conditions."""
    gone = pokemon.conditions & conditions
    if gone:
        pokemon.conditions &= ~gone
        if gone & ASLEEP:
            pokemon.effects = tuple(e for e in pokemon.effects if e[0] != modifiers.TWO_SLEEP_COINS)
        state.log.append(("recover", seat, pokemon.cards[-1], gone))


def add_effect(pokemon: Pokemon, effect: Effect) -> None:
    """Put an effect on a Pokémon."""
    pokemon.effects = (*pokemon.effects, effect)


def take_prizes(state: State, seat: int, count: int) -> None:
    """Take Prize cards into the hand; face down they are alike, so the next ones are taken."""
    player = state.players[seat]
    count = min(count, len(player.prizes))
    cards = tuple([player.prizes.pop() for _ in range(count)])
    player.hand.extend(cards)
    state.log.append(("prizes", seat, cards))


def leave_stadium(state: State) -> None:
    """Discard the Stadium in play into its owner's discard pile."""
    if state.stadium >= 0:
        state.players[state.stadium_owner].discard.append(state.stadium)
        state.log.append(("discard", state.stadium_owner, (state.stadium,), "stadium"))
        state.stadium = -1


def end(state: State, result: Result) -> None:
    """End the match: nothing more happens."""
    state.result = result
    state.stack.clear()
    state.prompt = None
    state.log.append(("end", -1 if result.winner is None else result.winner, result.outcome.value, result.cause.value))
