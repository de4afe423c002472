"""What a job's exit code says. A job that is stopped at its first import needs it too: nothing is imported here."""

from __future__ import annotations

from typing import Final


class ExitCode:
    """What a job's exit code says."""

    COMPLETE = 0
    FAULT = 1
    """Something unexpected; for ``jobs.compare`` and ``jobs.replay``, a difference."""
    BAD_CONFIG = 2
    INCOMPLETE = 3
    """Not all games have a result; the same command goes on."""
    VOID_GAMES = 4
    """Complete, but some games are void."""
    INTERRUPTED = 130
    """Ctrl-C in a job that has nothing to resume."""


_RESUMABLE: Final = frozenset({"tournament"})


def interrupted(job: str) -> int:
    """The exit code of Ctrl-C in ``job``, whenever it comes."""
    return ExitCode.INCOMPLETE if job in _RESUMABLE else ExitCode.INTERRUPTED
