"""The program as a folder of its own, which Ray can send to other machines: its packages and nothing else."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parents[1]
"""The folder that the packages are in."""
PACKAGES: Final = ("agents", "conf", "engine", "jobs", "orchestrator", "results")
_LEFT_OUT: Final = ("__pycache__", "*.pyc", ".*")


@contextmanager
def product_folder(wanted: bool = True, more: Sequence[tuple[Path, str]] = ()) -> Iterator[Path | None]:
    """A folder with the packages, for the ``with`` block; none is made unless it is ``wanted``.

    ``more`` are further folders, each with the name that it gets there. Caches and hidden files are left out.
    """
    if not wanted:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="prizefight-") as made:
        folder = Path(made)
        for source, name in [*((HERE / package, package) for package in PACKAGES), *more]:
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        yield folder
