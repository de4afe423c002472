"""How a game begins: who goes first, opening hands, mulligans, Active and Bench face down, Prize cards, first draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import pytest
from ptcg_play import active, actor, bench_cards, candidates, choosing, events, hand, keys, own, play, view

from engine.match import MatchSpec
from engine.ptcg.game import PtcgMatch, new_match

FEW_BASICS: Mapping[str, int] = {"PAF-7": 4, "SVE-2": 56}
MANY_BASICS: Mapping[str, int] = {
    **dict.fromkeys(("PAF-7", "MEW-16", "CRZ-111", "BRS-41", "OBF-80", "PGO-29", "PAR-56", "PAR-126", "BRS-40"), 4),
    "SVE-4": 24,
}
BASICS = set(MANY_BASICS) - {"SVE-4"}


def dealt(
    decks: tuple[Mapping[str, int], Mapping[str, int]], wanted: Callable[[PtcgMatch], bool], first: int = 0
) -> PtcgMatch:
    """The first game, by its seed, that is ``wanted`` once ``first`` was chosen to go first."""
    for seed in range(3000):
        match = new_match(MatchSpec("ptcg", seed, decks))
        play(match, "choose:go first" if actor(match) == first else "choose:go second", forced=False)
        if wanted(match):
            return match
    raise AssertionError("no such game among 3000 seeds")


def mulligans(match: PtcgMatch, seat: int) -> int:
    return sum(event["seat"] == seat for event in events(match, 0, "mulligan"))


def finish(match: PtcgMatch) -> PtcgMatch:
    """Choose the first Active that is offered, no Bench, and no extra cards, to the end of the set-up."""
    while view(match, 0)["turn"] == 0:
        legal = keys(match)
        key = next((k for k in ("done", "choose:0") if k in legal), legal[0])
        play(match, key, forced=False)
    return match


def test_the_winner_of_the_coin_flip_chooses_who_goes_first() -> None:
    winners = set()
    for seed in range(8):
        match = new_match(MatchSpec("ptcg", seed, (MANY_BASICS, MANY_BASICS)))
        winner = actor(match)
        winners.add(winner)
        assert events(match, 1 - winner, "coin_flip_won")[0]["seat"] == winner
        assert keys(match) == ["choose:go first", "choose:go second"]
        assert own(match, 0)["hand_count"] == 0
        second = finish(play(match.clone(), "choose:go second", forced=False))
        assert (view(second, 0)["first_player"], actor(second)) == (1 - winner, 1 - winner)
        first = finish(play(match, "choose:go first", forced=False))
        assert (view(first, 0)["first_player"], actor(first)) == (winner, winner)
    assert winners == {0, 1}


def test_a_side_is_set_up_from_seven_cards_and_six_prizes_and_the_first_player_draws() -> None:
    match = finish(dealt((MANY_BASICS, MANY_BASICS), lambda m: True))
    assert view(match, 0)["turn"] == 1
    assert own(match, 0)["hand_count"] == 7 - 1 + 1
    assert own(match, 1)["hand_count"] == 7 - 1
    assert [own(match, seat)["prize_count"] for seat in (0, 1)] == [6, 6]
    assert [own(match, seat)["deck_count"] for seat in (0, 1)] == [60 - 7 - 6 - 1, 60 - 7 - 6]
    play(match, "pass")
    assert own(match, 1)["hand_count"] == 7 - 1 + 1


def test_only_basic_pokemon_are_set_up_and_at_most_five_on_the_bench() -> None:
    def six_basics(match: PtcgMatch) -> bool:
        return sum(card in BASICS for card in hand(match, actor(match))) >= 7

    match = dealt((MANY_BASICS, MANY_BASICS), six_basics)
    seat = actor(match)
    assert candidates(match) == set(hand(match, seat)) & BASICS
    play(match, keys(match)[0], forced=False)
    for _ in range(5):
        assert "done" in keys(match)
        play(match, keys(match)[0], forced=False)
    assert len(bench_cards(match, seat)) == 5
    assert own(match, seat)["hand_count"] == 1
    assert own(match, seat)["prize_count"] == 6


def test_04_lumineon_benched_in_set_up_does_not_search() -> None:
    def has_lumineon_and_another(match: PtcgMatch) -> bool:
        cards = hand(match, actor(match))
        return "BRS-40" in cards and len(BASICS & set(cards)) > 1

    match = dealt((MANY_BASICS, MANY_BASICS), has_lumineon_and_another)
    seat = actor(match)
    play(match, next(key for key in keys(match) if key != "choose:BRS-40"), forced=False)
    play(match, "choose:BRS-40", "done" if "done" in keys(match) else keys(match)[0], forced=False)
    finish(match)
    assert "BRS-40" in bench_cards(match, seat)
    assert not events(match, seat, "ability")
    assert not [event for event in events(match, seat, "shuffle") if event["seat"] == seat][1:]


def test_04_the_bench_may_stay_empty() -> None:
    match = finish(dealt((MANY_BASICS, MANY_BASICS), lambda m: len(BASICS & set(hand(m, actor(m)))) > 1))
    assert (bench_cards(match, 0), bench_cards(match, 1)) == ([], [])


def test_what_is_set_up_lies_face_down_for_the_opponent_until_the_game_begins() -> None:
    match = dealt((MANY_BASICS, MANY_BASICS), lambda m: True)
    seat = actor(match)
    play(match, keys(match)[0], forced=False)
    if choosing(match) is not None and actor(match) == seat:
        play(match, keys(match)[0], forced=False)
    assert view(match, 1 - seat)["opponent"]["active"] == {"place": "active", "face_down": True}
    assert "card" not in events(match, 1 - seat, "set_up_active")[0]
    assert events(match, seat, "set_up_active")[0]["card"] == active(match, seat)["card"]
    finish(match)
    seen = view(match, 1 - seat)["opponent"]["active"]
    assert seen["card"] == active(match, seat)["card"]
    face_up = [event for event in events(match, 1 - seat, "face_up") if event["seat"] == seat]
    assert face_up[0]["cards"] == [active(match, seat)["card"], *bench_cards(match, seat)]


def test_03_mulligans_come_after_the_others_set_up_and_give_it_extra_cards() -> None:
    """Seat 0 fails twice, seat 1 never."""

    def failed(match: PtcgMatch) -> bool:
        if mulligans(match, 0) or actor(match) != 1 or BASICS.isdisjoint(hand(match, 1)):
            return False
        copy = match.clone()
        while actor(copy) == 1:
            play(copy, "done" if "done" in keys(copy) else keys(copy)[0], forced=False)
        return mulligans(copy, 0) == 2

    # Seat 0 goes first, yet seat 1 sets up first: it is the one that can.
    match = dealt((FEW_BASICS, MANY_BASICS), failed, first=0)
    while actor(match) == 1:
        assert not events(match, 1, "mulligan")
        play(match, "done" if "done" in keys(match) else keys(match)[0], forced=False)
    assert own(match, 1)["prize_count"] == 6
    hand_before = Counter(hand(match, 1))
    shown = events(match, 1, "mulligan")
    assert [len(event["cards"]) for event in shown] == [7, 7]
    assert all(card == "SVE-2" for event in shown for card in event["cards"])
    # Seat 0 has a Basic Pokémon now, and sets up with its Prizes before the extra cards are drawn.
    while actor(match) == 0:
        assert "PAF-7" in keys(match)[0]
        play(match, "done" if "done" in keys(match) else keys(match)[0], forced=False)
    assert own(match, 0)["prize_count"] == 6
    assert keys(match) == ["choose:0", "choose:1", "choose:2"]
    active_before = active(match, 1)["card"]
    play(match, "choose:2", forced=False)
    drawn = Counter(hand(match, 1)) - hand_before
    assert drawn.total() == 2
    if choosing(match) is not None:
        # Of the cards drawn, Basic Pokémon may still go onto the Bench; nothing else may.
        assert candidates(match) == set(drawn) & BASICS
    finish(match)
    assert active(match, 1)["card"] == active_before


def test_03_a_basic_pokemon_drawn_for_a_mulligan_may_be_benched() -> None:
    def failed_and_drew_a_basic(match: PtcgMatch) -> bool:
        if mulligans(match, 0) or actor(match) != 1:
            return False
        while view(match, 0)["turn"] == 0 and "choose:1" not in keys(match):
            play(match, "done" if "done" in keys(match) else keys(match)[0], forced=False)
        if view(match, 0)["turn"] != 0:
            return False
        before = len(bench_cards(match, 1))
        play(match, "choose:1", forced=False)
        if choosing(match) is None:
            return False
        assert "done" in keys(match)
        play(match, keys(match)[0], forced=False)
        return len(bench_cards(match, 1)) == before + 1

    match = dealt((FEW_BASICS, MANY_BASICS), failed_and_drew_a_basic)
    assert view(match, 1)["turn"] == 1
    assert own(match, 1)["hand_count"] == 7 - 1 + 1 - 1


@pytest.mark.parametrize("difference", [0, 1, 2])
def test_03_mulligans_of_both_cancel(difference: int) -> None:
    """Both fail with the first hand; seat 0 fails ``difference`` times more."""

    def both_failed(match: PtcgMatch) -> bool:
        if not mulligans(match, 0) or mulligans(match, 0) != mulligans(match, 1):
            return False
        copy = match.clone()
        finish(copy)
        return (mulligans(copy, 0) - mulligans(copy, 1)) == difference

    match = dealt((FEW_BASICS, FEW_BASICS), both_failed)
    offered: list[list[str]] = []
    while view(match, 0)["turn"] == 0:
        legal = keys(match)
        if "choose:0" in legal:
            assert actor(match) == 1
            offered.append(legal)
        play(match, "done" if "done" in legal else legal[0], forced=False)
    assert offered == ([[f"choose:{n}" for n in range(difference + 1)]] if difference else [])


def test_a_deck_that_breaks_the_rules_or_an_unknown_option_begins_no_game() -> None:
    with pytest.raises(ValueError, match="59 cards; 60 are needed"):
        new_match(MatchSpec("ptcg", 1, ({"PAF-7": 4, "SVE-2": 55}, MANY_BASICS)))
    with pytest.raises(ValueError, match="unknown option 'sudden'"):
        new_match(MatchSpec("ptcg", 1, (MANY_BASICS, MANY_BASICS), {"sudden": "draw"}))
    with pytest.raises(ValueError, match="sudden_death is 'never'"):
        new_match(MatchSpec("ptcg", 1, (MANY_BASICS, MANY_BASICS), {"sudden_death": "never"}))
    with pytest.raises(ValueError, match="turn_cap is 0"):
        new_match(MatchSpec("ptcg", 1, (MANY_BASICS, MANY_BASICS), {"turn_cap": 0}))


def test_a_game_that_reaches_the_turn_cap_ends_there() -> None:
    match = finish(new_match_with(turn_cap=3))
    for _ in range(3):
        assert match.result is None
        play(match, "pass")
    assert match.result is not None
    assert (match.result.outcome.value, match.result.winner, match.turn) == ("turn_cap", None, 3)


def new_match_with(**options: object) -> PtcgMatch:
    match = new_match(MatchSpec("ptcg", 5, (MANY_BASICS, MANY_BASICS), options))
    return play(match, "choose:go first", forced=False)
