"""The rules outside the cards: set-up, the turn, attacking, Pokémon Checkup, Knock Outs and who wins.

Each is a program of operations on the same stack that card effects run on, so that every choice in it, too, is a
decision point at which the state is a plain value.
"""

from __future__ import annotations

from engine.match import Cause, Outcome, Result
from engine.ptcg import library, modifiers, moves, ops, prompts
from engine.ptcg.card import CARDS, PROGRAMS, Op, Program
from engine.ptcg.randomness import SETUP, coin
from engine.ptcg.state import (
    ASLEEP,
    BURNED,
    CONFUSED,
    PARALYZED,
    POISONED,
    Frame,
    Player,
    Pokemon,
    State,
)

assert library.INDEX, "cards are numbered before the programs of the rules"

HAND_SIZE = 7
COUNTERS_FOR_CONFUSION = 3
COUNTERS_FOR_BURN = 2
COUNTERS_FOR_POISON = 1


def run(state: State) -> None:
    """Carry out what is on the stack until a choice is needed, the match is over, or nothing is left to do."""
    stack = state.stack
    while stack and state.prompt is None:
        frame = stack[-1]
        steps = PROGRAMS[frame.program].ops
        pc = frame.pc
        if pc == len(steps):
            stack.pop()
            continue
        frame.pc = pc + 1
        steps[pc](state, frame)


def _pusher(program_of: str) -> Op:
    """An operation that starts a program of this module by name (programs refer to each other)."""

    def run_program(state: State, frame: Frame) -> None:
        moves.start(state, globals()[program_of], frame.seat)

    return run_program


# --- set-up ----------------------------------------------------------------------------------------------------------


def _choose_who_goes_first(state: State, frame: Frame) -> None:
    winner = 0 if coin(state.seed, SETUP, state.counters[SETUP]) else 1
    state.counters[SETUP] += 1
    state.log.append(("coin_flip_won", winner))
    frame.memo = (winner,)
    prompts.ask_option(state, frame, winner, "Who goes first?", ("go first", "go second"))


def _deal(state: State, frame: Frame) -> None:
    winner: int = frame.memo[0]
    state.first_player = winner if frame.picks[0] == "go first" else 1 - winner
    state.log.append(("first_player", state.first_player))
    for seat in (0, 1):
        state.players[seat].deck = list(state.deck_lists[seat])
        moves.shuffle_deck(state, seat)
        moves.draw(state, seat, HAND_SIZE)
    while not _has_basic(state, 0) and not _has_basic(state, 1):
        # Both show their hands and draw again; nobody gets a card for it.
        _mulligan(state, 0)
        _mulligan(state, 1)
    first = state.first_player
    order = [first, 1 - first] if _has_basic(state, first) else [1 - first, first]
    # The player with a Basic Pokémon sets up first where the other has none yet.
    for seat in reversed(order):
        moves.start(state, SET_UP_SIDE, seat)


def _has_basic(state: State, seat: int) -> bool:
    return any(CARDS[card].is_basic for card in state.players[seat].hand)


def _mulligan(state: State, seat: int) -> None:
    player = state.players[seat]
    state.log.append(("mulligan", seat, tuple(sorted(player.hand))))
    player.deck.extend(player.hand)
    player.hand.clear()
    moves.shuffle_deck(state, seat)
    moves.draw(state, seat, HAND_SIZE)


def _draw_until_basic(state: State, frame: Frame) -> None:
    mulligans = 0
    while not _has_basic(state, frame.seat):
        _mulligan(state, frame.seat)
        mulligans += 1
    frame.memo = (mulligans,)


def _choose_first_active(state: State, frame: Frame) -> None:
    basics = [card for card in state.players[frame.seat].hand if CARDS[card].is_basic]
    prompts.ask_cards(state, frame, frame.seat, basics, "Choose your Active Pokémon", 1, 1)


def _place_first_active(state: State, frame: Frame) -> None:
    player = state.players[frame.seat]
    card = frame.picks[0]
    player.hand.remove(card)
    player.active = moves.new_pokemon(state, frame.seat, card)
    state.log.append(("set_up_active", frame.seat, card))


