"""A place on a local disk or in object storage, and files that come into being whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.fs as pa_fs

_OBJECT_STORES = frozenset({"s3", "gcs", "abfs"})


class StorageError(ValueError):
    """A place that cannot be understood or reached; one line that says which and why."""


@dataclass(frozen=True)
class Location:
    """A path on a ``pyarrow.fs`` file system."""

    filesystem: pa_fs.FileSystem
    path: str

    @classmethod
    def parse(cls, address: str | os.PathLike[str]) -> Self:
        """Take a local path (relative to the working directory) or any ``pyarrow.fs`` address such as ``s3://b/x``.

        Raises :class:`StorageError` for an address that pyarrow does not understand.
        """
        text = os.fspath(address)
        if not text.strip():
            raise StorageError("an empty storage address; give a folder or an address such as s3://bucket/folder")
        if "://" not in text:
            return cls(pa_fs.LocalFileSystem(), str(Path(text).expanduser().absolute()))
        try:
            filesystem, path = pa_fs.FileSystem.from_uri(text)
        except (pa.ArrowException, ValueError, OSError) as error:
            raise StorageError(f"cannot use the storage address {text!r}: {first_line(error)}") from error
        return cls(filesystem, path)

    def child(self, *names: str) -> Location:
        """The location ``names`` below this one."""
        return Location(self.filesystem, "/".join([self.path.rstrip("/"), *names]))

    @property
    def is_local(self) -> bool:
        """Whether this is a plain path of this machine."""
        return isinstance(self.filesystem, pa_fs.LocalFileSystem)

    def is_file(self) -> bool:
        """Whether there is a file here."""
        return bool(self._info().type == pa_fs.FileType.File)

    def exists(self) -> bool:
        """Whether there is a file or a folder here."""
        return bool(self._info().type != pa_fs.FileType.NotFound)

    def _info(self) -> pa_fs.FileInfo:
        try:
            return self.filesystem.get_file_info(self.path)
        except (pa.ArrowException, OSError) as error:
            raise StorageError(f"cannot reach {self.path}: {first_line(error)}") from error

    def names(self) -> list[tuple[str, bool]]:
        """Name and whether it is a folder of everything directly here, sorted; empty where there is no folder."""
        try:
            found = self.filesystem.get_file_info(pa_fs.FileSelector(self.path, allow_not_found=True))
        except NotADirectoryError:
            return []
        except (pa.ArrowException, OSError) as error:
            raise StorageError(f"cannot list {self.path}: {first_line(error)}") from error
        return sorted((info.base_name, info.type == pa_fs.FileType.Directory) for info in found)

    def read_bytes(self) -> bytes:
        """The whole file; raises ``OSError`` where there is none."""
        with self.filesystem.open_input_stream(self.path) as stream:
            return bytes(stream.read())

    def write_whole(self, partial: Location, write: Callable[[Any], object]) -> None:
        """Let ``write`` fill a binary stream at ``partial`` and then move it here, in place of what was here.

        A reader never sees half a file. On a local disk the file and its name are on the disk on return. Where
        ``write`` fails, nothing is left behind.
        """
        partial.parent().make_folder()
        self.parent().make_folder()
        try:
            if self.is_local:
                with open(partial.path, "wb") as stream:
                    write(stream)
                    stream.flush()
                    os.fsync(stream.fileno())
                os.replace(partial.path, self.path)
                _sync_folder(os.path.dirname(self.path))
            else:
                with self.filesystem.open_output_stream(partial.path) as stream:
                    write(stream)
                self.filesystem.move(partial.path, self.path)
        except BaseException:
            if partial.is_file():
                self.filesystem.delete_file(partial.path)
            raise

    def parent(self) -> Location:
        """The folder that this is in."""
        return Location(self.filesystem, self.path.rstrip("/").rpartition("/")[0])

    def make_folder(self) -> None:
        """Make this folder and those above it; an object store needs none."""
        if self.filesystem.type_name not in _OBJECT_STORES:
            self.filesystem.create_dir(self.path, recursive=True)


def _sync_folder(path: str) -> None:
    """Bring a rename in ``path`` to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def first_line(error: BaseException) -> str:
    """What ``error`` says, in one line."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
