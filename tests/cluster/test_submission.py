"""Jobs submitted to a real cluster of two nodes that wants a token."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from llm_tournaments import Loopback
from ray_clusters import RealCluster
from standin_tournaments import wait_until

from orchestrator.metrics import METRICS
from results import Run

KEY = "sk-test-0123456789abcdef"
MOVING = {f"prizefight_{name}" for name in ("games", "decisions", "games_scheduled", "games_done", "workers")}
NASTY = 'it\'s "$HOME" `id` {x} é ✓ & ; # $((1))'


@pytest.fixture(scope="module")
def cluster() -> Iterator[RealCluster]:
    with RealCluster(nodes=2) as cluster:
        yield cluster


def submitted(cluster: RealCluster, *argv: str) -> list[str]:
    """The command line that submits a tournament."""
    return ["jobs.submit", "job=tournament", f"cluster.dashboard={cluster.dashboard}", *argv]


def job_id_in(text: str) -> str:
    """The id that a submission has printed."""
    found = re.search(r"^job (\S+)$", text, re.MULTILINE)
    assert found is not None, text
    return found[1]


def test_a_tournament_of_chat_models_is_played_on_the_cluster_and_its_key_stands_nowhere(
    cluster: RealCluster, tmp_path: Path
) -> None:
    mine = tmp_path / "my conf"
    (mine / "model").mkdir(parents=True)
    (mine / "model" / "paid.yaml").write_text("defaults: [loopback, _self_]\nkey_env: PAID_MODEL_KEY\n")
    root = tmp_path / "kept here"
    with Loopback("--key-env", "PAID_MODEL_KEY", PAID_MODEL_KEY=KEY) as server:
        done = cluster.run(
            *submitted(cluster, "--config-dir", str(mine), f"run={NASTY}", f"storage.root={root}"),
            *("agents=[{model: paid, harness: minimal},random]", "decks=[charizard_ex]", "options.turn_cap=3"),
            *("tournament.games_per_pair=2", "cluster.workers=2"),
            PAID_MODEL_KEY=KEY,
            LOOPBACK_URL=server.url,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert server.requests > 0
    assert "with LOOPBACK_URL, PAID_MODEL_KEY" in done.stderr
    assert "2 of 2 games, 0 void; 2 played" in done.stdout
    assert "2/2 games (100 %)" in done.stdout
    assert re.search(r"^ +1 +(paid\+minimal|random) ", done.stdout, re.MULTILINE), "the leaderboard is in the log"
    assert not {"\r", "\x1b"} & set(done.stdout), "a log has plain lines only"
    run = Run.named(root, NASTY)
    assert run.manifest.run == NASTY
    assert len(run.games()) == 2
    for secret in (KEY, cluster.token):
        assert cluster.files_with(secret) == []
        assert [path for path in tmp_path.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()] == []


def test_a_killed_job_goes_on_with_the_same_command_and_a_stopped_one_leaves_nothing_behind(
    cluster: RealCluster, tmp_path: Path
) -> None:
    argv = [*submitted(cluster, "game=standin", "agents=[random,scripted_first]", "options.seconds=0.004", "run=r")]
    argv += [
        f"storage.root={tmp_path}",
        "tournament.games_per_pair=10000",
        "cluster.workers=2",
        "storage.part_seconds=1",
    ]
    first = cluster.start(*argv)
    names = {metric.exported for metric in METRICS if metric.name in MOVING}
    wait_until(
        lambda: names <= set(re.findall(r'^(\w+)\{.*run="r".*\} [1-9]', cluster.metrics(), re.M)), "metrics came"
    )
    os.kill(driver_of(cluster), signal.SIGKILL)
    out, _ = first.communicate()
    assert first.returncode == 1
    assert "was ended by signal 9; the same command goes on" in out
    played = len(Run.named(tmp_path, "r").games())
    assert played > 0

    again = cluster.start(*argv)
    log = follow_until(again, r"^(\d+)/10000 games")
    done_before = int(re.findall(r"^(\d+)/10000 games", log, re.MULTILINE)[0])
    assert done_before >= played
    access = (f"cluster.dashboard={cluster.dashboard}", f"job_id={job_id_in(log)}")
    status = cluster.run("jobs.submit", *access, "action=status")
    assert (status.returncode, "running" in status.stdout) == (0, True), status.stderr
    stopped = cluster.run("jobs.submit", *access, "action=stop")
    assert (stopped.returncode, "was stopped; the same command goes on" in stopped.stderr) == (3, True)
    out, _ = again.communicate()
    assert again.returncode == 3
    assert "not complete, the same command goes on" in log + out, "it had the time to end in order"
    assert len(Run.named(tmp_path, "r").games()) >= done_before
    wait_until(lambda: cluster.actors() == [], "no actor was left")
    wait_until(lambda: not game_processes(cluster), "no process was left")


def driver_of(cluster: RealCluster) -> int:
    """The process that plays a submitted tournament."""
    found = []
    for pid in cluster.processes():
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if b"jobs.submission.start" in words and b"python" in words[0]:
            found.append(pid)
    assert len(found) == 1, found
    return found[0]


def game_processes(cluster: RealCluster) -> list[str]:
    """Names of the processes of workers and drivers that are left on the cluster."""
    return [name for name in cluster.processes().values() if name.startswith("ray::Game") or "submission" in name]


def follow_until(process: subprocess.Popen[str], pattern: str) -> str:
    """What a process has printed once a line of it matches."""
    assert process.stdout is not None
    printed = ""
    for line in process.stdout:
        printed += line
        if re.match(pattern, line):
            return printed
    raise AssertionError(f"it ended without such a line: {printed}")
