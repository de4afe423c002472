"""Begins a submitted job on the cluster: takes the variables that came with it and hands over to the job's own module.

``python -m jobs.submission.start NAME [options] key=value ...``
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from jobs.config import ExitCode
from jobs.submission.variables import PAD, unpack


def main(argv: Sequence[str]) -> int:
    """Run the job that the first of ``argv`` names with the rest of them; returns its exit code."""
    told = os.environ.pop(PAD, None)
    if told is not None:
        try:
            os.environ.update(unpack(told, _take))
        except LookupError as error:
            print(f"jobs.submit: {error}; submit the job again", file=sys.stderr)
            return ExitCode.FAULT
    name, *rest = argv
    code: int = importlib.import_module(f"jobs.{name}").main(rest)
    return code


def _take(name: str) -> bytes | None:
    """What Ray's store has under ``name``, which it then has no more."""
    client = importlib.import_module("ray._raylet").GcsClient(address=os.environ["RAY_ADDRESS"])
    key = f"gcs://{name}".encode()
    found: bytes | None = client.internal_kv_get(key, None)
    if found is not None:
        client.internal_kv_del(key, False, None)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
