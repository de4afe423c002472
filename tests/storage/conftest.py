from __future__ import annotations

from collections.abc import Iterator

import pytest
from object_stores import ENVIRONMENT, ObjectStore, TroubledWay, environment, object_store


@pytest.fixture(scope="session")
def store() -> Iterator[ObjectStore]:
    """An S3 server, and an environment in which s3:// addresses lead to it."""
    with object_store() as store, environment(AWS_ENDPOINT_URL=store.url, **ENVIRONMENT):
        yield store


@pytest.fixture
def way(store: ObjectStore) -> Iterator[TroubledWay]:
    """A way to the same server that can be put into disorder; addresses in the environment lead over it."""
    way = TroubledWay(store.port)
    with environment(AWS_ENDPOINT_URL=f"http://127.0.0.1:{way.port}"):
        yield way
    way.close()


@pytest.fixture(params=["local", "s3"])
def root(request: pytest.FixtureRequest, tmp_path: object) -> str:
    """The parent of runs, on a local disk and in an object store."""
    if request.param == "local":
        return str(tmp_path)
    store: ObjectStore = request.getfixturevalue("store")
    return f"s3://{store.bucket()}/runs"
