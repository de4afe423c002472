"""The program as a folder of its own, which Ray can send to other machines: its packages and nothing else."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parents[1]
"""The folder that the packages are in."""
PACKAGES: Final = ("agents", "conf", "engine", "jobs", "orchestrator", "results")
_LEFT_OUT: Final = ("__pycache__", "*.pyc", ".*")


@contextmanager
def product_folder(wanted: bool) -> Iterator[Path | None]:
    """A folder with the packages, caches and hidden files left out, for the ``with`` block; none unless ``wanted``."""
    if not wanted:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="prizefight-") as made:
        folder = Path(made)
        for package in PACKAGES:
            shutil.copytree(HERE / package, folder / package, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        yield folder
