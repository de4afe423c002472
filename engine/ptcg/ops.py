"""The small operations that card effects are made of.

Each public function builds an operation from its parameters; a card's effect is a tuple of them, run in order. An
operation that chooses leaves its result in ``frame.picks`` for the next one. "You" is the player whose effect it is.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.ptcg import modifiers, moves, prompts
from engine.ptcg.card import CARDS, PROGRAMS, Op
from engine.ptcg.conditions import Amount, CardTest, PokemonTest, amount_of, any_card
from engine.ptcg.state import Frame, Pokemon, State

# --- choices ---------------------------------------------------------------------------------------------------------


def search_deck(wanted: CardTest, up_to: Amount = 1, at_least: int = 0, question: str = "") -> Op:
    """Look through your deck and choose cards there.

    A search for something restricted may find nothing; one for "a card" has to take one (``at_least``). Where nothing
    could be taken (no room on the Bench) the whole effect ends before the search.
    """

    def search(state: State, frame: Frame) -> None:
        most = amount_of(up_to, state, frame)
        if most <= 0:
            # No room for what would be found: the deck is neither looked through nor shuffled.
            stop(state, frame)
            return
        player = state.players[frame.seat]
        player.prizes_known = True
        # The shuffle that ends every search forgets the order; cards are taken out before it.
        player.top_known = 0
        player.bottom = ()
        found = [card for card in player.deck if wanted(CARDS[card])]
        prompts.ask_cards(state, frame, frame.seat, found, question or "Choose from your deck", at_least, most)

    return search


def choose_from_discard(wanted: CardTest, up_to: Amount, at_least: int = 1, question: str = "") -> Op:
    """Choose cards in your discard pile."""

    def choose(state: State, frame: Frame) -> None:
        found = [card for card in state.players[frame.seat].discard if wanted(CARDS[card])]
        most = amount_of(up_to, state, frame)
        prompts.ask_cards(state, frame, frame.seat, found, question or "Choose from your discard pile", at_least, most)

    return choose


def choose_from_hand(wanted: CardTest, up_to: int, at_least: int, question: str) -> Op:
    """Choose cards in your hand."""

    def choose(state: State, frame: Frame) -> None:
        found = [card for card in state.players[frame.seat].hand if wanted(CARDS[card])]
        prompts.ask_cards(state, frame, frame.seat, found, question, at_least, up_to)

    return choose


def choose_top(wanted: CardTest, depth: int, up_to: Amount, question: str) -> Op:
    """Look at the top ``depth`` cards of your deck and choose among them."""

    def look(state: State, frame: Frame) -> None:
        player = state.players[frame.seat]
        top = player.deck[-depth:]
        player.top_known = max(player.top_known, len(top))
        if len(top) == len(player.deck):
            # That was the whole deck: what is missing lies among the Prizes.
            player.prizes_known = True
        player.bottom = ()
        state.log.append(("look", frame.seat, tuple(reversed(top))))
        found = [card for card in top if wanted(CARDS[card])]
        prompts.ask_cards(state, frame, frame.seat, found, question, 0, amount_of(up_to, state, frame))

    return look


def choose_benched(question: str, yours: bool = True, by_opponent: bool = False) -> Op:
    """Choose a Benched Pokémon, yours or your opponent's; ``by_opponent`` lets the opponent choose."""

    def choose(state: State, frame: Frame) -> None:
        side = frame.seat if yours else 1 - frame.seat
        chooser = 1 - frame.seat if by_opponent else frame.seat
        prompts.ask_pokemon(state, frame, chooser, state.players[side].bench, question)

    return choose


def choose_your_pokemon(question: str, test: PokemonTest | None = None, up_to: int = 1, at_least: int = 1) -> Op:
    """Choose among your Pokémon in play."""

    def choose(state: State, frame: Frame) -> None:
        seat = frame.seat
        found = [p for p in state.players[seat].in_play() if test is None or test(state, seat, p)]
        prompts.ask_pokemon(state, frame, seat, found, question, at_least, up_to)

    return choose


