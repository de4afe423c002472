"""Every table of a run: its columns with type, unit and meaning, and what the enumerated columns may hold.

This file is the single source. Parts on disk have exactly these columns in this order, all-null ones included;
:func:`table_from_rows` makes such a table and :func:`check_table` verifies one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

SCHEMA_VERSION = 3
"""Raised by one whenever a column is added, removed or changes its meaning, or a run is laid out in another way."""

READABLE_VERSIONS = (1, 2, 3)
"""Versions that can be read as they are: 1 has no checkpoints, and columns that came later are read as null. Only the
present one is written."""

VERSION_KEY = b"prizefight.schema_version"
TABLE_KEY = b"prizefight.table"


class SchemaError(ValueError):
    """Rows or a table that do not have exactly the schema; the text names table, column and row."""


class Outcome(StrEnum):
    """How a scheduled game ended. A void game has no result and counts for nobody."""

    WIN = "win"
    DRAW = "draw"
    TURN_CAP = "turn_cap"
    VOID = "void"


class Cause(StrEnum):
    """What ended a game; :data:`VOID_CAUSES` belong to void games, all others to games with a result."""

    PRIZES = "prizes"
    NO_POKEMON = "no_pokemon"
    DECK_OUT = "deck_out"
    SUDDEN_DEATH = "sudden_death"
    SCORE = "score"
    FORFEIT = "forfeit"
    DRAW = "draw"
    TURN_CAP = "turn_cap"
    WORKER_CRASH = "worker_crash"
    AGENT_ERROR = "agent_error"
    ENGINE_ERROR = "engine_error"
    WALL_CLOCK = "wall_clock"
    REQUEST_CHANGED = "request_changed"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    CONNECTION = "connection"
    TIME_OUT = "time_out"
    BAD_REQUEST = "bad_request"
    CONTEXT_OVERFLOW = "context_overflow"


PROVIDER_CAUSES: frozenset[Cause] = frozenset(
    {
        Cause.RATE_LIMITED,
        Cause.OVERLOADED,
        Cause.SERVER_ERROR,
        Cause.CONNECTION,
        Cause.TIME_OUT,
        Cause.BAD_REQUEST,
        Cause.CONTEXT_OVERFLOW,
    }
)
"""How a call of a model failed for good: its provider's failure, not the model's."""

VOID_CAUSES: frozenset[Cause] = PROVIDER_CAUSES | frozenset(
    {Cause.WORKER_CRASH, Cause.AGENT_ERROR, Cause.ENGINE_ERROR, Cause.WALL_CLOCK, Cause.REQUEST_CHANGED}
)
"""Process died; agent raised; engine raised; wall-clock limit passed; a resumed game asked something else than was
answered before; or one of :data:`PROVIDER_CAUSES`."""

CAUSES_OF: Mapping[Outcome, frozenset[Cause]] = {
    Outcome.WIN: frozenset(set(Cause) - VOID_CAUSES - {Cause.DRAW, Cause.TURN_CAP}),
    Outcome.DRAW: frozenset({Cause.DRAW, Cause.SUDDEN_DEATH, Cause.SCORE}),
    Outcome.TURN_CAP: frozenset({Cause.TURN_CAP}),
    Outcome.VOID: VOID_CAUSES,
}
"""Which causes may stand beside which outcome."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: ``unit`` is ``""`` where the values have none.

    ``operational`` columns tell how a row came about (where, when, at which try), not what happened in the game; two
    runs are the same when all other columns are. ``allowed`` lists the values of an enumerated column. ``since`` is the
    schema version that brought the column: it is read as null from files of earlier ones.
    """

    name: str
    type: pa.DataType
    meaning: str
    unit: str = ""
    nullable: bool = False
    operational: bool = False
    allowed: tuple[str, ...] | None = None
    since: int = 1

    def field(self) -> pa.Field:
        """The Arrow field, with unit and meaning in its metadata."""
        metadata = {"meaning": self.meaning}
        if self.unit:
            metadata["unit"] = self.unit
        if self.operational:
            metadata["operational"] = "true"
        return pa.field(self.name, self.type, nullable=self.nullable, metadata=metadata)


_TEXT = pa.string()
_TEXTS = pa.list_(pa.string())
_COUNT = pa.int32()
_BIG_COUNT = pa.int64()
_REAL = pa.float64()
_TIME = pa.timestamp("us", tz="UTC")


def _both_seats(name: str, kind: pa.DataType, meaning: str, **more: Any) -> tuple[Column, Column]:
    """The columns ``name_0`` and ``name_1`` for the two seats."""
    return (
        Column(f"{name}_0", kind, meaning.format(seat=0), **more),
        Column(f"{name}_1", kind, meaning.format(seat=1), **more),
    )


def _measured(name: str, kind: pa.DataType, meaning: str, unit: str) -> tuple[Column, Column]:
    """Sums of an agent's work for a seat: null where the agent does not report them or the game is void."""
    return _both_seats(name, kind, meaning + " by seat {seat}; null if not measured", unit=unit, nullable=True)


