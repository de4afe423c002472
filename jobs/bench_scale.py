"""Measures what each part of the orchestrator takes for a game, alone, in processor time, and the ceiling that sets.

Nothing but the part that is measured runs in this process meanwhile, so that the process's own time, of all threads, is
the part's, however busy the machine is. ``games_per_s`` is how many games one processor could serve: 1 over the time.

- ``scheduler``: games come out of the schedule as the dispatcher gets them, looked up in an empty journal on the way.
- ``scheduler, all finished``: the same where the journal has all games, as at a later start.
- ``journal``: batches of games are granted and finished, each in a transaction, with rows of real games, to the disk.
- ``parts``: these rows are brought from the journal into Parquet parts and dropped there.
- ``limiter``: calls of two games at a time pass a worker's gate, its reports answered by a keeper in the same process;
  per call, and per game of :data:`CALLS` calls.
- ``limiter, decisions of N calls``: the same where so many calls are one decision, for which dollars are reserved once.
- ``keeper, N workers``: what the keeper takes for a report of one worker, where so many have calls in flight.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any, Final

from agents.llm.client import Estimate
from agents.llm.contract import Usage
from agents.llm.models import Limits, parse_model
from orchestrator.backlog import Backlog
from orchestrator.config import StorageConfig, TournamentConfig
from orchestrator.group_commit import GroupCommit
from orchestrator.journal import FinishedGame, Journal
from orchestrator.limits import LimitBook, WorkerLimits, account_limits, in_decision, in_game
from orchestrator.limits.messages import Answer, LaneReport, Report
from orchestrator.parts import PartWriter
from orchestrator.play import Playthrough, Setup
from orchestrator.schedule import Schedule, ScheduledGame
from orchestrator.takeover import Settled
from orchestrator.workers import Errand, Reply, play_errand
from orchestrator.writer import claim_run
from results.location import Location
from results.manifest import Manifest
from results.store import Run

BATCH: Final = 200
"""Games that are granted and finished together."""
CALLS: Final = 100
"""LLM calls of a game."""
DECISION_CALLS: Final = 4
KEEPER_WORKERS: Final = (2, 64, 1000)
_REAL_ROWS: Final = 20_000
_REPORTS_SECONDS: Final = 1.0


def lines(config: TournamentConfig, games: int) -> Iterator[dict[str, Any]]:
    """Metric lines, as :mod:`jobs.bench` prints them, for games of the tournament ``config``, about so many."""
    config = replace(config, games_per_pair=games - games % 2)
    schedule = Schedule(config)
    with tempfile.TemporaryDirectory(prefix="prizefight-bench-") as folder:
        journal = Journal(Path(folder), config.run, "bench", 0)
        commits = GroupCommit(journal)
        try:
            yield from _case("scheduler", len(schedule), _timed(lambda: _draw(schedule, journal, commits)))
            yield from _case("journal", len(schedule), _seconds_to_finish(config, schedule, journal, commits))
            finished = _timed(lambda: _draw(schedule, journal, commits))
            yield from _case("scheduler, all finished", len(schedule), finished)
            yield from _parts(config, journal, commits, Location.parse(folder), len(schedule))
        finally:
            commits.close()
    yield from limiter_lines(max(games // CALLS, 1))


def limiter_lines(games: int) -> Iterator[dict[str, Any]]:
    """The lines of the limiter, from so many games."""
    cases: dict[str, Callable[[], AbstractContextManager[object]]] = {
        "limiter": nullcontext,
        f"limiter, decisions of {DECISION_CALLS} calls": in_decision,
    }
    for case, decision in cases.items():
        seconds = _timed(partial(asyncio.run, _calls(games, decision)))
        yield _line(case, "cpu_us_per_call", seconds / (games * CALLS) * 1e6, "us")
        yield from _case(case, games, seconds)
    for workers in KEEPER_WORKERS:
        yield _line(f"keeper, {workers} workers", "cpu_us_per_report", _seconds_per_report(workers) * 1e6, "us")


def _case(case: str, games: int, seconds: float) -> Iterator[dict[str, Any]]:
    yield _line(case, "cpu_us_per_game", seconds / games * 1e6, "us")
    yield _line(case, "games_per_s", games / seconds, "1/s")


def _line(case: str, metric: str, value: float, unit: str) -> dict[str, Any]:
    return {"suite": "scale", "case": case, "metric": metric, "value": round(value, 3), "unit": unit}


def _timed(act: Callable[[], object]) -> float:
    """Processor time of this process, in seconds, while ``act`` runs."""
    before = process_time()
    act()
    return process_time() - before


def _draw(schedule: Schedule, journal: Journal, commits: GroupCommit) -> None:
    """Take all games that are to be played from the backlog."""
    waits = dict.fromkeys(schedule.entrants, False)
    backlog = Backlog(schedule, journal, commits, waits, lambda entrants: False, lambda one: False)
    while backlog.take(False, lambda one: True) is not None:
        pass


def _seconds_to_finish(config: TournamentConfig, schedule: Schedule, journal: Journal, commits: GroupCommit) -> float:
    batches = list(_batches(config, schedule))
    return _timed(lambda: _finish(batches, journal, commits))


def _batches(config: TournamentConfig, schedule: Schedule) -> Iterator[tuple[list[ScheduledGame], list[Reply]]]:
    """Games with replies as workers send them; beyond :data:`_REAL_ROWS` earlier ones under other ids."""
    setup = Setup.of(config)
    games = iter(schedule)
    played: list[Reply] = []
    number = 0
    while batch := list(islice(games, BATCH)):
        replies = []
        for game in batch:
            if len(played) < _REAL_ROWS:
                played.append(play_errand(setup, "worker-0@bench", Errand(game, 1, 0), Playthrough()))
                replies.append(played[-1])
            else:
                one = played[number % len(played)]
                row = one.row.replace(one.game_id.encode(), game.game_id.encode())
                replies.append(one._replace(game_id=game.game_id, row=row))
            number += 1
        yield batch, replies


def _finish(batches: list[tuple[list[ScheduledGame], list[Reply]]], journal: Journal, commits: GroupCommit) -> None:
    """Grant and finish games batch by batch, as the dispatcher does."""
    granted: Future[None] | None = None
    for batch, replies in batches:
        grants = journal.prepare_grants((game.game_id, 1) for game in batch)
        granted = commits.submit(journal.lease, grants, "worker-0")
        rows = [
            FinishedGame(game.game_id, grant.epoch, game.entrants, reply.outcome, reply.winner_seat, reply.row)
            for game, grant, reply in zip(batch, grants, replies, strict=True)
        ]
        counted = commits.call(journal.finish, rows)
        assert len(counted) == len(rows)
    if granted is not None:
        granted.result()


def _parts(
    config: TournamentConfig, journal: Journal, commits: GroupCommit, root: Location, games: int
) -> Iterator[dict[str, Any]]:
    location = root.child(config.run)
    run = Run.create(location, Manifest(config.run, {}, "", "", checkpointed=True))
    lease = claim_run(location, config.run, config.storage.writer_seconds, 1, True, lambda line: None)
    try:
        storage = StorageConfig(root=root.path)
        before = process_time()
        writer = PartWriter(run, commits, journal, storage, lease, Settled({}, (), {}), False)
        writer.rows_added(games, 0)
        left = writer.close(storage.patience_seconds)
        seconds = process_time() - before
        if left is not None:
            raise OSError(left)
    finally:
        lease.release()
    names = run.part_names("games")
    size = sum(run.location.child("games").sizes()[name] for name in names)
    yield from _case("parts", games, seconds)
    yield _line("parts", "files", len(names), "files")
    yield _line("parts", "bytes_per_game", size / games, "B")


async def _calls(games: int, decision: Callable[[], AbstractContextManager[object]]) -> None:
    """Calls of so many games, two at a time, through a gate whose account allows more than enough."""
    limits = {"requests_per_minute": 10**9, "tokens_per_minute": 10**13, "in_flight": 64}
    price = {"input": 1.0, "output": 1.0}
    model = parse_model(
        {"id": "m", "base_url": "http://host/v1", "context_size": 10**6, "price": price, "limits": limits}
    )
    loop = asyncio.get_running_loop()
    book = LimitBook(account_limits([model]), 1e9, 0.0, False, loop.time)

    async def link(report: Report) -> Answer:
        return book.report(report)

    worker = WorkerLimits(link, "worker-0", loop.time)
    gate = worker.gate(model)
    estimate, usage = Estimate(1000, 1000, 0.002), Usage(1000, 200)

    async def game(number: int) -> None:
        with in_game(f"game {number}"):
            for _ in range(CALLS // DECISION_CALLS):
                with decision():
                    for _ in range(DECISION_CALLS):
                        permit = await gate.acquire(estimate)
                        permit.settle(usage, 0.0012)

    for number in range(0, games, 2):
        await asyncio.gather(*(game(one) for one in range(number, min(number + 2, games))))
    await worker.aclose()


def _seconds_per_report(workers: int) -> float:
    """Processor time of a report where each of so many workers has eight calls in flight and begins eight a report."""
    now = 0.0
    book = LimitBook({"a": Limits(10**7, 10**10, 10**5)}, 1e9, 0.0, False, lambda: now)
    told = LaneReport(
        "a", "m", in_flight=8, slots=8, kept_requests=4, kept_tokens=8000, started=8, started_tokens=16_000
    )
    reports = [Report(f"worker-{number}", (told,), spent_usd=0.01, kept_usd=0.02) for number in range(workers)]

    def turn() -> None:
        nonlocal now
        for report in reports:
            now += 1.0 / workers
            book.report(report)

    turn()
    count, spent = 0, 0.0
    while spent < _REPORTS_SECONDS and count < 20_000:
        spent += _timed(turn)
        count += workers
    return spent / count
