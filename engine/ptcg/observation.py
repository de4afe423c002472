"""What a seat legitimately knows of a match, memory included, and nothing else.

An observation holds a copy of the state from which everything else has been taken out: an unknown card is ``UNKNOWN``,
an unknown order is sorted, the randomness and the opponent's deck list are blank. So all computed quantities
(:mod:`engine.ptcg.modifiers`) work on it, and :mod:`engine.ptcg.determinize` fills it in again.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from engine.ptcg import modifiers
from engine.ptcg.actions import item_action, place_key
from engine.ptcg.card import CARDS
from engine.ptcg.events import view_event
from engine.ptcg.state import CONDITION_NAMES, Event, Player, Pokemon, State

UNKNOWN = -1
"""Stands for a card that the observer does not know."""

_PRIVATE_CARDS = ("draw", "look", "prizes", "to_top", "hand_to_deck", "hand_to_bottom")
_PRIVATE_CARD = ("set_up_active", "set_up_bench")


class PtcgObservation:
    """All that ``seat`` knows. ``known`` is the redacted state, ``events`` what happened since its last decision."""

    __slots__ = ("events", "first_event", "known", "seat")

    def __init__(self, seat: int, known: State, events: tuple[Event, ...], first_event: int) -> None:
        self.seat = seat
        self.known = known
        self.events = events
        self.first_event = first_event

    @property
    def you(self) -> Player:
        """The observer's own side."""
        return self.known.players[self.seat]

    @property
    def opponent(self) -> Player:
        """The other side; cards it may hide are ``UNKNOWN``."""
        return self.known.players[1 - self.seat]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PtcgObservation)
            and (self.seat, self.events, self.first_event) == (other.seat, other.events, other.first_event)
            and self.known == other.known
        )

    __hash__ = None  # type: ignore[assignment]

    def to_json(self) -> dict[str, Any]:
        """The observation as plain JSON values; ``docs/replay.md`` lists the fields."""
        known, seat = self.known, self.seat
        prompt = known.prompt
        choosing: dict[str, Any] | None = None
        if prompt is not None:
            choosing = {
                "source": CARDS[prompt.source].id if prompt.source >= 0 else None,
                "question": prompt.question,
                "least": prompt.least,
                "most": prompt.most,
                "candidates": [
                    {
                        "index": i,
                        "label": item_action(known, prompt, i).key.partition(":")[2],
                        "copies": prompt.counts[i],
                    }
                    for i in range(len(prompt.items))
                ],
                "picked": [item_action(known, prompt, i).key.partition(":")[2] for i in prompt.picks],
            }
        return {
            "seat": seat,
            "turn": known.turn,
            "first_player": known.first_player,
            "your_turn": known.to_move == seat,
            "prizes_to_win": known.prize_count,
            "sudden_death": known.sudden_death,
            "stadium": None if known.stadium < 0 else {"card": CARDS[known.stadium].id, "owner": known.stadium_owner},
            "you": self._side(seat),
            "opponent": self._side(1 - seat),
            "choosing": choosing,
            "events": [view_event(event, seat) for event in self.events],
        }

    def _side(self, seat: int) -> dict[str, Any]:
        known = self.known
        player = known.players[seat]
        own = seat == self.seat
        side: dict[str, Any] = {
            "active": self._pokemon(seat, player.active, 0) if player.active is not None else None,
            "bench": [self._pokemon(seat, pokemon, i) for i, pokemon in enumerate(player.bench, 1)],
            "hand": _ids(sorted(card for card in player.hand if card != UNKNOWN)),
            "hand_count": len(player.hand),
            "deck_count": len(player.deck),
            "deck_top": _ids(_known_top(player)),
            "deck_bottom": [
                {"cards": size, "known": _ids(owner if own else opponent)} for size, owner, opponent in player.bottom
            ],
            "discard": _ids(player.discard),
            "lost_zone": _ids(player.lost),
            "being_played": _ids(player.playing),
            "prize_count": len(player.prizes),
            "prizes": _ids(player.prizes) if player.prizes and player.prizes[0] != UNKNOWN else None,
            "used": {
                "energy": player.energy_used,
                "supporter": player.supporter_used,
                "stadium": player.stadium_used,
                "stadium_effect": player.stadium_effect_used,
                "retreat": player.retreat_used,
                "vstar": player.vstar_used,
                "abilities": list(player.names_used),
            },
            "effects": [_effect(effect, known.turn) for effect in player.effects],
            "knocked_out_last_turn": player.knocked_out_turn > 0 and player.knocked_out_turn == known.turn - 1,
            "bench_limit": modifiers.bench_limit(known),
        }
        if own:
            side["deck_list"] = _counts(known.deck_lists[seat])
            side["unseen"] = _counts(unseen_cards(known, seat))
        return side

    def _pokemon(self, seat: int, pokemon: Pokemon, place: int) -> dict[str, Any]:
        known = self.known
        if pokemon.cards[-1] == UNKNOWN:
            return {"place": place_key(place), "face_down": True}
        card = CARDS[pokemon.cards[-1]]
        hp = modifiers.max_hp(known, pokemon)
        return {
            "place": place_key(place),
            "card": card.id,
            "name": card.name,
            "under": _ids(pokemon.cards[:-1]),
            "hp": hp - 10 * pokemon.damage,
            "max_hp": hp,
            "damage": 10 * pokemon.damage,
            "energy": _ids(pokemon.energy),
            "energy_provided": modifiers.provided(pokemon),
            "tools": _ids(pokemon.tools),
            "conditions": [name for bit, name in CONDITION_NAMES if pokemon.conditions & bit],
            "entered_this_turn": pokemon.entered_turn == known.turn,
            "evolved_this_turn": pokemon.evolved_turn == known.turn and known.turn > 0,
            "ability_used": pokemon.ability_used,
            "has_ability": modifiers.has_ability(known, seat, pokemon),
            "retreat_cost": modifiers.retreat_cost(known, pokemon),
            "effects": [_effect(effect, known.turn) for effect in pokemon.effects],
        }


