"""What calls cost: prices per million tokens, as configured or as the genai-prices data set has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agents.llm.contract import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Tier:
    """What holds for *all* tokens of a call whose input is longer than ``above`` tokens; US dollars as in Price."""

    above: int
    input: float
    output: float
    cached: float | None = None
    """``None``: cached input costs what other input costs."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens of input, of output (reasoning included) and of input read from a cache."""

    input: float
    output: float
    cached: float | None = None
    """``None``: cached input costs what other input costs."""
    request: float = 0.0
    """US dollars per thousand requests, on top of the tokens."""
    tiers: tuple[Tier, ...] = ()
    """Dearer prices of long calls, ascending by ``above``."""

    def cost(self, usage: Usage) -> float:
        """US dollars of one call."""
        rate: Price | Tier = self
        for tier in self.tiers:
            if usage.input > tier.above:
                rate = tier
        cached = min(usage.cached, usage.input)
        cached_rate = rate.input if rate.cached is None else rate.cached
        tokens = (usage.input - cached) * rate.input + cached * cached_rate + usage.output * rate.output
        return tokens / MILLION + self.request / 1000

    def to_json(self) -> dict[str, Any]:
        """All fields as plain JSON values, in the form that :func:`parse_price` reads."""
        return {**asdict(self), "tiers": [asdict(tier) for tier in self.tiers]}


class PriceError(ValueError):
    """A price that cannot be read; one line."""


def parse_price(value: Any) -> Price:
    """A price from its configuration: ``{input: 2.5, output: 15, cached: 0.25, tiers: [{above: 200000, ...}]}``.

    Raises :class:`PriceError`.
    """
    if not isinstance(value, Mapping):
        raise PriceError(f"{value!r} is neither auto nor a mapping such as {{input: 2.5, output: 15}} in $/M tokens")
    numbers = _numbers(value, "", required=("input", "output"), optional=("cached", "request"), other=("tiers",))
    tiers = []
    entries = value.get("tiers") or ()
    if not isinstance(entries, (list, tuple)):
        raise PriceError(f"tiers: {entries!r} is not a list of {{above: TOKENS, input: ..., output: ...}}")
    for index, entry in enumerate(entries):
        place = f"tiers[{index}]"
        if not isinstance(entry, Mapping):
            raise PriceError(f"{place}: {entry!r} is not a mapping {{above: TOKENS, input: ..., output: ...}}")
        above = entry.get("above")
        if isinstance(above, bool) or not isinstance(above, int) or above <= 0:
            raise PriceError(f"{place}.above: {above!r} is not a positive whole number of tokens")
        tier = _numbers(entry, f"{place}.", required=("input", "output"), optional=("cached",), other=("above",))
        tiers.append(Tier(above, **tier))
    if len({tier.above for tier in tiers}) < len(tiers):
        raise PriceError("tiers: two begin above the same number of tokens")
    return Price(**numbers, tiers=tuple(sorted(tiers, key=lambda tier: tier.above)))


def _numbers(
    value: Mapping[str, Any], place: str, required: tuple[str, ...], optional: tuple[str, ...], other: tuple[str, ...]
) -> dict[str, float]:
    for key in value:
        if key not in (*required, *optional, *other):
            raise PriceError(f"{place}{key} is unknown; known: {', '.join((*required, *optional, *other))}")
    found: dict[str, float] = {}
    for key in (*required, *optional):
        number = value.get(key)
        if number is None:
            if key in required:
                raise PriceError(f"{place}{key} is missing ($/M tokens)")
            continue
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 <= number < float("inf"):
            raise PriceError(f"{place}{key}: {number!r} is not a number of US dollars, 0 or more")
        found[key] = float(number)
    return found


def known_price(model_id: str, base_url: str, at: datetime | None = None) -> Price | None:
    """The price that genai-prices has for the model at that endpoint at ``at`` (now), or ``None``.

    The data comes with the package; nothing is downloaded. Prices that a plain chat never meets (audio, images, web
    searches, writing into an explicitly requested cache) are left out. ``None`` also where a price that a chat does
    meet has no place in :class:`Price`.
    """
    model = _find(model_id, base_url)
    if model is None:
        return None
    from genai_prices.types import TieredPrices

    prices = model.get_prices(at or datetime.now(UTC))
    if prices.output_reasoning_mtok is not None or prices.input_text_messages_kcount is not None:
        return None
    of_tokens = {"input": prices.input_mtok, "output": prices.output_mtok, "cached": prices.cache_read_mtok}
    if of_tokens["input"] is None or of_tokens["output"] is None or isinstance(prices.requests_kcount, TieredPrices):
        return None
    starts = {tier.start for price in of_tokens.values() if isinstance(price, TieredPrices) for tier in price.tiers}

    def at_input(tokens: int) -> dict[str, float]:
        rates = {}
        for name, price in of_tokens.items():
            if isinstance(price, TieredPrices):
                reached = [tier.price for tier in price.tiers if tier.start <= tokens]
                rates[name] = float(reached[-1] if reached else price.base)
            elif price is not None:
                rates[name] = float(price)
        return rates

    return Price(
        **at_input(0),
        request=float(prices.requests_kcount or 0),
        tiers=tuple(Tier(start, **at_input(start)) for start in sorted(starts)),
    )


def known_context_size(model_id: str, base_url: str) -> int | None:
    """The context size in tokens that genai-prices has for the model at that endpoint, or ``None``."""
    model = _find(model_id, base_url)
    return None if model is None else model.context_window


def _find(model_id: str, base_url: str) -> ModelInfo | None:
    # Half a second to import and 1.6 MB of data: only where something is to be looked up.
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(model_id, None, None, base_url)[1]
    except LookupError:
        return None
