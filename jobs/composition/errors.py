"""Configuration errors that fit in one line, and what Hydra and OmegaConf say turned into one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

import yaml
from hydra.errors import HydraException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException, ValidationError

from jobs.composition.schema import Key, Schema

FOREIGN_ERRORS = (HydraException, OmegaConfBaseException, yaml.YAMLError)
"""What composing may raise that :func:`explain` can put into one line."""


_MOST_LISTED = 20
_MOST_ALIKE = 5


class ConfigError(ValueError):
    """A configuration that cannot be used. The text is one line: what is wrong, where, and what would be right."""


def one_line(text: str) -> str:
    """``text`` with all runs of white space, line breaks too, made one space."""
    return " ".join(text.split())


def unknown(what: str, name: str, known: Iterable[str], *, where: str, near: str | None = None) -> ConfigError:
    """An error for a name that does not exist: the nearest one (``near`` says it, ``""``: none), and all that exist.

    Of very many that exist it says only those that are most like it.
    """
    names = sorted(set(known))
    near = nearest(name, names) if near is None else near
    hint = f"did you mean {near!r}? " if near else ""
    return ConfigError(f"unknown {what} {name!r}; {hint}{where}{listed(name, names)}")


def listed(name: str, names: Sequence[str]) -> str:
    """What exists, after words such as ``conf/agent has``: all ``names``, or of many those most like ``name``."""
    if len(names) <= _MOST_LISTED:
        return f": {', '.join(names) or '(nothing)'}"
    alike = get_close_matches(name, names, n=_MOST_ALIKE, cutoff=0.0)
    return f" {len(names)}, such as {', '.join(alike)}; --help lists all"


def unknown_key(path: str, schema: Schema, more: Iterable[str] = ()) -> ConfigError:
    """An error for a dotted ``path`` that is no key; ``more`` are names beside the schema's own at the root."""
    known = schema.beside(path)
    if "." not in known[0]:
        known = (*known, *more)
    elsewhere = schema.namesakes(path)
    if len(elsewhere) == 1:
        return unknown("key", path, known, where="keys here", near=elsewhere[0])
    # Only the last words are compared: the part before them is equal and would make all names alike.
    by_word = {name.rsplit(".", 1)[-1]: name for name in known}
    word = nearest(path.split(".")[known[0].count(".")], by_word)
    return unknown("key", path, known, where="keys here", near=by_word[word] if word else "")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of ``names`` that ``name`` was most likely meant to be, if any."""
    return next(iter(get_close_matches(name, list(names), n=1, cutoff=0.6)), None)


def explain(error: BaseException, schema: Schema) -> str:
    """One line for what Hydra, OmegaConf or YAML raised while a configuration was composed or resolved."""
    place = _file_of(error)
    for link in _chain(error):
        if isinstance(link, yaml.MarkedYAMLError):
            mark = link.problem_mark
            where = f"{mark.name}, line {mark.line + 1}: " if mark is not None else ""
            return one_line(f"{where}not valid YAML: {link.problem or link.context}")
        if isinstance(link, OverrideParseException):
            return one_line(f"{str(link).splitlines()[0]}; put quotes around text with special characters")
        if isinstance(link, OmegaConfBaseException) and link.full_key is not None:
            return one_line(f"{place}{_explain_value(link, schema)}")
    return one_line(f"{place}{str(error).split('See https://')[0]}")


def _explain_value(error: OmegaConfBaseException, schema: Schema) -> str:
    path = str(error.full_key)
    first_line = str(error).splitlines()[0]
    if isinstance(error, (AttributeError, KeyError)) and "not in" in first_line:
        return str(unknown_key(path, schema))
    if isinstance(error, ValidationError):
        key = schema.find(path)
        value = _refused_value(first_line)
        if key is not None and value is not None:
            return f"{path}: {value} is not {key.wanted}"
        if key is not None:
            return f"{path}: {_short(first_line)}; wanted {key.wanted}{_list_form(key)}"
    return f"{path}: {_short(first_line)}"


def _list_form(key: Key) -> str:
    return f", written {key.path}=[a,b]" if key.is_list else ""


def _refused_value(line: str) -> str | None:
    match = re.match(r"Value (.*) (?:of type '.*' could not be converted|is not a valid)", line)
    if match:
        return match[1]
    return "null" if "is not Optional" in line else None


def _short(line: str) -> str:
    return line.removeprefix("Invalid value assigned: ").replace("is not a ListConfig, list or tuple.", "is not a list")


def _file_of(error: BaseException) -> str:
    """``conf file storage/bad: `` where Hydra names the file in which the fault lies, else nothing."""
    match = re.match(r"In '([^']+)':", str(error))
    return f"{match[1]}.yaml: " if match and "/" in match[1] else ""


def _chain(error: BaseException | None) -> Iterable[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
