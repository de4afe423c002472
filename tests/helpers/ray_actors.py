"""Actors of a Ray that runs on this machine, as processes."""

from __future__ import annotations

import os

from orchestrator.processes import children


def actors(kind: str = "GameWorker", of: int | None = None) -> set[int]:
    """Process ids of all actors of that class in the Ray that process ``of``, or this one, has started."""
    raylets = children(os.getpid() if of is None else of, "raylet")
    return {actor for raylet in raylets for actor in children(raylet, f"ray::{kind}")}
