"""Names as a model may write them."""

from __future__ import annotations

import unicodedata

from engine.ptcg.card import Card


def plain(text: str) -> str:
    """``text`` without what does not tell names apart: case, accents, typographic quotes, runs of spaces."""
    folded = unicodedata.normalize("NFKD", text.replace("’", "'")).casefold()
    return " ".join("".join(letter for letter in folded if not unicodedata.combining(letter)).split())


def same_name(said: str, card: Card) -> bool:
    """Whether ``said`` (already plain) means ``card``: its id, its name, or both as observations write it."""
    name, card_id = plain(card.name), plain(card.id)
    if said in (card_id, name, f"{name} ({card_id})", f"{name} {card_id}", f"{card_id} {name}"):
        return True
    # Basic Energy is called so on deck lists.
    return card.is_basic_energy and said in (f"basic {name}", f"basic {name} ({card_id})")
