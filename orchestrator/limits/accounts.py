"""What an account allows, from the models that share it."""

from __future__ import annotations

from collections.abc import Iterable

from agents.llm.models import Limits, ModelConfig


def account_limits(models: Iterable[ModelConfig]) -> dict[str, Limits]:
    """The limits of every account that ``models`` use; where models of one account differ, the lowest holds for all."""
    found: dict[str, Limits] = {}
    for model in models:
        known, new = found.get(model.account, Limits()), model.limits
        found[model.account] = Limits(
            _lower(known.requests_per_minute, new.requests_per_minute),
            _lower(known.tokens_per_minute, new.tokens_per_minute),
            _lower(known.in_flight, new.in_flight),
        )
    return found


def _lower(first: int | None, second: int | None) -> int | None:
    given = [limit for limit in (first, second) if limit is not None]
    return min(given) if given else None
