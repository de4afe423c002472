"""What can be named where a choice does not tell its candidates: the cards and places that the position shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

CARD = re.compile(r"\b[A-Z]{2,4}-\d{1,3}\b")
"""The id of a card."""
_COUNT = re.compile(r"(\d+) ")

Facts = Mapping[str, Any]
Sights = Mapping[str, tuple["Sight", ...]]


@dataclass(frozen=True, slots=True)
class Sight:
    """A card or a place: the label by which it is named, how many of it there are, what is shown of it."""

    label: str
    copies: int = 1
    text: str = ""


def read_sights(shown: Mapping[str, Any], facts: Facts) -> Sights:
    """What lies in the player's ``hand``, ``unseen``, ``deck_top`` and ``discard``; the places that are ``yours`` and
    ``theirs``; what is ``attached`` to the Pokémon there, with the Stadium. ``facts`` are those of cards, by id.
    """
    you, opponent = mapping(shown.get("you")), mapping(shown.get("opponent"))
    found = {zone: tuple(_cards(you.get(zone), facts)) for zone in ("hand", "unseen", "deck_top", "discard")}
    found["yours"], found["theirs"] = tuple(_places(you, "")), tuple(_places(opponent, "opponent."))
    attached = [*_attached(you, "", facts), *_attached(opponent, "opponent.", facts)]
    stadium = CARD.search(str(mapping(shown.get("stadium")).get("card")))
    if stadium:
        attached.append(Sight(f"{stadium[0]}@stadium", 1, "Stadium"))
    found["attached"] = tuple(attached)
    return found


def _cards(written: Any, facts: Facts) -> Iterator[Sight]:
    """Cards written as ids, as a mapping of ids to numbers, or as lines that hold an id and perhaps a number."""
    counts: Counter[str] = Counter()
    texts: dict[str, str] = {}
    entries: Iterable[tuple[str, int]] = (
        ((str(entry), count) for entry, count in written.items())
        if isinstance(written, Mapping)
        else ((str(entry), _count(str(entry))) for entry in written or ())
    )
    for entry, count in entries:
        card = CARD.search(entry)
        if card:
            counts[card[0]] += count
            texts[card[0]] = _text(entry, card[0], facts)
    for label, copies in counts.items():
        yield Sight(label, copies, texts[label])


def _count(line: str) -> int:
    found = _COUNT.match(line)
    return int(found[1]) if found else 1


def _text(entry: str, card: str, facts: Facts) -> str:
    return ", ".join([entry, *map(str, (facts.get(card) or ())[:2])])


def _pokemon(side: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    in_play = side.get("active_and_bench") or [side.get("active"), *(side.get("bench") or ())]
    return [mapping(pokemon) for pokemon in in_play if pokemon]


def _places(side: Mapping[str, Any], whose: str) -> Iterator[Sight]:
    for pokemon in _pokemon(side):
        yield Sight(f"{whose}{pokemon.get('place')}", 1, str(pokemon.get("name", "")))


def _attached(side: Mapping[str, Any], whose: str, facts: Facts) -> Iterator[Sight]:
    for pokemon in _pokemon(side):
        for zone, kind in (("tools", "Pokémon Tool"), ("energy", "Energy")):
            for card in _cards(pokemon.get(zone), facts):
                yield Sight(f"{card.label}@{whose}{pokemon.get('place')}", card.copies, f"{card.text}, {kind}")


def mapping(value: Any) -> Mapping[str, Any]:
    """``value``, or nothing where it is no JSON object."""
    return value if isinstance(value, Mapping) else {}
