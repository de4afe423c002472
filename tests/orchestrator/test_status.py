"""What a run tells of itself and how it is asked to stop, over the records in its folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.fs as pa_fs
import pytest
from standin_tournaments import wait_until

from orchestrator.journal import Score
from orchestrator.status import (
    RunControl,
    RunStatus,
    Situation,
    ask_to_stop,
    is_alive,
    read_status,
)
from results.location import Location, StorageError

SITUATION = Situation(
    total=10,
    done=4,
    void=1,
    in_flight=3,
    workers=2,
    games_per_second=1.5,
    entrants=(Score("a", 3, 2.5), Score("b", 3, 0.5)),
    calls=7,
    input_tokens=700,
    output_tokens=70,
    cost_usd=0.25,
    budget_usd=None,
    paused=(),
)


@pytest.fixture
def location(tmp_path: Path) -> Location:
    return Location.parse(tmp_path / "run")


@pytest.fixture
def playing(location: Location) -> Iterator[RunControl]:
    control = RunControl("first", location, lambda: SITUATION)
    yield control
    control.close()


def told(location: Location) -> RunStatus:
    status = read_status(location)
    assert status is not None
    return status


def test_a_run_that_is_played_tells_how_it_stands_and_that_it_lives(location: Location, playing: RunControl) -> None:
    status = told(location)
    assert (status.run, status.state, status.done, status.total, status.in_flight) == ("first", "playing", 4, 10, 3)
    assert status.entrants == SITUATION.entrants
    assert status.process == os.getpid()
    assert is_alive(status, lambda: status)
    playing.close()
    ended = told(location)
    assert (ended.state, ended.done) == ("ended", 4)
    assert not is_alive(ended, lambda: ended)


def test_a_request_to_stop_reaches_the_process_that_plays(location: Location, playing: RunControl) -> None:
    assert playing.drain_seconds(60.0) is None
    ask_to_stop(location, 5.0)
    wait_until(lambda: playing.drain_seconds(60.0) is not None, "the request was heard")
    assert playing.drain_seconds(60.0) == 5.0
    playing.close()
    assert [path.name for path in Path(location.path, "control").iterdir()] == ["status.json"]


def test_a_request_that_nobody_heard_does_not_stop_the_next_start(location: Location) -> None:
    ask_to_stop(location, None)
    control = RunControl("first", location, lambda: SITUATION)
    wait_until(lambda: told(location).beat >= 2, "it looked for requests")
    assert control.drain_seconds(60.0) is None
    ask_to_stop(location, None)
    wait_until(lambda: control.drain_seconds(60.0) is not None, "the new request was heard")
    assert control.drain_seconds(60.0) == 60.0
    control.close()


def test_a_process_that_was_killed_is_known_to_be_dead_though_another_has_its_number(location: Location) -> None:
    program = (
        "import time; from orchestrator.journal import Score; from orchestrator.status import RunControl, Situation\n"
        "from results.location import Location\n"
        f"RunControl('first', Location.parse({location.path!r}), lambda: {SITUATION!r})\n"
        "print('there', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "there\n"
        status = told(location)
        assert is_alive(status, lambda: status)
        child.kill()
    assert not is_alive(status, lambda: status)
    assert not is_alive(replace(status, process=os.getpid()), lambda: status)


def elsewhere(status: RunStatus, age: float) -> RunStatus:
    """The same, of another machine and so many seconds ago."""
    at = datetime.now(UTC) - timedelta(seconds=age)
    return replace(status, machine="another", at=at.isoformat(), seconds=0.1)


@pytest.mark.parametrize(
    ("age", "later", "alive"),
    [
        (0.0, lambda status: replace(status, beat=status.beat + 1), True),
        (0.0, lambda status: status, False),
        (0.0, lambda status: None, False),
        (3600.0, lambda status: replace(status, beat=status.beat + 1), True),
        (-3600.0, lambda status: replace(status, beat=status.beat + 1), True),
        (3600.0, lambda status: status, False),
        (-3600.0, lambda status: status, False),
        (3600.0, lambda status: replace(status, beat=status.beat + 1, state="ended"), False),
    ],
)
def test_a_process_of_another_machine_lives_if_it_goes_on_telling_whatever_its_clock_shows(
    location: Location, playing: RunControl, age: float, later: Callable[[RunStatus], RunStatus | None], alive: bool
) -> None:
    status = elsewhere(told(location), age)
    assert is_alive(status, lambda: later(status)) is alive


def test_a_storage_that_takes_nothing_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file where a folder should be")
    control = RunControl("first", Location.parse(tmp_path / "run"), lambda: SITUATION)
    control.update()
    control.close()
    assert control.drain_seconds(1.0) is None
    with pytest.raises(StorageError, match="cannot ask for a stop"):
        ask_to_stop(Location.parse(tmp_path / "run"), None)


def test_a_record_that_cannot_be_read_is_named(location: Location, playing: RunControl) -> None:
    playing.close()
    Path(location.path, "control", "status.json").write_text('{"run": "first"')
    with pytest.raises(StorageError, match=r"status\.json: cannot be read"):
        read_status(location)


def test_records_work_where_files_cannot_be_renamed(tmp_path: Path) -> None:
    # Not a local file system by type, as an object store is not.
    (tmp_path / "bucket").mkdir()
    remote = Location(pa_fs.SubTreeFileSystem(str(tmp_path / "bucket"), pa_fs.LocalFileSystem()), "run")
    assert not remote.is_local
    control = RunControl("first", remote, lambda: SITUATION)
    assert told(remote).seconds > told(remote).beat
    control.close()
    assert told(remote).state == "ended"
