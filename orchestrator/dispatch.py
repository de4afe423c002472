"""Keeps game workers busy and brings every game to exactly one result.

Games come from the schedule, go out under leases, and count once the journal has taken them. What fails comes back:

- An exception in an agent or in the engine, and a game over its time that still comes to decisions, are told by the
  worker itself. The try counts as failed.
- A worker that dies takes its games with it. If only one can have been the cause, its try counts as failed. Otherwise
  no try counts, and those that may have been the cause are played again, apart from all others: each alone where games
  never wait, in groups half as large after every such death where they do (these may take hours), until it shows.
- Where a node is lost, or workers have ended because this process stood still, no game is suspected of anything. Where
  Ray ended a worker for want of memory its games wait or go elsewhere, with fewer at once, and only one that was alone
  on its node is to blame.
- A game over its time that does not come back from a call is seen from outside: its worker still tells which game that
  is, or has fallen silent until the lease lapses. The worker is killed; then it is as with one that died, but the cause
  is the clock, and a game that is known to be the cause leaves all others unsuspected.

- An LLM call that failed for good fails the try, unless no call of its model can succeed or the budget is used up:
  then the game is as good as before, it and all others of that agent are left for a later start, and the rest goes on.

A try that counts as failed is repeated with another worker until ``limits.max_attempts``, then the game is void with
the last cause; never because of one worker alone, where there is another. A worker that fails games which others can
play is taken out (:mod:`orchestrator.staff`), and what it failed does not count.
"""

from __future__ import annotations

import pickle
import time
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Final

from agents.factory import agent_waits
from agents.llm.contract import FailureKind
from orchestrator.backlog import Backlog, Suits
from orchestrator.cluster import WorkerHandle, WorkerPool
from orchestrator.config import TournamentConfig
from orchestrator.deaths import Death, LostWith, death_of
from orchestrator.group_commit import GroupCommit
from orchestrator.journal import FinishedGame, Journal
from orchestrator.leases import Attention, Lease, LeaseBook, Try
from orchestrator.outcomes import Outcomes
from orchestrator.parts import PartWriter
from orchestrator.play import FailureCause, Setup, one_line
from orchestrator.progress import ProgressDisplay, Standing, duration
from orchestrator.providers import Providers
from orchestrator.reporting import Reporting
from orchestrator.schedule import Schedule
from orchestrator.servers import Servers
from orchestrator.staff import Staff
from orchestrator.watching import GRACE_SECONDS, LOOK_SECONDS, Watches
from orchestrator.workers import LONGEST_BATCH_SECONDS, SILENCE_SECONDS, Errand, Progress, Reply

_BATCHES_AHEAD: Final = 2
"""Leases of games that never wait which one worker holds: one that is played and one that lies ready."""
_LARGEST_BATCH: Final = 2048
MOST_BATCH_SECONDS: Final = LONGEST_BATCH_SECONDS / 2
"""Batches are meant to take no longer, so that none goes back half played where games take longer than was thought."""
_BATCHES_A_SECOND: Final = 400
"""With so many workers that more batches would come back, they are larger: each takes a good deal of a millisecond."""
_BATCH_GROWTH: Final = 4
_TICK_SECONDS: Final = 0.25
_GATHER_SECONDS: Final = 1e-4
_MOST_GATHER_SECONDS: Final = 0.2
_STOP_SECONDS: Final = 4.0
"""How long games under way may take to come to their end after a stop was asked for."""
_MOST_SPARED: Final = 3
"""A game that is lost more often with workers that seem to have ended by themselves is suspected all the same."""
_START_SECONDS: Final = 30.0
"""A watcher is told where no worker is ready after so long."""
_WORKERS_OWN: Final = frozenset(
    {
        FailureCause.WORKER_CRASH,
        FailureCause.AGENT_ERROR,
        FailureCause.ENGINE_ERROR,
        FailureCause.WALL_CLOCK,
        FailureCause.CONNECTION,
    }
)
"""Failures that may be the fault of the worker, or of the machine that it is on."""


