"""Skill libraries: folders of ``conf/skills`` read into plain values, so that nobody needs the files afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from jobs.composition.errors import ConfigError, one_line, unknown
from jobs.composition.tree import Tree

GROUP = "skills"
_MAIN_FILE = "SKILL.md"
_FENCE = "---"
_RESOURCES = (".md", ".txt")


def libraries(tree: Tree) -> tuple[str, ...]:
    """The names of all libraries, sorted."""
    folders = (found for folder in tree.folders for found in (folder / GROUP).glob("*") if found.is_dir())
    return tuple(sorted({found.name for found in folders if not found.name.startswith((".", "_"))}))


def library(name: str, tree: Tree) -> dict[str, Any]:
    """The library ``name`` as ``agents.llm.skills.parse_library`` takes it; of two of one name the user's own counts.

    A skill is a file NAME.md, or a folder with SKILL.md and further texts, its resources. Raises :class:`ConfigError`.
    """
    names = libraries(tree)
    if name not in names:
        raise unknown("skill library", name, names, where=f"conf/{GROUP} has")
    folder = next(path for parent in tree.folders if (path := parent / GROUP / name).is_dir())
    skills = []
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            skills.append(_skill(entry / _MAIN_FILE, _resources(entry)))
        elif entry.suffix == ".md":
            skills.append(_skill(entry, {}))
    if not skills:
        raise ConfigError(f"{folder}: there is no skill in it; write a file NAME.md")
    return {"name": name, "skills": skills}


def _resources(folder: Path) -> dict[str, str]:
    files = (file for file in sorted(folder.iterdir()) if file.suffix in _RESOURCES and file.name != _MAIN_FILE)
    return {file.name: _read(file) for file in files}


def _skill(file: Path, resources: dict[str, str]) -> dict[str, Any]:
    """The skill in ``file``: between two lines ``---`` its head in YAML, below them what it says."""
    right = f"it begins with a line {_FENCE}, then name: and description:, then a line {_FENCE}, then the text"
    lines = _read(file).splitlines()
    if not lines or lines[0].strip() != _FENCE:
        raise ConfigError(f"{file}: a skill has a head; {right}")
    end = next((number for number, line in enumerate(lines[1:], 1) if line.strip() == _FENCE), None)
    if end is None:
        raise ConfigError(f"{file}: the head of the skill does not end; {right}")
    try:
        head = yaml.safe_load("\n".join(lines[1:end]))
    except yaml.YAMLError as error:
        raise ConfigError(f"{file}: the head of the skill is no YAML: {one_line(str(error))}") from None
    known = ("name", "description", "when_to_use")
    if not isinstance(head, dict) or any(key not in known for key in head):
        raise ConfigError(f"{file}: the head of a skill has {', '.join(known)} and nothing else")
    return {**head, "body": "\n".join(lines[end + 1 :]).strip(), "resources": resources}


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{file.parent}: a folder of a skill needs a file {_MAIN_FILE}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8 text (byte {error.start})") from None