GAMES: tuple[Column, ...] = (
    Column("game_id", _TEXT, "'g' and 24 hexadecimal digits: digest of all that defines the game; unique in a run"),
    Column("run", _TEXT, "name of the run", operational=True),
    Column("cycle", _COUNT, "schedule cycle from 0, which is the rating period: one twin of every pair on every deck"),
    Column("pair", _TEXT, "identifier of the unordered pair of entrants with their decks; same for both seatings"),
    Column("twin", _COUNT, "index from 0 of the twin within its pair; both games of a twin share seed and decks"),
    Column("seating", pa.int8(), "0 or 1: which of the twin's two seatings"),
    Column("round", _COUNT, "round of the tournament from 0"),
    Column("game", _TEXT, "name of the game that was played, such as 'ptcg'"),
    Column("seed", _BIG_COUNT, "seed of the match"),
    *_both_seats("entrant", _TEXT, "entrant in seat {seat}"),
    *_both_seats("deck", _TEXT, "name of the deck of seat {seat}; empty where the game has no decks"),
    Column("outcome", _TEXT, "how the game ended", allowed=tuple(Outcome)),
    Column("cause", _TEXT, "what ended the game, or why it is void", allowed=tuple(Cause)),
    Column("winner_seat", pa.int8(), "0 or 1 for outcome 'win', null otherwise", nullable=True),
    Column("winner", _TEXT, "entrant who won for outcome 'win', null otherwise", nullable=True),
    Column("void_detail", _TEXT, "one line on why a void game is void, null otherwise", nullable=True),
    Column("first_player", pa.int8(), "seat that took the first turn; null if not known", nullable=True),
    Column("turns", _COUNT, "turns begun, both players' counted; null for a void game", unit="turns", nullable=True),
    *_both_seats(
        "decisions", _COUNT, "choices among two or more actions by seat {seat}; null if void", unit="", nullable=True
    ),
    Column(
        "actions",
        _TEXTS,
        "all actions in the order played, forced ones left out, each '<seat> <action key>': replays the game; null if "
        "void",
        nullable=True,
    ),
    Column("final_digest", _TEXT, "digest of the state at the end of the game; null if void", nullable=True),
    *_measured("attempts", _COUNT, "action attempts, refused and unparsable ones included,", ""),
    *_measured("invalid_attempts", _COUNT, "refused or unparsable action attempts", ""),
    *_measured("fallbacks", _COUNT, "decisions taken by the fallback rule", ""),
    *_measured("tool_calls", _COUNT, "tool calls, queries included,", ""),
    *_measured("calls", _COUNT, "answered LLM calls", ""),
    *_measured("input_tokens", _BIG_COUNT, "input tokens, cached ones included,", "tokens"),
    *_measured("cached_input_tokens", _BIG_COUNT, "input tokens billed as cached", "tokens"),
    *_measured("output_tokens", _BIG_COUNT, "output tokens, reasoning included,", "tokens"),
    *_measured("reasoning_tokens", _BIG_COUNT, "hidden reasoning tokens", "tokens"),
    *_measured("cost_usd", _REAL, "price of the LLM calls", "USD"),
    *_both_seats(
        "agent_seconds",
        _REAL,
        "time the agent of seat {seat} took to decide, waiting for rate limits left out; null if not measured",
        unit="s",
        nullable=True,
        operational=True,
    ),
    Column("worker", _TEXT, "worker that played the game; null if unknown", nullable=True, operational=True),
    Column("attempt", _COUNT, "which try of this game this row is, from 1", operational=True),
    Column("started_at", _TIME, "wall-clock time at the start of this try", nullable=True, operational=True),
    Column("finished_at", _TIME, "wall-clock time at the end of this try", nullable=True, operational=True),
    Column("wall_seconds", _REAL, "duration of this try", unit="s", nullable=True, operational=True),
)
"""``games/*.parquet``: a row a finished game, void ones included."""

