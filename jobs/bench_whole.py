"""Measures whole runs of many short games: rate, processor time, memory as games go by, files, and a later start.

- ``N games`` are looks at a run while it is played: games a second since the look before, memory of the driver's and of
  each worker's own (resident, not shared), and the size of the journal's files.
- ``whole``: games a second from the first game that goes out to the last that is committed; processor time a game of
  the driver, the workers and Ray's servers; files of the finished run.
- ``later start, all finished``: the same command again, from the start of its process to the end of the tournament.
- ``later start, one twin missing``: the same with one seed more, the last of the schedule, until its first game begins.
"""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from jobs.bench_runs import Sample, WatchedRun, cpu_a_game
from orchestrator.config import Report, TournamentConfig
from orchestrator.tournament import run_tournament
from results.store import Run


def play(config: TournamentConfig, stream: io.StringIO) -> Report:
    """Play on an embedded Ray."""
    return run_tournament(config, stream)


def lines(config: TournamentConfig, games: int, workers: int, every: float) -> Iterator[dict[str, Any]]:
    """Metric lines, as :mod:`jobs.bench` prints them, of a run of about so many games, looked at so often (seconds)."""
    with tempfile.TemporaryDirectory(prefix="prizefight-bench-") as folder:
        config = replace(
            config,
            games_per_pair=games - games % 2,
            cluster=replace(config.cluster, workers=workers, address=None),
            storage=replace(config.storage, root=folder, journal_dir=None),
        )
        yield from _played(config, every)
        with WatchedRun(config, play) as run:
            run.finish()
            yield _line("later start, all finished", "seconds", time.time() - run.began, "s")
        yield from _one_twin_missing(replace(config, games_per_pair=config.games_per_pair + 2, extend=True))


def _played(config: TournamentConfig, every: float) -> Iterator[dict[str, Any]]:
    with WatchedRun(config, play) as run:
        first = before = None
        for sample in run.samples(every):
            first = first or sample
            yield from _curve(sample, before)
            before = sample
    report, last = run.report, run.last
    assert report is not None
    yield _line("whole", "games_per_s", report.played / report.playing_seconds, "1/s")
    if first is not None and last is not None and last.games > first.games:
        for name, microseconds in cpu_a_game(first, last).items():
            yield _line("whole", f"{name}_cpu_us_per_game", microseconds, "us")
    files = [path for path in Path(report.run_path).rglob("*") if path.is_file()]
    yield _line("whole", "files", len(files), "files")
    yield _line("whole", "bytes_per_game", sum(path.stat().st_size for path in files) / report.played, "B")


def _curve(sample: Sample, before: Sample | None) -> Iterator[dict[str, Any]]:
    case = f"{sample.games} games"
    if before is not None:
        rate = (sample.games - before.games) / (sample.at - before.at)
        yield _line(case, "games_per_s", rate, "1/s")
    yield _line(case, "driver_mb", sample.driver_mb, "MB")
    for number, megabytes in enumerate(sample.workers_mb):
        yield _line(case, f"worker_{number}_mb", megabytes, "MB")
    yield _line(case, "journal_mb", sample.journal_mb, "MB")


def _one_twin_missing(config: TournamentConfig) -> Iterator[dict[str, Any]]:
    with WatchedRun(config, play) as run:
        report = run.finish()
        began = round(run.began * 1e6)
    assert report.played > 0
    started = [
        moment
        for part in Run.open(report.run_path).parts("games", ["started_at"])
        for moment in pc.cast(part["started_at"], "int64").to_pylist()
        if moment > began
    ]
    yield _line("later start, one twin missing", "seconds", (min(started) - began) / 1e6, "s")


def _line(case: str, metric: str, value: float, unit: str) -> dict[str, Any]:
    return {"suite": "scale", "case": case, "metric": metric, "value": round(value, 3), "unit": unit}
