"""The texts of the system prompt: files beside this one, put together as the harness is configured."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from importlib.resources import files

_NAMES = (
    "role",
    "rules",
    "observation_structured",
    "observation_raw",
    "mask_listed",
    "mask_hidden",
    "pattern",
    "pattern_no_queries",
    "protocol_tools",
    "protocol_json",
    "protocol_legal",
    "keys",
    "history_none",
    "skills",
    "guidance",
    "short",
)


@cache
def prompt(name: str) -> str:
    """The text of the file ``name``.md, without space around it."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


@cache
def prompts_digest() -> str:
    """16 hexadecimal digits that change with any of the texts."""
    text = "\0".join(f"{name}\0{prompt(name)}" for name in _NAMES)
    return blake2b(text.encode(), digest_size=8).hexdigest()


def filled(name: str, values: Mapping[str, str]) -> str:
    """The text ``name`` with each ``{{key}}`` replaced by its value."""
    text = prompt(name)
    for key, value in values.items():
        text = text.replace("{{" + key + "}}", value)
    return text