def choose_opponents_pokemon(question: str, count: int = 1) -> Op:
    """Choose ``count`` different Pokémon of your opponent (all of them where there are fewer)."""

    def choose(state: State, frame: Frame) -> None:
        found = state.players[1 - frame.seat].in_play()
        prompts.ask_pokemon(state, frame, frame.seat, found, question, count, count)

    return choose


# --- control ---------------------------------------------------------------------------------------------------------


def stop(state: State, frame: Frame) -> None:
    """End this effect here."""
    frame.pc = len(PROGRAMS[frame.program].ops)


def _both(first: Op, second: Op) -> Op:
    """Two operations with a choice between them as one entry of an effect."""

    def run(state: State, frame: Frame) -> None:
        if frame.memo and frame.memo[-1] == "asked":
            frame.memo = frame.memo[:-1]
            second(state, frame)
            return
        first(state, frame)
        if state.prompt is None:
            second(state, frame)
        else:
            frame.memo = (*frame.memo, "asked")
            frame.pc -= 1

    return run


def sequence(*steps: Op) -> Op:
    """Several operations as one, none of which asks for a choice."""

    def run(state: State, frame: Frame) -> None:
        for step in steps:
            step(state, frame)

    return run


def if_picked(*steps: Op) -> Op:
    """Operations (none of which asks) that happen only where the last choice picked something."""
    run = sequence(*steps)

    def check(state: State, frame: Frame) -> None:
        if frame.picks:
            run(state, frame)

    return check


def flip_or_stop(state: State, frame: Frame) -> None:
    """Flip a coin; tails ends this effect."""
    if not moves.flip(state, frame.seat):
        stop(state, frame)


# --- cards between zones ---------------------------------------------------------------------------------------------


def draw(count: Amount) -> Op:
    """Draw cards."""

    def run(state: State, frame: Frame) -> None:
        moves.draw(state, frame.seat, amount_of(count, state, frame))

    return run


def draw_until(count: int) -> Op:
    """Draw until your hand has ``count`` cards."""

    def run(state: State, frame: Frame) -> None:
        moves.draw(state, frame.seat, count - len(state.players[frame.seat].hand))

    return run


def shuffle_deck(state: State, frame: Frame) -> None:
    """Shuffle your deck."""
    moves.shuffle_deck(state, frame.seat)


def deck_to_hand(reveal: bool) -> Op:
    """Put the chosen cards of your deck into your hand; where ``reveal``, the opponent sees them."""

    def run(state: State, frame: Frame) -> None:
        player = state.players[frame.seat]
        for card in frame.picks:
            player.deck.remove(card)
            moves.add_to_hand(state, frame.seat, card, reveal)
        if frame.picks:
            state.log.append(("to_hand", frame.seat, frame.picks, "deck", reveal))

    return run


def deck_to_bench(state: State, frame: Frame) -> None:
    """Put the chosen Pokémon of your deck onto your Bench."""
    for card in frame.picks:
        state.players[frame.seat].deck.remove(card)
        moves.put_on_bench(state, frame.seat, card, "deck")


def discard_to_hand(state: State, frame: Frame) -> None:
    """Put the chosen cards of your discard pile into your hand, in the open."""
    player = state.players[frame.seat]
    for card in frame.picks:
        player.discard.remove(card)
        moves.add_to_hand(state, frame.seat, card, True)
    if frame.picks:
        state.log.append(("to_hand", frame.seat, frame.picks, "discard", True))


def discard_to_deck(state: State, frame: Frame) -> None:
    """Shuffle the chosen cards of your discard pile into your deck."""
    player = state.players[frame.seat]
    for card in frame.picks:
        player.discard.remove(card)
        player.deck.append(card)
    if frame.picks:
        state.log.append(("to_deck", frame.seat, frame.picks, "discard"))
    moves.shuffle_deck(state, frame.seat)


