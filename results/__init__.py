"""The results of tournaments: schemas, the run store, ratings, win rates and comparisons."""

from results.location import StorageError
from results.manifest import Manifest
from results.store import Run, RunError

__all__ = ["Manifest", "Run", "RunError", "StorageError"]
