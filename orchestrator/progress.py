"""How a tournament is going: counted as games finish, shown on a terminal or as plain lines."""

from __future__ import annotations

import shutil
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TextIO

from orchestrator.journal import Score

_WINDOW_SECONDS = 60.0
_TERMINAL_SECONDS = 0.25
_PLAIN_SECONDS = 10.0
_LEADERS = 3


@dataclass(frozen=True, slots=True)
class Counted:
    """A game that has just been counted."""

    entrants: tuple[str, str]
    outcome: str
    winner_seat: int | None


class Standing:
    """Games done and points of a run, those of earlier starts included. ``clock`` is in seconds and never goes back."""

    def __init__(
        self, total: int, done: int, void: int, scores: Iterable[Score], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.total = total
        self.done = done
        self.void = void
        self.played = 0
        self.decisions = 0
        """Decisions of agents that never wait, in the games that were counted."""
        self.failed_tries: Counter[str] = Counter()
        """Tries of this start that failed and count, by cause."""
        self.workers_lost = 0
        self._clock = clock
        self._began: float | None = None
        self._scores = {score.entrant: score for score in scores}
        self._recent: deque[tuple[float, int]] = deque([(clock(), 0)])

    def begin(self) -> None:
        """The first game of this start goes out now; called again it does nothing."""
        if self._began is None:
            self._began = self._clock()
            self._recent = deque([(self._began, self.played)])

    @property
    def playing_seconds(self) -> float:
        """From the first game that went out to the last that was counted."""
        return self._recent[-1][0] - self._began if self._began is not None else 0.0

    def count(self, games: Iterable[Counted]) -> None:
        """Add games that have just been finished."""
        for game in games:
            self.done += 1
            self.played += 1
            if game.outcome == "void":
                self.void += 1
                continue
            for seat, entrant in enumerate(game.entrants):
                before = self._scores.get(entrant, Score(entrant, 0, 0.0))
                gained = 0.5 if game.winner_seat is None else float(game.winner_seat == seat)
                self._scores[entrant] = Score(entrant, before.games + 1, before.points + gained)
        now = self._clock()
        self._recent.append((now, self.played))
        while len(self._recent) > 2 and now - self._recent[0][0] > _WINDOW_SECONDS:
            self._recent.popleft()

    def games_per_second(self) -> float:
        """Over about the last minute."""
        began, before = self._recent[0]
        seconds = self._clock() - began
        return (self.played - before) / seconds if seconds > 0 else 0.0

    def seconds_left(self) -> float | None:
        """At the present rate; ``None`` while there is none."""
        rate = self.games_per_second()
        return (self.total - self.done) / rate if rate > 0 else None

    def scores(self) -> list[Score]:
        """Every entrant that has played, best share of points first."""
        return sorted(self._scores.values(), key=lambda score: (-score.share, score.entrant))

    def line(self, more: str = "") -> str:
        """All of it in one line, with ``more`` before the leaders."""
        share = 100 * self.done / self.total if self.total else 100.0
        parts = [f"{self.done}/{self.total} games ({share:.0f} %)", f"{self.games_per_second():.1f} games/s"]
        left = self.seconds_left()
        if self.done < self.total:
            parts.append(f"{duration(left)} left" if left is not None else "time left unknown")
        if self.void:
            parts.append(f"{self.void} void")
        if more:
            parts.append(more)
        if leaders := self.scores()[:_LEADERS]:
            parts.append("leading: " + ", ".join(f"{one.entrant} {100 * one.share:.0f} %" for one in leaders))
        return " | ".join(parts)


class ProgressDisplay:
    """Shows a standing on ``stream``: one line that is written over on a terminal, otherwise a line every 10 s.

    What ``more`` says, if anything, stands before who leads.
    """

    def __init__(
        self,
        standing: Standing,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
        more: Callable[[], str] = str,
    ) -> None:
        self._standing = standing
        self._stream = stream
        self._more = more
        self._clock = clock
        self._terminal = stream.isatty()
        self._next = 0.0
        self._drawn = False

    def update(self) -> None:
        """Show the standing if it is time to."""
        if self._clock() >= self._next:
            self._show()

    def say(self, text: str) -> None:
        """Write a line that stays."""
        self._wipe()
        self._write(f"{text}\n")

    def close(self) -> None:
        """Show the standing for the last time."""
        self._show()
        if self._drawn:
            self._write("\n")
            self._drawn = False

    def _show(self) -> None:
        line = self._standing.line(self._more())
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            self._write(f"\r\033[K{line[:width]}")
            self._drawn = True
        else:
            self._write(f"{line}\n")
        self._next = self._clock() + (_TERMINAL_SECONDS if self._terminal else _PLAIN_SECONDS)

    def _wipe(self) -> None:
        if self._drawn:
            self._write("\r\033[K")
            self._drawn = False

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._next = float("inf")  # Nobody reads any more; a tournament goes on without a display.


def duration(seconds: float) -> str:
    """``42 s``, ``3 min 20 s``, ``5 h 12 min`` or ``3 d 4 h``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"
