"""Who is next, and how a number is shared, so that nobody starves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class FairOrder(Generic[Key]):
    """Turns among keys that come and go: the next is whoever has had least for its weight.

    Who was away does not catch up: its turn comes at once, but not several in a row.
    """

    def __init__(self) -> None:
        self._had: dict[Key, float] = {}
        self._turn: dict[Key, int] = {}
        self._turns = 0
        self._floor = 0.0

    def rank(self, key: Key) -> tuple[float, int]:
        """Less is earlier."""
        return max(self._had.get(key, 0.0), self._floor), self._turn.get(key, 0)

    def next(self, keys: Iterable[Key]) -> Key:
        """Whose turn it is among ``keys``, of which there is at least one."""
        key = min(keys, key=self.rank)
        self._floor = self.rank(key)[0]
        return key

    def charge(self, key: Key, amount: float) -> None:
        """``key`` has had ``amount`` (already divided by its weight)."""
        self._turns += 1
        self._turn[key] = self._turns
        self._had[key] = max(self._had.get(key, 0.0), self._floor) + amount

    def forget(self, key: Key) -> None:
        """``key`` is gone for good."""
        self._had.pop(key, None)
        self._turn.pop(key, None)


def share_equally(wants: Mapping[Key, int], total: int, rank: Callable[[Key], Any]) -> dict[Key, int]:
    """``total`` shared so that nobody gets more than wanted and the least served gets as much as can be.

    What cannot be divided goes to those first in ``rank``.
    """
    shares: dict[Key, int] = {}
    left = total
    for place, key in enumerate(sorted(wants, key=lambda key: wants[key])):
        shares[key] = min(wants[key], left // (len(wants) - place))
        left -= shares[key]
    return _hand_out(shares, wants, left, rank)


def share_in_proportion(wants: Mapping[Key, int], total: int, rank: Callable[[Key], Any]) -> dict[Key, int]:
    """``total`` shared in proportion to ``wants``; what cannot be divided goes to those first in ``rank``."""
    wanted = sum(wants.values())
    if wanted <= total:
        return dict(wants)
    shares = {key: want * total // wanted for key, want in wants.items()}
    return _hand_out(shares, wants, total - sum(shares.values()), rank)


def _hand_out(
    shares: dict[Key, int], wants: Mapping[Key, int], left: int, rank: Callable[[Key], Any]
) -> dict[Key, int]:
    if left > 0:
        for key in sorted((key for key in shares if shares[key] < wants[key]), key=rank)[:left]:
            shares[key] += 1
    return shares
