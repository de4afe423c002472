import pytest
from game_rows import game_id, game_row, new_run

from jobs import compare

GAMES = [game_row(number, "01"[number % 2], turns=10) for number in range(8)]


@pytest.fixture
def root(tmp_path):
    new_run(tmp_path / "first", GAMES)
    new_run(tmp_path / "again", [row | {"worker": "w2", "attempt": 2, "run": "again"} for row in GAMES[::-1]])
    new_run(tmp_path / "other", [row | {"turns": 11} for row in GAMES[:6]])
    return tmp_path


def test_equal_runs_give_exit_code_0(root, capsys):
    assert compare.main(["a=first", "b=again", f"storage.root={root}"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "games: 8 in first, 8 in again, 0 differ",
        "decisions: 0 in first, 0 in again, 0 differ",
        "equal",
    ]


def test_different_runs_give_exit_code_1_and_the_first_differences(root, capsys):
    assert compare.main(["a=first", "b=other", "most=2", f"storage.root={root}"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"games: {game_id(0)}: turns: 10 in a, 11 in b",
        f"games: {game_id(1)}: turns: 10 in a, 11 in b",
        "... and 6 more",
        "games: 8 in first, 6 in other, 8 differ",
        "decisions: 0 in first, 0 in other, 0 differ",
        "different",
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["a=first", "b=none"], "no run 'none' in "),
        (["a=first"], "must be given: b="),
        (["a=first", "b=other", "moist=3"], "moist"),
    ],
)
def test_bad_configuration_is_one_line_and_exit_code_2(root, capsys, arguments, complaint):
    assert compare.main([*arguments, f"storage.root={root}"]) == 2
    captured = capsys.readouterr()
    assert complaint in captured.err
    assert (captured.out, captured.err.count("\n")) == ("", 1)


def test_a_run_that_cannot_be_read_is_not_called_different(root, capsys):
    (root / "other/games/torn.parquet").write_bytes(b"PAR1")
    assert compare.main(["a=first", "b=other", f"storage.root={root}"]) == 2
    assert "torn.parquet is not a whole Parquet file" in capsys.readouterr().err
