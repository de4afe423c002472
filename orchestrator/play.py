"""One game from its first action to its row: the loop that asks agents and plays what they answer.

The loop is one coroutine. Where no agent waits it runs to its end in one go (:func:`play_now`), without an event loop;
where agents wait, many such coroutines share one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Final, NamedTuple

from agents.base import Agent, BlankObservation, Decision
from agents.factory import make_agent
from agents.llm.contract import CallFailed, FailureKind
from engine.match import SEATS, Action, Cause, IllegalAction, Match, MatchSpec, Outcome, Result, Seat
from engine.registry import new_match
from orchestrator.config import TournamentConfig
from orchestrator.limits import in_decision
from orchestrator.schedule import ScheduledGame

_DETAIL_LENGTH = 300


VOID: Final = "void"
"""The outcome of a game that was tried as often as it may be and never came to a result."""


class FailureCause(StrEnum):
    """Why a try of a game failed; the cause of a void game in its row.

    From ``RATE_LIMITED`` on, an LLM call that failed for good, by its kind (:class:`agents.llm.contract.FailureKind`).
    """

    WORKER_CRASH = "worker_crash"
    AGENT_ERROR = "agent_error"
    ENGINE_ERROR = "engine_error"
    WALL_CLOCK = "wall_clock"
    REQUEST_CHANGED = "request_changed"
    """A game that is played again asks something else than what was answered, so the answers are of no use to it."""
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    CONNECTION = "connection"
    TIME_OUT = "time_out"
    BAD_REQUEST = "bad_request"
    CONTEXT_OVERFLOW = "context_overflow"


_CAUSES: Final = frozenset(cause.value for cause in FailureCause)


class GameFailure(Exception):
    """A try of a game that came to no result, and why.

    Where it is for a call that failed, ``entrant`` is whose, and it was tried in vain for ``unanswered`` seconds.
    """

    def __init__(self, cause: FailureCause, detail: str, entrant: str = "", unanswered: float = 0.0) -> None:
        super().__init__(detail)
        self.cause = cause
        self.detail = detail
        self.entrant = entrant
        self.unanswered = unanswered


class ModelPaused(Exception):
    """A game cannot go on for now: an entrant's model can make no call. The game is as good as before."""

    def __init__(self, entrant: str, kind: FailureKind, detail: str) -> None:
        super().__init__(detail)
        self.entrant = entrant
        self.kind = kind


class GameDropped(Exception):
    """A worker goes on no further with a game: it has lost it, or is to stop. The game is as good as before."""


_SCOPES: Final = (GameFailure, ModelPaused, GameDropped)
"""What says by itself what becomes of a game."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What all games of a run share; a worker gets it once."""

    run: str
    game: str
    seed: int
    options: Mapping[str, Any]
    agents: Mapping[str, Mapping[str, Any]]
    decks: Mapping[str, Mapping[str, int]]
    game_seconds: float
    llm_game_seconds: float
    keeper: str | None = None
    """The name of the keeper of limits and budget, where an agent makes LLM calls."""

    @classmethod
    def of(cls, config: TournamentConfig, keeper: str | None = None) -> Setup:
        """The setup of the tournament that ``config`` describes."""
        return cls(
            run=config.run,
            game=config.game,
            seed=config.seed,
            options=config.options,
            agents={entrant.name: entrant.config for entrant in config.entrants},
            decks={deck.name: deck.cards for deck in config.decks},
            game_seconds=config.limits.game_seconds,
            llm_game_seconds=config.limits.llm_game_seconds,
            keeper=keeper,
        )

    def spec(self, game: ScheduledGame, attempt: int) -> MatchSpec:
        """The match of ``game``; an option named ``attempt`` is set to the number of the try, from 1."""
        first, second = game.decks
        return MatchSpec(
            self.game,
            game.seed,
            (self.decks.get(first, {}), self.decks.get(second, {})),
            _with_attempt(self.options, attempt),
        )

    def make_agents(self, game: ScheduledGame, attempt: int) -> tuple[Agent, Agent]:
        """Fresh agents for both seats; raises :class:`GameFailure` where one cannot be made."""
        made: list[Agent] = []
        for seat in SEATS:
            name = game.entrants[seat]
            try:
                config = _with_attempt(self.agents[name], attempt)
                made.append(make_agent(config, seat, game.agent_seed(self.seed, seat)))
            except (Exception, SystemExit) as error:
                raise GameFailure(FailureCause.AGENT_ERROR, f"{name}: {one_line(error)}") from error
        return made[0], made[1]


