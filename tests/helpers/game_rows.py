"""Game rows and runs for the tests of the results floor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from results import Manifest, Run
from results.location import Location
from results.schema import table_from_rows

MANIFEST = Manifest(run="r", identity={"seed": 1}, schedule_digest="s", engine_version="1")


def game_id(number: int) -> str:
    return f"g{number:024x}"


def game_row(number: int, result: str = "0", **changes: Any) -> dict[str, Any]:
    """A game of ``a`` in seat 0 against ``b``; ``result`` is the winning seat, ``draw``, ``turn_cap`` or ``void``."""
    row: dict[str, Any] = {
        "game_id": game_id(number),
        "run": "r",
        "cycle": 0,
        "pair": "p",
        "twin": 0,
        "seating": 0,
        "round": 0,
        "game": "standin",
        "seed": 5,
        "entrant_0": "a",
        "entrant_1": "b",
        "deck_0": "red",
        "deck_1": "red",
        "attempt": 1,
    } | changes
    if result in ("0", "1"):
        winner = int(result)
        row |= {"outcome": "win", "cause": "prizes", "winner_seat": winner, "winner": row[f"entrant_{winner}"]}
    else:
        row |= {"outcome": result, "cause": "agent_error" if result == "void" else result}
    return row | {name: value for name, value in changes.items() if name in ("outcome", "cause", "winner_seat")}


def new_run(place: Any, *parts: Iterable[Mapping[str, Any]]) -> Run:
    """A run whose games lie in ``parts``."""
    run = Run.create(place if isinstance(place, Location) else str(place), MANIFEST)
    for number, rows in enumerate(parts):
        run.write_part("games", table_from_rows("games", rows), f"part-{number}")
    return run


def decision_row(number: int, decision: int, **changes: Any) -> dict[str, Any]:
    counts = ("attempts", "invalid_attempts", "tool_calls", "calls")
    tokens = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens")
    return {
        "game_id": game_id(number),
        "run": "r",
        "decision": decision,
        "seat": decision % 2,
        "entrant": "ab"[decision % 2],
        "turn": 1,
        "legal_actions": 3,
        "actions": ["pass"],
        "cost_usd": 0.0,
        "agent_seconds": 0.1,
        "attempt": 1,
        **dict.fromkeys((*counts, *tokens), 0),
    } | changes


def rows_by(rows: Sequence[Mapping[str, Any]], *keys: str) -> dict[Any, Mapping[str, Any]]:
    """Rows by the value of one key column, or the tuple of several."""
    return {row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys): row for row in rows}
