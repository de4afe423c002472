"""Playing a recorded game again: step by step, as text or as the replay file of ``docs/replay.md``.

A game is recorded as its spec and the decisions in the order played, each ``"<seat> <action key>"``; forced actions are
not recorded, as the spec and the decisions imply them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

from engine.match import SEATS, Action, IllegalAction, Match, MatchSpec, Result, Seat, action_with_key
from engine.registry import new_match

FORMAT: Final = "prizefight-replay"
VERSION: Final = 1
"""Raised whenever a reader of older replay files would misread a new one."""


class ReplayError(ValueError):
    """A recording that cannot be played again; one line that says at which action and why."""


@runtime_checkable
class HasEvents(Protocol):
    """A match that keeps a log of what happened, as each seat may see it."""

    def events(self, seat: Seat, since: int = 0) -> Sequence[Mapping[str, Any]]:
        """The events that ``seat`` may see, from number ``since`` on, as plain JSON values."""
        ...


Events = tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Step:
    """One action of a game.

    ``turn`` is the turn in which it was played, ``forced`` says whether it was the only one; ``events`` is what came of
    it, as each seat may see it (empty where the game keeps no events).
    """

    turn: int
    seat: Seat
    action: Action
    forced: bool
    events: Events


class Replay:
    """A recorded game that is played again while it is iterated over.

    ``match`` is the state after the step that was given last; ``start_events`` is what happened before the first one,
    as each seat may see it. Iterating raises :class:`ReplayError` where a recorded action is not legal, or where the
    game is over before the recording is.
    """

    def __init__(self, spec: MatchSpec, recorded: Sequence[str]) -> None:
        self.spec = spec
        self.match: Match = new_match(spec)
        self._recorded = [_split(number, text) for number, text in enumerate(recorded)]
        self._seen = [0, 0]
        self.start_events = self._new_events()

    def __iter__(self) -> Iterator[Step]:
        for number, (seat, key) in enumerate(self._recorded):
            yield from self._forced()
            try:
                action = action_with_key(self.match, seat, key)
            except IllegalAction as error:
                raise ReplayError(f"action {number} of the recording: {error}") from None
            yield self._play(seat, action, forced=False)
        yield from self._forced()

    def _forced(self) -> Iterator[Step]:
        """Every action that is the only one, as :func:`engine.match.play_forced` plays them."""
        while True:
            for seat in self.match.seats_to_act():
                legal = self.match.legal_actions(seat)
                if len(legal) == 1:
                    yield self._play(seat, legal[0], forced=True)
                    break
            else:
                return

    def _play(self, seat: Seat, action: Action, *, forced: bool) -> Step:
        turn = self.match.turn
        self.match.apply(seat, action)
        return Step(turn, seat, action, forced, self._new_events())

    def _new_events(self) -> Events:
        if not isinstance(self.match, HasEvents):
            return ((), ())
        first, second = (self.match.events(seat, self._seen[seat]) for seat in SEATS)
        self._seen = [self._seen[0] + len(first), self._seen[1] + len(second)]
        return first, second


def replay_json(spec: MatchSpec, recorded: Sequence[str]) -> dict[str, Any]:
    """The replay file of a game as plain JSON values; see ``docs/replay.md``. Raises :class:`ReplayError`."""
    replay = Replay(spec, recorded)
    start = _moment(replay.start_events, replay.match)
    steps = [
        {
            "turn": step.turn,
            "seat": step.seat,
            "action": {"key": step.action.key, "sentence": step.action.sentence},
            "forced": step.forced,
            **_moment(step.events, replay.match),
        }
        for step in replay
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "spec": spec_json(spec),
        "recorded": list(recorded),
        "start": start,
        "steps": steps,
        "result": result_json(replay.match.result),
        "digest": replay.match.digest(),
    }


def spec_json(spec: MatchSpec) -> dict[str, Any]:
    """``spec`` as plain JSON values."""
    return {
        "game": spec.game,
        "seed": spec.seed,
        "decks": [dict(deck) for deck in spec.decks],
        "options": dict(spec.options),
    }


def result_json(result: Result | None) -> dict[str, Any] | None:
    """``result`` as plain JSON values, ``None`` for a match that is not over."""
    if result is None:
        return None
    return {"outcome": result.outcome.value, "winner": result.winner, "cause": result.cause.value}


def _moment(events: Events, match: Match) -> dict[str, Any]:
    """What has just happened and what each seat sees now."""
    return {
        "events": [[dict(event) for event in of_seat] for of_seat in events],
        "views": [match.observe(seat).to_json() for seat in SEATS],
    }


def _split(number: int, text: str) -> tuple[Seat, str]:
    seat, _, key = text.partition(" ")
    if seat not in ("0", "1") or not key:
        raise ReplayError(f"action {number} of the recording: {text!r} is not '<seat> <action key>'")
    return int(seat), key
