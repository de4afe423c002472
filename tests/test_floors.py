"""Imports only ever point down the house: jobs, orchestrator, agents, results, engine."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FLOORS = {"engine": 1, "results": 2, "agents": 3, "orchestrator": 4, "jobs": 5}
FORBIDDEN = {
    "engine": {"ray", "asyncio", "hydra", "omegaconf", "pyarrow", "openai", "tenacity"},
    "results": {"engine", "agents", "ray", "hydra", "omegaconf"},
    "agents": {"ray", "hydra", "omegaconf"},
    "orchestrator": {"hydra", "omegaconf"},
}
"""What a floor may not import beyond what the order of floors says."""

FILES = [file for floor in FLOORS for file in sorted((ROOT / floor).rglob("*.py"))]


def imported(source: str) -> Iterator[tuple[int, str]]:
    """Line and first word of every import, those inside functions and of ``import_module("…")`` too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.split(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.lineno, node.module.split(".")[0]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in (
            "import_module",
            "__import__",
        ):
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield node.lineno, argument.value.split(".")[0]


def breaches(floor: str, source: str) -> list[str]:
    """What ``source``, a module of ``floor``, imports and may not."""
    return [
        f"line {line}: {name}"
        for line, name in imported(source)
        if FLOORS.get(name, 0) > FLOORS[floor] or name in FORBIDDEN.get(floor, ()) or name == "tests"
    ]


def test_there_is_something_to_check() -> None:
    assert {file.relative_to(ROOT).parts[0] for file in FILES} == set(FLOORS)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_imports_point_down(file: Path) -> None:
    assert breaches(file.relative_to(ROOT).parts[0], file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("floor", "source"),
    [
        ("engine", "import agents.base"),
        ("engine", "def late():\n    from ray import get"),
        ("engine", "import asyncio as loop"),
        ("results", "from engine.match import Match"),
        ("agents", "import importlib\nimportlib.import_module('orchestrator.play')"),
        ("orchestrator", "from jobs.config import job"),
        ("jobs", "import tests.jobs"),
    ],
)
def test_an_import_that_points_up_is_found(floor: str, source: str) -> None:
    assert breaches(floor, source) != []
