"""One whole game a deck as text that a person can read against the rules.

``python tests/helpers/golden_playthroughs.py`` plays the decisions in each file again and writes what the engine
makes of them now, so that a change of the rules shows as a difference to review; ``--new`` has the heuristic play new
games.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

from engine.match import MatchSpec
from engine.ptcg.card import CARDS
from engine.ptcg.decks import parse_deck
from engine.ptcg.game import PtcgMatch, new_match
from engine.replay import Replay

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "engine" / "ptcg" / "golden"
DECK_FOLDER = ROOT / "conf" / "deck"
DECKS = sorted(path.stem for path in DECK_FOLDER.glob("*.txt"))
SEED = 2026


def deck(name: str) -> dict[str, int]:
    """The list of a deck of ``conf/deck``."""
    return parse_deck((DECK_FOLDER / f"{name}.txt").read_text(encoding="utf-8"))


def spec(name: str) -> MatchSpec:
    """The mirror match that is played with a deck."""
    return MatchSpec("ptcg", SEED, (deck(name), deck(name)))


def decisions(text: str) -> list[str]:
    """The decisions of a golden text, ``"<seat> <key>"`` each."""
    return [line[2:] for line in text.splitlines() if line.startswith("> ")]


def render(name: str, recorded: list[str]) -> str:
    """The text of the game: decisions begin with ``>``, forced actions with ``=``, events are indented."""
    replay = Replay(spec(name), recorded)
    lines = [f"{name} mirror match, seed {SEED}", *_events(replay.start_events)]
    turn = 0
    for step in replay:
        if step.turn != turn:
            turn = step.turn
            lines += ["", f"turn {turn}"]
        lines.append(f"{'=' if step.forced else '>'} {step.seat} {step.action.key}")
        lines += _events(step.events)
    match = replay.match
    assert isinstance(match, PtcgMatch)
    lines += ["", *_table(match)]
    return "\n".join(lines) + "\n"


def _events(events: tuple[object, ...]) -> Iterator[str]:
    for views in zip(*events, strict=True):  # type: ignore[call-overload]
        event = views[1] if views[0]["seat"] == 1 else views[0]
        rest = ", ".join(
            f"{key} {' + '.join(map(_name, value)) if isinstance(value, list) else _name(value)}"
            for key, value in event.items()
            if key not in ("event", "seat")
        )
        yield f"    {event['seat']} {event['event']}{': ' if rest else ''}{rest}"


_NAMES = {card.id: f"{card.name} {card.id}" for card in CARDS}


def _name(value: object) -> str:
    return _NAMES.get(value, value) if isinstance(value, str) else str(value).lower()


def _table(match: PtcgMatch) -> Iterator[str]:
    yield f"result: {match.result}"
    for seat, player in enumerate(match.state.players):
        yield f"seat {seat}: {len(player.prizes)} Prizes, {len(player.deck)} in deck, {len(player.hand)} in hand"
        for pokemon in player.in_play():
            card = CARDS[pokemon.cards[-1]]
            yield f"    {card.name} {card.id}, {10 * pokemon.damage} damage, {len(pokemon.energy)} Energy cards"


def new_game(name: str) -> list[str]:
    """The decisions of a game between two heuristic agents."""
    from agents.heuristic.agent import HeuristicAgent

    match = new_match(spec(name))
    rng = Random(SEED)
    agents = [HeuristicAgent(rng.getrandbits(32)) for _ in range(2)]
    recorded: list[str] = []
    while match.result is None:
        (seat,) = match.seats_to_act()
        legal = match.legal_actions(seat)
        action = legal[0] if len(legal) == 1 else agents[seat].choose(match.observe(seat), legal)
        if len(legal) > 1:
            recorded.append(f"{seat} {action.key}")
        match.apply(seat, action)
    return recorded


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for deck_name in DECKS:
        path = FOLDER / f"{deck_name}.txt"
        played = new_game(deck_name) if "--new" in sys.argv else decisions(path.read_text(encoding="utf-8"))
        path.write_text(render(deck_name, played), encoding="utf-8")
