"""What makes a run another run, and what may change or grow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.config import (
    ClusterConfig,
    ConfigError,
    Deck,
    DeckPairing,
    Entrant,
    LimitsConfig,
    StorageConfig,
    TournamentConfig,
)
from orchestrator.identity import check_same, identity_of

BASE = TournamentConfig(
    "r",
    (Entrant("a", {"kind": "random"}), Entrant("b", {"kind": "scripted", "policy": "first"})),
    (Deck("x", {"X-1": 60}),),
    seed=7,
    game="standin",
    options={"turns": 5},
    games_per_pair=4,
)


def refusal(changes: dict[str, Any], extend: bool = False) -> str:
    """The line that refuses going on with :data:`BASE` changed."""
    with pytest.raises(ConfigError) as caught:
        check_same("r", identity_of(BASE), identity_of(replace(BASE, **changes)), extend)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seed": 8}, "seed: 7 -> 8"),
        ({"options": {"turns": 6}}, "options.turns: 5 -> 6"),
        ({"options": {}}, "options.turns: 5 -> absent"),
        ({"deck_pairing": DeckPairing.CROSS}, 'tournament.decks: "mirror" -> "cross"'),
        ({"games_per_pair": 2}, "tournament.games_per_pair: 4 -> 2"),
        ({"decks": (Deck("x", {"X-1": 59, "X-2": 1}),)}, "decks.x.X-1: 60 -> 59; decks.x.X-2: absent -> 1"),
        (
            {"entrants": (BASE.entrants[0], Entrant("b", {"kind": "scripted", "policy": "last"}))},
            'agents.b.policy: "first" -> "last"',
        ),
        ({"entrants": (BASE.entrants[0], Entrant("c", {"kind": "random"}))}, "agents.b: "),
    ],
)
@pytest.mark.parametrize("extend", [False, True])
def test_another_run_is_refused_with_what_differs_even_where_it_may_grow(
    changes: dict[str, Any], said: str, extend: bool
) -> None:
    assert said in refusal(changes, extend)


def test_all_differences_are_listed() -> None:
    line = refusal({"seed": 8, "options": {"turns": 6}, "games_per_pair": 8})
    assert "options.turns: 5 -> 6; seed: 7 -> 8; tournament.games_per_pair: 4 -> 8" in line


GROWTH = [
    ({"games_per_pair": 6}, "tournament.games_per_pair: 4 -> 6"),
    ({"entrants": (*BASE.entrants, Entrant("c", {"kind": "random"}))}, "agents.c is new"),
    ({"decks": (*BASE.decks, Deck("y", {"Y-1": 60}))}, "decks.y is new"),
]


@pytest.mark.parametrize(("changes", "said"), GROWTH)
def test_more_agents_decks_or_games_need_extend(changes: dict[str, Any], said: str) -> None:
    line = refusal(changes)
    assert said in line
    assert "extend=true adds to it" in line
    check_same("r", identity_of(BASE), identity_of(replace(BASE, **changes)), extend=True)


@pytest.mark.parametrize(
    "changes",
    [
        {"cluster": ClusterConfig(workers=9, address="auto")},
        {"limits": LimitsConfig(game_seconds=1, max_attempts=9)},
        {"storage": StorageConfig(root="elsewhere", part_rows=1)},
        {"entrants": BASE.entrants[::-1]},
        {"run": "another name"},
    ],
)
def test_what_alters_no_game_may_change(changes: dict[str, Any]) -> None:
    check_same("r", identity_of(BASE), identity_of(replace(BASE, **changes)), extend=False)
