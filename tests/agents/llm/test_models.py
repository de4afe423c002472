"""Models as they are configured."""

from __future__ import annotations

import json
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from agents.llm.models import ModelError, ToolProtocol, parse_model
from agents.loopback.profiles import PREFIX, PROFILES
from jobs.composition.schema import Schema
from jobs.composition.tree import Tree
from jobs.tournament import TournamentJob

MODELS = Path(__file__).parents[3] / "conf" / "model"
LOCAL = {"id": "m", "base_url": "http://127.0.0.1:8080/v1", "context_size": 8192, "price": {"input": 0, "output": 0}}


@cache
def composed(name: str) -> dict[str, Any]:
    return Tree.of(()).load("model", name, Schema.of(TournamentJob))


def shipped(name: str) -> dict[str, Any]:
    """The content of the file ``name`` of ``conf/model``, as a job composes it."""
    resolved = OmegaConf.to_container(OmegaConf.create(composed(name)), resolve=True)
    assert isinstance(resolved, dict)
    return {str(key): value for key, value in resolved.items()}


NAMES = sorted(file.stem for file in MODELS.glob("*.yaml"))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "openrouter"])
def test_every_model_that_comes_along_can_be_used(name: str) -> None:
    model = parse_model(shipped(name))
    assert model.context_size >= 8192
    assert 0 < model.max_output_tokens < model.context_size
    assert parse_model(json.loads(json.dumps(model.to_json()))) == model
    assert pickle.loads(pickle.dumps(model)) == model


