"""``jobs.bench suite=orchestrator`` with real tournaments."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_what_workers_play_is_told_beside_what_one_bare_process_plays(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "jobs.bench", "suite=orchestrator", "game=standin", "seconds=0.2", "workers=[1]"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(line["value"] > 0 for line in found)
    metrics = [(line["case"], line["metric"]) for line in found]
    assert metrics[:4] == [
        ("bare", "games_per_s"),
        ("bare", "cpu_us_per_game"),
        ("1", "games_per_s"),
        ("1", "efficiency"),
    ]
    assert metrics[-1] == ("1", "peak_rss_mb")
    assert list(tmp_path.iterdir()) == []
