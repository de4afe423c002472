"""The tools a model plays with: fifteen that act or answer a choice, and those that only tell it something."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Final

from engine.ptcg.actions import ActionKind, PtcgAction
from engine.ptcg.card import CARDS, Kind

TEXT: Final = {"type": "string"}
INDEX: Final = {"type": ["integer", "null"]}
OPTIONAL_TEXT: Final = {"type": ["string", "null"]}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what it is called, what it does, its arguments (name to JSON schema), which of them it cannot do without.

    A ``query`` changes nothing and is no action. ``kinds`` are the forms of action that it can stand for.
    """

    name: str
    description: str
    arguments: dict[str, dict[str, Any]] = field(default_factory=dict)
    query: bool = False
    kinds: tuple[ActionKind, ...] = ()

    @property
    def required(self) -> tuple[str, ...]:
        """The arguments that may not be null."""
        return tuple(name for name, schema in self.arguments.items() if "null" not in schema["type"])

    def parameters(self) -> dict[str, Any]:
        """The JSON schema of the arguments, as strict function calling wants it: all named, none beside them."""
        return {
            "type": "object",
            "properties": self.arguments,
            "required": list(self.arguments),
            "additionalProperties": False,
        }

    def function(self) -> dict[str, Any]:
        """The tool as it stands in a request."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters(),
            "strict": True,
        }
        return {"type": "function", "function": function}


def _text(description: str) -> dict[str, Any]:
    return {**TEXT, "description": description}


def _optional(description: str) -> dict[str, Any]:
    return {**OPTIONAL_TEXT, "description": description}


def _index(description: str) -> dict[str, Any]:
    return {**INDEX, "description": description}


_HAND_CARD = _text("Card in your hand, by name or id.")
_HAND_INDEX = _index("Index of that card in your hand, where cards of one name differ; else null.")
_TARGET = _text("Pokémon in play, by name or id.")
_TARGET_INDEX = _index("Its index (0 Active, 1 to 5 Bench), where several have that name; else null.")

_TRAINER = {"source_card": _HAND_CARD, "source_index": _HAND_INDEX}
_ONTO = {**_TRAINER, "target_card": _TARGET, "target_index": _TARGET_INDEX}

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        "attack",
        "Use an attack of your Active Pokémon, or of a Technical Machine attached to it. Ends your turn.",
        {
            "source_card": _text("Your Active Pokémon, or the Technical Machine."),
            "attack_name": _text("Name of the attack."),
        },
        kinds=(ActionKind.ATTACK,),
    ),
    Tool(
        "play_pokemon",
        "Put a Basic Pokémon from your hand onto your Bench, or into the Active Spot while the game is set up.",
        {
            "source_card": _HAND_CARD,
            "position": {"type": "string", "enum": ["active", "bench"], "description": "Where it goes."},
            "source_index": _HAND_INDEX,
        },
        kinds=(ActionKind.BENCH,),
    ),
    Tool(
        "evolve_pokemon",
        "Put an Evolution from your hand onto a Pokémon of yours.",
        _ONTO,
        kinds=(ActionKind.EVOLVE,),
    ),
    Tool(
        "attach_energy",
        "Attach an Energy card from your hand to a Pokémon of yours. Once a turn.",
        _ONTO,
        kinds=(ActionKind.ATTACH,),
    ),
    Tool("use_supporter", "Play a Supporter from your hand. Once a turn.", _TRAINER, kinds=(ActionKind.PLAY,)),
    Tool("use_item", "Play an Item from your hand.", _TRAINER, kinds=(ActionKind.PLAY,)),
    Tool(
        "use_tool",
        "Give a Pokémon of yours a Pokémon Tool from your hand.",
        _ONTO,
        kinds=(ActionKind.ATTACH,),
    ),
    Tool("put_stadium", "Put a Stadium from your hand into play. Once a turn.", _TRAINER, kinds=(ActionKind.PLAY,)),
    Tool(
        "discard_stadium",
        "Discard the Stadium in play, where it says that a player may do so.",
        {"source_card": _text("The Stadium in play.")},
    ),
    Tool(
        "use_stadium",
        "Use the effect of the Stadium in play, where it has one to use.",
        {"source_card": _text("The Stadium in play.")},
        kinds=(ActionKind.STADIUM,),
    ),
    Tool(
        "use_ability",
        "Use an Ability of a Pokémon of yours, or the VSTAR Power of a Pokémon Tool attached to it.",
        {
            "source_card": _text("The Pokémon, or the Pokémon Tool, by name or id."),
            "ability_name": _optional("Name of the Ability or VSTAR Power; null where there is only one."),
            "source_index": _index("Index of the Pokémon (0 Active, 1 to 5 Bench), where several fit; else null."),
        },
        kinds=(ActionKind.ABILITY,),
    ),
    Tool(
        "retreat",
        "Retreat your Active Pokémon; a Benched Pokémon takes its place. Once a turn.",
        {
            "source_card": _text("Your Active Pokémon."),
            "target_card": _optional("The Benched Pokémon that takes its place; null where there is only one."),
            "target_index": _index("Its index (1 to 5), where several have that name; else null."),
        },
        kinds=(ActionKind.RETREAT,),
    ),
    Tool(
        "choose_card",
        "Answer the choice that you are asked to make, whatever it is about, with all picks at once.",
        {
            "chosen_cards": {
                "type": "array",
                "items": {"type": ["string", "integer"]},
                "description": "Each pick by label, name or index of the candidate, repeated for copies; a number, "
                "yes, no or an option's text where that is asked for; empty to choose nothing.",
            }
        },
        kinds=(ActionKind.CHOOSE, ActionKind.DONE),
    ),
    Tool("pass_turn", "Finish your turn; there is no attack this turn.", kinds=(ActionKind.PASS,)),
    Tool(
        "query_card",
        "Read a card: numbers, Abilities, attacks, effect. Changes nothing.",
        {"card_id": _text("Id of the card, such as SVE-2, or its name.")},
        query=True,
    ),
    Tool(
        "query_discard",
        "Look through a discard pile. Changes nothing.",
        {"player": {"type": "string", "enum": ["you", "opponent"], "description": "Whose discard pile."}},
        query=True,
    ),
    Tool(
        "activate_skill",
        "Read a skill of your library. Changes nothing.",
        {
            "name": _text("Name of the skill."),
            "resource": _optional("Name of one of the skill's resources; null for the skill itself."),
        },
        query=True,
    ),
)

SKILL_TOOL: Final = "activate_skill"
BY_NAME: Final = {tool.name: tool for tool in TOOLS}
_PICKS_BY_NAME: Final = (
    "Each pick by what it is: a card by id or name, a Pokémon in play by place (such as bench2 or opponent.active) "
    "or name, a card on a Pokémon as CARD@PLACE; repeated for copies; a number, yes, no or an option's text where "
    "that is asked for; empty to choose nothing."
)


def _unlisted(tool: Tool) -> Tool:
    """``tool`` as it is described where no candidates are listed that have labels and indices."""
    if tool.name != "choose_card":
        return tool
    schema = {**tool.arguments["chosen_cards"], "description": _PICKS_BY_NAME}
    return replace(tool, arguments={"chosen_cards": schema})


_UNLISTED_TOOLS: Final = tuple(_unlisted(tool) for tool in TOOLS)
_FUNCTIONS: Final = tuple(tool.function() for tool in TOOLS)
_UNLISTED_FUNCTIONS: Final = tuple(tool.function() for tool in _UNLISTED_TOOLS)
_PLAY_TOOLS: Final = {Kind.SUPPORTER: "use_supporter", Kind.ITEM: "use_item", Kind.STADIUM: "put_stadium"}
_KIND_TOOLS: Final = {
    ActionKind.ATTACK: "attack",
    ActionKind.BENCH: "play_pokemon",
    ActionKind.EVOLVE: "evolve_pokemon",
    ActionKind.STADIUM: "use_stadium",
    ActionKind.ABILITY: "use_ability",
    ActionKind.RETREAT: "retreat",
    ActionKind.CHOOSE: "choose_card",
    ActionKind.DONE: "choose_card",
    ActionKind.PASS: "pass_turn",
}


def tools(with_skills: bool, listed: bool = True) -> tuple[Tool, ...]:
    """The tools of an agent, with or without a skill library, described for candidates that are listed or not."""
    found = TOOLS if listed else _UNLISTED_TOOLS
    return found if with_skills else found[:-1]


def functions(with_skills: bool, listed: bool = True) -> tuple[dict[str, Any], ...]:
    """The same as they stand in a request; not to be changed."""
    found = _FUNCTIONS if listed else _UNLISTED_FUNCTIONS
    return found if with_skills else found[:-1]


def functions_size(with_skills: bool, listed: bool = True) -> int:
    """How many characters the tools add to a request."""
    return len(json.dumps(functions(with_skills, listed), ensure_ascii=False))


def tool_of(action: PtcgAction) -> str:
    """The name of the tool that stands for ``action``."""
    if action.kind is ActionKind.PLAY:
        return _PLAY_TOOLS[CARDS[action.card].kind]
    if action.kind is ActionKind.ATTACH:
        return "attach_energy" if CARDS[action.card].is_energy else "use_tool"
    return _KIND_TOOLS[action.kind]


def tool_list(with_skills: bool, listed: bool = True) -> str:
    """The tools as text, a line for each, for a model that is not given them by the endpoint."""
    lines = []
    for tool in tools(with_skills, listed):
        arguments = [name if name in tool.required else f"{name}?" for name in tool.arguments]
        lines.append(f"- {tool.name}({', '.join(arguments)}): {tool.description}")
    return "\n".join(lines)


def reply_schema(with_skills: bool, listed: bool = True) -> dict[str, Any]:
    """The JSON schema of a reply in the json protocol: a thought and a call of one of the tools."""
    calls = [
        {
            "type": "object",
            "properties": {"tool": {"type": "string", "enum": [tool.name]}, "arguments": tool.parameters()},
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools(with_skills, listed)
    ]
    return _reply({"thought": TEXT, "call": {"anyOf": calls}})


def legal_schema(keys: list[str]) -> dict[str, Any]:
    """The JSON schema of a reply that can only be a thought and one of ``keys``."""
    return _reply({"thought": {**TEXT, "maxLength": 300}, "action": {**TEXT, "enum": keys}})


def _reply(properties: dict[str, Any]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "decision", "strict": True, "schema": schema}}
