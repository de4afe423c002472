import math
import tempfile
from collections import Counter

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from game_rows import game_row, new_run, rows_by
from hypothesis import given, settings
from hypothesis import strategies as st

from results import Run, RunError
from results.aggregation import aggregate
from results.glicko import Opposition, RatedPlayer, Rating
from results.schema import TABLES, check_table
from results.statistics import wilson_interval

RESULTS = ("0", "1", "draw", "turn_cap", "void")


def aggregated(*parts, period="cycle", **more):
    with tempfile.TemporaryDirectory() as folder:
        return aggregate(new_run(f"{folder}/r", *parts), period, **more).tables


def rows(tables, name):
    return tables[name].to_pylist()


def twin(number, result, **changes):
    """One game of a twin and the other with the seats exchanged; ``result`` is from the view of ``a``."""
    swapped = {"0": "1", "1": "0"}.get(result, result)
    other = {"entrant_0": changes.get("entrant_1", "b"), "entrant_1": changes.get("entrant_0", "a")}
    return [game_row(2 * number, result, **changes), game_row(2 * number + 1, swapped, **(changes | other), seating=1)]


def test_win_rates_by_hand(tmp_path):
    games = [*twin(0, "0"), *twin(1, "draw", deck_0="blue", deck_1="blue"), game_row(10, "1"), game_row(11, "turn_cap")]
    games += [game_row(12, "void")]
    tables = aggregated(games)
    pairs = rows_by(rows(tables, "win_rates"), "entrant", "opponent")
    assert set(pairs) == {("a", "b"), ("b", "a")}
    a = pairs["a", "b"]
    assert [a[name] for name in ("games", "wins", "draws", "turn_caps", "losses", "voids")] == [6, 2, 2, 1, 1, 1]
    assert a["win_rate"] == pytest.approx(3.5 / 6)
    assert (a["win_rate_low"], a["win_rate_high"]) == pytest.approx(wilson_interval(3.5, 6))
    b = pairs["b", "a"]
    assert [b[name] for name in ("games", "wins", "draws", "turn_caps", "losses", "voids")] == [6, 1, 2, 1, 2, 1]
    decks = rows_by(rows(tables, "win_rates_by_deck"), "entrant", "deck", "opponent_deck")
    assert decks["a", "blue", "blue"]["draws"] == 2
    assert decks["a", "red", "red"]["games"] == 4


def test_decks_are_those_of_the_entrant_in_whatever_seat():
    games = [
        game_row(1, "0", deck_0="red", deck_1="blue"),
        game_row(2, "1", entrant_0="b", entrant_1="a", deck_0="blue", deck_1="red"),
    ]
    (a,) = [row for row in rows(aggregated(games), "win_rates_by_deck") if row["entrant"] == "a"]
    assert (a["deck"], a["opponent_deck"], a["wins"], a["losses"]) == ("red", "blue", 2, 0)


def test_the_cycle_is_the_rating_period():
    games = [*twin(0, "0", cycle=0), *twin(1, "1", cycle=1)]
    tables = aggregated(games)
    history = rows_by(rows(tables, "rating_history"), "period", "entrant")
    start = Rating()
    first = RatedPlayer(start, 0.5)
    first.play_period([Opposition(start.rating, start.rating_deviation, 2, 2)])
    assert history[0, "a"]["rating"] == first.values.rating
    loser = RatedPlayer(start, 0.5)
    loser.play_period([Opposition(start.rating, start.rating_deviation, 2, 0)])
    first.play_period([Opposition(loser.values.rating, loser.values.rating_deviation, 2, 0)])
    assert history[1, "a"]["rating"] == pytest.approx(first.values.rating)
    ratings = rows_by(rows(tables, "ratings"), "entrant")
    assert ratings["a"]["rating"] == history[1, "a"]["rating"]
    assert ratings["a"]["periods"] == 2


def test_the_whole_run_can_be_one_period():
    games = [*twin(0, "0", cycle=0), *twin(1, "1", cycle=1), *twin(2, "0", cycle=7)]
    ratings = rows_by(rows(aggregated(games, period="run"), "ratings"), "entrant")
    player = RatedPlayer(Rating(), 0.5)
    player.play_period([Opposition(1500, 350, 6, 4)])
    assert ratings["a"]["rating"] == pytest.approx(player.values.rating)
    assert ratings["a"]["periods"] == 1


def test_a_period_with_void_games_only_is_idle():
    one = aggregated([*twin(0, "0", cycle=0)])
    two = aggregated([*twin(0, "0", cycle=0), *twin(1, "void", cycle=1)])
    before, after = (rows_by(rows(tables, "ratings"), "entrant")["a"] for tables in (one, two))
    assert after["rating"] == before["rating"]
    assert after["volatility"] == before["volatility"]
    grown = math.sqrt(before["rating_deviation"] ** 2 + (173.7178 * before["volatility"]) ** 2)
    assert after["rating_deviation"] == pytest.approx(grown)
    assert (after["games"], after["voids"], after["periods"]) == (2, 2, 2)


