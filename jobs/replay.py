"""Play a recorded game again: ``python -m jobs.replay run=first game=g0123…``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from engine.match import SEATS, Cause, MatchSpec
from engine.registry import game_version
from engine.replay import Events, Replay, ReplayError, Step, replay_json, result_json
from jobs.config import ConfigError, ExitCode, group, job, key
from jobs.output import OutputFile
from jobs.schemas import Storage
from results import Run, StorageError

_SHOWN_IDS = 3


@dataclass
class ReplayJob:
    """All keys of the job."""

    run: str = key("the run, a folder below storage.root", name=True)
    game: str = key("the game's id, the column game_id of games/*.parquet")
    events: bool = key("print what happened beside what was played", True)
    out: str | None = key("also write the game as a replay file (JSON, see docs/replay.md) to this path", None)
    storage: Storage = group(Storage, "where runs are kept", "local")


@job("replay", ReplayJob, refusals=(StorageError,))
def main(config: ReplayJob) -> int:
    """Play a recorded game again as text and check that it ends as recorded; exit code 1 where it does not."""
    run = Run.named(config.storage.root, config.run)
    row = game_row(run, config.game)
    if row["actions"] is None:
        raise ConfigError(
            f"game {config.game} is void ({row['cause']}: {row['void_detail']}); it has no actions to replay"
        )
    spec = match_spec(run, row)
    out = None if config.out is None else OutputFile(config.out)
    try:
        differences = _show(spec, row, events=config.events)
        if out is not None:
            content = {"game_id": row["game_id"], **_names(row), **replay_json(spec, row["actions"])}
            out.write(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n")
    except ReplayError as error:
        differences = [str(error)]
    for difference in differences:
        print(f"jobs.replay: not as recorded: {difference}", file=sys.stderr)
    recorded_by, played_by = run.manifest.engine_version, f"{spec.game} {game_version(spec.game)}"
    if differences and recorded_by != played_by:
        print(f"jobs.replay: recorded by engine {recorded_by}, played again by {played_by}", file=sys.stderr)
    return ExitCode.FAULT if differences else ExitCode.COMPLETE


def game_row(run: Run, game_id: str) -> dict[str, Any]:
    """The row of the game ``game_id``. Raises :class:`ConfigError` that shows some ids where there is no such game."""
    some: list[str] = []
    total = 0
    for part in run.parts("games"):
        total += part.num_rows
        some += part["game_id"].slice(0, _SHOWN_IDS).to_pylist()
        found = part.filter(pc.equal(part["game_id"], game_id))
        if found.num_rows:
            row: dict[str, Any] = found.to_pylist()[0]
            return row
    shown = f", such as {', '.join(some[:_SHOWN_IDS])}" if some else ""
    raise ConfigError(f"game: no game {game_id!r} in the run; it has {total} games{shown}")


def match_spec(run: Run, row: Mapping[str, Any]) -> MatchSpec:
    """The spec of the match that ``row`` recorded, from the identity of its run."""
    identity = run.manifest.identity
    decks = identity["decks"]
    options = dict(identity["options"])
    if "attempt" in options:
        options["attempt"] = row["attempt"]
    first, second = (decks.get(row[f"deck_{seat}"], {}) for seat in SEATS)
    return MatchSpec(row["game"], row["seed"], (first, second), options)


def _names(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "entrants": [row[f"entrant_{seat}"] for seat in SEATS],
        "deck_names": [row[f"deck_{seat}"] for seat in SEATS],
    }


def _show(spec: MatchSpec, row: Mapping[str, Any], *, events: bool) -> list[str]:
    """Print the game as text while it is played; returns how its end differs from what is recorded."""
    names = [row[f"entrant_{seat}"] for seat in SEATS]
    players = " against ".join(
        f"{names[seat]} (seat {seat}{', ' + row[f'deck_{seat}'] if row[f'deck_{seat}'] else ''})" for seat in SEATS
    )
    print(f"game {row['game_id']}: {players}, seed {row['seed']}")
    replay = Replay(spec, row["actions"])
    text = GameText(names, events=events)
    text.happened(replay.start_events)
    for step in replay:
        text.played(step)
    differences = _differences(replay, row)
    print(f"ends {'otherwise than' if differences else 'as'} recorded: {_ending(row, names)}")
    return differences


class GameText:
    """Prints a game step by step, all that is of one turn below the heading of that turn."""

    def __init__(self, names: Sequence[str], *, events: bool) -> None:
        self._names = names
        self._events = events
        self._turn: int | None = None
        self._turns_before = 0
        """Turns before a Sudden Death, whose events count from 1 again."""

    def played(self, step: Step) -> None:
        """Print what was played and what came of it."""
        self._enter(step.turn)
        print(f"  {self._names[step.seat]}: {step.action.sentence}{' (forced)' if step.forced else ''}")
        self.happened(step.events)

    def happened(self, events: Events) -> None:
        """Print every event as the player sees whose it is: the game is over and there is nobody to hide from.

        Without events only the headings are printed to which they give rise.
        """
        for of_seat in zip(*events, strict=True):
            event = of_seat[1 if of_seat[0].get("seat") == 1 else 0]
            turn = self._turn or 0
            # The action that ends a turn also begins the next one, with its draw.
            self._enter(self._turns_before + event["turn"] if event.get("event") == "turn" else turn)
            if self._events:
                print(f"    {event_text(event, self._names)}")
            if event.get("event") == "sudden_death":
                self._turns_before = turn
                print("set-up")

    def _enter(self, turn: int) -> None:
        """What follows happens in ``turn``; 0 is set-up."""
        if turn != self._turn:
            self._turn = turn
            print(f"turn {turn}" if turn else "set-up")


def event_text(event: Mapping[str, Any], names: Sequence[str]) -> str:
    """One event in a line: its kind, whose it is, and all else that it holds."""
    rest = {name: value for name, value in event.items() if name not in ("event", "seat")}
    words = [str(event.get("event", "event")).replace("_", " ")]
    if event.get("seat") in SEATS:
        words.append(f"({names[event['seat']]})")
    words += [f"{name} {_plain(value)}" for name, value in rest.items()]
    return " ".join(words)


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_plain, value)) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _ending(row: Mapping[str, Any], names: Sequence[str]) -> str:
    seat = row["winner_seat"]
    who = f"{names[seat]} (seat {seat}) wins" if seat is not None else str(row["outcome"]).replace("_", " ")
    decisions = sum(row[f"decisions_{seat}"] for seat in SEATS)
    return f"{who} by {row['cause']} after {row['turns']} turns and {decisions} decisions"


def _differences(replay: Replay, row: Mapping[str, Any]) -> list[str]:
    """How the end of the game differs from what ``row`` says."""
    result = result_json(replay.match.result) or {"outcome": "not over", "winner": None, "cause": None}
    if row["cause"] == Cause.FORFEIT and replay.match.result is None:
        # A game that was given up is over, though the match is not: who gave it up is on record only.
        result = {"outcome": str(row["outcome"]), "winner": row["winner_seat"], "cause": str(row["cause"])}
    found = {
        "outcome": (result["outcome"], row["outcome"]),
        "winner_seat": (result["winner"], row["winner_seat"]),
        "cause": (result["cause"], row["cause"]),
        "turns": (replay.match.turn, row["turns"]),
        "final_digest": (replay.match.digest(), row["final_digest"]),
    }
    return [f"{name} is {now}, recorded is {then}" for name, (now, then) in found.items() if now != then]


if __name__ == "__main__":
    sys.exit(main())
