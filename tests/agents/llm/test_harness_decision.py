"""One decision: what ends it, what each fault of a reply is called, what is recorded of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llm_play import Reply, agent, ask, call, calls, everything_said, play_game, text
from llm_play import ScriptedCaller as Caller
from ptcg_play import keys, pokemon, position, side

from agents.base import Decision
from agents.factory import agent_waits, make_agent
from agents.llm.contract import CallFailed, CallKey, ChatReply, FailureKind, ToolCall, Usage
from engine.ptcg.game import PtcgMatch

CHARMANDER, FIRE = "PAF-7", "SVE-2"
PASS = call("pass_turn")
ATTACK = call("attack", source_card="Charmander", attack_name="Steady Firebreathing")
ILLEGAL = call("attack", source_card="Charmander", attack_name="Burning Darkness")
QUERY = call("query_card", card_id="PAF-54")


def table() -> PtcgMatch:
    """A turn in which there is something to do."""
    return position(side(pokemon(CHARMANDER, energy=[FIRE, FIRE]), hand=[FIRE, CHARMANDER]))


def log(decision: Decision) -> list[tuple[str, str, str | None]]:
    """Tool, verdict and cause of all that is recorded."""
    return [(entry.tool, entry.verdict, entry.cause) for entry in decision.attempt_log]


def said_last(caller: Caller) -> str:
    """The text that the model was sent last."""
    return str(caller.requests[-1].messages[-1]["content"])


def test_a_legal_action_is_played_with_the_thought_that_led_to_it() -> None:
    decision, caller = ask(table(), [calls(ATTACK, content="It takes the Prize.")])
    assert [action.key for action in decision.actions] == ["attack:Steady Firebreathing"]
    assert (decision.attempts, decision.invalid_attempts, decision.tool_calls) == (1, 0, 1)
    assert (decision.fallback, decision.thought) == (None, "It takes the Prize.")
    assert log(decision) == [("attack", "played", None)]
    assert caller.keys == [CallKey(0, 0)]


FAULTS: dict[str, tuple[ChatReply, str, str]] = {
    "nothing at all": (text(""), "unreadable", "empty_reply"),
    "only space": (text(" \n\t"), "unreadable", "empty_reply"),
    "only hidden reasoning": (text("", reasoning="Hm."), "unreadable", "empty_reply"),
    "a refusal": (text("", refusal="I cannot help with that."), "unreadable", "refusal"),
    "a content filter": (text("I", finish_reason="content_filter"), "unreadable", "refusal"),
    "cut before a call": (text("I think that", finish_reason="length"), "unreadable", "cut_at_token_limit"),
    "cut in the reasoning": (text("", finish_reason="length"), "unreadable", "cut_at_token_limit"),
    "cut in a call": (
        calls(ToolCall("a", "attack", '{"source_card": "Char'), finish_reason="length"),
        "unreadable",
        "cut_at_token_limit",
    ),
    "only text": (text("I attack with Steady Firebreathing."), "unreadable", "no_tool_call"),
    "malformed JSON": (calls(ToolCall("a", "attack", '{"source_card": ')), "unreadable", "malformed_json"),
    "JSON of another kind": (calls(ToolCall("a", "attack", '["Charmander"]')), "unreadable", "malformed_json"),
    "deeply nested JSON": (calls(ToolCall("a", "attack", "[" * 100_000)), "unreadable", "malformed_json"),
    "a number too long": (calls(ToolCall("a", "attack", '{"x": ' + "1" * 9999 + "}")), "unreadable", "malformed_json"),
    "an unknown tool": (calls(call("concede")), "refused", "unknown_tool"),
    "skills without a library": (calls(call("activate_skill", name="x")), "refused", "unknown_tool"),
    "what JSON does not know": (
        calls(ToolCall("a", "attack", '{"source_card": "Charmander", "attack_name": NaN}')),
        "unreadable",
        "malformed_json",
    ),
    "cut before the arguments": (
        calls(ToolCall("a", "attack", ""), finish_reason="length"),
        "unreadable",
        "cut_at_token_limit",
    ),
    "a missing argument": (calls(call("attack", source_card="Charmander")), "refused", "missing_argument"),
    "no arguments": (calls(ToolCall("a", "attack", "")), "refused", "missing_argument"),
    "a wrong type": (calls(call("choose_card", chosen_cards="PAF-7")), "refused", "wrong_type"),
    "an illegal action": (calls(ILLEGAL), "refused", "illegal_action"),
    "a choice that nobody asked for": (calls(call("choose_card", chosen_cards=[])), "refused", "illegal_action"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_a_reply_is_counted_by_its_cause_and_answered(fault: str) -> None:
    reply, verdict, cause = FAULTS[fault]
    match = table()
    before = match.digest()
    decision, caller = ask(match, [reply, calls(PASS)])
    assert match.digest() == before
    assert log(decision)[0][1:] == (verdict, cause)
    assert log(decision)[1] == ("pass_turn", "played", None)
    assert (decision.attempts, decision.invalid_attempts) == (2, 1)
    assert (decision.calls[0].verdict, decision.calls[0].cause) == (verdict, cause)
    assert (decision.calls[1].verdict, decision.calls[1].cause) == ("played", None)
    assert 0 < len(said_last(caller)) < 600
    assert decision.fallback is None


def test_an_ambiguous_call_has_a_cause_of_its_own() -> None:
    match = position(side(CHARMANDER, pokemon(CHARMANDER, damage=10), hand=[FIRE]))
    decision, _ = ask(match, [calls(call("attach_energy", source_card=FIRE, target_card="Charmander")), calls(PASS)])
    assert log(decision)[0] == ("attach_energy", "refused", "ambiguous")


def test_of_several_calls_queries_are_answered_and_only_the_first_action_is_played() -> None:
    decision, caller = ask(table(), [calls(QUERY, ATTACK, PASS, call("query_discard", player="you")), calls(PASS)])
    assert [action.key for action in decision.actions] == ["attack:Steady Firebreathing"]
    assert log(decision) == [
        ("query_card", "answered", None),
        ("attack", "played", None),
        ("pass_turn", "not_executed", "after_an_action"),
        ("query_discard", "answered", None),
    ]
    assert (decision.attempts, decision.invalid_attempts, decision.tool_calls) == (1, 0, 4)
    assert len(caller.requests) == 1


def test_an_illegal_first_action_is_not_replaced_by_the_second_one_of_its_reply() -> None:
    decision, _ = ask(table(), [calls(ILLEGAL, ATTACK), calls(PASS)])
    assert [action.key for action in decision.actions] == ["pass"]
    assert [verdict for _, verdict, _ in log(decision)] == ["refused", "not_executed", "played"]


def test_every_call_of_a_reply_is_answered_by_its_id() -> None:
    _, caller = ask(table(), [calls(QUERY, call("concede"), ILLEGAL, ATTACK), calls(PASS)])
    messages = caller.requests[1].messages
    assert [message["role"] for message in messages[-5:]] == ["assistant", "tool", "tool", "tool", "tool"]
    asked = [one["id"] for one in messages[-5]["tool_calls"]]
    assert [message["tool_call_id"] for message in messages[-4:]] == asked
    assert "Charizard ex" in messages[-4]["content"]
    assert "no tool" in messages[-3]["content"]
    assert "Not legal now" in messages[-2]["content"]
    assert "Not executed" in messages[-1]["content"]


def test_queries_do_not_count_as_attempts_and_are_answered_before_the_action() -> None:
    decision, caller = ask(table(), [calls(QUERY), calls(call("query_discard", player="opponent")), calls(PASS)])
    assert (decision.attempts, decision.tool_calls, len(decision.calls)) == (1, 3, 3)
    assert [record.verdict for record in decision.calls] == ["answered", "answered", "played"]
    assert caller.keys == [CallKey(0, 0), CallKey(0, 1), CallKey(0, 2)]
    assert "HP 330" in everything_said(caller.requests[1])


def test_a_query_that_cannot_be_answered_is_no_action_attempt() -> None:
    wrong = [calls(call("query_card", card_id="Mewthree")), calls(ToolCall("a", "query_discard", "{"))]
    decision, _ = ask(table(), [*wrong, calls(PASS)])
    assert log(decision)[:2] == [
        ("query_card", "query_refused", "unknown_card"),
        ("query_discard", "query_refused", "malformed_json"),
    ]
    assert (decision.attempts, decision.invalid_attempts) == (1, 0)


def test_queries_are_bounded_and_then_use_up_the_decision_though_they_are_no_action_attempts() -> None:
    decision, caller = ask(table(), lambda key, request: calls(QUERY), {"query_calls": 4, "further_attempts": 3})
    assert len(caller.requests) == 4 + 1 + 3
    assert [verdict for _, verdict, _ in log(decision)] == ["answered"] * 4 + ["query_refused"] * 4 + ["stopped"]
    assert log(decision)[-2:] == [("query_card", "query_refused", "query_limit"), ("", "stopped", "attempt_limit")]
    assert (decision.attempts, decision.invalid_attempts, decision.tool_calls) == (0, 0, 8)
    assert decision.fallback == "random"


def test_every_tool_call_is_on_record_however_many_a_reply_has() -> None:
    many = ChatReply("x", tuple(ToolCall(f"c{number}", "query_card", "{}") for number in range(40)), "", Usage())
    nameless = ChatReply("x", (ToolCall("a", "", "{}"),), "", Usage())
    decision, caller = ask(table(), [many, nameless, calls(PASS)])
    assert decision.tool_calls == 42 == sum(entry.tool != "" for entry in decision.attempt_log)
    assert [entry[1:] for entry in log(decision)[16:40]] == [("not_executed", "too_many_calls")] * 24
    assert log(decision)[40] == ("unnamed", "refused", "unknown_tool")
    # Only what is answered is sent back.
    assert len(caller.requests[1].messages[-17]["tool_calls"]) == 16


def test_attempts_are_bounded() -> None:
    for further in (0, 3):
        decision, caller = ask(table(), lambda key, request: calls(ILLEGAL), {"further_attempts": further})
        assert len(caller.requests) == 1 + further
        assert (decision.attempts, decision.invalid_attempts) == (1 + further, 1 + further)
        assert log(decision)[-1] == ("", "stopped", "attempt_limit")


def test_tokens_and_seconds_are_bounded_each_with_its_verdict() -> None:
    def slow(key: Any, request: Any) -> Reply:
        return calls(ILLEGAL, usage=Usage(100, 40), latency=2.0, queued=1000.0)

    for bound, value, cause in (
        ("decision_tokens", 80, "token_limit"),
        ("decision_seconds", 4, "time_limit"),
    ):
        decision, caller = ask(table(), slow, {bound: value, "further_attempts": 9})
        assert len(caller.requests) == 2
        assert log(decision)[-1] == ("", "stopped", cause)
        assert decision.seconds == 4.0


def test_a_legal_action_counts_also_where_it_passes_a_bound() -> None:
    reply = calls(PASS, usage=Usage(1, 10_000), latency=99.0)
    decision, _ = ask(table(), [reply], {"decision_tokens": 10, "decision_seconds": 1})
    assert (decision.fallback, decision.actions[0].key) == (None, "pass")


@pytest.mark.parametrize("rule", ["random", "pass", "heuristic", "forfeit"])
def test_after_the_last_attempt_the_fallback_plays_and_the_record_says_so(rule: str) -> None:
    harness = {"fallback": rule, "further_attempts": 1}
    match = table()
    decision, _ = ask(match, lambda key, request: calls(ILLEGAL), harness)
    again, _ = ask(match, lambda key, request: calls(ILLEGAL), harness)
    assert decision.fallback == rule
    assert decision.actions == again.actions
    assert decision.forfeit is (rule == "forfeit")
    if rule == "forfeit":
        assert decision.actions == ()
    else:
        assert decision.actions[0].key in keys(match)
    if rule == "pass":
        assert decision.actions[0].key == "pass"


def test_the_model_is_told_what_was_played_for_it() -> None:
    match = position(side(CHARMANDER, hand=[FIRE], deck=[FIRE] * 4), side(CHARMANDER, hand=[FIRE], deck=[FIRE] * 4))
    caller = Caller([text("Hm."), calls(PASS), calls(PASS)])
    player = agent(caller, {"fallback": "pass", "further_attempts": 0})
    play_game(match, [player, agent(Caller(lambda key, request: calls(PASS)), seat=1)], 3)
    told = caller.requests[1].messages[-1]
    assert told["role"] == "user"
    assert "Played for you: End your turn without attacking." in told["content"]


def test_sums_are_those_of_the_calls() -> None:
    usages = [Usage(100, 10, 40, 4), Usage(200, 20, 80, 8), Usage(300, 30, 120, 12)]
    replies = [
        calls(
            one,
            usage=usage,
            cost_usd=0.25,
            latency=0.5,
            queued=7.0,
            retries=2,
            raw="{}",
            cleaned=True,
            usage_estimated=one == ILLEGAL,
        )
        for one, usage in zip((QUERY, ILLEGAL, PASS), usages, strict=True)
    ]
    decision, caller = ask(table(), replies, reasoning={"pass_back": None})
    assert (decision.input_tokens, decision.cached_input_tokens) == (600, 240)
    assert (decision.output_tokens, decision.reasoning_tokens) == (60, 24)
    assert (decision.cost_usd, decision.seconds) == (0.75, 1.5)
    assert [record.call for record in decision.calls] == [0, 1, 2]
    assert [record.request_digest for record in decision.calls] == caller.digests
    first = decision.calls[0]
    assert (first.model, first.reply, first.reply_cleaned, first.retries) == ("scripted", "{}", True, 2)
    assert [record.usage_estimated for record in decision.calls] == [False, True, False]
    assert (first.latency_seconds, first.queue_seconds, first.finish_reason) == (0.5, 7.0, "tool_calls")
    assert decision.harness_digest == agent(caller).harness_digest


def test_a_providers_failure_passes_through_and_is_no_invalid_action() -> None:
    for kind in FailureKind:
        if kind is not FailureKind.CONTEXT_OVERFLOW:
            with pytest.raises(CallFailed) as caught:
                ask(table(), [calls(ILLEGAL), CallFailed(kind, "no")])
            assert caught.value.kind is kind


def test_an_overflow_with_no_history_to_cut_passes_through() -> None:
    with pytest.raises(CallFailed):
        ask(table(), [CallFailed(FailureKind.CONTEXT_OVERFLOW, "too long")])


def test_an_overflow_cuts_the_history_and_tries_once_more() -> None:
    match = position(side(CHARMANDER, hand=[FIRE], deck=[FIRE] * 9), side(CHARMANDER, hand=[FIRE], deck=[FIRE] * 9))
    overflow = CallFailed(FailureKind.CONTEXT_OVERFLOW, "too long")
    caller = Caller([*[calls(PASS)] * 4, overflow, calls(PASS), overflow, overflow])
    player = agent(caller)
    other = agent(Caller(lambda key, request: calls(PASS)), seat=1)
    play_game(match, [player, other], 9)
    assert caller.keys[4:6] == [CallKey(4, 0), CallKey(4, 1)]
    before, after = caller.requests[4].messages, caller.requests[5].messages
    assert len(after) < len(before)
    assert after[0] == before[0]
    assert after[-1]["content"].endswith(before[-1]["content"].partition("\n\n")[2])
    with pytest.raises(CallFailed):
        play_game(match, [player, other], 2)


def test_thoughts_go_back_in_the_field_that_the_endpoint_wants_them_in() -> None:
    details = [{"type": "reasoning.text", "text": "Hm.", "signature": "abc"}]
    raw = json.dumps({"choices": [{"message": {"content": "x", "reasoning_details": details}}]})
    replies = [calls(ILLEGAL, raw=raw, reasoning="Hm.", content=""), calls(PASS)]
    decision, caller = ask(table(), replies, reasoning={"pass_back": "reasoning_details"})
    echoed = next(message for message in caller.requests[1].messages if message["role"] == "assistant")
    assert echoed["reasoning_details"] == details
    assert echoed["content"] is None
    assert decision.calls[0].thought == "Hm."
    _, caller = ask(table(), replies, reasoning={"pass_back": None})
    assert "Hm." not in everything_said(caller.requests[1])


def test_a_long_reply_is_kept_short_in_the_conversation_and_whole_in_the_record() -> None:
    long = "word " * 20_000
    decision, caller = ask(table(), [calls(ILLEGAL, content=long, raw=long), calls(PASS)], reasoning={})
    echoed = caller.requests[1].messages[-2]
    assert len(echoed["content"]) < 9000
    assert "characters left out" in echoed["content"]
    assert decision.calls[0].thought == long.strip()
    assert decision.calls[0].reply == long


def test_ids_that_are_missing_or_used_twice_are_made_unique() -> None:
    twice = ChatReply(
        "x", (ToolCall("", "concede", "{}"), ToolCall("a", "concede", "{}"), ToolCall("a", "x y", "{}")), "", Usage()
    )
    _, caller = ask(table(), [twice, twice, calls(PASS)])
    ids = [one["id"] for message in caller.requests[2].messages for one in message.get("tool_calls", [])]
    assert len(ids) == len(set(ids)) == 6
    assert all(ids)
    names = {
        one["function"]["name"] for message in caller.requests[2].messages for one in message.get("tool_calls", [])
    }
    assert names == {"concede", "x_y"}


def test_an_agent_of_kind_llm_is_made_from_model_and_harness() -> None:
    config = {
        "kind": "llm",
        "model": {
            "id": "m",
            "base_url": "http://127.0.0.1:1/v1",
            "context_size": 8000,
            "price": {"input": 0, "output": 0},
        },
        "harness": {"mask": "hidden"},
    }
    assert agent_waits(config)
    assert make_agent(config, 0, 1).reads_observation
    with pytest.raises(ValueError, match="harness: masks is unknown"):
        make_agent({**config, "harness": {"masks": "hidden"}}, 0, 1)
    with pytest.raises(ValueError, match="needs a model"):
        make_agent({"kind": "llm"}, 0, 1)
    with pytest.raises(ValueError, match="no setting 'temperature'"):
        make_agent({**config, "temperature": 1}, 0, 1)
