"""Tournaments of chat models for tests: the loopback server as a process of its own, and agents that ask it."""

from __future__ import annotations

import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
from llm_play import deck
from object_stores import environment
from standin_tournaments import journal_of

from jobs.processes import LoopbackProcess
from orchestrator.config import (
    BudgetConfig,
    ClusterConfig,
    Deck,
    Entrant,
    LimitsConfig,
    StorageConfig,
    TournamentConfig,
)
from results import Run
from results.schema import operational_columns


class Loopback(LoopbackProcess):
    """The loopback server for a ``with`` block, with ``arguments`` and ``variables`` of its environment."""

    def __init__(self, *arguments: str, **variables: str) -> None:
        super().__init__(arguments)
        self._variables = variables

    def __enter__(self) -> Self:
        with environment(**self._variables):
            super().__enter__()
        return self

    @property
    def url(self) -> str:
        """What a model has as its ``base_url``."""
        return self.base_url

    def reset(self) -> Self:
        """Have it forget what it has counted."""
        url = self.url.removesuffix("/v1") + "/reset"
        urllib.request.urlopen(urllib.request.Request(url, method="POST")).close()
        return self

    @property
    def requests(self) -> int:
        """How many requests have come."""
        return int(self.statistics()["requests"])


def llm(url: str, profile: str = "skill_8", harness: Mapping[str, Any] | None = None, **model: Any) -> dict[str, Any]:
    """An agent that asks the profile of the loopback server at ``url``; ``model`` are further keys of the model."""
    base = {
        "id": f"loopback/{profile}",
        "base_url": url,
        "context_size": 128_000,
        "price": {"input": 1, "output": 4},
        "retry": {"first_wait_seconds": 0.05, "deadline_seconds": 60.0},
    }
    return {"kind": "llm", "model": {**base, **model}, "harness": {"history": "none", **(harness or {})}}


def llm_tournament(
    root: Path,
    agents: Mapping[str, Mapping[str, Any]],
    run: str = "r",
    games: int = 4,
    workers: int = 1,
    games_in_flight: int = 1,
    turn_cap: int = 5,
    limits: LimitsConfig | None = None,
    usd: float | None = None,
    address: str | None = None,
) -> TournamentConfig:
    """A tournament of ``games`` a pair that end after ``turn_cap`` turns."""
    return TournamentConfig(
        run,
        tuple(Entrant(name, config) for name, config in agents.items()),
        (Deck("charizard_ex", deck("charizard_ex")),),
        seed=7,
        options={"turn_cap": turn_cap},
        games_per_pair=games,
        limits=limits or LimitsConfig(),
        budget=BudgetConfig(usd),
        cluster=ClusterConfig(workers=workers, games_in_flight=games_in_flight, address=address),
        storage=StorageConfig(root=str(root), part_seconds=1.0),
    )


def run_of(config: TournamentConfig) -> Run:
    """The run as it is on disk."""
    return Run.open(Path(config.storage.root) / config.run)


def tables(config: TournamentConfig) -> dict[str, pa.Table]:
    """Games, decisions and calls of a run in every column that is not operational, in a fixed order."""
    run = run_of(config)
    keys = {"games": ("game_id",), "decisions": ("game_id", "decision"), "calls": ("game_id", "decision", "call")}
    return {
        table: getattr(run, table)()
        .drop_columns(list(operational_columns(table)))
        .sort_by([(key, "ascending") for key in by])
        for table, by in keys.items()
    }


def answers_of(config: TournamentConfig) -> list[tuple[int, int, int]]:
    """Seat, decision and call of all answers that the journal has for games in flight."""
    journal = journal_of(config)
    try:
        in_flight = "SELECT seat, decision, call FROM answers WHERE game_id NOT IN (SELECT game_id FROM games)"
        return sorted(journal.execute(in_flight).fetchall())
    finally:
        journal.close()


def files_with(folder: Path, text: str) -> list[Path]:
    """All files below ``folder`` in which ``text`` stands anywhere."""
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
