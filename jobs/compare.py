"""Compare two runs: ``python -m jobs.compare a=first b=second``."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from jobs.config import ConfigError, ExitCode, group, job, key
from jobs.schemas import Storage
from results import Run, StorageError
from results.comparison import compare


@dataclass
class CompareJob:
    """All keys of the job."""

    a: str = key("a run, a folder below storage.root", name=True)
    b: str = key("the run to compare it with", name=True)
    most: int = key("how many differences to print", 10)
    storage: Storage = group(Storage, "where runs are kept", "local")


@job("compare", CompareJob)
def main(config: CompareJob) -> int:
    """Tell whether two runs hold the same games and decisions; exit code 0 if so, 1 if not.

    Every column counts but those that say where, when and at which try a game was played.
    """
    try:
        a, b = (Run.named(config.storage.root, name) for name in (config.a, config.b))
        found = compare(a, b, config.most)
    except StorageError as error:
        # As with diff: 1 says that the runs differ, so trouble must be another code.
        raise ConfigError(str(error)) from error
    for difference in found.first:
        print(difference)
    if (untold := sum(found.differing.values()) - len(found.first)) > 0:
        print(f"... and {untold} more")
    for table, (of_a, of_b) in found.rows.items():
        print(f"{table}: {of_a} in {config.a}, {of_b} in {config.b}, {found.differing[table]} differ")
    print("equal" if found.equal else "different")
    return ExitCode.COMPLETE if found.equal else ExitCode.FAULT


if __name__ == "__main__":
    sys.exit(main())
