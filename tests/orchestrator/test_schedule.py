"""What a schedule promises, whatever its size."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from dataclasses import replace
from hashlib import blake2b
from itertools import combinations, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.config import ConfigError, Deck, DeckPairing, Entrant, TournamentConfig
from orchestrator.schedule import Schedule, check_balance, check_counts, pair_at

NAMES = st.lists(st.text("abcdefgh é/", min_size=1, max_size=4), min_size=2, max_size=6, unique=True)
DECKS = st.lists(st.sampled_from(["charizard", "miraidon", "lugia", "mew"]), max_size=4, unique=True)


def tournament(
    names: list[str], decks: list[str], games_per_pair: int = 2, pairing: str = "mirror", seed: int = 1
) -> TournamentConfig:
    entrants = tuple(Entrant(name, {"kind": "random"}) for name in names)
    return TournamentConfig(
        "r",
        entrants,
        tuple(Deck(name, {"X": 60}) for name in decks),
        seed=seed,
        game="standin",
        deck_pairing=DeckPairing(pairing),
        games_per_pair=games_per_pair,
    )


@given(NAMES, DECKS, st.integers(1, 4), st.sampled_from(["mirror", "cross"]))
def test_every_pair_plays_the_asked_number_of_games_on_every_deck_or_pair_of_decks(
    names: list[str], decks: list[str], twins: int, pairing: str
) -> None:
    schedule = Schedule(tournament(names, decks, 2 * twins, pairing))
    met = Counter((frozenset(game.entrants), tuple(sorted(game.decks))) for game in schedule)
    listed = sorted(decks) or [""]
    deck_pairs = [(deck, deck) for deck in listed]
    if pairing == "cross":
        deck_pairs += list(combinations(listed, 2))
    assert met == {(frozenset(pair), decks): 2 * twins for pair in combinations(names, 2) for decks in deck_pairs}
    assert len(schedule) == sum(met.values())


@given(NAMES, DECKS, st.integers(1, 3), st.sampled_from(["mirror", "cross"]))
def test_seats_and_decks_are_balanced_against_every_opponent(
    names: list[str], decks: list[str], twins: int, pairing: str
) -> None:
    schedule = Schedule(tournament(names, decks, 2 * twins, pairing))
    check_balance(schedule)
    seats = Counter((game.entrants[seat], game.entrants[1 - seat], seat) for game in schedule for seat in (0, 1))
    played = Counter(
        (game.entrants[seat], game.entrants[1 - seat], game.decks[seat]) for game in schedule for seat in (0, 1)
    )
    assert len(set(seats.values())) == 1
    assert len(set(played.values())) == 1


@given(NAMES, DECKS, st.sampled_from(["mirror", "cross"]), st.integers(0, 200))
def test_a_twin_is_two_games_that_differ_only_in_who_sits_where(
    names: list[str], decks: list[str], pairing: str, number: int
) -> None:
    schedule = Schedule(tournament(names, decks, 400, pairing))
    first = schedule.game_at(2 * (number % (len(schedule) // 2)))
    second = schedule.game_at(2 * (number % (len(schedule) // 2)) + 1)
    assert first.entrants == second.entrants[::-1]
    assert (first.seating, second.seating) == (0, 1)
    same = ("cycle", "pair", "twin", "round", "seed", "decks")
    assert [getattr(first, name) for name in same] == [getattr(second, name) for name in same]
    assert first.game_id != second.game_id


def test_in_cross_each_deck_has_each_seat_once_in_two_twins() -> None:
    schedule = Schedule(tournament(["a", "b"], ["x", "y"], 4, "cross"))
    mixed = [game.decks for game in schedule if set(game.decks) == {"x", "y"} and game.seating == 0]
    assert sorted(mixed) == [("x", "y"), ("y", "x")]


@given(NAMES, DECKS, st.sampled_from(["mirror", "cross"]))
def test_a_cycle_is_one_twin_of_every_pair_on_every_deck_and_cycles_come_in_order(
    names: list[str], decks: list[str], pairing: str
) -> None:
    schedule = Schedule(tournament(names, decks, 6, pairing))
    cycles = [game.cycle for game in schedule]
    assert cycles == sorted(cycles)
    for cycle in range(3):
        twins = Counter(game.pair for game in schedule if game.cycle == cycle)
        assert set(twins.values()) == {2}
        assert len(twins) == len(schedule) // 6


@given(NAMES, DECKS, st.sampled_from(["mirror", "cross"]), st.randoms())
def test_a_game_is_the_same_game_whatever_the_schedule_around_it(
    names: list[str], decks: list[str], pairing: str, random
) -> None:  # type: ignore[no-untyped-def]
    small = tournament(names, decks, 4, pairing)
    turned = list(small.entrants)
    random.shuffle(turned)
    larger = replace(
        small,
        entrants=(Entrant("new", {"kind": "random"}), *turned),
        decks=small.decks[::-1] + ((Deck("zz"),) if decks else ()),
        games_per_pair=10,
    )
    assert set(Schedule(small)) <= set(Schedule(larger))
    assert set(Schedule(replace(small, seed=2))).isdisjoint(Schedule(small))


@given(NAMES, DECKS, st.sampled_from(["mirror", "cross"]), st.integers(0, 99))
def test_id_and_seed_are_digests_of_what_defines_the_game(
    names: list[str], decks: list[str], pairing: str, seed: int
) -> None:
    for game in Schedule(tournament(names, decks, 6, pairing, seed)):
        defines = [seed, "standin", game.entrants, game.decks, game.twin, game.round]
        digest = blake2b(json.dumps(defines).encode(), digest_size=12)
        assert game.game_id == "g" + digest.hexdigest()
        deal = ["match", seed, "standin", game.decks, game.twin, game.round]
        assert game.seed == int.from_bytes(blake2b(json.dumps(deal).encode(), digest_size=8).digest(), "big") >> 1


@given(NAMES, DECKS, st.sampled_from(["mirror", "cross"]))
def test_no_two_games_share_an_id_and_pairs_meet_the_same_deals(
    names: list[str], decks: list[str], pairing: str
) -> None:
    schedule = Schedule(tournament(names, decks, 6, pairing))
    assert len({game.game_id for game in schedule}) == len(schedule)
    assert all(len(game.game_id) == 25 and game.game_id[0] == "g" for game in schedule)
    seeds = {(game.twin, game.decks): game.seed for game in schedule}
    assert all(seeds[game.twin, game.decks] == game.seed for game in schedule)
    assert len(set(seeds.values())) == len(seeds)


def test_agents_have_seeds_of_their_own_in_every_game_and_seat() -> None:
    schedule = Schedule(tournament(["a", "b", "c"], [], 20))
    seeds = [game.agent_seed(1, seat) for game in schedule for seat in (0, 1)]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_ten_million_games_cost_no_memory() -> None:
    tracemalloc.start()
    schedule = Schedule(tournament([f"agent {number:04}" for number in range(2000)], ["x"], 10, "cross"))
    assert len(schedule) == 2000 * 1999 // 2 * 10 == 19_990_000
    check_balance(schedule)
    walked = sum(1 for _ in islice(schedule, 1000))
    games = [schedule[number] for number in (0, 5_000_000, len(schedule) - 1, -1)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert walked == 1000
    assert games[2] == games[3]
    # The names themselves, and the counts of the sample that is checked for balance.
    assert peak < 20 * 2**20


@pytest.mark.parametrize("games", [1, 3, 0, -2, 10**30])
def test_an_odd_number_of_games_per_pair_is_refused(games: int) -> None:
    with pytest.raises(ConfigError, match=f"games_per_pair: {games} is not an even number"):
        Schedule(tournament(["a", "b"], [], games))


@pytest.mark.parametrize(
    ("names", "decks", "said"),
    [
        (["a"], [], "needs at least 2 agents, not 1"),
        (["a", "b", "a"], [], "agents: the name 'a' is given more than once"),
        (["a", "b"], ["x", "x"], "decks: the name 'x' is given more than once"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(names: list[str], decks: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Schedule(tournament(names, decks))


def test_an_imbalance_is_named() -> None:
    games = list(Schedule(tournament(["a", "b"], ["x", "y"], 2)))
    with pytest.raises(ValueError, match="a has not both seats equally often against b"):
        check_counts(games[:-1])
    with pytest.raises(ValueError, match="plays y 2 times against b, not 4"):
        check_counts(games[:2] * 2 + games[2:])


def test_the_pairs_are_counted_through_without_gap() -> None:
    expected = [(low, high) for high in range(1, 60) for low in range(high)]
    assert [pair_at(index) for index in range(len(expected))] == expected
    # Far out, where floating point would have failed.
    high = 3 * 10**9
    assert pair_at(high * (high - 1) // 2) == (0, high)
    assert pair_at(high * (high - 1) // 2 - 1) == (high - 2, high - 1)
