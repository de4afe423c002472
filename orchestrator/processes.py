"""Processes of this machine, as ``/proc`` tells of them; where there is none, nothing is known of any."""

from __future__ import annotations

import os
from pathlib import Path


def this_machine() -> str:
    """What tells whether a process number means the same process here and there: the machine, since when it is up, and
    the container in which numbers count. Empty where that is not known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def born(process: int) -> str:
    """When a process that runs was started, in the kernel's ticks, which tells it from a later one of its number.

    Empty where it has ended, if only its exit code is left too.
    """
    try:
        # The name, in parentheses, may have spaces and whatever else.
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]


def children(parent: int, name: str) -> list[int]:
    """Child processes of ``parent`` that run and whose name begins with ``name``."""
    found: list[int] = []
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        try:
            pids = task.read_text().split()
        except OSError:
            continue
        for pid in map(int, pids):
            try:
                # The kernel keeps 15 characters of a name.
                if Path(f"/proc/{pid}/comm").read_text().startswith(name[:15]) and born(pid):
                    found.append(pid)
            except OSError:
                continue
    return found
