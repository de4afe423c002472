"""The contract between a game and everything else.

A match is a value: it owns all of its randomness, can be cloned and pickled at every decision point, and changes only
through :meth:`Match.apply`. Whatever plays, schedules, records or searches knows a game only through the types here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, Self, runtime_checkable

Seat = int
"""0 or 1; which entrant sits where is the schedule's business."""
SEATS: tuple[Seat, Seat] = (0, 1)


class Outcome(StrEnum):
    """How a match that came to an end was decided."""

    WIN = "win"
    DRAW = "draw"
    TURN_CAP = "turn_cap"


class Cause(StrEnum):
    """What ended a match."""

    PRIZES = "prizes"
    NO_POKEMON = "no_pokemon"
    DECK_OUT = "deck_out"
    SUDDEN_DEATH = "sudden_death"
    SCORE = "score"
    FORFEIT = "forfeit"
    DRAW = "draw"
    TURN_CAP = "turn_cap"


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a match: ``winner`` is a seat for a win and ``None`` otherwise."""

    outcome: Outcome
    winner: Seat | None
    cause: Cause


class IllegalAction(ValueError):
    """An action that is not legal now; the match is exactly as it was. The text names only what the seat may know."""


@runtime_checkable
class Action(Protocol):
    """One thing a seat can do now.

    ``key`` is stable and readable (``attack:Burning Darkness``), ``sentence`` says the same in plain words. In one
    list of legal actions no two share a key or a sentence. Actions are hashable, comparable and picklable.
    """

    @property
    def key(self) -> str: ...

    @property
    def sentence(self) -> str: ...


class Observation(Protocol):
    """All that a seat legitimately knows: the only thing an agent ever receives of a match."""

    @property
    def seat(self) -> Seat: ...

    def to_json(self) -> dict[str, Any]:
        """The observation as plain JSON values, keys in a fixed order."""
        ...


class Match(Protocol):
    """One game in progress. See ``docs/match.md`` for the properties that every implementation holds."""

    @property
    def result(self) -> Result | None:
        """``None`` until the match is over."""
        ...

    @property
    def turn(self) -> int:
        """Turns begun so far, both players' counted, from 0 in set-up."""
        ...

    def seats_to_act(self) -> tuple[Seat, ...]:
        """One seat in a turn-based game, both where moves are simultaneous, ``()`` when over."""
        ...

    def observe(self, seat: Seat) -> Observation: ...

    def legal_actions(self, seat: Seat) -> Sequence[Action]:
        """What ``seat`` may do now, in a fixed order; empty when it is not to act."""
        ...

    def apply(self, seat: Seat, action: Action) -> None:
        """Play ``action``. Raises :class:`IllegalAction` and changes nothing where it is not legal now."""
        ...

    def clone(self) -> Self:
        """An independent copy that plays on exactly as this one would."""
        ...

    def digest(self) -> str:
        """A short hexadecimal digest of the whole state, equal for equal states on every machine."""
        ...


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """Everything that defines a match before the first action: equal specs and equal actions give equal states.

    ``game`` is a name of :mod:`engine.registry`; ``decks`` the two seats' lists as card id to count (empty where the
    game has none); ``options`` the game's own settings as plain JSON values.
    """

    game: str
    seed: int
    decks: tuple[Mapping[str, int], Mapping[str, int]] = ({}, {})
    options: Mapping[str, Any] = field(default_factory=dict)


def action_with_key(match: Match, seat: Seat, key: str) -> Action:
    """The legal action of ``seat`` that has ``key``; raises :class:`IllegalAction` where there is none."""
    for action in match.legal_actions(seat):
        if action.key == key:
            return action
    raise IllegalAction(f"seat {seat} has no legal action {key!r} now")


def play_forced(match: Match) -> list[tuple[Seat, Action]]:
    """Play every action that is the only legal one, until a seat has a real decision or the match is over.

    A decision has at least two legal actions; a forced action is asked of nobody. Returns what was played, in order.
    """
    played: list[tuple[Seat, Action]] = []
    while True:
        for seat in match.seats_to_act():
            legal = match.legal_actions(seat)
            if len(legal) == 1:
                match.apply(seat, legal[0])
                played.append((seat, legal[0]))
                break
        else:
            return played