def discard_to_bench(state: State, frame: Frame) -> None:
    """Put the chosen Pokémon of your discard pile onto your Bench."""
    for card in frame.picks:
        state.players[frame.seat].discard.remove(card)
        moves.put_on_bench(state, frame.seat, card, "discard")


def hand_to_discard(state: State, frame: Frame) -> None:
    """Discard the chosen cards of your hand."""
    moves.discard_from_hand(state, frame.seat, frame.picks)


def hand_to_lost_zone(state: State, frame: Frame) -> None:
    """Put the chosen cards of your hand in the Lost Zone."""
    for card in frame.picks:
        moves.remove_from_hand(state, frame.seat, card)
        state.players[frame.seat].lost.append(card)
    if frame.picks:
        state.log.append(("lost", frame.seat, frame.picks, "hand"))


def discard_cards(count: int, wanted: CardTest = any_card, at_least: int | None = None) -> Op:
    """Choose ``count`` cards of your hand (or from ``at_least`` up to it) and discard them."""
    choose = choose_from_hand(wanted, count, count if at_least is None else at_least, "Discard from your hand")
    return _both(choose, hand_to_discard)


def discard_hand(state: State, frame: Frame) -> None:
    """Discard your whole hand; in no order, since the order in which it was drawn is its player's alone."""
    moves.discard_from_hand(state, frame.seat, tuple(sorted(state.players[frame.seat].hand)))


def _zone(state: State, frame: Frame, origin: str) -> list[int]:
    """The list of cards that attached cards come from."""
    player = state.players[frame.seat]
    if origin == "pokemon":
        pokemon = source(state, frame)
        return [] if pokemon is None else pokemon.energy
    return player.deck if origin == "deck" else player.discard


def attach_all_to_picked(origin: str) -> Op:
    """Attach the cards chosen before (kept by :func:`remember_picks`) to the chosen Pokémon."""

    def run(state: State, frame: Frame) -> None:
        cards: tuple[int, ...] = frame.memo
        frame.memo = ()
        for uid in frame.picks:
            pokemon = state.find(uid)
            if pokemon is not None:
                for card in cards:
                    _zone(state, frame, origin).remove(card)
                    moves.attach(state, frame.seat, pokemon, card, origin)

    return run


def only_with_bench(state: State, frame: Frame) -> None:
    """End this effect where you have no Benched Pokémon."""
    if not state.players[frame.seat].bench:
        stop(state, frame)


def remember_picks(state: State, frame: Frame) -> None:
    """Keep the chosen cards in mind while a Pokémon for them is chosen; nothing chosen ends this effect."""
    frame.memo = frame.picks
    if not frame.picks:
        stop(state, frame)


def attach_picks(targets: PokemonTest | None, origin: str) -> Op:
    """Attach each picked card to one of your Pokémon that ``targets`` allows.

    The cards come from your ``deck``, your ``discard`` pile or the ``pokemon`` of this effect.

    Each card's Pokémon is chosen in turn; copies of one card go to places from left to right, so that no way of
    dealing them out is offered twice. ``memo`` holds the cards still to go.
    """

    def run(state: State, frame: Frame) -> None:
        seat = frame.seat
        player = state.players[seat]
        if not frame.memo:
            if not frame.picks:
                return
            frame.memo = ("attach", frame.picks)
            frame.picks = ()
        cards: tuple[int, ...] = frame.memo[1]
        if frame.picks:
            same = 0
            for uid in frame.picks:
                pokemon = state.find(uid)
                if pokemon is not None:
                    _zone(state, frame, origin).remove(cards[same])
                    moves.attach(state, seat, pokemon, cards[same], origin)
                same += 1
            cards = cards[same:]
            frame.picks = ()
        if not cards:
            frame.memo = ()
            return
        frame.memo = ("attach", cards)
        found = [p for p in player.in_play() if targets is None or targets(state, seat, p)]
        if not found:
            frame.memo = ()
            return
        copies = cards.count(cards[0])
        question = f"Attach {copies} × {CARDS[cards[0]].name}: to which Pokémon"
        prompts.ask_pokemon(state, frame, seat, found, question, copies, copies, each=copies)
        frame.pc -= 1

    return run


