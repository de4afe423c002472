"""What holds at every moment of every match, as checks that the random games and the random positions share.

Each takes a match and raises ``AssertionError`` where it does not hold; none changes the match.
"""

from __future__ import annotations

import json
import pickle
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from random import Random
from typing import NamedTuple

import pytest

from engine.match import IllegalAction
from engine.ptcg import modifiers
from engine.ptcg.actions import PASS, PtcgAction
from engine.ptcg.card import Kind
from engine.ptcg.determinize import determinize
from engine.ptcg.game import PtcgMatch
from engine.ptcg.library import CARDS, INDEX
from engine.ptcg.modifiers import CANNOT_ATTACK, NO_ITEMS
from engine.ptcg.observation import UNKNOWN
from engine.ptcg.state import Player

MOST_ACTIONS = 150


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
    """What lies on the table is as the rules allow: Benches, Tools, Special Conditions, evolution lines, Prizes, HP."""
    state = match.state
    settled = not state.stack and match.result is None
    for player in state.players:
        assert len(player.bench) <= modifiers.BENCH_LIMIT
        assert len(player.prizes) <= state.prize_count
        if settled:
            # Between effects nobody is Knocked Out, without an Active Pokémon, or over the limit of the Bench.
            assert player.active is not None
            assert player.prizes
            assert not player.playing
            assert len(player.bench) <= modifiers.bench_limit(state)
            assert all(modifiers.remaining_hp(state, pokemon) > 0 for pokemon in player.in_play())
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


def hold_hidden(match: PtcgMatch, seat: int, rng: Random) -> bool:
    """Nothing that ``seat`` is told depends on what it cannot know; returns whether re-dealing changed anything."""
    other = redeal(match, seat, rng)
    assert told(other, seat) == told(match, seat)
    return other != match


def hold_value(match: PtcgMatch, actions: Iterable[PtcgAction]) -> None:
    """Clones and pickled copies are equal, play on alike under each of the legal ``actions``, and leave this alone."""
    (seat,) = match.seats_to_act()
    stored = pickle.loads(pickle.dumps(match))
    assert match.clone() == match
    assert stored == match
    assert stored.digest() == match.digest()
    before = match.digest()
    for action in actions:
        twin, other = match.clone(), pickle.loads(pickle.dumps(match))
        twin.apply(seat, action)
        other.apply(seat, next(a for a in other.legal_actions(seat) if a.key == action.key))
        assert twin == other
        assert twin != match
    assert match.digest() == before


def hold_refusal(match: PtcgMatch, seat: int, action: PtcgAction) -> None:
    """``action``, which is not legal for ``seat`` now, is refused and changes nothing."""
    before = pickle.dumps(match)
    legal = [list(match.legal_actions(s)) for s in (0, 1)]
    with pytest.raises(IllegalAction, match="is not legal") as refused:
        match.apply(seat, action)
    assert "\n" not in str(refused.value)
    assert pickle.dumps(match) == before
    assert [list(match.legal_actions(s)) for s in (0, 1)] == legal


def hold_determinization(match: PtcgMatch, seat: int, rng: Random, opponents_deck: Mapping[str, int]) -> None:
    """A world drawn from what ``seat`` (which is to act) knows keeps all it knows, and can be the true one."""
    observation = match.observe(seat)
    drawn = determinize(observation, rng, opponents_deck)
    assert drawn.observe(seat).known == observation.known
    assert [a.key for a in drawn.legal_actions(seat)] == [a.key for a in match.legal_actions(seat)]
    for player, true, known in zip(drawn.state.players, match.state.players, observation.known.players, strict=True):
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


# --- what a person who knows the rules would see at a glance ---------------------------------------------------------


class OneWay(NamedTuple):
    """What changes in one direction only while a game goes on; ``game`` counts up with each Sudden Death."""

    game: int
    turn: int
    prizes: tuple[int, ...]
    lost: tuple[Counter[int], ...]
    vstar: tuple[bool, ...]


