"""Answers to a choice of the engine: all picks at once, played together or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agents.llm.alike import alike
from agents.llm.causes import Cause, Refused
from agents.llm.naming import plain, same_name
from agents.llm.texts import no_index
from engine.ptcg.actions import DONE, NOWHERE, PtcgAction, is_complete, item_action, place_key, prompt_actions
from engine.ptcg.card import CARDS, Card
from engine.ptcg.card_text import card_label
from engine.ptcg.observation import PtcgObservation
from engine.ptcg.state import CARDS_KIND, NUMBER_KIND, Prompt


def selection(observation: PtcgObservation, chosen: Sequence[str | int], listed: bool = True) -> tuple[PtcgAction, ...]:
    """The actions that pick ``chosen`` (labels or names of candidates, or their action keys), in order.

    Indices of candidates do as well where these are ``listed`` for the model; an index into what it is not shown would
    be legal without its knowing anything.

    Ends with "done" where fewer were picked than allowed. Raises :class:`Refused` where any pick is not to be had, or
    they are too few or too many; then none of them counts. What that says names candidates, beyond what was picked
    before, only where they are listed anyway.
    """
    prompt = observation.known.prompt
    if prompt is None:
        raise Refused(Cause.ILLEGAL_ACTION, "There is no choice to make now.")
    if len(chosen) == 1 and isinstance(chosen[0], str) and plain(chosen[0]) == DONE.key:
        chosen = ()
    return _picked(observation, prompt, _places(observation, prompt, chosen, listed), listed)


def _picked(
    observation: PtcgObservation, prompt: Prompt, places: Sequence[int], listed: bool
) -> tuple[PtcgAction, ...]:
    known = observation.known
    actions: list[PtcgAction] = []
    pending = prompt
    for number, place in enumerate(places):
        if number and is_complete(pending):
            raise Refused(
                Cause.ILLEGAL_ACTION,
                f"{len(places)} picks are too many. {_wanted(observation, prompt)} Nothing was chosen.",
            )
        legal, legal_places = prompt_actions(known, pending)
        if place not in legal_places:
            why = _why_not(observation, prompt, places, place, listed)
            raise Refused(Cause.ILLEGAL_ACTION, f"{why} Nothing was chosen.")
        actions.append(legal[legal_places.index(place)])
        pending = pending.with_pick(place)
    if not places or not is_complete(pending):
        if DONE not in prompt_actions(known, pending)[0]:
            raise Refused(
                Cause.ILLEGAL_ACTION,
                f"{len(places)} picks are too few. {_wanted(observation, prompt)} Nothing was chosen.",
            )
        actions.append(DONE)
    return tuple(actions)


def _wanted(observation: PtcgObservation, prompt: Prompt) -> str:
    least, most = max(prompt.least - len(prompt.picks), 0), prompt.most - len(prompt.picks)
    more = " more" if prompt.picks else ""
    wanted = f"Choose {most}{more}." if least == most else f"Choose from {least} to {most}{more}."
    if prompt.minimum_total:
        wanted = f"All picks together must provide at least {prompt.minimum_total} Energy, {prompt.most} cards at most."
    if not prompt.picks:
        return wanted
    return f"{wanted} {', '.join(label_of(observation, prompt, place) for place in prompt.picks)} is picked already."


def _why_not(observation: PtcgObservation, prompt: Prompt, places: Sequence[int], place: int, listed: bool) -> str:
    label = label_of(observation, prompt, place)
    if listed and places.count(place) + prompt.picks.count(place) > prompt.counts[place]:
        return f"{label} can be chosen {prompt.counts[place]} times at most."
    if len(places) < prompt.least - len(prompt.picks):
        return f"{len(places)} picks are too few. {_wanted(observation, prompt)}"
    if prompt.minimum_total:
        return f"These picks do not pay as wanted. {_wanted(observation, prompt)}"
    what = f"{label} cannot be chosen with the others." if listed else "Not all of these can be chosen."
    return f"{what} {_wanted(observation, prompt)}"


def label_of(observation: PtcgObservation, prompt: Prompt, place: int) -> str:
    """The label of a candidate as the observation has it."""
    return item_action(observation.known, prompt, place).key.partition(":")[2]


def _places(observation: PtcgObservation, prompt: Prompt, chosen: Sequence[str | int], listed: bool) -> list[int]:
    """The candidates that ``chosen`` names, sorted, copies repeated."""
    asked = Counter(item if isinstance(item, int) else plain(item) for item in chosen)
    places: list[int] = []
    for item, count in asked.items():
        fitting = _fitting(observation, prompt, item, listed)
        if not fitting:
            raise Refused(Cause.ILLEGAL_ACTION, f"{_quoted(item)} is none of the candidates. Nothing was chosen.")
        places.extend(_spread(observation, prompt, item, fitting, count, listed))
    return sorted(places)


def _fitting(observation: PtcgObservation, prompt: Prompt, item: str | int, listed: bool) -> list[int]:
    everything = range(len(prompt.items))
    labels = [plain(label_of(observation, prompt, place)) for place in everything]
    said = str(item)
    exact = [place for place in everything if said in (labels[place], f"choose:{labels[place]}")]
    if exact:
        return exact
    if prompt.kind != NUMBER_KIND and said.isdecimal():
        if not listed:
            raise Refused(Cause.ILLEGAL_ACTION, no_index(_quoted(item)))
        return [int(said)] if len(said) < 4 and int(said) < len(prompt.items) else []
    return [place for place in everything if _is_named(observation, prompt, place, said)]


def _is_named(observation: PtcgObservation, prompt: Prompt, place: int, said: str) -> bool:
    found = item_action(observation.known, prompt, place)
    card = found.card if found.card >= 0 else found.target
    if card < 0:
        return False
    if said.partition(":")[0].isdigit():
        # The candidate as it is listed: "2: PAF-7 Charmander, 3 copies"; or a card of the hand as that is shown.
        said = said.partition(":")[2].strip()
    label = plain(label_of(observation, prompt, place))
    return same_name(said, CARDS[card]) or said.startswith(f"{label} ") or _is_shown(found, CARDS[card], said)


def _is_shown(found: PtcgAction, card: Card, said: str) -> bool:
    """Whether ``said`` is what positions show of a candidate: a name at a place, or a card of the hand and its kind."""
    name, at, place = said.partition("@")
    if at:
        return found.place != NOWHERE and place.strip() == place_key(found.place) and same_name(name.strip(), card)
    return found.place == NOWHERE and said.startswith(f"{plain(card_label(card))}, ")


def _spread(
    observation: PtcgObservation, prompt: Prompt, item: str | int, fitting: Sequence[int], count: int, listed: bool
) -> list[int]:
    """``count`` picks among the candidates that fit one name."""
    if len(fitting) == 1:
        return [fitting[0]] * count
    available = [place for place in fitting for _ in range(prompt.counts[place] - prompt.picks.count(place))]
    first = item_action(observation.known, prompt, fitting[0])
    others = [item_action(observation.known, prompt, place) for place in fitting[1:]]
    if len(available) == count or all(alike(observation, first, other) for other in others):
        return available[:count] if len(available) >= count else [*available, *[fitting[0]] * (count - len(available))]
    what = "the id" if prompt.kind == CARDS_KIND else "the label or index" if listed else "the place, or CARD@PLACE"
    several = f"{len(fitting)} candidates" if listed else "several"
    raise Refused(Cause.AMBIGUOUS, f"{_quoted(item)} fits {several}; give {what}. Nothing was chosen.")


def _quoted(item: str | int) -> str:
    return repr(item)[:80]
