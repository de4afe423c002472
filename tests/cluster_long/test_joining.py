"""Drivers that join a real cluster of two nodes: by ``ray://`` and by its address, to the end, stopped, killed."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from object_stores import ENVIRONMENT, object_store
from ray_clusters import RealCluster
from standin_tournaments import wait_until

from orchestrator.status import read_status
from results import Run
from results.location import Location

GAME = ["jobs.tournament", "game=standin", "agents=[random,scripted_first]", "run=r", "cluster=address"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[RealCluster]:
    with RealCluster(nodes=2) as cluster:
        yield cluster


def address(cluster: RealCluster, how: str) -> str:
    """What a driver joins the cluster by."""
    return cluster.client if how == "client" else cluster.gcs


def nothing_is_left(cluster: RealCluster) -> bool:
    """Whether the cluster is as it was before anybody joined it."""
    left = [name for name in cluster.processes().values() if name.startswith(("ray::Game", "ray::Limit", "ray::Exp"))]
    return cluster.actors() == [] and left == []


def games_done(root: Path) -> int:
    """How many games the run tells to have been played."""
    status = read_status(Location.parse(root / "r"))
    return 0 if status is None else status.done


@pytest.mark.parametrize("how", ["client", "address"])
def test_both_nodes_play_and_nothing_is_left_of_it(cluster: RealCluster, tmp_path: Path, how: str) -> None:
    argv = [*GAME, f"cluster.address={address(cluster, how)}", f"storage.root={tmp_path}", "cluster.workers=2"]
    done = cluster.run(*argv, "tournament.games_per_pair=1000", "options.seconds=0.002")
    assert done.returncode == 0, done.stderr
    assert "1000 of 1000 games, 0 void" in done.stdout
    # A node has one processor, so that each has one of the two workers.
    assert len(set(Run.named(tmp_path, "r").games()["worker"].to_pylist())) == 2
    wait_until(lambda: nothing_is_left(cluster), "nothing was left on the cluster")


WHERE_FROM = """
import sys
from orchestrator.cluster import RayCluster
from orchestrator.config import ClusterConfig

def where_from():
    import orchestrator
    return orchestrator.__file__

send_code = {"null": None, "true": True, "false": False}[sys.argv[2]]
with RayCluster(ClusterConfig(workers=1, address=sys.argv[1], send_code=send_code)):
    import ray
    print(ray.get(ray.remote(where_from).remote()))
