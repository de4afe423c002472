"""Environment variables that a job needs: which they are, and how they get to the cluster without standing anywhere.

What Ray is told of a job's environment stands in its log files and in its dashboard. So values go another way. They are
put into the memory of Ray's own store, made unreadable with a one-time pad that goes with the job; the job reads them
there, and deletes them once it has ended for good. Neither half tells anything alone.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from omegaconf import DictConfig, OmegaConf

from agents.llm.models import ModelError
from jobs.config import ConfigError
from orchestrator.providers import model_of

PAD: Final = "PRIZEFIGHT_VARIABLES"
"""The variable of a job that says where its variables are and how they are read."""
_INTERPOLATION: Final = re.compile(r"\$\{oc\.env:\s*([A-Za-z_]\w*)")
_PACKAGE: Final = re.compile(r"_ray_pkg_variables_[0-9a-f]{32}\.zip")


def wanted(composed: DictConfig, config: Any, more: Iterable[str]) -> dict[str, str]:
    """Name and value of the variables that a job of this configuration reads, and of those that ``more`` names.

    They are the keys of its models, which must be set here, and what its interpolations name, as far as that is set.
    Raises :class:`ConfigError`.
    """
    found = {name: os.environ[name] for name in _INTERPOLATION.findall(_text(composed)) if name in os.environ}
    for entry in getattr(config, "agents", None) or ():
        if isinstance(entry, Mapping):
            try:
                model = model_of(entry)
                if model is not None and model.key_env is not None:
                    model.key()
                    found[model.key_env] = os.environ[model.key_env]
            except (ModelError, ValueError) as error:
                raise ConfigError(f"agents.{entry.get('name')}: {error}") from error
    for name in more:
        if name not in os.environ:
            raise ConfigError(f"cluster.variables: there is no environment variable {name!r} here")
        found[name] = os.environ[name]
    return found


def _text(composed: DictConfig) -> str:
    return json.dumps(OmegaConf.to_container(composed, resolve=False), default=str)


def pack(variables: Mapping[str, str]) -> tuple[str, bytes, str]:
    """A name for what goes into Ray's store, what goes there, and what goes with the job."""
    text = json.dumps(dict(variables)).encode()
    pad = secrets.token_bytes(len(text))
    name = f"_ray_pkg_variables_{secrets.token_hex(16)}.zip"
    return name, _apply(pad, text), f"{name}:{pad.hex()}"


def place(told: str) -> str:
    """The name in Ray's store, from what went with the job. Raises ``LookupError`` where it is none of ours."""
    name = told.partition(":")[0]
    if not _PACKAGE.fullmatch(name):
        raise LookupError(f"{PAD} does not name a place of variables")
    return name


def unpack(told: str, find: Callable[[str], bytes | None]) -> dict[str, str]:
    """The variables, from what went with the job and what ``find`` finds in Ray's store under a name.

    Raises ``LookupError`` where there is nothing any more.
    """
    text = find(place(told))
    if text is None:
        raise LookupError(
            "the variables that were sent with this job are not in the cluster's memory any more: it has ended for "
            "good before, or the head node was started anew"
        )
    variables: dict[str, str] = json.loads(_apply(bytes.fromhex(told.partition(":")[2]), text))
    return variables


def _apply(pad: bytes, text: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(pad, text, strict=True))
