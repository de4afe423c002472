"""The keeper's book: what every account allows, who holds what of it, and who gets the next of it.

Pure: the actor passes reports in and sends the answers out. Time comes from the clock it is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from agents.llm.models import Limits
from orchestrator.limits.concurrency import Concurrency
from orchestrator.limits.fairness import FairOrder, share_equally, share_in_proportion
from orchestrator.limits.messages import (
    HEARTBEAT_SECONDS,
    LEASE_SECONDS,
    MOST_WANTS,
    AccountCounters,
    Answer,
    Counters,
    LaneLease,
    LaneReport,
    Report,
    Want,
)
from orchestrator.limits.meter import Meter

HEIR_SECONDS = 3 * HEARTBEAT_SECONDS
"""Within so much every worker that holds anything has told about it."""
_FEWEST_SECONDS = 0.05
_SHORT_SECONDS = 0.1
"""Where something is short: it goes on flowing in meanwhile."""
_MOST_SECONDS = 1.0
_SECONDS_PER_WORKER = 0.01
"""Reports of all workers together come at most a hundred times a second."""
_AHEAD = 2
"""How many times what a lane started since its last report it is lent beyond its free slots."""


@dataclass(slots=True)
class _Lane:
    """What the book knows of one model's calls in one worker."""

    report: LaneReport
    slots: int = 0
    """No more calls than this can be in flight before the next report."""
    requests: int = 0
    """Out: kept by the lane, or put by for it."""
    tokens: int = 0
    ready_requests: int = 0
    """Put by for the lane, to be taken along at its next report."""
    ready_tokens: int = 0
    ready_usd: float = 0.0
    wants: list[Want] = field(default_factory=list)
    spare_calls: int = 0


@dataclass(slots=True)
class _Worker:
    heard: float
    usd: float = 0.0
    """What the worker can spend at most before the next report, apart from what is put by for its lanes."""
    lanes: dict[tuple[str, str], _Lane] = field(default_factory=dict)


class _Account:
    def __init__(self, limits: Limits, now: float, recent: bool) -> None:
        self.limits = limits
        per_minute = limits.requests_per_minute, limits.tokens_per_minute
        self.requests, self.tokens = (None if limit is None else Meter(limit, now, recent) for limit in per_minute)
        self.concurrency = Concurrency(limits.in_flight)
        self.models: FairOrder[str] = FairOrder()
        self.lanes: FairOrder[tuple[str, str]] = FairOrder()
        """By worker and model."""
        self.held: dict[tuple[str, str], _Lane] = {}
        """All lanes of the account, by worker and model."""
        self.started = self.started_tokens = self.waited = 0
        self.waited_seconds = 0.0


