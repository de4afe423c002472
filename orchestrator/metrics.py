"""Metrics of a run, exported through Ray to Prometheus; ``docs/grafana/`` has a dashboard of them.

The driver counts anyway; every few seconds it passes on what has changed. No game, decision or call costs anything for
it. A driver that is a client of its cluster (``ray://``) cannot export by itself and has a small actor do it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from orchestrator.servers import end_actor, unless_lost

SECONDS: Final = 5.0
"""How often what has changed is passed on. Ray exports every ten seconds."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its name for Ray, what it counts, its tags beside the run, and whether it only ever grows."""

    name: str
    description: str
    tags: tuple[str, ...] = ()
    counts: bool = True

    @property
    def exported(self) -> str:
        """Its name in Prometheus."""
        return f"ray_{self.name}_total" if self.counts else f"ray_{self.name}"


_OF_AGENT: Final = ("entrant", "model")
METRICS: Final = (
    Metric("prizefight_games", "Games that came to their result, void ones included"),
    Metric("prizefight_void_games", "Games that were given up as void"),
    Metric("prizefight_failed_tries", "Tries of games that failed and count", ("cause",)),
    Metric("prizefight_workers_lost", "Workers that died or were ended"),
    Metric("prizefight_decisions", "Decisions of agents; those without calls once their game is over"),
    Metric("prizefight_games_scheduled", "Games of the whole run", counts=False),
    Metric("prizefight_games_done", "Games of the run that have their result, earlier starts included", counts=False),
    Metric("prizefight_games_in_flight", "Games that are with workers", counts=False),
    Metric("prizefight_workers", "Workers that are ready", counts=False),
    Metric("prizefight_points_share", "Points per game of an entrant, from 0 to 1", ("entrant",), counts=False),
    Metric("prizefight_calls", "LLM calls that were answered", _OF_AGENT),
    Metric("prizefight_input_tokens", "Tokens of their input", _OF_AGENT),
    Metric("prizefight_output_tokens", "Tokens of their output", _OF_AGENT),
    Metric("prizefight_cost_usd", "US dollars that they cost", _OF_AGENT),
    Metric("prizefight_retries", "Attempts at them beyond the first", _OF_AGENT),
    Metric("prizefight_limiter_wait_seconds", "Seconds that they waited for limits and between attempts", _OF_AGENT),
    Metric("prizefight_rate_limited", "Replies that said that the account's limit is hit (429)", ("account",)),
    Metric("prizefight_calls_in_flight", "LLM calls on their way", ("account",), counts=False),
    Metric("prizefight_calls_waiting", "LLM calls that wait for the account's limits", ("account",), counts=False),
    Metric("prizefight_budget_usd", "US dollars that the run may cost, if that is bounded", counts=False),
)
_BY_NAME: Final = {metric.name: metric for metric in METRICS}

Values = Mapping[tuple[str, tuple[str, ...]], float]
"""By name and tags (in the metric's order, without the run) what a metric stands at; a counter since the run began."""


class Exporter:
    """Passes values on to Ray, in a process that is a part of the cluster."""

    def __init__(self, run: str) -> None:
        from ray.util.metrics import Counter, Gauge

        self._run = run
        self._metrics: dict[str, Any] = {
            metric.name: (Counter if metric.counts else Gauge)(
                metric.name, description=metric.description, tag_keys=("run", *metric.tags)
            )
            for metric in METRICS
        }

    def export(self, values: Iterable[tuple[str, tuple[str, ...], float]]) -> None:
        """Add to counters, set the others."""
        for name, tags, value in values:
            metric = _BY_NAME[name]
            labels = dict(zip(("run", *metric.tags), map(_in_ascii, (self._run, *tags)), strict=True))
            if metric.counts:
                self._metrics[name].inc(value, labels)
            else:
                self._metrics[name].set(value, labels)


class RunMetrics:
    """Exports what ``values`` says about ``run`` from now on, until :meth:`close`. Ray must be initialized.

    Counters begin at 0 with each start of a run, as counters do. Where one has fallen, because what counted began anew,
    all that it has now is new.
    """

    def __init__(self, run: str, values: Callable[[], Values], clock: Callable[[], float] = time.monotonic) -> None:
        import ray

        self._values = values
        self._clock = clock
        self._before = dict(values())
        self._due = clock()
        self._actor: Any = None
        client: Any = ray.util.client.ray
        if client.is_connected():
            self._actor = ray.remote(num_cpus=0, max_restarts=-1)(Exporter).remote(run)
            self._export: Callable[[Any], Any] = self._actor.export.remote
        else:
            self._export = Exporter(run).export

    def update(self) -> None:
        """To be called at every turn: exports what has changed, if it is time to."""
        now = self._clock()
        if now >= self._due:
            self._due = now + SECONDS
            self._export(changes(self._before, after := self._values()))
            self._before = dict(after)

    def close(self) -> None:
        """Export how it ended; nothing is in flight any more."""
        after = {key: 0.0 if _ends(key[0]) else value for key, value in self._values().items()}
        with unless_lost():
            last = self._export(changes(self._before, after))
            if self._actor is not None:
                import ray

                ray.wait([last], timeout=1.0)
                end_actor(self._actor)


def metrics_addresses() -> list[str]:
    """Where the nodes of the Ray that this process is connected to show their metrics."""
    import ray

    nodes: Callable[[], list[Mapping[str, Any]]] = ray.nodes
    alive = [node for node in nodes() if node["Alive"] and node.get("MetricsExportPort")]
    return [f"http://{node['NodeManagerAddress']}:{node['MetricsExportPort']}/metrics" for node in alive]


def changes(before: Values, after: Values) -> list[tuple[str, tuple[str, ...], float]]:
    """What an exporter is told when values were ``before`` and are ``after``: what counters gained, others whole."""
    told = []
    for (name, tags), value in after.items():
        if _BY_NAME[name].counts:
            old = before.get((name, tags), 0.0)
            value = value - old if value >= old else value
            if value <= 0:
                continue
        told.append((name, tags, float(value)))
    return told


def _in_ascii(text: str) -> str:
    """``text`` as a tag's value, of which Ray takes nothing else."""
    return text.encode("ascii", "backslashreplace").decode()


def _ends(name: str) -> bool:
    return name.endswith(("_in_flight", "_waiting")) or name == "prizefight_workers"
