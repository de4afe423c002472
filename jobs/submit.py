"""Play on a Ray cluster: ``python -m jobs.submit job=tournament cluster.dashboard=http://HEAD:8265 run=first ...``."""

from __future__ import annotations

import importlib
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from jobs.config import OURS, ConfigError, ExitCode, composed_jobs, group, job, key
from jobs.submission import variables
from jobs.submission.archive import own_name, write_archive
from jobs.submission.dashboard import Dashboard, JobLost
from orchestrator import ConfigError as TournamentRefused
from orchestrator.progress import duration
from orchestrator.tournament import check_settings

_ENDS: Final = {
    ExitCode.INCOMPLETE: "incomplete, the same command goes on",
    ExitCode.VOID_GAMES: "complete, with void games",
}
"""What has become of a job that has failed for Ray, which tells 0 from all other exit codes only."""
_STOP_SECONDS: Final = 30
"""How long a job that is stopped may take to write down what it has."""


def job_names() -> list[str]:
    """The jobs that can be submitted, sorted."""
    files = (file for file in (OURS.parent / "jobs").glob("*.py") if file.stem != "submit")
    return sorted(file.stem for file in files if re.search(r'^@job\("', file.read_text(encoding="utf-8"), re.MULTILINE))


@dataclass
class ClusterAccess:
    """The cluster that the job is sent to."""

    dashboard: str = key("where the cluster's dashboard answers", "http://127.0.0.1:8265")
    python: str = key("the Python of the cluster's nodes, a command or a path", "python")
    variables: list[str] = key("environment variables to pass on beside those that are configured", factory=list)
    runtime_env: dict[str, Any] = key("more for Ray's runtime environment, such as {pip: [duckdb]}", factory=dict)


@dataclass
class SubmitJob:
    """All keys of its own; every other is the submitted job's."""

    job: str = key("the job that is submitted", "tournament", choices=job_names())
    action: str = key(
        "submit a job; or of one that was submitted: show its status, follow its log, stop it",
        "submit",
        choices=("submit", "status", "logs", "stop"),
    )
    job_id: str | None = key("the job's id; a new job has one made up unless it is given", None)
    follow: bool = key("follow the log of a job that is submitted until it ends", True)
    cluster: ClusterAccess = group(ClusterAccess, "the cluster that the job is sent to")


_FOLDER_OPTIONS: Final = ("--config-dir", "-cd")
"""What names a folder of one's own configuration, as the next word or behind a ``=``."""
_OWN: Final = ("job", "action", "job_id", "follow", *(f"cluster.{name}" for name in ClusterAccess.__annotations__))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job as the command line says and return the exit code."""
    own, theirs = divided(sys.argv[1:] if argv is None else argv)

    @job("submit", SubmitJob, refusals=(TournamentRefused,))
    def submit(config: SubmitJob) -> int:
        """Play on a Ray cluster that has a dashboard: send a job there, follow its log, return its exit code.

        Keys that are not listed here are the submitted job's, as in `python -m jobs.submit job=tournament
        cluster.dashboard=http://HEAD:8265 cluster.workers=64 storage.root=s3://bucket/runs run=first ...`. A tournament
        that was stopped or lost goes on with the same command. Ctrl-C leaves the job running.
        """
        if config.action == "submit":
            return _submit(config, theirs)
        if theirs:
            raise ConfigError(f"{theirs[0]!r}: action={config.action} takes job_id and cluster.dashboard only")
        if config.job_id is None:
            raise ConfigError("job_id: must be given, as submitting the job has printed it")
        dashboard = Dashboard(config.cluster.dashboard)
        if config.action == "stop":
            dashboard.stop(config.job_id)
            return dashboard.outcome(config.job_id)
        if config.action == "status":
            return _status(dashboard, config.job_id)
        return _followed(dashboard, config.job_id)

    return submit(own)


def divided(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """What of a command line is ours and what is the submitted job's."""
    own: list[str] = []
    theirs: list[str] = []
    for word in argv:
        name, sets, _ = word.lstrip("+~").partition("=")
        is_own = bool(sets) and (name in _OWN or name.startswith("cluster.runtime_env."))
        is_own = is_own or word in ("-h", "--help")
        (own if is_own else theirs).append(word)
    return own, theirs


