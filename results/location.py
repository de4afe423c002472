"""A place on a local disk or in object storage, and files that come into being whole."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.fs as pa_fs

from results.object_store import OBJECT_STORES, refuse_credentials, s3_file_system

_LOOKS = 10


class StorageError(ValueError):
    """A place that cannot be understood or reached; one line that says which and why."""


class StorageUnreachable(StorageError):
    """A place that did not answer, or not as it should; it may well do so later."""


@dataclass(frozen=True)
class Location:
    """A path on a ``pyarrow.fs`` file system."""

    filesystem: pa_fs.FileSystem
    path: str

    @classmethod
    def parse(cls, address: str | os.PathLike[str]) -> Self:
        """Take a local path (relative to the working directory) or any ``pyarrow.fs`` address such as ``s3://b/x``.

        Raises :class:`StorageError` for an address that pyarrow does not understand or that holds credentials.
        """
        text = os.fspath(address)
        if not text.strip():
            raise StorageError("an empty storage address; give a folder or an address such as s3://bucket/folder")
        if "://" not in text:
            return cls(pa_fs.LocalFileSystem(), str(Path(text).expanduser().absolute()))
        try:
            refuse_credentials(text)
        except ValueError as error:
            scheme, _, rest = text.partition("://")
            shown = (
                f"{scheme}://…@{rest.rpartition('@')[2]}" if "@" in rest else f"{scheme}://{rest.partition('?')[0]}?…"
            )
            raise StorageError(f"cannot use the storage address {shown!r}: {error}") from None
        try:
            if text.startswith("s3://"):
                return cls(*s3_file_system(text))
            return cls(*pa_fs.FileSystem.from_uri(text))
        except (pa.ArrowException, ValueError, OSError) as error:
            raise StorageError(f"cannot use the storage address {text!r}: {first_line(error)}") from error

    def child(self, *names: str) -> Location:
        """The location ``names`` below this one."""
        return Location(self.filesystem, "/".join([self.path.rstrip("/"), *names]))

    @property
    def is_local(self) -> bool:
        """Whether this is a plain path of this machine."""
        return isinstance(self.filesystem, pa_fs.LocalFileSystem)

    @property
    def is_object_store(self) -> bool:
        """Whether objects here appear whole at the end of their upload and cannot be renamed."""
        return self.filesystem.type_name in OBJECT_STORES

    def is_file(self) -> bool:
        """Whether there is a file here."""
        return bool(self._info().type == pa_fs.FileType.File)

    def exists(self) -> bool:
        """Whether there is a file or a folder here."""
        return bool(self._info().type != pa_fs.FileType.NotFound)

    def _info(self) -> pa_fs.FileInfo:
        try:
            return self.filesystem.get_file_info(self.path)
        except OSError as error:
            raise StorageUnreachable(f"cannot reach {self.path}: {first_line(error)}") from error
        except pa.ArrowException as error:
            raise StorageError(f"cannot reach {self.path}: {first_line(error)}") from error

    def names(self) -> list[tuple[str, bool]]:
        """Name and whether it is a folder of everything directly here, sorted; empty where there is no folder."""
        return sorted((info.base_name, info.type == pa_fs.FileType.Directory) for info in self._listed())

    def sizes(self) -> dict[str, int]:
        """Name and bytes of every file directly here; empty where there is no folder."""
        return {info.base_name: int(info.size) for info in self._listed() if info.type == pa_fs.FileType.File}

    def _listed(self) -> list[pa_fs.FileInfo]:
        try:
            found: list[pa_fs.FileInfo] = self.filesystem.get_file_info(
                pa_fs.FileSelector(self.path, allow_not_found=True)
            )
        except NotADirectoryError:
            return []
        except FileNotFoundError as error:
            if self.is_local:  # It is being made at this very moment.
                return []
            raise StorageUnreachable(f"cannot list {self.path}: {first_line(error)}") from error
        except (pa.ArrowException, OSError) as error:
            raise StorageUnreachable(f"cannot list {self.path}: {first_line(error)}") from error
        return found

    def read_bytes(self) -> bytes:
        """The whole file as it was at one moment; raises ``FileNotFoundError`` where there is none, or ``OSError``.

        Reading an object takes several requests, between which it may be replaced: then it is read again.
        """
        for _ in range(_LOOKS):
            with self.filesystem.open_input_stream(self.path, compression=None) as stream:
                version = _version(stream) if self.is_object_store else None
                content = bytes(stream.read())
            if version is None:
                return content
            with self.filesystem.open_input_stream(self.path, compression=None) as stream:
                if _version(stream) == version:
                    return content
        raise OSError(f"{self.path} is replaced faster than it can be read")

    def delete(self) -> None:
        """Delete the file here, if there is one."""
        with contextlib.suppress(FileNotFoundError):
            self.filesystem.delete_file(self.path)

    def write_whole(self, partial: Location, write: Callable[[Any], object]) -> None:
        """Let ``write`` fill a binary stream and put what it wrote here, whole, in place of what was here.

        A reader never sees half a file. It is written to ``partial`` and then moved; in an object store, which has no
        moving, it is uploaded to this very place, where it appears when all of it has arrived. On a local disk the file
        and its name are on the disk on return. Where ``write`` or the upload fails, nothing is left behind.
        """
        self.prepare(partial, write).place()

    def prepare(self, partial: Location, write: Callable[[Any], object]) -> Prepared:
        """The first half of :meth:`write_whole`: all of it is written, nothing is here yet."""
        if self.is_object_store:
            # Closing a stream after half of the data would publish that half: nothing is sent before all is there.
            sink = pa.BufferOutputStream()
            write(sink)
            content = sink.getvalue()
            return Prepared(self, None, content, len(content))
        partial.parent().make_folder()
        self.parent().make_folder()
        try:
            if self.is_local:
                with open(partial.path, "wb") as stream:
                    write(stream)
                    stream.flush()
                    os.fsync(stream.fileno())
            else:
                with self.filesystem.open_output_stream(partial.path, compression=None) as stream:
                    write(stream)
            size = partial._info().size
            if size is None:
                raise FileNotFoundError(f"{partial.path} was deleted by another process")
            return Prepared(self, partial, None, int(size))
        except BaseException:
            if partial.is_file():
                self.filesystem.delete_file(partial.path)
            raise

    def parent(self) -> Location:
        """The folder that this is in."""
        return Location(self.filesystem, self.path.rstrip("/").rpartition("/")[0])

    def make_folder(self) -> None:
        """Make this folder and those above it; an object store needs none."""
        if not self.is_object_store:
            self.filesystem.create_dir(self.path, recursive=True)


@dataclass(frozen=True)
class Prepared:
    """A file that is written and not in place yet; ``size`` is in bytes."""

    target: Location
    partial: Location | None
    content: pa.Buffer | None
    size: int

    def place(self) -> None:
        """Put it in place. In an object store this may be tried again after it has failed."""
        filesystem = self.target.filesystem
        if self.partial is None:
            with filesystem.open_output_stream(self.target.path, compression=None) as stream:
                stream.write(self.content)
            return
        try:
            if self.target.is_local:
                os.replace(self.partial.path, self.target.path)
                _sync_folder(os.path.dirname(self.target.path))
            else:
                filesystem.move(self.partial.path, self.target.path)
        except BaseException:
            if self.partial.is_file():
                filesystem.delete_file(self.partial.path)
            raise


def _version(stream: Any) -> bytes | None:
    """What tells the content of an object from any other; ``None`` where the store does not tell."""
    metadata: dict[str, bytes] = stream.metadata() or {}
    return metadata.get("ETag")


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
