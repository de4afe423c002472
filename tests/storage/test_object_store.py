"""Runs in an object store as readers and commands see them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import boto3
import pytest
from game_rows import MANIFEST, game_id, game_row, new_run
from object_stores import ObjectStore, TroubledWay, environment
from standin_tournaments import wait_until

from jobs.aggregate import main as aggregate
from orchestrator.hanging import AskingThread, hanging
from orchestrator.start import at_start
from orchestrator.writer import claim_run
from results import Run, StorageError
from results.location import Location
from results.schema import table_from_rows


def test_a_run_comes_back_from_a_bucket_of_the_environments_endpoint(store: ObjectStore) -> None:
    address = f"s3://{store.bucket()}/runs/r"
    new_run(Location.parse(address), [game_row(1)], [game_row(2, "void")])
    run = Run.named(address.removesuffix("/r"), "r")
    assert run.manifest == MANIFEST
    assert sorted(run.games()["game_id"].to_pylist()) == [game_id(1), game_id(2)]
    with pytest.raises(StorageError, match=r"no run 'other' in .*; runs there: r"):
        Run.named(address.removesuffix("/r"), "other")


def test_an_address_can_name_its_endpoint(store: ObjectStore) -> None:
    bucket = store.bucket()
    with environment(AWS_ENDPOINT_URL="http://127.0.0.1:1"):
        there = Location.parse(f"s3://{bucket}/r?endpoint_override=127.0.0.1:{store.port}&scheme=http")
        there.child("x").write_whole(there.child("y"), lambda sink: sink.write(b"content"))
        assert there.child("x").read_bytes() == b"content"
        assert there.names() == [("x", False)], "nothing is left of the way there"


@pytest.mark.parametrize("address", ["s3://key:secret@bucket/r", "s3://bucket/r?access_key=key&secret_key=secret"])
def test_credentials_in_an_address_are_refused_and_not_shown(address: str) -> None:
    with pytest.raises(StorageError, match="it holds credentials; give those in the environment") as caught:
        Location.parse(address)
    assert "secret" not in str(caught.value)


def test_a_store_that_does_not_answer_is_one_line(store: ObjectStore, capsys: pytest.CaptureFixture[str]) -> None:
    with environment(AWS_ENDPOINT_URL="http://127.0.0.1:1"):
        assert aggregate(["run=r", "storage.root=s3://bucket/runs"]) == 2
    assert aggregate(["run=r", "storage.root=s3://there-is-no-such-bucket/runs"]) == 2
    away, missing = capsys.readouterr().err.splitlines()
    assert away.startswith("jobs.aggregate: cannot reach bucket/runs/r/manifest.json")
    assert missing.startswith("jobs.aggregate: ")
    assert "there-is-no-such-bucket" in missing


def test_a_bucket_that_is_not_there_and_an_address_without_one_are_refused_at_once(
    store: ObjectStore,
) -> None:
    said: list[str] = []
    location = Location.parse("s3://there-is-no-such-bucket/runs/r")
    with pytest.raises(StorageError, match=r"NO_SUCH_BUCKET|does not exist"):
        at_start(location, said.append)(lambda: claim_run(location, "r", 10.0, 1, False, said.append))
    assert said == [], "it is not tried again"
    with pytest.raises(StorageError, match=r"'s3://': it names no bucket; give one, as in s3://bucket/folder"):
        Location.parse("s3://")


def test_a_run_in_a_bucket_is_rated(store: ObjectStore, capsys: pytest.CaptureFixture[str]) -> None:
    root = f"s3://{store.bucket()}/runs"
    run = new_run(Location.parse(f"{root}/r"), [game_row(1), game_row(2, "1")])
    assert aggregate(["run=r", f"storage.root={root}"]) == 0
    assert sorted(run.ratings()["entrant"].to_pylist()) == ["a", "b"]
    assert run.location.child("ratings.csv").read_bytes().startswith(b'"rank","entrant"')


def test_a_write_that_fails_half_way_leaves_what_was_there(store: ObjectStore) -> None:
    place = Location.parse(f"s3://{store.bucket()}/x")
    place.write_whole(place, lambda sink: sink.write(b"old"))

    def fail(sink: object) -> None:
        sink.write(b"new")  # type: ignore[attr-defined]
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        place.write_whole(place, fail)
    assert place.read_bytes() == b"old"


PROGRAM = """
import os, signal, sys
from results.location import Location
place = Location.parse(sys.argv[1])
print("up", flush=True)
place.write_whole(place, lambda sink: sink.write(os.urandom(200_000_000)))
print("done", flush=True)
"""


def test_an_upload_that_is_killed_leaves_nothing_to_be_seen(store: ObjectStore) -> None:
    address = f"s3://{store.bucket()}/large"
    child = subprocess.Popen([sys.executable, "-c", PROGRAM, address], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "up\n"
    uploads = boto3.client("s3", endpoint_url=store.url)
    while not uploads.list_multipart_uploads(Bucket=address.split("/")[2]).get("Uploads"):
        assert child.poll() is None
    os.kill(child.pid, signal.SIGKILL)
    assert "done" not in child.communicate()[0]
    assert Location.parse(address).parent().names() == []


def test_a_reader_gets_one_version_of_an_object_that_is_replaced_all_the_time(store: ObjectStore) -> None:
    place = Location.parse(f"s3://{store.bucket()}/x")
    over = threading.Event()

    def replace_it() -> None:
        writer = Location.parse(f"s3://{place.path}")
        number = 0
        while not over.is_set():
            number += 1
            text = str(number % 10).encode() * (1000 + 500 * (number % 7))
            writer.write_whole(writer, lambda sink, text=text: sink.write(text))
            over.wait(0.02)

    place.write_whole(place, lambda sink: sink.write(b"0" * 1000))
    thread = threading.Thread(target=replace_it)
    thread.start()
    try:
        for _ in range(30):
            content = place.read_bytes()
            assert len(set(content)) == 1
            assert len(content) % 500 == 0
    finally:
        over.set()
        thread.join()


def test_the_schema_of_a_part_in_a_bucket_is_checked(store: ObjectStore) -> None:
    run = new_run(Location.parse(f"s3://{store.bucket()}/r"))
    run.write_part("games", table_from_rows("games", [game_row(1)]), "p")
    whole = run.location.child("games", "p.parquet").read_bytes()
    torn = run.location.child("games", "q.parquet")
    torn.write_whole(torn, lambda sink: sink.write(whole[:1000]))
    with pytest.raises(StorageError, match=r"games/q\.parquet is not a whole Parquet file"):
        run.games()


def test_a_thread_is_told_to_hang_only_while_a_store_holds_it(
    store: ObjectStore, way: TroubledWay, tmp_path: Path
) -> None:
    before = hanging()
    place = Location.parse(f"s3://{store.bucket()}/runs/r")
    claim_run(place, "r", 10.0, 1, False, lambda line: None).release()
    assert hanging() == before, "whoever ends with a store that answers leaves nothing"

    def ask() -> None:
        with contextlib.suppress(OSError, StorageError):
            place.names()

    way.trouble = "dribble"
    held = AskingThread("held", ask)
    held.start()
    over = threading.Event()
    at_the_disk = AskingThread("at the disk", over.wait, remote=False)
    at_the_disk.start()
    wait_until(lambda: way.dribbling, "the request was on its way")
    assert sorted(hanging()) == sorted([*before, "held"]), "and a disk never keeps a process from its end"
    way.trouble = None
    held.join()
    assert hanging() == before
    over.set()
    at_the_disk.join()