def test_a_void_game_leaves_the_ratings_as_they_are():
    games = [*twin(0, "0"), *twin(1, "draw")]
    assert aggregated(games)["rating_history"].equals(aggregated([*games, game_row(90, "void")])["rating_history"])


def test_a_turn_cap_rates_as_a_draw_and_is_counted_apart():
    drawn, capped = aggregated([*twin(0, "draw"), *twin(1, "0")]), aggregated([*twin(0, "turn_cap"), *twin(1, "0")])
    assert drawn["rating_history"].equals(capped["rating_history"])
    row = rows_by(rows(capped, "ratings"), "entrant")["b"]
    assert (row["draws"], row["turn_caps"]) == (0, 2)


def test_games_against_oneself_are_counted_apart_and_not_rated():
    own = [game_row(90 + number, result, entrant_1="a", cost_usd_0=1.0) for number, result in enumerate(RESULTS)]
    plain, with_own = aggregated([*twin(0, "0")]), aggregated([*twin(0, "0"), *own])
    for name in ("ratings", "rating_history", "win_rates", "win_rates_by_deck", "endings"):
        assert plain[name].equals(with_own[name]), name
    a = rows_by(rows(with_own, "agents"), "entrant")["a"]
    assert (a["self_games"], a["games"], a["cost_usd"]) == (5, 2, 5.0)


def test_the_summary_of_an_agent_by_hand():
    games = [
        game_row(
            *(1, "0"),
            first_player=0,
            turns=10,
            decisions_0=30,
            decisions_1=8,
            attempts_0=40,
            invalid_attempts_0=4,
            tool_calls_0=50,
            input_tokens_0=1000,
            cost_usd_0=0.1,
            agent_seconds_0=2.0,
        ),
        game_row(
            *(2, "0"),
            entrant_0="b",
            entrant_1="a",
            first_player=0,
            turns=20,
            decisions_1=10,
            attempts_1=10,
            invalid_attempts_1=1,
            cost_usd_1=0.2,
            agent_seconds_1=4.0,
        ),
        game_row(3, "void", cost_usd_0=0.5, attempts_0=50, invalid_attempts_0=20, cause="wall_clock"),
    ]
    tables = aggregated(games)
    agents = rows_by(rows(tables, "agents"), "entrant")
    a, b = agents["a"], agents["b"]
    assert (a["first_games"], a["first_win_rate"], a["second_games"], a["second_win_rate"]) == (1, 1.0, 1, 0.0)
    assert (a["mean_turns"], a["mean_decisions"]) == (15.0, 20.0)
    assert (a["attempts"], a["invalid_attempts"], a["invalid_action_rate"]) == (100, 25, 0.25)
    assert (a["tool_calls"], a["input_tokens"]) == (50, 1000)
    assert a["cost_usd"] == pytest.approx(0.8)
    assert a["mean_agent_seconds"] == pytest.approx(3.0)
    assert [b[name] for name in ("attempts", "invalid_action_rate", "cost_usd", "mean_agent_seconds")] == [None] * 4
    endings = {(row["entrant"], row["result"], row["cause"]): row["games"] for row in rows(tables, "endings")}
    assert endings == {
        ("a", "win", "prizes"): 1,
        ("b", "loss", "prizes"): 1,
        ("b", "win", "prizes"): 1,
        ("a", "loss", "prizes"): 1,
        ("a", "void", "wall_clock"): 1,
        ("b", "void", "wall_clock"): 1,
    }


def test_equal_ratings_share_a_rank():
    tables = aggregated([*twin(0, "draw"), *twin(1, "0", entrant_0="c", entrant_1="d")])
    assert [(row["entrant"], row["rank"]) for row in rows(tables, "ratings")] == [
        ("c", 1),
        ("a", 2),
        ("b", 2),
        ("d", 4),
    ]


def test_a_run_without_games_has_empty_tables():
    tables = aggregated()
    assert {name: len(table) for name, table in tables.items()} == dict.fromkeys(tables, 0)


def test_a_win_without_a_winner_is_refused():
    with pytest.raises(RunError, match=r"game g0+1: outcome 'win' with winner_seat None contradicts itself"):
        aggregated([game_row(1, "0", winner_seat=None)])
    with pytest.raises(RunError, match="outcome 'draw' with winner_seat 1"):
        aggregated([game_row(1, "draw", winner_seat=1)])


def test_a_game_that_is_there_twice_is_refused():
    with pytest.raises(RunError, match="more than once"):
        aggregated([game_row(1)], [game_row(1)])


@pytest.mark.parametrize("tau", [0, -1, math.nan])
def test_tau_must_be_positive(tau):
    with pytest.raises(ValueError, match="tau must be positive"):
        aggregated([game_row(1)], tau=tau)


