"""Positions: a match in mid-turn as a short JSON file, for tests, replays and puzzles.

``docs/positions.md`` lists the fields.
Only ``active`` has no default. A position is a decision in the main part of a turn: the card for the turn was drawn and
no effect is going on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from engine.ptcg import modifiers
from engine.ptcg.card import CARDS, Kind
from engine.ptcg.game import OPTIONS, PtcgMatch, set_options
from engine.ptcg.library import INDEX
from engine.ptcg.randomness import STREAMS
from engine.ptcg.state import CONDITION_NAMES, Player, Pokemon, State

DEFAULT_TURN = 5
DEFAULT_FILL = "SVE-2"
DEFAULT_DECK_SIZE = 20
DEFAULT_PRIZES = 6

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


class PositionError(ValueError):
    """A position that cannot be set up; the text says where in it, what is wrong and what would be right."""


def match_from_position(position: Mapping[str, Any]) -> PtcgMatch:
    """The match that a position describes. Raises :class:`PositionError`."""
    _known_keys("position", position, _ROOT)
    turn = _whole(position, "position", "turn", DEFAULT_TURN, 1)
    players = position.get("players")
    if not isinstance(players, Sequence) or isinstance(players, str) or len(players) != 2:
        raise PositionError("position: players has to be a list of two sides")
    to_move = _seat(position, "to_move", None)
    first = _seat(position, "first_player", None)
    if to_move is None:
        first = 0 if first is None else first
        to_move = first if turn % 2 else 1 - first
    elif first is None:
        first = to_move if turn % 2 else 1 - to_move
    elif turn <= 2 and (first == to_move) != (turn == 1):
        raise PositionError(f"position: turn {turn} is the other player's when first_player is {first}")
    state = State(_whole(position, "position", "seed", 1, 0), ((), ()))
    state.turn = turn
    state.first_player = first
    state.to_move = to_move
    state.prize_count = _whole(position, "position", "prize_count", DEFAULT_PRIZES, 1)
    state.sudden_death = bool(position.get("sudden_death", False))
    state.turns_before = _whole(position, "position", "turns_before", 0, 0)
    options = position.get("options", {})
    _known_keys("position.options", options, tuple(OPTIONS))
    try:
        set_options(state, options)
    except ValueError as error:
        raise PositionError(f"position.options: {error}") from None
    counters = position.get("counters", [0] * STREAMS)
    if not isinstance(counters, list) or len(counters) != STREAMS:
        raise PositionError(f"position: counters has to be a list of {STREAMS} whole numbers")
    state.counters = list(counters)
    stadium = position.get("stadium")
    if stadium is not None:
        _known_keys("stadium", stadium, ("card", "owner"))
        state.stadium = _card("stadium", stadium.get("card"), (Kind.STADIUM,))
        state.stadium_owner = _seat(stadium, "owner", 0) or 0
    lists: list[tuple[int, ...]] = []
    for seat, side in enumerate(players):
        where = f"players[{seat}]"
        _known_keys(where, side, _PLAYER)
        state.players[seat] = _player(state, where, side)
        extra = [state.stadium] if state.stadium >= 0 and state.stadium_owner == seat else []
        lists.append(tuple(sorted(extra + _all_cards(state.players[seat]))))
    state.deck_lists = (lists[0], lists[1])
    for seat, player in enumerate(state.players):
        if len(player.bench) > modifiers.bench_limit(state):
            raise PositionError(
                f"players[{seat}].bench: {len(player.bench)} Pokémon; at most {modifiers.bench_limit(state)} fit"
            )
        for pokemon in player.in_play():
            if modifiers.remaining_hp(state, pokemon) <= 0:
                card = CARDS[pokemon.cards[-1]]
                raise PositionError(
                    f"players[{seat}]: {card.id} {card.name} has {10 * pokemon.damage} damage, which is Knocked Out"
                )
    return PtcgMatch(state)


def _player(state: State, where: str, side: Mapping[str, Any]) -> Player:
    player = Player()
    if "active" not in side:
        raise PositionError(f"{where}: active is missing")
    player.active = _pokemon(state, f"{where}.active", side["active"])
    player.bench = [_pokemon(state, f"{where}.bench[{i}]", p) for i, p in enumerate(side.get("bench", []))]
    for i, pokemon in enumerate(player.bench):
        if pokemon.conditions:
            raise PositionError(f"{where}.bench[{i}].conditions: only an Active Pokémon has Special Conditions")
    fill = _card(f"{where}.fill", side.get("fill", DEFAULT_FILL))
    player.hand = _cards(where, side, "hand")
    deck = _cards(where, side, "deck")
    default_size = len(deck) if "deck" in side else DEFAULT_DECK_SIZE
    size = _whole(side, where, "deck_size", default_size, 0)
    player.deck = (deck + [fill] * (size - len(deck)))[::-1]
    player.discard = _cards(where, side, "discard")
    player.lost = _cards(where, side, "lost_zone")
    if isinstance(side.get("prizes"), list):
        player.prizes = _cards(where, side, "prizes")[::-1]
    else:
        player.prizes = [fill] * _whole(side, where, "prizes", state.prize_count, 0)
    if len(player.prizes) > state.prize_count:
        raise PositionError(
            f"{where}.prizes: {len(player.prizes)} Prize cards; prize_count says that {state.prize_count} were laid out"
        )
    used = side.get("used", {})
    _known_keys(f"{where}.used", used, _USED)
    player.energy_used = bool(used.get("energy", False))
    player.supporter_used = bool(used.get("supporter", False))
    player.stadium_used = bool(used.get("stadium", False))
    player.stadium_effect_used = bool(used.get("stadium_effect", False))
    player.retreat_used = bool(used.get("retreat", False))
    player.vstar_used = bool(used.get("vstar", False))
    player.names_used = tuple(used.get("abilities", ()))
    if side.get("knocked_out_last_turn", False):
        player.knocked_out_turn = state.turn - 1
    player.effects = _effects(f"{where}.effects", side.get("effects", []))
    player.known_hand = _cards(where, side, "known_hand")
    player.prizes_known = bool(side.get("prizes_known", False))
    player.top_known = _whole(side, where, "top_known", 0, 0)
    player.bottom = tuple(
        (
            len_,
            tuple(_card(where, card) for card in own),
            tuple(_card(where, card) for card in opponents),
        )
        for len_, own, opponents in side.get("bottom_known", [])
    )
    _check_memory(where, player)
    return player


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


def _pokemon(state: State, where: str, given: Any) -> Pokemon:
    if isinstance(given, str):
        given = {"card": given}
    if not isinstance(given, Mapping):
        raise PositionError(f"{where}: {given!r} has to be an object with a card")
    _known_keys(where, given, _POKEMON)
    state.last_uid += 1
    top = _card(f"{where}.card", given.get("card"), (Kind.POKEMON,))
    pokemon = Pokemon(state.last_uid, top, _whole(given, where, "entered_turn", 0, 0))
    pokemon.cards = [_card(f"{where}.under", card, (Kind.POKEMON,)) for card in given.get("under", [])] + [top]
    energy = (Kind.BASIC_ENERGY, Kind.SPECIAL_ENERGY)
    pokemon.energy = [_card(f"{where}.energy", card, energy) for card in given.get("energy", [])]
    pokemon.tools = [_card(f"{where}.tools", card, (Kind.TOOL,)) for card in given.get("tools", [])]
    if len(pokemon.tools) > 1:
        raise PositionError(f"{where}.tools: {len(pokemon.tools)} Pokémon Tools; a Pokémon has at most 1")
    damage = _whole(given, where, "damage", 0, 0)
    if damage % 10:
        raise PositionError(f"{where}.damage: {damage} is not a multiple of 10")
    pokemon.damage = damage // 10
    for name in given.get("conditions", []):
        if name not in _CONDITIONS:
            raise PositionError(f"{where}.conditions: unknown {name!r}; known: {', '.join(_CONDITIONS)}")
        pokemon.conditions |= _CONDITIONS[name]
    if sum(name in _TURNED for name in set(given.get("conditions", []))) > 1:
        raise PositionError(f"{where}.conditions: a Pokémon is at most one of {', '.join(_TURNED)}")
    pokemon.paralyzed_turn = state.turn - 1 if "paralyzed" in given.get("conditions", []) else 0
    pokemon.evolved_turn = _whole(given, where, "evolved_turn", 0, 0)
    pokemon.ability_used = bool(given.get("ability_used", False))
    pokemon.effects = _effects(f"{where}.effects", given.get("effects", []))
    return pokemon


def _effects(where: str, given: Any) -> tuple[tuple[str, int, str], ...]:
    try:
        return tuple((str(kind), int(turn), str(detail)) for kind, turn, detail in given)
    except (TypeError, ValueError):
        raise PositionError(f"{where}: {given!r} has to be a list of [kind, turn, detail]") from None


def _known_keys(where: str, given: Any, known: tuple[str, ...]) -> None:
    if not isinstance(given, Mapping):
        raise PositionError(f"{where}: {given!r} has to be an object")
    for key in given:
        if key not in known:
            raise PositionError(f"{where}: unknown field {key!r}; known: {', '.join(known)}")


def _whole(given: Mapping[str, Any], where: str, key: str, default: int, least: int) -> int:
    value = given.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise PositionError(f"{where}.{key}: {value!r} has to be a whole number from {least}")
    return value


def _seat(given: Mapping[str, Any], key: str, default: int | None) -> int | None:
    value = given.get(key, default)
    if value is not None and (isinstance(value, bool) or value not in (0, 1)):
        raise PositionError(f"{key}: {value!r} has to be 0 or 1")
    return value


def _card(where: str, card_id: Any, kinds: tuple[Kind, ...] = ()) -> int:
    if not isinstance(card_id, str) or card_id not in INDEX:
        raise PositionError(f"{where}: unknown card {card_id!r}; a card is given as SET-NUMBER, such as 'PAF-7'")
    card = CARDS[INDEX[card_id]]
    if kinds and card.kind not in kinds:
        raise PositionError(f"{where}: {card_id} {card.name} cannot be there")
    return card.index


def _cards(where: str, given: Mapping[str, Any], key: str) -> list[int]:
    value = given.get(key, [])
    if not isinstance(value, list):
        raise PositionError(f"{where}.{key}: {value!r} has to be a list of cards")
    return [_card(f"{where}.{key}", card) for card in value]


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
