"""A chat model as it is configured: where it is, what it costs, how much it takes, how it is asked.

Everything that tells one model from another is in such a configuration (``conf/model/*.yaml``, see docs/models.md);
no code knows a model.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar
from urllib.parse import urlsplit

from agents.llm.pricing import Price, PriceError, known_context_size, known_price, parse_price

AUTO = "auto"
"""In place of a price or context size: ask genai-prices."""

OUTPUT_LIMITS = ("max_tokens", "max_completion_tokens")
"""What endpoints call the most tokens a reply may have, thinking included."""

_ENVIRONMENT_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


class ModelError(ValueError):
    """A model that cannot be used as configured; one line that says what is wrong and what would be right."""


class ToolProtocol(StrEnum):
    """How a model calls tools: through the API's own tool calls, or as one JSON object in its text."""

    TOOLS = "tools"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Limits:
    """What an account allows; ``None`` where nothing is known of a limit."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    in_flight: int | None = None


@dataclass(frozen=True, slots=True)
class Reasoning:
    """How a reasoning model is asked to think and what becomes of its thoughts."""

    effort: str | None = None
    """How hard to think, in the endpoint's words (``low``, ``high`` …); ``None`` leaves it to the endpoint."""
    parameter: str = "reasoning_effort"
    """Where ``effort`` goes: ``reasoning_effort`` (a text) or ``reasoning`` (a mapping with ``effort``)."""
    pass_back: str | None = None
    """The field of an assistant message in which the endpoint wants its thoughts back (``reasoning_details``,
    ``reasoning_content``, ``reasoning``); ``None``: they are not sent back."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds after which one attempt at a call is given up."""

    connect_seconds: float = 10.0
    call_seconds: float = 180.0
    """From sending a request to the last byte of its reply."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How long a call that failed for a passing reason is tried again. Seconds."""

    deadline_seconds: float = 600.0
    """Attempts and the waits between them, in all; waiting for the account's limits does not count."""
    first_wait_seconds: float = 0.5
    """The longest wait after the first failure; it doubles from failure to failure. The wait itself is drawn."""
    longest_backoff_seconds: float = 60.0
    """Where that doubling ends."""
    longest_retry_after_seconds: float = 3600.0
    """A server that asks for more patience than this (Retry-After) fails the call."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """A chat model behind an OpenAI-compatible endpoint. Made by :func:`parse_model`."""

    id: str
    """What the endpoint calls the model."""
    base_url: str
    """Up to and without ``/chat/completions``."""
    key_env: str | None
    """The environment variable that holds the key; ``None`` where the endpoint wants none."""
    context_size: int
    """Tokens that input and output together may have."""
    price: Price
    cost_field: str | None = None
    """The field of a reply's ``usage`` in which the endpoint says what the call cost in US dollars, if it does."""
    limits: Limits = Limits()
    tool_protocol: ToolProtocol = ToolProtocol.TOOLS
    json_schema: bool = False
    """Whether the json protocol is enforced through ``response_format: json_schema``."""
    sampling: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 0.7, "max_tokens": 2048})
    """Fields of the request's body, sent as they are; one of them limits the output."""
    reasoning: Reasoning = Reasoning()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the request's body, sent as they are."""
    timeouts: Timeouts = Timeouts()
    retry: Retry = Retry()

    @property
    def account(self) -> str:
        """What shares one allowance: endpoint and name of the key's variable (never the key)."""
        return f"{self.base_url} {self.key_env or 'without key'}"

    @property
    def max_output_tokens(self) -> int:
        """The most tokens that a reply may have, thinking included."""
        return int(next(self.sampling[name] for name in OUTPUT_LIMITS if name in self.sampling))

    def body_parameters(self) -> dict[str, Any]:
        """What the configuration adds to the body of each request: sampling, reasoning, further parameters."""
        body = {**self.sampling, **self.parameters}
        effort = self.reasoning.effort
        if effort is not None and self.reasoning.parameter == "reasoning":
            body["reasoning"] = {**dict(body.get("reasoning") or {}), "effort": effort}
        elif effort is not None:
            body[self.reasoning.parameter] = effort
        return body

    def key(self) -> str | None:
        """The key, read from the environment; ``None`` where the endpoint wants none. Raises :class:`ModelError`."""
        if self.key_env is None:
            return None
        key = os.environ.get(self.key_env, "").strip()
        if not key:
            raise ModelError(f"model {self.id}: the environment variable {self.key_env} with its key is not set")
        if not key.isascii() or not key.isprintable():
            raise ModelError(
                f"model {self.id}: the key in {self.key_env} holds characters that no HTTP header can have"
            )
        return key

    def to_json(self) -> dict[str, Any]:
        """All fields as plain JSON values; :func:`parse_model` reads them back without looking anything up."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        sections = {name: asdict(plain[name]) for name in _SECTIONS}
        return {
            **plain,
            **sections,
            "price": self.price.to_json(),
            "tool_protocol": self.tool_protocol.value,
            "sampling": dict(self.sampling),
            "parameters": dict(self.parameters),
        }

    def identity(self) -> dict[str, Any]:
        """The part of :meth:`to_json` that can alter a request or its reply; the rest may change during a run."""
        changeable = ("key_env", "price", "cost_field", "limits", "timeouts", "retry")
        return {key: value for key, value in self.to_json().items() if key not in changeable}


_SECTIONS: dict[str, type[Any]] = {"limits": Limits, "reasoning": Reasoning, "timeouts": Timeouts, "retry": Retry}


def parse_model(config: Mapping[str, Any], at: datetime | None = None) -> ModelConfig:
    """The model that ``config`` (plain JSON values) describes, ``auto`` replaced by what holds at ``at`` (now).

    Raises :class:`ModelError`.
    """
    name = config.get("id")
    if not isinstance(name, str) or name.strip() in ("", "???"):
        raise ModelError(f"model: id {name!r} is not the name by which an endpoint knows a model")
    try:
        return _parse(name, config, at)
    except (ModelError, PriceError) as error:
        raise ModelError(f"model {name}: {error}") from None


def _parse(name: str, config: Mapping[str, Any], at: datetime | None) -> ModelConfig:
    known = [item.name for item in fields(ModelConfig)]
    for key in config:
        if key not in known:
            hint = "; a key is never configured, name its environment variable in key_env" if "key" in key else ""
            raise ModelError(f"{key} is unknown{hint}; known: {', '.join(known)}")
    url = _base_url(config.get("base_url"))
    sampling = _mapping(config, "sampling") if "sampling" in config else {"temperature": 0.7, "max_tokens": 2048}
    _check_sampling(sampling)
    parameters = _mapping(config, "parameters")
    for key in ("model", "messages", "tools", "stream", "n"):
        if key in parameters or key in sampling:
            raise ModelError(f"{'parameters' if key in parameters else 'sampling'}.{key} is not the configuration's")
    sections = {part: _section(kind, part, _mapping(config, part)) for part, kind in _SECTIONS.items()}
    protocol = config.get("tool_protocol", ToolProtocol.TOOLS)
    if protocol not in list(ToolProtocol):
        raise ModelError(f"tool_protocol: {protocol!r} is not one of {', '.join(ToolProtocol)}")
    json_schema = config.get("json_schema", False)
    if not isinstance(json_schema, bool):
        raise ModelError(f"json_schema: {json_schema!r} is neither true nor false")
    model = ModelConfig(
        id=name,
        base_url=url,
        key_env=_key_env(config),
        context_size=_context_size(name, url, config.get("context_size", AUTO)),
        price=_price(name, url, config.get("price", AUTO), at),
        cost_field=_optional_text(config, "cost_field"),
        tool_protocol=ToolProtocol(protocol),
        json_schema=json_schema,
        sampling=sampling,
        parameters=parameters,
        **sections,
    )
    if model.reasoning.parameter not in ("reasoning", "reasoning_effort"):
        raise ModelError(
            f"reasoning.parameter: {model.reasoning.parameter!r} is neither reasoning_effort nor reasoning"
        )
    if model.max_output_tokens >= model.context_size:
        raise ModelError(
            f"an output of {model.max_output_tokens} tokens leaves no room in a context of {model.context_size}"
        )
    return model


def _base_url(url: Any) -> str:
    right = "give it as https://HOST/v1 or http://HOST:PORT/v1"
    if not isinstance(url, str):
        raise ModelError(f"base_url: {url!r} is no address; {right}")
    try:
        parts = urlsplit(url.strip())
        host, credentials, _ = parts.hostname, parts.username or parts.password, parts.port
    except ValueError:
        raise ModelError(f"base_url is no address; {right}") from None
    if credentials or parts.query or parts.fragment:
        # Not repeated here: what is there may be a secret.
        raise ModelError(f"base_url must hold nothing but scheme, host, port and path; {right}")
    if parts.scheme not in ("http", "https") or not host:
        raise ModelError(f"base_url: {url!r} is no address; {right}")
    if parts.path.rstrip("/").endswith("/completions"):
        raise ModelError("base_url: leave /chat/completions out; it is added to every request")
    return url.strip().rstrip("/")


def _key_env(config: Mapping[str, Any]) -> str | None:
    name = config.get("key_env")
    if name is not None and (not isinstance(name, str) or not _ENVIRONMENT_NAME.fullmatch(name)):
        # Not repeated here: it may be the key itself.
        raise ModelError(
            "key_env is not the name of an environment variable in capitals, as in OPENROUTER_API_KEY (or null)"
        )
    return name


def _price(name: str, url: str, value: Any, at: datetime | None) -> Price:
    if value is not None and value != AUTO:
        try:
            return parse_price(value)
        except PriceError as error:
            raise PriceError(f"price: {error}") from None
    found = known_price(name, url, at)
    if found is None:
        raise ModelError(
            f"genai-prices knows no price of it at {url}; fill in, in US dollars per million tokens, "
            "price: {input: ..., output: ...}"
        )
    return found


def _context_size(name: str, url: str, value: Any) -> int:
    if value is None or value == AUTO:
        value = known_context_size(name, url)
        if value is None:
            raise ModelError(f"genai-prices knows no context size of it at {url}; fill in context_size: TOKENS")
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise ModelError(f"context_size: {value!r} is neither auto nor a positive whole number of tokens")
    return value


def _check_sampling(sampling: Mapping[str, Any]) -> None:
    limits = [name for name in OUTPUT_LIMITS if name in sampling]
    if len(limits) != 1:
        raise ModelError(f"sampling: exactly one of {' and '.join(OUTPUT_LIMITS)} must limit the output")
    most = sampling[limits[0]]
    if isinstance(most, bool) or not isinstance(most, int) or most <= 0:
        raise ModelError(f"sampling.{limits[0]}: {most!r} is not a positive whole number of tokens")
    temperature = sampling.get("temperature")
    if temperature is not None and not (_is_number(temperature) and 0 <= temperature <= 2):
        raise ModelError(f"sampling.temperature: {temperature!r} is not a number from 0 to 2")


_Section = TypeVar("_Section")


def _section(kind: type[_Section], part: str, values: Mapping[str, Any]) -> _Section:
    known = {item.name: str(item.type) for item in fields(kind)}  # type: ignore[arg-type]
    for key, value in values.items():
        if key not in known:
            raise ModelError(f"{part}.{key} is unknown; known: {', '.join(known)}")
        wanted = known[key]
        if value is None and "None" in wanted:
            continue
        if wanted.startswith("str") and not (isinstance(value, str) and value):
            raise ModelError(f"{part}.{key}: {value!r} is not text; put quotes around it")
        if wanted.startswith("int") and (isinstance(value, bool) or not isinstance(value, int) or value <= 0):
            raise ModelError(f"{part}.{key}: {value!r} is not a positive whole number" + _or_null(wanted))
        if wanted.startswith("float") and not (_is_number(value) and 0 < value < float("inf")):
            raise ModelError(f"{part}.{key}: {value!r} is not a positive number of seconds")
    return kind(**values)


def _or_null(wanted: str) -> str:
    return " or null" if "None" in wanted else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _mapping(config: Mapping[str, Any], part: str) -> dict[str, Any]:
    value = config.get(part)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ModelError(f"{part}: {value!r} is not a mapping of keys")
    return {str(key): item for key, item in value.items()}


def _optional_text(config: Mapping[str, Any], part: str) -> str | None:
    value = config.get(part)
    if value is not None and (not isinstance(value, str) or not value):
        raise ModelError(f"{part}: {value!r} is neither text nor null")
    return value
