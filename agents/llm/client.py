"""Chat completions over HTTP: one call in, one reply or one reason out, passing failures tried again.

The SDK makes the requests, its own retries off; all trying again is here. Whatever limits the account, on this machine
or for a whole cluster, is a :class:`Gate`: it is asked before every attempt and told how each ended.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import cache
from types import TracebackType
from typing import Protocol

import aiohttp
import httpx2
import openai
import tenacity

from agents.llm.contract import CallFailed, ChatReply, ChatRequest, FailureKind, Usage
from agents.llm.failures import Failure, failure_in_reply, failure_of
from agents.llm.models import OUTPUT_LIMITS, ModelConfig
from agents.llm.replies import REPLACEMENT, MalformedReply, ReplyError, load_body, parse_reply, reported_cost

log = logging.getLogger(__name__)

BYTES_PER_TOKEN = 4
"""How long a token is taken to be where nothing better is known."""

_NO_LIMIT = 1_000_000
"""Connections: as many as there are calls (``None`` would stand for a default of 100)."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an attempt may take: tokens of input, the most tokens of output, and US dollars for both."""

    input: int
    output: int
    cost_usd: float


class Permit(Protocol):
    """Leave to make one attempt."""

    def settle(self, usage: Usage | None, cost_usd: float) -> None:
        """Called once when the attempt has ended, however it did.

        ``usage`` is ``None`` and ``cost_usd`` 0 where it gave no reply: it was refused, or what it took is unknown.
        """
        ...


class Gate(Protocol):
    """Holds calls back until the account's limits and the budget allow them."""

    async def acquire(self, estimate: Estimate) -> Permit:
        """Wait for leave to make one attempt. Raises :class:`CallFailed` (``BUDGET``) where there will be none."""
        ...

    def rate_limited(self, retry_after: float | None) -> None:
        """The account's limit was hit: hold every call for ``retry_after`` seconds, or as seems right (``None``)."""
        ...


class OpenGate:
    """Lets every call pass."""

    async def acquire(self, estimate: Estimate) -> Permit:
        """At once."""
        return self

    def settle(self, usage: Usage | None, cost_usd: float) -> None:
        """Nothing is counted."""

    def rate_limited(self, retry_after: float | None) -> None:
        """The call that was refused waits by itself."""


@cache
def _tls() -> ssl.SSLContext:
    # Reading the trusted certificates takes 70 ms of CPU, and is the same for every model.
    return httpx2.create_ssl_context()


