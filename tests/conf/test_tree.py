"""The configuration files that come with Prizefight can all be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.tournament import main

TREE = Path(__file__).resolve().parents[2] / "conf"
STANDIN = ("run=r", "game=standin", "dry_run=true")


def names(group: str, suffix: str = ".yaml") -> list[str]:
    return sorted(file.name.removesuffix(suffix) for file in (TREE / group).glob(f"*{suffix}"))


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """What a dry run with ``argv`` prints; it must succeed."""
    code = main(list(argv))
    out, err = capsys.readouterr()
    assert code == 0, err
    assert err == ""
    return out


@pytest.mark.parametrize("name", names("agent"))
def test_every_agent_can_be_entered(capsys: pytest.CaptureFixture[str], name: str) -> None:
    out = said(capsys, *STANDIN, f"agents=[{name},{{agent: {name}, name: again}}]")
    assert f"2 ({name}, again)" in out


@pytest.mark.parametrize("name", names("deck", ".txt"))
def test_every_deck_can_be_played(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert f"1 ({name})" in said(capsys, "run=r", "dry_run=true", "agents=[random,scripted_first]", f"decks=[{name}]")


@pytest.mark.parametrize("name", names("experiment"))
def test_every_experiment_can_be_started(capsys: pytest.CaptureFixture[str], name: str) -> None:
    # What calls would take is found out by playing sample games; a few turns of them are enough here.
    short = [] if name == "standin" else ["options.turn_cap=2"]
    assert "dry run of" in said(capsys, f"experiment={name}", "dry_run=true", *short)


@pytest.mark.parametrize("group", ["tournament", "cluster", "storage"])
def test_every_file_of_a_group_fits_its_schema(capsys: pytest.CaptureFixture[str], group: str) -> None:
    for name in names(group):
        # An object store has no bucket that could be a default.
        root = ["storage.root=s3://bucket/runs?region=eu-west-1"] if name == "s3" else []
        said(capsys, *STANDIN, "agents=[random,scripted_first]", f"{group}={name}", "cluster.workers=1", *root)


def test_the_demo_plays_both_decks_and_at_least_forty_games(capsys: pytest.CaptureFixture[str]) -> None:
    lines = dict(line.split(":", 1) for line in said(capsys, "experiment=demo", "dry_run=true").splitlines()[1:])
    assert int(lines["games"]) >= 40
    assert "charizard_ex" in lines["decks"]
    assert "miraidon_ex" in lines["decks"]
    assert "random" in lines["agents"]
    assert "heuristic" in lines["agents"]
