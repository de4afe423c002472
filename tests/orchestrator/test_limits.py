"""What accounts allow is never exceeded, is used, is shared fairly, and is given back.

Real gates of several workers and the real book of the keeper, in virtual time.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from limited_play import Server, World, model, play

from agents.llm.client import Estimate
from agents.llm.contract import CallFailed, FailureKind, Usage
from agents.llm.models import Limits, ModelConfig
from orchestrator.limits import LimitBook, WorkerLimits, account_limits, go_on_with_decision, in_decision, in_game
from orchestrator.limits.messages import Answer, LaneReport, Report, Want
from orchestrator.limits.meter import Meter

ALWAYS = 1e-9
"""Room for sums of floating-point numbers."""


def fill(world: World, workers: int, games: int) -> None:
    """Every worker plays ``games`` games of each model."""
    for worker in range(workers):
        world.worker(f"w{worker}")
        for of in world.models:
            for game in range(games):
                world.game(f"w{worker}", f"{worker}-{of.id}-{game}", of)


# Never more


@settings(max_examples=12)
@given(
    limit=st.integers(1, 300),
    workers=st.integers(1, 4),
    latency=st.floats(0.01, 20),
    hop=st.floats(0.001, 0.3),
    dies=st.floats(1, 60),
    replaced=st.floats(1, 100),
    away=st.floats(0, 5),
)
def test_in_no_minute_more_requests_or_calls_in_flight_than_the_limit(
    limit: int, workers: int, latency: float, hop: float, dies: float, replaced: float, away: float
) -> None:
    """Whatever becomes of workers and the keeper."""

    async def script(world: World) -> None:
        fill(world, workers, games=20)
        begun = world.loop.time()

        async def one_dies() -> None:
            await asyncio.sleep(dies)
            await world.die("w0")
            world.worker("w-new")
            world.game("w-new", "new", world.models[0])

        async def keeper_dies() -> None:
            await asyncio.sleep(replaced)
            world.book = None
            await asyncio.sleep(away)
            world.start_keeper(0.0, recent=True, heir=True)

        await asyncio.gather(one_dies(), keeper_dies())
        await asyncio.sleep(max(0.0, begun + 150 - world.loop.time()))

    cap = 1 + limit // 20
    server = play(script, models=[model(requests_per_minute=limit, in_flight=cap)], latency=latency, hop=hop).server
    assert 0 < server.most_in_a_minute() <= limit
    assert server.most_in_flight <= cap


@settings(max_examples=8)
@given(
    limit=st.integers(1000, 100_000),
    took=st.tuples(st.integers(1, 1000), st.integers(0, 1000)),
    latency=st.floats(0.01, 20),
)
def test_in_no_minute_more_tokens_than_the_limit(limit: int, took: tuple[int, int], latency: float) -> None:
    async def script(world: World) -> None:
        fill(world, workers=2, games=20)
        await asyncio.sleep(150)

    # A call that is estimated at more than a minute's tokens goes when all of them are free.
    server = play(script, models=[model(tokens_per_minute=limit)], latency=latency, took=took).server
    assert len(server.sent) >= 2
    assert server.most_in_a_minute(server.tokens) <= max(limit, sum(took))


def test_requests_are_spread_over_the_minute() -> None:
    async def script(world: World) -> None:
        fill(world, workers=2, games=50)
        await asyncio.sleep(60)

    server = play(script, models=[model(requests_per_minute=600)], latency=0.1).server
    seconds = [sum(begun <= time - 1000 < begun + 5 for time in server.sent) for begun in range(5, 60, 5)]
    assert min(seconds) >= 45
    assert max(seconds) <= 55


@settings(max_examples=12)
@given(
    budget=st.floats(0.001, 2.0),
    workers=st.integers(1, 3),
    output=st.integers(0, 1000),
    latency=st.floats(0.01, 5),
    replaced=st.floats(0.5, 20),
)
def test_the_budget_bears_all_calls_that_are_sent(
    budget: float, workers: int, output: int, latency: float, replaced: float
) -> None:
    """Spent and in flight together never come to more, and what is left at the end is less than one call may cost."""

    async def script(world: World) -> None:
        fill(world, workers, games=10)
        await asyncio.sleep(replaced)
        world.start_keeper(world.server.spent, recent=True, heir=True)
        await world.finish()

    world = play(script, models=[model(price=1.0)], budget=budget, latency=latency, took=(1000, output))
    server = world.server
    assert server.most_committed <= budget + ALWAYS
    assert {failed.kind for failed in world.failures} == {FailureKind.BUDGET}
    assert len(world.failures) == workers * 10
    # What was paid between a worker's last report and the keeper's end is counted twice, on the safe side.
    told_twice = workers * 10 * (1.5 / (0.2 * latency) + 1) * 0.002
    assert server.spent > budget - 0.002 - told_twice


def test_a_budget_is_used_to_the_end_however_much_estimates_exceed() -> None:
    async def script(world: World) -> None:
        fill(world, workers=3, games=10)
        await world.finish()

    server = play(script, models=[model()], budget=1.0, estimate=(1000, 30_000), took=(1000, 0)).server
    assert 1.0 - 0.031 - ALWAYS < server.spent <= 1.0


def play_decisions(budget: float, games: int, took: tuple[int, int], of: ModelConfig) -> World:
    """Two workers with so many games each, whose decisions take four calls that may cost $0.002."""

    async def script(world: World) -> None:
        for worker in ("w0", "w1"):
            world.worker(worker)
            for game in range(games):
                world.game(worker, f"{worker}-{game}", world.models[0], decision=4)
        await world.finish()

    world = play(script, models=[of], budget=budget, latency=0.5, took=took)
    assert len(world.failures) == 2 * games
    assert {calls % 4 for calls in world.server.games.values()} == {0}, "the budget stops games between decisions"
    return world


@pytest.mark.parametrize("cheap", [0.5, 0.1])
def test_a_decision_under_way_has_the_slot_while_another_waits_for_dollars(cheap: float) -> None:
    """Also where a third could have dollars, but must not overtake."""
    now = 1000.0
    book = LimitBook({"a": Limits(in_flight=1)}, 1.0, 0.0, False, lambda: now)
    slots = dict.fromkeys(("under way", "cheap", "dear"), 0)

    def tell(worker: str, kept_usd: float, **lane: Any) -> float | None:
        nonlocal now
        now += 0.05
        answer = book.report(Report(worker, (LaneReport("a", "m", slots=slots[worker], **lane),), kept_usd=kept_usd))
        slots[worker] = answer.lanes[0].slots
        return answer.usd

    assert tell("under way", 0.0, waiting=1, wants=(Want(1, 0.7),)) == 0.7
    tell("under way", 0.7, in_flight=1, started=1)
    for _ in range(5):
        tell("cheap", 0.0, waiting=1, wants=(Want(1, cheap),))
        tell("dear", 0.0, waiting=1, wants=(Want(1, 0.5),))
        tell("under way", 0.7, waiting=1)
    assert slots == {"under way": 1, "cheap": 0, "dear": 0}


@settings(max_examples=12)
@given(budget=st.floats(0.7, 1.5), games=st.integers(1, 20), output=st.integers(0, 1000), scarce=st.booleans())
@example(budget=0.7, games=20, output=1000, scarce=True)
def test_the_budget_stops_games_between_decisions_and_bears_all_their_calls(
    budget: float, games: int, output: int, scarce: bool
) -> None:
    """Also where a call of a decision waits for slots, requests and tokens behind decisions that wait for dollars."""
    of = model(in_flight=3, requests_per_minute=600, tokens_per_minute=600_000) if scarce else model()
    server = play_decisions(budget, games, (1000, output), of).server
    decision = 4 * (1000 + output) / 1e6
    assert budget - max(decision, 0.002) - ALWAYS < server.spent <= budget + ALWAYS


@pytest.mark.parametrize("games", [1, 3])
@pytest.mark.parametrize("cap", [1, 2])
def test_decisions_under_way_have_the_slots_that_others_could_only_wait_in_for_dollars(cap: int, games: int) -> None:
    """With fewer slots than workers, neither waits for ever for what the other has."""

    async def script(world: World) -> None:
        for worker in ("w0", "w1", "w2"):
            world.worker(worker)
            for game in range(games):
                world.game(worker, f"{worker}-{game}", world.models[0], decision=2)
        await world.finish()

    world = play(script, models=[model(in_flight=cap)], budget=0.005, latency=0.5, took=(1000, 0))
    assert world.server.spent == pytest.approx(0.004)
    assert len(world.failures) == 3 * games


def test_decisions_cost_more_than_the_budget_only_while_it_is_not_known_what_they_cost() -> None:
    """Twenty begin at once, each with the $0.002 that its first call may cost; its other three cost as much."""
    assert 0.1 < play_decisions(0.1, 10, (1000, 1000), model()).server.spent <= 0.1 + 20 * 3 * 0.002 + ALWAYS


def test_a_higher_budget_goes_on_where_a_lower_one_ended() -> None:
    async def script(world: World) -> None:
        fill(world, workers=2, games=5)
        await world.finish()

    ended = play(script, models=[model()], budget=0.1)
    none = play(script, models=[model()], budget=0.1, spent=ended.server.spent)
    assert len(none.server.sent) == 0
    more = play(script, models=[model()], budget=0.15, spent=ended.server.spent)
    assert 0.15 - 0.002 - ALWAYS < ended.server.spent + more.server.spent <= 0.15 + ALWAYS


def test_a_model_whose_calls_cost_more_than_its_price_says_is_stopped_by_what_its_decisions_cost() -> None:
    """As where the price is filled in as nothing, and replies say what they cost."""

    async def script(world: World) -> None:
        gate = world.worker("w").gate(world.models[0])

        async def decide() -> None:
            with in_decision():
                for _ in range(2):
                    (await gate.acquire(Estimate(1, 1, 0.0))).settle(Usage(1, 1), 0.1)
                    await asyncio.sleep(1)

        for _ in range(5):
            await decide()
        with pytest.raises(CallFailed, match=r"a decision may cost \$0\.2000, \$0\.1000 are left"):
            await decide()

    play(script, models=[model(price=0.0)], budget=1.1)


def test_what_costs_nothing_is_played_without_any_budget() -> None:
    async def script(world: World) -> None:
        world.worker("w")
        world.game("w", "g", world.models[0], calls=5)
        await world.finish()

    assert len(play(script, models=[model(price=0.0)], budget=1.0, spent=1.5).server.sent) == 5


def test_nothing_is_stored_while_a_decision_waits_for_dollars() -> None:
    """What comes back would never be enough for it if others laid it by."""
    now = 1000.0
    book = LimitBook({"a": Limits(requests_per_minute=60_000)}, 1.0, 0.0, False, lambda: now)
    busy = LaneReport("a", "m", in_flight=1, slots=1)
    book.report(Report("begun", (busy,), kept_usd=0.7))
    # More than the pace has now, so that it is not lent at once.
    book.report(Report("quick", (replace(busy, spare=Want(1, 0.0001), spare_calls=700),)))
    reserved = book.counters().reserved_usd
    assert 0.7 < reserved < 0.7 + 700 * 0.0001
    now += 1.0
    book.report(Report("waits", (LaneReport("a", "m", waiting=1, wants=(Want(1, 0.3),)),)))
    assert book.counters().reserved_usd == reserved


# Used


def test_a_limit_of_sixty_a_second_is_used_to_97_percent() -> None:
    async def script(world: World) -> None:
        fill(world, workers=2, games=60)
        await asyncio.sleep(90)

    server = play(script, models=[model(requests_per_minute=3600)]).server
    assert len([time for time in server.sent if time >= 1030]) >= 0.97 * 60 * 60
    assert server.most_in_a_minute() <= 3600


def test_the_number_in_flight_grows_with_demand_and_only_with_it() -> None:
    async def script(world: World) -> None:
        fill(world, workers=2, games=4)
        await asyncio.sleep(20)
        few.append(world.book.counters().accounts[0].concurrency)  # type: ignore[union-attr]
        for game in range(200):
            world.game("w1", f"more-{game}", world.models[0])
        await asyncio.sleep(20)

    few: list[int] = []
    server = play(script, models=[model()]).server
    assert few == [16]
    assert server.most_in_flight == 208


def test_calls_below_the_limits_do_not_wait() -> None:
    async def script(world: World) -> None:
        fill(world, workers=2, games=10)
        await asyncio.sleep(5)
        before = world.book.counters().accounts[0]  # type: ignore[union-attr]
        await asyncio.sleep(30)
        after = world.book.counters().accounts[0]  # type: ignore[union-attr]
        calls, waits = after.requests - before.requests, after.waited - before.waited
        assert calls > 3000
        assert waits < 0.05 * calls
        reports.append(world.book.counters().reports)  # type: ignore[union-attr]

    reports: list[int] = []
    play(script, models=[model(requests_per_minute=60_000)], latency=0.2, budget=1e6)
    # A hop a call is what leases are to avoid.
    assert reports[0] < 35 * 2 * 20


# Refusals


def test_a_burst_of_refusals_cuts_once_and_holds_everybody_as_long_as_is_asked() -> None:
    def refuse(server: Server) -> tuple[float | None] | None:
        return (7.0,) if 1020 <= server.clock() < 1020.3 else None

    async def script(world: World) -> None:
        fill(world, workers=2, games=50)
        await asyncio.sleep(19.9)
        before.append(world.book.counters().accounts[0].concurrency)  # type: ignore[union-attr]
        await asyncio.sleep(1.5)
        counters.append(world.book.counters().accounts[0])  # type: ignore[union-attr]
        await asyncio.sleep(20)
        counters.append(world.book.counters().accounts[0])  # type: ignore[union-attr]

    before: list[int] = []
    counters = []  # type: ignore[var-annotated]
    server = play(script, models=[model()], refuse=refuse).server
    held, later = counters
    assert held.hits > 5
    assert (held.cuts, later.cuts) == (1, 1)
    assert held.concurrency == 50  # Half of the hundred in flight.
    assert 5 < held.hold_seconds < 7
    assert [time for time in server.sent if 1021 <= time < 1026.9] == []
    assert [time for time in server.sent if time > 1028] != []
    assert later.concurrency > held.concurrency


def test_refusals_that_go_on_cut_again_and_a_single_call_is_always_tried() -> None:
    async def script(world: World) -> None:
        fill(world, workers=2, games=20)
        await asyncio.sleep(400)
        counters.append(world.book.counters().accounts[0])  # type: ignore[union-attr]

    counters = []  # type: ignore[var-annotated]
    server = play(script, models=[model()], refuse=lambda server: (None,)).server
    assert counters[0].concurrency <= 2
    assert counters[0].cuts >= 5
    # Waits grow to half a minute.
    assert 1 <= len([time for time in server.sent if time > 1300]) < 40


# Fair


def test_models_of_one_account_have_equal_shares_however_many_games_each_has() -> None:
    async def script(world: World) -> None:
        many, few = world.models
        for worker in ("w0", "w1"):
            world.worker(worker)
            for game in range(50):
                world.game(worker, f"{worker}-many-{game}", many)
        for game in range(4):
            world.game("w1", f"few-{game}", few)
        await asyncio.sleep(120)

    models = [model("many", requests_per_minute=120), model("few", requests_per_minute=120)]
    server = play(script, models=models, latency=0.1).server
    assert 0.8 < server.models["few"] / server.models["many"] < 1.25


@pytest.mark.parametrize("limits", [{"requests_per_minute": 120}, {"in_flight": 3}, {"in_flight": 1}], ids=str)
def test_no_game_starves_wherever_it_is_played(limits: dict[str, int]) -> None:
    async def script(world: World) -> None:
        for worker, games in (("w0", 30), ("w1", 3)):
            world.worker(worker)
            for game in range(games):
                world.game(worker, f"{worker}-{game}", world.models[0])
        await asyncio.sleep(200)

    games = play(script, models=[model(**limits)], latency=0.5).server.games
    mean = games.total() / 33
    assert mean > 5
    assert len(games) == 33
    assert min(games.values()) > mean / 3
    assert max(games.values()) < mean * 3


# Given back


def test_what_a_dead_worker_held_comes_back_when_its_lease_lapses() -> None:
    async def script(world: World) -> None:
        fill(world, workers=2, games=10)
        await asyncio.sleep(5)
        await world.die("w0")
        await asyncio.sleep(20)
        held = world.book.counters()  # type: ignore[union-attr]
        assert held.workers == 1
        assert held.accounts[0].in_flight == 10
        assert abs(held.reserved_usd - 10 * 0.002) <= 0.01

    # Twelve slots are enough for one worker's ten games only once the dead one's are free.
    play(script, models=[model(in_flight=12)], budget=100.0)


def test_a_worker_that_is_known_to_be_dead_blocks_nothing() -> None:
    async def script(world: World) -> None:
        fill(world, workers=1, games=10)
        await asyncio.sleep(5)
        await world.die("w0")
        world.book.forget("w0")  # type: ignore[union-attr]
        before = len(world.server.sent)
        world.worker("w1")
        world.game("w1", "g", world.models[0], calls=3)
        await asyncio.wait_for(world.finish(), 8)
        assert len(world.server.sent) == before + 3

    play(script, models=[model(in_flight=4)])


def test_a_call_that_is_given_up_while_it_waits_takes_nothing() -> None:
    async def script(world: World) -> None:
        limits: WorkerLimits = world.worker("w")
        gate = limits.gate(world.models[0])
        estimate = Estimate(10, 10, 0.01)
        first = await gate.acquire(estimate)
        second = asyncio.ensure_future(gate.acquire(estimate))
        await asyncio.sleep(1)
        second.cancel()
        third = asyncio.ensure_future(gate.acquire(estimate))
        await asyncio.sleep(1)
        assert not third.done()
        first.settle(Usage(10, 5), 0.0)
        first.settle(Usage(10, 5), 0.0)
        await asyncio.sleep(1)
        # Released and given up in the same moment.
        fourth = asyncio.ensure_future(gate.acquire(estimate))
        await asyncio.sleep(0.1)
        (await third).settle(None, 0.0)
        fourth.cancel()
        await asyncio.sleep(3)
        assert world.book.counters().accounts[0].in_flight == 0  # type: ignore[union-attr]
        await limits.aclose()
        assert world.book.counters().reserved_usd == pytest.approx(0.0)  # type: ignore[union-attr]

    play(script, models=[model(in_flight=1)], budget=1.0)


def test_a_call_that_is_given_up_at_the_moment_in_which_it_could_go_is_passed_over() -> None:
    async def script(world: World) -> None:
        limits = world.worker("w")
        gate = limits.gate(world.models[0])
        estimate = Estimate(10, 10, 0.01)
        first = await gate.acquire(estimate)
        second, third = (asyncio.ensure_future(gate.acquire(estimate)) for _ in range(2))
        await asyncio.sleep(1)
        second.cancel()
        first.settle(Usage(10, 5), 0.0)
        (await asyncio.wait_for(third, 5)).settle(Usage(10, 5), 0.0)
        await limits.aclose()
        counters = world.book.counters()  # type: ignore[union-attr]
        assert counters.accounts[0].in_flight == 0
        assert counters.reserved_usd == pytest.approx(0.0)

    play(script, models=[model(in_flight=1)], budget=1.0)


def test_calls_that_wait_fail_at_once_where_their_model_is_out_of_order_and_those_of_others_wait_on() -> None:
    async def script(world: World) -> None:
        limits = world.worker("w")
        gate, other = (limits.gate(one) for one in world.models)
        estimate = Estimate(10, 10, 0.01)

        async def rebuilt() -> None:
            with in_decision():
                go_on_with_decision()
                await gate.acquire(estimate)

        (await gate.acquire(estimate)).settle(Usage(10, 5), 0.0)
        gate.rate_limited(3000.0)
        calls = [asyncio.ensure_future(call) for call in (gate.acquire(estimate), rebuilt(), other.acquire(estimate))]
        await asyncio.sleep(1)
        assert not any(call.done() for call in calls)
        gate.give_up(CallFailed(FailureKind.AUTHENTICATION, "the key is refused"))
        await asyncio.sleep(1)
        for call in calls[:2]:
            failed = call.exception()
            assert isinstance(failed, CallFailed)
            assert (failed.kind, str(failed)) == (FailureKind.AUTHENTICATION, "the key is refused")
        assert not calls[2].done()
        await asyncio.sleep(3000)
        calls[2].result().settle(Usage(10, 5), 0.0)
        await limits.aclose()
        assert world.book.counters().reserved_usd == pytest.approx(0.0)  # type: ignore[union-attr]

    play(script, models=[model("a"), model("b")], budget=1.0)


def test_no_call_is_lost_while_there_is_no_keeper() -> None:
    async def script(world: World) -> None:
        for worker in ("w0", "w1"):
            world.worker(worker)
            for game in range(10):
                world.game(worker, f"{worker}-{game}", world.models[0], calls=30)
        await asyncio.sleep(10)
        world.book = None
        await asyncio.sleep(40)
        world.start_keeper(world.server.spent, recent=True, heir=True)
        await world.finish()

    world = play(script, models=[model(requests_per_minute=600)], budget=100.0)
    assert world.server.games == {f"{worker}-{game}": 30 for worker in ("w0", "w1") for game in range(10)}
    assert world.failures == []


def test_too_dear_a_call_says_what_is_left_and_lets_a_cheaper_one_pass() -> None:
    async def script(world: World) -> None:
        gate = world.worker("w").gate(world.models[0])
        with pytest.raises(CallFailed, match=r"a decision may cost \$0\.5000, \$0\.2500 are left") as failed:
            await gate.acquire(Estimate(1, 1, 0.5))
        assert failed.value.kind is FailureKind.BUDGET
        (await gate.acquire(Estimate(1, 1, 0.2))).settle(Usage(1, 1), 0.2)

    play(script, models=[model()], budget=1.0, spent=0.75)


def test_the_lowest_limit_of_an_account_holds_for_all_its_models() -> None:
    models = [model("a", requests_per_minute=5, in_flight=7), model("b", tokens_per_minute=9, in_flight=3)]
    other = model("c", "http://other/v1")
    assert account_limits([*models, other]) == {models[0].account: Limits(5, 9, 3), other.account: Limits()}


def test_a_fault_of_the_keeper_is_raised_by_the_calls_that_wait_for_it() -> None:
    async def script(world: World) -> None:
        async def link(report: Report) -> Answer:
            raise ZeroDivisionError("in the keeper")

        limits = WorkerLimits(link, "w", world.loop.time)
        for _ in range(2):
            with pytest.raises(ZeroDivisionError, match="in the keeper"):
                await limits.gate(world.models[0]).acquire(Estimate(1, 1, 0.1))

    play(script, models=[model()])


def test_a_limit_that_lets_nothing_pass_is_refused() -> None:
    with pytest.raises(ValueError, match="a limit of 0 lets nothing pass"):
        Meter(0, now=1.0)


def test_a_game_with_many_calls_at_once_does_not_hold_up_another() -> None:
    async def script(world: World) -> None:
        gate = world.worker("w").gate(world.models[0])
        order: list[str] = []

        async def call(game: str) -> None:
            with in_game(game):
                permit = await gate.acquire(Estimate(1, 1, 0.0))
                order.append(game)
                await asyncio.sleep(1)
                permit.settle(Usage(1, 1), 0.0)

        await asyncio.gather(*(call("many") for _ in range(10)), call("one"), call("other"))
        assert order == ["many", "one", "other", *["many"] * 9]

    play(script, models=[model(in_flight=1)])
