"""One small wrapper that makes a function a job: configuration composed by Hydra, typed, checked, and handed over.

A job is a schema and a function::

    @dataclass
    class AggregateConfig:
        run: str = key("the run to rate", name=True)
        storage: Storage = group(Storage, "where runs are kept", "local")

    @job("aggregate", AggregateConfig)
    def main(config: AggregateConfig) -> int:
        \"\"\"Rate the entrants of a run.\"\"\"
        ...

    if __name__ == "__main__":
        sys.exit(main())

``main()`` reads ``sys.argv`` (``main(["run=first"])`` does not) and returns the exit code. Whatever is wrong with the
configuration, found by the wrapper or raised by the function as :class:`ConfigError`, is one line on standard error
and exit code 2. See ``docs/configuration.md`` for what a user may write.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

from omegaconf import DictConfig, OmegaConf

from jobs.composition import entrants
from jobs.composition.errors import ConfigError, one_line
from jobs.composition.help import help_text
from jobs.composition.overrides import Groups, cross_value, divide, prepare, spread
from jobs.composition.schema import REQUIRED, Key, Schema, group, key
from jobs.composition.tree import OURS, Tree, register, resolved
from jobs.early import end_imports
from jobs.exit_codes import ExitCode, interrupted

__all__ = ["OURS", "REQUIRED", "ConfigError", "ExitCode", "composed_jobs", "group", "job", "key"]

_Config = TypeVar("_Config")
_JOBS: dict[str, _Job] = {}
"""Every job whose module has been imported."""


def job(
    name: str,
    schema: type[_Config],
    *,
    config: str | None = None,
    groups: Sequence[str] = (),
    refusals: tuple[type[Exception], ...] = (),
) -> Callable[[Callable[[_Config], int | None]], Callable[..., int]]:
    """Make a function of a typed configuration the job ``name`` (``python -m jobs.<name>``).

    ``schema`` is the dataclass of all keys. ``config`` names the file of ``conf/`` that is the job's primary
    configuration; without it the defaults of the schema and of its groups are. ``groups`` are further groups that may
    be chosen, whose files set keys anywhere (``experiment``). ``refusals`` are further exceptions that
    mean a bad configuration, as :class:`ConfigError` does. The function's docstring is what ``--help`` says.
    """

    def wrap(function: Callable[[_Config], int | None]) -> Callable[..., int]:
        @functools.wraps(function)
        def main(argv: Sequence[str] | None = None) -> int:
            return described.main(sys.argv[1:] if argv is None else argv)

        described = _JOBS[name] = _Job(name, schema, config, tuple(groups), (ConfigError, *refusals), function)
        return main

    return wrap


def composed_jobs(name: str, argv: Sequence[str]) -> list[tuple[DictConfig, Any]]:
    """What the command line ``argv`` makes the job ``name`` do, whose module is imported: one entry unless it sweeps.

    An entry is the configuration as it was composed, with its interpolations, and as the job gets it. Raises
    :class:`ConfigError`, and whatever else the job has among its ``refusals`` when it is read.
    """
    described = _JOBS[name]
    options = _options(argv)
    return [(composed, config) for composed, config, _ in described.read(options)]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}; see --help")


@dataclasses.dataclass(frozen=True)
class _Job:
    name: str
    schema: type[Any]
    config: str | None
    groups: tuple[str, ...]
    refusals: tuple[type[Exception], ...]
    function: Callable[[Any], int | None]

    def main(self, argv: Sequence[str]) -> int:
        """Run the job as the command line ``argv`` says and return the exit code."""
        try:
            end_imports()
            return self._main(argv)
        except self.refusals as error:
            self._complain(one_line(str(error)))
            if os.environ.get("HYDRA_FULL_ERROR") == "1":
                traceback.print_exc()
            return ExitCode.BAD_CONFIG
        except KeyboardInterrupt:
            self._complain("interrupted")
            return interrupted(self.name)
        except BrokenPipeError:
            # Whoever read our output has gone (`| head`); there is nobody left to tell.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return ExitCode.FAULT
        except OSError as error:
            if os.environ.get("HYDRA_FULL_ERROR") == "1":
                traceback.print_exc()
            self._complain(one_line(str(error)))
            return ExitCode.FAULT
        except Exception as error:
            # A fault of ours: who reports it needs the whole traceback.
            traceback.print_exc()
            self._complain(f"unexpected fault: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}")
            return ExitCode.FAULT

    def _complain(self, message: str) -> None:
        print(f"jobs.{self.name}: {message}", file=sys.stderr, flush=True)

    def _main(self, argv: Sequence[str]) -> int:
        options = _options(argv)
        if options.help:
            schema, tree, groups, primary = self._known(options)
            print(self._help(tree, schema, groups, primary), end="")
            return ExitCode.COMPLETE
        if options.cfg:
            for number, (composed, _) in enumerate(self._composed(options)):
                print("---\n" if number else "", end="")
                print(OmegaConf.to_yaml(composed, resolve=options.resolve), end="")
            return ExitCode.COMPLETE
        # All configurations are read before the first job starts, so that a bad one is not found hours later.
        return self._run([(config, varied) for _, config, varied in self.read(options)])

    def read(self, options: argparse.Namespace) -> list[tuple[DictConfig, Any, Sequence[tuple[str, str]]]]:
        """Every job of a sweep, or the one: its configuration composed and read, and what tells it from the others."""
        schema, tree, _, _ = self._known(options)
        return [(composed, self._read(tree, schema, composed), varied) for composed, varied in self._composed(options)]

    def _known(self, options: argparse.Namespace) -> tuple[Schema, Tree, Groups, str]:
        """The job's keys, the folders of its files, its groups, and what Hydra calls its primary configuration."""
        schema = Schema.of(self.schema)
        tree = Tree.of(options.config_dir)
        return (
            schema,
            tree,
            tree.groups(schema, self.groups),
            register(self.name, self.schema, self.config, self.groups),
        )

    def _composed(self, options: argparse.Namespace) -> Sequence[tuple[DictConfig, Sequence[tuple[str, str]]]]:
        schema, tree, groups, primary = self._known(options)
        overrides, crosses = _taken_out(options.overrides, "agents.cross")
        prepared = prepare(overrides, schema, groups, sweep=options.multirun)
        sweep = list(spread(prepared, groups)) if options.multirun else [(prepared, [])]
        jobs = [(self._compose(tree, schema, groups, primary, job, crosses), varied) for job, varied in sweep]
        if options.multirun:
            _name_runs(jobs)
        return jobs

    def _help(self, tree: Tree, schema: Schema, groups: Groups, primary: str) -> str:
        composed = tree.compose(primary, schema)
        values = {key.path: OmegaConf.select(composed, key.path, default=key.default) for key in schema.keys}
        files: dict[str, Sequence[str]] = {}
        for one in schema.keys:
            if one.files:
                files[one.files] = tree.options(one.files, _suffix(one))
            if one.files == "agent":
                files |= entrants.choices(tree)
        return help_text(self.name, self.function.__doc__ or "", schema, groups, values, files)

    def _compose(
        self,
        tree: Tree,
        schema: Schema,
        groups: Groups,
        primary: str,
        overrides: Sequence[str],
        crosses: Sequence[str],
    ) -> DictConfig:
        composed = tree.compose(primary, schema, *divide(overrides, groups))
        for one in schema.keys:
            if one.files == "agent" and (crosses or not OmegaConf.is_missing(composed, one.path)):
                entries = [*_entries(composed, one.path), *({"cross": cross_value(cross)} for cross in crosses)]
                OmegaConf.update(composed, one.path, entrants.agents(entries, tree, schema), merge=False)
        return composed

    def _read(self, tree: Tree, schema: Schema, composed: DictConfig) -> Any:
        missing = [one.path for one in schema.keys if OmegaConf.is_missing(*_parent(composed, one.path))]
        if missing:
            raise ConfigError(f"must be given: {', '.join(_example(schema, path, tree) for path in missing)}")
        config = resolved(lambda: OmegaConf.to_object(composed), schema)
        for one in schema.keys:
            value = functools.reduce(getattr, one.path.split("."), config)
            _check(one, value)
            if one.files == "agent":
                entrants.read_skills(value, tree)
            if one.files == "deck":
                setattr(config, one.path, entrants.deck_lists(value, tree))
        return config

    def _run(self, jobs: Sequence[tuple[Any, Sequence[tuple[str, str]]]]) -> int:
        codes: list[int] = []
        for number, (config, varied) in enumerate(jobs, start=1):
            if len(jobs) > 1:
                what = " ".join(f"{path}={value}" for path, value in varied)
                print(f"job {number} of {len(jobs)}: {what}", file=sys.stderr, flush=True)
            codes.append(self.function(config) or ExitCode.COMPLETE)
            if codes[-1] == ExitCode.INCOMPLETE and number < len(jobs):
                # Whoever stopped this job wants no other one to begin.
                self._complain(f"job {number} is incomplete, so the sweep ends here; the same command goes on")
                break
        if len(codes) == 1:
            return codes[0]
        worst = (ExitCode.FAULT, ExitCode.BAD_CONFIG, ExitCode.INCOMPLETE, ExitCode.VOID_GAMES)
        return next((code for code in worst if code in codes), ExitCode.COMPLETE)


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("-c", "--cfg", choices=["job"])
    parser.add_argument("--resolve", action="store_true")
    parser.add_argument("-cd", "--config-dir", action="append", default=[])
    parser.add_argument("-m", "--multirun", action="store_true")
    parser.add_argument("overrides", nargs="*")
    return parser.parse_intermixed_args(list(argv))


