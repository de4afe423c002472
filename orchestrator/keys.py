"""The keys of the models that a run asks: their environment variables, for processes on other machines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from agents.llm.models import ModelConfig


def key_variables(models: Iterable[ModelConfig]) -> Mapping[str, str]:
    """Name and value of the environment variables that hold the keys of ``models``, as far as they are set here."""
    names = dict.fromkeys(model.key_env for model in models if model.key_env is not None)
    return {name: os.environ[name] for name in names if os.environ.get(name)}
