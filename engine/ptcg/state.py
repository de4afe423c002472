"""The whole state of a match as a value: it can be cloned, compared and pickled at every decision point.

Cards are numbers into :data:`engine.ptcg.library.CARDS`; copies of a printing are interchangeable. What is still to
happen in the middle of an effect is the explicit stack of frames, and the choice it waits for is the prompt.

Every class here can be made without arguments: where mypyc has compiled it, the ``__new__`` that copies are made with
runs ``__init__`` too.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from engine.match import Result
from engine.ptcg.randomness import STREAMS

ASLEEP, BURNED, CONFUSED, PARALYZED, POISONED = 1, 2, 4, 8, 16
CONDITION_NAMES: tuple[tuple[int, str], ...] = (
    (ASLEEP, "asleep"),
    (BURNED, "burned"),
    (CONFUSED, "confused"),
    (PARALYZED, "paralyzed"),
    (POISONED, "poisoned"),
)

# Effects of attacks on a Pokémon or a player: (kind, turn in which it acts, detail)
Effect = tuple[str, int, str]
Event = tuple[Any, ...]


class _Value:
    """Equality and a compact pickle for a class that lists its fields in ``__slots__``."""

    __slots__: ClassVar[tuple[str, ...]] = ()

    def values(self) -> tuple[Any, ...]:
        """All fields, in the order of ``__slots__``."""
        return tuple([getattr(self, name) for name in self.__slots__])

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.values() == other.values()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.values())

    def plain(self) -> tuple[Any, ...]:
        """All fields, nested values too, as tuples of plain Python values: what the digest is taken of."""
        return tuple([_plain(value) for value in self.values()])


def _rebuild(cls: type[_Value], values: tuple[Any, ...]) -> _Value:
    value = cls.__new__(cls)
    for name, field in zip(cls.__slots__, values, strict=True):
        setattr(value, name, field)
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, _Value):
        return value.plain()
    if isinstance(value, list | tuple):
        return tuple([_plain(v) for v in value])
    if isinstance(value, Result):
        return (value.outcome.value, value.winner, value.cause.value)
    return value


class Pokemon(_Value):
    """A Pokémon in play with all that is attached to it.

    ``cards`` are its Pokémon cards from the Basic up; ``damage`` counts damage counters (10 HP each); ``uid`` names it
    for as long as it is in play, wherever it moves. Turns are 0 for "before the first turn".
    """

    __slots__ = (
        "ability_used",
        "cards",
        "conditions",
        "damage",
        "effects",
        "energy",
        "entered_turn",
        "evolved_turn",
        "paralyzed_turn",
        "tools",
        "uid",
    )

    def __init__(self, uid: int = 0, card: int = -1, entered_turn: int = 0) -> None:
        self.uid = uid
        self.cards = [card]
        self.energy: list[int] = []
        self.tools: list[int] = []
        self.damage = 0
        self.conditions = 0
        self.paralyzed_turn = 0
        self.entered_turn = entered_turn
        self.evolved_turn = 0
        self.ability_used = False
        self.effects: tuple[Effect, ...] = ()

    def clone(self) -> Pokemon:
        """An independent copy."""
        p = Pokemon.__new__(Pokemon)
        p.uid = self.uid
        p.cards = self.cards[:]
        p.energy = self.energy[:]
        p.tools = self.tools[:]
        p.damage = self.damage
        p.conditions = self.conditions
        p.paralyzed_turn = self.paralyzed_turn
        p.entered_turn = self.entered_turn
        p.evolved_turn = self.evolved_turn
        p.ability_used = self.ability_used
        p.effects = self.effects
        return p


# A block of cards at the bottom of a deck whose order nobody knows: how many, the cards the owner knows to be in it,
# those the opponent knows to be in it.
Segment = tuple[int, tuple[int, ...], tuple[int, ...]]


class Player(_Value):
    """One player's side. ``deck[-1]`` is the top of the deck; ``prizes[-1]`` is taken next."""

    __slots__ = (
        "active",
        "bench",
        "bottom",
        "deck",
        "discard",
        "effects",
        "energy_used",
        "hand",
        "knocked_out_turn",
        "known_hand",
        "lost",
        "names_used",
        "playing",
        "prizes",
        "prizes_known",
        "retreat_used",
        "stadium_effect_used",
        "stadium_used",
        "supporter_used",
        "top_known",
        "vstar_used",
    )

    def __init__(self) -> None:
        self.active: Pokemon | None = None
        self.bench: list[Pokemon] = []
        self.hand: list[int] = []
        self.deck: list[int] = []
        self.discard: list[int] = []
        self.lost: list[int] = []
        self.prizes: list[int] = []
        # A Trainer card whose effect is going on: no longer in hand and not yet discarded.
        self.playing: list[int] = []
        self.energy_used = False
        self.supporter_used = False
        self.stadium_used = False
        self.stadium_effect_used = False
        self.retreat_used = False
        self.vstar_used = False
        self.names_used: tuple[str, ...] = ()
        self.effects: tuple[Effect, ...] = ()
        # The last turn of the opponent in which a Pokémon of this player was Knocked Out; 0 for never.
        self.knocked_out_turn = 0
        # What is known beyond what lies open.
        self.known_hand: list[int] = []
        self.prizes_known = False
        self.top_known = 0
        self.bottom: tuple[Segment, ...] = ()

    def clone(self) -> Player:
        """An independent copy."""
        p = Player.__new__(Player)
        active = self.active
        p.active = None if active is None else active.clone()
        p.bench = [pokemon.clone() for pokemon in self.bench]
        p.hand = self.hand[:]
        p.deck = self.deck[:]
        p.discard = self.discard[:]
        p.lost = self.lost[:]
        p.prizes = self.prizes[:]
        p.playing = self.playing[:]
        p.energy_used = self.energy_used
        p.supporter_used = self.supporter_used
        p.stadium_used = self.stadium_used
        p.stadium_effect_used = self.stadium_effect_used
        p.retreat_used = self.retreat_used
        p.vstar_used = self.vstar_used
        p.names_used = self.names_used
        p.effects = self.effects
        p.knocked_out_turn = self.knocked_out_turn
        p.known_hand = self.known_hand[:]
        p.prizes_known = self.prizes_known
        p.top_known = self.top_known
        p.bottom = self.bottom
        return p

    def in_play(self) -> list[Pokemon]:
        """The Active Pokémon, then the Bench from left to right."""
        if self.active is None:
            return self.bench[:]
        return [self.active, *self.bench]