@dataclass(slots=True)
class Tally:
    """What one seat did in a game; from ``attempts`` to ``cost_usd`` only what agents that wait report."""

    decisions: int = 0
    agent_seconds: float = 0.0
    attempts: int = 0
    invalid_attempts: int = 0
    fallbacks: int = 0
    tool_calls: int = 0
    calls: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float = 0.0

    def add(self, decision: Decision, measured: bool) -> None:
        """Count ``decision``, with what it took where that is ``measured``."""
        self.decisions += 1
        self.agent_seconds += decision.seconds
        if measured:
            self.attempts += decision.attempts
            self.invalid_attempts += decision.invalid_attempts
            self.fallbacks += decision.fallback is not None
            self.tool_calls += decision.tool_calls
            self.calls += len(decision.calls)
            self.input_tokens += decision.input_tokens
            self.cached_input_tokens += decision.cached_input_tokens
            self.output_tokens += decision.output_tokens
            self.reasoning_tokens += decision.reasoning_tokens
            self.cost_usd += decision.cost_usd


_MEASURED: Final = tuple(each.name for each in fields(Tally) if each.name not in ("decisions", "agent_seconds"))


class Played(NamedTuple):
    """A decision as it was carried out."""

    place: int
    """Its number in the game from 0, both seats counted."""
    seat: Seat
    turn: int
    legal_actions: int
    decision: Decision
    actions: tuple[str, ...]
    """Keys of what was played."""


@dataclass(slots=True)
class Playthrough:
    """A game as far as it has been played; ``steps`` grows with every decision and is how others see progress.

    It has a clock of its own, which waiting for an endpoint's limits does not count on: whoever waits stops it
    (:meth:`hold`) and says afterwards how much of that was thinking (:meth:`resume`).
    """

    started: float = field(default_factory=time.monotonic)
    steps: int = 0
    actions: list[str] = field(default_factory=list)
    tallies: tuple[Tally, Tally] = field(default_factory=lambda: (Tally(), Tally()))
    forfeited: Seat | None = None
    """Who gave the game up: it is over, though the match is not."""
    places: list[int] = field(default_factory=lambda: [0, 0])
    """The number of each seat's present decision, both seats counted."""
    recorder: Callable[[Played], None] | None = None
    """Told of every decision of agents that wait."""
    requests: int = 0
    """Requests that are on their way to an endpoint, or whose answers are on their way to the journal."""
    cut: asyncio.Timeout | None = None
    limit: float = float("inf")
    """``cut`` ends the game when its clock reaches ``limit`` seconds."""
    _excused: float = 0.0
    _holds: int = 0
    _held_from: float = 0.0

    @property
    def held(self) -> bool:
        """Whether its clock stands still."""
        return self._holds > 0

    def seconds(self) -> float:
        """What its clock shows."""
        now = self._held_from if self.held else time.monotonic()
        return now - self.started - self._excused

    def hold(self) -> None:
        """Stop the clock."""
        if not self.held:
            self._held_from = time.monotonic()
            if self.cut is not None:
                self.cut.reschedule(None)
        self._holds += 1

    def resume(self, thinking: float) -> None:
        """Let it go on, put forward by ``thinking`` seconds."""
        self._holds -= 1
        self.took(thinking)
        if not self.held:
            self._excused += time.monotonic() - self._held_from
            if self.cut is not None and not self.cut.expired():
                self.cut.reschedule(asyncio.get_running_loop().time() + max(self.limit - self.seconds(), 0.0))

    def took(self, thinking: float) -> None:
        """Put the clock forward."""
        self._excused -= thinking


