"""An older run in an object store, its journal on a local disk, is brought up to date as one on a local disk is."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from game_rows import game_id
from object_stores import ObjectStore
from stored_runs import driving, games_there, ids, place, run_of, stored

from orchestrator.migration import migrate
from results.schema import SCHEMA_VERSION

OLDER = Path(__file__).parent.parent / "data" / "version_2" / "older"


def test_an_older_run_in_an_object_store_is_brought_up_to_date_with_its_journal(
    store: ObjectStore, tmp_path: Path
) -> None:
    config = replace(stored(f"s3://{store.bucket()}/runs", tmp_path, part_rows=8), run="older")
    location = place(config)
    for file in OLDER.rglob("*"):
        if file.is_file() and file.parent.name != "journal":
            target = location.child(*file.relative_to(OLDER).parts)
            content = file.read_bytes()
            target.write_whole(target, lambda sink, content=content: sink.write(content))
    shutil.copytree(OLDER / "journal", tmp_path / "older")
    with closing(sqlite3.connect(tmp_path / "older" / "journal.sqlite")) as journal, journal:
        journal.execute("UPDATE about SET run = ?", (location.path,))
    assert migrate(config.storage, "older", print)
    run = run_of(config)
    assert run.manifest.schema_version == SCHEMA_VERSION
    assert len(location.child("calls").names()) == 3
    with driving(config, manifest=run.manifest) as driver:
        assert driver.said == []
        driver.finish([10])
    assert games_there(config) == ids(range(11))
    calls = run_of(config).calls(["game_id", "call", "usage_estimated"]).to_pylist()
    assert sorted(row["game_id"] for row in calls) == sorted(2 * [game_id(number) for number in range(11)])
    assert all(row["usage_estimated"] is (row["call"] == 1) for row in calls)
