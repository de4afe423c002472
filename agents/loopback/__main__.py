"""The command line of the loopback server: ``python -m agents.loopback --help``."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence

from agents.loopback.faults import ModelFault, ServerFault, fault_named, parse_script
from agents.loopback.profiles import DEFAULT, PROFILES
from agents.loopback.server import LoopbackServer, Settings

PORT = 8765
"""What ``conf/model/loopback_*.yaml`` expect."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM; 0, or 2 where the arguments are wrong."""
    options = _parser().parse_args(arguments)
    try:
        settings = _settings(options)
        return asyncio.run(_serve(settings, options.host, options.port))
    except (ValueError, OSError) as error:
        print(f"loopback: {error}", file=sys.stderr)
        return 2


async def _serve(settings: Settings, host: str, port: int) -> int:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with LoopbackServer(settings, host, port) as server:
        print(f"loopback: {server.base_url} (profile {settings.profile}, seed {settings.seed})", flush=True)
        await stopped.wait()
        counted = server.statistics.all
        print(f"loopback: {counted.requests} requests, {counted.answered} answered", flush=True)
    return 0


def _settings(options: argparse.Namespace) -> Settings:
    key = None
    if options.key_env is not None:
        key = os.environ.get(options.key_env)
        if not key:
            raise ValueError(f"--key-env: the environment variable {options.key_env} is not set")
    rates = dict(_rate(text) for text in options.rate)
    return Settings(
        seed=options.seed,
        profile=options.profile,
        script=parse_script(options.script),
        server_faults={fault: rate for fault, rate in rates.items() if isinstance(fault, ServerFault)} or None,
        model_faults={fault: rate for fault, rate in rates.items() if isinstance(fault, ModelFault)} or None,
        latency_ms=options.latency_ms,
        jitter_ms=options.jitter_ms,
        context_size=options.context_size,
        requests_per_minute=options.requests_per_minute,
        tokens_per_minute=options.tokens_per_minute,
        in_flight=options.in_flight,
        limit_seconds=options.limit_seconds,
        key=key,
    )


def _rate(text: str) -> tuple[ServerFault | ModelFault, float]:
    name, _, value = text.partition("=")
    fault = fault_named(name)
    try:
        rate = float(value)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise ValueError(f"--rate {text}: a rate is a number from 0 to 1, as in {name}=0.05")
    return fault, rate


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m agents.loopback",
        description="Serve OpenAI's chat completions on this machine, answered by a scripted player.",
        epilog="GET /stats shows what was counted, POST /reset begins anew. Faults: "
        + ", ".join([*ServerFault, *ModelFault]),
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=PORT, help="port to listen on, 0 for any (%(default)s)")
    parser.add_argument(
        "--profile",
        default=DEFAULT,
        choices=PROFILES,
        help="who plays models not called loopback/PROFILE (%(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="answers are a function of it and the request (%(default)s)"
    )
    parser.add_argument(
        "--script", default="", help="what becomes of the first requests, as in rate_limited*2:1.5,stall:30,ok"
    )
    parser.add_argument(
        "--rate", action="append", default=[], metavar="FAULT=SHARE", help="replaces the profile's rates"
    )
    parser.add_argument("--latency-ms", type=float, help="how long an answer takes")
    parser.add_argument("--jitter-ms", type=float, help="and up to how much longer")
    parser.add_argument("--context-size", type=int, help="tokens beyond which a request is refused")
    parser.add_argument("--requests-per-minute", type=int, help="429 beyond it")
    parser.add_argument("--tokens-per-minute", type=int, help="429 beyond it")
    parser.add_argument("--in-flight", type=int, help="429 beyond it")
    parser.add_argument(
        "--limit-seconds",
        type=float,
        default=60.0,
        help="window in which limits hold, each in proportion (%(default)s)",
    )
    parser.add_argument("--key-env", help="environment variable with the only key that is let in")
    return parser


if __name__ == "__main__":
    sys.exit(main())