def play_now(
    match: Match, agents: tuple[Agent, Agent], names: tuple[str, str], limit: float, game: Playthrough
) -> None:
    """Play ``match`` to its end with agents that never wait; arguments and failures as for :func:`play`."""
    running = play(match, agents, names, limit, game)
    try:
        running.send(None)
    except StopIteration:
        return
    running.close()
    waiting = " or ".join(sorted(set(names)))
    raise GameFailure(FailureCause.AGENT_ERROR, f"{waiting} waits, though its agent says that it never does")


async def play(
    match: Match, agents: tuple[Agent, Agent], names: tuple[str, str], limit: float, game: Playthrough
) -> None:
    """Play ``match`` to its end, recording it in ``game``.

    A decision has at least two legal actions; what is forced is played and asked of nobody. Where both seats are to act
    both are asked about the same state. ``names`` are the entrants by seat, for failures. Raises :class:`GameFailure`:
    an exception of an agent or an action that it may not play is the agent's, any other the engine's; a game that takes
    longer than ``limit`` seconds is cut at its next decision.
    """
    try:
        while game.forfeited is None and (seats := match.seats_to_act()):
            asked: list[tuple[Seat, tuple[Action, ...]]] = []
            for seat in seats:
                legal = match.legal_actions(seat)
                if len(legal) == 1:
                    match.apply(seat, legal[0])
                    break
                asked.append((seat, tuple(legal)))
            else:
                game.steps += 1
                for place, (seat, _) in enumerate(asked, sum(tally.decisions for tally in game.tallies)):
                    game.places[seat] = place
                if game.seconds() > limit:
                    raise GameFailure(FailureCause.WALL_CLOCK, f"not over after {limit:g} s")
                if len(asked) == 1:
                    seat, legal = asked[0]
                    decision = await _ask(match, agents[seat], names[seat], seat, legal)
                    _apply(match, agents[seat], names[seat], seat, legal, decision, game)
                else:
                    decisions = await _ask_all(match, agents, names, asked)
                    for (seat, legal), decision in zip(asked, decisions, strict=True):
                        if game.forfeited is None:
                            _apply(match, agents[seat], names[seat], seat, legal, decision, game)
        if match.result is None and game.forfeited is None:
            raise GameFailure(FailureCause.ENGINE_ERROR, "nobody is to act, yet there is no result")
    except _SCOPES:
        raise
    except Exception as error:
        raise GameFailure(FailureCause.ENGINE_ERROR, one_line(error)) from error


async def _ask(match: Match, agent: Agent, name: str, seat: Seat, legal: tuple[Action, ...]) -> Decision:
    if not legal:
        raise RuntimeError(f"seat {seat} is to act and has no legal action")
    observation = match.observe(seat) if agent.reads_observation else BlankObservation(seat)
    try:
        with in_decision() if agent.waits else nullcontext():
            return await agent.act(observation, legal)
    except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit, *_SCOPES):
        raise
    except CallFailed as failure:
        detail = _shortened(f"{name}: {' '.join(str(failure).split())}")
        if failure.kind.value in _CAUSES:
            raise GameFailure(FailureCause(failure.kind.value), detail, name, failure.unanswered) from failure
        raise ModelPaused(name, failure.kind, str(failure)) from failure
    except BaseException as error:  # SystemExit too: whatever an agent raises must not end its worker.
        raise GameFailure(FailureCause.AGENT_ERROR, f"{name}: {one_line(error)}") from error


async def _ask_all(
    match: Match, agents: tuple[Agent, Agent], names: tuple[str, str], asked: list[tuple[Seat, tuple[Action, ...]]]
) -> list[Decision]:
    questions = [_ask(match, agents[seat], names[seat], seat, legal) for seat, legal in asked]
    if any(agents[seat].waits for seat, _ in asked):
        return await asyncio.gather(*questions)
    return [await question for question in questions]


