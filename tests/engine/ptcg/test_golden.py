"""Golden playthroughs: one whole game a deck, read by a person, happens again to the letter."""

from __future__ import annotations

import pytest
from golden_playthroughs import DECKS, FOLDER, decisions, render


@pytest.mark.parametrize("deck", DECKS)
def test_the_game_happens_again(deck: str) -> None:
    text = (FOLDER / f"{deck}.txt").read_text(encoding="utf-8")
    assert render(deck, decisions(text)) == text
