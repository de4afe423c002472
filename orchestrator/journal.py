"""The one commit point of a run: what the journal has counts, and nothing else does.

An SQLite database in WAL mode with one writing process (see :mod:`orchestrator.disks`). Each public method that writes
is one operation; :class:`orchestrator.group_commit.GroupCommit` runs many of them in one transaction. Every grant of a
game to a worker has an **epoch**, larger than all before it; an operation that comes with an older epoch than the
game's present one is refused, so that a worker that was given up and comes back late alters nothing.

Finished games, decisions and calls are rows (JSON, columns as in ``results/schema.py``) that wait, in the order in
which they were committed, to be put into Parquet parts. They are dropped once a checkpoint of the run (see
:mod:`orchestrator.parts`) says that all up to a certain one are in parts.

**Answers** are what a game in flight is rebuilt from: what came of each LLM call, committed before anything acts on it.
They are dropped when their game's row is in a part.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

from orchestrator.config import ConfigError
from orchestrator.journal_tables import LAYOUT, TABLES

FILE_NAME: Final = "journal.sqlite"
_EPOCHS_PER_START: Final = 2**32
_THE_DISK: Final = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
"""What SQLite says then, apart from the finer reasons in the higher bytes."""

PART_KINDS: Final = ("games", "decisions", "calls")
UNFIT_WORKER: Final = "unfit_worker"
"""The cause of tries that failed because their worker fails what others can play; they do not count."""
ANSWERS: Final = "answers"

_ADD_ANSWER: Final = (
    "INSERT INTO answers (game_id, seat, decision, call, place, digest, answer) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_ADD_ATTEMPT: Final = (
    "INSERT INTO attempts (game_id, attempt, cause, detail, worker, epoch, failed_at) VALUES (?, ?, ?, ?, ?, ?, ?)"
)


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
    """What one entrant has reached in at least one game; void games are left out."""

    entrant: str
    games: int
    points: float
    """A win is 1, a draw or turn cap ½."""

    @property
    def share(self) -> float:
        """Points a game, from 0 to 1."""
        return self.points / self.games


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


def is_the_disk(error: sqlite3.Error) -> bool:
    """Whether a disk that is full, fails or may not be written is behind ``error``."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _THE_DISK


