"""Replies as endpoints write them, read into one form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.llm.contract import ChatReply, ToolCall, Usage
from agents.llm.replies import (
    MalformedReply,
    ReplyError,
    clean_json,
    load_body,
    parse_reply,
    parse_usage,
    thoughts_to_send_back,
)


def reply_to(message: dict[str, Any], finish_reason: str = "stop", **more: Any) -> ChatReply:
    raw = json.dumps({"choices": [{"message": message, "finish_reason": finish_reason}], **more})
    return parse_reply(load_body(raw), raw)


def called(*entries: Any) -> tuple[ToolCall, ...]:
    return reply_to({"content": None, "tool_calls": list(entries)}, "tool_calls").tool_calls


def test_content_is_text_in_one_piece_or_in_parts() -> None:
    assert reply_to({"content": "I pass."}).content == "I pass."
    assert reply_to({"content": None}).content == ""
    assert reply_to({}).content == ""
    parts = [{"type": "text", "text": "I "}, {"type": "image_url"}, {"type": "text", "text": "pass."}]
    assert reply_to({"content": parts}).content == "I pass."


def test_tool_calls_keep_id_name_and_text_of_arguments() -> None:
    first = {"id": "a", "type": "function", "function": {"name": "attack", "arguments": '{"x": 1'}}
    second = {"id": "b", "function": {"name": "pass_turn", "arguments": ""}}
    assert called(first, second) == (ToolCall("a", "attack", '{"x": 1'), ToolCall("b", "pass_turn", ""))


def test_arguments_that_are_no_text_become_text() -> None:
    (call,) = called({"id": "a", "function": {"name": "attack", "arguments": {"attack_name": "Pokémon"}}})
    assert json.loads(call.arguments) == {"attack_name": "Pokémon"}
    assert called({"id": "a", "function": {"name": "pass_turn", "arguments": None}})[0].arguments == ""


def test_ids_are_made_where_they_are_missing_or_repeated() -> None:
    function = {"name": "pass_turn", "arguments": "{}"}
    ids = [
        call.id for call in called({"function": function}, {"id": "x", "function": function}, {"id": "x"}, {"id": 7}, 3)
    ]
    assert len(set(ids)) == 5
    assert ids[1] == "x"
    clash = [call.id for call in called({"id": "call_1", "function": function}, {"function": function})]
    assert len(set(clash)) == 2


def test_a_function_call_of_the_old_form_is_a_tool_call() -> None:
    (call,) = reply_to({"content": None, "function_call": {"name": "pass_turn", "arguments": "{}"}}).tool_calls
    assert (call.name, call.arguments, bool(call.id)) == ("pass_turn", "{}", True)


@pytest.mark.parametrize(
    "message",
    [
        {"reasoning": "hm"},
        {"reasoning_content": "hm"},
        {"reasoning_details": [{"type": "reasoning.text", "text": "h"}, {"type": "reasoning.summary", "summary": "m"}]},
        {"reasoning": None, "reasoning_content": "hm"},
        {"content": "<think>hm</think>\nI pass."},
        {"content": "  <think>\nhm\n</think>I pass."},
    ],
)
def test_thoughts_are_found_wherever_they_are(message: dict[str, Any]) -> None:
    reply = reply_to({"content": "I pass.", **message})
    assert (reply.reasoning, reply.content) == ("hm", "I pass.")


def test_thoughts_cut_off_are_no_content() -> None:
    reply = reply_to({"content": "<think>and then"}, "length")
    assert (reply.content, reply.reasoning, reply.finish_reason) == ("", "and then", "length")


def test_there_are_no_thoughts_where_there_are_none() -> None:
    hidden = [{"type": "reasoning.encrypted", "data": "x"}]
    for message in ({"content": "a <think>b</think>"}, {"reasoning": ""}, {"reasoning_details": hidden}):
        assert reply_to(message).reasoning is None


def test_thoughts_go_back_exactly_as_they_came() -> None:
    details = [{"type": "reasoning.encrypted", "data": "xyz", "index": 0}, {"type": "reasoning.text", "text": "hm"}]
    raw = reply_to({"content": "", "reasoning_details": details, "reasoning": "hm"}).raw
    assert thoughts_to_send_back(raw, "reasoning_details") == {"reasoning_details": details}
    assert thoughts_to_send_back(raw, "reasoning") == {"reasoning": "hm"}
    assert thoughts_to_send_back(raw, "reasoning_content") == {}


def test_a_refusal_is_told_apart_from_content() -> None:
    reply = reply_to({"content": None, "refusal": "I will not."})
    assert (reply.content, reply.refusal) == ("", "I will not.")


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}, Usage(100, 20)),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 120,
                "prompt_tokens_details": {"cached_tokens": 64},
                "completion_tokens_details": {"reasoning_tokens": 15},
            },
            Usage(100, 20, 64, 15),
        ),
        ({"prompt_tokens": 100, "completion_tokens": 20, "prompt_cache_hit_tokens": 80}, Usage(100, 20, 80)),
        ({"prompt_tokens": 100, "completion_tokens": 20, "cached_tokens": 80}, Usage(100, 20, 80)),
        ({"prompt_tokens": 100, "completion_tokens": 20, "cache_read_input_tokens": 80}, Usage(100, 20, 80)),
        # Thinking that the total has and the completion has not.
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 620}, Usage(100, 520, 0, 500)),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 620,
                "completion_tokens_details": {"reasoning_tokens": 500},
            },
            Usage(100, 520, 0, 500),
        ),
        ({"prompt_tokens": 100, "completion_tokens": None, "prompt_tokens_details": None}, Usage(100, 0)),
        ({}, None),
        (None, None),
    ],
)
def test_usage_is_read_in_every_form(usage: Any, tokens: Usage | None) -> None:
    assert parse_usage(usage) == tokens


@pytest.mark.parametrize(
    "raw", ["", "<html>", "[]", "{}", '{"choices": []}', '{"choices": [{"message": null}]}', "[" * 9999]
)
def test_what_is_no_chat_completion_is_said_to_be_none(raw: str) -> None:
    with pytest.raises(MalformedReply):
        parse_reply(load_body(raw), raw)


def test_an_error_in_place_of_an_answer_is_an_error() -> None:
    for body in ({"error": {"code": 502}}, {"choices": [{"finish_reason": "error", "error": {"code": 502}}]}):
        with pytest.raises(ReplyError) as failed:
            parse_reply(body, json.dumps(body))
        assert failed.value.error == {"code": 502}


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=60))
def test_no_text_keeps_what_cannot_be_stored(text: str) -> None:
    arguments = json.dumps({"x": text})
    reply = reply_to(
        {"content": text, "reasoning": text, "tool_calls": [{"function": {"name": text, "arguments": arguments}}]}
    )
    (call,) = reply.tool_calls
    for kept in (reply.content, reply.reasoning or "", reply.raw, call.name, json.loads(call.arguments)["x"]):
        kept.encode("utf-8")
        assert "\0" not in kept
    spoilt = "\0" in text or any("\ud800" <= character <= "\udfff" for character in text)
    assert reply.cleaned is spoilt
    if not spoilt:
        assert call.arguments == arguments


def test_an_escaped_backslash_is_no_escape() -> None:
    assert clean_json(r'"\\ud800 \ud83d\ude00 \ud800 \udc00 \u0000 \\\ud800"') == (
        r'"\\ud800 \ud83d\ude00 \ufffd \ufffd \ufffd \\\ufffd"'
    )


def test_a_reply_survives_the_journal() -> None:
    reply = reply_to(
        {"content": "x", "tool_calls": [{"id": "a", "function": {"name": "attack", "arguments": "{}"}}]},
        usage={"prompt_tokens": 3, "completion_tokens": 4},
    )
    assert ChatReply.from_json(json.loads(json.dumps(reply.to_json()))) == reply
