"""Why a worker is lost, from what Ray says about it: with its process, with its node, for want of memory."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

_LONGEST: Final = 300


class LostWith(StrEnum):
    """What a worker was lost with."""

    PROCESS = "process"
    """Its process ended, and a game in it may be why."""
    NODE = "node"
    """Its node is gone or out of reach: no game can be why."""
    MEMORY = "memory"
    """Ray ended it because its node ran short of memory."""


class Death(NamedTuple):
    """The end of a worker and a line that tells of it."""

    lost_with: LostWith
    detail: str


def death_of(error: Exception) -> Death:
    """What ``error``, a ``ray.exceptions.RayError`` other than of a task itself, says of the worker that was asked."""
    from ray import exceptions

    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if isinstance(error, exceptions.OutOfMemoryError):
        told = [line for line in lines if "memory" in line.lower()]
        return Death(LostWith.MEMORY, _line("its node ran short of memory", told or lines, error))
    if isinstance(error, exceptions.NodeDiedError | exceptions.ActorUnavailableError) or (
        isinstance(error, exceptions.RayActorError)
        and (error.preempted or any("node has died" in line.lower() for line in lines))
    ):
        return Death(LostWith.NODE, _line("its node is lost", lines, error))
    told = [line for line in lines if "died" in line.lower() or "exit" in line.lower() or "killed" in line.lower()]
    return Death(LostWith.PROCESS, _line("the worker process died", told or lines, error))


def _line(what: str, lines: list[str], error: Exception) -> str:
    return f"{what}: {(lines or [type(error).__name__])[0]}"[:_LONGEST]
