"""Whether the engine's unit tests notice small changes to its rules and cards: ``make mutation-check``.

Works in copies of the project in a temporary folder; the checkout is left alone. Each mutation of :mod:`mutations` is
made by itself, then the tests of ``tests/engine/ptcg`` run up to the first failure: all but random games and positions,
which would notice many changes without saying what the rule is; those that play whole games come last for that reason.

``python tests/mutation/check.py WORD ...`` makes only the mutations whose file or description has one of the words.
Exit code: 0 where at least 90 % are caught, 1 for fewer, 2 where the check itself cannot be made.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from mutations import MUTATIONS, Mutation

PROJECT = Path(__file__).parents[2]
ENGINE = Path("engine", "ptcg")
TESTS = Path("tests", "engine", "ptcg")
LAST = ("test_positions.py", "test_golden.py")
LEFT_OUT = ("test_properties.py", "test_random_positions.py")
SIDE_BY_SIDE = 2
AIM = 0.9
SECONDS_A_TEST = 60
STAMPS = count(1_000_000_000)
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "multirun", "runs")


class CheckError(Exception):
    """The check cannot be made; the text says why."""


class Verdict(NamedTuple):
    """What became of a mutation: the test that caught it, empty where it survived; what kept the tests from running."""

    mutation: Mutation
    caught_by: str
    fault: str = ""


def check_texts(project: Path, mutations: Sequence[Mutation]) -> None:
    """Raise :class:`CheckError` unless every old text stands exactly once in its file and every mutation is another."""
    for mutation in mutations:
        found = (project / ENGINE / mutation.file).read_text(encoding="utf-8").count(mutation.old)
        if found != 1 or mutation.old == mutation.new:
            raise CheckError(f"{mutation.file}: {mutation.old!r} occurs {found} times; it has to occur once and change")
    if len({(mutation.file, mutation.old) for mutation in mutations}) < len(mutations):
        raise CheckError("two mutations change the same text")


def run_tests(project: Path) -> str:
    """Run the unit tests of a copy; returns the first test that fails, or an empty text."""
    names = {path.name for path in (project / TESTS).glob("test_*.py")} - {*LAST, *LEFT_OUT}
    files = [str(TESTS / name) for name in (*sorted(names), *LAST)]
    options = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "pytest_timeout", f"--timeout={SECONDS_A_TEST}"]
    options += ["-p", "_hypothesis_pytestplugin", "--hypothesis-seed=0"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        # Plugins of what happens to be installed would take as long to load as the tests take.
        env={**os.environ, "PYTHONPATH": str(project), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    if done.returncode == 0:
        return ""
    failed = re.search(r"^FAILED (?:\S*/)?(\S+?\.py::[^\s\[]+)", done.stdout, re.MULTILINE)
    if done.returncode != 1 or failed is None:
        raise CheckError(f"the tests did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return failed[1]


def check_copy(project: Path) -> None:
    """Raise :class:`CheckError` unless the unchanged copy passes its tests and they import the copy's engine."""
    program = "import engine.ptcg; print(engine.ptcg.__path__[0])"
    environment = {**os.environ, "PYTHONPATH": str(project)}
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True, env=environment).stdout
    if Path(found.strip()) != project / ENGINE:
        raise CheckError(f"the tests would import {found.strip()} and not the copy in {project}")
    if failed := run_tests(project):
        raise CheckError(f"{failed} fails without any mutation")


def write(path: Path, text: str) -> None:
    """Write a module with a time of its own, so that the byte code of the text before is never taken for this one's."""
    path.write_text(text, encoding="utf-8")
    stamp = next(STAMPS)
    os.utime(path, (stamp, stamp))


def judge(project: Path, mutation: Mutation) -> Verdict:
    """Make one mutation in a copy, run the tests, take the mutation back."""
    path = project / ENGINE / mutation.file
    original = path.read_text(encoding="utf-8")
    write(path, original.replace(mutation.old, mutation.new))
    try:
        return Verdict(mutation, run_tests(project))
    except CheckError as error:
        return Verdict(mutation, "", str(error))
    finally:
        write(path, original)


def judge_all(mutations: Sequence[Mutation]) -> Iterator[Verdict]:
    """The verdicts in the order of the mutations, as they come; several copies of the project work side by side."""
    with tempfile.TemporaryDirectory(prefix="mutation-check-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(SIDE_BY_SIDE):
            copy = Path(folder).resolve() / str(number)
            shutil.copytree(PROJECT, copy, ignore=NOT_COPIED)
            copies.put(copy)
        check_texts(copy, mutations)
        check_copy(copy)

        def work(mutation: Mutation) -> Verdict:
            copy = copies.get()
            try:
                return judge(copy, mutation)
            finally:
                copies.put(copy)

        pool = ThreadPoolExecutor(SIDE_BY_SIDE)
        try:
            yield from pool.map(work, mutations)
        finally:
            pool.shutdown(cancel_futures=True)


def main(words: Sequence[str]) -> int:
    """Make the mutations, print a line each and the share caught; returns the exit code."""
    chosen = [m for m in MUTATIONS if not words or any(word in f"{m.file} {m.breaks}" for word in words)]
    if not chosen:
        raise CheckError(f"no mutation has {' or '.join(words)} in its file or description")
    begun = time.monotonic()
    caught = golden = 0
    faults: list[str] = []
    print(f"{'file':<16} {'what it breaks':<62} verdict")
    for mutation, caught_by, fault in judge_all(chosen):
        caught += bool(caught_by)
        golden += caught_by.startswith(LAST[-1])
        verdict = f"caught by {caught_by}" if caught_by else "TESTS DID NOT RUN" if fault else "SURVIVED"
        if fault:
            faults.append(f"{mutation.file}, {mutation.breaks}: {fault}")
        print(f"{mutation.file:<16} {mutation.breaks:<62} {verdict}", flush=True)
    minutes = (time.monotonic() - begun) / 60
    print(
        f"\n{caught} of {len(chosen)} mutations caught ({100 * caught / len(chosen):.1f} %), "
        f"{golden} of them by the golden playthroughs only; {minutes:.1f} minutes"
    )
    if faults:
        raise CheckError("\n".join(faults))
    return 0 if caught >= AIM * len(chosen) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except CheckError as error:
        print(f"mutation check: {error}", file=sys.stderr)
        sys.exit(2)
