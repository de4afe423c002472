"""What a card is: its printed values, its attacks and Abilities, and what it contributes while in play.

A definition is immutable and shared by all matches of a process. Inside a state a card is a small integer, its place in
the list of all cards sorted by id (see :mod:`engine.ptcg.library`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.ptcg.state import Frame, Pokemon, State

TYPE_LETTERS = "GRWLPFDMNC"
TYPE_NAMES: Mapping[str, str] = {
    "G": "Grass",
    "R": "Fire",
    "W": "Water",
    "L": "Lightning",
    "P": "Psychic",
    "F": "Fighting",
    "D": "Darkness",
    "M": "Metal",
    "N": "Dragon",
    "C": "Colorless",
}
"""Energy and Pokémon types by the letter used in costs."""

Op = Callable[["State", "Frame"], None]
"""One small operation of an effect; it reads and changes the state, and may ask for a choice or start a sub-program."""

Hook = Callable[..., Any]


class Kind(IntEnum):
    """The kinds of card, as far as the rules tell them apart."""

    POKEMON = 0
    ITEM = 1
    TOOL = 2
    SUPPORTER = 3
    STADIUM = 4
    BASIC_ENERGY = 5
    SPECIAL_ENERGY = 6


KIND_NAMES: Mapping[Kind, str] = {
    Kind.POKEMON: "Pokémon",
    Kind.ITEM: "Item",
    Kind.TOOL: "Pokémon Tool",
    Kind.SUPPORTER: "Supporter",
    Kind.STADIUM: "Stadium",
    Kind.BASIC_ENERGY: "Basic Energy",
    Kind.SPECIAL_ENERGY: "Special Energy",
}


class Limit(IntEnum):
    """How often an activated Ability may be used."""

    ONCE = 0
    """Once during its player's turn for each Pokémon that has it."""
    ONCE_PER_NAME = 1
    """Once during its player's turn for all Abilities of that name together."""
    FREE = 2
    """As often as its player likes."""
    VSTAR = 3
    """A VSTAR Power: once a game for each player."""


class Trigger(IntEnum):
    """What makes an Ability usable that is not activated at will."""

    NONE = 0
    PLAYED_TO_BENCH = 1
    """When played from hand onto the Bench during its player's turn."""
    PLAYED_TO_EVOLVE = 2
    """When played from hand to evolve a Pokémon during its player's turn."""


class Program:
    """A sequence of operations with a number by which a state refers to it."""

    __slots__ = ("number", "ops")

    def __init__(self, ops: tuple[Op, ...]) -> None:
        self.ops = ops
        self.number = len(PROGRAMS)
        PROGRAMS.append(self)


PROGRAMS: list[Program] = []
"""Every program, by number. Numbers are equal in all processes: definitions are loaded in one fixed order."""


class Attack:
    """An attack: ``cost`` in type letters, ``damage`` as printed (``180+``), ``text`` in our own words."""

    __slots__ = ("colored", "cost", "damage", "estimate", "name", "program", "text", "usable_on_first_turn")

    def __init__(
        self,
        name: str,
        cost: str,
        effect: tuple[Op, ...],
        damage: str = "",
        text: str = "",
        usable_on_first_turn: bool = False,
    ) -> None:
        self.name = name
        self.cost = cost
        self.damage = damage
        # The printed number without its sign: what an agent may expect at least, or for each of what is counted.
        self.estimate = int(damage.rstrip("+×") or 0)
        self.text = text
        self.program = Program(effect)
        self.usable_on_first_turn = usable_on_first_turn
        # (letter, how many) for each type that the cost names; Colorless is what remains of its length.
        self.colored = tuple((letter, cost.count(letter)) for letter in TYPE_LETTERS[:-1] if letter in cost)


class Ability:
    """An Ability or VSTAR Power.

    With ``effect`` and no ``trigger`` it is activated, up to ``limit``; with a ``trigger`` it is offered at that
    moment; both only where ``when(state, seat, pokemon)`` allows. With ``hooks`` it acts by being in play. After one
    that ``ends_turn`` the turn is over.
    """

    __slots__ = ("ends_turn", "hooks", "limit", "name", "program", "text", "trigger", "when")

    def __init__(
        self,
        name: str,
        text: str,
        effect: tuple[Op, ...] = (),
        when: Callable[[State, int, Pokemon], bool] | None = None,
        limit: Limit = Limit.ONCE,
        trigger: Trigger = Trigger.NONE,
        hooks: Mapping[str, Hook] | None = None,
        ends_turn: bool = False,
    ) -> None:
        self.name = name
        self.text = text
        self.ends_turn = ends_turn
        self.program = Program(effect) if effect else None
        self.when = when
        self.limit = limit
        self.trigger = trigger
        self.hooks: Mapping[str, Hook] = hooks or {}


