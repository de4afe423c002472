"""One run has one writer: who it is, under which epoch it writes, and whether it still does.

An object store has no lock and, through ``pyarrow.fs``, no write that fails where something is already. What it has is
that a finished upload shows in every later listing. So whoever wants to write **first puts up a claim** under the next
epoch, ``writer/<epoch>-<token>.json``, **and then lists** the claims: where there is none but its own and those that it
found dead before, it is the writer; otherwise it takes its claim back and looks again. Of two that claim at once, at
least one sees the other.

The writer renews its claim every few seconds. A claim is dead when it was let go, when its process has ended on this
very machine, or when it was watched for ``storage.writer_seconds`` by the watcher's own clock without being renewed.
A writer that was only slow learns at its next commit that there is a later claim (:meth:`WriterLease.check`), and
whatever it may still write is under its own epoch, which no reader regards any more (:mod:`results.checkpoint`).
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import socket
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from orchestrator.disks import JournalLocked
from orchestrator.hanging import HURRIED_SECONDS, AskingThread
from orchestrator.processes import born, this_machine
from results.location import Location, StorageError, StorageUnreachable, first_line

CLAIM_FOLDER: Final = "writer"
_NAME = re.compile(r"(\d{6,})-([0-9a-f]{32})\.json")
_PARTIAL = re.compile(rf"{CLAIM_FOLDER}-(\d{{6,}})-")
_BEATS: Final = 5
"""How often a claim is renewed within the time after which it would be dead."""
_TURNS: Final = 40
_RELEASE_SECONDS: Final = 2.0


class WriterFenced(OSError):
    """Another process has become the writer of the run; nothing that this one has not committed counts any more."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a claim says; times are for people, nothing is decided by them."""

    epoch: int
    token: str
    process: int
    host: str
    machine: str
    born: str
    since: str
    seconds: float
    """After so long without a beat the claim is dead."""
    beat: int = 0
    journal: str = ""
    """Where the journal is: ``run`` inside the run's folder, whose lock alone then decides."""
    released: bool = False

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.epoch:06d}-{self.token}.json"

    def who(self) -> str:
        """The writer, in words."""
        return f"process {self.process} on {self.host} since {self.since}"


class WriterLease:
    """This process as the writer of ``run`` under :attr:`epoch`, until :meth:`release`."""

    def __init__(self, run: Location, claim: Claim) -> None:
        self._run = run
        self._claim = claim
        self._closing = threading.Event()
        self._fenced: WriterFenced | None = None
        self.answers = True
        """Whether the storage answers, as far as whoever writes the run has seen; if not, it is hardly waited for."""
        self._thread = AskingThread("writer", self._renew, not run.is_local)
        self._thread.start()

    @property
    def epoch(self) -> int:
        """Larger than that of every writer before."""
        return self._claim.epoch

    def check(self) -> None:
        """Raise :class:`WriterFenced` where there is a later claim; asks the storage."""
        if self._fenced is None:
            later = [name for name in _claims(self._run) if name[0] > self.epoch]
            if later:
                there = _read(self._run, later[-1])
                who = there.who() if there is not None else "another process"
                self._fenced = WriterFenced(
                    f"{self._run.path}: the run was taken over by {who}; this process has stopped, and nothing counts "
                    "that it had not written before"
                )
        self.told()

    def told(self) -> None:
        """The same from what is known already, without asking."""
        if self._fenced is not None:
            raise self._fenced

    def release(self) -> None:
        """Let others have the run at once."""
        self._closing.set()
        # A storage that does not answer is not waited for: the claim is dead after a while anyway.
        seconds = _RELEASE_SECONDS if self.answers else HURRIED_SECONDS
        self._thread.join(seconds)
        if self._fenced is None and not self._thread.is_alive():
            thread = AskingThread("writer", self._let_go, not self._run.is_local)
            thread.start()
            thread.join(seconds)

    def _let_go(self) -> None:
        with contextlib.suppress(OSError, StorageError):
            _write(self._run, replace(self._claim, released=True))

    def _renew(self) -> None:
        while not self._closing.wait(self._claim.seconds / _BEATS):
            with contextlib.suppress(OSError, StorageError):
                self.check()
                self._claim = replace(self._claim, beat=self._claim.beat + 1)
                _write(self._run, self._claim)
            if self._fenced is not None:
                return


