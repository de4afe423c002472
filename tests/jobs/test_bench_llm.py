"""``jobs.bench suite=llm`` measures against a real loopback server, which never outlives it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from urllib.request import urlopen

import pytest

from jobs.bench import main
from jobs.processes import LoopbackProcess


def test_llm_agents_play_cards_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite=llm", "game=standin"]) == 2
    assert "LLM agents play ptcg only" in capsys.readouterr().err


def is_up(base_url: str) -> bool:
    try:
        urlopen(f"{base_url}/models", timeout=10).close()
    except OSError:
        return False
    return True


def test_the_server_ends_with_its_block() -> None:
    with LoopbackProcess() as server:
        assert is_up(server.base_url)
        assert server.statistics()["requests"] == 0
        assert len(server.pids()) == 2
    assert not is_up(server.base_url)


def test_the_server_ends_with_a_process_that_is_killed() -> None:
    script = (
        "import time; from jobs.processes import LoopbackProcess; s = LoopbackProcess(); s.__enter__();"
        "print(s.base_url, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        base_url = owner.stdout.readline().strip()
        assert is_up(base_url)
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    until = time.monotonic() + 60
    while is_up(base_url) and time.monotonic() < until:
        time.sleep(0.1)
    assert not is_up(base_url)


def test_a_server_that_does_not_start_is_said() -> None:
    with pytest.raises(RuntimeError, match="did not start"), LoopbackProcess(["--latency-ms", "slow"]):
        pass
