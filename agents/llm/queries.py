"""Answers to queries: card texts, discard piles, skills."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from agents.llm.causes import Cause, Refused
from agents.llm.naming import plain, same_name
from agents.llm.resolve import check_arguments
from agents.llm.skills import SkillLibrary
from agents.llm.tools import Tool
from engine.ptcg.card import CARDS
from engine.ptcg.card_text import card_label, card_text
from engine.ptcg.observation import PtcgObservation


def answer(tool: Tool, arguments: Mapping[str, Any], observation: PtcgObservation, skills: SkillLibrary | None) -> str:
    """What a query tells the model. Raises :class:`Refused`."""
    check_arguments(tool, arguments)
    if tool.name == "query_card":
        return _cards(arguments["card_id"])
    if tool.name == "query_discard":
        return _discard(observation, arguments["player"])
    assert skills is not None
    try:
        return skills.read(arguments["name"], arguments.get("resource"))
    except KeyError:
        raise Refused(
            Cause.UNKNOWN_SKILL, f"There is no skill or resource of that name. Skills: {skills.names()}"
        ) from None


def _cards(said: str) -> str:
    name = plain(said)
    found = [card for card in CARDS if same_name(name, card)]
    if not found:
        raise Refused(
            Cause.UNKNOWN_CARD, f"No card is called {said[:80]!r}. Give an id from the observation or a full name."
        )
    return "\n\n".join(card_text(card) for card in found)


def _discard(observation: PtcgObservation, player: str) -> str:
    pile = (observation.you if player == "you" else observation.opponent).discard
    whose = "Your" if player == "you" else "Your opponent's"
    if not pile:
        return f"{whose} discard pile is empty."
    counts = ", ".join(f"{count} {card_label(CARDS[card])}" for card, count in sorted(Counter(pile).items()))
    return f"{whose} discard pile ({len(pile)} cards): {counts}"
