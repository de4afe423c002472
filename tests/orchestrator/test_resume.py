"""A run that was killed, stopped or begun twice: afterwards it holds exactly the games of an undisturbed one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import ray
from ray_actors import actors
from standin_tournaments import (
    GREEDY,
    RANDOM,
    games_done,
    games_of,
    journal_of,
    start,
    tournament,
    wait_for_games,
    wait_until,
)

from jobs.processes import descendants
from orchestrator import ConfigError, run_tournament
from orchestrator.cluster import RayCluster
from orchestrator.config import ClusterConfig, Deck, Entrant, TournamentConfig
from orchestrator.disks import JournalLocked
from orchestrator.processes import born, children
from orchestrator.schedule import Schedule
from results import Run, StorageError

RULED_SECONDS = 10.0
"""What the rule gives a stopped driver, and the workers of a killed one, to end."""

# About 10 ms of processor time a game: a run of 200 games can be caught in the middle.
LENGTH = {"turns": 40, "work": 4000}


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[str]:
    """A Ray cluster that all tests share; its address."""
    with RayCluster(ClusterConfig(workers=2)):
        yield ray.get_runtime_context().gcs_address


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> TournamentConfig:
    config = tournament(tmp_path_factory.mktemp("undisturbed"), games=200, workers=1, **LENGTH)
    assert run_tournament(config).exit_code == 0
    return config


def end(child: subprocess.Popen[bytes]) -> None:
    """Kill a driver that a failed test left behind."""
    if child.poll() is None:
        child.kill()
    child.wait()


def test_a_run_whose_driver_is_killed_three_times_holds_the_games_of_an_undisturbed_one(
    tmp_path: Path, undisturbed: TournamentConfig, cluster: str
) -> None:
    config = tournament(tmp_path, games=200, storage={"part_rows": 40}, **LENGTH)
    # With a Ray of its own, and twice as one driver of a cluster that lives on.
    for games, address in ((20, None), (70, cluster), (130, cluster)):
        child = start(replace(config, cluster=ClusterConfig(address=address, batch_seconds=0.2)))
        try:
            wait_for_games(config, games, child)
            processes = {*descendants(child.pid), *actors()}
            assert len(processes) >= 2
            child.kill()
            killed = time.monotonic()
            child.wait()
            wait_until(lambda processes=processes: not any(map(born, processes)), "all that it had started ended")
            assert time.monotonic() - killed < RULED_SECONDS
        finally:
            end(child)
    kept = games_done(config)
    assert 130 <= kept < 200
    report = run_tournament(config)
    assert (report.done, report.played, report.exit_code) == (200, 200 - kept, 0)
    assert games_of(config).equals(games_of(undisturbed))
    starts = Run.open(tmp_path / "r").manifest.starts
    assert len(starts) == 4
    assert run_tournament(config).played == 0


@pytest.mark.parametrize("server", ["raylet", "gcs_server"])
def test_a_run_whose_embedded_ray_is_killed_ends_by_itself_and_goes_on(
    tmp_path: Path, undisturbed: TournamentConfig, server: str
) -> None:
    config = tournament(tmp_path, games=200, **LENGTH)
    child = start(replace(config, cluster=ClusterConfig(batch_seconds=0.2)), stderr=subprocess.PIPE)
    try:
        wait_for_games(config, 20, child)
        for process in children(child.pid, server):
            os.kill(process, signal.SIGKILL)
        assert child.stderr is not None
        said = child.stderr.read().decode()
        assert child.wait() == 3
        assert "Ray on this machine has ended" in said
        assert "Traceback" not in said
    finally:
        end(child)
    assert run_tournament(config).exit_code == 0
    assert games_of(config).equals(games_of(undisturbed))


def test_workers_of_a_killed_driver_end_even_in_a_native_hang(tmp_path: Path) -> None:
    config = tournament(tmp_path, games=2, workers=1, turns=4, faults=[{"kind": "native_hang", "ply": 1}])
    child = start(config)
    try:
        wait_until(lambda: games_done(config) == 0 and _leased(config) and actors(of=child.pid), "a worker hung")
        time.sleep(1.0)
        processes = set(descendants(child.pid))
        child.kill()
        killed = time.monotonic()
        child.wait()
        wait_until(lambda: not any(map(born, processes)), "the worker that hung ended")
        assert time.monotonic() - killed < RULED_SECONDS
    finally:
        end(child)


def _leased(config: TournamentConfig) -> bool:
    try:
        journal = journal_of(config)
        try:
            return bool(journal.execute("SELECT count(*) FROM leases").fetchone()[0])
        finally:
            journal.close()
    except Exception:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_finishes_writing_and_goes_on_later_and_cannot_be_played_twice_at_once(
    tmp_path: Path, undisturbed: TournamentConfig, cluster: str, number: signal.Signals
) -> None:
    address = None if number == signal.SIGINT else cluster
    config = tournament(tmp_path, games=200, cluster={"address": address}, **LENGTH)
    said = tmp_path / "said"
    with said.open("wb") as stream:
        child = start(config, stream)
    try:
        wait_for_games(config, 40, child)
        with pytest.raises(JournalLocked, match=f"run 'r' is being played by process {child.pid} on"):
            run_tournament(config)
        # Ctrl-C reaches every process of the terminal's group.
        os.killpg(child.pid, number)
        stopped = time.monotonic()
        child.wait()
        assert time.monotonic() - stopped < RULED_SECONDS
    finally:
        end(child)
    assert child.returncode == 3, said.read_text()
    assert "Traceback" not in said.read_text()
    kept = games_done(config)
    assert 40 <= kept < 200
    assert len(games_of(config)) == kept, "all that was played is in Parquet parts"
    assert run_tournament(config).exit_code == 0
    assert games_of(config).equals(games_of(undisturbed))


def test_a_second_ctrl_c_stops_at_once_and_still_leaves_a_run_that_goes_on(
    tmp_path: Path, undisturbed: TournamentConfig, cluster: str
) -> None:
    config = tournament(tmp_path, games=200, cluster={"address": cluster}, **LENGTH)
    child = start(config)
    try:
        wait_for_games(config, 40, child)
        for _ in range(3):
            os.killpg(child.pid, signal.SIGINT)
            time.sleep(0.05)
        child.wait()
    finally:
        end(child)
    assert child.returncode != 0
    assert run_tournament(config).exit_code == 0
    assert games_of(config).equals(games_of(undisturbed))


def test_a_run_whose_journal_is_lost_goes_on_from_its_parts(tmp_path: Path) -> None:
    config = tournament(tmp_path, games=20, turns=4)
    assert run_tournament(config).exit_code == 0
    shutil.rmtree(tmp_path / "r" / "journal")
    longer = replace(config, games_per_pair=30, extend=True)
    assert (run_tournament(longer).played, games_done(longer)) == (10, 30)
    assert set(games_of(longer)["game_id"].to_pylist()) == {game.game_id for game in Schedule(longer)}


def test_a_run_that_misses_a_part_or_its_manifest_or_has_a_torn_part_is_refused(tmp_path: Path) -> None:
    config = tournament(tmp_path, games=4, turns=4)
    assert run_tournament(config).exit_code == 0
    (part,) = (tmp_path / "r" / "games").glob("*.parquet")
    whole = part.read_bytes()
    part.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StorageError, match=rf"games/{part.name} is torn: {len(whole) // 2} bytes, {len(whole)} were"):
        run_tournament(config)
    part.unlink()
    for read in (lambda: run_tournament(config), Run.open(tmp_path / "r").games):
        with pytest.raises(StorageError, match=rf"games/{part.name} is gone, though the run's checkpoint has it"):
            read()
    part.write_bytes(whole)
    assert run_tournament(config).played == 0
    shutil.rmtree(tmp_path / "r" / "checkpoints")
    for read in (lambda: run_tournament(config), Run.open(tmp_path / "r").games):
        with pytest.raises(StorageError, match=r"checkpoints(/)? is gone, though the run was begun with it"):
            read()
    (tmp_path / "r" / "manifest.json").unlink()
    with pytest.raises(StorageError, match=r"manifest\.json is gone, though the journal has 4 finished games"):
        run_tournament(replace(config, seed=8))


def test_another_run_under_the_same_name_is_refused_and_nothing_is_touched(tmp_path: Path) -> None:
    config = tournament(tmp_path, games=4, turns=4)
    assert run_tournament(config).exit_code == 0
    before = (tmp_path / "r" / "manifest.json").read_bytes()
    with pytest.raises(ConfigError, match=r"run 'r' was begun with another configuration: .*seed: 7 -> 8"):
        run_tournament(replace(config, seed=8, extend=True))
    with pytest.raises(ConfigError, match=r"tournament\.games_per_pair: 4 -> 8; extend=true adds to it"):
        run_tournament(replace(config, games_per_pair=8))
    assert (tmp_path / "r" / "manifest.json").read_bytes() == before


def test_extend_adds_agents_and_games_and_keeps_what_is_there(tmp_path: Path) -> None:
    small = tournament(tmp_path, games=6, turns=8)
    assert run_tournament(small).exit_code == 0
    kept = games_of(small).to_pylist()
    large = tournament(tmp_path, games=10, agents={"new": RANDOM, "b": GREEDY, "a": RANDOM}, extend=True, turns=8)
    report = run_tournament(large)
    assert (report.total, report.played, report.exit_code) == (30, 24, 0)
    rows = {row["game_id"]: row for row in games_of(large).to_pylist()}
    assert all(rows[row["game_id"]] == row for row in kept)
    at_once = tournament(tmp_path, "at_once", games=10, agents={"a": RANDOM, "b": GREEDY, "new": RANDOM}, turns=8)
    assert run_tournament(at_once).exit_code == 0
    assert games_of(large).equals(games_of(at_once))
    # What it has become is what the next start must be.
    assert run_tournament(replace(large, extend=False)).played == 0
    with pytest.raises(ConfigError, match=r"agents\.new: "):
        run_tournament(replace(small, extend=True))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"entrants": (Entrant("a", {"kind": "random"}), Entrant("b", {"kind": "chess"}))}, "agents.b: unknown kind"),
        ({"options": {"turns": -1}}, "stand-in game: turns"),
        ({"games_per_pair": 3}, "tournament.games_per_pair: 3 is not an even number"),
        ({"cluster": ClusterConfig(workers=0)}, "cluster.workers: 0 is not a whole number from 1"),
        ({"cluster": ClusterConfig(address="127.0.0.1:1")}, "cluster.address: no Ray at '127.0.0.1:1': ConnectionRef"),
        ({"cluster": ClusterConfig(address="ray://localhost:1")}, "cluster.address: no Ray at 'ray://localhost:1'"),
        ({"decks": (Deck("x"), Deck("x"))}, "decks: the name 'x'"),
    ],
)
def test_what_cannot_be_played_is_refused_before_anything_is_written(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    config = replace(tournament(tmp_path / "new", games=4), **changes)  # type: ignore[arg-type]
    with pytest.raises(ConfigError) as caught:
        run_tournament(config)
    assert said in str(caught.value)
    assert not (tmp_path / "new").exists()


def test_a_run_that_was_moved_goes_on_where_it_is(tmp_path: Path) -> None:
    config = tournament(tmp_path / "before", games=4, **LENGTH)
    assert run_tournament(config).played == 4
    shutil.move(tmp_path / "before", tmp_path / "after")
    moved = replace(config, storage=replace(config.storage, root=str(tmp_path / "after")))
    assert (run_tournament(moved).done, run_tournament(moved).played) == (4, 0)