def _choose_first_bench(state: State, frame: Frame) -> None:
    basics = [card for card in state.players[frame.seat].hand if CARDS[card].is_basic]
    prompts.ask_cards(
        state,
        frame,
        frame.seat,
        basics,
        "Choose Basic Pokémon for your Bench",
        0,
        modifiers.bench_space(state, frame.seat),
    )


def _place_first_bench(state: State, frame: Frame) -> None:
    player = state.players[frame.seat]
    for card in frame.picks:
        player.hand.remove(card)
        player.bench.append(moves.new_pokemon(state, frame.seat, card))
        state.log.append(("set_up_bench", frame.seat, card))


def _lay_prizes(state: State, frame: Frame) -> None:
    player = state.players[frame.seat]
    player.prizes = [player.deck.pop() for _ in range(state.prize_count)]
    state.log.append(("lay_prizes", frame.seat, state.prize_count))


def _offer_extra_draws(state: State, frame: Frame) -> None:
    mulligans: int = frame.memo[0]
    if mulligans:
        moves.start(state, EXTRA_DRAWS, 1 - frame.seat, memo=(mulligans,))


def _choose_extra_draws(state: State, frame: Frame) -> None:
    most = min(frame.memo[0], len(state.players[frame.seat].deck))
    prompts.ask_number(state, frame, frame.seat, "How many extra cards to draw for the mulligans?", 0, most)


def _draw_extra(state: State, frame: Frame) -> None:
    hand = state.players[frame.seat].hand
    before = len(hand)
    moves.draw(state, frame.seat, frame.picks[0])
    basics = [card for card in hand[before:] if CARDS[card].is_basic]
    prompts.ask_cards(
        state,
        frame,
        frame.seat,
        basics,
        "Choose Basic Pokémon for your Bench",
        0,
        modifiers.bench_space(state, frame.seat),
    )


def _turn_face_up(state: State, frame: Frame) -> None:
    for seat in (0, 1):
        cards = tuple([pokemon.cards[0] for pokemon in state.players[seat].in_play()])
        state.log.append(("face_up", seat, cards))
    state.to_move = 1 - state.first_player
    moves.start(state, NEXT_TURN, state.to_move)


SET_UP_SIDE = Program(
    (
        _draw_until_basic,
        _choose_first_active,
        _place_first_active,
        _choose_first_bench,
        _place_first_bench,
        _lay_prizes,
        _offer_extra_draws,
    )
)
EXTRA_DRAWS = Program((_choose_extra_draws, _draw_extra, _place_first_bench))
SET_UP = Program((_choose_who_goes_first, _deal, _turn_face_up))


# --- the turn --------------------------------------------------------------------------------------------------------


def _begin_next_turn(state: State, frame: Frame) -> None:
    if state.turn >= state.turn_cap:
        moves.end(state, Result(Outcome.TURN_CAP, None, Cause.TURN_CAP))
        return
    state.turn += 1
    seat = state.to_move = 1 - state.to_move
    player = state.players[seat]
    player.energy_used = False
    player.supporter_used = False
    player.stadium_used = False
    player.stadium_effect_used = False
    player.retreat_used = False
    player.names_used = ()
    player.effects = tuple(e for e in player.effects if e[1] >= state.turn)
    for side in state.players:
        for pokemon in side.in_play():
            pokemon.ability_used = False
            if pokemon.effects:
                pokemon.effects = tuple(e for e in pokemon.effects if e[1] >= state.turn)
    _trim_log(state)
    state.log.append(("turn", seat, state.turn))
    if not player.deck:
        moves.end(state, _win(state, 1 - seat, Cause.DECK_OUT))
        return
    moves.draw(state, seat, 1)


def _trim_log(state: State) -> None:
    """Keep the events of the last three turns, this one included."""
    end = state.log_start + len(state.log)
    oldest, previous = state.turn_marks
    if oldest > state.log_start:
        del state.log[: oldest - state.log_start]
        state.log_start = oldest
    state.turn_marks = (previous, end)


def _win(state: State, seat: int, cause: Cause) -> Result:
    return Result(Outcome.WIN, seat, Cause.SUDDEN_DEATH if state.sudden_death else cause)


