"""``jobs.bench`` prints one JSON object a line and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jobs.bench import main

ENGINE_METRICS = {
    "games_per_s": "1/s",
    "us_per_game": "us",
    "us_per_decision": "us",
    "decisions_per_game": "decisions",
    "us_observe": "us",
    "us_clone": "us",
    "state_kb": "kB",
}


def lines(text: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in text.splitlines()]
    for line in found:
        assert list(line) == ["suite", "case", "metric", "value", "unit"]
        assert line["value"] > 0
    return found


def test_engine(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["suite=engine", "game=standin", "seconds=0.02", "options={turns: 8, forced_every: 4}"]
    assert main(argv) == 0
    found = lines(capsys.readouterr().out)
    assert {line["metric"]: line["unit"] for line in found} == ENGINE_METRICS
    assert {(line["suite"], line["case"]) for line in found} == {("engine", "standin")}
    value = {line["metric"]: line["value"] for line in found}
    # Eight turns of which two are forced.
    assert value["decisions_per_game"] == 6
    assert value["us_per_game"] == pytest.approx(6 * value["us_per_decision"], rel=1e-3)
    assert value["us_per_game"] == pytest.approx(1e6 / value["games_per_s"], rel=1e-3)


def test_every_deck_is_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite=engine", "seconds=0.01"]) == 0
    found = lines(capsys.readouterr().out)
    folder = Path(__file__).resolve().parents[2] / "conf" / "deck"
    assert {line["case"] for line in found} == {file.stem for file in folder.glob("*.txt")}
    for case in {line["case"] for line in found}:
        metrics = {line["metric"] for line in found if line["case"] == case}
        assert metrics == {*ENGINE_METRICS, "us_clone_mid_effect"}


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "suite="),
        (["suite=all"], "one of engine, orchestrator"),
        (["suite=engine", "seconds=0"], "seconds"),
        (["suite=engine", "decks=[]"], "decks"),
        (["suite=engine", "game=standin", "options.choice=1"], "unknown option"),
        (["suite=orchestrator", "game=standin", "workers=[0]"], "workers"),
        (["suite=scale", "simulated=[]"], "simulated"),
        (["suite=scale", "parts=[all]"], "'all' is not one of components, whole, nodes, simulated"),
        (["suite=scale", "games=1"], "games"),
    ],
)
def test_what_cannot_be_measured_is_refused(capsys: pytest.CaptureFixture[str], argv: list[str], said: str) -> None:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert said in err


def test_search(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite=search", "decks=[miraidon_ex]", "seconds=0.1"]) == 0
    found = lines(capsys.readouterr().out)
    assert {line["case"] for line in found} == {"search_fast miraidon_ex", "search_strong miraidon_ex"}
    assert {line["metric"]: line["unit"] for line in found} == {
        "ms_per_decision": "ms",
        "ms_longest_decision": "ms",
        "rollouts_per_decision": "rollouts",
        "rollouts_per_s": "1/s",
    }


def test_search_plays_cards_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite=search", "game=standin"]) == 2
    assert "search agents play ptcg only" in capsys.readouterr().err


def test_each_part_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite=scale", "parts=[components]", "games=400"]) == 0
    found = lines(capsys.readouterr().out)
    value = {(line["case"], line["metric"]): line["value"] for line in found}
    for case in ("scheduler", "scheduler, all finished", "journal", "parts", "limiter"):
        assert value[case, "games_per_s"] == pytest.approx(1e6 / value[case, "cpu_us_per_game"], rel=1e-3)
    # A game of the limiter has a hundred calls.
    assert value["limiter", "cpu_us_per_game"] == pytest.approx(100 * value["limiter", "cpu_us_per_call"], rel=1e-3)
    assert {case for case, metric in value if metric == "cpu_us_per_report"} == {
        "keeper, 2 workers",
        "keeper, 64 workers",
        "keeper, 1000 workers",
    }
    assert value["parts", "files"] == 1
