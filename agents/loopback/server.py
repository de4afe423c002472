"""The loopback server: OpenAI's chat completions over real HTTP, answered by a scripted player on this machine."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from types import TracebackType
from typing import Any, TypeVar

from aiohttp import web

from agents.loopback.faults import ModelFault, ServerFault, Step
from agents.loopback.player import Answer, answer
from agents.loopback.profiles import DEFAULT, PREFIX, PROFILES, Profile
from agents.loopback.statistics import Statistics, Window

BYTES_PER_TOKEN = 4
_Fault = TypeVar("_Fault")

LONGEST_BODY = 64 * 1024 * 1024
CACHE_BLOCK = 128
"""Tokens; of the messages that a conversation repeats, whole blocks count as cached."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a server does beyond its profiles; ``None`` and 0 leave a thing to the profile or unlimited."""

    seed: int = 0
    profile: str = DEFAULT
    """Plays every model that is not called ``loopback/`` and the name of another profile."""
    script: tuple[Step, ...] = ()
    """What becomes of the first requests, in the order in which they come; rates hold after it."""
    server_faults: Mapping[ServerFault, float] | None = None
    model_faults: Mapping[ModelFault, float] | None = None
    latency_ms: float | None = None
    jitter_ms: float | None = None
    context_size: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    in_flight: int | None = None
    limit_seconds: float = 60.0
    """The window in which the limits per minute are held, each in proportion."""
    key: str | None = field(default=None, repr=False)
    """The only key that is let in; ``None`` lets everyone in."""


