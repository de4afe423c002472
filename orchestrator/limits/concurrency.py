"""How many calls an account may have in flight: learnt from demand and refusals."""

from __future__ import annotations

FIRST_LIMIT = 16
LARGEST_LIMIT = 10_000
DOUBLING_SECONDS = 0.1
"""Before the first refusal the limit at most doubles every so often."""
STEP_SECONDS = 1.0
"""After it, it grows by a twentieth, at least one, every so often."""
FIRST_HOLD_SECONDS = 1.0
"""How long calls are held after a refusal that does not say; doubled by every refusal that soon follows."""
LONGEST_HOLD_SECONDS = 30.0
_SOON_SECONDS = 60.0


class Concurrency:
    """The number of calls in flight that an account bears. Times are seconds of one monotonic clock.

    ``most`` is what the account is known to allow, ``None`` where nothing is known.
    """

    def __init__(self, most: int | None) -> None:
        self.most = LARGEST_LIMIT if most is None else most
        self.limit = min(FIRST_LIMIT, self.most)
        self.hits = 0
        self.cuts = 0
        self._held_until = float("-inf")
        self._grown = float("-inf")
        self._cut = float("-inf")
        self._burst_ends = float("-inf")
        self._hold = FIRST_HOLD_SECONDS

    def hold_seconds(self, now: float) -> float:
        """For how much longer no call may be sent."""
        return max(0.0, self._held_until - now)

    def held_back(self, now: float) -> None:
        """Calls wait for nothing but this limit: let it grow, if it is time."""
        every = STEP_SECONDS if self.cuts else DOUBLING_SECONDS
        if now - self._grown < every or now < self._held_until:
            return
        self._grown = now
        step = max(1, self.limit // 20) if self.cuts else self.limit
        self.limit = min(self.most, self.limit + step)

    def rate_limited(self, sent: float, retry_after: float | None, in_flight: int, now: float) -> None:
        """A call sent at ``sent`` was refused: hold everything, and halve the limit once a burst.

        Refusals of calls that were sent before the hold of the last cut was over belong to the burst that led to it,
        and so do those sent within a second of it: that long it may take until every worker knows.
        """
        self.hits += 1
        same_burst = sent <= max(self._held_until, self._burst_ends)
        if not same_burst:
            self._hold = min(self._hold * 2, LONGEST_HOLD_SECONDS) if now - self._cut < _SOON_SECONDS else 0.0
            self._hold = max(self._hold, FIRST_HOLD_SECONDS)
            self.cuts += 1
            self._cut = self._grown = now
            self._burst_ends = now + FIRST_HOLD_SECONDS
            self.limit = max(1, min(self.limit, max(in_flight, 1)) // 2)
        if retry_after is not None:
            self._held_until = max(self._held_until, now + retry_after)
        elif not same_burst:
            self._held_until = max(self._held_until, now + self._hold)