def attach_picks_to_one(origin: str) -> Op:
    """Attach all picked cards, from your ``deck`` or ``discard`` pile, to one of your Pokémon, which you choose.

    With nothing picked this does nothing. ``memo`` holds the cards while the Pokémon is chosen.
    """

    def choose(state: State, frame: Frame) -> None:
        frame.memo = frame.picks
        if frame.picks:
            prompts.ask_pokemon(
                state, frame, frame.seat, state.players[frame.seat].in_play(), "Attach to which Pokémon"
            )

    def run(state: State, frame: Frame) -> None:
        if frame.memo:
            attach_all_to_picked(origin)(state, frame)

    return _both(choose, run)


# --- Pokémon in play -------------------------------------------------------------------------------------------------


def switch_in_opponents(state: State, frame: Frame) -> None:
    """Switch the chosen Benched Pokémon of your opponent with its Active Pokémon."""
    for uid in frame.picks:
        moves.switch(state, 1 - frame.seat, uid)


def switch_yours(state: State, frame: Frame) -> None:
    """Switch your Active Pokémon with the chosen Benched one."""
    for uid in frame.picks:
        moves.switch(state, frame.seat, uid)


def discard_stadium(state: State, frame: Frame) -> None:
    """Discard the Stadium in play."""
    moves.leave_stadium(state)


def may_discard_stadium(state: State, frame: Frame) -> None:
    """Where a Stadium is in play, ask whether to discard it."""
    if state.stadium >= 0:
        _MAY_DISCARD_STADIUM(state, frame)


def _discard_stadium_on_yes(state: State, frame: Frame) -> None:
    if frame.picks == ("yes",):
        moves.leave_stadium(state)


def _ask_discard_stadium(state: State, frame: Frame) -> None:
    prompts.ask_yes_no(state, frame, frame.seat, "Discard the Stadium in play?")


_MAY_DISCARD_STADIUM = _both(_ask_discard_stadium, _discard_stadium_on_yes)


def source(state: State, frame: Frame) -> Pokemon | None:
    """The Pokémon that the effect comes from, while it is in play."""
    return state.find(frame.uid)


def shuffle_this_into_deck(state: State, frame: Frame) -> None:
    """Shuffle this Pokémon and all cards attached to it into your deck."""
    this = source(state, frame)
    if this is not None:
        moves.shuffle_into_deck(state, frame.seat, this)


def choose_new_active(state: State, frame: Frame) -> None:
    """Choose your new Active Pokémon where you have none, before any Pokémon is Knocked Out.

    What an attack does is completed first. Source: TPCi Rules Team, 2026-07-16, on an attacker that leaves its place.
    """
    prompts.ask_new_active(state, frame, frame.seat)


def place_new_active(state: State, frame: Frame) -> None:
    """Move the chosen Pokémon, of either player, to the Active Spot of its side."""
    for uid in frame.picks:
        moves.switch(state, state.place(uid)[0], uid)


def choose_own_energy(count: int) -> Op:
    """Choose cards attached to this Pokémon that provide ``count`` Energy (all, where it has less), to be discarded.

    Energy is counted, not cards: a card that provides 2 Energy is enough for 2. An attack that discards Energy and does
    damage does the damage first, with all Energy still attached, and then :func:`discard_chosen_energy`; ``memo`` holds
    the choice meanwhile. Source: TPCi Rules Team, 2024-07-11, on an attack that discards 2 Energy and Double Turbo.
    """

    def choose(state: State, frame: Frame) -> None:
        pokemon = source(state, frame)
        if pokemon is None:
            frame.picks = ()
            return
        total = min(count, len(modifiers.provided(pokemon)))
        prompts.ask_payment(state, frame, pokemon, "Choose Energy to discard from this Pokémon", total)

    def keep(state: State, frame: Frame) -> None:
        frame.memo = frame.picks

    return _both(choose, keep)


