"""The models that a run's agents ask, as the driver sees them: what they may and did take, and which are out of order.

A model whose endpoint refuses the key, has no such model, has no credits left or answers nobody can make no call: its
games are held back, all others go on, and the run ends incomplete. So it is with an agent whose next call the budget
does not allow.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from agents.llm.config import parse_harness
from agents.llm.contract import FailureKind
from agents.llm.failures import PASSING
from agents.llm.models import ModelConfig, ModelError, parse_model
from orchestrator.calls import model_key
from orchestrator.cluster import WorkerPool
from orchestrator.config import ConfigError, Entrant, TournamentConfig
from orchestrator.group_commit import GroupCommit
from orchestrator.journal import Journal, Spending
from orchestrator.ledger import Ledger
from orchestrator.limits import AccountCounters, Counters, Keeper, account_limits
from orchestrator.parts import PartWriter
from orchestrator.progress import duration
from orchestrator.servers import unless_lost

_LOOK_SECONDS: Final = 1.0
_CLOSE_SECONDS: Final = 1.0
_LONG_HOLD_SECONDS: Final = 10.0

_REASONS: Final = {
    FailureKind.AUTHENTICATION: "its key is refused or missing",
    FailureKind.QUOTA_EXHAUSTED: "its quota or credits are used up",
    FailureKind.MODEL_NOT_FOUND: "its endpoint has no such model",
    FailureKind.BAD_REQUEST: "its endpoint refuses all that it is asked",
    FailureKind.CONTEXT_OVERFLOW: "all that it is asked is too long for it",
    **dict.fromkeys(PASSING, "its endpoint answers no calls"),
}
_OF_NO_ONE_CALL: Final = frozenset({FailureKind.CONNECTION, FailureKind.RATE_LIMITED, FailureKind.OVERLOADED})
"""Failures for which what was asked can hardly be the reason."""


def model_of(config: Mapping[str, Any]) -> ModelConfig | None:
    """The model that an agent of this configuration asks, if it asks one. Raises ``ValueError`` for a bad one."""
    model = config.get("model")
    return parse_model(model) if isinstance(model, Mapping) else None


def resolved(config: TournamentConfig) -> TournamentConfig:
    """``config`` with every model and harness complete, so that workers look nothing up.

    Raises :class:`ConfigError`.
    """
    entrants = []
    for entrant in config.entrants:
        settings = dict(entrant.config)
        try:
            model = model_of(settings)
            if model is not None:
                if config.game != "ptcg":
                    raise ValueError("an agent that asks a model plays the game ptcg only")
                settings["model"] = model.to_json()
                settings["harness"] = parse_harness(settings.get("harness") or {}).to_json()
        except ValueError as error:
            raise ConfigError(f"agents.{entrant.name}: {error}") from error
        entrants.append(Entrant(entrant.name, settings))
    return replace(config, entrants=tuple(entrants))


def identity(config: Mapping[str, Any]) -> dict[str, Any]:
    """What of an agent's configuration can alter a game or a call."""
    model = model_of(config)
    if model is None:
        return dict(config)
    harness = parse_harness(config.get("harness") or {})
    return {**config, "model": model.identity(), "harness": harness.identity()}


