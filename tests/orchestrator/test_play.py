"""The game loop: who is asked what, whose fault a failure is, and what the row says."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

import engine.match
import results.schema
from agents.base import Decision
from engine.match import action_with_key, play_forced
from engine.registry import new_match
from orchestrator.config import Entrant, LimitsConfig, TournamentConfig
from orchestrator.play import (
    FailureCause,
    GameFailure,
    Playthrough,
    Setup,
    build,
    finished_row,
    play,
    play_now,
    void_row,
)
from orchestrator.schedule import Schedule, ScheduledGame

RANDOM = {"kind": "random"}
FIRST = {"kind": "scripted"}


def prepared(
    agents: tuple[Mapping[str, Any], Mapping[str, Any]] = (RANDOM, RANDOM), game_seconds: float = 60.0, **options: Any
) -> tuple[Setup, ScheduledGame]:
    config = TournamentConfig(
        "r",
        (Entrant("a", agents[0]), Entrant("b", agents[1])),
        (),
        game="standin",
        options=options,
        limits=LimitsConfig(game_seconds=game_seconds),
    )
    return Setup.of(config), Schedule(config)[0]


def played(setup: Setup, scheduled: ScheduledGame, attempt: int = 1) -> dict[str, Any]:
    match, agents = build(setup, scheduled, attempt)
    game = Playthrough()
    play_now(match, agents, scheduled.entrants, setup.game_seconds, game)
    return finished_row(setup, scheduled, attempt, match, agents, game)


def failure(setup: Setup, scheduled: ScheduledGame, attempt: int = 1) -> GameFailure:
    with pytest.raises(GameFailure) as caught:
        played(setup, scheduled, attempt)
    return caught.value


def test_the_row_is_of_the_schema_and_its_actions_replay_the_game() -> None:
    setup, scheduled = prepared(turns=30, forced_every=4)
    row = played(setup, scheduled)
    results.schema.table_from_rows("games", [row])
    match = new_match(setup.spec(scheduled, 1))
    for entry in row["actions"]:
        play_forced(match)
        seat, key = entry.split(" ", 1)
        match.apply(int(seat), action_with_key(match, int(seat), key))
    play_forced(match)
    assert match.result is not None
    assert match.digest() == row["final_digest"]
    assert (row["winner_seat"], row["outcome"]) == (match.result.winner, match.result.outcome.value)
    assert row["winner"] == (None if match.result.winner is None else scheduled.entrants[match.result.winner])


def test_only_decisions_are_asked_and_recorded() -> None:
    setup, scheduled = prepared(turns=20, forced_every=2)
    row = played(setup, scheduled)
    # Every second turn is forced; they are all of one seat.
    assert (row["decisions_0"], row["decisions_1"], len(row["actions"]), row["turns"]) == (10, 0, 10, 20)


def test_the_same_game_gives_the_same_row_wherever_it_is_played() -> None:
    assert played(*prepared(turns=40)) == played(*prepared(turns=40))


def test_both_seats_of_a_simultaneous_turn_are_asked_about_the_same_state() -> None:
    # Were the second seat asked after the first had acted, it would still see the same offers here, but agents that
    # wait would be asked one after the other.
    waiting = {"kind": "scripted", "wait_seconds": 0.01}
    setup, scheduled = prepared((waiting, waiting), turns=1, simultaneous=True)
    match, agents = build(setup, scheduled, 1)
    asked: list[tuple[int, int]] = []

    class Recorder:
        reads_observation = True
        waits = True

        def __init__(self, seat: int) -> None:
            self.seat = seat

        async def act(self, observation: Any, legal: Any) -> Any:
            asked.append((self.seat, match.ply))  # type: ignore[attr-defined]
            await asyncio.sleep(0)
            return await agents[self.seat].act(observation, legal)

    asyncio.run(play(match, (Recorder(0), Recorder(1)), ("a", "b"), 60.0, Playthrough()))
    assert asked == [(0, 0), (1, 0)]
    assert match.result is not None


def test_an_agent_that_waits_plays_the_same_game_as_one_that_does_not() -> None:
    waiting = {"kind": "scripted", "policy": "cycle", "wait_seconds": 0.001}
    setup, scheduled = prepared((waiting, RANDOM), turns=12)
    match, agents = build(setup, scheduled, 1)
    asyncio.run(play(match, agents, scheduled.entrants, 60.0, Playthrough()))
    at_once = played(*prepared(({"kind": "scripted", "policy": "cycle"}, RANDOM), turns=12))
    assert match.digest() == at_once["final_digest"]


@pytest.mark.parametrize(
    ("agents", "options", "cause", "said"),
    [
        (({**FIRST, "fault": "raise", "fault_at": 2}, RANDOM), {}, "agent_error", "a: ScriptedFault: scripted fault"),
        ((RANDOM, {**FIRST, "fault": "illegal"}), {}, "agent_error", "b played what is not legal"),
        ((RANDOM, {"kind": "scripted", "policy": "worst"}), {}, "agent_error", "b: ValueError: scripted agent: policy"),
        ((RANDOM, RANDOM), {"faults": [{"kind": "raise", "ply": 4}]}, "engine_error", "StandinFault: scripted fault"),
        ((RANDOM, RANDOM), {"choices": 1}, "engine_error", "ValueError: stand-in game: choices"),
    ],
)
def test_a_failure_is_of_whoever_caused_it(agents: Any, options: dict[str, Any], cause: str, said: str) -> None:
    failed = failure(*prepared(agents, **options))
    assert failed.cause == cause
    assert said in failed.detail
    assert "\n" not in failed.detail


def test_a_game_over_its_time_is_cut_at_its_next_decision() -> None:
    setup, scheduled = prepared(game_seconds=0.05, turns=10_000, seconds=0.01)
    failed = failure(setup, scheduled)
    assert (failed.cause, failed.detail) == (FailureCause.WALL_CLOCK, "not over after 0.05 s")


def test_an_agent_that_waits_though_it_says_it_never_does_fails_as_an_agent() -> None:
    setup, scheduled = prepared(turns=2)
    match, (first, second) = build(setup, scheduled, 1)

    class Liar:
        reads_observation = False
        waits = False

        async def act(self, observation: Any, legal: Any) -> Any:
            await asyncio.sleep(0)
            return await first.act(observation, legal)

    with pytest.raises(GameFailure, match="waits, though its agent says that it never does") as caught:
        play_now(match, (Liar(), second), ("liar", "b"), 60.0, Playthrough())
    assert caught.value.cause == FailureCause.AGENT_ERROR


def test_a_game_that_is_given_up_is_won_by_the_other_and_says_so() -> None:
    setup, scheduled = prepared(turns=8)
    match, (first, second) = build(setup, scheduled, 1)

    class Resigning:
        reads_observation = False
        waits = False
        asked = 0

        async def act(self, observation: Any, legal: Any) -> Decision:
            self.asked += 1
            return Decision((), forfeit=True) if self.asked == 3 else await first.act(observation, legal)

    agents = (Resigning(), second)
    game = Playthrough()
    play_now(match, agents, scheduled.entrants, 60.0, game)
    row = finished_row(setup, scheduled, 1, match, agents, game)
    results.schema.table_from_rows("games", [row])
    assert (row["outcome"], row["cause"], row["winner_seat"], row["winner"]) == ("win", "forfeit", 1, "b")
    assert (row["decisions_0"], row["decisions_1"], len(row["actions"])) == (3, 2, 4)


def test_what_an_agent_that_waits_reports_is_summed_and_for_others_not_known() -> None:
    setup, scheduled = prepared(turns=6)
    match, (first, second) = build(setup, scheduled, 1)

    class Reporting:
        reads_observation = False
        waits = True

        async def act(self, observation: Any, legal: Any) -> Decision:
            made = await first.act(observation, legal)
            return replace(
                made, attempts=3, invalid_attempts=2, fallback="random", tool_calls=4, input_tokens=100,
                cached_input_tokens=50, output_tokens=20, reasoning_tokens=10, cost_usd=0.25, seconds=1.5,
            )  # fmt: skip

    agents = (Reporting(), second)
    game = Playthrough()
    asyncio.run(play(match, agents, scheduled.entrants, 60.0, game))
    row = finished_row(setup, scheduled, 1, match, agents, game)
    results.schema.table_from_rows("games", [row])
    expected = {
        "decisions": 3, "attempts": 9, "invalid_attempts": 6, "fallbacks": 3, "tool_calls": 12, "calls": 0,
        "input_tokens": 300, "cached_input_tokens": 150, "output_tokens": 60, "reasoning_tokens": 30,
        "cost_usd": 0.75, "agent_seconds": 4.5,
    }  # fmt: skip
    assert {name: row[f"{name}_0"] for name in expected} == expected
    assert [name for name in expected if row.get(f"{name}_1") is not None] == ["decisions"]


def test_an_option_named_attempt_tells_which_try_it_is() -> None:
    faults = [{"kind": "raise", "attempts": [1, 2]}]
    setup, scheduled = prepared(faults=faults, attempt=0)
    assert [failure(setup, scheduled, attempt).cause for attempt in (1, 2)] == ["engine_error"] * 2
    assert played(setup, scheduled, 3)["outcome"] in ("win", "draw")


def test_a_void_row_is_of_the_schema_and_counts_for_nobody() -> None:
    setup, scheduled = prepared()
    row = void_row(setup, scheduled, 3, GameFailure(FailureCause.WORKER_CRASH, "gone"))
    table = results.schema.table_from_rows("games", [row])
    read = table.to_pylist()[0]
    assert (read["outcome"], read["cause"], read["void_detail"], read["winner"]) == (
        "void",
        "worker_crash",
        "gone",
        None,
    )


def test_what_games_and_failures_are_called_is_known_to_the_results() -> None:
    outcomes = {str(outcome) for outcome in engine.match.Outcome} | {"void"}
    assert outcomes == {str(outcome) for outcome in results.schema.Outcome}
    known = {str(cause) for cause in results.schema.Cause}
    voids = {str(cause) for cause in results.schema.VOID_CAUSES}
    assert {str(cause) for cause in engine.match.Cause} == known - voids
    assert {str(cause) for cause in FailureCause} <= voids
