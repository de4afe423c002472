"""What a seat knows and remembers: its own hidden cards, the opponent's, and when it is forgotten."""

from __future__ import annotations

import json

from ptcg_play import (
    bench,
    choosing,
    discard,
    events,
    hand,
    keys,
    own,
    play,
    pokemon,
    position,
    side,
    view,
)

from engine.ptcg.game import PtcgMatch

R, L = "SVE-2", "SVE-4"


def test_the_opponents_hand_deck_and_prizes_are_hidden() -> None:
    match = position(side("CRZ-111"), side("CRZ-111", hand=["PAF-7", "PAF-8"], deck=["PAF-54"], prizes=["MEW-16"]))
    theirs = view(match, 0)["opponent"]
    assert (theirs["hand"], theirs["hand_count"]) == ([], 2)
    assert (theirs["deck_count"], theirs["deck_top"], theirs["deck_bottom"]) == (1, [], [])
    assert (theirs["prize_count"], theirs["prizes"]) == (1, None)
    assert "deck_list" not in theirs
    assert "unseen" not in theirs
    assert not {"PAF-7", "PAF-8", "PAF-54", "MEW-16"} & set(json.dumps(view(match, 0)).split('"'))


def test_nobody_knows_what_the_coins_and_shuffles_will_be() -> None:
    seen = [
        position(side("CRZ-111"), seed=seed, counters=counters).observe(0)
        for seed, counters in ((1, [0, 0, 0, 0]), (2, [0, 0, 0, 0]), (1, [1, 2, 3, 4]))
    ]
    assert seen[0] == seen[1] == seen[2]


def test_a_stadium_that_was_played_is_no_longer_an_unseen_card() -> None:
    match = position(side("CRZ-111", hand=["BRS-137"], deck=[R, R], prizes=[L]), side("CRZ-111", hand=["OBF-196"]))
    assert own(match, 0)["unseen"] == {R: 2, L: 1}
    play(match, "play:BRS-137")
    assert own(match, 0)["unseen"] == {R: 2, L: 1}
    play(match, "pass", "play:OBF-196")
    assert (discard(match, 0), own(match, 0)["unseen"]) == (["BRS-137"], {R: 2, L: 1})


def test_own_prizes_are_known_after_looking_through_the_deck() -> None:
    match = position(
        side("CRZ-111", hand=["PAF-84"], deck=["PAF-7", R, "MEW-16"], prizes=["PAF-8", L]), side("CRZ-111", prizes=2)
    )
    assert own(match, 0)["prizes"] is None
    assert own(match, 0)["unseen"] == {"MEW-16": 1, "PAF-7": 1, "PAF-8": 1, R: 1, L: 1}
    play(match, "play:PAF-84")
    # Already while choosing; in no order.
    assert own(match, 0)["prizes"] == ["PAF-8", L]
    play(match, "choose:PAF-7")
    assert own(match, 0)["prizes"] == ["PAF-8", L]
    assert own(match, 0)["unseen"] == {"MEW-16": 1, R: 1}
    assert view(match, 1)["opponent"]["prizes"] is None


def test_own_prizes_are_known_after_a_look_at_cards_that_were_the_whole_deck() -> None:
    def looked(card: str, deck: list[str]) -> PtcgMatch:
        match = position(side("CRZ-111", "PGO-29", hand=[card], deck=deck, prizes=["PAF-8", L]))
        return play(match, f"play:{card}", forced=False)

    assert own(looked("PAL-183", ["MEW-16"] + [R] * 6), 0)["prizes"] == ["PAF-8", L]
    assert own(looked("PAL-183", ["MEW-16"] + [R] * 7), 0)["prizes"] is None
    assert own(looked("SVI-170", [L] + [R] * 4), 0)["prizes"] == ["PAF-8", L]
    assert own(looked("SVI-170", [L] + [R] * 5), 0)["prizes"] is None


def test_own_prizes_are_known_and_remembered_once_the_last_card_was_drawn() -> None:
    dudunsparce = pokemon("TEF-129", under=["TEF-128"])
    match = position(side("CRZ-111", dudunsparce, deck=[R] * 3, prizes=["PAF-8", L]))
    play(match, "ability:Run Away Draw@bench1")
    # The deck is Dudunsparce and Dunsparce now; both were in play when it was empty.
    assert (own(match, 0)["deck_count"], own(match, 0)["prizes"]) == (2, ["PAF-8", L])
    assert view(match, 1)["opponent"]["prizes"] is None


