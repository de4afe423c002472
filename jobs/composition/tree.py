"""The tree of configuration files: composing through Hydra, and finding the files of a group."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from jobs.composition.errors import FOREIGN_ERRORS, ConfigError, explain, unknown
from jobs.composition.overrides import Groups, quote, set_values
from jobs.composition.schema import Schema

OURS = Path(__file__).resolve().parents[2] / "conf"
"""The folder of the configuration files that come with Prizefight. Not imported: users have folders named conf too."""

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Tree:
    """Folders of configuration files: the user's own, then ours. Of two files of one name the first counts."""

    folders: tuple[Path, ...]
    _loaded: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict, compare=False, repr=False)
    """Files that were composed already: a sweep asks for the same agents again and again."""

    @classmethod
    def of(cls, own: Sequence[str]) -> Tree:
        """The user's ``own`` folders in front of ours. Raises :class:`ConfigError` where one does not exist."""
        for folder in own:
            if not Path(folder).is_dir():
                raise ConfigError(f"--config-dir {folder}: there is no such folder")
        return cls((*(Path(folder).resolve() for folder in own), OURS))

    def options(self, group: str, suffix: str = ".yaml") -> tuple[str, ...]:
        """The names of the files of ``group``, sorted."""
        files = (file for folder in self.folders for file in (folder / group).glob(f"*{suffix}"))
        return tuple(sorted({file.name.removesuffix(suffix) for file in files}))

    def file(self, group: str, name: str, suffix: str = ".yaml") -> Path:
        """The file ``name`` of ``group``. Raises :class:`ConfigError` that lists all where there is none."""
        options = self.options(group, suffix)
        if name not in options:
            raise unknown(group, name, options, where=f"conf/{group} has")
        return next(path for folder in self.folders if (path := folder / group / f"{name}{suffix}").is_file())

    def groups(self, schema: Schema, more: Sequence[str]) -> Groups:
        """The groups that can be chosen for a job: those that fill parts of its schema, and ``more``."""
        return Groups({path: self.options(path.replace(".", "/")) for path in (*schema.groups, *more)})

    def compose(
        self, primary: str, schema: Schema, choices: Sequence[str] = (), values: Sequence[Override] = ()
    ) -> DictConfig:
        """Compose ``primary`` with the files that ``choices`` name, then set ``values``.

        Raises :class:`ConfigError`, one line, where that fails.
        """
        first, *others = self.folders
        path = ",".join(quote(f"file://{folder}") for folder in others)
        search = [f"hydra.searchpath=[{path}]"] if others else []
        try:
            with warnings.catch_warnings():
                # A file of a user's own without _self_ in its defaults list means what it says all the same.
                warnings.simplefilter("ignore")
                with initialize_config_dir(str(first), version_base="1.3", job_name="prizefight"):
                    composed = compose(primary, [*search, *choices])
            set_values(composed, values)
        except ConfigError:
            raise
        except RecursionError as error:
            raise ConfigError("a file's defaults list leads back to the file itself") from error
        except (*FOREIGN_ERRORS, ValueError) as error:
            raise ConfigError(explain(error, schema)) from error
        return composed

    def load(self, group: str, name: str, schema: Schema) -> dict[str, Any]:
        """The content of one file of ``group``, its own defaults list applied; interpolations are left as they are."""
        if (group, name) not in self._loaded:
            self._loaded[group, name] = self._load(group, name, schema)
        return copy.deepcopy(self._loaded[group, name])

    def _load(self, group: str, name: str, schema: Schema) -> dict[str, Any]:
        self.file(group, name)
        composed = self.compose(_register_empty(), schema, [f"+{group}={quote(name)}"])
        content = OmegaConf.to_container(composed.get(group) or OmegaConf.create())
        if not isinstance(content, dict):
            raise ConfigError(f"conf/{group}/{name}.yaml: a mapping of keys is wanted")
        return {str(key): value for key, value in content.items()}


def _register_empty() -> str:
    """A primary configuration without content. Hydra looks for a primary one in the first folder and its store only."""
    ConfigStore.instance().store("_empty", {})
    return "_empty"


def register(name: str, schema: type[Any], config: str | None, more: Sequence[str]) -> str:
    """Make the primary configuration of the job ``name`` known to Hydra and return what Hydra calls it.

    It is our file ``config`` of ``conf/``, or what the schema's groups say, with ``more`` groups to choose from; its
    values are checked by ``schema``. It is held in Hydra's store rather than searched for, so that a ``config.yaml`` in
    a user's folder never takes its place.
    """
    content: Mapping[str, Any] = {}
    if config is not None:
        loaded = OmegaConf.to_container(OmegaConf.load(OURS / f"{config}.yaml"))
        assert isinstance(loaded, dict)
        content = {str(key): value for key, value in loaded.items()}
    chosen = [{path.replace(".", "/"): file} for path, file in Schema.of(schema).groups.items()]
    defaults = content.get("defaults", [*chosen, "_self_", *({group: None} for group in more)])
    store = ConfigStore.instance()
    store.store(f"_{name}_schema", schema)
    store.store(f"_{name}", {**content, "defaults": [f"_{name}_schema", *defaults]})
    return f"_{name}"


def resolved(read: Callable[[], _Value], schema: Schema) -> _Value:
    """What ``read`` gives of a composed configuration, faults of interpolation and type as :class:`ConfigError`."""
    try:
        return read()
    except FOREIGN_ERRORS as error:
        raise ConfigError(explain(error, schema)) from error
