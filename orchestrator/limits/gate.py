"""A worker's gates: calls pass by what the worker was lent, and are told about in one exchange for all of them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING

from agents.llm.contract import CallFailed, FailureKind, Usage
from agents.llm.models import ModelConfig
from orchestrator.limits.lane import Lane, Purse, Reserve, Waiting
from orchestrator.limits.messages import HEARTBEAT_SECONDS, LEASE_SECONDS, Answer, LaneLease, Refusal, Report

if TYPE_CHECKING:
    from agents.llm.client import Estimate  # With it comes the SDK, which the keeper and the driver have no use for.

log = logging.getLogger(__name__)

_PROVISIONAL_HOLD_SECONDS = 1.0
"""A refused account is held so long here until the keeper says for how long."""
_AWAY_SECONDS = 0.25
"""How soon a keeper that is away is looked for again."""

_RESOLUTION_SECONDS = 0.001
"""A timer for less than this is not worth it."""

_game: ContextVar[str] = ContextVar("game", default="")
_sent: ContextVar[float] = ContextVar("sent")
_decision: ContextVar[_Decision | None] = ContextVar("decision", default=None)


class KeeperAway(ConnectionError):
    """The keeper of the limits does not answer; another may take its place."""


Link = Callable[[Report], Awaitable[Answer]]
"""Brings a report to the keeper and its answer back. Raises :class:`KeeperAway`."""


@contextlib.contextmanager
def in_game(game_id: str) -> Iterator[None]:
    """Calls that begin within belong to the game ``game_id``: turns are taken by games."""
    token = _game.set(game_id)
    try:
        yield
    finally:
        _game.reset(token)


def in_decision() -> AbstractContextManager[object]:
    """Calls that are made within are those of one decision, which the budget never stops once it has begun.

    With the first call is reserved what that may cost, or what the costliest decision of its model so far did cost if
    that is more. All calls are paid from it, and what is left in the end is free again.
    """
    return _Decision()


def go_on_with_decision() -> None:
    """The present decision was begun by an earlier start: it is finished, though there be nothing left to reserve."""
    decision = _decision.get()
    if decision is not None:
        decision.begun = True


class WorkerLimits:
    """All gates of one worker. It belongs to the event loop in which the first call is made.

    ``worker`` is a name that no other worker of the run has or had.
    """

    def __init__(self, link: Link, worker: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._link = link
        self._worker = worker
        self._clock = clock
        self._purse = Purse()
        self._lanes: dict[tuple[str, str], Lane[asyncio.Future[_Permit]]] = {}
        self._held_until: dict[str, float] = {}
        self._refusals: list[tuple[str, float | None, float]] = []
        """Account, what it asked for, and when the call was sent."""
        self._scarce = False
        self._urgent = False
        self._valid_until = float("-inf")
        self._last = float("-inf")
        self._again = 0.0
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def gate(self, model: ModelConfig) -> WorkerGate:
        """The gate for calls of ``model``; one may serve any number of games at once (:func:`in_game`)."""
        return WorkerGate(self, self._lane(model.account, model.id))

    async def aclose(self) -> None:
        """Give back all that is held and end. Calls that still wait are cancelled."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        for lane in self._lanes.values():
            while lane.waiting:
                self._take(lane).ticket.cancel()
            lane.lapse()
        self._purse.free = 0.0
        self._scarce = True  # It wants nothing in store.
        with contextlib.suppress(KeeperAway):
            await self._link(self._report(self._clock()))

    # What gates ask

    def admit(self, lane: Lane[asyncio.Future[_Permit]], tokens: int, usd: float) -> _Permit | None:
        """Leave for a call by what is there now; ``None`` where it has to :meth:`wait`."""
        now = self._clock()
        if lane.waiting or not self._open(lane, now) or not lane.fits(tokens, usd) or 0 < usd > self._purse.left:
            return None
        permit = self._begin(lane, tokens, usd, now)
        _sent.set(now)
        if lane.low:
            self._wake.set()
        return permit

    async def wait(self, lane: Lane[asyncio.Future[_Permit]], tokens: int, usd: float) -> _Permit:
        """Leave for a call in its turn. Raises :class:`CallFailed` (``BUDGET``) where there will be none."""
        now = self._clock()
        if 0 < usd > self._purse.left:
            raise self._too_dear(usd)
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())
        ticket: asyncio.Future[_Permit] = asyncio.get_running_loop().create_future()
        call = Waiting(_game.get(), tokens, usd, now, ticket)
        lane.join(call)
        self._let_go(lane, now)
        try:
            permit = await ticket
        except asyncio.CancelledError:
            if ticket.done() and not ticket.cancelled() and ticket.exception() is None:
                ticket.result().unused()
            else:
                lane.leave(call)
            raise
        # The call is sent now, not when its turn came.
        permit.sent = self._clock()
        _sent.set(permit.sent)
        return permit

    def give_up(self, lane: Lane[asyncio.Future[_Permit]], failure: CallFailed) -> None:
        """No call of ``lane`` has to wait any more: all that do fail like that."""
        while lane.waiting:
            ticket = self._take(lane).ticket
            if not ticket.done():
                ticket.set_exception(CallFailed(failure.kind, str(failure)))

    def rate_limited(self, account: str, retry_after: float | None) -> None:
        """See :class:`agents.llm.client.Gate`."""
        now = self._clock()
        hold = _PROVISIONAL_HOLD_SECONDS if retry_after is None else retry_after
        self._hold(account, now + hold)
        self._refusals.append((account, retry_after, _sent.get(now)))
        self._urgent = True
        self._wake.set()

    def settled(self, lane: Lane[asyncio.Future[_Permit]]) -> None:
        """A call of ``lane`` has ended, or a decision; the next may begin."""
        if lane.waiting:
            self._let_go(lane, self._clock())

    # Letting calls go

    def _take(self, lane: Lane[asyncio.Future[_Permit]]) -> Waiting[asyncio.Future[_Permit]]:
        """A call that waits, to be told that it need not any more."""
        call = next(lane.in_order())
        lane.take(call, self._clock())
        return call

    def _lane(self, account: str, model: str) -> Lane[asyncio.Future[_Permit]]:
        key = account, model
        if key not in self._lanes:
            self._lanes[key] = Lane(account, model, self._purse)
        return self._lanes[key]

    def _open(self, lane: Lane[asyncio.Future[_Permit]], now: float) -> bool:
        return now < self._valid_until and now >= self._held_until.get(lane.account, 0.0)

    def _begin(self, lane: Lane[asyncio.Future[_Permit]], tokens: int, usd: float, now: float) -> _Permit:
        need = lane.needed(tokens)
        return _Permit(self, lane, need, lane.begin(need, usd), now)

    def _let_go(self, lane: Lane[asyncio.Future[_Permit]], now: float) -> None:
        while (call := lane.first()) is not None:
            if call.ticket.cancelled():
                lane.leave(call)  # Given up this moment: its task has had no time to say so.
            elif 0 < call.usd > self._purse.left:
                lane.take(call, now)
                call.ticket.set_exception(self._too_dear(call.usd))
            elif self._open(lane, now) and lane.fits(call.tokens, call.usd):
                lane.take(call, now)
                call.ticket.set_result(self._begin(lane, call.tokens, call.usd, now))
            else:
                break
        if lane.waiting or lane.low:
            self._wake.set()

    def _hold(self, account: str, until: float) -> None:
        if until > self._held_until.get(account, 0.0):
            self._held_until[account] = until
            # A little later: the loop's timers may be early by its clock's resolution.
            asyncio.get_running_loop().call_later(max(0.0, until - self._clock()) + 0.001, self._released, account)

    def _released(self, account: str) -> None:
        for lane in self._lanes.values():
            if lane.account == account:
                self._let_go(lane, self._clock())

    def _too_dear(self, usd: float) -> CallFailed:
        left = max(self._purse.left, 0.0)
        return CallFailed(
            FailureKind.BUDGET,
            f"the budget is used up: a decision may cost ${usd:.4f}, ${left:.4f} are left (budget.usd)",
        )

    # Reports

    async def _run(self) -> None:
        try:
            while True:
                self._wake.clear()
                delay = self._due(self._clock())
                if delay is None or delay > _RESOLUTION_SECONDS:
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(delay):
                            await self._wake.wait()
                else:
                    await self._exchange()
        except Exception as error:
            # Nobody awaits this task: calls that wait have the fault, and the next call begins anew.
            self._task = None
            for lane in self._lanes.values():
                while lane.waiting:
                    ticket = self._take(lane).ticket
                    if not ticket.cancelled():
                        ticket.set_exception(error)

    def _due(self, now: float) -> float | None:
        """Seconds until the next report; ``None`` where there is nothing to tell or to ask."""
        if self._urgent:
            return 0.0
        lanes = self._lanes.values()
        held = {account for account, until in self._held_until.items() if until > now}
        since = now - self._last
        if any(lane.account not in held and (lane.starving or lane.low) for lane in lanes):
            return max(0.0, self._again - since)
        if now >= self._valid_until and any(lane.waiting for lane in lanes):
            return max(0.0, self._again - since)
        if self._scarce and any(lane.changed for lane in lanes):
            return max(0.0, max(self._again, HEARTBEAT_SECONDS / 10) - since)
        if self._purse.spent or self._purse.reserves or any(not lane.idle for lane in lanes):
            return max(0.0, HEARTBEAT_SECONDS - since)
        return None

    async def _exchange(self) -> None:
        asked = self._last = self._clock()
        if asked >= self._valid_until:
            self._lapse()
        self._urgent = False
        report = self._report(asked)
        refusals, self._refusals = self._refusals, []
        self._purse.spent -= report.spent_usd
        try:
            answer = await self._link(report)
        except KeeperAway as error:
            log.info("the keeper of the limits is away: %s", error)
            for lane in self._lanes.values():
                lane.told(answered=False)
            self._refusals[:0] = refusals
            self._purse.spent += report.spent_usd
            self._again = _AWAY_SECONDS
            return
        for lane in self._lanes.values():
            lane.told(answered=True)
        self._apply(answer, asked)

    def _report(self, now: float) -> Report:
        free = self._purse.free
        lanes = []
        if self._scarce and any(lane.unpaid for lane in self._lanes.values()):
            free = min(free, 0.0) if free != math.inf else free
        start = free
        for lane in self._lanes.values():
            told, free = lane.tell(now, self._scarce, free)
            lanes.append(told)
        kept = start if free == math.inf else start - max(free, 0.0)
        self._purse.free = kept
        refusals = tuple(Refusal(account, now - sent, retry_after) for account, retry_after, sent in self._refusals)
        reserved = self._purse.reserved + (0.0 if kept == math.inf else kept)
        return Report(self._worker, tuple(lanes), refusals, self._purse.spent, max(reserved, 0.0))

    def _apply(self, answer: Answer, asked: float) -> None:
        now = self._clock()
        self._valid_until = asked + LEASE_SECONDS
        self._again = answer.again_seconds
        self._scarce = answer.scarce
        purse = self._purse
        purse.left = answer.left_usd
        purse.free = math.inf if answer.usd is None else answer.usd + (0.0 if purse.free == math.inf else purse.free)
        leases: dict[tuple[str, str], LaneLease] = {(lease.account, lease.model): lease for lease in answer.lanes}
        for key, lane in self._lanes.items():
            if key in leases:
                lane.lease(leases[key])
                if leases[key].hold_seconds > 0:
                    self._hold(lane.account, now + leases[key].hold_seconds)
        for lane in self._lanes.values():
            self._let_go(lane, now)

    def _lapse(self) -> None:
        for lane in self._lanes.values():
            lane.lapse()
        self._purse.free = 0.0


