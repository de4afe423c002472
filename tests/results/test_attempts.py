"""Invalid action rates and tool calls by cause, from the decisions of a run; counted here by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from game_rows import game_id, game_row, new_run

from agents.llm.causes import ATTEMPTS, INVALID
from results.aggregation import aggregate
from results.schema import ATTEMPT_VERDICTS, table_from_rows

PLAYED = ("attack", "played", None)
ILLEGAL = ("attack", "refused", "illegal_action")
UNKNOWN = ("fly", "refused", "unknown_tool")
BROKEN = ("attack", "unreadable", "malformed_json")
SILENT = ("", "unreadable", "empty_reply")
QUERY = ("query_card", "answered", None)
NO_SUCH = ("query_card", "query_refused", "unknown_card")
SECOND = ("pass_turn", "not_executed", "after_an_action")
STOPPED = ("", "stopped", "attempt_limit")


def decision_row(game: int, number: int, entrant: str, *log: tuple[str, str, str | None]) -> dict[str, Any]:
    """A decision with this attempt log; the sums are those that the harness would have counted."""
    invalid = sum(verdict in ("refused", "unreadable") for _, verdict, _ in log)
    return {
        "game_id": game_id(game),
        "run": "r",
        "decision": number,
        "seat": 0,
        "entrant": entrant,
        "turn": 1,
        "legal_actions": 2,
        "actions": ["pass"],
        "attempts": invalid + sum(verdict == "played" for _, verdict, _ in log),
        "invalid_attempts": invalid,
        "attempt_log": [
            {"tool": tool, "arguments": "{}", "verdict": verdict, "cause": cause} for tool, verdict, cause in log
        ],
        "tool_calls": sum(tool != "" for tool, _, _ in log),
        **dict.fromkeys(("calls", "input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens"), 0),
        "cost_usd": 0.0,
        "agent_seconds": 0.0,
        "attempt": 1,
    }


A = [
    decision_row(1, 0, "a", PLAYED),
    decision_row(1, 1, "a", QUERY, ILLEGAL, ILLEGAL, BROKEN, PLAYED),
    decision_row(1, 3, "a", NO_SUCH, SILENT, UNKNOWN, QUERY, PLAYED, SECOND),
    decision_row(2, 0, "a", ILLEGAL, SILENT, SILENT, SILENT, STOPPED),
]
B = [decision_row(1, 2, "b", PLAYED), decision_row(2, 1, "b"), decision_row(2, 2, "b", PLAYED)]
NOT_COUNTED = [decision_row(3, 0, "a", ILLEGAL), decision_row(4, 0, "a", ILLEGAL)]
"""Of a void game, and of one in flight."""


def aggregated(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The tables of a run of two games, a void one, and one in flight; the decisions are in two parts."""
    sums = {"attempts_0": 12, "invalid_attempts_0": 9, "tool_calls_0": 12}
    games = [game_row(1, "0", **sums), game_row(2, "1"), game_row(3, "void")]
    run = new_run(folder / "r", games)
    rows = [*A, *B, *NOT_COUNTED]
    for number, part in enumerate((rows[::2], rows[1::2])):
        run.write_part("decisions", table_from_rows("decisions", part), f"part-{number:06d}")
    return {name: table.to_pylist() for name, table in aggregate(run).tables.items()}


def test_invalid_action_rate_and_tool_calls_by_cause_by_hand(tmp_path: Path) -> None:
    tables = aggregated(tmp_path)
    found = {
        (row["entrant"], row["verdict"], row["cause"]): (row["count"], row["tool_calls"], row["attempt_rate"])
        for row in tables["attempts"]
    }
    # a made 12 action attempts (3 played, 9 invalid) and 12 tool calls, 3 queries among them; 4 replies had no call.
    assert found == {
        ("a", "answered", None): (2, 2, None),
        ("a", "not_executed", "after_an_action"): (1, 1, None),
        ("a", "played", None): (3, 3, pytest.approx(3 / 12)),
        ("a", "query_refused", "unknown_card"): (1, 1, None),
        ("a", "refused", "illegal_action"): (3, 3, pytest.approx(3 / 12)),
        ("a", "refused", "unknown_tool"): (1, 1, pytest.approx(1 / 12)),
        ("a", "stopped", "attempt_limit"): (1, 0, None),
        ("a", "unreadable", "empty_reply"): (4, 0, pytest.approx(4 / 12)),
        ("a", "unreadable", "malformed_json"): (1, 1, pytest.approx(1 / 12)),
        ("b", "played", None): (2, 2, 1.0),
    }
    (a,) = [row for row in tables["agents"] if row["entrant"] == "a"]
    invalid = [
        row for row in tables["attempts"] if row["entrant"] == "a" and row["verdict"] in ("refused", "unreadable")
    ]
    assert (
        sum(row["attempt_rate"] for row in invalid) == pytest.approx(a["invalid_action_rate"]) == pytest.approx(9 / 12)
    )
    assert sum(row["tool_calls"] for row in tables["attempts"] if row["entrant"] == "a") == a["tool_calls"] == 12


def test_agents_without_decisions_on_record_have_no_rows(tmp_path: Path) -> None:
    assert aggregate(new_run(tmp_path / "r", [game_row(1)])).tables["attempts"].num_rows == 0


def test_the_verdicts_of_attempts_are_those_of_the_harness() -> None:
    assert set(ATTEMPT_VERDICTS) == {verdict.value for verdict in ATTEMPTS}
    assert set(ATTEMPT_VERDICTS[1:]) == {verdict.value for verdict in INVALID}


def call_row(game: int, number: int, entrant: str, cost: float) -> dict[str, Any]:
    """A call that took ten times its number in tokens of each kind."""
    tokens = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens")
    return {
        **dict.fromkeys(tokens, 10 * number),
        "game_id": game_id(game),
        "run": "r",
        "decision": number,
        "call": 0,
        "seat": 0,
        "entrant": entrant,
        "model": "m",
        "request_digest": "d",
        "reply": "{}",
        "reply_cleaned": False,
        "verdict": "unused",
        "cost_usd": cost,
        "latency_seconds": 1.0,
        "queue_seconds": 0.0,
        "retries": 0,
        "attempt": 1,
    }


def test_what_a_void_game_took_is_part_of_what_its_agents_cost(tmp_path: Path) -> None:
    played = {"calls_0": 5, "input_tokens_0": 100, "cost_usd_0": 0.5}
    run = new_run(tmp_path / "r", [game_row(1, "0", **played), game_row(3, "void")])
    # Of the game that has a result, of the void one, and of one in flight.
    rows = [call_row(1, 1, "a", 0.5), call_row(3, 2, "a", 0.25), call_row(3, 3, "a", 0.125), call_row(4, 4, "a", 9.0)]
    run.write_part("calls", table_from_rows("calls", rows), "part-000001")
    a, b = aggregate(run).tables["agents"].to_pylist()
    assert (a["calls"], a["input_tokens"], a["output_tokens"], a["cost_usd"]) == (5 + 2, 100 + 50, 50, 0.5 + 0.375)
    assert (b["calls"], b["cost_usd"]) == (None, None)
