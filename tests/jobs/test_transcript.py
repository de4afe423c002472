"""The first decisions of a match as text, played against the loopback server."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.loopback import LoopbackServer
from agents.loopback.server import Settings
from jobs.transcript import main

AGENTS = "agents=[{model: loopback, harness: full},heuristic]"


@pytest.fixture
def loopback(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    loop, ready, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    server = LoopbackServer(Settings())

    async def serve() -> None:
        async with server:
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    ready.wait()
    monkeypatch.setenv("LOOPBACK_URL", server.base_url)
    yield server
    loop.call_soon_threadsafe(stop.set)
    thread.join()
    loop.close()


def test_it_shows_and_writes_as_many_decisions_as_asked_for(
    loopback: LoopbackServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "transcript.txt"
    assert main([AGENTS, "decks=[lugia_archeops]", "decisions=6", f"out={out}", "seed=2"]) == 0
    shown = capsys.readouterr().out
    written = out.read_text(encoding="utf-8")
    assert shown == f"{written}wrote {out}\n"
    assert [int(number) for number in re.findall(r"decision (\d+),", written)] == [1, 2, 3, 4, 5, 6]
    assert loopback.statistics.all.requests == written.count("    prompt ") == written.count("    verdict ")
    assert loopback.statistics.all.input_tokens == sum(map(int, re.findall(r"prompt +(\d+) tokens", written)))
    assert written.count("    action ") >= 6
    assert "6 decisions, as asked for" in written
    assert list(out.parent.iterdir()) == [out]


def test_it_ends_when_time_is_up(tmp_path: Path, capsys: pytest.CaptureFixture[str], loopback: LoopbackServer) -> None:
    out = tmp_path / "transcript.txt"
    assert main([AGENTS, "decisions=1000", "seconds=0.01", f"out={out}"]) == 0
    assert "0.01 seconds are over" in out.read_text(encoding="utf-8")


def test_a_call_that_fails_is_one_line_and_what_was_played_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "transcript.txt"
    nowhere = (
        "{id: nobody, base_url: 'http://127.0.0.1:1/v1', context_size: 32000, price: {input: 0, output: 0},"
        " retry: {deadline_seconds: 0.01}}"
    )
    assert main([f"agents=[{{model: {nowhere}, harness: full}},random]", f"out={out}"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("jobs.transcript: nobody: connection failed")
    assert "ends: a call failed" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["agents=[random,heuristic]"], "one of the two has to be a model"),
        (["agents=[{model: loopback, harness: full}]"], "1 are given, two play"),
        ([AGENTS, "decks=[]"], "decks: 0 are given"),
        ([AGENTS, "decisions=0"], "decisions: 0 is not a whole number from 1"),
        ([AGENTS, "seconds=0"], "seconds: 0 is not a positive number"),
        ([AGENTS, "out=."], "out: . is a folder"),
        ([AGENTS, "out=/dev/null/game.txt"], "out: cannot write /dev/null/game.txt: "),
    ],
)
def test_what_cannot_be_played_is_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