class WorkerGate:
    """The gate of one model in one worker (:class:`agents.llm.client.Gate`)."""

    def __init__(self, limits: WorkerLimits, lane: Lane[asyncio.Future[_Permit]]) -> None:
        self._limits = limits
        self._lane = lane

    async def acquire(self, estimate: Estimate) -> _Permit:
        """Wait for leave to make one attempt. Raises :class:`CallFailed` (``BUDGET``) where there will be none."""
        limits, lane = self._limits, self._lane
        tokens, usd = estimate.input + estimate.output, estimate.cost_usd
        decision = _decision.get()
        if decision is None:
            return limits.admit(lane, tokens, usd) or await limits.wait(lane, tokens, usd)
        if decision.reserve is None:
            usd = max(usd, lane.dearest)
            try:
                return decision.take(limits.admit(lane, tokens, usd) or await limits.wait(lane, tokens, usd))
            except CallFailed as failure:
                if not decision.begun or failure.kind is not FailureKind.BUDGET:
                    raise
        return decision.take(limits.admit(lane, tokens, 0.0) or await limits.wait(lane, tokens, 0.0))

    def give_up(self, failure: CallFailed) -> None:
        """The model is out of order: its calls that wait here fail like that."""
        self._limits.give_up(self._lane, failure)

    def rate_limited(self, retry_after: float | None) -> None:
        """The account's limit was hit by the last call of this task: all workers hold theirs."""
        self._limits.rate_limited(self._lane.account, retry_after)


