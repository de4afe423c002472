"""A worker's calls: from the journal where it has them, committed before anybody acts on them, off the game's clock."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from llm_play import model

import results.schema
from agents.llm.contract import CallFailed, CallKey, ChatReply, ChatRequest, FailureKind, Usage
from agents.loopback import LoopbackServer, Settings
from agents.loopback.faults import parse_script
from orchestrator.calls import MODEL_WIDE, Answered, GameCaller, WorkerCalls, model_key
from orchestrator.journal import Answer
from orchestrator.play import FailureCause, GameDropped, GameFailure, Playthrough

REQUEST = ChatRequest("loopback/greedy", ({"role": "user", "content": "Decision 1"},), (), {"max_tokens": 9})
KEY = CallKey(0, 0)
NOWHERE = "http://127.0.0.1:1/v1"
REPLY = ChatReply("paid for", (), "stop", Usage(10, 2), raw="{}", latency=30.0)


def recorded(answer: dict[str, Any], seat: int = 0, request: ChatRequest = REQUEST) -> Answer:
    return Answer(seat, KEY.decision, KEY.call, 0, request.digest(), json.dumps(answer).encode())


def caller(
    calls: WorkerCalls, url: str = NOWHERE, known: Sequence[Answer] = (), game: Playthrough | None = None
) -> GameCaller:
    asked = model(id=REQUEST.model, base_url=url, retry={"deadline_seconds": 0.01})
    return GameCaller(calls, asked, "g1", 1, "llm", 0, game or Playthrough(), known)


def with_server(talk: Callable[[WorkerCalls, str], Awaitable[Any]]) -> Any:
    """What ``talk`` returns, given a worker's calls and the address of a server that answers them."""

    async def run() -> Any:
        async with LoopbackServer(Settings()) as server:
            calls = WorkerCalls(None, "w")
            try:
                return await talk(calls, server.base_url), server.statistics.all.requests
            finally:
                await calls.close()

    return asyncio.run(run())


def test_an_answer_of_the_journal_is_given_without_a_call() -> None:
    known = [recorded({"reply": REPLY.to_json(), "at": 5})]
    assert asyncio.run(caller(WorkerCalls(None, "w"), known=known)(KEY, REQUEST)) == REPLY


def test_the_other_seat_has_answers_of_its_own() -> None:
    async def talk(calls: WorkerCalls, url: str) -> None:
        calls.stopping = True
        with pytest.raises(GameDropped):
            await caller(calls, url, [recorded({"reply": REPLY.to_json(), "at": 5}, seat=1)])(KEY, REQUEST)

    assert with_server(talk)[1] == 0


def test_a_game_that_asks_something_else_than_was_answered_fails_and_pays_nothing() -> None:
    async def talk(calls: WorkerCalls, url: str) -> GameFailure:
        other = ChatRequest("loopback/greedy", ({"role": "user", "content": "Decision 1, told otherwise"},))
        known = [recorded({"reply": REPLY.to_json(), "at": 5}, request=other)]
        with pytest.raises(GameFailure) as caught:
            await caller(calls, url, known)(KEY, REQUEST)
        return caught.value

    failure, requests = with_server(talk)
    assert failure.cause is FailureCause.REQUEST_CHANGED
    assert failure.detail.startswith("llm: call 0 of its decision 0 is not the one that was answered before")
    assert requests == 0


def test_a_request_that_was_too_long_is_known_to_be_when_the_game_is_played_again() -> None:
    known = [recorded({"failed": ["context_overflow", "too long", 0]})]
    with pytest.raises(CallFailed, match="too long") as caught:
        asyncio.run(caller(WorkerCalls(None, "w"), known=known)(KEY, REQUEST))
    assert caught.value.kind is FailureKind.CONTEXT_OVERFLOW


def test_a_request_that_was_too_long_is_committed_with_the_next_reply_and_not_where_there_is_none() -> None:
    async def run() -> None:
        script = parse_script("context_overflow*2,ok,context_overflow")
        async with LoopbackServer(Settings(script=script)) as server:
            calls = WorkerCalls(None, "w")
            asked = caller(calls, server.base_url)
            for call in (0, 1):
                async with asyncio.timeout(30):
                    with pytest.raises(CallFailed):
                        await asked(CallKey(0, call), REQUEST)
            answered = asyncio.ensure_future(asked(CallKey(0, 2), REQUEST))
            entries = await calls.desk.collect([])
            told = [(one.answer.call, *json.loads(one.answer.answer)) for one in entries if isinstance(one, Answered)]
            assert told == [(0, "failed"), (1, "failed"), (2, "reply", "at")]
            taking = asyncio.ensure_future(calls.desk.collect([(entry.number, True) for entry in entries]))
            await answered
            with pytest.raises(CallFailed):
                await asked(CallKey(1, 0), REQUEST)
            assert not taking.done()
            taking.cancel()
            await calls.close()

    asyncio.run(run())


