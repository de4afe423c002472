"""What goes over the wire and what comes out in words: keys, headers, waits that endpoints ask for."""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
import traceback
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from chat import QUICK, CountingGate, model_at, request_of
from clocks import Clock

from agents.llm.client import Estimate, OpenAIClient, without_key
from agents.llm.contract import CallFailed, ChatReply, FailureKind, Usage
from agents.llm.models import ModelError

URL = "https://models.example/v1"
KEY = "sk-test-4f9a81c2d07b36e5aa10"
GOOD = {
    "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "I pass."}}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5},
}

Handler = Callable[[httpx2.Request], httpx2.Response]


def call(
    handler: Handler, gate: CountingGate | None = None, **changes: Any
) -> tuple[ChatReply | CallFailed, list[float]]:
    """The outcome of one call answered by ``handler``, and the seconds that were waited between attempts."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def run() -> ChatReply | CallFailed:
        transport = httpx2.MockTransport(handler)
        async with OpenAIClient(model_at(URL, **changes), gate, transport=transport, sleep=sleep) as client:
            try:
                return await client.complete(request_of())
            except CallFailed as failed:
                return failed

    return asyncio.run(run()), waits


def answering(*responses: httpx2.Response) -> Handler:
    """Answers with each response in turn, then well."""
    rest = list(responses)
    return lambda request: rest.pop(0) if rest else httpx2.Response(200, json=GOOD)


def limited(headers: dict[str, str]) -> httpx2.Response:
    return httpx2.Response(429, json={"error": {"message": "Rate limit reached"}}, headers=headers)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "Retry-After": "2"}, 1.5),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:40 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 40),
        ({"Retry-After": "900"}, 900),
    ],
)
def test_the_wait_that_an_endpoint_asks_for_is_kept(headers: dict[str, str], seconds: float) -> None:
    gate = CountingGate()
    reply, waits = call(answering(limited(headers)), gate)
    assert isinstance(reply, ChatReply)
    assert gate.told == [seconds]
    assert len(waits) == 1
    assert seconds <= waits[0] <= seconds + 1  # and a little more, so that not everyone comes back at once


def test_a_date_in_the_past_or_nonsense_is_no_wait_at_all() -> None:
    past = limited({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT", "Date": "Wed, 21 Oct 2026 07:29:00 GMT"})
    reply, waits = call(answering(past, limited({"Retry-After": "soon"}), limited({"Retry-After": "-3"})))
    assert isinstance(reply, ChatReply)
    assert reply.retries == 3
    assert all(0 <= wait <= 1 for wait in waits)


def test_a_wait_beyond_the_deadline_is_kept_once_and_then_has_the_last_word() -> None:
    retry = {**QUICK, "deadline_seconds": 20, "longest_retry_after_seconds": 3600}
    reply, waits = call(answering(limited({"Retry-After": "1800"})), retry=retry)
    assert isinstance(reply, ChatReply)
    assert 1800 <= waits[0] <= 1801
    failed, waits = call(answering(*[limited({"Retry-After": "1800"})] * 9), retry=retry)
    assert isinstance(failed, CallFailed)
    assert (failed.kind, failed.retries, len(waits)) == (FailureKind.RATE_LIMITED, 1, 1)


def test_a_wait_that_is_too_long_fails_the_call_at_once() -> None:
    gate = CountingGate()
    failed, waits = call(
        answering(limited({"Retry-After": "86400"})), gate, retry={**QUICK, "longest_retry_after_seconds": 3600}
    )
    assert isinstance(failed, CallFailed)
    assert (failed.kind, failed.retries, waits) == (FailureKind.RATE_LIMITED, 0, [])
    assert "86400 s" in str(failed)
    # Nor does anybody else of the account wait for so long.
    assert gate.told == [None]


def test_a_call_that_failed_tells_for_how_long_it_was_tried_its_wait_for_the_first_permit_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    monkeypatch.setattr("agents.llm.client.time", SimpleNamespace(monotonic=clock))

    class SlowGate(CountingGate):
        async def acquire(self, estimate: Estimate) -> CountingGate:
            clock.now += 300
            return await super().acquire(estimate)

    def overloaded(request: httpx2.Request) -> httpx2.Response:
        clock.now += 30
        return httpx2.Response(503)

    failed, _ = call(overloaded, SlowGate(), retry={**QUICK, "deadline_seconds": 50})
    assert isinstance(failed, CallFailed)
    # Two attempts of 30 seconds, and the wait for a permit between them.
    assert (failed.retries, failed.unanswered) == (1, 360)
    assert pickle.loads(pickle.dumps(failed)).unanswered == 360


def test_waits_grow_are_drawn_and_end_growing() -> None:
    retry = {"deadline_seconds": 1000, "first_wait_seconds": 1, "longest_backoff_seconds": 8}
    drawn = [call(answering(*[httpx2.Response(500)] * 6), retry=retry)[1] for _ in range(20)]
    assert all(len(waits) == 6 for waits in drawn)
    for number, most in enumerate((1, 2, 4, 8, 8, 8)):
        nth = [waits[number] for waits in drawn]
        assert all(0 <= wait <= most for wait in nth)
        assert len(set(nth)) > 10  # jitter: callers that failed together do not come back together
        assert max(nth) > most / 2


def test_the_body_is_the_request_and_the_key_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", f"  {KEY}\n")
    seen: list[httpx2.Request] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, json=GOOD)

    call(handler, key_env="TEST_KEY")
    assert str(seen[0].url) == f"{URL}/chat/completions"
    assert seen[0].headers["Authorization"] == f"Bearer {KEY}"
    assert seen[0].headers["Content-Type"] == "application/json"
    assert json.loads(seen[0].content) == request_of().body()


def test_a_key_meant_for_another_endpoint_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://elsewhere.example/v1")
    seen: list[httpx2.Request] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, json=GOOD)

    call(handler)
    assert str(seen[0].url).startswith(URL)
    assert KEY not in str(seen[0].headers.raw)


def test_a_key_that_is_not_set_is_said_before_any_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_KEY", raising=False)
    with pytest.raises(ModelError, match="environment variable TEST_KEY") as failed:
        OpenAIClient(model_at(URL, key_env="TEST_KEY"))
    assert "\n" not in str(failed.value)


@pytest.mark.parametrize(
    "response",
    [
        httpx2.Response(401, json={"error": {"message": f"Incorrect API key provided: {KEY}."}}),
        httpx2.Response(401, json={"error": {"message": f"Incorrect API key provided: {KEY[:7]}*****{KEY[-4:]}."}}),
        httpx2.Response(401, json={"error": {"message": f"No such key: {KEY[:12]}..."}}),
        httpx2.Response(400, text=f"<p>Bearer {KEY} was not understood</p>"),
        httpx2.Response(
            500, json={"error": {"message": "upstream", "metadata": {"raw": f"authorization: Bearer {KEY}"}}}
        ),
        httpx2.Response(200, json={"error": {"code": 401, "message": f"bad key {KEY}"}}),
        httpx2.Response(200, text=f"Bearer {KEY}"),
    ],
)
def test_no_failure_tells_the_key(
    response: httpx2.Response, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    failed, _ = call(
        lambda request: response, key_env="TEST_KEY", retry={"deadline_seconds": 0.01, "first_wait_seconds": 1}
    )
    assert isinstance(failed, CallFailed)
    told = [
        str(failed),
        repr(failed),
        repr(pickle.loads(pickle.dumps(failed))),
        "".join(traceback.format_exception(failed)),
        repr(failed.__cause__) + repr(failed.__context__),
        caplog.text,
    ]
    for text in told:
        assert KEY[7:12] not in text
        assert KEY[-4:] not in text


def test_a_key_in_a_reply_is_taken_out_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    body = {**GOOD, "debug": {"authorization": f"Bearer {KEY}"}}
    reply, _ = call(answering(httpx2.Response(200, json=body)), key_env="TEST_KEY")
    assert isinstance(reply, ChatReply)
    assert KEY not in json.dumps(reply.to_json())
    assert reply.content == "I pass."


@pytest.mark.parametrize(
    "written",
    ["/", "\\/", "\\u002f", "\\u002F"],
)
def test_a_key_is_taken_out_of_a_reply_however_json_writes_it(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-test/4f9a81c2d07b36e5aa10")
    content = json.dumps({**GOOD, "debug": "sk-test/4f9a81c2d07b36e5aa10"}).replace("/", written).encode()
    reply, _ = call(answering(httpx2.Response(200, content=content)), key_env="TEST_KEY")
    assert isinstance(reply, ChatReply)
    assert json.loads(reply.raw)["debug"] == "[key]"


@pytest.mark.parametrize("key", ["1", "token", "model", "none"])
def test_a_short_word_in_place_of_a_key_changes_no_reply(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", key)
    reply, _ = call(answering(httpx2.Response(200, json=GOOD)), key_env="TEST_KEY")
    assert isinstance(reply, ChatReply)
    assert (reply.content, reply.usage, reply.usage_estimated) == ("I pass.", Usage(10, 5), False)


def test_neither_client_nor_model_shows_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    model = model_at(URL, key_env="TEST_KEY")
    client = OpenAIClient(model)
    for text in (repr(client), str(client), repr(model), json.dumps(model.to_json()), model.account):
        assert KEY not in text
    asyncio.run(client.aclose())


def test_words_that_are_no_part_of_the_key_are_left() -> None:
    assert without_key("the model is overloaded, try later", KEY) == "the model is overloaded, try later"
    assert without_key(f"a {KEY} b {KEY}", KEY) == "a [key] b [key]"
    assert without_key("anything", None) == "anything"


def test_what_an_endpoint_says_a_call_cost_comes_before_the_price() -> None:
    told = {**GOOD, "usage": {**GOOD["usage"], "cost": 0.125}}
    reply, _ = call(answering(httpx2.Response(200, json=told)), cost_field="cost")
    assert isinstance(reply, ChatReply)
    assert reply.cost_usd == 0.125
    untold, _ = call(answering(), cost_field="cost")
    assert isinstance(untold, ChatReply)
    assert untold.cost_usd == pytest.approx((10 * 1 + 5 * 4) / 1e6)


def test_a_failure_can_be_sent_to_another_process() -> None:
    failed, _ = call(answering(httpx2.Response(400, json={"error": {"message": "no"}})))
    assert isinstance(failed, CallFailed)
    copy = pickle.loads(pickle.dumps(failed))
    assert (copy.kind, str(copy), copy.retries) == (failed.kind, str(failed), failed.retries)
