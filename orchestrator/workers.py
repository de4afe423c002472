"""What runs in a worker process: plays the games that it is sent and tells how far they are.

A worker is an asyncio actor. Games whose agents wait share its event loop; all others are played one after the other in
one thread, so that the loop can tell about them. Results travel as the finished row's JSON text, which the driver
passes on to the journal as it is.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import socket
import threading
import time
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import ray

from agents.base import Agent
from agents.factory import make_agent
from agents.llm.contract import CallFailed, FailureKind
from engine.match import SEATS
from engine.registry import game_version
from orchestrator.calls import CallingAgent, Decided, Entry, GameCaller, WorkerCalls, now_microseconds
from orchestrator.fitness import STREAK
from orchestrator.journal import Answer
from orchestrator.limits import in_game
from orchestrator.play import (
    FailureCause,
    GameDropped,
    GameFailure,
    ModelPaused,
    Played,
    Playthrough,
    Setup,
    build,
    finished_row,
    one_line,
    play,
    play_now,
)
from orchestrator.rows import call_rows, decision_row
from orchestrator.schedule import ScheduledGame
from orchestrator.unrepeatable import JournalledAgent, is_unrepeatable

LONGEST_BATCH_SECONDS = 5.0
"""Once a batch of games has taken so long, no further game of it is begun."""
SILENCE_SECONDS = 9.0
"""A worker that has not heard of its driver for so long ends."""
HEARING = "hearing"
"""Ray's concurrency group of :meth:`GameWorker.hear`."""
_LISTEN_SECONDS = 0.5
_STALL_SECONDS = 2.0


class Errand(NamedTuple):
    """One try of one game, as it is sent to a worker."""

    scheduled: ScheduledGame
    attempt: int
    epoch: int
    recalled: bool = False
    """What the journal has of the game's calls comes by itself (:meth:`GameWorker.recall`)."""


class Reply(NamedTuple):
    """What came of an errand: the row of a finished game, or cause and detail of a failure.

    Where ``pauses`` says why, the model of ``entrant`` can make no call, and the try does not count. Where there is a
    ``cause``, a call of ``entrant`` may have been it, which was tried for ``unanswered`` seconds in vain.
    """

    game_id: str
    attempt: int
    epoch: int
    seconds: float
    outcome: str = ""
    winner_seat: int | None = None
    decisions: int = 0
    """Of the agents that make no calls: those of others are told as they are made."""
    row: bytes = b""
    cause: str = ""
    detail: str = ""
    entrant: str = ""
    pauses: str = ""
    unanswered: float = 0.0


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
    held: frozenset[str] = frozenset()
    """Those of them that are in an LLM call, which has time-outs of its own."""