class OpenAIClient:
    """Makes the calls of one model. It belongs to the event loop in which it first makes one.

    ``on_rate_limited`` is told of every reply that says so, with the seconds the endpoint asks to wait.
    ``transport`` replaces the network, ``sleep`` the waiting, in tests. Raises :class:`~agents.llm.models.ModelError`
    where the key is not in the environment.
    """

    def __init__(
        self,
        model: ModelConfig,
        gate: Gate | None = None,
        on_rate_limited: Callable[[float | None], None] | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._model = model
        self._gate: Gate = gate or OpenGate()
        self._on_rate_limited = on_rate_limited
        self._sleep = sleep
        self._key = model.key()
        self._key_in_json = in_json(self._key)
        seconds = model.timeouts
        self._timeout = httpx2.Timeout(seconds.call_seconds, connect=seconds.connect_seconds, pool=None)
        # The SDK's other transport looks at every idle connection for every request: twice the CPU with 20 calls in
        # flight, three times with 300.
        self._http = openai.DefaultAioHttpClient(
            verify=_tls(),
            transport=transport,
            timeout=self._timeout,
            # The gate says how many calls are in flight; a pool of its own size would hold back unseen.
            limits=httpx2.Limits(max_connections=_NO_LIMIT, keepalive_expiry=15.0),
            follow_redirects=True,
        )
        self._api = openai.AsyncOpenAI(
            # The SDK takes OPENAI_API_KEY from the environment for whatever endpoint unless it is given something.
            api_key=self._key or "none",
            base_url=model.base_url,
            max_retries=0,
            http_client=self._http,
        )
        self._api.organization = self._api.project = None

    def __repr__(self) -> str:
        return f"OpenAIClient({self._model.id!r} at {self._model.base_url!r})"

    async def complete(self, request: ChatRequest) -> ChatReply:
        """The reply to ``request``, passing failures tried again. Raises :class:`CallFailed`.

        ``latency`` of the reply is the attempt's that succeeded; ``queued`` is all the rest: waiting for the gate,
        failed attempts and the waits after them.
        """
        body = json.dumps(request.body(), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        estimate = self.estimate(request, len(body))
        waits = _Waits(self._model)
        begun = time.monotonic()
        try:
            async for attempt in tenacity.AsyncRetrying(
                retry=tenacity.retry_if_exception(lambda error: isinstance(error, _Failed) and error.failure.passing),
                wait=waits.wait,
                stop=waits.stop,
                sleep=self._sleep,
                reraise=True,
            ):
                with attempt:
                    reply = await self._attempt(body, estimate, waits)
                    number = attempt.retry_state.attempt_number
        except _Failed as failed:
            failure, retries = failed.failure, waits.failures - 1
            if waits.too_long(failure.retry_after):
                failure = replace(failure, message=f"{failure.message} (try again in {failure.retry_after:.0f} s)")
        else:
            passed = time.monotonic() - begun
            return replace(reply, retries=number - 1, queued=max(passed - reply.latency, 0.0))
        raise CallFailed(failure.kind, f"{self._model.id}: {failure.message}", retries, waits.unanswered)

    def estimate(self, request: ChatRequest, body_bytes: int) -> Estimate:
        """What a request whose body has so many bytes may take, its reply being as long as it is allowed to be."""
        tokens = -(-body_bytes // BYTES_PER_TOKEN)
        limits = [request.parameters[name] for name in OUTPUT_LIMITS if name in request.parameters]
        output = int(limits[0]) if limits else self._model.max_output_tokens
        return Estimate(tokens, output, self._model.price.cost(Usage(input=tokens, output=output)))

    async def aclose(self) -> None:
        """Close all connections."""
        await self._api.close()

    async def __aenter__(self) -> OpenAIClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _attempt(self, body: bytes, estimate: Estimate, waits: _Waits) -> ChatReply:
        queued_from = time.monotonic()
        permit = await self._gate.acquire(estimate)
        sent = time.monotonic()
        waits.at_the_gate += sent - queued_from
        usage, cost = None, 0.0
        try:
            outcome = await self._post(body, estimate)
            if isinstance(outcome, ChatReply):
                reply = replace(outcome, latency=time.monotonic() - sent)
                usage, cost = reply.usage, reply.cost_usd
                return reply
        finally:
            permit.settle(usage, cost)
        if outcome.kind is FailureKind.RATE_LIMITED:
            # Nobody is held for longer than this call waits itself.
            self._gate.rate_limited(None if waits.too_long(outcome.retry_after) else outcome.retry_after)
            if self._on_rate_limited is not None:
                self._on_rate_limited(outcome.retry_after)
        log.info("%s: attempt %d failed: %s", self._model.id, waits.failures + 1, outcome.kind)
        raise waits.failed(outcome, sent)

    async def _post(self, body: bytes, estimate: Estimate) -> ChatReply | Failure:
        """One attempt. Nothing that the SDK raises leaves this method: its errors hold the request, key and all."""
        seconds = self._model.timeouts.call_seconds
        try:
            # The timeout of the HTTP library runs from byte to byte; some endpoints send spaces to keep it from ending.
            async with asyncio.timeout(seconds):
                # Bytes and a bare response: the typed path costs several times the CPU, most of it on the way out.
                response = await self._api.post(
                    "/chat/completions",
                    cast_to=httpx2.Response,
                    content=body,
                    options={"headers": {"Content-Type": "application/json"}, "timeout": self._timeout},
                )
            outcome = self._read(response.content, estimate)
            if isinstance(outcome, ChatReply):
                return outcome
            failure = outcome
        except openai.APIStatusError as error:
            answer = error.response
            failure = failure_of(answer.status_code, answer.text, answer.headers)
        except TimeoutError:
            failure = Failure(FailureKind.TIME_OUT, f"no reply within {seconds:g} s")
        except (openai.APIConnectionError, aiohttp.ClientError, OSError) as error:
            failure = _failed_connection(error)
        except openai.OpenAIError as error:
            failure = Failure(FailureKind.BAD_REQUEST, f"{type(error).__name__}: {error}")
        return replace(failure, message=without_key(failure.message, self._key))

    def _read(self, content: bytes, estimate: Estimate) -> ChatReply | Failure:
        """The reply in the body ``content``, with its cost."""
        raw = content.decode("utf-8", "replace")
        broken = REPLACEMENT in raw and REPLACEMENT.encode() not in content
        if self._key_in_json is not None:
            raw = self._key_in_json.sub("[key]", raw)
        try:
            body = load_body(raw)
            reply = parse_reply(body, raw)
        except MalformedReply as error:
            return Failure(FailureKind.SERVER_ERROR, str(error))
        except ReplyError as error:
            return failure_in_reply(error.error)
        # Tokens that an endpoint does not report are estimated, lest the call seem free.
        output = -(-len(content) // BYTES_PER_TOKEN)
        usage = Usage(estimate.input, output) if reply.usage_estimated else reply.usage
        cost = reported_cost(body, self._model.cost_field) if self._model.cost_field else None
        return replace(
            reply,
            usage=usage,
            cost_usd=self._model.price.cost(usage) if cost is None else cost,
            cleaned=reply.cleaned or broken,
        )


def _failed_connection(error: BaseException) -> Failure:
    causes = [error]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    # What the transport calls a time-out is one only where a clock ran out; a dropped connection is called so as well.
    if any(isinstance(cause, TimeoutError) for cause in causes) or isinstance(causes[-1], httpx2.TimeoutException):
        return Failure(FailureKind.TIME_OUT, "the endpoint did not answer in time")
    return Failure(FailureKind.CONNECTION, f"connection failed: {type(causes[-1]).__name__} {causes[-1]}".rstrip())


class _Failed(Exception):
    """An attempt that gave no reply."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.kind)
        self.failure = failure


class _Waits:
    """When and whether to try again: a jittered, doubling wait, or what the endpoint asks for, within a deadline.

    The deadline is for attempts and waits between them; waiting at the gate is not counted. An endpoint that asks for
    more time than is left is waited for once, and then has the last word.
    """

    def __init__(self, model: ModelConfig) -> None:
        self._settings = model.retry
        self._begun = time.monotonic()
        self._backoff = tenacity.wait_random_exponential(
            multiplier=self._settings.first_wait_seconds, max=self._settings.longest_backoff_seconds
        )
        self._last_word = False
        self.at_the_gate = 0.0
        self.failures = 0
        self._first_sent = self._begun

    @property
    def unanswered(self) -> float:
        """For how many seconds the call has been tried in vain, once an attempt has failed."""
        return time.monotonic() - self._first_sent

    def too_long(self, asked: float | None) -> bool:
        """Whether an endpoint asks for more patience than there is."""
        return asked is not None and asked > self._settings.longest_retry_after_seconds

    def failed(self, failure: Failure, sent: float) -> _Failed:
        """The exception of one more attempt that failed; it was ``sent`` then."""
        if self.failures == 0:
            self._first_sent = sent
        self.failures += 1
        return _Failed(failure)

    def wait(self, state: tenacity.RetryCallState) -> float:
        """Seconds until the next attempt."""
        backoff = self._backoff(state)
        asked = _asked_for(state)
        # A little more than what is asked for, so that not all who were told the same come at once.
        return backoff if asked is None else asked + min(backoff, 1.0)

    def stop(self, state: tenacity.RetryCallState) -> bool:
        """Whether there is no next attempt."""
        if self._last_word:
            return True
        left = self._settings.deadline_seconds - (time.monotonic() - self._begun - self.at_the_gate)
        asked = _asked_for(state)
        if self.too_long(asked):
            return True
        if asked is not None and 0 < left < asked:
            self._last_word = True
            return False
        return left <= state.upcoming_sleep


def _asked_for(state: tenacity.RetryCallState) -> float | None:
    error = state.outcome.exception() if state.outcome is not None else None
    return error.failure.retry_after if isinstance(error, _Failed) else None


def in_json(key: str | None) -> re.Pattern[str] | None:
    """How the key may stand in JSON text: encoders may escape whatever is neither letter nor digit.

    ``None`` where there is none, or a word too short for a secret, as servers on one's own machine are content with:
    taken out of a reply it would take parts of other words along.
    """
    if key is None or len(key) < _PIECE:
        return None
    plain = (re.escape(letter) for letter in key)
    return re.compile(
        "".join(
            one if letter.isalnum() else rf"(?:{one}|\\{one}|\\u(?i:{ord(letter):04x}))"
            for letter, one in zip(key, plain, strict=True)
        )
    )


_MASKED = re.compile(r"\S*\*{3,}\S*")
_PIECE = 8


def without_key(text: str, key: str | None) -> str:
    """``text`` without the key, also where it stands there in part or masked, as endpoints quote keys they refuse."""
    if not key:
        return text
    text = text.replace(key, "[key]")
    text = _MASKED.sub("[key]", text)
    shown = [False] * len(text)
    for start in range(len(text) - _PIECE + 1):
        if text[start : start + _PIECE] in key:
            shown[start : start + _PIECE] = [True] * _PIECE
    pieces: list[str] = []
    for character, secret in zip(text, shown, strict=True):
        if not secret:
            pieces.append(character)
        elif not pieces or pieces[-1] != "[key]":
            pieces.append("[key]")
    return "".join(pieces)
