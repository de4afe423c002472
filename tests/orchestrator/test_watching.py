"""What a worker's answers say about its games: which went on, and which is over its time."""

from __future__ import annotations

import pytest
from clocks import Clock

from orchestrator.leases import Lease, LeaseBook, Try
from orchestrator.schedule import ScheduledGame
from orchestrator.watching import GRACE_SECONDS, Watches
from orchestrator.workers import Progress

LEASE_SECONDS, GAME_SECONDS = 2.0, 5.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def book(clock: Clock) -> LeaseBook:
    return LeaseBook(LEASE_SECONDS, clock)


@pytest.fixture
def watches(book: LeaseBook) -> Watches:
    return Watches(book, GAME_SECONDS)


def lease(book: LeaseBook, *names: str, waits: bool = False) -> Lease:
    tries = [Try(ScheduledGame(name, 0, "a vs b", 0, 0, 0, 1, ("a", "b"), ("", "")), 1, waits) for name in names]
    return book.open(tries, "w")


def test_only_games_that_went_on_since_the_last_answer_keep_their_leases(
    clock: Clock, book: LeaseBook, watches: Watches
) -> None:
    in_turn, moving, calling, still = lease(book, "g1"), *(lease(book, name, waits=True) for name in ("m", "c", "s"))
    for steps in (1, 2, 3):
        waiting = {"m": steps, "c": 1, "s": 1}
        assert watches.answered("w", Progress(steps, "g1", 1.0, waiting, frozenset({"c"}))) is None
        clock.now += LEASE_SECONDS / 2
        lapsed = book.lapsed()
        assert lapsed == ([still] if steps > 1 else [])
    watches.answered("w", Progress(3, "g1", 2.0, {"m": 4, "c": 1, "s": 1}, frozenset({"c"})))
    clock.now += LEASE_SECONDS / 2
    assert book.lapsed() == [in_turn, still]
    assert {moving, calling}.isdisjoint(book.lapsed())


def test_games_that_lie_ready_begin_their_time_when_those_before_them_are_back(
    clock: Clock, book: LeaseBook, watches: Watches
) -> None:
    first, ready = lease(book, "g1"), lease(book, "g2")
    clock.now += LEASE_SECONDS * 0.75
    book.lapsed()
    book.close(first)
    watches.returned("w")
    clock.now += LEASE_SECONDS * 0.75
    assert book.lapsed() == []
    clock.now += LEASE_SECONDS * 0.25
    assert book.lapsed() == [ready]


def test_a_game_over_its_time_is_named_unless_it_has_come_back_meanwhile(book: LeaseBook, watches: Watches) -> None:
    over = Progress(3, "g1", GAME_SECONDS + GRACE_SECONDS + 0.1)
    first = lease(book, "g1")
    assert watches.answered("w", Progress(3, "g1", GAME_SECONDS + GRACE_SECONDS - 0.1)) is None
    assert watches.answered("w", over) == "g1"
    book.close(first)
    lease(book, "g2")
    assert watches.answered("w", over) is None, "its worker plays another game by now, which is not to suffer"


def test_a_worker_that_has_died_says_nothing(book: LeaseBook, watches: Watches) -> None:
    lease(book, "g1")
    watches.answered("w", Progress(3, "g1", 1.0))
    assert watches.playing("w") == "g1"
    assert watches.answered("w", None) is None
    watches.forget("w")
    assert watches.playing("w") is None