_ATTEMPT_LOG = pa.list_(
    pa.struct([("tool", pa.string()), ("arguments", pa.string()), ("verdict", pa.string()), ("cause", pa.string())])
)

DECISIONS: tuple[Column, ...] = (
    Column("game_id", _TEXT, "the game"),
    Column("run", _TEXT, "name of the run", operational=True),
    Column("decision", _COUNT, "index of the decision in the game from 0, both seats counted"),
    Column("seat", pa.int8(), "0 or 1: who decided"),
    Column("entrant", _TEXT, "entrant in that seat"),
    Column("turn", _COUNT, "turn of the game, both players' counted, 0 in set-up", unit="turns"),
    Column("legal_actions", _COUNT, "number of legal actions, at least 2"),
    Column("actions", _TEXTS, "keys of the actions played, several where one decision picks several things"),
    Column("fallback", _TEXT, "rule that chose because the agent gave no legal action; null if none", nullable=True),
    Column("harness_digest", _TEXT, "digest of the harness configuration; null without harness", nullable=True),
    Column("attempts", _COUNT, "action attempts, refused and unparsable ones included"),
    Column("invalid_attempts", _COUNT, "refused or unparsable action attempts"),
    Column(
        "attempt_log",
        _ATTEMPT_LOG,
        "each tool call, or reply without one: tool, arguments as written, verdict, cause; docs/harness.md lists them",
        nullable=True,
    ),
    Column("tool_calls", _COUNT, "tool calls, queries included"),
    Column("calls", _COUNT, "answered LLM calls"),
    Column("input_tokens", _BIG_COUNT, "input tokens, cached ones included", unit="tokens"),
    Column("cached_input_tokens", _BIG_COUNT, "input tokens billed as cached", unit="tokens"),
    Column("output_tokens", _BIG_COUNT, "output tokens, reasoning included", unit="tokens"),
    Column("reasoning_tokens", _BIG_COUNT, "hidden reasoning tokens", unit="tokens"),
    Column("cost_usd", _REAL, "price of the LLM calls", unit="USD"),
    Column("thought", _TEXT, "what the agent wrote before acting; null if nothing", nullable=True),
    Column("agent_seconds", _REAL, "time the agent took, rate limits left out", unit="s", operational=True),
    Column("worker", _TEXT, "worker that played the game; null if unknown", nullable=True, operational=True),
    Column("attempt", _COUNT, "which try of the game, from 1", operational=True),
    Column("decided_at", _TIME, "wall-clock time of the decision", nullable=True, operational=True),
)
"""``decisions/*.parquet``: a row a decision of the agents that are recorded decision by decision."""

CALLS: tuple[Column, ...] = (
    Column("game_id", _TEXT, "the game"),
    Column("run", _TEXT, "name of the run", operational=True),
    Column("decision", _COUNT, "index of the decision in the game from 0, both seats counted"),
    Column("call", _COUNT, "index of the call within the decision from 0"),
    Column("seat", pa.int8(), "0 or 1: whose call"),
    Column("entrant", _TEXT, "entrant in that seat"),
    Column("model", _TEXT, "model identifier that the request named"),
    Column("request_digest", _TEXT, "digest of the request body, the key left out"),
    Column("reply", _TEXT, "raw reply as JSON text"),
    Column("reply_cleaned", pa.bool_(), "true if lone surrogates or NUL were removed from the reply"),
    Column("finish_reason", _TEXT, "why the model stopped; null if not given", nullable=True),
    Column("thought", _TEXT, "text or reasoning before the tool call; null if none", nullable=True),
    Column(
        "verdict", _TEXT, "what the harness made of the reply; 'unused' where its game became void before a decision"
    ),
    Column("cause", _TEXT, "why the reply was not accepted; null if it was", nullable=True),
    Column("input_tokens", _BIG_COUNT, "input tokens, cached ones included", unit="tokens"),
    Column("cached_input_tokens", _BIG_COUNT, "input tokens billed as cached", unit="tokens"),
    Column("output_tokens", _BIG_COUNT, "output tokens, reasoning included", unit="tokens"),
    Column("reasoning_tokens", _BIG_COUNT, "hidden reasoning tokens", unit="tokens"),
    Column("cost_usd", _REAL, "price of the call", unit="USD"),
    Column(
        "usage_estimated",
        pa.bool_(),
        "true if the endpoint reported no tokens: they, and the price unless it reported that, are estimates; null if "
        "not known",
        nullable=True,
        since=3,
    ),
    Column("latency_seconds", _REAL, "from sending the request to the whole reply", unit="s", operational=True),
    Column("queue_seconds", _REAL, "wait for the rate limit before sending", unit="s", operational=True),
    Column("retries", _COUNT, "requests that failed before this reply", operational=True),
    Column("worker", _TEXT, "worker that made the call; null if unknown", nullable=True, operational=True),
    Column("attempt", _COUNT, "which try of the game, from 1", operational=True),
    Column("answered_at", _TIME, "wall-clock time of the reply", nullable=True, operational=True),
)
"""``calls/*.parquet``: a row an answered LLM call."""