class LoopbackServer:
    """A server for the time of an ``async with``; at port 0 the system picks one, see :attr:`base_url`."""

    def __init__(self, settings: Settings | None = None, host: str = "127.0.0.1", port: int = 0) -> None:
        self._settings = settings or Settings()
        if self._settings.profile not in PROFILES:
            raise ValueError(f"profile {self._settings.profile!r} is unknown; known: {', '.join(PROFILES)}")
        self._host, self._port = host, port
        self._profiles: dict[str, Profile] = {}
        self._runner: web.AppRunner | None = None
        self.reset()

    def reset(self) -> None:
        """Forget all that was counted and begin the script again."""
        self.statistics = Statistics()
        self._script = deque(self._settings.script)
        self._requests = Window(self._settings.limit_seconds)
        self._tokens = Window(self._settings.limit_seconds)
        self._burst_until = 0.0
        self._burst_is_silent = False

    @property
    def base_url(self) -> str:
        """What to configure as ``base_url``."""
        return f"http://{self._host}:{self._port}/v1"

    async def __aenter__(self) -> LoopbackServer:
        app = web.Application(client_max_size=LONGEST_BODY)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/v1/models", self._list_models)
        app.router.add_get("/stats", self._show_statistics)
        app.router.add_post("/reset", self._reset)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self._port, backlog=1024).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _list_models(self, request: web.Request) -> web.Response:
        models = [{"id": PREFIX + name, "object": "model", "owned_by": "loopback"} for name in PROFILES]
        return web.json_response({"object": "list", "data": models})

    async def _show_statistics(self, request: web.Request) -> web.Response:
        return web.json_response(self.statistics.to_json())

    async def _reset(self, request: web.Request) -> web.Response:
        self.reset()
        return web.json_response({"reset": True})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        # The statistics that the call began with: a reset while it runs must not leave the new ones unbalanced.
        statistics = self.statistics
        content = await request.read()
        try:
            body = json.loads(content)
            model = str(body["model"])
            messages = body["messages"]
            if not isinstance(messages, list) or body.get("stream") or not all(isinstance(m, dict) for m in messages):
                raise TypeError
        except (ValueError, TypeError, KeyError):
            return self._error(
                statistics, 400, "invalid_request", "a body with model and messages, not streamed, is wanted"
            )
        tokens = -(-len(content) // BYTES_PER_TOKEN)
        tallies = statistics.tallies(model)
        now = time.monotonic()
        statistics.minute.add(now, 1)
        statistics.second.add(now, 1)
        for tally in tallies:
            tally.requests += 1
            tally.in_flight += 1
            tally.most_in_flight = max(tally.most_in_flight, tally.in_flight)
        try:
            return await self._served(request, statistics, model, body, tokens, now)
        finally:
            for tally in tallies:
                tally.in_flight -= 1

    async def _served(
        self, request: web.Request, statistics: Statistics, model: str, body: dict[str, Any], tokens: int, now: float
    ) -> web.StreamResponse:
        digest = _digest(self._settings.seed, body)
        statistics.seen[digest] += 1
        refusal = self._refusal(request, statistics, tokens, now)
        if refusal is not None:
            return refusal
        profile = self._profile(model)
        step = self._step(profile, digest, statistics.seen[digest])
        if step.fault is not None:
            statistics.faults[step.fault] += 1
        most_output = int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)
        if step.fault is ServerFault.CONTEXT_OVERFLOW or tokens + most_output > profile.context_size:
            return self._error(
                statistics,
                400,
                "context_length_exceeded",
                f"This model's maximum context length is {profile.context_size} tokens, "
                f"{tokens + most_output} were requested.",
            )
        rng = random.Random(digest)
        if isinstance(step.fault, ServerFault) and step.fault in _ERRORS:
            status, code, message = _ERRORS[step.fault]
            return self._error(statistics, status, code, message, step.argument)
        if step.fault in (ServerFault.BURST, ServerFault.SILENT_BURST):
            self._burst_until = now + (1.0 if step.argument is None else step.argument)
            self._burst_is_silent = step.fault is ServerFault.SILENT_BURST
            return self._burst(statistics, now)
        if step.fault is ServerFault.STALL:
            await asyncio.sleep(3600.0 if step.argument is None else step.argument)
        elif profile.latency_ms or profile.jitter_ms:
            await asyncio.sleep((profile.latency_ms + profile.jitter_ms * rng.random()) / 1000)
        if step.fault in (ServerFault.STALL, ServerFault.DROPPED):
            return _hang_up(request)
        if step.fault is ServerFault.NOT_JSON:
            statistics.statuses["200"] += 1
            return web.Response(text="<html><body>Bad gateway</body></html>", content_type="text/html")
        if step.fault is ServerFault.ERROR_IN_REPLY:
            statistics.statuses["200"] += 1
            return web.json_response({"error": {"code": 502, "message": "the provider returned an error"}})
        fault = step.fault if isinstance(step.fault, ModelFault) else None
        said = answer(body, profile, rng, fault)
        reply, used = _reply(digest, model, body, said, tokens, fault is not ModelFault.NO_USAGE)
        text = json.dumps(reply)
        if step.fault is ServerFault.HALF_REPLY:
            return await _half(request, text)
        statistics.statuses["200"] += 1
        statistics.answered[digest] += 1
        statistics.minute_accepted.add(now, 1)
        statistics.minute_tokens.add(now, tokens + used)
        for tally in statistics.tallies(model):
            tally.answered += 1
            tally.input_tokens += tokens
            tally.output_tokens += used
        return web.Response(text=text, content_type="application/json")

    def _refusal(
        self, request: web.Request, statistics: Statistics, tokens: int, now: float
    ) -> web.StreamResponse | None:
        """An error where the caller has the wrong key or is over a limit; else the request counts towards them."""
        settings = self._settings
        if settings.key is not None and request.headers.get("Authorization") != f"Bearer {settings.key}":
            return self._error(statistics, 401, "invalid_api_key", "Incorrect API key provided.")
        if settings.in_flight is not None and statistics.all.in_flight > settings.in_flight:
            statistics.faults["limit_in_flight"] += 1
            return self._error(statistics, 429, "rate_limit_exceeded", "Too many concurrent requests.")
        if now < self._burst_until:
            return self._burst(statistics, now)
        share = settings.limit_seconds / 60
        for name, window, amount, limit in (
            ("requests", self._requests, 1, settings.requests_per_minute),
            ("tokens", self._tokens, tokens, settings.tokens_per_minute),
        ):
            wait = window.room_in(now, amount, int(limit * share)) if limit is not None else 0.0
            if wait > 0:
                statistics.faults[f"limit_{name}"] += 1
                return self._error(
                    statistics, 429, "rate_limit_exceeded", f"Rate limit of {limit} {name} per minute reached.", wait
                )
        self._requests.add(now, 1)
        self._tokens.add(now, tokens)
        return None

    def _burst(self, statistics: Statistics, now: float) -> web.Response:
        wait = None if self._burst_is_silent else self._burst_until - now
        return self._error(statistics, 429, "rate_limit_exceeded", "Rate limit reached.", wait)

    def _profile(self, model: str) -> Profile:
        if model not in self._profiles:
            name = model.removeprefix(PREFIX)
            changes = {
                name: value
                for name in ("server_faults", "model_faults", "latency_ms", "jitter_ms", "context_size")
                if (value := getattr(self._settings, name)) is not None
            }
            profile = PROFILES[name if model.startswith(PREFIX) and name in PROFILES else self._settings.profile]
            self._profiles[model] = replace(profile, **changes)
        return self._profiles[model]

    def _step(self, profile: Profile, digest: bytes, times: int) -> Step:
        """What becomes of a request that came for the ``times``-th time."""
        if self._script:
            return self._script.popleft()
        # Drawn anew each time the same request comes, so that trying again helps.
        drawn = _drawn(profile.server_faults, digest + times.to_bytes(8, "big"))
        # Drawn once for a request: the same question gets the same answer, however often it is asked.
        return Step(drawn or _drawn(profile.model_faults, digest + b"model"))

    def _error(
        self, statistics: Statistics, status: int, code: str, message: str, retry_after: float | None = None
    ) -> web.Response:
        statistics.statuses[str(status)] += 1
        headers = {} if retry_after is None else {"Retry-After": f"{retry_after:.3f}".rstrip("0").rstrip(".")}
        return web.json_response(
            {"error": {"message": message, "type": code, "code": code}}, status=status, headers=headers
        )


