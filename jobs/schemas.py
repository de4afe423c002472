"""Parts of a configuration that several jobs share."""

from __future__ import annotations

from dataclasses import dataclass

import orchestrator.config as orchestrator_config
from jobs.config import key

_CLUSTER = orchestrator_config.ClusterConfig()
_STORAGE = orchestrator_config.StorageConfig()
_LIMITS = orchestrator_config.LimitsConfig()
_BUDGET = orchestrator_config.BudgetConfig()


@dataclass
class Storage:
    """Where runs are kept."""

    root: str = key("the parent of runs: a path or any address that pyarrow.fs knows", _STORAGE.root)
    journal_dir: str | None = key(
        "folder of the run's journal, on a local disk; null: journal/ inside the run's folder", _STORAGE.journal_dir
    )
    part_rows: int = key("rows of a Parquet part", _STORAGE.part_rows)
    part_seconds: float = key(
        "write the last one again when rows have waited so long, in seconds", _STORAGE.part_seconds
    )
    flush_seconds: float = key(
        "a journal outside the run's folder: bring what it has to the run's storage within so long",
        _STORAGE.flush_seconds,
    )
    writer_seconds: float = key(
        "a process not heard of for so long no longer holds the run, in seconds", _STORAGE.writer_seconds
    )
    patience_seconds: float = key(
        "how long the end of a run waits for a storage that does not answer", _STORAGE.patience_seconds
    )


@dataclass
class Cluster:
    """Where games are played."""

    workers: int | None = key(
        "game workers, each keeps one core busy; null: a worker a core, following a cluster's nodes", None
    )
    address: str | None = key("a running Ray cluster (auto, ray://HOST:PORT); null: an embedded one", _CLUSTER.address)
    games_in_flight: int = key("games one worker keeps open where agents wait for something", _CLUSTER.games_in_flight)
    batch_seconds: float = key("games of agents that never wait are sent in batches this long", _CLUSTER.batch_seconds)
    object_store_mb: int = key("size of the embedded Ray object store in MB", _CLUSTER.object_store_mb)
    send_code: bool | None = key("send the program to a cluster's workers; null: to one at ray://", _CLUSTER.send_code)
    metrics: bool | None = key("export metrics through Ray; null: on a cluster, not embedded", _CLUSTER.metrics)


@dataclass
class Limits:
    """How long and how often a game is tried."""

    game_seconds: float = key("wall-clock limit of one game, in seconds", _LIMITS.game_seconds)
    llm_game_seconds: float = key(
        "the same for a game with an agent that asks a model, waiting for its limits left out", _LIMITS.llm_game_seconds
    )
    lease_seconds: float = key("a game without progress for so long is given to another worker", _LIMITS.lease_seconds)
    drain_seconds: float = key("how long open games may go on after action=stop", _LIMITS.drain_seconds)
    max_attempts: int = key("how often a failing game is tried before it is void", _LIMITS.max_attempts)


@dataclass
class Budget:
    """What a run may cost."""

    usd: float | None = key(
        "US dollars for all LLM calls of the run, earlier starts included; null: no bound", _BUDGET.usd
    )


@dataclass
class Ratings:
    """How ratings are computed."""

    period: str = key(
        "what a rating period is: one cycle of the schedule, or the whole run", "cycle", choices=("cycle", "run")
    )
    tau: float = key("Glicko-2 system constant: how fast volatility may change", 0.5)
    rating: float = key("rating of an unrated agent", 1500.0)
    rating_deviation: float = key("rating deviation of an unrated agent", 350.0)
    volatility: float = key("volatility of an unrated agent", 0.06)