def one_way(match: PtcgMatch) -> OneWay:
    """Turns only go up, Prizes only down, nothing leaves the Lost Zone, a VSTAR Power is used up for good."""
    state, players = match.state, match.state.players
    return OneWay(
        state.turns_before,
        match.turn,
        tuple(len(p.prizes) if state.turn else state.prize_count for p in players),
        tuple(Counter(p.lost) for p in players),
        tuple(p.vstar_used for p in players),
    )


def hold_what_is_shown(match: PtcgMatch, observer: int) -> None:
    """HP and damage shown add up; between effects all have HP left, and Prizes and Bench are within their limits."""
    view = match.observe(observer).to_json()
    quiet = not match.state.stack and match.result is None
    for side in (view["you"], view["opponent"]):
        assert 0 <= side["prize_count"] <= view["prizes_to_win"] <= 6
        assert not quiet or (side["prize_count"] > 0 and len(side["bench"]) <= side["bench_limit"])
        for pokemon in (side["active"], *side["bench"]):
            if pokemon is not None and not pokemon.get("face_down"):
                assert pokemon["damage"] >= 0
                assert pokemon["damage"] % 10 == 0
                assert pokemon["hp"] == pokemon["max_hp"] - pokemon["damage"]
                assert pokemon["max_hp"] >= CARDS[INDEX[pokemon["card"]]].hp
                assert not quiet or pokemon["hp"] > 0


def hold_rules_of_the_turn(match: PtcgMatch) -> None:
    """Between effects what was done already or is forbidden now is not offered, and the turn can be ended."""
    if match.result is not None or match.state.prompt is not None:
        return
    (seat,) = match.seats_to_act()
    view = match.observe(seat).to_json()
    you, turn = view["you"], view["turn"]
    used = you["used"]
    in_play = {pokemon["place"]: pokemon for pokemon in (you["active"], *you["bench"])}
    active = you["active"]
    still = {"asleep", "paralyzed"} & set(active["conditions"])
    stopped = {effect["effect"] for effect in (*active["effects"], *you["effects"]) if effect.get("in_turns") == 0}
    keys = [action.key for action in match.legal_actions(seat)]
    assert keys[-1] == "pass"
    for key in keys[:-1]:
        form, what, place = re.fullmatch(r"(\w+):?([^>@]*)[>@]?(.*)", key).groups()  # type: ignore[union-attr]
        card = CARDS[INDEX[what]] if what in INDEX else None
        at = in_play.get(place)
        if form in ("bench", "evolve", "attach", "play"):
            assert card is not None
            assert what in you["hand"]
        match form:
            case "bench":
                assert card.is_basic
                assert len(you["bench"]) < you["bench_limit"]
            case "evolve":
                assert turn > 2
                assert card.evolves_from == at["name"]
                assert not at["entered_this_turn"]
                assert not at["evolved_this_turn"]
            case "attach":
                assert not used["energy"] if card.is_energy else (card.kind is Kind.TOOL and not at["tools"])
            case "play" if card.kind is Kind.SUPPORTER:
                assert not used["supporter"]
                assert turn > 1
            case "play" if card.kind is Kind.STADIUM:
                assert not used["stadium"]
                assert view["stadium"] is None or view["stadium"]["card"] != what
            case "play":
                assert card.kind is Kind.ITEM
                assert NO_ITEMS not in stopped
            case "stadium":
                assert view["stadium"]["card"] == what
                assert not used["stadium_effect"]
            case "ability":
                if what in ("Summoning Star", "Star Alchemy"):
                    assert not used["vstar"]
                elif what != "Psychic Embrace":
                    assert not at["ability_used"]
                assert what not in used["abilities"]
                assert what == "Star Alchemy" or at["has_ability"]
            case "retreat":
                assert not used["retreat"]
                assert not still
                assert len(active["energy_provided"]) >= active["retreat_cost"]
                assert in_play[place] is not active
            case "attack":
                assert not still
                assert CANNOT_ATTACK not in stopped
                assert turn > 1 or what == "Fast Charge"
            case _:
                raise AssertionError(key)
