"""How a run stands, gathered in one place for those who look from outside: its status record and its metrics."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.config import TournamentConfig
from orchestrator.metrics import RunMetrics, Values, metrics_addresses
from orchestrator.progress import Standing
from orchestrator.providers import Providers
from orchestrator.status import RunControl, Situation
from results.location import Location


class Reporting:
    """Tells how a run stands, and hears that it is to stop, from its making to :meth:`close`."""

    def __init__(self, config: TournamentConfig, location: Location, standing: Standing, providers: Providers) -> None:
        self._config = config
        self._standing = standing
        self._providers = providers
        self._in_flight = 0
        self._workers = 0
        self._control = RunControl(config.run, location, self._situation)
        self._metrics: RunMetrics | None = None

    def open_metrics(self, say: Callable[[str], object]) -> None:
        """Export metrics too, where that is wanted. Ray must be initialized.

        Of an embedded Ray nobody else knows where it shows them, so that it is told to ``say``.
        """
        is_embedded = self._config.cluster.address is None
        wanted = self._config.cluster.metrics
        if wanted or (wanted is None and not is_embedded):
            self._metrics = RunMetrics(self._config.run, self._values)
            if is_embedded:
                say(f"metrics are at {', '.join(metrics_addresses())}")

    def close_metrics(self) -> None:
        """Export how it ended. Ray must still be initialized."""
        if self._metrics is not None:
            self._metrics.close()
            self._metrics = None

    def update(self, in_flight: int, workers: int) -> None:
        """To be called at every turn, with the number of games that are out and of workers that are ready."""
        self._in_flight = in_flight
        self._workers = workers
        self._control.update()
        if self._metrics is not None:
            self._metrics.update()

    def drain_seconds(self) -> float | None:
        """For how long open games may go on, once somebody has asked for a stop; ``None`` before."""
        return self._control.drain_seconds(self._config.limits.drain_seconds)

    def close(self, answers: bool = True) -> None:
        """Tell how it ended; where the storage no longer ``answers`` that is hardly waited for."""
        self._in_flight = self._workers = 0
        self._control.close(answers)

    def _situation(self) -> Situation:
        standing, spent = self._standing, self._providers.spent()
        return Situation(
            total=standing.total,
            done=standing.done,
            void=standing.void,
            in_flight=self._in_flight,
            workers=self._workers,
            games_per_second=round(standing.games_per_second(), 3),
            entrants=tuple(standing.scores()),
            calls=spent.calls,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            cost_usd=spent.cost_usd,
            budget_usd=self._config.budget.usd,
            paused=self._providers.paused,
        )

    def _values(self) -> Values:
        standing, providers = self._standing, self._providers
        values: dict[tuple[str, tuple[str, ...]], float] = {
            ("prizefight_games", ()): standing.played,
            ("prizefight_void_games", ()): standing.void,
            ("prizefight_workers_lost", ()): standing.workers_lost,
            ("prizefight_decisions", ()): standing.decisions + providers.decisions(),
            ("prizefight_games_scheduled", ()): standing.total,
            ("prizefight_games_done", ()): standing.done,
            ("prizefight_games_in_flight", ()): self._in_flight,
            ("prizefight_workers", ()): self._workers,
        }
        for cause, tries in standing.failed_tries.items():
            values["prizefight_failed_tries", (cause,)] = tries
        for score in standing.scores():
            values["prizefight_points_share", (score.entrant,)] = score.share
        retries = providers.retries()
        for entrant, spent in providers.spending().items():
            if entrant in providers.models:
                tags = (entrant, providers.models[entrant].id)
                values["prizefight_calls", tags] = spent.calls
                values["prizefight_input_tokens", tags] = spent.input_tokens
                values["prizefight_output_tokens", tags] = spent.output_tokens
                values["prizefight_cost_usd", tags] = spent.cost_usd
                values["prizefight_limiter_wait_seconds", tags] = spent.queue_seconds
                values["prizefight_retries", tags] = retries.get(entrant, 0)
        for account in providers.accounts():
            values["prizefight_rate_limited", (account.account,)] = account.hits
            values["prizefight_calls_in_flight", (account.account,)] = account.in_flight
            values["prizefight_calls_waiting", (account.account,)] = account.waiting
        if self._config.budget.usd is not None:
            values["prizefight_budget_usd", ()] = self._config.budget.usd
        return values
