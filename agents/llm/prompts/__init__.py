"""The texts of the system prompt: files beside this one, put together as the harness is configured.

A text whose name ends in ``_listed`` or ``_hidden`` is for harnesses with that mask only.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from importlib.resources import files


@cache
def prompt(name: str) -> str:
    """The text of the file ``name``.md, without space around it."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


def prompt_for(name: str, listed: bool) -> str:
    """The text ``name`` as a model reads it for whom legal actions are ``listed``, or are not."""
    return filled(name, {"candidates": prompt("candidates_listed" if listed else "candidates_hidden")})


@cache
def prompts_digest(listed: bool) -> str:
    """16 hexadecimal digits that change with any text of harnesses that list legal actions, or of those that do not."""
    other = "_hidden" if listed else "_listed"
    found = (file.name for file in files(__name__).iterdir())
    names = sorted(name.removesuffix(".md") for name in found if name.endswith(".md"))
    text = "\0".join(f"{name}\0{prompt(name)}" for name in names if not name.endswith(other))
    return blake2b(text.encode(), digest_size=8).hexdigest()


def filled(name: str, values: Mapping[str, str]) -> str:
    """The text ``name`` with each ``{{key}}`` replaced by its value."""
    text = prompt(name)
    for key, value in values.items():
        text = text.replace("{{" + key + "}}", value)
    return text
