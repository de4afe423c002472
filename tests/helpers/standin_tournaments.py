"""Tournaments of the stand-in game for tests: how they are described, run as processes of their own, and compared."""

from __future__ import annotations

import pickle
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from orchestrator.config import ClusterConfig, Entrant, LimitsConfig, StorageConfig, TournamentConfig
from orchestrator.schedule import Schedule
from results import Run
from results.schema import operational_columns

RANDOM = {"kind": "random"}
GREEDY = {"kind": "scripted", "prefer": ["take:9", "take:8", "take:7"]}
PATIENCE_SECONDS = 120.0
"""How long a test waits for something that must happen before it fails; says nothing about how fast it should."""


def tournament(
    root: Path,
    run: str = "r",
    games: int = 20,
    agents: Mapping[str, Mapping[str, Any]] | None = None,
    workers: int = 2,
    limits: LimitsConfig | None = None,
    cluster: Mapping[str, Any] | None = None,
    storage: Mapping[str, Any] | None = None,
    extend: bool = False,
    **options: Any,
) -> TournamentConfig:
    """A tournament of ``games`` a pair; ``options`` are the stand-in game's."""
    return TournamentConfig(
        run,
        tuple(Entrant(name, config) for name, config in (agents or {"a": RANDOM, "b": GREEDY}).items()),
        (),
        seed=7,
        game="standin",
        options=options,
        games_per_pair=games,
        extend=extend,
        limits=limits or LimitsConfig(),
        cluster=ClusterConfig(workers=workers, **(cluster or {})),
        storage=StorageConfig(root=str(root), **(storage or {})),
    )


def twin_seed(config: TournamentConfig, twin: int) -> int:
    """The match seed of a twin of a tournament without decks."""
    schedule = Schedule(config)
    return schedule[twin * schedule.cycle_games].seed


def start(config: TournamentConfig, stderr: Any = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Play ``config`` in a process and process group of its own; its exit code is the report's."""
    program = (
        "import pickle, sys; from orchestrator import run_tournament\n"
        "sys.exit(run_tournament(pickle.load(sys.stdin.buffer)).exit_code)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stderr=stderr, start_new_session=True
    )
    assert child.stdin is not None
    child.stdin.write(pickle.dumps(config))
    child.stdin.close()
    return child


def journal_of(config: TournamentConfig) -> sqlite3.Connection:
    """The journal of a run, to look into."""
    path = Path(config.storage.root) / config.run / "journal" / "journal.sqlite"
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def games_done(config: TournamentConfig) -> int:
    """How many games of a run have been committed; 0 before there is a journal."""
    try:
        journal = journal_of(config)
        try:
            return int(journal.execute("SELECT count(*) FROM games").fetchone()[0])
        finally:
            journal.close()
    except sqlite3.OperationalError:
        return 0


def wait_until(condition: Callable[[], Any], what: str) -> None:
    """Wait for ``condition``; fails where it does not come about at all."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < until, f"it never came about that {what}"
        time.sleep(0.02)


def wait_for_games(config: TournamentConfig, games: int, child: subprocess.Popen[bytes] | None = None) -> None:
    """Wait until so many games have been committed, by ``child`` if it is given."""

    def there() -> bool:
        assert child is None or child.poll() is None, f"the tournament ended by itself with {child.returncode}"
        return games_done(config) >= games

    wait_until(there, f"{games} games were done")


def games_of(config: TournamentConfig) -> pa.Table:
    """All games of a run in every column that is not operational, in the order of their ids."""
    run = Run.open(Path(config.storage.root) / config.run)
    return run.games().drop_columns(list(operational_columns("games"))).sort_by("game_id")


def failed_tries(config: TournamentConfig) -> list[tuple[str, int, str]]:
    """Game, number of the try and cause of all tries that failed and counted."""
    journal = journal_of(config)
    try:
        return sorted(journal.execute("SELECT game_id, attempt, cause FROM attempts").fetchall())
    finally:
        journal.close()
