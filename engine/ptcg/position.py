"""Positions: a match in mid-turn as a short JSON file, for tests, replays and puzzles.

``docs/positions.md`` lists the fields.
Only ``active`` has no default. A position is a decision in the main part of a turn: the card for the turn was drawn and
no effect is going on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from engine.ptcg import modifiers, moves
from engine.ptcg.card import CARDS, Kind, Limit
from engine.ptcg.game import OPTIONS, PtcgMatch, set_options
from engine.ptcg.position_fields import (
    PositionError,
    card,
    cards,
    effects,
    entries,
    flag,
    known_keys,
    names,
    number,
    seat,
    whole,
)
from engine.ptcg.randomness import STREAMS
from engine.ptcg.state import CONDITION_NAMES, Player, Pokemon, Segment, State

__all__ = ["PositionError", "match_from_position", "position_from_match"]

DEFAULT_TURN = 5
DEFAULT_FILL = "SVE-2"
DEFAULT_DECK_SIZE = 20
DEFAULT_PRIZES = MOST_PRIZES = 6
MOST_CARDS_IN_DECK = 60

_ROOT = (
    "turn",
    "first_player",
    "to_move",
    "seed",
    "stadium",
    "players",
    "prize_count",
    "sudden_death",
    "counters",
    "turns_before",
    "options",
)
_PLAYER = (
    "active",
    "bench",
    "hand",
    "deck",
    "discard",
    "lost_zone",
    "prizes",
    "fill",
    "deck_size",
    "used",
    "knocked_out_last_turn",
    "knocked_out_this_turn",
    "effects",
    "known_hand",
    "prizes_known",
    "top_known",
    "bottom_known",
)
_USED = ("energy", "supporter", "stadium", "stadium_effect", "retreat", "vstar", "abilities")
_POKEMON = (
    "card",
    "under",
    "energy",
    "tools",
    "damage",
    "conditions",
    "entered_turn",
    "evolved_turn",
    "ability_used",
    "effects",
)
_CONDITIONS = {name: bit for bit, name in CONDITION_NAMES}
# Shown by turning the card, so that each takes the place of another.
_TURNED = ("asleep", "confused", "paralyzed")
# The attack after which its own Pokémon sleeps until two coins are heads: how else should it have fallen asleep?
_SLEEP = "Thumping Snore"


_ONCE_BY_NAME = tuple(
    sorted({ability.name for c in CARDS for ability in c.abilities if ability.limit is Limit.ONCE_PER_NAME})
)
_ON_POKEMON = (
    modifiers.CANNOT_ATTACK,
    modifiers.CANNOT_USE_ATTACK,
    modifiers.NO_DAMAGE_OR_EFFECTS,
    modifiers.TWO_SLEEP_COINS,
)
_ON_PLAYER = (modifiers.NO_ITEMS,)


def match_from_position(position: Mapping[str, Any]) -> PtcgMatch:
    """The match that a position describes. Raises :class:`PositionError`."""
    known_keys("position", position, _ROOT)
    turn = whole(position, "position", "turn", DEFAULT_TURN, 1)
    players = position.get("players")
    if not isinstance(players, Sequence) or isinstance(players, str) or len(players) != 2:
        raise PositionError("position: players has to be a list of two sides")
    to_move = seat(position, "position", "to_move", None)
    first = seat(position, "position", "first_player", None)
    if to_move is None:
        first = 0 if first is None else first
        to_move = first if turn % 2 else 1 - first
    elif first is None:
        first = to_move if turn % 2 else 1 - to_move
    elif turn <= 2 and (first == to_move) != (turn == 1):
        raise PositionError(f"position: turn {turn} is the other player's when first_player is {first}")
    state = State(whole(position, "position", "seed", 1), ((), ()))
    state.turn = turn
    state.first_player = first
    state.to_move = to_move
    state.prize_count = whole(position, "position", "prize_count", DEFAULT_PRIZES, 1, MOST_PRIZES)
    state.sudden_death = flag(position, "position", "sudden_death")
    state.turns_before = whole(position, "position", "turns_before", 0)
    options = position.get("options", {})
    known_keys("position.options", options, tuple(OPTIONS))
    try:
        set_options(state, options)
    except ValueError as error:
        raise PositionError(f"position.options: {error}") from None
    counters = position.get("counters", [0] * STREAMS)
    if not isinstance(counters, list) or len(counters) != STREAMS:
        raise PositionError(f"position: counters has to be a list of {STREAMS} whole numbers")
    state.counters = [number("position.counters", counter) for counter in counters]
    stadium = position.get("stadium")
    if stadium is not None:
        known_keys("stadium", stadium, ("card", "owner"))
        state.stadium = card("stadium", stadium.get("card"), (Kind.STADIUM,))
        state.stadium_owner = seat(stadium, "stadium", "owner", 0) or 0
    lists: list[tuple[int, ...]] = []
    for place, side in enumerate(players):
        where = f"players[{place}]"
        known_keys(where, side, _PLAYER)
        state.players[place] = _player(state, where, place, side)
        extra = [state.stadium] if state.stadium >= 0 and state.stadium_owner == place else []
        lists.append(tuple(sorted(extra + _all_cards(state.players[place]))))
    state.deck_lists = (lists[0], lists[1])
    for place, player in enumerate(state.players):
        if len(player.bench) > modifiers.bench_limit(state):
            raise PositionError(
                f"players[{place}].bench: {len(player.bench)} Pokémon; at most {modifiers.bench_limit(state)} fit"
            )
        for pokemon in player.in_play():
            if modifiers.remaining_hp(state, pokemon) <= 0:
                top, damage = CARDS[pokemon.cards[-1]], 10 * pokemon.damage
                raise PositionError(f"players[{place}]: {top.id} {top.name} has {damage} damage, which is Knocked Out")
    return PtcgMatch(state)


def _player(state: State, where: str, place: int, side: Mapping[str, Any]) -> Player:
    player = Player()
    if "active" not in side:
        raise PositionError(f"{where}: active is missing")
    player.active = _pokemon(state, f"{where}.active", side["active"])
    bench = entries(side, where, "bench", "Pokémon")
    player.bench = [_pokemon(state, f"{where}.bench[{i}]", given) for i, given in enumerate(bench)]
    for i, pokemon in enumerate(player.bench):
        if pokemon.conditions:
            raise PositionError(f"{where}.bench[{i}].conditions: only an Active Pokémon has Special Conditions")
    fill = card(f"{where}.fill", side.get("fill", DEFAULT_FILL))
    player.hand = cards(side, where, "hand")
    deck = cards(side, where, "deck")
    default_size = len(deck) if "deck" in side else DEFAULT_DECK_SIZE
    size = whole(side, where, "deck_size", default_size, most=max(MOST_CARDS_IN_DECK, len(deck)))
    player.deck = (deck + [fill] * (size - len(deck)))[::-1]
    player.discard = cards(side, where, "discard")
    player.lost = cards(side, where, "lost_zone")
    if isinstance(side.get("prizes"), list):
        player.prizes = cards(side, where, "prizes")[::-1]
    else:
        player.prizes = [fill] * whole(side, where, "prizes", state.prize_count, most=MOST_CARDS_IN_DECK)
    if not player.prizes:
        raise PositionError(f"{where}.prizes: no Prize cards; a player who has taken them all has won")
    if len(player.prizes) > state.prize_count:
        raise PositionError(
            f"{where}.prizes: {len(player.prizes)} Prize cards; prize_count says that {state.prize_count} were laid out"
        )
    used = side.get("used", {})
    known_keys(f"{where}.used", used, _USED)
    player.energy_used = flag(used, f"{where}.used", "energy")
    player.supporter_used = flag(used, f"{where}.used", "supporter")
    player.stadium_used = flag(used, f"{where}.used", "stadium")
    player.stadium_effect_used = flag(used, f"{where}.used", "stadium_effect")
    player.retreat_used = flag(used, f"{where}.used", "retreat")
    player.vstar_used = flag(used, f"{where}.used", "vstar")
    player.names_used = tuple(names(used, f"{where}.used", "abilities", _ONCE_BY_NAME))
    _share_limits(player)
    player.knocked_out_turn = _last_knock_out(state, where, place, side)
    player.effects = effects(side, where, _ON_PLAYER)
    player.known_hand = cards(side, where, "known_hand")
    player.prizes_known = flag(side, where, "prizes_known")
    player.top_known = whole(side, where, "top_known", 0)
    player.bottom = tuple(_segment(where, given) for given in entries(side, where, "bottom_known", "blocks"))
    _check_memory(where, player)
    return player


def _share_limits(player: Player) -> None:
    """Where a Pokémon has used an Ability whose limit is not its own, that limit is used up for all others too."""
    for pokemon in player.in_play():
        if not pokemon.ability_used:
            continue
        for ability in CARDS[pokemon.cards[-1]].activated:
            if ability.limit is Limit.ONCE_PER_NAME and ability.name not in player.names_used:
                player.names_used = (*player.names_used, ability.name)
            elif ability.limit is Limit.VSTAR:
                player.vstar_used = True


def _last_knock_out(state: State, where: str, place: int, side: Mapping[str, Any]) -> int:
    """The last turn of the opponent in which a Pokémon of this side was Knocked Out; 0 where it does not matter."""
    last_turn = flag(side, where, "knocked_out_last_turn")
    if last_turn and state.turn == 1:
        raise PositionError(f"{where}.knocked_out_last_turn: there is no turn before turn 1")
    if flag(side, where, "knocked_out_this_turn"):
        if place == state.to_move or last_turn:
            raise PositionError(
                f"{where}.knocked_out_this_turn: only for the side that is not to move, without knocked_out_last_turn"
            )
        return state.turn
    return state.turn - 1 if last_turn else 0


def _segment(where: str, given: Any) -> Segment:
    if not isinstance(given, list) or len(given) != 3:
        raise PositionError(f"{where}.bottom_known: {given!r} has to be [cards, own memory, opponent's memory]")
    memory = {"own memory": given[1], "opponent's memory": given[2]}
    own, opponents = (cards(memory, f"{where}.bottom_known", key) for key in memory)
    return number(f"{where}.bottom_known", given[0], 1), tuple(own), tuple(opponents)


def _check_memory(where: str, player: Player) -> None:
    """What is remembered has to be there."""
    if Counter(player.known_hand) - Counter(player.hand):
        raise PositionError(f"{where}.known_hand: names cards that are not in the hand")
    if player.top_known > len(player.deck):
        raise PositionError(f"{where}.top_known: {player.top_known} cards; the deck has {len(player.deck)}")
    place = 0
    for size, *memories in player.bottom:
        block = Counter(player.deck[place : place + size])
        place += size
        if place > len(player.deck) or any(Counter(memory) - block for memory in memories):
            raise PositionError(f"{where}.bottom_known: names cards that are not there at the bottom of the deck")
    if place and place + player.top_known > len(player.deck):
        raise PositionError(f"{where}.bottom_known: {place} cards reach into the {player.top_known} known on top")


def _pokemon(state: State, where: str, given: Any) -> Pokemon:
    if isinstance(given, str):
        given = {"card": given}
    if not isinstance(given, Mapping):
        raise PositionError(f"{where}: {given!r} has to be an object with a card")
    known_keys(where, given, _POKEMON)
    state.last_uid += 1
    top = card(f"{where}.card", given.get("card"), (Kind.POKEMON,))
    pokemon = Pokemon(state.last_uid, top, whole(given, where, "entered_turn", 0, most=state.turn))
    pokemon.cards = [*cards(given, where, "under", (Kind.POKEMON,)), top]
    pokemon.energy = cards(given, where, "energy", (Kind.BASIC_ENERGY, Kind.SPECIAL_ENERGY))
    pokemon.tools = cards(given, where, "tools", (Kind.TOOL,))
    if len(pokemon.tools) > 1:
        raise PositionError(f"{where}.tools: {len(pokemon.tools)} Pokémon Tools; a Pokémon has at most 1")
    damage = whole(given, where, "damage", 0)
    if damage % 10:
        raise PositionError(f"{where}.damage: {damage} is not a multiple of 10")
    pokemon.damage = damage // 10
    conditions = names(given, where, "conditions", _CONDITIONS)
    for name in conditions:
        pokemon.conditions |= _CONDITIONS[name]
    if sum(name in _TURNED for name in set(conditions)) > 1:
        raise PositionError(f"{where}.conditions: a Pokémon is at most one of {', '.join(_TURNED)}")
    pokemon.paralyzed_turn = state.turn - 1 if "paralyzed" in conditions else 0
    pokemon.evolved_turn = whole(given, where, "evolved_turn", 0, most=state.turn)
    pokemon.ability_used = flag(given, where, "ability_used")
    pokemon.effects = effects(given, where, _ON_POKEMON)
    if "effects" not in given and "asleep" in conditions and any(a.name == _SLEEP for a in CARDS[top].attacks):
        pokemon.effects = ((modifiers.TWO_SLEEP_COINS, moves.FOREVER, ""),)
    return pokemon


def _all_cards(player: Player) -> list[int]:
    cards = [*player.hand, *player.deck, *player.discard, *player.lost, *player.prizes]
    for pokemon in player.in_play():
        cards += [*pokemon.cards, *pokemon.energy, *pokemon.tools]
    return cards


def position_from_match(match: PtcgMatch) -> dict[str, Any]:
    """The position of a match, complete: :func:`match_from_position` makes a match from it that plays on alike.

    Raises :class:`PositionError` in set-up, in the middle of an effect and after the end.
    """
    state = match.state
    if state.turn == 0 or state.stack or state.prompt is not None or state.result is not None:
        raise PositionError("a position can be taken only in the main part of a turn, with no effect going on")
    position: dict[str, Any] = {
        "turn": state.turn,
        "first_player": state.first_player,
        "to_move": state.to_move,
        "seed": state.seed,
        "counters": list(state.counters),
        "prize_count": state.prize_count,
        "sudden_death": state.sudden_death,
        "turns_before": state.turns_before,
        "options": {"sudden_death": "draw" if state.sudden_death_draw else "play", "turn_cap": state.turn_cap},
        "players": [_write_player(state, player) for player in state.players],
    }
    if state.stadium >= 0:
        position["stadium"] = {"card": CARDS[state.stadium].id, "owner": state.stadium_owner}
    return position


def _write_player(state: State, player: Player) -> dict[str, Any]:
    assert player.active is not None
    return {
        "active": _write_pokemon(player.active),
        "bench": [_write_pokemon(pokemon) for pokemon in player.bench],
        "hand": _ids(player.hand),
        "deck": _ids(player.deck[::-1]),
        "discard": _ids(player.discard),
        "lost_zone": _ids(player.lost),
        "prizes": _ids(player.prizes[::-1]),
        "used": {
            "energy": player.energy_used,
            "supporter": player.supporter_used,
            "stadium": player.stadium_used,
            "stadium_effect": player.stadium_effect_used,
            "retreat": player.retreat_used,
            "vstar": player.vstar_used,
            "abilities": list(player.names_used),
        },
        "knocked_out_last_turn": player.knocked_out_turn > 0 and player.knocked_out_turn == state.turn - 1,
        "knocked_out_this_turn": player.knocked_out_turn == state.turn,
        "effects": [list(effect) for effect in player.effects],
        "known_hand": _ids(player.known_hand),
        "prizes_known": player.prizes_known,
        "top_known": player.top_known,
        "bottom_known": [[size, _ids(own), _ids(opponents)] for size, own, opponents in player.bottom],
    }


def _write_pokemon(pokemon: Pokemon) -> dict[str, Any]:
    return {
        "card": CARDS[pokemon.cards[-1]].id,
        "under": _ids(pokemon.cards[:-1]),
        "energy": _ids(pokemon.energy),
        "tools": _ids(pokemon.tools),
        "damage": 10 * pokemon.damage,
        "conditions": [name for bit, name in CONDITION_NAMES if pokemon.conditions & bit],
        "entered_turn": pokemon.entered_turn,
        "evolved_turn": pokemon.evolved_turn,
        "ability_used": pokemon.ability_used,
        "effects": [list(effect) for effect in pokemon.effects],
    }


def _ids(cards: Sequence[int]) -> list[str]:
    return [CARDS[card].id for card in cards]
