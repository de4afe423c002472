"""The match's own randomness: counters into a keyed hash, one stream for each purpose.

A stream is (seed, purpose, counter); only the counters change, so a state holds four small integers and equal seeds
give equal shuffles on every machine. Separate streams keep two games from one seed comparable: a coin more in one of
them does not change the other's shuffles.
"""

from __future__ import annotations

from hashlib import shake_128
from struct import unpack

SETUP, SHUFFLE_0, SHUFFLE_1, COINS = range(4)
STREAMS = 4


def shuffle(cards: list[int], seed: int, stream: int, counter: int) -> None:
    """Shuffle in place (Fisher-Yates on 32-bit draws; the bias of a place is below 60/2³²)."""
    n = len(cards)
    if n < 2:
        return
    draws = unpack(f"<{n}I", shake_128(b"%d/%d/%d" % (seed, stream, counter)).digest(4 * n))
    for i in range(n - 1, 0, -1):
        j = (draws[i] * (i + 1)) >> 32
        cards[i], cards[j] = cards[j], cards[i]


def coin(seed: int, stream: int, counter: int) -> bool:
    """A fair coin: true for heads."""
    return bool(shake_128(b"%d/%d/%d" % (seed, stream, counter)).digest(1)[0] & 1)
