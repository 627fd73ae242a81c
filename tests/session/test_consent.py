"""What a stranger's suite may not do unasked."""

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tui
from tests.support.plans import case_of, suite_of
from tui.model.errors import ConfigError, ConsentNeeded
from tui.model.shipped import shipped_folder
from tui.model.subjects import Subject
from tui.model.suite import Check, CodeContext, CommandCheck, RepoClone, RepositoryContext, Step, Suite
from tui.session.code_files import is_code_name
from tui.session.code_search import CodeSearch
from tui.session.consent import OWN_AGENT, Consent, ConsentRecord, agent_consents, consents_of, data_consent, require


def suite_at(folder: Path) -> Suite:
    return replace(suite_of(case_of("c1")), path=str(folder / "suite.yaml"))


def test_a_plain_suite_needs_none(tmp_path: Path) -> None:
    assert consents_of(suite_at(tmp_path)) == ()


def test_an_agent_file_is_asked_about_until_its_content_is_allowed(tmp_path: Path) -> None:
    suite = replace(suite_at(tmp_path), agent="agent.py")
    (tmp_path / "agent.py").write_text("def agent(input, memory): ...\n")
    record = ConsentRecord(tmp_path / "data" / "consents.json")
    (missing,) = record.missing(suite)
    assert missing.kind == "agent"
    record.grant(missing)
    assert ConsentRecord(tmp_path / "data" / "consents.json").missing(suite) == ()
    assert stat.S_IMODE((tmp_path / "data" / "consents.json").stat().st_mode) == 0o600
    (tmp_path / "agent.py").write_text("import os\n")
    assert record.missing(suite) != ()


def test_the_interpreter_of_an_agent_is_asked_about_until_it_is_allowed(tmp_path: Path) -> None:
    home, packages = tmp_path / "suite", tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    for folder in (home, tmp_path / ".venv" / "bin", packages):
        folder.mkdir(parents=True)
    (home / "agent.py").write_text("")
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (packages / "sitecustomize").mkdir()
    (tmp_path / ".venv" / "bin" / "python").write_text("1")
    (tmp_path / "python").write_text("1")
    suite = replace(suite_at(home), agent="agent.py")
    record = ConsentRecord(tmp_path / "consents.json")
    (without,) = record.missing(suite)
    record.grant(without)
    suite = replace(suite, agent_python="../.venv")
    (missing,) = record.missing(suite)
    assert str(tmp_path / ".venv" / "bin" / "python") in missing.what
    subject = Subject("agent.py", "agent", str(home / "agent.py"), python=str(tmp_path / ".venv" / "bin" / "python"))
    assert agent_consents(suite, [subject]) == (missing,)
    record.grant(missing)
    assert record.missing(suite, [subject]) == ()
    assert len(record.missing(replace(suite, agent_python="../python"))) == 1
    for changed in (".venv/bin/python", ".venv/pyvenv.cfg", ".venv/bin/pyvenv.cfg"):
        assert asks_again_after(record, suite, partial((tmp_path / changed).write_text, "import os"))
    for changed in ("x.pth", "sitecustomize.pyc", "sitecustomize.so", "usercustomize/__init__.py"):
        (packages / changed).parent.mkdir(exist_ok=True)
        assert asks_again_after(record, suite, partial((packages / changed).write_text, "import os")), changed


@pytest.mark.parametrize(
    "folder", ["lib/python3.12/site-packages", "lib/pypy3.10/site-packages", "lib64/python3/dist-packages"]
)
def test_a_python_without_an_environment_is_compared_with_its_packages_folder(tmp_path: Path, folder: str) -> None:
    home, packages = tmp_path / "suite", tmp_path / "base" / folder
    for each in (home, packages, tmp_path / "base" / "bin", tmp_path / "env" / "bin"):
        each.mkdir(parents=True)
    (home / "agent.py").write_text("")
    (tmp_path / "base" / "bin" / "python").write_text("1")
    (tmp_path / "env" / "bin" / "python").symlink_to(tmp_path / "base" / "bin" / "python")
    for python in ("base", "env"):
        suite = replace(suite_at(home), agent="agent.py", agent_python=f"../{python}")
        record = ConsentRecord(tmp_path / f"{python}.json")
        for missing in record.missing(suite):
            record.grant(missing)
        assert asks_again_after(record, suite, partial((packages / f"{python}.pth").write_text, "import os"))


