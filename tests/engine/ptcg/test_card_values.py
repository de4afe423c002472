"""Every card's printed values, held against a table of the values on the printed cards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.ptcg.card import CARDS, KIND_NAMES, Card
from engine.ptcg.decks import parse_deck
from engine.ptcg.library import INDEX

TABLE: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "card_values.json").read_text(encoding="utf-8"))
DECKS = Path(__file__).parents[3] / "conf" / "deck"


def printed(card: Card) -> dict[str, Any]:
    """A definition's values in the form of the table."""
    values: dict[str, Any] = {"name": card.name, "kind": KIND_NAMES[card.kind], "tags": sorted(card.tags)}
    if card.is_pokemon:
        values |= {
            "stage": card.stage_name,
            "evolves_from": card.evolves_from,
            "hp": card.hp,
            "types": card.types,
            "weakness": card.weakness,
            "resistance": card.resistance,
            "retreat": card.retreat,
            "prizes": card.prizes,
            "rule_box": card.rule_box,
            "pokemon_v": "V" in card.tags,
        }
    if card.is_energy:
        values["provides"] = card.provides
    if card.abilities:
        values["abilities"] = [ability.name for ability in card.abilities]
    if card.attacks:
        values["attacks"] = [[attack.name, attack.cost, attack.damage] for attack in card.attacks]
    return values


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.id)
def test_card_has_its_printed_values(card: Card) -> None:
    expected = dict(TABLE[card.id])
    # The rule box of a VSTAR says that it is a Pokémon V too; here that is one of its tags.
    if expected.get("stage") == "VSTAR":
        expected["tags"] = sorted({*expected["tags"], "V"})
    assert printed(card) == expected


@pytest.mark.parametrize("deck", sorted(DECKS.glob("*.txt")), ids=lambda path: path.stem)
def test_deck_lists_have_sixty_known_cards(deck: Path) -> None:
    counts = parse_deck(deck.read_text(encoding="utf-8"))
    assert sum(counts.values()) == 60
    assert set(counts) <= set(INDEX)


@pytest.mark.parametrize("card", [card for card in CARDS if card.is_pokemon], ids=lambda card: card.id)
def test_a_stage_2_names_the_basic_pokemon_of_its_line(card: Card) -> None:
    assert bool(card.basic_form) == (card.stage_name == "Stage 2")
    # The line of Archeops begins with a Fossil card, which is played as if it were a Basic Pokémon; no deck has one.
    basics = {other.name for other in CARDS if other.is_basic} | {"Unidentified Fossil"}
    assert not card.basic_form or card.basic_form in basics


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.id)
def test_everything_a_card_does_is_said_in_words(card: Card) -> None:
    for ability in card.abilities:
        assert ability.text
    # A number with a sign is explained; a plain number may stand alone.
    for attack in card.attacks:
        assert attack.text or attack.damage.isdigit()
    if not card.is_pokemon:
        assert card.text
