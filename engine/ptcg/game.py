"""The Pokémon Trading Card Game as a match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from engine.match import Action, IllegalAction, MatchSpec, Result
from engine.ptcg import moves, rules
from engine.ptcg.actions import DONE, PtcgAction, is_complete, prompt_actions
from engine.ptcg.decks import check_deck
from engine.ptcg.events import view_events
from engine.ptcg.library import card_index
from engine.ptcg.observation import PtcgObservation, observe
from engine.ptcg.state import State
from engine.ptcg.turn import begin, turn_actions

VERSION = "2"
"""Changes whenever equal actions could lead to other states or keys than before."""

OPTIONS: Mapping[str, object] = {"sudden_death": "play", "turn_cap": 400}
"""The settings of a game with their defaults: what follows when both have won equally, and the guard on its length."""


class PtcgMatch:
    """A game between two decks. Holds the six properties of ``docs/match.md``."""

    __slots__ = ("_legal", "_places", "state")

    def __init__(self, state: State) -> None:
        self.state = state
        self._legal: tuple[PtcgAction, ...] | None = None
        self._places: tuple[int, ...] = ()

    @property
    def result(self) -> Result | None:
        """``None`` until the match is over."""
        return self.state.result

    @property
    def turn(self) -> int:
        """Turns begun so far, both players' and those of games before a Sudden Death counted."""
        return self.state.turns_before + self.state.turn

    @property
    def first_player(self) -> int:
        """The seat that goes first (meaningful once that was decided)."""
        return self.state.first_player

    def seats_to_act(self) -> tuple[int, ...]:
        """The one seat that decides next, ``()`` when the match is over."""
        state = self.state
        if state.result is not None:
            return ()
        return (state.to_move if state.prompt is None else state.prompt.seat,)

    def _actions(self) -> tuple[PtcgAction, ...]:
        legal = self._legal
        if legal is None:
            state = self.state
            if state.prompt is not None:
                legal, self._places = prompt_actions(state, state.prompt)
            else:
                legal = turn_actions(state)
            self._legal = legal
        return legal

    def legal_actions(self, seat: int) -> Sequence[PtcgAction]:
        """What ``seat`` may do now, in a fixed order; empty when it is not to act."""
        if seat not in self.seats_to_act():
            return ()
        return self._actions()

    def apply(self, seat: int, action: Action) -> None:
        """Play a legal action; raises :class:`IllegalAction` and changes nothing where it is not legal now."""
        state = self.state
        legal = self.legal_actions(seat)
        if action not in legal:
            raise IllegalAction(_why_illegal(self, seat, action))
        assert isinstance(action, PtcgAction)
        if len(legal) > 1:
            # What a decision brings about is news to its player; a forced action is not the player's decision.
            told = state.log_start + len(state.log)
            state.seen = (told, state.seen[1]) if seat == 0 else (state.seen[0], told)
        prompt = state.prompt
        if prompt is None:
            self._legal = None
            begin(state, action)
        else:
            place = self._places[legal.index(action)]
            self._legal = None
            if action is not DONE:
                prompt = prompt.with_pick(place)
            if action is DONE or is_complete(prompt):
                state.prompt = None
                state.stack[-1].picks = tuple([prompt.items[i] for i in prompt.picks])
                rules.run(state)
            else:
                state.prompt = prompt

    def observe(self, seat: int) -> PtcgObservation:
        """All that ``seat`` may see and remember."""
        return observe(self.state, seat)

    def events(self, seat: int, since: int = 0) -> list[dict[str, Any]]:
        """The events from number ``since`` on as ``seat`` may see them; those of the last three turns are kept."""
        return view_events(self.state, seat, since)

    @property
    def event_count(self) -> int:
        """How many events there have been; the number that the next one gets."""
        return self.state.log_start + len(self.state.log)

    def clone(self) -> PtcgMatch:
        """An independent copy that plays on exactly as this one would."""
        copy = PtcgMatch(self.state.clone())
        copy._legal = self._legal
        copy._places = self._places
        return copy

    def digest(self) -> str:
        """Sixteen hexadecimal digits, equal for equal states on every machine."""
        return blake2b(repr(self.state.plain()).encode(), digest_size=8).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PtcgMatch) and self.state == other.state

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return PtcgMatch, (self.state,)


def _why_illegal(match: PtcgMatch, seat: int, action: Action) -> str:
    if not isinstance(action, PtcgAction):
        return f"{action!r} is no action of this game; take one of legal_actions, by its key with action_with_key"
    if match.result is not None:
        return f"{action.key} is not legal: the game is over"
    if seat not in match.seats_to_act():
        return f"{action.key} is not legal: it is the other player's decision"
    return f"{action.key} is not legal now"


def set_options(state: State, given: Mapping[str, Any]) -> None:
    """Put a game's options into its state; raises ``ValueError`` for an unknown option or value."""
    options = {**OPTIONS, **given}
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise ValueError(f"unknown option {unknown[0]!r} of game ptcg; known: {', '.join(sorted(OPTIONS))}")
    if options["sudden_death"] not in ("play", "draw"):
        raise ValueError(f"option sudden_death is {options['sudden_death']!r}; it may be 'play' or 'draw'")
    turn_cap = options["turn_cap"]
    if not isinstance(turn_cap, int) or isinstance(turn_cap, bool) or turn_cap < 1:
        raise ValueError(f"option turn_cap is {turn_cap!r}; it may be a whole number from 1")
    state.sudden_death_draw = options["sudden_death"] == "draw"
    state.turn_cap = turn_cap


def new_match(spec: MatchSpec) -> PtcgMatch:
    """Begin a game: the first decision is who goes first.

    Raises ``ValueError`` for a deck that breaks the rules, an unknown card or an unknown option.
    """
    lists: list[tuple[int, ...]] = []
    for deck in spec.decks:
        check_deck(deck)
        lists.append(tuple(sorted([card_index(card) for card, count in deck.items() for _ in range(count)])))
    state = State(spec.seed, (lists[0], lists[1]))
    set_options(state, spec.options)
    moves.start(state, rules.SET_UP, 0)
    rules.run(state)
    return PtcgMatch(state)