_ERRORS: dict[ServerFault, tuple[int, str, str]] = {
    ServerFault.RATE_LIMITED: (429, "rate_limit_exceeded", "Rate limit reached."),
    ServerFault.OVERLOADED: (529, "overloaded_error", "Overloaded."),
    ServerFault.UNAVAILABLE: (503, "unavailable", "The service is unavailable."),
    ServerFault.SERVER_ERROR: (500, "server_error", "The server had an error."),
    ServerFault.QUOTA_EXHAUSTED: (
        429,
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    ServerFault.NO_CREDITS: (402, "payment_required", "Insufficient credits."),
    ServerFault.AUTHENTICATION: (401, "invalid_api_key", "Incorrect API key provided."),
    ServerFault.MODEL_NOT_FOUND: (404, "model_not_found", "The model does not exist."),
    ServerFault.BAD_REQUEST: (400, "invalid_request_error", "A parameter has a value that is not supported."),
}


def _digest(seed: int, body: Mapping[str, Any]) -> bytes:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=16, key=str(seed).encode()).digest()


def _drawn(rates: Mapping[_Fault, float], entropy: bytes) -> _Fault | None:
    if not rates:
        return None
    draw = int.from_bytes(blake2b(entropy, digest_size=8).digest(), "big") / 2**64
    for fault, rate in rates.items():
        draw -= rate
        if draw < 0:
            return fault
    return None


def _reply(
    digest: bytes, model: str, body: Mapping[str, Any], said: Answer, tokens: int, counted: bool
) -> tuple[dict[str, Any], int]:
    """The body of a reply and its tokens of output."""
    message: dict[str, Any] = {"role": "assistant", "content": said.content}
    if said.calls:
        message["tool_calls"] = [
            {
                **({"id": call.id} if call.id else {}),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in said.calls
        ]
    if said.refusal:
        message["refusal"] = said.refusal
    thinking = -(-len(said.reasoning) // BYTES_PER_TOKEN)
    written = -(-len(json.dumps(message)) // BYTES_PER_TOKEN)
    if said.reasoning:
        message["reasoning_content"] = said.reasoning
    reply: dict[str, Any] = {
        "id": f"chatcmpl-{digest.hex()[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": said.finish_reason}],
    }
    if counted:
        reply["usage"] = {
            "prompt_tokens": tokens,
            "completion_tokens": written + thinking,
            "total_tokens": tokens + written + thinking,
            "prompt_tokens_details": {"cached_tokens": _cached(body["messages"])},
            "completion_tokens_details": {"reasoning_tokens": thinking},
        }
    return reply, written + thinking


def _cached(messages: list[dict[str, Any]]) -> int:
    """Tokens up to the model's last reply: what an earlier request of the same conversation had sent already."""
    last = max((i for i, message in enumerate(messages) if message.get("role") == "assistant"), default=0)
    characters = sum(len(text) for message in messages[:last] if isinstance(text := message.get("content"), str))
    return characters // BYTES_PER_TOKEN // CACHE_BLOCK * CACHE_BLOCK


def _hang_up(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def _half(request: web.Request, text: str) -> web.StreamResponse:
    content = text.encode()
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(content))})
    await response.prepare(request)
    await response.write(content[: len(content) // 2])
    if request.transport is not None:
        request.transport.close()
    return response
