"""Parts that an older version wrote: columns that came later are null, and nothing else may be missing."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from game_rows import MANIFEST, game_id

from results import Run, RunError
from results.schema import SCHEMA_VERSION, schema_of, table_from_rows, version_of


def call_row(number, **changes):
    row = {
        field.name: {pa.bool_(): False, pa.string(): "x", pa.float64(): 0.5}.get(field.type, 1)
        for field in schema_of("calls")
        if not field.nullable
    }
    return {**row, "game_id": game_id(number), **changes}


def old_part(run, name, numbers, version=2, without=()):
    """A part as ``version`` wrote it."""
    data = table_from_rows("calls", [call_row(number) for number in numbers])
    then = schema_of("calls", version)
    kept = pa.schema([field for field in then if field.name not in without], metadata=then.metadata)
    folder = run.location.child("calls")
    folder.make_folder()
    pq.write_table(data.select(kept.names).cast(kept), folder.child(f"{name}.parquet").path)


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "r", MANIFEST)


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION))
def test_a_column_that_came_later_is_null(run, version):
    old_part(run, "old", [1, 2], version)
    whole = run.calls()
    assert whole.schema.equals(schema_of("calls"))
    assert whole["usage_estimated"].to_pylist() == [None, None]
    assert sorted(whole["game_id"].to_pylist()) == [game_id(1), game_id(2)]
    assert run.calls(["usage_estimated"])["usage_estimated"].to_pylist() == [None, None]
    only = next(run.parts("calls", ["usage_estimated"]))
    assert only.to_pydict() == {"usage_estimated": [None, None]}


def test_old_and_new_parts_are_one_table(run):
    old_part(run, "old", [1])
    run.write_part("calls", table_from_rows("calls", [call_row(2, usage_estimated=True)]), "present")
    told = {row["game_id"]: row["usage_estimated"] for row in run.calls().to_pylist()}
    assert told == {game_id(1): None, game_id(2): True}


def test_other_columns_are_missed_in_an_old_part_and_any_in_a_present_one(run):
    old_part(run, "part", [1], without=["cost_usd"])
    with pytest.raises(RunError, match=r"part\.parquet: .*schema version 2.*: column 'cost_usd' is missing"):
        run.calls()
    old_part(run, "part", [1], version=SCHEMA_VERSION, without=["usage_estimated"])
    with pytest.raises(RunError, match=r"part\.parquet: .*: column 'usage_estimated' is missing"):
        run.calls()


@pytest.mark.parametrize("told", [None, b"", b"none", b"\xff", b"99"])
def test_a_file_that_tells_no_version_is_held_to_the_present_schema(told):
    metadata = None if told is None else {b"prizefight.schema_version": told}
    assert version_of(pa.schema([("a", pa.int8())], metadata=metadata)) == SCHEMA_VERSION
