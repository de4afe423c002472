"""What an agent reads for a card: everything printed on it, for every card."""

from __future__ import annotations

import pytest

from engine.ptcg.card import CARDS, TYPE_NAMES, Card
from engine.ptcg.card_text import card_label, card_text, energy_text, same_text
from engine.ptcg.library import INDEX


def card(card_id: str) -> Card:
    """The definition with this id."""
    return CARDS[INDEX[card_id]]


@pytest.mark.parametrize("index", range(len(CARDS)), ids=lambda index: CARDS[index].id)
def test_every_card_says_all_that_is_printed_on_it(index: int) -> None:
    printing = CARDS[index]
    told = card_text(printing)
    assert told.startswith(f"{printing.name} ({printing.id}): ")
    if printing.is_pokemon:
        assert f"HP {printing.hp}." in told
        assert f"Type {TYPE_NAMES[printing.types[0]]}" in told
        assert f"Retreat Cost {printing.retreat}." in told
        assert printing.stage_name in told
        assert printing.evolves_from in told
        assert f"{printing.prizes} Prize card" in told
        weak = f"Weakness {TYPE_NAMES[printing.weakness]} ×2" if printing.weakness else "Weakness none"
        assert weak in told
        resists = f"Resistance {TYPE_NAMES[printing.resistance]} −30" if printing.resistance else "Resistance none"
        assert resists in told
    else:
        assert printing.text or printing.attacks
    assert printing.text in told
    for tag in printing.tags:
        assert tag in told
    for ability in printing.abilities:
        assert ability.text
        assert f"{ability.name}: {ability.text}" in told
    for attack in printing.attacks:
        assert f"Attack {attack.name}, cost {energy_text(attack.cost)}" in told
        assert attack.damage in told
        assert attack.text in told
        # An attack does something: printed damage, or what its text says.
        assert attack.damage or attack.text


def test_energy_is_written_by_type_and_number() -> None:
    assert energy_text("RRC") == "2 Fire, 1 Colorless"
    assert energy_text("") == "no Energy"


def test_printings_are_alike_only_where_nothing_but_the_id_differs() -> None:
    assert same_text(card("SVE-2"), card("SVE-2"))
    assert not same_text(card("SVE-2"), card("SVE-4"))
    assert not same_text(card("BRS-158"), card("BRS-48"))
    labels = [card_label(printing) for printing in CARDS]
    assert len(set(labels)) == len(labels)
