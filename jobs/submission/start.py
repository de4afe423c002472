"""Where a submitted job begins on the cluster: ``python -m jobs.submission.start NAME [options] key=value ...``.

It needs nothing but Python itself, so that it can say what else a node lacks.
"""

from __future__ import annotations

import sys

_BAD_CONFIG = 2


def main() -> None:
    """Run the job that the arguments tell of, and end the process with its exit code."""
    try:
        from jobs.leaving import leave
        from jobs.submission.running import main as run

        code = run(sys.argv[1:])
    except ModuleNotFoundError as error:
        print(
            f"jobs.submit: the node on which the job runs has no Python package {error.name!r}: install there what "
            "Prizefight depends on, or have Ray do so with cluster.runtime_env",
            file=sys.stderr,
        )
        sys.exit(_BAD_CONFIG)
    leave(code)


if __name__ == "__main__":
    main()
