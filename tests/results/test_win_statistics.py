import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.statistics import Z_95, Record, wilson_interval


@pytest.mark.parametrize(
    ("score", "games", "interval"),
    [
        # 8 of 10: Wilson 1927, the textbook case; then the closed forms at 0, 1 and one half.
        (8, 10, (0.4902, 0.9433)),
        (50, 100, (0.4038, 0.5962)),
        (0, 10, (0.0, 3.841459 / 13.841459)),
        (10, 10, (10 / 13.841459, 1.0)),
        (0.5, 1, (0.5 - 0.5 * Z_95 / math.sqrt(1 + Z_95**2), 0.5 + 0.5 * Z_95 / math.sqrt(1 + Z_95**2))),
    ],
)
def test_intervals_are_wilsons(score, games, interval):
    assert wilson_interval(score, games) == pytest.approx(interval, abs=5e-5)


@given(st.integers(1, 10**7).flatmap(lambda games: st.tuples(st.integers(0, 2 * games), st.just(games))))
def test_an_interval_holds_the_rate_and_mirrors_for_the_opponent(points_and_games):
    points, games = points_and_games
    low, high = wilson_interval(points / 2, games)
    assert 0 <= low <= points / 2 / games <= high <= 1
    other_low, other_high = wilson_interval(games - points / 2, games)
    assert (other_low, other_high) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@pytest.mark.parametrize(("score", "games"), [(0, 0), (3, 2), (-1, 2)])
def test_there_is_no_interval_of_an_impossible_count(score, games):
    with pytest.raises(ValueError, match="no interval"):
        wilson_interval(score, games)


def test_a_record_counts_draws_and_turn_caps_as_half_and_voids_not_at_all():
    record = Record()
    for result, games in {"win": 3, "loss": 2, "draw": 1, "turn_cap": 2, "void": 7}.items():
        record.add(result, games)
    assert (record.games, record.score, record.win_rate) == (8, 4.5, 4.5 / 8)
    assert record.interval == wilson_interval(4.5, 8)


def test_a_record_of_void_games_only_has_no_rate():
    record = Record()
    record.add("void", 2)
    assert record.columns() == {
        "games": 0,
        "wins": 0,
        "draws": 0,
        "turn_caps": 0,
        "losses": 0,
        "voids": 2,
        "win_rate": None,
        "win_rate_low": None,
        "win_rate_high": None,
    }


def test_a_record_refuses_what_is_no_result():
    with pytest.raises(ValueError, match="'won' is no result"):
        Record().add("won", 1)
