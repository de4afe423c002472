"""Measure an engine or the orchestrator: ``python -m jobs.bench suite=engine``."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from omegaconf import OmegaConf

from engine.match import MatchSpec
from engine.registry import game_names, new_match
from jobs import bench_cluster, bench_engine, bench_llm, bench_orchestrator, bench_scale, bench_search, bench_whole
from jobs.config import OURS, ConfigError, ExitCode, job, key
from jobs.tournament import read_deck
from orchestrator.config import ConfigError as TournamentRefused
from orchestrator.config import Deck, Entrant, TournamentConfig

_SCALE = ("components", "whole", "nodes", "simulated")


def _all_decks() -> list[str]:
    return sorted(file.stem for file in (OURS / "deck").glob("*.txt"))


@dataclass
class BenchJob:
    """All keys of the job."""

    suite: str = key("what is measured", choices=("engine", "orchestrator", "scale", "search", "llm"))
    game: str | None = key("the game that is played; null: ptcg, and standin for scale", None, choices=game_names())
    decks: list[Any] = key("the decks that are played, each against itself", factory=_all_decks, files="deck")
    options: dict[str, Any] = key("the game's own settings", factory=dict)
    seconds: float = key("how long whole games are played, for each case of the engine, for all of the other", 10.0)
    workers: list[int] = key("suites orchestrator and scale: a case each, with so many workers", factory=lambda: [1, 2])
    parts: list[str] = key(
        "suite=scale: what of it, of components, whole, nodes and simulated", factory=lambda: list(_SCALE)
    )
    games: int = key("suite=scale: how many games whole runs have, and are measured of components", 20_000)
    every: float = key("suite=scale: seconds between two looks at a whole run", 5.0)
    nodes: list[int] = key("suite=scale: a case each, with so many Ray nodes", factory=lambda: [1, 2, 4, 8])
    simulated: list[int] = key("suite=scale: a case each, with so many simulated workers", factory=lambda: [64, 256])
    game_seconds: float = key("suite=scale: how long a game of simulated workers takes", 0.1)
    seed: int = key("what the seeds of all games are derived from", 0)


@job("bench", BenchJob, refusals=(TournamentRefused,))
def main(config: BenchJob) -> int:
    """Measure by random play, and print one JSON object a line and nothing else.

    An object has suite, case, metric, value and unit. Suite engine: a case is a deck; times are processor time. Suite
    orchestrator: a case is a number of workers, or "bare" for one process without Ray, journal and files. Suite search:
    a case is a search agent of conf/agent and a deck; it plays against the heuristic. Suite llm: see jobs/bench_llm.py.
    Suite scale: see jobs/bench_scale.py (components), bench_whole.py and bench_cluster.py (nodes and simulated).
    """
    if not 0 < config.seconds < math.inf:
        raise ConfigError(f"seconds: must be a number above 0, not {config.seconds}")
    suites = {"engine": _engine, "orchestrator": _orchestrator, "scale": _scale, "search": _search, "llm": _llm}
    suite = suites[config.suite]
    for line in suite(config, _decks(config)):
        print(json.dumps(line), flush=True)
    return ExitCode.COMPLETE


def _game(config: BenchJob) -> str:
    return config.game or ("standin" if config.suite == "scale" else "ptcg")


def _decks(config: BenchJob) -> list[Deck]:
    """The decks that are played, tried out. A game without cards has none."""
    decks = [read_deck(entry) for entry in config.decks] if _game(config) == "ptcg" else []
    if _game(config) == "ptcg" and not decks:
        raise ConfigError("decks: at least one must be given")
    for deck in decks or [Deck("")]:
        try:
            new_match(MatchSpec(_game(config), config.seed, (deck.cards, deck.cards), config.options))
        except (ValueError, TypeError) as error:
            raise ConfigError(f"options: {error}") from error
    return decks


def _engine(config: BenchJob, decks: list[Deck]) -> Iterator[Mapping[str, Any]]:
    for deck in decks or [Deck(_game(config))]:
        spec = MatchSpec(_game(config), config.seed, (deck.cards, deck.cards), config.options)
        yield from bench_engine.lines(deck.name, spec, config.seconds)


def _search(config: BenchJob, decks: list[Deck]) -> Iterator[Mapping[str, Any]]:
    if not decks:
        raise ConfigError("game: search agents play ptcg only")
    for name in ("search_fast", "search_strong"):
        agent = OmegaConf.to_container(OmegaConf.load(OURS / "agent" / f"{name}.yaml"))
        assert isinstance(agent, dict)
        for deck in decks:
            spec = MatchSpec(_game(config), config.seed, (deck.cards, deck.cards), config.options)
            yield from bench_search.lines(name, {str(k): v for k, v in agent.items()}, deck.name, spec, config.seconds)


def _llm(config: BenchJob, decks: list[Deck]) -> Iterator[Mapping[str, Any]]:
    if not decks:
        raise ConfigError("game: LLM agents play ptcg only")
    yield from bench_llm.lines(decks, config.seed, config.seconds)


def _orchestrator(config: BenchJob, decks: list[Deck]) -> Iterator[Mapping[str, Any]]:
    _check_counts("workers", config.workers)
    yield from bench_orchestrator.lines(_tournament(config, decks), config.seconds, config.workers)


def _scale(config: BenchJob, decks: list[Deck]) -> Iterator[Mapping[str, Any]]:
    for name, counts in (("workers", config.workers), ("nodes", config.nodes), ("simulated", config.simulated)):
        _check_counts(name, counts)
    if unknown := set(config.parts).difference(_SCALE):
        raise ConfigError(f"parts: {sorted(unknown)[0]!r} is not one of {', '.join(_SCALE)}")
    if config.games < 2:
        raise ConfigError(f"games: a number from 2, not {config.games}")
    for path, value in (("every", config.every), ("game_seconds", config.game_seconds)):
        if not 0 < value < math.inf:
            raise ConfigError(f"{path}: must be a number above 0, not {value}")
    tournament = _tournament(config, decks)
    if _game(config) == "standin" and not config.options:
        # The shortest game there is with a decision.
        tournament = replace(tournament, options={"turns": 1, "choices": 2})
    if "components" in config.parts:
        yield from bench_scale.lines(tournament, config.games)
    if "whole" in config.parts:
        for workers in config.workers:
            yield from bench_whole.lines(tournament, config.games, workers, config.every)
    if "nodes" in config.parts:
        for nodes in config.nodes:
            yield from bench_cluster.node_lines(tournament, config.games, nodes)
    if "simulated" in config.parts:
        for workers in config.simulated:
            yield from bench_cluster.simulated_lines(tournament, config.seconds, config.game_seconds, workers)


def _check_counts(path: str, counts: list[int]) -> None:
    if not counts or min(counts) < 1:
        raise ConfigError(f"{path}: numbers from 1, as in {path}=[1,2], not {counts}")


def _tournament(config: BenchJob, decks: list[Deck]) -> TournamentConfig:
    return TournamentConfig(
        run="bench",
        entrants=(Entrant("random_1", {"kind": "random"}), Entrant("random_2", {"kind": "random"})),
        decks=tuple(decks),
        seed=config.seed,
        game=_game(config),
        options=config.options,
    )


if __name__ == "__main__":
    sys.exit(main())
