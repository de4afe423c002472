"""The file that ``out=`` names: looked at before anything is done, and written whole or not at all."""

from __future__ import annotations

from pathlib import Path

from jobs.config import ConfigError


class OutputFile:
    """The file at ``path``. Raises :class:`ConfigError` where none can be written there; makes its folder."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        if self._path.is_dir():
            raise ConfigError(f"out: {path} is a folder; name a file in it")
        self._partial = self._path.with_name(f".{self._path.name}.partial")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._partial.touch()
            self._partial.unlink()
        except OSError as error:
            raise ConfigError(f"out: cannot write {path}: {error.strerror}") from error

    def write(self, text: str) -> None:
        """Put ``text`` there, and say so."""
        self._partial.write_text(text, encoding="utf-8")
        self._partial.replace(self._path)
        print(f"wrote {self._path}")
