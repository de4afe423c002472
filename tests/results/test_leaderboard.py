import pytest
from game_rows import game_row, new_run
from hypothesis import given
from hypothesis import strategies as st

from results.aggregation import aggregate
from results.leaderboard import display_width, is_out_of_order, leaderboard, printable, win_matrix
from results.schema import table_from_rows


def ratings(*names, **changes):
    row = {
        "rating": 1523.4,
        "rating_deviation": 81.6,
        "volatility": 0.06,
        "periods": 3,
        "games": 12,
        "wins": 8,
        "draws": 2,
        "turn_caps": 0,
        "losses": 2,
        "voids": 0,
        "win_rate": 0.75,
        "win_rate_low": 0.4677,
        "win_rate_high": 0.9111,
    }
    return table_from_rows(
        "ratings", [row | {"rank": place, "entrant": name} | changes for place, name in enumerate(names, start=1)]
    )


def test_a_line_says_all_of_an_agent():
    first, second = leaderboard(ratings("heuristic")).splitlines()
    assert first.split("  ")[0].strip() == "rank"
    assert " ".join(second.split()) == "1 heuristic 1523 ± 82 12 8-2-2 75.0 % (46.8-91.1)"


def test_turn_caps_and_voids_are_shown_where_there_are_any():
    header, line = leaderboard(ratings("a", turn_caps=3, voids=4)).splitlines()
    assert header.split()[-2:] == ["caps", "void"]
    assert line.split()[-2:] == ["3", "4"]
    assert "caps" not in leaderboard(ratings("a"))


def test_an_agent_without_games_has_no_rate():
    row = {"games": 0, "wins": 0, "draws": 0, "losses": 0, "voids": 5}
    none = dict.fromkeys(("win_rate", "win_rate_low", "win_rate_high"))
    line = leaderboard(ratings("a", **row, **none)).splitlines()[1]
    assert " ".join(line.split()) == "1 a 1523 ± 82 0 0-0-0 - 5"


def test_a_run_without_games_says_so():
    assert leaderboard(ratings()) == "no games yet"
    assert win_matrix(ratings(), table_from_rows("win_rates", [])) == ""


@pytest.mark.parametrize(
    ("rates", "games", "periods", "is_told"),
    [
        ((0.4, 0.6), (10, 10), 5, True),
        ((0.6, 0.4), (10, 10), 5, False),
        ((0.4, 0.6), (10, 10), 1, False),
        ((0.4, 0.6), (10, 8), 5, False),
        ((None, 0.6), (0, 10), 5, False),
    ],
    ids=["worse first", "better first", "one period", "other games", "no games"],
)
def test_ratings_that_do_not_follow_the_win_rates_are_noticed(rates, games, periods, is_told):
    rows = [
        ratings(name, win_rate=rate, games=number, periods=periods).to_pylist()[0] | {"rank": place}
        for place, (name, rate, number) in enumerate(zip("ab", rates, games, strict=True), start=1)
    ]
    assert is_out_of_order(table_from_rows("ratings", rows)) is is_told


def test_the_matrix_is_in_the_order_of_the_ranking(tmp_path):
    games = [
        *(game_row(1, "0"), game_row(2, "0"), game_row(3, "1"), game_row(4, "0", entrant_1="c")),
        game_row(5, "void", entrant_0="b", entrant_1="c"),
    ]
    tables = aggregate(new_run(tmp_path / "r", games)).tables
    title, header, *lines = win_matrix(tables["ratings"], tables["win_rates"]).splitlines()
    assert "row against column" in title
    assert header.split() == ["1", "2", "3"]
    order = [row["entrant"] for row in tables["ratings"].to_pylist()]
    cells = {line.split()[1]: dict(zip(order, line.split()[2:], strict=True)) for line in lines}
    assert list(cells) == order
    assert cells == {
        "a": {"a": "-", "b": "66.7", "c": "100.0"},
        "b": {"a": "33.3", "b": "-", "c": "."},
        "c": {"a": "0.0", "b": ".", "c": "-"},
    }


@pytest.mark.parametrize("number", [2, 12, 40, 120])
def test_everything_fits_in_100_columns(number):
    names = [f"a-model-with-a-very-long-name-{'x' * 30}-harness-{place}" for place in range(number)]
    table = ratings(*names, games=9_999_999, wins=8_888_888, losses=1_111_111, turn_caps=9999, voids=9999)
    rates = [
        {"entrant": one, "opponent": other, "games": 1, "wins": 1, "draws": 0, "turn_caps": 0, "losses": 0, "voids": 0}
        | {"win_rate": 1.0, "win_rate_low": 0.2, "win_rate_high": 1.0}
        for one in names
        for other in names
        if one != other
    ]
    matrix = win_matrix(table, table_from_rows("win_rates", rates))
    for line in (*leaderboard(table).splitlines(), *matrix.splitlines()):
        assert display_width(line) <= 100
    assert matrix.count("100.0") == len(rates)


def test_a_long_name_keeps_both_its_ends():
    shown = printable("gpt-5.4-nano-with-something-in-between-no_history", 20)
    assert display_width(shown) == 20
    assert shown.startswith("gpt-5.4")
    assert shown.endswith("history")


def test_wide_and_combining_characters_keep_the_columns_straight():
    lines = leaderboard(ratings("皮卡丘", "Poke\u0301mon", "plain")).splitlines()
    assert len({display_width(line[: line.index("1523")]) for line in lines[1:]}) == 1
    assert display_width("皮卡丘") == 6
    assert display_width("e\u0301") == 1


@given(st.text(max_size=60), st.integers(8, 40))
def test_any_name_is_one_line_within_its_width(name, width):
    shown = printable(name, width)
    assert display_width(shown) <= width
    assert shown.isprintable()
    assert len(shown.splitlines()) <= 1
