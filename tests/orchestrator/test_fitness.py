"""A worker is taken out for games that others can play, and for nothing else."""

from __future__ import annotations

from orchestrator.fitness import Fitness


def failing(fitness: Fitness, worker: str, *games: str) -> None:
    for game in games:
        fitness.failed(worker, game)


def test_three_games_in_a_row_that_others_can_play_make_a_worker_unfit() -> None:
    fitness = Fitness()
    failing(fitness, "bad", "g1", "g2", "g3")
    assert (fitness.rests("bad"), fitness.unfit()) == (True, [])
    fitness.finished("good", "g1")
    fitness.finished("other", "g3")
    assert (fitness.rests("bad"), fitness.unfit()) == (True, [])
    fitness.finished("good", "g2")
    assert fitness.unfit() == ["bad"]
    assert fitness.streak("bad") == ["g1", "g2", "g3"]
    fitness.forget("bad")
    assert (fitness.unfit(), fitness.streak("bad"), fitness.rests("bad")) == ([], [], False)


def test_where_others_fail_too_a_worker_is_unfit_only_if_it_fails_again_when_they_play() -> None:
    fitness = Fitness()
    failing(fitness, "bad", "g1", "g2", "g3")
    failing(fitness, "good", "h1")
    assert (fitness.rests("bad"), fitness.unfit()) == (True, [])
    for game in ("g1", "g2", "g3"):
        fitness.finished("good", game)
    assert (fitness.rests("bad"), fitness.unfit()) == (False, []), "it is tried with one game more"
    failing(fitness, "bad", "g4")
    assert (fitness.rests("bad"), fitness.unfit()) == (True, ["bad"])


def test_trouble_in_which_all_fail_the_same_games_makes_nobody_unfit() -> None:
    fitness = Fitness()
    for worker in ("v", "w", "x"):
        failing(fitness, worker, "g1", "g2", "g3")
    assert all(fitness.rests(worker) for worker in ("v", "w", "x"))
    for game in ("g1", "g2", "g3"):
        fitness.finished("x", game)
    assert fitness.unfit() == []
    assert not any(fitness.rests(worker) for worker in ("v", "w", "x"))


def test_what_fails_while_no_other_is_at_work_is_held_against_nobody() -> None:
    fitness = Fitness()
    for game in ("g1", "g2", "g3"):
        fitness.failed("first", game, alone=True)
    for game in ("g1", "g2", "g3"):
        fitness.finished("second", game)
    assert (fitness.rests("first"), fitness.unfit()) == (False, [])


def test_failures_that_come_back_with_results_are_no_streak() -> None:
    fitness = Fitness()
    fitness.finished("w", "g9")
    failing(fitness, "w", "g1", "g2", "g3")
    for game in ("g1", "g2", "g3"):
        fitness.finished("good", game)
    assert fitness.unfit() == []
    fitness.finished("w", "g8")
    assert fitness.unfit() == []
    failing(fitness, "w", "g4", "g5", "g6")
    for game in ("g4", "g5", "g6"):
        fitness.finished("good", game)
    assert fitness.unfit() == ["w"]


def test_a_game_that_it_plays_makes_up_for_those_before() -> None:
    fitness = Fitness()
    failing(fitness, "w", "g1", "g2")
    fitness.finished("w", "g9")
    failing(fitness, "w", "g3", "g4")
    for game in ("g1", "g2", "g3"):
        fitness.finished("good", game)
    failing(fitness, "w", "g5")
    fitness.finished("good", "g4")
    assert fitness.unfit() == []


def test_games_that_nobody_can_play_tell_nothing_about_a_worker() -> None:
    fitness = Fitness()
    failing(fitness, "w", "g1", "g2", "g3", "g4")
    for game in ("g2", "g3", "g4"):
        fitness.void(game)
    fitness.finished("good", "g1")
    failing(fitness, "w", "g5")
    assert (fitness.rests("w"), fitness.unfit()) == (False, [])


def test_trouble_that_all_had_and_that_has_passed_makes_nobody_unfit() -> None:
    fitness = Fitness()
    failing(fitness, "w", "g1", "g2", "g3")
    failing(fitness, "v", "h1", "h2", "h3")
    for game in ("g1", "g2", "g3"):
        fitness.finished("v", game)
    assert fitness.unfit() == []
    fitness.finished("w", "h1")
    failing(fitness, "w", "g4")
    assert fitness.unfit() == []
