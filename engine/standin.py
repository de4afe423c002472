"""A stand-in game: the smallest match that can do everything that whatever plays games has to cope with.

Each turn a few offers of different worth are laid out; whoever is to act takes one and scores its worth. The higher
score wins. Length, speed, simultaneous moves and *faults* are set by options, so that tournaments, crashes and load can
be tried without the rules of a real game. Options (plain JSON, all with defaults):

``turns``
    How many turns a game has: a number, or ``[least, most]`` drawn from the seed.
``choices``
    Offers a turn, 2 to 9.
``forced_every``
    In every so-manieth turn there is only one offer, a forced action; 0 for never.
``simultaneous``
    Both seats take an offer each turn without seeing the other's; the same offer scores nothing.
``turn_cap``
    A game that would go on after so many turns ends by the cap; ``null`` for none.
``work``
    Rounds of arithmetic for each action: the processor time a real game would need (about 50 ns a round).
``seconds``
    Time each action sleeps.
``attempt``
    Which try of the game this is, from 1; whoever plays the match sets it. Only faults look at it.
``faults``
    A list of mishaps, see :class:`Fault`.

Faults are no part of the state: they neither alter how a match goes on nor its digest.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from ctypes import PyDLL
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import Any, Final

from engine.match import Cause, IllegalAction, MatchSpec, Outcome, Result, Seat

VERSION: Final = "1"
"""Raised whenever equal specs and actions would no longer give equal states."""

FAULT_KINDS: Final = ("raise", "exit", "kill", "sleep", "spin", "native_hang", "hoard")
_HIGHEST_WORTH: Final = 9
_FOREVER_SECONDS: Final = 10**6
_HOARD_MB: Final = 4096
_MASK: Final = 2**64 - 1


class StandinFault(RuntimeError):
    """What a fault of kind ``raise`` raises."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One mishap: what happens when the action number ``ply`` (from 0) of a chosen game is played.

    ``kind``: ``raise`` an exception; ``exit`` the process at once; ``kill`` it with SIGKILL; ``sleep`` for ever;
    ``spin`` for ever in Python; ``native_hang``: sleep for ever in native code that lets no other thread run; ``hoard``
    up to 4 GB of memory, a little more every moment, then give it back and go on.
    ``seeds`` chooses games by their match seed (``None``: all), ``attempts`` by which try it is (``None``: all).
    """

    kind: str
    ply: int = 0
    seeds: tuple[int, ...] | None = None
    attempts: tuple[int, ...] | None = None

    def strikes(self, seed: int, attempt: int) -> bool:
        """Whether this fault belongs to that try of that game."""
        return (self.seeds is None or seed in self.seeds) and (self.attempts is None or attempt in self.attempts)

    def happen(self) -> None:
        """Let it happen; of all kinds only ``raise`` and ``hoard`` give control back."""
        if self.kind == "raise":
            raise StandinFault(f"scripted fault at ply {self.ply}")
        if self.kind == "hoard":
            hoard: list[bytes] = []
            while len(hoard) < _HOARD_MB // 32:
                hoard.append(b"x" * 2**25)
                time.sleep(0.05)
            return
        if self.kind == "exit":
            os._exit(70)
        elif self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.kind == "spin":
            while True:
                pass
        elif self.kind == "native_hang":
            PyDLL(None).sleep(_FOREVER_SECONDS)  # PyDLL, unlike CDLL, keeps the interpreter lock during the call.
        time.sleep(_FOREVER_SECONDS)


@dataclass(frozen=True, slots=True)
class Options:
    """The stand-in's options after checking; see the module's text for their meaning."""

    turns: tuple[int, int] = (10, 10)
    choices: int = 3
    forced_every: int = 0
    simultaneous: bool = False
    turn_cap: int | None = None
    work: int = 0
    seconds: float = 0.0
    attempt: int = 1
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Take:
    """Take the offer of that worth."""

    worth: int

    @property
    def key(self) -> str:
        """``take:<worth>``: no two offers of a turn have the same worth."""
        return f"take:{self.worth}"

    @property
    def sentence(self) -> str:
        return f"Take the offer worth {self.worth} points."


@dataclass(frozen=True, slots=True)
class StandinObservation:
    """What a seat knows: everything but what the other has taken in a simultaneous turn that is not over."""

    seat: Seat
    turn: int
    scores: tuple[int, int]
    offers: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values in a fixed order."""
        return {"seat": self.seat, "turn": self.turn, "scores": list(self.scores), "offers": list(self.offers)}


def _mix(state: int) -> int:
    """One step of SplitMix64 (Steele, Lea, Flood 2014): the output that belongs to ``state``."""
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
    return state ^ (state >> 31)


