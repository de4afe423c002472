"""Why a worker is lost, from what Ray says about it: with its process, with its node, for want of memory."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

_LONGEST: Final = 300
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")
_RAISED: Final = re.compile(r"^\s.*\n(\w[\w.]*(?::.*)?)$", re.MULTILINE)
"""What is raised stands at the margin, below the lines of a traceback. Ray puts the real cause last."""
_ADDRESS: Final = re.compile(r"\bip=([^,)\s]+)")
_EXIT: Final = re.compile(r"Worker exit detail: (.+?)\.?(?: Some common causes|$)", re.MULTILINE)


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

    said = _COLOURS.sub("", str(error))
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if isinstance(error, exceptions.OutOfMemoryError):
        told = [line for line in lines if "memory" in line.lower()]
        return Death(LostWith.MEMORY, _line("its node ran short of memory", told or lines, error))
    if isinstance(error, exceptions.NodeDiedError | exceptions.ActorUnavailableError) or (
        isinstance(error, exceptions.RayActorError)
        and (error.preempted or any("node has died" in line.lower() for line in lines))
    ):
        return Death(LostWith.NODE, _line("its node is lost", lines, error))
    if isinstance(error, exceptions.RuntimeEnvSetupError) or (
        isinstance(error, exceptions.RayActorError) and error.actor_init_failed
    ):
        address = _ADDRESS.search(said)
        where = f" on {address[1]}" if address else ""
        return Death(
            LostWith.PROCESS, _line(f"its start failed{where}", _RAISED.findall(said)[-1:] or lines[-1:], error)
        )
    told = [line for line in lines if "died" in line.lower() or "exit" in line.lower() or "killed" in line.lower()]
    return Death(LostWith.PROCESS, _line("the worker process died", _EXIT.findall(said) or told or lines, error))


def _line(what: str, lines: list[str], error: Exception) -> str:
    return f"{what}: {(lines or [type(error).__name__])[0]}"[:_LONGEST]