class LimitBook:
    """Limits of all accounts and the budget of a run.

    ``accounts`` are the limits by account (:attr:`agents.llm.models.ModelConfig.account`); one that is not among them
    has none. ``budget_usd`` is for the whole run, ``None`` where there is none; ``spent_usd`` what earlier starts, or
    this one before the book was lost, paid. ``recent`` says that calls may have been made within the last minute that
    this book knows nothing of. ``heir`` says that workers are at work by leases of a book that is gone: nothing is
    lent until all of them have had time to tell what they hold.
    """

    def __init__(
        self,
        accounts: Mapping[str, Limits],
        budget_usd: float | None,
        spent_usd: float,
        recent: bool,
        clock: Callable[[], float],
        heir: bool = False,
    ) -> None:
        self._clock = clock
        now = clock()
        self._lends_from = now + HEIR_SECONDS if heir else now
        self._recent = recent
        self._accounts = {name: _Account(limits, now, recent) for name, limits in accounts.items()}
        self._budget = budget_usd
        self._spent = spent_usd
        self._reserved = 0.0
        """US dollars that workers may spend before they report again."""
        self._workers: dict[str, _Worker] = {}
        self._then = now
        self._reports = 0

    def report(self, report: Report) -> Answer:
        """Take in what a worker tells, and lend it what it may have."""
        now = self._advance()
        self._reports += 1
        worker = self._workers.setdefault(report.worker, _Worker(now))
        worker.heard = now
        for refusal in report.refusals:
            account = self._account(refusal.account, now)
            in_flight = sum(lane.report.in_flight for lane in account.held.values())
            account.concurrency.rate_limited(now - refusal.age, refusal.retry_after, in_flight, now)
        self._spent += report.spent_usd
        self._reserved += report.kept_usd - worker.usd
        worker.usd = report.kept_usd
        told = {(lane.account, lane.model): lane for lane in report.lanes}
        for key in [key for key in worker.lanes if key not in told]:
            self._take_in(report.worker, worker, LaneReport(*key), now)
            del worker.lanes[key]
            self._account(key[0], now).held.pop((report.worker, key[1]), None)
        for lane in told.values():
            self._take_in(report.worker, worker, lane, now)
        slots = {account: self._slots(account) for account in {account for account, _ in told}}
        for name in slots:
            self._lend(name, slots[name], now)
        return self._answer(report.worker, worker, slots, now)

    def forget(self, worker: str) -> None:
        """A worker is known to be dead: what it held is free at once."""
        self._drop(worker, self._advance())

    def counters(self) -> Counters:
        """Where everything stands."""
        now = self._advance()
        accounts = []
        for name, account in self._accounts.items():
            lanes = [lane.report for lane in account.held.values()]
            accounts.append(
                AccountCounters(
                    account=name,
                    in_flight=sum(lane.in_flight for lane in lanes),
                    waiting=sum(lane.waiting for lane in lanes),
                    concurrency=account.concurrency.limit,
                    hold_seconds=account.concurrency.hold_seconds(now),
                    requests=account.started,
                    tokens=account.started_tokens,
                    hits=account.concurrency.hits,
                    cuts=account.concurrency.cuts,
                    waited=account.waited,
                    waited_seconds=account.waited_seconds,
                )
            )
        return Counters(
            accounts=tuple(accounts),
            spent_usd=self._spent,
            reserved_usd=self._reserved,
            budget_usd=self._budget,
            workers=len(self._workers),
            reports=self._reports,
        )

    # Time

    def _advance(self) -> float:
        """The time now; leases that are over by it are taken back."""
        now = self._clock()
        slept = now - self._then
        self._then = now
        if slept > LEASE_SECONDS / 2:
            # Reports may have been waiting for this process, not it for them.
            for worker in self._workers.values():
                worker.heard += slept
        for name in [name for name, worker in self._workers.items() if now - worker.heard > LEASE_SECONDS]:
            self._drop(name, now)
        return now

    def _drop(self, name: str, now: float) -> None:
        worker = self._workers.pop(name, None)
        if worker is None:
            return
        self._reserved -= worker.usd
        for (account_name, model), lane in worker.lanes.items():
            self._reserved -= lane.ready_usd
            account = self._account(account_name, now)
            account.lanes.forget((name, model))
            account.held.pop((name, model), None)
            # What it held it may have used before it died; what was put by it has never seen.
            for meter, out, ready in (
                (account.requests, lane.requests, lane.ready_requests),
                (account.tokens, lane.tokens, lane.ready_tokens),
            ):
                if meter is not None:
                    meter.give_back(ready)
                    meter.use(out - ready, now)

    # What workers tell

    def _take_in(self, name: str, worker: _Worker, told: LaneReport, now: float) -> None:
        account = self._account(told.account, now)
        lane = worker.lanes.setdefault((told.account, told.model), _Lane(told))
        account.held[name, told.model] = lane
        lane.report = told
        lane.slots = max(told.in_flight, told.slots)
        lane.wants, lane.spare_calls = list(told.wants), told.spare_calls
        started_tokens = told.started_tokens
        if account.requests is not None:
            lane.requests = lane.ready_requests + _settle(
                account.requests, lane.requests - lane.ready_requests, told.started, told.kept_requests, now
            )
        if account.tokens is not None:
            lane.tokens = lane.ready_tokens + _settle(
                account.tokens, lane.tokens - lane.ready_tokens, started_tokens, told.kept_tokens, now
            )
            for age, surplus in told.corrections:
                account.tokens.correct(surplus, now - age)
        account.started += told.started
        account.started_tokens += started_tokens - sum(surplus for _, surplus in told.corrections)
        account.waited += told.waited
        account.waited_seconds += told.waited_seconds
        if told.started and not self._counted(account):
            account.models.charge(told.model, told.started)
            account.lanes.charge((name, told.model), told.started / _games(told))
        if told.held_back:
            busy = sum(_games(lane.report) for lane in account.held.values())
            if busy > account.concurrency.limit:
                account.concurrency.held_back(now)

    # What is lent

    def _lend(self, name: str, slots: Mapping[tuple[str, str], int], now: float) -> None:
        """Put by what the limits allow, a call at a time, for whoever is next by model and then by game."""
        account = self._account(name, now)
        if now < self._lends_from or account.concurrency.hold_seconds(now) > 0 or not self._counted(account):
            return
        queues: dict[str, dict[tuple[str, str], _Lane]] = {}
        for key, lane in account.held.items():
            if lane.wants and self._room(lane, slots[key]) > 0:
                queues.setdefault(key[1], {})[key] = lane
        # What is reserved comes back as decisions end: what needs no US dollars, as their calls do, goes on meanwhile.
        short_usd = self._short_of_usd(account)
        while queues:
            model = account.models.next(queues)
            key = account.lanes.next(queues[model])
            lane = queues[model][key]
            want = lane.wants[0]
            blocked = False
            if self._too_dear(want.usd):
                lane.wants.pop(0)  # Its worker is told, and gives it up.
            elif blocked := want.usd > 0 and (short_usd or not self._affords(want.usd)):
                short_usd = True
            elif not self._put_by(account, lane, want, now):
                return
            else:
                lane.wants.pop(0)
                account.models.charge(model, 1.0)
                account.lanes.charge(key, 1.0 / _games(lane.report))
            if blocked or not lane.wants or self._room(lane, slots[key]) <= 0:
                del queues[model][key]
                if not queues[model]:
                    del queues[model]
        if short_usd:
            return
        # Nobody waits: what is left may lie ready.
        for lane in account.held.values():
            if lane.spare_calls > 0:
                lane.spare_calls -= self._put_by(account, lane, lane.report.spare, now, lane.spare_calls)
                if lane.spare_calls > 0:
                    return

    def _put_by(self, account: _Account, lane: _Lane, want: Want, now: float, calls: int = 1) -> int:
        """Put what each of so many ``calls`` needs by for ``lane``; for how many there was enough, none by halves."""
        tokens = 0 if account.tokens is None else account.tokens.clamp(want.tokens)
        if account.requests is not None:
            calls = account.requests.lendable(1, calls, now)
        if account.tokens is not None:
            calls = account.tokens.lendable(tokens, calls, now)
        calls = self._affords(want.usd, calls)
        if account.requests is not None:
            account.requests.lend(calls)
            lane.requests += calls
        if account.tokens is not None:
            account.tokens.lend(calls * tokens)
            lane.tokens += calls * tokens
            lane.ready_tokens += calls * tokens
        if self._budget is not None:
            lane.ready_usd += calls * want.usd
            self._reserved += calls * want.usd
        lane.ready_requests += calls
        return calls

    def _affords(self, usd: float, calls: int = 1) -> int:
        """For how many of so many ``calls`` at ``usd`` each enough is neither spent nor reserved."""
        if usd <= 0 or self._budget is None:
            return calls
        return max(0, int(min(calls, (self._budget - self._spent - self._reserved) / usd)))

    def _counted(self, account: _Account) -> bool:
        return account.requests is not None or account.tokens is not None or self._budget is not None

    def _room(self, lane: _Lane, slots: int) -> int:
        """How many calls more than are put by the lane can make use of before long."""
        told = lane.report
        free = slots - told.in_flight + _AHEAD * told.started
        return free - lane.ready_requests - told.kept_requests

    def _slots(self, name: str) -> dict[tuple[str, str], int]:
        """A fair share of the calls in flight for every lane of an account, by worker and model."""
        account = self._accounts[name]
        # Calls that wait for US dollars would only keep slots from decisions under way, for which these are reserved.
        short_usd = self._short_of_usd(account)
        wants: dict[str, dict[tuple[str, str], int]] = {}
        for key, lane in account.held.items():
            busy = lane.report.in_flight + (_without_usd(lane) if short_usd else lane.report.waiting)
            # A little more than it needs now, so that the next call need not ask.
            wants.setdefault(key[1], {})[key] = busy + busy // 4 + 1 if busy else 0
        models = {model: sum(lanes.values()) for model, lanes in wants.items()}
        shares = share_equally(models, account.concurrency.limit, account.models.rank)
        slots: dict[tuple[str, str], int] = {}
        for model, lanes in wants.items():
            slots |= share_in_proportion(lanes, shares[model], account.lanes.rank)
        return slots

    def _short_of_usd(self, account: _Account) -> bool:
        """Whether a call waits for US dollars that are reserved for others, which may give them back."""
        if self._budget is None:
            return False
        for lane in account.held.values():
            if lane.wants:
                usd = next((want.usd for want in lane.wants if want.usd > 0), 0.0)
                if not self._affords(usd) and not self._too_dear(usd):
                    return True
        return False

    def _too_dear(self, usd: float) -> bool:
        """Whether so much will never be had any more."""
        return self._budget is not None and 0 < usd > self._budget - self._spent

    def _answer(
        self, name: str, worker: _Worker, slots: Mapping[str, Mapping[tuple[str, str], int]], now: float
    ) -> Answer:
        leases: list[LaneLease] = []
        usd = 0.0
        again = max(_FEWEST_SECONDS, _SECONDS_PER_WORKER * len(self._workers))
        for account_name in slots:
            account = self._accounts[account_name]
            hold = account.concurrency.hold_seconds(now)
            in_use = sum(lane.slots for lane in account.held.values())
            for (of, model), lane in worker.lanes.items():
                if of != account_name:
                    continue
                free = max(0, account.concurrency.limit - (in_use - lane.slots))
                target = min(slots[account_name][name, model], free)
                if now < self._lends_from:
                    target = lane.report.slots
                in_use += max(target - lane.slots, 0)
                lane.slots = max(lane.slots, target)
                usd += lane.ready_usd
                requests, tokens = account.requests, account.tokens
                leases.append(
                    LaneLease(
                        account=account_name,
                        model=model,
                        requests=None if requests is None else lane.ready_requests,
                        tokens=None if tokens is None else lane.ready_tokens,
                        tokens_per_minute=None if tokens is None else tokens.limit,
                        slots=target,
                        hold_seconds=hold,
                    )
                )
                lane.ready_requests = lane.ready_tokens = 0
                lane.ready_usd = 0.0
                if lane.wants and self._counted(account):
                    # Tokens may be free sooner than they flow in: calls that end give back.
                    wait = 0.0 if requests is None else requests.wait(now)
                    again = max(again, _SHORT_SECONDS, min(wait, _MOST_SECONDS))
        worker.usd += usd
        budget = self._budget
        return Answer(
            lanes=tuple(leases),
            usd=None if budget is None else usd,
            left_usd=math.inf if budget is None else budget - self._spent,
            scarce=self._scarce(slots),
            again_seconds=min(again, _MOST_SECONDS),
        )

    def _scarce(self, accounts: Iterable[str]) -> bool:
        """Whether calls wait for something that others may hold in store: a budget is everybody's."""
        return any(
            lane.wants and self._counted(self._accounts[account])
            for account in (self._accounts if self._budget is not None else accounts)
            for lane in self._accounts[account].held.values()
        )

    def _account(self, name: str, now: float) -> _Account:
        if name not in self._accounts:
            self._accounts[name] = _Account(Limits(), now, self._recent)
        return self._accounts[name]


def _games(told: LaneReport) -> int:
    """How many calls a lane has in flight or waiting; at least one. A game has one of them at a time, as a rule."""
    return max(1, told.waiting + told.in_flight)


def _without_usd(lane: _Lane) -> int:
    """How many calls of a lane wait for something other than US dollars, as far as its report tells."""
    return max(0, min(lane.report.waiting, MOST_WANTS) - sum(want.usd > 0 for want in lane.wants))


def _settle(meter: Meter, lent: int, used: int, kept: int, now: float) -> int:
    """Book what became of ``lent``: ``used``, ``kept``, the rest given back. Returns what is out now."""
    unknown = used + kept - lent
    if unknown > 0:
        # Lent by a book that is gone, or taken back from a worker that was only silent.
        meter.adopt(unknown)
    meter.use(used, now)
    if unknown < 0:
        meter.give_back(-unknown)
    return kept