def test_the_order_of_known_prizes_stays_hidden() -> None:
    def seen(prizes: list[str]) -> str:
        match = position(side("CRZ-111", hand=["PAF-84"], deck=["PAF-7"], prizes=prizes))
        return json.dumps(view(play(match, "play:PAF-84"), 0))

    assert seen(["PAF-8", L, R]) == seen([R, "PAF-8", L])


def test_a_shown_card_in_the_opponents_hand_is_remembered_until_it_is_played() -> None:
    match = position(side("CRZ-111", hand=["PAF-91", R, R, L], deck=["PAF-7", "PAF-7"]))
    play(match, "play:PAF-91", "choose:SVE-2", "choose:PAF-7")
    assert view(match, 1)["opponent"]["hand"] == ["PAF-7"]
    assert view(match, 1)["opponent"]["hand_count"] == 2
    assert events(match, 1, "to_hand")[-1]["cards"] == ["PAF-7"]
    play(match, "pass", "pass")
    assert view(match, 1)["opponent"]["hand"] == ["PAF-7"]
    play(match, "bench:PAF-7")
    assert view(match, 1)["opponent"]["hand"] == []


def test_a_card_taken_unseen_stays_unknown_to_the_opponent() -> None:
    match = position(side("OBF-164", deck=["PAF-7", "PAF-8"]))
    play(match, "ability:Quick Search@active", "choose:PAF-8")
    assert view(match, 1)["opponent"]["hand"] == []
    assert events(match, 1, "to_hand")[-1] == {
        "event": "to_hand",
        "seat": 0,
        "count": 1,
        "from": "deck",
        "revealed": False,
    }
    assert events(match, 0, "to_hand")[-1]["cards"] == ["PAF-8"]


def test_a_pokemon_picked_up_is_known_in_hand() -> None:
    match = position(side("CRZ-111", pokemon("PAF-8", under=["PAF-7"]), hand=["PAR-257", L]))
    play(match, "play:PAR-257", "choose:bench1")
    assert view(match, 1)["opponent"]["hand"] == sorted(["PAF-7", "PAF-8"])


def test_ionos_blocks_at_the_bottom_are_known_to_their_owners_only_without_their_order() -> None:
    match = position(
        side("CRZ-111", hand=["PAF-80", "PAF-7", R], deck_size=20),
        side("CRZ-111", hand=["PAF-54", "PAF-8", "MEW-16"], known_hand=["PAF-8"], deck_size=20),
    )
    play(match, "play:PAF-80")
    assert own(match, 1)["deck_bottom"] == [{"cards": 3, "known": sorted(["PAF-54", "PAF-8", "MEW-16"], key=_order)}]
    # The opponent had seen one of them.
    assert view(match, 0)["opponent"]["deck_bottom"] == [{"cards": 3, "known": ["PAF-8"]}]
    assert own(match, 0)["deck_bottom"] == [{"cards": 2, "known": ["PAF-7", R]}]
    assert view(match, 1)["opponent"]["deck_bottom"] == [{"cards": 2, "known": []}]
    # A hand that was drawn anew is unknown.
    assert view(match, 0)["opponent"]["hand"] == []


def _order(card: str) -> tuple[str, int]:
    set_code, _, number = card.partition("-")
    return set_code, int(number)


def test_nobody_is_told_the_order_in_which_iono_puts_cards_on_the_bottom() -> None:
    shown = set()
    for seed in range(6):
        match = position(side("CRZ-111", hand=["PAF-80", "PAF-7", "PAF-8", "PAF-54", R, L], prizes=1), seed=seed)
        play(match, "play:PAF-80")
        shown.add(json.dumps([events(match, seat, "hand_to_bottom") for seat in (0, 1)]))
    assert len(shown) == 1


def test_the_order_of_a_hand_tells_the_opponent_nothing() -> None:
    """Cards drawn first and last are discarded as one."""
    shown = set()
    for cards in (["PAF-7", "PAF-8", R], [R, "PAF-7", "PAF-8"]):
        match = position(side("CRZ-111", hand=["PAF-87", *cards]))
        play(match, "play:PAF-87")
        shown.add(json.dumps(view(match, 1)["opponent"]["discard"]) + json.dumps(events(match, 1)))
    assert len(shown) == 1


