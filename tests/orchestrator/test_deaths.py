"""Why a worker was lost, told from what Ray says: the words are Ray's own, of version 2.60."""

from __future__ import annotations

import pytest
from ray.exceptions import ActorDiedError, ActorUnavailableError, NodeDiedError, OutOfMemoryError, RayError

from orchestrator.deaths import LostWith, death_of

NODE = "The actor died because its node has died. Node Id: 7a1c\n\tthe actor's node was terminated unexpectedly: ..."
PROCESS = (
    "The actor died unexpectedly before finishing this task.\n\tclass_name: GameWorker\n\tpid: 77\n"
    "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR"
)


@pytest.mark.parametrize(
    ("error", "lost_with", "told"),
    [
        (RayError(PROCESS), LostWith.PROCESS, "The actor died unexpectedly"),
        (NodeDiedError(NODE), LostWith.NODE, "its node is lost: The actor died because its node has died"),
        (ActorUnavailableError("The actor is unavailable: RpcError", None), LostWith.NODE, "unavailable"),
        (OutOfMemoryError("Task was killed due to the node running low on memory."), LostWith.MEMORY, "low on memory"),
        (RayError(""), LostWith.PROCESS, "RayError"),
    ],
)
def test_the_cause_is_told_in_one_line(error: RayError, lost_with: LostWith, told: str) -> None:
    death = death_of(error)
    assert death.lost_with is lost_with
    assert told in death.detail
    assert "\n" not in death.detail
    assert len(death.detail) <= 300


def test_a_worker_whose_node_died_is_not_taken_for_one_whose_process_did() -> None:
    died = ActorDiedError()
    died.error_msg = NODE
    assert death_of(died).lost_with is LostWith.NODE
    died.error_msg = PROCESS
    assert death_of(died).lost_with is LostWith.PROCESS
