"""What the loopback server has seen: counts from outside, to hold limits, retries and resumes against."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any


class Window:
    """How much came in the last ``seconds``, and the most that ever came in so long a time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._entries: deque[tuple[float, int]] = deque()
        self.total = 0
        self.most = 0

    def forget(self, now: float) -> None:
        """Drop what is older than the window at the monotonic time ``now``."""
        while self._entries and self._entries[0][0] <= now - self._seconds:
            self.total -= self._entries.popleft()[1]

    def add(self, now: float, amount: int) -> None:
        """Count ``amount`` at ``now``."""
        self.forget(now)
        self._entries.append((now, amount))
        self.total += amount
        self.most = max(self.most, self.total)

    def room_in(self, now: float, amount: int, most: int) -> float:
        """Seconds until ``amount`` more keeps the window at or below ``most``; 0 if it does now."""
        self.forget(now)
        excess = self.total + amount - most
        if excess <= 0:
            return 0.0
        for at, size in self._entries:
            excess -= size
            if excess <= 0:
                return at + self._seconds - now
        return self._seconds


@dataclass(slots=True)
class Tally:
    """Counts of one model, or of all."""

    requests: int = 0
    answered: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    in_flight: int = 0
    most_in_flight: int = 0

    def to_json(self) -> dict[str, int]:
        """All counts."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class Statistics:
    """Everything counted since the start or the last reset."""

    all: Tally = field(default_factory=Tally)
    models: dict[str, Tally] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    seen: Counter[bytes] = field(default_factory=Counter)
    """How often each request (by the digest of its body) was made."""
    answered: Counter[bytes] = field(default_factory=Counter)
    """How often each was answered."""
    minute: Window = field(default_factory=lambda: Window(60.0))
    minute_accepted: Window = field(default_factory=lambda: Window(60.0))
    second: Window = field(default_factory=lambda: Window(1.0))
    minute_tokens: Window = field(default_factory=lambda: Window(60.0))

    def tallies(self, model: str) -> tuple[Tally, Tally]:
        """Those that a call of ``model`` counts in."""
        return self.all, self.models.setdefault(model, Tally())

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; ``docs/models.md`` says what each means."""
        return {
            **self.all.to_json(),
            "distinct_requests": len(self.seen),
            "answered_again": sum(count - 1 for count in self.answered.values()),
            "most_requests_per_minute": self.minute.most,
            "most_accepted_per_minute": self.minute_accepted.most,
            "most_requests_per_second": self.second.most,
            "most_tokens_per_minute": self.minute_tokens.most,
            "statuses": dict(sorted(self.statuses.items())),
            "faults": dict(sorted(self.faults.items())),
            "models": {name: tally.to_json() for name, tally in sorted(self.models.items())},
        }
