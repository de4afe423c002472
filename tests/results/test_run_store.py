import os
import signal
import subprocess
import sys
from dataclasses import replace

import pyarrow as pa
import pyarrow.fs as pa_fs
import pyarrow.parquet as pq
import pytest
from game_rows import MANIFEST, decision_row, game_id, game_row, new_run

from results import Manifest, Run, RunError, StorageError
from results.location import Location
from results.schema import SchemaError, schema_of, table_from_rows


def elsewhere(folder):
    """A file system that is not this machine's plain one."""
    return Location(pa_fs.SubTreeFileSystem(str(folder), pa_fs.LocalFileSystem()), "bucket/r")


@pytest.fixture(params=["local", "elsewhere"])
def place(request, tmp_path):
    return elsewhere(tmp_path) if request.param == "elsewhere" else Location.parse(tmp_path / "r")


def test_rows_come_back_as_they_were_written(place):
    rows = [game_row(1, actions=["0 pass", "1 attack:Burning Darkness"], cost_usd_0=0.25), game_row(2, "void")]
    run = new_run(place, rows[:1], rows[1:])
    run.write_part("decisions", table_from_rows("decisions", [decision_row(1, 0)]), "d")
    found = Run.open(place)
    assert found.manifest == MANIFEST
    assert found.games().sort_by("game_id").equals(table_from_rows("games", rows))
    assert found.decisions().to_pylist()[0]["actions"] == ["pass"]
    assert found.games(["entrant_1", "cause"]).column_names == ["entrant_1", "cause"]


def test_a_run_without_games_has_empty_tables_of_the_schema(place):
    run = new_run(place)
    for table in (run.games(), run.decisions(), run.calls()):
        assert len(table) == 0
    assert run.calls().schema.equals(schema_of("calls"))


def test_addresses_of_pyarrow_work(tmp_path):
    new_run(tmp_path / "r", [game_row(1)])
    assert len(Run.open(f"file://{tmp_path}/r").games()) == 1
    assert len(Run.named(f"file://{tmp_path}", "r").games()) == 1


def test_relative_addresses_count_from_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    new_run("runs/r", [game_row(1)])
    assert len(Run.open(tmp_path / "runs" / "r").games()) == 1


def test_writing_a_part_again_replaces_it(place):
    run = new_run(place, [game_row(1)])
    run.write_part("games", table_from_rows("games", [game_row(1), game_row(2)]), "part-0")
    assert sorted(run.games()["game_id"].to_pylist()) == [game_id(1), game_id(2)]


def test_a_game_in_two_parts_is_refused_with_both_parts(place):
    run = new_run(place, [game_row(1), game_row(2)], [game_row(3)], [game_row(2)])
    complaint = f"game_id {game_id(2)} more than once: in games/part-0.parquet and games/part-2.parquet"
    for read in (run.games, lambda: run.games(["turns"])):
        with pytest.raises(RunError, match=complaint):
            read()


def test_a_decision_is_told_by_game_and_number(place):
    run = new_run(place)
    run.write_part("decisions", table_from_rows("decisions", [decision_row(1, 0), decision_row(1, 1)]), "d0")
    run.write_part("decisions", table_from_rows("decisions", [decision_row(2, 0), decision_row(2, 1)]), "d1")
    assert len(run.decisions()) == 4
    run.write_part("decisions", table_from_rows("decisions", [decision_row(2, 1)]), "d2")
    with pytest.raises(RunError, match=f"game_id {game_id(2)}, decision 1 more than once: in decisions/d1.*d2"):
        run.decisions()


