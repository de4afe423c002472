"""Bring a run of an older version up to date: ``python -m jobs.migrate run=first``."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass

import orchestrator.config as plain
from jobs.config import ExitCode, group, job, key
from jobs.schemas import Storage
from orchestrator import ConfigError as RunRefused
from orchestrator.migration import migrate
from results import StorageError
from results.schema import SCHEMA_VERSION


@dataclass
class MigrateJob:
    """All keys of the job."""

    run: str = key("the run to bring up to date, a folder below storage.root", name=True)
    storage: Storage = group(Storage, "where runs are kept", "local")


def _say(line: str) -> None:
    print(f"jobs.migrate: {line}", file=sys.stderr, flush=True)


@job("migrate", MigrateJob, refusals=(RunRefused, StorageError))
def main(config: MigrateJob) -> int:
    """Make a run that an older version of this program wrote one that this version can go on with.

    Nothing of it is lost where this is killed: the same command goes on.
    """
    storage = plain.StorageConfig(**asdict(config.storage))
    if migrate(storage, config.run, _say):
        print(f"run {config.run!r} is of schema version {SCHEMA_VERSION} now; jobs.tournament goes on with it")
    else:
        print(f"run {config.run!r} is of schema version {SCHEMA_VERSION} already; nothing was done")
    return ExitCode.COMPLETE


if __name__ == "__main__":
    sys.exit(main())
