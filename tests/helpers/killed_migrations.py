"""A migration that is killed at any of its steps, for tests of it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

_PROGRAM = """
import os, signal, sys
from results.location import Location
from jobs.migrate import main

count = 0
def at(operation):
    def counted(*args):
        global count
        count += 1
        if count == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return operation(*args)
    return counted

os.replace = at(os.replace)
Location.delete = at(Location.delete)
os._exit(main(["run=older", f"storage.root={sys.argv[1]}"]))
"""


def killed_migrations(older: Path, folder: Path) -> Iterator[Path]:
    """Roots of copies of the run ``older``, each killed a step later than the last: a file put in place or deleted."""
    point = 0
    while True:
        point += 1
        root = folder / str(point)
        copytree(older, root / "older")
        ended = subprocess.run([sys.executable, "-c", _PROGRAM, str(root), str(point)], check=False)
        if ended.returncode == 0:
            return
        assert ended.returncode == -signal.SIGKILL
        yield root
