"""The project file, `.assay.yaml`: what it can set, what it cannot, and where it is searched."""

import json
from pathlib import Path
from typing import Any

import pytest

from tui.config.folders import find_project_file
from tui.config.load import load_config
from tui.config.template import config_schema, project_schema
from tui.model.errors import ConfigError
from tui.model.risk import BandRule
from tui.model.subjects import Config

ENVIRON = {"OPENAI_API_KEY": "sk-a-key-of-openai"}


def loaded(folder: Path, project: str | bytes, config: str = "") -> Config:
    """Return the config of a folder with both files."""
    (folder / "config.yaml").write_text(config)
    file = folder / ".assay.yaml"
    file.write_bytes(project.encode() if isinstance(project, str) else project)
    return load_config(folder, ENVIRON, file)


def problems_of(config: Config) -> list[str]:
    """Return the problems without the path of the folder."""
    return [str(problem).replace(f"{Path(str(config.project)).parent}/", "") for problem in config.warnings]


def test_its_settings_replace_those_of_the_config_file(tmp_path: Path) -> None:
    user = "theme: harbour\nkeys: {run.case: f5, look.jump: f6}\nreview: {mask: [mine], repeats: 5}\nreviewer: Ada\n"
    project = (
        "theme: assay-light\nkeys: {look.jump: f7}\nreview: {mask: [acme, mine], repeats: 20}\n"
        "risk:\n  weights: {low: 2}\n  limits: {high: 7}\n  guidance: [a, b, c, d, e]\n"
    )
    config = loaded(tmp_path, project, user)
    assert (config.theme, config.keymap) == ("assay-light", {"run.case": "f5", "look.jump": "f7"})
    assert (config.mask, config.repeats) == (("mine", "acme"), 20)
    assert (config.rule.weights["low"], dict(config.rule.limits)["high"]) == (2, 7)
    assert config.guidance == ("a", "b", "c", "d", "e")
    assert (config.reviewer, config.warnings, config.project) == ("Ada", (), str(tmp_path / ".assay.yaml"))


def test_the_risk_rule_is_laid_over_that_of_the_config_file(tmp_path: Path) -> None:
    config = loaded(tmp_path, "risk: {weights: {critical: 20}}\n", "risk: {weights: {high: 5}, limits: {high: 9}}\n")
    assert (config.rule.weights["high"], config.rule.weights["critical"]) == (5, 20)
    assert dict(config.rule.limits)["high"] == 9


def test_a_rule_that_does_not_fit_the_config_file_is_ignored(tmp_path: Path) -> None:
    config = loaded(tmp_path, "theme: x\nrisk: {weights: {low: 2}, limits: {low: 8}}\n", "risk: {limits: {high: 9}}\n")
    assert dict(config.rule.limits) == {**dict(BandRule().limits), "high": 9}
    assert (config.rule.weights, config.theme) == (BandRule().weights, "x")
    assert problems_of(config) == [
        ".assay.yaml:2:41: error: risk.limits.low: limits have to increase: medium ends at 5, low already at 8"
    ]


ELSEWHERE = "set it in your own config.yaml"
FORBIDDEN = {
    "providers": (
        "providers: {openai: {base_url: 'http://evil.example/v1', api_key: '${OPENAI_API_KEY}'}}",
        f"providers: cannot be set by a project file, because it decides where prompts and keys are sent; {ELSEWHERE}",
    ),
    "headers": (
        "providers: {openai: {headers: {X-Leak: '${OPENAI_API_KEY}'}, proxy: 'http://evil.example'}}",
        f"providers: cannot be set by a project file, because it decides where prompts and keys are sent; {ELSEWHERE}",
    ),
    "models": (
        "models: {gpt-5.2: {provider: evil, id: gpt-5.2}}",
        f"models: cannot be set by a project file, because it decides which models are run; {ELSEWHERE}",
    ),
    "rules": (
        "rules: {'*': evil}",
        f"rules: cannot be set by a project file, because it decides where prompts and keys are sent; {ELSEWHERE}",
    ),
    "prices": (
        "prices: {gpt-5.2: {input: 0, output: 0}}",
        f"prices: cannot be set by a project file, because it decides which costs are displayed; {ELSEWHERE}",
    ),
    "reviewer": (
        "reviewer: Ada",
        f"reviewer: cannot be set by a project file, because it is recorded as the author of scores; {ELSEWHERE}",
    ),
    **{
        entry.partition(":")[0]: (
            entry,
            f"{entry.partition(':')[0]}: unknown key. Known keys are theme, keys, risk, review",
        )
        for entry in (
            "base_url: 'http://evil.example'",
            "api_key: '${OPENAI_API_KEY}'",
            "agent: ./evil.py",
            "agents: {evil: 'cmd:sh evil.sh'}",
            "command: sh evil.sh",
            "editor: sh evil.sh",
            "consents: {all: true}",
            "allow_commands: true",
            "allow-local: true",
            "allow_outside: true",
            "data_dir: /etc",
            "folder: ../../evil",
            "include: /etc/passwd",
            "mask: [x]",
        )
    },
}


