"""The one commit point: exactly once, fenced, whole transactions, nothing lost to a kill."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.config import ConfigError
from orchestrator.disks import FolderLock, JournalLocked, file_system_type
from orchestrator.group_commit import GroupCommit, JournalUnwritable
from orchestrator.journal import (
    PART_KINDS,
    Answer,
    FailedAttempt,
    FinishedGame,
    Journal,
    JournalFenced,
    Spending,
    StaleEpoch,
)

GAMES = [f"g{number:024x}" for number in range(6)]


def opened(folder: Path, run: str = "/runs/r") -> Journal:
    return Journal(folder, run, "process 1 on here", 0)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = opened(tmp_path)
    yield journal
    journal.close()


def finished(game_id: str, epoch: int, winner: int | None = 0) -> FinishedGame:
    return FinishedGame(game_id, epoch, ("a", "b"), "win" if winner is not None else "draw", winner, game_id.encode())


def failed(game_id: str, attempt: int, epoch: int) -> FailedAttempt:
    return FailedAttempt(game_id, attempt, epoch, "worker_crash", "gone", "w", failed_at=1)


def granted(journal: Journal, game_id: str, attempt: int = 1, worker: str = "w") -> int:
    return journal.grant([(game_id, attempt)], worker)[0].epoch


def test_a_game_counts_once_however_often_its_result_comes(journal: Journal) -> None:
    epoch = granted(journal, GAMES[0])
    assert journal.finish([finished(GAMES[0], epoch)]) == [GAMES[0]]
    assert journal.finish([finished(GAMES[0], epoch)]) == []
    assert journal.fail([failed(GAMES[0], 1, epoch)]) == []
    assert journal.counts() == (1, 0)


def test_a_late_worker_is_fenced_off(journal: Journal) -> None:
    late = granted(journal, GAMES[0], worker="late")
    now = granted(journal, GAMES[0], worker="now")
    assert now > late
    assert journal.finish([finished(GAMES[0], late, winner=1)]) == []
    assert journal.fail([failed(GAMES[0], 1, late)]) == []
    for write in (lambda: journal.record_decision(GAMES[0], late, 0, b"decision"),):
        with pytest.raises(StaleEpoch):
            write()
    assert journal.finish([finished(GAMES[0], now)]) == [GAMES[0]]
    assert journal.scores()[0].games == 1
    assert journal.attempts() == []


def test_a_result_after_the_game_was_taken_back_or_never_given_is_refused(journal: Journal) -> None:
    grants = journal.grant([(GAMES[0], 1)], "w")
    journal.release(grants)
    assert journal.finish([finished(GAMES[0], grants[0].epoch), finished(GAMES[1], grants[0].epoch)]) == []


def test_a_prepared_grant_is_good_once_it_is_written(journal: Journal) -> None:
    prepared = journal.prepare_grants([(GAMES[0], 1)])
    assert journal.finish([finished(GAMES[0], prepared[0].epoch)]) == []
    journal.lease(prepared, "w")
    assert granted(journal, GAMES[1]) > prepared[0].epoch
    assert journal.finish([finished(GAMES[0], prepared[0].epoch)]) == [GAMES[0]]


def test_releasing_an_old_grant_leaves_the_new_one(journal: Journal) -> None:
    old = journal.grant([(GAMES[0], 1)], "w")
    new = granted(journal, GAMES[0])
    journal.release(old)
    assert journal.finish([finished(GAMES[0], new)]) == [GAMES[0]]


def test_a_new_start_makes_all_epochs_of_earlier_ones_old(tmp_path: Path) -> None:
    first = opened(tmp_path)
    before = granted(first, GAMES[0])
    first.close()
    second = opened(tmp_path)
    assert second.finish([finished(GAMES[0], before)]) == []
    assert granted(second, GAMES[0]) > before
    second.close()


def test_failed_tries_are_counted_and_kept_over_starts(tmp_path: Path) -> None:
    first = opened(tmp_path)
    for attempt in (1, 2):
        assert first.fail([failed(GAMES[0], attempt, granted(first, GAMES[0], attempt))]) == [GAMES[0]]
    first.close()
    second = opened(tmp_path)
    assert (second.failures(GAMES)[GAMES[0]].last, second.failures(GAMES)[GAMES[0]].counted) == (2, 2)
    assert second.failures(GAMES).keys() == {GAMES[0]}
    assert second.last_failure(GAMES[0]).attempt == 2
    assert second.unfinished(GAMES) == set(GAMES)
    second.close()


def test_scores_and_counts_leave_out_void_games(journal: Journal) -> None:
    for game_id, winner in zip(GAMES, (0, 1, None), strict=False):
        journal.finish([finished(game_id, granted(journal, game_id), winner)])
    void = FinishedGame(GAMES[3], granted(journal, GAMES[3]), ("a", "b"), "void", None, b"")
    journal.finish([void])
    assert journal.counts() == (4, 1)
    assert {score.entrant: (score.games, score.points) for score in journal.scores()} == {"a": (3, 1.5), "b": (3, 1.5)}


def answer(decision: int, call: int, seat: int = 0) -> Answer:
    return Answer(
        seat, decision, call, 2 * decision + seat, f"digest {decision}.{call}", f"reply {decision}.{call}".encode()
    )


PAID = Spending(1, 1000, 400, 50, 20, 0.25, 1.5)


def test_answers_of_a_game_in_flight_come_back_in_order_over_starts(tmp_path: Path) -> None:
    first = opened(tmp_path)
    epoch = granted(first, GAMES[0])
    for one in (answer(0, 0), answer(0, 1), answer(0, 0, seat=1), answer(1, 0)):
        assert first.record_answer(GAMES[0], epoch, "a", one, PAID)
    first.close()
    second = opened(tmp_path)
    assert second.answers(GAMES[0]) == [answer(0, 0), answer(0, 1), answer(1, 0), answer(0, 0, seat=1)]
    epoch = granted(second, GAMES[0])
    with pytest.raises(sqlite3.IntegrityError):
        second.record_answer(GAMES[0], epoch, "a", answer(1, 0), PAID)
    second.close()


def test_what_a_worker_paid_counts_even_where_it_has_lost_the_game(journal: Journal) -> None:
    late = granted(journal, GAMES[0], worker="late")
    granted(journal, GAMES[0], worker="now")
    assert not journal.record_answer(GAMES[0], late, "a", answer(0, 0), PAID)
    assert journal.answers(GAMES[0]) == []
    journal.record_answer(GAMES[1], granted(journal, GAMES[1]), "a", answer(0, 0), PAID)
    assert journal.spending() == {"a": Spending(2, 2000, 800, 100, 40, 0.5, 3.0)}


def waiting_rows(journal: Journal, kind: str) -> list[bytes]:
    return journal.rows(kind, journal.taken()[kind], journal.marks()[kind], 100, 10**6)[0]


def test_decisions_and_calls_are_taken_once_however_often_the_game_is_played_and_leave_nothing(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    epoch = granted(journal, GAMES[0])
    journal.record_decision(GAMES[0], epoch, 0, b"decision 0", [(0, b"call 0.0"), (1, b"call 0.1")])
    assert waiting_rows(journal, "decisions") == [b"decision 0"]
    assert waiting_rows(journal, "calls") == [b"call 0.0", b"call 0.1"]
    journal.drop_taken(journal.marks())
    # Its worker dies, and it is played again from the start.
    epoch = granted(journal, GAMES[0])
    journal.record_decision(GAMES[0], epoch, 0, b"decision 0 again", [(0, b"call 0.0 again"), (1, b"call 0.1 again")])
    journal.record_decision(GAMES[0], epoch, 1, b"decision 1", [(0, b"call 1.0")])
    journal.finish([finished(GAMES[0], epoch)])
    assert waiting_rows(journal, "decisions") == [b"decision 1"]
    assert waiting_rows(journal, "calls") == [b"call 1.0"]
    journal.drop_taken(journal.marks())
    assert [journal.waiting(kind) for kind in PART_KINDS] == [0, 0, 0]
    journal.close()
    with sqlite3.connect(tmp_path / "journal.sqlite") as file:
        for table in ("decisions", "calls", "answers", "games_rows", "decisions_rows", "calls_rows"):
            assert file.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_rows_come_in_the_order_in_which_they_were_committed_and_wait_until_they_are_taken(tmp_path: Path) -> None:
    first = opened(tmp_path)
    for game_id in GAMES[:5]:
        first.finish([finished(game_id, granted(first, game_id))])
    upto = first.marks()["games"]
    rows, last = first.rows("games", 0, upto, 3, 10**6)
    assert rows == [game_id.encode() for game_id in GAMES[:3]]
    assert first.rows("games", 0, upto, 3, 30)[0] == rows[:2], "about so many bytes and no more"
    first.close()
    second = opened(tmp_path)
    second.finish([finished(GAMES[5], granted(second, GAMES[5]))])
    assert second.rows("games", last, upto, 10, 10**6)[0] == [game_id.encode() for game_id in GAMES[3:5]]
    second.drop_taken({"games": last})
    assert (second.waiting("games"), second.taken()["games"]) == (3, last)
    second.drop_taken({"games": second.marks()["games"]})
    second.drop_taken({"games": last})
    assert second.waiting("games") == 0
    assert second.counts() == (6, 0)
    second.close()


def test_answers_stay_until_the_row_of_their_game_is_in_a_part(journal: Journal) -> None:
    for game_id in GAMES[:2]:
        epoch = granted(journal, game_id)
        journal.record_answer(game_id, epoch, "a", answer(0, 0), PAID)
        journal.finish([finished(game_id, epoch)])
    journal.record_answer(GAMES[2], granted(journal, GAMES[2]), "a", answer(0, 0), PAID)
    upto = journal.marks()["answers"]
    assert [game_id for _, game_id, _ in journal.answers_between(0, upto, 10)] == GAMES[:3]
    journal.drop_taken({"games": 1})
    assert [game_id for _, game_id, _ in journal.answers_between(0, upto, 10)] == GAMES[1:3]
    assert len(journal.answers_between(0, upto, 1)) == 1


def test_a_journal_that_was_half_made_from_the_storage_is_empty_again(tmp_path: Path) -> None:
    first = opened(tmp_path)
    game = {"game_id": GAMES[0], "entrant_0": "a", "entrant_1": "b", "outcome": "win", "winner_seat": 0}
    first.begin_adopting()
    first.adopt_games([game])
    first.adopt_answers([(GAMES[1], answer(0, 0))])
    first.close()
    second = opened(tmp_path)
    assert (second.counts(), second.answers(GAMES[1])) == ((0, 0), [])
    second.begin_adopting()
    second.adopt_games([game])
    second.end_adopting()
    second.close()
    third = opened(tmp_path)
    assert (third.counts(), third.waiting("games")) == ((1, 0), 0)
    third.close()


def test_an_operation_that_fails_leaves_no_trace_and_the_others_of_its_transaction_stay(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    commits = GroupCommit(journal)
    epochs = [commits.call(granted, journal, game_id) for game_id in GAMES[:3]]

    def half() -> None:
        journal.record_answer(GAMES[2], epochs[2], "a", answer(0, 0), PAID)
        raise RuntimeError("the other half")

    entered, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        go_on.wait()

    held = commits.submit(hold)
    entered.wait()
    # All of these wait while the thread is held, and so come into one transaction.
    good = [commits.submit(journal.finish, [finished(GAMES[0], epochs[0])])]
    bad = commits.submit(half)
    good.append(commits.submit(journal.finish, [finished(GAMES[1], epochs[1])]))
    go_on.set()
    held.result()
    assert [future.result() for future in good] == [[GAMES[0]], [GAMES[1]]]
    with pytest.raises(RuntimeError, match="the other half"):
        bad.result()
    assert commits.call(journal.answers, GAMES[2]) == []
    assert commits.call(journal.spending) == {}
    assert commits.call(journal.counts) == (2, 0)
    commits.close()


def test_on_a_full_disk_what_was_committed_stays_and_writers_are_told_in_one_line(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    commits = GroupCommit(journal)
    epochs = [commits.call(granted, journal, game_id) for game_id in GAMES[:2]]
    commits.call(journal.finish, [finished(GAMES[0], epochs[0])])
    full = sqlite3.connect(tmp_path / "journal.sqlite")
    pages = full.execute("PRAGMA page_count").fetchone()[0]
    full.close()
    # SQLite says the same, "database or disk is full", where it may not use more pages than it has.
    commits.call(lambda: journal._db.execute(f"PRAGMA max_page_count = {pages}").fetchone())
    large = FinishedGame(GAMES[1], epochs[1], ("a", "b"), "win", 0, b"x" * 10**6)
    with pytest.raises(JournalUnwritable, match="the journal cannot be written: database or disk is full"):
        commits.call(journal.finish, [large])
    assert commits.call(journal.unfinished, GAMES[:2]) == {GAMES[1]}
    commits.call(lambda: journal._db.execute(f"PRAGMA max_page_count = {pages + 1000}").fetchone())
    assert commits.call(journal.finish, [large]) == [GAMES[1]]
    commits.close()


def test_what_was_answered_outlives_a_kill_of_the_process(tmp_path: Path) -> None:
    program = f"""
