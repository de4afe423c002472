"""A scripted model for tests of the harness: matches of real cards, replies of the test's own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import conf
from agents.base import Decision
from agents.llm.agent import LLMAgent
from agents.llm.config import HarnessConfig, parse_harness
from agents.llm.contract import CallKey, ChatReply, ChatRequest, ToolCall, Usage
from agents.llm.models import ModelConfig, parse_model
from engine.match import MatchSpec, play_forced
from engine.ptcg.actions import PtcgAction
from engine.ptcg.decks import parse_deck
from engine.ptcg.game import PtcgMatch
from engine.registry import new_match

DECKS = ("charizard_ex", "gardevoir_ex", "gholdengo_ex", "lugia_archeops", "miraidon_ex")

Reply = ChatReply | BaseException
Script = Callable[[CallKey, ChatRequest], Reply]


@cache
def deck(name: str) -> Mapping[str, int]:
    """A deck of conf/deck."""
    return parse_deck((Path(conf.__file__).parent / "deck" / f"{name}.txt").read_text(encoding="utf-8"))


def new_game(seed: int, first: str = "charizard_ex", second: str | None = None) -> PtcgMatch:
    """A game of two decks, a mirror match unless there are two."""
    match = new_match(MatchSpec("ptcg", seed, (deck(first), deck(second or first))))
    assert isinstance(match, PtcgMatch)
    return match


def model(**fields: Any) -> ModelConfig:
    """A model with a context of 128,000 tokens that costs nothing, unless ``fields`` say otherwise."""
    base = {
        "id": "scripted",
        "base_url": "http://127.0.0.1:1/v1",
        "price": {"input": 0, "output": 0},
        "context_size": 128_000,
    }
    return parse_model({**base, **fields})


def call(tool: str, /, id: str = "", **arguments: Any) -> ToolCall:
    """A tool call with these arguments."""
    return ToolCall(id or f"id_{tool}", tool, json.dumps(arguments))


def calls(*tool_calls: ToolCall, content: str = "I think.", **fields: Any) -> ChatReply:
    """A reply with tool calls."""
    named = tuple(
        ToolCall(f"{one.id}_{number}" if one.id else "", one.name, one.arguments)
        for number, one in enumerate(tool_calls)
    )
    return ChatReply(content, named, fields.pop("finish_reason", "tool_calls"), fields.pop("usage", Usage()), **fields)


def text(content: str, finish_reason: str = "stop", **fields: Any) -> ChatReply:
    """A reply that is only text."""
    return ChatReply(content, (), finish_reason, fields.pop("usage", Usage()), **fields)


class ScriptedCaller:
    """Gives the replies of a list in turn, or those of a function; keeps what it was asked."""

    def __init__(self, script: Sequence[Reply] | Script) -> None:
        self._script = script
        self.keys: list[CallKey] = []
        self.requests: list[ChatRequest] = []

    async def __call__(self, key: CallKey, request: ChatRequest) -> ChatReply:
        self.keys.append(key)
        self.requests.append(request)
        reply = self._script(key, request) if callable(self._script) else self._script[len(self.requests) - 1]
        if isinstance(reply, BaseException):
            raise reply
        return reply

    @property
    def digests(self) -> list[str]:
        """The digests of all requests."""
        return [request.digest() for request in self.requests]


def agent(
    caller: ScriptedCaller, harness: Mapping[str, Any] | HarnessConfig | None = None, seat: int = 0, **fields: Any
) -> LLMAgent:
    """An agent of the scripted model in ``seat``; ``fields`` are the model's."""
    config = harness if isinstance(harness, HarnessConfig) else parse_harness(harness or {})
    made = LLMAgent(model(**fields), config, seat, rng_seed=7)
    made.connect(caller)
    return made


def decide(match: PtcgMatch, player: LLMAgent) -> Decision:
    """What ``player`` decides in the position; nothing is played."""
    (seat,) = match.seats_to_act()
    return asyncio.run(_act(player, match, seat))


async def _act(player: LLMAgent, match: PtcgMatch, seat: int) -> Decision:
    return await player.act(match.observe(seat), match.legal_actions(seat))


def ask(
    match: PtcgMatch, replies: Sequence[Reply] | Script, harness: Mapping[str, Any] | None = None, **fields: Any
) -> tuple[Decision, ScriptedCaller]:
    """One decision of a fresh agent in the position, and what the model was asked."""
    caller = ScriptedCaller(replies)
    (seat,) = match.seats_to_act()
    return decide(match, agent(caller, harness, seat, **fields)), caller


def play_game(match: PtcgMatch, players: Sequence[LLMAgent], most: int = 1000) -> list[Decision]:
    """Play a game as the game loop does, up to ``most`` decisions."""
    return asyncio.run(_play(match, players, most))


async def _play(match: PtcgMatch, players: Sequence[LLMAgent], most: int) -> list[Decision]:
    decisions: list[Decision] = []
    play_forced(match)
    while match.result is None and len(decisions) < most:
        (seat,) = match.seats_to_act()
        decision = await _act(players[seat], match, seat)
        decisions.append(decision)
        for action in decision.actions:
            match.apply(seat, action)
        play_forced(match)
    return decisions


def positions(
    choose: Callable[[Sequence[PtcgAction]], PtcgAction], seeds: Iterable[int], decks: Sequence[str] = DECKS
) -> Iterable[tuple[PtcgMatch, int, Sequence[PtcgAction]]]:
    """Every decision of a game a deck and seed, played by ``choose``: the match, who decides, the legal actions."""
    for name in decks:
        for seed in seeds:
            match = new_game(seed, name)
            play_forced(match)
            while match.result is None:
                (seat,) = match.seats_to_act()
                legal = match.legal_actions(seat)
                yield match, seat, legal
                match.apply(seat, choose(legal))
                play_forced(match)


def everything_said(request: ChatRequest) -> str:
    """The whole body of a request as text, as the model may read it."""
    return json.dumps(request.body(), ensure_ascii=False)
