"""Why a worker was lost, told from what Ray says: the words are Ray's own, of version 2.60."""

from __future__ import annotations

import pytest
from ray.exceptions import (
    ActorDiedError,
    ActorUnavailableError,
    NodeDiedError,
    OutOfMemoryError,
    RayError,
    RuntimeEnvSetupError,
)

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


def test_why_a_worker_could_not_start_is_what_was_raised_there_and_not_what_ray_makes_of_it() -> None:
    head = "\x1b[36mray::GameWorker.__init__()\x1b[39m (pid=7, ip=192.0.2.9, actor_id=ac3e, repr=<Actor at 0x7f01>)"
    died = ActorDiedError()
    died._actor_init_failed = True
    died.error_msg = (
        f"The actor died because of an error raised in its creation task, {head}\n"
        '  File "/lib/_base.py", line 401, in __get_result\n    raise self._exception\n           ^^^^^^^^\n'
        "RuntimeError: The actor with name GameWorker failed to import on the worker. This may be because:\n\n"
        f"{head}\n                  ^^^^^^^^\nModuleNotFoundError: No module named 'orchestrator'"
    )
    found = death_of(died)
    assert found.detail == "its start failed on 192.0.2.9: ModuleNotFoundError: No module named 'orchestrator'"
    died.error_msg = f"creation task, {head}\n  File 'a', line 1\n    open(a)\nlib.Refused: not here\nnor there"
    assert death_of(died).detail == "its start failed on 192.0.2.9: lib.Refused: not here"
    env = RuntimeEnvSetupError("Could not create it\nTraceback:\n  File 'a', line 1\nOSError: no code")
    assert death_of(env).detail == "its start failed: OSError: no code"


def test_how_a_process_ended_is_told_where_ray_knows() -> None:
    told = (
        "The actor died unexpectedly before finishing this task.\n\tpid: 77\n"
        "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: "
        "Worker unexpectedly exits with a connection error code 2. End of file. Some common causes include: (1) "
        "the process was killed by the OOM killer\nThe actor never ran - it was cancelled before it started running."
    )
    died = ActorDiedError()
    died.error_msg = told
    ended = "the worker process died: Worker unexpectedly exits with a connection error code 2. End of file"
    assert death_of(died).detail == ended


def test_a_worker_whose_node_died_is_not_taken_for_one_whose_process_did() -> None:
    died = ActorDiedError()
    died.error_msg = NODE
    assert death_of(died).lost_with is LostWith.NODE
    died.error_msg = PROCESS
    assert death_of(died).lost_with is LostWith.PROCESS
