"""Jobs submitted to a real cluster of two nodes that wants a token."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from llm_tournaments import Loopback
from ray_clusters import RealCluster
from standin_tournaments import wait_until

from jobs.submission.variables import PAD
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
    assert not has_variables(cluster, job_id_in(done.stdout)), "the job has ended for good"
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


def test_a_killed_job_that_the_cluster_starts_again_has_its_variables_and_goes_on(
    cluster: RealCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    argv = ["game=standin", "agents=[random,scripted_first]", "options.seconds=0.004", "run=r", "cluster.workers=2"]
    argv += [f"storage.root={tmp_path}", "storage.part_seconds=1", "tournament.games_per_pair=${oc.env:PF_GAMES}"]
    with monkeypatch.context() as here:
        here.setenv("PF_GAMES", "10000")
        first = cluster.start(*submitted(cluster, *argv, "job_id=killed"))
    log = follow_until(first, r"^[1-9]\d*/10000 games")
    os.kill(driver_of(cluster), signal.SIGKILL)
    out, _ = first.communicate()
    assert first.returncode == 1, log + out
    assert has_variables(cluster, "killed")
    played = len(Run.named(tmp_path, "r").games())
    assert played > 0

    start_again(cluster, "killed", "again")
    access = (f"cluster.dashboard={cluster.dashboard}", "job_id=again")
    following = cluster.start("jobs.submit", *access, "action=logs")
    log = follow_until(following, r"^\d+/10000 games")
    assert int(re.findall(r"^(\d+)/10000 games", log, re.MULTILINE)[0]) >= played
    assert has_variables(cluster, "again")
    assert cluster.run("jobs.submit", *access, "action=stop").returncode == 3
    following.communicate()
    assert not has_variables(cluster, "again"), "whoever stops a job wants no more of it"
    wait_until(lambda: not game_processes(cluster), "no process was left")


def start_again(cluster: RealCluster, job_id: str, new_id: str) -> None:
    """Give Ray the same command in the same environment once more, as what restarts jobs does."""
    job = cluster.get(f"/api/jobs/{job_id}")
    told = {"entrypoint": job["entrypoint"], "runtime_env": job["runtime_env"], "submission_id": new_id}
    answer = asked(cluster, "/api/jobs/", json.dumps(told).encode())
    assert answer == 200


def has_variables(cluster: RealCluster, job_id: str) -> bool:
    """Whether the variables that went with a job are still with the cluster."""
    name = cluster.get(f"/api/jobs/{job_id}")["runtime_env"]["env_vars"][PAD].partition(":")[0]
    return asked(cluster, f"/api/packages/gcs/{name}") == 200


def asked(cluster: RealCluster, path: str, content: bytes | None = None) -> int:
    """The status with which the dashboard answers."""
    headers = {"Authorization": f"Bearer {cluster.token}", "Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(cluster.dashboard + path, content, headers)) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code


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
