"""One run has one writer, wherever it runs, and one that has lost the run alters nothing any more."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from game_rows import game_row
from stored_runs import driving, games_there, ids, naive_rows, place, run_of, stored

from orchestrator import writer
from orchestrator.disks import JournalLocked
from orchestrator.writer import Claim, WriterFenced, WriterLease, claim_run
from results.checkpoint import checkpoint_epochs
from results.location import Location
from results.schema import table_from_rows

SAID: list[str] = []


@pytest.fixture
def run(root: str) -> Location:
    return Location.parse(root).child("r")


def claimed(run: Location, machine: str = "here", seconds: float = 10.0, journal_in_run: bool = False) -> WriterLease:
    return claim_run(run, "r", seconds, 1, journal_in_run, SAID.append, machine)


def left_behind(run: Location, machine: str, process: int, born: str, seconds: float = 0.5) -> Claim:
    """The claim of a writer that beats no more."""
    claim = Claim(4, "0" * 32, process, "there", machine, born, "2026-01-01T00:00:00+00:00", seconds)
    writer._write(run, claim)
    return claim


def test_a_second_writer_is_refused_while_the_first_is_alive_and_told_who_it_is(run: Location) -> None:
    first = claimed(run)
    with pytest.raises(JournalLocked) as caught:
        claimed(run, "elsewhere")
    assert f"run 'r' is being written by process {os.getpid()} on " in str(caught.value)
    assert "stop it there, or kill it and give this command again" in str(caught.value)
    first.check()
    first.release()
    second = claimed(run, "elsewhere")
    assert second.epoch > first.epoch
    second.release()


def test_a_writer_that_died_on_this_machine_is_followed_at_once_and_one_elsewhere_after_its_time(run: Location) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    SAID.clear()
    left_behind(run, "here", ended.pid, "12345", seconds=3600.0)
    first = claimed(run)
    assert first.epoch == 5
    assert SAID == []
    first.release()
    left_behind(run, "there", os.getpid(), "1")
    run.child("writer", f"000005-{first._claim.token}.json").delete()
    second = claimed(run)
    assert second.epoch == 5
    assert SAID[0].startswith(f"run 'r' was being written by process {os.getpid()} on there since 2026-01-01")
    second.release()


def test_of_many_that_start_at_once_one_writes(root: str, run: Location) -> None:
    got: list[WriterLease] = []
    refused: list[JournalLocked] = []

    def start(number: int) -> None:
        try:
            got.append(claimed(Location.parse(root).child("r"), f"machine {number}"))
        except JournalLocked as error:
            refused.append(error)

    threads = [threading.Thread(target=start, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(got), len(refused)) == (1, 3)
    got[0].check()
    got[0].release()


def test_a_writer_is_not_overlooked_beside_the_dead_claim_of_one_that_wanted_to_be_it(run: Location) -> None:
    alive = claimed(run, seconds=1.0)
    # It claimed at the same moment, saw the other one, and was killed before it took its claim back.
    writer._write(run, replace(alive._claim, token="f" * 32, machine="there", host="there", seconds=0.5))
    with pytest.raises(JournalLocked, match="is being written by process"):
        claimed(run, "elsewhere")
    alive.check()
    alive.release()


def test_a_writer_that_claims_while_another_is_watched_is_not_overlooked(
    run: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_behind(run, "there", os.getpid(), "1", seconds=0.5)
    quicker: list[WriterLease] = []

    def watch(run: Location, name: str, holder: Claim) -> Claim | None:
        monkeypatch.undo()
        quicker.append(claimed(run, "quick", seconds=1.0))
        return holder

    monkeypatch.setattr(writer, "_watch", watch)
    with pytest.raises(JournalLocked, match="is being written by process"):
        claimed(run, "elsewhere")
    quicker[0].check()
    quicker[0].release()


def test_a_writer_that_comes_back_late_is_told_and_nothing_of_it_counts(root: str, tmp_path: Path) -> None:
    config = stored(root, tmp_path / "first")
    elsewhere = stored(root, tmp_path / "second")

    def come_back_late() -> None:
        with driving(config) as late:
            late.finish(range(5))
            late.write()
            # It stands still, as if it had been suspended.
            late.opened.lease._closing.set()
            with driving(elsewhere) as now:
                assert now.opened.lease.epoch > late.opened.lease.epoch
                now.finish(range(5, 8))
                now.write()
                # It comes back in the middle of writing a part, which it then cannot make count.
                late.finish(range(8, 12))
                late.write()

    with pytest.raises(WriterFenced, match=r"the run was taken over by process .* this process has stopped"):
        come_back_late()
    assert games_there(config) == ids(range(8))
    # Neither does what it had sent off already, whenever that arrives.
    rows = [game_row(number) for number in range(20, 25)]
    run_of(config).write_part("games", table_from_rows("games", rows), "part-000001-000001")
    assert games_there(config) == ids(range(8))
    with driving(elsewhere):
        pass
    assert games_there(config) == ids(range(8))
    parts = place(config).child("games").sizes()
    assert len(parts) == 1, "what it has left is gone after the next start"
    if not root.startswith("s3://"):
        assert sorted(naive_rows(Path(root) / "r" / "games")) == ids(range(8))
    assert len(checkpoint_epochs(place(config))) == 1