@pytest.mark.parametrize("entry", FORBIDDEN)
@pytest.mark.parametrize("above", ["", "theme: assay-light\n\n"])
def test_an_entry_that_could_do_harm_is_refused_at_its_line(tmp_path: Path, entry: str, above: str) -> None:
    text, what = FORBIDDEN[entry]
    config = loaded(tmp_path, f"{above}{text}\nreview: {{repeats: 10}}\n")
    assert problems_of(config) == [f".assay.yaml:{above.count(chr(10)) + 1}:1: error: {what}"]
    without = load_config(tmp_path, ENVIRON)
    assert (config.providers, config.variants, config.rules) == (without.providers, without.variants, without.rules)
    assert (config.prices, config.reviewer, config.secrets) == (without.prices, without.reviewer, without.secrets)
    assert (config.repeats, config.theme) == (10, "assay-light" if above else None)


@pytest.mark.parametrize(
    "name",
    [
        *("confirm.yes", "confirm.no", "run.suite", "matrix.run-all", "runs.delete", "app.leave", "list.choose"),
        *("answer.copy", "look.edit", "look.edit-check", "look.edit-case", "look.new-case", "look.copy-case"),
    ],
)
def test_the_keys_of_an_action_that_does_more_than_display_are_refused(tmp_path: Path, name: str) -> None:
    config = loaded(tmp_path, f"keys:\n  look.jump: f7\n  {name}: down\n")
    assert config.keymap == {"look.jump": "f7"}
    assert problems_of(config) == [
        f".assay.yaml:3:3: error: keys.{name}: cannot be set by a project file, because its action may start, change "
        f"or confirm something; {ELSEWHERE}"
    ]


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        *((key, f"contains {key}, the key of an action") for key in ("q", "ctrl+q", "X", "escape", "f9")),
        ("f6, q", "contains q, the key of an action that may start, change, confirm or leave; "),
        ("f6,?", "contains ?; a project file needs the names of keys, such as slash"),
    ],
)
def test_the_keys_of_other_actions_cannot_be_taken_away(tmp_path: Path, keys: str, what: str) -> None:
    config = loaded(tmp_path, f"keys:\n  look.jump: f7\n  tree.fold: '{keys}'\n", "keys: {run.cancel-all: f9}\n")
    assert config.keymap == {"look.jump": "f7", "run.cancel-all": "f9"}
    (problem,) = problems_of(config)
    assert problem.startswith(f".assay.yaml:3:14: error: keys.tree.fold: {what}")


@pytest.mark.parametrize("keys", ["f6,", "f6,,f7", " , ", "x, ,y", "f" * 41, ",".join("abc" * 4), "a b"])
def test_keys_that_are_none_are_refused_in_both_files(tmp_path: Path, keys: str) -> None:
    text = f"keys:\n  look.jump: f7\n  tree.fold: {json.dumps(keys)}\n"
    config = loaded(tmp_path, text)
    assert config.keymap == {"look.jump": "f7"}
    (problem,) = problems_of(config)
    assert problem.startswith(".assay.yaml:3:14: error: keys.tree.fold: ")
    with pytest.raises(ConfigError, match=r"keys\.tree\.fold: "):
        loaded(tmp_path, "", text)