def test_a_shuffle_forgets_what_was_known_of_the_deck() -> None:
    match = position(
        side("CRZ-111", hand=["PAF-84"], deck=["PAF-7", R, "MEW-16"], top_known=2, bottom_known=[[1, ["MEW-16"], []]])
    )
    assert own(match, 0)["deck_top"] == ["PAF-7", R]
    assert own(match, 0)["deck_bottom"] == [{"cards": 1, "known": ["MEW-16"]}]
    play(match, "play:PAF-84", "done")
    assert (own(match, 0)["deck_top"], own(match, 0)["deck_bottom"]) == ([], [])


def test_a_shuffle_without_a_search_forgets_too() -> None:
    match = position(
        side(
            "CRZ-111",
            hand=["PAL-188"],
            discard=[R],
            deck=["PAF-7", R, "MEW-16"],
            top_known=2,
            bottom_known=[[1, ["MEW-16"], ["MEW-16"]]],
        )
    )
    play(match, "play:PAL-188")
    assert (own(match, 0)["deck_top"], own(match, 0)["deck_bottom"]) == ([], [])
    assert view(match, 1)["opponent"]["deck_bottom"] == []
    # Nothing was searched, so the Prizes stay unknown.
    assert own(match, 0)["prizes"] is None


def test_a_known_top_card_is_known_until_drawn() -> None:
    match = position(side("CRZ-111", deck=["PAF-7", R, L], top_known=2))
    play(match, "pass", "pass")
    assert "PAF-7" in hand(match, 0)
    assert own(match, 0)["deck_top"] == [R]


def test_cards_looked_at_are_seen_by_their_player_only() -> None:
    match = position(side("CRZ-111", "PGO-29", hand=["SVI-170"], deck=[L, "PAF-7", R, "PAF-8", L, "PAF-54", L]))
    play(match, "play:SVI-170")
    assert own(match, 0)["deck_top"] == [L, "PAF-7", R, "PAF-8", L]
    assert events(match, 0, "look")[0]["cards"] == [L, "PAF-7", R, "PAF-8", L]
    assert events(match, 1, "look")[0] == {"event": "look", "seat": 0, "count": 5}
    assert view(match, 1)["opponent"]["deck_top"] == []
    assert view(match, 1)["choosing"] is None


def test_energy_found_among_the_top_cards_comes_from_there() -> None:
    """What lies deeper in the deck must not show while the second Energy's Pokémon is chosen."""
    seen = set()
    for deeper, prize in ((L, R), (R, L)):
        deck = [L, "PAF-7", "SVE-5", "SVE-7", "SVE-8", "PAF-8", deeper]
        match = position(side("CRZ-111", "PGO-29", "PGO-29", hand=["SVI-170"], deck=deck, prizes=[prize]))
        play(match, "play:SVI-170", "choose:SVE-4", forced=False)
        before = own(match, 0)
        assert before["deck_top"] == [L, "PAF-7", "SVE-5", "SVE-7", "SVE-8"]
        seen.add(json.dumps(view(match, 0)))
        play(match, "choose:bench2")
        assert bench(match, 0, 2)["energy"] == [L]
        seen.add(json.dumps(view(match, 0)["you"]["unseen"]))
    assert len(seen) == 2


def test_energy_attached_from_the_top_is_out_of_the_deck() -> None:
    deck = [L, L, "PAF-7", "PAF-8", R, "PAF-54", L, L]
    match = position(side("CRZ-111", "PGO-29", "PGO-29", hand=["SVI-170"], deck=deck))
    play(match, "play:SVI-170", "choose:SVE-4", "choose:SVE-4", "choose:bench1", "choose:bench2")
    assert (bench(match, 0, 1)["energy"], bench(match, 0, 2)["energy"]) == ([L], [L])
    assert own(match, 0)["deck_count"] == 6
    assert own(match, 0)["unseen"] == {"PAF-54": 1, "PAF-7": 1, "PAF-8": 1, R: 7, L: 2}
    assert choosing(match) is None


def test_the_opponents_pending_choice_is_not_shown() -> None:
    match = position(side("CRZ-111", hand=["PAF-84"], deck=["PAF-7", "MEW-16"]))
    play(match, "play:PAF-84")
    assert view(match, 1)["choosing"] is None
    assert "PAF-7" not in json.dumps(view(match, 1))
    assert match.legal_actions(1) == ()


