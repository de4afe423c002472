"""Tournaments from the command line: what a user types, sees and finds afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from jobs.tournament import main
from results import Run

GAME = ("game=standin", "agents=[random,scripted_first,{agent: scripted_cycle, name: 007}]", "seed=3")
SMALL = (*GAME, "tournament.games_per_pair=4", "cluster.workers=1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder to work in that has folders of a user's own with the names of our packages."""
    for name in ("conf", "results", "agents", "engine", "jobs"):
        (tmp_path / name).mkdir()
    return tmp_path


def tournament(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "jobs.tournament", *argv]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200, check=False)


def test_a_tournament_is_played_once_and_can_be_asked_for_again(folder: Path) -> None:
    first = tournament(folder, "run=2024_01", *SMALL)
    assert first.returncode == 0, first.stderr
    assert "12 of 12 games, 0 void; 12 played" in first.stdout
    for name in ("random", "scripted_first", "007"):
        assert name in first.stdout
    run = folder / "runs" / "2024_01"
    assert str(run) in first.stdout

    games = pd.read_parquet(run / "games")
    assert len(games) == games["game_id"].nunique() == 12
    assert set(games["outcome"]) <= {"win", "draw"}
    pairs = duckdb.sql(f"select entrant_0, entrant_1, count(*) from '{run}/games/*.parquet' group by all").fetchall()
    assert sorted(count for _, _, count in pairs) == [2] * 6
    assert len(pd.read_csv(run / "ratings.csv")) == len(pd.read_parquet(run / "ratings.parquet")) == 3

    again = tournament(folder, "run=2024_01", *SMALL)
    assert again.returncode == 0, again.stderr
    assert "12 of 12 games, 0 void; 0 played" in again.stdout
    assert len(Run.open(run).games()) == 12

    other = tournament(folder, "run=2024_01", *SMALL, "seed=4")
    assert other.returncode == 2
    assert len(other.stderr.splitlines()) == 1
    assert "seed: 3 -> 4" in other.stderr
    assert len(Run.open(run).games()) == 12

    more = tournament(folder, "run=2024_01", *SMALL, "tournament.games_per_pair=6", "extend=true")
    assert more.returncode == 0, more.stderr
    assert "18 of 18 games, 0 void; 6 played" in more.stdout


def test_void_games_are_told_by_the_exit_code(folder: Path) -> None:
    fault = "{kind: scripted, name: broken, fault: raise}"
    played = tournament(
        folder, "run=r", "game=standin", f"agents=[random,{fault}]", "tournament.games_per_pair=2", "cluster.workers=1"
    )
    assert played.returncode == 4, played.stderr
    assert "2 of 2 games, 2 void" in played.stdout


def test_games_that_cannot_be_rated_now_are_rated_by_the_same_command(folder: Path) -> None:
    in_the_way = folder / "runs" / "r" / "ratings.parquet"
    (in_the_way / "of somebody else").mkdir(parents=True)
    played = tournament(folder, "run=r", *SMALL)
    assert played.returncode == 3, played.stderr
    last = played.stderr.splitlines()[-1]
    assert last.startswith("jobs.tournament: all games are kept, but not rated: ")
    assert last.endswith("; once this is mended the same command rates them")
    assert "Traceback" not in played.stderr
    (in_the_way / "of somebody else").rmdir()
    in_the_way.rmdir()
    again = tournament(folder, "run=r", *SMALL)
    assert again.returncode == 0, again.stderr
    assert "12 of 12 games, 0 void; 0 played" in again.stdout
    assert len(pd.read_parquet(in_the_way)) == 3


def test_ctrl_c_keeps_what_was_played_and_the_same_command_goes_on(folder: Path) -> None:
    argv = [*GAME, "run=r", "tournament.games_per_pair=40", "options.seconds=0.01", "storage.part_rows=2"]
    command = [sys.executable, "-m", "jobs.tournament", *argv, "cluster.workers=1"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: process.poll() is not None or any((folder / "runs" / "r").glob("games/*.parquet")))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert "not complete, the same command goes on" in out
    before = len(Run.open(folder / "runs" / "r").games())
    assert 0 < before < 120
    again = tournament(folder, *argv, "cluster.workers=2")
    assert again.returncode == 0, again.stderr
    assert f"120 of 120 games, 0 void; {120 - before} played" in again.stdout