def goes_back(replies: Sequence[Reply], seconds: float) -> bool:
    """Whether the rest of a batch goes back unplayed, ``replies`` and ``seconds`` after its beginning.

    Where all that is played here fails, others are to have it; and where games take longer than was thought, those that
    are over must not wait for the rest to count. At least one game of a batch is played.
    """
    failing = len(replies) >= STREAK and all(reply.cause for reply in replies[-STREAK:])
    return failing or (bool(replies) and seconds >= LONGEST_BATCH_SECONDS)


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
        self._calls = WorkerCalls(setup.keeper, name)
        self._recalled: dict[int, asyncio.Future[list[Answer]]] = {}
        self._heard = time.monotonic()
        # Whatever a game and its agents import is no part of the first game's time. A fault in it is that game's.
        with suppress(Exception):
            game_version(setup.game)
            for config in setup.agents.values():
                make_agent(config, 0, 0)
        threading.Thread(target=self._watch_driver, name="watch", daemon=True).start()

    async def hello(self, variables: Mapping[str, str] | None = None) -> tuple[str, str]:
        """Take environment variables; on which node and host the worker is. An answer means that it is ready."""
        os.environ.update(variables or {})
        return ray.get_runtime_context().get_node_id(), socket.gethostname()

    @ray.method(concurrency_group=HEARING)
    async def hear(self) -> None:
        """Hear that the driver is alive; in a thread and loop of its own, whatever agents do in the other one."""
        self._heard = time.monotonic()

    async def play_in_turn(self, packed: bytes) -> bytes:
        """Play games that never wait one after the other; after :meth:`stop`, only the one that is under way.

        Takes pickled errands and returns pickled replies.
        """
        self._heard = time.monotonic()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._play_all, packed)

    async def play_waiting(self, errand: Errand) -> list[Reply]:
        """Play a game whose agents wait, beside others; no reply where it was cancelled."""
        game_id = errand.scheduled.game_id
        task = asyncio.ensure_future(self._play_waiting(errand))
        self._tasks[game_id] = task
        try:
            return [await task]
        except (asyncio.CancelledError, GameDropped):
            return []
        finally:
            if self._tasks.get(game_id) is task:
                self._tasks.pop(game_id)

    async def cancel(self, game_id: str) -> None:
        """Stop a game whose agents wait, at its next wait."""
        task = self._tasks.get(game_id)
        if task is not None:
            task.cancel()

    async def recall(self, epoch: int, packed: bytes) -> None:
        """Take what the journal has of the calls of the game that is given out under ``epoch``."""
        self._recall(epoch).set_result(pickle.loads(zlib.decompress(packed)))

    async def collect(self, settled: list[tuple[int, bool]]) -> list[Entry]:
        """What is to be committed, as soon as there is something; ``settled`` tells what became of earlier entries."""
        return await self._calls.desk.collect(settled)

    async def out_of_order(self, model: str, kind: str, detail: str) -> None:
        """No call of that model can succeed any more (:func:`orchestrator.calls.model_key`)."""
        self._calls.out_of_order(model, CallFailed(FailureKind(kind), detail))

    async def stop(self) -> None:
        """Begin no further game and drop those that wait, once the requests that are on their way are answered."""
        self._stopping = self._calls.stopping = True
        for game_id, task in self._tasks.items():
            if game_id not in self._waiting or not self._waiting[game_id].requests:
                task.cancel()

    async def close(self) -> None:
        """Close connections."""
        await self._calls.close()

    def _recall(self, epoch: int) -> asyncio.Future[list[Answer]]:
        if epoch not in self._recalled:
            self._recalled[epoch] = asyncio.get_running_loop().create_future()
        return self._recalled[epoch]

    async def progress(self) -> Progress:
        """How far the games are."""
        self._heard = time.monotonic()
        playing = self._playing
        waiting = {game_id: game.steps for game_id, game in self._waiting.items()}
        held = frozenset(game_id for game_id, game in self._waiting.items() if game.held)
        if playing is None:
            return Progress(self._steps, None, 0.0, waiting, held)
        game_id, game = playing
        return Progress(self._steps + game.steps, game_id, time.monotonic() - game.started, waiting, held)

    def _play_all(self, packed: bytes) -> bytes:
        replies: list[Reply] = []
        began = time.monotonic()
        for errand in pickle.loads(packed):
            if self._stopping or goes_back(replies, time.monotonic() - began):
                break
            replies.append(self._play_one(errand))
        return pickle.dumps(replies)

    def _play_one(self, errand: Errand) -> Reply:
        game = Playthrough()
        self._playing = (errand.scheduled.game_id, game)
        try:
            return play_errand(self._setup, self._name, errand, game)
        except BaseException as error:  # Whatever happens in one game must not cost the others of its batch.
            return self._failed(errand, game, _failure(error))
        finally:
            self._playing = None
            self._steps += game.steps + 1

    async def _play_waiting(self, errand: Errand) -> Reply:
        game = Playthrough()
        game_id = errand.scheduled.game_id
        self._waiting[game_id] = game
        started_at = time.time()
        decisions: list[asyncio.Future[None]] = []
        try:
            known = await self._recall(errand.epoch) if errand.recalled else []
            match, agents = build(self._setup, errand.scheduled, errand.attempt)
            callers = self._connect(errand, agents, game, known)
            if callers:
                agents = self._journalled(errand, agents, game, known)
            game.limit = self._setup.llm_game_seconds if callers else self._setup.game_seconds
            game.recorder = lambda played: self._record(errand, played, callers.get(played.seat), decisions)
            try:
                async with asyncio.timeout(game.limit) as game.cut:
                    with in_game(game_id):
                        await play(match, agents, errand.scheduled.entrants, game.limit, game)
            except TimeoutError as error:
                if game.cut is None or not game.cut.expired():
                    raise
                raise GameFailure(FailureCause.WALL_CLOCK, f"not over after {game.limit:g} s") from error
            # The game counts once all that it consists of does.
            for committed in decisions:
                await committed
            row = finished_row(self._setup, errand.scheduled, errand.attempt, match, agents, game)
            return _finished(self._name, errand, game, row, started_at)
        except GameDropped:
            raise
        except ModelPaused as paused:
            await _settled(decisions)
            failed = self._failed(errand, game, GameFailure(FailureCause.AGENT_ERROR, str(paused)))
            return failed._replace(cause="", entrant=paused.entrant, pauses=paused.kind.value)
        except (Exception, SystemExit) as error:
            await _settled(decisions)
            return self._failed(errand, game, _failure(error))
        finally:
            self._recalled.pop(errand.epoch, None)
            if self._waiting.get(game_id) is game:
                self._waiting.pop(game_id)

    def _connect(
        self, errand: Errand, agents: tuple[Agent, Agent], game: Playthrough, known: list[Answer]
    ) -> dict[int, GameCaller]:
        """Give every agent that makes LLM calls its caller; returns these by seat."""
        scheduled, callers = errand.scheduled, {}
        for seat in SEATS:
            agent = agents[seat]
            if isinstance(agent, CallingAgent):
                entrant = scheduled.entrants[seat]
                caller = GameCaller(
                    self._calls, agent.model, scheduled.game_id, errand.epoch, entrant, seat, game, known
                )
                agent.connect(caller)
                callers[seat] = caller
        return callers

    def _journalled(
        self, errand: Errand, agents: tuple[Agent, Agent], game: Playthrough, known: list[Answer]
    ) -> tuple[Agent, Agent]:
        """``agents``, those whose choices cannot be repeated such that they are."""
        scheduled = errand.scheduled

        def made(agent: Agent, seat: int) -> Agent:
            if not is_unrepeatable(agent):
                return agent
            where = scheduled.game_id, errand.epoch, scheduled.entrants[seat], seat
            # What a class says of all its agents, this one says of the one it has.
            return cast(Agent, JournalledAgent(agent, self._calls.desk, *where, game, known))

        return made(agents[0], 0), made(agents[1], 1)

    def _record(
        self, errand: Errand, played: Played, caller: GameCaller | None, decisions: list[asyncio.Future[None]]
    ) -> None:
        if caller is None:
            return
        how = (self._setup, errand.scheduled, errand.attempt, self._name)
        row = decision_row(*how, now_microseconds(), played)
        calls = call_rows(*how, caller.answered_at, played)
        game_id, entrant = errand.scheduled.game_id, errand.scheduled.entrants[played.seat]
        retries = sum(call.retries for call in played.decision.calls)
        entry = Decided(0, game_id, errand.epoch, played.place, row, calls, entrant, retries)
        decisions[:] = [one for one in decisions if not one.done() or one.exception()]
        decisions.append(self._calls.desk.commit(entry))

    def _failed(self, errand: Errand, game: Playthrough, failure: GameFailure) -> Reply:
        seconds = time.monotonic() - game.started
        return Reply(
            errand.scheduled.game_id,
            errand.attempt,
            errand.epoch,
            seconds,
            cause=str(failure.cause),
            detail=failure.detail,
            entrant=failure.entrant,
            unanswered=failure.unanswered,
        )

    def _watch_driver(self) -> None:
        """End the process when the driver has been silent for too long, whatever else is going on in it."""
        looked = time.monotonic()
        while time.monotonic() - self._heard < SILENCE_SECONDS:
            time.sleep(_LISTEN_SECONDS)
            now = time.monotonic()
            if now - looked > _STALL_SECONDS:
                # This process stood still; what the driver said meanwhile is still to be heard.
                self._heard = max(self._heard, now - SILENCE_SECONDS + _STALL_SECONDS)
            looked = now
        os._exit(75)


