"""The one commit point of a run: what the journal has counts, and nothing else does.

An SQLite database in WAL mode with one writing process (see :mod:`orchestrator.disks`). Each public method that writes
is one operation; :class:`orchestrator.group_commit.GroupCommit` runs many of them in one transaction. Every grant of a
game to a worker has an **epoch**, larger than all before it; an operation that comes with an older epoch than the
game's present one is refused, so that a worker that was given up and comes back late alters nothing.

Finished games, decisions and calls are rows (JSON, columns as in ``results/schema.py``) that wait to be put into a
Parquet part. A part's rows are fixed here before its file is written, and are dropped only after the file is in place;
a part that was being written when the process died is written again, whole, under the same name.

**Answers** are what a game in flight is rebuilt from: what came of each LLM call, committed before anything acts on it.
They are dropped when their game has its result.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Final

from orchestrator.config import ConfigError

FILE_NAME: Final = "journal.sqlite"
LAYOUT: Final = 2
"""Raised whenever the tables change."""

_EPOCHS_PER_START: Final = 2**32

_TABLES: Final = """
CREATE TABLE about (layout INTEGER NOT NULL, run TEXT NOT NULL);
-- A start is one process that worked on the run.
CREATE TABLE starts (start INTEGER PRIMARY KEY, process TEXT NOT NULL, started_at INTEGER NOT NULL);
-- Games that a worker has now.
CREATE TABLE leases (
    game_id TEXT PRIMARY KEY, attempt INTEGER NOT NULL, epoch INTEGER NOT NULL, worker TEXT NOT NULL
) WITHOUT ROWID;
-- Tries that failed and count. A game that was lost with its worker without being the cause has no row here.
CREATE TABLE attempts (
    game_id TEXT NOT NULL, attempt INTEGER NOT NULL, cause TEXT NOT NULL, detail TEXT NOT NULL, worker TEXT NOT NULL,
    epoch INTEGER NOT NULL, failed_at INTEGER NOT NULL, PRIMARY KEY (game_id, attempt)
) WITHOUT ROWID;
CREATE TABLE games (
    seq INTEGER PRIMARY KEY, game_id TEXT NOT NULL UNIQUE, entrant_0 TEXT NOT NULL, entrant_1 TEXT NOT NULL,
    outcome TEXT NOT NULL, winner_seat INTEGER, part INTEGER, row BLOB
);
-- What came of the LLM calls of games in flight. "decision" counts the seat's own decisions, "place" the game's.
CREATE TABLE answers (
    game_id TEXT NOT NULL, seat INTEGER NOT NULL, decision INTEGER NOT NULL, call INTEGER NOT NULL,
    place INTEGER NOT NULL, digest TEXT NOT NULL, answer BLOB NOT NULL, PRIMARY KEY (game_id, seat, decision, call)
);
-- All that was answered so far, whatever became of the games.
CREATE TABLE spending (
    entrant TEXT PRIMARY KEY, calls INTEGER NOT NULL, input_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL, queue_seconds REAL NOT NULL
) WITHOUT ROWID;
-- A row is NULL once it is in a part. The rest stays until its game is finished, so that no row is taken twice.
CREATE TABLE decisions (
    seq INTEGER PRIMARY KEY, game_id TEXT NOT NULL, decision INTEGER NOT NULL, part INTEGER, row BLOB,
    UNIQUE (game_id, decision)
);
CREATE TABLE calls (
    seq INTEGER PRIMARY KEY, game_id TEXT NOT NULL, decision INTEGER NOT NULL, call INTEGER NOT NULL, part INTEGER,
    row BLOB, UNIQUE (game_id, decision, call)
);
CREATE TABLE parts (
    kind TEXT NOT NULL, part INTEGER NOT NULL, written INTEGER NOT NULL, PRIMARY KEY (kind, part)
) WITHOUT ROWID;
CREATE INDEX waiting_games ON games (seq) WHERE part IS NULL;
CREATE INDEX decisions_by_part ON decisions (part) WHERE part IS NOT NULL;
CREATE INDEX calls_by_part ON calls (part) WHERE part IS NOT NULL;
CREATE INDEX waiting_decisions ON decisions (seq) WHERE part IS NULL;
CREATE INDEX waiting_calls ON calls (seq) WHERE part IS NULL;
"""

PART_KINDS: Final = ("games", "decisions", "calls")
UNFIT_WORKER: Final = "unfit_worker"
"""The cause of tries that failed because their worker fails what others can play; they do not count."""


class StaleEpoch(RuntimeError):
    """A write for a game that has since been given to somebody else, or is finished."""


class JournalFenced(RuntimeError):
    """Another process has started on the run since; nothing of this one counts any more."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A game given to a worker: the try it is, from 1, and the epoch that its writes must carry."""

    game_id: str
    attempt: int
    epoch: int


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A game with its result, as the journal takes it; ``row`` is the whole row as JSON."""

    game_id: str
    epoch: int
    entrants: tuple[str, str]
    outcome: str
    winner_seat: int | None
    row: bytes


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """A try that failed and counts."""

    game_id: str
    attempt: int
    epoch: int
    cause: str
    detail: str
    worker: str
    failed_at: int
    """Microseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Failures:
    """What is on record of the tries of one game that failed."""

    last: int
    """The number of the last of them."""
    counted: int
    """How many count against the game."""
    workers: frozenset[str]
    """With whom, each with the number of the start: workers of two starts are two."""


