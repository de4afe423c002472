"""Measures the orchestrator: what playing on Ray with journal, leases and parts costs over playing alone."""

from __future__ import annotations

import io
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from orchestrator.config import TournamentConfig
from orchestrator.play import Playthrough, Setup, build, finished_row, play_now
from orchestrator.schedule import Schedule
from orchestrator.tournament import run_tournament

_WARM_UP_GAMES = 20
_SAMPLE_SECONDS = 0.5


def lines(
    config: TournamentConfig, seconds: float = 20.0, worker_counts: Sequence[int] = (1, 2)
) -> Iterator[dict[str, Any]]:
    """Metric lines for tournaments of the games that ``config`` begins with, as :mod:`jobs.bench` prints them.

    The bare rate is that of one process that only plays those games and makes their rows; so many of them are taken
    that they keep it busy for about ``seconds``. A tournament's rate is counted from the first game that is sent to the
    last that is committed, without Ray's start. ``efficiency`` is that rate over workers times the bare rate;
    ``peak_rss_mb`` the largest resident memory of the driver, the workers and Ray's servers together, memory that they
    share counted for each. Agents must be such that never wait.
    """
    games, bare = bare_rate(config, seconds)
    yield _line("bare", "games_per_s", bare, "1/s")
    schedule = Schedule(config)
    twins = -(-games // schedule.cycle_games)
    for workers in worker_counts:
        with tempfile.TemporaryDirectory(prefix="prizefight-bench-") as folder:
            tournament = replace(
                config,
                run=f"workers_{workers}",
                games_per_pair=2 * twins,
                cluster=replace(config.cluster, workers=workers, address=None),
                storage=replace(config.storage, root=folder, journal_dir=None),
            )
            with PeakMemory() as memory:
                report = run_tournament(tournament, io.StringIO())
            rate = report.played / report.playing_seconds
            yield _line(str(workers), "games_per_s", rate, "1/s")
            yield _line(str(workers), "efficiency", rate / (workers * bare), "1")
            yield _line(str(workers), "peak_rss_mb", memory.megabytes, "MB")


def bare_rate(config: TournamentConfig, seconds: float) -> tuple[int, float]:
    """Games played, a whole number of cycles, and games per second of one process that does nothing else."""
    setup = Setup.of(config)
    schedule = Schedule(replace(config, games_per_pair=2**40))
    for number in range(_WARM_UP_GAMES):
        _play(setup, schedule, number)
    games = 0
    started = time.perf_counter()
    while time.perf_counter() - started < seconds or games % schedule.cycle_games:
        _play(setup, schedule, games)
        games += 1
    return games, games / (time.perf_counter() - started)


def _play(setup: Setup, schedule: Schedule, number: int) -> None:
    game = schedule.game_at(number)
    match, agents = build(setup, game, 1)
    record = Playthrough()
    play_now(match, agents, game.entrants, setup.game_seconds, record)
    finished_row(setup, game, 1, match, agents, record)


def _line(case: str, metric: str, value: float, unit: str) -> dict[str, Any]:
    return {"suite": "orchestrator", "case": case, "metric": metric, "value": value, "unit": unit}


class PeakMemory:
    """Within the ``with`` block, samples the resident memory of this process and of all below it (Linux)."""

    def __init__(self) -> None:
        self.megabytes = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._done.set()
        self._thread.join()

    def _sample(self) -> None:
        while True:
            self.megabytes = max(self.megabytes, _resident_megabytes(os.getpid()))
            if self._done.wait(_SAMPLE_SECONDS):
                return


def _resident_megabytes(pid: int) -> float:
    process = Path(f"/proc/{pid}")
    try:
        pages = int((process / "statm").read_text().split()[1])
        children = [child for task in (process / "task").iterdir() for child in (task / "children").read_text().split()]
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20 + sum(_resident_megabytes(int(child)) for child in children)
