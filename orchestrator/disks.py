"""Which disks a journal may lie on, and who holds it."""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path

from orchestrator.config import ConfigError

NETWORK_FILE_SYSTEMS = frozenset(
    {"afs", "beegfs", "ceph", "cifs", "coda", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2"}
    | {"orangefs", "panfs", "pvfs2", "smb3", "smbfs", "wekafs"}
    | {f"fuse.{name}" for name in ("beegfs", "ceph", "cephfs", "gcsfuse", "glusterfs", "goofys", "juicefs")}
    | {f"fuse.{name}" for name in ("mount-s3", "rclone", "s3fs", "sshfs")}
)
"""File systems on which SQLite's write-ahead log, which needs memory shared by all who open it, is not safe."""

_MOUNTS = "/proc/self/mounts"


class JournalLocked(ConfigError):
    """Another process works on the run."""


def file_system_type(path: str, mounts: str) -> str | None:
    """The type of the file system that holds the absolute ``path``, from the text of ``/proc/mounts``.

    ``None`` where the text does not tell. Of several mounts at one place the last counts, as it hides the others.
    """
    best: tuple[int, str] | None = None
    for line in mounts.splitlines():
        columns = line.split(" ")
        if len(columns) < 3:
            continue
        point = columns[1].replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
        below = point.rstrip("/") + "/"
        if (path == point or path.startswith(below)) and (best is None or len(point) >= best[0]):
            best = (len(point), columns[2])
    return best[1] if best else None


def require_local_disk(folder: Path) -> None:
    """Raise :class:`ConfigError` where ``folder``, which exists, lies on a network file system."""
    try:
        mounts = Path(_MOUNTS).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    kind = file_system_type(str(folder.resolve()), mounts)
    if kind in NETWORK_FILE_SYSTEMS:
        raise ConfigError(
            f"storage.journal_dir: {folder} is on a network file system ({kind}), where a journal is not safe; "
            "give a folder on a local disk of this machine"
        )


class FolderLock:
    """Holds a folder for this process until :meth:`release` or its end, however it ends.

    Raises :class:`JournalLocked`, naming the other process, where one holds it.
    """

    def __init__(self, folder: Path, what: str) -> None:
        self._file = open(folder / "lock", "a+", encoding="utf-8")  # noqa: SIM115 (held open as long as the lock)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.seek(0)
            holder = self._file.read().strip() or "another process"
            self._file.close()
            raise JournalLocked(f"{what} is being played by {holder}; wait until it ends or stop it") from None
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()} on {socket.gethostname()}")
        self._file.flush()

    def release(self) -> None:
        """Let others have the folder."""
        self._file.close()
