"""The faults: one small function each. It brings a fault about in a run of its own and says what happened.

A scenario returns once its run is complete; :func:`run_scenario` holds the run against an undisturbed one.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from chaos_scene import (
    CHAT_GAME,
    DONE,
    IN_FLIGHT,
    WORKERS,
    Miss,
    Scene,
    alive,
    wait_until,
)

kill = partial(os.kill)
Steps = Callable[[Scene], tuple[str, Path]]
"""Brings the fault about; returns what happened in a few words, and where the complete run is."""


@dataclass(frozen=True)
class Scenario:
    """A fault. ``in_the_air`` calls at most may be made again: those that had no answer in the journal."""

    name: str
    steps: Steps
    in_the_air: int
    game: tuple[str, ...] = CHAT_GAME


@dataclass
class Verdict:
    """What came of a scenario."""

    name: str
    what: str = ""
    equal: str = "-"
    repeated: str = "-"
    seconds: float = 0.0
    misses: list[str] = field(default_factory=list)


SCENARIOS: list[Scenario] = []


def scenario(name: str, in_the_air: int, game: tuple[str, ...] = CHAT_GAME) -> Callable[[Steps], Steps]:
    """Enter the function as a scenario."""

    def enter(steps: Steps) -> Steps:
        SCENARIOS.append(Scenario(name, steps, in_the_air, game))
        return steps

    return enter


def run_scenario(scene: Scene, one: Scenario) -> Verdict:
    """Bring one fault about and judge what came of it."""
    verdict = Verdict(one.name)
    begun = time.monotonic()
    try:
        scene.begin(one.name, one.game)
        begun = time.monotonic()
        verdict.what, run = one.steps(scene)
        repeated = scene.repeated()
        verdict.repeated = f"{repeated} of at most {one.in_the_air}"
        if not 0 <= repeated <= one.in_the_air:
            verdict.misses.append(f"{repeated} calls repeated, {one.in_the_air} could be in the air")
        differences = scene.differences(run)
        verdict.equal = "NO" if differences else "yes"
        if differences:
            verdict.misses.append(differences)
    except Miss as miss:
        verdict.misses.append(str(miss))
    verdict.seconds = time.monotonic() - begun
    return verdict


# Workers


@scenario("a worker process is killed", in_the_air=IN_FLIGHT)
def worker_killed(scene: Scene) -> tuple[str, Path]:
    with scene.there() as driver:
        driver.reach(0.4)
        victim = scene.machines.workers()[0]
        kill(victim, signal.SIGKILL)
        wait_until(lambda: len(set(scene.machines.workers()) - {victim}) == WORKERS, "another worker came")
        driver.end(DONE)
        return "another one took its place", driver.run


@scenario("a worker stands still until its lease is over", in_the_air=IN_FLIGHT)
def worker_suspended(scene: Scene) -> tuple[str, Path]:
    with scene.there("limits.lease_seconds=3") as driver:
        driver.reach(0.4)
        victim = scene.machines.workers()[0]
        kill(victim, signal.SIGSTOP)
        wait_until(lambda: not alive({victim}), "the worker that stood still was ended")
        driver.end(DONE)
        return "ended by the driver, its games were played by others", driver.run


@scenario("a node stands still, then comes back late", in_the_air=IN_FLIGHT)
def node_suspended(scene: Scene) -> tuple[str, Path]:
    with scene.there("limits.lease_seconds=3") as driver:
        driver.reach(0.3)
        raylet = scene.machines.raylets[0]
        worker = scene.machines.workers(raylet)[0]
        kill(raylet, signal.SIGSTOP)
        kill(worker, signal.SIGSTOP)
        before = scene.endpoint.requests
        wait_until(lambda: scene.endpoint.requests > before + 2 * IN_FLIGHT, "the others played its games")
        time.sleep(4.0)
        driver.must_run()
        kill(worker, signal.SIGCONT)
        late = scene.endpoint.requests
        time.sleep(2.0)
        kill(raylet, signal.SIGCONT)
        driver.end(DONE)
        scene.machines.restore()
        return f"what it still sent was refused (request {late} of {scene.undisturbed_requests})", driver.run


# Nodes


@scenario("a worker node is lost", in_the_air=IN_FLIGHT)
def node_killed(scene: Scene) -> tuple[str, Path]:
    with scene.there() as driver:
        driver.reach(0.4)
        raylet = scene.machines.raylets[0]
        kill(raylet, signal.SIGKILL)
        driver.end(DONE)
        scene.machines.restore()
        return "the other node played all", driver.run


@scenario("a node is added", in_the_air=0)
def node_added(scene: Scene) -> tuple[str, Path]:
    with scene.there("cluster.workers=3") as driver:
        driver.reach(0.2)
        raylet = scene.machines.add()
        added = time.monotonic()
        wait_until(lambda: scene.machines.workers(raylet), "the new node got a worker")
        waited = time.monotonic() - added
        driver.end(DONE)
        return f"it had a worker after {waited:.1f} s", driver.run


# The driver's side


@scenario("the keeper of the limits is killed", in_the_air=0)
def keeper_killed(scene: Scene) -> tuple[str, Path]:
    with scene.there() as driver:
        driver.reach(0.3)
        first = scene.machines.keeper()
        kill(first, signal.SIGKILL)
        wait_until(lambda: scene.machines.keeper() != first, "another keeper came")
        driver.end(DONE)
        return "another one took its place", driver.run


@scenario("the driver is killed over and over, at moments drawn by lot", in_the_air=5 * WORKERS * IN_FLIGHT)
def driver_killed(scene: Scene) -> tuple[str, Path]:
    drawn = random.Random(scene.games)
    for share in (0.15, 0.3, 0.45, 0.6, 0.75):
        with scene.there() as driver:
            driver.reach(share)
            time.sleep(drawn.uniform(0.0, 0.3))
            workers = set(scene.machines.workers())
            kill(driver.process.pid, signal.SIGKILL)
            driver.process.wait()
            wait_until(lambda gone=workers: not alive(gone), "the workers of the killed driver ended", 12.0)
    with scene.there() as driver:
        driver.end(DONE)
        return "resumed by the same command each time", driver.run


@scenario("the driver stands still, longer than the leases", in_the_air=0)
def driver_suspended_short(scene: Scene) -> tuple[str, Path]:
    with scene.there("limits.lease_seconds=3") as driver:
        driver.reach(0.4)
        driver.send(signal.SIGSTOP)
        time.sleep(6.0)
        driver.send(signal.SIGCONT)
        driver.end(DONE)
        failed = driver.journal("SELECT count(*) FROM attempts")
        if failed:
            raise Miss(f"{failed} tries were held against games")
        return "no game was blamed", driver.run


SHORT = (worker_killed, worker_suspended, driver_killed)
