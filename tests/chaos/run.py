"""Every fault that a run has to survive, brought about for real: ``make chaos``.

Each scenario plays a tournament with an agent that makes calls, does something bad to it, and lets it come to its end,
by the same command where it had stopped. Then the run must hold the games and decisions of an undisturbed one, and the
endpoint must have seen no call again but those that were in the air.

``python tests/chaos/run.py WORD ...`` plays only scenarios whose name has one of the words. Exit code: 0 where all went
as it should, 1 otherwise.
"""

from __future__ import annotations

import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path

from chaos_scenarios import SCENARIOS, Verdict, run_scenario
from chaos_scene import Endpoint, Scene

GAMES = 6
"""Of each pair of agents."""
_WIDE = 46
"""Of the widest column."""


def main(words: Sequence[str]) -> int:
    """Play the scenarios and print the table."""
    chosen = [one for one in SCENARIOS if not words or any(word in one.name for word in words)]
    begun = time.monotonic()
    verdicts = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, Endpoint() as endpoint:
        scene = Scene(Path(folder), endpoint, GAMES)
        try:
            for number, one in enumerate(chosen, 1):
                print(f"{number}/{len(chosen)} {one.name} ...", end="", flush=True, file=sys.stderr)
                verdicts.append(run_scenario(scene, one))
                how = f"MISS: {'; '.join(verdicts[-1].misses)}" if verdicts[-1].misses else "as it should"
                print(f" {how}", flush=True, file=sys.stderr)
        finally:
            scene.close()
    print(table(verdicts))
    missed = [verdict for verdict in verdicts if verdict.misses]
    for verdict in missed:
        print(f"\n{verdict.name}: {'; '.join(verdict.misses)}")
    good = len(verdicts) - len(missed)
    print(f"\n{good} of {len(verdicts)} as they should, {(time.monotonic() - begun) / 60:.1f} minutes")
    return int(bool(missed) or not verdicts)


def table(verdicts: Sequence[Verdict]) -> str:
    """All verdicts as a table of text; long cells take several lines."""
    head = ["fault", "what happened", "games equal", "calls repeated", "seconds"]
    rows = [head] + [[one.name, one.what or "MISS", one.equal, one.repeated, f"{one.seconds:.0f}"] for one in verdicts]
    wrapped = [[textwrap.wrap(cell, _WIDE) or [""] for cell in row] for row in rows]
    widths = [max(len(line) for row in wrapped for line in row[column]) for column in range(len(head))]
    lines = []
    for row in wrapped:
        for number in range(max(map(len, row))):
            cells = (cell[number] if number < len(cell) else "" for cell in row)
            lines.append("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