@dataclass(slots=True)
class StandinMatch:
    """One stand-in game in progress; a value, as every match."""

    options: Options
    seed: int
    random_state: int
    last_turn: int
    turn: int = 0
    ply: int = 0
    scores: tuple[int, int] = (0, 0)
    offers: tuple[int, ...] = ()
    taken: tuple[int | None, int | None] = (None, None)
    result: Result | None = None
    _faults: tuple[Fault, ...] = field(default=(), compare=False)

    def seats_to_act(self) -> tuple[Seat, ...]:
        if self.result is not None:
            return ()
        if self.options.simultaneous:
            return tuple(seat for seat in (0, 1) if self.taken[seat] is None)
        return ((self.turn + 1) % 2,)

    def observe(self, seat: Seat) -> StandinObservation:
        return StandinObservation(seat, self.turn, self.scores, self.offers)

    def legal_actions(self, seat: Seat) -> Sequence[Take]:
        if seat not in self.seats_to_act():
            return ()
        return tuple(map(Take, self.offers))

    def apply(self, seat: Seat, action: object) -> None:
        if not isinstance(action, Take) or seat not in self.seats_to_act() or action.worth not in self.offers:
            raise IllegalAction(f"seat {seat} cannot play {getattr(action, 'key', action)!r} now")
        for fault in self._faults:
            if fault.ply == self.ply:
                fault.happen()
        self._work()
        self.ply += 1
        taken = list(self.taken)
        taken[seat] = action.worth
        self.taken = (taken[0], taken[1])
        if not self.options.simultaneous or None not in self.taken:
            self._score()
            self._next_turn()

    def clone(self) -> StandinMatch:
        return StandinMatch(*(getattr(self, each.name) for each in fields(self)))

    def digest(self) -> str:
        state = (
            self.seed,
            self.random_state,
            self.last_turn,
            self.turn,
            self.ply,
            self.scores,
            self.offers,
            self.taken,
        )
        ending = None if self.result is None else (self.result.outcome.value, self.result.winner)
        return blake2b(repr((state, ending)).encode(), digest_size=12).hexdigest()

    def _random(self, below: int) -> int:
        self.random_state = (self.random_state + 0x9E3779B97F4A7C15) & _MASK
        return _mix(self.random_state) % below

    def _work(self) -> None:
        if self.options.seconds:
            time.sleep(self.options.seconds)
        value = self.random_state
        for _ in range(self.options.work):
            value = (value * 6364136223846793005 + 1442695040888963407) & _MASK

    def _score(self) -> None:
        first, second = self.taken
        clash = first == second and self.options.simultaneous
        gained = (0, 0) if clash else (first or 0, second or 0)
        self.scores = (self.scores[0] + gained[0], self.scores[1] + gained[1])
        self.taken = (None, None)

    def _next_turn(self) -> None:
        """Begin the next turn, or end the match after the last one."""
        self.offers = ()
        if self.turn == self.last_turn:
            first, second = self.scores
            if first == second:
                self.result = Result(Outcome.DRAW, None, Cause.DRAW)
            else:
                self.result = Result(Outcome.WIN, 0 if first > second else 1, Cause.SCORE)
            return
        if self.options.turn_cap is not None and self.turn >= self.options.turn_cap:
            self.result = Result(Outcome.TURN_CAP, None, Cause.TURN_CAP)
            return
        self.turn += 1
        every = self.options.forced_every
        count = 1 if every and self.turn % every == 0 else self.options.choices
        worths = list(range(1, _HIGHEST_WORTH + 1))
        self.offers = tuple(worths.pop(self._random(len(worths))) for _ in range(count))


def new_match(spec: MatchSpec) -> StandinMatch:
    """The match that ``spec`` defines; decks only change the random stream. Raises ``ValueError`` for a bad option."""
    options = _checked(spec.options)
    decks = [sorted(deck.items()) for deck in spec.decks]
    start = int.from_bytes(blake2b(repr((spec.seed, decks)).encode(), digest_size=8).digest(), "big")
    faults = tuple(fault for fault in options.faults if fault.strikes(spec.seed, options.attempt))
    match = StandinMatch(options, spec.seed, start, last_turn=0, _faults=faults)
    least, most = options.turns
    match.last_turn = least + match._random(most - least + 1)
    match._next_turn()
    return match


def _checked(given: Mapping[str, Any]) -> Options:
    """Options from plain JSON values; raises ``ValueError`` with one line for whatever is wrong."""
    known = [each.name for each in fields(Options)]
    if unknown := given.keys() - set(known):
        raise ValueError(f"stand-in game: unknown option {sorted(unknown)[0]!r}; known: {', '.join(known)}")
    values = dict(given)
    turns = values.get("turns", 10)
    values["turns"] = (turns, turns) if isinstance(turns, int) else tuple(turns)
    values["faults"] = tuple(map(_checked_fault, values.get("faults", ())))
    options = Options(**values)
    if len(options.turns) != 2 or not 1 <= options.turns[0] <= options.turns[1]:
        raise ValueError(f"stand-in game: turns is a number from 1 or [least, most], not {turns!r}")
    if not 2 <= options.choices <= _HIGHEST_WORTH:
        raise ValueError(f"stand-in game: choices is 2 to {_HIGHEST_WORTH}, not {options.choices!r}")
    return options


def _checked_fault(given: Mapping[str, Any]) -> Fault:
    known = [each.name for each in fields(Fault)]
    if unknown := given.keys() - set(known):
        raise ValueError(f"stand-in game: unknown key {sorted(unknown)[0]!r} of a fault; known: {', '.join(known)}")
    if given.get("kind") not in FAULT_KINDS:
        raise ValueError(
            f"stand-in game: kind of a fault is one of {', '.join(FAULT_KINDS)}, not {given.get('kind')!r}"
        )
    chosen = {name: None if given.get(name) is None else tuple(given[name]) for name in ("seeds", "attempts")}
    return Fault(given["kind"], given.get("ply", 0), chosen["seeds"], chosen["attempts"])
