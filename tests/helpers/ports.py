"""Ports for servers that tests start and that must be told theirs beforehand."""

from __future__ import annotations

import random
import socket

# Above the ones that a Ray cluster takes by custom (8265, 10001 to 24000), under those that Linux hands out by itself
# (from 32768): one of these might be somebody's own by the time the server gets to it.
_FROM, _TO = 24_100, 32_700


def free_port() -> int:
    """A port of this machine that nobody listens on just now and that nobody is given unless he asks for it."""
    draw = random.SystemRandom()
    while True:
        port = draw.randrange(_FROM, _TO)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
