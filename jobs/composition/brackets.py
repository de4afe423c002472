"""Brackets and quotes of an override that do not match, and the override with that put right."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from jobs.composition.errors import ConfigError, one_line

CLOSING = {"[": "]", "{": "}", "(": ")"}
QUOTES = "'\""


def is_escaped(text: str, index: int) -> bool:
    """Whether a backslash takes the meaning from the character at ``index``."""
    return (index - len(text[:index].rstrip("\\"))) % 2 == 1


def check(path: str, value: str, after: Sequence[str] = ()) -> None:
    """Raise :class:`ConfigError` where a bracket or quote of the override ``path=value`` has no counterpart.

    ``after`` are the arguments that follow it: where they end what it begins, a shell has taken one override apart.
    """
    found = _fault(value)
    if found is None:
        return
    for number in range(1, len(after) + 1):
        whole = " ".join([value, *after[:number]])
        if _fault(whole) is None:
            raise ConfigError(
                f"{path}={one_line(value)}: {found[0]}; a shell takes what is not in quotes apart at its spaces, "
                f"write {shlex.quote(one_line(f'{path}={whole}'))}"
            )
    fault, right = found
    while (further := _fault(right)) is not None:
        right = further[1]
    raise ConfigError(f"{path}={one_line(value)}: {fault}; write {shlex.quote(one_line(f'{path}={right}'))}")


def _fault(text: str) -> tuple[str, str] | None:
    """The first fault of ``text`` in words, and ``text`` without it."""
    open_at: list[int] = []
    quote_at: int | None = None
    for index, char in enumerate(text):
        if is_escaped(text, index):
            continue
        if quote_at is not None:
            quote_at = None if char == text[quote_at] else quote_at
        elif char in QUOTES:
            quote_at = index
        elif char in CLOSING:
            open_at.append(index)
        elif char in CLOSING.values():
            wanted = [CLOSING[text[place]] for place in open_at]
            if char not in wanted:
                return _stray(text, index)
            if char != wanted[-1]:
                return f"{text[open_at[-1]]} is not closed before {char}", text[:index] + wanted[-1] + text[index:]
            open_at.pop()
    if quote_at is not None:
        return f"the quote {text[quote_at]} is not closed", text[:quote_at] + text[quote_at + 1 :]
    if open_at:
        return f"{text[open_at[-1]]} is not closed", text.rstrip(", ") + CLOSING[text[open_at[-1]]]
    return None


def _stray(text: str, index: int) -> tuple[str, str]:
    """What closes nothing: at the end of what was begun without a bracket its counterpart is missing."""
    char = text[index]
    opening = next(left for left, right in CLOSING.items() if right == char)
    if index == len(text) - 1 and not text.startswith(tuple(CLOSING)):
        return f"{char} closes nothing", opening + text
    return f"{char} closes nothing", text[:index] + text[index + 1 :]
