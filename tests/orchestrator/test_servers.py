"""The head of a cluster that was joined: away for a moment, back, and given up."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest
from standin_tournaments import wait_until

from orchestrator import servers
from orchestrator.servers import Servers


class Time:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_LOOK_SECONDS", 0.02)


def listening(port: int = 0) -> socket.socket:
    return socket.create_server(("127.0.0.1", port))


def test_a_head_that_is_away_is_asked_nothing_until_it_is_back() -> None:
    clock = Time()
    with closing(listening()) as head:
        port = head.getsockname()[1]
        watch = Servers(f"127.0.0.1:{port}", clock)
        try:
            assert not watch.away
            head.close()
            wait_until(lambda: watch.away, "it was missed")
            clock.now += 29.0
            assert watch.ended is None
            with closing(listening(port)):
                wait_until(lambda: not watch.away, "it was seen again")
                clock.now += 29.0
                assert watch.ended is None
        finally:
            watch.close()


def test_a_head_that_stays_away_is_given_up_and_named() -> None:
    clock = Time()
    with closing(listening()) as head:
        port = head.getsockname()[1]
        watch = Servers(f"127.0.0.1:{port}", clock)
        try:
            head.close()
            wait_until(lambda: watch.away, "it was missed")
            clock.now += 31.0
            assert watch.ended == f"the head of the Ray cluster at 127.0.0.1:{port} has not answered for 30 s"
        finally:
            watch.close()


def test_a_client_of_a_cluster_looks_at_no_head() -> None:
    watch = Servers("")
    assert not watch.away
    assert watch.ended is None
