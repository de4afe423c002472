"""What a run tells of itself while it is played, and how it is asked to stop: two small records in the run's folder.

They work wherever the storage can be reached from. ``control/status.json`` is written every few seconds by the process
that plays the run; ``control/stop.json`` is written by whoever wants it to stop, and looked for as often. Neither
counts for anything else: a storage that does not take them for a while holds nobody up.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from orchestrator.config import ConfigError
from orchestrator.hanging import HURRIED_SECONDS, AskingThread
from orchestrator.journal import Score
from orchestrator.processes import born, this_machine
from results.location import Location, StorageError

FOLDER: Final = "control"
_STATUS: Final = "status.json"
_STOP: Final = "stop.json"
_LOCAL_SECONDS: Final = 1.0
_REMOTE_SECONDS: Final = 10.0
"""How often a record is written and looked for on a local disk and elsewhere."""
_MISSED: Final = 3
"""A process that has written nothing for so many times that long is taken for dead."""
_CLOSE_SECONDS: Final = 10.0
_TROUBLE: Final = (OSError, StorageError, pa.ArrowException)


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The part of a status that changes while a run is played."""

    total: int
    done: int
    void: int
    in_flight: int
    workers: int
    games_per_second: float
    entrants: tuple[Score, ...] = ()
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    budget_usd: float | None = None
    paused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus(Situation):
    """How a run stands. Times of day are ISO 8601 in UTC; tokens and dollars are those of all starts."""

    run: str
    state: str
    """``playing``, ``draining`` or ``ended``."""
    host: str
    process: int
    machine: str
    """What tells this start of this machine (or container) from all others; process numbers mean something within."""
    born: str
    """What tells the process from a later one of the same number."""
    began: str
    at: str
    beat: int
    """Grows with every writing …"""
    seconds: float
    """… about so many seconds after the last."""

    def to_json(self) -> str:
        """JSON text that people can read."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: bytes) -> RunStatus:
        """Read :meth:`to_json` back. Raises ``ValueError`` for anything else."""
        content = json.loads(text)
        names = {field.name for field in fields(cls)}
        if not isinstance(content, dict) or not names.issuperset(content):
            raise ValueError("not the status of a run")
        try:
            entrants = tuple(Score(**one) for one in content.pop("entrants", ()))
            return cls(**{**content, "entrants": entrants, "paused": tuple(content.get("paused", ()))})
        except TypeError as error:
            raise ValueError(f"not the status of a run: {error}") from error


class RunControl:
    """The playing process's side: writes the status, looks for a request to stop. Both from a thread of its own.

    A request that is there already was meant for an earlier start and is taken away. ``situation`` is asked by
    :meth:`update`, in the caller's thread, when a writing is due.
    """

    def __init__(self, run: str, location: Location, situation: Callable[[], Situation]) -> None:
        self._folder = location.child(FOLDER)
        self._seconds = _LOCAL_SECONDS if location.is_local else _REMOTE_SECONDS
        self._situation = situation
        self._due = 0.0
        self._drain: float | None = None
        self._asked = threading.Event()
        self._closed = threading.Event()
        now = _now()
        self._lock = threading.Lock()
        self._last = RunStatus(
            run=run,
            state="playing",
            host=socket.gethostname(),
            process=os.getpid(),
            machine=this_machine(),
            born=born(os.getpid()),
            began=now,
            at=now,
            beat=0,
            seconds=self._seconds,
            **_plain(situation()),
        )
        _remove(self._folder.child(_STOP))
        _write(self._folder, _STATUS, self._last.to_json())
        self._thread = AskingThread("control", self._work, not location.is_local)
        self._thread.start()

    def update(self) -> None:
        """To be called at every turn: takes in how the run stands, if it is time to."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + self._seconds
            self._take("draining" if self._asked.is_set() else "playing")

    def drain_seconds(self, usual: float) -> float | None:
        """For how long open games may go on, once somebody has asked for a stop; ``None`` before."""
        if not self._asked.is_set():
            return None
        return usual if self._drain is None else self._drain

    def close(self, answers: bool = True) -> None:
        """Write how the run stands at its end; a storage that takes nothing is waited for ten seconds at most.

        Where it is known that the storage no longer ``answers``, for half a second.
        """
        self._take("ended")
        self._closed.set()
        self._thread.join(_CLOSE_SECONDS if answers else HURRIED_SECONDS)

    def _take(self, state: str) -> None:
        with self._lock:
            self._last = replace(self._last, state=state, **_plain(self._situation()))

    def _stamped(self) -> RunStatus:
        with self._lock:
            self._last = replace(self._last, beat=self._last.beat + 1, at=_now())
            return self._last

    def _work(self) -> None:
        while not self._closed.wait(self._seconds):
            if not self._asked.is_set() and (request := _read(self._folder, _STOP)) is not None:
                seconds = request.get("drain_seconds")
                self._drain = float(seconds) if isinstance(seconds, (int, float)) else None
                self._asked.set()
            _write(self._folder, _STATUS, self._stamped().to_json())
        _remove(self._folder.child(_STOP))
        _write(self._folder, _STATUS, self._stamped().to_json())