"""


@pytest.mark.parametrize(
    ("how", "send_code", "sent"),
    [
        *(("client", "null", True), ("client", "false", False)),
        *(("address", "null", False), ("address", "true", True)),
    ],
)
def test_the_program_is_sent_to_a_cluster_as_send_code_says_and_by_default_to_one_at_ray(
    cluster: RealCluster, how: str, send_code: str, sent: bool
) -> None:
    command = [sys.executable, "-c", WHERE_FROM, address(cluster, how), send_code]
    done = subprocess.run(
        command, env=cluster.environment, cwd=cluster.folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    # What Ray has unpacked for a driver is in the folder of a node.
    assert Path(done.stdout.strip()).is_relative_to(cluster.folder) == sent


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("how", ["client", "address"])
def test_a_driver_that_is_stopped_leaves_nothing_behind_and_its_run_goes_on(
    cluster: RealCluster, tmp_path: Path, how: str, number: signal.Signals
) -> None:
    argv = [*GAME, f"cluster.address={address(cluster, how)}", f"storage.root={tmp_path}", "cluster.workers=2"]
    argv += ["tournament.games_per_pair=100000", "options.seconds=0.004", "storage.part_seconds=1"]
    process = cluster.start(*argv)
    wait_until(lambda: process.poll() is not None or games_done(tmp_path), "games were played")
    games = games_done(tmp_path)
    process.send_signal(number)
    out, _ = process.communicate()
    assert process.returncode == (3 if number != signal.SIGKILL else -9), out
    wait_until(lambda: nothing_is_left(cluster), "nothing was left on the cluster")
    more = cluster.start(*argv)
    assert more.stdout is not None
    first_line = next(line for line in more.stdout if "/100000 games" in line)
    more.send_signal(signal.SIGTERM)
    more.communicate()
    assert int(first_line.split("/")[0]) >= games


def test_a_driver_elsewhere_has_its_metrics_exported_by_the_cluster(cluster: RealCluster, tmp_path: Path) -> None:
    argv = [*GAME, f"cluster.address={cluster.client}", f"storage.root={tmp_path}", "cluster.workers=1", "run=watched"]
    process = cluster.start(*argv, "tournament.games_per_pair=100000", "options.seconds=0.004")
    wait_until(lambda: 'run="watched"' in cluster.metrics(), "metrics were shown")
    process.send_signal(signal.SIGTERM)
    process.communicate()
    wait_until(lambda: nothing_is_left(cluster), "nothing was left on the cluster")


@pytest.mark.parametrize("how", ["client", "address", "dashboard"])
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"RAY_AUTH_TOKEN": ""}, "wants a token and there is none; give it in RAY_AUTH_TOKEN"),
        ({"RAY_AUTH_TOKEN": "0" * 32}, "has another token than"),
        ({"RAY_AUTH_MODE": "disabled"}, "wants a token, but RAY_AUTH_MODE is 'disabled'"),
    ],
)
def test_a_token_that_is_missing_or_wrong_is_told_in_one_line(
    cluster: RealCluster, tmp_path: Path, how: str, changes: dict[str, str], said: str
) -> None:
    root = tmp_path / "kept"
    if how == "dashboard":
        argv = ["jobs.submit", f"cluster.dashboard={cluster.dashboard}", *GAME[1:]]
    else:
        argv = [*GAME, f"cluster.address={address(cluster, how)}"]
    refused = cluster.run(*argv, f"storage.root={root}", "cluster.workers=1", **changes)
    assert refused.returncode == 2, refused.stdout
    assert (refused.stdout, refused.stderr.count("\n")) == ("", 1), refused.stderr
    assert said in refused.stderr
    assert not root.exists()


def test_a_job_goes_on_while_nobody_follows_it(cluster: RealCluster, tmp_path: Path) -> None:
    argv = ["jobs.submit", f"cluster.dashboard={cluster.dashboard}", *GAME[1:], f"storage.root={tmp_path}"]
    argv += ["cluster.workers=2", "tournament.games_per_pair=1000", "options.seconds=0.004", "job_id=mine"]
    follower = cluster.start(*argv)
    assert follower.stdout is not None
    assert next(line for line in follower.stdout if line == "job mine\n")
    follower.send_signal(signal.SIGINT)
    out, _ = follower.communicate()
    assert follower.returncode == 130, out
    assert "job mine goes on; follow it with `python -m jobs.submit job_id=mine" in out
    access = ("jobs.submit", f"cluster.dashboard={cluster.dashboard}", "job_id=mine")
    followed = cluster.run(*access, "action=logs")
    assert followed.returncode == 0, followed.stderr
    assert followed.stdout.count("1000 of 1000 games, 0 void") == 1
    assert cluster.run(*access, "action=status").stdout.startswith("job mine: succeeded, ")
    unknown = cluster.run(*access[:2], "job_id=other", "action=logs")
    assert (unknown.returncode, unknown.stderr) == (2, "jobs.submit: job_id: the cluster has no job 'other'\n")


def test_the_exit_code_of_a_job_is_that_of_its_submission(cluster: RealCluster, tmp_path: Path) -> None:
    broken = "{kind: scripted, name: broken, fault: raise}"
    argv = ["jobs.submit", f"cluster.dashboard={cluster.dashboard}", "game=standin", f"storage.root={tmp_path}"]
    void = cluster.run(*argv, f"agents=[random,{broken}]", "run=v", "tournament.games_per_pair=2", "cluster.workers=1")
    assert (void.returncode, "2 of 2 games, 2 void" in void.stdout) == (4, True), void.stdout
    rated = cluster.run(*argv[:2], "job=aggregate", "run=v", f"storage.root={tmp_path}")
    assert rated.returncode == 0, rated.stdout + rated.stderr
    nowhere = cluster.run(*argv[:2], "job=aggregate", "run=none", f"storage.root={tmp_path}")
    assert (nowhere.returncode, "no run 'none'" in nowhere.stdout) == (2, True)


def test_a_run_in_object_storage_is_watched_and_stopped_from_another_machine(cluster: RealCluster) -> None:
    with object_store() as store:
        root = f"s3://{store.bucket()}/runs"
        variables = {**ENVIRONMENT, "AWS_ENDPOINT_URL": store.url}
        game = ["game=standin", "agents=[random,scripted_first]", "run=far", f"storage.root={root}"]
        game += ["tournament.games_per_pair=100000", "options.seconds=0.004", "limits.drain_seconds=5"]
        journal = f"storage.journal_dir={cluster.folder / 'journals'}"
        passed = f"cluster.variables=[{','.join(variables)}]"
        argv = cluster.command("jobs.submit", f"cluster.dashboard={cluster.dashboard}", passed, journal, *game)
        with subprocess.Popen(
            [*argv, "cluster.workers=2"],
            env={**cluster.environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as follower:
            wait_until(lambda: "is alive" in status(cluster, game, variables), "it was played")
            stopped = cluster.run("jobs.tournament", *game, "action=stop", **variables)
            out, _ = follower.communicate()
        assert stopped.returncode == 3, stopped.stderr
        assert "nobody plays it; process " in stopped.stdout
        assert follower.returncode == 3, out
        assert "asked to stop: " in out
        done = re.findall(r"^not complete, the same command goes on: (\d+) of 100000 games", out, re.MULTILINE)
        assert f"{done[0]} of 100000 games" in stopped.stdout
        assert cluster.files_with(ENVIRONMENT["AWS_SECRET_ACCESS_KEY"]) == []


def status(cluster: RealCluster, game: list[str], variables: dict[str, str]) -> str:
    """How a run stands, as it is told."""
    return cluster.run("jobs.tournament", *game, "action=status", **variables).stdout


def test_an_embedded_ray_shows_metrics_where_it_says_and_only_where_that_is_asked_for(
    cluster: RealCluster, tmp_path: Path
) -> None:
    argv = ["jobs.tournament", "game=standin", "agents=[random,scripted_first]", f"storage.root={tmp_path}"]
    argv += ["tournament.games_per_pair=100000", "options.seconds=0.004", "cluster.workers=1"]
    process = cluster.start(*argv, "run=shown", "cluster.metrics=true")
    assert process.stdout is not None
    line = next(line for line in process.stdout if line.startswith("metrics are at "))
    url = line.removeprefix("metrics are at ").strip()
    wait_until(lambda: 'run="shown"' in urllib.request.urlopen(url).read().decode(), "metrics were shown")
    process.send_signal(signal.SIGTERM)
    process.communicate()
    done = cluster.run(*argv, "run=hidden", "tournament.games_per_pair=20")
    assert (done.returncode, "metrics" in done.stderr) == (0, False)