_RECORD: tuple[Column, ...] = (
    Column("games", _BIG_COUNT, "games with a result: wins + draws + turn_caps + losses"),
    Column("wins", _BIG_COUNT, "games won"),
    Column("draws", _BIG_COUNT, "games drawn by the rules"),
    Column("turn_caps", _BIG_COUNT, "games stopped by the turn cap; half a win each, as a draw"),
    Column("losses", _BIG_COUNT, "games lost"),
    Column("voids", _BIG_COUNT, "void games, in none of the other counts"),
)
_RATE: tuple[Column, ...] = (
    Column("win_rate", _REAL, "(wins + (draws + turn_caps) / 2) / games; null without games", nullable=True),
    Column("win_rate_low", _REAL, "lower end of the 95 % Wilson interval", nullable=True),
    Column("win_rate_high", _REAL, "upper end of the 95 % Wilson interval", nullable=True),
)
_GLICKO: tuple[Column, ...] = (
    Column("rating", _REAL, "Glicko-2 rating after the period", unit="points"),
    Column("rating_deviation", _REAL, "Glicko-2 rating deviation after the period", unit="points"),
    Column("volatility", _REAL, "Glicko-2 volatility after the period"),
)

RATINGS: tuple[Column, ...] = (
    Column("rank", _COUNT, "1 for the highest rating; equal ratings share a rank"),
    Column("entrant", _TEXT, "the entrant"),
    *_GLICKO,
    Column("periods", _COUNT, "rating periods of the run"),
    *_RECORD,
    *_RATE,
)
"""``ratings.parquet``: a row an entrant, best first."""

RATING_HISTORY: tuple[Column, ...] = (
    Column("period", _COUNT, "rating period from 0"),
    Column("entrant", _TEXT, "the entrant"),
    *_GLICKO,
    Column("games", _BIG_COUNT, "rated games in the period; 0 is an idle period"),
    Column("score", _REAL, "wins + (draws + turn_caps) / 2 in the period"),
)
"""``rating_history.parquet``: a row a rating period and entrant."""

WIN_RATES: tuple[Column, ...] = (
    Column("entrant", _TEXT, "the entrant whose wins are counted"),
    Column("opponent", _TEXT, "the other entrant"),
    *_RECORD,
    *_RATE,
)
"""``win_rates.parquet``: a row an ordered pair of entrants that met, over all decks."""

WIN_RATES_BY_DECK: tuple[Column, ...] = (
    Column("entrant", _TEXT, "the entrant whose wins are counted"),
    Column("deck", _TEXT, "deck of the entrant"),
    Column("opponent", _TEXT, "the other entrant"),
    Column("opponent_deck", _TEXT, "deck of the opponent"),
    *_RECORD,
    *_RATE,
)
"""``win_rates_by_deck.parquet``: a row an ordered pair of entrants and decks that met."""

ENDINGS: tuple[Column, ...] = (
    Column("entrant", _TEXT, "the entrant"),
    Column(
        "result",
        _TEXT,
        "the game's outcome as the entrant sees it",
        allowed=("win", "loss", "draw", "turn_cap", "void"),
    ),
    Column("cause", _TEXT, "what ended the game", allowed=tuple(Cause)),
    Column("games", _BIG_COUNT, "how many games of the entrant ended so"),
)
"""``endings.parquet``: how the games of each entrant ended."""

