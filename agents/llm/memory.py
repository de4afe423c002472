"""What an agent remembers of a game's events, beyond what one observation tells."""

from __future__ import annotations

from typing import Any

from engine.ptcg.events import view_event
from engine.ptcg.observation import PtcgObservation

View = dict[str, Any]

ACTIONS = frozenset(
    {"play", "bench", "evolve", "attach", "ability", "use_stadium", "retreat", "switch", "promote", "attack", "pass"}
)
"""The kinds of event that are what a player did, not what came of it."""

_KEPT_TURNS = 4


class Memory:
    """The events of the last turns as one seat saw them, and which of them its model has been told.

    Every observation of the seat is shown to it, also those of decisions that the model is not asked for.
    """

    def __init__(self) -> None:
        self._events: list[View] = []
        self._start = 0
        self._told = 0

    def take(self, observation: PtcgObservation) -> None:
        """Add what ``observation`` tells of beyond what is known."""
        known = self._start + len(self._events)
        if not self._events or observation.first_event > known:
            self._events.clear()
            self._start = known = observation.first_event
        new = observation.events[max(known - observation.first_event, 0) :]
        self._events.extend(view_event(event, observation.seat) for event in new)
        self._forget()

    def untold(self) -> list[View]:
        """The events since the last call of :meth:`tell`."""
        return self._events[max(self._told - self._start, 0) :]

    def tell(self) -> None:
        """The model is being told of everything up to now."""
        self._told = self._start + len(self._events)

    def recent(self) -> list[View]:
        """The events of the last turns, the oldest first."""
        return list(self._events)

    def opponents_last_turn(self, seat: int) -> list[View]:
        """What the opponent of ``seat`` did in its last turn; of the turn that is being played, what it did so far."""
        turns = [i for i, event in enumerate(self._events) if event["event"] == "turn"]
        for place in reversed(range(len(turns))):
            if self._events[turns[place]]["seat"] != seat:
                end = turns[place + 1] if place + 1 < len(turns) else len(self._events)
                turn = self._events[turns[place] : end]
                return [event for event in turn if event["event"] in ACTIONS and event["seat"] != seat]
        return []

    def _forget(self) -> None:
        turns = [i for i, event in enumerate(self._events) if event["event"] == "turn"]
        if len(turns) > _KEPT_TURNS:
            oldest = min(turns[-_KEPT_TURNS], max(self._told - self._start, 0))
            del self._events[:oldest]
            self._start += oldest