class Providers:
    """All about the models of the run that ``config`` (:func:`resolved`) describes; of no effect where it has none.

    Raises :class:`ConfigError` where this machine is to make calls and lacks a key.
    """

    def __init__(self, config: TournamentConfig) -> None:
        found = {entrant.name: model_of(entrant.config) for entrant in config.entrants}
        self.models = {name: model for name, model in found.items() if model is not None}
        self._budget = config.budget.usd
        if config.cluster.address is None:
            for name, model in self.models.items():
                try:
                    model.key()
                except ModelError as error:
                    raise ConfigError(f"agents.{name}: {error}") from error
        # One Ray may have the keepers of several runs.
        self.keeper_name = f"limits {config.run} {os.getpid()} {time.time_ns()}" if self.models else None
        self._keeper: Keeper | None = None
        self._ledger: Ledger | None = None
        self._counters: Counters | None = None
        self._looked = 0.0
        self._paused: dict[str, str] = {}
        self._failed: dict[str, tuple[str, float]] = {}
        """The game in which a call of each model failed last, and when."""

    def open(self, journal: Journal, commits: GroupCommit, parts: PartWriter, pool: WorkerPool) -> None:
        """Start what workers need to make calls. Ray must be initialized."""
        if self.keeper_name is not None:
            spending = commits.call(journal.spending)
            ledger = self._ledger = Ledger(journal, commits, parts, pool, spending)
            limits = account_limits(self.models.values())
            recent = journal.start > 1
            self._keeper = Keeper(self.keeper_name, limits, self._budget, lambda: ledger.total().cost_usd, recent)

    def close(self, pool: WorkerPool) -> None:
        """Commit what workers still have, have them close their connections, and end the keeper."""
        if self._ledger is not None:
            import ray

            self._ledger.close()
            with unless_lost():
                closing = [handle.actor.close.remote() for handle in pool.handles.values() if handle.ready]
                if closing:
                    ray.wait(closing, num_returns=len(closing), timeout=_CLOSE_SECONDS)
        if self._keeper is not None:
            self._keeper.close()

    def check(self, reachable: bool) -> None:
        """To be called at every turn: raises what went wrong with the journal, and looks after the keeper.

        Where Ray's servers are not ``reachable`` no keeper can be put in the place of another.
        """
        if self._ledger is not None:
            self._ledger.check()
        now = time.monotonic()
        if reachable and self._keeper is not None and now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            self._counters = self._keeper.look()

    def lost(self, worker: str) -> None:
        """A worker has ended: what it had of the limits is free again."""
        if self._keeper is not None:
            self._keeper.forget(worker)

    # What is out of order

    def pause(self, entrant: str, kind: FailureKind, detail: str) -> str | None:
        """Hold back the games of ``entrant``, and of all that ask the same model unless it is for the budget.

        Returns a line that says so, ``None`` where it is known already.
        """
        if entrant in self._paused:
            return None
        if kind is FailureKind.BUDGET:
            line = f"{entrant} is paused: {detail}; a higher budget.usd goes on with it"
            self._paused[entrant] = line
            return line
        model = self.models[entrant]
        line = f"model {model.id} is paused: {_REASONS.get(kind, kind.value)}: {detail}"
        for name in self._with_model_of(entrant):
            self._paused.setdefault(name, line)
        return line

    def call_failed(
        self, entrant: str, kind: FailureKind, seconds: float, game_id: str, others: Collection[str]
    ) -> bool:
        """Take note of a call that failed; whether its endpoint answers nobody, so that ``game_id`` is not to blame.

        So it is where no call of the model was answered in the later half of the ``seconds`` for which this one was
        tried (at their beginning the endpoint may have been well), and ``others``, who play now in other games, have
        the same model, or ``kind`` says by itself that it is not for what was asked, or a call of another game was the
        last to fail and none was answered since. A call that was refused says so only where another game's was refused
        before it and none was answered at all since this start: then it is how the model is configured.
        """
        if entrant in self._paused:
            return True
        assert self._ledger is not None, "nobody makes calls"
        same = self._with_model_of(entrant)
        now, answered = time.monotonic(), max(self._ledger.answered.get(name, float("-inf")) for name in same)
        before, failed = self._failed.get(self.key(entrant), (game_id, now))
        self._failed[self.key(entrant)] = game_id, now
        in_turn = before != game_id and failed > answered
        if kind not in PASSING:
            return in_turn and answered == float("-inf")
        if answered >= now - seconds / 2:
            return False
        return kind in _OF_NO_ONE_CALL or in_turn or any(name in others for name in same)

    def _with_model_of(self, entrant: str) -> list[str]:
        """All that ask the same model at the same account, ``entrant`` among them."""
        key = self.key(entrant)
        return [name for name, other in self.models.items() if model_key(other) == key]

    def is_paused(self, entrants: tuple[str, str]) -> bool:
        """Whether a game of these cannot be played for now."""
        return bool(self._paused) and any(entrant in self._paused for entrant in entrants)

    def key(self, entrant: str) -> str:
        """What the model of ``entrant`` is called where it fails together with others."""
        return model_key(self.models[entrant])

    @property
    def paused(self) -> tuple[str, ...]:
        """A line for everything that is out of order."""
        return tuple(dict.fromkeys(self._paused.values()))

    # What has been taken

    def spending(self) -> Mapping[str, Spending]:
        """What the calls of each entrant took since the run was begun."""
        return {} if self._ledger is None else self._ledger.spending()

    def decisions(self) -> int:
        """Decisions of agents that make calls that this start has committed."""
        return 0 if self._ledger is None else self._ledger.decisions

    def retries(self) -> Mapping[str, int]:
        """Attempts beyond the first at the calls of these decisions, by entrant."""
        return {} if self._ledger is None else dict(self._ledger.retries)

    def accounts(self) -> tuple[AccountCounters, ...]:
        """Where the accounts stand, by what the keeper of the limits told last."""
        return () if self._counters is None else self._counters.accounts

    def spent(self) -> Spending:
        """What all calls took since the run was begun."""
        return Spending() if self._ledger is None else self._ledger.total()

    def line(self) -> str:
        """Calls, tokens, US dollars and limits in a few words; empty where no agent makes calls."""
        if self._ledger is None:
            return ""
        spent = self.spent()
        budget = "" if self._budget is None else f" of {self._budget:g}"
        words = [
            f"{spent.calls} calls",
            f"{_short(spent.input_tokens)}+{_short(spent.output_tokens)} tokens",
            f"${spent.cost_usd:.2f}{budget}",
        ]
        return ", ".join([*words, limits_line(self.accounts())])


def limits_line(accounts: Collection[AccountCounters]) -> str:
    """How limits hold calls back, in a few words."""
    waited = sum(account.waited_seconds for account in accounts)
    calls = sum(account.waited for account in accounts)
    line = f"limits: {waited / calls if calls else 0.0:.1f} s wait a call, {sum(one.hits for one in accounts)} x 429"
    held = [one for one in accounts if one.hold_seconds >= _LONG_HOLD_SECONDS]
    return line + "".join(f", {one.account} asks to wait {duration(one.hold_seconds)}" for one in held)


def _short(tokens: int) -> str:
    """``950``, ``12.3k``, ``4.5M``."""
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if tokens >= size:
            return f"{tokens / size:.1f}{unit}"
    return str(tokens)
