"""Skill libraries: guidance that a model is told of in a line and reads when it is about its position.

A library is plain data by the time an agent is made from it; reading its files is the composition's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any, Final

from agents.llm.naming import plain
from agents.llm.replies import clean

LONGEST_LINE: Final = 1024
"""Characters of a description, and of when to use a skill: all of a library's are in every request."""
LONGEST_TEXT: Final = 20_000
"""Characters of a skill or of one of its resources: what a model reads stays in its conversation."""

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_RESOURCE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class SkillError(ValueError):
    """A library that cannot be used; one line that says what is wrong and what would be right."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill: what it is about, when it is of use, what it says, and further texts by name."""

    name: str
    description: str
    body: str
    when_to_use: str = ""
    resources: Mapping[str, str] = field(default_factory=dict)

    def digest(self) -> str:
        """16 hexadecimal digits that change with anything in it."""
        return _digest(asdict(self))


@dataclass(frozen=True, slots=True)
class SkillLibrary:
    """The skills that an agent can look up while it plays. Made by :func:`parse_library`."""

    name: str
    skills: tuple[Skill, ...]

    def index(self) -> str:
        """A line a skill for the system prompt: name, purpose, and when to use it."""
        lines = (f"- {one.name}: {' '.join((one.description, one.when_to_use)).strip()}" for one in self.skills)
        return "\n".join(lines)

    def names(self) -> str:
        """The names of all skills."""
        return ", ".join(one.name for one in self.skills)

    def read(self, name: str, resource: str | None) -> str:
        """A skill, or one of its resources; raises ``KeyError`` where there is none of that name."""
        skill = next((one for one in self.skills if plain(one.name) == plain(name)), None)
        if skill is None:
            raise KeyError(name)
        if resource is not None and resource.strip():
            for known, text in skill.resources.items():
                if plain(known) == plain(resource):
                    return text
            raise KeyError(resource)
        more = f"\n\nIts resources: {', '.join(skill.resources)}" if skill.resources else ""
        return f"# {skill.name}\n\n{skill.body}{more}"

    def identity(self) -> dict[str, str]:
        """The digest of each skill by name: what of a library makes a run another one."""
        return {one.name: one.digest() for one in self.skills}

    def digest(self) -> str:
        """16 hexadecimal digits that change with anything in the library but its own name."""
        return _digest([asdict(one) for one in self.skills])


def parse_library(config: Any) -> SkillLibrary:
    """The library that ``config`` describes: ``name`` and ``skills``, each with the fields of :class:`Skill`.

    Raises :class:`SkillError`.
    """
    if not isinstance(config, Mapping) or set(config) != {"name", "skills"} or not isinstance(config["name"], str):
        raise SkillError(f"skills: {config!r:.100} is no skill library; name a folder of conf/skills, or null")
    name, entries = config["name"], config["skills"]
    if not isinstance(entries, list | tuple) or not entries:
        raise SkillError(f"skills {name}: the library has no skill")
    skills = tuple(_skill(name, entry) for entry in entries)
    names = [one.name for one in skills]
    for one in names:
        if names.count(one) > 1:
            raise SkillError(f"skills {name}: two skills are named {one!r}")
    return SkillLibrary(name, tuple(sorted(skills, key=lambda one: one.name)))


def _skill(library: str, entry: Any) -> Skill:
    if not isinstance(entry, Mapping):
        raise SkillError(f"skills {library}: {entry!r:.100} is no skill")
    name = entry.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise SkillError(
            f"skills {library}: {name!r} cannot be the name of a skill; take small letters, digits, _ and -, at most 64"
        )
    where = f"skills {library}: {name}"
    known = ("name", "description", "when_to_use", "body", "resources")
    for key in entry:
        if key not in known:
            raise SkillError(f"{where}: {key} is unknown; known: {', '.join(known)}")
    resources = entry.get("resources") or {}
    if not isinstance(resources, Mapping):
        raise SkillError(f"{where}: resources are no mapping of names to texts")
    for resource in resources:
        if not isinstance(resource, str) or not _RESOURCE.fullmatch(resource):
            raise SkillError(f"{where}: {resource!r} cannot be the name of a resource")
    return Skill(
        name=name,
        description=_line(where, "description", entry.get("description")),
        body=_text(where, "the text below its head", entry.get("body")),
        when_to_use=_line(where, "when_to_use", entry["when_to_use"]) if entry.get("when_to_use") else "",
        resources={one: _text(where, one, resources[one]) for one in sorted(resources)},
    )


def _line(where: str, key: str, value: Any) -> str:
    line = " ".join(clean(value).split()) if isinstance(value, str) else ""
    if not line:
        raise SkillError(f"{where}: {key} is missing; say it in a sentence")
    if len(line) > LONGEST_LINE:
        raise SkillError(f"{where}: {key} has {len(line)} characters; at most {LONGEST_LINE} are allowed")
    return line


def _text(where: str, what: str, value: Any) -> str:
    text = clean(value).strip() if isinstance(value, str) else ""
    if not text:
        raise SkillError(f"{where}: {what} is empty")
    if len(text) > LONGEST_TEXT:
        raise SkillError(f"{where}: {what} has {len(text)} characters; at most {LONGEST_TEXT} are allowed")
    return text


def _digest(value: Any) -> str:
    plain_text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return blake2b(plain_text.encode(), digest_size=8).hexdigest()
