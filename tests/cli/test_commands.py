"""The small commands: version, validate, schema, init, paths, runs, completion, doctor."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.full_disk import LIMIT_IN_SHELL
from tests.support.model_server import ModelServer, closed_port, say
from tui import __version__
from tui.model.shipped import shipped_folder


def test_the_version_is_reported_without_loading_anything_heavy() -> None:
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tui", "--version"], capture_output=True, text=True, check=True
    )
    assert ran.stdout == f"assay {__version__}\n"
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in ran.stderr.splitlines()}
    assert loaded.isdisjoint({"textual", "httpx", "pygit2", "pydantic", "click", "yaml"})


def test_a_good_suite_validates(assay: CommandLine) -> None:
    ran = assay.run("validate", str(shipped_folder("test-suites")))
    assert (ran.code, ran.out) == (0, "")
    assert "0 errors, 0 warnings" in ran.err


def test_the_notices_of_the_history_are_printed(assay: CommandLine) -> None:
    history = assay.home / "assay_data_dir" / "runs.sqlite"
    history.parent.mkdir(parents=True, exist_ok=True)
    history.write_bytes(b"not a database\n" * 400)
    ran = assay.run("runs")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("Note: The run history was damaged. It was renamed to ")
    assert assay.run("runs").err == ""


def test_every_problem_of_every_file_in_a_folder_is_reported(assay: CommandLine) -> None:
    folder = assay.home / "suites"
    folder.mkdir()
    (folder / "a.json").write_text('{"name": "a", "description": "d", "models": ["m"], "testCases": []}')
    (folder / "b.yaml").write_text("steps:\n  - inptu: hello\n")
    ran = assay.run("validate", "suites")
    assert ran.code == 2
    assert "suites/a.json:1:" in ran.out
    assert "suites/b.yaml:2:" in ran.out
    assert "input" in ran.out
    assert "2 files" in ran.err


def test_an_exponential_pattern_is_a_warning_with_its_place(assay: CommandLine) -> None:
    case = '{"id": "c", "name": "c", "category": "g", "prompt": "p",\n "forbiddenPatterns": ["fine", "^(a+)+$"]}'
    text = f'{{"name": "a", "description": "d", "models": ["m"], "testCases": [{case}]}}'
    (assay.home / "a.json").write_text(text)
    (assay.home / "b.yaml").write_text("steps:\n  - input: hello\n    assert:\n      output.matches: (x+x+)+y\n")
    ran = assay.run("validate", "a.json", "b.yaml")
    assert ran.code == 0
    first, second = ran.out.splitlines()
    assert first.startswith(
        "a.json:2:32: warning: testCases[0].forbiddenPatterns[1]: `^(a+)+$` needs exponential time on"
    )
    assert first.endswith(
        "; do not repeat a group that contains a repetition, or whose alternatives match the same text"
    )
    assert second.startswith("b.yaml:4:23: warning: steps[0].assert.output.matches: `(x+x+)+y` needs exponential time")
    assert "0 errors, 2 warnings" in ran.err


def test_escapes_of_unicode_in_patterns_are_warned_of(assay: CommandLine) -> None:
    patterns = [r"\p{L}+", r"\\\u{1F600}", r"\\p{2}", r"\u00e4", "p{2}"]
    case = {"id": "c", "name": "c", "category": "g", "prompt": "p", "forbiddenPatterns": patterns}
    suite = {"name": "a", "description": "d", "models": ["m"], "testCases": [case]}
    (assay.home / "a.json").write_text(json.dumps(suite))
    (assay.home / "b.json").write_text(json.dumps(suite | {"models": ["x\u200dy", " "]}))
    ran = assay.run("validate", "a.json")
    assert ran.code == 0
    first, second = ran.out.splitlines()
    assert r"[0]: `\p{L}+` contains `\p{…}`, which matches these letters only" in first
    assert r"contains `\u{…}`" in second
    ran = assay.run("validate", "b.json")
    assert "models[0]: `x<U+200D>y` has a character that is not visible; remove it" in ran.out
    assert "models[1]: is empty" in ran.out


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_nothing_to_validate_is_2(assay: CommandLine, name: str) -> None:
    ran = assay.run("validate", name)
    assert ran.code == 2
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("name", ["schema-1.0.0", "testhaven"])
def test_schemas_are_json(assay: CommandLine, name: str) -> None:
    schema = json.loads(assay.run("schema", "--format", name).out)
    assert schema["$schema"].startswith("https://json-schema.org/")


def test_both_schemas_by_name(assay: CommandLine) -> None:
    assert set(json.loads(assay.run("schema").out)) == {"schema-1.0.0", "testhaven"}


def test_init_writes_a_suite_that_validates_and_never_overwrites(assay: CommandLine) -> None:
    assert assay.run("init", "-o", "mine.yaml").code == 0
    assert assay.run("validate", "mine.yaml").code == 0
    before = (assay.home / "mine.yaml").read_text()
    again = assay.run("init", "-o", "mine.yaml")
    assert (again.code, (assay.home / "mine.yaml").read_text()) == (2, before)


@pytest.mark.parametrize("command", ["init -o mine.yaml", "config init"])
def test_a_file_that_cannot_be_written_whole_is_not_left_behind(assay: CommandLine, command: str) -> None:
    code = "import sys; from tui.cli.main import run_command_line; sys.exit(run_command_line())"
    environ = {**os.environ, "ASSAY_CONFIG_DIR": str(assay.home / "config"), "ASSAY_DATA_DIR": str(assay.home / "data")}
    # Half a kilobyte is less than what is written.
    line = f"""{LIMIT_IN_SHELL} 1; trap '' XFSZ; exec '{sys.executable}' -c "{code}" {command}"""
    ran = subprocess.run(
        ["/bin/sh", "-c", line], cwd=assay.home, env=environ, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, "Cannot write the file (File too large)" in ran.stderr) == (2, True), ran.stderr
    assert [each.name for each in assay.home.rglob("*") if each.is_file()] == []


def test_paths_names_the_folders(assay: CommandLine) -> None:
    assert str(assay.home / "assay_config_dir" / "config.yaml") in assay.run("paths").out


def test_no_runs_is_an_empty_list(assay: CommandLine) -> None:
    assert json.loads(assay.run("runs", "--json").out) == []


def test_models_lists_the_local_one_and_says_why_others_are_missing(assay: CommandLine) -> None:
    listed = {entry["provider"]: entry for entry in json.loads(assay.run("models", "--json").out)}
    assert listed["local"]["models"] == ["local/smollm2-135m"]
    assert "OPENAI_API_KEY" in listed["openai"]["error"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script(assay: CommandLine, shell: str) -> None:
    assert "_ASSAY_COMPLETE" in assay.run("completion", shell).out


def test_a_broken_config_is_one_sentence_with_its_place(assay: CommandLine) -> None:
    folder = assay.home / "assay_config_dir"
    folder.mkdir()
    (folder / "config.yaml").write_text("models:\n  warm: {provder: local, id: x}\n")
    ran = assay.run("models")
    assert ran.code == 2
    assert "config.yaml:2:" in ran.err
    assert "provider" in ran.err


def test_config_init_check_and_doctor(assay: CommandLine) -> None:
    assert assay.run("config", "init").code == 0
    assert "valid" in assay.run("config", "check").err
    doctor = assay.run("doctor")
    assert doctor.code == 0
    assert "local/smollm2-135m" in doctor.out
    assert f"✓ temporary folder {tempfile.gettempdir()}\n" in doctor.out


def test_doctor_names_the_keys_of_the_config_that_are_set_and_those_that_are_not(assay: CommandLine) -> None:
    config = assay.home / "assay_config_dir" / "config.yaml"
    config.parent.mkdir(exist_ok=True)
    entry = "{kind: openai, base_url: 'http://127.0.0.1:1/v1', api_key: '${NAME}'}"
    entries = [f"  {name}: {entry.replace('NAME', name.upper())}\n" for name in ("mine_key", "other_key")]
    config.write_text("providers:\n" + "".join(entries))
    doctor = assay.run("doctor", env={"MINE_KEY": "mine-1234567890"})
    assert doctor.code == 0
    assert "· keys set: MINE_KEY\n" in doctor.out
    assert "· provider other_key: not set: OTHER_KEY\n" in doctor.out
    assert "mine-1234567890" not in doctor.out


def test_config_check_prints_what_is_wrong_with_the_keys(assay: CommandLine) -> None:
    config = assay.home / "assay_config_dir" / "config.yaml"
    config.parent.mkdir(exist_ok=True)
    config.write_text("keys: {run.cas: x, run.suite: z}\n")
    checked = assay.run("config", "check")
    assert checked.code == 0
    assert "keys: unknown id run.cas. Did you mean run.case?" in checked.err
    assert "keys: run.suite and pane.zoom have the same key z." in checked.err


def test_config_check_names_a_theme_that_does_not_exist(assay: CommandLine) -> None:
    config = assay.home / "assay_config_dir" / "config.yaml"
    (config.parent / "themes").mkdir(parents=True, exist_ok=True)
    config.write_text("theme: assay-ligth\n")
    sentence = "warning: theme: unknown theme assay-ligth. Did you mean assay-light? Available: assay-dark, assay-light"
    assert sentence in assay.run("config", "check").err
    theme = config.parent / "themes" / "mine.yaml"
    theme.write_text("name: assay-ligth\ncolours: {text: red}\n")
    assert f"warning: {theme}:2:" in assay.run("config", "check").err
    theme.write_text("name: assay-ligth\ncolours: {}\n")
    assert "warning" not in assay.run("config", "check").err


def test_a_project_file_is_checked_and_its_faulty_entries_are_ignored(assay: CommandLine) -> None:
    project = assay.home / ".assay.yaml"
    project.write_text("theme: assay-light\n")
    checked = assay.run("config", "check")
    assert checked.code == 0
    assert checked.err.endswith(f"{project}: valid\n")
    project.write_text("theme: assay-light\nprovider: x\n")
    checked = assay.run("config", "check")
    assert checked.code == 2
    assert f"{project}:2:1: error: provider: unknown key." in checked.err
    doctor = assay.run("doctor")
    assert doctor.code == 1
    assert f"✗ {project}:2:1: error: provider: unknown key." in doctor.out


def test_each_setting_is_printed_with_its_origin(assay: CommandLine) -> None:
    assert "Every setting has its default." in assay.run("config", "show").err
    config = assay.home / "assay_config_dir" / "config.yaml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(
        "theme: harbour\nreviewer: Ada\nproviders:\n  mine: {base_url: 'http://h/v1', api_key: sk-4711}\n"
    )
    project = assay.home / ".assay.yaml"
    project.write_text("\ntheme: assay-light\n")
    lines = [" ".join(line.split()) for line in assay.run("config", "show").out.splitlines()]
    assert f"theme assay-light (project file {project}:2)" in lines
    assert f"reviewer Ada (config file {config}:2)" in lines
    assert f"providers.mine.api_key [hidden] (config file {config}:4)" in lines
    assert not any("review.repeats" in line for line in lines)
    lines = [" ".join(line.split()) for line in assay.run("config", "show", "--all").out.splitlines()]
    assert "review.repeats 0 (default)" in lines


def test_the_schema_of_a_project_file_is_printed(assay: CommandLine) -> None:
    assert set(json.loads(assay.run("schema", "--project").out)["properties"]) == {"theme", "keys", "risk", "review"}


def test_the_app_without_a_terminal_says_what_to_do(assay: CommandLine) -> None:
    ran = assay.run(str(Path(".")))
    assert ran.code == 2
    assert "assay run" in ran.err


def test_init_writes_what_the_name_says(assay: CommandLine) -> None:
    assert assay.run("init", "-o", "new/mine.json").code == 0
    assert json.loads((assay.home / "new" / "mine.json").read_text())["testCases"]
    assert assay.run("init", "-o", "bare").code == 0
    assert (assay.home / "bare.yaml").read_text().startswith("#")
    assert assay.run("init", "-o", "mine.txt").code == 2
    assert assay.run("validate", "new/mine.json", "bare.yaml").code == 0


@pytest.mark.parametrize("path", ["file/report.md", "folder", "folder/../folder"])
def test_a_report_that_has_no_place_is_2_before_anything_is_asked(assay: CommandLine, path: str) -> None:
    (assay.home / "file").write_text("")
    (assay.home / "folder").mkdir()
    ran = assay.run("run", "nowhere.json", "-o", path)
    assert ran.code == 2
    assert "with -o" in ran.err
    assert "nowhere" not in ran.err


async def test_a_report_keeps_the_name_of_a_device(assay: CommandLine) -> None:
    async with ModelServer(say("Paris")) as server:
        assay.run("init", "-o", "s.json")
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        ran = await assay.run_async("run", "s.json", "-m", "m", "--delay", "0", "-o", "/dev/null", env=env)
    assert "Report: /dev/null\n" in ran.err


def suite_of_models(assay: CommandLine, *models: str) -> None:
    case = {"id": "a", "name": "n", "category": "c", "prompt": "p", "expectedPatterns": ["x"]}
    suite = {"name": "s", "description": "d", "models": models, "testCases": [case]}
    (assay.home / "s.json").write_text(json.dumps(suite))


async def test_validate_warns_of_models_that_no_provider_lists(assay: CommandLine) -> None:
    suite_of_models(assay, "mock-a", "openai/gone", "local/other", "anthropic/no-key")
    async with ModelServer() as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        ran = await assay.run_async("validate", "s.json", env=env)
        listed = len(server.listed)
        offline = await assay.run_async("validate", "s.json", "--offline", env=env)
        assert len(server.listed) == listed == 1
    assert ran.code == offline.code == 0
    what = "does not list the model"
    fix = "run 'assay models' to see its models"
    assert ran.out.splitlines() == [
        f"s.json:1:56: warning: models[1]: openai {what} gone; {fix}",
        f"s.json:1:71: warning: models[2]: local {what} other; {fix}",
    ]
    assert offline.out == ""


def test_validate_says_where_models_could_not_be_looked_up(assay: CommandLine) -> None:
    suite_of_models(assay, "mock-a", "local/smollm2-135m")
    env = {"OPENAI_BASE_URL": f"http://127.0.0.1:{closed_port()}/v1", "OPENAI_API_KEY": "k"}
    ran = assay.run("validate", "s.json", env=env)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("Note: model names of openai were not checked: ")
    assert assay.run("validate", "s.json").err == "1 file, 0 errors, 0 warnings\n"


async def test_all_models_are_those_of_every_configured_provider(assay: CommandLine) -> None:
    suite_of_models(assay, "unknown/x")
    async with ModelServer(say("x"), models=("a", "b")) as first, ModelServer(say("x"), models=("c",)) as second:
        (assay.home / "assay_config_dir").mkdir()
        config = f"providers:\n  mine: {{kind: openai, base_url: '{second.url}'}}\n"
        (assay.home / "assay_config_dir" / "config.yaml").write_text(config)
        env = {"OPENAI_BASE_URL": first.url, "OPENAI_API_KEY": "k"}
        ran = await assay.run_async("run", "s.json", "-a", "-f", "json", env=env)
    assert ran.code == 0, ran.err
    models = {result["model"] for result in json.loads(ran.out)["results"]}
    assert models == {"openai/a", "openai/b", "mine/c"}


async def test_a_listed_name_with_a_key_is_not_run(assay: CommandLine) -> None:
    suite_of_models(assay, "unknown/x")
    async with ModelServer(say("x"), models=("a", "b-sk-secret-4711")) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-secret-4711"}
        ran = await assay.run_async("run", "s.json", "-a", "-f", "json", env=env)
    assert {result["model"] for result in json.loads(ran.out)["results"]} == {"openai/a"}
    assert "Note: openai: 1 listed model is left out: its name contains an API key" in ran.err
    assert "sk-secret" not in ran.out + ran.err


async def test_listed_names_that_no_model_can_have_are_not_run(assay: CommandLine) -> None:
    suite_of_models(assay, "unknown/x")
    async with ModelServer(say("x"), models=("a", "", "a?temperature=9", "a?system=obey")) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        ran = await assay.run_async("run", "s.json", "-a", "-f", "json", env=env)
    assert {result["model"] for result in json.loads(ran.out)["results"]} == {"openai/a"}
    assert "Note: openai: 3 listed models are left out: their names are not those of models" in ran.err


async def test_the_name_of_a_listed_model_is_on_one_line(assay: CommandLine) -> None:
    suite_of_models(assay, "unknown/x")
    async with ModelServer(say("x"), models=("a\nNote: forged", "b" * 3_000)) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        ran = await assay.run_async("run", "s.json", "-a", "-f", "csv", env=env)
    assert ran.code == 0
    lines = ran.err.splitlines()
    assert any(line.startswith("openai/a Note: forged: ") for line in lines)
    assert [line[:20] for line in lines if line.startswith("Note: forged") or len(line) > 1_000] == []


async def test_listed_models_as_json_reach_the_terminal_without_control_characters(assay: CommandLine) -> None:
    async with ModelServer(say("x"), models=("a\x9b31m\u202e", "b\ud800")) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        ran = await assay.run_async("models", "-j", "--provider", "openai", env=env)
    assert ran.code == 0, ran.err
    assert not {"\x9b", "\u202e"} & set(ran.out)
    assert json.loads(ran.out)[0]["models"] == ["openai/a\x9b31m\u202e", "openai/b\ufffd"]


async def test_all_models_without_a_list_is_2(assay: CommandLine) -> None:
    suite_of_models(assay, "m")
    env = {"OPENAI_BASE_URL": f"http://127.0.0.1:{closed_port()}/v1", "OPENAI_API_KEY": "k"}
    ran = await assay.run_async("run", "s.json", "--all-models", env=env)
    assert (ran.code, ran.out) == (2, "")
    assert "No provider lists any model" in ran.err


def test_all_models_where_nothing_is_configured_is_the_local_one(assay: CommandLine) -> None:
    suite_of_models(assay, "m")
    ran = assay.run("run", "s.json", "-a", "-f", "json", "--timeout", "1")
    assert {result["model"] for result in json.loads(ran.out)["results"]} == {"local/smollm2-135m"}


async def test_consent_comes_before_the_list_of_models(assay: CommandLine) -> None:
    (assay.home / "inner").mkdir()
    suite_of_models(assay, "m")
    suite = json.loads((assay.home / "s.json").read_text()) | {"repositoryContext": {"path": ".."}}
    (assay.home / "inner" / "s.json").write_text(json.dumps(suite))
    async with ModelServer() as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        ran = await assay.run_async("run", "inner/s.json", "-a", env=env)
        assert server.listed == []
    assert ran.code == 2
    assert "--allow-outside" in ran.err


@pytest.mark.parametrize("flags", [["-a", "-i"], ["-m", "x", "-a"], ["--interactive", "--models", "x"]])
def test_the_ways_to_choose_models_exclude_each_other(assay: CommandLine, flags: list[str]) -> None:
    ran = assay.run("run", "s.json", *flags)
    assert ran.code == 2
    assert "cannot be combined" in ran.err


def test_choosing_needs_a_terminal(assay: CommandLine) -> None:
    ran = assay.run("run", "s.json", "-i")
    assert ran.code == 2
    assert "-i needs a terminal" in ran.err
