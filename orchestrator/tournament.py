"""A tournament from its configuration to its end: the entry point of this floor."""

from __future__ import annotations

import os
import socket
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from math import inf
from typing import Final, TextIO

from agents.factory import make_agent
from engine.match import MatchSpec
from engine.registry import new_match
from orchestrator.access import check_address, show_token
from orchestrator.cluster import RayCluster, WorkerPool, check_object_store
from orchestrator.config import ConfigError, Report, TournamentConfig
from orchestrator.dispatch import MOST_BATCH_SECONDS, Dispatcher
from orchestrator.halt import halting_for
from orchestrator.identity import check_same, engine_version, identity_of
from orchestrator.keys import key_variables
from orchestrator.play import Setup
from orchestrator.progress import ProgressDisplay, Standing
from orchestrator.providers import Providers, resolved
from orchestrator.reporting import Reporting
from orchestrator.schedule import Schedule, check_balance
from orchestrator.staff import Staff
from orchestrator.start import OpenedRun, at_start, journal_folder, opened_run
from orchestrator.stop import StopSignals
from results.location import Location
from results.manifest import MANIFEST_NAME, Manifest
from results.schema import SCHEMA_VERSION
from results.store import Run

_STOP_PATIENCE_SECONDS: Final = 3.0
"""How long a run that was stopped, or has failed, waits at its end for a storage that does not answer."""


def run_tournament(
    config: TournamentConfig, stream: TextIO | None = None, workers: type[WorkerPool] = WorkerPool
) -> Report:
    """Play the tournament, or go on with it where an earlier start ended, however that ended.

    Progress goes to ``stream`` (standard error by default); ``workers`` is what plays the games. Ctrl-C or SIGTERM
    stops it: what has been played is kept and the report says so; a second one stops it at once, and it can still be
    gone on with. Raises :class:`ConfigError` or :class:`results.location.StorageError`, before anything is written, for
    a configuration that cannot be played, a run that is another one or is being played by another process, and a
    journal that may not lie where it is to lie; :class:`orchestrator.halt.RunHalted` where a disk is full or no worker
    can start, whenever that shows.
    """
    began = time.monotonic()
    config = resolved(config)
    schedule = Schedule(config)
    check_balance(schedule)
    check_settings(config, schedule)
    providers = Providers(config)
    location = Location.parse(config.storage.root).child(config.run)
    stream = stream or sys.stderr

    def say(line: str) -> None:
        print(line, file=stream, flush=True)

    manifest = at_start(location, say)(lambda: _manifest(config, schedule, location))
    folder = journal_folder(config, location)
    with (
        halting_for(location.path, str(folder)),
        StopSignals() as stop,
        opened_run(config, location, manifest, folder, say) as opened,
    ):
        return _play(config, schedule, opened, providers, stop, stream, began, workers)


def _play(
    config: TournamentConfig,
    schedule: Schedule,
    opened: OpenedRun,
    providers: Providers,
    stop: StopSignals,
    stream: TextIO,
    began: float,
    workers: type[WorkerPool],
) -> Report:
    run, journal, commits = opened.run, opened.journal, opened.commits
    done, void = commits.call(journal.counts)
    standing = Standing(len(schedule), done, void, commits.call(journal.scores))
    display = ProgressDisplay(standing, stream, more=providers.line)
    parts = opened.part_writer(config, display.say)
    patience = _STOP_PATIENCE_SECONDS if standing.done < standing.total else config.storage.patience_seconds
    unwritten: str | None = None
    taken_out: list[str] = []
    reporting = Reporting(config, run.location, standing, providers)
    # While a cluster may still be refused, there is no progress to speak of.
    has_begun = standing.done == standing.total
    try:
        if standing.done < standing.total:
            with RayCluster(config.cluster) as cluster:
                has_begun = True
                stop.take()
                variables = key_variables(providers.models.values())
                pool = workers(Setup.of(config, providers.keeper_name), 0, variables)
                staff = Staff(pool, config.cluster)
                try:
                    cluster.sweep_after_death()
                    providers.open(journal, commits, parts, pool)
                    reporting.open_metrics(display.say)
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
                        cluster.servers,
                        stop.asked,
                    ).run()
                    if not stop.asked():
                        patience = config.storage.patience_seconds
                finally:
                    with ExitStack() as closing:
                        closing.callback(pool.close)
                        closing.callback(lambda: taken_out.extend(staff.taken_out))
                        closing.callback(staff.close)
                        closing.callback(reporting.close_metrics)
                        closing.callback(providers.close, pool)
    except KeyboardInterrupt:
        patience = 0.0  # The second Ctrl-C: what has been committed waits in the journal.
        raise
    finally:
        # Whatever went wrong, what has been played is written as far as that is possible.
        try:
            unwritten = parts.close(patience)
        finally:
            if has_begun:
                display.close()
            reporting.close(opened.lease.answers)
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
        unwritten=unwritten,
    )


def check_settings(config: TournamentConfig, schedule: Schedule) -> None:
    """Raise :class:`ConfigError` for a setting out of range and for an agent or a match that cannot be made."""
    limits, cluster = config.limits, config.cluster
    for path, value in (
        ("limits.game_seconds", limits.game_seconds),
        ("limits.llm_game_seconds", limits.llm_game_seconds),
        ("limits.lease_seconds", limits.lease_seconds),
        ("limits.drain_seconds", limits.drain_seconds),
        ("cluster.batch_seconds", cluster.batch_seconds),
        ("storage.part_seconds", config.storage.part_seconds),
        ("storage.flush_seconds", config.storage.flush_seconds),
        ("storage.writer_seconds", config.storage.writer_seconds),
        ("storage.patience_seconds", config.storage.patience_seconds),
    ):
        if not 0 < value < inf:
            raise ConfigError(f"{path}: {value!r} is not a number larger than 0")
    if cluster.batch_seconds > MOST_BATCH_SECONDS:
        raise ConfigError(f"cluster.batch_seconds: {cluster.batch_seconds!r} is more than {MOST_BATCH_SECONDS:g}")
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
    if "://" in (config.storage.journal_dir or ""):
        raise ConfigError(
            f"storage.journal_dir: {config.storage.journal_dir!r} is an address; a journal needs a local folder"
        )
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
        if there.schema_version != SCHEMA_VERSION:
            raise ConfigError(
                f"run {config.run!r} was written with schema version {there.schema_version}, which can be read but not "
                f"played on; python -m jobs.migrate run={config.run} makes it one of version {SCHEMA_VERSION}"
            )
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
    versions = (schedule.digest(), engine_version(config))
    return Manifest(config.run, identity, *versions, starts=(*starts, begun), checkpointed=True)
