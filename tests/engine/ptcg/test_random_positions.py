"""Positions that nobody thought of, out of all cards: they are read and written, play on by the rules, or are refused.

``POSITION_EXAMPLES`` sets how many positions each test tries; the same ones each time.
"""

from __future__ import annotations

import json
import os
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ptcg_invariants import (
    hold_cards_in_one_zone,
    hold_determinization,
    hold_hidden,
    hold_legal_list,
    hold_refusal,
    hold_rules_of_the_turn,
    hold_table,
    hold_value,
    hold_what_is_shown,
    one_way,
)
from ptcg_play import Json, actor, choosing, keys, own, play
from ptcg_positions import JUNK, faulty_positions, full_hp, own_cards, places, positions, put

from engine.ptcg.actions import DONE, PASS, ActionKind, action
from engine.ptcg.game import PtcgMatch
from engine.ptcg.library import CARDS, INDEX
from engine.ptcg.position import PositionError, match_from_position, position_from_match

EXAMPLES = int(os.environ.get("POSITION_EXAMPLES", "40"))
DEPTH = 5

a_seed = st.integers(0, 2**32)


def tried(examples: int) -> Any:
    """Try so many examples, the same ones each time."""
    unhurried = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    return settings(max_examples=examples, derandomize=True, database=None, suppress_health_check=unhurried)


def step(match: PtcgMatch, rng: Random) -> None:
    """Play a random action; a turn ends by an attack more often than not, and seldom without anything done."""
    seat = actor(match)
    legal = match.legal_actions(seat)
    attacks = [action for action in legal if action.kind is ActionKind.ATTACK]
    others = [action for action in legal if action is not PASS]
    match.apply(seat, rng.choice(attacks if attacks and rng.random() < 0.3 else others or legal))


def refused(position: Json) -> str | None:
    """Why a position is refused; ``None`` where it is taken. No other exception is caught."""
    try:
        match_from_position(position)
    except PositionError as error:
        return str(error)
    return None


@tried(2 * EXAMPLES)
@given(positions())
def test_a_valid_position_is_read_and_written_back(position: Json) -> None:
    given = json.loads(json.dumps(position))
    match = match_from_position(position)
    assert position == given
    assert position_from_match(match) == given
    assert actor(match) == position["to_move"]
    assert "pass" in keys(match)
    for seat in (0, 1):
        seen, side = own(match, seat), position["players"][seat]
        assert seen["deck_list"] == own_cards(position, seat)
        for shown, laid in zip([seen["active"], *seen["bench"]], [side["active"], *side["bench"]], strict=True):
            assert shown["hp"] == full_hp(CARDS[INDEX[laid["card"]]], laid["tools"]) - laid["damage"]
            assert [shown[name] for name in ("card", "under", "energy", "tools", "damage", "conditions")] == [
                laid[name] for name in ("card", "under", "energy", "tools", "damage", "conditions")
            ]


@tried(EXAMPLES)
@given(positions(), a_seed)
def test_the_properties_of_a_match_hold_from_any_position(position: Json, seed: int) -> None:
    match, rng = match_from_position(position), Random(seed)
    decks = [own_cards(position, seat) for seat in (0, 1)]
    somewhere = (PASS, DONE, action(ActionKind.RETREAT, -1, 5, 0), action(ActionKind.PLAY, rng.randrange(len(CARDS))))
    for _ in range(DEPTH):
        if match.result is not None:
            break
        seat = actor(match)
        legal = match.legal_actions(seat)
        hold_cards_in_one_zone(match)
        hold_legal_list(match)
        hold_table(match)
        hold_rules_of_the_turn(match)
        hold_value(match, rng.sample(legal, min(2, len(legal))))
        hold_refusal(match, 1 - seat, rng.choice(legal))
        for other in somewhere:
            if other not in legal:
                hold_refusal(match, seat, other)
        hold_determinization(match, seat, rng, decks[1 - seat])
        for observer in (0, 1):
            hold_what_is_shown(match, observer)
            hold_hidden(match, observer, rng)
        step(match, rng)


@tried(EXAMPLES)
@given(positions(), a_seed)
def test_play_from_any_position_keeps_to_the_rules_and_ends(position: Json, seed: int) -> None:
    match, rng = match_from_position(position), Random(seed)
    while match.result is None:
        before = one_way(match)
        step(match, rng)
        hold_cards_in_one_zone(match)
        hold_legal_list(match)
        hold_table(match)
        hold_rules_of_the_turn(match)
        after = one_way(match)
        assert after.turn >= before.turn
        if after.game == before.game:
            assert all(now <= then for now, then in zip(after.prizes, before.prizes, strict=True))
            assert not any(then - now for now, then in zip(after.lost, before.lost, strict=True))
            assert all(now >= then for now, then in zip(after.vstar, before.vstar, strict=True))
    assert match.turn <= position["turns_before"] + position["options"]["turn_cap"]


@tried(EXAMPLES)
@given(positions(), a_seed, st.integers(1, 40))
def test_a_position_taken_at_any_time_plays_on_alike(position: Json, seed: int, actions: int) -> None:
    match, rng = match_from_position(position), Random(seed)
    while match.result is None and (actions > 0 or choosing(match) is not None or match.state.turn == 0):
        step(match, rng)
        actions -= 1
    if match.result is not None:
        return
    written = json.loads(json.dumps(position_from_match(match)))
    copy = match_from_position(written)
    assert position_from_match(copy) == written
    for _ in range(40):
        assert (copy.result, copy.turn) == (match.result, match.turn)
        if match.result is not None:
            break
        assert keys(copy) == keys(match)
        assert [own(copy, seat) for seat in (0, 1)] == [own(match, seat) for seat in (0, 1)]
        key = rng.choice(keys(match))
        play(match, key, forced=False)
        play(copy, key, forced=False)


@tried(2 * EXAMPLES)
@given(faulty_positions())
def test_a_position_with_one_fault_is_refused_in_one_line(faulty: tuple[str, Json]) -> None:
    fault, position = faulty
    refusal = refused(position)
    assert refusal is not None, f"taken although {fault}"
    where, _, reason = refusal.partition(": ")
    assert where.startswith(("position", "players[", "stadium"))
    assert reason.strip()
    assert "\n" not in refusal


any_json = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 5, 60, -1, 10**30, 2.0, float("inf"), "", "PAF-7", "asleep", *JUNK]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["card", "energy", "x"]), inner),
    max_leaves=4,
)


@tried(2 * EXAMPLES)
@given(positions(), st.data(), any_json)
def test_whatever_stands_in_a_field_is_refused_or_can_be_played(
    position: Json, data: st.DataObject, value: Any
) -> None:
    path, _ = data.draw(st.sampled_from(places(position)))
    put(position, path, value)
    refusal = refused(position)
    if refusal is not None:
        assert "\n" not in refusal
    else:
        match, rng = match_from_position(position), Random(0)
        for _ in range(DEPTH):
            if match.result is None:
                hold_cards_in_one_zone(match)
                hold_legal_list(match)
                step(match, rng)
