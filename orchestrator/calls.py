"""LLM calls on a worker's side: answered from the journal or made, and committed there before anything acts on them.

A game's :class:`GameCaller` looks a call up among those that the journal already has for the game. Any other waits for
the account's limits, is made by the one client that the worker has for its model, and goes with its reply to the
:class:`Desk`. The driver collects from there in batches, commits, and tells what was; only then the agent gets it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from agents.llm.contract import Caller, CallFailed, CallKey, ChatReply, ChatRequest, FailureKind, Usage
from orchestrator.journal import Answer, Spending
from orchestrator.limits import go_on_with_decision
from orchestrator.play import FailureCause, GameDropped, GameFailure, Playthrough

if TYPE_CHECKING:
    # With the client comes the SDK, and with both half a second: only where calls are made.
    from agents.llm.client import Estimate, Gate, OpenAIClient, Permit
    from agents.llm.models import ModelConfig
    from orchestrator.limits.gate import WorkerGate, WorkerLimits

MODEL_WIDE = frozenset({FailureKind.AUTHENTICATION, FailureKind.QUOTA_EXHAUSTED, FailureKind.MODEL_NOT_FOUND})
"""Failures after which no call of the model can succeed until somebody has done something about it."""

_COLLECT_SECONDS = 5.0
"""A collector is sent away with nothing after so long."""


@runtime_checkable
class CallingAgent(Protocol):
    """An agent that makes LLM calls through a caller that it is given."""

    model: ModelConfig

    def connect(self, caller: Caller) -> None: ...


def model_key(model: ModelConfig) -> str:
    """What fails together where a model fails: its account and its name there."""
    return f"{model.id} at {model.account}"


class Answered(NamedTuple):
    """A call that is to be committed."""

    number: int
    game_id: str
    epoch: int
    entrant: str
    answer: Answer
    spending: Spending


class Decided(NamedTuple):
    """A decision of an entrant that is to be committed: its row, and those of its calls by number.

    ``retries`` counts attempts beyond the first at these calls.
    """

    number: int
    game_id: str
    epoch: int
    place: int
    row: bytes
    calls: tuple[tuple[int, bytes], ...]
    entrant: str = ""
    retries: int = 0


Entry = Answered | Decided


class Desk:
    """What a worker has for the journal, until the driver has taken and committed it."""

    def __init__(self) -> None:
        self._numbers = count()
        self._entries: list[Entry] = []
        self._open: dict[int, asyncio.Future[None]] = {}
        self._there = asyncio.Event()

    def commit(self, entry: Entry) -> asyncio.Future[None]:
        """Hand ``entry`` over, numbered anew. The future is done once it is committed.

        It raises :class:`GameDropped` where the worker has lost the game meanwhile.
        """
        number = next(self._numbers)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._open[number] = future
        self._entries.append(entry._replace(number=number))
        self._there.set()
        return future

    async def collect(self, settled: Iterable[tuple[int, bool]]) -> list[Entry]:
        """Learn which entries were committed (or refused), and give out the next ones as soon as there are any."""
        for number, committed in settled:
            future = self._open.pop(number, None)
            if future is None or future.done():
                continue
            if committed:
                future.set_result(None)
            else:
                future.set_exception(GameDropped("the game is with another worker now"))
                future.exception()  # Read here, so that nobody complains where the game has ended in another way.
        try:
            async with asyncio.timeout(_COLLECT_SECONDS):
                await self._there.wait()
        except TimeoutError:
            return []
        entries, self._entries = self._entries, []
        self._there.clear()
        return entries


_playing: ContextVar[Playthrough] = ContextVar("playing")


class WorkerCalls:
    """All that one worker needs to make calls: a client a model, its share of the limits, what is broken."""

    def __init__(self, keeper: str | None, worker: str) -> None:
        self.desk = Desk()
        self.stopping = False
        self._keeper = keeper
        self._worker = worker
        self._limits: WorkerLimits | None = None
        self._clients: dict[str, OpenAIClient] = {}
        self._gates: dict[str, WorkerGate] = {}
        self._broken: dict[str, CallFailed] = {}
        self._breaks: dict[str, asyncio.Event] = {}

    async def complete(self, model: ModelConfig, request: ChatRequest, game: Playthrough) -> ChatReply:
        """Make a call of a game. Raises :class:`CallFailed`, at once where the model is known to be out of order."""
        key = model_key(model)
        self.check(key)
        token = _playing.set(game)
        try:
            return await self._client(model).complete(request)
        except CallFailed as failure:
            if failure.kind in MODEL_WIDE:
                self.out_of_order(key, failure)
            raise
        finally:
            _playing.reset(token)

    def check(self, key: str) -> None:
        """Raise :class:`CallFailed` where that model is out of order."""
        if key in self._broken:
            known = self._broken[key]
            raise CallFailed(known.kind, str(known))

    def out_of_order(self, key: str, failure: CallFailed) -> None:
        """No call of that model can succeed any more; those that wait for their turn or their next attempt fail now."""
        self._broken.setdefault(key, failure)
        if key in self._breaks:
            self._breaks[key].set()
        if key in self._gates:
            self._gates[key].give_up(failure)

    async def close(self) -> None:
        """Close all connections and give back what was lent."""
        for client in self._clients.values():
            await client.aclose()
        self._clients.clear()
        if self._limits is not None:
            await self._limits.aclose()

    def _client(self, model: ModelConfig) -> OpenAIClient:
        from agents.llm.client import OpenAIClient, OpenGate
        from agents.llm.models import ModelError

        name, key = json.dumps(model.to_json(), sort_keys=True), model_key(model)
        if name not in self._clients:
            gate: Gate = OpenGate()
            if self._keeper is not None:
                if self._limits is None:
                    from orchestrator.limits import KeeperLink, WorkerLimits

                    self._limits = WorkerLimits(KeeperLink(self._keeper), self._worker)
                gate = self._gates[key] = self._limits.gate(model)
            try:
                self._clients[name] = OpenAIClient(
                    model, _WatchedGate(gate, self, key), sleep=partial(self._between_attempts, key)
                )
            except ModelError as error:
                raise CallFailed(FailureKind.AUTHENTICATION, str(error)) from error
        return self._clients[name]

    async def _between_attempts(self, key: str, seconds: float) -> None:
        """Wait for so long, or until that model is out of order."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._breaks.setdefault(key, asyncio.Event()).wait()


