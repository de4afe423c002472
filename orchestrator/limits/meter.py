"""One per-minute limit: amounts spread evenly, and never more than the limit in any minute."""

from __future__ import annotations

WINDOW_SECONDS = 60.5
"""The minute that is kept. Calls may reach the server closer together than they were sent, by half a second."""
CELL_SECONDS = 0.1
"""How finely past use is remembered."""
BURST_SHARE = 0.01
"""What may be given at once after a pause, as a share of the limit: 0.6 s of it."""


class Meter:
    """Requests or tokens of one account. All times are seconds of one monotonic clock, passed in as ``now``.

    Two rules hold together. The *pace*: a bucket fills at ``limit`` a window and holds a hundredth of it, so that use
    is spread; an amount larger than what is in it passes and leaves it in debt. The *window*: what was used in the last
    window, plus all that is out on leases and may be used at any moment, is at most ``limit``.

    ``recent`` says that calls unknown to this meter may have been made within the last minute at its pace, as after a
    restart; it then begins as though the limit had been used up. Raises :class:`ValueError` where ``limit`` is not
    positive.
    """

    def __init__(self, limit: int, now: float, recent: bool = False) -> None:
        if limit <= 0:
            raise ValueError(f"a limit of {limit} lets nothing pass")
        self.limit = limit
        self.out = 0
        """What is out on leases and not known to be used."""
        self._rate = limit / WINDOW_SECONDS
        self._most = max(1.0, limit * BURST_SHARE)
        self._level = 0.0 if recent else self._most
        self._then = now
        self._cells: dict[int, int] = {}
        self._used = 0
        if recent:
            cells = round(WINDOW_SECONDS / CELL_SECONDS)
            newest = int(now / CELL_SECONDS)
            for number in range(1, cells + 1):
                share = limit * number // cells - limit * (number - 1) // cells
                self._add(newest - cells + number, share)
            self._add(newest, round(self._most))

    def used(self, now: float) -> int:
        """What was used in the window that ends now."""
        self._forget(now)
        return self._used

    def clamp(self, amount: int) -> int:
        """``amount``, or the limit where a single call would need more than a minute's."""
        return min(amount, self.limit)

    def lendable(self, amount: int, times: int, now: float) -> int:
        """How many of so many ``times`` ``amount`` may go out on leases now."""
        self._fill(now)
        if self._level < 1:
            return 0
        self._forget(now)
        room = self.limit - self._used - self.out
        if amount <= 0:
            return times if room >= 0 else 0
        return max(0, min(times, room // amount, int((self._level - 1) // amount) + 1))

    def lend(self, amount: int) -> None:
        """``amount`` goes out; only as :meth:`lendable` says that it may."""
        self._level -= amount
        self.out += amount

    def adopt(self, amount: int) -> None:
        """``amount`` is out on a lease that another meter, now gone, has given."""
        self.out += amount

    def use(self, amount: int, now: float) -> None:
        """``amount`` of what was out has been used, at the latest now."""
        self.out -= amount
        self._add(int(now / CELL_SECONDS), amount)

    def give_back(self, amount: int) -> None:
        """``amount`` of what was out comes back unused."""
        self.out -= amount
        self._level = min(self._most, self._level + amount)

    def correct(self, surplus: int, used_at: float) -> None:
        """What was used at ``used_at`` turned out to be ``surplus`` less (more where it is negative)."""
        self._level = min(self._most, self._level + surplus)
        cell = int(used_at / CELL_SECONDS)
        # Use is remembered when it is told, which is a little after it.
        for candidate in range(cell, cell + 20):
            if candidate in self._cells:
                surplus = min(surplus, self._cells[candidate])
                self._cells[candidate] -= surplus
                self._used -= surplus
                return

    def wait(self, now: float) -> float:
        """Seconds until the pace lets something pass (the window may hold it for longer)."""
        self._fill(now)
        return max(0.0, (1 - self._level) / self._rate)

    def _fill(self, now: float) -> None:
        self._level = min(self._most, self._level + (now - self._then) * self._rate)
        self._then = now

    def _add(self, cell: int, amount: int) -> None:
        if amount:
            self._cells[cell] = self._cells.get(cell, 0) + amount
            self._used += amount

    def _forget(self, now: float) -> None:
        oldest = now - WINDOW_SECONDS
        while self._cells:
            cell = next(iter(self._cells))
            if (cell + 1) * CELL_SECONDS > oldest:
                return
            self._used -= self._cells.pop(cell)
