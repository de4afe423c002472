"""How a model is let play: the parts of the harness, each of which can be switched off by itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from hashlib import blake2b
from typing import Any, get_type_hints

from agents.llm.prompts import prompts_digest
from agents.llm.skills import SkillError, SkillLibrary, parse_library


class HarnessError(ValueError):
    """A harness that cannot be used as configured; one line that says what is wrong and what would be right."""


class ObservationForm(StrEnum):
    """How the game is put before the model."""

    STRUCTURED = "structured"
    """Named, ordered, cards by name, derived summaries."""
    RAW = "raw"
    """A minimally formatted dump of the same information with the game log."""


class Mask(StrEnum):
    """Whether the model is told what is legal."""

    LISTED = "listed"
    HIDDEN = "hidden"
    """Nowhere: not in the prompt, the tools' schemas or a refusal. The engine still decides."""


class History(StrEnum):
    """What the model is reminded of."""

    WINDOW = "window"
    """Everything that fits, the oldest exchanges dropped whole."""
    NONE = "none"
    """Only the current decision, its queries and refusals included."""


class Fallback(StrEnum):
    """What is played where the model gave no legal action."""

    RANDOM = "random"
    PASS = "pass"
    HEURISTIC = "heuristic"
    FORFEIT = "forfeit"


class PromptLength(StrEnum):
    """How much a model is told; ``short`` is for small models on slow machines, and leaves out the own deck's lists."""

    FULL = "full"
    SHORT = "short"


class Constraint(StrEnum):
    """What a reply is held to where a model of the json protocol has its replies constrained by a schema."""

    TOOL = "tool"
    """A thought and one of the tools with its arguments."""
    LEGAL = "legal"
    """A thought and the short key of one of the legal actions; queries are out of reach. Needs the listed mask."""


@dataclass(frozen=True, slots=True)
class HarnessConfig:
    """The harness of an LLM agent. Made by :func:`parse_harness`; ``conf/harness/*.yaml`` are such configurations."""

    observation: ObservationForm = ObservationForm.STRUCTURED
    mask: Mask = Mask.LISTED
    history: History = History.WINDOW
    further_attempts: int = 3
    """How many replies without a legal action a decision may have beyond the first."""
    query_calls: int = 4
    """How many queries are answered in a decision."""
    decision_tokens: int | None = 32768
    """Output tokens, thinking included, after which a decision without a legal action is given up."""
    decision_seconds: float | None = 900.0
    """Seconds that the calls of a decision may take before it is given up; waiting for limits does not count."""
    history_tokens: int | None = None
    """The most tokens a request may have; ``None``: as many as the model's context has room for."""
    fallback: Fallback = Fallback.RANDOM
    prompt: PromptLength = PromptLength.FULL
    constraint: Constraint = Constraint.TOOL
    skills: SkillLibrary | None = None
    """What the model can look up with ``activate_skill``; without it there is no such tool."""

    def to_json(self) -> dict[str, Any]:
        """All fields as plain JSON values."""
        return {key: str(value) if isinstance(value, StrEnum) else value for key, value in asdict(self).items()}

    def identity(self) -> dict[str, Any]:
        """:meth:`to_json` with digests in place of skills, and the digest of all: what makes a run another one."""
        skills = None if self.skills is None else self.skills.identity()
        return {**self.to_json(), "skills": skills, "digest": self.digest()}

    def digest(self) -> str:
        """16 hexadecimal digits, equal for harnesses that are alike, texts of prompts and skills included."""
        skills = None if self.skills is None else self.skills.digest()
        parts = [{**self.to_json(), "skills": skills}, prompts_digest(self.mask is Mask.LISTED)]
        plain = json.dumps(parts, sort_keys=True, separators=(",", ":"))
        return blake2b(plain.encode(), digest_size=8).hexdigest()


_LEAST = {"further_attempts": 0, "query_calls": 0, "decision_tokens": 1, "history_tokens": 256}


def parse_harness(config: Mapping[str, Any]) -> HarnessConfig:
    """The harness that ``config`` (plain JSON values) describes; what it leaves out has its default.

    Raises :class:`HarnessError`.
    """
    types = get_type_hints(HarnessConfig)
    values: dict[str, Any] = {}
    for key, value in config.items():
        if key not in types:
            raise HarnessError(
                f"harness: {key} is unknown; known: {', '.join(item.name for item in fields(HarnessConfig))}"
            )
        kind = types[key]
        if key == "skills":
            values[key] = _library(value)
        elif isinstance(kind, type) and issubclass(kind, StrEnum):
            if value not in list(kind) or isinstance(value, bool):
                raise HarnessError(f"harness.{key}: {value!r} is not one of {', '.join(kind)}")
            values[key] = kind(value)
        else:
            values[key] = _number(key, value)
    made = HarnessConfig(**values)
    if made.constraint is Constraint.LEGAL and made.mask is Mask.HIDDEN:
        raise HarnessError("harness.constraint: legal tells the model what is legal; with mask hidden it is tool")
    if made.skills is not None and not made.query_calls:
        raise HarnessError("harness.skills: reading a skill is a query; with query_calls 0 there can be no library")
    if made.skills is not None and made.constraint is Constraint.LEGAL:
        raise HarnessError("harness.skills: constraint legal leaves no room to read a skill; take tool, or no library")
    return made


def _library(value: Any) -> SkillLibrary | None:
    try:
        return None if value is None else parse_library(value)
    except SkillError as error:
        raise HarnessError(f"harness.{error}") from None


def _number(key: str, value: Any) -> int | float | None:
    if value is None and key in ("decision_tokens", "decision_seconds", "history_tokens"):
        return None
    if key == "decision_seconds":
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise HarnessError(f"harness.{key}: {value!r} is not a positive number of seconds or null")
        return float(value)
    least = _LEAST[key]
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise HarnessError(f"harness.{key}: {value!r} is not a whole number from {least}")
    return value
