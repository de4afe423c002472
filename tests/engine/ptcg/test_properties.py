"""The six properties of a match (docs/match.md), held over random games of every pairing of decks."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from pathlib import Path
from random import Random

import pytest

from engine.match import IllegalAction, MatchSpec, Outcome, play_forced
from engine.ptcg.actions import PASS, PtcgAction
from engine.ptcg.decks import parse_deck
from engine.ptcg.determinize import determinize
from engine.ptcg.game import PtcgMatch, new_match
from engine.ptcg.library import CARDS
from engine.ptcg.observation import UNKNOWN
from engine.ptcg.state import Player

DECK_FOLDER = Path(__file__).parents[3] / "conf" / "deck"
DECKS = {path.stem: parse_deck(path.read_text(encoding="utf-8")) for path in sorted(DECK_FOLDER.glob("*.txt"))}
PAIRINGS = list(combinations_with_replacement(sorted(DECKS), 2))
MOST_ACTIONS = 150
CHEAP_GAMES = int(os.environ.get("PROPERTY_GAMES", "3000"))
DEAR_GAMES = CHEAP_GAMES // 10

Check = Callable[[PtcgMatch], None]


def new_game(pairing: tuple[str, str], seed: int) -> PtcgMatch:
    return new_match(MatchSpec("ptcg", seed, (DECKS[pairing[0]], DECKS[pairing[1]])))


def random_game(pairing: tuple[str, str], seed: int) -> Iterator[PtcgMatch]:
    """The match before its first action and after every one, played at random."""
    match = new_game(pairing, seed)
    rng = Random(seed)
    yield match
    while match.result is None:
        (seat,) = match.seats_to_act()
        match.apply(seat, rng.choice(match.legal_actions(seat)))
        yield match


def zones(player: Player) -> list[int]:
    cards = [*player.hand, *player.deck, *player.discard, *player.lost, *player.prizes, *player.playing]
    for pokemon in player.in_play():
        cards += [*pokemon.cards, *pokemon.energy, *pokemon.tools]
    return cards


def hold_cards_in_one_zone(match: PtcgMatch) -> None:
    state = match.state
    if state.stack and not any(player.deck or player.hand for player in state.players):
        return  # nobody has been dealt a card yet
    for seat, player in enumerate(state.players):
        cards = zones(player)
        if state.stadium >= 0 and state.stadium_owner == seat:
            cards.append(state.stadium)
        assert tuple(sorted(cards)) == state.deck_lists[seat]


def hold_legal_list(match: PtcgMatch) -> None:
    if match.result is not None:
        assert match.seats_to_act() == ()
        assert list(match.legal_actions(0)) == list(match.legal_actions(1)) == []
        return
    (seat,) = match.seats_to_act()
    legal = match.legal_actions(seat)
    assert 0 < len(legal) <= MOST_ACTIONS
    assert len({action.key for action in legal}) == len(legal)
    assert len({action.sentence for action in legal}) == len(legal)
    assert list(match.legal_actions(1 - seat)) == []


def hold_table(match: PtcgMatch) -> None:
    """What lies on the table is as the rules allow: Benches, Tools, Special Conditions, evolution lines."""
    state = match.state
    for player in state.players:
        assert len(player.bench) <= 5
        for pokemon in player.in_play():
            assert len(pokemon.tools) <= 1
            assert pokemon.damage >= 0
            lowest = CARDS[pokemon.cards[0]]
            # Summoning Star puts Colorless Evolutions straight onto the Bench, with nothing under them.
            assert lowest.is_basic or (lowest.types == "C" and len(pokemon.cards) == 1)
            stages = [CARDS[card].stage for card in pokemon.cards]
            assert stages == sorted(set(stages))
            if pokemon is not player.active:
                assert pokemon.conditions == 0
                assert pokemon.effects == ()


@pytest.mark.parametrize("pairing", PAIRINGS, ids="-".join)
def test_invariants_after_every_action(pairing: tuple[str, str]) -> None:
    for seed in range(max(CHEAP_GAMES // len(PAIRINGS), 1)):
        for match in random_game(pairing, seed):
            hold_cards_in_one_zone(match)
            hold_legal_list(match)
            hold_table(match)
        assert match.result is not None
        assert (match.result.winner is None) == (match.result.outcome != Outcome.WIN)


def decisions(pairing: tuple[str, str], seeds: range) -> Iterator[tuple[PtcgMatch, int]]:
    for seed in seeds:
        for match in random_game(pairing, 1000 + seed):
            if match.result is None:
                (seat,) = match.seats_to_act()
                if len(match.legal_actions(seat)) > 1:
                    yield match, seat


def dear_seeds(share: int) -> range:
    return range(max(DEAR_GAMES // share // len(PAIRINGS), 1))


@pytest.mark.parametrize("pairing", PAIRINGS, ids="-".join)
def test_a_state_is_a_value(pairing: tuple[str, str]) -> None:
    for match, seat in decisions(pairing, dear_seeds(3)):
        copy = match.clone()
        stored = pickle.loads(pickle.dumps(match))
        assert copy == match
        assert stored == match
        assert stored.digest() == match.digest()
        before = match.digest()
        for action in match.legal_actions(seat)[:3]:
            twin, other = match.clone(), pickle.loads(pickle.dumps(match))
            twin.apply(seat, action)
            other.apply(seat, next(a for a in other.legal_actions(seat) if a.key == action.key))
            assert twin == other
            assert twin != match
        assert match.digest() == before


def test_actions_survive_pickling() -> None:
    for match, seat in decisions(PAIRINGS[0], range(2)):
        for action in match.legal_actions(seat):
            assert pickle.loads(pickle.dumps(action)) is action


def test_equal_spec_and_actions_give_equal_states_in_another_process() -> None:
    program = (
        "from test_properties import PAIRINGS, random_game\n"
        "for pairing in PAIRINGS:\n"
        "    *_, match = random_game(pairing, 7)\n"
        "    print(match.digest(), match.turn, match.result)\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
        ).stdout
        for hash_seed in ("1", "2")
    }
    here = ""
    for pairing in PAIRINGS:
        *_, match = random_game(pairing, 7)
        here += f"{match.digest()} {match.turn} {match.result}\n"
    assert outputs == {here}


@pytest.mark.parametrize("pairing", PAIRINGS, ids="-".join)
def test_replaying_the_keys_gives_the_same_game(pairing: tuple[str, str]) -> None:
    for seed in dear_seeds(6):
        match = new_game(pairing, seed)
        rng = Random(seed)
        keys: list[tuple[int, str]] = []
        while match.result is None:
            (seat,) = match.seats_to_act()
            action = rng.choice(match.legal_actions(seat))
            keys.append((seat, action.key))
            match.apply(seat, action)
        again = new_game(pairing, seed)
        for seat, key in keys:
            again.apply(seat, next(a for a in again.legal_actions(seat) if a.key == key))
        assert again == match


def redeal(match: PtcgMatch, seat: int, rng: Random) -> PtcgMatch:
    """The match with everything that ``seat`` cannot know dealt anew."""
    copy = match.clone()
    state = copy.state
    state.seed ^= rng.getrandbits(62)
    own, other = state.players[seat], state.players[1 - seat]
    # Own cards: the order of the deck but for the known top and bottom, and the Prizes unless they are known.
    bottom = sum(size for size, _, _ in own.bottom)
    place = 0
    for size, _, _ in own.bottom:
        block = own.deck[place : place + size]
        rng.shuffle(block)
        own.deck[place : place + size] = block
        place += size
    end = len(own.deck) - own.top_known
    middle = own.deck[bottom:end]
    if own.prizes_known:
        rng.shuffle(own.prizes)
        rng.shuffle(middle)
    else:
        pool = middle + own.prizes
        rng.shuffle(pool)
        middle, own.prizes = pool[: len(middle)], pool[len(middle) :]
    own.deck[bottom:end] = middle
    # The opponent's: hand but for the cards seen, Prizes, deck but for the cards known to lie at the bottom.
    if not any(other.bottom):
        hidden = list((Counter(other.hand) - Counter(other.known_hand)).elements())
        face_down = other.in_play() if state.turn == 0 else []
        pool = hidden + other.deck + other.prizes
        rng.shuffle(pool)
        for pokemon in face_down:
            basics = [i for i, card in enumerate(pool) if CARDS[card].is_basic]
            if basics:
                pool.append(pokemon.cards[0])
                pokemon.cards = [pool.pop(basics[0])]
        other.hand = other.known_hand + pool[: len(hidden)]
        other.deck = pool[len(hidden) : len(hidden) + len(other.deck)]
        other.prizes = pool[len(hidden) + len(other.deck) :]
    # What the log holds of the opponent's secrets is as hidden as the secrets.
    cards = range(len(CARDS))
    log = []
    for event in state.log:
        kind = event[0]
        if event[1] != seat:
            if kind in ("draw", "look", "prizes", "to_top", "hand_to_deck", "hand_to_bottom"):
                event = (kind, event[1], tuple(rng.choice(cards) for _ in event[2]), *event[3:])
            elif kind in ("set_up_active", "set_up_bench"):
                event = (kind, event[1], rng.choice(cards))
            elif kind == "to_hand" and not event[4]:
                event = (kind, event[1], tuple(rng.choice(cards) for _ in event[2]), *event[3:])
        log.append(event)
    state.log = log
    copy._legal = None
    return copy


def told(match: PtcgMatch, seat: int) -> str:
    """Everything that is ever handed to ``seat``, as text."""
    observation = match.observe(seat)
    legal = match.legal_actions(seat)
    refusal = ""
    try:
        match.clone().apply(seat, PtcgAction(PASS.kind, 0, 3, 0, "no such action"))
    except IllegalAction as error:
        refusal = str(error)
    return json.dumps(
        [
            observation.to_json(),
            [(action.key, action.sentence) for action in legal],
            match.events(seat),
            refusal,
            repr(observation.known.plain()),
            repr(observation.events),
        ]
    )


@pytest.mark.parametrize("pairing", PAIRINGS, ids="-".join)
def test_hidden_stays_hidden(pairing: tuple[str, str]) -> None:
    rng = Random(5)
    changed = 0
    for match, _ in decisions(pairing, dear_seeds(3)):
        for seat in (0, 1):
            other = redeal(match, seat, rng)
            changed += other != match
            assert told(other, seat) == told(match, seat)
    assert changed > 0


@pytest.mark.parametrize("pairing", PAIRINGS, ids="-".join)
def test_determinize_keeps_what_is_known_and_can_give_the_truth(pairing: tuple[str, str]) -> None:
    rng = Random(6)
    for match, seat in decisions(pairing, dear_seeds(3)):
        observation = match.observe(seat)
        drawn = determinize(observation, rng, DECKS[pairing[1 - seat]])
        again = drawn.observe(seat)
        assert again.known == observation.known
        assert [a.key for a in drawn.legal_actions(seat)] == [a.key for a in match.legal_actions(seat)]
        for player, true, known in zip(
            drawn.state.players, match.state.players, observation.known.players, strict=True
        ):
            # The truth is one of the worlds that can be drawn: the same cards, and all that is known holds in it.
            assert sorted(zones(player)) == sorted(zones(true))
            assert len(player.hand) == len(true.hand)
            assert len(player.deck) == len(true.deck)
            assert not Counter(card for card in known.hand if card != UNKNOWN) - Counter(true.hand)
            place = 0
            for size, owner, opponent in known.bottom:
                assert not Counter(owner + opponent) - Counter(true.deck[place : place + size])
                place += size
            for true_card, known_card in zip(true.deck, known.deck, strict=True):
                assert known_card in (UNKNOWN, true_card)


def test_a_determinized_match_can_be_played_to_its_end() -> None:
    rng = Random(8)
    for pairing in PAIRINGS:
        for number, (match, seat) in enumerate(decisions(pairing, range(1))):
            if number % 10 == 0:
                world = determinize(match.observe(seat), rng, DECKS[pairing[1 - seat]])
                while world.result is None:
                    (mover,) = world.seats_to_act()
                    world.apply(mover, rng.choice(world.legal_actions(mover)))


def test_an_illegal_action_changes_nothing() -> None:
    for match, seat in decisions(PAIRINGS[-1], range(3)):
        before = pickle.dumps(match)
        legal = {action.key for action in match.legal_actions(seat)}
        wrong = PtcgAction(PASS.kind, 0, 3, 0, "no such action")
        for mover, action in ((seat, wrong), (1 - seat, match.legal_actions(seat)[0])):
            with pytest.raises(IllegalAction, match="is not legal"):
                match.apply(mover, action)
            assert pickle.dumps(match) == before
        assert {action.key for action in match.legal_actions(seat)} == legal


def test_the_turn_cap_ends_a_game_apart_from_a_draw() -> None:
    pairing = PAIRINGS[0]
    match = new_match(MatchSpec("ptcg", 3, (DECKS[pairing[0]], DECKS[pairing[1]]), {"turn_cap": 4}))
    while match.result is None:
        play_forced(match)
        for seat in match.seats_to_act():
            match.apply(seat, next((a for a in match.legal_actions(seat) if a is PASS), match.legal_actions(seat)[0]))
    assert match.result.outcome == Outcome.TURN_CAP
    assert match.result.winner is None
    assert match.turn == 4
