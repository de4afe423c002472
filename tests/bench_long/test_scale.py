"""``jobs.bench suite=scale`` with whole runs, real nodes and simulated workers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def test_a_whole_run_and_later_starts_of_it(tmp_path: Path) -> None:
    found = scale(
        tmp_path, "parts=[whole]", "games=600", "workers=[1]", "every=1", "options={turns: 2, seconds: 0.002}"
    )
    looks = [line["case"] for line in found if line["metric"] == "driver_mb"]
    assert looks
    for case in looks:
        metrics = {line["metric"] for line in found if line["case"] == case}
        assert metrics >= {"driver_mb", "worker_0_mb", "journal_mb"}
    value = {(line["case"], line["metric"]): line["value"] for line in found}
    # One part, the journal, the manifest, and a few records of the run; no more for more games.
    assert value["whole", "files"] < 12
    # Two moves of two milliseconds each.
    assert value["whole", "games_per_s"] < 250
    assert {case for case, metric in value if metric == "seconds"} == {
        "later start, all finished",
        "later start, one twin missing",
    }


def test_nodes_and_simulated_workers(tmp_path: Path) -> None:
    argv = ["nodes=[2]", "simulated=[3]", "games=200", "seconds=1", "game_seconds=0.02"]
    found = scale(tmp_path, "parts=[nodes,simulated]", *argv)
    value = {(line["case"], line["metric"]): line["value"] for line in found}
    assert value["2 nodes", "games_per_s"] > 0
    # Three workers with 50 games a second each.
    assert value["3 simulated workers", "share"] == pytest.approx(
        value["3 simulated workers", "games_per_s"] / 150, rel=0.01
    )
    assert value["3 simulated workers", "share"] <= 1.01


def scale(folder: Path, *argv: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "jobs.bench", "suite=scale", *argv]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for line in found:
        assert list(line) == ["suite", "case", "metric", "value", "unit"]
        assert line["value"] > 0
    return found
