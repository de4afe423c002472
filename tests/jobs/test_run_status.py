"""Looking at a run and stopping it from another shell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from standin_tournaments import wait_until

from jobs.tournament import main
from results import Run

GAME = ("game=standin", "agents=[random,scripted_first]", "tournament.games_per_pair=2000", "options.seconds=0.004")


def started(folder: Path, *argv: str) -> subprocess.Popen[str]:
    """A tournament in a process of its own."""
    command = [sys.executable, "-m", "jobs.tournament", *GAME, "run=r", f"storage.root={folder}", "cluster.workers=1"]
    return subprocess.Popen([*command, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def asked(action: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit code and output of an action of the same command."""
    code = main([*GAME, "run=r", f"storage.root={folder}", f"action={action}", "limits.drain_seconds=20"])
    return code, capsys.readouterr().out


def test_a_run_is_looked_at_and_stopped_from_another_shell_and_its_open_games_come_to_their_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with started(tmp_path) as process:

        def is_played() -> bool:
            assert process.poll() is None
            code, said = asked("status", tmp_path, capsys) if (tmp_path / "r" / "manifest.json").exists() else (3, "")
            return code == 0 and " in flight with 1 workers" in said and "random " in said

        wait_until(is_played, "games were shown as in flight")
        code, said = asked("stop", tmp_path, capsys)
        out, err = process.communicate()
    assert (code, process.returncode) == (3, 3), err
    assert f"process {process.pid} on" in said
    assert "the same command goes on" in said
    assert "asked to stop: " in err
    assert "not complete, the same command goes on" in out
    done = len(Run.named(tmp_path, "r").games())
    assert f"{done} of 2000 games" in said
    assert f"{done} of 2000 games" in out
    code, said = asked("stop", tmp_path, capsys)
    assert (code, "nobody plays it, so there is nothing to stop" in said) == (3, True)


def test_a_run_whose_process_was_killed_is_shown_as_played_by_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with started(tmp_path) as process:
        wait_until(lambda: (tmp_path / "r" / "control" / "status.json").exists(), "the run was begun")
        process.kill()
    code, said = asked("status", tmp_path, capsys)
    assert code == 3
    assert f"process {process.pid} on" in said
    assert "has ended without a word" in said


def test_a_run_that_does_not_exist_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for action in ("status", "stop"):
        assert main(["run=first", f"storage.root={tmp_path}", f"action={action}"]) == 2
        err = capsys.readouterr().err
        assert (err.count("\n"), "no run 'first'" in err) == (1, True)


def test_a_time_for_open_games_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seconds in ("nan", "-1", "inf"):
        argv = ["run=first", f"storage.root={tmp_path}", "action=stop", f"limits.drain_seconds={seconds}"]
        assert main(argv) == 2
        err = capsys.readouterr().err
        assert err == f"jobs.tournament: limits.drain_seconds: {float(seconds)!r} is not a number larger than 0\n"
