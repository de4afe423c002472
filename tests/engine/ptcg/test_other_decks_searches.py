"""What all searches of the Gardevoir ex, Gholdengo ex and Lugia Archeops decks have in common."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from ptcg_play import choosing, discard, events, hand, keys, own, play, position, side

from engine.ptcg.game import PtcgMatch


@dataclass(frozen=True)
class Search:
    """A Trainer that looks for ``most`` cards such as ``wanted`` and costs ``cost`` other cards of the hand."""

    card: str
    wanted: str
    most: int
    cost: int = 0

    @property
    def key(self) -> str:
        return f"play:{self.card}"

    def position(self, deck: list[str], others: int | None = None) -> PtcgMatch:
        count = self.cost if others is None else others
        return position(side("CRZ-111", hand=[self.card, *["SVE-1"] * count], deck=deck, knocked_out_last_turn=True))


SEARCHES = [
    Search("PAR-163", "SVE-5", 2, cost=1),
    Search("TWM-163", "PAF-91", 1, cost=3),
    Search("OBF-189", "SVE-8", 3),
    Search("TWM-152", "PAR-139", 3),
    Search("TEF-153", "SIT-147", 1),
    Search("SVI-175", "SIT-147", 2),
    Search("PAL-183", "SIT-147", 1),
]
all_searches = pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.card)


@all_searches
def test_a_search_finds_no_more_than_its_number_and_shuffles(search: Search) -> None:
    match = search.position([search.wanted] * (search.most + 1) + ["SVE-2"])
    play(match, search.key, *[f"choose:{search.wanted}"] * search.most)
    assert choosing(match) is None
    assert hand(match, 0) == [search.wanted] * search.most
    assert own(match, 0)["deck_count"] == 2
    assert len(events(match, 0, "shuffle")) == 1
    assert sorted(discard(match, 0)) == sorted([search.card, *["SVE-1"] * search.cost])
    # The opponent is shown what was found.
    assert events(match, 1, "to_hand")[0]["cards"] == [search.wanted] * search.most


@all_searches
def test_a_search_for_something_may_find_nothing_and_shuffles(search: Search) -> None:
    match = play(search.position([search.wanted, "SVE-2"]), search.key, "done")
    assert (hand(match, 0), own(match, 0)["deck_count"]) == ([], 2)
    assert len(events(match, 0, "shuffle")) == 1
    nothing_there = play(search.position(["TEF-161"]), search.key)
    assert len(events(nothing_there, 0, "shuffle")) == 1


@all_searches
def test_a_search_needs_a_deck(search: Search) -> None:
    assert search.key in keys(search.position(["SVE-2"]))
    assert search.key not in keys(search.position([]))


@all_searches
def test_a_search_needs_the_cards_it_costs(search: Search) -> None:
    if search.cost:
        assert search.key not in keys(search.position(["SVE-2"], others=search.cost - 1))
    assert search.key in keys(search.position(["SVE-2"], others=search.cost + 1))


def test_capturing_aroma_needs_a_deck_takes_one_card_and_shuffles() -> None:
    deck = ["SIT-147", "SIT-147", "SIT-138", "SIT-138"]
    match = play(position(side("CRZ-111", hand=["SIT-153"], deck=deck)), "play:SIT-153")
    play(match, next(key for key in keys(match) if key.startswith("choose:")))
    assert choosing(match) is None
    assert len(hand(match, 0)) == 1
    assert len(events(match, 0, "shuffle")) == 1
    assert "play:SIT-153" not in keys(position(side("CRZ-111", hand=["SIT-153"], deck=[])))


def test_artazon_takes_one_pokemon_and_shuffles_also_where_nothing_is_found() -> None:
    stadium = {"card": "PAL-171", "owner": 0}
    match = position(side("CRZ-111", deck=["PAF-27", "PAF-27"]), stadium=stadium)
    play(match, "stadium:PAL-171", "choose:PAF-27")
    assert choosing(match) is None
    assert (own(match, 0)["deck_count"], len(own(match, 0)["bench"])) == (1, 1)
    assert len(events(match, 0, "shuffle")) == 1
    match = play(position(side("CRZ-111", deck=["SVE-2"]), stadium=stadium), "stadium:PAL-171")
    assert len(events(match, 0, "shuffle")) == 1
