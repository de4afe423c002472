"""Runs that are written without playing: games come into the journal as if workers had sent them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from game_rows import MANIFEST, decision_row, game_id, game_row
from standin_tournaments import tournament

from orchestrator.config import StorageConfig, TournamentConfig
from orchestrator.journal import Answer, FinishedGame, Spending
from orchestrator.parts import PartWriter
from orchestrator.start import OpenedRun, journal_folder, opened_run
from results import Manifest, Run
from results.location import Location

PAID = Spending(1, 1000, 400, 50, 20, 0.25, 1.5)


def stored(root: str, journal_dir: Path | None = None, **storage: Any) -> TournamentConfig:
    """A run ``r`` below ``root``; ``storage`` are further settings of its storage."""
    config = tournament(Path("unused"))
    where = None if journal_dir is None else str(journal_dir)
    settings: dict[str, Any] = {"part_seconds": 600.0, "flush_seconds": 600.0, "writer_seconds": 1.0, **storage}
    return replace(config, storage=StorageConfig(root=root, journal_dir=where, **settings))


def place(config: TournamentConfig) -> Location:
    """Where the run is."""
    return Location.parse(config.storage.root).child(config.run)


def run_of(config: TournamentConfig) -> Run:
    """The run as a reader sees it."""
    return Run.open(place(config))


@dataclass
class Driver:
    """A process that writes a run, or what such a process does."""

    opened: OpenedRun
    parts: PartWriter
    said: list[str] = field(default_factory=list)

    def finish(self, numbers: Iterable[int]) -> None:
        """Games of those numbers come to their end."""
        journal, commits = self.opened.journal, self.opened.commits
        rows = []
        for number in numbers:
            grant = commits.call(journal.grant, [(game_id(number), 1)], "w")[0]
            row = json.dumps(game_row(number, actions=[f"0 take:{number}"])).encode()
            rows.append(FinishedGame(grant.game_id, grant.epoch, ("a", "b"), "win", 0, row))
        assert len(commits.call(journal.finish, rows)) == len(rows)
        self.parts.rows_added(len(rows), sum(len(one.row) for one in rows))

    def answer(self, number: int, calls: Iterable[int], decide: bool = False) -> None:
        """Calls of the first decision of a game are answered, and it decides."""
        journal, commits = self.opened.journal, self.opened.commits
        grant = commits.call(journal.grant, [(game_id(number), 1)], "w")[0]
        for call in calls:
            text = f'{{"reply": "{number}.{call} \ud800"}}'.encode("utf-8", "surrogatepass")
            one = Answer(0, 0, call, 0, f"digest {number}.{call}", text)
            assert commits.call(journal.record_answer, grant.game_id, grant.epoch, "a", one, PAID)
        if decide:
            row = json.dumps(decision_row(number, 0)).encode()
            commits.call(journal.record_decision, grant.game_id, grant.epoch, 0, row)
            self.parts.rows_added(1, len(row))

    def write(self) -> None:
        """Bring all that waits to the storage now."""
        self.parts.flush()


@contextmanager
def driving(config: TournamentConfig, seconds: float = 20.0, manifest: Manifest = MANIFEST) -> Iterator[Driver]:
    """Write the run for as long as the block lasts, and all that waits at its end."""
    said: list[str] = []
    location = place(config)
    manifest = replace(manifest, checkpointed=True, starts=({},))
    with opened_run(config, location, manifest, journal_folder(config, location), said.append) as opened:
        driver = Driver(opened, opened.part_writer(config, said.append), said)
        yield driver
        left = driver.parts.close(seconds)
        if left is not None:
            said.append(left)


def games_there(config: TournamentConfig) -> list[str]:
    """The games that a reader finds, in order."""
    found: list[str] = sorted(run_of(config).games(["game_id"])["game_id"].to_pylist())
    return found


def ids(numbers: Iterable[int]) -> list[str]:
    """The ids of games of those numbers, in order."""
    return sorted(game_id(number) for number in numbers)


def naive_rows(folder: Path) -> list[str]:
    """The games that pandas finds in a folder of parts."""
    import pandas as pd

    return list(pd.read_parquet(folder, columns=["game_id"])["game_id"])
