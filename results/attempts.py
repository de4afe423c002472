"""What decisions and calls tell beyond the game rows: tool calls by verdict and cause, and what void games took."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from results.schema import ATTEMPT_VERDICTS, Outcome
from results.store import Run

_COLUMNS = ("game_id", "entrant", "attempt_log")
_WHOLE = 1e9
_SPENT = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens", "cost_usd")

_Key = tuple[str, str, str | None, bool]
"""Entrant, verdict, cause, and whether there was a tool call."""


def attempt_rows(run: Run) -> list[dict[str, Any]]:
    """Rows of the table ``attempts`` from the decisions of all games with a result, by entrant, verdict and cause.

    Void games and games in flight are left out, as they are in the sums of attempts and tool calls by entrant.
    """
    counted: Counter[_Key] = Counter()
    played: pa.Array | None = None
    for part in run.parts("decisions", _COLUMNS):
        if played is None:
            played = _played(run)
        counted.update(_counted(part.filter(pc.is_in(part["game_id"], value_set=played))))
    attempts: Counter[str] = Counter()
    for (entrant, verdict, _, _), count in counted.items():
        attempts[entrant] += count * (verdict in ATTEMPT_VERDICTS)
    rows = []
    for entrant, verdict, cause in sorted({key[:3] for key in counted}, key=lambda key: (*key[:2], key[2] or "")):
        calls, others = (counted[entrant, verdict, cause, is_call] for is_call in (True, False))
        is_attempt = verdict in ATTEMPT_VERDICTS and attempts[entrant] > 0
        rows.append(
            {
                "entrant": entrant,
                "verdict": verdict,
                "cause": cause,
                "count": calls + others,
                "tool_calls": calls,
                "attempt_rate": (calls + others) / attempts[entrant] if is_attempt else None,
            }
        )
    return rows


def void_spending(run: Run) -> dict[str, dict[str, float]]:
    """What the calls of void games took, by entrant and column; their rows have no sums, but they have been paid."""
    games = run.games(["game_id", "outcome"])
    void = games.filter(pc.equal(games["outcome"], Outcome.VOID))["game_id"].combine_chunks()
    spent: dict[str, dict[str, float]] = {}
    if not len(void):
        return spent
    for part in run.parts("calls", ("game_id", "entrant", *_SPENT)):
        of_void = part.filter(pc.is_in(part["game_id"], value_set=void))
        # As whole billionths, so that no order of rows or parts can show in the sum.
        whole = pc.cast(pc.round(pc.multiply(of_void["cost_usd"], _WHOLE)), pa.int64())
        of_void = of_void.set_column(of_void.schema.get_field_index("cost_usd"), "cost_usd", whole)
        sums: list[Any] = [([], "count_all"), *((name, "sum") for name in _SPENT)]
        for row in of_void.group_by("entrant").aggregate(sums).to_pylist():
            found = spent.setdefault(row["entrant"], dict.fromkeys(("calls", *_SPENT), 0))
            for name in found:
                found[name] += row["count_all" if name == "calls" else f"{name}_sum"]
    return {entrant: {**found, "cost_usd": found["cost_usd"] / _WHOLE} for entrant, found in spent.items()}


def _played(run: Run) -> pa.Array:
    games = run.games(["game_id", "outcome"])
    return games.filter(pc.not_equal(games["outcome"], Outcome.VOID))["game_id"].combine_chunks()


def _counted(decisions: pa.Table) -> Counter[_Key]:
    logs = decisions["attempt_log"].combine_chunks()
    entries = pc.list_flatten(logs)
    if not len(entries):
        return Counter()
    flat = pa.table(
        {
            "entrant": decisions["entrant"].combine_chunks().take(pc.list_parent_indices(logs)),
            "verdict": pc.struct_field(entries, "verdict"),
            "cause": pc.struct_field(entries, "cause"),
            "is_call": pc.not_equal(pc.struct_field(entries, "tool"), ""),
        }
    )
    grouped = flat.group_by(flat.column_names).aggregate([([], "count_all")]).to_pylist()
    return Counter(
        {(row["entrant"], row["verdict"], row["cause"], row["is_call"]): row["count_all"] for row in grouped}
    )
