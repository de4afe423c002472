"""The sequence of messages: always one that strict endpoints accept, and the same again for the same replies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llm_play import ScriptedCaller, agent, call, calls, new_game, play_game, text
from ptcg_play import position, side

from agents.llm.contract import CallFailed, ChatReply, FailureKind, ToolCall, Usage
from agents.llm.tools import tool_of
from engine.match import SEATS
from engine.ptcg.game import PtcgMatch

CHARMANDER, FIRE = "PAF-7", "SVE-2"


def check_messages(messages: Sequence[dict[str, Any]]) -> None:
    """What the strictest endpoints demand of a conversation."""
    assert messages[0]["role"] == "system"
    assert messages[1]["role"] == "user"
    assert messages[-1]["role"] in ("user", "tool")
    seen: set[str] = set()
    place = 1
    while place < len(messages):
        assert messages[place]["role"] == "user"
        assert messages[place]["content"].strip()
        place += 1
        while place < len(messages) and messages[place]["role"] == "assistant":
            message = messages[place]
            place += 1
            asked = message.get("tool_calls")
            if asked is None:
                assert message["content"].strip()
                break
            assert asked
            for one in asked:
                assert one["id"]
                assert one["id"] not in seen
                seen.add(one["id"])
                assert one["type"] == "function"
                assert one["function"]["name"].replace("_", "").replace("-", "").isalnum()
                assert isinstance(json.loads(one["function"]["arguments"]), dict)
                answered = messages[place]
                place += 1
                assert answered["role"] == "tool"
                assert answered["tool_call_id"] == one["id"]
                assert answered["content"].strip()
            assert place == len(messages) or messages[place]["role"] == "assistant"
    json.dumps(messages).encode()


ODD_TEXT = st.text(max_size=30) | st.sampled_from(
    ["", " ", "{", '{"call": {"tool": "pass_turn", "arguments": {}}}', "<b>"]
)
NAMES = st.sampled_from(
    ["attack", "choose_card", "pass_turn", "query_card", "query_discard", "activate_skill", "fly", ""]
)
VALUES = st.none() | st.booleans() | st.integers(-3, 9) | ODD_TEXT | st.lists(st.integers(-1, 9) | ODD_TEXT, max_size=3)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["source_card", "attack_name", "chosen_cards", "card_id", "player", "target_index"]), VALUES
).map(json.dumps)
ODD_CALL = st.builds(ToolCall, st.sampled_from(["", "a", "b"]), NAMES, ARGUMENTS | ODD_TEXT)
ODD_REPLY = st.builds(
    ChatReply,
    ODD_TEXT,
    st.lists(ODD_CALL, max_size=4).map(tuple),
    st.sampled_from(["stop", "tool_calls", "length", "content_filter", ""]),
    st.builds(Usage, st.integers(0, 9000), st.integers(0, 90)),
    st.none() | ODD_TEXT,
    st.none() | ODD_TEXT,
)


def playing(match: PtcgMatch, pick: Random, protocol: str = "tools") -> ChatReply:
    """A reply that does something legal, with a query and a second action now and then."""
    (seat,) = match.seats_to_act()
    action = pick.choice(match.legal_actions(seat))
    if tool_of(action) == "choose_card":
        arguments: dict[str, Any] = {"chosen_cards": [action.key]}
    else:
        arguments = {"source_card": action.key, "attack_name": "", "position": "bench", "target_card": ""}
    if protocol == "json":
        return text(
            json.dumps(
                {"thought": "x" * pick.randrange(400), "call": {"tool": tool_of(action), "arguments": arguments}}
            )
        )
    made = [call(tool_of(action), id=f"c{pick.random()}", **arguments)]
    if pick.random() < 0.3:
        made.insert(0, call("query_card", id=f"q{pick.random()}", card_id="PAF-54"))
    return calls(*made, content="x" * pick.randrange(400))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    replies=st.lists(st.none() | ODD_REPLY, min_size=30, max_size=30),
    protocol=st.sampled_from(["tools", "json"]),
    history=st.sampled_from(["window", "none"]),
    room=st.sampled_from([3000, 12_000, 100_000]),
    seed=st.integers(0, 3),
)
def test_whatever_a_model_replies_the_conversation_stays_one_that_strict_endpoints_take(
    replies: list[ChatReply | None], protocol: str, history: str, room: int, seed: int
) -> None:
    match = new_game(seed)
    pick = Random(seed)
    left = iter(replies)

    def reply(key: Any, request: Any) -> ChatReply:
        check_messages(request.messages)
        return next(left, None) or playing(match, pick, protocol)

    caller = ScriptedCaller(reply)
    harness = {"history": history, "history_tokens": room, "further_attempts": 1}
    players = [agent(caller, harness, seat, tool_protocol=protocol) for seat in SEATS]
    play_game(match, players, 25)
    assert caller.requests


def test_without_history_only_the_current_decision_is_sent_its_answers_included() -> None:
    match = position(side(CHARMANDER, hand=[FIRE, CHARMANDER], deck=[FIRE] * 9))
    query = calls(call("query_card", card_id="PAF-54"))
    caller = ScriptedCaller(
        [
            calls(call("play_pokemon", source_card="Charmander", position="bench")),
            query,
            text("Hm."),
            calls(call("pass_turn")),
        ]
    )
    player = agent(caller, {"history": "none"})
    play_game(match, [player, player], 2)
    roles = [[message["role"] for message in request.messages] for request in caller.requests]
    assert roles[0] == roles[1] == ["system", "user"]
    assert roles[2] == ["system", "user", "assistant", "tool"]
    assert roles[3] == ["system", "user", "assistant", "tool", "assistant", "user"]
    first = caller.requests[0].messages[1]["content"]
    assert first not in json.dumps(caller.requests[1].body())


def test_with_history_a_request_begins_like_the_one_before_it() -> None:
    match, pick = new_game(2), Random(4)
    caller = ScriptedCaller(lambda key, request: playing(match, pick))
    players = [agent(caller, seat=0), agent(ScriptedCaller(lambda key, request: playing(match, pick)), seat=1)]
    play_game(match, players, 40)
    assert len(caller.requests) > 10
    for before, after in zip(caller.requests, caller.requests[1:], strict=False):
        shared = len(before.messages)
        assert after.messages[:shared] == before.messages
        assert len(after.messages) > shared


@pytest.mark.parametrize("tokens_per_character", [0.2, 0.25, 0.5])
def test_the_window_keeps_requests_within_the_models_room_as_the_server_counts(tokens_per_character: float) -> None:
    match, pick = new_game(3), Random(4)

    def reply(key: Any, request: Any) -> ChatReply:
        counted = int(tokens_per_character * len(json.dumps(request.body(), ensure_ascii=False)))
        made = playing(match, pick)
        return ChatReply(made.content, made.tool_calls, made.finish_reason, Usage(counted, 50))

    caller = ScriptedCaller(reply)
    players = [agent(caller, seat=seat, context_size=20_000, sampling={"max_tokens": 1000}) for seat in SEATS]
    play_game(match, players, 120)
    sizes = [tokens_per_character * len(json.dumps(one.body(), ensure_ascii=False)) for one in caller.requests]
    assert max(sizes) <= 19_000
    lengths = [len(one.messages) for one in caller.requests]
    assert any(later < earlier for earlier, later in zip(lengths[::2], lengths[2::2], strict=False))
    assert max(sizes) > 0.7 * 19_000


def test_what_is_dropped_goes_whole_and_oldest_first() -> None:
    match, pick = new_game(3), Random(4)
    caller = ScriptedCaller(lambda key, request: playing(match, pick))
    mine = agent(caller, {"history_tokens": 12_000})
    other = agent(ScriptedCaller(lambda key, request: playing(match, pick)), seat=1)
    play_game(match, [mine, other], 120)
    dropped = 0
    for before, after in zip(caller.requests, caller.requests[1:], strict=False):
        assert after.messages[0] == before.messages[0]
        kept = [message for message in after.messages[2:-1] if message in before.messages]
        assert kept == [message for message in before.messages if message in kept]
        # A decision that begins the window does so as a message of the user, without the answer to what was dropped.
        assert after.messages[1]["content"].startswith("{")
        dropped += after.messages[1] != before.messages[1]
    assert dropped > 2


def journal_of(game: int, harness: dict[str, Any], protocol: str) -> tuple[list[Any], list[ChatReply], list[str]]:
    """A whole game with a model that errs, as a journal has it: keys, replies, and the digests of the requests."""
    match, pick = new_game(game, "miraidon_ex"), Random(game)
    replies: list[ChatReply] = []

    def reply(key: Any, request: Any) -> ChatReply:
        made = text("Hm.") if pick.random() < 0.2 else playing(match, pick, protocol)
        replies.append(
            ChatReply(made.content, made.tool_calls, made.finish_reason, Usage(5000, 9), latency=pick.random())
        )
        return replies[-1]

    caller = ScriptedCaller(reply)
    play_game(match, [agent(caller, harness, seat, tool_protocol=protocol) for seat in SEATS], 80)
    return caller.keys, replies, caller.digests


@pytest.mark.parametrize("protocol", ["tools", "json"])
@pytest.mark.parametrize("harness", [{}, {"observation": "raw", "history": "none"}, {"fallback": "heuristic"}])
def test_a_game_rebuilt_from_its_replies_makes_the_same_requests(protocol: str, harness: dict[str, Any]) -> None:
    harness = {**harness, "further_attempts": 1, "history_tokens": 9000}
    keys, replies, digests = journal_of(1, harness, protocol)
    again = ScriptedCaller([ChatReply.from_json(json.loads(json.dumps(reply.to_json()))) for reply in replies])
    match = new_game(1, "miraidon_ex")
    play_game(match, [agent(again, harness, seat, tool_protocol=protocol) for seat in SEATS], 80)
    assert again.keys == keys
    assert again.digests == digests
    assert len(set(digests)) == len(digests)


def test_a_game_resumes_between_two_attempts_of_a_decision() -> None:
    """The journal ends in the middle of a decision: the next request is the one that was lost."""
    _, replies, digests = journal_of(2, {}, "tools")
    for end in (3, 10, len(replies) - 2):
        stop = CallFailed(FailureKind.CONNECTION, "here the journal ends")
        again = ScriptedCaller([*replies[:end], stop])
        match = new_game(2, "miraidon_ex")
        with pytest.raises(CallFailed):
            play_game(match, [agent(again, {}, seat) for seat in SEATS], 80)
        assert again.digests == digests[: end + 1]
