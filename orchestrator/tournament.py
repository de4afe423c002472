"""A tournament from its configuration to its end: the entry point of this floor."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import TextIO

import pyarrow as pa
import pyarrow.compute as pc

from agents.factory import make_agent
from engine.match import MatchSpec
from engine.registry import new_match
from orchestrator.access import check_address, show_token
from orchestrator.calls import now_microseconds
from orchestrator.cluster import RayCluster, WorkerPool, check_object_store
from orchestrator.config import ConfigError, Report, TournamentConfig
from orchestrator.disks import FolderLock, require_local_disk
from orchestrator.dispatch import Dispatcher
from orchestrator.group_commit import GroupCommit
from orchestrator.identity import check_same, engine_version, identity_of
from orchestrator.journal import PART_KINDS, Journal, Spending
from orchestrator.keys import key_variables
from orchestrator.parts import PartWriter, part_name
from orchestrator.play import Setup
from orchestrator.progress import ProgressDisplay, Standing
from orchestrator.providers import Providers, resolved
from orchestrator.reporting import Reporting
from orchestrator.schedule import Schedule, check_balance
from orchestrator.staff import Staff
from orchestrator.stop import StopSignals
from results.location import Location, StorageError
from results.manifest import MANIFEST_NAME, Manifest
from results.store import Run


def run_tournament(config: TournamentConfig, stream: TextIO | None = None) -> Report:
    """Play the tournament, or go on with it where an earlier start ended, however that ended.

    Progress goes to ``stream`` (standard error by default). Ctrl-C or SIGTERM stops it: what has been played is kept
    and the report says so; a second one stops it at once, and it can still be gone on with. Raises
    :class:`ConfigError` or :class:`results.location.StorageError`, before anything is written, for a configuration that
    cannot be played, a run that is another one or is being played by another process, and a journal that may not lie
    where it is to lie.
    """
    began = time.monotonic()
    config = resolved(config)
    schedule = Schedule(config)
    check_balance(schedule)
    check_settings(config, schedule)
    providers = Providers(config)
    location = Location.parse(config.storage.root).child(config.run)
    manifest = _manifest(config, schedule, location)
    folder = _journal_folder(config, location)
    lock = FolderLock(folder, f"run {config.run!r}")
    try:
        with StopSignals() as stop:
            process = f"process {os.getpid()} on {socket.gethostname()}"
            # A journal in the run's own folder moves with it; one that lies elsewhere belongs to one address.
            belongs_to = config.run if config.storage.journal_dir is None else location.path
            journal = Journal(folder, belongs_to, process, now_microseconds())
            commits = GroupCommit(journal)
            try:
                run = _open_run(config, location, manifest, commits.call(journal.counts)[0])
                _check_parts(run, journal, commits)
                return _play(config, schedule, run, journal, commits, providers, stop, stream or sys.stderr, began)
            finally:
                commits.close()
    finally:
        lock.release()


def _play(
    config: TournamentConfig,
    schedule: Schedule,
    run: Run,
    journal: Journal,
    commits: GroupCommit,
    providers: Providers,
    stop: StopSignals,
    stream: TextIO,
    began: float,
) -> Report:
    parts = PartWriter(run, commits, journal, config.storage)
    done, void = commits.call(journal.counts)
    standing = Standing(len(schedule), done, void, commits.call(journal.scores))
    display = ProgressDisplay(standing, stream, more=providers.line)
    taken_out: list[str] = []
    reporting = Reporting(config, run.location, standing, providers)
    try:
        if standing.done < standing.total:
            with RayCluster(config.cluster) as cluster:
                stop.take()
                variables = key_variables(providers.models.values())
                pool = WorkerPool(Setup.of(config, providers.keeper_name), 0, variables)
                staff = Staff(pool, config.cluster)
                try:
                    cluster.sweep_after_death()
                    providers.open(journal, commits, parts, pool)
                    reporting.open_metrics()
                    Dispatcher(
                        config,
                        schedule,
                        journal,
                        commits,
                        parts,
                        pool,
                        standing,
                        display,
                        providers,
                        reporting,
                        staff,
                        stop.asked,
                    ).run()
                finally:
                    providers.close(pool)
                    reporting.close_metrics()
                    staff.close()
                    taken_out += staff.taken_out
                    pool.close()
    finally:
        # Whatever went wrong, what has been played is written as far as that is possible.
        parts.close()
        display.close()
        reporting.close()
    return Report(
        total=standing.total,
        done=standing.done,
        void=standing.void,
        played=standing.played,
        seconds=time.monotonic() - began,
        playing_seconds=standing.playing_seconds,
        interrupted=standing.done < standing.total and not providers.paused,
        run_path=run.location.path,
        paused=providers.paused,
        taken_out=tuple(taken_out),
    )


def check_settings(config: TournamentConfig, schedule: Schedule) -> None:
    """Raise :class:`ConfigError` for a setting out of range and for an agent or a match that cannot be made."""
    limits, cluster = config.limits, config.cluster
    for path, value, least in (
        ("limits.game_seconds", limits.game_seconds, 0),
        ("limits.llm_game_seconds", limits.llm_game_seconds, 0),
        ("limits.lease_seconds", limits.lease_seconds, 0),
        ("limits.drain_seconds", limits.drain_seconds, 0),
        ("cluster.batch_seconds", cluster.batch_seconds, 0),
        ("storage.part_seconds", config.storage.part_seconds, 0),
    ):
        if not least < value < inf:
            raise ConfigError(f"{path}: {value!r} is not a number larger than {least}")
    for path, number, most in (
        ("limits.max_attempts", limits.max_attempts, 1000),
        ("cluster.workers", 1 if cluster.workers is None else cluster.workers, 100_000),
        ("cluster.games_in_flight", cluster.games_in_flight, 5000),
        ("storage.part_rows", config.storage.part_rows, 1_000_000),
    ):
        if not 1 <= number <= most:
            raise ConfigError(f"{path}: {number!r} is not a whole number from 1 to {most}")
    if config.budget.usd is not None and not config.budget.usd > 0:
        raise ConfigError(f"budget.usd: {config.budget.usd!r} is not larger than 0; null sets no bound")
    if cluster.address is not None:
        check_address(cluster.address)
        show_token(cluster.address)
    check_object_store(cluster)
    for entrant in config.entrants:
        try:
            make_agent(entrant.config, 0, 0)
        except (ValueError, TypeError) as error:
            raise ConfigError(f"agents.{entrant.name}: {error}") from error
    for deck in config.decks or (None,):
        cards = {} if deck is None else deck.cards
        try:
            new_match(MatchSpec(config.game, schedule.game_at(0).seed, (cards, cards), config.options))
        except (ValueError, TypeError) as error:
            where = f"decks.{deck.name}: " if deck is not None and deck.cards else ""
            raise ConfigError(f"{where}{error}") from error


def _manifest(config: TournamentConfig, schedule: Schedule, location: Location) -> Manifest:
    """The manifest with this start in it; raises :class:`ConfigError` where the run there is another one."""
    identity = identity_of(config)
    if location.child(MANIFEST_NAME).exists():
        there = Run.open(location).manifest
        check_same(config.run, there.identity, identity, config.extend)
        starts = there.starts
    else:
        starts = ()
    begun = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": socket.gethostname(),
        "process": os.getpid(),
        "workers": config.cluster.workers,
        "address": config.cluster.address,
        "games": len(schedule),
        "limits": {
            "game_seconds": config.limits.game_seconds,
            "llm_game_seconds": config.limits.llm_game_seconds,
            "lease_seconds": config.limits.lease_seconds,
            "max_attempts": config.limits.max_attempts,
        },
        "budget_usd": config.budget.usd,
    }
    return Manifest(config.run, identity, schedule.digest(), engine_version(config), starts=(*starts, begun))


def _journal_folder(config: TournamentConfig, location: Location) -> Path:
    """The journal's folder, made where it is missing, on a disk that is fit for it."""
    if config.storage.journal_dir is not None:
        folder = Path(config.storage.journal_dir).expanduser().absolute() / config.run
    elif location.is_local:
        folder = Path(location.path) / "journal"
    else:
        raise ConfigError(
            f"storage.journal_dir: runs in {config.storage.root} need a folder on a local disk for the journal"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        key = "storage.root" if config.storage.journal_dir is None else "storage.journal_dir"
        raise StorageError(f"{key}: cannot make {folder}: {error.strerror}") from error
    require_local_disk(folder)
    return folder


def _open_run(config: TournamentConfig, location: Location, manifest: Manifest, done: int) -> Run:
    """The run, made where it is missing, with this start in its manifest."""
    if not location.child(MANIFEST_NAME).exists():
        if done:
            raise StorageError(f"{location.path}: manifest.json is gone, though the journal has {done} finished games")
        return Run.create(location, manifest)
    run = Run.open(location)
    # Between our look at it and our taking the lock another process may have altered it.
    check_same(config.run, run.manifest.identity, manifest.identity, config.extend)
    run.write_manifest(manifest)
    run.remove_partials()
    return run


def _check_parts(run: Run, journal: Journal, commits: GroupCommit) -> None:
    """Bring journal and parts together: take over parts of a journal that is lost, miss none that should be there."""
    foreign: dict[str, dict[str, int]] = {}
    for kind in PART_KINDS:
        there = set(run.part_names(kind))
        known = {f"{part_name(part)}.parquet" for part in commits.call(journal.written_parts, kind)}
        if missing := sorted(known - there):
            raise StorageError(
                f"{run.location.path}: {kind}/{missing[0]} is gone, though the journal has it as written"
            )
        planned = {f"{part_name(part)}.parquet" for part in commits.call(journal.unwritten_parts, kind)}
        foreign[kind] = {name: _part_number(run, kind, name) for name in sorted(there - known - planned)}
        if foreign[kind] and (known or commits.call(journal.counts)[0]):
            raise StorageError(
                f"{run.location.path}: {kind}/{next(iter(foreign[kind]))} is not from this run's journal"
            )
    _adopt(run, journal, commits, foreign)


def _part_number(run: Run, kind: str, name: str) -> int:
    number = name.removeprefix("part-").removesuffix(".parquet")
    if not number.isdigit():
        raise StorageError(f"{run.location.path}: {kind}/{name} is not a part that this program writes")
    return int(number)


def _adopt(run: Run, journal: Journal, commits: GroupCommit, foreign: dict[str, dict[str, int]]) -> None:
    """Take over the parts of a journal that is lost.

    Games that were in flight are played anew, so their decisions and calls go; what the calls have cost stays counted.
    """
    columns = ["game_id", "entrant_0", "entrant_1", "outcome", "winner_seat"]
    games = {number: table.to_pylist() for number, table in _foreign_parts(run, "games", foreign["games"], columns)}
    finished = pa.array([game["game_id"] for rows in games.values() for game in rows], pa.string())
    spending = _spending(run.calls()) if foreign["calls"] else {}
    for kind in ("decisions", "calls"):
        for number, table in _foreign_parts(run, kind, foreign[kind]):
            kept = table.filter(pc.is_in(table["game_id"], finished))
            if kept.num_rows < table.num_rows:
                run.write_part(kind, kept, part_name(number))

    def take_over() -> None:
        for number, rows in games.items():
            journal.adopt_part(number, rows)
        for kind in ("decisions", "calls"):
            for number in foreign[kind].values():
                journal.adopt_rows(kind, number)
        for entrant, spent in spending.items():
            journal.add_spending(entrant, spent)

    # All at once, lest a start that is killed here leaves half of it.
    commits.call(take_over)


def _foreign_parts(
    run: Run, kind: str, foreign: dict[str, int], columns: Sequence[str] | None = None
) -> Iterator[tuple[int, pa.Table]]:
    """Number and table of those parts of ``kind`` that ``foreign`` has by name."""
    if foreign:
        for name, table in zip(run.part_names(kind), run.parts(kind, columns), strict=True):
            if name in foreign:
                yield foreign[name], table


def _spending(calls: pa.Table) -> dict[str, Spending]:
    """What the calls of each entrant took."""
    names = [field.name for field in fields(Spending) if field.name != "calls"]
    summed = calls.group_by("entrant").aggregate([("game_id", "count"), *((name, "sum") for name in names)])
    return {
        row["entrant"]: Spending(row["game_id_count"], *(row[f"{name}_sum"] for name in names))
        for row in summed.to_pylist()
    }
