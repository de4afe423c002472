"""Positions: defaults, what is refused with which reason, and writing one from a match."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from ptcg_play import Json, active, actor, attacks, hand, keys, own, play, pokemon, position, prizes_left, side, view

from engine.match import MatchSpec
from engine.ptcg.decks import parse_deck
from engine.ptcg.game import PtcgMatch, new_match
from engine.ptcg.position import PositionError, match_from_position, position_from_match

DECKS = Path(__file__).parents[3] / "conf" / "deck"


def test_a_short_position_has_decks_and_prizes() -> None:
    match = match_from_position({"players": [{"active": "CRZ-111"}, {"active": "PAF-7"}]})
    assert (actor(match), match.turn) == (0, 5)
    assert prizes_left(match) == (6, 6)
    assert [own(match, seat)["deck_count"] for seat in (0, 1)] == [20, 20]
    assert own(match, 0)["unseen"] == {"SVE-2": 26}
    assert active(match, 1)["hp"] == 70
    assert keys(match) == ["pass"]


def test_the_deck_is_listed_from_the_top_and_padded_at_the_bottom() -> None:
    match = position(side("CRZ-111"), side("CRZ-111", deck=["PAF-7", "PAF-8"], deck_size=3, fill="SVE-4"))
    for expected in (["PAF-7"], ["PAF-7", "PAF-8"], ["PAF-7", "PAF-8", "SVE-4"]):
        play(match, "pass")
        assert hand(match, 1) == expected
        play(match, "pass")


@pytest.mark.parametrize(
    ("fields", "to_move", "first"),
    [
        ({"turn": 5}, 0, 0),
        ({"turn": 6}, 1, 0),
        ({"turn": 6, "first_player": 1}, 0, 1),
        ({"turn": 5, "to_move": 1}, 1, 1),
        ({"turn": 2, "to_move": 0}, 0, 1),
    ],
)
def test_first_player_and_player_to_move_follow_from_each_other(
    fields: dict[str, int], to_move: int, first: int
) -> None:
    match = match_from_position({"players": [{"active": "CRZ-111"}, {"active": "PAF-7"}], **fields})
    assert (actor(match), view(match, 0)["first_player"]) == (to_move, first)


def test_the_fields_of_the_design_are_read() -> None:
    text = """
    {"turn": 5, "first_player": 0, "to_move": 0, "seed": 1, "stadium": {"card": "BRS-137", "owner": 1},
     "players": [
       {"active": {"card": "PAF-8", "under": ["PAF-7"], "energy": ["SVE-2"], "tools": ["SVI-169"], "damage": 60,
                   "conditions": ["confused"], "entered_turn": 1, "evolved_turn": 3, "ability_used": false},
        "bench": [{"card": "MEW-16"}], "hand": ["PAF-54", "PAF-89"], "deck": ["SVE-2", "SVE-2"], "discard": [],
        "lost_zone": [], "prizes": 4, "fill": "SVE-2", "deck_size": 20,
        "used": {"energy": true, "supporter": false, "stadium": false, "retreat": true, "vstar": false},
        "knocked_out_last_turn": true},
       {"active": {"card": "CRZ-111"}}]}
    """
    match = match_from_position(json.loads(text))
    mine = own(match, 0)
    assert mine["active"]["hp"] == 30
    assert mine["active"]["conditions"] == ["confused"]
    assert mine["used"] == {
        **dict.fromkeys(("supporter", "stadium", "stadium_effect", "vstar"), False),
        "energy": True,
        "retreat": True,
        "abilities": [],
    }
    assert (mine["prize_count"], mine["deck_count"], mine["knocked_out_last_turn"]) == (4, 20, True)
    assert view(match, 0)["stadium"] == {"card": "BRS-137", "owner": 1}
    assert "retreat>bench1" not in keys(match)
    assert "evolve:PAF-54>active" in keys(match)


@pytest.mark.parametrize(
    ("position_fields", "message"),
    [
        ({}, "position: players has to be a list of two sides"),
        ({"players": [{"active": "CRZ-111"}]}, "position: players has to be a list of two sides"),
        ({"players": [{}, {"active": "CRZ-111"}]}, r"players\[0\]: active is missing"),
        (
            {"players": [{"active": "CRZ-111"}, {"active": "CRZ-999"}]},
            r"players\[1\].active.card: unknown card 'CRZ-999'",
        ),
        (
            {"players": [{"active": "SVE-2"}, {"active": "CRZ-111"}]},
            r"players\[0\].active.card: SVE-2 Fire Energy cannot",
        ),
        (
            {"players": [{"active": "CRZ-111", "hands": []}, {"active": "CRZ-111"}]},
            r"players\[0\]: unknown field 'hands'; known: active, bench, hand",
        ),
        ({"turns": 3, "players": [{"active": "CRZ-111"}] * 2}, "position: unknown field 'turns'"),
        ({"turn": 0, "players": [{"active": "CRZ-111"}] * 2}, "position.turn: 0 has to be a whole number from 1"),
        ({"to_move": 2, "players": [{"active": "CRZ-111"}] * 2}, "to_move: 2 has to be 0 or 1"),
        (
            {"turn": 1, "first_player": 0, "to_move": 1, "players": [{"active": "CRZ-111"}] * 2},
            "position: turn 1 is the other player's when first_player is 0",
        ),
        (
            {"players": [{"active": {"card": "CRZ-111", "damage": 25}}, {"active": "CRZ-111"}]},
            r"players\[0\].active.damage: 25 is not a multiple of 10",
        ),
        (
            {"players": [{"active": {"card": "CRZ-111", "damage": 60}}, {"active": "CRZ-111"}]},
            r"players\[0\]: CRZ-111 Bidoof has 60 damage, which is Knocked Out",
        ),
        (
            {"players": [{"active": {"card": "CRZ-111", "conditions": ["sleepy"]}}, {"active": "CRZ-111"}]},
            r"players\[0\].active.conditions: unknown 'sleepy'; known: asleep, burned",
        ),
        (
            {"players": [{"active": {"card": "CRZ-111", "conditions": ["asleep", "confused"]}}, {"active": "CRZ-111"}]},
            r"players\[0\].active.conditions: a Pokémon is at most one of asleep, confused, paralyzed",
        ),
        (
            {
                "players": [
                    {"active": "CRZ-111", "bench": [{"card": "PAF-7", "conditions": ["asleep"]}]},
                    {"active": "PAF-7"},
                ]
            },
            r"players\[0\].bench\[0\].conditions: only an Active Pokémon has Special Conditions",
        ),
        (
            {"players": [{"active": "CRZ-111", "bench": ["PAF-7"] * 6}, {"active": "PAF-7"}]},
            r"players\[0\].bench: 6 Pokémon; at most 5 fit",
        ),
        (
            {
                "stadium": {"card": "BRS-137"},
                "players": [{"active": "CRZ-111", "bench": ["PAF-7"] * 5}, {"active": "PAF-7"}],
            },
            r"players\[0\].bench: 5 Pokémon; at most 4 fit",
        ),
        (
            {"players": [{"active": "CRZ-111", "prizes": 7}, {"active": "PAF-7"}]},
            r"players\[0\].prizes: 7 Prize cards; prize_count says that 6 were laid out",
        ),
        ({"players": [{"active": "CRZ-111", "hand": "PAF-7"}, {"active": "PAF-7"}]}, "has to be a list of cards"),
        (
            {"stadium": {"card": "PAF-84"}, "players": [{"active": "PAF-7"}] * 2},
            "stadium: PAF-84 Nest Ball cannot be there",
        ),
        (
            {"options": {"turn_cap": "no"}, "players": [{"active": "PAF-7"}] * 2},
            "position.options: option turn_cap is 'no'",
        ),
        (
            {"players": [{"active": {"card": "PAF-7", "tools": ["SVI-169", "TEF-159"]}}, {"active": "PAF-7"}]},
            r"players\[0\].active.tools: 2 Pokémon Tools; a Pokémon has at most 1",
        ),
        (
            {"players": [{"active": "PAF-7", "hand": ["PAF-8"], "known_hand": ["PAF-7"]}, {"active": "PAF-7"}]},
            r"players\[0\].known_hand: names cards that are not in the hand",
        ),
        (
            {"players": [{"active": "PAF-7", "deck": ["PAF-8"], "top_known": 2}, {"active": "PAF-7"}]},
            r"players\[0\].top_known: 2 cards; the deck has 1",
        ),
        (
            {
                "players": [
                    {"active": "PAF-7", "deck": ["PAF-8"], "bottom_known": [[1, ["PAF-7"], []]]},
                    {"active": "PAF-7"},
                ]
            },
            r"players\[0\].bottom_known: names cards that are not there",
        ),
        ({"options": {"cap": 1}, "players": [{"active": "PAF-7"}] * 2}, "position.options: unknown field 'cap'"),
        ({"turn": 5.0, "players": [{"active": "PAF-7"}] * 2}, "position.turn: 5.0 has to be a whole number from 1"),
        ({"to_move": 1.0, "players": [{"active": "PAF-7"}] * 2}, "position.to_move: 1.0 has to be 0 or 1"),
        (
            {"prize_count": 7, "players": [{"active": "PAF-7"}] * 2},
            "prize_count: 7 has to be a whole number from 1 to 6",
        ),
        (
            {"counters": [0, 0, 0, "1"], "players": [{"active": "PAF-7"}] * 2},
            "position.counters: '1' has to be a whole number from 0",
        ),
        ({"sudden_death": 1, "players": [{"active": "PAF-7"}] * 2}, "sudden_death: 1 has to be true or false"),
        (
            {"turn": 1, "players": [{"active": "PAF-7", "knocked_out_last_turn": True}, {"active": "PAF-7"}]},
            r"players\[0\].knocked_out_last_turn: there is no turn before turn 1",
        ),
        (
            {"players": [{"active": "PAF-7", "knocked_out_this_turn": True}, {"active": "PAF-7"}]},
            r"players\[0\].knocked_out_this_turn: only for the side that is not to move",
        ),
        *[
            ({"players": [{"active": "PAF-7", **fields}, {"active": "PAF-7"}]}, r"players\[0\]." + message)
            for fields, message in (
                ({"active": None}, "active: None has to be an object with a card"),
                ({"bench": "PAF-7"}, "bench: 'PAF-7' has to be a list of Pokémon"),
                ({"prizes": 0}, "prizes: no Prize cards; a player who has taken them all has won"),
                ({"prizes": []}, "prizes: no Prize cards"),
                ({"deck_size": 61}, "deck_size: 61 has to be a whole number from 0 to 60"),
                ({"used": {"supporter": "no"}}, "used.supporter: 'no' has to be true or false"),
                ({"used": {"abilities": ["Fly"]}}, "used.abilities: unknown 'Fly'; known: Flip the Script, Quick"),
                ({"effects": [["no Trainers", 6, ""]]}, "effects: unknown 'no Trainers'; known: no Items from hand"),
                ({"effects": [["no Items from hand", "6", ""]]}, "effects: '6' has to be a whole number"),
                ({"effects": [["no Items from hand", 6]]}, r"effects: .* has to be \[kind, turn, detail\]"),
                ({"bottom_known": [[1, []]]}, r"bottom_known: .* has to be \[cards, own memory, opponent's memory\]"),
                ({"bottom_known": [[0, [], []]]}, "bottom_known: 0 has to be a whole number from 1"),
                (
                    {"deck": ["PAF-8"], "top_known": 1, "bottom_known": [[1, ["PAF-8"], []]]},
                    "bottom_known: 1 cards reach into the 1 known on top",
                ),
                ({"active": {"card": "PAF-7", "entered_turn": 6}}, "active.entered_turn: 6 has to be .* from 0 to 5"),
                ({"active": {"card": "PAF-7", "energy": "SVE-2"}}, "active.energy: 'SVE-2' has to be a list of cards"),
                ({"active": {"card": "PAF-7", "energy": ["PAF-7"]}}, "active.energy: PAF-7 Charmander cannot be there"),
                ({"active": {"card": "PAF-7", "conditions": [["asleep"]]}}, "active.conditions: unknown "),
                (
                    {"active": {"card": "PAF-7", "effects": [["dizzy", 6, ""]]}},
                    "active.effects: unknown 'dizzy'; known",
                ),
            )
        ],
    ],
)
def test_a_position_that_cannot_be_is_refused(position_fields: dict[str, Any], message: str) -> None:
    with pytest.raises(PositionError, match="^.*" + message) as refused:
        match_from_position(position_fields)
    assert "\n" not in str(refused.value)


def in_mid_game(seed: int, decisions: int) -> PtcgMatch:
    """A random game of the two decks against each other, stopped in the main part of a turn."""
    decks = tuple(
        parse_deck((DECKS / f"{name}.txt").read_text(encoding="utf-8")) for name in ("charizard_ex", "miraidon_ex")
    )
    match = new_match(MatchSpec("ptcg", seed, (decks[0], decks[1]), {"sudden_death": "draw", "turn_cap": 300}))
    rng = random.Random(seed)
    while match.result is None and (decisions > 0 or view(match, actor(match))["choosing"] is not None):
        seat = actor(match)
        match.apply(seat, rng.choice(match.legal_actions(seat)))
        decisions -= 1
    return match


@pytest.mark.parametrize("seed", range(6))
def test_a_written_position_plays_on_alike(seed: int) -> None:
    match = in_mid_game(seed, 25 + 12 * seed)
    assert match.result is None
    written = json.loads(json.dumps(position_from_match(match)))
    copy = match_from_position(written)
    assert position_from_match(copy) == written
    rng = random.Random(seed)
    for _ in range(300):
        if match.result is not None:
            break
        assert keys(copy) == keys(match)
        assert [own(copy, s) for s in (0, 1)] == [own(match, s) for s in (0, 1)]
        key = rng.choice(keys(match))
        play(match, key, forced=False)
        play(copy, key, forced=False)
    assert (copy.result, copy.turn) == (match.result, match.turn)


def test_every_field_of_a_position_is_read_and_written() -> None:
    """No field here has its default, so that one left out or mixed up with another would show."""
    charmeleon = {
        "card": "PAF-8",
        "under": ["PAF-7"],
        "energy": ["SVE-2"],
        "tools": ["SVI-169"],
        "damage": 30,
        "conditions": ["burned", "poisoned"],
        "entered_turn": 3,
        "evolved_turn": 7,
        "ability_used": True,
        "effects": [["cannot attack", 9, "why"]],
    }
    benched = {**charmeleon, "damage": 20, "conditions": [], "entered_turn": 2, "evolved_turn": 4, "effects": []}
    mine = {
        "active": charmeleon,
        "bench": [benched],
        "hand": ["PAF-54", "PAF-89"],
        "deck": ["SVE-2", "MEW-16", "SVE-4"],
        "discard": ["PAF-84", "SVE-1"],
        "lost_zone": ["CRZ-135"],
        "prizes": ["PAF-80", "PAF-91", "SVE-5"],
        "used": {
            "energy": True,
            "supporter": True,
            "stadium": True,
            "stadium_effect": True,
            "retreat": True,
            "vstar": True,
            "abilities": ["Quick Search"],
        },
        "knocked_out_last_turn": True,
        "knocked_out_this_turn": False,
        "effects": [["no Items from hand", 8, ""]],
        "known_hand": ["PAF-54"],
        "prizes_known": True,
        "top_known": 1,
        "bottom_known": [[2, ["MEW-16", "SVE-4"], ["SVE-4"]]],
    }
    given = {
        "turn": 7,
        "first_player": 0,
        "to_move": 0,
        "seed": 9,
        "counters": [1, 2, 3, 4],
        "prize_count": 4,
        "sudden_death": True,
        "turns_before": 12,
        "options": {"sudden_death": "draw", "turn_cap": 50},
        "stadium": {"card": "OBF-196", "owner": 1},
        "players": [
            mine,
            {
                **mine,
                "prizes": ["SVE-7"],
                "known_hand": ["PAF-89"],
                "knocked_out_last_turn": False,
                "knocked_out_this_turn": True,
            },
        ],
    }
    assert position_from_match(match_from_position(given)) == given


def test_a_position_cannot_be_taken_in_mid_effect_in_set_up_or_after_the_end() -> None:
    effect = play(position(side("CRZ-111", hand=["PAF-84"], deck=["PAF-7"])), "play:PAF-84")
    over = play(
        position(side(pokemon("PAF-7", energy=["SVE-2", "SVE-2"])), pokemon("PAF-7", damage=40)),
        "attack:Steady Firebreathing",
    )
    charizard = parse_deck((DECKS / "charizard_ex.txt").read_text(encoding="utf-8"))
    beginning = new_match(MatchSpec("ptcg", 1, (charizard, charizard)))
    for match in (effect, over, beginning):
        with pytest.raises(PositionError, match="only in the main part of a turn"):
            position_from_match(match)


def test_effects_of_attacks_are_part_of_a_position() -> None:
    miraidon = pokemon("SVI-253", energy=["SVE-4"] * 3)
    match = play(position(side(miraidon), side("PAF-54", "PAF-54")), "attack:Photon Blaster", "pass")
    copy = match_from_position(position_from_match(match))
    assert attacks(copy) == attacks(match) == set()
    play(copy, "pass", "pass")
    assert attacks(copy) == {"Photon Blaster"}


def test_a_knock_out_earlier_in_the_turn_is_part_of_a_position() -> None:
    munkidori = pokemon("TWM-95", energy=["SVE-7"], damage=10)
    match = position(side(munkidori), side("SFA-92", pokemon("PAF-7", damage=60)))
    play(match, "ability:Adrena-Brain@active", "choose:opponent.bench1")
    copy = match_from_position(position_from_match(match))
    assert "ability:Flip the Script@active" in keys(play(match, "pass"))
    assert "ability:Flip the Script@active" in keys(play(copy, "pass"))


@pytest.mark.parametrize(
    ("user", "other", "name"),
    [
        (pokemon("OBF-164", ability_used=True), "OBF-164", "Quick Search"),
        (pokemon("SFA-92", ability_used=True), "SFA-92", "Flip the Script"),
        (pokemon("SIT-139", ability_used=True), "SIT-139", "Summoning Star"),
        (pokemon("SIT-139", ability_used=True), pokemon("SIT-138", tools=["SIT-156"]), "Star Alchemy"),
    ],
)
def test_a_used_ability_uses_up_a_limit_that_others_share(user: Json, other: str | Json, name: str) -> None:
    fields: Json = {"discard": ["CRZ-111"], "knocked_out_last_turn": True}
    assert f"ability:{name}@bench1" in keys(position(side("CRZ-111", other, **fields)))
    match = position(side(user, other, **fields))
    assert not [key for key in keys(match) if key.startswith("ability:")]
    # A limit of the turn ends with it, a VSTAR Power stays used.
    play(match, "pass", "pass")
    expected = {f"ability:{name}@{place}" for place in ("active", "bench1") if name == "Quick Search"}
    assert {key for key in keys(match) if key.startswith("ability:")} == expected


def test_a_used_ability_leaves_others_theirs_where_each_pokemon_has_its_own() -> None:
    match = position(side(pokemon("PAR-139", ability_used=True), "PAR-139"))
    assert [key for key in keys(match) if key.startswith("ability:")] == ["ability:Coin Bonus@bench1"]
