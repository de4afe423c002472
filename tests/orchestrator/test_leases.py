"""Leases lapse by the clock alone, and only progress renews them."""

from __future__ import annotations

from orchestrator.leases import LeaseBook, Try
from orchestrator.schedule import ScheduledGame


class Clock:
    """A clock that is set by hand, in seconds."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def game(number: int) -> Try:
    scheduled = ScheduledGame(f"g{number:024x}", 0, "a vs b", 0, 0, 0, 1, ("a", "b"), ("", ""))
    return Try(scheduled, attempt=1, waits=False, epoch=number)


def test_a_lease_without_progress_lapses_and_one_with_progress_does_not() -> None:
    clock = Clock()
    book = LeaseBook(30.0, clock)
    still, moving = book.open([game(1), game(2)], "w1"), book.open([game(3)], "w2")
    clock.now += 29.9
    assert book.lapsed() == []
    book.renew([moving])
    clock.now += 0.1
    assert book.lapsed() == [still]
    clock.now += 29.9
    assert book.lapsed() == [still, moving]


def test_a_closed_lease_is_with_nobody() -> None:
    clock = Clock()
    book = LeaseBook(1.0, clock)
    first, second = book.open([game(1), game(2)], "w"), book.open([game(3)], "w")
    assert (book.of("w"), book.games(), len(book)) == ([first, second], 3, 2)
    book.close(first)
    book.close(first)
    clock.now += 5
    assert (book.of("w"), book.games(), len(book), book.lapsed()) == ([second], 1, 1, [second])
    assert book.of("never heard of") == []
