"""Tournaments of chat models: nothing is paid twice whatever is killed, and a failure goes no further than it must."""

from __future__ import annotations

import io
import os
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import ray
from llm_tournaments import Loopback, answers_of, files_with, llm, llm_tournament, run_of, tables
from ports import free_port
from ray_actors import actors
from standin_tournaments import failed_tries, journal_of, start, wait_until

from orchestrator import run_tournament
from orchestrator.cluster import RayCluster
from orchestrator.config import BudgetConfig, ClusterConfig, ConfigError, Entrant, LimitsConfig, TournamentConfig
from orchestrator.status import ask_to_stop

RIGHT_KEY, WRONG_KEY = "sk-right-0123456789abcdef", "sk-wrong-fedcba9876543210"
SLOW = ("--latency-ms", "20")
"""So slow that calls are in the air when something is killed. Answers are equal where this is."""
HEURISTIC = {"kind": "heuristic"}


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[str]:
    """A Ray cluster that all tests share; its address. Its workers have the keys in their environment."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("RIGHT_KEY", RIGHT_KEY)
        environment.setenv("WRONG_KEY", WRONG_KEY)
        with RayCluster(ClusterConfig(workers=2)):
            yield ray.get_runtime_context().gcs_address


@pytest.fixture(scope="module")
def shared_server() -> Iterator[Loopback]:
    """A server for all tests that want nothing special of it: starting one takes longer than many of them."""
    with Loopback() as server:
        yield server


@pytest.fixture
def server(shared_server: Loopback) -> Loopback:
    """The shared server, which has counted nothing yet."""
    return shared_server.reset()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[TournamentConfig, int]:
    """A run, and how many requests it took."""
    with Loopback(*SLOW) as server:
        config = llm_tournament(
            tmp_path_factory.mktemp("undisturbed"), {"llm": llm(server.url, "weak"), "heuristic": HEURISTIC}
        )
        assert run_tournament(config, io.StringIO()).exit_code == 0
        return config, server.requests


# One reply in five is an action that is not legal and some look a card up first, so that decisions take several calls.
def agents(server: Loopback) -> dict[str, dict[str, Any]]:
    return {"llm": llm(server.url, "weak"), "heuristic": HEURISTIC}


def kill_driver(config: TournamentConfig, server: Loopback, requests: int) -> None:
    """Start the run in a process of its own, and kill that once so many requests have come."""
    child = start(config)
    try:

        def there() -> bool:
            assert child.poll() is None, f"the tournament ended by itself with {child.returncode}"
            return server.requests >= requests

        wait_until(there, f"request {requests} came")
    finally:
        child.kill()
        child.wait()


def test_a_run_is_recorded_call_by_call(undisturbed: tuple[TournamentConfig, int]) -> None:
    config, requests = undisturbed
    found = tables(config)
    games, decisions, calls = found["games"].to_pylist(), found["decisions"].to_pylist(), found["calls"].to_pylist()
    assert len(calls) == requests > 20
    for game in games:
        seat = 0 if game["entrant_0"] == "llm" else 1
        mine = [row for row in decisions if row["game_id"] == game["game_id"]]
        assert len(mine) == game[f"decisions_{seat}"]
        assert {(row["seat"], row["entrant"]) for row in mine} == {(seat, "llm")}
        for column in ("attempts", "invalid_attempts", "tool_calls", "calls", "input_tokens", "output_tokens"):
            assert sum(row[column] for row in mine) == game[f"{column}_{seat}"], column
            assert game[f"{column}_{1 - seat}"] is None
        assert sum(row["cost_usd"] for row in mine) == pytest.approx(game[f"cost_usd_{seat}"]) != 0
        # Places in the game: those of both seats are counted, and what was played there is what the game has.
        played = [action.split(" ", 1) for action in game["actions"]]
        for row in mine:
            if len(row["actions"]) == 1:
                assert [str(seat), row["actions"][0]] in played
        assert max(row["decision"] for row in mine) < game["decisions_0"] + game["decisions_1"]
    for row in decisions:
        of_it = [call for call in calls if (call["game_id"], call["decision"]) == (row["game_id"], row["decision"])]
        assert [call["call"] for call in of_it] == list(range(row["calls"]))
        assert sum(call["input_tokens"] for call in of_it) == row["input_tokens"]
    causes = [one["cause"] for row in decisions for one in row["attempt_log"] if one["verdict"] == "refused"]
    assert sum(row["invalid_attempts"] for row in decisions) == len(causes)
    assert causes.count("illegal_action") == sum(row["cause"] == "illegal_action" for row in calls) > 0
    assert all(row["reply"].startswith("{") for row in calls)


def test_a_driver_killed_between_the_second_and_third_call_of_a_decision_repeats_no_call(
    tmp_path: Path, undisturbed: tuple[TournamentConfig, int], cluster: str
) -> None:
    other, requests = undisturbed
    in_order = sorted(run_of(other).calls().to_pylist(), key=lambda row: row["answered_at"])
    before = next(number for number, row in enumerate(in_order) if row["call"] == 2)
    with Loopback(*SLOW, "--script", f"ok*{before},stall") as server:
        config = llm_tournament(tmp_path, agents(server), address=cluster)
        kill_driver(config, server, before + 1)
        assert max(answers_of(config), key=lambda one: one[1:])[2] == 1, "two calls of that decision are in the journal"
        report = run_tournament(config, io.StringIO())
        assert (report.done, report.exit_code) == (4, 0)
        assert server.requests == requests + 1
        assert tables(config) == tables(other)
        assert failed_tries(config) == []


def test_workers_and_drivers_killed_one_after_the_other_repeat_no_more_calls_than_were_in_the_air(
    tmp_path: Path, undisturbed: tuple[TournamentConfig, int], cluster: str
) -> None:
    other, requests = undisturbed
    with Loopback(*SLOW) as server:
        config = llm_tournament(tmp_path, agents(server), workers=2, games_in_flight=2, address=cluster)
        child = start(config)
        try:
            wait_until(lambda: server.requests >= requests // 3, "a third of the calls was made")
            os.kill(min(actors()), signal.SIGKILL)
            wait_until(lambda: server.requests >= requests * 2 // 3, "the run went on")
        finally:
            child.kill()
            child.wait()
        report = run_tournament(config, io.StringIO())
        assert (report.done, report.void, report.exit_code) == (4, 0, 0)
        counted = server.statistics()
        # Two kills, each with at most four games that had a call in the air.
        assert requests <= counted["requests"] <= requests + 2 * 4
        assert tables(config) == tables(other)
        assert sorted_calls(config) == sorted_calls(other)


def test_a_run_that_is_asked_to_stop_keeps_what_open_games_were_answered(
    tmp_path: Path, undisturbed: tuple[TournamentConfig, int], cluster: str
) -> None:
    other, requests = undisturbed
    # So slow that the rest takes longer than the second within which a request to stop is seen.
    with Loopback("--latency-ms", "250") as server:
        config = llm_tournament(tmp_path, agents(server), games_in_flight=2, address=cluster)
        child = start(config)
        wait_until(lambda: server.requests >= requests // 3, "a third of the calls was made")
        ask_to_stop(run_of(config).location, drain_seconds=0.1)
        assert child.wait() == 3
        assert answers_of(config), "games were open"
        assert 0 < server.requests < requests
        assert run_tournament(config, io.StringIO()).exit_code == 0
        assert server.requests == requests, "no call was repeated: what was in the air has been waited for"
        assert tables(config) == tables(other)


def test_a_budget_stops_a_run_between_two_decisions_and_a_higher_one_goes_on_with_nothing_paid_twice(
    tmp_path: Path, undisturbed: tuple[TournamentConfig, int]
) -> None:
    other, requests = undisturbed
    in_order = sorted(run_of(other).calls().to_pylist(), key=lambda row: row["answered_at"])
    cost = sum(row["cost_usd"] for row in in_order)
    # The money is used up by the first call of a decision that takes three: the others cost more than was set.
    last = next(number for number, row in enumerate(in_order) if row["call"] == 2)
    begun = [row["cost_usd"] for row in in_order[: last - 2]]
    most = (in_order[last - 2]["input_tokens"] * 1 + 2048 * 4) / 1e6
    budget = sum(begun) + most + 1e-6
    with Loopback(*SLOW) as server:
        config = llm_tournament(tmp_path, agents(server), usd=budget)
        report = run_tournament(config, io.StringIO())
        assert (report.exit_code, report.void) == (3, 0)
        assert report.paused[0].startswith("llm is paused: the budget is used up: a decision may cost $")
        assert "a higher budget.usd goes on" in report.paused[0]
        assert answers_without_a_decision(config) == []
        decision = [in_order[last][key] for key in ("game_id", "decision")]
        of_it = [row["cost_usd"] for row in in_order if [row["game_id"], row["decision"]] == decision]
        assert spent(config) == pytest.approx(sum(begun) + sum(of_it))
        assert run_tournament(config, io.StringIO()).exit_code == 3
        assert server.requests == len(begun) + len(of_it), "the same budget again pays for nothing"
        assert run_tournament(replace(config, budget=BudgetConfig(2 * cost)), io.StringIO()).exit_code == 0
        assert server.requests == requests
        assert spent(config) == pytest.approx(cost)
        assert tables(config) == tables(other)


def test_decisions_of_several_calls_in_many_games_at_once_are_finished_within_the_budget(
    tmp_path: Path, cluster: str
) -> None:
    # A model that never calls a tool: each decision takes four calls, and with a short output its first call takes
    # nearly what that may cost, and leaves nothing to the others.
    with Loopback(*SLOW, "--rate", "prose=1") as server:
        names = {"llm": llm(server.url, parameters={"max_tokens": 64}), "heuristic": HEURISTIC}
        config = llm_tournament(tmp_path, names, games=24, workers=2, games_in_flight=8, usd=0.6, address=cluster)
        report = run_tournament(config, io.StringIO())
    assert (report.exit_code, report.void) == (3, 0)
    assert answers_without_a_decision(config) == []
    calls = run_of(config).calls().to_pylist()
    assert {row["call"] for row in calls} == {0, 1, 2, 3}
    # Prompts grow with the game, so that a decision may cost more than the costliest before it, which was reserved for
    # it: by less than one of its four calls.
    assert 0.9 * 0.6 < spent(config) <= 0.6 + 2 * 8 * max(row["cost_usd"] for row in calls)


def test_a_game_against_a_search_that_looks_at_the_clock_goes_on_with_nothing_paid_twice(
    tmp_path: Path, server: Loopback
) -> None:
    opponent = {"kind": "search", "milliseconds": 3, "sure": 100, "candidates": 6}
    names = {"llm": llm(server.url, "weak"), "search": opponent}
    config = llm_tournament(tmp_path, names, games=2, turn_cap=4, usd=0.1)
    assert run_tournament(config, io.StringIO()).exit_code == 3
    journal = journal_of(config)
    seats = [row[0] for row in journal.execute("SELECT DISTINCT seat FROM answers ORDER BY seat")]
    journal.close()
    assert seats == [0, 1], "what the search has chosen is in the journal too"
    assert run_tournament(replace(config, budget=BudgetConfig(10.0)), io.StringIO()).exit_code == 0
    assert failed_tries(config) == []
    assert server.requests == run_of(config).calls().num_rows


def test_where_the_journal_is_lost_what_was_paid_stays_counted_and_games_in_flight_begin_anew(
    tmp_path: Path, server: Loopback
) -> None:
    config = llm_tournament(tmp_path, agents(server), games=4, turn_cap=2, usd=0.1)
    first = run_tournament(config, io.StringIO())
    assert (first.exit_code, first.done > 0) == (3, True)
    paid, made = spent(config), server.requests
    in_flight = set(run_of(config).decisions()["game_id"].to_pylist()) - games_of(config)
    assert in_flight, "the budget ended in the middle of a game"
    shutil.rmtree(tmp_path / "r" / "journal")
    second = run_tournament(config, io.StringIO())
    assert (second.exit_code, second.done, second.played) == (3, first.done, 0)
    assert spent(config) == pytest.approx(paid, rel=0.2)
    assert server.requests == made
    for table in (run_of(config).decisions(), run_of(config).calls()):
        assert set(table["game_id"].to_pylist()) == games_of(config)


def test_a_model_whose_key_is_refused_is_paused_and_the_others_play_on(tmp_path: Path, server: Loopback) -> None:
    open_to_all = server
    with Loopback("--key-env", "RIGHT_KEY", RIGHT_KEY=RIGHT_KEY) as strict:
        names = {"kept_out": llm(strict.url, "greedy", key_env="WRONG_KEY"), "let_in": llm(open_to_all.url, "weak")}
        config = llm_tournament(tmp_path, {**names, "heuristic": HEURISTIC}, games=2, games_in_flight=4)
        shown = io.StringIO()
        report = run_tournament(config, shown)
        assert (report.total, report.done, report.void, report.exit_code) == (6, 2, 0, 3)
        assert len(report.paused) == 1
        assert report.paused[0].startswith("model loopback/greedy is paused: its key is refused or missing")
        assert report.paused[0] in shown.getvalue()
        # Of four games that may be open at once not one asks again, nor does any other.
        assert 1 <= strict.requests <= 4
        assert failed_tries(config) == []
        assert {row["entrant_0"] for row in run_of(config).games().to_pylist()} == {"let_in", "heuristic"}
        made = open_to_all.requests
        for key in (RIGHT_KEY, WRONG_KEY):
            assert files_with(tmp_path, key) == []
            assert key not in shown.getvalue()
        # The name of the key's variable is no part of what the run is.
        names["kept_out"] = llm(strict.url, "greedy", key_env="RIGHT_KEY")
        mended = replace(config, entrants=tuple(Entrant(*one) for one in {**names, "heuristic": HEURISTIC}.items()))
        assert run_tournament(mended, io.StringIO()).exit_code == 0
        calls = run_of(config).calls()["entrant"].to_pylist()
        assert open_to_all.requests == calls.count("let_in") > made
        assert files_with(tmp_path, RIGHT_KEY) == []


def test_what_cannot_be_asked_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    agents = {"llm": llm("http://127.0.0.1:1/v1", key_env="NOT_SET_ANYWHERE"), "heuristic": HEURISTIC}
    with pytest.raises(ConfigError, match=r"agents\.llm: model loopback/skill_8: .* NOT_SET_ANYWHERE .* is not set"):
        run_tournament(llm_tournament(tmp_path / "new", agents), io.StringIO())
    with pytest.raises(ConfigError, match=r"agents\.llm: an agent that asks a model plays the game ptcg only"):
        run_tournament(replace(llm_tournament(tmp_path / "new", agents), game="standin"), io.StringIO())
    with pytest.raises(ConfigError, match=r"budget\.usd: -1 is not larger than 0"):
        run_tournament(llm_tournament(tmp_path / "new", {"a": HEURISTIC, "b": HEURISTIC}, usd=-1), io.StringIO())
    assert not (tmp_path / "new").exists()


def test_a_call_that_fails_for_good_makes_its_game_void_with_its_cause_and_no_other(tmp_path: Path) -> None:
    with Loopback("--script", "bad_request*3") as server:
        config = llm_tournament(tmp_path, agents(server), games=2)
        report = run_tournament(config, io.StringIO())
        assert (report.done, report.void, report.exit_code) == (2, 1, 4)
        void, played = sorted(run_of(config).games().to_pylist(), key=lambda row: row["outcome"] != "void")
        assert (void["cause"], void["winner"], void["attempt"]) == ("bad_request", None, 3)
        assert void["void_detail"].startswith("llm: ")
        assert played["outcome"] != "void"
        assert server.requests == 3 + run_of(config).calls().num_rows


def test_where_an_endpoint_goes_away_no_game_is_void_and_the_same_command_goes_on_once_it_is_back(
    tmp_path: Path, undisturbed: tuple[TournamentConfig, int]
) -> None:
    other, requests = undisturbed
    port = ("--port", str(free_port()))
    with Loopback(*SLOW, *port) as server, ThreadPoolExecutor(1) as beside:
        patience = {"retry": {"first_wait_seconds": 0.05, "deadline_seconds": 1.0}, "timeouts": {"call_seconds": 1.0}}
        away = {"llm": llm(server.url, "weak", **patience), "heuristic": HEURISTIC}
        config = llm_tournament(tmp_path, away, games_in_flight=2, limits=LimitsConfig(max_attempts=1))
        shown = io.StringIO()
        under_way = beside.submit(run_tournament, config, shown)
        wait_until(lambda: server.requests >= requests // 2, "half of the calls was made")
        server.__exit__(None, None, None)
        report = under_way.result()
    assert (report.void, report.exit_code) == (0, 3)
    assert report.done < report.total
    assert len(report.paused) == 1
    assert report.paused[0].startswith("model loopback/weak is paused: its endpoint answers no calls: ")
    assert "connection" in report.paused[0]
    assert report.paused[0] in shown.getvalue()
    assert failed_tries(config) == []
    again = run_tournament(config, io.StringIO())
    assert (again.done, again.void, again.exit_code) == (report.done, 0, 3)
    answered = paid_calls(config)
    with Loopback(*SLOW, *port) as server:
        assert run_tournament(config, io.StringIO()).exit_code == 0
        assert server.requests == requests - answered
    assert tables(config) == tables(other)


@pytest.mark.parametrize(
    ("script", "void"),
    [
        pytest.param("server_error*1000", 0, id="nobody is answered while two games are open"),
        pytest.param("stall", 1, id="others are answered"),
    ],
)
def test_a_game_is_void_for_a_failing_endpoint_only_where_others_were_answered(
    tmp_path: Path, script: str, void: int
) -> None:
    with Loopback("--script", script) as server:
        patience = {"retry": {"deadline_seconds": 0.01}, "timeouts": {"call_seconds": 3.0}}
        some = {"llm": llm(server.url, "weak", **patience), "heuristic": HEURISTIC}
        config = llm_tournament(tmp_path, some, games_in_flight=2, limits=LimitsConfig(max_attempts=1))
        report = run_tournament(config, io.StringIO())
        assert (report.void, report.exit_code) == ((void, 4) if void else (0, 3))
        assert bool(report.paused) is not bool(void)


def test_an_endpoint_that_answers_one_game_after_the_other_with_failures_makes_one_of_them_void_at_most(
    tmp_path: Path,
) -> None:
    # One attempt at each call: the next one would come long after the deadline.
    retry = {"deadline_seconds": 0.01, "first_wait_seconds": 1e6, "longest_backoff_seconds": 1e6}
    with Loopback("--script", "ok*3,server_error*1000") as server:
        some = {"llm": llm(server.url, "weak", retry=retry), "heuristic": HEURISTIC}
        config = llm_tournament(tmp_path, some, games=6)
        report = run_tournament(config, io.StringIO())
        assert (report.done, report.void, report.exit_code, len(report.paused)) == (1, 1, 3, 1)
    # One game that no endpoint can answer is not an endpoint that answers nobody.
    with Loopback("--script", "ok*3,server_error*3") as server:
        some = {"llm": llm(server.url, "weak", retry=retry), "heuristic": HEURISTIC}
        config = llm_tournament(tmp_path, some, run="other", games=6)
        report = run_tournament(config, io.StringIO())
        assert (report.done, report.void, report.exit_code) == (6, 1, 4)


@pytest.mark.parametrize(
    ("fault", "reason", "in_flight", "void"),
    [
        ("bad_request", "its endpoint refuses all that it is asked", 4, 0),
        ("context_overflow", "all that it is asked is too long for it", 1, 1),
    ],
)
def test_an_endpoint_that_refuses_everything_from_the_first_call_on_is_asked_no_further(
    tmp_path: Path, fault: str, reason: str, in_flight: int, void: int
) -> None:
    port = ("--port", str(free_port()))
    with Loopback("--script", f"{fault}*1000", *port) as server:
        config = llm_tournament(tmp_path, agents(server), games=6, games_in_flight=in_flight)
        report = run_tournament(config, io.StringIO())
        assert (report.void, report.exit_code) == (void, 3)
        assert report.paused[0].startswith(f"model loopback/weak is paused: {reason}: llm: ")
        assert "CallFailed" not in report.paused[0]
        assert server.requests <= LimitsConfig().max_attempts + in_flight
    # Once the endpoint is mended, nothing is left of what it said.
    with Loopback(*port):
        report = run_tournament(config, io.StringIO())
        assert (report.done, report.void, report.exit_code) == (6, void, 4 if void else 0)


def test_waiting_for_an_endpoint_is_not_taken_for_standing_still(tmp_path: Path) -> None:
    # The games themselves take a small part of the time that they have, whatever else the machine does.
    with Loopback("--script", "rate_limited:8") as server:
        limits = LimitsConfig(lease_seconds=5.0, llm_game_seconds=7.5, max_attempts=1)
        config = llm_tournament(tmp_path, agents(server), games=2, turn_cap=1, limits=limits)
        report = run_tournament(config, io.StringIO())
        assert (report.done, report.void) == (2, 0)
        assert max(run_of(config).calls()["queue_seconds"].to_pylist()) >= 8


def test_prices_limits_and_time_outs_may_change_between_starts_and_what_alters_a_request_may_not(
    undisturbed: tuple[TournamentConfig, int],
) -> None:
    config, _ = undisturbed
    url = config.entrants[0].config["model"]["base_url"]

    def started_as(**changes: Any) -> int:
        entrants = (Entrant("llm", llm(url, "weak", **changes)), Entrant("heuristic", HEURISTIC))
        return run_tournament(replace(config, entrants=entrants), io.StringIO()).exit_code

    changed = {"price": {"input": 9, "output": 9}, "limits": {"in_flight": 3}, "timeouts": {"call_seconds": 9.0}}
    assert started_as(**changed) == 0
    with pytest.raises(ConfigError, match=r"agents\.llm\.model\.sampling\.temperature: 0\.7 -> 0\.1"):
        started_as(sampling={"temperature": 0.1, "max_tokens": 2048})
    with pytest.raises(ConfigError, match=r"agents\.llm\.harness\.mask: \"listed\" -> \"hidden\""):
        started_as(harness={"mask": "hidden"})
    library = {"name": "l", "skills": [{"name": "one", "description": "d", "body": "b"}]}
    with pytest.raises(ConfigError, match=r"agents\.llm\.harness\.skills: null -> \{\"one\": \"\w+\"\}"):
        started_as(harness={"skills": library})


def games_of(config: TournamentConfig) -> set[str]:
    return set(run_of(config).games()["game_id"].to_pylist())


def answers_without_a_decision(config: TournamentConfig) -> list[tuple[str, int, int]]:
    """Game, decision and call of answers that the journal has of decisions which it has not."""
    journal = journal_of(config)
    try:
        return list(
            journal.execute(
                "SELECT game_id, place, call FROM answers AS a WHERE NOT EXISTS "
                "(SELECT 1 FROM decisions AS d WHERE d.game_id = a.game_id AND d.decision = a.place)"
            )
        )
    finally:
        journal.close()


def spent(config: TournamentConfig) -> float:
    """US dollars that the journal has as paid."""
    journal = journal_of(config)
    try:
        return float(journal.execute("SELECT sum(cost_usd) FROM spending").fetchone()[0])
    finally:
        journal.close()


def paid_calls(config: TournamentConfig) -> int:
    """How many calls the journal has as answered, of games that are over too."""
    journal = journal_of(config)
    try:
        return int(journal.execute("SELECT sum(calls) FROM spending").fetchone()[0])
    finally:
        journal.close()


def sorted_calls(config: TournamentConfig) -> list[str]:
    return sorted(run_of(config).calls()["request_digest"].to_pylist())
