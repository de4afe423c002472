"""A worker's side of one model: calls that wait, and what they may take without asking anybody.

Pure: :mod:`orchestrator.limits.gate` brings time and waiting into it.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar

from orchestrator.limits.messages import MOST_WANTS, LaneLease, LaneReport, Want

LARGEST_STOCK = 256
_STOCK_SECONDS = 0.3
"""For how long what lies ready is to last."""
_RATE_SECONDS = 0.5
"""Over how long it is learnt how many calls begin a second."""
_OLDEST_SECONDS = 60.0
_PER_SECOND = 10
"""How finely it is told when calls were sent."""

Ticket = TypeVar("Ticket")


@dataclass(eq=False, slots=True)
class Waiting(Generic[Ticket]):
    """A call that waits; ``ticket`` is whatever its owner is told by."""

    game: str
    tokens: int
    usd: float
    since: float
    ticket: Ticket


class Purse:
    """The US dollars of a worker: ``free`` for calls to come, ``reserved`` for calls and decisions under way."""

    def __init__(self) -> None:
        self.free = 0.0
        self.reserved = 0.0
        self.reserves = 0
        """In so many parts."""
        self.spent = 0.0
        """Since the last report."""
        self.left = math.inf
        """What no call may cost more than, ever again."""

    def pay(self, usd: float, reserved: float = 0.0) -> None:
        """``usd`` are spent, for which so much was reserved; what exceeds that is not owed by calls to come."""
        self.spent += usd
        self.reserved -= reserved
        if usd > reserved:
            self.free = max(self.free + reserved - usd, min(self.free, 0.0))


class Reserve:
    """US dollars of a purse that are set aside for one call, or for all those of a decision."""

    __slots__ = ("_left", "_purse", "paid")

    def __init__(self, purse: Purse, usd: float) -> None:
        self.paid = 0.0
        self._purse = purse
        self._left = usd
        purse.free -= usd
        purse.reserved += usd
        purse.reserves += 1

    def pay(self, usd: float) -> None:
        """A call has cost ``usd``."""
        covered = usd if usd < self._left else self._left
        self._left -= covered
        self.paid += usd
        self._purse.pay(usd, covered)

    def give_back(self) -> None:
        """There are no further calls; what is left is free again."""
        purse = self._purse
        purse.free += self._left
        purse.reserved -= self._left
        purse.reserves -= 1
        self._left = 0.0


@dataclass(slots=True)
class _Told:
    """What happened since the last report."""

    started: int = 0
    started_tokens: int = 0
    corrections: Counter[int] = field(default_factory=Counter)
    """How many tokens too many were estimated, by the tenth of a second in which the calls were sent."""
    waited: int = 0
    waited_seconds: float = 0.0

    def add(self, other: _Told) -> None:
        self.started += other.started
        self.started_tokens += other.started_tokens
        self.corrections.update(other.corrections)
        self.waited += other.waited
        self.waited_seconds += other.waited_seconds


class Lane(Generic[Ticket]):
    """The calls of one model. Those that wait go one game after the other, in each game in the order they came."""

    def __init__(self, account: str, model: str, purse: Purse) -> None:
        self.account = account
        self.model = model
        self.in_flight = 0
        self.waiting = 0
        self.slots = 0
        self.dearest = 0.0
        """US dollars of the costliest decision so far."""
        self.requests: float = 0
        self.tokens: float = 0
        """Lent and not used; infinite where there is no such limit."""
        self.purse = purse
        self._most_tokens: float = math.inf
        self._games: dict[str, deque[Waiting[Ticket]]] = {}
        self._told = _Told()
        self._telling = _Told()
        self._stock = 0
        """For how many calls to be ready."""
        self._few = 0.0
        """What is enough for fewer calls than this is low."""
        self._per_second = 0.0
        self._then = float("-inf")
        self._typical_tokens = 0
        self._typical_usd = 0.0

    # Calls

    def needed(self, tokens: int) -> int:
        """What a call takes of the lane's tokens that is estimated at so many."""
        return tokens if tokens <= self._most_tokens else int(self._most_tokens)

    def paid(self, tokens: int, usd: float) -> bool:
        """Whether the lane holds all that a call takes, apart from a slot."""
        enough = self.tokens >= tokens or self.tokens >= self._most_tokens
        return enough and self.requests >= 1 and self._affords(usd)

    def fits(self, tokens: int, usd: float) -> bool:
        """Whether a call may begin by what the lane holds."""
        return self.in_flight < self.slots and self.paid(tokens, usd)

    def begin(self, tokens: int, usd: float) -> Reserve | None:
        """A call begins; what is set aside for it, if it takes US dollars."""
        self.in_flight += 1
        self.requests -= 1
        self.tokens -= tokens
        told = self._told
        told.started += 1
        told.started_tokens += tokens
        self._typical_tokens = tokens
        if usd <= 0:
            return None
        self._typical_usd = usd
        return Reserve(self.purse, usd)

    def end(self, sent: float, tokens: int, took: int | None) -> None:
        """A call ended that began with ``tokens``; it took ``took`` (``None``: unknown)."""
        self.in_flight -= 1
        if took is not None and took != tokens:
            self._told.corrections[int(sent * _PER_SECOND)] += tokens - took

    def undo(self, tokens: int) -> None:
        """A call that began was never sent."""
        self.in_flight -= 1
        self.requests += 1
        self.tokens += tokens
        self._told.started -= 1
        self._told.started_tokens -= tokens

    # Waiting

    def join(self, call: Waiting[Ticket]) -> None:
        """A call waits from now on."""
        self._games.setdefault(call.game, deque()).append(call)
        self.waiting += 1

    def leave(self, call: Waiting[Ticket]) -> None:
        """A call does not wait any more; nothing happens where it does not wait."""
        calls = self._games.get(call.game)
        if calls is not None and call in calls:
            calls.remove(call)
            self.waiting -= 1
            if not calls:
                del self._games[call.game]

    def first(self) -> Waiting[Ticket] | None:
        """The call whose turn it is.

        While there are no US dollars for it, calls that need none go before it: they end decisions, which sets free
        what it waits for.
        """
        if not self._games:
            return None
        first = next(iter(self._games.values()))[0]
        return first if self._affords(first.usd) else next((call for call in self.in_order() if call.usd <= 0), first)

    def take(self, call: Waiting[Ticket], now: float) -> None:
        """A call waits no longer, for its turn has come; its game is then behind all others."""
        calls = self._games.pop(call.game)
        calls.remove(call)
        if calls:
            self._games[call.game] = calls
        self.waiting -= 1
        self._told.waited += 1
        self._told.waited_seconds += now - call.since

    def in_order(self) -> Iterator[Waiting[Ticket]]:
        """Calls that wait in the order in which they would go, as far as that can be said now."""
        deepest = max(map(len, self._games.values()), default=0)
        for depth in range(deepest):
            for calls in self._games.values():
                if depth < len(calls):
                    yield calls[depth]

    # Leases

    @property
    def starving(self) -> bool:
        """Whether a call waits for something that only the keeper has."""
        call = self.first()
        return call is not None and not self.fits(call.tokens, call.usd)

    @property
    def unpaid(self) -> bool:
        """Whether the call whose turn it is waits for something other than a slot."""
        call = self.first()
        return call is not None and not self.paid(call.tokens, call.usd)

    @property
    def low(self) -> bool:
        """Whether the store should be filled before it is empty."""
        few = self._few
        return few > 0 and (
            self.requests < few or self.tokens < few * self._typical_tokens or self.purse.free < few * self._typical_usd
        )

    @property
    def idle(self) -> bool:
        """Whether there is nothing to tell and nothing to lose."""
        counted = (self.requests, self.tokens)
        held = any(amount > 0 and amount != math.inf for amount in counted)
        return not (self.in_flight or self.waiting or self.slots or held or self._told.started or self._told.waited)

    @property
    def changed(self) -> bool:
        """Whether something happened since the last report."""
        return bool(self._told.started or self._told.corrections)

    def tell(self, now: float, scarce: bool, free_usd: float) -> tuple[LaneReport, float]:
        """The report on this lane, and what of the worker's free US dollars its calls do not need."""
        told, self._told, self._telling = self._told, _Told(), self._told
        self._set_stock(now, told.started, scarce)
        if scarce and self.unpaid:
            # Parts that several hold and none can use would block all: each gives them back and asks for a whole.
            if self.requests != math.inf:
                self.requests = 0
            if self.tokens != math.inf:
                self.tokens = 0
        requests, tokens = self.requests, self.tokens
        wants: list[Want] = []
        if not requests == tokens == free_usd == math.inf:
            first = self.first()
            waiting = self.in_order()
            if first is not None and first.usd <= 0:
                waiting = iter(sorted(waiting, key=lambda call: call.usd > 0))
            for call in islice(waiting, MOST_WANTS):
                need = self.needed(call.tokens)
                if requests >= 1 and tokens >= need and (call.usd <= 0 or free_usd >= call.usd):
                    requests -= 1
                else:
                    wants.append(Want(max(0, int(need - min(tokens, need))), max(0.0, call.usd - max(free_usd, 0.0))))
                tokens = max(0, tokens - need)
                free_usd = max(0.0, free_usd - call.usd) if call.usd > 0 else free_usd
        # What the calls that wait do not need is kept as far as a store of the usual size goes.
        kept_requests = self.requests if requests == math.inf else self.requests - max(0, requests - self._stock)
        store = self._stock * self._typical_tokens
        kept_tokens = self.tokens if tokens == math.inf else self.tokens - max(0, tokens - store)
        self.requests, self.tokens = kept_requests, kept_tokens
        missing = self._stock - self._calls_in(requests, tokens, free_usd)
        free_usd -= min(max(free_usd, 0.0), self._stock * self._typical_usd)
        report = LaneReport(
            account=self.account,
            model=self.model,
            in_flight=self.in_flight,
            slots=self.slots,
            held_back=self.waiting > 0 and self.in_flight >= self.slots > 0,
            waiting=self.waiting,
            wants=tuple(wants),
            spare=Want(self._typical_tokens, self._typical_usd),
            spare_calls=math.ceil(max(missing, 0.0)),
            kept_requests=0 if self.requests == math.inf else int(self.requests),
            kept_tokens=0 if self.tokens == math.inf else int(self.tokens),
            started=told.started,
            started_tokens=told.started_tokens,
            corrections=_by_age(told.corrections, now),
            waited=told.waited,
            waited_seconds=told.waited_seconds,
        )
        return report, free_usd

    def _set_stock(self, now: float, started: int, scarce: bool) -> None:
        """Choose how many calls to be ready for by how many begin."""
        passed = max(now - self._then, 1e-3)
        self._then = now
        self._per_second += min(1.0, passed / _RATE_SECONDS) * (started / passed - self._per_second)
        self._stock = 0 if scarce else min(LARGEST_STOCK, math.ceil(self._per_second * _STOCK_SECONDS))
        self._few = self._stock / 2

    def _affords(self, usd: float) -> bool:
        return usd <= 0 or self.purse.free >= usd

    def _calls_in(self, requests: float, tokens: float, usd: float) -> float:
        """For how many calls of the usual size so much is enough."""
        calls = requests
        if self._typical_tokens > 0:
            calls = min(calls, tokens // self._typical_tokens if tokens != math.inf else math.inf)
        if self._typical_usd > 0:
            calls = min(calls, usd / self._typical_usd)
        return max(calls, 0.0)

    def told(self, answered: bool) -> None:
        """The last report was answered, or else what it told is told again in the next."""
        if not answered:
            self._told.add(self._telling)
        self._telling = _Told()

    def lease(self, lease: LaneLease) -> None:
        """Add what the keeper lends."""
        self.slots = lease.slots
        self._most_tokens = math.inf if lease.tokens_per_minute is None else lease.tokens_per_minute
        self.requests = math.inf if lease.requests is None else _finite(self.requests) + lease.requests
        self.tokens = math.inf if lease.tokens is None else _finite(self.tokens) + lease.tokens

    def lapse(self) -> None:
        """Nothing that was lent may be used any more."""
        self.slots = 0
        self.requests = self.tokens = 0
        self._stock = 0
        self._few = 0.0


def _finite(amount: float) -> float:
    return 0 if amount == math.inf else amount


def _by_age(corrections: Mapping[int, int], now: float) -> tuple[tuple[float, int], ...]:
    """Corrections with how long ago their calls were sent; for those of more than a minute ago that changes nothing."""
    return tuple((min(now - tenth / _PER_SECOND, _OLDEST_SECONDS), surplus) for tenth, surplus in corrections.items())
