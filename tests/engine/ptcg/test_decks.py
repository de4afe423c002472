"""Deck lists: the usual text format, and what is refused with which line and reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.ptcg.decks import DeckError, check_deck, parse_deck, write_deck

DECKS = Path(__file__).parents[3] / "conf" / "deck"

CHARIZARD = {
    "PAF-7": 4,
    "PAF-8": 1,
    "PAF-54": 3,
    "MEW-16": 2,
    "OBF-164": 2,
    "CRZ-111": 1,
    "BRS-121": 1,
    "BRS-41": 1,
    "CRZ-20": 1,
    "BRS-40": 1,
    "CRZ-45": 1,
    "PAR-126": 1,
    "OBF-80": 1,
    "OBF-186": 4,
    "PAF-80": 2,
    "PAL-265": 3,
    "PAR-257": 1,
    "PAF-89": 4,
    "PAF-91": 4,
    "PAF-84": 1,
    "TEF-144": 4,
    "PAR-160": 2,
    "PAL-188": 2,
    "TEF-157": 1,
    "CRZ-135": 1,
    "SVI-169": 1,
    "SIT-156": 1,
    "BRS-137": 1,
    "TEF-161": 1,
    "SVE-2": 7,
}
MIRAIDON = {
    "SVI-253": 2,
    "PAR-248": 2,
    "ASR-46": 1,
    "PAL-264": 1,
    "MEW-151": 1,
    "CRZ-45": 1,
    "PAR-56": 1,
    "PGO-29": 1,
    "BRS-158": 1,
    "BRS-48": 1,
    "BRS-40": 1,
    "OBF-186": 4,
    "PAL-265": 3,
    "PAF-87": 1,
    "SVI-170": 4,
    "PAF-84": 4,
    "PAF-91": 4,
    "ASR-154": 2,
    "CRZ-135": 1,
    "TEF-157": 1,
    "PAL-173": 1,
    "SIT-156": 1,
    "TEF-151": 1,
    "TEF-159": 1,
    "OBF-196": 1,
    "SVE-4": 16,
    "BRS-151": 2,
}

GOOD = """\
Pokémon: 8
4 Charmander PAF 7
4 Pidgey MEW 16

Trainer: 6
4 Nest Ball PAF 84
2 Iono PAF 80