class Card:
    """A printing. Fields that a kind of card does not have keep their empty value."""

    __slots__ = (
        "abilities",
        "activated",
        "attacks",
        "basic_form",
        "evolves_from",
        "hooks",
        "hp",
        "id",
        "index",
        "is_ace_spec",
        "is_basic",
        "is_basic_energy",
        "is_energy",
        "is_pokemon",
        "kind",
        "name",
        "on_attach",
        "on_enter",
        "on_knock_out",
        "passive",
        "playable",
        "prizes",
        "program",
        "provides",
        "resistance",
        "retreat",
        "rule_box",
        "stage",
        "stage_name",
        "tags",
        "text",
        "trigger",
        "triggered",
        "types",
        "weakness",
    )

    def __init__(self, card_id: str, name: str, kind: Kind, text: str = "", tags: tuple[str, ...] = ()) -> None:
        self.id = card_id
        self.index = -1
        self.name = name
        self.kind = kind
        self.text = text
        self.tags = tags
        self.rule_box = False
        self.is_ace_spec = "ACE SPEC" in tags
        self.is_pokemon = kind == Kind.POKEMON
        self.is_basic = False
        self.is_energy = kind in (Kind.BASIC_ENERGY, Kind.SPECIAL_ENERGY)
        self.is_basic_energy = kind == Kind.BASIC_ENERGY
        self.hp = 0
        self.types = ""
        self.weakness = ""
        self.resistance = ""
        self.retreat = 0
        self.stage = 0
        self.stage_name = ""
        self.evolves_from = ""
        self.basic_form = ""
        self.prizes = 0
        self.abilities: tuple[Ability, ...] = ()
        self.activated: tuple[Ability, ...] = ()
        self.passive: tuple[Ability, ...] = ()
        self.triggered: Ability | None = None
        self.trigger = Trigger.NONE
        self.attacks: tuple[Attack, ...] = ()
        self.provides = ""
        self.playable: Callable[[State, int], bool] | None = None
        self.program: Program | None = None
        self.on_attach: Program | None = None
        self.on_enter: Program | None = None
        self.on_knock_out: Program | None = None
        # What the card contributes while attached or in play; a Pokémon's Abilities keep their own.
        self.hooks: Mapping[str, Hook] = {}

    def __repr__(self) -> str:
        return f"<{self.id} {self.name}>"


CARDS: list[Card] = []
"""All cards sorted by id, filled by :mod:`engine.ptcg.library`; a state refers to a card by its place here."""

DEFINED: dict[str, Card] = {}
"""All definitions by id, filled as the files under ``cards/`` are loaded."""


def define(card: Card) -> Card:
    """Add ``card`` to the library; raises ``ValueError`` where its id is taken."""
    if card.id in DEFINED:
        raise ValueError(f"card {card.id} is defined twice")
    DEFINED[card.id] = card
    return card


def _rule_text(tags: tuple[str, ...], prizes: int) -> str:
    """The rules that a Pokémon's tags bring with them, in words."""
    rules: list[str] = []
    if "Tera" in tags:
        rules.append(
            "As long as this Pokémon is on your Bench, attacks (yours and your opponent's) do no damage to it."
        )
    if prizes > 1:
        rules.append(f"When this Pokémon is Knocked Out, your opponent takes {prizes} Prize cards.")
    if "Radiant" in tags:
        rules.append("A deck can have only 1 Radiant Pokémon.")
    return " ".join(rules)


_STAGES = {"Basic": 0, "Stage 1": 1, "Stage 2": 2, "VSTAR": 1}