def test_all_tables_are_written_and_read_back(tmp_path):
    run = new_run(tmp_path / "r", [*twin(0, "0"), *twin(1, "draw")])
    found = aggregate(run)
    paths = found.write(run)
    again = Run.open(tmp_path / "r")
    for name, table in found.tables.items():
        check_table(name, table)
        assert again.table(name).equals(table)
    assert again.ratings().equals(found.tables["ratings"])
    assert set(found.tables) == set(TABLES) - {"games", "decisions", "calls"}
    assert sorted(paths) == sorted(
        str(path) for path in (tmp_path / "r").iterdir() if path.suffix in (".parquet", ".csv")
    )
    csv = pa_csv.read_csv(tmp_path / "r/win_rates.csv")
    assert csv.column_names == again.win_rates().column_names
    assert csv["win_rate"].to_pylist() == pytest.approx(again.win_rates()["win_rate"].to_pylist())
    assert pa_csv.read_csv(tmp_path / "r/ratings.csv")["entrant"].to_pylist() == ["a", "b"]


def test_a_second_aggregation_replaces_the_first(tmp_path):
    run = new_run(tmp_path / "r", [*twin(0, "0")])
    aggregate(run).write(run)
    run.write_part("games", pa.Table.from_batches(run.games().slice(0, 0).to_batches(), run.games().schema), "empty")
    aggregate(run, "run").write(run)
    assert len(run.ratings()) == 2


# Properties over arbitrary runs

NAMES = ("amber", "birch", "cedar", "dune")


@st.composite
def runs(draw):
    """Game rows of up to four entrants in up to three cycles, games against oneself among them."""
    games = draw(
        st.lists(
            st.tuples(
                st.sampled_from(NAMES),
                st.sampled_from(NAMES),
                st.sampled_from(["red", "blue"]),
                st.sampled_from(["red", "blue"]),
                st.integers(0, 2),
                st.sampled_from(RESULTS),
                st.sampled_from([None, 0, 1]),
                st.floats(0, 10),
            ),
            min_size=1,
            max_size=25,
        )
    )
    return [
        game_row(
            *(number, result),
            entrant_0=one,
            entrant_1=other,
            deck_0=deck,
            deck_1=other_deck,
            cycle=cycle,
            first_player=first,
            cost_usd_0=cost,
            agent_seconds_1=cost / 3,
        )
        for number, (one, other, deck, other_deck, cycle, result, first, cost) in enumerate(games)
    ]


@settings(max_examples=40, deadline=None)
@given(runs(), st.randoms(use_true_random=False), st.integers(1, 4), st.sampled_from(["cycle", "run"]))
def test_no_order_or_storage_of_games_shows(games, random, parts, period):
    shuffled = random.sample(games, len(games))
    one, other = (
        aggregated(games, period=period),
        aggregated(*(shuffled[i::parts] for i in range(parts)), period=period),
    )
    for name, table in one.items():
        assert table.equals(other[name]), name


@settings(max_examples=40, deadline=None)
@given(runs(), st.permutations(NAMES), st.sampled_from(["cycle", "run"]))
def test_no_name_shows_in_a_rating(games, names, period):
    new = dict(zip(NAMES, names, strict=True))

    def renamed(row):
        return row | {name: new[row[name]] for name in ("entrant_0", "entrant_1", "winner") if row.get(name)}

    before = aggregated(games, period=period)
    after = aggregated([renamed(row) for row in games], period=period)
    values = ("rating", "rating_deviation", "volatility", "rank", "win_rate", "win_rate_low", "wins", "losses")
    old, now = (rows_by(rows(tables, "ratings"), "entrant") for tables in (before, after))
    assert {new[name]: [row[value] for value in values] for name, row in old.items()} == {
        name: [row[value] for value in values] for name, row in now.items()
    }


@settings(max_examples=40, deadline=None)
@given(runs())
def test_every_game_is_counted_exactly_once(games):
    tables = aggregated(games)
    between = [row for row in games if row["entrant_0"] != row["entrant_1"]]
    played = [row for row in between if row["outcome"] != "void"]
    for name in ("ratings", "win_rates", "win_rates_by_deck", "agents"):
        counts = Counter()
        for row in rows(tables, name):
            assert row["games"] == row["wins"] + row["draws"] + row["turn_caps"] + row["losses"]
            counts.update({key: row[key] for key in ("games", "voids", "wins", "losses")})
        assert counts["games"] == 2 * len(played), name
        assert counts["voids"] == 2 * (len(between) - len(played)), name
        assert counts["wins"] == counts["losses"] == sum(row["outcome"] == "win" for row in between), name
    assert sum(row["games"] for row in rows(tables, "endings")) == 2 * len(between)
    assert sum(row["games"] for row in rows(tables, "rating_history")) == 2 * len(played)
    assert sum(row["score"] for row in rows(tables, "rating_history")) == len(played)
    assert sum(row["self_games"] for row in rows(tables, "agents")) == len(games) - len(between)
    pairs = rows_by(rows(tables, "win_rates"), "entrant", "opponent")
    for (one, other), row in pairs.items():
        assert (row["wins"], row["losses"], row["draws"]) == tuple(
            pairs[other, one][name] for name in ("losses", "wins", "draws")
        )
