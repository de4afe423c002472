"""LLM calls and decisions on the driver's side: collected from all workers, committed, and told of.

A thread of its own, so that a reply is committed at once whatever else the driver is doing. Every worker has one
question open that it answers as soon as it has something; the next question tells it what was committed.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Final

from orchestrator.calls import Answered, Entry
from orchestrator.cluster import WorkerPool
from orchestrator.group_commit import GroupCommit
from orchestrator.journal import Journal, Spending, StaleEpoch
from orchestrator.parts import PartWriter

_LOOK_SECONDS: Final = 0.1
_CLOSE_SECONDS: Final = 2.0


class Ledger:
    """Commits what workers have, from its making to :meth:`close`; ``spending`` is what the journal had before."""

    def __init__(
        self,
        journal: Journal,
        commits: GroupCommit,
        parts: PartWriter,
        pool: WorkerPool,
        spending: Mapping[str, Spending],
    ) -> None:
        import ray

        self._ray: Any = ray
        self._journal = journal
        self._commits = commits
        self._parts = parts
        self._pool = pool
        self._spending = dict(spending)
        self.decisions = 0
        """Committed since its making."""
        self.retries: Counter[str] = Counter()
        """Attempts beyond the first at the calls of these decisions, by entrant."""
        self.answered: dict[str, float] = {}
        """When a call of each entrant was last answered at this start, by the monotonic clock of this process."""
        self._asked: dict[Any, str] = {}
        self._closing = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="ledger", daemon=True)
        self._thread.start()

    def spending(self) -> Mapping[str, Spending]:
        """What the calls of each entrant took since the run was begun."""
        return dict(self._spending)

    def total(self) -> Spending:
        """What all calls took since the run was begun."""
        return sum(self.spending().values(), Spending())

    def check(self) -> None:
        """Raise what went wrong in the thread, if any."""
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Commit what workers still have, as far as it comes at once, and end."""
        self._closing.set()
        self._thread.join()

    def _work(self) -> None:
        try:
            until = float("inf")
            while True:
                if self._closing.is_set():
                    until = min(until, time.monotonic() + _CLOSE_SECONDS)
                if (not self._turn() and self._closing.is_set()) or time.monotonic() > until:
                    return
        except BaseException as error:
            self._error = error

    def _turn(self) -> bool:
        """Ask whoever is not asked, and deal with what has come; whether there was anything."""
        open_questions = set(self._asked.values())
        for handle in list(self._pool.handles.values()):
            if handle.ready and handle.name not in open_questions:
                self._ask(handle.name, [])
        if not self._asked:
            self._closing.wait(_LOOK_SECONDS)
            return False
        ready, _ = self._ray.wait(list(self._asked), num_returns=1, timeout=_LOOK_SECONDS)
        if ready:
            ready, _ = self._ray.wait(list(self._asked), num_returns=len(self._asked), timeout=0)
        brought: list[tuple[str, list[Entry]]] = []
        for reference in ready:
            worker = self._asked.pop(reference)
            try:
                brought.append((worker, self._ray.get(reference)))
            except self._ray.exceptions.RayTaskError:
                raise
            except self._ray.exceptions.RayError:
                continue  # It has died; what it had not told is not answered, and will be asked again.
        waiting = [(worker, [(entry, self._submit(entry)) for entry in entries]) for worker, entries in brought]
        for worker, submitted in waiting:
            self._ask(worker, [(entry.number, self._settled(entry, future)) for entry, future in submitted])
        return any(entries for _, entries in brought)

    def _ask(self, worker: str, settled: list[tuple[int, bool]]) -> None:
        handle = self._pool.handles.get(worker)
        if handle is not None:
            self._asked[handle.actor.collect.remote(settled)] = worker

    def _submit(self, entry: Entry) -> Future[Any]:
        if isinstance(entry, Answered):
            record = self._journal.record_answer
            return self._commits.submit(record, entry.game_id, entry.epoch, entry.entrant, entry.answer, entry.spending)
        take = self._journal.record_decision
        return self._commits.submit(take, entry.game_id, entry.epoch, entry.place, entry.row, entry.calls)

    def _settled(self, entry: Entry, future: Future[Any]) -> bool:
        try:
            committed = future.result()
        except StaleEpoch:
            return False
        if isinstance(entry, Answered):
            self.answered[entry.entrant] = time.monotonic()
            before = self._spending.get(entry.entrant, Spending())
            self._spending[entry.entrant] = before + entry.spending
            return bool(committed)
        self.decisions += 1
        self.retries[entry.entrant] += entry.retries
        size = len(entry.row) + sum(len(row) for _, row in entry.calls)
        self._parts.rows_added(1 + len(entry.calls), size)
        return True
