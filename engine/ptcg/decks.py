"""Deck lists: reading the usual text format, and the rules of deck building."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from engine.ptcg.card import CARDS, TYPE_NAMES, Kind
from engine.ptcg.library import INDEX, card_index

DECK_SIZE = 60
COPIES = 4

_SECTION = re.compile(r"^(pok[eé]mon|trainer|energy)s?\s*(?:\(\s*(\d+)\s*\)|:\s*(\d+)?)?\s*$", re.IGNORECASE)
_TOTAL = re.compile(r"^total cards\s*:?\s*(\d+)\s*$", re.IGNORECASE)
_LINE = re.compile(r"^(\d+)\s*x?\s+(.+?)\s+([A-Za-z][A-Za-z0-9]*)[\s-]+(\d+)(?:\s+PH)?$")


class DeckError(ValueError):
    """A deck list that cannot be used; the text names the line where there is one, and what would be right."""


def parse_deck(text: str) -> dict[str, int]:
    """Read a deck list, a card a line: ``4 Charmander PAF 7``. Returns card id to count.

    Section headings (``Pokémon: 19``), empty lines, comments (``#``) and a total are allowed; a number in a heading
    has to be right. Raises :class:`DeckError` with the number of the line and the reason.
    """
    deck: Counter[str] = Counter()
    first_line: dict[str, int] = {}
    sections: list[tuple[int, str, int | None, int]] = []
    total: tuple[int, int] | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip().lstrip("\ufeff")
        if not line or line.startswith(("#", "//")):
            continue
        if section := _SECTION.match(line):
            said = section[2] or section[3]
            sections.append((number, section[1], int(said) if said else None, sum(deck.values())))
            continue
        if found := _TOTAL.match(line):
            total = (number, int(found[1]))
            continue
        card_id, count = _read_line(number, line)
        deck[card_id] += count
        first_line.setdefault(card_id, number)
        _check_copies(deck, first_line, number, card_id)
    for i, (number, name, said, before) in enumerate(sections):
        after = sections[i + 1][3] if i + 1 < len(sections) else sum(deck.values())
        if said is not None and said != after - before:
            raise DeckError(f"line {number}: {name} says {said} cards, the list has {after - before} there")
    if total is not None and total[1] != sum(deck.values()):
        raise DeckError(f"line {total[0]}: the total says {total[1]} cards, the list has {sum(deck.values())}")
    check_deck(deck)
    return dict(deck)


def _read_line(number: int, line: str) -> tuple[str, int]:
    match = _LINE.match(line)
    if match is None:
        raise DeckError(f"line {number}: {line!r} is not 'COUNT NAME SET NUMBER', such as '4 Charmander PAF 7'")
    count, name, card_id = int(match[1]), match[2], f"{match[3].upper()}-{int(match[4])}"
    if card_id not in INDEX:
        same = [card.id for card in CARDS if _plain(card.name) == _plain(name)]
        hint = f"; this name is known as {', '.join(same)}" if same else ""
        raise DeckError(f"line {number}: unknown card {match[3]} {match[4]} ({name}){hint}")
    card = CARDS[INDEX[card_id]]
    if _plain(name) != _plain(card.name):
        raise DeckError(f"line {number}: {match[3]} {match[4]} is {card.name!r}, not {name!r}")
    if count < 1:
        raise DeckError(f"line {number}: {count} copies of {name}; at least 1 is needed")
    return card_id, count


def _plain(name: str) -> str:
    """A name for comparison: case, apostrophes, accents and the ways to write a Basic Energy do not matter."""
    for letter, type_name in TYPE_NAMES.items():
        name = name.replace("{" + letter + "}", type_name)
    name = name.replace("’", "'").replace("é", "e").lower()
    return re.sub(r"\s+", " ", re.sub(r"^basic (?=\w+ energy$)", "", name)).strip()


def _check_copies(deck: Counter[str], first_line: dict[str, int], number: int, card_id: str) -> None:
    card = CARDS[INDEX[card_id]]
    if card.is_basic_energy:
        return
    copies = {other: count for other, count in deck.items() if CARDS[INDEX[other]].name == card.name}
    if sum(copies.values()) > COPIES:
        lines = ", ".join(str(n) for n in sorted({first_line[other] for other in copies} | {number}))
        raise DeckError(
            f"line {number}: {sum(copies.values())} cards named {card.name!r} (lines {lines}); {COPIES} allowed"
        )
    for test, rule in ((_is_ace_spec, "ACE SPEC card"), (_is_radiant, "Radiant Pokémon")):
        if test(card_id):
            rivals = sorted(other for other in deck if test(other))
            if sum(deck[other] for other in rivals) > 1:
                names = " and ".join(CARDS[INDEX[other]].name for other in rivals)
                raise DeckError(f"line {number}: more than one {rule} ({names}); one allowed")


def _is_ace_spec(card_id: str) -> bool:
    return CARDS[INDEX[card_id]].is_ace_spec


def _is_radiant(card_id: str) -> bool:
    return "Radiant" in CARDS[INDEX[card_id]].tags


def check_deck(deck: Mapping[str, int]) -> None:
    """Hold a deck (card id to count) against the rules of deck building; raises :class:`DeckError` for a breach."""
    names: Counter[str] = Counter()
    ace_specs: list[str] = []
    radiants: list[str] = []
    basics = 0
    for card_id, count in deck.items():
        card = CARDS[card_index(card_id)]
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise DeckError(f"{card_id}: {count!r} copies of {card.name}; a whole number from 1 is needed")
        if not card.is_basic_energy:
            names[card.name] += count
        if card.is_ace_spec:
            ace_specs += [card.name] * count
        if _is_radiant(card_id):
            radiants += [card.name] * count
        basics += count if card.is_basic and card.kind is Kind.POKEMON else 0
    for name, count in names.items():
        if count > COPIES:
            raise DeckError(f"{count} cards named {name!r}; {COPIES} allowed")
    for found, rule in ((ace_specs, "ACE SPEC card"), (radiants, "Radiant Pokémon")):
        if len(found) > 1:
            raise DeckError(f"more than one {rule} ({' and '.join(found)}); one allowed")
    size = sum(deck.values())
    if size != DECK_SIZE:
        raise DeckError(f"the deck has {size} cards; {DECK_SIZE} are needed")
    if not basics:
        raise DeckError("the deck has no Basic Pokémon; at least 1 is needed")


def write_deck(deck: Mapping[str, int]) -> str:
    """A deck in the text format that :func:`parse_deck` reads."""
    sections: dict[str, list[str]] = {"Pokémon": [], "Trainer": [], "Energy": []}
    sizes: Counter[str] = Counter()
    for card_id, count in deck.items():
        card = CARDS[card_index(card_id)]
        section = "Pokémon" if card.is_pokemon else "Energy" if card.is_energy else "Trainer"
        set_code, _, number = card_id.partition("-")
        sections[section].append(f"{count} {card.name} {set_code} {number}")
        sizes[section] += count
    return "\n\n".join("\n".join([f"{name}: {sizes[name]}", *lines]) for name, lines in sections.items()) + "\n"