def play_errand(setup: Setup, worker: str, errand: Errand, game: Playthrough) -> Reply:
    """Play a game that never waits in one go. Raises whatever goes wrong; ``worker`` is for the row."""
    started_at = time.time()
    match, agents = build(setup, errand.scheduled, errand.attempt)
    play_now(match, agents, errand.scheduled.entrants, setup.game_seconds, game)
    row = finished_row(setup, errand.scheduled, errand.attempt, match, agents, game)
    return _finished(worker, errand, game, row, started_at)


def _finished(worker: str, errand: Errand, game: Playthrough, row: dict[str, object], started_at: float) -> Reply:
    seconds = time.monotonic() - game.started
    row["worker"] = worker
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
        decisions=sum(tally.decisions for tally in game.tallies if not tally.calls),
        row=json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"),
    )


async def _settled(decisions: list[asyncio.Future[None]]) -> None:
    """Wait until it is known what became of ``decisions``: of a game that failed they are kept too."""
    if decisions:
        await asyncio.wait(decisions)


def _failure(error: BaseException) -> GameFailure:
    """``error`` as the failure of a game; what neither loop nor agent has claimed is the engine's."""
    return error if isinstance(error, GameFailure) else GameFailure(FailureCause.ENGINE_ERROR, one_line(error))