def _entries(composed: DictConfig, path: str) -> list[Any]:
    """The entries of the list at ``path`` as plain values, interpolations left as they are."""
    if OmegaConf.is_missing(composed, path):
        return []
    value = OmegaConf.select(composed, path)
    plain = OmegaConf.to_container(value) if OmegaConf.is_config(value) else value
    if isinstance(plain, str):
        raise ConfigError(f"{path}: {plain!r} is not a list of names, written {path}=[{','.join(plain.split())}]")
    return plain if isinstance(plain, list) else [plain]


def _parent(composed: DictConfig, path: str) -> tuple[Any, str]:
    """The mapping that holds the key at ``path``, and the key's last word."""
    section, _, word = path.rpartition(".")
    return (OmegaConf.select(composed, section) if section else composed), word


def _suffix(one: Key) -> str:
    return ".txt" if one.files == "deck" else ".yaml"


def _example(schema: Schema, path: str, tree: Tree) -> str:
    found = schema.find(path)
    if found is None or not found.files:
        return f"{path}=..."
    options = tree.options(found.files, _suffix(found))
    return f"{path}=[...] (conf/{found.files} has: {', '.join(options)})"


def _taken_out(overrides: Sequence[str], path: str) -> tuple[list[str], list[str]]:
    """``overrides`` without those of ``path``, and the values of those."""
    start = f"{path}="
    taken = [override.lstrip("+")[len(start) :] for override in overrides if override.lstrip("+").startswith(start)]
    return [override for override in overrides if not override.lstrip("+").startswith(start)], taken


