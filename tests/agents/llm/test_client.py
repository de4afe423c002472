"""The client against a real server: what is tried again, what is not, and how often the server is asked."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from chat import QUICK, CountingGate, model_at, request_of

from agents.llm.client import Estimate, OpenAIClient
from agents.llm.contract import CallFailed, ChatReply, FailureKind, Usage
from agents.loopback import LoopbackServer, Settings
from agents.loopback.faults import parse_script


def call(
    script: str, gate: CountingGate | None = None, **changes: Any
) -> tuple[ChatReply | CallFailed, dict[str, Any]]:
    """The outcome of one call to a server that follows ``script``, and what the server counted."""

    async def run() -> tuple[ChatReply | CallFailed, dict[str, Any]]:
        async with LoopbackServer(Settings(script=parse_script(script))) as server:
            async with OpenAIClient(model_at(server, **changes), gate) as client:
                try:
                    outcome: ChatReply | CallFailed = await client.complete(request_of())
                except CallFailed as failed:
                    outcome = failed
            return outcome, server.statistics.to_json()

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("script", "failures"),
    [
        ("rate_limited*3", 3),
        ("rate_limited*2:0.01", 2),
        ("overloaded*2", 2),
        ("unavailable:0.01,unavailable", 2),
        ("server_error*4", 4),
        ("dropped*2", 2),
        ("half_reply*2", 2),
        ("not_json", 1),
        ("error_in_reply*2", 2),
        ("rate_limited,server_error,dropped,overloaded,half_reply", 5),
    ],
)
def test_a_passing_failure_is_tried_again(script: str, failures: int) -> None:
    reply, counted = call(script)
    assert isinstance(reply, ChatReply)
    assert [tool.name for tool in reply.tool_calls] == ["pass_turn"]
    assert reply.retries == failures
    assert counted["requests"] == failures + 1


def test_a_stalled_call_is_given_up_and_tried_again() -> None:
    reply, counted = call("stall:30", timeouts={"call_seconds": 0.3})
    assert isinstance(reply, ChatReply)
    assert counted["requests"] == 2


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("quota_exhausted", FailureKind.QUOTA_EXHAUSTED),
        ("no_credits", FailureKind.QUOTA_EXHAUSTED),
        ("authentication", FailureKind.AUTHENTICATION),
        ("model_not_found", FailureKind.MODEL_NOT_FOUND),
        ("bad_request", FailureKind.BAD_REQUEST),
        ("context_overflow", FailureKind.CONTEXT_OVERFLOW),
    ],
)
def test_what_waiting_does_not_cure_is_asked_once(script: str, kind: FailureKind) -> None:
    failed, counted = call(script)
    assert isinstance(failed, CallFailed)
    assert (failed.kind, failed.retries, counted["requests"]) == (kind, 0, 1)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("rate_limited", FailureKind.RATE_LIMITED),
        ("overloaded", FailureKind.OVERLOADED),
        ("server_error", FailureKind.SERVER_ERROR),
        ("dropped", FailureKind.CONNECTION),
        ("half_reply", FailureKind.CONNECTION),
    ],
)
def test_trying_again_ends_at_the_deadline_with_the_last_cause(fault: str, kind: FailureKind) -> None:
    failed, counted = call(f"{fault}*10000", retry={**QUICK, "deadline_seconds": 0.2})
    assert isinstance(failed, CallFailed)
    assert failed.kind is kind
    assert 1 < counted["requests"] < 10_000
    assert failed.retries == counted["requests"] - 1


def test_a_server_that_is_not_there_is_a_failed_connection() -> None:
    async def run() -> None:
        async with LoopbackServer() as server:
            model = model_at(server, retry={**QUICK, "deadline_seconds": 0.1})
        async with OpenAIClient(model) as client:
            with pytest.raises(CallFailed) as failed:
                await client.complete(request_of())
            assert failed.value.kind is FailureKind.CONNECTION
            assert failed.value.retries > 0

    asyncio.run(run())


def test_a_failure_after_a_passing_one_ends_the_call() -> None:
    failed, counted = call("server_error*2,authentication")
    assert isinstance(failed, CallFailed)
    assert (failed.kind, failed.retries, counted["requests"]) == (FailureKind.AUTHENTICATION, 2, 3)


def test_the_gate_is_asked_before_each_attempt_and_told_how_it_ended() -> None:
    gate = CountingGate()
    reply, counted = call("rate_limited:0.01,server_error,rate_limited", gate)
    assert isinstance(reply, ChatReply)
    assert len(gate.estimates) == counted["requests"] == 4
    assert gate.settled == [(None, 0.0)] * 3 + [(reply.usage, reply.cost_usd)]
    assert gate.told == [0.01, None]


def test_what_a_gate_refuses_is_not_sent() -> None:
    class Spent(CountingGate):
        async def acquire(self, estimate: Estimate) -> CountingGate:
            raise CallFailed(FailureKind.BUDGET, "the budget is spent")

    failed, counted = call("", Spent())
    assert isinstance(failed, CallFailed)
    assert (failed.kind, counted["requests"]) == (FailureKind.BUDGET, 0)


def test_the_estimate_covers_the_longest_reply() -> None:
    gate = CountingGate()
    reply, _ = call("", gate)
    assert isinstance(reply, ChatReply)
    estimate = gate.estimates[0]
    assert estimate.output == 100  # what the request allows
    assert estimate.cost_usd == pytest.approx((estimate.input * 1 + 100 * 4) / 1e6)
    assert estimate.input == reply.usage.input  # the server counts as the estimate does
    assert reply.cost_usd <= estimate.cost_usd


def test_time_at_the_gate_is_queued_and_does_not_count_towards_the_deadline() -> None:
    class Slow(CountingGate):
        async def acquire(self, estimate: Estimate) -> CountingGate:
            await asyncio.sleep(0.3)
            return await super().acquire(estimate)

    reply, counted = call("server_error", Slow(), retry={**QUICK, "deadline_seconds": 0.25})
    assert isinstance(reply, ChatReply)
    assert counted["requests"] == 2
    assert reply.queued >= 0.6


def test_a_cancelled_call_gives_its_permit_back() -> None:
    async def run() -> None:
        gate = CountingGate()
        async with LoopbackServer(Settings(script=parse_script("stall"))) as server:
            async with OpenAIClient(model_at(server), gate) as client:
                task = asyncio.create_task(client.complete(request_of()))
                while not server.statistics.faults["stall"]:
                    await asyncio.sleep(0.01)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert gate.settled == [(None, 0.0)]
            while server.statistics.all.in_flight:  # the server sees that the caller has gone
                await asyncio.sleep(0.01)
            assert server.statistics.all.requests == 1

    asyncio.run(run())


def test_calls_at_once_get_each_their_own_reply() -> None:
    requests = [request_of(f"available_actions:\n- `attack:Number {n}`: {n} damage") for n in range(40)]

    async def run() -> None:
        async with LoopbackServer(Settings(latency_ms=50)) as server, OpenAIClient(model_at(server)) as client:
            together = await asyncio.gather(*map(client.complete, requests))
            assert server.statistics.all.most_in_flight == 40
            one_by_one = [await client.complete(request) for request in requests[:5]]
        assert [reply.raw for reply in one_by_one] == [reply.raw for reply in together[:5]]
        assert len({reply.raw for reply in together}) == 40

    asyncio.run(run())


def test_broken_text_is_cleaned_and_flagged() -> None:
    reply, _ = call("surrogates")
    assert isinstance(reply, ChatReply)
    assert reply.cleaned
    for text in (reply.content, reply.reasoning or "", reply.raw, *(tool.arguments for tool in reply.tool_calls)):
        assert "\0" not in text
        text.encode("utf-8")
    assert "\N{REPLACEMENT CHARACTER}" in reply.content
    good, _ = call("ok")
    assert isinstance(good, ChatReply)
    assert not good.cleaned


def test_long_thoughts_come_through_and_are_counted() -> None:
    reply, _ = call("long_reasoning")
    assert isinstance(reply, ChatReply)
    assert len(reply.reasoning or "") == 100_000
    assert reply.usage.reasoning == 25_000
    assert reply.usage.output > 25_000


@pytest.mark.parametrize("script", ["no_ids", "wrong_ids", "several_calls"])
def test_every_call_of_a_reply_has_an_id_of_its_own(script: str) -> None:
    reply, _ = call(script)
    assert isinstance(reply, ChatReply)
    ids = [tool.id for tool in reply.tool_calls]
    assert all(ids)
    assert len(set(ids)) == len(ids) > 0


def test_tokens_that_are_not_reported_are_estimated() -> None:
    reply, _ = call("no_usage")
    counted, _ = call("ok")
    assert isinstance(reply, ChatReply)
    assert isinstance(counted, ChatReply)
    assert reply.usage_estimated
    assert not counted.usage_estimated
    assert reply.usage.input == counted.usage.input
    assert reply.cost_usd > 0


def test_cost_is_the_price_of_the_usage() -> None:
    price = {"input": 2, "output": 8, "cached": 0.5}
    reply, _ = call("ok", price=price)
    assert isinstance(reply, ChatReply)
    used: Usage = reply.usage
    fresh = used.input - used.cached
    assert reply.cost_usd == pytest.approx((fresh * 2 + used.cached * 0.5 + used.output * 8) / 1e6)