def discard_chosen_energy(state: State, frame: Frame) -> None:
    """Discard what :func:`choose_own_energy` has chosen."""
    frame.picks, frame.memo = frame.memo, ()
    discard_picked_attached(state, frame)


def discard_picked_attached(state: State, frame: Frame) -> None:
    """Discard the chosen attached cards (of either player) into their owners' discard piles."""
    for uid, card in frame.picks:
        pokemon = state.find(uid)
        if pokemon is not None:
            moves.discard_attached(state, state.place(uid)[0], pokemon, card)


# --- attacks ---------------------------------------------------------------------------------------------------------


def blow_on(state: State, frame: Frame, target_seat: int, target: Pokemon) -> modifiers.Blow | None:
    """The attack of this effect's Pokémon reaching ``target``; ``None`` where the attacker has left play."""
    attacker = source(state, frame)
    return None if attacker is None else modifiers.Blow(frame.seat, attacker, target_seat, target)


def damage(amount: Amount) -> Op:
    """This attack does ``amount`` damage to your opponent's Active Pokémon."""

    def run(state: State, frame: Frame) -> None:
        target = state.players[1 - frame.seat].active
        if target is not None:
            blow = blow_on(state, frame, 1 - frame.seat, target)
            if blow is not None:
                moves.strike(state, blow, amount_of(amount, state, frame))

    return run


def damage_picked(amount: Amount) -> Op:
    """This attack does ``amount`` damage to each chosen Pokémon of your opponent."""

    def run(state: State, frame: Frame) -> None:
        for uid in frame.picks:
            target = state.find(uid)
            if target is not None:
                blow = blow_on(state, frame, 1 - frame.seat, target)
                if blow is not None:
                    moves.strike(state, blow, amount_of(amount, state, frame))

    return run


def bonus_prizes(count: int) -> Op:
    """Take ``count`` Prizes more for each Pokémon Knocked Out by damage from this attack."""

    def run(state: State, frame: Frame) -> None:
        state.bonus_prizes += count

    return run


def on_opponents_active(effect: Callable[[State, Frame, Pokemon], None]) -> Op:
    """An effect of this attack on your opponent's Active Pokémon, unless something prevents effects on it."""

    def run(state: State, frame: Frame) -> None:
        target = state.players[1 - frame.seat].active
        if target is None:
            return
        blow = blow_on(state, frame, 1 - frame.seat, target)
        if blow is not None and not modifiers.effects_prevented(state, blow):
            effect(state, frame, target)

    return run


def afflict_opponent(condition: int) -> Op:
    """Your opponent's Active Pokémon is now affected by this Special Condition."""
    return on_opponents_active(lambda s, f, target: _ignore(moves.afflict(s, 1 - f.seat, target, condition)))


def _ignore(value: object) -> None:
    """Drop a result that an operation has no use for."""


def effect_on_this(kind: str, turns_ahead: int, detail: str = "") -> Op:
    """An effect on this Pokémon that acts in the turn ``turns_ahead`` from now (2 is your next one)."""

    def run(state: State, frame: Frame) -> None:
        pokemon = source(state, frame)
        if pokemon is not None:
            moves.add_effect(pokemon, (kind, state.turn + turns_ahead, detail))

    return run


def effect_on_opponent(kind: str, turns_ahead: int, detail: str = "") -> Op:
    """An effect on your opponent that acts in the turn ``turns_ahead`` from now (1 is their next one)."""

    def run(state: State, frame: Frame) -> None:
        opponent = state.players[1 - frame.seat]
        opponent.effects = (*opponent.effects, (kind, state.turn + turns_ahead, detail))

    return run
