"""What is written, whatever happens to the writer, its disk and the storage: all of it, once."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pandas as pd
import pytest
from game_rows import game_id, game_row, new_run
from object_stores import TroubledWay
from stored_runs import PAID, driving, games_there, ids, naive_rows, place, run_of, stored

from orchestrator.journal import FailedAttempt
from results import RunError, StorageError, object_store
from results.checkpoint import Checkpoint, Part, read_checkpoint, write_checkpoint


def journal_dir(root: str, tmp_path: Path, name: str = "journals") -> Path | None:
    return tmp_path / name if root.startswith("s3://") else None


def test_games_come_to_the_storage_once_over_many_starts_in_few_parts(root: str, tmp_path: Path) -> None:
    config = stored(root, journal_dir(root, tmp_path), part_rows=50)
    for start in range(5):
        with driving(config) as driver:
            for some in range(3):
                first = start * 42 + some * 14
                driver.finish(range(first, first + 14))
                driver.write()
                assert games_there(config) == ids(range(first + 14))
    checkpoint = read_checkpoint(place(config))
    assert checkpoint is not None
    # 210 games: four full parts and the one that grows.
    assert sorted(part.rows for part in checkpoint.of("games")) == [10, 50, 50, 50, 50]
    assert set(place(config).child("games").sizes()) == {f"{part.name}.parquet" for part in checkpoint.of("games")}
    if not root.startswith("s3://"):
        assert sorted(naive_rows(tmp_path / "r" / "games")) == ids(range(210))


def test_a_reader_of_the_folder_never_sees_a_game_twice_nor_one_less_while_a_part_grows(tmp_path: Path) -> None:
    config = stored(str(tmp_path), part_rows=40)
    seen: list[int] = []
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            rows = naive_rows(tmp_path / "r" / "games")
            assert len(rows) == len(set(rows))
            assert not seen or len(rows) >= seen[-1]
            seen.append(len(rows))

    with driving(config) as driver:
        driver.finish(range(3))
        driver.write()
        failed: list[BaseException] = []

        def thread() -> None:
            try:
                look()
            except BaseException as error:
                failed.append(error)

        reader = threading.Thread(target=thread)
        reader.start()
        for number in range(3, 100):
            driver.finish([number])
            driver.write()
        over.set()
        reader.join()
    assert not failed, failed
    assert len(set(seen)) > 3, "the reader has seen it grow"


def test_a_reader_in_the_middle_gets_the_games_of_the_moment_it_began(root: str, tmp_path: Path) -> None:
    config = stored(root, journal_dir(root, tmp_path), part_rows=20)
    with driving(config) as driver:
        driver.finish(range(30))
    reading = run_of(config).parts("games", ["game_id"])
    first = next(reading)
    # The second part, small as it is, is taken into another one, grows, and is full.
    with driving(config) as driver:
        driver.finish(range(30, 70))
    rest = [row for part in reading for row in part["game_id"].to_pylist()]
    assert sorted([*first["game_id"].to_pylist(), *rest]) == ids(range(30))
    assert games_there(config) == ids(range(70))


def test_a_part_that_is_announced_and_not_in_place_is_read_from_those_it_holds(tmp_path: Path) -> None:
    config = stored(str(tmp_path), part_rows=50)
    with driving(config) as driver:
        driver.finish(range(10))
    with driving(config) as driver:
        (part,) = (tmp_path / "r" / "games").glob("*.parquet")
    checkpoint = read_checkpoint(place(config))
    assert checkpoint is not None
    (entry,) = checkpoint.of("games")
    # As if the process had been killed between the two.
    part.rename(tmp_path / "r" / "games" / f"{entry.holds[0].name}.parquet")
    assert games_there(config) == ids(range(10))
    with driving(config) as driver:
        driver.finish([10])
    assert games_there(config) == ids(range(11))
    assert len(list((tmp_path / "r" / "games").glob("*.parquet"))) == 1


def test_rows_of_a_lost_journal_are_in_the_storage_and_games_in_flight_go_on(root: str, tmp_path: Path) -> None:
    config = stored(root, tmp_path / "first", part_rows=50)
    with driving(config) as driver:
        driver.finish(range(10))
        driver.answer(20, range(3), decide=True)
        driver.answer(21, range(2))
        grant = driver.opened.commits.call(driver.opened.journal.grant, [(game_id(22), 1)], "w")[0]
        failed = FailedAttempt(game_id(22), 1, grant.epoch, "worker_crash", "gone", "w", 7)
        driver.opened.commits.call(driver.opened.journal.fail, [failed])
        driver.write()
        # This comes after the last flush and is lost with the machine.
        driver.parts.close(20)
        driver.answer(21, [2])
    elsewhere = stored(root, tmp_path / "second", part_rows=50)
    with driving(elsewhere) as driver:
        journal, commits = driver.opened.journal, driver.opened.commits
        assert commits.call(journal.counts) == (10, 0)
        answers = commits.call(journal.answers, game_id(20))
        assert [one.answer.decode("utf-8", "surrogatepass") for one in answers] == [
            f'{{"reply": "20.{call} \ud800"}}' for call in range(3)
        ]
        assert [one.call for one in commits.call(journal.answers, game_id(21))] == [0, 1]
        assert commits.call(journal.spending)["a"].calls == 5
        assert commits.call(journal.attempts, game_id(22)) == [failed]
        # It is played again to where it was: its decision is in a part and is not taken twice.
        driver.answer(20, [3], decide=True)
        driver.finish([20])
    assert run_of(config).decisions().num_rows == 1
    assert games_there(config) == ids([*range(10), 20])
    # Back on the first machine, the journal there is old.
    with driving(config) as driver:
        assert any("gone on with elsewhere since" in line for line in driver.said)
        assert driver.opened.commits.call(driver.opened.journal.counts) == (11, 0)
        assert driver.opened.commits.call(driver.opened.journal.spending)["a"].calls == 6
    assert len(list((tmp_path / "first" / "r").glob("journal-before-*.sqlite"))) == 1


def test_answers_in_flight_are_a_handful_of_objects_and_go_with_their_games(tmp_path: Path) -> None:
    config = stored(str(tmp_path / "runs"), tmp_path / "journals")
    folder = place(config).child("in_flight")
    with driving(config) as driver:
        most = 0
        for call in range(60):
            for number in range(3):
                driver.answer(number, [call])
            driver.write()
            checkpoint = read_checkpoint(place(config))
            assert checkpoint is not None
            most = max(most, len(checkpoint.writer["segments"]))
            assert set(folder.sizes()) == set(checkpoint.writer["segments"])
        assert 1 < most <= 8
        driver.finish(range(3))
        driver.write()
        driver.write()
        assert folder.sizes() == {}


def test_a_journal_that_is_lost_and_was_shipped_nowhere_leaves_no_half_games(tmp_path: Path) -> None:
    config = stored(str(tmp_path))
    with driving(config) as driver:
        driver.finish(range(3))
        driver.answer(20, range(3), decide=True)
    assert run_of(config).decisions().num_rows == 1
    shutil.rmtree(tmp_path / "r" / "journal")
    with driving(config) as driver:
        assert driver.opened.commits.call(driver.opened.journal.spending)["a"].cost_usd == 3 * PAID.cost_usd
        assert run_of(config).decisions().num_rows == 0
        driver.answer(20, range(2), decide=True)
        driver.finish([20])
    assert run_of(config).decisions().num_rows == 1
    assert games_there(config) == ids([0, 1, 2, 20])


def test_a_storage_that_has_less_than_the_journal_is_refused(tmp_path: Path) -> None:
    config = stored(str(tmp_path / "runs"), tmp_path / "journals")
    with driving(config) as driver:
        driver.finish(range(3))
        driver.write()
        shutil.copytree(tmp_path / "runs", tmp_path / "copy")
        driver.finish(range(3, 5))
    shutil.rmtree(tmp_path / "runs")
    (tmp_path / "copy").rename(tmp_path / "runs")
    with pytest.raises(StorageError, match="is older than its journal"), driving(config):
        pass


@pytest.mark.parametrize("trouble", ["refuse", "throttle", "stall"])
def test_a_storage_in_trouble_is_tried_again_while_games_go_on_and_told_of_once(
    store: object, way: TroubledWay, tmp_path: Path, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "_REQUEST_SECONDS", 1.0)
    config = stored(f"s3://{store.bucket()}/runs", tmp_path / "journals", part_rows=10)  # type: ignore[attr-defined]
    with driving(config) as driver:
        driver.finish(range(5))
        driver.write()
        way.trouble = trouble
        driver.finish(range(5, 300))
        assert driver.opened.commits.call(driver.opened.journal.counts) == (300, 0), "play does not wait"
        while not driver.said:
            driver.parts.check()
        assert driver.opened.commits.call(driver.opened.journal.waiting, "games") >= 290, "rows wait on the disk"
        way.trouble = None
    assert games_there(config) == ids(range(300))
    assert [line for line in driver.said if "does not answer, trying on" in line] == driver.said[:1]
    assert len([line for line in driver.said if "answers again" in line]) == 1


def test_at_the_end_it_gives_up_at_the_deadline_and_the_same_command_writes_the_rest(
    store: object, way: TroubledWay, tmp_path: Path
) -> None:
    config = stored(f"s3://{store.bucket()}/runs", tmp_path / "journals")  # type: ignore[attr-defined]
    with driving(config, seconds=1.0) as driver:
        driver.finish(range(5))
        driver.write()
        way.trouble = "refuse"
        driver.finish(range(5, 9))
    assert "4 rows wait in the journal, and the same command writes them" in driver.said[-1]
    way.trouble = None
    assert games_there(config) == ids(range(5))
    with driving(config) as driver:
        pass
    assert games_there(config) == ids(range(9))


def test_many_small_parts_are_taken_together_at_the_next_start(root: str, tmp_path: Path) -> None:
    config = stored(root, journal_dir(root, tmp_path), part_rows=10)
    # As an older version has left them: 25 parts of four games.
    run = new_run(place(config), *[[game_row(4 * part + one) for one in range(4)] for part in range(25)])
    sizes = place(config).child("games").sizes()
    parts = [Part(f"part-{part}", 4, sizes[f"part-{part}.parquet"]) for part in range(25)]
    state = {"taken": {}, "spending": {}, "attempts": []}
    write_checkpoint(run.location, Checkpoint(1, {"games": tuple(parts), "decisions": (), "calls": ()}, state))
    reading = run_of(config).parts("games", ["game_id"])
    first = next(reading)["game_id"].to_pylist()
    with driving(config) as driver:
        driver.finish([100])
    assert games_there(config) == ids(range(101))
    assert len(place(config).child("games").sizes()) == 13
    assert sorted([*first, *(row for part in reading for row in part["game_id"].to_pylist())]) == ids(range(100))


def test_rows_are_read_by_pandas_as_they_are(tmp_path: Path) -> None:
    config = stored(str(tmp_path))
    with driving(config) as driver:
        driver.finish(range(4))
    games = pd.read_parquet(tmp_path / "r" / "games").sort_values("game_id")
    assert [list(actions) for actions in games["actions"]] == [[f"0 take:{number}"] for number in range(4)]


def test_all_parts_deleted_is_no_empty_run(tmp_path: Path) -> None:
    config = stored(str(tmp_path))
    with driving(config) as driver:
        driver.finish(range(4))
    shutil.rmtree(tmp_path / "r" / "games")
    with pytest.raises(RunError, match="is gone, though the run's checkpoint has it"):
        run_of(config).games()
