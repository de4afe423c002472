"""What fails while games are played, on real Ray: told apart, retried, void in the end, and nobody else's trouble."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ray_actors import actors
from standin_tournaments import (
    GREEDY,
    RANDOM,
    failed_tries,
    games_of,
    tournament,
    twin_seed,
    wait_for_games,
    wait_until,
)

from orchestrator import Report, TournamentConfig, run_tournament
from orchestrator.cluster import RayCluster
from orchestrator.config import ClusterConfig, LimitsConfig
from orchestrator.schedule import Schedule
from orchestrator.workers import SILENCE_SECONDS
from results import Run

QUICK = LimitsConfig(game_seconds=1.2, lease_seconds=6.0, max_attempts=2)


@pytest.fixture(scope="module", autouse=True)
def _ray() -> Iterator[None]:
    with RayCluster(ClusterConfig(workers=2)):
        yield


def ids(config: TournamentConfig, twin: int) -> list[str]:
    """The games of a twin."""
    return [game.game_id for game in Schedule(config) if game.twin == twin]


def rows(config: TournamentConfig) -> dict[str, dict[str, Any]]:
    return {row["game_id"]: row for row in games_of(config).to_pylist()}


class Background:
    """A tournament that is played in another thread."""

    def __init__(self, config: TournamentConfig) -> None:
        self.reports: list[Report] = []
        self._thread = threading.Thread(target=lambda: self.reports.append(run_tournament(config)))
        self._thread.start()

    def report(self) -> Report:
        self._thread.join()
        return self.reports[0]


def test_each_kind_of_failure_is_told_apart_and_retried_and_harms_no_other_game(tmp_path: Path) -> None:
    undisturbed = tournament(tmp_path, "undisturbed", games=40, turns=12, attempt=0)
    seeds = [twin_seed(undisturbed, twin) for twin in range(20)]
    faults = [
        {"kind": "raise", "ply": 3, "seeds": [seeds[2]], "attempts": [1]},
        {"kind": "exit", "ply": 4, "seeds": [seeds[5]]},
        {"kind": "kill", "ply": 0, "seeds": [seeds[8]], "attempts": [1]},
        {"kind": "native_hang", "ply": 6, "seeds": [seeds[11]], "attempts": [1]},
        {"kind": "sleep", "ply": 2, "seeds": [seeds[14]], "attempts": [1]},
    ]
    disturbed = tournament(tmp_path, "disturbed", games=40, turns=12, limits=QUICK, attempt=0, faults=faults)
    assert run_tournament(undisturbed).exit_code == 0
    report = run_tournament(disturbed)

    expected = [(game, 1, "engine_error") for game in ids(disturbed, 2)]
    expected += [(game, attempt, "worker_crash") for game in ids(disturbed, 5) for attempt in (1, 2)]
    expected += [(game, 1, "worker_crash") for game in ids(disturbed, 8)]
    expected += [(game, 1, "wall_clock") for game in ids(disturbed, 11)]
    expected += [(game, 1, "wall_clock") for game in ids(disturbed, 14)]
    assert failed_tries(disturbed) == sorted(expected)

    before, after = rows(undisturbed), rows(disturbed)
    voids = {game: row for game, row in after.items() if row["outcome"] == "void"}
    assert {game: row["cause"] for game, row in voids.items()} == dict.fromkeys(ids(disturbed, 5), "worker_crash")
    assert all(row["winner"] is None and row["winner_seat"] is None and row["void_detail"] for row in voids.values())
    assert after.keys() == before.keys()
    assert all(after[game] == before[game] for game in after.keys() - voids.keys())
    assert (report.done, report.void, report.exit_code) == (40, 2, 4)


def test_an_agent_that_fails_makes_only_its_own_games_void(tmp_path: Path) -> None:
    agents = {"bad": {"kind": "scripted", "fault": "raise", "fault_at": 2}, "a": RANDOM, "b": GREEDY}
    config = tournament(tmp_path, games=4, agents=agents, limits=QUICK, turns=12)
    assert run_tournament(config).exit_code == 4
    for row in rows(config).values():
        if "bad" in (row["entrant_0"], row["entrant_1"]):
            assert (row["outcome"], row["cause"], row["winner"]) == ("void", "agent_error", None)
            assert row["void_detail"] == "bad: ScriptedFault: scripted fault at decision 2"
        else:
            assert row["outcome"] != "void"
    assert len(failed_tries(config)) == 2 * 8


def test_a_void_game_stays_void_at_the_next_start(tmp_path: Path) -> None:
    agents = {"bad": {"kind": "scripted", "fault": "illegal"}, "a": RANDOM}
    config = tournament(tmp_path, games=2, agents=agents, limits=LimitsConfig(max_attempts=1))
    assert run_tournament(config).void == 2
    again = run_tournament(config)
    assert (again.played, again.void, again.exit_code) == (0, 2, 4)


def test_a_worker_hears_the_driver_while_an_agent_decides_for_long(tmp_path: Path) -> None:
    agents = {"a": RANDOM, "waiting": {"kind": "scripted", "wait_seconds": 0.01}}
    seconds = SILENCE_SECONDS + 2.5
    config = tournament(tmp_path, games=2, agents=agents, turns=1, seconds=seconds, limits=LimitsConfig(max_attempts=1))
    report = run_tournament(config)
    assert (report.done, report.void, failed_tries(config)) == (2, 0, [])


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_that_is_killed_or_stands_still_costs_no_game(tmp_path: Path, how: signal.Signals) -> None:
    options = {"turns": 30, "work": 4000}
    undisturbed = tournament(tmp_path, "undisturbed", games=60, **options)
    assert run_tournament(undisturbed).exit_code == 0
    wait_until(lambda: not actors(), "the workers of the run before ended")

    limits = LimitsConfig(lease_seconds=3.0)
    disturbed = tournament(tmp_path, "disturbed", games=60, limits=limits, cluster={"batch_seconds": 0.2}, **options)
    playing = Background(disturbed)
    wait_for_games(disturbed, 10)
    victim = min(actors())
    os.kill(victim, how)
    report = playing.report()
    assert (report.done, report.exit_code) == (60, 0)
    assert games_of(disturbed).equals(games_of(undisturbed))
    wait_until(lambda: victim not in actors(), "the worker that stood still was ended")


def test_games_that_wait_are_played_several_at_once_and_beside_those_that_do_not(tmp_path: Path) -> None:
    waiting = {"kind": "scripted", "policy": "cycle", "wait_seconds": 0.01}
    at_once = {"kind": "scripted", "policy": "cycle"}
    config = tournament(tmp_path, "waiting", games=20, agents={"a": RANDOM, "b": GREEDY, "c": waiting}, turns=20)
    plain = tournament(tmp_path, "plain", games=20, agents={"a": RANDOM, "b": GREEDY, "c": at_once}, turns=20)
    assert run_tournament(config).exit_code == run_tournament(plain).exit_code == 0
    actions = {row["game_id"]: (row["actions"], row["final_digest"]) for row in rows(config).values()}
    assert actions == {row["game_id"]: (row["actions"], row["final_digest"]) for row in rows(plain).values()}

    columns = ["worker", "entrant_0", "entrant_1", "started_at", "finished_at"]
    games = Run.open(tmp_path / "waiting").games(columns).to_pylist()
    waited = [game for game in games if "c" in (game["entrant_0"], game["entrant_1"])]
    assert len(waited) == 40

    def beside(game: dict[str, Any]) -> int:
        return sum(
            other["worker"] == game["worker"] and other["started_at"] < game["finished_at"] <= other["finished_at"]
            for other in waited
        )

    assert max(map(beside, waited)) >= 5


def test_games_that_wait_fail_like_others(tmp_path: Path) -> None:
    slow = {"kind": "scripted", "wait_seconds": 60.0}
    quick = {"kind": "scripted", "wait_seconds": 0.002}
    agents = {"a": RANDOM, "quick": quick, "slow": slow}
    config = tournament(tmp_path, games=4, agents=agents, turns=10, attempt=0)
    faults = [{"kind": "kill", "ply": 5, "seeds": [twin_seed(config, 1)], "attempts": [1]}]
    limits = LimitsConfig(game_seconds=1.0, max_attempts=2)
    config = tournament(tmp_path, games=4, agents=agents, turns=10, attempt=0, faults=faults, limits=limits)
    report = run_tournament(config)
    assert report.exit_code == 4
    for row in rows(config).values():
        slow_game = "slow" in (row["entrant_0"], row["entrant_1"])
        assert (row["outcome"] == "void") == slow_game
        assert (row["cause"] == "wall_clock") == slow_game