AGENTS: tuple[Column, ...] = (
    Column("entrant", _TEXT, "the entrant"),
    *_RECORD,
    Column("self_games", _BIG_COUNT, "games of the entrant against itself, in none of the other counts"),
    *_RATE,
    Column("first_games", _BIG_COUNT, "games with a result in which the entrant took the first turn"),
    Column("first_win_rate", _REAL, "win rate in these games; null without", nullable=True),
    Column("second_games", _BIG_COUNT, "games with a result in which the opponent took the first turn"),
    Column("second_win_rate", _REAL, "win rate in these games; null without", nullable=True),
    Column("mean_turns", _REAL, "mean turns of a game with a result", unit="turns", nullable=True),
    Column("mean_decisions", _REAL, "mean decisions of the entrant in a game with a result", nullable=True),
    Column("attempts", _BIG_COUNT, "action attempts; null if never measured", nullable=True),
    Column("invalid_attempts", _BIG_COUNT, "refused or unparsable attempts; null if never measured", nullable=True),
    Column("invalid_action_rate", _REAL, "invalid_attempts / attempts; null if not known", nullable=True),
    Column("fallbacks", _BIG_COUNT, "decisions taken by the fallback rule; null if never measured", nullable=True),
    Column("tool_calls", _BIG_COUNT, "tool calls; null if never measured", nullable=True),
    Column("calls", _BIG_COUNT, "answered LLM calls; null if never measured", nullable=True),
    Column("input_tokens", _BIG_COUNT, "input tokens; null if never measured", unit="tokens", nullable=True),
    Column("cached_input_tokens", _BIG_COUNT, "of these, cached", unit="tokens", nullable=True),
    Column("output_tokens", _BIG_COUNT, "output tokens; null if never measured", unit="tokens", nullable=True),
    Column("reasoning_tokens", _BIG_COUNT, "of these, hidden reasoning", unit="tokens", nullable=True),
    Column("cost_usd", _REAL, "price of the LLM calls; null if never measured", unit="USD", nullable=True),
    Column("mean_agent_seconds", _REAL, "mean thinking time of a game; null if not measured", unit="s", nullable=True),
)
"""``agents.parquet``: a row an entrant with what it did and what it cost, void games' cost included."""

ATTEMPT_VERDICTS: tuple[str, ...] = ("played", "refused", "unreadable")
"""The verdicts of an attempt log that make an entry an action attempt, all but the first an invalid one."""

ATTEMPTS: tuple[Column, ...] = (
    Column("entrant", _TEXT, "the entrant"),
    Column("verdict", _TEXT, "what became of a tool call, of a reply without one, or of a decision (docs/harness.md)"),
    Column("cause", _TEXT, "why it was not accepted; null if it was", nullable=True),
    Column("count", _BIG_COUNT, "how many entries of attempt logs have this verdict and cause"),
    Column("tool_calls", _BIG_COUNT, "of these, tool calls; the rest are replies without one, or decisions given up"),
    Column(
        "attempt_rate",
        _REAL,
        "count / all action attempts of the entrant (played, refused, unreadable): over the last two it adds up to the "
        "invalid action rate; null where the verdict is that of no attempt",
        nullable=True,
    ),
)
"""``attempts.parquet``: a row an entrant, verdict and cause, over games with a result."""

TABLES: Mapping[str, tuple[Column, ...]] = {
    "games": GAMES,
    "decisions": DECISIONS,
    "calls": CALLS,
    "ratings": RATINGS,
    "rating_history": RATING_HISTORY,
    "win_rates": WIN_RATES,
    "win_rates_by_deck": WIN_RATES_BY_DECK,
    "endings": ENDINGS,
    "agents": AGENTS,
    "attempts": ATTEMPTS,
}
"""All tables of a run by name."""

PART_TABLES: tuple[str, ...] = ("games", "decisions", "calls")
"""The tables that are folders of parts; all others are one file each, written by the aggregation."""


def columns_of(table: str) -> tuple[Column, ...]:
    """The columns of ``table``; raises :class:`SchemaError` for a name that is not in :data:`TABLES`."""
    if table not in TABLES:
        raise SchemaError(f"unknown table {table!r}; known: {', '.join(TABLES)}")
    return TABLES[table]


