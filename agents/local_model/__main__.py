"""The command line of the local model's server: ``python -m agents.local_model --help``."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from agents.local_model.child import LocalServer
from agents.local_model.package import LocalModelError
from agents.local_model.serving import PORT, serve

URL_VARIABLE: Final = "LOCAL_MODEL_URL"
"""The environment variable that ``conf/model/smollm2.yaml`` reads."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve and never return, or run a command beside a server; its exit code, or 2 where there can be no server."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if not 0 <= options.port < 65536:
        parser.error(f"--port {options.port}: a port is a number from 0 to 65535")
    if options.threads is not None and options.threads < 1:
        parser.error(f"--threads {options.threads}: at least one thread computes")
    try:
        if options.command:
            return _run(options.command)
        serve(options.port, options.threads, options.until_stdin_ends)
    except (LocalModelError, OSError) as error:
        print(f"local model: {error}", file=sys.stderr)
        return 2


def _run(command: Sequence[str]) -> int:
    """Run ``command`` with the address of a server in its environment; SIGTERM is passed on to it."""
    with LocalServer() as server:
        process = subprocess.Popen(command, env={**os.environ, URL_VARIABLE: server.base_url})
        # A terminal sends Ctrl-C to the command as well, and it is for the command to say what becomes of it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda number, frame: process.terminate())
        code = process.wait()
    return code if code >= 0 else 128 - code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m agents.local_model",
        description="Serve SmolLM2-135M-Instruct on this machine's CPU as OpenAI's chat completions, offline. With a "
        f"COMMAND: serve on a free port while it runs, with the address in {URL_VARIABLE}, "
        "which conf/model/smollm2.yaml reads.",
    )
    parser.add_argument("--port", type=int, default=PORT, help="port to listen on, 0 for any (%(default)s)")
    parser.add_argument("--threads", type=int, help="threads that compute (as many as there are cores not busy)")
    parser.add_argument("--until-stdin-ends", action="store_true", help="also stop at the end of standard input")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="what to run, with its arguments")
    return parser


if __name__ == "__main__":
    sys.exit(main())
