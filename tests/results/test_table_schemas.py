import pyarrow as pa
import pytest
from game_rows import game_row

from engine import match
from results import schema
from results.schema import SchemaError, check_table, schema_of, table_from_rows


def test_a_table_has_all_columns_even_where_no_row_fills_them():
    table = table_from_rows("games", [game_row(1), game_row(2, "void")])
    assert table.schema.equals(schema_of("games"), check_metadata=True)
    assert table["cost_usd_1"].null_count == 2
    assert table["cost_usd_1"].type == pa.float64()


@pytest.mark.parametrize("name", schema.TABLES)
def test_an_empty_table_has_exactly_the_schema(name):
    check_table(name, table_from_rows(name, []))


@pytest.mark.parametrize("name", schema.TABLES)
def test_every_column_says_what_it_means(name):
    for field in schema_of(name):
        assert len(field.metadata[b"meaning"]) > 5, field.name
        if field.name.startswith("cost_usd"):
            assert field.metadata[b"unit"] == b"USD"
        if "seconds" in field.name:
            assert field.metadata[b"unit"] == b"s"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"outcome": "won"}, "row 1, column 'outcome': 'won' is not one of win, draw, turn_cap, void"),
        ({"cause": "bored"}, "row 1, column 'cause': 'bored' is not one of prizes"),
        ({"turns": "many"}, "row 1, column 'turns': 'many' is not of type int32"),
        ({"winner_seat": 300}, "row 1, column 'winner_seat': 300 is not of type int8"),
        ({"entrant_0": None}, "row 1, column 'entrant_0': a value is needed"),
        ({"colour": "red"}, "row 1: no such column: colour"),
    ],
)
def test_a_bad_row_is_refused_with_its_column(change, complaint):
    with pytest.raises(SchemaError) as caught:
        table_from_rows("games", [game_row(1), game_row(2) | change])
    assert "table 'games', " + complaint in str(caught.value)


def test_a_missing_value_is_refused():
    row = game_row(1)
    del row["seed"]
    with pytest.raises(SchemaError, match="column 'seed': a value is needed"):
        table_from_rows("games", [row])


def test_a_table_with_other_columns_is_refused_with_what_differs():
    table = table_from_rows("games", [game_row(1)])
    with pytest.raises(SchemaError, match="column 'seed' is missing"):
        check_table("games", table.drop_columns(["seed"]))
    position = table.schema.get_field_index("seed")
    short = table.set_column(position, pa.field("seed", pa.int32(), nullable=False), table["seed"].cast("int32"))
    with pytest.raises(SchemaError, match="column 'seed' is int32 instead of int64"):
        check_table("games", short)
    with pytest.raises(SchemaError, match="another order"):
        check_table("games", table.select(table.column_names[::-1]))


def test_an_unknown_table_is_named_with_those_that_exist():
    with pytest.raises(SchemaError, match="unknown table 'game'; known: games, decisions"):
        schema_of("game")


def test_the_engines_ends_are_those_of_the_tables():
    assert {*match.Outcome} | {"void"} == {*schema.Outcome}
    assert {*match.Cause} == {*schema.Cause} - schema.VOID_CAUSES
    assert set().union(*schema.CAUSES_OF.values()) == {*schema.Cause}


def test_operational_columns_are_time_place_and_try():
    assert set(schema.operational_columns("games")) == {
        *(
            "run",
            "worker",
            "attempt",
            "started_at",
            "finished_at",
            "wall_seconds",
            "agent_seconds_0",
            "agent_seconds_1",
        ),
    }
