"""Opening a run to play it: its one writer, its journal, and what both the journal and the storage have."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.calls import now_microseconds
from orchestrator.config import ConfigError, StorageConfig, TournamentConfig
from orchestrator.disks import FolderLock, require_local_disk
from orchestrator.group_commit import GroupCommit
from orchestrator.identity import check_same
from orchestrator.in_flight import FOLDER
from orchestrator.journal import Journal
from orchestrator.parts import PartWriter
from orchestrator.patience import Patience
from orchestrator.takeover import Settled, settle, writer_state
from orchestrator.writer import WriterLease, claim_run
from results.checkpoint import Checkpoint, checkpoint_epochs, write_checkpoint
from results.location import Location, StorageError
from results.manifest import MANIFEST_NAME, Manifest
from results.store import Run

_START_SECONDS: Final = 30.0
"""How long a start tries where the storage does not answer."""


@dataclass(frozen=True)
class OpenedRun:
    """A run that this process alone writes."""

    run: Run
    journal: Journal
    commits: GroupCommit
    lease: WriterLease
    settled: Settled
    ships: bool
    """Whether the journal could be lost without the run's storage, so that games in flight are shipped there."""

    def part_writer(self, config: TournamentConfig, say: Callable[[str], None]) -> PartWriter:
        """What brings the journal's rows to the storage."""
        return PartWriter(
            self.run, self.commits, self.journal, config.storage, self.lease, self.settled, self.ships, say
        )


def at_start(location: Location, say: Callable[[str], None]) -> Patience:
    """What tries operations on the storage for as long as a start does."""
    patiently = Patience(location, say, at_start=True)
    patiently.until(_START_SECONDS)
    return patiently


@contextmanager
def opened_run(
    config: TournamentConfig, location: Location, manifest: Manifest, folder: Path, say: Callable[[str], None]
) -> Iterator[OpenedRun]:
    """Become the writer of the run at ``location`` with the journal in ``folder``, until the end of the block.

    ``manifest`` has this start in it. Raises :class:`orchestrator.disks.JournalLocked` where another process is the
    writer, :class:`ConfigError` or :class:`StorageError` where journal and storage do not go together.
    """
    in_run = config.storage.journal_dir is None
    lock = FolderLock(folder, f"run {config.run!r}")
    try:
        patiently = at_start(location, say)
        at_least = 1 + max(patiently(lambda: checkpoint_epochs(location)), default=0)
        seconds = config.storage.writer_seconds
        lease = patiently(lambda: claim_run(location, config.run, seconds, at_least, in_run, say))
        try:
            process = f"process {os.getpid()} on {socket.gethostname()}"
            # A journal in the run's own folder moves with it; one that lies elsewhere belongs to one address.
            belongs_to = config.run if in_run else location.path
            journal = Journal(folder, belongs_to, process, now_microseconds(), lease.epoch)
            try:
                ships = not (in_run and location.is_local)
                settled = patiently(lambda: _settled(config, location, manifest, folder, journal, lease, ships, say))
            except BaseException:
                journal.close()
                raise
            commits = GroupCommit(journal)
            try:
                yield OpenedRun(Run(location, manifest), journal, commits, lease, settled, ships)
            finally:
                commits.close()
        finally:
            lease.release()
    finally:
        lock.release()


def _settled(
    config: TournamentConfig,
    location: Location,
    manifest: Manifest,
    folder: Path,
    journal: Journal,
    lease: WriterLease,
    ships: bool,
    say: Callable[[str], None],
) -> Settled:
    """Bring journal and storage together, and make this start's checkpoint and manifest the ones that count."""
    done = journal.counts()[0]
    is_new = not location.child(MANIFEST_NAME).exists()
    if is_new and done:
        raise StorageError(f"{location.path}: manifest.json is gone, though the journal has {done} finished games")
    if not is_new:
        # Between our look at it and our taking the run another process may have altered it.
        check_same(config.run, Run.open(location).manifest.identity, manifest.identity, config.extend)
    run = Run(location, manifest)
    settled = settle(run, journal, lease.epoch, folder, is_new, say)
    state = {"taken": journal.taken(), **writer_state(journal)}
    if ships:
        state["segments"] = list(settled.segments)
    lease.check()
    write_checkpoint(location, Checkpoint(lease.epoch, settled.parts, state))
    run.remove_partials(f"{FOLDER}-")
    run.write_manifest(manifest)
    return settled


def journal_folder(config: TournamentConfig, location: Location) -> Path:
    """The journal's folder, made where it is missing, on a disk that is fit for it."""
    folder = journal_place(config.storage, location, config.run)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        key = "storage.root" if config.storage.journal_dir is None else "storage.journal_dir"
        raise StorageError(f"{key}: cannot make {folder}: {error.strerror}") from error
    require_local_disk(folder)
    return folder


def journal_place(storage: StorageConfig, location: Location, run: str) -> Path:
    """The folder of the journal of ``run`` at ``location``, whether there is one or not.

    Raises :class:`ConfigError` where ``storage.journal_dir`` has to name it and does not.
    """
    if storage.journal_dir is not None:
        return Path(storage.journal_dir).expanduser().absolute() / run
    if location.is_local:
        return Path(location.path) / "journal"
    raise ConfigError(f"storage.journal_dir: runs in {storage.root} need a folder on a local disk for the journal")