@dataclass(frozen=True, slots=True)
class Score:
    """What one entrant has reached; void games are left out."""

    entrant: str
    games: int
    points: float
    """A win is 1, a draw or turn cap ½."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one LLM call of a game in flight.

    ``decision`` and ``call`` are those of :class:`agents.llm.contract.CallKey`; ``place`` is the number of the decision
    in its game, both seats counted. ``digest`` is that of the request; ``answer`` is JSON.
    """

    seat: int
    decision: int
    call: int
    place: int
    digest: str
    answer: bytes


@dataclass(frozen=True, slots=True)
class Spending:
    """What calls took: counts, tokens, US dollars, and seconds of waiting for limits and between retries."""

    calls: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float = 0.0
    queue_seconds: float = 0.0

    def __add__(self, other: Spending) -> Spending:
        return Spending(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


class Journal:
    """The journal in ``folder``, which must be held by a lock; used by one thread at a time.

    Opening begins a new start: whatever an earlier start had granted is free again, and its epochs are old. ``run`` is
    where the run is kept, ``process`` says who opens, ``started_at`` when in microseconds since 1970. Raises
    :class:`ConfigError` for a file that is not a journal of this layout or belongs to another run.
    """

    def __init__(self, folder: Path, run: str, process: str, started_at: int) -> None:
        path = folder / FILE_NAME
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            with self.transaction():
                self._make_tables(path, run)
                self._db.execute("DELETE FROM leases")
                self._db.execute("INSERT INTO starts (process, started_at) VALUES (?, ?)", (process, started_at))
                self.start = int(self._one("SELECT max(start) FROM starts"))
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise ConfigError(f"storage.journal_dir: {path} cannot be used as a journal: {error}") from error
        self._epoch = self.start * _EPOCHS_PER_START

    def close(self) -> None:
        """Close the file; what was committed stays."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written within is there afterwards, or nothing is."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # On a full disk SQLite has rolled back by itself.
                self._db.execute("ROLLBACK")
            raise

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Within a transaction: all that is written within stays, or nothing does."""
        self._db.execute("SAVEPOINT operation")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK TO operation")
                self._db.execute("RELEASE operation")
            raise
        self._db.execute("RELEASE operation")

    def check_not_fenced(self) -> None:
        """Raise :class:`JournalFenced` where another process has begun a start since this one did."""
        if self._one("SELECT max(start) FROM starts") != self.start:
            raise JournalFenced("another process has started on this run; this one has stopped writing")

    # Games

    def unfinished(self, game_ids: Sequence[str]) -> set[str]:
        """Those of ``game_ids`` that have no result yet."""
        marks = ",".join("?" * len(game_ids))
        done = self._db.execute(f"SELECT game_id FROM games WHERE game_id IN ({marks})", game_ids)
        return set(game_ids).difference(row[0] for row in done)

    def failures(self, game_ids: Sequence[str]) -> dict[str, Failures]:
        """The failed tries of those games, for those that have any."""
        marks = ",".join("?" * len(game_ids))
        query = f"""
            SELECT game_id, max(attempt), count(*) FILTER (WHERE cause != '{UNFIT_WORKER}'),
                group_concat(DISTINCT worker || ' of start ' || (epoch / {_EPOCHS_PER_START}))
            FROM attempts WHERE game_id IN ({marks}) GROUP BY game_id"""
        found = self._db.execute(query, game_ids)
        return {row[0]: Failures(row[1], row[2], frozenset(row[3].split(","))) for row in found}

    def grant(self, games: Iterable[tuple[str, int]], worker: str) -> list[Grant]:
        """Give games, each with the number of its try, to ``worker``; whoever had one of them has it no more."""
        granted = []
        for game_id, attempt in games:
            self._epoch += 1
            granted.append(Grant(game_id, attempt, self._epoch))
        self._db.executemany(
            "INSERT OR REPLACE INTO leases (game_id, attempt, epoch, worker) VALUES (?, ?, ?, ?)",
            [(grant.game_id, grant.attempt, grant.epoch, worker) for grant in granted],
        )
        return granted

    def release(self, grants: Iterable[Grant]) -> None:
        """Take games back without counting the try; what their workers still send is refused."""
        self._db.executemany(
            "DELETE FROM leases WHERE game_id = ? AND epoch = ?", [(grant.game_id, grant.epoch) for grant in grants]
        )

    def finish(self, games: Iterable[FinishedGame]) -> list[str]:
        """Take games as finished, each exactly once; returns the ids of those that counted, the others are refused."""
        counted = []
        for game in games:
            if self._holds(game.game_id, game.epoch):
                self._db.execute("DELETE FROM leases WHERE game_id = ?", (game.game_id,))
                self._db.execute(
                    "INSERT INTO games (game_id, entrant_0, entrant_1, outcome, winner_seat, row) "
                    "VALUES (?, ?, ?, ?, ?, ?)",
                    (game.game_id, *game.entrants, game.outcome, game.winner_seat, game.row),
                )
                self._db.execute("DELETE FROM answers WHERE game_id = ?", (game.game_id,))
                for table in ("decisions", "calls"):
                    self._db.execute(f"DELETE FROM {table} WHERE game_id = ? AND row IS NULL", (game.game_id,))
                counted.append(game.game_id)
        return counted

    def fail(self, attempts: Iterable[FailedAttempt]) -> list[str]:
        """Record tries that failed and take their games back; returns the ids of those that counted."""
        counted = []
        for failed in attempts:
            if self._holds(failed.game_id, failed.epoch):
                self._db.execute(
                    "INSERT INTO attempts (game_id, attempt, cause, detail, worker, epoch, failed_at) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (
                        failed.game_id,
                        failed.attempt,
                        failed.cause,
                        failed.detail,
                        failed.worker,
                        failed.epoch,
                        failed.failed_at,
                    ),
                )
                self._db.execute("DELETE FROM leases WHERE game_id = ?", (failed.game_id,))
                counted.append(failed.game_id)
        return counted

    def excuse(self, worker: str, game_ids: Iterable[str]) -> None:
        """The tries of those games that failed with ``worker`` at this start are the worker's fault: none counts."""
        first = self.start * _EPOCHS_PER_START
        self._db.executemany(
            f"UPDATE attempts SET cause = '{UNFIT_WORKER}' WHERE game_id = ? AND worker = ? AND epoch > ?",
            [(game_id, worker, first) for game_id in game_ids],
        )

    def last_failure(self, game_id: str) -> FailedAttempt:
        """The last counted try of that game, which must have one."""
        return next(failed for failed in reversed(self.attempts(game_id)) if failed.cause != UNFIT_WORKER)

    def attempts(self, game_id: str | None = None) -> list[FailedAttempt]:
        """All tries that failed and counted, of one game or of all, in the order in which they were granted."""
        query = "SELECT game_id, attempt, epoch, cause, detail, worker, failed_at FROM attempts"
        where, values = ("", ()) if game_id is None else (" WHERE game_id = ?", (game_id,))
        return [FailedAttempt(*row) for row in self._db.execute(f"{query}{where} ORDER BY epoch", values)]

    def scores(self) -> list[Score]:
        """What each entrant has reached in the games finished so far, in no particular order."""
        query = """
            SELECT entrant, count(*), sum(points) FROM (
                SELECT entrant_0 AS entrant, CASE winner_seat WHEN 0 THEN 1.0 WHEN 1 THEN 0.0 ELSE 0.5 END AS points
                FROM games WHERE outcome != 'void'
                UNION ALL
                SELECT entrant_1, CASE winner_seat WHEN 1 THEN 1.0 WHEN 0 THEN 0.0 ELSE 0.5 END
                FROM games WHERE outcome != 'void'
            ) GROUP BY entrant"""
        return [Score(*row) for row in self._db.execute(query)]

    def counts(self) -> tuple[int, int]:
        """Finished games, void ones included, and void ones."""
        row = self._db.execute("SELECT count(*), count(*) FILTER (WHERE outcome = 'void') FROM games").fetchone()
        return int(row[0]), int(row[1])

    # Games in flight

    def record_answer(self, game_id: str, epoch: int, entrant: str, answer: Answer, spending: Spending) -> bool:
        """Take what came of an LLM call, before anything acts on it; false for a writer who has lost the game.

        What the call took is counted in any case: it has been paid.
        """
        self.add_spending(entrant, spending)
        if not self._holds(game_id, epoch):
            return False
        self._db.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", (game_id, *astuple(answer)))
        return True

    def add_spending(self, entrant: str, spending: Spending) -> None:
        """Count what calls of ``entrant`` took."""
        self._db.execute(
            "INSERT INTO spending VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (entrant) DO UPDATE SET "
            "calls = calls + excluded.calls, input_tokens = input_tokens + excluded.input_tokens, "
            "cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens, "
            "output_tokens = output_tokens + excluded.output_tokens, "
            "reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens, "
            "cost_usd = cost_usd + excluded.cost_usd, queue_seconds = queue_seconds + excluded.queue_seconds",
            (entrant, *astuple(spending)),
        )

    def record_decision(
        self, game_id: str, epoch: int, decision: int, row: bytes, calls: Iterable[tuple[int, bytes]] = ()
    ) -> None:
        """Take a decision of a game in flight with its calls, by number; one that is there already is left as it is.

        Raises :class:`StaleEpoch` for a writer who has lost the game.
        """
        self._require(game_id, epoch)
        self._db.execute(
            "INSERT OR IGNORE INTO decisions (game_id, decision, row) VALUES (?, ?, ?)", (game_id, decision, row)
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO calls (game_id, decision, call, row) VALUES (?, ?, ?, ?)",
            [(game_id, decision, call, text) for call, text in calls],
        )

    def record_calls(self, game_id: str, epoch: int, calls: Iterable[tuple[int, int, bytes]]) -> None:
        """Take rows of calls, by place of the decision and number, that no decision came of."""
        self._require(game_id, epoch)
        self._db.executemany(
            "INSERT OR IGNORE INTO calls (game_id, decision, call, row) VALUES (?, ?, ?, ?)",
            [(game_id, *call) for call in calls],
        )

    def unused_answers(self, game_id: str) -> list[Answer]:
        """Those of :meth:`answers` of which no decision has come yet."""
        decided = {row[0] for row in self._db.execute("SELECT decision FROM decisions WHERE game_id = ?", (game_id,))}
        return [answer for answer in self.answers(game_id) if answer.place not in decided]

    def answers(self, game_id: str) -> list[Answer]:
        """What came of the LLM calls of a game in flight so far, by seat in the order in which they were made."""
        query = (
            "SELECT seat, decision, call, place, digest, answer FROM answers WHERE game_id = ? "
            "ORDER BY seat, decision, call"
        )
        return [Answer(*row) for row in self._db.execute(query, (game_id,))]

    def spending(self) -> dict[str, Spending]:
        """What the calls of each entrant took since the run was begun."""
        return {row[0]: Spending(*row[1:]) for row in self._db.execute("SELECT * FROM spending ORDER BY entrant")}

    # Parts

    def waiting(self, kind: str) -> int:
        """How many rows of ``kind`` are in no part yet."""
        return int(self._one(f"SELECT count(*) FROM {_known(kind)} WHERE part IS NULL"))

    def plan_part(self, kind: str, most: int) -> int | None:
        """Fix the rows of the next part, the oldest ``most`` that wait; returns its number, ``None`` if none wait."""
        table = _known(kind)
        part = int(self._one("SELECT coalesce(max(part), 0) + 1 FROM parts WHERE kind = ?", kind))
        oldest = f"SELECT seq FROM {table} WHERE part IS NULL ORDER BY seq LIMIT ?"
        chosen = self._db.execute(f"UPDATE {table} SET part = ? WHERE seq IN ({oldest})", (part, most))
        if not chosen.rowcount:
            return None
        self._db.execute("INSERT INTO parts (kind, part, written) VALUES (?, ?, 0)", (kind, part))
        return part

    def unwritten_parts(self, kind: str) -> list[int]:
        """Parts whose rows are fixed and whose file may not be in place."""
        query = "SELECT part FROM parts WHERE kind = ? AND NOT written ORDER BY part"
        return [row[0] for row in self._db.execute(query, (kind,))]

    def part_rows(self, kind: str, part: int) -> list[bytes]:
        """The rows of a part that is not written yet, always in the same order."""
        query = f"SELECT row FROM {_known(kind)} WHERE part = ? ORDER BY seq"
        return [row[0] for row in self._db.execute(query, (part,))]

    def part_written(self, kind: str, part: int) -> None:
        """Note that a part's file is in place, and drop its rows.

        Of a decision or call of a game in flight it is kept that it is in a part, of all others nothing.
        """
        table = _known(kind)
        self._db.execute("UPDATE parts SET written = 1 WHERE kind = ? AND part = ?", (kind, part))
        if kind != "games":
            self._db.execute(f"DELETE FROM {table} WHERE part = ? AND game_id IN (SELECT game_id FROM games)", (part,))
        self._db.execute(f"UPDATE {table} SET row = NULL WHERE part = ?", (part,))

    def written_parts(self, kind: str) -> list[int]:
        """Parts whose files are in place."""
        query = "SELECT part FROM parts WHERE kind = ? AND written ORDER BY part"
        return [row[0] for row in self._db.execute(query, (kind,))]

    def adopt_rows(self, kind: str, part: int) -> None:
        """Take over a part of decisions or calls of finished games that was written by a journal that is lost."""
        self._db.execute("INSERT INTO parts (kind, part, written) VALUES (?, ?, 1)", (_known(kind), part))

    def adopt_part(self, part: int, games: Iterable[Mapping[str, object]]) -> None:
        """Take over a part of finished games that was written by a journal that is lost."""
        self._db.execute("INSERT INTO parts (kind, part, written) VALUES ('games', ?, 1)", (part,))
        self._db.executemany(
            "INSERT INTO games (game_id, entrant_0, entrant_1, outcome, winner_seat, part) "
            "VALUES (:game_id, :entrant_0, :entrant_1, :outcome, :winner_seat, :part)",
            [{**game, "part": part} for game in games],
        )

    def _make_tables(self, path: Path, run: str) -> None:
        if self._one("SELECT count(*) FROM sqlite_master") == 0:
            for statement in _TABLES.split(";"):
                self._db.execute(statement)
            self._db.execute("INSERT INTO about (layout, run) VALUES (?, ?)", (LAYOUT, run))
            return
        layout = self._one("SELECT layout FROM about")
        other = self._one("SELECT run FROM about")
        if layout != LAYOUT:
            raise ConfigError(f"{path} has journal layout {layout}; this program reads layout {LAYOUT}")
        if other != run:
            raise ConfigError(f"storage.journal_dir: {path} is the journal of the run {other}, not of {run}")

    def _holds(self, game_id: str, epoch: int) -> bool:
        row = self._db.execute("SELECT epoch FROM leases WHERE game_id = ?", (game_id,)).fetchone()
        return row is not None and row[0] == epoch

    def _require(self, game_id: str, epoch: int) -> None:
        if not self._holds(game_id, epoch):
            raise StaleEpoch(f"game {game_id} is no longer held under epoch {epoch}")

    def _one(self, query: str, *values: object) -> Any:
        return self._db.execute(query, values).fetchone()[0]


def _known(kind: str) -> str:
    if kind not in PART_KINDS:
        raise ValueError(f"no rows of kind {kind!r}")
    return kind