class Journal:
    """The journal in ``folder``, which must be held by a lock; used by one thread at a time.

    Opening begins a new start: whatever an earlier start had granted is free again, and its epochs are old. ``run`` is
    where the run is kept, ``process`` says who opens, ``started_at`` when in microseconds since 1970, ``writer`` is the
    epoch as the run's writer. Raises :class:`ConfigError` for a file that is not a journal of this layout or belongs to
    another run, ``sqlite3.OperationalError`` where the disk refuses.
    """

    def __init__(self, folder: Path, run: str, process: str, started_at: int, writer: int = 0) -> None:
        path = folder / FILE_NAME
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            with self.transaction():
                self._make_tables(path, run)
                self._db.execute("DELETE FROM leases")
                self._db.execute(
                    "INSERT INTO starts (process, started_at, writer) VALUES (?, ?, ?)", (process, started_at, writer)
                )
                self.start = int(self._one("SELECT max(start) FROM starts"))
        except sqlite3.DatabaseError as error:
            self._db.close()
            if is_the_disk(error):
                raise
            raise ConfigError(f"storage.journal_dir: {path} cannot be used as a journal: {error}") from error
        self._epochs = count(self.start * _EPOCHS_PER_START + 1)

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
        return {
            row[0]: Failures(row[1], row[2], frozenset(row[3].split(","))) for row in self._db.execute(query, game_ids)
        }

    def grant(self, games: Iterable[tuple[str, int]], worker: str) -> list[Grant]:
        """Give games, each with the number of its try, to ``worker``; whoever had one of them has it no more."""
        granted = self.prepare_grants(games)
        self.lease(granted, worker)
        return granted

    def prepare_grants(self, games: Iterable[tuple[str, int]]) -> list[Grant]:
        """The grants that :meth:`lease` is to write, so that a sender need not wait for it. From any thread."""
        return [Grant(game_id, attempt, next(self._epochs)) for game_id, attempt in games]

    def lease(self, grants: Iterable[Grant], worker: str) -> None:
        """Give the games of ``grants`` to ``worker``."""
        self._db.executemany(
            "INSERT OR REPLACE INTO leases (game_id, attempt, epoch, worker) VALUES (?, ?, ?, ?)",
            [(grant.game_id, grant.attempt, grant.epoch, worker) for grant in grants],
        )

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
                added = self._db.execute(
                    "INSERT INTO games (game_id, entrant_0, entrant_1, outcome, winner_seat) VALUES (?, ?, ?, ?, ?)",
                    (game.game_id, *game.entrants, game.outcome, game.winner_seat),
                )
                self._db.execute("INSERT INTO games_rows (seq, row) VALUES (?, ?)", (added.lastrowid, game.row))
                for table in ("decisions", "calls"):
                    self._db.execute(f"DELETE FROM {table} WHERE game_id = ?", (game.game_id,))
                counted.append(game.game_id)
        return counted

    def fail(self, attempts: Iterable[FailedAttempt]) -> list[str]:
        """Record tries that failed and take their games back; returns the ids of those that counted."""
        counted = []
        for failed in attempts:
            if self._holds(failed.game_id, failed.epoch):
                self._db.execute(_ADD_ATTEMPT, _attempt_values(failed))
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
        self._db.execute(_ADD_ANSWER, (game_id, *astuple(answer)))
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
        if self._db.execute("INSERT OR IGNORE INTO decisions VALUES (?, ?)", (game_id, decision)).rowcount:
            self._db.execute("INSERT INTO decisions_rows (row) VALUES (?)", (row,))
        self.record_calls(game_id, epoch, [(decision, call, text) for call, text in calls])

    def record_calls(self, game_id: str, epoch: int, calls: Iterable[tuple[int, int, bytes]]) -> None:
        """Take rows of calls, by place of the decision and number; one that is there already is left as it is."""
        self._require(game_id, epoch)
        for decision, call, row in calls:
            if self._db.execute("INSERT OR IGNORE INTO calls VALUES (?, ?, ?)", (game_id, decision, call)).rowcount:
                self._db.execute("INSERT INTO calls_rows (row) VALUES (?)", (row,))

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
        return int(self._one(f"SELECT count(*) FROM {_known(kind)}_rows"))

    def marks(self) -> dict[str, int]:
        """The last row of each kind, and the last answer, that has been committed."""
        return {
            kind: int(self._one(f"SELECT coalesce(max(seq), 0) FROM {table}"))
            for kind, table in (*((kind, f"{kind}_rows") for kind in PART_KINDS), (ANSWERS, ANSWERS))
        }

    def taken(self) -> dict[str, int]:
        """The last row of each kind that is in a part; 0 where none is."""
        return dict.fromkeys(PART_KINDS, 0) | dict(self._db.execute("SELECT kind, seq FROM taken"))

    def rows(self, kind: str, after: int, upto: int, most: int, size: int) -> tuple[list[bytes], int]:
        """The oldest rows between those numbers, up to ``most`` or about ``size`` bytes, and the last one's number."""
        query = f"SELECT seq, row FROM {_known(kind)}_rows WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
        found: list[bytes] = []
        for seq, row in self._db.execute(query, (after, upto, most)):
            found.append(row)
            after = seq
            size -= len(row)
            if size <= 0:
                break
        return found, after

    def drop_taken(self, taken: Mapping[str, int]) -> None:
        """Note that all rows up to those numbers are in parts, and drop them, and the answers of these games."""
        before = self.taken()
        for kind in PART_KINDS:
            upto = taken.get(kind, 0)
            if upto > before[kind]:
                self._db.execute("INSERT OR REPLACE INTO taken VALUES (?, ?)", (kind, upto))
                self._db.execute(f"DELETE FROM {kind}_rows WHERE seq <= ?", (upto,))
        upto = taken.get("games", 0)
        if upto > before["games"] and self._one("SELECT EXISTS (SELECT 1 FROM answers)"):
            games = "SELECT game_id FROM games WHERE seq > ? AND seq <= ?"
            self._db.execute(f"DELETE FROM answers WHERE game_id IN ({games})", (before["games"], upto))

    # A journal that is lost is made anew from what the storage has

    def knows_writer(self, epoch: int) -> bool:
        """Whether a start with this journal was the run's writer of that epoch."""
        return bool(self._one("SELECT EXISTS (SELECT 1 FROM starts WHERE writer = ?)", epoch))

    def answers_between(self, after: int, upto: int, most: int) -> list[tuple[int, str, Answer]]:
        """Number, game and answer of the first ``most`` answers between those numbers."""
        query = (
            "SELECT seq, game_id, seat, decision, call, place, digest, answer FROM answers "
            "WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
        )
        return [(row[0], row[1], Answer(*row[2:])) for row in self._db.execute(query, (after, upto, most))]

    def open_attempts(self) -> list[FailedAttempt]:
        """The tries that failed and counted of games that have no result yet."""
        query = (
            "SELECT game_id, attempt, epoch, cause, detail, worker, failed_at FROM attempts "
            "WHERE NOT EXISTS (SELECT 1 FROM games WHERE games.game_id = attempts.game_id) ORDER BY epoch"
        )
        return [FailedAttempt(*row) for row in self._db.execute(query)]

    def begin_adopting(self) -> None:
        """What follows is half of something until :meth:`end_adopting`; a later start that finds it so begins anew."""
        self._db.execute("UPDATE about SET adopting = 1")

    def end_adopting(self) -> None:
        """All that the storage has is here."""
        upto = self._one("SELECT coalesce(max(seq), 0) FROM games")
        self._db.execute("INSERT OR REPLACE INTO taken VALUES ('games', ?)", (upto,))
        self._db.execute("UPDATE about SET adopting = 0")

    def adopt_games(self, games: Iterable[Mapping[str, object]]) -> None:
        """Take over finished games that are in parts."""
        self._db.executemany(
            "INSERT INTO games (game_id, entrant_0, entrant_1, outcome, winner_seat) "
            "VALUES (:game_id, :entrant_0, :entrant_1, :outcome, :winner_seat)",
            games,
        )

    def adopt_keys(self, kind: str, keys: Iterable[Sequence[object]]) -> None:
        """Take over which decisions (game, number) or calls (game, decision, number) are in parts already."""
        marks = "?, ?" if _known(kind) == "decisions" else "?, ?, ?"
        self._db.executemany(f"INSERT INTO {kind} VALUES ({marks})", keys)

    def adopt_answers(self, answers: Iterable[tuple[str, Answer]]) -> None:
        """Take over answers of games in flight."""
        self._db.executemany(_ADD_ANSWER, [(game_id, *astuple(answer)) for game_id, answer in answers])

    def adopt_attempts(self, attempts: Iterable[FailedAttempt]) -> None:
        """Take over tries that failed and counted."""
        self._db.executemany(_ADD_ATTEMPT, [_attempt_values(failed) for failed in attempts])

    def clear(self) -> None:
        """Forget all but the starts."""
        for table in ("leases", "attempts", "games", "answers", "spending", "decisions", "calls", "taken"):
            self._db.execute(f"DELETE FROM {table}")
        for kind in PART_KINDS:
            self._db.execute(f"DELETE FROM {kind}_rows")
        self._db.execute("UPDATE about SET adopting = 0")

    def _make_tables(self, path: Path, run: str) -> None:
        if self._one("SELECT count(*) FROM sqlite_master") == 0:
            for statement in TABLES.split(";"):
                self._db.execute(statement)
            self._db.execute("INSERT INTO about VALUES (?, ?, 0)", (LAYOUT, run))
            return
        layout = self._one("SELECT layout FROM about")
        other = self._one("SELECT run FROM about")
        if layout != LAYOUT:
            older = "; python -m jobs.migrate run=NAME brings it up to date" if layout < LAYOUT else ""
            raise ConfigError(f"{path} has journal layout {layout}; this program reads layout {LAYOUT}{older}")
        if other != run:
            raise ConfigError(f"storage.journal_dir: {path} is the journal of the run {other}, not of {run}")
        if self._one("SELECT adopting FROM about"):
            self.clear()

    def _holds(self, game_id: str, epoch: int) -> bool:
        row = self._db.execute("SELECT epoch FROM leases WHERE game_id = ?", (game_id,)).fetchone()
        return row is not None and row[0] == epoch

    def _require(self, game_id: str, epoch: int) -> None:
        if not self._holds(game_id, epoch):
            raise StaleEpoch(f"game {game_id} is no longer held under epoch {epoch}")

    def _one(self, query: str, *values: object) -> Any:
        return self._db.execute(query, values).fetchone()[0]


def _attempt_values(failed: FailedAttempt) -> tuple[object, ...]:
    return (
        failed.game_id,
        failed.attempt,
        failed.cause,
        failed.detail,
        failed.worker,
        failed.epoch,
        failed.failed_at,
    )


def _known(kind: str) -> str:
    if kind not in PART_KINDS:
        raise ValueError(f"no rows of kind {kind!r}")
    return kind
