"""When a worker gives the rest of a batch of games back."""

from __future__ import annotations

import pytest

from orchestrator.fitness import STREAK
from orchestrator.workers import LONGEST_BATCH_SECONDS, Reply, goes_back

PLAYED = Reply("g1", 1, 1, 0.1, outcome="win")
FAILED = Reply("g2", 1, 1, 0.1, cause="agent_error")
LONG = LONGEST_BATCH_SECONDS


@pytest.mark.parametrize(
    ("replies", "seconds", "back"),
    [
        pytest.param([], 10 * LONG, False, id="the first game is begun however long the worker took to come to it"),
        pytest.param([PLAYED], LONG / 2, False, id="quick games go on"),
        pytest.param([PLAYED], LONG, True, id="games that take long are counted one by one"),
        pytest.param([FAILED] * (STREAK - 1), 0.0, False, id="a few failures may be the games' own"),
        pytest.param([FAILED] * STREAK, 0.0, True, id="where all fail others are to have the rest"),
        pytest.param(
            [FAILED] * (STREAK - 1) + [PLAYED], 0.0, False, id="a game that was played ends a row of failures"
        ),
    ],
)
def test_the_rest_of_a_batch_goes_back(replies: list[Reply], seconds: float, back: bool) -> None:
    assert goes_back(replies, seconds) is back
