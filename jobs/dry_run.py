"""What a tournament's LLM calls would take: calls, tokens, US dollars and the time that the accounts' limits allow.

How many calls a game has and how long they are is not guessed: for every harness a game on each deck is played here in
this process, with the real prompts, by a scripted player in the model's place against ``heuristic``. What a model
itself decides is assumed, and said: how much it writes a call, that it never has to be asked twice, and that it plays
games as long as the scripted player's.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agents.factory import make_agent
from agents.llm.client import BYTES_PER_TOKEN
from agents.llm.contract import CallKey, ChatReply, ChatRequest, ToolCall, Usage
from agents.llm.models import ModelConfig
from agents.loopback.player import answer
from agents.loopback.profiles import PROFILES
from engine.match import MatchSpec
from engine.registry import new_match
from orchestrator.calls import CallingAgent
from orchestrator.config import TournamentConfig
from orchestrator.limits import account_limits
from orchestrator.play import Playthrough, play
from orchestrator.progress import duration
from orchestrator.providers import model_of, resolved
from orchestrator.schedule import Schedule

OUTPUT_TOKENS: Final = 300
"""Tokens that a model is taken to write a call, its thinking included."""
_SEED: Final = 1


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a sample game, in tokens; ``repeated`` of the input began the request before alike."""

    input: int
    repeated: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an agent's calls take over a whole run; ``least_usd`` is with every repeated token read from a cache."""

    name: str
    model: ModelConfig
    games: int
    calls: float
    input_tokens: float
    output_tokens: float
    least_usd: float
    most_usd: float


class _Sampler:
    """Answers in a model's place as the loopback server's ``greedy`` does, and notes how long requests are."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._before = ""
        self._rng = random.Random(_SEED)

    async def __call__(self, key: CallKey, request: ChatRequest) -> ChatReply:
        body = request.body()
        # Tools stand before the messages where endpoints look for what they have read already.
        text = json.dumps([body.get("tools"), body["messages"]], ensure_ascii=False, separators=(",", ":"))
        alike = alike_at_first(self._before, text)
        self._before = text
        tokens = -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)
        self.calls.append(Call(tokens, alike // BYTES_PER_TOKEN))
        said = answer(body, PROFILES["greedy"], self._rng)
        calls = tuple(ToolCall(call.id, call.name, call.arguments) for call in said.calls)
        return ChatReply(said.content or "", calls, said.finish_reason, Usage(tokens, OUTPUT_TOKENS))


def alike_at_first(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def estimates(config: TournamentConfig) -> list[Estimate]:
    """What every agent that asks a model would take for the whole schedule of ``config``, in the agents' order."""
    config = resolved(config)
    models = {entrant.name: model for entrant in config.entrants if (model := model_of(entrant.config)) is not None}
    schedule = Schedule(config)
    opponents = len(config.entrants) - 1
    games = opponents * len(schedule.deck_pairs) * config.games_per_pair
    samples: dict[str, list[list[Call]]] = {}
    found = []
    for entrant in config.entrants:
        if entrant.name not in models:
            continue
        model = models[entrant.name]
        # What the length of requests depends on.
        what = json.dumps([entrant.config["harness"], model.context_size, model.max_output_tokens, model.tool_protocol])
        if what not in samples:
            samples[what] = [_sample(entrant.config, deck.cards, config) for deck in config.decks]
        found.append(_estimate(entrant.name, model, games, samples[what]))
    return found


def lines(config: TournamentConfig) -> list[str]:
    """The estimate in lines for people; none where no agent asks a model."""
    found = estimates(config)
    if not found:
        return []
    width = max(len("LLM agent"), *(len(one.name) for one in found))
    words = f"{'games':>8} {'calls':>9} {'input tokens':>13} {'output tokens':>14} {'US dollars':>19}"
    head = f"{'LLM agent':<{width}} {words}"
    table = [head, *(_row(one, width) for one in found)]
    if len(found) > 1:
        table.append(_row(_sum(found), width))
    times = [f"at best {text}" for text in _times(found)]
    return [
        "",
        *table,
        *_budget(_sum(found), config.budget.usd),
        *times,
        "assumed: games as long as those of a scripted player against heuristic (one a harness and deck was played),",
        f"{OUTPUT_TOKENS} output tokens a call, no refused attempts, {BYTES_PER_TOKEN} bytes a token;",
        "the lower price is with all repeated input read from the endpoint's cache",
    ]


def _sample(agent: Mapping[str, Any], deck: Mapping[str, int], config: TournamentConfig) -> list[Call]:
    match = new_match(MatchSpec(config.game, _SEED, (deck, deck), config.options))
    asked, other = make_agent(agent, 0, _SEED), make_agent({"kind": "heuristic"}, 1, _SEED)
    sampler = _Sampler()
    if isinstance(asked, CallingAgent):
        asked.connect(sampler)
    asyncio.run(play(match, (asked, other), ("sample", "heuristic"), float("inf"), Playthrough()))
    return sampler.calls


def _estimate(name: str, model: ModelConfig, games: int, samples: Sequence[Sequence[Call]]) -> Estimate:
    calls = [call for sample in samples for call in sample]
    share = games / max(len(samples), 1)
    cost = model.price.cost
    return Estimate(
        name,
        model,
        games,
        calls=len(calls) * share,
        input_tokens=sum(call.input for call in calls) * share,
        output_tokens=OUTPUT_TOKENS * len(calls) * share,
        least_usd=share * sum(cost(Usage(call.input, OUTPUT_TOKENS, cached=call.repeated)) for call in calls),
        most_usd=share * sum(cost(Usage(call.input, OUTPUT_TOKENS)) for call in calls),
    )


def _sum(found: Iterable[Estimate]) -> Estimate:
    found = list(found)
    return Estimate(
        "all",
        found[0].model,
        sum(one.games for one in found),
        *(
            sum(getattr(one, name) for one in found)
            for name in ("calls", "input_tokens", "output_tokens", "least_usd", "most_usd")
        ),
    )


def _row(one: Estimate, width: int) -> str:
    dollars = f"{one.least_usd:,.2f} to {one.most_usd:,.2f}"
    return (
        f"{one.name:<{width}} {one.games:>8,} {one.calls:>9,.0f} {one.input_tokens:>13,.0f} "
        f"{one.output_tokens:>14,.0f} {dollars:>19}"
    )


def _budget(whole: Estimate, usd: float | None) -> list[str]:
    """What the budget means for it, where there is one."""
    if usd is None:
        return []
    if usd < whole.least_usd:
        return [f"budget.usd={usd:g} is less than that: the run stops once it is spent, and goes on with a higher one"]
    return [f"budget.usd={usd:g} {'may be less than that' if usd < whole.most_usd else 'is enough for that'}"]


def _times(found: Sequence[Estimate]) -> list[str]:
    """For every account with limits, how long its calls take at least."""
    calls: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    for one in found:
        calls[one.model.account] += round(one.calls)
        tokens[one.model.account] += round(one.input_tokens + one.output_tokens)
    times = []
    for account, limits in account_limits(one.model for one in found).items():
        minutes = {
            f"{limits.requests_per_minute} requests/min": calls[account] / (limits.requests_per_minute or float("inf")),
            f"{limits.tokens_per_minute} tokens/min": tokens[account] / (limits.tokens_per_minute or float("inf")),
        }
        which, most = max(minutes.items(), key=lambda one: one[1])
        times.append(
            f"{duration(60 * most)} by the {which} of {account}"
            if most
            else f"as fast as it answers: no requests or tokens a minute are set for {account}"
        )
    return times