def test_the_agent_that_ships_with_assay_needs_none() -> None:
    agents = shipped_folder("test-suites") / "agents"
    (file,) = agents.glob("*.py")
    assert hashlib.sha256(file.read_bytes()).hexdigest() == OWN_AGENT, "renew the constant"
    assert consents_of(replace(suite_at(agents), agent=file.name)) == ()


@pytest.mark.parametrize("other", ["json.py", "re/__init__.py", "re.pyc", "helpers.zip"])
def test_the_own_agent_is_asked_about_with_another_module_in_its_folder(tmp_path: Path, other: str) -> None:
    (own,) = (shipped_folder("test-suites") / "agents").glob("*.py")
    (tmp_path / "agent.py").write_bytes(own.read_bytes())
    suite = replace(suite_at(tmp_path), agent="agent.py")
    assert consents_of(suite) == ()
    (tmp_path / other).parent.mkdir(exist_ok=True)
    (tmp_path / other).write_text("")
    assert [consent.kind for consent in consents_of(suite)] == ["agent"]


@pytest.mark.parametrize("place", ["test-suites", "test-suites/downloaded", "test-suites/agents"])
def test_agents_among_the_bundled_suites_are_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(tui, "__file__", str(tmp_path / "tui" / "__init__.py"))  # a checkout
    folder = tmp_path / place
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text("def agent(input, memory): ...\n")
    assert folder.is_relative_to(shipped_folder("test-suites"))
    assert [consent.kind for consent in consents_of(replace(suite_at(folder), agent="agent.py"))] == ["agent"]


@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        (".", []),
        ("src", []),
        ("src/..", []),
        ("..", ["outside"]),
        ("../elsewhere", ["outside"]),
        ("/", ["outside"]),
        ("loop", []),
        ("../loop\0", ["outside"]),
    ],
)
def test_files_from_outside_the_suites_folder(tmp_path: Path, path: str, kinds: list[str]) -> None:
    (tmp_path / "loop").symlink_to("loop")
    suite = replace(suite_at(tmp_path), repository_context=RepositoryContext(path))
    assert [consent.kind for consent in consents_of(suite)] == kinds


def test_a_link_that_leads_outside_counts_as_outside(tmp_path: Path) -> None:
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "src").symlink_to(tmp_path)
    suite = replace(suite_at(tmp_path / "suite"), repository_context=RepositoryContext("src"))
    assert [consent.kind for consent in consents_of(suite)] == ["outside"]


def test_the_refusal_names_the_flag(tmp_path: Path) -> None:
    case = replace(case_of("c1"), command=CommandCheck("make test"))
    consents = consents_of(replace(suite_at(tmp_path), cases=(case,)))
    with pytest.raises(ConsentNeeded, match=r"runs: make test\. To allow it, add --allow-commands\."):
        require(consents, frozenset())
    require(consents, frozenset({"--allow-commands"}))


@pytest.mark.parametrize("content", ["{not json", "[" * 200_000])
def test_a_damaged_record_means_that_nothing_was_allowed(tmp_path: Path, content: str) -> None:
    file = tmp_path / "consents.json"
    file.write_text(content)
    suite = replace(suite_at(tmp_path), agent="cmd:make agent")
    assert len(ConsentRecord(file).missing(suite)) == 1


def command_suite(folder: Path, run: str) -> Suite:
    return replace(suite_at(folder), cases=(replace(case_of("c1"), command=CommandCheck(run)),))


def test_a_record_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "consents.json")
    suite = replace(suite_at(tmp_path), agent="cmd:date")
    assert [missing.kind for missing in ConsentRecord(tmp_path / "consents.json").missing(suite)] == ["agent"]


def test_a_consent_is_for_one_kind_of_action(tmp_path: Path) -> None:
    record = ConsentRecord(tmp_path / "consents.json")
    clone = replace(suite_at(tmp_path), repo_clone=RepoClone("./fixtures"))
    (missing,) = record.missing(clone)
    record.grant(missing)
    assert record.missing(clone) == ()
    assert [each.kind for each in record.missing(command_suite(tmp_path, "./fixtures"))] == ["commands"]


def test_files_from_outside_are_allowed_to_one_suite(tmp_path: Path) -> None:
    record = ConsentRecord(tmp_path / "consents.json")
    own, strange = (
        replace(suite_at(tmp_path / name), repository_context=RepositoryContext(str(tmp_path / "project")))
        for name in ("own", "strange")
    )
    (missing,) = record.missing(own)
    record.grant(missing)
    assert record.missing(own) == ()
    assert [each.kind for each in record.missing(strange)] == ["outside"]


