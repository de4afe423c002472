"""Models that do not call tools: one JSON object in their text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llm_play import ask, everything_said, text
from ptcg_play import pokemon, position, side

CHARMANDER, FIRE = "PAF-7", "SVE-2"
ATTACK = {"tool": "attack", "arguments": {"source_card": "Charmander", "attack_name": "Steady Firebreathing"}}
ILLEGAL = json.dumps({"tool": "attack", "arguments": {"source_card": "Charmander", "attack_name": "Tackle"}})
PASS = '{"thought": "Nothing to do.", "call": {"tool": "pass_turn", "arguments": {}}}'


def table() -> Any:
    """A turn in which there is something to do."""
    return position(side(pokemon(CHARMANDER, energy=[FIRE, FIRE]), hand=[FIRE]))


def asked(*replies: Any, harness: Any = None, **fields: Any) -> Any:
    """One decision of a model of the json protocol."""
    return ask(table(), list(replies), harness, tool_protocol="json", **fields)


@pytest.mark.parametrize(
    "written",
    [
        json.dumps({"thought": "t", "call": ATTACK}),
        json.dumps({"thought": "t", **ATTACK}),
        json.dumps({"thought": "t", "call": [ATTACK]}),
        json.dumps({"thought": "t", "name": "attack", "arguments": json.dumps(ATTACK["arguments"])}),
        json.dumps({"thought": "t", "action": "attack:Steady Firebreathing"}),
        f"Let me think {{hard}}.\n```json\n{json.dumps({'thought': 't', 'call': ATTACK}, indent=2)}\n```\nThat wins.",
        f"The position {{ is good }} [1]. {json.dumps({'thought': 't', 'call': ATTACK})}",
        f"{json.dumps({'note': 'no call in this one'})} {json.dumps({'thought': 't', 'call': ATTACK})}",
    ],
)
def test_the_object_is_found_wherever_it_stands(written: str) -> None:
    decision, caller = asked(text(written))
    assert [action.key for action in decision.actions] == ["attack:Steady Firebreathing"]
    assert (decision.attempts, decision.invalid_attempts, decision.tool_calls) == (1, 0, 1)
    assert decision.thought == "t"
    assert caller.requests[0].tools == ()
    assert "- attack(source_card, attack_name)" in caller.requests[0].messages[0]["content"]


@pytest.mark.parametrize(
    ("written", "finish", "cause"),
    [
        ("", "stop", "empty_reply"),
        ("I attack.", "stop", "no_tool_call"),
        ('{"thought": "x", "call": {"tool": "attack", ', "stop", "malformed_json"),
        ('{"thought": "x", "call": {"tool": "attack", ', "length", "cut_at_token_limit"),
        ('{"thought": "x"}', "stop", "malformed_json"),
        ('{"call": {"tool": "fly", "arguments": {}}}', "stop", "unknown_tool"),
        ('{"call": {"tool": "attack", "arguments": {}}}', "stop", "missing_argument"),
        ('{"call": {"tool": "attack", "arguments": [1]}}', "stop", "malformed_json"),
        ('{"action": "attack:Burning Darkness"}', "stop", "illegal_action"),
        ("{" * 50_000, "stop", "malformed_json"),
        ('{"a":' * 5_000, "stop", "malformed_json"),
    ],
)
def test_each_fault_is_counted_by_its_cause(written: str, finish: str, cause: str) -> None:
    decision, caller = asked(text(written, finish_reason=finish), text(PASS))
    assert decision.attempt_log[0].cause == cause
    assert (decision.attempts, decision.invalid_attempts, decision.actions[0].key) == (2, 1, "pass")
    assert [message["role"] for message in caller.requests[1].messages] == ["system", "user", "assistant", "user"]
    assert all(message["content"] for message in caller.requests[1].messages)


def test_several_objects_are_several_calls() -> None:
    query = json.dumps({"tool": "query_card", "arguments": {"card_id": "PAF-54"}})
    decision, _ = asked(text(f"{query}\n{ILLEGAL}\n{PASS}"), text(PASS))
    assert [entry.verdict for entry in decision.attempt_log] == ["answered", "refused", "not_executed", "played"]
    assert decision.tool_calls == 4


def test_lone_surrogates_written_as_escapes_do_not_reach_the_record() -> None:
    decision, _ = asked(
        text('{"thought": "a\\ud800b\\u0000", "call": {"tool": "fly\\udfff", "arguments": {}}}'), text(PASS)
    )
    written = [decision.thought, *[f"{entry.tool}{entry.arguments}" for entry in decision.attempt_log]]
    assert "\0" not in "".join(str(part) for part in written)
    for part in written:
        str(part).encode()


def test_replies_are_held_to_the_schema_where_the_endpoint_has_it() -> None:
    _, caller = asked(text(PASS))
    assert "response_format" not in caller.requests[0].body()
    _, caller = asked(text(PASS), json_schema=True)
    schema = caller.requests[0].body()["response_format"]["json_schema"]["schema"]
    assert set(schema["properties"]) == {"thought", "call"}
    key = text('{"thought": "t", "action": "pass"}')
    decision, caller = asked(key, harness={"constraint": "legal"}, json_schema=True)
    schema = caller.requests[0].body()["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["action"]["enum"] == [action.key for action in table().legal_actions(0)]
    assert decision.actions[0].key == "pass"
    assert "query_card" not in caller.requests[0].messages[0]["content"]


def test_a_hidden_mask_has_no_enumeration_of_actions_in_the_schema() -> None:
    _, caller = asked(text(PASS), harness={"mask": "hidden"}, json_schema=True)
    body = everything_said(caller.requests[0])
    assert not [action.key for action in table().legal_actions(0) if action.key != "pass" and action.key in body]


def test_a_short_prompt_is_short() -> None:
    _, caller = asked(text(PASS), harness={"prompt": "short", "history": "none"})
    _, full = asked(text(PASS))
    short, long = (one.requests[0].messages[0]["content"] for one in (caller, full))
    assert len(short) < len(long) / 2
    shown, whole = (json.loads(one.requests[0].messages[1]["content"]) for one in (caller, full))
    assert set(whole["you"]) - set(shown["you"]) == {"deck_list", "unseen"}
