import re
import subprocess
import sys
from pathlib import Path

import pytest
from game_rows import game_row, new_run

from results.aggregation import aggregate
from results.describe import described
from results.schema import SCHEMA_VERSION, TABLES

PAGE = (Path(__file__).parents[2] / "docs/results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", TABLES)
def test_the_page_shows_every_column_as_it_is(table):
    assert f"### `{table}`\n\n{described(table)}\n" in PAGE


def test_the_page_is_of_this_schema_version():
    assert f"The schema version of this page is {SCHEMA_VERSION};" in PAGE


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL))
def test_what_the_page_tells_to_type_works(tmp_path, code):
    run = new_run(tmp_path / "runs/first", [game_row(1, "0", turns=9), game_row(2, "1", turns=4), game_row(3, "void")])
    aggregate(run).write(run)
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "prizes" in ended.stdout or "entrant" in ended.stdout