@pytest.mark.parametrize(
    "name", [name for name in NAMES if "openrouter" in (MODELS / f"{name}.yaml").read_text() and name != "openrouter"]
)
def test_backbones_are_sampled_as_in_the_paper(name: str) -> None:
    model = parse_model(shipped(name))
    assert dict(model.sampling) == {"temperature": 0.7, "max_tokens": 2048}
    assert (model.base_url, model.key_env) == ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY")
    assert model.price.input > 0
    assert model.price.output > model.price.input
    assert model.tool_protocol is ToolProtocol.TOOLS


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("loopback")])
def test_every_loopback_model_names_a_profile_and_finds_its_server(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_model(shipped(name)).id.removeprefix(PREFIX) in PROFILES
    monkeypatch.setenv("LOOPBACK_URL", "http://127.0.0.1:1234/v1")
    assert parse_model(shipped(name)).base_url == "http://127.0.0.1:1234/v1"


def test_an_explicit_price_and_size_win() -> None:
    known = {"id": "openai/gpt-5.4", "base_url": "https://openrouter.ai/api/v1"}
    model = parse_model({**known, "price": {"input": 99, "output": 100}, "context_size": 5000})
    assert (model.price.input, model.context_size) == (99, 5000)
    looked_up = parse_model({**known, "price": "auto", "context_size": "auto"})
    assert looked_up.price.input != 99
    assert looked_up.context_size > 5000


def test_what_is_not_said_is_the_papers() -> None:
    model = parse_model(LOCAL)
    assert model.body_parameters() == {"temperature": 0.7, "max_tokens": 2048}


@pytest.mark.parametrize(
    ("reasoning", "sent"),
    [
        ({"effort": "high"}, {"reasoning_effort": "high"}),
        ({"effort": "high", "parameter": "reasoning"}, {"reasoning": {"effort": "high"}}),
        ({"effort": None, "parameter": "reasoning"}, {}),
    ],
)
def test_effort_goes_where_the_endpoint_wants_it(reasoning: dict[str, Any], sent: dict[str, Any]) -> None:
    model = parse_model(
        {**LOCAL, "reasoning": reasoning, "sampling": {"max_completion_tokens": 50}, "parameters": {"top_k": 3}}
    )
    assert model.body_parameters() == {"max_completion_tokens": 50, "top_k": 3, **sent}
    assert model.max_output_tokens == 50


def test_identity_has_what_alters_a_reply_and_nothing_else() -> None:
    model = parse_model(LOCAL)
    cheap_changes = {
        "price": {"input": 5, "output": 5},
        "limits": {"in_flight": 3},
        "timeouts": {"call_seconds": 9},
        "retry": {"deadline_seconds": 9},
        "key_env": "OTHER_KEY",
        "cost_field": "cost",
    }
    assert parse_model({**LOCAL, **cheap_changes}).identity() == model.identity()
    for change in (
        {"id": "n"},
        {"base_url": "http://127.0.0.1:8081/v1"},
        {"context_size": 4096},
        {"sampling": {"temperature": 0.1, "max_tokens": 2048}},
        {"reasoning": {"effort": "low"}},
        {"tool_protocol": "json"},
        {"json_schema": True},
        {"parameters": {"top_k": 3}},
    ):
        assert parse_model({**LOCAL, **change}).identity() != model.identity()


SECRET = "sk-or-v1-77777777777777777777"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"id": None}, "model: id None is not the name"),
        ({"id": "???"}, "model: id '???' is not the name"),
        ({"price": "auto"}, "fill in, in US dollars per million tokens, price: {input: ..., output: ...}"),
        ({"context_size": "auto"}, "fill in context_size: TOKENS"),
        ({"context_size": 1000}, "an output of 2048 tokens leaves no room in a context of 1000"),
        ({"context_size": "8k"}, "context_size: '8k' is neither auto nor"),
        ({"price": {"input": 1}}, "price: output is missing"),
        ({"base_url": None}, "base_url: None is no address; give it as https://HOST/v1"),
        ({"base_url": "localhost:8080"}, "base_url: 'localhost:8080' is no address"),
        ({"base_url": "http://h:99999/v1"}, "base_url is no address"),
        ({"base_url": "http://h/v1/chat/completions"}, "leave /chat/completions out"),
        ({"base_url": f"http://user:{SECRET}@h/v1"}, "nothing but scheme, host, port and path"),
        ({"base_url": f"http://h/v1?key={SECRET}"}, "nothing but scheme, host, port and path"),
        ({"key_env": SECRET}, "not the name of an environment variable"),
        (
            {"api_key": SECRET},
            "api_key is unknown; a key is never configured, name its environment variable in key_env",
        ),
        ({"limits": {"rpm": 5}}, "limits.rpm is unknown; known: requests_per_minute"),
        ({"limits": {"in_flight": 0}}, "limits.in_flight: 0 is not a positive whole number or null"),
        ({"limits": 5}, "limits: 5 is not a mapping"),
        ({"timeouts": {"call_seconds": 0}}, "timeouts.call_seconds: 0 is not a positive number of seconds"),
        ({"retry": {"deadline_seconds": "long"}}, "retry.deadline_seconds: 'long' is not"),
        ({"tool_protocol": "xml"}, "tool_protocol: 'xml' is not one of tools, json"),
        ({"json_schema": "maybe"}, "json_schema: 'maybe' is neither true nor false"),
        ({"sampling": {"temperature": 0.7}}, "exactly one of max_tokens and max_completion_tokens"),
        ({"sampling": {"temperature": 7, "max_tokens": 5}}, "sampling.temperature: 7 is not a number from 0 to 2"),
        ({"sampling": {"max_tokens": 0}}, "sampling.max_tokens: 0 is not a positive"),
        ({"parameters": {"model": "x"}}, "parameters.model is not the configuration's"),
        ({"reasoning": {"parameter": "thinking"}}, "reasoning.parameter: 'thinking' is neither"),
        ({"reasoning": {"effort": False}}, "reasoning.effort: False is not text; put quotes around it"),
        ({"cost_field": 3}, "cost_field: 3 is neither text nor null"),
    ],
)
def test_a_wrong_configuration_is_refused_in_one_line(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ModelError) as refused:
        parse_model({**LOCAL, **change})
    line = str(refused.value)
    assert says in line
    assert line.startswith("model")
    assert "\n" not in line
    assert SECRET[9:] not in line
