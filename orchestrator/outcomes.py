"""What becomes of games, committed to the journal and then counted: finished, failed, void, or as good as before."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from agents.llm.models import ModelConfig
from orchestrator.calls import now_microseconds
from orchestrator.group_commit import GroupCommit
from orchestrator.journal import FailedAttempt, FinishedGame, Grant, Journal
from orchestrator.leases import Try
from orchestrator.parts import PartWriter
from orchestrator.play import VOID, FailureCause, GameFailure, Setup, void_row
from orchestrator.progress import Counted, ProgressDisplay, Standing
from orchestrator.rows import unused_call_row


class Outcomes:
    """Takes what comes of games. ``models`` are those of the entrants that make calls."""

    def __init__(
        self,
        setup: Setup,
        journal: Journal,
        commits: GroupCommit,
        parts: PartWriter,
        standing: Standing,
        display: ProgressDisplay,
        models: Mapping[str, ModelConfig],
    ) -> None:
        self._setup = setup
        self._journal = journal
        self._commits = commits
        self._parts = parts
        self._standing = standing
        self._display = display
        self._models = models

    def finished(self, rows: Sequence[FinishedGame]) -> list[str]:
        """Games have a result; returns the ids of those that count."""
        counted = self._commits.call(self._journal.finish, rows)
        accepted = set(counted)
        taken = [row for row in rows if row.game_id in accepted]
        if taken:
            self._parts.rows_added(len(taken), sum(len(row.row) for row in taken))
            self._standing.count(Counted(row.entrants, row.outcome, row.winner_seat) for row in taken)
        return counted

    def failed(self, one: Try, worker: str, cause: FailureCause, detail: str) -> bool:
        """A try failed; whether that counts."""
        failed = FailedAttempt(
            one.scheduled.game_id, one.attempt, one.epoch, str(cause), detail, worker, failed_at=now_microseconds()
        )
        counts = bool(self._commits.call(self._journal.fail, [failed]))
        self._standing.failed_tries[str(cause)] += counts
        return counts

    def last_failure(self, one: Try) -> FailedAttempt:
        """The last try of a game that failed and counts."""
        return self._commits.call(self._journal.last_failure, one.scheduled.game_id)

    def excuse(self, worker: str, game_ids: Sequence[str]) -> None:
        """Those games failed because of ``worker``: none of these tries counts."""
        self._commits.call(self._journal.excuse, worker, game_ids)

    def released(self, games: Sequence[Try]) -> None:
        """Games are taken back whose try does not count."""
        grants = [Grant(one.scheduled.game_id, one.attempt, one.epoch) for one in games]
        self._commits.call(self._journal.release, grants)

    def void(self, one: Try, last: FailedAttempt) -> None:
        """A game that has failed as often as it may, lastly so, has its result: none."""
        failure = GameFailure(FailureCause(last.cause), last.detail)
        row = void_row(self._setup, one.scheduled, last.attempt, failure)
        row["worker"] = last.worker
        row["finished_at"] = last.failed_at
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        grant = self._commits.call(self._journal.grant, [(one.scheduled.game_id, last.attempt)], last.worker)[0]
        self._record_unused(one, grant)
        self.finished([FinishedGame(one.scheduled.game_id, grant.epoch, one.scheduled.entrants, VOID, None, text)])
        self._display.say(f"void: game {one.scheduled.game_id}, {one.scheduled.pair}: {last.cause}: {last.detail}")

    def _record_unused(self, one: Try, grant: Grant) -> None:
        """Keep the calls of a game that ends in the middle of a decision: they have been paid."""
        rows = []
        for answer in self._commits.call(self._journal.unused_answers, one.scheduled.game_id):
            model = self._models.get(one.scheduled.entrants[answer.seat])
            if model is None:
                continue  # A choice of an agent that makes no calls.
            row = unused_call_row(self._setup, one.scheduled, grant.attempt, model.id, answer)
            if row is not None:
                rows.append((answer.place, answer.call, row))
        if rows:
            self._commits.call(self._journal.record_calls, grant.game_id, grant.epoch, rows)
            self._parts.rows_added(len(rows), sum(len(row) for _, _, row in rows))
