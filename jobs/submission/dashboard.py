"""The jobs of a Ray cluster, through its dashboard: submitting one, following it, what came of it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from jobs.config import ConfigError, ExitCode
from orchestrator import ConfigError as TokenRefused
from orchestrator.access import token_header, use_token

_REACH_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.5
_PATIENCE_SECONDS: Final = 60.0
"""How long a dashboard that has answered before may be out of reach."""
_NOT_YET: Final = "No available agent"
"""What a cluster says that has just been started, or is very busy."""
_SIGNALS: Final = 128
_ENDED: Final = frozenset({"SUCCEEDED", "FAILED", "STOPPED"})
_ADDRESSES: Final = ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS")
"""With Ray, these come before an address that is given."""


class JobLost(ConnectionError):
    """The dashboard does not answer any more; the job may go on all the same."""


class Dashboard:
    """The dashboard at ``address`` (``http://HOST:8265``). Raises :class:`ConfigError` where there is none, and where
    it wants a token that is missing or another."""

    def __init__(self, address: str) -> None:
        from ray.job_submission import JobSubmissionClient

        self.address = address.rstrip("/")
        if "://" not in self.address:
            self.address = f"http://{self.address}"
        self._check()
        for name in ("dashboard_sdk", "job.sdk"):
            logging.getLogger(f"ray.dashboard.modules.{name}").setLevel(logging.WARNING)
        with _unset(_ADDRESSES):
            self._client: Any = JobSubmissionClient(self.address)

    def _check(self) -> None:
        """Ray's client would say in many lines, or not at all, what is wrong."""
        try:
            if self._asked("/api/authentication_mode").get("authentication_mode") == "token":
                use_token(f"cluster.dashboard: the Ray at {self.address!r}")
            if "ray_version" not in self._asked("/api/version"):
                raise ConfigError(f"cluster.dashboard: what answers at {self.address!r} is no dashboard of Ray")
        except urllib.error.HTTPError as error:
            if error.code in (401, 403):
                said = f"the Ray at {self.address!r} has another token than the one that is found here"
            else:
                said = f"what answers at {self.address!r} is no dashboard of Ray: status {error.code}"
            raise ConfigError(f"cluster.dashboard: {said}") from error
        except (ConfigError, TokenRefused):
            raise
        except (OSError, ValueError) as error:
            why = getattr(error, "reason", error)
            raise ConfigError(f"cluster.dashboard: no Ray at {self.address!r}: {why}") from error

    def _asked(self, path: str) -> Mapping[str, Any]:
        """What the dashboard answers, empty where that is no JSON object. Raises ``OSError`` and ``ValueError``."""
        request = urllib.request.Request(self.address + path, headers=dict(token_header()))
        with urllib.request.urlopen(request, timeout=_REACH_SECONDS) as reply:
            text = reply.read()
        try:
            answer = json.loads(text)
        except ValueError:
            return {}
        return answer if isinstance(answer, dict) else {}

    def put(self, name: str, content: bytes) -> None:
        """Put ``content`` into the memory of Ray's store under ``name``. Raises ``OSError``."""
        url = f"{self.address}/api/packages/gcs/{name}"
        request = urllib.request.Request(url, data=content, headers=dict(token_header()), method="PUT")
        with urllib.request.urlopen(request, timeout=_REACH_SECONDS):
            return

    def check_free(self, job_id: str) -> None:
        """Raise :class:`ConfigError` where the cluster has a job of this id, be it one that has ended."""
        try:
            self.info(job_id)
        except ConfigError:
            return
        raise _taken(job_id)

    def submit(
        self,
        entrypoint: str,
        archive: Path,
        variables: Mapping[str, str],
        runtime_env: Mapping[str, Any],
        job_id: str | None,
    ) -> str:
        """Send a job and return its id. Raises :class:`ConfigError` for what Ray refuses."""
        settings = dict(runtime_env)
        settings["env_vars"] = {**settings.get("env_vars", {}), **variables}
        settings["working_dir"] = str(archive)
        until = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                name: str = self._client.submit_job(entrypoint=entrypoint, submission_id=job_id, runtime_env=settings)
                return name
            except (RuntimeError, ValueError, TypeError) as error:
                if job_id is not None and f"{job_id} already exists" in str(error):
                    raise _taken(job_id) from error
                if _NOT_YET not in str(error) or time.monotonic() > until:
                    raise ConfigError(f"the cluster refuses the job: {_reason(error)}") from error
            time.sleep(_LOOK_SECONDS)

    def follow(self, job_id: str) -> int:
        """Print the job's log, from its beginning and until it ends; returns what :meth:`outcome` does."""
        try:
            asyncio.run(self._follow(job_id))
        except asyncio.CancelledError as error:
            # What becomes of a Ctrl-C that comes before the first step.
            raise KeyboardInterrupt from error
        return self.outcome(job_id)

    def outcome(self, job_id: str) -> int:
        """The exit code of a job that has ended; what is not told by its log is told on standard error."""
        info = self.info(job_id)
        if info.status == "SUCCEEDED":
            return ExitCode.COMPLETE
        if info.status == "STOPPED":
            _say(f"job {job_id} was stopped; the same command goes on")
            return ExitCode.INCOMPLETE
        code = info.driver_exit_code
        if code in (126, 127):
            _say(f"job {job_id}: the cluster's nodes cannot start it; cluster.python names their Python")
        elif code is None:
            lines = (info.message or "").strip().splitlines()
            _say(f"job {job_id} was ended: {lines[0] if lines else 'no reason is given'}; the same command goes on")
        elif not 0 <= code < _SIGNALS:
            # A shell tells of a signal by a code above 128.
            _say(f"job {job_id} was ended by signal {-code if code < 0 else code - _SIGNALS}; the same command goes on")
        return code if code is not None and 0 <= code < 126 else ExitCode.FAULT

    def info(self, job_id: str) -> Any:
        """All that Ray tells about a job. Raises :class:`ConfigError` where it has none of this id."""
        return self._patiently(lambda: self._client.get_job_info(job_id), job_id)

    def stop(self, job_id: str) -> None:
        """Have Ray stop a job, and wait until it has ended."""
        self._patiently(lambda: self._client.stop_job(job_id), job_id)
        while self.info(job_id).status not in _ENDED:
            time.sleep(_LOOK_SECONDS)

    def ended(self, job_id: str) -> bool:
        """Whether a job has ended."""
        return self.info(job_id).status in _ENDED

    def _patiently(self, ask: Any, job_id: str) -> Any:
        until = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                return ask()
            except RuntimeError as error:
                if "does not exist" in str(error):
                    raise ConfigError(f"job_id: the cluster has no job {job_id!r}") from error
                trouble: Exception = error
            except OSError as error:  # Whatever goes wrong with a request is one.
                trouble = error
            if time.monotonic() > until:
                raise JobLost(f"the dashboard at {self.address} does not answer: {type(trouble).__name__}")
            time.sleep(_LOOK_SECONDS)

    async def _follow(self, job_id: str) -> None:
        shown = 0
        while not self.ended(job_id):
            # A stream that breaks off begins anew with the log's first line.
            passed = 0
            try:
                async for text in self._tail(job_id):
                    new = text[max(shown - passed, 0) :]
                    passed += len(text)
                    shown = max(shown, passed)
                    _print(new)
            except (RuntimeError, OSError, TimeoutError):
                pass
            await asyncio.sleep(_LOOK_SECONDS)
        _print(self._patiently(lambda: self._client.get_job_logs(job_id), job_id)[shown:])

    async def _tail(self, job_id: str) -> AsyncIterator[str]:
        async for text in self._client.tail_job_logs(job_id):
            yield text


def _taken(job_id: str) -> ConfigError:
    return ConfigError(
        f"job_id: the cluster has a job {job_id!r} already; give another job_id, or none to have one made up"
    )


def _reason(error: Exception) -> str:
    """The last line that says something: Ray sends whole tracebacks, and ends them with a dot of its own."""
    lines = (line.strip() for line in reversed(str(error).splitlines()))
    return next((line for line in lines if any(map(str.isalpha, line))), type(error).__name__)


@contextmanager
def _unset(names: tuple[str, ...]) -> Iterator[None]:
    before = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(before)


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _say(text: str) -> None:
    print(f"jobs.submit: {text}", file=sys.stderr, flush=True)
