"""A run of version 2, whose calls do not tell estimated tokens: read as it is, and brought up to date."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from game_rows import game_id
from killed_migrations import killed_migrations
from standin_tournaments import tournament
from stored_runs import driving, ids, stored

from jobs.aggregate import main as aggregate
from jobs.migrate import main as migrate
from orchestrator import ConfigError, run_tournament
from orchestrator.config import TournamentConfig
from results import Run
from results.schema import SCHEMA_VERSION, schema_of

# Written by version 2 with eight rows a part, in two starts of which the second was ended by `kill -9`. Games 0 to 8
# are in parts; 9 is finished and 10 has decided, both in the journal only; 11 has answers and no decision. Each has two
# calls, and the endpoint reported the tokens of the first one.
OLDER = Path(__file__).parent.parent / "data" / "version_2" / "older"
TOLD = {0: False, 1: True}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copytree(OLDER, tmp_path / "older")
    return tmp_path


def opened(root: Path) -> TournamentConfig:
    return replace(stored(str(root), part_rows=8), run="older")


def migrated(root: Path) -> int:
    return migrate(["run=older", f"storage.root={root}"])


def calls_told(root: Path) -> list[tuple[str, int, bool | None]]:
    """Game, number and flag of all calls."""
    columns = ["game_id", "call", "usage_estimated"]
    rows = Run.open(root / "older").calls(columns).to_pylist()
    return sorted(tuple(row[column] for column in columns) for row in rows)


def expected(games: range) -> list[tuple[str, int, bool | None]]:
    return [(one, call, TOLD[call]) for one in ids(games) for call in (0, 1)]


def check_gone_on_with(root: Path) -> None:
    """The run goes on with all that the parts and the journal had."""
    manifest = Run.open(root / "older").manifest
    assert (manifest.schema_version, manifest.checkpointed) == (SCHEMA_VERSION, True)
    assert calls_told(root) == expected(range(9))
    with driving(opened(root), manifest=manifest) as driver:
        assert driver.said == []
        journal, commits = driver.opened.journal, driver.opened.commits
        kept = commits.call(journal.answers_between, 0, 100, 100)
        assert [(one, answer.call) for _, one, answer in kept] == [
            (game_id(n), call) for n in (9, 10, 11) for call in TOLD
        ]
        assert [json.loads(answer.answer)["reply"]["usage_estimated"] for _, _, answer in kept] == [False, True] * 3
        assert commits.call(journal.spending)["a"].calls == 24
        driver.finish([10, 11, 12])
    assert sorted(Run.open(root / "older").games(["game_id"])["game_id"].to_pylist()) == ids(range(13))
    assert calls_told(root) == expected(range(11))
    # Whoever reads the folder without checkpoints finds the same.
    naive = pd.read_parquet(root / "older" / "calls")
    assert sorted(naive[["game_id", "call", "usage_estimated"]].itertuples(index=False, name=None)) == calls_told(root)


def test_its_calls_are_read_with_the_column_null(root: Path) -> None:
    calls = Run.open(root / "older").calls()
    assert calls.schema.equals(schema_of("calls"))
    assert calls_told(root) == [(one, call, None) for one in ids(range(9)) for call in (0, 1)]
    assert aggregate(["run=older", f"storage.root={root}"]) == 0


def test_it_is_not_played_on_before_it_is_brought_up_to_date(root: Path) -> None:
    with pytest.raises(ConfigError, match=r"schema version 2, .* python -m jobs\.migrate run=older makes it one of"):
        run_tournament(tournament(root, "older", games=24, turns=6, work=60000))


def test_brought_up_to_date_all_its_calls_say_what_their_replies_say(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {table: Run.open(root / "older").table(table) for table in ("games", "decisions", "calls")}
    assert migrated(root) == 0
    assert f"is of schema version {SCHEMA_VERSION} now" in capsys.readouterr().out
    run = Run.open(root / "older")
    assert run.games().equals(before["games"])
    assert run.decisions().equals(before["decisions"])
    assert run.calls().drop_columns("usage_estimated").equals(before["calls"].drop_columns("usage_estimated"))
    files = sorted((root / "older" / "calls").iterdir())
    assert [pq.read_metadata(file).num_rows for file in files] == [8, 8, 2]
    assert all(pq.read_schema(file).equals(schema_of("calls")) for file in files)
    check_gone_on_with(root)
    assert migrated(root) == 0
    assert "already; nothing was done" in capsys.readouterr().out


def test_without_its_journal_it_goes_on_from_its_parts(root: Path) -> None:
    shutil.rmtree(root / "older" / "journal")
    assert migrated(root) == 0
    with driving(opened(root), manifest=Run.open(root / "older").manifest) as driver:
        driver.finish([9])
    assert sorted(Run.open(root / "older").games(["game_id"])["game_id"].to_pylist()) == ids(range(10))
    assert calls_told(root) == expected(range(9))


def test_a_journal_that_the_run_has_left_behind_is_not_taken_for_the_runs(root: Path) -> None:
    # Another writer has gone on from the storage, with a journal of its own.
    checkpoints = root / "older" / "checkpoints"
    text = (checkpoints / "000002.json").read_text(encoding="utf-8")
    (checkpoints / "000007.json").write_text(text.replace('"epoch": 2', '"epoch": 7'), encoding="utf-8")
    assert migrated(root) == 0
    with driving(opened(root), manifest=Run.open(root / "older").manifest) as driver:
        assert "the run was gone on with elsewhere since" in driver.said[0]
        assert driver.opened.commits.call(driver.opened.journal.counts)[0] == 9
    assert calls_told(root) == expected(range(9))


def test_a_part_that_is_missing_is_one_line_and_nothing_is_altered(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "older" / "calls" / "part-000002-000001.parquet").unlink()
    assert migrated(root) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "part-000002-000001.parquet is gone, though the run's checkpoint has it" in line
    assert Run.open(root / "older").manifest.schema_version == 2


def test_killed_at_any_step_the_same_command_goes_on_with_it(tmp_path: Path) -> None:
    older = tmp_path / "older"
    shutil.copytree(OLDER, older)
    # Its writer was killed before it deleted a part whose rows it had taken into another one.
    taken_in = pq.read_table(older / "calls" / "part-000002-000001.parquet").slice(0, 4)
    pq.write_table(taken_in, older / "calls" / "part-000001-000002.parquet")
    steps = 0
    for root in killed_migrations(older, tmp_path):
        steps += 1
        assert len(Run.open(root / "older").games()) == 9
        there = [(one, call) for one, call, _ in calls_told(root)]
        assert there == [(one, call) for one, call, _ in expected(range(9))]
        assert migrated(root) == 0
        check_gone_on_with(root)
    # The claim; what is left over; a checkpoint, a part and what that takes the place of, three times; the manifest.
    assert steps >= 12
