"""What runs in a worker process: plays the games that it is sent and tells how far they are.

A worker is an asyncio actor. Games whose agents wait share its event loop; all others are played one after the other in
one thread, so that the loop can tell about them. Results travel as the finished row's JSON text, which the driver
passes on to the journal as it is.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from agents.factory import make_agent
from engine.registry import game_version
from orchestrator.play import (
    FailureCause,
    GameFailure,
    Playthrough,
    Setup,
    build,
    finished_row,
    one_line,
    play,
    play_now,
)
from orchestrator.schedule import ScheduledGame

SILENCE_SECONDS = 9.0
"""A worker that has not heard of its driver for so long ends."""


class Errand(NamedTuple):
    """One try of one game, as it is sent to a worker."""

    scheduled: ScheduledGame
    attempt: int
    epoch: int


class Reply(NamedTuple):
    """What came of an errand: the row of a finished game, or cause and detail of a failure."""

    game_id: str
    attempt: int
    epoch: int
    seconds: float
    outcome: str = ""
    winner_seat: int | None = None
    row: bytes = b""
    cause: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a worker is. ``steps`` counts the decisions of all games that never wait, since the worker began."""

    steps: int
    playing: str | None
    """The game that is being played in one go, if any …"""
    playing_seconds: float
    """… and for how long it has been."""
    waiting_steps: dict[str, int] = field(default_factory=dict)
    """Decisions so far of every open game whose agents wait."""


class GameWorker:
    """The actor. Only what is not asynchronous here takes long; it runs in the one playing thread."""

    def __init__(self, setup: Setup, name: str) -> None:
        self._setup = setup
        self._name = f"{name}@{socket.gethostname()}"
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="games")
        self._stopping = False
        self._steps = 0
        self._playing: tuple[str, Playthrough] | None = None
        self._waiting: dict[str, Playthrough] = {}
        self._tasks: dict[str, asyncio.Task[Reply]] = {}
        self._heard = time.monotonic()
        # Whatever a game and its agents import is no part of the first game's time. A fault in it is that game's.
        with suppress(Exception):
            game_version(setup.game)
            for config in setup.agents.values():
                make_agent(config, 0, 0)
        threading.Thread(target=self._watch_driver, name="watch", daemon=True).start()

    async def hello(self) -> str:
        """What the worker calls itself; an answer means that it is ready."""
        return self._name

    async def hear(self) -> None:
        """Hear that the driver is alive."""
        self._heard = time.monotonic()

    async def play_in_turn(self, errands: list[Errand]) -> list[Reply]:
        """Play games that never wait one after the other; after :meth:`stop`, only the one that is under way."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._play_all, errands)

    async def play_waiting(self, errand: Errand) -> list[Reply]:
        """Play a game whose agents wait, beside others; no reply where it was cancelled."""
        game_id = errand.scheduled.game_id
        task = asyncio.ensure_future(self._play_waiting(errand))
        self._tasks[game_id] = task
        try:
            return [await task]
        except asyncio.CancelledError:
            return []
        finally:
            self._tasks.pop(game_id, None)

    async def cancel(self, game_id: str) -> None:
        """Stop a game whose agents wait, at its next wait."""
        task = self._tasks.get(game_id)
        if task is not None:
            task.cancel()

    async def stop(self) -> None:
        """Begin no further game and drop those that wait."""
        self._stopping = True
        for task in self._tasks.values():
            task.cancel()

    async def progress(self) -> Progress:
        """How far the games are."""
        playing = self._playing
        waiting = {game_id: game.steps for game_id, game in self._waiting.items()}
        if playing is None:
            return Progress(self._steps, None, 0.0, waiting)
        game_id, game = playing
        return Progress(self._steps + game.steps, game_id, time.monotonic() - game.started, waiting)

    def _play_all(self, errands: list[Errand]) -> list[Reply]:
        replies = []
        for errand in errands:
            if self._stopping:
                break
            replies.append(self._play_one(errand))
        return replies

    def _play_one(self, errand: Errand) -> Reply:
        game = Playthrough()
        self._playing = (errand.scheduled.game_id, game)
        started_at = time.time()
        try:
            match, agents = build(self._setup, errand.scheduled, errand.attempt)
            play_now(match, agents, errand.scheduled.entrants, self._setup.game_seconds, game)
            row = finished_row(self._setup, errand.scheduled, errand.attempt, match, agents, game)
            return self._finished(errand, game, row, started_at)
        except BaseException as error:  # Whatever happens in one game must not cost the others of its batch.
            return self._failed(errand, game, _failure(error))
        finally:
            self._playing = None
            self._steps += game.steps + 1

    async def _play_waiting(self, errand: Errand) -> Reply:
        game = Playthrough()
        self._waiting[errand.scheduled.game_id] = game
        started_at = time.time()
        limit = self._setup.game_seconds
        try:
            match, agents = build(self._setup, errand.scheduled, errand.attempt)
            try:
                async with asyncio.timeout(limit) as cut:
                    await play(match, agents, errand.scheduled.entrants, limit, game)
            except TimeoutError as error:
                if not cut.expired():
                    raise
                raise GameFailure(FailureCause.WALL_CLOCK, f"not over after {limit:g} s") from error
            row = finished_row(self._setup, errand.scheduled, errand.attempt, match, agents, game)
            return self._finished(errand, game, row, started_at)
        except (Exception, SystemExit) as error:
            return self._failed(errand, game, _failure(error))
        finally:
            self._waiting.pop(errand.scheduled.game_id, None)

    def _finished(self, errand: Errand, game: Playthrough, row: dict[str, object], started_at: float) -> Reply:
        seconds = time.monotonic() - game.started
        row["worker"] = self._name
        row["started_at"] = round(started_at * 1e6)
        row["finished_at"] = round((started_at + seconds) * 1e6)
        row["wall_seconds"] = seconds
        winner = row["winner_seat"]
        return Reply(
            errand.scheduled.game_id,
            errand.attempt,
            errand.epoch,
            seconds,
            outcome=str(row["outcome"]),
            winner_seat=winner if isinstance(winner, int) else None,
            row=json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"),
        )

    def _failed(self, errand: Errand, game: Playthrough, failure: GameFailure) -> Reply:
        seconds = time.monotonic() - game.started
        return Reply(
            errand.scheduled.game_id,
            errand.attempt,
            errand.epoch,
            seconds,
            cause=str(failure.cause),
            detail=failure.detail,
        )

    def _watch_driver(self) -> None:
        """End the process when the driver has been silent for too long, whatever else is going on in it."""
        while time.monotonic() - self._heard < SILENCE_SECONDS:
            time.sleep(0.5)
        os._exit(75)


def _failure(error: BaseException) -> GameFailure:
    """``error`` as the failure of a game; what neither loop nor agent has claimed is the engine's."""
    return error if isinstance(error, GameFailure) else GameFailure(FailureCause.ENGINE_ERROR, one_line(error))