def test_the_number_of_keys_is_limited(tmp_path: Path) -> None:
    config = loaded(tmp_path, "theme: x\nkeys:\n" + "".join(f"  look.a{n}: f5\n" for n in range(301)) + "  run.a: f5\n")
    assert (config.theme, config.keymap) == ("x", {})
    assert problems_of(config) == [".assay.yaml:3:3: error: keys: has more than 300 actions"]


def test_no_variable_is_filled_in(tmp_path: Path) -> None:
    config = loaded(tmp_path, "theme: '${OPENAI_API_KEY}'\nreview: {mask: ['${OPENAI_API_KEY}']}\n")
    assert (config.theme, config.mask) == ("${OPENAI_API_KEY}", ("${OPENAI_API_KEY}",))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"theme: x\n" + b"#" * 300_000, ".assay.yaml: error: is larger than 256 KiB, the limit for a config file"),
        (b"theme: \xff\n", ".assay.yaml: error: is not UTF-8 (byte 7)"),
        (b"theme: *a\n", ".assay.yaml:1:8: error: aliases (*name) are not supported; repeat the value"),
        (
            b"theme: !!python/object:os.system x\n",
            ".assay.yaml:1:8: error: tags (!name) are not supported; remove the tag",
        ),
        (b"[" * 100, ".assay.yaml:1:17: error: is nested deeper than 16 levels"),
    ],
)
def test_a_file_that_cannot_be_read_is_ignored(tmp_path: Path, data: bytes, what: str) -> None:
    config = loaded(tmp_path, data, "theme: harbour\n")
    assert (problems_of(config), config.theme) == ([what], "harbour")


def test_only_the_first_problems_are_reported(tmp_path: Path) -> None:
    config = loaded(tmp_path, "".join(f"bad{number}: 1\n" for number in range(1_000)))
    assert len(config.warnings) == 9
    assert problems_of(config)[-1] == ".assay.yaml: error: has 992 more problems"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("theme: x\n")
    (tmp_path / ".assay.yaml").symlink_to(tmp_path / "secret")
    config = load_config(tmp_path, {}, tmp_path / ".assay.yaml")
    assert problems_of(config) == [
        ".assay.yaml: error: is a symbolic link, which is not followed; replace it with a file"
    ]
    assert config.theme is None


def test_a_known_key_is_removed_from_a_problem(tmp_path: Path) -> None:
    config = loaded(tmp_path, f"{ENVIRON['OPENAI_API_KEY']}: 1\n")
    assert problems_of(config) == [
        ".assay.yaml:1:1: error: [removed key]: unknown key. Known keys are theme, keys, risk, review"
    ]


def test_a_file_is_searched_up_to_the_root_of_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "outside" / "repository" / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    (tmp_path / "outside/.assay.yaml").touch()
    (inner.parent / ".assay.yaml").touch()
    assert find_project_file() is None, "neither a repository nor the home folder is above"
    (tmp_path / "outside/repository/.git").mkdir()
    assert find_project_file() == inner.parent / ".assay.yaml"
    (inner.parent / ".assay.yaml").unlink()
    assert find_project_file() is None, "the file above the repository is not read"
    (tmp_path / "outside/repository/.assay.yaml").touch()
    assert find_project_file() == tmp_path / "outside/repository/.assay.yaml"
    (inner / ".assay.yaml").touch()
    assert find_project_file() == inner / ".assay.yaml"


def test_a_file_is_searched_up_to_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "home" / "a"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / ".assay.yaml").touch()
    assert find_project_file() is None
    (tmp_path / "home/.assay.yaml").touch()
    assert find_project_file() == tmp_path / "home/.assay.yaml"


def test_its_schema_is_a_part_of_that_of_the_config_file() -> None:
    project: Any = json.loads(json.dumps(project_schema()))
    config: Any = json.loads(json.dumps(config_schema()))
    assert set(project["properties"]) == {"theme", "keys", "risk", "review"}
    for name, definition in project["$defs"].items():
        assert definition == config["$defs"][name]
