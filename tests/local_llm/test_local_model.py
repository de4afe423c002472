"""The real model on the CPU: `make test-local-llm`. Plain `make test` leaves these out; they want the extra `local`."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from omegaconf import OmegaConf

import conf
from agents.llm.agent import LLMAgent
from agents.llm.client import OpenAIClient
from agents.llm.config import HarnessConfig, parse_harness
from agents.llm.contract import CallFailed, CallKey, ChatReply, ChatRequest, FailureKind
from agents.llm.models import ModelConfig, parse_model
from agents.local_model.child import LocalServer
from engine.match import MatchSpec, play_forced
from engine.ptcg.decks import parse_deck
from engine.registry import new_match

pytestmark = pytest.mark.timeout(1200)

CONF = Path(conf.__file__).parent
WRAPPED = [sys.executable, "-m", "agents.local_model"]


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with LocalServer() as running:
        yield running


def model_at(base_url: str) -> ModelConfig:
    """The model of conf/model/smollm2.yaml at that address."""
    parts = [OmegaConf.load(CONF / "model" / f"{name}.yaml") for name in ("local", "smollm2")]
    merged = OmegaConf.to_container(OmegaConf.merge(*parts), resolve=True)
    assert isinstance(merged, dict)
    merged.pop("defaults")
    return parse_model({**{str(key): value for key, value in merged.items()}, "base_url": base_url})


def short() -> HarnessConfig:
    """The harness of conf/harness/short.yaml."""
    parts = [OmegaConf.load(CONF / "harness" / f"{name}.yaml") for name in ("full", "short")]
    merged = OmegaConf.to_container(OmegaConf.merge(*parts), resolve=True)
    assert isinstance(merged, dict)
    merged.pop("defaults")
    return parse_harness({str(key): value for key, value in merged.items()})


class Listener:
    """Makes calls through the ordinary client and keeps requests and replies."""

    def __init__(self, client: OpenAIClient) -> None:
        self._client = client
        self.heard: list[tuple[ChatRequest, ChatReply]] = []

    async def __call__(self, key: CallKey, request: ChatRequest) -> ChatReply:
        reply = await self._client.complete(request)
        self.heard.append((request, reply))
        return reply


async def first_decisions(model: ModelConfig, count: int) -> list[tuple[ChatRequest, ChatReply]]:
    """The calls of the model's first ``count`` decisions of a mirror match with itself; all of them are played."""
    deck = parse_deck((CONF / "deck" / "miraidon_ex.txt").read_text(encoding="utf-8"))
    match = new_match(MatchSpec("ptcg", 3, (deck, deck)))
    async with OpenAIClient(model) as client:
        listener = Listener(client)
        agents = [LLMAgent(model, short(), seat, rng_seed=seat) for seat in (0, 1)]
        for agent in agents:
            agent.connect(listener)
        for _ in range(count):
            play_forced(match)
            (seat,) = match.seats_to_act()
            decision = await agents[seat].act(match.observe(seat), match.legal_actions(seat))
            for action in decision.actions:
                match.apply(seat, action)
        return listener.heard


def test_it_decides_within_the_legal_actions_of_a_match(server: LocalServer) -> None:
    heard = asyncio.run(first_decisions(model_at(server.base_url), 4))
    assert len(heard) >= 3
    complete = [(request, reply) for request, reply in heard if reply.finish_reason == "stop"]
    assert complete
    for request, reply in complete:
        wanted = request.parameters["response_format"]["json_schema"]["schema"]["properties"]["action"]["enum"]
        said = json.loads(reply.content)
        assert set(said) == {"thought", "action"}
        assert said["action"] in wanted
    for request, reply in heard:
        assert not reply.usage_estimated
        assert 0 < reply.usage.output <= request.parameters["max_tokens"]
        # A prompt that takes a minute to read is no short one.
        assert 0 < reply.usage.input < 4000


def test_a_prompt_beyond_its_context_is_told_as_such(server: LocalServer) -> None:
    async def ask() -> None:
        model = model_at(server.base_url)
        async with OpenAIClient(model) as client:
            await client.complete(ChatRequest(model.id, ({"role": "user", "content": "card " * 9000},)))

    with pytest.raises(CallFailed) as failed:
        asyncio.run(ask())
    assert failed.value.kind is FailureKind.CONTEXT_OVERFLOW


def test_a_command_finds_the_server_and_its_exit_code_comes_back() -> None:
    code = (
        "import os, sys, urllib.request as web; url = os.environ['LOCAL_MODEL_URL']; print(url);"
        "print(web.urlopen(url + '/models').status); sys.exit(7)"
    )
    done = subprocess.run([*WRAPPED, sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 7, done.stderr
    url, status = done.stdout.split()
    assert url.startswith("http://127.0.0.1:")
    assert status == "200"
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(url.split(":")[2].split("/")[0]))) != 0


def test_the_server_does_not_outlive_a_killed_parent() -> None:
    code = (
        "import time; from agents.local_model.child import LocalServer\n"
        "with LocalServer() as server: print(server.pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
        while is_running(pid):
            time.sleep(0.1)


def is_running(pid: int) -> bool:
    """Whether the process is there and not merely unburied."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rsplit(")", 1)[1].split()[0] != "Z"


def test_a_port_that_is_taken_is_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run([*WRAPPED, "--port", str(port)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert f"port {port}" in done.stderr
    assert "Traceback" not in done.stderr
