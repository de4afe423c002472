"""``jobs.bench suite=llm`` measures every figure that it is to."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

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
