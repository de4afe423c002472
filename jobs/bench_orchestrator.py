"""Measures what a tournament costs over playing alone: Ray, journal, leases and parts.

- ``bare`` is one process, of the niceness of Ray's workers, that only plays the games and makes their rows.
- A number of workers is a tournament of these games on so many, in a process of its own. Its rate is counted from the
  first game that is sent to the last that is committed, without Ray's start. ``efficiency`` is that rate over workers
  times the bare rate, by the clock: other work on the machine gets into it. ``cpu_efficiency`` is the bare time a game
  over the processor time that all of the tournament's processes take for one, which is what is left of the processors
  for playing where nothing else runs. ``peak_rss_mb`` is the largest resident memory of the driver, the workers and
  Ray's servers together, memory that they share counted for each.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from jobs.bench_runs import WatchedRun, cpu_a_game
from jobs.bench_whole import play
from orchestrator.config import TournamentConfig
from orchestrator.play import Playthrough, Setup
from orchestrator.schedule import Schedule
from orchestrator.workers import Errand, play_errand

_WARM_UP_GAMES: Final = 20
_LOOK_SECONDS: Final = 3.0
_NICENESS: Final = int(os.environ.get("RAY_worker_niceness", "15"))  # noqa: SIM112


def lines(
    config: TournamentConfig, seconds: float = 20.0, worker_counts: Sequence[int] = (1, 2)
) -> Iterator[dict[str, Any]]:
    """Metric lines for tournaments of the games that ``config`` begins with, as :mod:`jobs.bench` prints them.

    So many games are taken that they keep the bare process busy for about ``seconds``. Agents must be such that never
    wait.
    """
    with multiprocessing.get_context("spawn").Pool(1) as other:
        games, bare, bare_cpu = other.apply(bare_rate, (config, seconds))
    yield _line("bare", "games_per_s", bare, "1/s")
    yield _line("bare", "cpu_us_per_game", bare_cpu * 1e6, "us")
    twins = -(-games // Schedule(config).cycle_games)
    for workers in worker_counts:
        with tempfile.TemporaryDirectory(prefix="prizefight-bench-") as folder:
            tournament = replace(
                config,
                run=f"workers_{workers}",
                games_per_pair=2 * twins * workers,
                cluster=replace(config.cluster, workers=workers, address=None),
                storage=replace(config.storage, root=folder, journal_dir=None),
            )
            with WatchedRun(tournament, play, _LOOK_SECONDS) as run:
                first = next(run.samples(0.0), None)
                report = run.finish()
        case = str(workers)
        rate = report.played / report.playing_seconds
        yield _line(case, "games_per_s", rate, "1/s")
        yield _line(case, "efficiency", rate / (workers * bare), "1")
        if first is not None and run.last is not None and run.last.games > first.games:
            cpu = cpu_a_game(first, run.last)
            yield _line(case, "cpu_efficiency", bare_cpu * 1e6 / sum(cpu.values()), "1")
            for name, microseconds in cpu.items():
                yield _line(case, f"{name}_cpu_us_per_game", microseconds, "us")
        yield _line(case, "peak_rss_mb", run.peak_mb, "MB")


def bare_rate(config: TournamentConfig, seconds: float) -> tuple[int, float, float]:
    """Games played, a whole number of cycles; games a second and processor seconds a game of this process."""
    os.nice(max(_NICENESS - os.nice(0), 0))
    setup = Setup.of(config)
    schedule = Schedule(replace(config, games_per_pair=2**40))
    for number in range(_WARM_UP_GAMES):
        _play(setup, schedule, number)
    games = 0
    started, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - started < seconds or games % schedule.cycle_games:
        _play(setup, schedule, games)
        games += 1
    return games, games / (time.perf_counter() - started), (time.process_time() - cpu) / games


def _play(setup: Setup, schedule: Schedule, number: int) -> None:
    play_errand(setup, "bare", Errand(schedule.game_at(number), 1, 0), Playthrough())


def _line(case: str, metric: str, value: float, unit: str) -> dict[str, Any]:
    return {"suite": "orchestrator", "case": case, "metric": metric, "value": value, "unit": unit}
