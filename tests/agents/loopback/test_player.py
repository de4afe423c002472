"""The scripted player in real games: through the harness, the client and HTTP, as any model plays."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from chat import QUICK
from llm_play import ask
from ptcg_play import play as put
from ptcg_play import pokemon, position, side

from agents.base import Decision
from agents.llm.agent import LLMAgent, make_llm
from agents.llm.client import OpenAIClient
from agents.llm.contract import CallKey, ChatReply, ChatRequest, ToolCall, Usage
from agents.llm.models import parse_model
from agents.loopback import LoopbackServer, Settings
from agents.loopback.player import answer
from agents.loopback.profiles import PROFILES, Profile
from engine.match import Match, MatchSpec, play_forced
from engine.ptcg.decks import parse_deck
from engine.ptcg.game import PtcgMatch
from engine.registry import new_match

SETTINGS = Settings(seed=3)
MODEL = {"context_size": 128_000, "price": {"input": 0, "output": 0}, "retry": QUICK}
DECKS = Path(__file__).parents[3] / "conf" / "deck"


@dataclass
class Played:
    """What came of (the beginning of) a game."""

    keys: list[str] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    statistics: dict[str, Any] = field(default_factory=dict)

    @property
    def causes(self) -> Counter[str]:
        """Why attempts were refused."""
        return Counter(
            attempt.cause for decision in self.decisions for attempt in decision.attempt_log if attempt.cause
        )

    @property
    def invalid(self) -> int:
        return sum(decision.invalid_attempts for decision in self.decisions)


def play(
    profile: str,
    decisions: int = 60,
    harness: dict[str, Any] | None = None,
    settings: Settings = SETTINGS,
    **model: Any,
) -> Played:
    """So many decisions of mirror matches of ``profile`` against itself, one match after the other."""

    async def run() -> Played:
        played = Played()
        deck = parse_deck((DECKS / "charizard_ex.txt").read_text())
        async with LoopbackServer(settings) as server:
            config = {**MODEL, "id": f"loopback/{profile}", "base_url": server.base_url, **model}
            async with OpenAIClient(parse_model(config)) as client:

                async def caller(key: CallKey, request: ChatRequest) -> ChatReply:
                    return await client.complete(request)

                for seed in count(5):
                    agents = [
                        make_llm({"model": config, "harness": harness or {}}, seat, seed + seat) for seat in (0, 1)
                    ]
                    for agent in agents:
                        agent.connect(caller)
                    match = new_match(MatchSpec("ptcg", seed, (deck, deck), {}))
                    while match.result is None and len(played.decisions) < decisions:
                        await _decide(match, agents, played)
                    if len(played.decisions) >= decisions:
                        break
            played.statistics = server.statistics.to_json()
        return played

    return asyncio.run(run())


async def _decide(match: Match, agents: list[LLMAgent], played: Played) -> None:
    (seat,) = match.seats_to_act()
    decision = await agents[seat].act(match.observe(seat), match.legal_actions(seat))
    played.decisions.append(decision)
    for action in decision.actions:
        match.apply(seat, action)
        played.keys.append(action.key)
    play_forced(match)


@pytest.mark.parametrize("observation", ["structured", "raw"])
def test_where_actions_are_listed_it_plays_only_those(observation: str) -> None:
    played = play("greedy", harness={"observation": observation})
    assert played.invalid == 0
    assert not any(decision.fallback for decision in played.decisions)
    kinds = {key.partition(":")[0] for key in played.keys}
    assert kinds >= {"bench", "attach", "play", "choose"}


@pytest.mark.parametrize("observation", ["structured", "raw"])
def test_where_nothing_is_listed_it_guesses_and_sometimes_rightly(observation: str) -> None:
    played = play("skill_10", harness={"observation": observation, "mask": "hidden"})
    attempts = sum(decision.attempts for decision in played.decisions)
    assert 0.1 < played.invalid / attempts < 0.9
    own = [key for decision in played.decisions if not decision.fallback for key in [decision.actions[0].key]]
    assert len({key.partition(":")[0] for key in own}) > 3


@pytest.mark.parametrize("constrained", [False, True])
def test_without_tool_calls_it_answers_in_json(constrained: bool) -> None:
    played = play("greedy", 30, tool_protocol="json", json_schema=constrained)
    assert played.invalid == 0
    assert sum(decision.tool_calls for decision in played.decisions) > 20


def test_it_answers_with_a_key_where_nothing_else_is_let_through() -> None:
    played = play("greedy", 30, {"constraint": "legal"}, tool_protocol="json", json_schema=True)
    assert not any(decision.fallback for decision in played.decisions)


def test_a_bad_player_errs_in_many_ways_and_the_game_goes_on() -> None:
    played = play("messy", 120)
    assert len(played.decisions) == 120
    assert len(played.causes) >= 7
    assert any(call.reply_cleaned for decision in played.decisions for call in decision.calls)


def test_a_bad_line_costs_requests_but_changes_no_game() -> None:
    steady = play("skill_5")
    flaky = play("skill_5", settings=Settings(seed=3, server_faults=PROFILES["flaky"].server_faults))
    assert flaky.keys == steady.keys
    calls = [call for decision in flaky.decisions for call in decision.calls]
    assert flaky.statistics["requests"] == len(calls) + sum(call.retries for call in calls)
    assert flaky.statistics["requests"] > steady.statistics["requests"]


def test_the_same_seeds_give_the_same_game() -> None:
    first, second = play("messy", 40), play("messy", 40)
    assert first.keys == second.keys
    assert [d.calls[0].reply for d in first.decisions if d.calls] == [
        d.calls[0].reply for d in second.decisions if d.calls
    ]


@pytest.mark.parametrize("protocol", ["tools", "json"])
def test_it_reads_skills_where_there_is_a_library(protocol: str) -> None:
    skills = [{"name": name, "description": "b", "body": f"Read {name}."} for name in ("one", "two")]
    played = play("messy", 150, {"skills": {"name": "l", "skills": skills}}, tool_protocol=protocol)
    read = [one for decision in played.decisions for one in decision.attempt_log if one.tool == "activate_skill"]
    assert "answered" in {one.verdict for one in read}
    assert not [one for one in read if one.cause == "unknown_skill"]


def chosen(match: PtcgMatch, form: str, mask: str, profile: Profile, seed: int) -> Decision:
    """What the player makes of one choice."""

    def reply(key: CallKey, request: ChatRequest) -> ChatReply:
        said = answer(request.body(), profile, random.Random(f"{seed} {len(request.messages)}"))
        return ChatReply("", tuple(ToolCall(one.id, one.name, one.arguments) for one in said.calls), "", Usage())

    return ask(match, reply, {"observation": form, "mask": mask, "further_attempts": 0})[0]


@pytest.mark.parametrize("form", ["structured", "raw"])
@pytest.mark.parametrize("mask", ["listed", "hidden"])
@pytest.mark.parametrize(
    "energy",
    [["SVE-2", "SVE-2", "SVE-2", "TEF-161"], ["SVE-2", "SVE-2", "BRS-151", "TEF-161"], ["BRS-151", "BRS-151", "SVE-2"]],
    ids=" ".join,
)
def test_it_pays_a_cost_whatever_energy_there_is(form: str, mask: str, energy: list[str]) -> None:
    match = position(side(pokemon("CRZ-20", energy=energy), "CRZ-111"))
    put(match, "retreat>bench1")
    paid = set()
    for seed in range(12):
        decision = chosen(match.clone(), form, mask, PROFILES["greedy"], seed)
        assert (decision.fallback, decision.invalid_attempts) == (None, 0)
        paid.add(tuple(action.key for action in decision.actions))
    assert len(paid) > 1


@pytest.mark.parametrize("form", ["structured", "raw"])
def test_it_chooses_copies_of_one_card(form: str) -> None:
    # Ultra Ball asks for two cards to be discarded, of which there are copies only.
    match = position(side("CRZ-111", hand=["PAF-91", "SVE-2", "SVE-2", "SVE-2", "PAF-7"], deck=["PAF-7"] * 9))
    put(match, "play:PAF-91")
    picked = {
        tuple(action.key for action in chosen(match.clone(), form, "listed", PROFILES["greedy"], seed).actions)
        for seed in range(12)
    }
    assert ("choose:SVE-2", "choose:SVE-2") in picked
    assert ("choose:PAF-7", "choose:SVE-2") in picked


@pytest.mark.parametrize("form", ["structured", "raw"])
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param("discard", {"choose:SVE-2", "choose:PAF-7", "choose:CRZ-111"}, id="cards of the hand"),
        pytest.param("search", {"choose:PAF-7", "choose:MEW-16"}, id="cards of the own deck"),
        pytest.param("switch", {"choose:opponent.bench1", "choose:opponent.bench2"}, id="Benched Pokémon"),
    ],
)
def test_where_no_candidates_are_listed_it_names_what_the_position_shows(
    form: str, question: str, expected: set[str]
) -> None:
    match = {
        "discard": position(side("CRZ-111", hand=["PAF-91", "SVE-2", "PAF-7", "CRZ-111"], deck=["CRZ-20"] * 9)),
        "search": position(side("CRZ-111", hand=["TEF-144", "PAF-7"], deck=["PAF-7", "MEW-16"])),
        "switch": position(side("CRZ-111", hand=["PAL-265"]), side("CRZ-111", "CRZ-20", pokemon("CRZ-20", damage=20))),
    }[question]
    put(match, {"discard": "play:PAF-91", "search": "play:TEF-144", "switch": "play:PAL-265"}[question])
    picked = set()
    for seed in range(20):
        decision = chosen(match.clone(), form, "hidden", PROFILES["greedy"], seed)
        if decision.fallback is None:
            picked |= {action.key for action in decision.actions} - {"done"}
    assert picked == expected


@pytest.mark.parametrize("form", ["structured", "raw"])
def test_where_no_candidates_are_listed_it_errs_at_times_and_tries_something_else(form: str) -> None:
    played = play("skill_5", 150, {"observation": form, "mask": "hidden", "history": "none"})
    choices = [
        [json.loads(one.arguments)["chosen_cards"] for one in decision.attempt_log if one.tool == "choose_card"]
        for decision in played.decisions
    ]
    picks = [pick for choice in choices for attempt in choice for pick in attempt]
    assert len(picks) > 20
    assert not [pick for pick in picks if isinstance(pick, int)]
    repeated = [choice for choice in choices if len(choice) > 1 and choice[0] == choice[1] != []]
    retried = [choice for choice in choices if len(choice) > 1]
    assert len(retried) > 5
    assert len(repeated) < len(retried) / 4
    verdicts = Counter(
        one.verdict for decision in played.decisions for one in decision.attempt_log if one.tool == "choose_card"
    )
    assert 0.1 < verdicts["refused"] / verdicts.total() < 0.8
