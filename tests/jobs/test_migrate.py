"""A run of an older version: read as it is, refused where it would be played on, and brought up to date."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from game_rows import MANIFEST
from killed_migrations import killed_migrations
from standin_tournaments import tournament
from stored_runs import driving, naive_rows, stored

from jobs.aggregate import main as aggregate
from jobs.migrate import main as migrate
from orchestrator import ConfigError, run_tournament
from orchestrator.config import TournamentConfig
from orchestrator.journal import Spending
from results import Run
from results.schema import SCHEMA_VERSION

# Written by version 1, with `kill -9` of the driver: 16 games in two parts, 5 in the journal only, and one in flight
# with two answers.
OLDER = Path(__file__).parent.parent / "data" / "version_1" / "older"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copytree(OLDER, tmp_path / "older")
    return tmp_path


def opened(root: Path) -> TournamentConfig:
    return replace(stored(str(root)), run="older")


def check_migrated(root: Path, games: int, answers: int) -> None:
    """The run can be gone on with, and holds what it held."""
    manifest = Run.open(root / "older").manifest
    assert (manifest.schema_version, manifest.checkpointed) == (SCHEMA_VERSION, True)
    with driving(opened(root), manifest=manifest) as driver:
        journal, commits = driver.opened.journal, driver.opened.commits
        assert commits.call(journal.counts) == (games, 0)
        kept = commits.call(journal.answers_between, 0, 100, 100)
        assert [(one.call, one.digest) for _, _, one in kept] == [(call, f"digest{call}") for call in range(answers)]
        assert commits.call(journal.spending) == ({"a": Spending(2, 20, 2, 10, 4, 0.5, 1.0)} if answers else {})
        driver.finish(range(3))
    there = Run.open(root / "older").games(["game_id"])["game_id"].to_pylist()
    assert len(there) == games + 3
    assert sorted(naive_rows(root / "older" / "games")) == sorted(there)


def test_an_older_run_is_read_as_it_is(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(Run.open(root / "older").games()) == 16
    assert aggregate(["run=older", f"storage.root={root}"]) == 0
    assert "16" in capsys.readouterr().out


def test_an_older_run_is_not_played_on_and_the_command_that_helps_is_told(root: Path) -> None:
    with pytest.raises(ConfigError, match=r"schema version 1, .* python -m jobs\.migrate run=older makes it one of"):
        run_tournament(tournament(root, "older", games=24, turns=6, work=60000))
    assert Run.open(root / "older").manifest.schema_version == 1


def test_an_older_run_is_brought_up_to_date_with_all_that_it_holds(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Run.open(root / "older").games().sort_by("game_id")
    assert migrate(["run=older", f"storage.root={root}"]) == 0
    assert f"is of schema version {SCHEMA_VERSION} now" in capsys.readouterr().out
    assert Run.open(root / "older").games().sort_by("game_id").equals(before)
    check_migrated(root, games=21, answers=2)
    assert migrate(["run=older", f"storage.root={root}"]) == 0
    assert "already; nothing was done" in capsys.readouterr().out


def test_an_older_run_whose_journal_is_lost_goes_on_from_its_parts(root: Path) -> None:
    shutil.rmtree(root / "older" / "journal")
    assert migrate(["run=older", f"storage.root={root}"]) == 0
    check_migrated(root, games=16, answers=0)


def test_what_is_missing_torn_or_being_played_is_one_line(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part = root / "older" / "games" / "part-000002.parquet"
    whole = part.read_bytes()
    part.write_bytes(whole[:1000])
    assert migrate(["run=older", f"storage.root={root}"]) == 2
    part.unlink()
    assert migrate(["run=older", f"storage.root={root}"]) == 2
    assert migrate(["run=none", f"storage.root={root}"]) == 2
    torn, gone, missing = capsys.readouterr().err.splitlines()
    assert "part-000002.parquet is not a whole Parquet file" in torn
    assert "part-000002.parquet is gone, though the journal has it as written" in gone
    assert "no run 'none'" in missing
    assert Run.open(root / "older").manifest == replace(MANIFEST, **vars(Run.open(OLDER).manifest))


def test_killed_at_any_step_the_same_command_goes_on(tmp_path: Path) -> None:
    steps = 0
    for root in killed_migrations(OLDER, tmp_path):
        steps += 1
        assert len(Run.open(root / "older").games()) == 16
        assert migrate(["run=older", f"storage.root={root}"]) == 0
        check_migrated(root, games=21, answers=2)
    # The claim, the checkpoint, the journal, the manifest of version 2 and that of the present one.
    assert steps >= 5
