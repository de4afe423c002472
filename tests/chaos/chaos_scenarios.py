"""The faults: one small function each. It brings a fault about in a run of its own and says what happened.

A scenario returns once its run is complete; :func:`run_scenario` holds the run against an undisturbed one.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from chaos_scene import (
    CHAT_GAME,
    DONE,
    GONE_SECONDS,
    IN_FLIGHT,
    PLAIN_GAME,
    RESUMABLE,
    WORKERS,
    Disk,
    Driver,
    Miss,
    Scene,
    fill,
    memory_mb,
    small_disk,
    wait_until,
)

from orchestrator.processes import born

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
    except Exception as error:  # Of one scenario; the others are to be seen all the same.
        verdict.misses.append(f"{type(error).__name__}: {error}")
    verdict.seconds = time.monotonic() - begun
    return verdict


# What several look at


def _no_blame(driver: Driver) -> None:
    if failed := driver.journal("SELECT count(*) FROM attempts"):
        raise Miss(f"{failed} tries were held against games")


# Workers


@scenario("a worker process is killed", in_the_air=IN_FLIGHT)
def worker_killed(scene: Scene) -> tuple[str, Path]:
    with scene.there() as driver:
        driver.reach(0.4)
        victim = scene.machines.workers()[0]
        os.kill(victim, signal.SIGKILL)
        driver.see(lambda: len(set(scene.machines.workers()) - {victim}) == WORKERS, "another worker came")
        driver.end(DONE)
        return "another one took its place", driver.run


@scenario("a worker stands still until its lease is over", in_the_air=IN_FLIGHT)
def worker_suspended(scene: Scene) -> tuple[str, Path]:
    with scene.there("limits.lease_seconds=3") as driver:
        driver.reach(0.4)
        victim = scene.machines.workers()[0]
        os.kill(victim, signal.SIGSTOP)
        # If Ray is slow to end it, at the latest with the run.
        wait_until(lambda: not born(victim), "the worker that stood still was ended")
        driver.end(DONE)
        return "ended by the driver, its games were played by others", driver.run


@scenario("a node stands still, then comes back late", in_the_air=IN_FLIGHT)
def node_suspended(scene: Scene) -> tuple[str, Path]:
    with scene.there("limits.lease_seconds=3") as driver:
        driver.reach(0.3)
        raylet = scene.machines.raylets[0]
        worker = scene.machines.workers(raylet)[0]
        os.kill(raylet, signal.SIGSTOP)
        os.kill(worker, signal.SIGSTOP)
        before = scene.endpoint.requests
        driver.see(lambda: scene.endpoint.requests > before + 2 * IN_FLIGHT, "the others played its games")
        time.sleep(4.0)
        driver.must_run()
        os.kill(worker, signal.SIGCONT)
        late = scene.endpoint.requests
        time.sleep(2.0)
        os.kill(raylet, signal.SIGCONT)
        driver.end(DONE)
        scene.machines.restore()
        return f"what it still sent was refused (request {late} of {scene.undisturbed_requests})", driver.run


# Nodes


@scenario("a machine is switched off", in_the_air=IN_FLIGHT)
def machine_lost(scene: Scene) -> tuple[str, Path]:
    with scene.there() as driver:
        driver.reach(0.4)
        scene.machines.switch_off(scene.machines.raylets[0])
        driver.end(DONE)
        _no_blame(driver)
        return "the other one played all", driver.run


@scenario("a raylet is killed, its worker is not", in_the_air=IN_FLIGHT)
def raylet_killed(scene: Scene) -> tuple[str, Path]:
    with scene.there() as driver:
        driver.reach(0.4)
        worker = scene.machines.workers(scene.machines.raylets[0])[0]
        os.kill(scene.machines.raylets[0], signal.SIGKILL)
        driver.end(DONE)
        wait_until(lambda: not born(worker), "the worker without a raylet ended", GONE_SECONDS)
        return "no game suffered", driver.run


ONE_AT_A_TIME = "cluster.games_in_flight=1"
"""So that the run lasts long enough for what has to come about meanwhile."""


def add_and_wait(scene: Scene, driver: Driver) -> float:
    """Add a node; returns after how many seconds it had a worker."""
    raylet = scene.machines.add()
    added = time.monotonic()
    driver.see(lambda: scene.machines.workers(raylet), "the new node got a worker")
    return time.monotonic() - added


@scenario("a node is added, as many workers as were asked for", in_the_air=0)
def node_added(scene: Scene) -> tuple[str, Path]:
    with scene.there("cluster.workers=3", ONE_AT_A_TIME) as driver:
        driver.reach(0.2)
        waited = add_and_wait(scene, driver)
        driver.end(DONE)
        return f"it had a worker after {waited:.1f} s", driver.run


@scenario("nodes come and go, workers follow", in_the_air=IN_FLIGHT)
def nodes_followed(scene: Scene) -> tuple[str, Path]:
    with scene.there("cluster.workers=null", ONE_AT_A_TIME) as driver:
        driver.reach(0.2)
        waited = add_and_wait(scene, driver)
        scene.machines.switch_off(scene.machines.raylets[0])
        driver.end(DONE)
        return f"a new node had a worker after {waited:.1f} s, an old one was lost", driver.run


@scenario("a node on which every game fails", in_the_air=0, game=PLAIN_GAME)
def node_broken(scene: Scene) -> tuple[str, Path]:
    broken = scene.folder / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text("import sys\nsys.modules['engine.standin'] = None\n")
    scene.machines.add({"PYTHONPATH": os.pathsep.join([str(broken), *filter(None, [os.environ.get("PYTHONPATH")])])})
    with scene.there("cluster.workers=3", "limits.max_attempts=1", ONE_AT_A_TIME) as driver:
        driver.end(DONE)
        named = [line for line in driver.said.splitlines() if "taken out" in line]
        if not named:
            raise Miss(f"no worker was named: {driver.said[-500:]}")
        return "its worker was taken out and named; no game became void", driver.run


@scenario("the head of the cluster is lost", in_the_air=0)
def head_lost(scene: Scene) -> tuple[str, Path]:
    with scene.there() as driver:
        driver.reach(0.2)
        os.kill(scene.machines.head_server, signal.SIGKILL)
        driver.end(DONE)
        scene.close()
        _no_blame(driver)
        return "the workers that were there played all", driver.run


@scenario("the head of the cluster is lost, and all workers", in_the_air=WORKERS * IN_FLIGHT)
def cluster_lost(scene: Scene) -> tuple[str, Path]:
    with scene.there() as driver:
        driver.reach(0.3)
        os.kill(scene.machines.head_server, signal.SIGKILL)
        for worker in scene.machines.workers():
            os.kill(worker, signal.SIGKILL)
        lost = time.monotonic()
        driver.end(RESUMABLE)
        waited = time.monotonic() - lost
        if "the head of the Ray cluster at " not in driver.said:
            raise Miss(f"it did not say why it ended: {driver.said[-500:]}")
    scene.close()
    with scene.there() as driver:
        driver.end(DONE)
        return f"ended after {waited:.0f} s; the same command went on with another cluster", driver.run


# The driver's side


@scenario("the keeper of the limits is killed", in_the_air=0)
def keeper_killed(scene: Scene) -> tuple[str, Path]:
    with scene.there(ONE_AT_A_TIME) as driver:
        driver.reach(0.2)
        first = driver.see(scene.machines.keepers, "there was a keeper of the limits")
        os.kill(first[0], signal.SIGKILL)
        driver.see(lambda: set(scene.machines.keepers()) - set(first), "another keeper came")
        driver.end(DONE)
        return "another one took its place", driver.run


@scenario("the driver is killed four times, at moments drawn by lot", in_the_air=4 * WORKERS * IN_FLIGHT)
def driver_killed(scene: Scene) -> tuple[str, Path]:
    return kill_driver(scene, (0.15, 0.35, 0.55, 0.75))


def kill_driver(scene: Scene, shares: Sequence[float]) -> tuple[str, Path]:
    """Kill it after each of those shares of all requests, every time at another moment of its commits."""
    drawn = random.Random(scene.games)
    for share in shares:
        with scene.there() as driver:
            driver.reach(share)
            time.sleep(drawn.uniform(0.0, 0.3))
            workers = set(scene.machines.workers())
            os.kill(driver.process.pid, signal.SIGKILL)
            driver.process.wait()
            wait_until(lambda gone=workers: not any(map(born, gone)), "the workers of the killed driver ended", 12.0)
    with scene.there() as driver:
        driver.end(DONE)
        return "resumed by the same command each time", driver.run


@scenario("the driver stands still, longer than the leases", in_the_air=0)
def driver_suspended(scene: Scene) -> tuple[str, Path]:
    with scene.there("limits.lease_seconds=5") as driver:
        driver.reach(0.4)
        driver.send(signal.SIGSTOP)
        time.sleep(7.0)
        driver.send(signal.SIGCONT)
        driver.end(DONE)
        _no_blame(driver)
        return "it went on with the same workers", driver.run


@scenario("the driver stands still until its workers have ended", in_the_air=WORKERS * IN_FLIGHT)
def driver_suspended_long(scene: Scene) -> tuple[str, Path]:
    with scene.there() as driver:
        driver.reach(0.4)
        driver.send(signal.SIGSTOP)
        wait_until(lambda: not scene.machines.workers(), "the workers ended")
        driver.send(signal.SIGCONT)
        driver.end(DONE)
        _no_blame(driver)
        return "it went on with new workers, no game was blamed", driver.run


@scenario("the server of an embedded Ray is killed", in_the_air=WORKERS * IN_FLIGHT)
def gcs_killed(scene: Scene) -> tuple[str, Path]:
    with scene.here() as driver:
        driver.reach(0.4)
        for server in driver.embedded("gcs_server"):
            os.kill(server, signal.SIGKILL)
        driver.end(RESUMABLE)
        if "Ray on this machine has ended" not in driver.said:
            raise Miss(f"it did not say why it ended: {driver.said[-500:]}")
    with scene.here() as driver:
        driver.end(DONE)
        return "it said so and ended; the same command went on", driver.run


@scenario("Ctrl-C, then SIGTERM", in_the_air=0)
def stopped(scene: Scene) -> tuple[str, Path]:
    # A terminal's Ctrl-C reaches Ray's servers too.
    for share, number, send in ((0.3, signal.SIGINT, os.killpg), (0.6, signal.SIGTERM, os.kill)):
        with scene.here() as driver:
            driver.reach(share)
            send(driver.process.pid, number)
            driver.end(RESUMABLE)
    with scene.here() as driver:
        driver.end(DONE)
        return "nothing stayed behind; the same command went on", driver.run


@scenario("SIGTERM for Ray's servers too, as batch systems send it", in_the_air=WORKERS * IN_FLIGHT)
def stopped_with_all(scene: Scene) -> tuple[str, Path]:
    with scene.here() as driver:
        driver.reach(0.5)
        os.killpg(driver.process.pid, signal.SIGTERM)
        driver.end(RESUMABLE)
    with scene.here() as driver:
        driver.end(DONE)
        return "nothing stayed behind; the same command went on", driver.run


# Games that are bad for their worker


def _faults(scene: Scene, kind: str, *places: int) -> str:
    """Faults in the first try of games with those seeds."""
    seeds = [scene.seeds()[place] for place in places]
    return f"options.faults=[{{kind: {kind}, ply: 5, seeds: {seeds}, attempts: [1]}}]"


@scenario("games hang in native code", in_the_air=0, game=PLAIN_GAME)
def native_hang(scene: Scene) -> tuple[str, Path]:
    with scene.here(_faults(scene, "native_hang", 3, 9), "limits.game_seconds=1.5", "limits.max_attempts=2") as driver:
        driver.end(DONE)
        if "its worker was ended" not in driver.said:
            raise Miss(f"it was not cut: {driver.said[-500:]}")
        return "cut at the wall-clock limit, played again", driver.run


@scenario("a game that waits hangs in native code, among others", in_the_air=0, game=PLAIN_GAME)
def native_hang_waiting(scene: Scene) -> tuple[str, Path]:
    with scene.here(_faults(scene, "native_hang", 9), "limits.lease_seconds=3", "limits.max_attempts=2") as driver:
        driver.end(DONE)
        return "found among those of its worker, played again", driver.run


@scenario("memory runs short", in_the_air=0, game=PLAIN_GAME)
def memory_short(scene: Scene) -> tuple[str, Path]:
    total, available = memory_mb()
    # Ray ends a worker once so much of the machine's memory is in use.
    scene.environment["RAY_memory_usage_threshold"] = str((total - available + 2500) / total)
    scene.environment["RAY_memory_monitor_refresh_ms"] = "100"
    with scene.here(_faults(scene, "hoard", 3)) as driver:
        driver.end(DONE)
        if "ran short of memory" not in driver.said:
            raise Miss(f"no worker was ended for want of memory: {driver.said[-500:]}")
        return "played on with one worker fewer", driver.run


# Disks


@scenario("the disk of the run and its journal is full", in_the_air=WORKERS * IN_FLIGHT)
def run_disk_full(scene: Scene) -> tuple[str, Path]:
    with small_disk(16) as disk:
        return _filled(scene, disk, disk.inside)


@scenario("the disk of the journal is full", in_the_air=WORKERS * IN_FLIGHT)
def journal_disk_full(scene: Scene) -> tuple[str, Path]:
    with small_disk(16) as disk:
        return _filled(scene, disk, scene.folder, f"storage.journal_dir={disk.inside}")


def _filled(scene: Scene, disk: Disk, root: Path, *overrides: str) -> tuple[str, Path]:
    start = partial(scene.here, *overrides, root=root, enter=disk.enter)
    with start() as driver:
        driver.reach(0.3)
        ballast = fill(disk.outside)
        driver.end(RESUMABLE)
        told = one_line(driver.said)
    with start() as driver:
        driver.end(RESUMABLE)
        one_line(driver.said)
    ballast.unlink()
    with start() as driver:
        driver.end(DONE)
    kept = scene.folder / "kept"
    shutil.copytree(disk.outside / driver.run.relative_to(disk.inside) if root == disk.inside else driver.run, kept)
    return f"ended with: {told}", kept


def one_line(said: str) -> str:
    """The line in which it said that the disk is full. Raises :class:`Miss` unless there is one and no more."""
    lines = [line for line in said.splitlines() if "space" in line or "full" in line]
    if len(lines) != 1:
        raise Miss(f"not one line about the full disk: {said[-1000:]}")
    return lines[0]


SHORT = (
    Scenario("a worker is killed", worker_killed, IN_FLIGHT),
    Scenario("the driver is killed", partial(kill_driver, shares=(0.5,)), WORKERS * IN_FLIGHT),
    Scenario("a worker stands still", worker_suspended, IN_FLIGHT),
)
"""What ``make test`` plays."""
