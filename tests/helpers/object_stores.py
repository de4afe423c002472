"""A real server that speaks S3, as a process of its own, and a way to it that can be put into disorder."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from itertools import count

from ports import free_port

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "key-of-the-tests",
    "AWS_SECRET_ACCESS_KEY": "secret-of-the-tests",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
_SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Reduce your request rate</Message></Error>"


class ObjectStore:
    """A server on this machine, empty at first; its buckets are made by asking for them."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._numbers = count()

    @property
    def url(self) -> str:
        """What ``AWS_ENDPOINT_URL`` is to be."""
        return f"http://127.0.0.1:{self.port}"

    def bucket(self) -> str:
        """The name of a new bucket."""
        name = f"bucket-{next(self._numbers)}"
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/{name}", method="PUT")).close()
        return name


@contextlib.contextmanager
def object_store() -> Iterator[ObjectStore]:
    """A server for as long as the block lasts."""
    store = ObjectStore(free_port())
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(store.port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"{store.url}/moto-api/data.json").close()
                break
            except OSError:
                assert process.poll() is None, "the S3 server has ended"
                assert time.monotonic() < until, "the S3 server does not answer"
                time.sleep(0.05)
        yield store
    finally:
        process.kill()
        process.wait()


class TroubledWay:
    """A proxy to ``port``; :attr:`trouble` is ``None``, or what happens to requests now.

    ``refuse`` closes every connection, ``stall`` lets nothing through and answers nothing, ``throttle`` answers that
    there are too many requests, ``dribble`` lets nothing through either but goes on answering without end, so that
    requests (other than HEAD, whose answers have no body) do not fail of themselves. :attr:`dribbling` counts those.
    """

    def __init__(self, port: int) -> None:
        self.trouble: str | None = None
        self.dribbling = 0
        self._port = port
        self._open: set[socket.socket] = set()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """End it and all connections."""
        self._server.close()
        for one in list(self._open):
            with contextlib.suppress(OSError):
                one.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self._port))
        self._open |= {client, server}
        threading.Thread(target=self._back, args=(server, client), daemon=True).start()
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                if self.trouble == "stall":
                    while self.trouble == "stall":
                        time.sleep(0.05)
                    break
                if self.trouble == "dribble":
                    if not data.startswith(b"HEAD "):
                        self.dribbling += 1
                        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                    while self.trouble == "dribble":
                        if not data.startswith(b"HEAD "):
                            client.sendall(b" ")
                        time.sleep(0.1)
                    break
                if self.trouble == "throttle":
                    head = f"HTTP/1.1 503 Slow Down\r\nContent-Length: {len(_SLOW_DOWN)}\r\nConnection: close\r\n\r\n"
                    client.sendall(head.encode() + _SLOW_DOWN)
                    break
                if self.trouble == "refuse":
                    break
                server.sendall(data)
        self._end(client, server)

    def _back(self, server: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)
        self._end(client, server)

    def _end(self, *several: socket.socket) -> None:
        for one in several:
            self._open.discard(one)
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@contextlib.contextmanager
def environment(**values: str) -> Iterator[None]:
    """The environment variables with ``values`` for as long as the block lasts."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
