"""What calls cost."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import genai_prices
import pytest
import yaml

from agents.llm.contract import Usage
from agents.llm.pricing import Price, PriceError, Tier, known_context_size, known_price, parse_price

OPENROUTER = "https://openrouter.ai/api/v1"
NOW = datetime(2026, 11, 1, tzinfo=UTC)
MODELS = Path(__file__).parents[3] / "conf" / "model"


def backbones() -> list[str]:
    """The ids of the files that build on the one for OpenRouter."""
    contents = [yaml.safe_load(file.read_text()) for file in MODELS.glob("*.yaml")]
    return sorted(content["id"] for content in contents if "openrouter" in content.get("defaults", ()))


def test_cost_counts_cached_input_apart() -> None:
    price = Price(input=2.0, output=10.0, cached=0.5)
    assert price.cost(Usage(input=1_000_000, output=0)) == pytest.approx(2.0)
    assert price.cost(Usage(input=0, output=1_000_000)) == pytest.approx(10.0)
    assert price.cost(Usage(input=1_000_000, output=0, cached=400_000)) == pytest.approx(0.6 * 2.0 + 0.4 * 0.5)


def test_cached_input_without_a_price_of_its_own_costs_what_input_costs() -> None:
    assert Price(input=2.0, output=10.0).cost(Usage(1_000_000, 0, cached=400_000)) == pytest.approx(2.0)


def test_reasoning_is_paid_as_output_once() -> None:
    assert Price(1.0, 10.0).cost(Usage(0, 1_000_000, reasoning=900_000)) == pytest.approx(10.0)


def test_a_tier_holds_for_all_tokens_of_a_call_above_it() -> None:
    price = Price(2.0, 10.0, tiers=(Tier(200_000, 4.0, 15.0, 0.1), Tier(500_000, 8.0, 20.0)))
    assert price.cost(Usage(200_000, 0)) == pytest.approx(0.4)
    assert price.cost(Usage(200_001, 0)) == pytest.approx(0.800004)
    assert price.cost(Usage(300_000, 1000, cached=100_000)) == pytest.approx(0.2 * 4 + 0.1 * 0.1 + 0.001 * 15)
    assert price.cost(Usage(600_000, 0, cached=600_000)) == pytest.approx(0.6 * 8)


def test_a_price_for_the_request_comes_on_top() -> None:
    assert Price(1.0, 1.0, request=5.0).cost(Usage(1_000_000, 0)) == pytest.approx(1.005)


@pytest.mark.parametrize("model", backbones())
@pytest.mark.parametrize(
    "usage", [Usage(3000, 200), Usage(150_000, 2048, 100_000), Usage(230_000, 100), Usage(300_000, 2048, 250_000)]
)
def test_known_prices_are_those_of_genai_prices(model: str, usage: Usage) -> None:
    price = known_price(model, OPENROUTER, NOW)
    assert price is not None
    theirs = genai_prices.calc_price(
        genai_prices.Usage(input_tokens=usage.input, output_tokens=usage.output, cache_read_tokens=usage.cached),
        model,
        provider_id="openrouter",
        genai_request_timestamp=NOW,
    )
    assert price.cost(usage) == pytest.approx(float(theirs.total_price), rel=1e-9)


def test_there_are_ten_backbones() -> None:
    assert len(backbones()) == 10


def test_what_nobody_knows_is_not_made_up() -> None:
    assert known_price("google/gemini-99", OPENROUTER) is None
    assert known_context_size("google/gemini-99", OPENROUTER) is None
    assert known_price("openai/gpt-5.4", "http://127.0.0.1:8080/v1") is None


def test_a_price_is_read_back_as_it_was_written() -> None:
    price = parse_price(
        {
            "input": 1,
            "output": 2.5,
            "cached": 0.1,
            "tiers": [{"above": 9, "input": 3, "output": 4}, {"above": 5, "input": 2, "output": 3}],
        }
    )
    assert [tier.above for tier in price.tiers] == [5, 9]
    assert parse_price(price.to_json()) == price


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (3, "3 is neither auto nor a mapping"),
        ({"input": 1}, "output is missing"),
        ({"input": 1, "output": -2}, "output: -2 is not a number of US dollars"),
        ({"input": 1, "output": True}, "output: True is not"),
        ({"input": 1, "output": "2"}, "output: '2' is not"),
        ({"input": float("nan"), "output": 2}, "input: nan is not"),
        ({"input": 1, "output": 2, "cache": 1}, "cache is unknown; known: input, output, cached"),
        ({"input": 1, "output": 2, "tiers": {}}, ""),
        ({"input": 1, "output": 2, "tiers": 5}, "tiers: 5 is not a list"),
        ({"input": 1, "output": 2, "tiers": [{"input": 1, "output": 2}]}, r"tiers\[0\].above: None is not"),
        ({"input": 1, "output": 2, "tiers": [{"above": 5, "input": 1}]}, r"tiers\[0\].output is missing"),
        ({"input": 1, "output": 2, "tiers": [{"above": 5, "input": 1, "output": 2}] * 2}, "two begin above the same"),
    ],
)
def test_a_wrong_price_is_refused_in_one_line(value: object, says: str) -> None:
    if not says:
        assert parse_price(value).tiers == ()
        return
    with pytest.raises(PriceError, match=says) as refused:
        parse_price(value)
    assert "\n" not in str(refused.value)
