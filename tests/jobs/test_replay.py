"""Recorded games are played again and held against what is recorded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest
from ptcg_play import actor, keys, pokemon, position, side

from agents.base import Decision
from engine.match import Action, Match, Observation, action_with_key
from engine.ptcg.decks import parse_deck
from engine.registry import game_version
from engine.replay import Step
from jobs.replay import GameText, main
from orchestrator.config import Deck, Entrant, TournamentConfig
from orchestrator.identity import identity_of
from orchestrator.play import GameFailure, Playthrough, Setup, build, finished_row, play_now, void_row
from orchestrator.schedule import Schedule
from results import Run
from results.manifest import Manifest
from results.schema import Cause, table_from_rows

CONF = Path(__file__).resolve().parents[2] / "conf"
OPTIONS = {"turns": [3, 6], "forced_every": 2, "attempt": 1}


def standin(options: dict[str, Any]) -> TournamentConfig:
    """Eight stand-in games between an agent that draws lots and one that does not."""
    return TournamentConfig(
        "r",
        (Entrant("ann", {"kind": "random"}), Entrant("bob", {"kind": "scripted", "policy": "last"})),
        (Deck("some", {"A-1": 60}), Deck("other", {"B-2": 60})),
        seed=5,
        game="standin",
        options=options,
        games_per_pair=4,
    )


def cards() -> TournamentConfig:
    """Two card games between two agents that draw lots."""
    deck = parse_deck((CONF / "deck" / "miraidon_ex.txt").read_text(encoding="utf-8"))
    entrants = tuple(Entrant(name, {"kind": "random"}) for name in ("ann", "bob"))
    return TournamentConfig("r", entrants, (Deck("miraidon_ex", deck),), seed=5)


def played(root: Path, config: TournamentConfig, spoil: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Play ``config`` as a run in ``root``; returns its rows, in which ``spoil`` replaces columns."""
    schedule, setup, rows = Schedule(config), Setup.of(config), []
    for scheduled in schedule:
        match, agents = build(setup, scheduled, 1)
        game = Playthrough()
        play_now(match, agents, scheduled.entrants, 60.0, game)
        row = finished_row(setup, scheduled, 1, match, agents, game)
        rows.append({**row, **(spoil or {})})
    manifest = Manifest("r", identity_of(config), schedule.digest(), f"{config.game} {game_version(config.game)}")
    run = Run.create(root / "r", manifest)
    void = void_row(setup, schedule.game_at(0), 1, GameFailure(Cause.WORKER_CRASH, "gone"))
    run.write_part("games", table_from_rows("games", [*rows, {**void, "game_id": "gvoid"}]), "part")
    return rows


def replayed(capsys: pytest.CaptureFixture[str], root: Path, *argv: str) -> tuple[int, list[str], list[str]]:
    code = main([f"storage.root={root}", "run=r", *argv])
    out, err = capsys.readouterr()
    return code, out.splitlines(), err.splitlines()


@pytest.mark.parametrize("simultaneous", [False, True])
def test_every_game_ends_as_recorded(capsys: pytest.CaptureFixture[str], tmp_path: Path, simultaneous: bool) -> None:
    for row in played(tmp_path, standin({**OPTIONS, "simultaneous": simultaneous})):
        code, out, err = replayed(capsys, tmp_path, f"game={row['game_id']}")
        assert (code, err) == (0, [])
        assert out[0].startswith(f"game {row['game_id']}: ")
        assert out[-1].startswith("ends as recorded: ")
        sentences = [line for line in out if "Take the offer" in line]
        forced = [line for line in sentences if line.endswith("(forced)")]
        assert len(sentences) - len(forced) == len(row["actions"])
        assert forced
        if row["winner"]:
            assert row["winner"] in out[-1]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ({"final_digest": "0" * 24}, "final_digest"),
        ({"turns": 99}, "turns"),
        ({"outcome": "draw", "winner": None, "winner_seat": None, "cause": "draw"}, "outcome"),
        ({"actions": ["0 take:99"]}, "action 0"),
        ({"actions": ["take"]}, "action 0"),
        ({"actions": []}, "not over"),
    ],
)
def test_a_game_that_ends_otherwise_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, spoil: dict[str, Any], said: str
) -> None:
    row = next(row for row in played(tmp_path, standin(OPTIONS), spoil))
    code, _, err = replayed(capsys, tmp_path, f"game={row['game_id']}")
    assert code == 1
    assert any(said in line for line in err)


