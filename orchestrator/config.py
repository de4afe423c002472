"""What a tournament is made of: plain typed data, complete and self-contained.

Jobs compose these from configuration files; nothing here or below reads one. Everything is picklable, so that a worker
on another machine needs nothing but what it is sent. ``orchestrator.run_tournament(config)`` plays one and returns a
:class:`Report`; ``orchestrator.schedule.Schedule(config)`` is what will be played, and ``len()`` of it how many games.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class ConfigError(ValueError):
    """A tournament that cannot be played as configured; the text is one line saying what is wrong and what is right."""


class DeckPairing(StrEnum):
    """Which decks meet: each deck itself only, or every pair of decks, mirrors included."""

    MIRROR = "mirror"
    CROSS = "cross"


@dataclass(frozen=True, slots=True)
class Entrant:
    """One agent of a tournament: a name that is unique in the run and the plain-JSON configuration that builds it."""

    name: str
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Deck:
    """A deck: a name that is unique in the run and its cards as card id to count (empty for a game without cards)."""

    name: str
    cards: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LimitsConfig:
    """How long and how often a game is tried. All may change between two starts of a run."""

    game_seconds: float = 600.0
    """Wall-clock limit of one game; a game over it is cut, retried and in the end recorded as void."""
    llm_game_seconds: float = 6 * 3600.0
    """The same for a game with an agent that makes LLM calls. Waiting for the endpoint's limits, for the budget and
    between tries of a call does not count."""
    lease_seconds: float = 120.0
    """A game without any progress for so long is taken from its worker. Longer than the longest single decision; LLM
    calls do not count, they have time-outs of their own."""
    drain_seconds: float = 60.0
    """How long open games may take to come to their end after ``action=stop``; then they are left as they are."""
    max_attempts: int = 3
    """How often a game that fails is tried in all before it is recorded as void."""


@dataclass(frozen=True, slots=True)
class BudgetConfig:
    """What a run may cost. May change between two starts."""

    usd: float | None = None
    """US dollars for all LLM calls of the run, earlier starts included; ``None``: no bound."""


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """Where games are played. All may change between two starts of a run."""

    workers: int | None = 2
    """Game workers (Ray actors), each a process that keeps one core busy. ``None``: as many as the cluster has
    processors, more and fewer as nodes come and go."""
    address: str | None = None
    """A running Ray cluster to join (``auto``, ``ray://…``, ``host:port``); ``None`` starts an embedded local one."""
    games_in_flight: int = 64
    """How many games one worker keeps open at once where an agent waits for something outside the process."""
    batch_seconds: float = 0.75
    """Games of agents that never wait are sent in batches that take about so long, at most 2.5 s."""
    object_store_mb: int = 100
    """Size of the embedded Ray object store in MB (at least 80)."""
    send_code: bool | None = None
    """Send the program to the workers of a cluster that was joined; ``None``: where it is joined by ``ray://``."""
    metrics: bool | None = None
    """Export metrics through Ray; ``None``: on a cluster that was joined."""


@dataclass(frozen=True, slots=True)
class StorageConfig:
    """Where a run is kept. ``root`` is the parent of runs: a local path or any address that ``pyarrow.fs`` knows."""

    root: str = "runs"
    journal_dir: str | None = None
    """Parent of journals, on a local disk of the driver's machine: the journal is in ``<journal_dir>/<run>``. ``None``
    puts it into the run's own folder, ``<root>/<run>/journal``."""
    part_rows: int = 10_000
    """A Parquet part is full with so many rows …"""
    part_seconds: float = 30.0
    """… and the last one, which is not, is written again when the first row that is not in it has waited so long."""
    flush_seconds: float = 30.0
    """Where the journal is not in the run's folder: what is in the journal is in the run's storage after so long."""
    writer_seconds: float = 30.0
    """A process that writes the run and was not heard of for so long may be taken over from."""
    patience_seconds: float = 120.0
    """How long the end of a run waits for a storage that does not answer."""


@dataclass(frozen=True, slots=True)
class TournamentConfig:
    """A whole tournament.

    ``games_per_pair`` counts games per pair of entrants and deck (unordered pair of decks in ``cross``) and is even.
    """

    run: str
    entrants: tuple[Entrant, ...]
    decks: tuple[Deck, ...]
    seed: int = 0
    game: str = "ptcg"
    options: Mapping[str, Any] = field(default_factory=dict)
    """The game's own settings, plain JSON values (see :class:`engine.match.MatchSpec`)."""
    deck_pairing: DeckPairing = DeckPairing.MIRROR
    games_per_pair: int = 2
    extend: bool = False
    """Allow this start to add entrants, decks or games to a run that was begun with fewer."""
    limits: LimitsConfig = LimitsConfig()
    budget: BudgetConfig = BudgetConfig()
    cluster: ClusterConfig = ClusterConfig()
    storage: StorageConfig = StorageConfig()


@dataclass(frozen=True, slots=True)
class Report:
    """How one start of a tournament ended. Counts are games; void games count as done."""

    total: int
    done: int
    void: int
    played: int
    """Finished by this start."""
    seconds: float
    """Wall clock of this start, Ray's start included."""
    playing_seconds: float
    """From the first game that was sent to a worker to the last that was committed; 0 where none was."""
    interrupted: bool
    """Stopped by a signal before it was complete; the same command goes on."""
    run_path: str
    paused: tuple[str, ...] = ()
    """A line for each model whose games could not go on, and why."""
    taken_out: tuple[str, ...] = ()
    """A line for each worker and each node that was taken out, and why."""
    unwritten: str | None = None
    """Why rows still wait in the journal, where the storage did not answer at the end."""

    @property
    def complete(self) -> bool:
        """Every game of the schedule has a result (a void one counts), and all is in the run's storage."""
        return self.done >= self.total and self.unwritten is None

    @property
    def exit_code(self) -> int:
        """0 complete, 3 incomplete but resumable, 4 complete with void games."""
        if not self.complete:
            return 3
        return 4 if self.void else 0
