"""How the process of a tournament ends."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

from jobs.exit_codes import ExitCode
from orchestrator.hanging import hanging


def leave(code: int) -> NoReturn:
    """End the process with ``code``, whether or not the storage and the cluster answer."""
    if hanging() or code == ExitCode.INCOMPLETE:
        # pyarrow's exit handler waits for every request to S3 that is on its way, Ray's for the head of its cluster,
        # and no Ctrl-C ends that; nor does Ray survive every exit in the middle of its start. All is closed by now, and
        # what is still under way is in the journal or counts for nothing, as after a kill.
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        os._exit(code)
    sys.exit(code)
