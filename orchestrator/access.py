"""Reaching a Ray cluster that is there: is anybody at the address, does it want a token, and have we the right one.

Ray itself tries an address at which nobody answers, or that refuses its token, for half a minute and then says only
that it could not connect. One question tells which it is. The token is looked for where Ray looks for it
(``RAY_AUTH_TOKEN``, the file that ``RAY_AUTH_TOKEN_PATH`` names, ``~/.ray/auth_token``), and is written nowhere.
"""

from __future__ import annotations

import importlib
import os
import secrets
import socket
import time
from collections.abc import Mapping
from typing import Any, Final

from orchestrator.config import ConfigError

_MODE: Final = "RAY_AUTH_MODE"
_TOKEN: Final = "RAY_AUTH_TOKEN"
_REACH_SECONDS: Final = 10.0
_REFUSED_SECONDS: Final = 3.0
"""How long an address that refuses connections is tried: the servers of a Ray that has just been started come up one by
one, that of ``ray://`` last."""
_ID_SECONDS: Final = 3.0
_PAUSE_SECONDS: Final = 0.3
_CLIENT: Final = "ray://"
_WHO: Final = "/ray.rpc.NodeInfoGcsService/GetClusterId"
_QUESTIONS: Final = {True: "/ray.rpc.RayletDriver/ClusterInfo", False: "/ray.rpc.NodeInfoGcsService/CheckAlive"}
"""What is asked of the server of ``ray://`` and of any other: both refuse whoever has not the token."""

WHERE_TOKENS_ARE: Final = "RAY_AUTH_TOKEN, the file named by RAY_AUTH_TOKEN_PATH, or ~/.ray/auth_token"


def check_address(address: str) -> None:
    """Raise :class:`ConfigError` where nothing answers at a ``host:port`` or ``ray://host:port``.

    Other addresses, such as ``auto``, Ray refuses soon enough.
    """
    parts = _host_and_port(address)
    if parts is None:
        return
    until = time.monotonic() + _REFUSED_SECONDS
    while True:
        try:
            socket.create_connection(parts, timeout=_REACH_SECONDS).close()
            return
        except ConnectionRefusedError as error:
            if time.monotonic() > until:
                raise _nobody(address, error) from error
            time.sleep(_PAUSE_SECONDS)
        except (OSError, OverflowError) as error:
            raise _nobody(address, error) from error


def show_token(address: str) -> None:
    """Have Ray show its token in this process where the cluster at ``address`` wants one.

    Ray does so by itself only for a cluster that it finds by itself. Raises :class:`ConfigError` where there is no
    token or another one, where ``RAY_AUTH_MODE`` forbids to use it, and where somebody takes the question and gives no
    answer, for which Ray would wait for minutes.
    """
    found = _found(address)
    if found != address:
        check_address(found)  # Ray may remember one that is gone.
    address = found
    if _host_and_port(address) is None or not _is_refused(address, {}):
        return
    use_token(f"cluster.address: the Ray at {address!r}")
    if _is_refused(address, token_header()):
        raise ConfigError(f"cluster.address: the Ray at {address!r} has another token than {_place()}")


def use_token(who: str) -> None:
    """Have Ray use its token in this process, as ``who`` wants one. Raises :class:`ConfigError` where there is none."""
    mode = os.environ.get(_MODE)
    if mode is not None and mode.lower() != "token":
        raise ConfigError(f"{who} wants a token, but {_MODE} is {mode!r}; unset it, or make it 'token'")
    if not _loader().has_token(ignore_auth_mode=True):
        raise ConfigError(f"{who} wants a token and there is none; give it in {WHERE_TOKENS_ARE}")
    os.environ[_MODE] = "token"
    _raylet().Config.initialize("")  # Ray has read the variable already, when it was imported.


def give_token() -> bool:
    """Have a Ray that is about to be started here, and all below this process, use a token made up just now.

    Only where there is none: Ray would make one and write it into the user's home, which need not be there. Returns
    whether that was so; then :func:`take_token_back` is to be called once it has ended.
    """
    if os.environ.get(_MODE, "token").lower() != "token" or _loader().has_token(ignore_auth_mode=True):
        return False
    os.environ[_TOKEN] = secrets.token_hex(32)
    _loader().reset_cache()
    return True


def take_token_back() -> None:
    """Forget the token of :func:`give_token`."""
    os.environ.pop(_TOKEN, None)
    _loader().reset_cache()


def token_header() -> Mapping[str, str]:
    """The header of a request that shows the token; only after :func:`use_token`."""
    header: dict[str, str] = _loader().get_token_for_http_header()
    return header


def _loader() -> Any:
    return _raylet().AuthenticationTokenLoader.instance()


def _raylet() -> Any:
    """Ray's compiled part, of which type checkers know nothing."""
    return importlib.import_module("ray._raylet")


def _place() -> str:
    """Where Ray takes its token from."""
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        if os.environ.get(name):
            return f"the one that {name} gives" if name.endswith("TOKEN") else f"the one in the file that {name} names"
    return "the one in ~/.ray/auth_token"


def _found(address: str) -> str:
    """``address``, or what Ray finds where that is ``auto``."""
    if address != "auto":
        return address
    from ray._private import services

    try:
        found: str | None = services.canonicalize_bootstrap_address("auto")
    except (ConnectionError, ValueError, OSError):
        return address
    return found or address


def _host_and_port(address: str) -> tuple[str, int] | None:
    host, _, port = address.removeprefix(_CLIENT).rpartition(":")
    return (host.strip("[]"), int(port)) if host and port.isdigit() else None


def cluster_id(address: str) -> bytes | None:
    """What tells the cluster whose head answers at ``HOST:PORT`` from any other; ``None`` where none answers in time.

    One that refuses our token is another one than this process has joined, whichever that is.
    """
    import grpc

    code, said = _ask(
        address, _WHO, token_header() if os.environ.get(_MODE, "").lower() == "token" else {}, _ID_SECONDS
    )
    return b"" if code is grpc.StatusCode.UNAUTHENTICATED else said


def _is_refused(address: str, headers: Mapping[str, str]) -> bool:
    """Whether the server at ``address`` refuses to answer for want of a (better) token.

    Raises :class:`ConfigError` where it takes the question and does not answer at all.
    """
    import grpc

    code, _ = _ask(address, _QUESTIONS[address.startswith(_CLIENT)], headers, _REACH_SECONDS)
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        waited = f"has not answered for {_REACH_SECONDS:g} s"
        raise ConfigError(f"cluster.address: whoever listens at {address!r} {waited}; it is not Ray, or stands still")
    return code is grpc.StatusCode.UNAUTHENTICATED


def _ask(address: str, question: str, headers: Mapping[str, str], seconds: float) -> tuple[Any, bytes | None]:
    """The fault (``None``: none) and the answer (``None``: none) of the server at ``address``."""
    import grpc

    target = address.removeprefix(_CLIENT)
    with grpc.insecure_channel(target, options=(("grpc.enable_http_proxy", 0),)) as channel:
        ask = channel.unary_unary(question, bytes, bytes)
        try:
            return None, ask(b"", timeout=seconds, metadata=[(name.lower(), text) for name, text in headers.items()])
        except grpc.RpcError as error:
            return error.code(), None


def _nobody(address: str, error: BaseException) -> ConfigError:
    return ConfigError(f"cluster.address: no Ray at {address!r}: {type(error).__name__}: {error}")
