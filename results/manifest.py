"""The manifest of a run: what the run is, by which versions it was written, and when it was started."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from results.schema import READABLE_VERSIONS, SCHEMA_VERSION

MANIFEST_NAME = "manifest.json"


class ManifestError(ValueError):
    """A manifest that cannot be read; the text says what is wrong with it."""


@dataclass(frozen=True)
class Manifest:
    """``manifest.json``.

    ``identity`` is all that can alter a game or a call, as plain JSON values; ``schedule_digest`` the digest of the
    schedule as it is now; ``starts`` has an entry a start with what may change between starts. In a ``checkpointed``
    run a checkpoint says which parts count.
    """

    run: str
    identity: Mapping[str, Any]
    schedule_digest: str
    engine_version: str
    schema_version: int = SCHEMA_VERSION
    starts: tuple[Mapping[str, Any], ...] = field(default=())
    checkpointed: bool = False

    def to_json(self) -> str:
        """JSON text that people can read, ending in a newline."""
        content = {
            "run": self.run,
            "schema_version": self.schema_version,
            "engine_version": self.engine_version,
            **({"checkpointed": True} if self.checkpointed else {}),
            "schedule_digest": self.schedule_digest,
            "identity": self.identity,
            "starts": list(self.starts),
        }
        return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read :meth:`to_json` back.

        Raises :class:`ManifestError` for text that is no manifest, or of a schema version that cannot be read.
        """
        try:
            content = json.loads(text)
        except ValueError as error:
            raise ManifestError(f"not JSON ({error}); the manifest is torn or foreign") from error
        if not isinstance(content, dict):
            raise ManifestError("not a JSON object; this is not the manifest of a run")
        kinds = {
            "run": str,
            "schema_version": int,
            "engine_version": str,
            "schedule_digest": str,
            "identity": dict,
            "starts": list,
        }
        for key, kind in kinds.items():
            if not isinstance(content.get(key), kind):
                raise ManifestError(f"{key!r} is missing or not a {kind.__name__}; this is not the manifest of a run")
        version = content["schema_version"]
        if version not in READABLE_VERSIONS:
            first, last = READABLE_VERSIONS[0], READABLE_VERSIONS[-1]
            raise ManifestError(f"written with schema version {version}; this program reads versions {first} to {last}")
        return cls(
            run=content["run"],
            identity=content["identity"],
            schedule_digest=content["schedule_digest"],
            engine_version=content["engine_version"],
            schema_version=version,
            starts=tuple(content["starts"]),
            checkpointed=content.get("checkpointed") is True,
        )