def _apply(
    match: Match,
    agent: Agent,
    name: str,
    seat: Seat,
    legal: tuple[Action, ...],
    decision: Decision,
    game: Playthrough,
) -> None:
    """Play the actions of ``decision`` and record them, without those that were forced, as everywhere."""
    game.tallies[seat].add(decision, agent.waits)
    turn = match.turn
    if decision.forfeit:
        game.forfeited = seat
    for number, action in enumerate(decision.actions):
        forced = number > 0 and len(match.legal_actions(seat)) == 1
        try:
            match.apply(seat, action)
        except IllegalAction as error:
            if number == 0 and action in legal:
                raise RuntimeError(f"a legal action was refused: {one_line(error)}") from error
            raise GameFailure(
                FailureCause.AGENT_ERROR, f"{name} played what is not legal: {one_line(error)}"
            ) from error
        if not forced:
            game.actions.append(f"{seat} {action.key}")
    if not decision.actions and not decision.forfeit:
        raise GameFailure(FailureCause.AGENT_ERROR, f"{name} decided for no action")
    if game.recorder is not None and agent.waits:
        keys = tuple(action.key for action in decision.actions)
        game.recorder(Played(game.places[seat], seat, turn, len(legal), decision, keys))


def finished_row(
    setup: Setup, scheduled: ScheduledGame, attempt: int, match: Match, agents: tuple[Agent, Agent], game: Playthrough
) -> dict[str, Any]:
    """The row of a game that has come to its end (``results.schema.GAMES``); times are left to the caller."""
    result = match.result
    if game.forfeited is not None:
        result = Result(Outcome.WIN, 1 - game.forfeited, Cause.FORFEIT)
    if result is None:
        raise ValueError("the game is not over")
    row = _shared(setup, scheduled, attempt)
    row["outcome"] = str(result.outcome)
    row["cause"] = str(result.cause)
    row["winner_seat"] = result.winner
    row["winner"] = None if result.winner is None else scheduled.entrants[result.winner]
    row["first_player"] = getattr(match, "first_player", None)
    row["turns"] = match.turn
    row["actions"] = game.actions
    row["final_digest"] = match.digest()
    for seat in SEATS:
        tally = game.tallies[seat]
        row[f"decisions_{seat}"] = tally.decisions
        if agents[seat].waits:
            for name in _MEASURED:
                row[f"{name}_{seat}"] = getattr(tally, name)
        if agents[seat].waits or tally.agent_seconds:
            row[f"agent_seconds_{seat}"] = tally.agent_seconds
    return row


def void_row(setup: Setup, scheduled: ScheduledGame, attempt: int, failure: GameFailure) -> dict[str, Any]:
    """The row of a game that was tried as often as it may be and never came to a result."""
    row = _shared(setup, scheduled, attempt)
    row["outcome"] = VOID
    row["cause"] = str(failure.cause)
    row["void_detail"] = failure.detail
    return row


def build(setup: Setup, scheduled: ScheduledGame, attempt: int) -> tuple[Match, tuple[Agent, Agent]]:
    """Match and agents of one try; raises :class:`GameFailure` where either cannot be made."""
    try:
        match = new_match(setup.spec(scheduled, attempt))
    except Exception as error:
        raise GameFailure(FailureCause.ENGINE_ERROR, one_line(error)) from error
    return match, setup.make_agents(scheduled, attempt)


def one_line(error: BaseException) -> str:
    """Type and first line of what ``error`` says, not longer than a line should be."""
    lines = str(error).strip().splitlines()
    return _shortened(f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__)


def _shortened(said: str) -> str:
    return said if len(said) <= _DETAIL_LENGTH else said[: _DETAIL_LENGTH - 1] + "…"


def _shared(setup: Setup, scheduled: ScheduledGame, attempt: int) -> dict[str, Any]:
    return {
        "game_id": scheduled.game_id,
        "run": setup.run,
        "cycle": scheduled.cycle,
        "pair": scheduled.pair,
        "twin": scheduled.twin,
        "seating": scheduled.seating,
        "round": scheduled.round,
        "game": setup.game,
        "seed": scheduled.seed,
        "entrant_0": scheduled.entrants[0],
        "entrant_1": scheduled.entrants[1],
        "deck_0": scheduled.decks[0],
        "deck_1": scheduled.decks[1],
        "attempt": attempt,
    }


def _with_attempt(config: Mapping[str, Any], attempt: int) -> Mapping[str, Any]:
    return {**config, "attempt": attempt} if "attempt" in config else config
