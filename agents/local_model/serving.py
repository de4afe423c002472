"""The server of the local model, in this process."""

from __future__ import annotations

import os
import signal
import threading
from typing import Final, NoReturn

from agents.local_model.package import LocalModelError, check_installed, model_file

HOST: Final = "127.0.0.1"
PORT: Final = 8766
"""What ``conf/model/smollm2.yaml`` expects where ``LOCAL_MODEL_URL`` is not set."""

CONTEXT_SIZE: Final = 8192
"""Tokens; the model was trained for no more."""

_ERRORS_ONLY: Final = 1
_STOPPING: Final = (signal.SIGINT, signal.SIGTERM)


def serve(port: int, threads: int | None = None, until_stdin_ends: bool = False) -> NoReturn:
    """Serve the local model on ``port`` (0: any free one) until SIGINT or SIGTERM, which end this process.

    It computes with so many ``threads``; ``None``: as many as there are cores that nothing else keeps busy. Prints one
    line with the address when it is ready. With ``until_stdin_ends`` it also stops at the end of its standard input, so
    that it does not outlive a parent that was killed. Raises :class:`~agents.local_model.package.LocalModelError`.
    """
    check_installed()
    import xllamacpp

    # Blocked before the library starts its threads, which inherit it: the signal is this thread's, which waits for it.
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model_file())
    parameters.hostnames = [HOST]
    parameters.port = port
    parameters.n_ctx = CONTEXT_SIZE
    parameters.n_parallel = 1
    parameters.n_gpu_layers = 0
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads or free_cores()
    # Prompts of old requests; up to 8 GiB by default.
    parameters.cache_ram_mib = 0
    parameters.ui = False
    parameters.verbosity = _ERRORS_ONLY
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise LocalModelError(f"no server could be started on port {port}: {error}") from error
    print(f"local model: {server.listening_address}/v1", flush=True)
    if until_stdin_ends:
        threading.Thread(target=_stop_at_end_of_input, daemon=True).start()
    signal.sigwait(_STOPPING)
    # There is nothing to save, and the library's own end sometimes waits for ever: it holds the interpreter's lock
    # while it joins a thread that wants it.
    os._exit(0)


def free_cores() -> int:
    """How many cores have had nothing to do in the last minute, at least 1."""
    # Threads wait for one another after every operation, so one that shares its core holds up the others: on two cores
    # with a load of 14 two threads wrote 1 token a second, one thread 26.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, round(cores - os.getloadavg()[0])))


def _stop_at_end_of_input() -> None:
    # Not sys.stdin: a thread that waits in it keeps the interpreter from ending.
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
