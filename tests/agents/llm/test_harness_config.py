"""Harness configurations: the files, what is refused, what the digest tells apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import conf
from agents.llm import prompts
from agents.llm.config import HarnessError, parse_harness
from agents.llm.models import parse_model
from agents.llm.prompts import prompt
from agents.llm.system import system_prompt

FOLDER = Path(conf.__file__).parent / "harness"
PARTS = ("observation", "mask", "history")


def load(name: str) -> dict[str, Any]:
    """A file of conf/harness with what it builds on."""
    values = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    based = [base for base in values.pop("defaults", []) if base != "_self_"]
    found = {key: value for base in based for key, value in load(base).items()} | values
    if isinstance(found["skills"], str):
        found["skills"] = {"name": found["skills"], "skills": [{"name": "a", "description": "b", "body": "c"}]}
    return found


def test_each_file_switches_off_what_its_name_says() -> None:
    parts = {name: tuple(load(name)[part] for part in PARTS) for name in (file.stem for file in FOLDER.glob("*.yaml"))}
    assert parts["full"] == ("structured", "listed", "window")
    assert parts["no_structure"] == ("raw", "listed", "window")
    assert parts["no_mask"] == ("structured", "hidden", "window")
    assert parts["no_history"] == ("structured", "listed", "none")
    assert parts["minimal"] == ("raw", "hidden", "none")
    others = [{key: value for key, value in load(name).items() if key not in PARTS} for name in ("full", "minimal")]
    assert others[0] == others[1]


def test_the_full_file_says_every_key_and_its_default() -> None:
    assert parse_harness(load("full")) == parse_harness({})
    assert set(load("full")) == set(parse_harness({}).to_json())


def test_every_file_is_a_harness_of_its_own() -> None:
    digests = {file.stem: parse_harness(load(file.stem)).digest() for file in FOLDER.glob("*.yaml")}
    assert len(digests) == len(set(digests.values())) == 7
    for digest in digests.values():
        assert len(digest) == 16
        int(digest, 16)


def test_a_digest_changes_with_every_setting_and_is_the_same_for_the_same() -> None:
    base = parse_harness({}).digest()
    assert parse_harness({"mask": "listed", "query_calls": 4}).digest() == base
    changes: list[dict[str, Any]] = [
        {"observation": "raw"},
        {"mask": "hidden"},
        {"history": "none"},
        {"further_attempts": 2},
        {"query_calls": 5},
        {"decision_tokens": None},
        {"decision_seconds": 60},
        {"history_tokens": 9000},
        {"fallback": "pass"},
        {"prompt": "short"},
        {"constraint": "legal"},
        {"skills": {"name": "l", "skills": [{"name": "a", "description": "b", "body": "c"}]}},
    ]
    assert len({parse_harness(change).digest() for change in changes} | {base}) == len(changes) + 1


@pytest.mark.parametrize("name", [file.stem for file in Path(prompts.__file__).parent.glob("*.md")])
def test_a_digest_changes_with_every_text_that_its_mask_may_have_and_no_other(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = prompts.prompts_digest.__wrapped__
    before = {mask: digest(mask == "listed") for mask in ("listed", "hidden")}
    monkeypatch.setattr(prompts, "prompt", lambda one: "another text" if one == name else prompt(one))
    changed = [mask for mask in before if digest(mask == "listed") != before[mask]]
    last = name.rpartition("_")[2]
    assert changed == ([last] if last in before else ["listed", "hidden"])


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"mask": True}, "harness.mask: True is not one of listed, hidden"),
        ({"mask": "off"}, "harness.mask: 'off' is not one of listed, hidden"),
        ({"history": None}, "harness.history: None is not one of window, none"),
        ({"fallback": "concede"}, "harness.fallback: 'concede' is not one of random, pass, heuristic, forfeit"),
        ({"further_attempts": -1}, "harness.further_attempts: -1 is not a whole number from 0"),
        ({"further_attempts": None}, "harness.further_attempts: None is not a whole number from 0"),
        ({"query_calls": 1.5}, "harness.query_calls: 1.5 is not a whole number from 0"),
        ({"query_calls": True}, "harness.query_calls: True is not a whole number from 0"),
        ({"decision_seconds": 0}, "harness.decision_seconds: 0 is not a positive number of seconds or null"),
        ({"history_tokens": 10}, "harness.history_tokens: 10 is not a whole number from 256"),
        ({"memory": "window"}, "harness: memory is unknown; known: observation, mask, history"),
        ({"mask": "hidden", "constraint": "legal"}, "harness.constraint: legal tells the model what is legal"),
    ],
)
def test_a_bad_setting_is_refused_in_one_line(config: dict[str, Any], said: str) -> None:
    with pytest.raises(HarnessError) as caught:
        parse_harness(config)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_the_rules_reminder_covers_what_a_player_has_to_keep_in_mind() -> None:
    rules = prompt("rules")
    for topic in (
        "First turns",
        "Evolving",
        "Retreating",
        "one Supporter",
        "Damage",
        "Special Conditions",
        "Knock Out",
    ):
        assert topic in rules


def test_a_system_prompt_has_no_placeholder_left_and_says_how_many_queries_there_are() -> None:
    for protocol in ("tools", "json"):
        model = parse_model(
            {
                "id": "m",
                "base_url": "http://127.0.0.1:1/v1",
                "context_size": 9000,
                "price": {"input": 0, "output": 0},
                "tool_protocol": protocol,
            }
        )
        for file in FOLDER.glob("*.yaml"):
            assert "{{" not in system_prompt(model, parse_harness(load(file.stem)), "")
        told = system_prompt(model, parse_harness({"query_calls": 6}), "Attack early.")
        assert "Up to 6 such queries" in told
        assert told.endswith("Attack early.")
        assert "query_card tells" not in system_prompt(model, parse_harness({"query_calls": 0}), "")
