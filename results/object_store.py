"""Object stores by address: S3 and what speaks like it, with settings that fit small whole objects."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pyarrow.fs as pa_fs

OBJECT_STORES = frozenset({"s3", "gcs", "abfs"})
"""``type_name`` of file systems where an object appears whole at the end of its upload and nothing can be renamed."""

_REQUEST_SECONDS = 10.0
"""A request on which nothing moves for so long has failed."""
_CONNECT_SECONDS = 5.0
_ATTEMPTS = 2
"""Tries of one request before its failure is told; who writes a run tries on by itself."""


def refuse_credentials(address: str) -> None:
    """Raise ``ValueError`` for an address with a key or password in it: addresses are printed and recorded."""
    parts = urlsplit(address)
    secret = {"access_key", "secret_key", "session_token", "sas_token", "account_key"}
    if "@" in parts.netloc or any(name in secret for name, _ in parse_qsl(parts.query)):
        raise ValueError("it holds credentials; give those in the environment, such as AWS_ACCESS_KEY_ID")


def s3_file_system(address: str) -> tuple[pa_fs.FileSystem, str]:
    """File system and path of an ``s3://`` address.

    Endpoint, scheme and region come from the address (``?endpoint_override=HOST:PORT&scheme=http&region=...``) or else
    from the environment (``AWS_ENDPOINT_URL_S3``, ``AWS_ENDPOINT_URL``, ``AWS_REGION``, ``AWS_DEFAULT_REGION``),
    credentials from the environment or the usual AWS files. Raises what pyarrow raises for a bad address.
    """
    plain, path = pa_fs.FileSystem.from_uri(address)
    if not path:
        raise ValueError("it names no bucket; give one, as in s3://bucket/folder")
    asked = dict(parse_qsl(urlsplit(address).query))
    endpoint = (
        asked.get("endpoint_override") or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    )
    more: dict[str, Any] = {}
    if endpoint:
        scheme, _, host = endpoint.rpartition("://")
        more = {"endpoint_override": host.rstrip("/"), "scheme": asked.get("scheme") or scheme or "https"}
    elif "scheme" in asked:
        more = {"scheme": asked["scheme"]}
    file_system = pa_fs.S3FileSystem(
        region=asked.get("region") or plain.region,
        # One request for a small object, and its errors where they can be caught.
        allow_delayed_open=True,
        background_writes=False,
        request_timeout=_REQUEST_SECONDS,
        connect_timeout=_CONNECT_SECONDS,
        retry_strategy=pa_fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
        **more,
    )
    return file_system, path