def _ids(cards: list[int] | tuple[int, ...]) -> list[str]:
    return [CARDS[card].id for card in cards]


def _counts(cards: tuple[int, ...] | list[int]) -> dict[str, int]:
    return {CARDS[card].id: count for card, count in sorted(Counter(cards).items())}


def _effect(effect: tuple[str, int, str], turn: int) -> dict[str, Any]:
    kind, when, detail = effect
    view: dict[str, Any] = {"effect": kind}
    if detail:
        view["detail"] = detail
    if when < 1 << 29:
        view["in_turns"] = when - turn
    return view


def _known_top(player: Player) -> list[int]:
    """The known cards on top of the deck, from the top down."""
    top = player.deck[max(len(player.deck) - player.top_known, 0) :] if player.top_known else []
    return [card for card in reversed(top) if card != UNKNOWN]


def unseen_cards(known: State, seat: int) -> list[int]:
    """The observer's own cards that lie in its deck or, where not yet known, among its Prizes."""
    player = known.players[seat]
    rest = Counter(known.deck_lists[seat])
    rest.subtract(_visible(player))
    if known.stadium >= 0 and known.stadium_owner == seat:
        rest[known.stadium] -= 1
    if player.prizes and player.prizes[0] != UNKNOWN:
        rest.subtract(player.prizes)
    return sorted((+rest).elements())


def _visible(player: Player) -> list[int]:
    cards = [*player.hand, *player.discard, *player.lost, *player.playing]
    for pokemon in player.in_play():
        cards += [*pokemon.cards, *pokemon.energy, *pokemon.tools]
    return cards


def observe(state: State, seat: int) -> PtcgObservation:
    """What ``seat`` knows of ``state``."""
    told = max(state.seen[seat] - state.log_start, 0)
    events = tuple([_redact_event(event, seat) for event in state.log[told:]])
    known = state.clone()
    known.seed = 0
    known.counters = [0] * len(state.counters)
    known.log = []
    known.log_start = 0
    known.turn_marks = (0, 0)
    known.seen = (0, 0)
    deck_lists = state.deck_lists
    known.deck_lists = (deck_lists[0], ()) if seat == 0 else ((), deck_lists[1])
    _redact_own(known.players[seat])
    _redact_opponent(known.players[1 - seat], known.turn == 0)
    if state.prompt is not None and state.prompt.seat != seat:
        # What the opponent is choosing among may be hidden, and so may be what its effect keeps in mind.
        known.prompt = None
        known.stack = []
    else:
        for frame in known.stack:
            if frame.seat != seat:
                frame.picks = ()
    return PtcgObservation(seat, known, events, state.log_start + told)


def _redact_own(player: Player) -> None:
    player.hand.sort()
    _redact_deck(player, player.top_known)
    player.prizes = sorted(player.prizes) if player.prizes_known else [UNKNOWN] * len(player.prizes)
    # What the opponent remembers is the opponent's.
    player.bottom = tuple([(size, tuple(sorted(owner)), ()) for size, owner, _ in player.bottom])
    player.known_hand.sort()


def _redact_opponent(player: Player, face_down: bool) -> None:
    player.hand = sorted(player.known_hand) + [UNKNOWN] * (len(player.hand) - len(player.known_hand))
    player.known_hand.sort()
    _redact_deck(player, 0)
    player.prizes = [UNKNOWN] * len(player.prizes)
    player.bottom = tuple([(size, (), tuple(sorted(opponent))) for size, _, opponent in player.bottom])
    if face_down:
        for pokemon in player.in_play():
            pokemon.cards = [UNKNOWN]


def _redact_deck(player: Player, top: int) -> None:
    hidden = len(player.deck) - top
    player.deck = [UNKNOWN] * hidden + player.deck[hidden:]


def _redact_event(event: Event, seat: int) -> Event:
    if event[1] == seat:
        return event
    kind = event[0]
    if kind in _PRIVATE_CARDS:
        return (kind, event[1], (UNKNOWN,) * len(event[2]), *event[3:])
    if kind in _PRIVATE_CARD:
        return (kind, event[1], UNKNOWN)
    if kind == "to_hand" and not event[4]:
        return (kind, event[1], (UNKNOWN,) * len(event[2]), *event[3:])
    return event