class Dispatcher:
    """Plays all games of ``schedule`` that have no result yet; see the module's text.

    ``stop`` is asked at every turn; once it answers true no game is begun any more and :meth:`run` returns soon. Once
    ``reporting`` has been asked for a stop, no game is begun either, and open ones get some time to end.
    """

    def __init__(
        self,
        config: TournamentConfig,
        schedule: Schedule,
        journal: Journal,
        commits: GroupCommit,
        parts: PartWriter,
        pool: WorkerPool,
        standing: Standing,
        display: ProgressDisplay,
        providers: Providers,
        reporting: Reporting,
        staff: Staff,
        servers: Servers,
        stop: Callable[[], bool],
    ) -> None:
        import ray

        self._ray: Any = ray
        self._config = config
        self._journal = journal
        self._commits = commits
        self._parts = parts
        self._outcomes = Outcomes(Setup.of(config), journal, commits, parts, standing, display, providers.models)
        self._pool = pool
        self._standing = standing
        self._display = display
        self._providers = providers
        self._reporting = reporting
        self._staff = staff
        self._stop = stop
        limits = config.limits
        # A game over its time is seen while its worker still answers, or else its lease lapses soon after.
        seconds = min(limits.lease_seconds, limits.game_seconds + GRACE_SECONDS + 2 * LOOK_SECONDS)
        self._leases = LeaseBook(seconds, time.monotonic)
        # Workers have ended by now where it was longer than they wait for a sign of life.
        self._attention = Attention(SILENCE_SECONDS / 2, time.monotonic)
        waits = {entrant.name: agent_waits(entrant.config) for entrant in config.entrants}
        self._backlog = Backlog(schedule, journal, commits, waits, providers.is_paused, self._give_up)
        self._calls: dict[Any, Lease] = {}
        self._granting: deque[Future[None]] = deque()
        self._watches = Watches(self._leases, limits.game_seconds)
        self._batch = 1
        self._looked = 0.0
        self._servers = servers
        self._ended: str | None = None
        """Ray's servers are gone for good; this says which."""
        self._reachable = True
        self._closing = False
        self._expected = time.monotonic() + _START_SECONDS

    def run(self) -> None:
        """Play until all games have a result or a stop is asked for."""
        try:
            self._run()
        except ConnectionError as error:
            if self._ray.is_initialized():
                raise
            # What a client of ``ray://`` hears of its cluster's end.
            self._ended = f"the Ray cluster is lost: {one_line(error)}"
        if self._ended is not None:
            self._display.say(f"{self._ended}; what was played is kept, and the same command goes on")

    def _run(self) -> None:
        until = float("inf")
        while not self._stop() and time.monotonic() < until:
            drain = self._reporting.drain_seconds()
            if drain is None:
                self._fill()
                if self._backlog.empty and not len(self._leases):
                    return
            elif until == float("inf"):
                until = time.monotonic() + drain
                self._display.say(f"asked to stop: {self._leases.games()} open games get {duration(drain)} to end")
            elif not len(self._leases):
                return
            self._collect(_TICK_SECONDS)
            self._check_grants()
            self._take_out_unfit()
            self._look_after()
            if self._ended is not None:
                if self._servers.embedded:
                    return  # With all its workers.
                break
            self._display.update()
            self._reporting.update(self._leases.games(), sum(one.ready for one in self._pool.handles.values()))
            self._parts.check()
            self._providers.check(self._reachable)
        self._wind_up()

    # Sending

    def _fill(self) -> None:
        """Give every worker that is ready as much as it may have."""
        ready = self._staff.ready()
        if not ready:
            return
        if suspects := self._backlog.suspects:
            # One worker is kept for the games that may end theirs.
            def least_busy(handle: WorkerHandle) -> tuple[bool, bool, int]:
                suits = self._staff.suits(handle)(suspects[0])
                return not suits, not self._room(handle), len(self._leases.of(handle.name))

            apart = min(ready, key=least_busy)
            ready = [handle for handle in ready if handle is not apart]
            self._send_suspects(apart)
        for handle in ready:
            suits = self._staff.suits(handle)
            open_now = self._leases.of(handle.name)
            room = self._room(handle)
            in_turn = sum(not lease.waits for lease in open_now)
            if not room:
                for _ in range(_BATCHES_AHEAD - in_turn):
                    if games := self._batch_of_games(suits):
                        self._send(handle, games)
            waiting = len(open_now) - in_turn
            for _ in range((room or self._staff.games_in_flight) - waiting):
                one = self._backlog.take(True, suits)
                if one is None:
                    break
                self._send(handle, [one])

    def _room(self, handle: WorkerHandle) -> int:
        """How many games a worker with suspects may have in all; 0 for one that has none."""
        return min((lease.company for lease in self._leases.of(handle.name) if lease.company), default=0)

    def _send_suspects(self, handle: WorkerHandle) -> None:
        """Send as many suspects as may be together, once the worker is free of all else."""
        while suspects := self._backlog.suspects:
            open_now = self._leases.of(handle.name)
            room = min(suspects[0].company, self._room(handle) or suspects[0].company)
            if len(open_now) >= room or not all(lease.company for lease in open_now):
                return
            one = suspects.popleft()
            if not self._providers.is_paused(one.scheduled.entrants):
                self._send(handle, [one])

    def _batch_of_games(self, suits: Suits) -> list[Try]:
        """Games for about ``cluster.batch_seconds``, fewer towards the end so that no worker is left with a heap."""
        left = self._standing.total - self._standing.done - self._leases.games()
        share = -(-left // (2 * max(len(self._pool.handles), 1)))
        games: list[Try] = []
        while len(games) < max(min(self._batch, share), 1):
            one = self._backlog.take(False, suits)
            if one is None:
                break
            games.append(one)
        return games

    def _send(self, handle: WorkerHandle, games: Sequence[Try]) -> None:
        grants = self._journal.prepare_grants((one.scheduled.game_id, one.attempt) for one in games)
        for one, grant in zip(games, grants, strict=True):
            one.epoch = grant.epoch
        # Nobody has to wait until that is on the disk: whatever comes of these games is committed after it.
        self._granting.append(self._commits.submit(self._journal.lease, grants, handle.name))
        self._standing.begin()
        lease = self._leases.open(games, handle.name)
        errands = [Errand(one.scheduled, one.attempt, one.epoch, self._recall(handle, one)) for one in games]
        self._calls[handle.play(errands, lease.waits)] = lease

    def _recall(self, handle: WorkerHandle, one: Try) -> bool:
        """Send the worker what the journal has of the game's calls; whether there is anything."""
        if not any(entrant in self._providers.models for entrant in one.scheduled.entrants):
            return False
        answers = self._commits.call(self._journal.answers, one.scheduled.game_id)
        if answers:
            # Apart from the errand: what a call is given is kept in memory for as long as the call takes.
            handle.actor.recall.remote(one.epoch, zlib.compress(pickle.dumps(answers), 1))
        return bool(answers)

    def _check_grants(self) -> None:
        """Raise what went wrong with grants that nobody has waited for."""
        while self._granting and self._granting[0].done():
            self._granting.popleft().result()

    # Collecting

    def _collect(self, seconds: float) -> None:
        """Wait for something to come back, and deal with all that has."""
        asked = self._watches.questions
        references = [*self._calls, *self._pool.starting, *asked]
        if not references:
            time.sleep(seconds)
            return
        some = self._ray.wait(references, num_returns=1, timeout=seconds)[0]
        self._attention.turn()
        if not some:
            return
        # Looking at many takes long, so that more of them are to be worth it; workers have a batch ahead.
        time.sleep(min(len(references) * _GATHER_SECONDS, _MOST_GATHER_SECONDS))
        ready = self._ray.wait(references, num_returns=len(references), timeout=0)[0]
        replies: list[Reply] = []
        back: list[Lease] = []
        told: dict[str, Progress | None] = {}
        dead: dict[str, Death] = {}
        for reference, (value, death) in zip(ready, self._values(ready), strict=True):
            if reference in self._calls:
                lease = self._calls.pop(reference)
                if death is None:
                    replies += value if lease.waits else pickle.loads(value)
                    back.append(lease)
                else:
                    dead.setdefault(lease.worker, death)
            elif reference in asked:
                told[asked[reference]] = value
            elif reference in self._pool.starting:
                self._greeted(reference, value, death)
        # First what is over: then no game is taken for one that is still under way.
        self._take(replies, back)
        for worker, progress in told.items():
            self._answered(worker, progress)
        for worker, death in dead.items():
            self._died(worker, death)

    def _values(self, references: Sequence[Any]) -> list[tuple[Any, Death | None]]:
        """:meth:`_value` of each."""
        try:
            return [(value, None) for value in self._ray.get(references)]
        except self._ray.exceptions.RayError:
            return list(map(self._value, references))  # One of them is not well: which?

    def _value(self, reference: Any) -> tuple[Any, Death | None]:
        """The value of ``reference``, or why its worker is lost. Raises what went wrong in a worker that lives."""
        try:
            return self._ray.get(reference), None
        except self._ray.exceptions.RayTaskError:
            raise
        except self._ray.exceptions.RayError as error:
            return None, death_of(error)

    def _greeted(self, reference: Any, value: Any, death: Death | None) -> None:
        handle = self._pool.starting[reference]
        if death is None:
            self._pool.greeted(reference)
            self._staff.greeted(handle, *value)
            self._expected = float("inf")
            return
        self._pool.remove(handle.name)
        self._staff.died_starting(death.detail)
        self._keep_up()

    def _take(self, replies: Sequence[Reply], back: Sequence[Lease]) -> None:
        """Commit what came back, count it, and put back what did not come to a result."""
        games = {one.scheduled.game_id: one for lease in back for one in lease.tries}
        worker_of = {one.scheduled.game_id: lease.worker for lease in back for one in lease.tries}
        finished = [reply for reply in replies if reply.outcome]
        rows = [
            FinishedGame(
                reply.game_id,
                reply.epoch,
                games[reply.game_id].scheduled.entrants,
                reply.outcome,
                reply.winner_seat,
                reply.row,
            )
            for reply in finished
        ]
        for lease in back:
            self._leases.close(lease)
            if not lease.waits:
                self._watches.returned(lease.worker)
        if rows:
            accepted = self._outcomes.finished(rows)
            self._check_grants()
            for game_id in accepted:
                self._staff.finished(worker_of[game_id], game_id)
            self._standing.decisions += sum(reply.decisions for reply in finished)
            self._set_pace([reply.seconds for reply in finished if not games[reply.game_id].waits])
        for reply in replies:
            if reply.pauses or self._is_for_all(reply, back):
                self._pause(reply)
                continue
            one = games.pop(reply.game_id)
            if reply.cause:
                self._failed(one, worker_of[reply.game_id], FailureCause(reply.cause), reply.detail)
        # Games that a worker was told not to begin or to leave, and those that cannot go on for now.
        self._give_back(list(games.values()))

    def _set_pace(self, seconds: Sequence[float]) -> None:
        """Choose the size of batches by how long games take; it grows by steps and shrinks at once."""
        if seconds:
            mean = max(sum(seconds) / len(seconds), 1e-6)
            of_many = min(len(self._pool.handles) / _BATCHES_A_SECOND, MOST_BATCH_SECONDS)
            batch_seconds = max(self._config.cluster.batch_seconds, of_many)
            fitting = int(batch_seconds / mean)
            self._batch = max(1, min(fitting, self._batch * _BATCH_GROWTH, _LARGEST_BATCH))

    # Failures

    def _is_for_all(self, reply: Reply, back: Sequence[Lease]) -> bool:
        """Whether a call failed as every other one of its model would now (:meth:`Providers.call_failed`).

        Games that have just come ``back`` count as being played like those that are out.
        """
        if not reply.entrant:
            return False
        played = [*(one for lease in back for one in lease.tries), *self._leases.tries()]
        others = {name for one in played if one.scheduled.game_id != reply.game_id for name in one.scheduled.entrants}
        kind = FailureKind(reply.cause)
        return self._providers.call_failed(reply.entrant, kind, reply.unanswered, reply.game_id, others)

    def _pause(self, reply: Reply) -> None:
        """Hold back all games of an entrant whose model can make no call."""
        kind = FailureKind(reply.pauses or reply.cause)
        line = self._providers.pause(reply.entrant, kind, reply.detail)
        if line is not None:
            self._display.say(line)
            if kind is not FailureKind.BUDGET:
                for handle in self._pool.handles.values():
                    handle.actor.out_of_order.remote(self._providers.key(reply.entrant), kind.value, reply.detail)

    def _failed(self, one: Try, worker: str, cause: FailureCause, detail: str) -> None:
        """A try failed and counts."""
        if self._outcomes.failed(one, worker, cause, detail):
            ended_worker = cause is FailureCause.WORKER_CRASH or cause is FailureCause.WALL_CLOCK
            again = replace(
                one,
                attempt=one.attempt + 1,
                company=int(ended_worker and not one.waits),
                failures=one.failures + 1,
                failed_with=one.failed_with | {worker},
                failed_on=one.failed_on | {self._staff.node(worker)},
            )
            if cause in _WORKERS_OWN:
                self._staff.failed(again, worker, f"{cause}: {detail}")
            if not self._give_up(again):
                self._backlog.put_back([again])

    def _give_up(self, one: Try) -> bool:
        """Make a game void that has failed as often as it may, unless one worker alone may be to blame."""
        if one.failures < self._config.limits.max_attempts:
            return False
        last = self._outcomes.last_failure(one)
        if last.cause in _WORKERS_OWN and not self._staff.confirmed(one):
            return False
        self._outcomes.void(one, last)
        self._staff.void(one.scheduled.game_id)
        return True

    def _give_back(self, games: Sequence[Try]) -> None:
        """Take games back whose try does not count."""
        if games:
            self._outcomes.released(games)
            self._backlog.put_back(games)

    def _died(self, worker: str, death: Death) -> None:
        """A worker is dead: find out what that says about its games."""
        if worker not in self._pool.handles:
            return
        playing = self._playing(worker)
        if death.lost_with is LostWith.MEMORY:
            beside = self._staff.short_of_memory(worker, sum(one.waits for one in playing))
            for one in playing:
                one.failed_on |= {self._staff.node(worker)}
            self._lost(worker, FailureCause.WORKER_CRASH, death.detail, outside=beside)
            return
        outside = death.lost_with is LostWith.NODE or self._attention.was_away(within=SILENCE_SECONDS)
        spared = outside and all(one.spared < _MOST_SPARED for one in playing)
        for one in playing:
            one.spared += spared
        self._lost(worker, FailureCause.WORKER_CRASH, death.detail, outside=spared)

    def _playing(self, worker: str) -> list[Try]:
        """The games of a worker that may be the cause of what becomes of it: not those that lie ready behind others."""
        leases = self._leases.of(worker)
        in_turn = [lease for lease in leases if not lease.waits]
        return [one for lease in (*in_turn[:1], *(each for each in leases if each.waits)) for one in lease.tries]

    def _lost(
        self, worker: str, cause: FailureCause, detail: str, culprit: str | None = None, outside: bool = False
    ) -> None:
        """A worker is dead or has to be: end it, start another, and deal with the games that it had.

        ``culprit`` is known to be the cause; where the cause is ``outside`` of all games none is suspected.
        """
        if worker not in self._pool.handles:
            return
        leases = self._leases.of(worker)
        playing = [] if outside else self._playing(worker)
        guilty = [one for one in playing if one.scheduled.game_id == culprit]
        if not guilty and len(playing) == 1:
            guilty = playing
        self._pool.remove(worker)
        self._standing.workers_lost += 1
        games = sum(len(lease.tries) for lease in leases)
        self._display.say(f"{worker} is lost with {games} games, which are played again: {detail}")
        self._providers.lost(worker)
        self._keep_up()
        self._watches.forget(worker)
        self._calls = {reference: lease for reference, lease in self._calls.items() if lease.worker != worker}
        for lease in leases:
            self._leases.close(lease)
        for one in guilty:
            self._failed(one, worker, cause, detail)
        self._staff.lost(worker)
        others = [one for lease in leases for one in lease.tries if one not in guilty]
        if not guilty:
            for one in playing:
                one.company = len(playing) // 2 if one.waits else 1
        self._give_back(others)

    def _take_out_unfit(self) -> None:
        """End workers that fail what others can play; what they failed does not count."""
        for worker in self._staff.unfit():
            streak = self._staff.streak(worker)
            self._outcomes.excuse(worker, streak)
            for one in [*self._backlog.come_back(), *self._leases.tries()]:
                if worker in one.failed_with and one.scheduled.game_id in streak:
                    one.failures -= 1
            self._lost(worker, FailureCause.WORKER_CRASH, self._staff.take_out(worker), outside=True)
        for node, line in self._staff.shunned() if self._reachable else ():
            self._display.say(line)
            for handle in list(self._pool.handles.values()):
                if handle.node == node:
                    self._lost(handle.name, FailureCause.WORKER_CRASH, line, outside=True)

    # Watching

    def _look_after(self) -> None:
        """Ask workers how far they are, and end what makes no progress."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        self._keep_up()
        if now > self._expected:
            self._expected = float("inf")
            self._display.say("no game worker is ready yet: the cluster has no free processor, or is slow to start one")
        self._watches.ask(self._pool.handles.values())
        for lease in self._leases.lapsed():
            self._lapsed(lease)

    def _keep_up(self) -> None:
        """Start workers that are missing, unless none is needed any more or Ray's servers cannot be asked for them."""
        self._ended = self._servers.ended
        self._reachable = not self._servers.away
        if self._reachable and not self._closing and not self._stop():
            self._staff.keep_up()

    def _answered(self, worker: str, progress: Progress | None) -> None:
        """A worker has told how far it is, or died: end a game that is over its time."""
        overdue = self._watches.answered(worker, progress)
        if overdue is not None:
            limit = self._config.limits.game_seconds
            self._lost(worker, FailureCause.WALL_CLOCK, f"not over after {limit:g} s; its worker was ended", overdue)

    def _lapsed(self, lease: Lease) -> None:
        if lease not in self._leases.of(lease.worker):
            return  # Its worker was ended because of another lease just now.
        detail = f"no progress for {self._leases.seconds:g} s"
        if lease.waits and not self._watches.is_silent(lease.worker):
            # The worker lives and answers: only this game stands still.
            one = lease.tries[0]
            self._leases.close(lease)
            self._calls = {reference: other for reference, other in self._calls.items() if other is not lease}
            self._pool.handles[lease.worker].actor.cancel.remote(one.scheduled.game_id)
            self._failed(one, lease.worker, FailureCause.WALL_CLOCK, detail)
            return
        culprit = self._watches.playing(lease.worker)
        self._lost(lease.worker, FailureCause.WALL_CLOCK, f"{detail}; its worker was ended", culprit)

    def _wind_up(self) -> None:
        """After a stop: let games under way come to their end for a short while, and commit what came."""
        self._closing = True
        for handle in self._pool.handles.values():
            if handle.ready:
                handle.actor.stop.remote()
        until = time.monotonic() + _STOP_SECONDS
        while len(self._leases) and time.monotonic() < until:
            self._collect(_TICK_SECONDS)
            self._providers.check(self._reachable)