def _end_of_turn_effects(state: State, frame: Frame) -> None:
    """A Technical Machine is discarded at the end of its player's turn, used or not."""
    seat = state.to_move
    for pokemon in state.players[seat].in_play():
        for card in pokemon.tools[:]:
            if "Technical Machine" in CARDS[card].tags:
                moves.discard_attached(state, seat, pokemon, card)


def _actives(state: State) -> list[tuple[int, Pokemon]]:
    """Both Active Pokémon, that of the player whose turn has ended first."""
    pairs: list[tuple[int, Pokemon]] = []
    for seat in (state.to_move, 1 - state.to_move):
        active = state.players[seat].active
        if active is not None:
            pairs.append((seat, active))
    return pairs


def _checkup(state: State, frame: Frame) -> None:
    """Pokémon Checkup: Poisoned, Burned, Asleep, Paralyzed, in this order."""
    pairs = [(seat, active) for seat, active in _actives(state) if active.conditions]
    if not pairs:
        return
    for seat, active in pairs:
        if active.conditions & POISONED:
            moves.put_counters(state, seat, active, COUNTERS_FOR_POISON)
    for seat, active in pairs:
        if active.conditions & BURNED:
            moves.put_counters(state, seat, active, COUNTERS_FOR_BURN)
            if moves.flip(state, seat):
                moves.recover(state, seat, active, BURNED)
    for seat, active in pairs:
        if active.conditions & ASLEEP:
            coins = 2 if any(e[0] == modifiers.TWO_SLEEP_COINS for e in active.effects) else 1
            heads = [moves.flip(state, seat) for _ in range(coins)]
            if all(heads):
                moves.recover(state, seat, active, ASLEEP)
    for seat, active in pairs:
        if active.conditions & PARALYZED and seat == state.to_move and active.paralyzed_turn < state.turn:
            moves.recover(state, seat, active, PARALYZED)


def _start_checkup_knock_outs(state: State, frame: Frame) -> None:
    moves.start(state, KNOCK_OUTS, frame.seat, memo=(BETWEEN_TURNS,))


NEXT_TURN = Program((_begin_next_turn,))
END_TURN = Program((_end_of_turn_effects, _checkup, _start_checkup_knock_outs, _begin_next_turn))


# --- Knock Outs, Prizes, winning -------------------------------------------------------------------------------------

IN_TURN, BETWEEN_TURNS = "in a turn", "between turns"


def settle(state: State) -> None:
    """After an effect: Knock Outs, Prizes, who has won, empty Active Spots. Cheap where nothing is to be done."""
    for player in state.players:
        if player.active is None:
            moves.start(state, KNOCK_OUTS, state.to_move, memo=(IN_TURN,))
            return
        for pokemon in player.in_play():
            if pokemon.damage and modifiers.remaining_hp(state, pokemon) <= 0:
                moves.start(state, KNOCK_OUTS, state.to_move, memo=(IN_TURN,))
                return
        if not player.prizes:
            moves.start(state, KNOCK_OUTS, state.to_move, memo=(IN_TURN,))
            return


def settle_now(state: State, frame: Frame) -> None:
    """:func:`settle` as the last step of an effect."""
    settle(state)


def _find_knock_outs(state: State, frame: Frame) -> None:
    when = frame.memo[0]
    fallen: list[int] = []
    for seat in (state.to_move, 1 - state.to_move):
        for pokemon in state.players[seat].in_play():
            if pokemon.damage and modifiers.remaining_hp(state, pokemon) <= 0:
                fallen.append(pokemon.uid)
                state.log.append(("knock_out", seat, pokemon.cards[-1], state.place(pokemon.uid)[1]))
                if when == IN_TURN and seat != state.to_move:
                    state.players[seat].knocked_out_turn = state.turn
    frame.memo = (when, tuple(fallen))
    # What a card does on a Knock Out happens while everything is still attached.
    for uid in reversed(fallen):
        found = state.find(uid)
        if found is None or uid not in state.attack_knock_outs:
            continue
        for card in (*found.energy, *found.tools):
            program = CARDS[card].on_knock_out
            if program is not None:
                moves.start(state, program, state.place(uid)[0], uid, card)


