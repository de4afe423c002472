import datetime

import pytest
from game_rows import decision_row, game_id, game_row, new_run

from results import RunError
from results.comparison import compare
from results.schema import operational_columns, table_from_rows


def with_decisions(run, *parts):
    for number, rows in enumerate(parts):
        run.write_part("decisions", table_from_rows("decisions", rows), f"d{number}")
    return run


def test_runs_are_equal_whoever_played_and_whatever_the_parts(tmp_path):
    when = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    games = [game_row(number, "01"[number % 2], actions=["0 a", "1 b"]) for number in range(20)]
    others = [
        row
        | {"run": "other", "worker": "w", "attempt": 2, "started_at": when, "finished_at": when}
        | {"wall_seconds": 9.0, "agent_seconds_0": 1.0, "agent_seconds_1": 2.0}
        for row in games
    ]
    assert set(operational_columns("games")) <= set(others[0])
    a = with_decisions(new_run(tmp_path / "a", games), [decision_row(1, 0), decision_row(1, 1)])
    b = with_decisions(
        new_run(tmp_path / "b", others[13:], others[:13][::-1]),
        [decision_row(1, 1, worker="w", attempt=3, agent_seconds=8.0, decided_at=when)],
        [decision_row(1, 0, run="other")],
    )
    found = compare(a, b)
    assert found.equal
    assert found.rows == {"games": (20, 20), "decisions": (2, 2)}
    assert found.first == ()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"turns": 31}, "turns: 30 in a, 31 in b"),
        ({"winner": None}, "winner: 'a' in a, None in b"),
        ({"actions": ["0 x", "1 z"]}, "actions: entry 1: '1 y' in a, '1 z' in b"),
        ({"actions": ["0 x"]}, "actions: 2 entries in a, 1 in b"),
        ({"cost_usd_0": 0.25}, "cost_usd_0: None in a, 0.25 in b"),
    ],
)
def test_a_game_that_differs_is_told_with_column_and_values(tmp_path, change, text):
    row = game_row(2, turns=30, actions=["0 x", "1 y"])
    a = new_run(tmp_path / "a", [game_row(1), row])
    b = new_run(tmp_path / "b", [game_row(1), row | change])
    found = compare(a, b)
    assert not found.equal
    assert [str(difference) for difference in found.first] == [f"games: {game_id(2)}: {text}"]


def test_games_of_one_run_only_are_told(tmp_path):
    a = new_run(tmp_path / "a", [game_row(number) for number in (1, 2, 3)])
    b = new_run(tmp_path / "b", [game_row(number) for number in (2, 4)])
    found = compare(a, b)
    assert found.differing == {"games": 3, "decisions": 0}
    assert [str(difference) for difference in found.first] == [
        f"games: {game_id(1)}: only in a",
        f"games: {game_id(3)}: only in a",
        f"games: {game_id(4)}: only in b",
    ]
    assert found.rows["games"] == (3, 2)


def test_a_run_without_games_differs_from_one_with(tmp_path):
    found = compare(new_run(tmp_path / "a"), new_run(tmp_path / "b", [game_row(1)]))
    assert [str(difference) for difference in found.first] == [f"games: {game_id(1)}: only in b"]


def test_decisions_are_compared_one_by_one(tmp_path):
    a = with_decisions(new_run(tmp_path / "a"), [decision_row(1, 0), decision_row(1, 1), decision_row(2, 0)])
    b = with_decisions(new_run(tmp_path / "b"), [decision_row(1, 0), decision_row(1, 1, fallback="pass")])
    found = compare(a, b)
    assert [str(difference) for difference in found.first] == [
        f"decisions: {game_id(1)} decision 1: fallback: None in a, 'pass' in b",
        f"decisions: {game_id(2)} decision 0: only in a",
    ]


def test_only_the_first_differences_are_told_and_all_are_counted(tmp_path):
    a = new_run(tmp_path / "a", [game_row(number, turns=1) for number in range(30)])
    b = new_run(tmp_path / "b", [game_row(number, turns=2) for number in range(30)])
    found = compare(a, b, most=4)
    assert found.differing["games"] == 30
    assert [difference.key for difference in found.first] == [game_id(number) for number in range(4)]


def test_games_of_any_length_are_compared_to_their_last_action(tmp_path):
    long = [f"0 action {number}" for number in range(5000)]
    games = [game_row(number, actions=long) for number in range(30)]
    a = new_run(tmp_path / "a", games)
    b = new_run(tmp_path / "b", games[:29], [games[29] | {"actions": [*long[:-1], "1 action 4999"]}])
    (difference,) = compare(a, b).first
    assert difference.text == "actions: entry 4999: '0 action 4999' in a, '1 action 4999' in b"


def test_a_run_with_a_game_twice_cannot_be_compared(tmp_path):
    a, b = new_run(tmp_path / "a", [game_row(1)], [game_row(1)]), new_run(tmp_path / "b", [game_row(1)])
    with pytest.raises(RunError, match="more than once"):
        compare(a, b)
