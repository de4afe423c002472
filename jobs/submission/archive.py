"""The program and a user's own configuration as one zip file, the same bytes for the same content."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jobs.config import ConfigError
from orchestrator.package import HERE, PACKAGES

_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
_LEFT_OUT: Final = frozenset({"__pycache__", "node_modules", "runs", "tests", "venv", "env"})
_SUFFIXES_LEFT_OUT: Final = (".pyc", ".pyo", ".parquet", ".sqlite")
_MOST_BYTES: Final = 2**30
"""Of one file; a larger one is never meant."""


@dataclass(frozen=True)
class Archive:
    """A zip file, how many files are in it, and how large it is."""

    path: Path
    files: int
    size: int

    @property
    def size_text(self) -> str:
        """For people."""
        return f"{self.files} files, {_megabytes(self.size)}"


def write_archive(path: Path, own: Sequence[Path], most: int) -> Archive:
    """Write to ``path`` the packages of the program and the folders ``own`` under the names of :func:`own_name`.

    Of a user's folder everything is taken that can be configuration: hidden files, caches, environments, tests and runs
    are not, nor are links that lead back to a folder in which they are. Raises :class:`ConfigError` where the archive
    has more than ``most`` bytes.
    """
    largest: list[tuple[int, Path]] = []
    files = 0
    roots = [*((HERE / package, package) for package in PACKAGES), *((one, own_name(n)) for n, one in enumerate(own))]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        for root, name in roots:
            for file in _files(root):
                size = file.stat().st_size
                largest = sorted([*largest, (size, file)], reverse=True)[:3]
                if size > _MOST_BYTES:
                    raise _too_large(size, most, largest)
                entry = zipfile.ZipInfo(f"{name}/{file.relative_to(root).as_posix()}", _LONG_AGO)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, file.read_bytes())
                files += 1
    size = path.stat().st_size
    if size > most:
        raise _too_large(size, most, largest)
    return Archive(path, files, size)


def own_name(number: int) -> str:
    """What a user's own configuration folder is called in the archive; they are counted from 0."""
    return f"own_conf_{number}"


def _files(root: Path, around: frozenset[Path] = frozenset()) -> Iterator[Path]:
    """Files below ``root`` that belong into an archive, in a fixed order.

    A link that leads back to ``root`` or to one of the folders ``around`` it is left out: it has no end.
    """
    here = root.resolve()
    if here in around:
        return
    for entry in sorted(root.iterdir()):
        if entry.name.startswith(".") or entry.name in _LEFT_OUT or entry.name.endswith(_SUFFIXES_LEFT_OUT):
            continue
        if entry.is_dir():
            is_environment = (entry / "pyvenv.cfg").is_file()
            is_run = (entry / "manifest.json").is_file() and (entry / "games").is_dir()
            if not is_environment and not is_run:
                yield from _files(entry, around | {here})
        elif entry.is_file():
            yield entry


def _too_large(size: int, most: int, largest: Sequence[tuple[int, Path]]) -> ConfigError:
    named = ", ".join(f"{file} ({_megabytes(size)})" for size, file in largest)
    return ConfigError(
        f"what would be sent is {_megabytes(size)}, and the cluster takes {_megabytes(most)} at most; the largest "
        f"files: {named}"
    )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
