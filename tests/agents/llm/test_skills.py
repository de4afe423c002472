"""Skill libraries: told of in a line, read with a tool of their own, and part of what an agent is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llm_play import ScriptedCaller, agent, ask, call, calls, everything_said, play_game, text
from ptcg_play import pokemon, position, side

from agents.llm.config import HarnessError, parse_harness
from agents.llm.tools import functions
from engine.ptcg.game import PtcgMatch
from orchestrator.config import Deck, Entrant, TournamentConfig
from orchestrator.identity import ConfigError, check_same, identity_of
from orchestrator.providers import resolved

CHARMANDER, FIRE = "PAF-7", "SVE-2"
RACE = {
    "name": "prize-race",
    "description": "How to count Prize cards.",
    "when_to_use": "When you can attack.",
    "body": "Count your attacks first.\n\nThen theirs.",
}
PLANS = {
    "name": "plans",
    "description": "A plan a deck.",
    "body": "Read the resource of your deck.",
    "resources": {"red.md": "Evolve early.", "blue.md": "Draw a lot."},
}
LIBRARY = {"name": "shelf", "skills": [RACE, PLANS]}
PASS = calls(call("pass_turn"))


def table() -> PtcgMatch:
    """A turn in which there is something to do."""
    return position(side(pokemon(CHARMANDER, energy=[FIRE, FIRE]), hand=[FIRE, CHARMANDER]))


def last_said(caller: ScriptedCaller, back: int = 1) -> str:
    return str(caller.requests[-1].messages[-back]["content"])


def test_a_library_is_listed_by_name_and_purpose_and_its_texts_are_not_told() -> None:
    _, caller = ask(table(), [PASS], {"skills": LIBRARY})
    told = caller.requests[0].messages[0]["content"]
    assert "- prize-race: How to count Prize cards. When you can attack." in told
    assert "- plans: A plan a deck." in told
    assert [tool["function"]["name"] for tool in caller.requests[0].tools][-1] == "activate_skill"
    for secret in ("Count your attacks first", "Evolve early", "red.md"):
        assert secret not in everything_said(caller.requests[0])


def test_without_a_library_there_is_neither_the_tool_nor_a_word_of_skills() -> None:
    for protocol in ("tools", "json"):
        _, caller = ask(table(), lambda key, request: PASS, {"further_attempts": 0}, tool_protocol=protocol)
        assert "skill" not in everything_said(caller.requests[0]).lower()


@pytest.mark.parametrize("protocol", ["tools", "json"])
def test_reading_a_skill_is_a_query_that_is_counted_and_no_attempt(protocol: str) -> None:
    def made(tool: str, **arguments: Any) -> Any:
        if protocol == "tools":
            return calls(call(tool, **arguments))
        return text(json.dumps({"thought": "t", "call": {"tool": tool, "arguments": arguments}}))

    replies = [
        made("activate_skill", name="prize-race", resource=None),
        made("activate_skill", name="Plans", resource="red.md"),
        made("activate_skill", name="plans", resource=None),
        made("activate_skill", name="nothing", resource=None),
        made("pass_turn"),
    ]
    decision, caller = ask(table(), replies, {"skills": LIBRARY, "query_calls": 4}, tool_protocol=protocol)
    told = [str(request.messages[-1]["content"]) for request in caller.requests[1:]]
    assert "Count your attacks first.\n\nThen theirs." in told[0]
    assert told[1] == "Evolve early."
    assert "Read the resource of your deck." in told[2]
    assert told[2].endswith("blue.md, red.md")
    assert "plans, prize-race" in told[3]
    assert [(one.tool, one.verdict, one.cause) for one in decision.attempt_log] == [
        *[("activate_skill", "answered", None)] * 3,
        ("activate_skill", "query_refused", "unknown_skill"),
        ("pass_turn", "played", None),
    ]
    assert (decision.tool_calls, decision.attempts, decision.invalid_attempts) == (5, 1, 0)


def test_skills_are_bounded_like_all_queries() -> None:
    read = calls(call("activate_skill", name="plans"))
    decision, _ = ask(table(), [read, read, PASS], {"skills": LIBRARY, "query_calls": 1})
    assert [one.cause for one in decision.attempt_log] == [None, "query_limit", None]
    assert (decision.attempts, decision.invalid_attempts, decision.tool_calls) == (1, 0, 3)


def test_what_was_read_is_forgotten_with_the_decision_only_where_there_is_no_history() -> None:
    for history, kept in (("window", True), ("none", False)):
        match = position(side(CHARMANDER, hand=[FIRE, CHARMANDER], deck=[FIRE] * 9))
        bench = calls(call("play_pokemon", source_card="Charmander", position="bench"))
        caller = ScriptedCaller([calls(call("activate_skill", name="prize-race")), bench, PASS])
        player = agent(caller, {"skills": LIBRARY, "history": history})
        play_game(match, [player, player], 2)
        assert ("Count your attacks first" in everything_said(caller.requests[2])) is kept


def test_the_digest_of_a_harness_changes_with_anything_in_its_library_and_not_with_the_librarys_name() -> None:
    digest = parse_harness({"skills": LIBRARY}).digest()
    changed: list[dict[str, Any]] = [
        {"name": "shelf", "skills": [RACE]},
        {"name": "shelf", "skills": [{**RACE, "body": "Count."}, PLANS]},
        {"name": "shelf", "skills": [{**RACE, "when_to_use": "Ever."}, PLANS]},
        {"name": "shelf", "skills": [RACE, {**PLANS, "resources": {"red.md": "Evolve early."}}]},
    ]
    assert len({parse_harness({"skills": one}).digest() for one in changed} | {digest}) == 5
    assert parse_harness({"skills": {"name": "other", "skills": [PLANS, RACE]}}).digest() == digest
    assert parse_harness({}).digest() != digest


def test_a_run_with_another_library_is_another_run_and_the_line_names_the_skill() -> None:
    def identity(library: dict[str, Any]) -> dict[str, Any]:
        model = {
            "id": "m",
            "base_url": "http://127.0.0.1:1/v1",
            "context_size": 9000,
            "price": {"input": 0, "output": 0},
        }
        agents = (
            Entrant("llm", {"kind": "llm", "model": model, "harness": {"skills": library}}),
            Entrant("random", {"kind": "random"}),
        )
        return identity_of(resolved(TournamentConfig("r", agents, (Deck("d", {}),), seed=1)))

    before = identity(LIBRARY)
    assert "Count your attacks" not in json.dumps(before)
    check_same("r", before, identity(LIBRARY), extend=False)
    with pytest.raises(ConfigError, match=r"agents\.llm\.harness\.skills\.prize-race: \"\w+\" -> \"\w+\""):
        check_same("r", before, identity({"name": "shelf", "skills": [{**RACE, "body": "Count."}, PLANS]}), extend=True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"skills": "shelf"}, "harness.skills: 'shelf' is no skill library; name a folder of conf/skills"),
        ({"skills": {"name": "l", "skills": []}}, "harness.skills l: the library has no skill"),
        ({"skills": {"name": "l", "skills": [RACE, RACE]}}, "harness.skills l: two skills are named 'prize-race'"),
        (
            {"skills": {"name": "l", "skills": [{**RACE, "name": "Prize Race"}]}},
            "harness.skills l: 'Prize Race' cannot",
        ),
        ({"skills": {"name": "l", "skills": [{**RACE, "body": " "}]}}, "harness.skills l: prize-race: the text below"),
        (
            {"skills": {"name": "l", "skills": [{**RACE, "description": 7}]}},
            "harness.skills l: prize-race: description",
        ),
        (
            {"skills": {"name": "l", "skills": [{**RACE, "body": "x" * 20_001}]}},
            "harness.skills l: prize-race: the text",
        ),
        ({"skills": LIBRARY, "query_calls": 0}, "harness.skills: reading a skill is a query"),
        ({"skills": LIBRARY, "constraint": "legal"}, "harness.skills: constraint legal leaves no room"),
    ],
)
def test_a_library_that_cannot_be_used_is_refused_in_one_line(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(HarnessError) as caught:
        parse_harness(changes)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_a_harness_with_a_library_is_read_back_from_plain_values() -> None:
    made = parse_harness({"skills": LIBRARY})
    again = parse_harness(json.loads(json.dumps(made.to_json())))
    assert again == made
    assert again.digest() == made.digest()
    assert len(functions(with_skills=True)) == len(functions(with_skills=False)) + 1
