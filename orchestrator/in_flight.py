"""Answers of games in flight, brought to the run's storage, so that they outlive the driver's machine.

Each flush writes an immutable object ``in_flight/<epoch>-<number>.jsonl.zst`` with the answers that were committed
since the one before, a line an answer. Objects of about the same size are joined, answers of games that are in parts
are left out then, and an object none of whose answers is needed any more is dropped, so that there is a handful.
Which of them count is in the run's checkpoint, together with the parts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Final

import pyarrow as pa

from orchestrator.group_commit import GroupCommit
from orchestrator.journal import Answer, Journal
from orchestrator.patience import Patience
from results.location import Location

FOLDER: Final = "in_flight"
_ROWS_AT_ONCE: Final = 500
_LARGEST: Final = 32 * 2**20
"""Objects are not joined to larger ones than this."""


@dataclass(frozen=True, slots=True)
class Segment:
    """An object with the answers whose numbers in the journal are from ``after``, exclusive, to ``upto``."""

    name: str
    after: int
    upto: int
    size: int


class InFlight:
    """The answers that the storage has, under the writer's epoch; used by one thread.

    ``inherited`` are the objects of the writer before, which count until the first :meth:`advance`.
    """

    def __init__(
        self, run: Location, epoch: int, journal: Journal, commits: GroupCommit, inherited: Sequence[str]
    ) -> None:
        self._run = run
        self._epoch = epoch
        self._journal = journal
        self._commits = commits
        self._number = 0
        self._inherited = list(inherited)
        self._segments: list[Segment] = []

    @property
    def names(self) -> list[str]:
        """The objects that count."""
        return self._inherited or [segment.name for segment in self._segments]

    def advance(self, upto: int, patiently: Patience) -> None:
        """Bring the answers up to that number to the storage; :attr:`names` are the objects that count then."""
        after = self._segments[-1].upto if self._segments else 0
        kept = [segment for segment in self._segments if self._read(segment.after, segment.upto, 1)]
        if upto > after:
            content = self._encoded(after, upto)
            if content is not None:
                kept.append(self._written(kept, after, upto, content, patiently))
        self._segments = kept
        self._inherited = []

    def _written(self, kept: list[Segment], after: int, upto: int, content: pa.Buffer, patiently: Patience) -> Segment:
        """The segment that is written, into which the last ones of ``kept`` are joined where they are no larger."""
        size = len(content)
        joined = False
        while kept and kept[-1].size <= 2 * size and kept[-1].size + size <= _LARGEST:
            last = kept.pop()
            size += last.size
            after = last.after
            joined = True
        if joined:
            content = self._encoded(after, upto) or content
        self._number += 1
        segment = Segment(f"{self._epoch:06d}-{self._number:06d}.jsonl.zst", after, upto, len(content))
        file = self._run.child(FOLDER, segment.name)
        partial = self._run.child(".partial", f"{FOLDER}-{segment.name}.partial")
        patiently(lambda: file.write_whole(partial, lambda sink: sink.write(content)))
        return segment

    def sweep(self) -> None:
        """Delete what counts no more, of this writer and of those before."""
        wanted = set(self.names)
        folder = self._run.child(FOLDER)
        for name, _ in folder.names():
            if name not in wanted and name[:6].isdigit() and int(name.partition("-")[0]) <= self._epoch:
                folder.child(name).delete()

    def _read(self, after: int, upto: int, most: int) -> list[tuple[int, str, Answer]]:
        return self._commits.call(self._journal.answers_between, after, upto, most)

    def _encoded(self, after: int, upto: int) -> pa.Buffer | None:
        """The answers between those numbers; ``None`` where there are none."""
        sink = pa.BufferOutputStream()
        empty = True
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            while found := self._read(after, upto, _ROWS_AT_ONCE):
                stream.write(b"".join(_line(game_id, answer) for _, game_id, answer in found))
                after = found[-1][0]
                empty = False
        return None if empty else sink.getvalue()


def read_segments(run: Location, names: Sequence[str]) -> Iterator[list[tuple[str, Answer]]]:
    """Game and answer of all answers in those objects, an object at a time.

    Raises ``OSError`` where one is missing or cannot be read.
    """
    for name in names:
        packed = run.child(FOLDER, name).read_bytes()
        with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
            text = bytes(stream.read())
        yield [_answer(json.loads(line)) for line in text.splitlines()]


def _line(game_id: str, answer: Answer) -> bytes:
    *numbers, text = astuple(answer)
    # ASCII with escapes, so that what is no Unicode in a reply comes back as it was.
    return json.dumps([game_id, *numbers, text.decode("utf-8", "surrogatepass")]).encode("ascii") + b"\n"


def _answer(values: list[Any]) -> tuple[str, Answer]:
    game_id, seat, decision, call, place, digest, text = values
    return game_id, Answer(seat, decision, call, place, digest, text.encode("utf-8", "surrogatepass"))
