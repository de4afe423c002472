"""Who may have which game, and when a worker is started: what a game failed with is not tried with again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from clocks import Clock

from orchestrator.cluster import WorkerHandle, WorkerPool
from orchestrator.config import ClusterConfig
from orchestrator.leases import Try
from orchestrator.schedule import ScheduledGame
from orchestrator.staff import Staff, WorkersFail


class Pool(WorkerPool):
    """Workers that are names only: nothing here depends on what a worker does."""

    def __init__(self) -> None:
        self.handles = {}
        self._hellos = {}

    def add(self, place: Mapping[str, Any] | None = None) -> WorkerHandle:
        name = f"worker-{len(self._hellos)}"
        handle = self.handles[name] = self._hellos[name] = WorkerHandle(name, None)
        return handle

    def remove(self, name: str) -> None:
        del self.handles[name]


def staff_on(*nodes: str, clock: Clock | None = None) -> Staff:
    """Workers that are ready, one for each of the nodes named."""
    staff = Staff(Pool(), ClusterConfig(workers=len(nodes)), clock or Clock())
    for handle, node in zip(staff._pool.handles.values(), nodes, strict=True):
        handle.ready = True
        staff.greeted(handle, node, "host")
    return staff


def game(failed_with: str = "", failed_on: str = "") -> Try:
    scheduled = ScheduledGame("g1", 0, "a vs b", 0, 0, 0, 1, ("a", "b"), ("", ""))
    with_whom, where = frozenset(failed_with.split()), frozenset(failed_on.split())
    return Try(scheduled, 1, False, failures=len(with_whom), failed_with=with_whom, failed_on=where)


def may_have(staff: Staff, one: Try) -> list[str]:
    ready = staff.ready()
    return [handle.name for handle in ready if staff.suits(handle)(one)]


@pytest.mark.parametrize(
    ("one", "who"),
    [
        (game(), ["worker-0", "worker-1", "worker-2"]),
        (game("worker-0", "n1"), ["worker-2"]),
        (game("", "n1"), ["worker-2"]),
        (game("worker-2", "n2"), ["worker-0", "worker-1"]),
        (game("worker-0 worker-2", "n1 n2"), ["worker-1"]),
        (game("worker-0 worker-1 worker-2", "n1 n2"), ["worker-0", "worker-1", "worker-2"]),
    ],
)
def test_a_game_that_failed_goes_to_another_worker_and_to_another_node_where_there_is_one(
    one: Try, who: list[str]
) -> None:
    assert may_have(staff_on("n1", "n1", "n2"), one) == who


def test_a_game_is_not_void_before_a_second_worker_has_failed_with_it() -> None:
    two, one = staff_on("n1", "n1"), staff_on("n1")
    assert [two.confirmed(game("worker-0")), two.confirmed(game("worker-0 worker-1"))] == [False, True]
    assert one.confirmed(game("worker-0"))
    # One that has died counts as well.
    assert two.confirmed(game("worker-0 worker-9"))


def test_a_worker_that_is_starting_is_waited_for_and_not_for_ever() -> None:
    clock = Clock()
    staff = staff_on("n1", "n1", clock=clock)
    staff._pool.handles["worker-1"].ready = False
    failed = game("worker-0", "n1")
    assert (may_have(staff, failed), staff.confirmed(failed)) == ([], False)
    clock.now += 61
    assert (may_have(staff, failed), staff.confirmed(failed)) == (["worker-0"], True)


def test_who_fails_three_games_rests_unless_all_do() -> None:
    staff = staff_on("n1", "n1")
    for number in range(3):
        one = game()
        one.scheduled = one.scheduled._replace(game_id=f"g{number}")
        staff.failed(one, "worker-0", "agent_error")
    assert [handle.name for handle in staff.ready()] == ["worker-1"]
    for number in range(3, 6):
        one = game()
        one.scheduled = one.scheduled._replace(game_id=f"g{number}")
        staff.failed(one, "worker-1", "agent_error")
    assert [handle.name for handle in staff.ready()] == ["worker-0", "worker-1"]


def test_who_rests_gets_no_game_while_another_is_starting() -> None:
    clock = Clock()
    staff = staff_on("n1", "n1", clock=clock)
    second = staff._pool.handles["worker-1"]
    second.ready = False
    for number in range(3):
        assert [handle.name for handle in staff.ready()] == ["worker-0"]
        one = game()
        one.scheduled = one.scheduled._replace(game_id=f"g{number}")
        staff.failed(one, "worker-0", "agent_error")
    assert staff.ready() == []
    second.ready = True
    assert [handle.name for handle in staff.ready()] == ["worker-1"]
    second.ready = False
    clock.now += 61
    assert [handle.name for handle in staff.ready()] == ["worker-0"], "it is not waited for for ever"


def test_workers_that_die_starting_end_the_run_only_where_no_other_plays() -> None:
    clock = Clock()
    playing = staff_on("n1", "n1", clock=clock)
    for _ in range(20):
        playing.died_starting("gone")
    del playing._pool.handles["worker-1"]
    playing.keep_up()
    assert len(playing._pool.handles) == 1, "it is not tried again at once"
    clock.now += 60
    playing.keep_up()
    assert len(playing._pool.handles) == 2
    alone = Staff(Pool(), ClusterConfig(workers=2), clock)
    for _ in range(4):
        alone.died_starting("gone")
    with pytest.raises(WorkersFail, match="5 game workers in a row died while they were starting: gone"):
        alone.died_starting("gone")


def test_a_machine_on_which_no_worker_can_start_ends_the_run_with_one_line_that_says_why(tmp_path: Path) -> None:
    # As where a node has no such package, or another version of it: only Ray's workers start so.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif any('default_worker' in one for one in sys.orig_argv):\n"
        "    sys.modules['orchestrator.workers'] = None\n"
    )
    command = [sys.executable, "-m", "jobs.tournament", "game=standin", "agents=[random,scripted_first]"]
    command += ["tournament.games_per_pair=4", "cluster.workers=1", "run=r", f"storage.root={tmp_path / 'runs'}"]

    def played(path: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": path}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=False)

    refused = played(str(tmp_path))
    assert refused.returncode == 3, refused.stderr
    last = refused.stderr.splitlines()[-1]
    assert last.startswith("jobs.tournament: 5 game workers in a row died while they were starting: its start failed")
    assert "ModuleNotFoundError: import of orchestrator.workers halted" in last
    assert last.endswith("the same command goes on")
    assert refused.stderr.count("died while") == 1
    assert "Traceback" not in refused.stderr
    assert "\x1b[" not in last
    assert played("").returncode == 0


def test_a_want_of_memory_costs_a_worker_only_where_its_node_has_others() -> None:
    staff = staff_on("n1", "n1", "n2")
    assert not staff.short_of_memory("worker-2", 8)
    assert staff.games_in_flight == ClusterConfig().games_in_flight // 2
    assert staff.short_of_memory("worker-0", 8)
    del staff._pool.handles["worker-0"]
    staff.keep_up()
    assert len(staff._pool.handles) == 2