def test_a_torn_part_is_named(tmp_path):
    run = new_run(tmp_path / "r", [game_row(1)])
    whole = (tmp_path / "r/games/part-0.parquet").read_bytes()
    (tmp_path / "r/games/torn.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RunError, match=r"games/torn\.parquet is not a whole Parquet file"):
        run.games()


def test_a_part_of_another_schema_is_named_with_what_differs(tmp_path):
    run = new_run(tmp_path / "r", [game_row(1)])
    other = run.games().drop_columns(["cause"])
    pq.write_table(other, tmp_path / "r/games/old.parquet")
    with pytest.raises(RunError, match=r"games/old\.parquet: table 'games' has schema .*column 'cause' is missing"):
        run.games()


def test_a_part_must_have_exactly_the_schema(tmp_path):
    run = new_run(tmp_path / "r")
    with pytest.raises(SchemaError):
        run.write_part("games", pa.table({"game_id": ["g1"]}), "p")
    assert run.part_names("games") == []


@pytest.mark.parametrize("name", ["", "../p", "a/b", ".hidden", "p.parquet", "p q"])
def test_a_bad_part_name_is_refused(tmp_path, name):
    run = new_run(tmp_path / "r")
    with pytest.raises(ValueError, match="a part's name is"):
        run.write_part("games", table_from_rows("games", []), name)


def test_a_writer_killed_in_mid_part_leaves_nothing_to_be_read(tmp_path):
    run = new_run(tmp_path / "r", [game_row(1)])
    script = """
import os, signal, sys
from results.location import Location
run = Location.parse(sys.argv[1])
def write(stream):
    stream.write(b"PAR1" + bytes(100_000))
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
run.child("games", "p.parquet").write_whole(run.child(".partial", "games-p.partial"), write)
"""
    ended = subprocess.run([sys.executable, "-c", script, str(tmp_path / "r")], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert (tmp_path / "r/.partial/games-p.partial").stat().st_size > 100_000
    assert len(run.games()) == 1
    (tmp_path / "r/.partial/ratings.parquet.partial").write_bytes(b"an aggregation is writing this")
    run.remove_partials()
    assert [path.name for path in (tmp_path / "r/.partial").iterdir()] == ["ratings.parquet.partial"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(place):
    run = new_run(place)
    target = run.location.child("x.txt")
    target.write_whole(run.location.child(".partial", "x"), lambda stream: stream.write(b"old"))

    def fail(stream):
        stream.write(b"new")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        target.write_whole(run.location.child(".partial", "y"), fail)
    assert target.read_bytes() == b"old"
    assert run.location.child(".partial").names() == []


def test_missing_foreign_and_torn_runs_give_one_clear_line(tmp_path):
    new_run(tmp_path / "first")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn/manifest.json").write_text('{"run": "to')
    (tmp_path / "other").mkdir()
    (tmp_path / "other/manifest.json").write_text('{"name": "my-extension", "version": 3}')
    for address, complaint in [
        (tmp_path / "none", "there is no such folder"),
        (tmp_path / "foreign", r"there is no manifest\.json in it"),
        (tmp_path / "torn", "the manifest is torn or foreign"),
        (tmp_path / "other", "this is not the manifest of a run"),
    ]:
        with pytest.raises(RunError, match=complaint) as caught:
            Run.open(address)
        assert str(address) in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(RunError, match=r"no run 'second' in .*; runs there: first, other, torn"):
        Run.named(tmp_path, "second")
    with pytest.raises(RunError, match="there are no runs there"):
        Run.named(tmp_path / "foreign", "second")


@pytest.mark.parametrize("name", ["", "..", "a/b", "/tmp", ".x", "a\nb"])
def test_a_run_is_called_like_one_folder(tmp_path, name):
    with pytest.raises(RunError, match="a run cannot be called"):
        Run.named(tmp_path, name)


@pytest.mark.parametrize("address", ["", " ", "nope://x/y", "s3://"])
def test_a_bad_address_gives_one_clear_line(address):
    with pytest.raises(StorageError) as caught:
        Run.open(address)
    assert "\n" not in str(caught.value)


def test_a_run_is_not_created_over_another(place):
    new_run(place)
    with pytest.raises(RunError, match="there is a run at"):
        new_run(place)


def test_tables_of_the_aggregation_are_asked_for_before_they_exist(tmp_path):
    run = new_run(tmp_path / "r", [game_row(1)])
    with pytest.raises(RunError, match=r"python -m jobs\.aggregate run=r writes it"):
        run.ratings()


def test_a_manifest_comes_back_as_it_was_written(place):
    run = new_run(place)
    start = {"at": "2024-01-01", "workers": 2}
    started = replace(MANIFEST, identity={"agents": {"é": [1, 2.5, None]}}, starts=(start,), checkpointed=True)
    run.write_manifest(started)
    assert Run.open(place).manifest == started
    assert run.manifest == started


def test_a_manifest_of_a_later_schema_is_refused():
    later = replace(MANIFEST, schema_version=MANIFEST.schema_version + 1).to_json()
    with pytest.raises(ValueError, match="written with schema version 4; this program reads versions 1 to 3"):
        Manifest.from_json(later)


def test_nothing_is_readable_by_its_name_before_it_is_whole(tmp_path):
    run = new_run(tmp_path / "r")
    seen = []

    def look(stream):
        stream.write(b"x")
        seen.extend(name for _, _, names in os.walk(tmp_path) for name in names if name != "manifest.json")

    run.location.child("games", "p.parquet").write_whole(run.location.child(".partial", "p.partial"), look)
    assert seen == ["p.partial"]