def _submit(config: SubmitJob, argv: Sequence[str]) -> int:
    target = importlib.import_module(f"jobs.{config.job}")
    argv = [*_on_cluster(config.job, argv), *argv]
    sent, folders = _with_packed_folders(argv)
    composed = [] if _only_shows(argv) else composed_jobs(config.job, argv)
    looks = any(getattr(one, "dry_run", False) for _, one in composed)
    if looks or not composed:
        # Which Ray answers there is for the job to see; here one that need not be reached stands for it.
        joins = looks and all(one.cluster.address is not None for _, one in composed)
        code: int = target.main([*argv, "cluster.address=auto"] if joins else argv)
        return code
    passed: dict[str, str] = {}
    for plain, one in composed:
        _check(config.job, target, one)
        passed.update(variables.wanted(plain, one, config.cluster.variables))
    dashboard = Dashboard(config.cluster.dashboard)
    if config.job_id is not None:
        dashboard.check_free(config.job_id)  # Before variables are put there for it.
    with tempfile.TemporaryDirectory(prefix="prizefight-") as made:
        archive = write_archive(Path(made) / "prizefight.zip", folders, _most_bytes())
        _say(f"sending {archive.size_text}" + (f", with {', '.join(sorted(passed))}" if passed else ""))
        settings = {"RAY_JOB_STOP_WAIT_TIME_S": str(_STOP_SECONDS)}
        if passed:
            name, content, settings[variables.PAD] = variables.pack(passed)
            dashboard.put(name, content)
        runtime_env = config.cluster.runtime_env
        command = entrypoint(config.cluster.python, config.job, sent)
        job_id = dashboard.submit(command, archive.path, settings, runtime_env, config.job_id)
    return _followed(dashboard, job_id, is_new=True, to_its_end=config.follow)


def entrypoint(python: str, name: str, argv: Sequence[str]) -> str:
    """What the cluster's shell runs so that the job ``name`` gets exactly ``argv``."""
    return shlex.join([python, "-m", "jobs.submission.start", name, *argv])


def _only_shows(argv: Sequence[str]) -> bool:
    """Whether the job is only to print its configuration."""
    return any(word in ("-c", "--cfg") or word.startswith(("--cfg=", "-c=", "-cjob")) for word in argv)


def _with_packed_folders(argv: Sequence[str]) -> tuple[list[str], list[Path]]:
    """``argv`` with the names that a user's own folders get on the cluster, and these folders.

    Raises :class:`ConfigError` for what cannot be sent.
    """
    changed: list[str] = []
    folders: list[Path] = []
    names_folder = False
    for word in argv:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ConfigError(f"{word!r} is not text") from None
        option, separator, value = word.partition("=")
        if names_folder or (option in _FOLDER_OPTIONS and separator):
            folder = word if names_folder else value
            if not Path(folder).is_dir():
                raise ConfigError(f"--config-dir {folder}: there is no such folder")
            name = own_name(len(folders))
            folders.append(Path(folder))
            word = name if names_folder else f"{option}={name}"
            names_folder = False
        else:
            names_folder = word in _FOLDER_OPTIONS
        changed.append(word)
    return changed, folders


def _on_cluster(name: str, argv: Sequence[str]) -> list[str]:
    """What makes the job join the cluster that it runs on, unless ``argv`` says which one to join."""
    says = any(re.match(r"\+*cluster(\.address)?=", word) for word in argv)
    return ["cluster=address"] if name == "tournament" and not says else []


def _check(name: str, target: Any, config: Any) -> None:
    """Raise :class:`ConfigError` for what would be refused on the cluster, as far as that can be told from here."""
    storage = getattr(config, "storage", None)
    if storage is not None:
        for place, other in (("root", " or an address such as s3://bucket/runs"), ("journal_dir", "")):
            address = getattr(storage, place, None)
            if address is not None and "://" not in address and not Path(address).is_absolute():
                raise ConfigError(
                    f"storage.{place}: {address!r} would lie in the job's copy of the program, which does not outlive "
                    f"it; give a whole path of the cluster's head node{other}"
                )
    if name == "tournament":
        tournament, schedule = target.checked(config)
        here = replace(tournament.cluster, address=None, object_store_mb=type(tournament.cluster)().object_store_mb)
        check_settings(replace(tournament, cluster=here), schedule)


def _most_bytes() -> int:
    from ray._private.runtime_env.packaging import GCS_STORAGE_MAX_SIZE

    return int(GCS_STORAGE_MAX_SIZE)


def _followed(dashboard: Dashboard, job_id: str, is_new: bool = False, to_its_end: bool = True) -> int:
    how = f"python -m jobs.submit job_id={job_id} cluster.dashboard={shlex.quote(dashboard.address)}"
    try:
        if is_new:
            print(f"job {job_id}", flush=True)
        return dashboard.follow(job_id) if to_its_end else ExitCode.COMPLETE
    except KeyboardInterrupt:
        _say(f"job {job_id} goes on; follow it with `{how} action=logs`, stop it with `{how} action=stop`")
        return ExitCode.INTERRUPTED
    except JobLost as lost:
        _say(f"{lost}; job {job_id} may go on: `{how} action=logs`")
        return ExitCode.FAULT


def _status(dashboard: Dashboard, job_id: str) -> int:
    info = dashboard.info(job_id)
    status = _ENDS.get(info.driver_exit_code) if info.status == "FAILED" else None
    status = status or str(getattr(info.status, "value", info.status)).lower()
    began = "" if not info.start_time else f", {_duration(info)}"
    print(f"job {job_id}: {status}{began}")
    return dashboard.outcome(job_id) if dashboard.ended(job_id) else ExitCode.COMPLETE


def _duration(info: Any) -> str:
    end = info.end_time / 1000 if info.end_time else time.time()
    return duration(max(end - info.start_time / 1000, 0.0))


def _say(text: str) -> None:
    print(f"jobs.submit: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
