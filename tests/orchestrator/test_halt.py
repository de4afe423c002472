"""A full disk ends a run in one line, and only a full disk does."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from orchestrator.config import ConfigError
from orchestrator.group_commit import JournalUnwritable
from orchestrator.halt import RunHalted, halting_for
from results.location import StorageError


def write_to_a_full_disk() -> None:
    with open("/dev/full", "w") as full:
        full.write("x")


def write_a_part_to_a_full_disk() -> None:
    try:
        write_to_a_full_disk()
    except OSError as error:
        raise StorageError("cannot write") from error


def test_a_full_disk_is_said_in_one_line_with_its_place_and_what_to_do() -> None:
    with pytest.raises(RunHalted) as caught, halting_for("/runs/r", "/runs/r/journal"):
        write_to_a_full_disk()
    assert str(caught.value) == (
        "/runs/r: No space left on device; all that was committed is kept, and once this is mended the same command "
        "goes on"
    )


def test_a_storage_error_because_of_a_full_disk_is_one_too_and_any_other_is_not() -> None:
    with pytest.raises(RunHalted, match="/runs/r: No space left"), halting_for("/runs/r", "/j"):
        write_a_part_to_a_full_disk()
    for other in (StorageError("no such run"), FileNotFoundError(2, "gone"), ConfigError("bad")):
        with pytest.raises(type(other)), halting_for("/runs/r", "/j"):
            raise other


def test_a_journal_whose_disk_is_full_names_the_journal(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "j", isolation_level=None)
    database.execute("CREATE TABLE t (x)")
    database.execute("PRAGMA max_page_count = 2")
    full = "/j: the journal cannot be written: database or disk is full;"
    with pytest.raises(RunHalted, match=full), halting_for("/runs/r", "/j"):
        database.execute("INSERT INTO t VALUES (zeroblob(100000))")
    with pytest.raises(RunHalted, match="/j: gone; "), halting_for("/runs/r", "/j"):
        raise JournalUnwritable("gone")
    with pytest.raises(sqlite3.OperationalError, match="no such table"), halting_for("/runs/r", "/j"):
        database.execute("SELECT * FROM missing")
    database.close()