def read_status(location: Location) -> RunStatus | None:
    """What the process that plays, or played, the run at ``location`` has told; ``None`` where none ever did."""
    file = location.child(FOLDER, _STATUS)
    # Where records cannot be replaced at one go, half of one may be seen.
    for tries_left in (2, 1, 0):
        if not file.is_file():
            return None
        try:
            return RunStatus.from_json(file.read_bytes())
        except (ValueError, *_TROUBLE) as error:
            if not tries_left:
                raise StorageError(f"{file.path}: cannot be read: {error}") from error
            time.sleep(0.2)
    return None


def ask_to_stop(location: Location, drain_seconds: float | None) -> None:
    """Ask the process that plays the run at ``location`` to stop; ``None``: open games get what its limits say."""
    request = {"at": _now(), "drain_seconds": drain_seconds, "host": socket.gethostname(), "process": os.getpid()}
    try:
        _put(location.child(FOLDER), _STOP, json.dumps(request) + "\n")
    except _TROUBLE as error:
        raise StorageError(f"cannot ask for a stop in {location.path}: {error}") from error


def is_alive(status: RunStatus, again: Callable[[], RunStatus | None]) -> bool:
    """Whether the process that wrote ``status`` plays still; ``again`` reads the status anew.

    On its own machine that is looked up. Elsewhere it is alive if it writes again while we wait, by our own monotonic
    clock: what another machine's clock shows says nothing. Takes up to three times ``status.seconds``.
    """
    if status.state == "ended":
        return False
    if status.machine and status.machine == this_machine():
        return born(status.process) == status.born
    until = time.monotonic() + _MISSED * status.seconds
    while time.monotonic() < until:
        time.sleep(min(1.0, status.seconds / 2))
        later = again()
        if later is not None and (later.beat, later.began) != (status.beat, status.began):
            return later.state != "ended"
    return False


def since(moment: str) -> float:
    """Seconds from a time of day that a status names until now, by this machine's clock."""
    try:
        return max((datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds(), 0.0)
    except ValueError as error:
        raise ConfigError(f"{moment!r} is not a time of day") from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _plain(situation: Situation) -> dict[str, Any]:
    return {field.name: getattr(situation, field.name) for field in fields(Situation)}


def _read(folder: Location, name: str) -> Mapping[str, Any] | None:
    file = folder.child(name)
    try:
        if not file.is_file():
            return None
        content = json.loads(file.read_bytes())
    except (ValueError, *_TROUBLE):
        return None
    return content if isinstance(content, dict) else None


def _write(folder: Location, name: str, text: str) -> None:
    try:
        _put(folder, name, text)
    except _TROUBLE:
        return  # The next one may get through; the run goes on without.


def _put(folder: Location, name: str, text: str) -> None:
    """Write a record. It need not outlast the machine, so that it is not brought to the disk at once."""
    folder.make_folder()
    target = folder.child(name)
    if target.is_local:
        partial = Path(f"{target.path}.partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(target.path)
    else:
        with target.filesystem.open_output_stream(target.path) as stream:
            stream.write(text.encode())


def _remove(file: Location) -> None:
    try:
        if file.is_file():
            file.filesystem.delete_file(file.path)
    except _TROUBLE:
        return
