"""The Ray that a tournament starts for itself: what it refuses, and that it leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from standin_tournaments import tournament, wait_until

from jobs.processes import descendants, process_name
from orchestrator.cluster import check_object_store
from orchestrator.config import ClusterConfig, ConfigError
from orchestrator.processes import born
from orchestrator.status import read_status
from results.location import Location

SLOW = ("game=standin", "agents=[random,scripted_first]", "run=r", "tournament.games_per_pair=200", "cluster.workers=1")


def alive(processes: dict[int, str]) -> dict[int, str]:
    """Those of the processes that still run, by number and name."""
    return {pid: name for pid, name in processes.items() if process_name(pid) == name and born(pid)}


@pytest.fixture
def playing(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A tournament of its own process whose games take far longer than any stop waits for."""
    command = [sys.executable, "-m", "jobs.tournament", *SLOW, "options.seconds=30", f"storage.root={tmp_path}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: process.poll() is not None or in_flight(tmp_path), "games were under way")
        yield process
    finally:
        process.kill()
        process.communicate()


def in_flight(root: Path) -> int:
    """How many games the run tells to be with its workers."""
    status = read_status(Location.parse(root / "r"))
    return 0 if status is None else status.in_flight


def test_where_the_server_of_ray_is_killed_nothing_of_it_outlives_the_tournament(
    playing: subprocess.Popen[str],
) -> None:
    there = {pid: process_name(pid) for pid in descendants(playing.pid)}
    [victim] = [pid for pid, name in there.items() if name == "gcs_server"]
    os.kill(victim, signal.SIGKILL)
    out, err = playing.communicate()
    assert playing.returncode in (1, 3), out + err
    assert "Traceback" not in err
    agents = {pid: name for pid, name in there.items() if name.startswith(("ray::Dashboard", "ray::RuntimeEnv"))}
    assert len(agents) == 2
    assert not alive(agents), "by themselves they would look for the server for half a minute and more"
    wait_until(lambda: not alive(there), "all processes had ended")


def test_a_second_ctrl_c_ends_at_once_and_says_that_the_run_can_be_gone_on_with(playing: subprocess.Popen[str]) -> None:
    there = {pid: process_name(pid) for pid in descendants(playing.pid)}
    playing.send_signal(signal.SIGINT)
    # Games under way get four seconds; the next one is to come before they are over, and not together with the first.
    time.sleep(1.5)
    playing.send_signal(signal.SIGINT)
    _, err = playing.communicate()
    assert (playing.returncode, "stopped at once; what was played is kept" in err) == (3, True), err
    assert "Traceback" not in err
    wait_until(lambda: not alive(there), "all processes had ended")


def test_an_object_store_larger_than_the_machines_shared_memory_is_refused() -> None:
    free = shutil.disk_usage("/dev/shm").free // 2**20
    with pytest.raises(ConfigError, match=rf"cluster\.object_store_mb: {free + 10**6} MB are more than the \d+ MB"):
        check_object_store(ClusterConfig(object_store_mb=free + 10**6))
    check_object_store(ClusterConfig(object_store_mb=free + 10**6, address="auto"))
    check_object_store(ClusterConfig())


def test_it_is_never_a_ray_that_happens_to_run_here_and_it_needs_no_home(tmp_path: Path) -> None:
    config = tournament(tmp_path, games=2)
    command = [sys.executable, "-m", "jobs.tournament", "game=standin", "agents=[random,scripted_first]", "run=r"]
    command += ["tournament.games_per_pair=2", "cluster.workers=1", f"storage.root={config.storage.root}"]
    environment = {name: text for name, text in os.environ.items() if not name.startswith("RAY_")}
    environment |= {"RAY_ADDRESS": "127.0.0.1:1", "HOME": "/proc/nobody"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
