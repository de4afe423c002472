"""What the text of a card, an Ability or an attack says it is good for.

Only general words of the game are looked for, no names of cards, so that any deck can be played. What is not understood
is still played, with a weight of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from engine.ptcg.card import CARDS, Ability, Attack, Card, Kind

_NUMBERS = {"a": 1, "an": 1, "another": 1, "one": 1, "two": 2, "three": 3}
_A_DECK = r"(?:your|their|the) deck"
_DRAW_UNTIL = re.compile(r"draws? cards until (?:you have|your hand has) (\d+)", re.IGNORECASE)
_DRAW = re.compile(r"draws? (\d+|an?|one|two|three) (?:more )?cards?(?! for each)", re.IGNORECASE)
_DRAW_FOR_EACH = re.compile(r"draws? (?:a|1) card for each", re.IGNORECASE)
_DRAW_FOR_PRIZES = re.compile(r"draws? (?:a|1) card for each of (?:your|their) remaining prize", re.IGNORECASE)
_HAND_COST = re.compile(
    r"(?:discard|put) (?:up to )?(\d+|an?|another|one|two|three) (?:other |Energy )?cards? from your hand",
    re.IGNORECASE,
)
_HAND_GONE = re.compile(r"discard your (?:whole )?hand|shuffles? (?:your|their) hand", re.IGNORECASE)
_SEARCH = re.compile(rf"search {_A_DECK}|look at the top", re.IGNORECASE)
_ONTO_BENCH = re.compile(r"(?<!you play this Pokémon from your hand )onto (?:your|their) bench", re.IGNORECASE)
_ATTACH = re.compile(
    r"attach (?:up to |it|them|a |an |each|any|\d|the )[^.]*(?:your (?:Benched )?[^.]*Pokémon|to)", re.IGNORECASE
)
_FROM_DISCARD = re.compile(r"(?:from|in) your discard pile", re.IGNORECASE)
_GUST = re.compile(
    r"your opponent'?s Benched Pokémon[^.]*(?:switch|Active)|switch in (?:one|1) of your opponent", re.IGNORECASE
)
_SWITCH = re.compile(r"switch (?:your Active|that Pokémon with your Active|it with your Active)", re.IGNORECASE)
_EVOLVE = re.compile(r"skipping (?:the|its) Stage 1|\bevolves?,? skipping", re.IGNORECASE)
_HEAL = re.compile(r"\bheal\b", re.IGNORECASE)
_REMOVE = re.compile(
    r"(?:Pokémon Tool|the Stadium|any Stadium)[^.]*(?:Lost Zone|discard)|discard the Stadium", re.IGNORECASE
)
_PICK_UP = re.compile(r"put one of your Pokémon in play[^.]*into your hand", re.IGNORECASE)
_LEAVE = re.compile(r"(?:discard|shuffle) this Pokémon", re.IGNORECASE)
_MOVE_DAMAGE = re.compile(r"move [^.]*damage counters?", re.IGNORECASE)
_DISRUPT = re.compile(r"each player (?!may)[^.]*hand", re.IGNORECASE)
_INTO_DECK = re.compile(rf"(?:into|bottom of) {_A_DECK}", re.IGNORECASE)
_SEVERAL = re.compile(r"up to [2-9]", re.IGNORECASE)
_FUEL = re.compile(r"Energy[^.]*from your hand", re.IGNORECASE)
_DAMAGE_TO = re.compile(r"(\d+) damage (?:to|for)", re.IGNORECASE)
_LEADING_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Purpose:
    """What an effect is for, as far as its text tells.

    ``draw`` is how many cards it draws, ``draw_until`` the size of hand it draws up to (0 for neither), ``hand_cost``
    how many cards of the hand it costs.
    """

    draw: int = 0
    draw_until: int = 0
    draw_for_prizes: bool = False
    hand_cost: int = 0
    energy_cost: bool = False
    hand_gone: bool = False
    search: bool = False
    onto_bench: bool = False
    attach: bool = False
    from_discard: bool = False
    gust: bool = False
    switch: bool = False
    evolve: bool = False
    heal: bool = False
    remove: bool = False
    pick_up: bool = False
    leave: bool = False
    move_damage: bool = False
    disrupt: bool = False
    into_deck: bool = False
    several: bool = False

    @property
    def draws(self) -> bool:
        """Whether it draws cards in any way."""
        return bool(self.draw or self.draw_until or self.draw_for_prizes)


@lru_cache(maxsize=4096)
def purpose(text: str) -> Purpose:
    """What ``text`` (a card's, an Ability's, an option's) is for."""
    until = _DRAW_UNTIL.search(text)
    drawn = _DRAW.findall(text)
    draw = max((_number(word) for word in drawn), default=0)
    if not draw and _DRAW_FOR_EACH.search(text):
        draw = 3
    cost = _HAND_COST.search(text)
    search = bool(_SEARCH.search(text))
    from_discard = bool(_FROM_DISCARD.search(text))
    return Purpose(
        draw=0 if until else draw,
        draw_until=int(until[1]) if until else 0,
        draw_for_prizes=bool(_DRAW_FOR_PRIZES.search(text)),
        hand_cost=_number(cost[1]) if cost else 0,
        energy_cost=cost is not None and "energy" in cost[0].lower(),
        hand_gone=bool(_HAND_GONE.search(text)),
        search=search,
        onto_bench=(search or from_discard) and bool(_ONTO_BENCH.search(text)),
        attach=(search or from_discard) and bool(_ATTACH.search(text)),
        from_discard=from_discard,
        gust=bool(_GUST.search(text)),
        switch=bool(_SWITCH.search(text)),
        evolve=bool(_EVOLVE.search(text)),
        heal=bool(_HEAL.search(text)),
        remove=bool(_REMOVE.search(text)),
        pick_up=bool(_PICK_UP.search(text)),
        leave=bool(_LEAVE.search(text)),
        move_damage=bool(_MOVE_DAMAGE.search(text)),
        disrupt=bool(_DISRUPT.search(text)),
        into_deck=bool(_INTO_DECK.search(text)),
        several=bool(_SEVERAL.search(text)),
    )


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS.get(word.lower(), 1)


@lru_cache(maxsize=4096)
def potential(attack: Attack) -> int:
    """What an attack may be expected to do, in damage, from what is printed: ``180+`` is more than 180, ``60×`` several
    times 60, a text may name damage to a Pokémon of the player's choice."""
    printed = _LEADING_NUMBER.match(attack.damage)
    if printed is None:
        said = _DAMAGE_TO.search(attack.text)
        return int(said[1]) if said else 0
    base = int(printed[0])
    if attack.damage.endswith("+"):
        return base + base // 4 + 10
    if attack.damage.endswith("×"):
        return base * 3
    return base


@lru_cache(maxsize=4096)
def best_potential(index: int) -> int:
    """The highest :func:`potential` among the attacks printed on a card."""
    return max((potential(attack) for attack in CARDS[index].attacks), default=0)


_SOUGHT = re.compile(rf"search {_A_DECK} for ([^,.]*)", re.IGNORECASE)
_KINDS = (
    ("Energy", (Kind.BASIC_ENERGY, Kind.SPECIAL_ENERGY)),
    ("Supporter", (Kind.SUPPORTER,)),
    ("Stadium", (Kind.STADIUM,)),
    ("Tool", (Kind.TOOL,)),
    ("Item", (Kind.ITEM,)),
)


@lru_cache(maxsize=4096)
def sought(text: str) -> frozenset[Kind] | None:
    """The kinds of card that a search may find, ``None`` for any."""
    found = _SOUGHT.search(text)
    if found is None:
        return None
    said = found[1]
    kinds = {kind for word, group in _KINDS if word in said for kind in group}
    if "Pokémon" in said.replace("Pokémon Tool", ""):
        kinds.add(Kind.POKEMON)
    return frozenset(kinds) or None


@lru_cache(maxsize=4096)
def burns_hand(index: int) -> bool:
    """Whether an attack of the card does damage for each Energy card of the hand that is paid for it."""
    return any(attack.damage.endswith("×") and _FUEL.search(attack.text) for attack in CARDS[index].attacks)


def ability_of(card: Card, name: str) -> Ability:
    """The Ability of ``card`` called ``name``."""
    return next(ability for ability in card.abilities if ability.name == name)
