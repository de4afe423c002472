"""Measures an engine: random mirror games of whatever game the spec names.

All times are processor time of this process, which on an idle core is what the clock says, and is not disturbed by
whatever else the machine does.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from random import Random
from time import process_time
from typing import Any

from engine.match import Match, MatchSpec
from engine.registry import new_match

_SAMPLES = 300
_REPEATS = 10


def measure(spec: MatchSpec, seconds: float) -> Iterator[tuple[str, float, str]]:
    """Metric, value and unit for random play of ``spec``, for about ``seconds`` of processor time.

    A *decision* has at least two legal actions; the time of a decision is everything that a game costs, set-up, forced
    actions and the listing of legal actions included, divided by the decisions. *Observe* is building the observation
    of the seat to act and turning it into plain values. ``state_kb`` is a pickled state.
    """
    rng = Random(spec.seed)
    _play(_match(spec, 0), rng)  # Imports and caches are no part of any game.
    games = decisions = 0
    started = process_time()
    while games < 2 or process_time() - started < seconds:
        decisions += _play(_match(spec, games), rng)
        games += 1
    used = process_time() - started
    yield "games_per_s", games / used, "1/s"
    yield "us_per_game", used / games * 1e6, "us"
    yield "us_per_decision", used / decisions * 1e6, "us"
    yield "decisions_per_game", decisions / games, "decisions"
    samples = _samples(spec, rng)
    yield "us_observe", _microseconds(samples, lambda match: match.observe(match.seats_to_act()[0]).to_json()), "us"
    yield "us_clone", _microseconds(samples, lambda match: match.clone()), "us"
    if inside := [match for match in samples if _in_mid_effect(match)]:
        yield "us_clone_mid_effect", _microseconds(inside, lambda match: match.clone()), "us"
    yield "state_kb", sum(len(pickle.dumps(match)) for match in samples) / len(samples) / 1024, "kB"


def _match(spec: MatchSpec, number: int) -> Match:
    return new_match(MatchSpec(spec.game, spec.seed + number, spec.decks, spec.options))


def _play(match: Match, rng: Random, visit: Callable[[Match, int], None] | None = None) -> int:
    """Play ``match`` to its end with random actions; returns how many decisions that took.

    ``visit`` is called before every decision with the match and the decision's number.
    """
    decisions = 0
    random = rng.random
    while seats := match.seats_to_act():
        seat = seats[0]
        legal = match.legal_actions(seat)
        if len(legal) > 1:
            if visit is not None:
                visit(match, decisions)
            decisions += 1
        match.apply(seat, legal[int(random() * len(legal))])
    return decisions


def _samples(spec: MatchSpec, rng: Random) -> list[Match]:
    """States at decisions all over several games, in mid-effect as often as such decisions come up."""
    found: list[Match] = []

    def keep(match: Match, decision: int) -> None:
        if decision % 7 == 3:
            found.append(match.clone())

    number = 0
    while len(found) < _SAMPLES:
        _play(_match(spec, number), rng, keep)
        number += 1
    return found


def _in_mid_effect(match: Match) -> bool:
    """Whether a card's effect is half done and waits for a choice, in a game that has such things."""
    return getattr(getattr(match, "state", None), "prompt", None) is not None


def _microseconds(samples: list[Match], act: Callable[[Match], object]) -> float:
    """Mean time of ``act`` over all samples."""
    started = process_time()
    for _ in range(_REPEATS):
        for match in samples:
            act(match)
    return (process_time() - started) / (_REPEATS * len(samples)) * 1e6


def lines(case: str, spec: MatchSpec, seconds: float) -> Iterator[Mapping[str, Any]]:
    """The output lines of one case."""
    for metric, value, unit in measure(spec, seconds):
        yield {"suite": "engine", "case": case, "metric": metric, "value": round(value, 3), "unit": unit}
