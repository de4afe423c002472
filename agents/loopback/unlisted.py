"""What the scripted player names where a choice does not tell its candidates: what the question seems to be about.

It goes by the question's words and by what the position shows, as a model without a list has to. So it is wrong at
times: it takes the wrong pile, or a card of another kind.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Sequence
from typing import Final

from agents.loopback.reading import Situation
from agents.loopback.sights import Sight

_ZONES: Final[tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]] = (
    (re.compile("new Active|Benched|to evolve|put into your hand"), ("yours", "theirs")),
    (re.compile("to switch in"), ("theirs", "yours")),
    (re.compile("Move them"), ("theirs", "yours")),
    (re.compile("which .*Pokémon"), ("yours", "theirs")),
    (re.compile("opponent's .*Pokémon|to damage"), ("theirs",)),
    (re.compile("Tool or the Stadium|Energy from your Pokémon"), ("attached",)),
    (re.compile("from your discard pile|into your deck"), ("discard",)),
    (re.compile("hand|Active Pokémon|for your Bench|any number"), ("hand",)),
)
"""Where to look, by the words of a question: there first, elsewhere when that was refused."""
_ELSEWHERE: Final = ("deck_top", "unseen", "discard")
_BENCH_ONLY: Final = re.compile("new Active|Benched|to switch in")
_KINDS: Final = re.compile(
    r"Pokémon Tool|Supporter|Stadium|Item|Stage \d Pokémon|(?:Basic|Evolution) Pokémon|Pokémon|Energy"
)
_SET_UP: Final = "your Active Pokémon"
_CARD_ZONES: Final = ("hand", "unseen", "deck_top", "discard")
_PLACE_ZONES: Final = ("yours", "theirs")
_PATIENCE: Final = 2
"""How often it tries something where nothing need be chosen."""


def named_picks(situation: Situation, skill: float, wanted: int, rng: random.Random) -> list[str | int]:
    """``wanted`` labels, or the least number that will do where fewer seem to be there; none of those tried before."""
    if situation.least == 0 and situation.refusals > _PATIENCE:
        return []
    likely = _likely(situation, careful=rng.random() < skill)
    copies = [sight.label for sight in _untried(situation, likely) or likely for _ in range(sight.copies)]
    if not copies:
        return []
    picks = rng.sample(copies, min(wanted, len(copies)))
    # Several of one place, or else it cannot be done.
    return [*picks, *rng.choices(copies, k=max(situation.least - len(picks), 0))]


def _likely(situation: Situation, careful: bool) -> list[Sight]:
    """What the question may well be about; to the careless anything of the right sort, a card or a place."""
    question = situation.question
    zones = next((zones for words, zones in _ZONES if words.search(question)), _ELSEWHERE)
    zones = tuple(zone for zone in zones if situation.sights.get(zone)) or _CARD_ZONES
    if not careful:
        sort = _PLACE_ZONES if zones[0] in _PLACE_ZONES else _CARD_ZONES if zones[0] in _CARD_ZONES else zones
        return _of(situation, sort)
    if zones[0] in _PLACE_ZONES:
        places = _of(situation, zones)
        benched = [place for place in places if "bench" in place.label]
        fitting = benched if benched and _BENCH_ONLY.search(question) else places
        untried = _untried(situation, fitting) or fitting
        # One side before the other.
        return [place for place in untried if _is_theirs(place) == _is_theirs(untried[0])]
    return _suiting(situation, _of(situation, [zones[min(situation.refusals, len(zones) - 1)]]))


def _is_theirs(place: Sight) -> bool:
    return place.label.startswith("opponent")


def _untried(situation: Situation, sights: Iterable[Sight]) -> list[Sight]:
    return [sight for sight in sights if json.dumps(sight.label) not in situation.said]


def _of(situation: Situation, zones: Iterable[str]) -> list[Sight]:
    return [sight for zone in zones for sight in situation.sights.get(zone, ())]


def _suiting(situation: Situation, cards: Sequence[Sight]) -> list[Sight]:
    """The cards of the kinds that the question names, those of unknown kind among them unless the name speaks."""
    kinds = ["Basic Pokémon"] if _SET_UP in situation.question else _KINDS.findall(situation.question)
    if not kinds:
        return list(cards)
    return [card for card in cards if any(_suits(situation, card, kind) for kind in kinds)] or list(cards)


def _suits(situation: Situation, card: Sight, kind: str) -> bool:
    known = situation.kinds.get(card.label.partition("@")[0]) or _last_kind(card.text)
    if not known or kind == "Energy":
        return ("Energy" in card.text) == (kind == "Energy")
    if kind == "Evolution Pokémon":
        return known.startswith("Stage ")
    return known == kind or (kind == "Pokémon" and known != "Pokémon Tool" and "Pokémon" in known)


def _last_kind(text: str) -> str:
    """The kind at the end of what is shown of a card, where it is there."""
    last = text.rpartition(", ")[2]
    return last if last and _KINDS.search(last) and "(" not in last else ""
