"""What the model is shown: everything the seat may know, structured and raw, with and without the legal actions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any

import pytest
from llm_play import DECKS, ScriptedCaller, agent, ask, call, calls, everything_said, new_game, play_game, positions
from ptcg_play import keys, play, pokemon, position, side

from agents.llm.config import parse_harness
from agents.llm.memory import Memory
from agents.llm.rendering import raw, structured
from engine.match import play_forced
from engine.ptcg.card import CARDS
from engine.ptcg.game import PtcgMatch
from engine.ptcg.library import INDEX

CHARMANDER, FIRE = "PAF-7", "SVE-2"
RENAMED = {"choosing": "choosing_card"}
MERGED = {"active": "active_and_bench", "bench": "active_and_bench"}


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value of an observation that says something, with the keys above it."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, path)
    elif value not in (None, False, ""):
        yield path, value


def below(value: Any, *path: str) -> str:
    """What stands below ``path`` of a structured view, as text; a key is looked up in all entries of a list."""
    for key in path:
        if isinstance(value, list):
            value = [item[key] for item in value if isinstance(item, dict) and key in item]
        else:
            value = value[key]
    return json.dumps(value, ensure_ascii=False)


def said(value: Any) -> str:
    """A value as a structured view writes it: cards by name and id."""
    if isinstance(value, str) and value in INDEX:
        return f"{CARDS[INDEX[value]].name} ({value})"
    return "yes" if value is True else str(value)


def shown_positions(seeds: int) -> Iterator[Any]:
    pick = Random(3)
    return islice(positions(pick.choice, range(seeds), DECKS), 0, None, 7)


def test_every_field_of_an_observation_is_in_the_structured_view() -> None:
    checked = set()
    for match, seat, legal in shown_positions(2):
        observation = match.observe(seat)
        memory = Memory()
        memory.take(observation)
        view = json.loads(structured(observation, legal, memory))
        engine = observation.to_json()
        events = engine.pop("events")
        for path, value in leaves(engine):
            checked.add(path)
            top, *rest = [RENAMED.get(key, key) for key in path]
            rest = [MERGED.get(key, key) for key in rest] if top in ("you", "opponent") else rest
            if rest[:1] in (["deck_list"], ["unseen"]):
                assert f"{value} {said(rest[1])}" in below(view, top, rest[0])
            elif path == ("stadium", "owner"):
                assert view["stadium"]["owner"] == ("you" if value == seat else "opponent")
            elif rest[:1] == ["candidates"]:
                # Candidates are a line each: index, label, name, and copies where there are several.
                assert str(value) in below(view, top, "candidates") or (rest[-1], value) == ("copies", 1)
            elif rest[-1:] == ["card"]:
                assert f'"{value}"' in below(view, top, *rest) or said(value) in below(view, top, *rest)
            elif value != 0 or rest[-1:] in (["hp"], ["damage"], ["hand_count"]):
                assert said(value) in below(view, top, *rest) or json.dumps(value) in below(view, top, *rest), path
        lines = view["events_since_your_last_decision"]
        assert len(lines) == len(events)
        for line, event in zip(lines, events, strict=True):
            for path, value in leaves(event):
                if path not in (("event",), ("seat",)):
                    assert said(value) in line
    sections = {path[:2] for path in checked}
    assert {("you", "active"), ("opponent", "bench"), ("choosing", "candidates"), ("you", "unseen")} <= sections


def test_the_raw_view_has_the_whole_observation_the_log_and_the_cards_it_names() -> None:
    for match, seat, legal in shown_positions(1):
        observation = match.observe(seat)
        memory = Memory()
        memory.take(observation)
        view = json.loads(raw(observation, legal, memory))
        engine = observation.to_json()
        events = engine.pop("events")
        assert {key: view[key] for key in engine} == engine
        assert view["log"] == events
        assert view["new"] == len(events)
        assert view["legal"] == [[action.key, action.sentence] for action in legal]
        for card in engine["you"]["deck_list"]:
            assert view["cards"][card][0] == CARDS[INDEX[card]].name


def test_facts_of_pokemon_are_in_both_views() -> None:
    match = position(side(pokemon("PAF-54", energy=[FIRE]), hand=[FIRE]))
    observation = match.observe(0)
    active = json.loads(structured(observation, None, Memory()))["you"]["active_and_bench"][0]
    assert active["attacks"] == ["Burning Darkness [RR] 180+"]
    assert active["abilities"] == ["Infernal Reign"]
    facts = json.loads(raw(observation, None, Memory()))["cards"]["PAF-54"]
    assert {"Charizard ex", "Infernal Reign", "Burning Darkness [RR] 180+"} <= set(facts)


def test_what_is_told_names_pokemon_by_index_and_cards_in_hand_by_index_too() -> None:
    match = position(side(CHARMANDER, CHARMANDER, pokemon(CHARMANDER, damage=20), hand=[FIRE, "PAF-89"]))
    you = json.loads(structured(match.observe(0), None, Memory()))["you"]
    assert [(found["index"], found["name"], found["hp"]) for found in you["active_and_bench"]] == [
        (0, "Charmander", 70),
        (1, "Charmander", 70),
        (2, "Charmander", 50),
    ]
    assert [card.split(",")[0] for card in you["hand"]] == ["0: Rare Candy (PAF-89)", "1: Fire Energy (SVE-2)"]


@pytest.mark.parametrize("form", ["structured", "raw"])
def test_a_payment_says_how_much_energy_it_takes(form: str) -> None:
    yours = side(pokemon("CRZ-111", energy=[FIRE, "TEF-161"]), CHARMANDER)
    match = play(position(yours), "retreat>bench1")
    _, caller = ask(match, [calls(call("choose_card", chosen_cards=["Mist Energy"]))], {"observation": form})
    assert '"energy_to_pay":1' in caller.requests[0].messages[-1]["content"].replace(" ", "")


def test_available_actions_are_grouped_by_tool_with_key_and_sentence() -> None:
    match = position(side(CHARMANDER, hand=[FIRE, CHARMANDER]))
    observation, legal = match.observe(0), match.legal_actions(0)
    listed = json.loads(structured(observation, legal, Memory()))["available_actions"]
    assert listed["attach_energy"] == [
        "attach:SVE-2>active = Attach Fire Energy (SVE-2) to Charmander in your Active Spot."
    ]
    assert listed["play_pokemon"] == ["bench:PAF-7 = Put Charmander (PAF-7) from your hand onto your Bench."]
    assert sum(len(actions) for actions in listed.values()) == len(legal)


@pytest.mark.parametrize("observation", ["structured", "raw"])
@pytest.mark.parametrize("protocol", ["tools", "json"])
def test_a_hidden_mask_is_hidden_in_everything_that_is_sent(observation: str, protocol: str) -> None:
    """Whole games in which the model does nothing legal, so that it cannot have said a key itself."""
    harness = {"mask": "hidden", "observation": observation, "further_attempts": 1, "history": "none"}
    for seed, name in enumerate(DECKS):
        match = new_game(seed, name)
        play_forced(match)
        nonsense = [
            calls(call("attack", source_card="Nobody", attack_name="Nothing"), call("choose_card", chosen_cards=["x"])),
            calls(call("choose_card", chosen_cards=["nothing of the kind"])),
            calls(call("choose_card", chosen_cards=[0])),
        ]

        def reply(key: Any, request: Any, nonsense: Any = nonsense, match: PtcgMatch = match) -> Any:
            choosing = match.observe(match.seats_to_act()[0]).to_json()["choosing"]
            if choosing is not None and key.decision % 2:
                # More copies than there are of whatever comes first.
                return calls(call("choose_card", chosen_cards=[choosing["candidates"][0]["label"]] * 61))
            return nonsense[(key.decision + key.call) % 3]

        caller = ScriptedCaller(reply)
        players = [
            agent(caller, harness, seat, tool_protocol=protocol, json_schema=protocol == "json") for seat in (0, 1)
        ]
        for _ in range(60):
            if match.result is not None:
                break
            (seat,) = match.seats_to_act()
            secret = {action.key for action in match.legal_actions(seat)} | {
                action.sentence for action in match.legal_actions(seat)
            }
            # Said by the prompt's own words, or as the wording of the question itself.
            secret -= {"pass", "done"}
            choosing = match.observe(seat).to_json()["choosing"]
            before = len(caller.requests)
            play_game(match, players, 1)
            for request in caller.requests[before:]:
                body = everything_said(request)
                assert not [told for told in secret if told in body]
                assert "available_actions" not in body
                if choosing is not None and choosing["candidates"][0]["label"].partition("@")[0] in INDEX:
                    assert '"candidates"' not in request.messages[-1]["content"]
                    if request is not caller.requests[before]:
                        answer = request.messages[-1]["content"]
                        told = [item["label"] for item in choosing["candidates"] if item["label"] in answer]
                        assert set(told) <= set(choosing["picked"])


def test_the_wording_of_a_question_is_told_also_where_the_mask_is_hidden() -> None:
    match = new_game(1)
    decision, caller = ask(match, [calls(call("choose_card", chosen_cards=["go second"]))], {"mask": "hidden"})
    assert '"candidates": ["go first", "go second"]' in caller.requests[0].messages[-1]["content"]
    assert [action.key for action in decision.actions] == ["choose:go second"]


@pytest.mark.parametrize("observation", ["structured", "raw"])
@pytest.mark.parametrize("length", ["full", "short"])
@pytest.mark.parametrize("protocol", ["tools", "json"])
def test_prompts_and_schemas_say_of_each_mask_what_is_so(observation: str, length: str, protocol: str) -> None:
    """Indices and labels of candidates are spoken of where candidates are listed with them, and nowhere else."""
    match = play(position(side(CHARMANDER, hand=["PAF-91", FIRE, FIRE, "CRZ-111"])), "play:PAF-91")
    told = {}
    for mask in ("listed", "hidden"):
        harness = {"mask": mask, "observation": observation, "prompt": length, "further_attempts": 0}
        schema = {"tool_protocol": protocol, "json_schema": protocol == "json"}
        _, caller = ask(match, [calls(call("pass_turn"))], harness, **schema)
        body = caller.requests[0].body()
        told[mask] = (
            body["messages"][0]["content"],
            json.dumps([body.get("tools"), body.get("response_format")], ensure_ascii=False),
            body["messages"][-1]["content"].replace(" ", ""),
        )
    system, schema_text, position_text = told["listed"]
    assert "name or index of the candidate" in schema_text
    assert '"candidates"' in position_text
    assert "Picks have no index" not in system
    if (observation, length) == ("structured", "full"):
        assert "each candidate with its index, label" in system
    system, schema_text, position_text = told["hidden"]
    assert "candidate" not in schema_text
    assert "a card on a Pokémon as CARD@PLACE" in schema_text
    assert '"candidates"' not in position_text
    assert "each candidate" not in system
    assert "Picks have no index" in system


def test_events_since_the_last_decision_tell_what_came_of_it_and_of_forced_actions() -> None:
    match = position(side(CHARMANDER, hand=["PAF-87", FIRE], deck=[FIRE] * 9))
    caller = ScriptedCaller(
        [calls(call("use_supporter", source_card="Professor's Research")), calls(call("pass_turn"))]
    )
    player = agent(caller)
    play_game(match, [player, player], 2)
    told = json.loads(caller.requests[1].messages[-1]["content"].partition("\n\n")[2])[
        "events_since_your_last_decision"
    ]
    assert [line.partition(":")[0] for line in told] == ["you play", "you discard", "you draw"]
    assert told[2].count("Fire Energy (SVE-2)") == 7


def test_the_opponents_last_turn_is_told_as_actions() -> None:
    match = position(
        side(CHARMANDER, hand=[FIRE], deck=[FIRE] * 5), side(CHARMANDER, hand=[FIRE, CHARMANDER], deck=[FIRE])
    )
    play(match, "pass", "bench:PAF-7", "attach:SVE-2>bench1", "pass")
    memory = Memory()
    observation = match.observe(0)
    memory.take(observation)
    told = json.loads(structured(observation, None, memory))["opponent_last_turn_actions"]
    assert [line.partition(":")[0] for line in told] == ["opponent bench", "opponent attach", "opponent pass"]
    assert "Fire Energy (SVE-2)" in told[1]


def test_memory_keeps_events_over_decisions_that_the_model_is_not_asked_for() -> None:
    """An agent is shown observations that overlap or leave a gap; every event is told once."""
    match = position(side(CHARMANDER, hand=[FIRE], deck=[FIRE] * 5), side(CHARMANDER, hand=[FIRE], deck=[FIRE] * 5))
    memory = Memory()
    play(match, "attach:SVE-2>active")
    memory.take(match.observe(0))
    memory.take(match.observe(0))
    assert [event["event"] for event in memory.untold()] == ["attach"]
    memory.tell()
    play(match, "pass", "pass")
    memory.take(match.observe(0))
    kinds = [event["event"] for event in memory.untold()]
    assert kinds[0] == "pass"
    assert kinds.count("turn") == 2
    assert "attach" not in kinds


def test_memory_forgets_turns_long_past_but_nothing_untold() -> None:
    match = new_game(5)
    pick = Random(1)
    memory = Memory()
    while match.result is None:
        (seat,) = match.seats_to_act()
        if seat == 0:
            memory.take(match.observe(0))
            memory.tell()
        match.apply(seat, pick.choice(match.legal_actions(seat)))
    assert sum(event["event"] == "turn" for event in memory.recent()) <= 5
    assert keys(match) == []


def test_a_harness_says_how_it_shows_things() -> None:
    match = position(side(CHARMANDER, hand=[FIRE]))
    reply = [calls(call("pass_turn"))]
    shown = {}
    for form in ("structured", "raw"):
        for mask in ("listed", "hidden"):
            _, caller = ask(match, reply, {"observation": form, "mask": mask})
            shown[form, mask] = caller.requests[0].messages[0]["content"]
    assert len(set(shown.values())) == 4
    assert "choosing_card" in shown["structured", "listed"]
    assert "`log`" in shown["raw", "listed"]
    assert "You are not told which actions are legal" in shown["raw", "hidden"]
    assert parse_harness({}).to_json()["mask"] == "listed"