class _Permit:
    """Leave to make one attempt, paid from ``reserve``, which is its own unless it belongs to a decision."""

    __slots__ = ("_ended", "_tokens", "lane", "limits", "of_decision", "reserve", "sent")

    def __init__(
        self,
        limits: WorkerLimits,
        lane: Lane[asyncio.Future[_Permit]],
        tokens: int,
        reserve: Reserve | None,
        sent: float,
    ) -> None:
        self.limits = limits
        self.lane = lane
        self.reserve = reserve
        self.sent = sent
        self.of_decision = False
        self._tokens = tokens
        self._ended = False

    def settle(self, usage: Usage | None, cost_usd: float) -> None:
        """The attempt has ended; only the first call counts."""
        if self._ended:
            return
        lane, reserve = self.lane, self.reserve
        lane.end(self.sent, self._tokens, None if usage is None else usage.input + usage.output)
        if reserve is None:
            lane.purse.pay(cost_usd)
        else:
            reserve.pay(cost_usd)
        self._end()

    def unused(self) -> None:
        """The attempt was never made."""
        if not self._ended:
            self.lane.undo(self._tokens)
            self._end()

    def _end(self) -> None:
        self._ended = True
        if self.reserve is not None and not self.of_decision:
            self.reserve.give_back()
        if self.lane.waiting:
            self.limits.settled(self.lane)


class _Decision:
    """A decision; as a context manager, the one to which calls that are made within belong."""

    __slots__ = ("_first", "_outside", "begun", "reserve")

    def __init__(self) -> None:
        self.begun = False
        """Whether it is finished even where the budget is used up."""
        self.reserve: Reserve | None = None
        """What is set aside for it, once it has made a call."""
        self._first: _Permit | None = None
        self._outside: Token[_Decision | None] | None = None

    def __enter__(self) -> None:
        self._outside = _decision.set(self)

    def __exit__(self, *_: object) -> None:
        if self._outside is not None:
            _decision.reset(self._outside)
        if self._first is not None and self.reserve is not None:
            limits, lane = self._first.limits, self._first.lane
            lane.dearest = max(lane.dearest, self.reserve.paid)
            self.reserve.give_back()
            limits.settled(lane)

    def take(self, permit: _Permit) -> _Permit:
        """Have ``permit`` paid from what is set aside; what was for the first is for all."""
        if self.reserve is None:
            self.reserve = permit.reserve or Reserve(permit.lane.purse, 0.0)
            self._first = permit
        elif permit.reserve is not None:
            permit.reserve.give_back()
        permit.of_decision = True
        permit.reserve = self.reserve
        return permit
