"""``jobs.bench suite=llm`` measures against a real loopback server, which never outlives it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from jobs.bench import main
from jobs.processes import LoopbackProcess

ALONE = [f"cpu_ms_per_decision_{part}" for part in ("client", "harness", "engine")]
TOGETHER = [f"cpu_ms_per_decision_{part}" for part in ("server", "journal", "workers", "ray")]


def test_every_figure_is_measured(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "jobs.bench", "suite=llm", "decks=[miraidon_ex]", "seconds=0.5"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(list(line) == ["suite", "case", "metric", "value", "unit"] for line in found)
    value = {(line["case"], line["metric"]): line["value"] for line in found}
    cases = [
        *((case, metric) for case in ("short", "long") for metric in ("kb_per_call_alone", *ALONE)),
        *(
            (case, metric)
            for case in ("short", "long")
            for metric in ("kb_per_call", "decisions_per_s", "cpu_ms_per_decision", *TOGETHER, "limiter_ms_p50")
        ),
        ("limit", "limit_utilisation"),
        ("limit", "refusals"),
        ("200 games", "rss_mb_per_game"),
        ("200 games", "decisions_per_game"),
    ]
    assert list(value) == cases
    for case in ("short", "long"):
        parts = sum(value[case, metric] for metric in TOGETHER)
        assert value[case, "cpu_ms_per_decision"] == pytest.approx(parts, abs=0.01)
        assert all(value[case, metric] > 0 for metric in (*ALONE, "decisions_per_s", "cpu_ms_per_decision_workers"))
    assert value["long", "kb_per_call"] > value["short", "kb_per_call"]
    # Three kilobytes, as near as the first turns with this deck come to it.
    for metric in ("kb_per_call", "kb_per_call_alone"):
        assert 2.5 < value["short", metric] < 4.5
    # In a second, what a pause lets go at once weighs much.
    assert 0 < value["limit", "limit_utilisation"] < 3
    assert value["limit", "refusals"] == 0
    assert value["200 games", "rss_mb_per_game"] > 0
    assert list(tmp_path.iterdir()) == []


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
