"""Which parts of a run count: the record that its one writer replaces whole at every commit.

``checkpoints/<epoch>.json`` lists the parts with their rows and sizes. Every writer of a run has an epoch, larger than
that of all before it, and writes under its own names only; **the checkpoint of the highest epoch is the one that
counts**. So what a writer still writes that has lost the run to another counts for nobody who reads checkpoints,
however late it comes.

The last part of a table **grows**: it is replaced by one of the same name that begins with the same rows. A reader
takes as many rows of a part as its checkpoint says. Small parts that earlier writers have left are **taken into** a new
one, which lists what it holds: who finds a part gone finds its rows there.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from results.location import Location, StorageError, StorageUnreachable, first_line

CHECKPOINT_FOLDER: Final = "checkpoints"
_NAME = re.compile(r"(\d{6,})\.json")
_LOOKS: Final = 5


@dataclass(frozen=True, slots=True)
class Held:
    """Rows of a part that stand in another one now, from its row ``first`` on."""

    name: str
    first: int
    rows: int


@dataclass(frozen=True, slots=True)
class Part:
    """A part that counts: its file's name without ``.parquet``, how many rows count and its size when it had those."""

    name: str
    rows: int
    size: int
    sealed: bool = False
    """It grows no more."""
    holds: tuple[Held, ...] = ()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a run consists of. ``writer`` is what the writer needs to go on; JSON values, of no meaning to readers."""

    epoch: int
    parts: Mapping[str, tuple[Part, ...]]
    writer: Mapping[str, Any] = field(default_factory=dict)

    def of(self, table: str) -> tuple[Part, ...]:
        """The parts of ``table``, in the order in which they were begun."""
        return self.parts.get(table, ())

    def holder(self, table: str, name: str) -> tuple[Part, Held] | None:
        """The part that has taken in the part ``name``, and where its rows are in it."""
        return next(((part, held) for part in self.of(table) for held in part.holds if held.name == name), None)

    def to_json(self) -> str:
        """JSON text that people can read, a line a part."""
        tables = []
        for table, parts in self.parts.items():
            lines = ",\n".join(f"   {json.dumps(_plain(part))}" for part in parts)
            tables.append(f"  {json.dumps(table)}: [\n{lines}\n  ]" if parts else f"  {json.dumps(table)}: []")
        listed = ",\n".join(tables)
        writer = json.dumps(dict(self.writer), allow_nan=False)
        return f'{{"epoch": {self.epoch},\n "parts": {{\n{listed}\n }},\n "writer": {writer}}}\n'

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read :meth:`to_json` back. Raises ``ValueError`` for anything else."""
        try:
            content = json.loads(text)
            parts = {
                table: tuple(
                    Part(
                        str(one["name"]),
                        int(one["rows"]),
                        int(one["size"]),
                        bool(one.get("sealed")),
                        tuple(Held(str(name), int(first), int(rows)) for name, first, rows in one.get("holds", ())),
                    )
                    for one in listed
                )
                for table, listed in content["parts"].items()
            }
            return cls(int(content["epoch"]), parts, dict(content["writer"]))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a checkpoint ({type(error).__name__}: {error})") from error


def _plain(part: Part) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": part.name, "rows": part.rows, "size": part.size}
    if part.sealed:
        plain["sealed"] = True
    if part.holds:
        plain["holds"] = [[held.name, held.first, held.rows] for held in part.holds]
    return plain


def checkpoint_epochs(run: Location) -> list[int]:
    """The epochs of the checkpoints that are there, in order."""
    found = (_NAME.fullmatch(name) for name, is_folder in run.child(CHECKPOINT_FOLDER).names() if not is_folder)
    return sorted(int(match[1]) for match in found if match)


def read_checkpoint(run: Location, before: int | None = None) -> Checkpoint | None:
    """The checkpoint that counts, or the last one of an epoch lower than ``before``; ``None`` where there is none.

    Raises :class:`StorageError` for one that cannot be read.
    """
    for _ in range(_LOOKS):
        epochs = [epoch for epoch in checkpoint_epochs(run) if before is None or epoch < before]
        if not epochs:
            return None
        file = _file(run, epochs[-1])
        try:
            return Checkpoint.from_json(file.read_bytes())
        except FileNotFoundError:
            continue  # A later one has just taken its place.
        except OSError as error:
            raise StorageUnreachable(f"cannot read {file.path}: {first_line(error)}") from error
        except ValueError as error:
            raise StorageError(f"{file.path} is torn or foreign: {first_line(error)}") from error
    raise StorageError(
        f"{run.child(CHECKPOINT_FOLDER).path}: the checkpoints are replaced faster than they can be read"
    )


def write_checkpoint(run: Location, checkpoint: Checkpoint) -> None:
    """Replace the checkpoint of its epoch, whole."""
    name = f"{checkpoint.epoch:06d}.json"
    partial = run.child(".partial", f"{CHECKPOINT_FOLDER}-{name}.{uuid.uuid4().hex}.partial")
    _file(run, checkpoint.epoch).write_whole(partial, lambda sink: sink.write(checkpoint.to_json().encode()))


def delete_checkpoints(run: Location, before: int) -> None:
    """Delete the checkpoints of epochs lower than ``before``."""
    for epoch in checkpoint_epochs(run):
        if epoch < before:
            _file(run, epoch).delete()


def _file(run: Location, epoch: int) -> Location:
    return run.child(CHECKPOINT_FOLDER, f"{epoch:06d}.json")
