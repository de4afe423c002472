"""The parts of one table while a run is written: those that grow no more, and the one that does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from results.checkpoint import Held, Part
from results.location import Prepared
from results.store import Run

FULL_BYTES: Final = 64 * 2**20
"""A part whose rows take so much memory is full, however few they are."""


def part_name(epoch: int, number: int) -> str:
    """The name of a part's file, without ``.parquet``; no two writers have one in common."""
    return f"part-{epoch:06d}-{number:06d}"


class GrowingParts:
    """The parts of ``table`` under the writer's ``epoch``; a part is full with ``most`` rows.

    The last part is kept in memory and written again, under the same name, with what has come: a reader of the folder
    sees it with fewer or with more rows, never twice.
    """

    def __init__(self, run: Run, table: str, epoch: int, parts: Sequence[Part], most: int) -> None:
        self._run = run
        self._table = table
        self._epoch = epoch
        self._most = most
        self._done = list(parts)
        self._number = 0
        self._begin()

    def _begin(self) -> None:
        self._number += 1
        self._chunks: list[pa.Table] = []
        self._rows = 0
        self._bytes = 0
        self._closed = False
        self._written: Part | None = None
        self._holds: list[Held] = []

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts as they have been written last."""
        return (*self._done, self._written) if self._written is not None else tuple(self._done)

    @property
    def room(self) -> int:
        """How many rows more the growing part takes."""
        return self._most - self._rows

    @property
    def is_full(self) -> bool:
        """Whether the growing part is to be written and to grow no more."""
        return self._closed or self._rows >= self._most or self._bytes >= FULL_BYTES

    @property
    def is_changed(self) -> bool:
        """Whether the growing part has rows that are not in its file."""
        return self._rows > (self._written.rows if self._written is not None else 0)

    def add(self, rows: pa.Table) -> None:
        """Let the growing part have ``rows`` too."""
        self._chunks.append(rows)
        self._rows += len(rows)
        self._bytes += rows.nbytes

    def write(self) -> Prepared:
        """Write the growing part; it counts, in :attr:`parts`, from now on, and has to be put in place."""
        whole = pa.concat_tables(self._chunks).combine_chunks()
        self._chunks = [whole]
        self._bytes = whole.nbytes
        name = part_name(self._epoch, self._number)
        prepared = self._run.prepare_part(self._table, whole, name)
        self._written = Part(name, self._rows, prepared.size, self.is_full, tuple(self._holds))
        return prepared

    def turn(self) -> None:
        """Begin a new part where the growing one, which must have been written, is full."""
        if self.is_full and self._written is not None:
            self._done.append(self._written)
            self._begin()

    def take_in(self) -> list[Part]:
        """Put rows of small parts of earlier writers into the growing part, as many as fit; returns those parts.

        They count no more once the growing part has been written.
        """
        taken: list[Part] = []
        for part in [part for part in self._done if not part.sealed]:
            if part.rows >= self._most:
                self._done[self._done.index(part)] = Part(part.name, part.rows, part.size, True, part.holds)
            elif part.rows <= self.room and not self.is_full:
                first = self._rows
                self.add(self._run.read_part(self._table, part))
                self._holds.append(Held(part.name, first, part.rows))
                self._holds += [Held(one.name, first + one.first, one.rows) for one in part.holds]
                taken.append(part)
            else:
                # So that the next one has room: full parts have more than half of their rows then.
                self._closed = bool(taken)
                break
        for part in taken:
            self._done.remove(part)
        return taken
