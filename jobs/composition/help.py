"""The text of ``--help``: what a job is, its keys with type, default and meaning, its groups with their files."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from omegaconf import OmegaConf

from jobs.composition.overrides import Groups
from jobs.composition.schema import REQUIRED, Key, Schema

_OPTIONS = """\
Options:
  -h, --help         print this and exit
  --cfg job          print the composed configuration as YAML and exit
  --resolve          with --cfg: interpolations replaced by what they stand for
  --config-dir DIR   a folder of your own agent/, deck/, model/ ... files beside ours; yours count first
  -m, --multirun     play every combination of values given as key=a,b
"""

_WIDTH = 120


def help_text(
    name: str,
    purpose: str,
    schema: Schema,
    groups: Groups,
    defaults: Mapping[str, Any],
    files: Mapping[str, Sequence[str]],
) -> str:
    """The help of the job ``name``. ``defaults`` has the composed value of a key by its dotted path.

    ``files`` are the names in each folder from which lists choose.
    """
    rows = [(key.path, _value(key, defaults), _meaning(key)) for key in schema.keys]
    width = max(len(path) for path, _, _ in rows)
    value_width = min(24, max(len(value) for _, value, _ in rows))
    lines = [f"  {path:<{width}}  {value:<{value_width}}  {text}".rstrip() for path, value, text in rows]
    chosen = {path.replace("/", "."): options for path, options in groups.options.items()}
    group_lines = [f"  {path.replace('.', '/')}={'|'.join(options) or '(none)'}" for path, options in chosen.items()]
    group_lines += [_listed(group, names) for group, names in files.items()]
    if "model" in files and "harness" in files:
        group_lines.append("  an entry of agents is an agent, or {model: NAME, harness: NAME}")
    parts = [
        f"python -m jobs.{name} [options] key=value ...",
        inspect.cleandoc(purpose),
        "Keys, their values unless given, and what they mean:\n" + "\n".join(lines),
    ]
    if group_lines:
        parts.append("Groups and their files:\n" + "\n".join(group_lines))
    parts.append(_OPTIONS.rstrip())
    return "\n\n".join(parts) + "\n"


def _listed(group: str, names: Sequence[str]) -> str:
    line = f"  {group}: {', '.join(names) or '(none)'}"
    return textwrap.fill(line, _WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _value(key: Key, defaults: Mapping[str, Any]) -> str:
    value = defaults.get(key.path, key.default)
    if value == REQUIRED:
        return "(required)"
    if OmegaConf.is_config(value):
        value = OmegaConf.to_container(value)
    if isinstance(value, bool) or value is None:
        return "null" if value is None else str(value).lower()
    if isinstance(value, list):
        return f"[{','.join(str(entry) for entry in value)}]"
    return str(value)


def _meaning(key: Key) -> str:
    kind = "|".join(key.choices) if key.choices else key.wanted
    return f"{key.help} ({kind})" if key.help else f"({kind})"