class _WatchedGate:
    """A gate that notes which games have a request on the way, and lets none pass for a model that is out of order."""

    def __init__(self, gate: Gate, calls: WorkerCalls, key: str) -> None:
        self._gate = gate
        self._calls = calls
        self._key = key

    async def acquire(self, estimate: Estimate) -> Permit:
        self._calls.check(self._key)
        permit = await self._gate.acquire(estimate)
        try:
            self._calls.check(self._key)
        except CallFailed:
            permit.settle(None, 0.0)
            raise
        return _WatchedPermit(permit, _playing.get())

    def rate_limited(self, retry_after: float | None) -> None:
        self._gate.rate_limited(retry_after)


class _WatchedPermit:
    def __init__(self, permit: Permit, game: Playthrough) -> None:
        self._permit = permit
        self._game = game
        game.requests += 1

    def settle(self, usage: Usage | None, cost_usd: float) -> None:
        self._game.requests -= 1
        self._permit.settle(usage, cost_usd)


class GameCaller:
    """Makes the calls of one seat in one game (:class:`agents.llm.contract.Caller`).

    ``known`` are the answers that the journal has for the game, those of the other seat too.
    """

    def __init__(
        self,
        calls: WorkerCalls,
        model: ModelConfig,
        game_id: str,
        epoch: int,
        entrant: str,
        seat: int,
        game: Playthrough,
        known: Iterable[Answer],
    ) -> None:
        self._calls = calls
        self._model = model
        self._game_id = game_id
        self._epoch = epoch
        self._entrant = entrant
        self._seat = seat
        self._game = game
        self._known = {(one.decision, one.call): one for one in known if one.seat == seat}
        self._decision = -1
        self._too_long: list[Answer] = []
        """Requests that were refused as such since the last reply."""
        self.answered_at: dict[int, int] = {}
        """When each call of the present decision was answered, in microseconds since 1970."""

    async def __call__(self, key: CallKey, request: ChatRequest) -> ChatReply:
        """The reply, from the journal or new.

        Raises :class:`CallFailed`, :class:`GameFailure` or :class:`GameDropped`.
        """
        if key.decision != self._decision:
            self._decision = key.decision
            self.answered_at = {}
        digest = request.digest()
        known = self._known.pop((key.decision, key.call), None)
        if known is not None:
            go_on_with_decision()
            await asyncio.sleep(0)  # A game that is rebuilt must not keep its worker from all else.
            return self._recalled(key, known, digest)
        if self._calls.stopping:
            raise GameDropped("the run is stopping")
        self._game.hold()
        thinking = 0.0
        try:
            try:
                reply = await self._calls.complete(self._model, request, self._game)
            except CallFailed as failure:
                if failure.kind is FailureKind.CONTEXT_OVERFLOW:
                    told = {"failed": [failure.kind.value, str(failure), failure.retries]}
                    self._too_long.append(self._answer(key, digest, told))
                raise
            thinking = reply.latency
            now = self.answered_at[key.call] = now_microseconds()
            # What the harness was told decides what it did next, so it is part of a game that goes on after it. A game
            # that fails by it is tried again as it was before.
            refused, self._too_long = self._too_long, []
            answer = self._answer(key, digest, {"reply": reply.to_json(), "at": now})
            await self._commit([*((one, Spending()) for one in refused), (answer, _spending(reply))])
            return reply
        finally:
            self._game.resume(thinking)

    def _recalled(self, key: CallKey, known: Answer, digest: str) -> ChatReply:
        if known.digest != digest:
            raise GameFailure(
                FailureCause.REQUEST_CHANGED,
                f"{self._entrant}: call {known.call} of its decision {known.decision} is not the one that was answered "
                "before; harness, model, cards or rules have changed since, or an agent's choices cannot be repeated",
            )
        answer = json.loads(known.answer.decode("utf-8", "surrogatepass"))
        if "failed" in answer:
            kind, message, retries = answer["failed"]
            raise CallFailed(FailureKind(kind), message, retries)
        reply = ChatReply.from_json(answer["reply"])
        self.answered_at[key.call] = answer["at"]
        self._game.took(reply.latency)
        return reply

    def _answer(self, key: CallKey, digest: str, answer: Mapping[str, Any]) -> Answer:
        text = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        return Answer(self._seat, key.decision, key.call, self._game.places[self._seat], digest, text)

    async def _commit(self, answers: Iterable[tuple[Answer, Spending]]) -> None:
        entries = [Answered(0, self._game_id, self._epoch, self._entrant, *answer) for answer in answers]
        # Till then a stop must not end the game: its lease would be given back, and the answer refused.
        self._game.requests += 1
        try:
            for committed in [self._calls.desk.commit(entry) for entry in entries]:
                await committed
        finally:
            self._game.requests -= 1


def _spending(reply: ChatReply) -> Spending:
    usage = reply.usage
    return Spending(1, usage.input, usage.cached, usage.output, usage.reasoning, reply.cost_usd, reply.queued)


def now_microseconds() -> int:
    """Wall clock, in microseconds since 1970."""
    return round(time.time() * 1e6)
