"""Leases lapse by the clock alone, and only progress renews them."""

from __future__ import annotations

from clocks import Clock

from orchestrator.leases import Attention, Lease, LeaseBook, Try
from orchestrator.schedule import ScheduledGame


def lapsed_within(book: LeaseBook, clock: Clock, seconds: float) -> list[Lease]:
    """Let that much time pass, looking every half a second, and look at its end."""
    for _ in range(int(seconds / 0.5)):
        clock.now += 0.5
        if gone := book.lapsed():
            return gone
    clock.now += seconds % 0.5
    return book.lapsed()


def game(number: int) -> Try:
    scheduled = ScheduledGame(f"g{number:024x}", 0, "a vs b", 0, 0, 0, 1, ("a", "b"), ("", ""))
    return Try(scheduled, attempt=1, waits=False, epoch=number)


def test_a_lease_without_progress_lapses_and_one_with_progress_does_not() -> None:
    clock = Clock()
    book = LeaseBook(30.0, clock)
    still, moving = book.open([game(1), game(2)], "w1"), book.open([game(3)], "w2")
    assert lapsed_within(book, clock, 29.75) == []
    book.renew([moving])
    clock.now += 0.25
    assert book.lapsed() == [still]
    book.close(still)
    assert lapsed_within(book, clock, 29.5) == []
    clock.now += 0.25
    assert book.lapsed() == [moving]


def test_the_time_in_which_nobody_looks_for_progress_does_not_count() -> None:
    clock = Clock()
    book = LeaseBook(10.0, clock)
    lease = book.open([game(1)], "w")
    assert lapsed_within(book, clock, 5.0) == []
    clock.now += 3600.0
    assert book.lapsed() == []
    renewed = book.open([game(2)], "w")
    assert lapsed_within(book, clock, 1.5) == []
    assert lapsed_within(book, clock, 1.0) == [lease]
    book.close(lease)
    assert lapsed_within(book, clock, 7.0) == []
    assert lapsed_within(book, clock, 1.0) == [renewed]


def test_a_process_that_stood_still_knows_so_for_a_while() -> None:
    clock = Clock()
    attention = Attention(4.0, clock)
    for _ in range(5):
        clock.now += 4.0
        attention.turn()
    assert not attention.was_away(within=1000.0)
    clock.now += 4.5
    attention.turn()
    assert attention.was_away(within=9.0)
    clock.now += 9.5
    assert not attention.was_away(within=9.0)


def test_a_closed_lease_is_with_nobody() -> None:
    clock = Clock()
    book = LeaseBook(1.0, clock)
    first, second = book.open([game(1), game(2)], "w"), book.open([game(3)], "w")
    assert (book.of("w"), book.games(), len(book)) == ([first, second], 3, 2)
    book.close(first)
    book.close(first)
    assert (book.of("w"), book.games(), len(book)) == ([second], 1, 1)
    assert lapsed_within(book, clock, 2.0) == [second]
    assert book.of("never heard of") == []
