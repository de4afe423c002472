"""What a user may write on a job's command line, and what is said where it is wrong."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from jobs.config import OURS, ConfigError, ExitCode, group, job, key


@dataclass
class Store:
    root: str = key("where runs are kept", "runs")
    journal_dir: str | None = key("where the journal is kept", None)


@dataclass
class Play:
    games: int = key("how many games", 2)
    pace: float = key("how fast", 1.0)
    pairing: str = key("who meets whom", "mirror", choices=("mirror", "cross"))


@dataclass
class Everything:
    run: str = key("the run", name=True)
    agents: Any = key("who plays", files="agent")
    decks: list[Any] = key("with what", factory=list, files="deck")
    labels: list[str] = key("free labels", factory=list)
    seed: int = key("the seed", 0)
    dry_run: bool = key("only say what would be done", False)
    options: dict[str, Any] = key("the game's settings", factory=dict)
    play: Play = field(default_factory=Play)
    storage: Store = group(Store, "where runs are kept", "local")


class Job:
    """A job that remembers what it was called with."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.seen: list[Any] = []
        self.results: Callable[[Any], int | None] = lambda config: None
        self.out = self.err = ""
        self._capsys = capsys

        @job("sample", Everything, groups=("experiment",))
        def main(config: Everything) -> int | None:
            """Do nothing but remember."""
            self.seen.append(config)
            return self.results(config)

        self.main = main

    def run(self, *argv: str) -> int:
        self.seen.clear()
        code = self.main(list(argv))
        self.out, self.err = self._capsys.readouterr()
        return code

    def config(self, *argv: str) -> Any:
        """The configuration of a call that must succeed."""
        assert self.run("run=r", "agents=[random]", *argv) == 0, self.err
        return self.seen[-1]

    def refusal(self, *argv: str) -> str:
        """The one line of a call that must be refused."""
        assert self.run(*argv) == ExitCode.BAD_CONFIG
        assert self.seen == []
        assert self.out == ""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("jobs.sample: ")
        return lines[0].removeprefix("jobs.sample: ")


@pytest.fixture
def sample(capsys: pytest.CaptureFixture[str]) -> Job:
    return Job(capsys)


@pytest.fixture
def own(tmp_path: Path) -> Callable[[str, str], Sequence[str]]:
    """Writes a file of the user's own and gives the options that make it count."""

    def write(name: str, content: str) -> Sequence[str]:
        file = tmp_path / "own" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
        return ("--config-dir", str(tmp_path / "own"))

    return write


TEXTS = (
    "2024_01",
    "007",
    "1e5",
    "0x1F",
    "true",
    "null",
    "1,2",
    "a=b",
    "with space",
    "it's",
    "back\\slash\\",
    "é×ü",
    "-1",
    "1.50",
    "@home",
    "a:b",
)


class TestText:
    @pytest.mark.parametrize("text", [text for text in TEXTS if "'" not in text and "\\" not in text])
    def test_run_is_taken_as_typed(self, sample: Job, text: str) -> None:
        assert sample.run(f"run={text}", "agents=[random]") == 0, sample.err
        assert sample.seen[0].run == text

    @pytest.mark.parametrize(
        "text", [*TEXTS, "/data/2024_01/{x}", "s3://bucket/1e5?a=(b)&c=[d]", "C:\\runs\\", "~/runs"]
    )
    def test_a_path_is_taken_as_typed(self, sample: Job, text: str) -> None:
        assert sample.config(f"storage.root={text}").storage.root == text

    def test_text_in_quotes_is_taken_without_them(self, sample: Job) -> None:
        assert sample.config("storage.root='a,b'").storage.root == "a,b"
        assert sample.config('storage.root="1_0"').storage.root == "1_0"

    def test_null_is_no_text_where_a_key_may_be_null(self, sample: Job) -> None:
        assert sample.config("storage.journal_dir=null").storage.journal_dir is None
        assert sample.config("storage.journal_dir=1_0").storage.journal_dir == "1_0"

    def test_entries_of_a_list_of_text_are_taken_as_typed(self, sample: Job) -> None:
        assert sample.config("labels=[007, 1e5,true ,'a,b']").labels == ["007", "1e5", "true", "a,b"]

    def test_names_of_agents_are_taken_as_typed(self, sample: Job, own: Callable[[str, str], Sequence[str]]) -> None:
        options = own("agent/007.yaml", "kind: random\n")
        config = sample.config("agents=[007,{agent: 007, name: 1e5, level: 1e5}]", *options)
        assert [(agent["name"], agent.get("level")) for agent in config.agents] == [("007", None), ("1e5", 100000.0)]

    def test_interpolation_works_in_text(self, sample: Job) -> None:
        assert sample.config("storage.root=${run}/x${seed}", "seed=4").storage.root == "r/x4"

    @pytest.mark.parametrize("name", ["a/b", "..", ".hidden", "", "x" * 201, "a\nb", "/abs"])
    def test_a_run_is_one_folder(self, sample: Job, name: str) -> None:
        assert "cannot be the name of a folder" in sample.refusal(f"run={name}", "agents=[random]")


class TestValues:
    def test_defaults(self, sample: Job) -> None:
        config = sample.config()
        assert isinstance(config, Everything)
        assert isinstance(config.storage, Store)
        assert (config.seed, config.play.games, config.storage.root) == (0, 2, "runs")

    def test_types_are_the_schemas(self, sample: Job) -> None:
        config = sample.config("seed=1_000", "play.pace=2", "dry_run=yes", "play.pairing=cross")
        assert (config.seed, config.play.pace, config.dry_run, config.play.pairing) == (1000, 2.0, True, "cross")
        assert isinstance(config.play.pace, float)

    def test_open_keys_take_lists_dicts_and_new_names(self, sample: Job) -> None:
        config = sample.config("options={turns: [5,9], deep: {a: 'x'}}", "options.cap=7", "+options.more=[1]")
        assert config.options == {"turns": [5, 9], "deep": {"a": "x"}, "cap": 7, "more": [1]}

    def test_a_name_in_an_open_key_can_be_removed(self, sample: Job, own: Callable[[str, str], Sequence[str]]) -> None:
        options = own("experiment/mine.yaml", "# @package _global_\noptions: {a: 1, b: 2}\n")
        assert sample.config(*options, "+experiment=mine", "~options.a").options == {"b": 2}

    @pytest.mark.parametrize("sign", ["+", "++"])
    def test_a_plus_before_a_key_that_exists_sets_it(self, sample: Job, sign: str) -> None:
        assert sample.config(f"{sign}seed=5").seed == 5

    def test_a_later_value_counts(self, sample: Job) -> None:
        assert sample.config("seed=1", "seed=2").seed == 2


class TestRefusals:
    @pytest.mark.parametrize(
        ("argument", "said"),
        [
            ("sead=1", ("unknown key 'sead'", "did you mean 'seed'", "agents", "options", "storage")),
            ("play.game=1", ("unknown key 'play.game'", "did you mean 'play.games'", "play.pace")),
            ("games=1", ("unknown key 'games'", "did you mean 'play.games'")),
            ("+seeed=1", ("unknown key 'seeed'", "did you mean 'seed'")),
            ("++storage.rot=1", ("unknown key 'storage.rot'", "did you mean 'storage.root'")),
            ("seed.x=1", ("unknown key 'seed.x'",)),
            ("storage=lcal", ("unknown storage 'lcal'", "did you mean 'local'")),
            ("storage=null", ("storage", "local")),
            ("seed=abc", ("seed: 'abc' is not a whole number",)),
            ("seed=1.5", ("seed: '1.5' is not a whole number",)),
            ("seed=null", ("seed: null is not a whole number",)),
            ("play.pace=fast", ("play.pace: 'fast' is not a number",)),
            ("dry_run=maybe", ("dry_run: 'maybe' is not true or false",)),
            ("play.pairing=all", ("play.pairing: 'all' is not one of mirror, cross",)),
            ("labels=x", ("labels", "list")),
            ("play=3", ("'play' is no single value", "play.games")),
            ("seed=1,2", ("seed=1,2", "--multirun")),
            ("seed=[1", ("seed=[1",)),
            ("seed", ("'seed' is not an override", "seed=VALUE")),
            ("=1", ("not an override",)),
            ("~seed", ("~seed", "cannot be removed")),
            ("~options.x", ("~options.x", "no 'options.x'")),
            ("seed=${nothing}", ("seed", "nothing")),
            ("storage.root=${nothing}", ("storage.root", "nothing")),
            ("--unknown", ("--unknown", "--help")),
            ("--config-dir=/no/such/folder", ("/no/such/folder", "no such folder")),
        ],
    )
    def test_one_line_says_what_is_wrong_and_what_exists(self, sample: Job, argument: str, said: Sequence[str]) -> None:
        line = sample.refusal("run=r", "agents=[random]", argument)
        for part in said:
            assert part in line

    @pytest.mark.parametrize(
        ("argument", "fault", "right"),
        [
            ("agents=[random,heuristic", "[ is not closed", "agents=[random,heuristic]"),
            ("agents=[random,", "[ is not closed", "agents=[random]"),
            ("agents=[random,'heuristic]", "the quote ' is not closed", "agents=[random,heuristic]"),
            ('agents=["random,heuristic]', 'the quote " is not closed', "agents=[random,heuristic]"),
            ("agents=[random,heuristic]]", "] closes nothing", "agents=[random,heuristic]"),
            ("agents=random,heuristic]", "] closes nothing", "agents=[random,heuristic]"),
            ("agents=[{agent: random]", "{ is not closed before ]", "agents=[{agent: random}]"),
            ("agents=[{agent: random, name: 'a}'}", "[ is not closed", None),
            ("agents.cross={model: [a, harness: [b]}", "[ is not closed before }", None),
            ("decks=[charizard_ex", "[ is not closed", "decks=[charizard_ex]"),
            ("options={a: [1,2}", "[ is not closed before }", "options={a: [1,2]}"),
            ("seed=[1", "[ is not closed", "seed=[1]"),
        ],
    )
    def test_a_bracket_or_quote_without_its_counterpart_is_named(
        self, sample: Job, argument: str, fault: str, right: str | None
    ) -> None:
        line = sample.refusal("run=r", argument)
        assert line.startswith(f"{argument}: {fault}; write ")
        if right is not None:
            assert line.endswith(f"; write '{right}'")

    def test_an_override_that_the_shell_took_apart_is_shown_whole(self, sample: Job) -> None:
        line = sample.refusal("run=r", "agents=[random,{agent:", "heuristic,", "name: b}]", "seed=1")
        assert "[ is not closed" in line or "{ is not closed" in line
        assert line.endswith("write 'agents=[random,{agent: heuristic, name: b}]'")

    @pytest.mark.parametrize("value", ["[random,,random]", "(random)", "{random,random}", "[random,{agent random}]"])
    def test_what_is_no_list_of_agents_is_shown_the_form_of_one(self, sample: Job, value: str) -> None:
        line = sample.refusal("run=r", f"agents={value}")
        assert line.startswith(f"agents={value}: a list of agents is written [a,b,")

    def test_all_missing_keys_are_named(self, sample: Job) -> None:
        line = sample.refusal()
        assert "run=" in line
        assert "agents=" in line
        assert "random" in line

    @pytest.mark.parametrize(
        ("agents", "said"),
        [
            ("agents=[randm]", "unknown agent 'randm'; did you mean 'random'?"),
            ("agents=random", "agents=[random]"),
            ("agents=random heuristic", "agents=[random,heuristic]"),
            ("agents=[random,random]", "two are named 'random'"),
            ("agents=[random,{kind: heuristic, name: random}]", "two are named 'random'"),
            ("agents=[{level: 3}]", "has no kind"),
            ("agents=[[random]]", "agents[0]"),
            ("agents=[{model: nowhere, harness: full}]", "unknown model 'nowhere'"),
            ("agents=[{cross: {model: [a]}, name: x}]", "cross stands alone"),
            ("agents.cross=full", "agents.cross"),
        ],
    )
    def test_agents(self, sample: Job, agents: str, said: str) -> None:
        assert said in sample.refusal("run=r", agents)

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("small", "it is a model, and plays as {model: small, harness: full}"),
            ("terse", "it is a harness, and lets a model play as {model: NAME, harness: terse}"),
            ("charizard_ex", "it is a deck, and is played with decks=[charizard_ex]"),
            ("smal", "did you mean '{model: small, harness: full}'?"),
            ("randm", "did you mean 'random'?"),
        ],
    )
    def test_a_name_of_something_else_is_told_from_an_agent(
        self, sample: Job, own: Callable[[str, str], Sequence[str]], name: str, said: str
    ) -> None:
        options = own("model/small.yaml", "id: maker/small\n")
        own("harness/terse.yaml", "mask: listed\n")
        for entry in (name, f"{{agent: {name}, name: x}}"):
            line = sample.refusal(*options, "run=r", f"agents=[random,{entry}]")
            assert line.startswith(f"unknown agent {name!r}; {said}")
            assert "conf/agent has: heuristic, random" in line

    def test_of_very_many_names_those_most_alike_are_listed(
        self, sample: Job, own: Callable[[str, str], Sequence[str]]
    ) -> None:
        options = own("model/zebra_large.yaml", "id: maker/large\n")
        for number in range(30):
            own(f"model/quagga{number}.yaml", "id: maker/quagga\n")
        line = sample.refusal(*options, "run=r", "agents=[{model: zebra, harness: full}]")
        assert "zebra_large" in line
        assert line.endswith("--help lists all")
        assert line.count("quagga") < 5

    @pytest.mark.parametrize("content", ["base_url: http://127.0.0.1:8080/v1\n", "id: null\n", ""])
    def test_a_model_file_without_an_id_is_named(
        self, sample: Job, own: Callable[[str, str], Sequence[str]], content: str
    ) -> None:
        options = own("model/mine.yaml", content)
        line = sample.refusal(*options, "run=r", "agents=[random,{model: mine, harness: full}]")
        assert line.startswith(f"{Path(options[1]) / 'model' / 'mine.yaml'}: id is missing")

    def test_a_model_without_an_id_is_named_where_it_is_written(self, sample: Job) -> None:
        line = sample.refusal("run=r", "agents=[random,{model: {base_url: 'http://127.0.0.1/v1'}, harness: full}]")
        assert line.startswith("agents[1].model: id is missing")

    def test_a_model_that_others_build_on_says_how(self, sample: Job) -> None:
        line = sample.refusal("run=r", "agents=[random,{model: openrouter, harness: full}]")
        assert "id is missing" in line
        assert "defaults: [openrouter, _self_]" in line

    @pytest.mark.parametrize(
        ("decks", "said"),
        [
            ("decks=[charizard]", "did you mean 'charizard_ex'?"),
            ("decks=charizard_ex", "decks=[a,b]"),
            ("decks=[charizard_ex,charizard_ex]", "listed twice"),
        ],
    )
    def test_decks(self, sample: Job, decks: str, said: str) -> None:
        assert said in sample.refusal("run=r", "agents=[random]", decks)

    def test_what_a_job_finds_wrong_is_said_like_any_other(self, sample: Job) -> None:
        def refuse(config: Any) -> int:
            raise ConfigError("seed: 3 is\nunlucky")

        sample.results = refuse
        assert sample.run("run=r", "agents=[random]") == ExitCode.BAD_CONFIG
        assert sample.err == "jobs.sample: seed: 3 is unlucky\n"


class TestFaults:
    def test_an_unexpected_fault_shows_where_it_is(self, sample: Job) -> None:
        def divide(config: Any) -> int:
            return config.seed // 0

        sample.results = divide
        assert sample.run("run=r", "agents=[random]") == ExitCode.FAULT
        assert "in divide" in sample.err
        assert sample.err.splitlines()[-1].startswith("jobs.sample: unexpected fault: ZeroDivisionError")

    def test_a_fault_of_the_machine_is_one_line(self, sample: Job, tmp_path: Path) -> None:
        sample.results = lambda config: (tmp_path / "no" / "file").write_text("") and None
        assert sample.run("run=r", "agents=[random]") == ExitCode.FAULT
        assert len(sample.err.splitlines()) == 1
        assert str(tmp_path / "no" / "file") in sample.err

    def test_ctrl_c(self, sample: Job) -> None:
        def interrupt(config: Any) -> int:
            raise KeyboardInterrupt

        sample.results = interrupt
        assert sample.run("run=r", "agents=[random]") == ExitCode.INTERRUPTED
        assert sample.err == "jobs.sample: interrupted\n"


class TestOwnFiles:
    def test_beside_ours(self, sample: Job, own: Callable[[str, str], Sequence[str]]) -> None:
        options = own("agent/mine.yaml", "kind: heuristic\ntemperature: 0.5\n")
        own("deck/mine.txt", "60 Basic Fire Energy SVE 2\n")
        own("storage/mine.yaml", "root: elsewhere\n")
        argv = ("agents=[random,mine]", "decks=[mine,charizard_ex]", "storage=mine")
        config = sample.config(*options, *argv)
        assert config.agents == [
            {"name": "random", "kind": "random"},
            {"name": "mine", "kind": "heuristic", "temperature": 0.5},
        ]
        assert [deck["name"] for deck in config.decks] == ["mine", "charizard_ex"]
        assert config.decks[0]["text"] == "60 Basic Fire Energy SVE 2\n"
        assert config.storage.root == "elsewhere"
        assert config.storage.journal_dir is None

    def test_come_before_ours_of_the_same_name(self, sample: Job, own: Callable[[str, str], Sequence[str]]) -> None:
        options = own("agent/random.yaml", "kind: random\nmark: mine\n")
        own("storage/local.yaml", "root: mine\n")
        own("config.yaml", "seed: 99\n")
        config = sample.config(*options)
        assert (config.agents[0]["mark"], config.storage.root, config.seed) == ("mine", "mine", 0)

    def test_folders_named_like_keys_do_no_harm(self, sample: Job, own: Callable[[str, str], Sequence[str]]) -> None:
        options = own("agents/x.yaml", "kind: random\n")
        own("run/x.yaml", "")
        own("options/x.yaml", "")
        own("seed/x.yaml", "")
        config = sample.config(*options, "options.turns=3", "seed=4")
        assert (config.run, config.options, config.seed) == ("r", {"turns": 3}, 4)

    def test_a_file_that_builds_on_itself_is_refused(
        self, sample: Job, own: Callable[[str, str], Sequence[str]]
    ) -> None:
        options = own("agent/mine.yaml", "defaults: [mine]\n")
        assert "itself" in sample.refusal(*options, "run=r", "agents=[mine]")

    def test_an_agent_may_build_on_another(self, sample: Job, own: Callable[[str, str], Sequence[str]]) -> None:
        options = own("agent/hot.yaml", "defaults: [base]\ntemperature: ${seed}\n")
        own("agent/base.yaml", "kind: heuristic\ntemperature: 0\ndeep: {a: 1, b: 2}\n")
        config = sample.config(*options, "agents=[hot,{agent: hot, name: hotter, deep: {b: 3}}]", "seed=7")
        assert config.agents == [
            {"name": "hot", "kind": "heuristic", "temperature": 7, "deep": {"a": 1, "b": 2}},
            {"name": "hotter", "kind": "heuristic", "temperature": 7, "deep": {"a": 1, "b": 3}},
        ]

    def test_model_and_harness_make_an_agent(self, sample: Job, own: Callable[[str, str], Sequence[str]]) -> None:
        options = own("model/small.yaml", "id: maker/small\n")
        own("model/large.yaml", "id: maker/large\n")
        own("harness/full.yaml", "mask: listed\n")
        one = sample.config(*options, "agents=[random,{model: small, harness: full}]")
        assert one.agents[1] == {
            "name": "small+full",
            "model": {"id": "maker/small"},
            "harness": {"mask": "listed"},
            "kind": "llm",
        }
        crossed = sample.config(*options, "agents=[random]", "agents.cross={model: [small, large], harness: [full]}")
        assert [agent["name"] for agent in crossed.agents] == ["random", "small+full", "large+full"]
        listed = sample.config(*options, "agents=[{cross: {model: [small, large], harness: full}}]")
        assert [agent["name"] for agent in listed.agents] == ["small+full", "large+full"]

    def test_an_experiment_sets_keys_anywhere(self, sample: Job, own: Callable[[str, str], Sequence[str]]) -> None:
        options = own(
            "experiment/mine.yaml",
            "# @package _global_\nseed: 5\nagents: [random, {kind: heuristic, name: h}]\nplay: {games: 8}\n",
        )
        assert sample.run(*options, "+experiment=mine", "run=r", "play.pace=3") == 0, sample.err
        config = sample.seen[0]
        assert [agent["name"] for agent in config.agents] == ["random", "h"]
        assert (config.seed, config.play.games, config.play.pace) == (5, 8, 3.0)

    @pytest.mark.parametrize(
        ("file", "content", "argument", "said"),
        [
            ("storage/bad.yaml", "rot: x\n", "storage=bad", ("storage/bad.yaml", "storage.rot", "did you mean")),
            ("storage/bad.yaml", "root: [x]\n", "storage=bad", ("storage.root", "text")),
            ("storage/bad.yaml", "root: [x\n", "storage=bad", ("storage/bad.yaml", "line 2", "not valid YAML")),
            ("agent/bad.yaml", "- random\n", "agents=[bad]", ("agent/bad",)),
            ("agent/bad.yaml", "level: 1\n", "agents=[bad]", ("has no kind",)),
            ("agent/bad.yaml", "defaults: [nobody]\n", "agents=[bad]", ("agent/nobody",)),
            ("agent/bad.yaml", "kind: random\nx: ${nothing}\n", "agents=[bad]", ("nothing",)),
        ],
    )
    def test_a_bad_file_is_named(
        self,
        sample: Job,
        own: Callable[[str, str], Sequence[str]],
        file: str,
        content: str,
        argument: str,
        said: Sequence[str],
    ) -> None:
        line = sample.refusal(*own(file, content), "run=r", "agents=[random]", argument)
        for part in said:
            assert part in line

    def test_a_deck_that_is_no_text_is_named(self, sample: Job, own: Callable[[str, str], Sequence[str]]) -> None:
        options = own("deck/mine.txt", "")
        (Path(options[1]) / "deck" / "mine.txt").write_bytes(b"4 Pok\xe9")
        assert "mine.txt" in sample.refusal(*options, "run=r", "agents=[random]", "decks=[mine]")


class TestAsking:
    def test_help_lists_keys_groups_and_options(self, sample: Job) -> None:
        assert sample.run("--help") == 0
        assert sample.seen == []
        lines = {line.split()[0]: line for line in sample.out.splitlines() if line.startswith("  ")}
        assert "Do nothing but remember." in sample.out
        assert "(required)" in lines["run"]
        assert "how many games" in lines["play.games"]
        assert " 2 " in lines["play.games"]
        assert "mirror|cross" in lines["play.pairing"]
        assert "storage=local|s3" in lines
        assert "random" in lines["agent:"]
        assert "charizard_ex" in lines["deck:"]
        assert "full" in lines["harness:"]
        assert "basics" in lines["skills:"]
        assert "{model: NAME, harness: NAME}" in sample.out
        models = sample.out[sample.out.index("  model: ") : sample.out.index("  harness: ")]
        names = {file.stem for file in (OURS / "model").glob("*.yaml")}
        assert set(models.removeprefix("  model: ").replace(",", " ").split()) == names
        assert max(map(len, models.splitlines())) <= 120
        for option in ("--help", "--cfg", "--config-dir", "--multirun"):
            assert option in sample.out

    def test_help_lists_files_of_the_users_own(self, sample: Job, own: Callable[[str, str], Sequence[str]]) -> None:
        options = own("agent/mine.yaml", "kind: random\n")
        own("model/theirs.yaml", "id: maker/theirs\n")
        assert sample.run("--help", *options) == 0
        assert "mine" in sample.out
        assert "theirs" in sample.out

    def test_cfg_prints_what_would_be_used_and_starts_nothing(self, sample: Job) -> None:
        assert sample.run("--cfg", "job", "run=007", "agents=[random]", "storage.root=${run}/x") == 0
        assert sample.seen == []
        printed = yaml.safe_load(sample.out)
        assert printed["run"] == "007"
        assert printed["agents"] == [{"name": "random", "kind": "random"}]
        assert printed["storage"] == {"root": "${run}/x", "journal_dir": None}
        assert sample.run("--cfg", "job", "--resolve", "run=007", "agents=[random]", "storage.root=${run}/x") == 0
        assert yaml.safe_load(sample.out)["storage"]["root"] == "007/x"

    def test_cfg_of_an_incomplete_configuration_shows_what_is_missing(self, sample: Job) -> None:
        assert sample.run("--cfg", "job") == 0
        assert yaml.safe_load(sample.out)["run"] == "???"


class TestSweeps:
    def test_every_combination_is_a_job_with_a_run_of_its_own(self, sample: Job) -> None:
        assert sample.run("-m", "run=s", "agents=[random],[random,{kind: x}]", "seed=1,2") == 0, sample.err
        assert [(config.seed, len(config.agents)) for config in sample.seen] == [(1, 1), (2, 1), (1, 2), (2, 2)]
        names = [config.run for config in sample.seen]
        assert len(set(names)) == 4
        assert all(name.startswith("s-") for name in names)

    def test_a_runs_name_depends_on_its_values_only(self, sample: Job) -> None:
        assert sample.run("-m", "run=s", "agents=[random]", "seed=2,3,1") == 0
        first = {config.seed: config.run for config in sample.seen}
        assert sample.run("-m", "run=s", "agents=[random]", "seed=1,2") == 0
        assert {config.seed: config.run for config in sample.seen} == {1: first[1], 2: first[2]}

    def test_a_run_that_is_swept_is_taken_as_typed(self, sample: Job) -> None:
        assert sample.run("--multirun", "run=007,1e5", "agents=[random]") == 0
        assert [config.run for config in sample.seen] == ["007", "1e5"]

    def test_a_run_may_be_written_with_what_is_swept(self, sample: Job) -> None:
        assert sample.run("-m", "run=s${seed}", "agents=[random]", "seed=range(1,4)") == 0, sample.err
        assert [config.run for config in sample.seen] == ["s1", "s2", "s3"]

    def test_files_of_a_group_are_swept(self, sample: Job, own: Callable[[str, str], Sequence[str]]) -> None:
        options = own("storage/one.yaml", "root: a\n")
        own("storage/other.yaml", "root: b\n")
        assert sample.run(*options, "-m", "run=s", "agents=[random]", "storage=one,other") == 0, sample.err
        assert [(config.run, config.storage.root) for config in sample.seen] == [
            ("s-storage_one", "a"),
            ("s-storage_other", "b"),
        ]
        assert sample.run(*options, "-m", "run=s", "agents=[random]", "storage=glob(o*)") == 0, sample.err
        assert [config.storage.root for config in sample.seen] == ["a", "b"]
        assert "unknown storage 'two'" in sample.refusal("-m", "run=s", "agents=[random]", "storage=local,two")
        assert "glob" in sample.refusal("-m", "run=s", "agents=[random]", "seed=glob(*)")
        assert "only lists" in sample.refusal("-m", "run=s", "agents=[random]", "play.pace=interval(1,2)")

    def test_two_jobs_with_one_run_are_refused(self, sample: Job) -> None:
        assert "two jobs" in sample.refusal("-m", "run=s${play.games}", "agents=[random]", "seed=1,2")
        assert "two jobs" in sample.refusal("-m", "run=s,s", "agents=[random]")

    def test_nothing_starts_when_one_job_is_wrong(self, sample: Job) -> None:
        assert "seed" in sample.refusal("-m", "run=s", "agents=[random]", "seed=1,2,x")
        assert "charizard_ex" in sample.refusal("-m", "run=s", "agents=[random]", "decks=[charizard_ex],[charizard]")

    @pytest.mark.parametrize("codes", [*itertools.permutations([0, 1, 4])])
    def test_the_exit_code_is_the_worst(self, sample: Job, codes: tuple[int, ...]) -> None:
        given = iter(codes)
        sample.results = lambda config: next(given)
        assert sample.run("-m", "run=s", "agents=[random]", "seed=1,2,3") == 1
        assert len(sample.seen) == 3

    def test_a_job_that_was_stopped_ends_the_sweep(self, sample: Job) -> None:
        given = iter([0, 3, 0])
        sample.results = lambda config: next(given)
        assert sample.run("-m", "run=s", "agents=[random]", "seed=1,2,3") == 3
        assert [config.seed for config in sample.seen] == [1, 2]
        assert sample.err.splitlines()[-1].startswith("jobs.sample: job 2 is incomplete")

    def test_without_the_option_a_comma_is_part_of_a_text(self, sample: Job) -> None:
        assert sample.config("storage.root=a,b").storage.root == "a,b"