Energy: 46
46 Basic Fire Energy SVE 2
"""


@pytest.mark.parametrize(("name", "counts"), [("charizard_ex", CHARIZARD), ("miraidon_ex", MIRAIDON)])
def test_the_two_decks_are_those_of_the_tournament(name: str, counts: dict[str, int]) -> None:
    assert parse_deck((DECKS / f"{name}.txt").read_text(encoding="utf-8")) == counts


def test_a_list_is_read_as_card_to_count() -> None:
    assert parse_deck(GOOD) == {"PAF-7": 4, "MEW-16": 4, "PAF-84": 4, "PAF-80": 2, "SVE-2": 46}


def changed(*changes: tuple[str, str]) -> str:
    """The good list with parts of it replaced."""
    text = GOOD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    "text",
    [
        changed(("Pokémon: 8", "Pokémon (8)"), ("Energy: 46", "Energy (46)")),
        changed(("Pokémon: 8", "Pokemon"), ("Trainer: 6", "TRAINERS"), ("Energy: 46", "")),
        changed(("46 Basic Fire Energy SVE 2", "46 Basic {R} Energy SVE 2")),
        changed(("46 Basic Fire Energy SVE 2", "46 Fire Energy SVE 2\n\nTotal Cards: 60")),
        changed(("4 Nest Ball PAF 84", "4x Nest Ball PAF 84")),
        changed(("4 Nest Ball PAF 84", "4 nest ball paf-84")),
        changed(("4 Nest Ball PAF 84", "4 Nest Ball PAF 084")),
        changed(("4 Nest Ball PAF 84", "# the balls\n2 Nest Ball PAF 84\n// two more\n2 Nest Ball PAF 84")),
        changed(("\n", "\r\n")),
        changed(("4 Nest Ball PAF 84", "  4 Nest Ball PAF 84  ")),
        "\ufeff" + GOOD,
    ],
)
def test_the_usual_ways_of_writing_a_list_mean_the_same(text: str) -> None:
    assert parse_deck(text) == parse_deck(GOOD)


def test_apostrophes_and_accents_may_be_written_either_way() -> None:
    for name in ("Boss's Orders", "Boss’s Orders"):
        text = changed(("2 Iono PAF 80", f"2 {name} PAL 265"))
        assert parse_deck(text)["PAL-265"] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed(("46 Basic", "45 Basic")), "line 9: Energy says 46 cards, the list has 45 there"),
        (changed(("46 Basic", "45 Basic"), ("Energy: 46", "Energy: 45")), "the deck has 59 cards; 60 are needed"),
        (changed(("46 Basic", "47 Basic"), ("Energy: 46", "Energy: 47")), "the deck has 61 cards; 60 are needed"),
        (changed(("Pokémon: 8", "Pokémon: 9")), "line 1: Pokémon says 9 cards, the list has 8 there"),
        (changed(("Pokémon: 8", "Pokémon: 7")), "line 1: Pokémon says 7 cards, the list has 8 there"),
        (GOOD + "Total Cards: 61\n", "line 11: the total says 61 cards, the list has 60"),
        (changed(("2 Iono PAF 80", "2 Iono PAF")), "line 7: '2 Iono PAF' is not 'COUNT NAME SET NUMBER'"),
        (changed(("2 Iono PAF 80", "Iono PAF 80")), "line 7: 'Iono PAF 80' is not 'COUNT NAME SET NUMBER'"),
        (changed(("2 Iono PAF 80", "two Iono PAF 80")), "line 7: 'two Iono PAF 80' is not 'COUNT NAME SET NUMBER'"),
        (changed(("2 Iono PAF 80", "0 Iono PAF 80")), "line 7: 0 copies of Iono; at least 1 is needed"),
        (
            changed(("2 Iono PAF 80", "2 Iono PAL 185")),
            "line 7: unknown card PAL 185 (Iono); this name is known as PAF-80",
        ),
        (changed(("2 Iono PAF 80", "2 Judge SVI 176")), "line 7: unknown card SVI 176 (Judge)"),
        (changed(("2 Iono PAF 80", "2 Arven PAF 80")), "line 7: PAF 80 is 'Iono', not 'Arven'"),
        (changed(("2 Iono PAF 80", "5 Iono PAF 80")), "line 7: 5 cards named 'Iono' (lines 7); 4 allowed"),
        (
            changed(("2 Iono PAF 80", "1 Nest Ball PAF 84\n1 Iono PAF 80")),
            "line 7: 5 cards named 'Nest Ball' (lines 6, 7); 4 allowed",
        ),
        (
            changed(("2 Iono PAF 80", "2 Prime Catcher TEF 157")),
            "line 7: more than one ACE SPEC card (Prime Catcher); one allowed",
        ),
        (
            changed(("4 Pidgey MEW 16", "1 Radiant Charizard CRZ 20\n1 Radiant Greninja ASR 46\n2 Pidgey MEW 16")),
            "line 4: more than one Radiant Pokémon (Radiant Greninja and Radiant Charizard); one allowed",
        ),
        (
            changed(("2 Iono PAF 80", "1 Prime Catcher TEF 157\n1 Secret Box TWM 163")),
            "line 8: more than one ACE SPEC card (Prime Catcher and Secret Box); one allowed",
        ),
        (
            changed(("46 Basic Fire Energy SVE 2", "41 Basic Fire Energy SVE 2\n5 Double Turbo Energy BRS 151")),
            "line 11",
        ),
        ("60 Basic Fire Energy SVE 2", "the deck has no Basic Pokémon; at least 1 is needed"),
        ("4 Charmeleon PAF 8\n56 Basic Fire Energy SVE 2", "the deck has no Basic Pokémon; at least 1 is needed"),
        ("", "the deck has 0 cards; 60 are needed"),
    ],
)
def test_a_bad_list_is_refused_with_line_and_reason(text: str, message: str) -> None:
    with pytest.raises(DeckError) as refused:
        parse_deck(text)
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


def test_34_any_number_of_basic_energy_and_four_double_turbo_are_fine() -> None:
    deck = {"PAF-7": 1, "SVE-2": 55, "BRS-151": 4}
    check_deck(deck)
    parse_deck("1 Charmander PAF 7\n55 Basic Fire Energy SVE 2\n4 Double Turbo Energy BRS 151")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda deck: {**deck, "SVE-2": 6}, "the deck has 59 cards; 60 are needed"),
        (lambda deck: {**deck, "SVE-2": 8}, "the deck has 61 cards; 60 are needed"),
        (lambda deck: {**deck, "PAF-7": 5, "SVE-2": 6}, "5 cards named 'Charmander'; 4 allowed"),
        (lambda deck: {**deck, "TEF-157": 2, "SVE-2": 6}, "more than one ACE SPEC card"),
        (lambda deck: {**deck, "ASR-46": 1, "SVE-2": 6}, "more than one Radiant Pokémon"),
        (lambda deck: {**deck, "CRZ-20": 2, "SVE-2": 6}, "more than one Radiant Pokémon"),
        (lambda deck: {**deck, "BRS-151": 5, "SVE-2": 2}, "5 cards named 'Double Turbo Energy'; 4 allowed"),
        (lambda deck: {"PAF-8": 4, "SVE-2": 56}, "the deck has no Basic Pokémon"),
        (lambda deck: {**deck, "XYZ-1": 1, "SVE-2": 6}, "unknown card 'XYZ-1'"),
        (lambda deck: {**deck, "SVE-2": 8, "SVE-3": -1}, "SVE-3: -1 copies of .*; a whole number from 1 is needed"),
        (lambda deck: {**deck, "SVE-3": 0}, "SVE-3: 0 copies of .*; a whole number from 1 is needed"),
        (lambda deck: {**deck, "SVE-2": "7"}, "SVE-2: '7' copies of .*; a whole number from 1 is needed"),
        (lambda deck: {**deck, "SVE-2": 7.0}, "SVE-2: 7.0 copies of .*; a whole number from 1 is needed"),
    ],
)
def test_34_a_deck_that_breaks_a_rule_is_refused(
    change: Callable[[dict[str, int]], dict[str, Any]], message: str
) -> None:
    check_deck(CHARIZARD)
    with pytest.raises(ValueError, match="^" + message):
        check_deck(change(CHARIZARD))


@pytest.mark.parametrize("path", sorted(DECKS.glob("*.txt")), ids=lambda path: path.stem)
def test_a_written_deck_reads_back(path: Path) -> None:
    deck = parse_deck(path.read_text(encoding="utf-8"))
    assert parse_deck(write_deck(deck)) == deck
