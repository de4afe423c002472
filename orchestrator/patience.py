"""Trying again where the storage does not answer, is slow, or has enough of us for now."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

import pyarrow as pa
import tenacity

from orchestrator.writer import WriterFenced
from results.location import Location, StorageError, StorageUnreachable, first_line

_Value = TypeVar("_Value")

_FIRST_SECONDS: Final = 0.5
_LONGEST_SECONDS: Final = 15.0
_LOOK_SECONDS: Final = 0.1
_WRONG: Final = ("NO_SUCH_BUCKET", "ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH")
"""What the AWS client calls errors that no waiting mends."""


class StorageGivenUp(StorageError):
    """The storage has not answered until the time for it was over."""


class Patience:
    """Runs operations on ``place``, again and again until one succeeds or the deadline has passed.

    On a local disk nothing is tried again: what fails there, such as a write to a full disk, fails the next time too.
    ``say`` is told once when the trouble begins and once when it is over. An operation must be such that it may be done
    twice. Raises :class:`StorageGivenUp` at the deadline. With ``at_start`` neither is tried again what a wrong address
    or wrong credentials bring about; later they have been right once, and may be again.
    """

    def __init__(self, place: Location, say: Callable[[str], None], at_start: bool = False) -> None:
        self._place = place
        self._say = say
        self._at_start = at_start
        self._deadline = float("inf")
        self._trouble = False

    def until(self, seconds: float) -> None:
        """From now on it ends in so many seconds, also for what is being tried already."""
        self._deadline = time.monotonic() + seconds

    def forever(self) -> None:
        """From now on there is no deadline."""
        self._deadline = float("inf")

    def __call__(self, operation: Callable[[], _Value]) -> _Value:
        """The value of ``operation``, once it has one."""
        if self._place.is_local:
            return operation()
        try:
            value = tenacity.Retrying(
                wait=tenacity.wait_exponential_jitter(
                    multiplier=_FIRST_SECONDS, max=_LONGEST_SECONDS, jitter=_FIRST_SECONDS
                ),
                retry=tenacity.retry_if_exception(self._passes),
                stop=lambda state: time.monotonic() >= self._deadline,
                before_sleep=self._tell,
                sleep=self._sleep,
                reraise=True,
            )(operation)
        except (OSError, StorageError, pa.ArrowException) as error:
            if self._passes(error):
                raise StorageGivenUp(f"{self._place.path}: the storage does not answer: {first_line(error)}") from error
            raise
        if self._trouble:
            self._trouble = False
            self._say(f"the storage at {self._place.path} answers again")
        return value

    def _tell(self, state: tenacity.RetryCallState) -> None:
        if not self._trouble and state.outcome is not None and (error := state.outcome.exception()) is not None:
            self._trouble = True
            self._say(f"the storage at {self._place.path} does not answer, trying on: {first_line(error)}")

    def _passes(self, error: BaseException) -> bool:
        """Whether it may go well another time."""
        if isinstance(error, WriterFenced | FileNotFoundError | StorageGivenUp):
            return False
        if self._at_start and any(sign in str(error) for sign in _WRONG):
            return False
        return isinstance(error, OSError | StorageUnreachable)

    def _sleep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (now := time.monotonic()) < min(until, self._deadline):
            time.sleep(min(_LOOK_SECONDS, until - now))