def test_actions_beyond_the_end_are_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    row = played(tmp_path, standin(OPTIONS))[0]
    run = Run.open(tmp_path / "r")
    longer = {**row, "game_id": "glonger", "actions": [*row["actions"], row["actions"][0]]}
    run.write_part("games", table_from_rows("games", [longer]), "longer")
    code, _, err = replayed(capsys, tmp_path, "game=glonger")
    assert code == 1
    assert f"action {len(row['actions'])}" in err[0]


def test_the_replay_file_holds_the_whole_game(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    row = played(tmp_path, standin(OPTIONS))[0]
    file = tmp_path / "game.json"
    code, _, _ = replayed(capsys, tmp_path, f"game={row['game_id']}", f"out={file}")
    assert code == 0
    replay = json.loads(file.read_text(encoding="utf-8"))
    assert (replay["format"], replay["game_id"]) == ("prizefight-replay", row["game_id"])
    assert replay["entrants"] == [row["entrant_0"], row["entrant_1"]]
    assert replay["spec"]["seed"] == row["seed"]
    assert [set(deck) for deck in replay["spec"]["decks"]] == [
        {{"some": "A-1", "other": "B-2"}[row[f"deck_{seat}"]]} for seat in (0, 1)
    ]
    chosen = [f"{step['seat']} {step['action']['key']}" for step in replay["steps"] if not step["forced"]]
    assert chosen == replay["recorded"] == row["actions"]
    assert [step["turn"] for step in replay["steps"]] == list(range(1, row["turns"] + 1))
    for moment in [replay["start"], *replay["steps"]]:
        assert [view["seat"] for view in moment["views"]] == [0, 1]
    # The stand-in game is over when nothing more is on offer, and its scores say who won.
    first, second = replay["steps"][-1]["views"][0]["scores"]
    winner = None if first == second else int(second > first)
    assert replay["result"]["winner"] == winner == row["winner_seat"]
    assert replay["digest"] == row["final_digest"]


def test_a_card_game_is_told_with_its_events(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for row in played(tmp_path, cards()):
        file = tmp_path / f"{row['game_id']}.json"
        code, out, err = replayed(capsys, tmp_path, f"game={row['game_id']}", f"out={file}")
        assert (code, err) == (0, [])
        told = [line.strip() for line in out]
        # Seven cards a player, more after a mulligan; what was drawn is told, as the game is over.
        assert sum(line.startswith("draw (") and "count 7 cards" in line for line in told) >= 2
        turns = [line for line in told if line.startswith("turn (")]
        # A Sudden Death game would begin with turn 1 again.
        assert len(turns) == row["turns"]
        assert any(line.startswith("end (") and f"cause {row['cause']}" in line for line in told)
        replay = json.loads(file.read_text(encoding="utf-8"))
        moments = [replay["start"], *replay["steps"]]
        drawn = [[event for moment in moments for event in moment["events"][seat]] for seat in (0, 1)]
        assert len(drawn[0]) == len(drawn[1])
        for seat in (0, 1):
            for event in drawn[seat]:
                if event["event"] == "draw":
                    assert ("cards" in event) == (event["seat"] == seat)

        code, out, _ = replayed(capsys, tmp_path, f"game={row['game_id']}", "events=false")
        assert code == 0
        assert not any(line.startswith("    ") for line in out)


def test_what_happens_stands_below_the_heading_of_its_turn(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    row = played(tmp_path, cards())[0]
    _, out, _ = replayed(capsys, tmp_path, f"game={row['game_id']}")
    assert out[1] == "set-up"
    headings = [number for number, line in enumerate(out) if line.startswith("turn ")]
    assert [out[number] for number in headings] == [f"turn {turn}" for turn in range(1, row["turns"] + 1)]
    begins = [number for number, line in enumerate(out) if line.startswith("    turn (")]
    assert begins == [number + 1 for number in headings]
    for number in headings[1:]:
        whose = out[number + 1].split()[1]
        assert out[number + 2].startswith(f"    draw {whose} count 1 ") or out[number + 2].startswith("    end ")

    _, without, _ = replayed(capsys, tmp_path, f"game={row['game_id']}", "events=false")
    assert without == [line for line in out if not line.startswith("    ")]


@pytest.mark.parametrize("events", [True, False])
def test_the_turns_of_a_sudden_death_come_after_those_before_it(
    events: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    sick = side(pokemon("CRZ-111", damage=50, conditions=["poisoned"]), deck=["PAF-7"] * 20)
    match = position(sick, sick)
    text, seen = GameText(("ann", "bob"), events=events), [0, 0]

    def play(key: str) -> None:
        turn, seat = match.turn, actor(match)
        action = action_with_key(match, seat, key)
        match.apply(seat, action)
        came = tuple(match.events(each, seen[each]) for each in (0, 1))
        for each in (0, 1):
            seen[each] += len(came[each])
        text.played(Step(turn, seat, action, False, (came[0], came[1])))

    play("pass")
    play("choose:go first")
    while match.turn == 5:
        play("done" if "done" in keys(match) else keys(match)[0])
    play("pass")
    out = capsys.readouterr().out.splitlines()
    # The position is one of turn 5; another set-up and two turns follow.
    assert [line for line in out if not line.startswith(" ")] == ["turn 5", "set-up", "turn 6", "turn 7"]
    assert out[out.index("set-up") - 1].startswith("    sudden death" if events else "  ann: ")
    assert any("Choose: go first." in line for line in out[out.index("set-up") : out.index("turn 6")])


class Foreseeing:
    """Draws lots, and plays with its choice whatever is forced after it, as if it picked several things at once."""

    reads_observation: ClassVar[bool] = False
    waits: ClassVar[bool] = False

    def __init__(self, match: Match, seed: int) -> None:
        self.match = match
        self.rng = Random(seed)
        self.forced = 0

    async def act(self, observation: Observation, legal: Sequence[Action]) -> Decision:
        actions = [self.rng.choice(legal)]
        ahead = self.match.clone()
        seat = ahead.seats_to_act()[0]
        ahead.apply(seat, actions[0])
        while ahead.seats_to_act() == (seat,) and len(ahead.legal_actions(seat)) == 1:
            actions += ahead.legal_actions(seat)
            ahead.apply(seat, actions[-1])
            self.forced += 1
        return Decision(tuple(actions))


def test_decisions_of_several_picks_are_replayed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = cards()
    schedule, setup = Schedule(config), Setup.of(config)
    game, scheduled = Playthrough(), schedule.game_at(0)
    match, _ = build(setup, scheduled, 1)
    agents = (Foreseeing(match, 1), Foreseeing(match, 2))
    play_now(match, agents, scheduled.entrants, 60.0, game)
    assert agents[0].forced + agents[1].forced > 0
    row = finished_row(setup, scheduled, 1, match, agents, game)
    run = Run.create(tmp_path / "r", Manifest("r", identity_of(config), schedule.digest(), "ptcg"))
    run.write_part("games", table_from_rows("games", [row]), "part")
    code, out, err = replayed(capsys, tmp_path, f"game={row['game_id']}")
    assert (code, err) == (0, [])
    assert out[-1].startswith("ends as recorded")


class Resigning:
    """Plays the first action twice and then gives up."""

    reads_observation = False
    waits = False

    def __init__(self) -> None:
        self.asked = 0

    async def act(self, observation: Observation, legal: Sequence[Action]) -> Decision:
        self.asked += 1
        return Decision((), forfeit=True) if self.asked == 3 else Decision((legal[0],))


def test_a_game_that_was_given_up_is_replayed_to_where_it_was(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = cards()
    schedule, setup = Schedule(config), Setup.of(config)
    game, scheduled = Playthrough(), schedule.game_at(0)
    match, _ = build(setup, scheduled, 1)
    agents = (Resigning(), Resigning())
    play_now(match, agents, scheduled.entrants, 60.0, game)
    row = finished_row(setup, scheduled, 1, match, agents, game)
    run = Run.create(tmp_path / "r", Manifest("r", identity_of(config), schedule.digest(), "ptcg"))
    run.write_part("games", table_from_rows("games", [row]), "part")
    code, out, err = replayed(capsys, tmp_path, f"game={row['game_id']}")
    assert (code, err) == (0, [])
    assert " by forfeit " in out[-1]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("game=gnone",), "no game 'gnone' in the run; it has 9 games, such as g"),
        (("game=gvoid",), "worker_crash: gone"),
        (("game=x", "run=s"), "no run 's'"),
        ((), "game="),
    ],
)
def test_what_cannot_be_replayed_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, argv: tuple[str, ...], said: str
) -> None:
    played(tmp_path, standin(OPTIONS))
    code, out, err = replayed(capsys, tmp_path, *argv)
    assert (code, out, len(err)) == (2, [], 1)
    assert said in err[0]


def test_a_torn_part_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    played(tmp_path, standin(OPTIONS))
    (tmp_path / "r" / "games" / "torn.parquet").write_bytes(b"PAR1")
    code, _, err = replayed(capsys, tmp_path, "game=gnone")
    assert (code, len(err)) == (2, 1)
    assert "torn.parquet" in err[0]