def schema_of(table: str, version: int = SCHEMA_VERSION) -> pa.Schema:
    """The Arrow schema that ``table`` had in ``version``, table name and schema version in its metadata."""
    metadata = {TABLE_KEY: table.encode(), VERSION_KEY: str(version).encode()}
    fields = [column.field() for column in columns_of(table) if column.since <= version]
    return pa.schema(fields, metadata=metadata)


def version_of(found: pa.Schema) -> int:
    """The schema version with which a file was written; the present one where it tells none that can be read."""
    told = (found.metadata or {}).get(VERSION_KEY, b"").decode(errors="replace")
    return next((version for version in READABLE_VERSIONS if str(version) == told), SCHEMA_VERSION)


def operational_columns(table: str) -> tuple[str, ...]:
    """Names of the columns that two runs of the same games may differ in."""
    return tuple(column.name for column in columns_of(table) if column.operational)


def table_from_rows(table: str, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """An Arrow table with exactly the schema of ``table``.

    A nullable column that a row leaves out is null. Raises :class:`SchemaError`, naming column and row, for a column
    that does not exist, a missing or null value where one is needed, a value of the wrong type, or a value that an
    enumerated column does not allow.
    """
    columns = columns_of(table)
    rows = list(rows)
    known = {column.name for column in columns}
    for index, row in enumerate(rows):
        if unknown := row.keys() - known:
            raise SchemaError(f"table {table!r}, row {index}: no such column: {', '.join(sorted(unknown))}")
    arrays = [_array(table, column, [row.get(column.name) for row in rows]) for column in columns]
    result = pa.table(arrays, schema=schema_of(table))
    _check_values(table, result)
    return result


def _array(table: str, column: Column, values: Sequence[Any]) -> pa.Array:
    try:
        return pa.array(values, type=column.type)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        for index, value in enumerate(values):
            try:
                pa.array([value], type=column.type)
            except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
                raise SchemaError(
                    f"table {table!r}, row {index}, column {column.name!r}: {value!r} is not of type {column.type}"
                ) from error
        raise


def check_table(table: str, data: pa.Table) -> None:
    """Raise :class:`SchemaError` unless ``data`` has exactly the columns, types and allowed values of ``table``."""
    check_schema(table, data.schema)
    _check_values(table, data)


def check_schema(table: str, found: pa.Schema, version: int = SCHEMA_VERSION) -> None:
    """Raise :class:`SchemaError`, naming what differs, unless ``found`` has exactly the columns of ``table`` then."""
    expected = schema_of(table, version)
    if found.equals(expected, check_metadata=False):
        return
    differences = [f"column {name!r} is missing" for name in expected.names if name not in found.names]
    differences += [f"column {name!r} is unknown" for name in found.names if name not in expected.names]
    for name in expected.names:
        if name in found.names:
            have, want = found.field(found.get_all_field_indices(name)[0]), expected.field(name)
            if have.type != want.type:
                differences.append(f"column {name!r} is {have.type} instead of {want.type}")
            elif have.nullable != want.nullable:
                differences.append(f"column {name!r} {'may' if have.nullable else 'may not'} be null")
    told = (found.metadata or {}).get(VERSION_KEY, b"unknown").decode(errors="replace")
    what = "; ".join(differences) or "columns are in another order or repeated"
    raise SchemaError(f"table {table!r} has schema version {told}, this program reads {SCHEMA_VERSION}: {what}")


def _check_values(table: str, data: pa.Table) -> None:
    for column in columns_of(table):
        values = data[column.name]
        if not column.nullable and values.null_count:
            row = pc.index(pc.is_null(values), value=True).as_py()
            raise SchemaError(f"table {table!r}, row {row}, column {column.name!r}: a value is needed")
        if column.allowed is not None:
            # Out of Arrow, not into it: to make an Arrow array of Python values is to import pandas, in mid-tournament.
            for other in (value for value in pc.unique(values).to_pylist() if value not in column.allowed):
                row = pc.index(values, value=other).as_py()
                raise SchemaError(
                    f"table {table!r}, row {row}, column {column.name!r}: {other!r} is not one of "
                    f"{', '.join(column.allowed)}"
                )