def test_hidden_cards_are_unknown_in_an_observation_itself_not_only_in_its_json() -> None:
    """Two games that differ by what the opponent cannot know give it equal observations, events included."""

    def looked_at(deck: list[str]) -> PtcgMatch:
        return play(position(side("CRZ-111", "PGO-29", hand=["SVI-170"], deck=deck)), "play:SVI-170", forced=False)

    def prizes_taken(prizes: list[str]) -> PtcgMatch:
        yours = side(pokemon("PAF-54", energy=[R, R]), prizes=prizes)
        return play(position(yours, side("MEW-16", "CRZ-111")), "attack:Burning Darkness")

    def searched(card: str) -> PtcgMatch:
        match = position(side(pokemon("OBF-164"), deck=[R, "PAF-7"]))
        return play(match, "ability:Quick Search@active", f"choose:{card}")

    one, other = looked_at([L, R, R, R, R, R]), looked_at([R, L, "PAF-7", "PAF-8", L, R])
    assert one.observe(1) == other.observe(1)
    one, other = prizes_taken([R, "PAF-7"]), prizes_taken([L, "PAF-8"])
    assert one.observe(1) == other.observe(1)
    one, other = searched(R), searched("PAF-7")
    assert one.observe(1) == other.observe(1)
    assert [event["event"] for event in view(one, 1)["events"]][1:] == ["to_hand", "shuffle"]


def test_an_observation_tells_which_card_was_shown() -> None:
    match = position(side("CRZ-111", hand=["TEF-153"], deck=["PAF-7", R]))
    play(match, "play:TEF-153", "choose:PAF-7")
    shown = {"event": "to_hand", "seat": 0, "count": 1, "from": "deck", "revealed": True, "cards": ["PAF-7"]}
    assert shown in view(match, 1)["events"]


def test_lost_zone_and_discard_pile_are_open() -> None:
    match = position(side("CRZ-111", discard=[R], lost_zone=[L]))
    assert view(match, 1)["opponent"]["discard"] == [R]
    assert view(match, 1)["opponent"]["lost_zone"] == [L]
    assert discard(match, 0) == [R]


def test_both_are_told_of_coins_damage_and_plays_alike() -> None:
    match = position(side(pokemon("CRZ-111", energy=[R, R]), hand=["SVI-169", "PAF-7"]), "PAF-54")
    play(match, "attach:SVI-169>active", "bench:PAF-7", "attack:Hyper Fang")
    public = {"attach", "bench", "attack", "coin", "damage", "turn"}
    seen = [[e for e in events(match, seat) if e["event"] in public] for seat in (0, 1)]
    assert seen[0] == seen[1]
    assert [e["event"] for e in seen[0]][:4] == ["attach", "bench", "attack", "coin"]
    assert events(match, 0, "draw")[-1] == {"event": "draw", "seat": 1, "count": 1}
    assert events(match, 1, "draw")[-1] == {"event": "draw", "seat": 1, "count": 1, "cards": [R]}


def test_an_observation_tells_what_happened_since_the_seats_last_decision() -> None:
    match = position(side("CRZ-111", hand=["PAF-7"]))
    play(match, "bench:PAF-7")
    assert [event["event"] for event in view(match, 0)["events"]] == ["bench"]
    play(match, "pass")
    kinds = [event["event"] for event in view(match, 1)["events"]]
    assert kinds[:2] == ["bench", "pass"]
    assert kinds[-2:] == ["turn", "draw"]
    play(match, "pass")
    assert [event["event"] for event in view(match, 0)["events"]][-2:] == ["turn", "draw"]
    assert keys(match)


def test_each_seats_news_begin_at_its_own_last_decision() -> None:
    def news(match: PtcgMatch, seat: int) -> list[str]:
        return [event["event"] for event in view(match, seat)["events"]]

    match = position(side("CRZ-111", hand=["PAF-7", "MEW-16"]), side("CRZ-111", hand=["BRS-41"]))
    play(match, "bench:PAF-7", "pass")
    assert news(match, 0) == ["pass", "turn", "draw"]
    assert news(match, 1) == ["bench", "pass", "turn", "draw"]
    play(match, "bench:BRS-41")
    assert news(match, 0) == ["pass", "turn", "draw", "bench"]
    assert news(match, 1) == ["bench"]


def test_an_effect_tells_in_how_many_turns_it_acts() -> None:
    match = position(side(pokemon("SVI-253", energy=[L, L, L])), "PAF-54")
    play(match, "attack:Photon Blaster")
    for seat, whose in ((0, "you"), (1, "opponent")):
        assert view(match, seat)[whose]["active"]["effects"] == [{"effect": "cannot attack", "in_turns": 1}]
    play(match, "pass")
    assert own(match, 0)["active"]["effects"] == [{"effect": "cannot attack", "in_turns": 0}]