def claim_run(
    run: Location,
    name: str,
    seconds: float,
    at_least: int,
    journal_in_run: bool,
    say: Callable[[str], None],
    machine: str | None = None,
) -> WriterLease:
    """Become the writer of ``run``, called ``name``, under an epoch of ``at_least`` or more.

    With ``journal_in_run`` the caller holds the lock of the journal's folder in the run. ``say`` is told, once, where
    it has to be watched whether another writer is alive. Raises :class:`orchestrator.disks.JournalLocked` where it is,
    and :class:`results.location.StorageError` where the storage does not answer.
    """
    machine = this_machine() if machine is None else machine
    said = False
    for turn in range(_TURNS):
        claims = _claims(run)
        looked_at = True
        # The highest is the writer, if there is one; but of two that claimed at once either may have stayed.
        for one in reversed(claims):
            holder = _read(run, one)
            if holder is not None and not _is_free(holder, machine, journal_in_run):
                if not said:
                    say(f"run {name!r} was being written by {holder.who()}: watching for up to {holder.seconds:g} s …")
                    said = True
                holder = _watch(run, name, holder)
            looked_at = looked_at and holder is not None
        if not looked_at:
            # One was taken back or deleted, so that others may be at it: what was listed is no longer what is there.
            time.sleep(random.uniform(0.0, 0.1))
            continue
        epoch = max([at_least, *(epoch + 1 for epoch, _ in claims)])
        mine = Claim(
            epoch,
            uuid.uuid4().hex,
            os.getpid(),
            socket.gethostname(),
            machine,
            born(os.getpid()),
            datetime.now(UTC).isoformat(timespec="seconds"),
            seconds,
            journal="run" if journal_in_run else "elsewhere",
        )
        try:
            _write(run, mine)
            others = [one for one in _claims(run) if one[1] != mine.token and one not in claims]
        except FileNotFoundError:
            # Another one has become the writer and swept what was half written.
            time.sleep(random.uniform(0.0, 0.1))
            continue
        except BaseException:
            # Lest it holds up whoever tries next, this process included.
            with contextlib.suppress(OSError, StorageError):
                _file(run, (epoch, mine.token)).delete()
            raise
        if not others:
            _clear_away(run, mine, claims)
            return WriterLease(run, mine)
        _file(run, (epoch, mine.token)).delete()
        time.sleep(random.uniform(0.05, 0.2 + 0.1 * turn))
    raise JournalLocked(f"run {name!r}: others start on it again and again; wait until one of them has it")


def _clear_away(run: Location, mine: Claim, dead: Sequence[tuple[int, str]]) -> None:
    """Delete the ``dead`` claims, and what others have half written of claims up to the epoch of ``mine``."""
    for one in dead:
        _file(run, one).delete()
    if not run.is_object_store:
        for name, _ in run.child(".partial").names():
            match = _PARTIAL.match(name)
            if match and int(match[1]) <= mine.epoch and mine.token not in name:
                run.child(".partial", name).delete()


def _watch(run: Location, name: str, holder: Claim) -> Claim | None:
    """Return once ``holder`` is dead: its last claim, ``None`` where that is gone. Raise where it is alive."""
    began = time.monotonic()
    while time.monotonic() - began < holder.seconds:
        time.sleep(min(holder.seconds / (2 * _BEATS), 1.0))
        now = _read(run, (holder.epoch, holder.token))
        if now is None or now.released:
            return now
        if now.beat != holder.beat:
            raise JournalLocked(
                f"run {name!r} is being written by {now.who()}; stop it there, or kill it and give this command again: "
                f"a writer that was not heard of for {now.seconds:g} s is taken over from"
            )
    return holder


def _is_free(holder: Claim, machine: str, journal_in_run: bool) -> bool:
    """Whether its writer is known to write no more."""
    if holder.released or (journal_in_run and holder.journal == "run"):
        return True
    return bool(machine) and holder.machine == machine and born(holder.process) != holder.born


def _claims(run: Location) -> list[tuple[int, str]]:
    """Epoch and token of all claims, in order."""
    found = (_NAME.fullmatch(name) for name, is_folder in run.child(CLAIM_FOLDER).names() if not is_folder)
    return sorted((int(match[1]), match[2]) for match in found if match)


def _read(run: Location, claim: tuple[int, str]) -> Claim | None:
    file = _file(run, claim)
    try:
        content: dict[str, Any] = json.loads(file.read_bytes())
        return Claim(**content)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageUnreachable(f"cannot read {file.path}: {first_line(error)}") from error
    except (ValueError, TypeError) as error:
        raise StorageError(f"{file.path} is torn or foreign: {first_line(error)}") from error


def _write(run: Location, claim: Claim) -> None:
    text = json.dumps(asdict(claim), indent=1) + "\n"
    partial = run.child(".partial", f"{CLAIM_FOLDER}-{claim.name}.partial")
    try:
        _file(run, (claim.epoch, claim.token)).write_whole(partial, lambda sink: sink.write(text.encode()))
    except OSError as error:
        if run.is_local:
            raise
        raise StorageUnreachable(f"cannot write in {run.path}: {first_line(error)}") from error


def _file(run: Location, claim: tuple[int, str]) -> Location:
    return run.child(CLAIM_FOLDER, f"{claim[0]:06d}-{claim[1]}.json")
