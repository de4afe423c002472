"""What became of the tool calls of agents that are recorded decision by decision: counted by verdict and cause."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from results.schema import ATTEMPT_VERDICTS, Outcome
from results.store import Run

_COLUMNS = ("game_id", "entrant", "attempt_log")

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
