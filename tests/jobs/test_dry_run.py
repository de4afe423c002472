"""What a dry run says about LLM calls."""

from __future__ import annotations

import pytest

from jobs.dry_run import alike_at_first
from jobs.tournament import main


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    monkeypatch.setenv("LOOPBACK_URL", "http://127.0.0.1:1/v1")


def rows(out: str) -> dict[str, list[str]]:
    """The table of LLM agents, by agent."""
    lines = out.split("LLM agent")[1].splitlines()[1:]
    return {words[0]: words[1:] for words in map(str.split, lines) if len(words) == 8 and words[6] == "to"}


def number(text: str) -> float:
    return float(text.replace(",", ""))


def test_ten_profiles_random_and_heuristic_are_1320_games_at_20_a_pair(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment=loopback", "options.turn_cap=6", "dry_run=true"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].split() == ["games:", "1320"]
    found = rows(out)
    assert len(found) == 11
    # Eleven opponents, 20 games with each.
    assert {row[0] for name, row in found.items() if name != "all"} == {"220"}
    together = found.pop("all")
    for column in range(4):
        assert number(together[column]) == sum(number(row[column]) for row in found.values())


def test_what_two_texts_begin_with_in_common_is_counted_to_the_letter() -> None:
    for one, other, common in (
        ("", "ab", 0),
        ("ab", "ab", 2),
        ("ab", "abc", 2),
        ("xb", "ab", 0),
        ("abcXe", "abcYe", 3),
    ):
        assert alike_at_first(one, other) == alike_at_first(other, one) == common


def test_dollars_and_time_follow_from_calls_and_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    priced = (
        "agents=[random,{name: dear, kind: llm, harness: {history: none}, model: {id: m, base_url: 'http://h/v1', "
        "context_size: 100000, price: {input: 10, output: 100}, limits: {requests_per_minute: 30}}}]"
    )
    argv = ["run=r", priced, "decks=[charizard_ex,lugia_archeops]", "tournament.games_per_pair=4", "dry_run=true"]
    assert main(argv) == 0
    out = capsys.readouterr().out
    games, calls, read, written, least, _, most = rows(out)["dear"]
    assert number(games) == 2 * 4
    assert number(written) == 300 * number(calls)
    assert number(most) == pytest.approx((10 * number(read) + 100 * number(written)) / 1e6, abs=0.01)
    # No price for cached input: it costs what other input costs.
    assert least == most
    minutes = number(calls) / 30
    assert f"at best {round(minutes * 60) // 60} min" in out
    assert "by the 30 requests/min of http://h/v1" in out
    assert "300 output tokens a call, no refused attempts" in out


@pytest.mark.parametrize(
    ("usd", "said"),
    [
        (5, "budget.usd=5 is less than that: the run stops once it is spent"),
        (50, "budget.usd=50 may be less than that"),
        (500, "budget.usd=500 is enough for that"),
    ],
)
def test_a_budget_is_held_against_what_the_calls_are_expected_to_cost(
    capsys: pytest.CaptureFixture[str], usd: float, said: str
) -> None:
    priced = (
        "agents=[random,{name: dear, kind: llm, model: {id: m, base_url: 'http://h/v1', context_size: 100000, "
        "price: {input: 10, cached: 1, output: 1}}}]"
    )
    argv = ["run=r", priced, "decks=[charizard_ex]", "tournament.games_per_pair=2", "dry_run=true", f"budget.usd={usd}"]
    assert main(argv) == 0
    out = capsys.readouterr().out
    least, _, most = rows(out)["dear"][4:]
    assert 5 < number(least) < 50 < number(most) < 500
    assert said in out


def test_without_llm_agents_nothing_is_said_of_calls(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run=r", "agents=[random,heuristic]", "decks=[charizard_ex]", "dry_run=true"]) == 0
    assert "LLM agent" not in capsys.readouterr().out
