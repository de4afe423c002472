"""Measure an engine or the orchestrator: ``python -m jobs.bench suite=engine``."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from omegaconf import OmegaConf

from engine.match import MatchSpec
from engine.registry import game_names, new_match
from jobs import bench_engine, bench_llm, bench_search
from jobs.config import OURS, ConfigError, ExitCode, job, key
from jobs.tournament import read_deck
from orchestrator import bench as bench_orchestrator
from orchestrator.config import ConfigError as TournamentRefused
from orchestrator.config import Deck, Entrant, TournamentConfig


def _all_decks() -> list[str]:
    return sorted(file.stem for file in (OURS / "deck").glob("*.txt"))


@dataclass
class BenchJob:
    """All keys of the job."""

    suite: str = key("what is measured", choices=("engine", "orchestrator", "search", "llm"))
    game: str = key("the game that is played", "ptcg", choices=game_names())
    decks: list[Any] = key("the decks that are played, each against itself", factory=_all_decks, files="deck")
    options: dict[str, Any] = key("the game's own settings", factory=dict)
    seconds: float = key("how long whole games are played, for each case of the engine, for all of the other", 10.0)
    workers: list[int] = key("suite=orchestrator: a case each, with so many workers", factory=lambda: [1, 2])
    seed: int = key("what the seeds of all games are derived from", 0)


@job("bench", BenchJob, refusals=(TournamentRefused,))
def main(config: BenchJob) -> int:
    """Measure by random play, and print one JSON object a line and nothing else.

    An object has suite, case, metric, value and unit. Suite engine: a case is a deck; times are processor time. Suite
    orchestrator: a case is a number of workers, or "bare" for one process without Ray, journal and files. Suite search:
    a case is a search agent of conf/agent and a deck; it plays against the heuristic. Suite llm: see jobs/bench_llm.py.
    """
    if not 0 < config.seconds < math.inf:
        raise ConfigError(f"seconds: must be a number above 0, not {config.seconds}")
    suite = {"engine": _engine, "orchestrator": _orchestrator, "search": _search, "llm": _llm}[config.suite]
    for line in suite(config, _decks(config)):
        print(json.dumps(line), flush=True)
    return ExitCode.COMPLETE


def _decks(config: BenchJob) -> list[Deck]:
    """The decks that are played, tried out. A game without cards has none."""
    decks = [read_deck(entry) for entry in config.decks] if config.game == "ptcg" else []
    if config.game == "ptcg" and not decks:
        raise ConfigError("decks: at least one must be given")
    for deck in decks or [Deck("")]:
        try:
            new_match(MatchSpec(config.game, config.seed, (deck.cards, deck.cards), config.options))
        except (ValueError, TypeError) as error:
            raise ConfigError(f"options: {error}") from error
    return decks


def _engine(config: BenchJob, decks: list[Deck]) -> Iterator[Mapping[str, Any]]:
    for deck in decks or [Deck(config.game)]:
        spec = MatchSpec(config.game, config.seed, (deck.cards, deck.cards), config.options)
        yield from bench_engine.lines(deck.name, spec, config.seconds)


def _search(config: BenchJob, decks: list[Deck]) -> Iterator[Mapping[str, Any]]:
    if not decks:
        raise ConfigError("game: search agents play ptcg only")
    for name in ("search_fast", "search_strong"):
        agent = OmegaConf.to_container(OmegaConf.load(OURS / "agent" / f"{name}.yaml"))
        assert isinstance(agent, dict)
        for deck in decks:
            spec = MatchSpec(config.game, config.seed, (deck.cards, deck.cards), config.options)
            yield from bench_search.lines(name, {str(k): v for k, v in agent.items()}, deck.name, spec, config.seconds)


def _llm(config: BenchJob, decks: list[Deck]) -> Iterator[Mapping[str, Any]]:
    if not decks:
        raise ConfigError("game: LLM agents play ptcg only")
    yield from bench_llm.lines(decks, config.seed, config.seconds)


def _orchestrator(config: BenchJob, decks: list[Deck]) -> Iterator[Mapping[str, Any]]:
    if not config.workers or min(config.workers) < 1:
        raise ConfigError(f"workers: numbers from 1, as in workers=[1,2], not {config.workers}")
    tournament = TournamentConfig(
        run="bench",
        entrants=(Entrant("random_1", {"kind": "random"}), Entrant("random_2", {"kind": "random"})),
        decks=tuple(decks),
        seed=config.seed,
        game=config.game,
        options=config.options,
    )
    yield from bench_orchestrator.lines(tournament, config.seconds, config.workers)


if __name__ == "__main__":
    sys.exit(main())
