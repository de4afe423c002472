"""What a run is: all that can alter a game or a call. It may not change between two starts, but it may grow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from engine.registry import game_version
from orchestrator.config import ConfigError, TournamentConfig
from orchestrator.providers import identity as agent_identity

_GROWING = ("agents", "decks")
_ABSENT = object()


def identity_of(config: TournamentConfig) -> dict[str, Any]:
    """The identity of the run that ``config`` describes, as plain JSON values.

    Workers, cluster, limits, budget and storage are not in it, nor what a model costs and how fast it may be asked. The
    order in which agents and decks are listed makes no difference to any game and is not in it either.
    """
    identity = {
        "game": config.game,
        "engine": engine_version(config),
        "options": dict(config.options),
        "seed": config.seed,
        "agents": {
            entrant.name: agent_identity(entrant.config)
            for entrant in sorted(config.entrants, key=lambda one: one.name)
        },
        "decks": {deck.name: dict(deck.cards) for deck in sorted(config.decks, key=lambda one: one.name)},
        "tournament": {"decks": str(config.deck_pairing), "games_per_pair": config.games_per_pair},
    }
    plain: dict[str, Any] = json.loads(json.dumps(identity))
    return plain


def engine_version(config: TournamentConfig) -> str:
    """Name and version of the rules that are played."""
    return f"{config.game} {game_version(config.game)}"


def check_same(run: str, before: Mapping[str, Any], now: Mapping[str, Any], extend: bool) -> None:
    """Raise :class:`ConfigError` with what differs where ``now`` is not the run that ``before`` is.

    With ``extend``, agents, decks and games may be more than before.
    """
    changed: list[str] = []
    grown: list[str] = []
    _compare(before, now, "", changed, grown)
    if changed:
        raise ConfigError(
            f"run {run!r} was begun with another configuration: {'; '.join(changed + grown)}; "
            "go on with the old values or take another run name"
        )
    if grown and not extend:
        raise ConfigError(f"run {run!r} was begun with less: {'; '.join(grown)}; extend=true adds to it")


def _compare(before: Any, now: Any, path: str, changed: list[str], grown: list[str]) -> None:
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in [*before, *(key for key in now if key not in before)]:
            below = f"{path}.{key}" if path else str(key)
            if key not in before and path in _GROWING:
                grown.append(f"{below} is new")
            else:
                _compare(before.get(key, _ABSENT), now.get(key, _ABSENT), below, changed, grown)
    elif before != now or type(before) is not type(now):
        larger = path == "tournament.games_per_pair" and isinstance(now, int) and now > before
        (grown if larger else changed).append(f"{path}: {_shown(before)} -> {_shown(now)}")


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "absent"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"
