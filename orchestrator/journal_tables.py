"""The tables of the journal."""

from __future__ import annotations

from typing import Final

LAYOUT: Final = 3
"""Raised whenever the tables change; ``orchestrator/migration.py`` brings older ones up to date."""

TABLES: Final = """
CREATE TABLE about (layout INTEGER NOT NULL, run TEXT NOT NULL, adopting INTEGER NOT NULL);
-- A start is one process that worked on the run, under the writer's epoch that it had.
CREATE TABLE starts (
    start INTEGER PRIMARY KEY, process TEXT NOT NULL, started_at INTEGER NOT NULL, writer INTEGER NOT NULL
);
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
    outcome TEXT NOT NULL, winner_seat INTEGER
);
-- What came of the LLM calls of games that are in no part yet. "decision" counts the seat's own decisions, "place" the
-- game's.
CREATE TABLE answers (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, game_id TEXT NOT NULL, seat INTEGER NOT NULL, decision INTEGER NOT NULL,
    call INTEGER NOT NULL, place INTEGER NOT NULL, digest TEXT NOT NULL, answer BLOB NOT NULL,
    UNIQUE (game_id, seat, decision, call)
);
-- All that was answered so far, whatever became of the games.
CREATE TABLE spending (
    entrant TEXT PRIMARY KEY, calls INTEGER NOT NULL, input_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL, queue_seconds REAL NOT NULL
) WITHOUT ROWID;
-- Decisions and calls of games in flight that have been taken, so that none is taken twice.
CREATE TABLE decisions (
    game_id TEXT NOT NULL, decision INTEGER NOT NULL, PRIMARY KEY (game_id, decision)
) WITHOUT ROWID;
CREATE TABLE calls (
    game_id TEXT NOT NULL, decision INTEGER NOT NULL, call INTEGER NOT NULL, PRIMARY KEY (game_id, decision, call)
) WITHOUT ROWID;
-- Rows that are in no part yet. The "seq" of a game's row is that of the game.
CREATE TABLE games_rows (seq INTEGER PRIMARY KEY, row BLOB NOT NULL);
CREATE TABLE decisions_rows (seq INTEGER PRIMARY KEY AUTOINCREMENT, row BLOB NOT NULL);
CREATE TABLE calls_rows (seq INTEGER PRIMARY KEY AUTOINCREMENT, row BLOB NOT NULL);
-- Up to which row all are in parts.
CREATE TABLE taken (kind TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
"""
