"""Skill libraries as files: what a folder of conf/skills may hold, and what an agent is made of afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.llm.config import parse_harness
from agents.llm.skills import SkillLibrary, parse_library
from jobs.composition.errors import ConfigError
from jobs.composition.skills import libraries, library
from jobs.composition.tree import OURS, Tree
from jobs.tournament import main

SKILL = "---\nname: {name}\ndescription: >-\n  What it is\n  about.\nwhen_to_use: Always.\n---\n\nDo ${{this}}.\n"
DRY = ("run=r", "dry_run=true", "decks=[charizard_ex]", "options={turn_cap: 2}")


def shelf(root: Path, files: dict[str, str]) -> Tree:
    """A tree with a library ``mine`` of these files in front of ours."""
    for name, text in files.items():
        file = root / "skills" / "mine" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return Tree.of([str(root)])


def read(tree: Tree, name: str = "mine") -> SkillLibrary:
    return parse_library(library(name, tree))


def test_a_file_is_a_skill_and_so_is_a_folder_with_resources(tmp_path: Path) -> None:
    files = {"b.md": SKILL.format(name="two"), "a/SKILL.md": SKILL.format(name="one"), "a/deck.md": "Plan.\n"}
    tree = shelf(tmp_path, {**files, "a/picture.png": "x", ".hidden.md": "x"})
    assert "mine" in libraries(tree)
    found = read(tree)
    assert [one.name for one in found.skills] == ["one", "two"]
    assert found.index() == "- one: What it is about. Always.\n- two: What it is about. Always."
    assert found.read("two", None) == "# two\n\nDo ${this}."
    assert found.read("one", "deck.md") == "Plan."
    with pytest.raises(KeyError):
        found.read("two", "deck.md")


def test_the_library_that_comes_with_prizefight_can_be_read_and_has_a_plan_for_every_deck() -> None:
    tree = Tree.of([])
    for name in libraries(tree):
        assert read(tree, name).skills
    plans = next(one for one in read(tree, "basics").skills if one.name == "deck-plans")
    assert {file.stem for file in (OURS / "deck").glob("*.txt")} == {
        name.removesuffix(".md") for name in plans.resources
    }


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.md": "Just text."}, "a skill has a head; it begins with a line ---"),
        ({"a.md": "---\nname: a\n"}, "the head of the skill does not end"),
        ({"a.md": "---\nname: [a\n---\nx"}, "the head of the skill is no YAML"),
        ({"a.md": "---\nname: a\nauthor: b\n---\nx"}, "has name, description, when_to_use and nothing else"),
        ({"a/deck.md": "x"}, "a folder of a skill needs a file SKILL.md"),
        ({"notes.txt": "x"}, "there is no skill in it"),
    ],
)
def test_a_file_that_is_no_skill_is_named(tmp_path: Path, files: dict[str, str], said: str) -> None:
    tree = shelf(tmp_path, files)
    with pytest.raises(ConfigError) as caught:
        library("mine", tree)
    assert said in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def entered(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, Any]:
    code = main([*DRY, *argv])
    return code, capsys.readouterr()


def test_an_agent_reads_the_library_that_its_harness_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shelf(tmp_path, {"a.md": SKILL.format(name="one")})
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "own.yaml").write_text("defaults: [full, _self_]\nskills: mine\n", encoding="utf-8")
    code, said = entered(
        capsys,
        "--config-dir",
        str(tmp_path),
        "agents=[{model: loopback, harness: own},{model: loopback, harness: skills}]",
    )
    assert code == 0, said.err
    code, said = entered(capsys, "agents=[{model: loopback, harness: {skills: basic}},random]")
    assert (code, said.out) == (2, "")
    assert "unknown skill library 'basic'; did you mean 'basics'? conf/skills has: basics" in said.err
    broken = tmp_path / "skills" / "mine" / "a.md"
    broken.write_text(SKILL.format(name="Not A Name"), encoding="utf-8")
    code, said = entered(capsys, "--config-dir", str(tmp_path), "agents=[{model: loopback, harness: own},random]")
    assert code == 2
    assert "agents: loopback+own: harness.skills mine: 'Not A Name' cannot be the name of a skill" in said.err


def test_what_comes_with_prizefight_is_a_harness_that_can_be_used() -> None:
    made = parse_harness({"skills": library("basics", Tree.of([]))})
    assert made.skills is not None
    # All of it is in every request; the texts are not.
    assert len(made.skills.index()) < 1500
