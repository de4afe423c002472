import subprocess
import sys

import pytest
from game_rows import game_row, new_run

from jobs import aggregate
from results import Run

GAMES = [game_row(1, "0", cycle=0), game_row(2, "0", cycle=1), game_row(3, "1", cycle=1), game_row(4, "void", cycle=2)]


@pytest.fixture
def root(tmp_path):
    new_run(tmp_path / "first", GAMES)
    return tmp_path


def test_the_leaderboard_is_printed_and_the_files_are_named(root, capsys):
    assert aggregate.main(["run=first", f"storage.root={root}"]) == 0
    out = capsys.readouterr().out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == "rank agent rating ± RD games W-D-L win rate (95 %) void"
    assert lines[1].startswith("1 a ")
    assert " 3 2-0-1 66.7 % " in lines[1]
    written = [line.removeprefix("wrote ") for line in lines if line.startswith("wrote ")]
    assert {path.rpartition("/")[2] for path in written} == {
        *("ratings.parquet", "ratings.csv", "rating_history.parquet", "win_rates.parquet", "win_rates.csv"),
        *("win_rates_by_deck.parquet", "endings.parquet", "agents.parquet", "attempts.parquet"),
    }
    for path in written:
        assert (root / path).is_file()


@pytest.mark.parametrize(("period", "first", "is_told"), [("cycle", "a", True), ("run", "b", False)])
def test_ratings_by_cycle_that_do_not_follow_the_wins_are_printed_with_a_word_of_it(
    tmp_path, capsys, period, first, is_told
):
    # b wins three, then a wins two, each of which moves the ratings more, as it was not to be expected any more: by
    # Glickman's equations a is 0.9 (160 points) ahead.
    rows = [game_row(number, winner, cycle=number) for number, winner in enumerate("11100")]
    new_run(tmp_path / "late", rows)
    assert aggregate.main(["run=late", f"storage.root={tmp_path}", f"ratings.period={period}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:2] == ["1", first]
    assert any(line.startswith("Ratings do not follow the win rates") for line in lines) == is_told


def test_it_runs_as_a_module_from_any_folder(root):
    command = [sys.executable, "-m", "jobs.aggregate", "run=first", "storage.root=."]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (root / "first/ratings.parquet").is_file()


@pytest.mark.parametrize(
    ("override", "periods"), [("ratings.period=cycle", 3), ("ratings.period=run", 1), ("ratings.tau=0.3", 3)]
)
def test_the_rating_period_is_configured(root, override, periods):
    assert aggregate.main(["run=first", f"storage.root={root}", override]) == 0
    assert set(Run.open(root / "first").ratings()["periods"].to_pylist()) == {periods}


def test_start_values_are_configured(root):
    start = ["ratings.rating=1000", "ratings.rating_deviation=50", "ratings.volatility=0.01"]
    assert aggregate.main(["run=first", f"storage.root={root}", *start]) == 0
    for row in Run.open(root / "first").ratings().to_pylist():
        assert 950 < row["rating"] < 1050
        assert row["rating_deviation"] < 51


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["run=second"], "no run 'second' in "),
        (["run=first", "ratings.period=day"], "ratings.period: 'day' is not one of cycle, run"),
        (["run=first", "ratings.tau=0"], "ratings.tau: must be a number above 0, not 0.0"),
        (["run=first", "ratings.rating=inf"], "ratings.rating: must be a finite number"),
        ([], "must be given: run="),
    ],
)
def test_bad_configuration_is_one_line_and_exit_code_2(root, capsys, arguments, complaint):
    assert aggregate.main([*arguments, f"storage.root={root}"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert complaint in captured.err
    assert captured.err.count("\n") == 1
    assert not (root / "first/ratings.parquet").exists()


def test_a_torn_part_is_one_line_and_writes_nothing(root, capsys):
    (root / "first/games/torn.parquet").write_bytes(b"PAR1")
    assert aggregate.main(["run=first", f"storage.root={root}"]) == 1
    error = capsys.readouterr().err
    assert "games/torn.parquet is not a whole Parquet file" in error
    assert error.count("\n") == 1
    assert not (root / "first/ratings.parquet").exists()


def test_a_run_without_games_says_so(tmp_path, capsys):
    new_run(tmp_path / "empty")
    assert aggregate.main(["run=empty", f"storage.root={tmp_path}"]) == 0
    assert capsys.readouterr().out.startswith("no games yet\n")
