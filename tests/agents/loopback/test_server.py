"""The loopback server: equal answers to equal requests, faults on order, limits, counts, its command line."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from agents.loopback import LoopbackServer, Settings
from agents.loopback.faults import ModelFault, ServerFault, Step, parse_script
from agents.loopback.statistics import Window

POSITION = {
    "choosing_card": False,
    "you": {"hand": ["0: Charmander (PAF-7), Basic Pokémon"], "deck_count": 40},
    "available_actions": {
        "play_pokemon": ["bench:PAF-7 = Put Charmander onto your Bench."],
        "attack": ["attack:Ember = Attack with Ember for 30 damage."],
        "pass_turn": ["pass = End your turn."],
    },
}

Post = Callable[[dict[str, Any]], Awaitable[tuple[int, dict[str, Any], dict[str, str]]]]


def request(number: int = 0, **more: Any) -> dict[str, Any]:
    text = f"Decision {number}\n{json.dumps(POSITION)}"
    return {"model": "loopback/skill_5", "messages": [{"role": "user", "content": text}], "max_tokens": 100, **more}


def serve(settings: Settings, talk: Callable[[Post, LoopbackServer], Awaitable[Any]], key: str = "k") -> Any:
    """What ``talk`` returns, given a way to post requests to a server with ``settings``."""

    async def run() -> Any:
        async with LoopbackServer(settings) as server, aiohttp.ClientSession() as session:

            async def post(body: dict[str, Any]) -> tuple[int, dict[str, Any], dict[str, str]]:
                headers = {"Authorization": f"Bearer {key}"}
                async with session.post(f"{server.base_url}/chat/completions", json=body, headers=headers) as reply:
                    return reply.status, await reply.json(), dict(reply.headers)

            return await talk(post, server)

    return asyncio.run(run())


def test_equal_requests_get_equal_answers_from_any_server_in_any_order() -> None:
    async def forwards(post: Post, server: LoopbackServer) -> list[Any]:
        return [(await post(request(n)))[1] for n in range(30)]

    async def backwards_twice(post: Post, server: LoopbackServer) -> list[Any]:
        both = [((await post(request(n)))[1], (await post(request(n)))[1]) for n in reversed(range(30))]
        assert all(first == second for first, second in both)
        return [first for first, _ in reversed(both)]

    answers = serve(Settings(seed=7), forwards)
    assert serve(Settings(seed=7), backwards_twice) == answers
    assert serve(Settings(seed=8), forwards) != answers
    assert len({json.dumps(answer["choices"]) for answer in answers}) > 5


def test_the_order_of_keys_in_a_request_does_not_matter() -> None:
    async def talk(post: Post, server: LoopbackServer) -> None:
        body = request()
        assert (await post(body))[1] == (await post(dict(reversed(body.items()))))[1]

    serve(Settings(), talk)


def test_a_failure_goes_away_when_the_same_request_comes_again() -> None:
    async def talk(post: Post, server: LoopbackServer) -> list[list[int]]:
        return [[(await post(request(n)))[0] for _ in range(12)] for n in range(20)]

    rates = {ServerFault.SERVER_ERROR: 0.3, ServerFault.OVERLOADED: 0.2}
    statuses = serve(Settings(server_faults=rates), talk)
    flat = [status for row in statuses for status in row]
    assert 0.2 < flat.count(500) / len(flat) < 0.4
    assert 0.1 < flat.count(529) / len(flat) < 0.3
    assert all(200 in row for row in statuses)
    assert serve(Settings(server_faults=rates), talk) == statuses


def test_a_model_errs_the_same_way_however_often_it_is_asked() -> None:
    async def talk(post: Post, server: LoopbackServer) -> None:
        reasons = []
        for number in range(30):
            answers = [(await post(request(number)))[1] for _ in range(3)]
            assert answers[0] == answers[1] == answers[2]
            reasons.append(answers[0]["choices"][0]["finish_reason"])
        assert 3 < reasons.count("length") < 27

    serve(Settings(model_faults={ModelFault.CUT: 0.5}), talk)


def test_a_script_says_what_becomes_of_the_first_requests() -> None:
    async def talk(post: Post, server: LoopbackServer) -> None:
        first = await post(request())
        assert (first[0], first[2]["Retry-After"]) == (429, "1.5")
        assert [(await post(request()))[0] for _ in range(5)] == [429, 503, 402, 200, 200]
        assert server.statistics.faults == {"rate_limited": 2, "unavailable": 1, "no_credits": 1}

    serve(Settings(script=parse_script("rate_limited*2:1.5, unavailable, no_credits, ok")), talk)


@pytest.mark.parametrize(("fault", "is_told"), [("burst", True), ("silent_burst", False)])
def test_a_burst_refuses_everyone_for_a_while(fault: str, is_told: bool) -> None:
    async def talk(post: Post, server: LoopbackServer) -> None:
        replies = [await post(request(n)) for n in range(6)]
        assert [status for status, _, _ in replies] == [200, 200, 429, 429, 429, 429]
        assert all(("Retry-After" in headers) is is_told for _, _, headers in replies[2:])
        server.reset()
        assert (await post(request()))[0] == 200

    serve(Settings(script=parse_script(f"ok*2,{fault}:600")), talk)


def test_scripts_are_read_and_wrong_ones_refused() -> None:
    assert parse_script("stall:2.5,ok*2,empty") == (
        Step(ServerFault.STALL, 2.5),
        Step(),
        Step(),
        Step(ModelFault.EMPTY),
    )
    assert parse_script("") == ()
    for text, says in (("sleep", "'sleep' is no fault; known: ok, rate_limited"), ("ok*x", "'ok\\*x' is not NAME")):
        with pytest.raises(ValueError, match=says):
            parse_script(text)


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (ModelFault.EMPTY, lambda message: not message["content"] and "tool_calls" not in message),
        (ModelFault.PROSE, lambda message: message["content"] and "tool_calls" not in message),
        (ModelFault.REFUSAL, lambda message: message["refusal"]),
        (
            ModelFault.UNKNOWN_TOOL,
            lambda message: message["tool_calls"][0]["function"]["name"] not in ("attack", "pass_turn"),
        ),
        (ModelFault.SEVERAL_CALLS, lambda message: len(message["tool_calls"]) == 3),
        (ModelFault.WRONG_IDS, lambda message: len({call["id"] for call in message["tool_calls"]}) == 1),
        (ModelFault.NO_IDS, lambda message: "id" not in message["tool_calls"][0]),
        (ModelFault.SURROGATES, lambda message: "\0" in message["content"] and "\ud83d" in message["content"]),
        (ModelFault.LONG_REASONING, lambda message: len(message["reasoning_content"]) == 100_000),
    ],
)
def test_a_model_errs_as_it_is_told_to(fault: ModelFault, says: Callable[[dict[str, Any]], bool]) -> None:
    names = ("attack", "pass_turn", "play_pokemon", "query_card")
    tools = [
        {"type": "function", "function": {"name": name, "parameters": {"properties": {"source_card": {}}}}}
        for name in names
    ]

    async def talk(post: Post, server: LoopbackServer) -> None:
        status, reply, _ = await post(request(tools=tools))
        assert status == 200
        assert says(reply["choices"][0]["message"])

    serve(Settings(script=(Step(fault),)), talk)


def test_arguments_are_spoilt_as_json_or_as_types() -> None:
    tools = [{"type": "function", "function": {"name": "attack", "parameters": {"properties": {"source_card": {}}}}}]

    async def talk(post: Post, server: LoopbackServer) -> None:
        answers = [(await post(request(tools=tools)))[1]["choices"][0]["message"] for _ in range(2)]
        cut, wrong = (answer["tool_calls"][0]["function"]["arguments"] for answer in answers)
        with pytest.raises(json.JSONDecodeError):
            json.loads(cut)
        assert not isinstance(json.loads(wrong)["source_card"], str)

    serve(Settings(script=parse_script("malformed_json,wrong_type")), talk)


def test_requests_beyond_a_limit_are_told_when_to_come_back() -> None:
    async def talk(post: Post, server: LoopbackServer) -> None:
        replies = [await post(request(n)) for n in range(8)]
        assert [status for status, _, _ in replies] == [200] * 5 + [429] * 3
        assert 0 < float(replies[-1][2]["Retry-After"]) <= 30
        assert server.statistics.faults["limit_requests"] == 3

    serve(Settings(requests_per_minute=10, limit_seconds=30), talk)  # half a minute, half of what a minute may have


def test_a_window_forgets_and_says_when_there_is_room() -> None:
    window = Window(60.0)
    for at in (0.0, 10.0, 20.0):
        window.add(at, 100)
    assert window.room_in(30.0, 100, 400) == 0
    assert window.room_in(30.0, 100, 300) == 30.0  # the first leaves at 60
    assert window.room_in(30.0, 200, 300) == 40.0  # the second leaves at 70
    window.add(65.0, 100)
    assert (window.total, window.most) == (300, 300)


def test_tokens_beyond_a_limit_are_refused() -> None:
    async def talk(post: Post, server: LoopbackServer) -> None:
        tokens = (await post(request()))[1]["usage"]["prompt_tokens"]
        assert 100 < tokens < 120
        assert [(await post(request()))[0] for _ in range(4)] == [200, 200, 429, 429]

    serve(Settings(tokens_per_minute=390), talk)


def test_calls_in_flight_beyond_a_limit_are_refused() -> None:
    async def talk(post: Post, server: LoopbackServer) -> None:
        statuses = [reply[0] for reply in await asyncio.gather(*(post(request(n)) for n in range(8)))]
        assert sorted(statuses) == [200] * 3 + [429] * 5
        counted = server.statistics.to_json()
        assert counted["most_in_flight"] == 4  # the one too many counts while it is refused
        assert counted["in_flight"] == 0

    serve(Settings(in_flight=3, latency_ms=300), talk)


def test_what_is_counted() -> None:
    async def talk(post: Post, server: LoopbackServer) -> dict[str, Any]:
        usage = [(await post(request(n % 3)))[1].get("usage") for n in range(5)]
        await post({**request(), "model": "other"})
        await post({"model": "other"})
        counted: dict[str, Any] = server.statistics.to_json()
        one = counted["models"]["loopback/skill_5"]
        assert one["requests"] == one["answered"] + 1 == 5
        assert one["input_tokens"] == sum(told["prompt_tokens"] for told in usage if told)
        assert one["output_tokens"] == sum(told["completion_tokens"] for told in usage if told)
        async with aiohttp.ClientSession() as session:
            root = server.base_url.removesuffix("/v1")
            async with session.get(f"{root}/stats") as reply:
                assert await reply.json() == counted
            async with session.post(f"{root}/reset") as reply:
                assert reply.status == 200
        assert server.statistics.to_json()["requests"] == 0
        return counted

    counted = serve(Settings(script=parse_script("server_error")), talk)
    assert (counted["requests"], counted["answered"], counted["distinct_requests"]) == (6, 5, 4)
    assert counted["answered_again"] == 1  # the first of the two was refused
    assert counted["statuses"] == {"200": 5, "400": 1, "500": 1}
    assert counted["most_requests_per_minute"] == 6


def test_a_repeated_beginning_counts_as_cached() -> None:
    async def talk(post: Post, server: LoopbackServer) -> None:
        system = {"role": "system", "content": "x" * 6000}
        user = request()["messages"][0]
        first = (await post(request(messages=[system, user])))[1]["usage"]
        later = (await post(request(messages=[system, user, {"role": "assistant", "content": "hm"}, user])))[1]["usage"]
        assert first["prompt_tokens_details"]["cached_tokens"] == 0
        cached = later["prompt_tokens_details"]["cached_tokens"]
        assert 6000 // 4 - 128 <= cached < later["prompt_tokens"]

    serve(Settings(), talk)


def test_a_request_over_the_context_size_is_refused() -> None:
    async def talk(post: Post, server: LoopbackServer) -> None:
        assert (await post(request()))[0] == 200
        status, reply, _ = await post(request(max_tokens=1000))  # what the reply may have counts as well
        assert (status, reply["error"]["code"]) == (400, "context_length_exceeded")

    serve(Settings(context_size=1000), talk)


def test_only_the_right_key_is_let_in() -> None:
    async def talk(post: Post, server: LoopbackServer) -> int:
        return (await post(request()))[0]

    assert serve(Settings(key="right"), talk, key="right") == 200
    assert serve(Settings(key="right"), talk, key="wrong") == 401
    assert "right" not in repr(Settings(key="right"))


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"model": "x"}', b'{"model": "x", "messages": 5}', b'{"model": "x", "messages": ["y"]}']
)
def test_what_is_no_request_is_refused(body: bytes) -> None:
    async def talk(post: Post, server: LoopbackServer) -> None:
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{server.base_url}/chat/completions", data=body) as reply,
        ):
            assert reply.status == 400
            assert (await reply.json())["error"]["code"] == "invalid_request"

    serve(Settings(), talk)


COMMAND = [sys.executable, "-m", "agents.loopback"]


def test_the_command_serves_until_it_is_told_to_stop() -> None:
    with subprocess.Popen(
        [*COMMAND, "--port", "0", "--profile", "greedy"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            assert found, line
            posted = urllib.request.Request(f"{found[0]}/v1/chat/completions", json.dumps(request()).encode())
            with urllib.request.urlopen(posted) as reply:
                assert json.load(reply)["choices"]
            with urllib.request.urlopen(f"{found[0]}/stats") as reply:
                assert json.load(reply)["answered"] == 1
            with urllib.request.urlopen(f"{found[0]}/v1/models") as reply:
                assert "loopback/greedy" in [model["id"] for model in json.load(reply)["data"]]
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
            assert process.stdout.read() == "loopback: 1 requests, 1 answered\n"
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--script", "nap"], "loopback: 'nap' is no fault"),
        (["--rate", "empty"], "loopback: --rate empty: a rate is a number from 0 to 1, as in empty=0.05"),
        (
            ["--key-env", "NOT_SET_ANYWHERE"],
            "loopback: --key-env: the environment variable NOT_SET_ANYWHERE is not set",
        ),
    ],
)
def test_wrong_arguments_are_one_line_and_exit_code_2(arguments: list[str], says: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "NOT_SET_ANYWHERE"}
    done = subprocess.run([*COMMAND, "--port", "0", *arguments], capture_output=True, text=True, env=environment)
    assert done.returncode == 2
    assert done.stderr.startswith(says)
    assert done.stderr.count("\n") == 1
