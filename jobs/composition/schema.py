"""A job's keys, read off its schema dataclass.

A schema is a dataclass that OmegaConf understands. A field's metadata may say ``help`` (one line), ``choices`` (the
values a text may have), ``group`` (the folder of ``conf/`` whose files fill this part), ``files`` (the folder of
``conf/`` that the list's names are files of) and ``name`` (the text becomes part of a path). :func:`key` and
:func:`group` write such fields briefly.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import dataclass
from typing import Any

from omegaconf import MISSING

REQUIRED = MISSING
"""The default of a key that has none and must be given."""

_WANTED = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def key(
    help: str,
    default: Any = REQUIRED,
    *,
    factory: Callable[[], Any] | None = None,
    choices: Sequence[str] = (),
    files: str = "",
    name: bool = False,
) -> Any:
    """A field of a schema: a key with its meaning in one line.

    Without ``default`` and ``factory`` the key is required. ``choices`` are the values that a text may have; ``files``
    is a folder of ``conf/`` of which the list's entries name files; ``name`` is true where the text names a folder.
    """
    metadata = {"help": help, "choices": tuple(choices), "files": files, "name": name}
    if factory is not None:
        return dataclasses.field(default_factory=factory, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def group(schema: type[Any], help: str, default: str | None = None) -> Any:
    """A field of a schema that holds another schema.

    ``default`` names the file of the field's own folder in ``conf/`` that fills it, unless another is chosen; without
    it the part has no files, only keys.
    """
    return dataclasses.field(default_factory=schema, metadata={"help": help, "group": default})


@dataclass(frozen=True)
class Key:
    """One key of a job: its dotted path, type, default and meaning."""

    path: str
    type: Any
    default: Any
    help: str
    choices: tuple[str, ...]
    files: str
    name: bool

    @property
    def plain_type(self) -> Any:
        """The type without ``None``."""
        options = [option for option in typing.get_args(self.type) if option is not type(None)]
        return options[0] if self.optional else self.type

    @property
    def optional(self) -> bool:
        """Whether ``null`` is a value."""
        is_union = isinstance(self.type, types.UnionType) or typing.get_origin(self.type) is typing.Union
        return is_union and type(None) in typing.get_args(self.type)

    @property
    def is_text(self) -> bool:
        """Whether the value is taken as text exactly as typed."""
        return self.plain_type is str

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return bool(self.files) or typing.get_origin(self.plain_type) is list

    @property
    def is_list_of_text(self) -> bool:
        """Whether the entries of the list are text or names, taken exactly as typed."""
        return self.is_list and (bool(self.files) or typing.get_args(self.plain_type) == (str,))

    @property
    def is_open(self) -> bool:
        """Whether keys of the user's own may lie below this one."""
        return typing.get_origin(self.plain_type) is dict or self.plain_type in (dict, Any)

    @property
    def wanted(self) -> str:
        """What a value must be, in words."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.files:
            return f"a list of names of conf/{self.files}"
        words = "a list" if self.is_list else "a mapping" if self.is_open else _WANTED.get(self.plain_type, "a value")
        return f"{words} or null" if self.optional else words


@dataclass(frozen=True)
class Schema:
    """All keys of a job and the groups that fill parts of them."""

    keys: tuple[Key, ...]
    groups: dict[str, str | None]
    """Dotted path of each part that has a schema of its own, with the file that fills it (``None``: only keys)."""
    sections: tuple[str, ...]
    """Dotted paths of the parts that have a schema of their own."""

    @classmethod
    def of(cls, schema: type[Any]) -> Schema:
        """Read the keys off the dataclass ``schema``."""
        keys: list[Key] = []
        groups: dict[str, str | None] = {}
        sections: list[str] = []
        for path, field, kind in _fields(schema, ""):
            if dataclasses.is_dataclass(kind):
                sections.append(path)
                if field.metadata.get("group"):
                    groups[path] = field.metadata["group"]
                continue
            default = field.default_factory() if field.default_factory is not NO_DEFAULT else field.default
            data = field.metadata
            keys.append(
                Key(
                    path,
                    kind,
                    REQUIRED if default is NO_DEFAULT else default,
                    data.get("help", ""),
                    tuple(data.get("choices", ())),
                    data.get("files", ""),
                    bool(data.get("name", False)),
                )
            )
        return cls(tuple(keys), groups, tuple(sections))

    def find(self, path: str) -> Key | None:
        """The key at ``path``, or the key of open content above it; ``None`` where there is neither."""
        path = path.replace("[", ".").replace("]", "")
        exact = {key.path: key for key in self.keys}
        if path in exact:
            return exact[path]
        for key in self.keys:
            if path.startswith(f"{key.path}.") and (key.is_open or key.is_list):
                return key
        return None

    def beside(self, path: str) -> tuple[str, ...]:
        """The keys and parts in the deepest part of the schema that ``path`` leads to, as dotted paths."""
        words = path.split(".")
        depth = max(n for n in range(len(words)) if n == 0 or ".".join(words[:n]) in self.sections)
        prefix = "".join(f"{word}." for word in words[:depth])
        return tuple(
            prefix + name
            for name in dict.fromkeys(
                key.path[len(prefix) :].split(".")[0] for key in self.keys if key.path.startswith(prefix)
            )
        )

    def namesakes(self, path: str) -> tuple[str, ...]:
        """The keys anywhere in the schema whose last word is that of ``path``."""
        return tuple(key.path for key in self.keys if key.path.rsplit(".", 1)[-1] == path.rsplit(".", 1)[-1])


def _fields(schema: type[Any], prefix: str) -> Iterator[tuple[str, dataclasses.Field[Any], Any]]:
    hints = typing.get_type_hints(schema)
    for field in dataclasses.fields(schema):
        kind = hints[field.name]
        yield f"{prefix}{field.name}", field, kind
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            yield from _fields(kind, f"{prefix}{field.name}.")
