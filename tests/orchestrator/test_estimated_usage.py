"""Calls whose tokens the endpoint does not report are on record as estimated, killed and gone on with or not."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray
from llm_tournaments import Loopback, llm, llm_tournament, tables
from standin_tournaments import journal_of, start, tournament, wait_until

from agents.llm.contract import ChatReply, Usage
from orchestrator import run_tournament
from orchestrator.cluster import RayCluster
from orchestrator.config import ClusterConfig
from orchestrator.journal import Answer
from orchestrator.play import Setup
from orchestrator.rows import unused_call_row
from orchestrator.schedule import Schedule
from results.json_rows import table_from_json

HALF_UNREPORTED = ("--latency-ms", "20", "--rate", "no_usage=0.5")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with RayCluster(ClusterConfig(workers=1)):
        yield ray.get_runtime_context().gcs_address


def test_a_run_killed_and_gone_on_with_has_the_same_calls_as_estimated_as_an_undisturbed_one(
    tmp_path: Path, cluster: str
) -> None:
    with Loopback(*HALF_UNREPORTED) as server:
        agents = {"llm": llm(server.url, "skill_8"), "random": {"kind": "random"}}
        undisturbed = llm_tournament(tmp_path, agents, run="undisturbed", games=2, address=cluster)
        killed = llm_tournament(tmp_path, agents, run="killed", games=2, address=cluster)
        assert run_tournament(undisturbed, io.StringIO()).exit_code == 0
        calls = tables(undisturbed)["calls"].to_pylist()
        assert {row["usage_estimated"] for row in calls} == {True, False}
        for row in calls:
            assert row["usage_estimated"] is ("usage" not in json.loads(row["reply"]))
            assert row["input_tokens"] > 0
        until = next(number for number, row in enumerate(calls, start=4) if row["usage_estimated"])
        server.reset()
        child = start(killed)
        try:
            wait_until(lambda: child.poll() is not None or server.requests >= until, f"request {until} came")
            assert child.poll() is None
        finally:
            child.kill()
            child.wait()
        journal = journal_of(killed)
        kept = [json.loads(text)["reply"] for (text,) in journal.execute("SELECT answer FROM answers")]
        journal.close()
        assert any(reply["usage_estimated"] for reply in kept), "the game in flight has such an answer"
        assert run_tournament(killed, io.StringIO()).exit_code == 0
        assert tables(killed) == tables(undisturbed)


@pytest.mark.parametrize("estimated", [True, False])
def test_a_paid_call_of_a_game_that_became_void_says_it_too(tmp_path: Path, estimated: bool) -> None:
    config = tournament(tmp_path)
    reply = ChatReply("paid for", (), "stop", Usage(10, 2), raw="{}", usage_estimated=estimated)
    answer = Answer(0, 0, 0, 0, "digest", json.dumps({"reply": reply.to_json(), "at": 5}).encode())
    row = unused_call_row(Setup.of(config), Schedule(config)[0], 1, "m", answer)
    assert row is not None
    assert table_from_json("calls", [row])["usage_estimated"].to_pylist() == [estimated]
