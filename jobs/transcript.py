"""Watch a model play: ``python -m jobs.transcript 'agents=[{model: loopback, harness: full},heuristic]'``."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Final

from agents.base import Agent, Decision
from agents.factory import make_agent
from agents.llm.agent import LLMAgent
from agents.llm.client import OpenAIClient
from agents.llm.contract import CallFailed, CallKey, ChatReply, ChatRequest
from agents.llm.models import ModelError
from engine.match import SEATS, Match, MatchSpec, play_forced
from engine.registry import new_match
from jobs.config import ConfigError, ExitCode, job, key
from jobs.output import OutputFile
from jobs.tournament import read_deck

_MOST_SHOWN: Final = 1000
"""Characters of a reply."""


@dataclass
class TranscriptJob:
    """All keys of the job."""

    agents: Any = key("the two agents that play, such as [{model: loopback, harness: full},heuristic]", files="agent")
    decks: list[Any] = key("the deck of both, or a deck each", factory=lambda: ["charizard_ex"], files="deck")
    seed: int = key("the seed of the match and of what agents draw", 0)
    decisions: int = key("stop after so many decisions that models were asked for", 10)
    seconds: float = key("or after so many seconds, in the middle of a decision too", 600.0)
    out: str | None = key("also write the transcript to this path", None)


@job("transcript", TranscriptJob, refusals=(ModelError,))
def main(config: TranscriptJob) -> int:
    """Play the first decisions of a match and show what models are asked and answer; nothing of it is kept in a run."""
    if config.decisions < 1:
        raise ConfigError(f"decisions: {config.decisions} is not a whole number from 1")
    if not 0 < config.seconds < float("inf"):
        raise ConfigError(f"seconds: {config.seconds:g} is not a positive number")
    names = [entry["name"] for entry in config.agents]
    agents = _agents(config.agents, config.seed)
    decks = [read_deck(entry) for entry in config.decks]
    if len(decks) not in (1, len(SEATS)):
        raise ConfigError(f"decks: {len(decks)} are given; one for both, or one each, as in decks=[charizard_ex]")
    out = None if config.out is None else OutputFile(config.out)
    match = new_match(MatchSpec("ptcg", config.seed, (decks[0].cards, decks[-1].cards)))
    transcript = Transcript(names)
    transcript.say(
        f"{names[0]} (seat 0, {decks[0].name}) against {names[1]} (seat 1, {decks[-1].name}), seed {config.seed}"
    )
    failure = asyncio.run(_watch(match, agents, transcript, config.decisions, config.seconds))
    if out is not None:
        out.write("\n".join([*transcript.lines, ""]))
    if failure is not None:
        print(f"jobs.transcript: {failure}", file=sys.stderr)
        return ExitCode.FAULT
    return ExitCode.COMPLETE


def _agents(entries: Sequence[Mapping[str, Any]], seed: int) -> list[Agent]:
    if len(entries) != len(SEATS):
        raise ConfigError(f"agents: {len(entries)} are given, two play")
    made: list[Agent] = []
    for seat, entry in enumerate(entries):
        try:
            settings = {name: value for name, value in entry.items() if name != "name"}
            made.append(make_agent(settings, seat, len(SEATS) * seed + seat))
        except (ValueError, TypeError) as error:
            raise ConfigError(f"agents: {entry['name']}: {error}") from error
    if not any(isinstance(agent, LLMAgent) for agent in made):
        raise ConfigError("agents: one of the two has to be a model, as in {model: loopback, harness: full}")
    return made


class Transcript:
    """What was played and said, as text; every line is printed at once and kept in ``lines``."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._turn: int | None = None
        self._begun = time.monotonic()
        self.lines: list[str] = []
        self.asked = 0
        self._total: dict[str, float] = {}

    def say(self, line: str) -> None:
        """Add one line."""
        self.lines.append(line)
        print(line, flush=True)

    def enter(self, turn: int) -> None:
        """What follows happens in ``turn``."""
        if turn != self._turn:
            self._turn = turn
            self.say(f"turn {turn}" if turn else "set-up")

    def played(self, seat: int, sentence: str, note: str = "") -> None:
        """An action for which no model was asked."""
        self.say(f"  {self._names[seat]}: {sentence}{note}")

    def decided(self, seat: int, legal: int, decision: Decision, listener: Listener, seconds: float) -> None:
        """A decision of a model, with its calls."""
        self.asked += 1
        self.say(f"  decision {self.asked}, {self._names[seat]}, {legal} legal actions")
        for call, (characters, reply) in zip(decision.calls, listener.heard, strict=True):
            cached = f", {call.cached_input_tokens} cached" if call.cached_input_tokens else ""
            self.say(f"    prompt   {call.input_tokens} tokens{cached}, {characters} characters")
            self.say(f"    reply    {_one_line(reply)}")
            cause = f": {call.cause}" if call.cause else ""
            self.say(f"    verdict  {call.verdict}{cause} ({call.output_tokens} tokens, {call.latency_seconds:.1f} s)")
        who = f"{decision.fallback} in its place" if decision.fallback else "as it says"
        for action in decision.actions:
            self.say(f"    action   {action.key}: {action.sentence} ({who})")
        if decision.forfeit:
            self.say("    gives the game up")
        self.say(f"    took     {seconds:.1f} s")
        self._count(decision)

    def _count(self, decision: Decision) -> None:
        for name in ("attempts", "invalid_attempts", "input_tokens", "output_tokens", "cost_usd"):
            self._total[name] = self._total.get(name, 0) + getattr(decision, name)
        self._total["calls"] = self._total.get("calls", 0) + len(decision.calls)
        self._total["fallbacks"] = self._total.get("fallbacks", 0) + (decision.fallback is not None)

    def finish(self, why: str) -> None:
        """Say ``why`` it ends here, and the sums."""
        self.say(f"ends: {why}")
        total = {name: f"{value:,.0f}" for name, value in self._total.items()}
        if total:
            self.say(
                f"{self.asked} decisions with {total['calls']} calls; {total['invalid_attempts']} of "
                f"{total['attempts']} action attempts invalid, {total['fallbacks']} decisions left to the fallback; "
                f"{total['input_tokens']} tokens in, {total['output_tokens']} out, {self._total['cost_usd']:.4f} USD"
            )
        self.say(f"{(time.monotonic() - self._begun) / 60:.1f} minutes")