@pytest.mark.parametrize("committed", [True, False])
def test_an_agent_gets_a_reply_once_it_is_committed(committed: bool) -> None:
    async def talk(calls: WorkerCalls, url: str) -> None:
        asking = asyncio.ensure_future(caller(calls, url)(KEY, REQUEST))
        (entry,) = await calls.desk.collect([])
        assert isinstance(entry, Answered)
        assert (entry.game_id, entry.epoch, entry.entrant, entry.spending.calls) == ("g1", 1, "llm", 1)
        assert not asking.done()
        taking = asyncio.ensure_future(calls.desk.collect([(entry.number, committed)]))
        if committed:
            reply = await asking
            stored = json.loads(entry.answer.answer)["reply"]
            assert (ChatReply.from_json(stored), entry.answer.digest) == (reply, REQUEST.digest())
        else:
            with pytest.raises(GameDropped):
                await asking
        taking.cancel()

    assert with_server(talk)[1] == 1


def test_a_game_counts_as_asking_until_its_answer_is_committed_so_that_a_stop_waits_for_it() -> None:
    async def talk(calls: WorkerCalls, url: str) -> list[int]:
        game = Playthrough()
        asking = asyncio.ensure_future(caller(calls, url, game=game)(KEY, REQUEST))
        (entry,) = await calls.desk.collect([])
        seen = [game.requests]
        taking = asyncio.ensure_future(calls.desk.collect([(entry.number, True)]))
        await asking
        taking.cancel()
        return [*seen, game.requests]

    assert with_server(talk)[0] == [1, 0]


def test_after_a_stop_no_call_is_made() -> None:
    async def talk(calls: WorkerCalls, url: str) -> None:
        calls.stopping = True
        with pytest.raises(GameDropped):
            await caller(calls, url)(KEY, REQUEST)

    assert with_server(talk)[1] == 0


def test_a_model_that_is_out_of_order_is_asked_no_more() -> None:
    async def talk(calls: WorkerCalls, url: str) -> None:
        asked = model(id=REQUEST.model, base_url=url)
        calls.out_of_order(model_key(asked), CallFailed(FailureKind.QUOTA_EXHAUSTED, "no credits"))
        with pytest.raises(CallFailed, match="no credits"):
            await caller(calls, url)(KEY, REQUEST)

    assert with_server(talk)[1] == 0


def test_a_call_between_two_attempts_fails_as_soon_as_its_model_is_out_of_order() -> None:
    async def run() -> int:
        async with LoopbackServer(Settings(script=parse_script("unavailable:600"))) as server:
            calls = WorkerCalls(None, "w")
            waiting = asyncio.ensure_future(caller(calls, server.base_url)(KEY, REQUEST))
            while not server.statistics.all.requests:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            asked = model(id=REQUEST.model, base_url=server.base_url)
            calls.out_of_order(model_key(asked), CallFailed(FailureKind.QUOTA_EXHAUSTED, "no credits"))
            async with asyncio.timeout(30):
                with pytest.raises(CallFailed, match="no credits"):
                    await waiting
            await calls.close()
            return int(server.statistics.all.requests)

    assert asyncio.run(run()) == 1


def test_the_clock_of_a_game_counts_what_models_think_and_not_what_calls_wait() -> None:
    game = Playthrough()
    game.hold()
    game.started -= 1000.0  # A thousand seconds that passed before, as on a slow machine.
    before = game.seconds()
    game.resume(thinking=7.0)
    assert 1000.0 <= before < game.seconds() < before + 7.0 + 60.0
    assert game.seconds() - before >= 7.0
    # A reply of the journal took its time too, in an earlier start.
    known = [recorded({"reply": REPLY.to_json(), "at": 5})]
    asyncio.run(caller(WorkerCalls(None, "w"), known=known, game=game)(KEY, REQUEST))
    assert game.seconds() - before >= 7.0 + REPLY.latency


def test_a_game_over_its_time_is_not_ended_while_it_waits() -> None:
    async def played() -> bool:
        game = Playthrough(limit=0.05)
        try:
            async with asyncio.timeout(0.05) as game.cut:
                game.hold()
                await asyncio.sleep(0.2)
                game.limit = 3600.0
                game.resume(0.0)
                await asyncio.sleep(0)
        except TimeoutError:
            return False
        return not game.held

    assert asyncio.run(played())


def test_every_kind_of_failure_has_a_scope_and_those_of_games_a_cause_on_record() -> None:
    of_models = {*MODEL_WIDE, FailureKind.BUDGET}
    of_games = {kind.value for kind in FailureKind if kind not in of_models}
    assert of_games == {cause.value for cause in results.schema.PROVIDER_CAUSES}
    assert {cause.value for cause in FailureCause} == {cause.value for cause in results.schema.VOID_CAUSES}
