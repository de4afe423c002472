"""Plays tournaments: schedule, game workers on Ray, leases, journal, resume, progress."""

from __future__ import annotations

from typing import TextIO

from orchestrator.config import ConfigError, Report, TournamentConfig

__all__ = ["ConfigError", "Report", "TournamentConfig", "run_tournament"]


def run_tournament(config: TournamentConfig, stream: TextIO | None = None) -> Report:
    """Play the tournament, or go on with it: :func:`orchestrator.tournament.run_tournament`."""
    # Imported here, because a game worker imports this package too and needs nothing of the driver's.
    from orchestrator import tournament

    return tournament.run_tournament(config, stream)
