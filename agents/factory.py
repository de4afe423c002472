"""Builds agents from their configuration: the only place that knows which kinds of agents there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agents.base import Agent
from engine.match import Seat

Builder = Callable[[Mapping[str, Any], Seat, int], Agent]
"""Called with the configuration without ``kind``, the seat and the seed of the agent's own generator."""


def _random(config: Mapping[str, Any], seat: Seat, rng_seed: int) -> Agent:
    from agents.random_agent import RandomAgent

    _refuse_unknown("random", config, ())
    return RandomAgent(rng_seed)


def _heuristic(config: Mapping[str, Any], seat: Seat, rng_seed: int) -> Agent:
    from agents.heuristic import make_heuristic

    _refuse_unknown("heuristic", config, ("temperature", "weights"))
    return make_heuristic(config, rng_seed)


def _search(config: Mapping[str, Any], seat: Seat, rng_seed: int) -> Agent:
    from agents.search.agent import make_search

    return make_search(config, rng_seed)


def _scripted(config: Mapping[str, Any], seat: Seat, rng_seed: int) -> Agent:
    from agents.scripted import make_scripted

    _refuse_unknown("scripted", config, ("policy", "prefer", "wait_seconds", "fault", "fault_at"))
    return make_scripted(config)


def _llm(config: Mapping[str, Any], seat: Seat, rng_seed: int) -> Agent:
    from agents.llm.agent import make_llm

    _refuse_unknown("llm", config, ("model", "harness"))
    return make_llm(config, seat, rng_seed)


# Modules are imported by the builders, so that one kind of agent does not cost a worker what all others import.
_BUILDERS: dict[str, Builder] = {
    "random": _random,
    "heuristic": _heuristic,
    "search": _search,
    "scripted": _scripted,
    "llm": _llm,
}


def agent_kinds() -> tuple[str, ...]:
    """What ``kind`` of an agent's configuration may be."""
    return tuple(_BUILDERS)


def make_agent(config: Mapping[str, Any], seat: Seat, rng_seed: int) -> Agent:
    """A fresh agent for one game and seat.

    ``config`` is plain JSON with ``kind`` and that kind's own settings; ``rng_seed`` seeds whatever the agent draws.
    Raises ``ValueError`` with one line for an unknown kind or a bad setting.
    """
    kind = config.get("kind")
    if kind not in _BUILDERS:
        raise ValueError(f"unknown kind of agent {kind!r}; known: {', '.join(_BUILDERS)}")
    return _BUILDERS[kind]({key: value for key, value in config.items() if key != "kind"}, seat, rng_seed)


def agent_waits(config: Mapping[str, Any]) -> bool:
    """Whether agents of this configuration wait for something outside the process while they decide."""
    return make_agent(config, 0, 0).waits


def _refuse_unknown(kind: str, config: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in config:
        if key not in known:
            raise ValueError(f"agent of kind {kind!r} has no setting {key!r}; known: {', '.join(known) or 'none'}")
