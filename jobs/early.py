"""Ctrl-C while a job still imports what it is made of: one line and the job's exit code, as later."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType

from jobs.exit_codes import interrupted


def begin_imports() -> None:
    """Until :func:`end_imports`, Ctrl-C ends the process at once; nothing is open yet.

    An exception would be no help: it may come where an import catches whatever goes wrong, and be lost.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def end_imports() -> None:
    """From here on Ctrl-C is a ``KeyboardInterrupt`` again."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, frame: FrameType | None) -> None:
    job = Path(sys.argv[0]).stem
    os.write(2, f"jobs.{job}: interrupted\n".encode())
    os._exit(interrupted(job))
