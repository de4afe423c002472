"""Entries of the lists of agents and decks turned into what they name."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from omegaconf import MISSING

from jobs.composition.errors import ConfigError, listed, nearest, one_line, unknown
from jobs.composition.schema import Schema
from jobs.composition.skills import GROUP as SKILLS
from jobs.composition.skills import libraries, library
from jobs.composition.tree import Tree

PARTS = ("model", "harness", "evolution")
"""The groups that combine into one agent, in the order in which they name it."""

_HARNESS = "full"
"""The harness that is proposed for a model."""
_ID = "openai/gpt-5.4"
"""What a model's id may look like."""


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


def choices(tree: Tree) -> dict[str, tuple[str, ...]]:
    """The names in each folder of ``conf/`` that entries of ``agents`` are made of; folders without any not."""
    found = {group: tree.options(group) for group in ("agent", *PARTS)}
    return {group: names for group, names in {**found, SKILLS: libraries(tree)}.items() if names}


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
        settings = {"name": file, **_merged(_agent_file(file, tree, schema), settings)}
    for part in PARTS:
        if part not in settings:
            continue
        where, chosen = f"{place}.{part}", None
        if not isinstance(settings[part], Mapping):
            chosen = _name_of(place, part, settings[part])
            settings[part] = tree.load(part, chosen, schema)
            where = str(tree.file(part, chosen))
        if part == "model":
            _require_id(settings[part], where, chosen)
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


def _agent_file(name: str, tree: Tree, schema: Schema) -> dict[str, Any]:
    """The content of the file ``name`` of ``conf/agent``; :class:`ConfigError` says what else is of that name."""
    known, models, harnesses = (tree.options(group) for group in ("agent", "model", "harness"))
    if name in known or nearest(name, known):
        return tree.load("agent", name, schema)
    harness = _HARNESS if _HARNESS in harnesses else "NAME"
    if name in models:
        is_what = f"it is a model, and plays as {{model: {name}, harness: {harness}}}"
    elif name in harnesses:
        is_what = f"it is a harness, and lets a model play as {{model: NAME, harness: {name}}}"
    elif name in tree.options("deck", ".txt"):
        is_what = f"it is a deck, and is played with decks=[{name}]"
    else:
        model = nearest(name, models)
        near = f"{{model: {model}, harness: {harness}}}" if model else ""
        raise unknown("agent", name, known, where="conf/agent has", near=near)
    raise ConfigError(f"unknown agent {name!r}; {is_what}; conf/agent has{listed(name, known)}")


def _require_id(model: Mapping[str, Any], where: str, file: str | None) -> None:
    """Raise :class:`ConfigError` where ``model``, from ``file`` of ``conf/model`` or written ``where``, has no id."""
    identifier = model.get("id")
    if identifier == MISSING and file is not None:
        right = f"build a file of your own on it, with defaults: [{file}, _self_] and id: {_ID}"
    elif identifier in (None, "", MISSING):
        right = f"write it as in id: {_ID}"
    else:
        return
    raise ConfigError(f"{where}: id is missing, the name by which the model's endpoint knows it; {right}")


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
