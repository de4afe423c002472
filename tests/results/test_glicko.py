import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from results.glicko import Opposition, PairScore, RatedPlayer, Rating, rate


def play(start, *opponents, tau=0.5):
    player = RatedPlayer(start, tau)
    player.play_period(opponents)
    return player.values


def test_glickmans_example():
    after = play(
        Rating(1500, 200, 0.06), Opposition(1400, 30, 1, 1), Opposition(1550, 100, 1, 0), Opposition(1700, 300, 1, 0)
    )
    assert after.rating == pytest.approx(1464.05, abs=0.02)
    assert after.rating_deviation == pytest.approx(151.52, abs=0.01)
    assert after.volatility == pytest.approx(0.05999, abs=0.00001)


def test_volatility_follows_the_rating_deviation_not_the_rating():
    assert play(Rating(1900, 80, 0.06), Opposition(1500, 60, 20, 0)).volatility == pytest.approx(0.06256, abs=5e-6)


def test_a_period_without_games_only_raises_the_deviation():
    after = play(Rating(1700, 200, 0.06))
    assert (after.rating, after.volatility) == (pytest.approx(1700), 0.06)
    assert after.rating_deviation == pytest.approx(math.sqrt(200**2 + (0.06 * 173.7178) ** 2))
    assert play(Rating(1700, 200, 0.06), Opposition(1500, 50, 0, 0)) == after


def of_the_paper(start, opponents, tau):
    """Steps 2 to 4 game by game; the f of step 5; and steps 6 to 8 for a new volatility."""
    mu, phi = (start.rating - 1500) / 173.7178, start.rating_deviation / 173.7178
    games = [
        ((one.rating - 1500) / 173.7178, one.rating_deviation / 173.7178, score)
        for one in opponents
        for score in [1.0] * int(one.score)
        + [0.5] * round(2 * (one.score % 1))
        + [0.0] * math.floor(one.games - one.score)
    ]

    def g(deviation):
        return 1 / math.sqrt(1 + 3 * deviation**2 / math.pi**2)

    expected = [1 / (1 + math.exp(-g(deviation) * (mu - other))) for other, deviation, _ in games]
    variance = 1 / sum(g(d) ** 2 * e * (1 - e) for (_, d, _), e in zip(games, expected, strict=True))
    surplus = sum(g(d) * (score - e) for (_, d, score), e in zip(games, expected, strict=True))
    delta = variance * surplus

    def f(x):
        growth = math.exp(x)
        return (
            growth * (delta**2 - phi**2 - variance - growth) / (2 * (phi**2 + variance + growth) ** 2)
            - (x - math.log(start.volatility**2)) / tau**2
        )

    def after(volatility):
        new = 1 / math.sqrt(1 / (phi**2 + volatility**2) + 1 / variance)
        return 1500 + 173.7178 * (mu + new**2 * surplus), 173.7178 * new

    return f, after


@st.composite
def oppositions(draw):
    games = draw(st.integers(1, 12))
    points = draw(st.integers(0, 2 * games)) / 2
    return Opposition(draw(st.floats(600, 2600)), draw(st.floats(20, 400)), games, points)


@settings(max_examples=150, deadline=None)
@given(
    st.builds(Rating, st.floats(600, 2600), st.floats(20, 400), st.floats(0.02, 0.2)),
    st.lists(oppositions(), min_size=1, max_size=6),
    st.floats(0.2, 1.2),
)
def test_values_are_those_of_the_paper(start, opponents, tau):
    found = play(start, *opponents, tau=tau)
    f, after = of_the_paper(start, opponents, tau)
    # The iteration stops where the bracket is narrower than a millionth: there f changes its sign.
    x = math.log(found.volatility**2)
    assert f(x - 2e-6) * f(x + 2e-6) <= 0
    assert (found.rating, found.rating_deviation) == pytest.approx(after(found.volatility), rel=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.lists(oppositions(), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_no_order_of_opponents_shows_in_the_last_digit(opponents, random):
    shuffled = random.sample(opponents, len(opponents))
    assert play(Rating(), *opponents) == play(Rating(), *shuffled)


def test_a_hopeless_gap_is_rated():
    lost = play(Rating(9000, 30, 0.06), Opposition(-9000, 30, 2, 0))
    won = play(Rating(9000, 30, 0.06), Opposition(-9000, 30, 2, 2))
    assert math.isfinite(lost.rating)
    assert won.rating == pytest.approx(9000)


def test_opponents_enter_with_the_values_of_the_periods_start():
    periods = [[PairScore("a", "b", 2, 2)], [PairScore("a", "b", 2, 1), PairScore("b", "c", 1, 0)]]
    first, second = rate(["a", "b", "c"], periods)
    fresh = Rating()
    assert first["a"].after == play(fresh, Opposition(1500, 350, 2, 2))
    assert first["b"].after == play(fresh, Opposition(1500, 350, 2, 0))
    assert first["c"].after == play(fresh)
    a, b, c = (first[name].after for name in "abc")
    wanted = play(
        b,
        Opposition(a.rating, a.rating_deviation, 2, 1),
        Opposition(c.rating, c.rating_deviation, 1, 0),
    )
    assert second["b"].after.rating == pytest.approx(wanted.rating)
    assert second["b"].after.rating_deviation == pytest.approx(wanted.rating_deviation)
    assert (second["b"].games, second["b"].score) == (3, 1.0)


def test_start_values_and_tau_are_taken():
    (after,) = rate(["a", "b"], [[PairScore("a", "b", 4, 4)]], Rating(1000, 100, 0.1), tau=1.0)
    wanted = play(Rating(1000, 100, 0.1), Opposition(1000, 100, 4, 4), tau=1.0)
    assert after["a"].after == wanted
    assert wanted != play(Rating(1000, 100, 0.1), Opposition(1000, 100, 4, 4), tau=0.5)


@pytest.mark.parametrize(
    "pair",
    [PairScore("a", "a", 1, 1), PairScore("a", "z", 1, 1), PairScore("a", "b", 1, 2), PairScore("a", "b", 1, -1)],
)
def test_impossible_scores_are_refused(pair):
    with pytest.raises(ValueError, match=r"itself|entrants|score"):
        list(rate(["a", "b"], [[pair]]))
