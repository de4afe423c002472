"""How many workers there are: as configured or as many as processors, and fewer while memory is short."""

from __future__ import annotations

import pytest
from clocks import Clock

from orchestrator.capacity import QUIET_SECONDS, Capacity


@pytest.mark.parametrize(("configured", "wanted"), [(None, [4, 9, 2, 1]), (3, [3, 3, 3, 3])])
def test_workers_are_as_configured_or_follow_the_processors(configured: int | None, wanted: list[int]) -> None:
    capacity = Capacity(configured, 64, Clock())
    assert [capacity.workers(processors) for processors in (4, 9, 2, 0)] == wanted


def test_a_want_of_memory_takes_workers_away_and_quiet_gives_them_back_one_by_one() -> None:
    clock = Clock()
    capacity = Capacity(4, 64, clock)
    for left in (3, 2, 1, 1):
        capacity.one_worker_fewer()
        assert capacity.workers(0) == left
    clock.now += QUIET_SECONDS - 1
    assert capacity.workers(0) == 1
    seen = []
    for _ in range(4):
        clock.now += QUIET_SECONDS
        seen.append(capacity.workers(0))
    assert seen == [2, 3, 4, 4]


def test_a_worker_that_is_alone_on_its_node_keeps_fewer_games_open_for_a_while() -> None:
    clock = Clock()
    capacity = Capacity(1, 5, clock)
    seen = []
    for _ in range(4):
        seen.append(capacity.games_in_flight)
        capacity.fewer_games()
    assert seen == [5, 2, 1, 1]
    seen = []
    for _ in range(4):
        clock.now += QUIET_SECONDS
        assert capacity.workers(0) == 1
        seen.append(capacity.games_in_flight)
    assert seen == [2, 4, 5, 5]