def test_ctrl_c_while_modules_are_imported_is_one_line(folder: Path) -> None:
    # What is imported may catch whatever goes wrong, as Ray and what it imports do.
    (folder / "omegaconf.py").write_text(
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\nexcept BaseException:\n    pass\n"
    )
    for job, code in (("tournament", 3), ("replay", 130)):
        stopped = subprocess.run(
            [sys.executable, "-m", f"jobs.{job}", "run=r"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (stopped.returncode, stopped.stdout, stopped.stderr) == (code, "", f"jobs.{job}: interrupted\n")


def test_ctrl_c_before_a_run_is_opened_ends_as_later(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("jobs.tournament.check_balance", interrupt)
    assert main(["run=r", *SMALL]) == 3
    assert capsys.readouterr().err == "jobs.tournament: interrupted\n"


def wait_until(ready: Callable[[], bool]) -> None:
    """Return once ``ready`` is true; the test's own time limit ends a wait that never does."""
    while not ready():
        time.sleep(0.05)


def test_a_bad_configuration_is_one_line_and_leaves_nothing(folder: Path) -> None:
    for argv, said in (
        (["agents=[random,heuristc]"], "unknown agent 'heuristc'"),
        (["tournament.games_per_par=4"], "did you mean 'tournament.games_per_pair'"),
        (["run=r", "agents=[random,scripted_first]", "cluster.workers=many"], "cluster.workers: 'many'"),
    ):
        refused = tournament(folder, *argv)
        assert refused.returncode == 2
        assert refused.stdout == ""
        assert len(refused.stderr.splitlines()) == 1
        assert said in refused.stderr
    assert not (folder / "runs").exists()


def test_of_progress_nothing_is_said_before_the_cluster_is_there(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # An address that only Ray itself can refuse, when the run is open already.
    argv = ["run=r", *SMALL, f"storage.root={tmp_path}", "cluster.workers=null", "cluster.address=nobody"]
    assert main(argv) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("jobs.tournament: cluster.address: no Ray at 'nobody': ")


class TestWithoutStarting:
    """What is found before anything is played, asked for in this process."""

    @pytest.fixture(autouse=True)
    def _elsewhere(self, tmp_path: Path) -> Iterator[None]:
        before = Path.cwd()
        os.chdir(tmp_path)
        yield
        os.chdir(before)
        assert list(tmp_path.glob("runs*")) == []

    def test_a_dry_run_says_what_would_be_played(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["run=r", *GAME, "dry_run=true", "tournament.games_per_pair=10", "cluster.workers=3"]) == 0
        lines = dict(line.split(":", 1) for line in capsys.readouterr().out.splitlines())
        # 3 agents are 3 pairs; each plays 5 seeds in both seatings; a cycle is one seed of every pair.
        assert {name: value.split()[0] for name, value in lines.items() if name[0] != "d"} == {
            "games": "30",
            "agents": "3",
            "pairs of agents": "3",
            "pairs of decks": "1",
            "games per pair": "10",
            "games per cycle": "6",
            "workers": "3",
        }

    @pytest.mark.parametrize(
        ("argv", "said"),
        [
            (["tournament.games_per_pair=3"], "even number"),
            (["tournament.games_per_pair=0"], "even number"),
            (["agents=[random]"], "at least 2"),
            (["agents=[random,{kind: nothing}]"], "unknown kind of agent 'nothing'"),
            (["agents=[random,{kind: scripted, polcy: last}]"], "no setting 'polcy'"),
            (["options.choice=3"], "unknown option 'choice'"),
            (["game=chess"], "one of ptcg, standin"),
            (["game=ptcg"], "decks: must be given"),
        ],
    )
    def test_what_cannot_be_played_is_refused(
        self, capsys: pytest.CaptureFixture[str], argv: list[str], said: str
    ) -> None:
        assert main(["run=r", *GAME, "dry_run=true", *argv]) == 2
        out, err = capsys.readouterr()
        assert (out, len(err.splitlines())) == ("", 1)
        assert said in err


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("limits.game_seconds=nan", "limits.game_seconds: nan is not a number larger than 0"),
        ("limits.lease_seconds=inf", "limits.lease_seconds: inf is not a number larger than 0"),
        ("cluster.batch_seconds=2.6", "cluster.batch_seconds: 2.6 is more than 2.5"),
        ("limits.max_attempts=0", "limits.max_attempts: 0 is not a whole number from 1"),
        ("cluster.workers=99999999999", "cluster.workers: 99999999999 is not a whole number from 1"),
        ("tournament.games_per_pair=99999999999999999998", "is not an even number from 2"),
        ("ratings.tau=-1", "ratings.tau: must be a number above 0"),
        ("storage.root=foo://bar", "foo://bar"),
        ("storage.journal_dir=s3://bucket/journals", "storage.journal_dir: 's3://bucket/journals' is an address"),
    ],
)
def test_a_dry_run_refuses_what_the_run_would_refuse(
    setting: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["game=standin", "agents=[random,scripted_first]", "run=never", "dry_run=true", setting]
    assert main(argv) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
