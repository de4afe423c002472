"""Overrides from the command line: text kept exactly as typed, names checked before Hydra sees them, sweeps spread out.

Hydra reads ``run=2024_01`` as the number 202401. The schema knows that ``run`` is text, so its value is quoted here
before Hydra's grammar gets it; the same goes for entries of lists of names.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Glob, Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict

from jobs.composition import brackets
from jobs.composition.errors import ConfigError, explain, one_line, unknown, unknown_key
from jobs.composition.schema import Key, Schema

_OVERRIDE = re.compile(r"(?P<sign>\+\+|\+|~)?(?P<path>[^=@]+)(?P<package>@[^=]*)?(?:=(?P<value>.*))?", re.DOTALL)
_SWEEP_FUNCTION = re.compile(r"(choice|range|interval|glob|shuffle|sort|tag)\(.*\)", re.DOTALL)
_LIST_FORMS = {
    "agent": "a list of agents is written [a,b,{model: c, harness: d}], with names of files of conf/",
    "deck": "a list of decks is written [a,b], with names of files of conf/deck",
}
_TEXT_IN_ENTRY = frozenset({"agent", "evolution", "harness", "kind", "model", "name"})


@dataclass(frozen=True)
class Groups:
    """The groups that can be chosen from the command line, each with the names of its files."""

    options: Mapping[str, Sequence[str]]

    def __contains__(self, path: str) -> bool:
        return path.replace("/", ".") in self.options

    def check(self, path: str, name: str) -> None:
        """Raise :class:`ConfigError` where the group at ``path`` has no file ``name``."""
        folder = path.replace(".", "/")
        options = self.options[path.replace("/", ".")]
        if name not in options:
            raise unknown(folder, name, options, where=f"conf/{folder} has")


def quote(text: str) -> str:
    """``text`` as a quoted string of Hydra's grammar. Text that comes in quotes already stays as it is."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text
    # In Hydra's quoted strings a backslash counts only in front of a quote or at the end.
    escaped = re.sub(r"(\\*)('|$)", lambda m: m[1] * 2 + ("\\'" if m[2] else ""), text)
    return f"'{escaped}'"


def split_commas(text: str) -> list[str]:
    """The parts of ``text`` between its commas, those inside quotes or brackets left alone."""
    parts, start, closing, quoted = [], 0, [], ""
    for index, char in enumerate(text):
        if quoted:
            if char == quoted and not brackets.is_escaped(text, index):
                quoted = ""
        elif char in brackets.QUOTES:
            quoted = char
        elif char in brackets.CLOSING:
            closing.append(brackets.CLOSING[char])
        elif closing and char == closing[-1]:
            closing.pop()
        elif char == "," and not closing:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def prepare(overrides: Sequence[str], schema: Schema, groups: Groups, *, sweep: bool) -> list[str]:
    """Check every override against the schema and quote what is text.

    Returns overrides in Hydra's grammar, in order. Raises :class:`ConfigError` for an unknown key, group or name and
    for what that grammar does not read. With ``sweep`` a comma separates values; without it, it is part of a text.
    """
    return [
        _prepare(override, overrides[number:], schema, groups, sweep) for number, override in enumerate(overrides, 1)
    ]


def _prepare(override: str, after: Sequence[str], schema: Schema, groups: Groups, sweep: bool) -> str:
    match = _OVERRIDE.fullmatch(override)
    if match is None:
        raise ConfigError(f"{one_line(override)!r} is not an override; write key=value")
    sign, path, package, value = (match[part] for part in ("sign", "path", "package", "value"))
    path = path.strip()
    if path.split(".")[0] == "hydra" or package:
        return _parsed(override, schema)
    if value is None and sign != "~":
        raise ConfigError(f"{one_line(override)!r} is not an override; write {path}=VALUE, or see --help")
    if path in groups:
        return _prepare_group(sign, path, value, schema, groups, sweep)
    key = schema.find(path)
    if key is None:
        if path in schema.sections:
            inside = [key.path for key in schema.keys if key.path.startswith(f"{path}.")]
            raise ConfigError(f"{path!r} is no single value; give one of its keys: {', '.join(inside)}")
        raise unknown_key(path, schema, (name for name in groups.options if "." not in name))
    if sign == "~":
        if path == key.path:
            raise ConfigError(f"{override!r}: a key of the job cannot be removed; give it another value")
        return _parsed(override, schema)
    value = value or ""
    if not key.is_text:
        brackets.check(path, value, after)
    # The key exists, or lies below one that takes any name: adding it is setting it.
    return _parsed(f"{path}={_text(value, key, path, sweep)}", schema, key, typed=f"{path}={value}")


def _prepare_group(sign: str | None, path: str, value: str | None, schema: Schema, groups: Groups, sweep: bool) -> str:
    folder = path.replace(".", "/")
    if value is None or value in ("null", ""):
        raise ConfigError(f"{path}: name a file of conf/{folder}: {', '.join(groups.options[path.replace('/', '.')])}")
    names = split_commas(value) if sweep else [value]
    if any(_SWEEP_FUNCTION.fullmatch(name.strip()) or name.lstrip().startswith("[") for name in names):
        return _parsed(f"{folder}={value}", schema)
    for name in names:
        groups.check(path, _unquoted(name))
    return _parsed(f"{folder}={','.join(quote(name.strip()) for name in names)}", schema)


