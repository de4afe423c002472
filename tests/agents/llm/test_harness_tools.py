"""The tools: their schemas, and every legal action within reach by names and indices as well as by its key."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from random import Random
from typing import Any

import jsonschema
import pytest
from llm_play import positions
from ptcg_play import play, pokemon, position, side

from agents.llm.causes import Cause, Refused
from agents.llm.queries import answer
from agents.llm.resolve import resolve
from agents.llm.tools import BY_NAME, TOOLS, functions, legal_schema, reply_schema, tool_list, tool_of, tools
from engine.ptcg.actions import ActionKind, PtcgAction
from engine.ptcg.card import CARDS
from engine.ptcg.game import PtcgMatch
from engine.ptcg.observation import PtcgObservation

CHARMANDER, CHARMELEON, FIRE, MIST = "PAF-7", "PAF-8", "SVE-2", "TEF-161"

TABLE_4 = {
    "attack": {"source_card", "attack_name"},
    "play_pokemon": {"source_card", "position"},
    "evolve_pokemon": {"source_card", "target_card"},
    "attach_energy": {"source_card", "target_card"},
    "use_supporter": {"source_card"},
    "use_item": {"source_card"},
    "use_tool": {"source_card", "target_card"},
    "put_stadium": {"source_card"},
    "discard_stadium": {"source_card"},
    "use_stadium": {"source_card"},
    "use_ability": {"source_card"},
    "retreat": {"source_card"},
    "choose_card": {"chosen_cards"},
    "pass_turn": set(),
    "query_card": {"card_id"},
    "query_discard": {"player"},
    "activate_skill": {"name"},
}


def wanted(match: PtcgMatch, tool: str, /, *, listed: bool = True, **arguments: Any) -> list[str]:
    """The keys of the actions that a call asks for."""
    observation = match.observe(match.seats_to_act()[0])
    legal = match.legal_actions(observation.seat)
    return [action.key for action in resolve(BY_NAME[tool], arguments, observation, legal, listed)]


def refused(match: PtcgMatch, tool: str, /, *, listed: bool = True, **arguments: Any) -> Refused:
    """Why a call is refused."""
    with pytest.raises(Refused) as caught:
        wanted(match, tool, listed=listed, **arguments)
    return caught.value


def test_there_are_the_seventeen_tools_with_their_required_arguments() -> None:
    assert {tool.name: set(tool.required) for tool in TOOLS} == TABLE_4


def test_schemas_are_strict_and_accept_what_the_required_arguments_say() -> None:
    for function in functions(with_skills=True):
        schema = function["function"]["parameters"]
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])
        assert function["function"]["strict"] is True
        assert function["function"]["description"]
    attack = functions(True)[0]["function"]["parameters"]
    jsonschema.validate({"source_card": "A", "attack_name": "B"}, attack)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"source_card": "A", "attack_name": "B", "extra": 1}, attack)


def test_skills_are_offered_only_with_a_skill_library() -> None:
    assert "activate_skill" not in {tool.name for tool in tools(with_skills=False)}
    assert "activate_skill" not in tool_list(with_skills=False)
    assert {tool.name for tool in tools(with_skills=True)} == set(TABLE_4)


def test_reply_schemas_take_a_tool_call_or_a_legal_key_and_nothing_else() -> None:
    schema = reply_schema(with_skills=False)["json_schema"]["schema"]
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate({"thought": "t", "call": {"tool": "pass_turn", "arguments": {}}}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"thought": "t", "call": {"tool": "activate_skill", "arguments": {"name": "x"}}}, schema)
    legal = legal_schema(["pass"])["json_schema"]["schema"]
    jsonschema.validate({"thought": "t", "action": "pass"}, legal)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"thought": "t", "action": "attack:Tackle"}, legal)


def by_names(action: PtcgAction, observation: PtcgObservation) -> dict[str, Any]:
    """The arguments that ask for ``action`` by names, with indices where a name alone could be another one."""
    card = CARDS[action.card].name if action.card >= 0 else None
    target = CARDS[action.target].name if action.target >= 0 else None
    active = observation.you.active
    match action.kind:
        case ActionKind.PASS:
            return {}
        case ActionKind.ATTACK:
            assert active is not None
            return {"source_card": CARDS[active.cards[-1]].name, "attack_name": action.detail}
        case ActionKind.BENCH:
            return {"source_card": card, "position": "bench", "source_index": observation.you.hand.index(action.card)}
        case ActionKind.PLAY:
            return {"source_card": card, "source_index": observation.you.hand.index(action.card)}
        case ActionKind.EVOLVE | ActionKind.ATTACH:
            index = observation.you.hand.index(action.card)
            return {"source_card": card, "source_index": index, "target_card": target, "target_index": action.place}
        case ActionKind.ABILITY:
            return {"source_card": card, "ability_name": action.detail, "source_index": action.place}
        case ActionKind.RETREAT:
            assert active is not None
            name = CARDS[active.cards[-1]].name
            return {"source_card": name, "target_card": target, "target_index": action.place}
        case _:
            return {"source_card": card}


def test_every_action_of_a_turn_is_within_reach_by_names_and_indices_and_by_its_key() -> None:
    """Over games of all decks: the tool asked for by name gives just that action, and so does the key."""
    schemas = {tool.name: jsonschema.Draft202012Validator(tool.parameters()) for tool in TOOLS}
    reached: Counter[str] = Counter()
    pick = Random(11)
    for match, seat, legal in islice(positions(pick.choice, range(3)), 0, None, 4):
        observation = match.observe(seat)
        if observation.known.prompt is not None:
            continue
        for action in legal:
            tool = BY_NAME[tool_of(action)]
            arguments = by_names(action, observation)
            assert resolve(tool, arguments, observation, legal, True) == (action,)
            assert schemas[tool.name].is_valid({**dict.fromkeys(tool.arguments), **arguments})
            keyed = {**arguments, "source_card": action.key} if arguments else arguments
            assert resolve(tool, keyed, observation, legal, False) == (action,)
            reached[tool.name] += 1
    assert set(reached) >= set(TABLE_4) - {
        "discard_stadium",
        "choose_card",
        "query_card",
        "query_discard",
        "activate_skill",
    }


def test_cards_are_known_by_id_by_name_and_by_both_whatever_the_case() -> None:
    match = position(side("CRZ-111", hand=[CHARMANDER]))
    for said in ("Charmander", "charmander", "PAF-7", "Charmander (PAF-7)", " CHARMANDER  (paf-7)"):
        assert wanted(match, "play_pokemon", source_card=said, position="bench") == ["bench:PAF-7"]
    match = position(side("CRZ-111", hand=[FIRE]))
    for said in ("Fire Energy", "Basic Fire Energy", "SVE-2", "Fire Energy (SVE-2)"):
        assert wanted(match, "attach_energy", source_card=said, target_card="Bidoof") == ["attach:SVE-2>active"]


def test_a_name_that_several_pokemon_have_needs_the_index() -> None:
    yours = side(CHARMANDER, CHARMANDER, pokemon(CHARMANDER, damage=20), hand=[FIRE])
    match = position(yours)
    why = refused(match, "attach_energy", source_card="Fire Energy", target_card="Charmander")
    assert why.cause is Cause.AMBIGUOUS
    assert "target_index" in str(why)
    for index, place in enumerate(("active", "bench1", "bench2")):
        arguments = {"source_card": "Fire Energy", "target_card": "Charmander", "target_index": index}
        assert wanted(match, "attach_energy", **arguments) == [f"attach:SVE-2>{place}"]
    assert wanted(match, "attach_energy", source_card="SVE-2", target_card="bench2") == ["attach:SVE-2>bench2"]
    why = refused(match, "attach_energy", source_card="Fire Energy", target_card="Charmander", target_index=3)
    assert why.cause is Cause.ILLEGAL_ACTION


def test_a_name_that_only_things_alike_have_needs_no_index() -> None:
    match = position(side("CRZ-111", CHARMANDER, CHARMANDER, hand=[FIRE]))
    assert wanted(match, "attach_energy", source_card="Fire Energy", target_card="Charmander") == [
        "attach:SVE-2>bench1"
    ]


def test_a_tool_does_not_stand_for_actions_of_another() -> None:
    match = position(side(CHARMANDER, hand=[FIRE, "PAF-87", "PAF-84", "SVI-169"]))
    for tool in ("use_item", "put_stadium"):
        assert refused(match, tool, source_card="Professor's Research").cause is Cause.ILLEGAL_ACTION
    assert refused(match, "use_tool", source_card=FIRE, target_card="Charmander").cause is Cause.ILLEGAL_ACTION
    assert refused(match, "use_item", source_card="play:PAF-87").cause is Cause.ILLEGAL_ACTION
    assert wanted(match, "use_supporter", source_card="Professor’s Research") == ["play:PAF-87"]
    assert wanted(match, "use_tool", source_card="Defiance Band", target_card="Charmander") == ["attach:SVI-169>active"]


def test_use_ability_reaches_the_vstar_power_of_a_tool_and_attack_a_technical_machine() -> None:
    match = position(side(pokemon("CRZ-45", tools=["SIT-156"]), deck=[FIRE]))
    expected = ["ability:Star Alchemy@active"]
    assert wanted(match, "use_ability", source_card="Forest Seal Stone") == expected
    assert wanted(match, "use_ability", source_card="Rotom V", ability_name="Star Alchemy") == expected
    match = position(side(pokemon(CHARMANDER, energy=[FIRE], tools=["PAR-178"]), CHARMANDER))
    expected = ["attack:Evolution"]
    said = "Technical Machine: Evolution"
    assert wanted(match, "attack", source_card=said, attack_name="Evolution") == expected
    assert wanted(match, "attack", source_card="Charmander", attack_name="evolution") == expected


def test_an_attack_of_another_pokemon_than_the_active_one_is_refused() -> None:
    match = position(side(pokemon(CHARMANDER, energy=[FIRE, FIRE]), "CRZ-111"))
    why = refused(match, "attack", source_card="Bidoof", attack_name="Steady Firebreathing")
    assert why.cause is Cause.ILLEGAL_ACTION
    assert wanted(match, "attack", source_card="active", attack_name="Steady Firebreathing") == [
        "attack:Steady Firebreathing"
    ]


def test_discard_stadium_exists_and_is_never_legal_with_these_stadiums() -> None:
    match = position(side(CHARMANDER), stadium={"card": "BRS-137", "owner": 0})
    assert refused(match, "discard_stadium", source_card="Collapsed Stadium").cause is Cause.ILLEGAL_ACTION


def test_retreat_names_who_comes_in_where_there_are_several() -> None:
    yours = side(pokemon(CHARMANDER, energy=[FIRE]), "CRZ-111", CHARMELEON)
    match = position(yours)
    assert refused(match, "retreat", source_card="Charmander").cause is Cause.AMBIGUOUS
    assert wanted(match, "retreat", source_card="Charmander", target_card="Bidoof") == ["retreat>bench1"]
    assert wanted(match, "retreat", source_card="Charmander", target_index=2) == ["retreat>bench2"]
    assert refused(match, "retreat", source_card="Bidoof", target_index=2).cause is Cause.ILLEGAL_ACTION
    alone = position(side(pokemon(CHARMANDER, energy=[FIRE]), "CRZ-111"))
    assert wanted(alone, "retreat", source_card="Charmander") == ["retreat>bench1"]


def test_play_pokemon_puts_one_into_the_active_spot_while_the_game_is_set_up() -> None:
    for match, seat, _ in positions(lambda legal: legal[0], range(6), ["charizard_ex"]):
        observation = match.observe(seat)
        choosing = observation.to_json()["choosing"]
        if choosing is not None and choosing["question"] == "Choose your Active Pokémon":
            label = choosing["candidates"][-1]["label"]
            assert wanted(match, "play_pokemon", source_card=label, position="active") == [f"choose:{label}"]
            why = refused(match, "play_pokemon", source_card=label, position="bench")
            assert "choose_card" in str(why)
            return
    raise AssertionError("no game offered a choice of the Active Pokémon")


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        ({"source_card": "Charmander"}, Cause.MISSING_ARGUMENT),
        ({"source_card": None, "attack_name": "x"}, Cause.MISSING_ARGUMENT),
        ({"source_card": 7, "attack_name": "x"}, Cause.WRONG_TYPE),
        ({"source_card": ["Charmander"], "attack_name": "x"}, Cause.WRONG_TYPE),
        ({"source_card": "Charmander", "attack_name": "x"}, Cause.ILLEGAL_ACTION),
    ],
)
def test_missing_arguments_and_wrong_types_are_told_apart_from_illegal_actions(arguments: Any, cause: Cause) -> None:
    assert refused(position(side(CHARMANDER)), "attack", **arguments).cause is cause


def test_an_index_must_be_a_whole_number_and_a_position_one_of_two() -> None:
    match = position(side(CHARMANDER, hand=[FIRE, CHARMANDER]))
    for index in ("0", 0.0, True):
        arguments = {"source_card": FIRE, "target_card": "Charmander", "target_index": index}
        assert refused(match, "attach_energy", **arguments).cause is Cause.WRONG_TYPE
    assert refused(match, "play_pokemon", source_card=CHARMANDER, position="hand").cause is Cause.WRONG_TYPE


def test_a_refusal_names_legal_actions_only_where_they_are_listed_anyway() -> None:
    match = position(side(pokemon(CHARMANDER, energy=[FIRE, FIRE]), CHARMELEON, hand=[FIRE, CHARMANDER]))
    secret = {action.key for action in match.legal_actions(0)}
    tries: list[tuple[str, dict[str, Any]]] = [
        ("attack", {"source_card": "Charmander", "attack_name": "Nothing"}),
        ("attach_energy", {"source_card": "Water Energy", "target_card": "Charmander"}),
        ("retreat", {"source_card": "Nobody"}),
        ("use_item", {"source_card": "Rare Candy"}),
    ]
    for tool, arguments in tries:
        told = str(refused(match, tool, listed=False, **arguments))
        assert not [key for key in secret if key in told]
    assert "attack:Steady Firebreathing" in str(refused(match, "attack", source_card="x", attack_name="y"))


def test_query_card_gives_the_text_of_all_printings_of_a_name() -> None:
    observation = position(side(CHARMANDER)).observe(0)
    told = answer(BY_NAME["query_card"], {"card_id": "PAF-54"}, observation, None)
    assert "HP 330" in told
    assert "Infernal Reign" in told
    assert "Burning Darkness, cost 2 Fire, damage 180+" in told
    assert answer(BY_NAME["query_card"], {"card_id": "Charizard ex"}, observation, None) == told
    with pytest.raises(Refused) as caught:
        answer(BY_NAME["query_card"], {"card_id": "Mewthree"}, observation, None)
    assert caught.value.cause is Cause.UNKNOWN_CARD


def test_query_discard_tells_both_piles() -> None:
    match = position(side(CHARMANDER, discard=[FIRE, FIRE, CHARMANDER]), side("CRZ-111", discard=["PAF-91"]))
    observation = match.observe(0)
    told = answer(BY_NAME["query_discard"], {"player": "you"}, observation, None)
    assert "1 Charmander (PAF-7)" in told
    assert "2 Fire Energy (SVE-2)" in told
    assert "Ultra Ball (PAF-91)" in answer(BY_NAME["query_discard"], {"player": "opponent"}, observation, None)
    play(match, "pass")
    assert (
        "your discard pile is empty"
        in answer(BY_NAME["query_discard"], {"player": "you"}, position(side(CHARMANDER)).observe(0), None).lower()
    )