class Listener:
    """Makes an agent's calls through the ordinary client and keeps how long prompts were and what was answered."""

    def __init__(self, client: OpenAIClient) -> None:
        self._client = client
        self.heard: list[tuple[int, str]] = []
        """Characters of the messages sent, and the reply's text, of each call of the decision."""

    async def __call__(self, key: CallKey, request: ChatRequest) -> ChatReply:
        """The reply, always new."""
        reply = await self._client.complete(request)
        characters = sum(len(message.get("content") or "") for message in request.messages)
        calls = [f"{call.name}({call.arguments})" for call in reply.tool_calls]
        self.heard.append((characters, " ".join([reply.content, *calls])))
        return reply


async def _watch(
    match: Match, agents: Sequence[Agent], transcript: Transcript, most: int, seconds: float
) -> str | None:
    """Play until there have been ``most`` decisions of models or time is up; what went wrong where a call failed."""
    listeners: dict[int, Listener] = {}
    async with AsyncExitStack() as stack:
        for seat, agent in enumerate(agents):
            if isinstance(agent, LLMAgent):
                listeners[seat] = Listener(await stack.enter_async_context(OpenAIClient(agent.model)))
                agent.connect(listeners[seat])
        try:
            async with asyncio.timeout(seconds):
                why = await _play(match, agents, transcript, listeners, most)
        except TimeoutError:
            why = f"{seconds:g} seconds are over"
        except CallFailed as failure:
            transcript.finish("a call failed")
            return str(failure)
    transcript.finish(why)
    return None


async def _play(
    match: Match, agents: Sequence[Agent], transcript: Transcript, listeners: Mapping[int, Listener], most: int
) -> str:
    while match.result is None:
        turn = match.turn
        for seat, action in play_forced(match):
            transcript.enter(turn)
            transcript.played(seat, action.sentence, " (forced)")
        if match.result is not None:
            break
        if transcript.asked == most:
            return f"{most} decisions, as asked for"
        seat = match.seats_to_act()[0]
        legal = match.legal_actions(seat)
        transcript.enter(match.turn)
        begun = time.monotonic()
        if seat in listeners:
            listeners[seat].heard.clear()
        decision = await agents[seat].act(match.observe(seat), legal)
        for action in decision.actions:
            match.apply(seat, action)
        if decision.calls:
            transcript.decided(seat, len(legal), decision, listeners[seat], time.monotonic() - begun)
        else:
            for action in decision.actions:
                transcript.played(seat, action.sentence, " (no choice)" if seat in listeners else "")
        if decision.forfeit:
            return "the game was given up"
    return f"the game is over: {match.result.outcome} by {match.result.cause}"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]} […]"


if __name__ == "__main__":
    sys.exit(main())
