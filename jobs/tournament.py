"""Play a tournament: ``python -m jobs.tournament 'agents=[random,heuristic]' 'decks=[charizard_ex]' run=first``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orchestrator.config as plain
from agents.factory import make_agent
from engine.match import MatchSpec
from engine.registry import game_names, new_match
from jobs.aggregate import aggregated, check_ratings, standings
from jobs.config import ConfigError, ExitCode, group, job, key
from jobs.dry_run import lines as llm_lines
from jobs.leaving import leave
from jobs.run_status import show, stop
from jobs.schemas import Budget, Cluster, Limits, Ratings, Storage
from orchestrator import ConfigError as TournamentRefused
from orchestrator import run_tournament
from orchestrator.config import Deck, DeckPairing, Entrant, Report, TournamentConfig
from orchestrator.halt import RunHalted
from orchestrator.schedule import Schedule, check_balance
from orchestrator.tournament import check_settings
from results import Run, StorageError
from results.location import Location, StorageUnreachable, first_line


@dataclass
class Tournament:
    """What is played."""

    games_per_pair: int = key("games per pair of agents and deck; even: both seatings of every seed", 20)
    decks: str = key("which decks meet: each itself only, or every pair", "mirror", choices=tuple(DeckPairing))


@dataclass
class TournamentJob:
    """All keys of the job."""

    run: str = key("the run's name, a folder below storage.root; the same name goes on with it", name=True)
    agents: Any = key("the agents that play, such as [random,heuristic]", factory=list, files="agent")
    decks: list[Any] = key("the decks that are played, such as [charizard_ex]", factory=list, files="deck")
    seed: int = key("what the seeds of all games and agents are derived from", 0)
    game: str = key("the game that is played", "ptcg", choices=game_names())
    options: dict[str, Any] = key("the game's own settings", factory=dict)
    extend: bool = key("allow this start to add agents, decks or games to the run", False)
    action: str = key(
        "play; or, of a run that is being played elsewhere: tell its status, or stop it",
        "play",
        choices=("play", "status", "stop"),
    )
    dry_run: bool = key("print the size of the schedule and what LLM calls would take, and start nothing", False)
    tournament: Tournament = group(Tournament, "what is played", "round_robin")
    limits: Limits = group(Limits, "how long and how often a game is tried")
    budget: Budget = group(Budget, "what the run may cost")
    ratings: Ratings = group(Ratings, "how ratings are computed")
    cluster: Cluster = group(Cluster, "where games are played", "local")
    storage: Storage = group(Storage, "where runs are kept", "local")


@job("tournament", TournamentJob, config="config", groups=("experiment",), refusals=(TournamentRefused, StorageError))
def main(config: TournamentJob) -> int:
    """Play a tournament, rate the agents and print the leaderboard.

    The same command again goes on where a killed or stopped run was.
    """
    if config.action == "status":
        return show(config.storage.root, config.run)
    if config.action == "stop":
        return stop(config.storage.root, config.run, config.limits.drain_seconds)
    tournament, schedule = checked(config)
    if config.dry_run:
        check_settings(tournament, schedule)
        Location.parse(config.storage.root)
        print("\n".join([size(tournament, schedule), *llm_lines(tournament)]))
        return ExitCode.COMPLETE
    try:
        return play(config, tournament)
    except KeyboardInterrupt:
        # The second Ctrl-C. There is something to resume, so that this is no plain interruption.
        print(
            "jobs.tournament: stopped at once; what was played is kept, and the same command goes on", file=sys.stderr
        )
        return ExitCode.INCOMPLETE


def checked(config: TournamentJob) -> tuple[TournamentConfig, Schedule]:
    """The tournament that ``config`` describes and its schedule. Raises :class:`ConfigError`."""
    tournament = resolved(config)
    schedule = Schedule(tournament)
    check_balance(schedule)
    check_ratings(config.ratings)
    return tournament, schedule


def play(config: TournamentJob, tournament: TournamentConfig) -> int:
    """Play ``tournament``, rate the agents, print the leaderboard, and return the exit code."""
    try:
        report = run_tournament(tournament)
    except RunHalted as error:
        print(f"jobs.tournament: {error}", file=sys.stderr)
        return ExitCode.INCOMPLETE
    if report.unwritten is not None:
        played = f"{report.done} of {report.total} games are played"
        print(f"jobs.tournament: {played}, but not all are stored: {report.unwritten}", file=sys.stderr)
        return report.exit_code
    try:
        run = Run.named(config.storage.root, config.run)
        found = aggregated(run, config.ratings)
        found.write(run)
    except (StorageUnreachable, OSError) as error:
        not_rated = f"all games are kept, but not rated: {first_line(error)}"
        print(f"jobs.tournament: {not_rated}; once this is mended the same command rates them", file=sys.stderr)
        return ExitCode.INCOMPLETE
    except StorageError as error:
        print(f"jobs.tournament: all games are kept, but not rated: {error}", file=sys.stderr)
        return ExitCode.FAULT
    print(standings(found))
    print()
    print(summary(report))
    return report.exit_code


def resolved(config: TournamentJob) -> TournamentConfig:
    """The tournament that ``config`` describes, complete in itself. Raises :class:`ConfigError`."""
    if not config.agents:
        raise ConfigError("agents: must be given, as in agents=[random,heuristic]; see --help for all")
    decks = tuple(read_deck(entry) for entry in config.decks)
    if config.game == "ptcg" and not decks:
        raise ConfigError("decks: must be given, as in decks=[charizard_ex]; see --help for all")
    entrants = tuple(_entrant(entry) for entry in config.agents)
    for deck in decks or (Deck(""),):
        _try_match(MatchSpec(config.game, config.seed, (deck.cards, deck.cards), config.options))
    cluster = asdict(config.cluster)
    if cluster["workers"] is None and config.cluster.address is None:
        cluster["workers"] = len(os.sched_getaffinity(0))
    return TournamentConfig(
        run=config.run,
        entrants=entrants,
        decks=decks,
        seed=config.seed,
        game=config.game,
        options=config.options,
        deck_pairing=DeckPairing(config.tournament.decks),
        games_per_pair=config.tournament.games_per_pair,
        extend=config.extend,
        limits=plain.LimitsConfig(**asdict(config.limits)),
        budget=plain.BudgetConfig(**asdict(config.budget)),
        cluster=plain.ClusterConfig(**cluster),
        storage=plain.StorageConfig(**asdict(config.storage)),
    )


def read_deck(entry: Mapping[str, str]) -> Deck:
    """The deck of an entry of ``decks``. Raises :class:`ConfigError` with file, line and reason for a bad list."""
    # Only here, as a stand-in tournament needs no cards.
    from engine.ptcg.decks import parse_deck

    try:
        return Deck(entry["name"], parse_deck(entry["text"]))
    except ValueError as error:
        raise ConfigError(f"{entry['file']}: {error}") from error


def _entrant(entry: Mapping[str, Any]) -> Entrant:
    settings = {name: value for name, value in entry.items() if name != "name"}
    try:
        make_agent(settings, 0, 0)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"agents: {entry['name']}: {error}") from error
    return Entrant(entry["name"], settings)


def _try_match(spec: MatchSpec) -> None:
    try:
        new_match(spec)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"options: {error}") from error


def size(tournament: TournamentConfig, schedule: Schedule) -> str:
    """What would be played, in lines for people."""
    rows = [
        ("games", str(len(schedule))),
        ("agents", _counted([entrant.name for entrant in tournament.entrants])),
        ("pairs of agents", str(schedule.pairs)),
        ("decks", _counted([deck.name for deck in tournament.decks])),
        ("pairs of decks", f"{len(schedule.deck_pairs)} ({tournament.deck_pairing})"),
        ("games per pair", f"{tournament.games_per_pair} ({schedule.twins} seeds, both seatings of each)"),
        ("games per cycle", f"{schedule.cycle_games} (one twin of every pair on every deck: a rating period)"),
        ("workers", str(tournament.cluster.workers or "one for each processor of the cluster")),
    ]
    lines = [f"{name + ':':<17}{value}" for name, value in rows]
    return "\n".join([f"dry run of {tournament.run!r}: nothing is started", *lines])


def _counted(names: Sequence[str]) -> str:
    return f"{len(names)} ({', '.join(names)})" if names else "none"


def summary(report: Report) -> str:
    """How the run stands and where its files are."""
    done = (
        f"{report.done} of {report.total} games, {report.void} void; {report.played} played in {report.seconds:.1f} s"
    )
    state = "complete" if report.complete else "not complete, the same command goes on"
    paused = "".join(f"{line}\n" for line in (*report.taken_out, *report.paused))
    return (
        f"{paused}{state}: {done}\n"
        f"files: {report.run_path}: games/*.parquet, ratings.parquet, win_rates.parquet (and .csv), agents.parquet"
    )


if __name__ == "__main__":
    leave(main())