class Frame(_Value):
    """A program being run: ``pc`` is the next operation, ``picks`` what the last choice gave.

    ``seat`` is the player whose effect it is, ``uid`` the Pokémon it comes from (0 for none), ``card`` the card whose
    text is being carried out (−1 for a rule), ``memo`` what a program keeps between its operations.
    """

    __slots__ = ("card", "memo", "pc", "picks", "program", "seat", "uid")

    def __init__(
        self, program: int = 0, seat: int = 0, uid: int = 0, card: int = -1, memo: tuple[Any, ...] = ()
    ) -> None:
        self.program = program
        self.pc = 0
        self.seat = seat
        self.uid = uid
        self.card = card
        self.picks: tuple[Any, ...] = ()
        self.memo = memo

    def clone(self) -> Frame:
        """An independent copy."""
        f = Frame.__new__(Frame)
        f.program = self.program
        f.pc = self.pc
        f.seat = self.seat
        f.uid = self.uid
        f.card = self.card
        f.picks = self.picks
        f.memo = self.memo
        return f


# What the candidates of a prompt are.
CARDS_KIND, POKEMON_KIND, ATTACHED_KIND, NUMBER_KIND, OPTION_KIND, YES_NO_KIND = range(6)


class Prompt(_Value):
    """A choice that a player has to make, one pick at a time in the order of ``items``.

    ``items`` are card numbers, Pokémon uids, (uid or 0 for the Stadium, card) pairs, numbers or option texts, by
    ``kind``; ``counts`` says how often each may be picked. ``picks`` are places in ``items``, never decreasing.
    ``source`` is the card that asks (−1 for a rule), ``question`` says what is being chosen. With ``minimum_total`` the
    picks are Energy that has to provide so much; ``items`` that provide most come last.
    """

    __slots__ = ("counts", "items", "kind", "least", "minimum_total", "most", "picks", "question", "seat", "source")

    def __init__(
        self,
        seat: int = 0,
        kind: int = 0,
        source: int = -1,
        question: str = "",
        items: tuple[Any, ...] = (),
        counts: tuple[int, ...] = (),
        least: int = 0,
        most: int = 0,
        minimum_total: int = 0,
    ) -> None:
        self.seat = seat
        self.kind = kind
        self.source = source
        self.question = question
        self.items = items
        self.counts = counts
        self.least = least
        self.most = most
        self.minimum_total = minimum_total
        self.picks: tuple[int, ...] = ()

    def with_pick(self, place: int) -> Prompt:
        """The same prompt with one pick more."""
        p = Prompt.__new__(Prompt)
        p.seat = self.seat
        p.kind = self.kind
        p.source = self.source
        p.question = self.question
        p.items = self.items
        p.counts = self.counts
        p.least = self.least
        p.most = self.most
        p.minimum_total = self.minimum_total
        p.picks = (*self.picks, place)
        return p


