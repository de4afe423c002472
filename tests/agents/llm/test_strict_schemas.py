"""Tools' schemas are held to what strict function calling takes, in whatever harness they are sent.

The rules are those that OpenAI publishes for structured outputs: the root is an object and no choice; every object
names all its properties as required and allows no others; of JSON Schema only some keywords are known; no more than 10
levels, 5,000 properties, 1,000 values of enumerations and 120,000 characters of names and values; names of functions
are at most 64 letters, digits, _ and -.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from llm_play import ask, call, calls, new_game, text

import conf
from agents.llm.tools import functions, reply_schema
from engine.match import play_forced
from jobs.composition.schema import Schema
from jobs.composition.skills import library
from jobs.composition.tree import Tree
from jobs.tournament import TournamentJob

HARNESSES = sorted(file.stem for file in (Path(conf.__file__).parent / "harness").glob("*.yaml"))
KEYWORDS = {
    "object": {"properties", "required", "additionalProperties"},
    "array": {"items", "minItems", "maxItems"},
    "string": {"pattern", "format"},
    "integer": {"multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"},
    "number": {"multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"},
    "boolean": set(),
    "null": set(),
}
ALWAYS = {"type", "description", "enum", "const", "anyOf"}


def faults(schema: Mapping[str, Any], path: str = "", depth: int = 1) -> Iterator[str]:
    """What strict function calling refuses in ``schema``."""
    if depth > 10:
        yield f"{path}: nested too deeply"
    if depth == 1 and (schema.get("type") != "object" or "anyOf" in schema):
        yield "the root is no object"
    types = schema.get("type", [])
    types = types if isinstance(types, list) else [types]
    if not types and not {"enum", "const", "anyOf"} & set(schema):
        yield f"{path}: without a type"
    for one in types:
        if one not in KEYWORDS:
            yield f"{path}: unknown type {one!r}"
    allowed = ALWAYS.union(*(KEYWORDS.get(one, set()) for one in types))
    for keyword in set(schema) - allowed:
        yield f"{path}: {keyword} is not supported"
    if "object" in types:
        if schema.get("additionalProperties") is not False:
            yield f"{path}: further properties are allowed"
        if sorted(schema.get("required", ())) != sorted(schema["properties"]):
            yield f"{path}: not all properties are required"
        for name, inner in schema["properties"].items():
            yield from faults(inner, f"{path}.{name}", depth + 1)
    if "array" in types:
        yield from faults(schema.get("items", {}), f"{path}[]", depth + 1)
    for inner in schema.get("anyOf", ()):
        yield from faults(inner, f"{path}|", depth + 1)


def parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Keyword and value of everything in a schema, however deep."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield key, inner
            yield from parts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from parts(inner)


def size_faults(schema: Mapping[str, Any]) -> Iterator[str]:
    found = list(parts(schema))
    names = [name for key, value in found if key == "properties" for name in value]
    values = [one for key, value in found if key == "enum" for one in value]
    if len(names) > 5000 or len(values) > 1000 or len("".join([*names, *map(str, values)])) > 120_000:
        yield "too large"


def harness(name: str) -> dict[str, Any]:
    """A file of conf/harness with all that it builds on, its library read."""
    tree = Tree.of([])
    found = tree.load("harness", name, Schema.of(TournamentJob))
    return {**found, "skills": found["skills"] and library(found["skills"], tree)}


@pytest.mark.parametrize("name", HARNESSES)
def test_every_tool_of_every_harness_is_one_that_strict_function_calling_takes(name: str) -> None:
    config = harness(name)
    match = new_game(1)
    play_forced(match)
    _, caller = ask(match, lambda key, request: calls(call("pass_turn")), {**config, "further_attempts": 0})
    tools = caller.requests[0].body()["tools"]
    assert len(tools) == 16 + (config["skills"] is not None)
    for tool in tools:
        assert set(tool) == {"type", "function"}
        function = tool["function"]
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function["name"])
        assert 0 < len(function["description"]) <= 1024
        assert function["strict"] is True
        assert [*faults(function["parameters"]), *size_faults(function["parameters"])] == []
    assert len({tool["function"]["name"] for tool in tools}) == len(tools)


@pytest.mark.parametrize("name", HARNESSES)
def test_the_schema_of_a_reply_that_calls_a_tool_is_one_too(name: str) -> None:
    config = {**harness(name), "constraint": "tool", "further_attempts": 0}
    match = new_game(1)
    play_forced(match)
    _, caller = ask(match, lambda key, request: text("no"), config, tool_protocol="json", json_schema=True)
    form = caller.requests[0].body()["response_format"]["json_schema"]
    assert (form["strict"], form["name"]) == (True, "decision")
    assert [*faults(form["schema"]), *size_faults(form["schema"])] == []


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        ({"additionalProperties": True}, "further properties are allowed"),
        ({"required": []}, "not all properties are required"),
        ({"properties": {"name": {"type": "string", "maxLength": 3}}}, "maxLength is not supported"),
        ({"properties": {"name": {"description": "x"}}}, "without a type"),
        ({"type": ["object", "null"], "anyOf": []}, "the root is no object"),
    ],
)
def test_the_rules_notice_what_is_refused(spoilt: dict[str, Any], said: str) -> None:
    good = {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": False,
    }
    assert list(faults(good)) == []
    assert said in " ".join(faults({**good, **spoilt}))


def test_there_are_seventeen_tools_with_a_library_and_none_is_left_out() -> None:
    assert len(functions(with_skills=True)) == 17
    assert len(reply_schema(True)["json_schema"]["schema"]["properties"]["call"]["anyOf"]) == 17
