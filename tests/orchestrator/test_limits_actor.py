"""The keeper as a real Ray actor, two workers in processes of their own, and the keeper's death among it."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import Any

import ray
from limited_play import model
from ray_actors import actors

from agents.llm.client import Estimate
from agents.llm.contract import Usage
from agents.llm.models import ModelConfig
from orchestrator.cluster import RayCluster
from orchestrator.config import ClusterConfig
from orchestrator.limits import Keeper, KeeperLink, WorkerLimits, account_limits, in_game

GAMES, CALLS, CAP, PRICE = 10, 20, 4, 0.001
Call = tuple[float, float]
"""When a call began and ended."""


def worker_class() -> Any:
    """The actor of a worker; a class within a function, so that Ray sends it along."""

    class Worker:
        async def play(self, name: str, of: ModelConfig) -> dict[str, list[Call]]:
            limits = WorkerLimits(KeeperLink("limits"), name)
            gate = limits.gate(of)
            calls: dict[str, list[Call]] = {}

            async def game(game_id: str) -> None:
                with in_game(game_id):
                    for _ in range(CALLS):
                        permit = await gate.acquire(Estimate(10, 10, PRICE))
                        begun = time.monotonic()
                        await asyncio.sleep(0.02)
                        calls.setdefault(game_id, []).append((begun, time.monotonic()))
                        permit.settle(Usage(10, 10), PRICE)

            await asyncio.gather(*(game(f"{name}-{number}") for number in range(GAMES)))
            await limits.aclose()
            return calls

    return ray.remote(num_cpus=1, max_concurrency=10)(Worker)


def most_at_once(calls: list[Call]) -> int:
    changes = sorted([(begun, 1) for begun, _ in calls] + [(ended, -1) for _, ended in calls])
    now = most = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


def test_two_workers_keep_the_limits_and_lose_no_call_when_the_keeper_is_killed() -> None:
    of = model(requests_per_minute=60_000, in_flight=CAP)
    budget = 2 * GAMES * CALLS * PRICE * 2
    with RayCluster(ClusterConfig(workers=2)):
        keeper = Keeper("limits", account_limits([of]), budget, lambda: 0.0, recent=False)
        try:
            workers = [worker_class().remote() for _ in range(2)]
            playing = [worker.play.remote(f"w{number}", of) for number, worker in enumerate(workers)]
            while (counters := keeper.look()) is None or sum(one.requests for one in counters.accounts) < 50:
                time.sleep(0.02)
            (process,) = actors("LimitKeeper")
            os.kill(process, signal.SIGKILL)
            while not ray.wait(playing, num_returns=2, timeout=0.1)[0]:
                keeper.look()
            while len(ray.wait(playing, num_returns=2, timeout=0.1)[0]) < 2:
                keeper.look()
            played = {game: calls for part in ray.get(playing) for game, calls in part.items()}
            assert keeper.starts == 2
            # Everything was told to the second keeper, or to the first before it died.
            last = ray.get(ray.get_actor("limits#1").counters.remote())
            assert 0 < last.accounts[0].requests < 2 * GAMES * CALLS
            assert last.accounts[0].in_flight == 0
            assert abs(last.reserved_usd) < 1e-9
        finally:
            keeper.close()
    assert {game: len(calls) for game, calls in played.items()} == {
        f"w{worker}-{game}": CALLS for worker in range(2) for game in range(GAMES)
    }
    assert most_at_once([call for calls in played.values() for call in calls]) <= CAP
