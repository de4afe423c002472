"""The head of a cluster that was joined: away for a moment, back, another one, and given up."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import ray
from standin_tournaments import wait_until

from orchestrator import access, servers
from orchestrator.access import cluster_id
from orchestrator.cluster import RayCluster
from orchestrator.config import ClusterConfig, ConfigError
from orchestrator.processes import children
from orchestrator.servers import Servers


class Head:
    """What a head says of itself, and a clock that goes when it is told to."""

    def __init__(self) -> None:
        self.said: bytes | None = b"the one that was joined"
        self.asked = 0
        self.now = 1000.0

    def ask(self, address: str) -> bytes | None:
        assert address == "host:6379"
        self.asked += 1
        return self.said

    def clock(self) -> float:
        return self.now

    def says(self, said: bytes | None) -> None:
        """From now on; returns once that has been heard."""
        self.said = said
        asked = self.asked
        wait_until(lambda: self.asked >= asked + 2, "it was asked again")


@pytest.fixture
def head() -> Head:
    return Head()


@pytest.fixture
def watch(head: Head, monkeypatch: pytest.MonkeyPatch) -> Iterator[Servers]:
    monkeypatch.setattr(servers, "_LOOK_SECONDS", 0.01)
    watch = Servers("host:6379", head.ask, head.clock)
    wait_until(lambda: head.asked, "it was asked")
    yield watch
    watch.close()


def test_a_head_that_is_away_is_asked_nothing_until_it_is_back(head: Head, watch: Servers) -> None:
    assert not watch.away
    head.says(None)
    head.now += 29.0
    assert watch.away
    assert watch.ended is None
    head.says(b"the one that was joined")
    head.now += 29.0
    assert not watch.away
    assert watch.ended is None


def test_a_head_that_stays_away_is_given_up_and_named(head: Head, watch: Servers) -> None:
    head.says(None)
    head.now += 31.0
    assert watch.ended == "the head of the Ray cluster at host:6379 has not answered for 30 s"


@pytest.mark.parametrize("said", [b"another one", b""], ids=["another", "one that refuses our token"])
def test_a_head_that_is_another_one_is_the_end_at_once(said: bytes, head: Head, watch: Servers) -> None:
    head.says(None)
    head.says(said)
    assert watch.away
    assert watch.ended == "another Ray answers at host:6379 than the one that was joined, which is lost"


def test_a_client_of_a_cluster_looks_at_no_head() -> None:
    watch = Servers("")
    assert not watch.away
    assert watch.ended is None


def stands_still(process: int) -> bool:
    """Whether all threads of the process are stopped."""
    tasks = Path(f"/proc/{process}/task").glob("*/stat")
    return all(task.read_text().rpartition(")")[2].split()[0] == "T" for task in tasks)


def test_a_real_head_says_who_it_is_and_one_that_stands_still_says_nothing() -> None:
    with RayCluster(ClusterConfig(workers=1)):
        address = ray.get_runtime_context().gcs_address
        server = children(os.getpid(), "gcs_server")[0]
        first = cluster_id(address)
        os.kill(server, signal.SIGSTOP)
        try:
            # A thread of it may go on for a moment after the signal was sent.
            wait_until(lambda: stands_still(server), "every thread of it has stopped")
            assert cluster_id(address) is None
        finally:
            os.kill(server, signal.SIGCONT)
        assert first
        assert cluster_id(address) == first
    assert cluster_id(address) is None


def test_an_address_at_which_somebody_listens_and_says_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_REACH_SECONDS", 0.5)
    with closing(socket.create_server(("127.0.0.1", 0))) as somebody:
        address = f"127.0.0.1:{somebody.getsockname()[1]}"
        with pytest.raises(ConfigError, match=f"cluster.address: whoever listens at '{address}' has not answered"):
            access.show_token(address)
