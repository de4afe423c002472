"""What is known of a process: whether it runs, since when, and what runs below it."""

from __future__ import annotations

import os
import subprocess
import sys

from orchestrator.processes import born, children, this_machine


def test_a_process_is_known_by_when_it_was_started_until_it_ends_though_nobody_has_asked_for_its_exit_code() -> None:
    name = os.path.basename(sys.executable)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        since = born(child.pid)
        assert since not in ("", born(os.getpid()))
        assert int(since) > int(born(os.getpid()))
        assert child.pid in children(os.getpid(), name)
        assert children(os.getpid(), f"not {name}") == []
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert os.path.exists(f"/proc/{child.pid}"), "its exit code is left"
        assert born(child.pid) == ""
        assert child.pid not in children(os.getpid(), name)
    assert born(child.pid) == ""


def test_processes_of_one_machine_agree_on_which_it_is() -> None:
    told = [sys.executable, "-c", "from orchestrator.processes import this_machine; print(this_machine())"]
    assert subprocess.run(told, capture_output=True, text=True, check=True).stdout.rstrip("\n") == this_machine() != ""
