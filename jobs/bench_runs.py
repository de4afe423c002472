"""A tournament in a process of its own, watched from here: games, processor time and memory of all its processes."""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from jobs.processes import cpu_seconds, descendants, process_name, resident_bytes
from orchestrator.config import Report, TournamentConfig
from orchestrator.status import read_status
from results.location import Location, StorageError

_WORKER: Final = "ray::GameWorker"
_LOOK_SECONDS: Final = 0.5

Play = Callable[[TournamentConfig, io.StringIO], Report]
"""Plays a tournament; at the top of a module, so that another process finds it."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The processes of a tournament at one moment. ``at`` is in seconds since it was started."""

    at: float
    games: int
    """Finished by what the run tells of itself every second."""
    cpu: dict[str, float]
    """Processor seconds so far of ``driver``, ``workers`` and ``ray`` (all other processes)."""
    driver_mb: float
    workers_mb: tuple[float, ...]
    """Memory of the processes' own: resident and backed by no file or shared memory."""
    journal_mb: float
    """The journal's files."""


class WatchedRun:
    """``config`` played in another process from the making of this on; to be used in a ``with`` block.

    Once games are played it is looked at no more often than ``every`` so many seconds: that takes from its processors.
    """

    def __init__(self, config: TournamentConfig, play: Play, every: float = _LOOK_SECONDS) -> None:
        context = multiprocessing.get_context("spawn")
        self._every = every
        self._ours, theirs = context.Pipe()
        self._folder = Path(config.storage.root) / config.run
        self.began = time.time()
        self._started = time.monotonic()
        self._process = context.Process(target=_child, args=(config, play, theirs))
        self._process.start()
        theirs.close()
        self.report: Report | None = None
        """What came of it, once it has ended."""
        self.last: Sample | None = None
        """The last look at it while it was playing."""
        self.peak_mb = 0.0
        """The most resident memory of all processes together at any look."""

    def __enter__(self) -> WatchedRun:
        return self

    def __exit__(self, *exception: object) -> None:
        self._ours.close()  # Where it plays still, it stops.
        self._process.join()

    def samples(self, seconds: float) -> Iterator[Sample]:
        """A sample about every so many seconds while games are played, the first when the first were finished.

        Ends with the tournament; raises ``RuntimeError`` with its error where it failed.
        """
        if self.report is not None:
            return
        due = looked = 0.0
        while not self._ours.poll(_LOOK_SECONDS):
            now = time.monotonic()
            if self.last is not None and now - looked < self._every:
                continue
            looked = now
            sample = self._sample()
            if sample is not None and self._is_later(sample):
                self.last = sample
                if sample.at >= due:
                    due = sample.at + seconds
                    yield sample
        try:
            said = self._ours.recv()
        except EOFError:
            self._process.join()
            raise RuntimeError(f"the tournament's process ended with {self._process.exitcode}") from None
        if isinstance(said, str):
            raise RuntimeError(said)
        self.report = said

    def _is_later(self, sample: Sample) -> bool:
        """Whether games have been played since the last one that was kept, by workers that are all there still."""
        if self.last is None:
            return sample.games > 0
        return sample.games > self.last.games and len(sample.workers_mb) >= len(self.last.workers_mb)

    def finish(self) -> Report:
        """Wait for its end without looking."""
        for _ in self.samples(float("inf")):
            pass
        assert self.report is not None
        return self.report

    def _sample(self) -> Sample | None:
        try:
            status = read_status(Location.parse(str(self._folder)))
        except (StorageError, OSError):
            return None
        pid = self._process.pid
        assert pid is not None
        if status is None or status.process != pid or status.done >= status.total:
            return None  # Not begun, or it is all played and the end takes processor time, but not for games.
        below = list(descendants(pid))
        self.peak_mb = max(self.peak_mb, sum(map(_resident_megabytes, [pid, *below])))
        workers = sorted(each for each in below if process_name(each).startswith(_WORKER))
        others = set(below).difference(workers)
        cpu = {
            "driver": cpu_seconds(pid),
            "workers": sum(map(cpu_seconds, workers)),
            "ray": sum(map(cpu_seconds, others)),
        }
        journal = sum(path.stat().st_size for path in (self._folder / "journal").glob("journal.sqlite*"))
        own = tuple(map(_own_megabytes, workers))
        at = time.monotonic() - self._started
        return Sample(at, status.done, cpu, _own_megabytes(pid), own, journal / 2**20)


def cpu_a_game(first: Sample, last: Sample) -> Mapping[str, float]:
    """Microseconds of processor time a game between two samples, of driver, workers and Ray's servers.

    The clock behind it ticks a hundred times a second: what took less than a tick is left out.
    """
    games = last.games - first.games
    took = {name: last.cpu[name] - first.cpu[name] for name in last.cpu}
    return {name: seconds / games * 1e6 for name, seconds in took.items() if seconds > 0}


def _resident_megabytes(pid: int) -> float:
    try:
        return resident_bytes(pid) / 2**20
    except OSError:
        return 0.0


def _own_megabytes(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon:")), 0.0)


def _child(config: TournamentConfig, play: Play, theirs: Connection[Any, Any]) -> None:
    def stop_with_parent() -> None:
        try:
            theirs.recv()
        except (EOFError, OSError):
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=stop_with_parent, daemon=True).start()
    try:
        theirs.send(play(config, io.StringIO()))
    except Exception as error:
        theirs.send(f"{type(error).__name__}: {error}")
