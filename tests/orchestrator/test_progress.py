"""What a watcher of a tournament is told."""

from __future__ import annotations

import io

import pytest
from clocks import Clock

from orchestrator.journal import Score
from orchestrator.limits import AccountCounters
from orchestrator.progress import Counted, ProgressDisplay, Standing, duration
from orchestrator.providers import limits_line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_counts_earlier_starts_but_measures_only_this_one() -> None:
    clock = Clock()
    standing = Standing(100, 50, 1, [Score("a", 49, 49.0), Score("b", 49, 0.0)], clock)
    clock.now = 20.0  # While workers start nothing is measured.
    standing.begin()
    clock.now = 25.0
    standing.count([Counted(("a", "b"), "win", 1)] * 9 + [Counted(("b", "a"), "void", None)])
    assert standing.games_per_second() == 2.0
    assert standing.seconds_left() == 20.0
    assert standing.playing_seconds == 5.0
    assert (standing.done, standing.void, standing.played) == (60, 2, 10)
    # a has 49 points of 58 games, b 9 of 58.
    assert standing.line() == "60/100 games (60 %) | 2.0 games/s | 20 s left | 2 void | leading: a 84 %, b 16 %"


def test_a_draw_and_a_turn_cap_are_half_a_point_each() -> None:
    standing = Standing(4, 0, 0, [], Clock())
    standing.count([Counted(("a", "b"), "draw", None), Counted(("a", "b"), "turn_cap", None)])
    standing.count([Counted(("a", "b"), "win", 0)])
    assert [(score.entrant, score.share) for score in standing.scores()] == [("a", 2 / 3), ("b", 1 / 3)]


def test_before_the_first_game_no_time_is_promised() -> None:
    standing = Standing(4, 0, 0, [], Clock())
    assert standing.line() == "0/4 games (0 %) | 0.0 games/s | time left unknown"


def test_plain_output_is_a_line_every_ten_seconds_and_one_at_the_end() -> None:
    clock = Clock()
    stream = io.StringIO()
    standing = Standing(4, 0, 0, [], clock)
    display = ProgressDisplay(standing, stream, clock)
    for second in range(25):
        clock.now = float(second)
        display.update()
    display.say("void: game g1")
    display.close()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 5
    assert lines[3] == "void: game g1"
    assert not any("\r" in line or "\033" in line for line in lines)


def test_what_calls_took_stands_before_who_leads() -> None:
    stream = io.StringIO()
    clock = Clock()
    standing = Standing(4, 0, 0, [], clock)
    standing.count([Counted(("a", "b"), "win", 0)])
    ProgressDisplay(standing, stream, clock, more=lambda: "7 calls, $0.10").close()
    assert "| 7 calls, $0.10 | leading: a 100 %" in stream.getvalue()


def test_a_terminal_gets_one_line_that_is_written_over() -> None:
    clock = Clock()
    stream = Terminal()
    display = ProgressDisplay(Standing(4, 0, 0, [], clock), stream, clock)
    for tenth in range(20):
        clock.now = tenth / 10
        display.update()
    assert "\n" not in stream.getvalue()
    assert stream.getvalue().count("\r\033[K") > 2
    display.say("a line that stays")
    display.close()
    assert stream.getvalue().endswith("\n")
    assert "\r\033[Ka line that stays\n" in stream.getvalue()


def test_a_reader_that_has_gone_does_not_stop_the_tournament() -> None:
    stream = io.StringIO()
    display = ProgressDisplay(Standing(4, 0, 0, [], Clock()), stream, Clock())
    stream.close()
    display.update()
    display.close()


@pytest.mark.parametrize(
    ("seconds", "text"), [(41.6, "42 s"), (200, "3 min 20 s"), (18720, "5 h 12 min"), (273600, "3 d 4 h")]
)
def test_durations_are_readable(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_long_wait_that_an_endpoint_asks_for_is_told_with_the_account_it_is_for() -> None:
    def account(name: str, hold_seconds: float, hits: int, waited: int, waited_seconds: float) -> AccountCounters:
        return AccountCounters(name, 0, 0, 16, hold_seconds, 9, 9, hits, hits, waited, waited_seconds)

    free = account("http://one/v1 KEY", 2.0, hits=1, waited=3, waited_seconds=6.0)
    assert limits_line([]) == "limits: 0.0 s wait a call, 0 x 429"
    assert limits_line([free]) == "limits: 2.0 s wait a call, 1 x 429"
    held = account("http://two/v1 KEY", 3000.0, hits=4, waited=1, waited_seconds=2.0)
    told = limits_line([free, held])
    assert told == "limits: 2.0 s wait a call, 5 x 429, http://two/v1 KEY asks to wait 50 min 0 s"
