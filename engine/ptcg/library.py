"""All cards: loads every file under ``cards/`` in one fixed order and numbers the cards by sorted id."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import engine.ptcg.cards as card_files
from engine.ptcg.card import CARDS, DEFINED

for _module in sorted(m.name for m in iter_modules(card_files.__path__)):
    import_module(f"engine.ptcg.cards.{_module}")


def _sort_key(card_id: str) -> tuple[str, int]:
    set_code, _, number = card_id.partition("-")
    return set_code, int(number)


CARDS.extend(DEFINED[card_id] for card_id in sorted(DEFINED, key=_sort_key))

for _index, _card in enumerate(CARDS):
    _card.index = _index

INDEX: dict[str, int] = {card.id: card.index for card in CARDS}


def card_index(card_id: str) -> int:
    """The number of the card with this id; raises ``ValueError`` for an unknown one."""
    try:
        return INDEX[card_id]
    except KeyError:
        raise ValueError(f"unknown card {card_id!r}: no file of engine/ptcg/cards defines it") from None