def _check(one: Key, value: Any) -> None:
    """Raise :class:`ConfigError` where ``value`` is not what the key may have."""
    if value is None:
        return
    if one.choices and value not in one.choices:
        raise ConfigError(f"{one.path}: {value!r} is not {one.wanted}")
    if one.name and not _names_a_folder(value):
        raise ConfigError(
            f"{one.path}: {value!r} cannot be the name of a folder; "
            "use 1 to 200 letters, digits and signs other than slashes, and no dot at the start"
        )


def _names_a_folder(name: str) -> bool:
    fits = name.strip() and len(name.encode()) <= 200 and name.isprintable()
    return bool(fits) and not name.startswith(".") and "/" not in name and "\\" not in name


def _tame(value: str) -> str:
    """``value`` as part of a run's name."""
    return re.sub(r"[^\w.+-]+", "_", value).strip("_")


def _name_runs(jobs: Sequence[tuple[DictConfig, Sequence[tuple[str, str]]]]) -> None:
    """Give every job of a sweep a run of its own: the run's name and what tells the job from the others.

    A run that is swept itself, or written with an interpolation (``run='s_${seed}'``), is left as it is. The names
    depend on the values only, so that the same sweep, or a longer one, goes on with the runs that are there.
    """
    if not jobs or "run" not in jobs[0][0] or OmegaConf.is_missing(jobs[0][0], "run"):
        return
    for composed, varied in jobs:
        own = OmegaConf.is_interpolation(composed, "run") or any(path == "run" for path, _ in varied)
        if varied and not own:
            marks = [f"{path.rsplit('.', 1)[-1]}_{_tame(value)}" for path, value in varied]
            composed.run = "-".join([composed.run, *marks])
    names = [composed.run for composed, _ in jobs]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"run: two jobs of the sweep have the run {name!r}; write what differs into its name")
