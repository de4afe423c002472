"""Limits and budget for all workers of a run: per account requests and tokens a minute, calls in flight, US dollars.

Who does what:

- The *driver* makes one :class:`Keeper` (a Ray actor) from :func:`account_limits` of all models, the budget, and what
  the journal says was spent; calls :meth:`Keeper.look` about every second for :class:`Counters` (it also replaces a
  keeper that died), :meth:`Keeper.forget` when a worker died, and :meth:`Keeper.close` at the end.
- A *worker* makes one :class:`WorkerLimits` over a :class:`KeeperLink` and gives :meth:`WorkerLimits.gate` of a model
  to that model's client. It plays each game within :func:`in_game`, so that turns are taken by games, and makes the
  calls of a decision within :func:`in_decision`, so that the budget bears it as a whole or stops it before it begins.

::

    keeper = Keeper("limits", account_limits(models), budget_usd=5.0, spent_usd=journal_says, recent=resumed)
    # in a worker
    limits = WorkerLimits(KeeperLink("limits"), worker="worker-0")
    client = OpenAIClient(model, gate=limits.gate(model))
    with in_game(game_id), in_decision():
        await agent.act(...)
    await limits.aclose()

A call takes four things: a request and its estimated tokens (of this minute), a slot (in flight) and its estimated
price (of the budget). A worker is lent some of each and passes calls on by itself; one exchange every 50 ms to 1 s
for all its calls tells what was used and lends more (docs/limits.md). :class:`LimitBook` and
:class:`orchestrator.limits.lane.Lane` are pure and hold all the rules; gate and actor move them.
"""

from orchestrator.limits.accounts import account_limits
from orchestrator.limits.actor import Keeper, KeeperLink, LimitKeeper
from orchestrator.limits.book import LimitBook
from orchestrator.limits.gate import KeeperAway, WorkerGate, WorkerLimits, go_on_with_decision, in_decision, in_game
from orchestrator.limits.messages import AccountCounters, Counters

__all__ = [
    "AccountCounters",
    "Counters",
    "Keeper",
    "KeeperAway",
    "KeeperLink",
    "LimitBook",
    "LimitKeeper",
    "WorkerGate",
    "WorkerLimits",
    "account_limits",
    "go_on_with_decision",
    "in_decision",
    "in_game",
]
