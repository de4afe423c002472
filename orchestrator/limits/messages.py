"""What workers and the keeper of the limits tell each other: one report, one answer, for all of a worker's calls.

Durations travel, never points in time: every process has a clock of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

LEASE_SECONDS = 10.0
"""How long what a worker was lent is good for, from the moment it asked."""
HEARTBEAT_SECONDS = 1.0
"""How often a worker that holds anything reports at least."""
MOST_WANTS = 256
"""How many waiting calls a report describes."""


@dataclass(frozen=True, slots=True)
class Want:
    """What one call needs beyond what its worker holds: tokens and US dollars."""

    tokens: int
    usd: float


@dataclass(frozen=True, slots=True)
class LaneReport:
    """The calls of one model in one worker. Counts of what happened are since the last report that was answered."""

    account: str
    model: str
    in_flight: int = 0
    slots: int = 0
    """How many calls the lane may have in flight by what it was told last."""
    held_back: bool = False
    """Calls wait for nothing but slots."""
    waiting: int = 0
    wants: tuple[Want, ...] = ()
    """What is to be lent, in the order in which the calls would go."""
    spare: Want = Want(0, 0.0)
    spare_calls: int = 0
    """For how many calls that are not there yet it would be good to have ready what one of them takes."""
    kept_requests: int = 0
    kept_tokens: int = 0
    """What it was lent, has not used and keeps; the rest is given back."""
    started: int = 0
    started_tokens: int = 0
    corrections: tuple[tuple[float, int], ...] = ()
    """Seconds since a call was sent, and how many tokens less than estimated it took (more: negative)."""
    waited: int = 0
    waited_seconds: float = 0.0
    """Calls that had to wait before they were let go, and for how long in all."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reply that says that the account's limit is hit: seconds since the call was sent, and what it asks for."""

    account: str
    age: float
    retry_after: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """Everything about one worker. Lanes in which nothing is held, waits or happened may be left out."""

    worker: str
    lanes: tuple[LaneReport, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    spent_usd: float = 0.0
    """Paid since the last report that was answered."""
    kept_usd: float = 0.0
    """Reserved for calls in flight, and kept for others; what else it was lent is given back."""


@dataclass(frozen=True, slots=True)
class LaneLease:
    """What a lane is lent on top of what it kept; ``None`` where there is no such limit."""

    account: str
    model: str
    requests: int | None
    tokens: int | None
    tokens_per_minute: int | None
    """No call needs more tokens than this: one that may take more goes when a whole minute's are free."""
    slots: int
    """How many calls it may have in flight from now on, those that are included."""
    hold_seconds: float
    """For how long it must not send anything."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a report; good for :data:`LEASE_SECONDS` from when the report was made."""

    lanes: tuple[LaneLease, ...]
    usd: float | None
    """US dollars on top of what was kept; ``None`` without a budget."""
    left_usd: float
    """Budget less what is spent: a call that may cost more can never be made."""
    scarce: bool
    """Something is short: keep nothing in store."""
    again_seconds: float
    """Sooner than this there is nothing more to be had."""


@dataclass(frozen=True, slots=True)
class AccountCounters:
    """Where one account stands; ``hits`` are refusals for its limits since the start."""

    account: str
    in_flight: int
    waiting: int
    concurrency: int
    hold_seconds: float
    requests: int
    tokens: int
    hits: int
    cuts: int
    waited: int
    waited_seconds: float


@dataclass(frozen=True, slots=True)
class Counters:
    """Where everything stands, as far as workers have told. US dollars; ``budget_usd`` ``None``: no budget."""

    accounts: tuple[AccountCounters, ...]
    spent_usd: float
    reserved_usd: float
    budget_usd: float | None
    workers: int
    reports: int

    @property
    def exhausted(self) -> bool:
        """Whether the budget is used up to the last cent."""
        return self.budget_usd is not None and self.spent_usd >= self.budget_usd
