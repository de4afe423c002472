"""Entries of the lists of agents and decks turned into what they name."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobs.composition.errors import ConfigError, one_line
from jobs.composition.schema import Schema
from jobs.composition.skills import library
from jobs.composition.tree import Tree

PARTS = ("model", "harness", "evolution")
"""The groups that combine into one agent, in the order in which they name it."""


def agents(entries: Sequence[Any], tree: Tree, schema: Schema) -> list[dict[str, Any]]:
    """Every agent that ``entries`` names, with ``name``, ``kind`` and all parameters.

    An entry is a name of a file of ``conf/agent``; or a mapping with ``agent: NAME`` and what differs from that file,
    with ``kind`` and parameters, or with ``model: NAME`` and ``harness: NAME`` (files of those groups); or ``cross``
    with a list for each part, which stands for every combination. Raises :class:`ConfigError` where a name does not
    exist or two agents have the same one.
    """
    found: list[dict[str, Any]] = []
    for place, entry in _spread(entries):
        agent = _agent(place, entry, tree, schema)
        if any(other["name"] == agent["name"] for other in found):
            raise ConfigError(
                f"agents: two are named {agent['name']!r}; give one a name of its own, "
                f"such as {{agent: {agent['name']}, name: {agent['name']}_2}}"
            )
        found.append(agent)
    return found


def read_skills(agents: Any, tree: Tree) -> None:
    """Put the skill library that an agent's harness names in place of its name, for those of ``agents`` that have one.

    Whoever plays the agent has no files: the library is part of what the agent is. Raises :class:`ConfigError`.
    """
    for agent in agents if isinstance(agents, list) else []:
        harness = agent.get("harness")
        if isinstance(harness, Mapping) and isinstance(name := harness.get("skills"), str):
            agent["harness"] = {**harness, "skills": library(name, tree)}


def deck_lists(names: Any, tree: Tree) -> list[dict[str, str]]:
    """Each deck that ``names`` lists: ``name``, ``file`` (its path) and ``text`` (what the file says)."""
    if not isinstance(names, list):
        raise ConfigError(f"decks: {names!r} is not a list of names of conf/deck, written decks=[a,b]")
    found: dict[str, dict[str, str]] = {}
    for name in names:
        if not isinstance(name, str):
            raise ConfigError(f"decks: {name!r} is not the name of a file of conf/deck; put quotes around it")
        if name in found:
            raise ConfigError(f"decks: {name!r} is listed twice")
        file = tree.file("deck", name, ".txt")
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ConfigError(f"{file}: not UTF-8 text (byte {error.start})") from None
        found[name] = {"name": name, "file": str(file), "text": text}
    return list(found.values())


def _spread(entries: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Each entry with the place that names it in errors, ``cross`` entries taken apart."""
    for index, entry in enumerate(entries):
        place = f"agents[{index}]"
        if not isinstance(entry, Mapping) or "cross" not in entry:
            yield place, entry
            continue
        cross = entry["cross"]
        if len(entry) > 1 or not isinstance(cross, Mapping) or not cross:
            raise ConfigError(
                f"{place}: cross stands alone and lists names, as in {{cross: {{model: [a,b], harness: [c]}}}}"
            )
        choices = [value if isinstance(value, list) else [value] for value in cross.values()]
        for combination in itertools.product(*choices):
            yield place, dict(zip(cross, combination, strict=True))


def _agent(place: str, entry: Any, tree: Tree, schema: Schema) -> dict[str, Any]:
    if isinstance(entry, str):
        entry = {"agent": entry}
    if not isinstance(entry, Mapping):
        raise ConfigError(f"{place}: {entry!r} is neither a name of conf/agent nor a mapping; put quotes around a name")
    settings = {str(key): value for key, value in entry.items()}
    names = [
        _name_of(place, part, settings[part]) for part in PARTS if isinstance(settings.get(part), (str, int, float))
    ]
    if "agent" in settings:
        file = _name_of(place, "agent", settings.pop("agent"))
        settings = {"name": file, **_merged(tree.load("agent", file, schema), settings)}
    for part in PARTS:
        if part in settings and not isinstance(settings[part], Mapping):
            settings[part] = tree.load(part, _name_of(place, part, settings[part]), schema)
    if "model" in settings:
        settings.setdefault("kind", "llm")
    if not isinstance(settings.get("kind"), str):
        raise ConfigError(
            f"{place}: {one_line(str(dict(entry)))} has no kind; name a file (agent: NAME) or give kind: NAME"
        )
    name = settings.pop("name", "+".join(names) or settings["kind"])
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise ConfigError(
            f"{place}: {name!r} cannot be the name of an agent; put quotes around a name of letters and digits"
        )
    return {"name": name, **settings}


def _name_of(place: str, part: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{place}.{part}: {value!r} is not the name of a file of conf/{part}; put quotes around it")
    return value


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with ``changes``, mappings inside mappings merged key by key."""
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        merged[key] = _merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged
