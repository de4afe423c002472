"""Submitting a job, as far as that needs no cluster: what is refused, what is sent, that nothing is lost on the way."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
import ray
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs import submit, tournament
from jobs.config import ConfigError
from jobs.submission import dashboard
from jobs.submission.archive import write_archive
from jobs.submission.dashboard import Dashboard

GAME = ("game=standin", "agents=[random,scripted_first]", "run=r", "cluster.workers=1", "storage.root=/runs")
NOBODY = "cluster.dashboard=http://127.0.0.1:1"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(tmp_path)
    yield
    os.chdir(before)


@pytest.mark.parametrize(
    "argv",
    [
        ["agents=[random,heuristc]"],
        ["tournament.games_per_par=4"],
        ["tournament.games_per_pair=3"],
        ["limits.max_attempts=0"],
        ["storage.part_rows=many"],
        ["seed=[1"],
    ],
)
def test_a_bad_configuration_is_refused_as_the_job_itself_refuses_it_before_any_cluster_is_asked(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert tournament.main([*GAME, *argv]) == 2
    said_by_job = capsys.readouterr().err.removeprefix("jobs.tournament: ")
    assert submit.main(["job=tournament", NOBODY, *GAME, *argv]) == 2
    out, err = capsys.readouterr()
    assert (out, err.removeprefix("jobs.submit: ")) == ("", said_by_job)
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([*GAME], "cluster.dashboard: no Ray at 'http://127.0.0.1:1'"),
        ([*GAME, "storage.root=runs"], "storage.root: 'runs' would lie in the job's copy of the program"),
        ([*GAME, "storage.journal_dir=j"], "storage.journal_dir: 'j' would lie"),
        ([*GAME, "storage.journal_dir=s3://b/j"], "storage.journal_dir: 's3://b/j' is an address"),
        ([*GAME, "job=tournamnt"], "job: 'tournamnt' is not one of"),
        ([*GAME, "action=logs"], "action=logs takes job_id and cluster.dashboard only"),
        (["action=stop"], "job_id: must be given"),
        ([*GAME, "cluster.variables=[PRIZEFIGHT_NOT_SET]"], "no environment variable 'PRIZEFIGHT_NOT_SET'"),
        ([*GAME, "--config-dir", "nowhere"], "--config-dir nowhere: there is no such folder"),
        (
            [*GAME, "game=ptcg", "decks=[charizard_ex]", "agents=[{model: gpt_5_4, harness: minimal},random]"],
            "the environment variable OPENROUTER_API_KEY with its key is not set",
        ),
    ],
)
def test_what_would_fail_on_the_cluster_is_refused_here(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    assert submit.main([NOBODY, *argv]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


VERSION = json.dumps({"ray_version": ray.__version__, "version": "4", "ray_commit": "c", "session_name": "s"}).encode()


@contextmanager
def talking(answer: Callable[[str, bytes], tuple[int, bytes]]) -> Iterator[str]:
    """The address of one that answers a path and what is sent along (nothing for GET) with a status and a content."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            status, content = answer(self.path, self.rfile.read(size))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(content)

        do_PUT = do_POST = do_GET

        def log_message(self, *args: object) -> None:
            return

    with HTTPServer(("127.0.0.1", 0), Page) as serving:
        Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()


def job_details(status: str, code: int) -> bytes:
    """What a dashboard tells of the job ``mine``, which took 5 seconds."""
    told = {"type": "SUBMISSION", "submission_id": "mine", "job_id": None, "entrypoint": "e", "status": status}
    return json.dumps({**told, "start_time": 1000, "end_time": 6000, "driver_exit_code": code}).encode()


def test_what_answers_but_is_no_dashboard_is_named() -> None:
    with (
        talking(lambda path, body: (200, b"<html>hello</html>")) as url,
        pytest.raises(ConfigError, match="is no dashboard of Ray"),
    ):
        Dashboard(url)


@pytest.mark.parametrize("action", ["status", "stop", "logs"])
def test_a_dashboard_that_answers_no_more_is_one_line(
    action: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {"/api/authentication_mode": b"{}", "/api/version": VERSION}
    monkeypatch.setattr(dashboard, "_PATIENCE_SECONDS", 0.1)

    def answer(path: str, body: bytes) -> tuple[int, bytes]:
        content = answers.get(path.partition("?")[0])
        return (500, b"") if content is None else (200, content)

    with talking(answer) as url:
        assert submit.main([f"cluster.dashboard={url}", f"action={action}", "job_id=mine"]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1), err
    assert f"the dashboard at {url} does not answer" in err


def test_a_dry_run_and_a_look_at_the_configuration_send_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert submit.main([NOBODY, *GAME, "dry_run=true"]) == 0
    assert "dry run of 'r': nothing is started" in capsys.readouterr().out
    # Of an address that nobody here answers at, with the workers of that cluster rather than of this machine.
    assert submit.main([NOBODY, *GAME, "dry_run=true", "cluster.workers=null", "cluster.address=127.0.0.1:1"]) == 0
    assert "workers:         one for each processor of the cluster" in capsys.readouterr().out
    assert submit.main([NOBODY, *GAME, "--cfg", "job"]) == 0
    assert "address: auto" in capsys.readouterr().out


def test_keys_of_the_submission_and_of_the_job_are_told_apart() -> None:
    own, theirs = submit.divided(
        [
            "job=tournament",
            "cluster.dashboard=http://h:1",
            "cluster.workers=4",
            "+cluster.runtime_env.pip=[duckdb]",
            "run=job=x",
            "--config-dir",
            "mine",
            "cluster.python=python3",
            "-m",
            "seed=1,2",
        ]
    )
    assert own == [
        "job=tournament",
        "cluster.dashboard=http://h:1",
        "+cluster.runtime_env.pip=[duckdb]",
        "cluster.python=python3",
    ]
    assert theirs == ["cluster.workers=4", "run=job=x", "--config-dir", "mine", "-m", "seed=1,2"]


NASTY = [
    "it's",
    '"',
    "$HOME",
    "${seed}",
    "{a: 1}",
    "a\nb",
    "`id`",
    "é ✓ 🂡",
    "a\\",
    "; rm x",
    "*",
    "",
    " ",
    "!",
    "#",
    "&|<>",
    "~",
]
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)))


@settings(max_examples=20)
@given(st.lists(TEXT, max_size=4))
def test_the_clusters_shell_hands_over_what_was_typed(words: list[str]) -> None:
    argv = [*(f"run={word}" for word in NASTY), *words]
    command = submit.entrypoint("PYTHON", "tournament", argv).replace("PYTHON -m jobs.submission.start", "PRINT", 1)
    script = 'PRINT() { for word in "$@"; do printf "%s\\0" "$word"; done; }; ' + command
    shown = subprocess.run(script, shell=True, capture_output=True, check=True).stdout.decode()
    assert shown.split("\0")[:-1] == ["tournament", *argv]


