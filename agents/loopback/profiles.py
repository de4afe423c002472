"""Who plays and how badly the line is: the profiles of the loopback server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.loopback.faults import ModelFault, ServerFault

PREFIX = "loopback/"
"""A model called ``loopback/NAME`` is played by the profile ``NAME``."""


DEFAULT = "skill_5"
"""Plays the models that have no profile of their own."""


@dataclass(frozen=True, slots=True)
class Profile:
    """How a model plays and what goes wrong with its calls. Rates are shares of requests, from 0 to 1."""

    skill: float = 0.5
    """How often it takes what looks best to it rather than any action."""
    illegal: float = 0.0
    """How often it names an action that is not among those listed."""
    query: float = 0.0
    """How often it looks a card up before it acts."""
    thought: bool = True
    """Whether it says what it thinks before it calls a tool."""
    reasoning: int = 0
    """Characters of hidden reasoning before each answer."""
    context_size: int = 1_000_000
    """Tokens of input and output that it takes; a request over it is refused."""
    latency_ms: float = 0.0
    """How long an answer takes …"""
    jitter_ms: float = 0.0
    """… and up to how much longer, drawn from the request."""
    server_faults: Mapping[ServerFault, float] = field(default_factory=dict)
    model_faults: Mapping[ModelFault, float] = field(default_factory=dict)


def _skill(step: int) -> Profile:
    return Profile(skill=step / 10, illegal=round(0.005 * (10 - step), 3), query=0.02)


PROFILES: dict[str, Profile] = {
    "random": Profile(skill=0.0),
    "greedy": Profile(skill=1.0),
    "weak": Profile(skill=0.2, illegal=0.2, query=0.05),
    **{f"skill_{step}": _skill(step) for step in range(1, 11)},
    "reasoning": Profile(skill=0.8, reasoning=2000, model_faults={ModelFault.LONG_REASONING: 0.02}),
    # Every way in which a model can answer badly, each in about one of forty answers.
    "messy": Profile(skill=0.5, illegal=0.05, query=0.1, model_faults=dict.fromkeys(ModelFault, 0.025)),
    # Every passing failure of an endpoint but stalls, which take a caller's whole patience.
    "flaky": Profile(
        skill=0.5,
        server_faults={
            ServerFault.RATE_LIMITED: 0.02,
            ServerFault.OVERLOADED: 0.01,
            ServerFault.UNAVAILABLE: 0.01,
            ServerFault.SERVER_ERROR: 0.02,
            ServerFault.DROPPED: 0.01,
            ServerFault.HALF_REPLY: 0.01,
            ServerFault.NOT_JSON: 0.005,
            ServerFault.ERROR_IN_REPLY: 0.005,
        },
    ),
}