def _discard_and_take_prizes(state: State, frame: Frame) -> None:
    prizes = [0, 0]
    for uid in frame.memo[1]:
        pokemon = state.find(uid)
        assert pokemon is not None
        seat = state.place(uid)[0]
        prizes[1 - seat] += modifiers.prizes_for(state, pokemon, uid in state.attack_knock_outs)
    for uid in frame.memo[1]:
        pokemon = state.find(uid)
        assert pokemon is not None
        moves.discard_pokemon(state, state.place(uid)[0], pokemon)
    state.attack_knock_outs = ()
    state.bonus_prizes = 0
    # The player whose turn comes next takes Prizes first. Source: TPCi Rules Team, 2018-04-05.
    for seat in (1 - state.to_move, state.to_move):
        if prizes[seat]:
            moves.take_prizes(state, seat, prizes[seat])


def _decide(state: State, frame: Frame) -> None:
    met = [0, 0]
    for seat in (0, 1):
        opponent = state.players[1 - seat]
        met[seat] = (not state.players[seat].prizes) + (opponent.active is None and not opponent.bench)
    if met[0] == met[1]:
        if met[0]:
            _sudden_death(state)
        return
    seat = 0 if met[0] > met[1] else 1
    cause = Cause.PRIZES if not state.players[seat].prizes else Cause.NO_POKEMON
    moves.end(state, _win(state, seat, cause))


def _sudden_death(state: State) -> None:
    """Both have won, by equally many conditions: a new game with one Prize card each decides."""
    playable = all(len(deck) > HAND_SIZE and any(CARDS[card].is_basic for card in deck) for deck in state.deck_lists)
    # A side of a position may have too few cards or no Basic Pokémon at all: no game can be set up with it.
    if state.sudden_death_draw or not playable:
        moves.end(state, Result(Outcome.DRAW, None, Cause.DRAW))
        return
    state.log.append(("sudden_death", state.to_move))
    state.sudden_death = True
    state.prize_count = 1
    state.turns_before += state.turn
    state.turn_cap -= state.turn
    state.turn = 0
    state.stadium = -1
    state.players[0] = Player()
    state.players[1] = Player()
    state.stack.clear()
    moves.start(state, SET_UP, 0)


def _promote(first: bool) -> Op:
    def promote(state: State, frame: Frame) -> None:
        # The player whose turn comes next chooses first.
        prompts.ask_new_active(state, frame, 1 - state.to_move if first else state.to_move)

    return promote


KNOCK_OUTS = Program(
    (
        _find_knock_outs,
        _discard_and_take_prizes,
        _decide,
        _promote(True),
        ops.place_new_active,
        _promote(False),
        ops.place_new_active,
    )
)


# --- attacking -------------------------------------------------------------------------------------------------------


def _confusion(state: State, frame: Frame) -> None:
    attacker = ops.source(state, frame)
    if attacker is None or not attacker.conditions & CONFUSED:
        return
    if not moves.flip(state, frame.seat):
        moves.put_counters(state, frame.seat, attacker, COUNTERS_FOR_CONFUSION)
        frame.memo = ()


def _carry_out_attack(state: State, frame: Frame) -> None:
    if frame.memo:
        moves.start(state, PROGRAMS[frame.memo[0]], frame.seat, frame.uid, frame.card)


def _after_attack(state: State, frame: Frame) -> None:
    moves.start(state, KNOCK_OUTS, frame.seat, memo=(IN_TURN,))


ATTACK = Program((_confusion, _carry_out_attack, _after_attack, _pusher("END_TURN")))


# --- playing cards and using Abilities -------------------------------------------------------------------------------


def _discard_played(state: State, frame: Frame) -> None:
    player = state.players[frame.seat]
    player.playing.remove(frame.card)
    player.discard.append(frame.card)


TRAINER_DONE = Program((_discard_played, settle_now))
SETTLE = Program((settle_now,))


def _pay_retreat(state: State, frame: Frame) -> None:
    """Discard Energy that pays the Retreat Cost, then switch with the Benched Pokémon in ``memo``."""
    active = state.players[frame.seat].active
    assert active is not None
    prompts.ask_payment(state, frame, active, "Discard Energy to retreat", modifiers.retreat_cost(state, active))


def _retreat(state: State, frame: Frame) -> None:
    ops.discard_picked_attached(state, frame)
    moves.switch(state, frame.seat, frame.memo[0])


RETREAT = Program((_pay_retreat, _retreat, settle_now))