import os, signal
from pathlib import Path
from orchestrator.group_commit import GroupCommit
from orchestrator.journal import FinishedGame, Journal
journal = Journal(Path({str(tmp_path)!r}), "/runs/r", "other", 0)
commits = GroupCommit(journal)
for number in range(3):
    game_id = f"g{{number:024x}}"
    epoch = commits.call(journal.grant, [(game_id, 1)], "w")[0].epoch
    commits.call(journal.finish, [FinishedGame(game_id, epoch, ("a", "b"), "win", 0, b"row")])
    print(game_id, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert child.returncode == -9
    journal = opened(tmp_path)
    assert set(GAMES) - journal.unfinished(GAMES) == set(child.stdout.split()) == set(GAMES[:3])
    journal.close()


def test_a_process_that_lost_the_run_to_another_stops_writing(tmp_path: Path) -> None:
    first = opened(tmp_path)
    commits = GroupCommit(first)
    epoch = commits.call(granted, first, GAMES[0])
    second = opened(tmp_path)
    with pytest.raises(JournalFenced):
        commits.call(first.finish, [finished(GAMES[0], epoch)])
    assert second.counts() == (0, 0)
    commits.close()
    second.close()


def test_a_journal_of_another_run_and_a_foreign_file_are_refused(tmp_path: Path) -> None:
    opened(tmp_path, run="/runs/one").close()
    with pytest.raises(ConfigError, match="is the journal of the run /runs/one, not of /runs/two"):
        opened(tmp_path, run="/runs/two")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "journal.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(ConfigError, match="cannot be used as a journal"):
        opened(tmp_path / "other")


def test_a_folder_is_held_by_one_process_and_free_after_its_end(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from orchestrator.disks import FolderLock\n"
        f"lock = FolderLock(Path({str(tmp_path)!r}), 'run x')\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    with pytest.raises(JournalLocked, match=f"run x is being played by process {child.pid} on "):
        FolderLock(tmp_path, "run x")
    child.kill()
    child.communicate()
    FolderLock(tmp_path, "run x").release()


MOUNTS = r"""/dev/vda1 / ext4 rw 0 0
server:/data /data nfs4 rw 0 0
/dev/sdb /data/fast\040disk xfs rw 0 0
//nas/share /mnt/share cifs rw 0 0
tmpfs /tmp tmpfs rw 0 0
bucket /mnt/bucket fuse.s3fs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/runs", "ext4"),
        ("/data", "nfs4"),
        ("/data/team/runs", "nfs4"),
        ("/database", "ext4"),
        ("/data/fast disk/runs", "xfs"),
        ("/mnt/share/x", "cifs"),
        ("/mnt/bucket", "fuse.s3fs"),
    ],
)
def test_the_file_system_of_a_folder_is_that_of_the_nearest_mount(path: str, kind: str) -> None:
    assert file_system_type(path, MOUNTS) == kind


def test_a_journal_on_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from orchestrator import disks

    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/vda1 / ext4 rw 0 0\nserver:/x {tmp_path.resolve()} nfs4 rw 0 0\n")
    monkeypatch.setattr(disks, "_MOUNTS", str(mounts))
    with pytest.raises(ConfigError, match=r"storage\.journal_dir: .* is on a network file system \(nfs4\)"):
        disks.require_local_disk(tmp_path)
