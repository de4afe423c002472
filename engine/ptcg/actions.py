"""Actions: what a seat can do, each with a readable key and a sentence. ``docs/actions.md`` lists the forms.

Actions are interned: one object for each (form, card, place, detail), made when it is first needed and shared by all
matches of a process. A place is 0 for the Active Spot and 1–5 for the Bench from left to right; the opponent's places
are 10 more; ``STADIUM_PLACE`` is the Stadium.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from engine.ptcg.card import CARDS
from engine.ptcg.state import ATTACHED_KIND, CARDS_KIND, NUMBER_KIND, POKEMON_KIND, Prompt, State

OPPONENT = 10
STADIUM_PLACE = 20
NOWHERE = -1


class ActionKind(StrEnum):
    """The forms an action has; the part of its key before the first colon, where it has one."""

    BENCH = "bench"
    EVOLVE = "evolve"
    ATTACH = "attach"
    PLAY = "play"
    ABILITY = "ability"
    STADIUM = "stadium"
    RETREAT = "retreat"
    ATTACK = "attack"
    PASS = "pass"
    CHOOSE = "choose"
    DONE = "done"


def place_key(place: int) -> str:
    """``active``, ``bench2``, ``opponent.active``, ``opponent.bench1`` or ``stadium``."""
    if place == STADIUM_PLACE:
        return "stadium"
    if place >= OPPONENT:
        return "opponent." + place_key(place - OPPONENT)
    return "active" if place == 0 else f"bench{place}"


def _spot(place: int) -> str:
    if place == STADIUM_PLACE:
        return "the Stadium in play"
    whose = "your opponent's" if place >= OPPONENT else "your"
    place %= OPPONENT
    return f"{whose} Active Spot" if place == 0 else f"place {place} of {whose} Bench"


class PtcgAction:
    """One action; ``card``, ``place``, ``target`` and ``detail`` are its typed payload.

    ``card`` is the card played, attached, chosen or whose text is used (its number, −1 for none), ``place`` where it
    goes or is, ``target`` the card of the Pokémon there, ``detail`` an attack's, an Ability's or an option's name.
    """

    __slots__ = ("_key", "_sentence", "card", "detail", "kind", "place", "target")

    def __init__(self, kind: ActionKind, card: int, place: int, target: int, detail: str) -> None:
        self.kind = kind
        self.card = card
        self.place = place
        self.target = target
        self.detail = detail
        self._key = ""
        self._sentence = ""

    @property
    def key(self) -> str:
        """The stable short form, unique in one list of legal actions."""
        if not self._key:
            self._key = self._make_key()
        return self._key

    @property
    def sentence(self) -> str:
        """What the action does, in words, unique in one list of legal actions."""
        if not self._sentence:
            self._sentence = self._make_sentence()
        return self._sentence

    def __repr__(self) -> str:
        return f"<{self.key}>"

    def __reduce__(self) -> tuple[Any, ...]:
        card_id = CARDS[self.card].id if self.card >= 0 else ""
        target_id = CARDS[self.target].id if self.target >= 0 else ""
        return _from_ids, (self.kind.value, card_id, self.place, target_id, self.detail)

    def _make_key(self) -> str:
        kind = self.kind
        card = CARDS[self.card].id if self.card >= 0 else ""
        if kind in (ActionKind.BENCH, ActionKind.PLAY, ActionKind.STADIUM):
            return f"{kind}:{card}"
        if kind in (ActionKind.EVOLVE, ActionKind.ATTACH):
            return f"{kind}:{card}>{place_key(self.place)}"
        if kind is ActionKind.ABILITY:
            return f"ability:{self.detail}@{place_key(self.place)}"
        if kind is ActionKind.RETREAT:
            return f"retreat>{place_key(self.place)}"
        if kind is ActionKind.ATTACK:
            return f"attack:{self.detail}"
        if kind is ActionKind.CHOOSE:
            if self.detail:
                return f"choose:{self.detail}"
            if self.card < 0:
                return f"choose:{place_key(self.place)}"
            return f"choose:{card}" if self.place == NOWHERE else f"choose:{card}@{place_key(self.place)}"
        return kind.value

    def _make_sentence(self) -> str:
        kind = self.kind
        card = f"{CARDS[self.card].name} ({CARDS[self.card].id})" if self.card >= 0 else ""
        spot = _spot(self.place) if self.place >= 0 else ""
        target = CARDS[self.target].name if self.target >= 0 else ""
        match kind:
            case ActionKind.BENCH:
                return f"Put {card} from your hand onto your Bench."
            case ActionKind.EVOLVE:
                return f"Evolve {target} in {spot} into {card}."
            case ActionKind.ATTACH:
                return f"Attach {card} to {target} in {spot}."
            case ActionKind.PLAY:
                return f"Play {card}."
            case ActionKind.ABILITY:
                return f"Use {self.detail} of {card} in {spot}."
            case ActionKind.STADIUM:
                return f"Use the effect of the Stadium {card}."
            case ActionKind.RETREAT:
                return f"Retreat: switch your Active Pokémon with {target} in {spot}."
            case ActionKind.ATTACK:
                return f"Attack with {self.detail} of {card}."
            case ActionKind.PASS:
                return "End your turn without attacking."
            case ActionKind.DONE:
                return "Choose no more."
            case ActionKind.CHOOSE:
                if self.detail:
                    return f"Choose: {self.detail}."
                if self.card < 0:
                    return f"Choose {target} in {spot}."
                if self.place == NOWHERE:
                    return f"Choose {card}."
                if self.place == STADIUM_PLACE:
                    return f"Choose the Stadium {card}."
                return f"Choose {card} attached to {target} in {spot}."


_ACTIONS: dict[tuple[ActionKind, int, int, int, str], PtcgAction] = {}


def action(kind: ActionKind, card: int = -1, place: int = NOWHERE, target: int = -1, detail: str = "") -> PtcgAction:
    """The one action object with this payload."""
    form = (kind, card, place, target, detail)
    found = _ACTIONS.get(form)
    if found is None:
        found = _ACTIONS[form] = PtcgAction(*form)
    return found


def _from_ids(kind: str, card_id: str, place: int, target_id: str, detail: str) -> PtcgAction:
    from engine.ptcg.library import INDEX

    return action(ActionKind(kind), INDEX.get(card_id, -1), place, INDEX.get(target_id, -1), detail)


PASS = action(ActionKind.PASS)
DONE = action(ActionKind.DONE)


def prompt_actions(state: State, prompt: Prompt) -> tuple[tuple[PtcgAction, ...], tuple[int, ...]]:
    """What may be picked now, and for each action the place in ``prompt.items`` (−1 for "done").

    Picks go in the order of the items, so that a set is offered in one order only; an item from which the least number
    could no longer be reached is left out.
    """
    picks = prompt.picks
    counts = prompt.counts
    items = prompt.items
    n = len(items)
    start = 0
    used = 0
    if picks:
        start = picks[-1]
        used = picks.count(start)
    missing = prompt.least - len(picks)
    left = sum(counts[start:]) - used
    actions: list[PtcgAction] = []
    places: list[int] = []
    for i in range(start, n):
        available = counts[i] - used if i == start else counts[i]
        if available > 0 and left >= missing and _pays(prompt, i):
            actions.append(item_action(state, prompt, i))
            places.append(i)
        left -= available
    if missing <= 0 and (not prompt.minimum_total or _provided(prompt, picks) >= prompt.minimum_total):
        actions.append(DONE)
        places.append(-1)
    return tuple(actions), tuple(places)


def _provided(prompt: Prompt, picks: Sequence[int]) -> int:
    """How much Energy these picks of a payment provide."""
    return sum([len(CARDS[prompt.items[i][1]].provides) for i in picks])


def _pays(prompt: Prompt, place: int) -> bool:
    """Whether a cost can still be paid, with no more cards than it has Energy, when this item is picked next."""
    if not prompt.minimum_total:
        return True
    picks = (*prompt.picks, place)
    missing = prompt.minimum_total - _provided(prompt, picks)
    left = prompt.most - len(picks)
    # What provides most comes last.
    for i in range(len(prompt.items) - 1, place - 1, -1):
        number = min(left, prompt.counts[i] - picks.count(i))
        missing -= number * len(CARDS[prompt.items[i][1]].provides)
        left -= number
    return missing <= 0


def is_complete(prompt: Prompt) -> bool:
    """Whether no further pick is to be made."""
    if len(prompt.picks) >= prompt.most:
        return True
    last = prompt.picks[-1]
    return sum(prompt.counts[last:]) - prompt.picks.count(last) <= 0


def item_action(state: State, prompt: Prompt, i: int) -> PtcgAction:
    """The action that picks item ``i``, its label as the choosing seat sees it."""
    item = prompt.items[i]
    kind = prompt.kind
    if kind == CARDS_KIND:
        return action(ActionKind.CHOOSE, item)
    if kind == POKEMON_KIND:
        place, target = _seen_from(state, prompt.seat, item)
        return action(ActionKind.CHOOSE, -1, place, target)
    if kind == ATTACHED_KIND:
        uid, card = item
        if uid == 0:
            return action(ActionKind.CHOOSE, card, STADIUM_PLACE)
        place, target = _seen_from(state, prompt.seat, uid)
        return action(ActionKind.CHOOSE, card, place, target)
    if kind == NUMBER_KIND:
        return action(ActionKind.CHOOSE, detail=str(item))
    return action(ActionKind.CHOOSE, detail=item)


def _seen_from(state: State, seat: int, uid: int) -> tuple[int, int]:
    side, place = state.place(uid)
    player = state.players[side]
    pokemon = player.active if place == 0 else player.bench[place - 1]
    assert pokemon is not None
    return place if side == seat else place + OPPONENT, pokemon.cards[-1]
