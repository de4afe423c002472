"""Whole tournaments whose storage is an S3 server: the driver's machine is lost, stands still, or loses the storage."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import ray
from llm_tournaments import Loopback, llm, llm_tournament, tables
from object_stores import ObjectStore, TroubledWay
from standin_tournaments import PATIENCE_SECONDS, start, wait_until

from orchestrator import run_tournament
from orchestrator.cluster import RayCluster
from orchestrator.config import ClusterConfig, StorageConfig, TournamentConfig
from orchestrator.in_flight import read_segments
from results import Run
from results.checkpoint import read_checkpoint
from results.location import Location


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[str]:
    """A Ray cluster that all tests share; its address."""
    with RayCluster(ClusterConfig(workers=2)):
        yield ray.get_runtime_context().gcs_address


def answered(journal_dir: Path, query: str) -> list[tuple[object, ...]]:
    """What a journal has."""
    journal = sqlite3.connect(f"file:{journal_dir / 'r' / 'journal.sqlite'}?mode=ro", uri=True)
    try:
        return journal.execute(query).fetchall()
    finally:
        journal.close()


def shipped(config: TournamentConfig) -> tuple[int, set[tuple[object, ...]]]:
    """The number of games in parts, and the answers of games in flight, that the storage has."""
    location = Location.parse(config.storage.root).child("r")
    while True:
        checkpoint = read_checkpoint(location)
        if checkpoint is None:
            return 0, set()
        try:
            found = list(read_segments(location, checkpoint.writer["segments"]))
            break
        except FileNotFoundError:
            continue  # The next flush has taken the place of this one.
    answers = {(game_id, one.seat, one.decision, one.call) for some in found for game_id, one in some}
    return sum(part.rows for part in checkpoint.of("games")), answers


def test_games_of_a_lost_machine_go_on_elsewhere_from_what_was_shipped(
    store: ObjectStore, tmp_path: Path, cluster: str
) -> None:
    with Loopback("--latency-ms", "20") as server:
        agents = {"llm": llm(server.url, "weak"), "heuristic": {"kind": "heuristic"}}
        undisturbed = llm_tournament(tmp_path / "undisturbed", agents)
        assert run_tournament(undisturbed, io.StringIO()).exit_code == 0
        requests = server.requests
        storage = StorageConfig(f"s3://{store.bucket()}/runs", str(tmp_path / "lost"), flush_seconds=1.0)
        config = replace(undisturbed, storage=storage, cluster=replace(undisturbed.cluster, address=cluster))
        child = start(config)
        try:
            # In the middle of the second game, the first of which is in a part.
            wait_until(
                lambda: child.poll() is None and shipped(config)[0] >= 1 and len(shipped(config)[1]) >= 5, "it was"
            )
        finally:
            child.kill()
            child.wait()
        asked = server.requests - requests
        had = set(answered(tmp_path / "lost", "SELECT game_id, seat, decision, call FROM answers"))
        games, answers = shipped(config)
        unshipped = len(had - answers)
        assert len(answers) >= 5
        shutil.rmtree(tmp_path / "lost")
        elsewhere = replace(config, storage=replace(storage, journal_dir=str(tmp_path / "elsewhere")))
        report = run_tournament(elsewhere, io.StringIO())
        assert (report.done, report.played, report.exit_code) == (4, 4 - games, 0)
        # One game at a time: one request in the air, and what was answered after the last flush.
        assert server.requests - requests <= requests + 1 + unshipped
        assert asked > 5
        run = Run.open(Location.parse(storage.root).child("r"))
        spent = answered(tmp_path / "elsewhere", "SELECT calls FROM spending")[0][0]
        assert run.calls().num_rows == requests <= spent
        there = {name: table.to_pylist() for name, table in tables(undisturbed).items()}
        for name, keys in (("games", ["game_id"]), ("decisions", ["game_id", "decision"])):
            found = getattr(run, name)().select(list(there[name][0])).sort_by([(key, "ascending") for key in keys])
            assert found.to_pylist() == there[name], name
        assert not Location.parse(storage.root).child("r", "in_flight").sizes()


def command(root: str, journals: Path, cluster: str, work: int = 4_000) -> list[str]:
    """A tournament of the stand-in game, of ``work`` a turn, as one gives it in a shell."""
    return [
        *(sys.executable, "-m", "jobs.tournament", "game=standin", f"options={{turns: 40, work: {work}}}", "run=r"),
        "agents=[random,scripted_first]",
        "tournament.games_per_pair=120",
        *("cluster=address", f"cluster.address={cluster}", "cluster.workers=1", "cluster.batch_seconds=0.2"),
        *("storage=s3", f"storage.root={root}", f"storage.journal_dir={journals}", "storage.part_seconds=0.5"),
        *("storage.flush_seconds=1", "storage.writer_seconds=8", "storage.patience_seconds=2"),
    ]


def done(journals: Path) -> int:
    """How many games the journal has."""
    try:
        return int(str(answered(journals, "SELECT count(*) FROM games")[0][0]))
    except sqlite3.OperationalError:
        return 0


@contextmanager
def playing(command: list[str], journals: Path) -> Iterator[subprocess.Popen[str]]:
    """The process of ``command`` once it has played some games; it does not outlive the block."""
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: child.poll() is None and done(journals) >= 10, "it was playing")
        yield child
    finally:
        if child.poll() is None:
            child.kill()
            child.communicate()


def test_a_driver_that_stood_still_until_another_had_the_run_ends_and_alters_nothing(
    store: ObjectStore, tmp_path: Path, cluster: str
) -> None:
    root = f"s3://{store.bucket()}/runs"
    # Of games so long that the first driver is still at them when the second has started and watched it.
    first, second = (command(root, tmp_path / name, cluster, work=16_000) for name in ("first", "second"))
    with playing(first, tmp_path / "first") as suspended:
        refused = subprocess.run(second, capture_output=True, text=True, check=False)
        assert refused.returncode == 2
        assert f"run 'r' is being written by process {suspended.pid} on " in refused.stderr
        assert "Traceback" not in refused.stderr
        os.kill(suspended.pid, signal.SIGSTOP)
        after = subprocess.run(second, capture_output=True, text=True, check=False)
        assert after.returncode == 0, after.stderr
        assert f"run 'r' was being written by process {suspended.pid} on " in after.stderr
        before = Run.open(Location.parse(root).child("r")).games().sort_by("game_id")
        os.kill(suspended.pid, signal.SIGCONT)
        said = suspended.communicate()[1]
    assert suspended.returncode == 1, said
    assert "the run was taken over by process" in said
    assert "Traceback" not in said
    assert len(before) == 120
    assert Run.open(Location.parse(root).child("r")).games().sort_by("game_id").equals(before)


def test_a_run_that_ends_while_the_storage_is_away_is_incomplete_and_the_same_command_stores_it(
    store: ObjectStore, way: TroubledWay, tmp_path: Path, cluster: str
) -> None:
    root = f"s3://{store.bucket()}/runs"
    with playing(command(root, tmp_path / "journals", cluster), tmp_path / "journals") as child:
        way.trouble = "refuse"
        said = child.communicate()[1]
    assert child.returncode == 3, said
    assert "jobs.tournament: 120 of 120 games are played, but not all are stored: " in said
    assert "rows wait in the journal, and the same command writes them" in said
    assert said.count("does not answer, trying on") == 1
    assert "Traceback" not in said
    way.trouble = None
    again = subprocess.run(command(root, tmp_path / "journals", cluster), capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert "complete: 120 of 120 games, 0 void; 0 played" in again.stdout
    assert len(Run.open(Location.parse(root).child("r")).games()) == 120


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_ends_a_run_whose_requests_to_the_storage_never_end_and_the_same_command_stores_it(
    store: ObjectStore, way: TroubledWay, tmp_path: Path, cluster: str, presses: int
) -> None:
    root = f"s3://{store.bucket()}/runs"
    with playing(command(root, tmp_path / "journals", cluster), tmp_path / "journals") as child:
        way.trouble = "dribble"
        wait_until(lambda: child.poll() is None and way.dribbling, "a request was on its way")
        child.send_signal(signal.SIGINT)
        if presses == 2:
            # Not together with the first, and before the time is over for which the first waits.
            time.sleep(1.5)
            child.send_signal(signal.SIGINT)
        # Nothing but the program itself ends it: its requests would go on for days.
        said = child.communicate(timeout=PATIENCE_SECONDS)[1]
    assert child.returncode == 3, said
    assert ("rows wait in the journal, and the same command writes them" in said) == (presses == 1), said
    assert ("stopped at once; what was played is kept, and the same command goes on" in said) == (presses == 2), said
    assert "Traceback" not in said
    kept = done(tmp_path / "journals")
    assert kept >= 10
    way.trouble = None
    again = subprocess.run(command(root, tmp_path / "journals", cluster), capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert f"complete: 120 of 120 games, 0 void; {120 - kept} played" in again.stdout
    assert len(Run.open(Location.parse(root).child("r")).games()) == 120
