"""The fields of a position: each is read with its type and range checked, so that what is wrong is said in one line."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from engine.ptcg.card import CARDS, Kind
from engine.ptcg.library import INDEX


class PositionError(ValueError):
    """A position that cannot be set up; the text says where in it, what is wrong and what would be right."""


def known_keys(where: str, given: Any, known: tuple[str, ...]) -> None:
    """Refuse what is no object, and keys that mean nothing."""
    if not isinstance(given, Mapping):
        raise PositionError(f"{where}: {given!r} has to be an object")
    for key in given:
        if key not in known:
            raise PositionError(f"{where}: unknown field {key!r}; known: {', '.join(known)}")


def number(where: str, value: Any, least: int = 0, most: int | None = None) -> int:
    """A whole number from ``least``, up to ``most`` where that is given."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= least and (most is None or value <= most):
        return value
    upper = "" if most is None else f" to {most}"
    raise PositionError(f"{where}: {value!r} has to be a whole number from {least}{upper}")


def whole(given: Mapping[str, Any], where: str, key: str, default: int, least: int = 0, most: int | None = None) -> int:
    """The :func:`number` in a field."""
    return number(f"{where}.{key}", given.get(key, default), least, most)


def flag(given: Mapping[str, Any], where: str, key: str) -> bool:
    """A field that is true or false, false where it is missing."""
    value = given.get(key, False)
    if not isinstance(value, bool):
        raise PositionError(f"{where}.{key}: {value!r} has to be true or false")
    return value


def entries(given: Mapping[str, Any], where: str, key: str, of: str) -> list[Any]:
    """A field that is a list, empty where it is missing; ``of`` says of what."""
    value = given.get(key, [])
    if not isinstance(value, list):
        raise PositionError(f"{where}.{key}: {value!r} has to be a list of {of}")
    return value


def names(given: Mapping[str, Any], where: str, key: str, known: Collection[str]) -> list[str]:
    """A field that is a list of names out of ``known``."""
    value = entries(given, where, key, "names")
    for name in value:
        if not isinstance(name, str) or name not in known:
            raise PositionError(f"{where}.{key}: unknown {name!r}; known: {', '.join(known)}")
    return value


def seat(given: Mapping[str, Any], where: str, key: str, default: int | None) -> int | None:
    """A seat, or ``default`` where the field is missing or null."""
    value = given.get(key, default)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value in (0, 1)):
        return value
    raise PositionError(f"{where}.{key}: {value!r} has to be 0 or 1")


def card(where: str, card_id: Any, kinds: tuple[Kind, ...] = ()) -> int:
    """The number of a card, which has to be of one of ``kinds`` where any are given."""
    if not isinstance(card_id, str) or card_id not in INDEX:
        raise PositionError(f"{where}: unknown card {card_id!r}; a card is given as SET-NUMBER, such as 'PAF-7'")
    found = CARDS[INDEX[card_id]]
    if kinds and found.kind not in kinds:
        raise PositionError(f"{where}: {card_id} {found.name} cannot be there")
    return found.index


def cards(given: Mapping[str, Any], where: str, key: str, kinds: tuple[Kind, ...] = ()) -> list[int]:
    """A field that is a list of cards."""
    return [card(f"{where}.{key}", entry, kinds) for entry in entries(given, where, key, "cards")]


def effects(given: Mapping[str, Any], where: str, known: tuple[str, ...]) -> tuple[tuple[str, int, str], ...]:
    """Effects of attacks, each as ``[kind, turn in which it acts, detail]`` with a kind out of ``known``."""
    place = f"{where}.effects"
    found: list[tuple[str, int, str]] = []
    for entry in entries(given, where, "effects", "[kind, turn, detail]"):
        if not isinstance(entry, list) or len(entry) != 3 or not isinstance(entry[2], str):
            raise PositionError(f"{place}: {entry!r} has to be [kind, turn, detail]")
        kind, turn, detail = entry
        if not isinstance(kind, str) or kind not in known:
            raise PositionError(f"{place}: unknown {kind!r}; known: {', '.join(known)}")
        found.append((kind, number(place, turn), detail))
    return tuple(found)