class State(_Value):
    """Everything about a match in progress.

    ``turn`` counts both players' turns from 1 (0 in set-up). ``log`` holds the events of the current and the two
    previous turns, ``log_start`` counts those dropped before them, ``seen`` is up to which event each seat had been
    told at its last decision. ``attack_knock_outs`` names the Pokémon that the attack being carried out has brought
    to 0 HP by damage, ``bonus_prizes`` what that attack adds to the Prizes for each of them. ``turns_before`` counts
    the turns of the games that ended in Sudden Death before this one.
    """

    __slots__ = (
        "attack_knock_outs",
        "bonus_prizes",
        "counters",
        "deck_lists",
        "first_player",
        "last_uid",
        "log",
        "log_start",
        "players",
        "prize_count",
        "prompt",
        "result",
        "seed",
        "seen",
        "stack",
        "stadium",
        "stadium_owner",
        "sudden_death",
        "sudden_death_draw",
        "to_move",
        "turn",
        "turn_cap",
        "turn_marks",
        "turns_before",
    )

    def __init__(self, seed: int = 0, deck_lists: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())) -> None:
        self.seed = seed
        self.deck_lists = deck_lists
        self.players = [Player(), Player()]
        self.turn = 0
        self.first_player = 0
        self.to_move = 0
        self.stadium = -1
        self.stadium_owner = 0
        self.stack: list[Frame] = []
        self.prompt: Prompt | None = None
        self.counters = [0] * STREAMS
        self.last_uid = 0
        self.result: Result | None = None
        self.prize_count = 6
        self.sudden_death = False
        self.sudden_death_draw = False
        self.turn_cap = 400
        self.attack_knock_outs: tuple[int, ...] = ()
        self.bonus_prizes = 0
        self.turns_before = 0
        self.log: list[Event] = []
        self.log_start = 0
        self.turn_marks: tuple[int, int] = (0, 0)
        self.seen: tuple[int, int] = (0, 0)

    def clone(self) -> Self:
        """An independent copy that plays on exactly as this one would."""
        s = type(self).__new__(type(self))
        s.seed = self.seed
        s.deck_lists = self.deck_lists
        a, b = self.players
        s.players = [a.clone(), b.clone()]
        s.turn = self.turn
        s.first_player = self.first_player
        s.to_move = self.to_move
        s.stadium = self.stadium
        s.stadium_owner = self.stadium_owner
        s.stack = [frame.clone() for frame in self.stack]
        s.prompt = self.prompt  # never changed in place
        s.counters = self.counters[:]
        s.last_uid = self.last_uid
        s.result = self.result
        s.prize_count = self.prize_count
        s.sudden_death = self.sudden_death
        s.sudden_death_draw = self.sudden_death_draw
        s.turn_cap = self.turn_cap
        s.attack_knock_outs = self.attack_knock_outs
        s.bonus_prizes = self.bonus_prizes
        s.turns_before = self.turns_before
        s.log = self.log[:]
        s.log_start = self.log_start
        s.turn_marks = self.turn_marks
        s.seen = self.seen
        return s

    def find(self, uid: int) -> Pokemon | None:
        """The Pokémon in play with this uid, or ``None`` when it has left play."""
        for player in self.players:
            active = player.active
            if active is not None and active.uid == uid:
                return active
            for pokemon in player.bench:
                if pokemon.uid == uid:
                    return pokemon
        return None

    def place(self, uid: int) -> tuple[int, int]:
        """(seat, place) of a Pokémon in play: place 0 is the Active Spot, 1–5 the Bench from left to right."""
        for seat in (0, 1):
            player = self.players[seat]
            if player.active is not None and player.active.uid == uid:
                return seat, 0
            for i, pokemon in enumerate(player.bench):
                if pokemon.uid == uid:
                    return seat, i + 1
        raise LookupError(f"no Pokémon in play has uid {uid}")
