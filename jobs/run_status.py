"""``action=status`` and ``action=stop`` of a run that is played elsewhere: by another process, on any machine."""

from __future__ import annotations

import sys
import time
from math import inf
from typing import Final

from jobs.config import ConfigError, ExitCode
from orchestrator.progress import duration
from orchestrator.status import RunStatus, ask_to_stop, is_alive, read_status, since
from results import Run
from results.location import Location

_LOOK_SECONDS: Final = 1.0


def show(root: str, run: str) -> int:
    """Print how the run stands; the exit code is 0 while it is played, then that of the run as it is.

    Raises :class:`results.StorageError` where there is no such run.
    """
    location = Run.named(root, run).location
    status = read_status(location)
    if status is None:
        print(f"run {run}: no process has told anything about it")
        return ExitCode.INCOMPLETE
    alive = is_alive(status, lambda: read_status(location))
    print("\n".join(lines(status, alive)))
    return ExitCode.COMPLETE if alive else _exit_code(status)


def stop(root: str, run: str, drain_seconds: float) -> int:
    """Ask the process that plays the run to stop and wait until it has; the exit code is that of the run as it is.

    Open games get ``drain_seconds`` to end. Raises :class:`results.StorageError` where there is no such run,
    :class:`ConfigError` for a number that is no time.
    """
    if not 0 < drain_seconds < inf:
        raise ConfigError(f"limits.drain_seconds: {drain_seconds!r} is not a number larger than 0")
    location = Run.named(root, run).location
    status = read_status(location)
    if status is None or not is_alive(status, lambda: read_status(location)):
        print(f"run {run}: nobody plays it, so there is nothing to stop")
        return ExitCode.INCOMPLETE if status is None else _exit_code(status)
    ask_to_stop(location, drain_seconds)
    print(
        f"asked process {status.process} on {status.host} to stop; {status.in_flight} open games get "
        f"{duration(drain_seconds)} to end",
        file=sys.stderr,
        flush=True,
    )
    status = _ended(status, location)
    print("\n".join(lines(status, alive=False)))
    return _exit_code(status)


def _ended(status: RunStatus, location: Location) -> RunStatus:
    """The last status of the process that wrote ``status``."""
    began = status.began
    while is_alive(status, lambda: read_status(location)):
        time.sleep(_LOOK_SECONDS)
        status = read_status(location) or status
        if status.began != began:
            break  # It has been started again already.
    return read_status(location) or status


def lines(status: RunStatus, alive: bool) -> list[str]:
    """A status in lines for people."""
    began = status.began.replace("T", " ").replace("+00:00", " UTC")
    where = f"process {status.process} on {status.host}"
    if alive:
        head = f"{status.state} since {began} ({duration(since(status.began))}) by {where}, which is alive"
    elif status.state == "ended":
        head = f"nobody plays it; {where} ended {duration(since(status.at))} ago"
    else:
        head = f"nobody plays it; {where} has ended without a word, last heard of {duration(since(status.at))} ago"
    share = 100 * status.done / status.total if status.total else 100.0
    progress = f"{status.done} of {status.total} games ({share:.0f} %), {status.void} void"
    if alive:
        progress += (
            f", {status.in_flight} in flight with {status.workers} workers, {status.games_per_second:.1f} games/s"
        )
    elif status.done < status.total:
        progress += "; the same command goes on"
    found = [f"run {status.run}: {head}", progress]
    if status.calls or status.budget_usd is not None:
        budget = "" if status.budget_usd is None else f" of {status.budget_usd:g}"
        tokens = f"{status.input_tokens:,}+{status.output_tokens:,} tokens"
        found.append(f"{status.calls:,} calls, {tokens}, ${status.cost_usd:.2f}{budget}")
    found += status.paused
    if status.entrants:
        width = max(len("agent"), *(len(one.entrant) for one in status.entrants))
        found.append(f"{'agent':<{width}}  {'games':>7}  {'points':>8}  {'share':>7}")
        found += [
            f"{one.entrant:<{width}}  {one.games:>7}  {one.points:>8.1f}  {100 * one.share:>5.1f} %"
            for one in status.entrants
            if one.games
        ]
    return found


def _exit_code(status: RunStatus) -> int:
    if status.done < status.total:
        return ExitCode.INCOMPLETE
    return ExitCode.VOID_GAMES if status.void else ExitCode.COMPLETE