def test_the_archive_has_the_program_and_ones_own_configuration_and_nothing_else(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    for path in (
        "agent/last.yaml",
        "deck/my_deck.txt",
        "skills/mine/NAME.md",
        ".git/config",
        ".env",
        "runs/first/manifest.json",
        "venv/lib/x.py",
        "other_environment/pyvenv.cfg",
        "old_run/manifest.json",
        "old_run/games/part-1.parquet",
        "tests/test_x.py",
        "__pycache__/x.pyc",
    ):
        (mine / path).parent.mkdir(parents=True, exist_ok=True)
        (mine / path).write_text(path)
    archive = write_archive(tmp_path / "a.zip", [mine], most=2**20)
    with zipfile.ZipFile(archive.path) as content:
        names = content.namelist()
        assert content.read("own_conf_0/agent/last.yaml") == b"agent/last.yaml"
    own = {name for name in names if name.startswith("own_conf_0/")}
    assert own == {f"own_conf_0/{name}" for name in ("agent/last.yaml", "deck/my_deck.txt", "skills/mine/NAME.md")}
    assert {name.split("/")[0] for name in names} == {
        *("agents", "conf", "engine", "jobs", "orchestrator", "results"),
        "own_conf_0",
    }
    assert {"jobs/tournament.py", "conf/config.yaml", "conf/deck/charizard_ex.txt", "agents/llm/prompts/role.md"} <= {
        *names
    }
    assert (archive.files, archive.size) == (len(names), archive.path.stat().st_size)
    again = write_archive(tmp_path / "b.zip", [mine], most=2**20)
    assert again.path.read_bytes() == archive.path.read_bytes()


def test_the_program_runs_from_its_archive(tmp_path: Path) -> None:
    archive = write_archive(tmp_path / "a.zip", [], most=2**20)
    with zipfile.ZipFile(archive.path) as content:
        content.extractall(tmp_path / "there")
    command = [sys.executable, "-I", "-c", "import sys; sys.path.insert(0, '.'); import jobs.tournament as t; "]
    command[-1] += "print(t.__file__); sys.exit(t.main(sys.argv[1:]))"
    shown = subprocess.run(
        [*command, *GAME, "dry_run=true"], cwd=tmp_path / "there", capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    assert "/there/jobs/tournament.py" in shown.stdout
    assert "nothing is started" in shown.stdout


def test_what_is_too_large_is_refused_with_the_largest_files(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "weights.bin").write_bytes(os.urandom(3_000_000))
    with pytest.raises(ConfigError, match=r"takes 2\.0 MB at most; the largest files: .*weights\.bin \(3\.0 MB\)"):
        write_archive(tmp_path / "a.zip", [mine], most=2_000_000)


@pytest.mark.parametrize(
    "words", [["--config-dir", "mine"], ["--config-dir=mine"], ["-cd", "mine"], ["-cd=mine"]], ids=" ".join
)
def test_ones_own_folder_goes_along_however_it_is_named(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine" / "agent").mkdir(parents=True)
    (tmp_path / "mine" / "agent" / "of_mine.yaml").write_text("kind: random\n")
    argv = ["game=standin", "agents=[of_mine,random]", "run=r", "cluster.workers=1", "storage.root=/runs"]
    taken = []

    def answer(path: str, body: bytes) -> tuple[int, bytes]:
        if path.startswith("/api/packages/gcs/_ray_pkg_"):
            if body:
                with zipfile.ZipFile(io.BytesIO(body)) as content:
                    taken.extend(name for name in content.namelist() if name.endswith("of_mine.yaml"))
            return (200 if body else 404), b""
        if body:
            taken.extend(word for word in shlex.split(json.loads(body)["entrypoint"]) if "own_conf" in word)
            return 200, json.dumps({"job_id": "j", "submission_id": "j"}).encode()
        return 200, VERSION

    with talking(answer) as url:
        assert submit.main([f"cluster.dashboard={url}", "follow=false", *argv, *words]) == 0, capsys.readouterr().err
    option, separator, _ = words[0].partition("=")
    assert taken == ["own_conf_0/agent/of_mine.yaml", f"{option}=own_conf_0" if separator else "own_conf_0"]


def test_links_that_lead_back_to_a_folder_are_not_followed(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    (mine / "agent").mkdir(parents=True)
    other.mkdir()
    (mine / "agent" / "one.yaml").write_text("kind: random\n")
    (other / "shared.yaml").write_text("kind: random\n")
    (mine / "itself").symlink_to(mine)
    (mine / "model").symlink_to(other)
    (mine / "more").symlink_to(other)
    archive = write_archive(tmp_path / "a.zip", [mine], most=2**20)
    with zipfile.ZipFile(archive.path) as content:
        own = [name for name in content.namelist() if name.startswith("own_conf_0/")]
    assert own == [f"own_conf_0/{name}" for name in ("agent/one.yaml", "model/shared.yaml", "more/shared.yaml")]


def test_a_refusal_of_the_cluster_is_told_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    def answer(path: str, body: bytes) -> tuple[int, bytes]:
        if path.startswith("/api/jobs/") and body:
            return 500, b"Traceback (most recent call last):\n  File x\nValueError: pipp is no field of these\n"
        return 200, VERSION

    with talking(answer) as url:
        assert submit.main([f"cluster.dashboard={url}", *GAME]) == 2
    err = capsys.readouterr().err.splitlines()[-1]
    assert err == "jobs.submit: the cluster refuses the job: ValueError: pipp is no field of these"


@pytest.mark.parametrize("is_seen_before", [True, False])
def test_a_job_id_that_is_taken_is_named_and_nothing_of_the_new_job_stays_on_the_cluster(
    is_seen_before: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIZEFIGHT_SENT", "a key")
    put = []

    def answer(path: str, body: bytes) -> tuple[int, bytes]:
        if path.startswith("/api/packages/"):
            put.append(path)
            return 200, b""
        if path == "/api/jobs/mine":
            return (200, job_details("SUCCEEDED", 0)) if is_seen_before else (404, b"Job mine does not exist")
        if path.startswith("/api/jobs/") and body:
            said = "ValueError: Job with submission_id mine already exists. Please use a different submission_id.\n"
            return 500, f"Traceback (most recent call last):\n  File x\n{said}".encode()
        return 200, VERSION

    argv = [*GAME, "job_id=mine", "cluster.variables=[PRIZEFIGHT_SENT]"]
    with talking(answer) as url:
        assert submit.main([f"cluster.dashboard={url}", *argv]) == 2
    assert "the cluster has a job 'mine' already; give another job_id" in capsys.readouterr().err.splitlines()[-1]
    assert (put == []) == is_seen_before


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (3, "job mine: incomplete, the same command goes on, 5"),
        (4, "job mine: complete, with void games, 5"),
        (1, "job mine: failed, 5"),
    ],
)
def test_the_status_of_a_job_says_what_its_exit_code_means(
    code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(path: str, body: bytes) -> tuple[int, bytes]:
        return 200, job_details("FAILED", code) if path == "/api/jobs/mine" else VERSION

    with talking(answer) as url:
        assert submit.main([f"cluster.dashboard={url}", "action=status", "job_id=mine"]) == code
    assert capsys.readouterr().out.startswith(said)


def test_a_node_that_lacks_a_package_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['omegaconf'] = None\n")
    places = [str(tmp_path), str(Path(submit.__file__).parents[1])]
    began = subprocess.run(
        [sys.executable, "-m", "jobs.submission.start", "tournament", *GAME],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert began.returncode == 2
    (line,) = began.stderr.splitlines()
    assert line.startswith(
        "jobs.submit: the node on which the job runs has no Python package 'omegaconf': install there"
    )
