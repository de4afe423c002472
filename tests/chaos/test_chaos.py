"""The short form of ``make chaos``: what is most likely to happen to a run, brought about for real."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from chaos_scenarios import SHORT, Scenario, run_scenario
from chaos_scene import Endpoint, Scene

GAMES = 4
"""Of each pair of agents."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with Endpoint() as endpoint:
        scene = Scene(tmp_path_factory.mktemp("chaos"), endpoint, GAMES)
        try:
            yield scene
        finally:
            scene.close()


@pytest.mark.parametrize("one", SHORT, ids=[one.name.replace(" ", "_") for one in SHORT])
def test_the_run_holds_the_games_of_an_undisturbed_one_and_no_answered_call_is_made_again(
    scene: Scene, one: Scenario
) -> None:
    verdict = run_scenario(scene, one)
    assert verdict.misses == []
    assert verdict.equal == "yes"