def _text(value: str, key: Key, path: str, sweep: bool) -> str:
    """``value`` with everything quoted that the schema says is text."""
    if path != key.path:
        return value
    if key.is_text:
        parts = split_commas(value) if sweep else [value]
        return ",".join(_text_value(part, key) for part in parts)
    if key.is_list_of_text:
        return ",".join(_entries(part) for part in split_commas(value))
    return value


def _text_value(value: str, key: Key) -> str:
    if (key.optional and value == "null") or _SWEEP_FUNCTION.fullmatch(value):
        return value
    return quote(value)


def _entries(value: str) -> str:
    """The entries of a list in Hydra's grammar with every name quoted."""
    stripped = value.strip()
    if not (stripped.startswith("[") and stripped.endswith("]")):
        return value
    inside = stripped[1:-1]
    return f"[{','.join(_entry(part) for part in split_commas(inside))}]" if inside.strip() else "[]"


def _entry(value: str) -> str:
    stripped = value.strip()
    if stripped.startswith("{") and stripped.endswith("}"):
        pairs = (pair.partition(":") for pair in split_commas(stripped[1:-1]) if pair.strip())
        return "{" + ",".join(f"{name}:{_pair_value(name, text)}" for name, _, text in pairs) + "}"
    return value if stripped[:1] in ("[", "{") or not stripped else quote(stripped)


def _pair_value(name: str, value: str) -> str:
    stripped = value.strip()
    if stripped.startswith("{"):
        return _entry(stripped)
    if name.strip() not in _TEXT_IN_ENTRY:
        return value
    return _entries(value) if stripped.startswith("[") else quote(stripped)


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"" else text


def _parsed(override: str, schema: Schema, key: Key | None = None, typed: str = "") -> str:
    """``override`` itself where Hydra's grammar reads it; raises :class:`ConfigError` where not.

    ``key`` is the one that it sets, ``typed`` what was typed, if that is not the override itself.
    """
    try:
        OverridesParser.create().parse_override(override)
    except HydraException as error:
        typed = one_line(typed or override)
        if key is not None and key.is_list and typed.startswith(f"{key.path}="):
            raise ConfigError(f"{typed}: {_LIST_FORMS.get(key.files, 'a list is written [a,b]')}") from None
        raise ConfigError(f"{typed}: {explain(error, schema)}") from None
    return override


def spread(overrides: Sequence[str], groups: Groups) -> Iterator[tuple[list[str], list[tuple[str, str]]]]:
    """Every job of a sweep: its overrides without commas, and the (key, value) pairs that tell it from the others."""
    parser = OverridesParser.create()
    choices: list[list[tuple[str, str | None]]] = []
    for text in overrides:
        override = parser.parse_override(text)
        if override.is_sweep_override():
            key = override.get_key_element()
            values = [str(value) for value in _sweep_values(override, groups)]
            choices.append([(f"{key}={value}", value) for value in values])
        else:
            choices.append([(text, None)])
    for job in itertools.product(*choices):
        varied = [(text.partition("=")[0], _unquoted(value)) for text, value in job if value is not None]
        yield [text for text, _ in job], varied


def _sweep_values(override: Override, groups: Groups) -> list[str]:
    value = override.value()
    if isinstance(value, Glob):
        if override.key_or_group not in groups:
            raise ConfigError(f"{override.input_line}: only names of files can be globbed")
        return value.filter(list(groups.options[override.key_or_group.replace("/", ".")]))
    if not override.is_discrete_sweep():
        raise ConfigError(
            f"{override.input_line}: only lists of values can be swept, as in {override.key_or_group}=1,2"
        )
    return list(override.sweep_string_iterator())


def divide(prepared: Sequence[str], groups: Groups) -> tuple[list[str], list[Override]]:
    """The overrides that choose files, for Hydra, and those that set or remove values.

    Hydra takes every key for a group that is the name of some folder, a user's folder ``agents/`` or ``run/`` too; so
    values are set by :func:`set_values` when the files are composed. Raises :class:`ConfigError` for several values.
    """
    choices: list[str] = []
    values: list[Override] = []
    for text in prepared:
        override = OverridesParser.create().parse_override(text)
        if override.is_sweep_override():
            raise ConfigError(
                f"{one_line(text)}: several values; --multirun tries each, [a,b] is a list, quotes make a text"
            )
        is_choice = override.key_or_group in groups or override.package is not None
        if is_choice or override.key_or_group.split(".")[0] == "hydra":
            choices.append(text)
        else:
            values.append(override)
    return choices, values


def set_values(composed: DictConfig, values: Sequence[Override]) -> None:
    """Set, or remove, in ``composed`` what ``values`` say, in order. Raises what OmegaConf says of a wrong type."""
    for override in values:
        path = override.key_or_group
        if override.is_delete():
            section, _, name = path.rpartition(".")
            holder = OmegaConf.select(composed, section)
            if not OmegaConf.is_dict(holder) or name not in holder:
                raise ConfigError(f"{override.input_line}: there is no {path!r} to remove")
            with open_dict(holder):
                del holder[name]
        else:
            OmegaConf.update(composed, path, override.value(), merge=True, force_add=True)


def cross_value(text: str) -> Any:
    """The value of an ``agents.cross`` override: a list of names for each part of an agent, names as typed."""
    brackets.check("agents.cross", text)
    try:
        value = OverridesParser.create().parse_override(f"cross={_entry(text)}").value()
    except HydraException:
        value = None
    if not isinstance(value, dict):
        raise ConfigError(f"agents.cross={one_line(text)}: write agents.cross={{model: [a,b], harness: [c]}}")
    return value
