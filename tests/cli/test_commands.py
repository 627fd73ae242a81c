"""The small commands: version, validate, schema, init, paths, runs, completion, doctor."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tui import __version__
from tui.model.shipped import shipped_folder


def test_the_version_is_told_without_loading_anything_heavy() -> None:
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


def test_every_problem_of_every_file_in_a_folder_is_told(assay: CommandLine) -> None:
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
    assert "can be used" in assay.run("config", "check").err
    doctor = assay.run("doctor")
    assert doctor.code == 0
    assert "local/smollm2-135m" in doctor.out


def test_the_app_without_a_terminal_says_what_to_do(assay: CommandLine) -> None:
    ran = assay.run(str(Path(".")))
    assert ran.code == 2
    assert "assay run" in ran.err
