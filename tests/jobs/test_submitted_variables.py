"""The environment variables that go with a submitted job: which, how they are hidden, and how long they stay there."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from jobs.config import composed_jobs
from jobs.early import begin_imports
from jobs.submission import running, variables
from orchestrator.stop import StopSignals


def test_keys_and_variables_of_the_configuration_are_passed_on_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-abc")
    monkeypatch.setenv("LOOPBACK_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("UNRELATED_KEY", "other")
    monkeypatch.setenv("STORAGE_KEY", "s3")
    agents = "agents=[{model: gpt_5_4, harness: minimal},{model: loopback, harness: minimal}]"
    importlib.import_module("jobs.tournament")
    [(composed, config)] = composed_jobs("tournament", ["run=r", agents, "decks=[charizard_ex]"])
    assert variables.wanted(composed, config, ["STORAGE_KEY"]) == {
        "OPENROUTER_API_KEY": "sk-abc",
        "LOOPBACK_URL": "http://127.0.0.1:9/v1",
        "STORAGE_KEY": "s3",
    }


def test_neither_half_of_packed_variables_tells_anything_and_both_give_them_back_as_long_as_they_are_there() -> None:
    passed = {"KEY": "sk-a-very-secret-key", "URL": "http://h/é"}
    name, content, told = variables.pack(passed)
    assert b"secret" not in content
    assert "secret" not in told
    assert json.dumps(passed).encode().hex() not in told
    assert variables.place(told) == name
    store = {name: content}
    for _ in range(2):
        assert variables.unpack(told, store.get) == passed
    store.clear()
    with pytest.raises(LookupError, match="not in the cluster's memory any more"):
        variables.unpack(told, store.get)
    assert variables.pack(passed)[1] != content


class Memory(dict[str, bytes]):
    """A store of variables that lives as long as a test."""

    def forget(self, name: str) -> None:
        del self[name]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Memory]:
    """Sends a variable PRIZEFIGHT_SENT with the next job; returns the store in which it is."""
    monkeypatch.setenv("PRIZEFIGHT_SENT", "")  # So that it is taken back afterwards.
    monkeypatch.setenv(variables.PAD, "")

    def send() -> Memory:
        os.environ["PRIZEFIGHT_SENT"] = ""
        name, content, os.environ[variables.PAD] = variables.pack({"PRIZEFIGHT_SENT": "a key"})
        return Memory({name: content})

    return send


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], int]], None]:
    """Gives the job that is called ``ending`` its end."""
    module = ModuleType("jobs.ending")
    monkeypatch.setitem(sys.modules, "jobs.ending", module)

    def give(end: Callable[[], int]) -> None:
        def main(argv: list[str]) -> int:
            assert os.environ["PRIZEFIGHT_SENT"] == "a key"
            assert variables.PAD not in os.environ, "processes of the job have no part in it"
            return end()

        module.__dict__["main"] = main

    return give


@pytest.mark.parametrize(("code", "left"), [(0, 0), (1, 1), (2, 0), (3, 1), (4, 0)])
def test_a_jobs_variables_are_there_until_it_has_ended_for_good(
    code: int, left: int, sent: Callable[[], Memory], ending: Callable[[Callable[[], int]], None]
) -> None:
    store = sent()
    ending(lambda: code)
    assert (running.main(["ending"], store), len(store)) == (code, left)


def test_a_job_that_died_has_its_variables_when_it_is_started_again(
    sent: Callable[[], Memory],
    ending: Callable[[Callable[[], int]], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = sent()
    told = os.environ[variables.PAD]

    def die() -> int:
        raise MemoryError

    ending(die)
    with pytest.raises(MemoryError):
        running.main(["ending"], store)
    os.environ.update({variables.PAD: told, "PRIZEFIGHT_SENT": ""})
    ending(lambda: 0)
    assert (running.main(["ending"], store), len(store)) == (0, 0)
    os.environ[variables.PAD] = told
    assert running.main(["ending"], store) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "not in the cluster's memory any more" in err
    assert "submit the job again" in err


@pytest.mark.parametrize("has_own_handler", [True, False])
def test_a_job_that_is_stopped_leaves_no_variables(
    has_own_handler: bool, sent: Callable[[], Memory], ending: Callable[[Callable[[], int]], None]
) -> None:
    store = sent()
    before = signal.getsignal(signal.SIGTERM)

    def stopped() -> int:
        if not has_own_handler:
            os.kill(os.getpid(), signal.SIGTERM)
            return 0
        with StopSignals() as stop:
            os.kill(os.getpid(), signal.SIGTERM)
            assert stop.asked()
        return 3

    ending(stopped)
    if has_own_handler:
        assert running.main(["ending"], store) == 3
    else:
        with pytest.raises(SystemExit) as ended:
            running.main(["ending"], store)
        assert ended.value.code == 3
    assert store == {}
    assert signal.getsignal(signal.SIGTERM) == before


def test_ctrl_c_while_the_jobs_own_modules_are_imported_leaves_no_variables(
    sent: Callable[[], Memory], ending: Callable[[Callable[[], int]], None]
) -> None:
    store = sent()

    def interrupted() -> int:
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "it would end the process at once"
        os.kill(os.getpid(), signal.SIGINT)
        return 0

    ending(interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        begin_imports()
        with pytest.raises(KeyboardInterrupt):
            running.main(["ending"], store)
    finally:
        signal.signal(signal.SIGINT, before)
    assert store == {}


def test_variables_that_cannot_be_deleted_do_not_change_how_the_job_ended(
    sent: Callable[[], Memory],
    ending: Callable[[Callable[[], int]], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = sent()

    def away() -> int:
        store.clear()
        return 4

    ending(away)
    assert running.main(["ending"], store) == 4
    assert "the job's variables stay in the cluster's memory: KeyError" in capsys.readouterr().err