@pytest.mark.parametrize("agent", ["agent.py", "cmd:python3 helper.py", "cmd:python3 --f=helper.py;", "cmd:python3 ."])
def test_code_beside_an_agent_is_part_of_its_consent(tmp_path: Path, agent: str) -> None:
    suite = replace(suite_at(tmp_path), agent=agent)
    (tmp_path / "agent.py").write_text("import helper\n")
    (tmp_path / "helper.py").write_text("")
    record = ConsentRecord(tmp_path / "data" / "consents.json")
    (missing,) = record.missing(suite)
    record.grant(missing)
    assert record.missing(suite) == ()
    (tmp_path / "helper.py").write_text("import os\n")
    assert [each.kind for each in record.missing(suite)] == ["agent"]


def test_an_agent_of_a_saved_run_needs_consent_although_its_suite_names_none(tmp_path: Path) -> None:
    record, suite = ConsentRecord(tmp_path / "consents.json"), suite_at(tmp_path)
    subjects = [Subject("cmd:touch x", "agent", "cmd:touch x"), Subject("http://h", "agent", "http://h")]
    missing = record.missing(suite, subjects)
    assert [each.what for each in missing] == [
        "The run starts the agent touch x",
        f"The run sends the texts of {Path(suite.path).name} to the agent http://h",
    ]
    assert agent_consents(suite, subjects) == missing
    assert record.missing(suite, [Subject("openai/m", "openai", "m")]) == ()


@pytest.mark.parametrize("provider", ["replay", "openai"])
def test_recorded_answers_and_models_do_not_ask_for_the_agent_of_the_suite(tmp_path: Path, provider: str) -> None:
    suite = replace(suite_at(tmp_path), agent="agent.py")
    (tmp_path / "agent.py").write_text("def agent(input, memory): ...\n")
    other, agent = Subject("x", provider, "x"), Subject("agent.py", "agent", "agent.py")
    assert consents_of(suite, [other]) == ()
    assert [each.kind for each in consents_of(suite, [other, agent])] == ["agent"]


def asks_again_after(record: ConsentRecord, suite: Suite, change: Callable[[], object]) -> bool:
    """Grant what the suite needs, and return whether it needs more after the change."""
    for missing in record.missing(suite):
        record.grant(missing)
    assert record.missing(suite) == ()
    change()
    return record.missing(suite) != ()


@pytest.mark.parametrize(
    "name",
    [
        "venv/__init__.py",
        "node_modules/x.py",
        "lib/x.py",
        "helper.pyc",
        "__pycache__/x.py",
        "deep/er/x.py",
        ".venv/lib/python3/site-packages/x.py",
        ".lib/x.py",
        "lib.zip",
    ],
)
def test_all_code_that_an_agent_can_import_is_part_of_its_consent(tmp_path: Path, name: str) -> None:
    home = tmp_path / "agents"
    home.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (home / "lib").symlink_to(tmp_path / "elsewhere")
    (home / "lib" / "home").symlink_to(home)  # a circle
    (home / "agent.py").write_text("")
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_bytes(b"1")
    suite = replace(suite_at(home), agent="agent.py")
    record = ConsentRecord(tmp_path / "consents.json")
    assert asks_again_after(record, suite, lambda: (home / name).write_bytes(b"2"))


def test_what_an_agent_cannot_import_is_no_part_of_its_consent(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("")
    (tmp_path / "__pycache__").mkdir()
    suite = replace(suite_at(tmp_path), agent="agent.py")
    record = ConsentRecord(tmp_path / "data" / "consents.json")
    assert not asks_again_after(record, suite, lambda: (tmp_path / "notes.txt").write_text("2"))
    assert not asks_again_after(record, suite, lambda: (tmp_path / "__pycache__" / "a.cpython-311.pyc").write_text("2"))


def test_the_code_of_an_agent_after_the_first_files_is_part_of_its_consent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.session.code_search._MOST_BYTES", 100)
    for name in ("agent.py", "b.py", "c.py"):
        (tmp_path / name).write_text("#" * 60)
    suite = replace(suite_at(tmp_path), agent="agent.py")
    record = ConsentRecord(tmp_path / "data" / "consents.json")
    assert asks_again_after(record, suite, lambda: (tmp_path / "c.py").write_text("+" * 60))


def test_an_agent_in_a_folder_with_too_much_code_is_asked_about_in_each_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.session.code_search._MOST_ENTRIES", 2)
    for name in ("agent.py", "b.py", "c.py"):
        (tmp_path / name).write_text("")
    suite = replace(suite_at(tmp_path), agent="agent.py")
    record = ConsentRecord(tmp_path / "data" / "consents.json")
    assert asks_again_after(
        record, suite, lambda: monkeypatch.setattr("tui.session.code_search._THIS_PROCESS", "other")
    )


@pytest.mark.parametrize("agent", ["cmd:python3 agent.py", "cmd:python3 'my agent.py'", "cmd:python3 --f=agent.py"])
def test_a_command_agent_is_started_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    (tmp_path / "suites").mkdir()
    for name in ("agent.py", "my agent.py"):
        (tmp_path / name).write_text("1")
    monkeypatch.chdir(tmp_path)
    suite = replace(suite_at(tmp_path / "suites"), agent=agent)
    record = ConsentRecord(tmp_path / "consents.json")
    assert asks_again_after(record, suite, lambda: [file.write_text("2") for file in tmp_path.glob("*agent.py")])
    assert asks_again_after(record, suite, lambda: monkeypatch.chdir(tmp_path / "suites"))


@pytest.mark.parametrize(
    "suite",
    [
        replace(suite_of(case_of("c1")), agent="agent.py"),
        replace(suite_of(case_of("c1")), agent="cmd:date"),
        replace(suite_of(case_of("c1")), repo_clone=RepoClone("./fixtures")),
        suite_of(replace(case_of("c1"), command=CommandCheck("make"))),
    ],
)
def test_a_consent_is_for_one_suite(tmp_path: Path, suite: Suite) -> None:
    record = ConsentRecord(tmp_path / "consents.json")
    for missing in record.missing(replace(suite, path=str(tmp_path / "a.yaml"))):
        record.grant(missing)
    assert record.missing(replace(suite, path=str(tmp_path / "a.yaml"))) == ()
    assert len(record.missing(replace(suite, path=str(tmp_path / "b.yaml")))) == 1


@pytest.mark.parametrize("url", ["https://example.org/a?private_token=KEY", "https://example.org/KEY/a"])
def test_a_key_in_the_url_of_a_clone_is_neither_shown_nor_stored(tmp_path: Path, url: str) -> None:
    keys = [f"ghp_{letter * 30}" for letter in "ab"]
    suite, other = (
        replace(command_suite(tmp_path, "make test"), repo_clone=RepoClone(url.replace("KEY", key))) for key in keys
    )
    record = ConsentRecord(tmp_path / "consents.json")
    (missing,) = record.missing(suite)
    assert missing.what.endswith(f"(in a clone of {url.replace('KEY', '[removed key]')})")
    record.grant(missing)
    assert keys[0] not in (tmp_path / "consents.json").read_text()
    assert record.missing(suite) == ()
    assert len(record.missing(other)) == 1
    plain = replace(suite, repo_clone=RepoClone(url.replace("https", "http").replace("KEY", keys[0])))
    assert all(keys[0] not in consent.what + consent.mark for consent in record.missing(plain))


def test_a_command_is_allowed_in_one_repository_and_with_the_files_that_it_names(tmp_path: Path) -> None:
    check, folder = tmp_path / "check.sh", tmp_path / "suites"
    folder.mkdir()
    check.write_text("1")
    record = ConsentRecord(tmp_path / "consents.json")
    suite = replace(command_suite(folder, f"make; sh {check};"), repo_clone=RepoClone("https://example.org/a"))
    (missing,) = record.missing(suite)
    assert missing.what.endswith("(in a clone of https://example.org/a)")
    assert asks_again_after(record, suite, lambda: check.write_text("2"))
    for clone in (RepoClone("https://example.org/b"), RepoClone("https://example.org/a", branch="other")):
        assert len(record.missing(replace(suite, repo_clone=clone))) == 1
    local = replace(command_suite(folder, "sh check.sh"), repository_context=RepositoryContext(".."))
    assert asks_again_after(record, local, lambda: check.write_text("3"))


@pytest.mark.parametrize(
    ("flags", "is_asked"), [(b"\1\0\0\0", True), (b"\3\0\0\0", False), (b"\0\0\0\0", False), (b"", False)]
)
def test_bytecode_that_is_used_without_a_look_at_its_source_is_part_of_the_consent_of_a_command(
    tmp_path: Path, flags: bytes, is_asked: bool
) -> None:
    cached = tmp_path / "__pycache__" / "helper.cpython-311.pyc"
    cached.parent.mkdir()
    (tmp_path / "check.py").write_text("import helper")
    case = replace(case_of("c1"), steps=(Step("p", (Check("assert.command", "", ["python3", "check.py"]),)),))
    suite = replace(suite_of(case), path=str(tmp_path / "suite.yaml"))
    record = ConsentRecord(tmp_path / "data" / "consents.json")
    assert asks_again_after(record, suite, lambda: cached.write_bytes(b"\xa7\r\r\n" + flags + b"12345678")) is is_asked


def test_a_saved_run_reads_only_files_that_its_suite_file_names(tmp_path: Path) -> None:
    case = replace(case_of("c1"), code_context=(CodeContext(".ssh/id_rsa"),))
    stored = replace(suite_at(tmp_path), cases=(case,))
    record = ConsentRecord(tmp_path / "data" / "consents.json")

    def kinds(on_disk: Suite | None) -> list[str]:
        return [each.kind for each in record.missing(stored, read_again=lambda: on_disk)]

    assert record.missing(stored) == ()
    assert kinds(stored) == []
    assert kinds(replace(stored, sha256="1" * 64)) == []
    assert kinds(None) == ["outside"]
    assert kinds(suite_at(tmp_path)) == ["outside"]
    (missing,) = record.missing(stored, read_again=lambda: None)
    record.grant(missing)
    assert kinds(None) == []
    context = replace(stored, repository_context=RepositoryContext("."))
    assert len(record.missing(context, read_again=lambda: stored)) == 1


def test_a_saved_run_that_reads_no_files_does_not_read_its_suite_again(tmp_path: Path) -> None:
    def refuse() -> None:
        raise AssertionError

    assert ConsentRecord(tmp_path / "consents.json").missing(suite_at(tmp_path), read_again=refuse) == ()


def test_two_programs_that_grant_consents_lose_none(tmp_path: Path) -> None:
    consents = [Consent("commands", "", f"commands\n{number}") for number in range(60)]
    file = tmp_path / "consents.json"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda consent: ConsentRecord(file).grant(consent), consents))
    assert len(json.loads(file.read_text())) == len(consents)


