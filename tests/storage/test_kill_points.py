"""A writer that is killed at any moment of its writing: each game is there once in the end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, shutil, signal, sys
from pathlib import Path
import pandas, pyarrow.json, pyarrow.parquet
from orchestrator.journal import Journal
from results.location import Location, Prepared
from stored_runs import driving, games_there, ids, naive_rows, place, run_of, stored

root = Path(sys.argv[1])
journals = root / "journals" if sys.argv[2] == "shipped" else None

def child(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(9)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def before():
    # Two full parts, a small one, and rows that are in none; a game in flight.
    with driving(config) as driver:
        driver.finish(range(25))
        driver.write()
        driver.answer(90, range(2), decide=True)
        driver.write()
        driver.finish(range(25, 32))
        os._exit(0)

def killed(point):
    count = 0
    def at(operation):
        def counted(self, *args):
            nonlocal count
            count += 1
            if count == point:
                os.kill(os.getpid(), signal.SIGKILL)
            operation(self, *args)
        return counted
    Prepared.place = at(Prepared.place)
    Location.delete = at(Location.delete)
    Journal.drop_taken = at(Journal.drop_taken)
    with driving(config) as driver:
        driver.finish(range(32, 45))

def check():
    with driving(config) as driver:
        there = driver.opened.commits.call(driver.opened.journal.unfinished, ids(range(45)))
        driver.answer(90, range(2, 3), decide=True)
        driver.finish([n for n in range(45) if ids([n])[0] in there])
    assert games_there(config) == ids(range(45)), games_there(config)
    assert run_of(config).decisions().num_rows == 1
    assert sorted(naive_rows(root / "runs" / "r" / "games")) == ids(range(45))
    assert run_of(config).decisions().num_rows == len(list((root / "runs/r/decisions").glob("*.parquet")))
    assert not list((root / "runs/r/.partial").glob("*")), list((root / "runs/r/.partial").glob("*"))

config = stored(str(root / "runs"), journals, part_rows=10)
assert child(before) == 0
(root / "runs").rename(root / "runs-before")
if journals:
    journals.rename(root / "journals-before")
points = 0
while True:
    for name in ("runs", "journals"):
        shutil.rmtree(root / name, ignore_errors=True)
        if (root / f"{name}-before").exists():
            shutil.copytree(root / f"{name}-before", root / name)
    code = child(lambda: killed(points + 1))
    if code == 0:
        break
    assert code == -signal.SIGKILL, code
    if sys.argv[2] == "shipped":
        shutil.rmtree(journals)
    assert child(check) == 0, points + 1
    points += 1
print(points)
"""


@pytest.mark.parametrize("journal", ["kept", "shipped"])
def test_a_writer_killed_at_any_write_leaves_a_run_that_goes_on(tmp_path: Path, journal: str) -> None:
    # The journal is in the run and kept, or elsewhere and lost with the writer.
    helpers = str(Path(__file__).parent.parent / "helpers")
    ended = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {helpers!r})\n{PROGRAM}", str(tmp_path), journal],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    # The claim, checkpoints, the manifest, taking in, full parts, the last one, the journal's notes, deleting.
    assert int(ended.stdout) >= 15
