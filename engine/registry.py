"""The games that can be played, by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version

from engine.match import Match, MatchSpec

# Module and function, so that naming a game does not import all others.
_GAMES: dict[str, tuple[str, str]] = {
    "ptcg": ("engine.ptcg.game", "new_match"),
    "standin": ("engine.standin", "new_match"),
}


def game_names() -> tuple[str, ...]:
    """The names that :attr:`MatchSpec.game` may have."""
    return tuple(_GAMES)


def new_match(spec: MatchSpec) -> Match:
    """Build the match that ``spec`` defines. Raises ``ValueError`` for an unknown game, a bad deck or option."""
    if spec.game not in _GAMES:
        raise ValueError(f"unknown game {spec.game!r}; known: {', '.join(_GAMES)}")
    module, function = _GAMES[spec.game]
    build: Callable[[MatchSpec], Match] = getattr(import_module(module), function)
    return build(spec)


def game_version(name: str) -> str:
    """The version of the rules of the game ``name``: equal versions give equal games.

    It is what the game's module calls ``VERSION``, else the version of this distribution. Raises ``ValueError`` for an
    unknown game.
    """
    if name not in _GAMES:
        raise ValueError(f"unknown game {name!r}; known: {', '.join(_GAMES)}")
    return str(getattr(import_module(_GAMES[name][0]), "VERSION", None) or version("prizefight"))