def test_a_saved_run_with_a_clone_also_reads_files_of_the_suites_folder(tmp_path: Path) -> None:
    case = replace(case_of("c1"), code_context=(CodeContext(".ssh/id_rsa"),))
    stored = replace(suite_at(tmp_path), cases=(case,), repo_clone=RepoClone("https://example.org/a"))
    record = ConsentRecord(tmp_path / "data" / "consents.json")
    assert [each.kind for each in record.missing(stored, read_again=lambda: None)] == ["outside"]
    assert record.missing(stored, read_again=lambda: stored) == ()


@pytest.mark.parametrize(
    "command",
    [
        "~/bin/check.sh", "sh ~/bin/check.sh", "$HOME/bin/check.sh", "sh ${HOME}/bin/check.sh", "echo `~/bin/check.sh`",
        "sh -c 'exec ~/bin/check.sh'", "sh -c \"make; sh -c 'sh ~/bin/check.sh'\"", "cd ~/bin && sh check.sh",
        "sh ~/bin/ch*.sh", "echo $(sh ~/bin/check.sh)", "X=~/other:~/bin/check.sh make",
    ],
)  # fmt: skip
def test_a_command_names_files_as_a_shell_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "bin").mkdir(parents=True)
    (tmp_path / "suites").mkdir()
    script = tmp_path / "home" / "bin" / "check.sh"
    script.write_text("1")
    record = ConsentRecord(tmp_path / "consents.json")
    assert asks_again_after(record, command_suite(tmp_path / "suites", command), lambda: script.write_text("2"))


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("make -sC tools run", "tools/Makefile"), ("node tools", "tools/index.js"), ("perl -Itools x.pl", "tools/X.pm"),
        ("tools", "tools/run"), ("make --directory=tools", "tools/deep/rules.mk"),
        ("python3 -c \"exec(open('x.py').read())\"", "x.py"), ("node -e \"require('./x')\"", "x.js"),
        ("sh -c 'exec&&python3<x.py'", "x.py"), ("python3 -c \"open('x,1.py')\"", "x,1.py"),
        ("make -sfx.mk run", "x.mk"), ("awk -fx.awk", "x.awk"), ("x --load=a,x.py", "x.py"), ("java @x.args", "x.args"),
        ("make -sf$HOME/x.mk", "x.mk"), ("sh -c \"python3 '${HOME}/x.py'\"", "x.py"),
        ("python3 -m x", "x.py"), ("python3 -m tools.x", "tools/x.py"), ("python3 -Bmtools.x", "tools/x.py"),
        ("python3 -m tools.x", "tools/__init__.py"),
        (f"sh -c ': {' '.join(map(str, range(1_200)))}; exec python3 x.py'", "x.py"),
        ("python3 -c \"exec(open(r'my x').read())\"", "my x"), ("sh -c '. ./x.st\\\neps'", "x.steps"),
        ("python3 '$HOME.py'", "$HOME.py"), ("sh -c \"python3 '$HOME.py'\"", "$HOME.py"), ("sh '~nobody'", "~nobody"),
        ("cd a && cd b && cd c && sh run", "a/b/c/run"), ("sh -c 'cd a; cd b; sh run'", "a/b/run"),
        ("sh -c \"# don't\nsh './my run'\"", "my run"), ("# don't\nsh my\\ run", "my run"),
        ("sh ./ru*", "run"), ("cd '[id]' && sh ./ru*", "[id]/run"), ("sh ./[^x]un", "run"),
        ("cd d* && sh run", "d1/run"), ("cat t??.sh | sh", "té.sh"),
        ("cd a; cd ../b; sh run", "b/run"), ("cd a/c; cd ..; sh run", "a/run"), ("bash -c '. ~+/run'", "run"),
        ("bash <<X\n. ./a\\ b # don't\nX", "a b"), ("sh $(dirname $0)/run", "run"), ('sh "${DIR-.}/run"', "run"),
        ("sh -c 'sh `pwd`/run'", "run"), ("sh `dirname x`/run", "run"),
        ("sh ./[[:alpha:]]un", "run"), ("sh './[id]'/ru*", "[id]/run"), ("sh -c './ru\\n'", "run"),
    ],
)  # fmt: skip
def test_a_command_names_files_in_other_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, file: str
) -> None:
    suites = tmp_path / "suites[1]"
    monkeypatch.setenv("HOME", str(suites))
    for folder in ("a/c", str(Path(file).parent)):
        (suites / folder).mkdir(parents=True, exist_ok=True)
    (suites / file).write_text("1")
    (suites / file).chmod(0o700 if file.startswith("tools") else 0o600)
    record = ConsentRecord(tmp_path / "consents.json")
    assert asks_again_after(record, command_suite(suites, command), lambda: (suites / file).write_text("2"))


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("sh $PWD/check", "check"), ("sh -c 'sh ${PWD}/check'", "check"), ("sh ./check-$TERM", "check-dumb"),
        ("sh ./check.${CI}", "check.true"), ("sh ./check$COLORTERM", "check"), ("sh ./che$NOT_SET/ck", "che/ck"),
        ("sh ./check$1", "check"), ("sh ./check-$COLORTERM", "check-truecolor"), ("sh ./check$A_TOKEN", "check"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_agent", [False, True])
def test_a_command_names_files_by_the_variables_that_it_gets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, file: str, is_agent: bool
) -> None:
    for name, value in {"PWD": str(tmp_path), "TERM": "xterm", "COLORTERM": "truecolor", "A_TOKEN": "123456"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("NOT_SET", raising=False)
    path = tmp_path / "suites" / file
    path.parent.mkdir(parents=True)
    path.write_text("1")
    monkeypatch.chdir(path.parent)
    suite = command_suite(tmp_path / "suites", command)
    if is_agent:
        suite = replace(suite_at(tmp_path / "suites"), agent=f"cmd:{command}")
    record = ConsentRecord(tmp_path / "consents.json")
    assert asks_again_after(record, suite, lambda: path.write_text("2"))


@pytest.mark.parametrize(
    "file", ["Makefile", "Makefile.inc", "Taskfile.yml", "tests/test_x.py", "package.json", "bin/check"]
)
def test_the_code_of_the_folder_in_which_an_assertion_runs_is_part_of_its_consent(tmp_path: Path, file: str) -> None:
    path = tmp_path / "suites" / file
    path.parent.mkdir(parents=True)
    path.write_text("1")
    path.chmod(0o700 if file.startswith("bin") else 0o600)
    check = Check("assert.command", "make check", ["make", "check"])
    case = case_of("c1")
    case = replace(case, steps=(replace(case.steps[0], checks=(check,)),))
    suite = replace(suite_at(tmp_path / "suites"), cases=(case,))
    record = ConsentRecord(tmp_path / "consents.json")
    assert asks_again_after(record, suite, lambda: path.write_text("2"))
    assert not asks_again_after(record, suite, lambda: (tmp_path / "suites" / "notes.md").write_text("2"))


CODE = """
Makefile.inc Makefile.am Makefile.common Makefile.local GNUmakefile makefile-rules Taskfile.yml Taskfile.dist.yaml
.pre-commit-config.yaml compose.yaml docker-compose.yml docker-compose.override.yml Tiltfile Earthfile Procfile .envrc
.env mise.toml pixi.toml turbo.json nx.json project.json bb.edn deps.edn Pipfile build.sbt dune rebar.config shard.yml
.justfile CMakePresets.json configure.ac wscript Jamroot BUCK config.toml .npmrc .bazelrc .mocharc.yml pytest.ini
x.cabal stack.yaml conanfile.txt x.s X.S x.asm x.f90 x.d x.cr x.pyx x.fsx x.csx x.sc x.coffee x.v x.nf x.bats x.t
x.rake x.gemspec x.ru x.cljs x.cljc x.edn x.star x.hx x.sol x.m4 x.inc requirements-dev.txt jest.config.json libx.so.1
.eslintrc.json meson.build go.mod Dockerfile.dev MODULE.bazel x.py x.SH x.mjs tsconfig.json deno.jsonc
uv.lock poetry.lock pdm.lock Pipfile.lock Cargo.lock package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml
bun.lock bun.lockb composer.lock mix.lock flake.lock deno.lock Gemfile.lock rebar.lock packages.lock.json
Kbuild Makevars.win Make.rules Make.defs BUILD.gn .gn x.gni x.gyp x.gypi x.pri x.qbs Android.bp x.slnx x.pyproj
x.runsettings Rakefile.local .rspec .buckconfig .tool-versions nodemon.json extensions.xml build.zig.zon x.smk
x.nimble x.nims x.rockspec x.podspec x.l x.y x.gts x.mdx x.hbs x.pug x.cshtml x.hy x.nu x.xsh .zshenv x.vala
pylintrc latexmkrc dvc.yaml cucumber.yml .gdbinit .ghci .ocamlinit x.resource build.mill .Renviron .simplecov .busted
.luacov .sbtopts .jvmopts .flake8 phpstan.neon x.qmd _quarto.yml x.pyzw x.resi x.gd x.odin x.vsh x.es6 x.litcoffee x.rbw
"""
DATA = """
s.yaml suite.yml report.json results.jsonl report.html report.md junit.xml table.csv notes.txt log.log .coverage x.o
picture.png README LICENSE .gitignore index.css profile.md makefiles.md runs.lock .~lock.s.odt#
"""


@pytest.mark.parametrize("name", CODE.split())
def test_the_usual_names_of_sources_libraries_and_build_files_are_code(name: str) -> None:
    assert is_code_name(name)


@pytest.mark.parametrize("name", DATA.split())
def test_suites_reports_and_texts_are_no_code(name: str) -> None:
    assert not is_code_name(name)


def test_results_in_a_folder_that_a_command_names_are_no_part_of_its_consent(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    record = ConsentRecord(tmp_path / "data" / "consents.json")
    suite = command_suite(tmp_path, "make report --out=out")
    assert not asks_again_after(record, suite, lambda: (tmp_path / "out" / "report.json").write_text("2"))


def test_an_option_with_a_folder_does_not_name_a_folder_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    walked = list[Path]()

    def walk(_: object, folder: Path) -> Iterator[Path]:
        walked.append(folder)
        yield from ()

    monkeypatch.setattr(CodeSearch, "code_below", walk)
    ConsentRecord(tmp_path / "consents.json").missing(command_suite(tmp_path, "cc -Isource/lib -I../lib -Isource/"))
    assert [path for path in walked if not path.is_relative_to(tmp_path.parent)] == []


def test_many_commands_in_one_folder_are_asked_about_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.session.code_search._MOST_ENTRIES", 1_000)
    (tmp_path / "src").mkdir()
    for number in range(100):
        (tmp_path / "src" / f"m{number}.py").write_text("")
    suite = command_suite(tmp_path, "")
    commands = [CommandCheck(f"cd src && python3 -m pytest -k 'not {word}'") for word in "abcdefghijkl"]
    suite = replace(suite, cases=tuple(replace(suite.cases[0], command=command) for command in commands))
    record = ConsentRecord(tmp_path / "data" / "consents.json")
    assert not asks_again_after(
        record, suite, lambda: monkeypatch.setattr("tui.session.code_search._THIS_PROCESS", "x")
    )
    assert asks_again_after(record, suite, lambda: (tmp_path / "src" / "m50.py").write_text("2"))


@pytest.mark.parametrize("limit", ["_MOST_NAMES", "_MOST_PATHS", "_MOST_MATCHES"])
def test_a_command_that_names_too_much_is_asked_about_in_each_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(f"tui.session.code_search.{limit}", 1)
    for name in ("a.sh", "b.sh"):
        (tmp_path / name).write_text("")
    record = ConsentRecord(tmp_path / "data" / "consents.json")
    suite = command_suite(tmp_path, "cat *.sh")
    assert asks_again_after(
        record, suite, lambda: monkeypatch.setattr("tui.session.code_search._THIS_PROCESS", "other")
    )


@pytest.mark.parametrize(
    "command",
    [
        "cat */*/*/*/*/*/*/*/*/*/*/*/nope", f"cat {'*/' * 200}nope", f"ls -{'a' * 90_000}", f"ls {'x' * 200_000}",
        "ls " + " ".join("d/.." + "/d/.." * number for number in range(100)),
    ],
)  # fmt: skip
def test_a_command_with_many_names_in_folders_that_lead_in_circles_is_not_searched_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    calls = 0
    look_at = os.stat

    def counted(*arguments: Any, **options: Any) -> os.stat_result:
        nonlocal calls
        calls += 1
        return look_at(*arguments, **options)

    (tmp_path / "d").mkdir()
    for number in range(10):
        (tmp_path / f"l{number}").symlink_to(".")
        (tmp_path / f"{number}.py").write_text("")
    monkeypatch.setattr("tui.session.code_search._MOST_ENTRIES", 2_000)
    monkeypatch.setattr(os, "stat", counted)
    (consent,) = consents_of(replace(suite_at(tmp_path), agent=f"cmd:{command}"))
    assert consent.kind == "agent"
    assert calls < 20_000


def test_links_to_folders_are_part_of_the_consent_of_an_agent(tmp_path: Path) -> None:
    home = tmp_path / "agents"
    for name in ("first", "second", "agents/helpers"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "code.py").write_text("")
    (home / "agent.py").write_text("import current.code")
    (home / "current").symlink_to("../first")
    (home / "a").symlink_to("../first")
    (home / "b").symlink_to("../second")
    suite = replace(suite_at(home), agent="agent.py")
    record = ConsentRecord(tmp_path / "consents.json")

    def lead_elsewhere() -> None:
        (home / "current").unlink()
        (home / "current").symlink_to("../second")

    assert asks_again_after(record, suite, lead_elsewhere)
    assert asks_again_after(record, suite, lambda: (home / "wave").symlink_to("helpers"))


def test_a_deleted_current_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deleted = tmp_path / "deleted"
    deleted.mkdir()
    monkeypatch.chdir(deleted)
    deleted.rmdir()
    with pytest.raises(ConfigError, match="The current folder no longer exists"):
        agent_consents(suite_at(tmp_path), [Subject("cmd:cat", "agent", "cmd:cat")])


def named(file: Path, run: str = "", agent: str | None = None) -> Suite:
    cases = (replace(case_of("c1"), command=CommandCheck(run)),) if run else ()
    return replace(suite_of(case_of("c1")), path=str(file), cases=cases, agent=agent)


def test_line_breaks_in_names_make_no_answer_hold_for_another_agent(tmp_path: Path) -> None:
    record = ConsentRecord(tmp_path / "consents.json")
    allowed = named(tmp_path / "s.yaml\ncmd:true evil #/t.yaml", agent="cmd:true fine")
    record.grant(*record.missing(allowed))
    assert record.missing(allowed) == ()
    assert len(record.missing(named(tmp_path / "s.yaml", agent="cmd:true evil #/t.yaml\ncmd:true fine"))) == 1


def test_line_breaks_in_names_make_no_answer_hold_for_another_command(tmp_path: Path) -> None:
    record, folder = ConsentRecord(tmp_path / "consents.json"), tmp_path / f"s.yaml\n{tmp_path}\nevil #"
    allowed = named(folder / "t.yaml", run="true")
    record.grant(*record.missing(allowed))
    assert record.missing(allowed) == ()
    assert len(record.missing(named(tmp_path / "s.yaml", run=f"evil #/t.yaml\n{folder}\ntrue"))) == 1


@pytest.mark.parametrize("separator", ["\n", "\r", " ", '", "', "\\n", "\\"])
def test_no_text_between_two_names_makes_an_answer_hold_for_other_names(separator: str) -> None:
    names = (
        (f"/a{separator}/b", "/c"),
        ("/a", f"/b{separator}/c"),
        ("/a", "/b/c"),
        (f"/a{separator}/b{separator}", "/c"),
    )
    assert len({data_consent(Path(suite), Path(data)).mark for suite, data in names}) == len(names)