def pokemon(
    card_id: str,
    name: str,
    stage: str,
    *,
    hp: int,
    types: str,
    weakness: str = "",
    resistance: str = "",
    retreat: int = 0,
    evolves_from: str = "",
    basic_form: str = "",
    tags: tuple[str, ...] = (),
    prizes: int = 1,
    abilities: tuple[Ability, ...] = (),
    attacks: tuple[Attack, ...] = (),
) -> Card:
    """Define a Pokémon. ``stage`` is as printed, ``types``, ``weakness`` and ``resistance`` are type letters.

    Weakness is ×2 and Resistance −30, as on every card of this era. ``tags`` are ex, V, Tera, Radiant, Future,
    Ancient. A Stage 2 names its ``basic_form``, the Basic Pokémon that its line begins with.
    """
    card = Card(card_id, name, Kind.POKEMON, tags=tags)
    card.stage = _STAGES[stage]
    card.stage_name = stage
    card.is_basic = stage == "Basic"
    card.hp = hp
    card.types = types
    card.weakness = weakness
    card.resistance = resistance
    card.retreat = retreat
    card.evolves_from = evolves_from
    card.basic_form = basic_form
    card.prizes = prizes
    card.text = _rule_text(tags, prizes)
    card.rule_box = stage == "VSTAR" or any(tag in ("ex", "V", "Radiant") for tag in tags)
    card.abilities = abilities
    card.attacks = attacks
    card.activated = tuple(a for a in abilities if a.program is not None and a.trigger == Trigger.NONE)
    card.passive = tuple(a for a in abilities if a.hooks)
    for ability in abilities:
        if ability.trigger != Trigger.NONE:
            card.triggered = ability
            card.trigger = ability.trigger
    return define(card)


def _trainer(
    kind: Kind,
    card_id: str,
    name: str,
    text: str,
    tags: tuple[str, ...],
    playable: Callable[[State, int], bool] | None,
    effect: tuple[Op, ...],
) -> Card:
    card = Card(card_id, name, kind, text, tags)
    card.playable = playable
    card.program = Program(effect) if effect else None
    return define(card)


def item(
    card_id: str,
    name: str,
    text: str,
    *,
    effect: tuple[Op, ...],
    playable: Callable[[State, int], bool] | None = None,
    tags: tuple[str, ...] = (),
) -> Card:
    """Define an Item. ``playable(state, seat)`` says whether it would do anything; ``None`` means always."""
    return _trainer(Kind.ITEM, card_id, name, text, tags, playable, effect)


def supporter(
    card_id: str,
    name: str,
    text: str,
    *,
    effect: tuple[Op, ...],
    playable: Callable[[State, int], bool] | None = None,
) -> Card:
    """Define a Supporter."""
    return _trainer(Kind.SUPPORTER, card_id, name, text, (), playable, effect)


def stadium(
    card_id: str,
    name: str,
    text: str,
    *,
    on_enter: tuple[Op, ...] = (),
    once_each_turn: tuple[Op, ...] = (),
    usable: Callable[[State, int], bool] | None = None,
    hooks: Mapping[str, Hook] | None = None,
) -> Card:
    """Define a Stadium: ``on_enter`` happens when it is played, ``once_each_turn`` is each player's to use."""
    card = _trainer(Kind.STADIUM, card_id, name, text, (), usable, once_each_turn)
    card.on_enter = Program(on_enter) if on_enter else None
    card.hooks = hooks or {}
    return card


def tool(
    card_id: str,
    name: str,
    text: str,
    *,
    hooks: Mapping[str, Hook] | None = None,
    abilities: tuple[Ability, ...] = (),
    attacks: tuple[Attack, ...] = (),
    on_knock_out: tuple[Op, ...] = (),
    tags: tuple[str, ...] = (),
) -> Card:
    """Define a Pokémon Tool; its ``abilities`` and ``attacks`` are the holder's to use."""
    card = Card(card_id, name, Kind.TOOL, text, tags)
    card.hooks = hooks or {}
    card.abilities = abilities
    card.activated = tuple(a for a in abilities if a.program is not None)
    card.attacks = attacks
    card.on_knock_out = Program(on_knock_out) if on_knock_out else None
    return define(card)


def basic_energy(card_id: str, letter: str) -> Card:
    """Define a Basic Energy of the type with this letter."""
    name = f"{TYPE_NAMES[letter]} Energy"
    card = Card(card_id, name, Kind.BASIC_ENERGY, f"Provides 1 {TYPE_NAMES[letter]} Energy.")
    card.provides = letter
    return define(card)


def special_energy(
    card_id: str,
    name: str,
    text: str,
    *,
    provides: str,
    hooks: Mapping[str, Hook] | None = None,
    on_attach: tuple[Op, ...] = (),
    on_knock_out: tuple[Op, ...] = (),
) -> Card:
    """Define a Special Energy; ``provides`` has a letter for each Energy it provides at the same time."""
    card = Card(card_id, name, Kind.SPECIAL_ENERGY, text)
    card.provides = provides
    card.hooks = hooks or {}
    card.on_attach = Program(on_attach) if on_attach else None
    card.on_knock_out = Program(on_knock_out) if on_knock_out else None
    return define(card)
