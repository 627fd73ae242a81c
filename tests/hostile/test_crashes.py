"""An error that nobody expected, in a command and in the app: one sentence, a file with the details, and no key."""

import json
import stat
import subprocess
from pathlib import Path

import pytest

from tests.hostile.home import Home, make_home
from tests.hostile.test_screens import hostile_bytes
from tests.support.command_line import Ran
from tests.support.terminal import run_here

KEY = "sk-environ-canary-4711"
LITERAL = "literal-canary-0815-in-the-config"
PROXY_PASSWORD = "proxy-canary-2342"
TEXT = f"{KEY} {LITERAL} {PROXY_PASSWORD} \x1b]0;owned\x07 \u202e"
KEYS = {"OPENAI_API_KEY": KEY, "HTTPS_PROXY": f"http://me:{PROXY_PASSWORD}@127.0.0.1:1"}

UNREAD = ("tui.config.folders:_folder", "tui.config.load:_read_file")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = make_home(tmp_path)
    config = tmp_path / "assay_config_dir" / "config.yaml"
    config.write_text(f"providers: {{one: {{kind: openai, base_url: 'http://127.0.0.1:9/v1', api_key: {LITERAL}}}}}\n")
    return home


def run_broken(home: Home, place: str, *words: str, **env: str) -> Ran:
    # A file that cannot be read has given Assay no key.
    text = TEXT.replace(LITERAL, "") if place in UNREAD else TEXT
    command = run_here("-m", "tests.hostile.broken", place, text, *words)
    environ = {**home.environ, **KEYS, **env}
    done = subprocess.run(command, cwd=home.folder, env=environ, capture_output=True, text=True, check=False)
    return Ran(done.returncode, done.stdout, done.stderr)


def leaks(text: str) -> list[str]:
    return [key for key in (KEY, LITERAL, PROXY_PASSWORD) if key in text] + hostile_bytes(text.encode())


def crash_files(home: Home) -> list[Path]:
    return sorted((home.data / "crashes").glob("*.txt"))


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("tui.config.folders:_folder", ("paths",)),
        ("tui.store.sqlite:SqliteStore.list_runs", ("runs",)),
        ("tui.session.session:Session.run", ("run", "suites/s.json")),
        ("tui.config.load:_read", ("run", "suites/s.json")),
        ("tui.config.load:_read_file", ("models",)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bug_in_a_command_is_a_sentence_with_a_file(home: Home, place: str, words: tuple[str, ...]) -> None:
    ran = run_broken(home, place, *words)
    assert ran.code == 3
    assert "Error: Internal error in Assay: RuntimeError: raised [removed key]" in ran.err
    assert ran.out == ""
    assert leaks(ran.err) == []
    for word in ("logged", "warned", "raised"):
        assert f"{word} [removed key]" in ran.err
    if place == UNREAD[0]:  # there is no folder for a file
        assert "Please report this error with these details:" in ran.err
        return
    (file,) = crash_files(home)
    details = file.read_text()
    assert f"with the details in this file: {file}" in ran.err.replace("\n", "")
    assert "Traceback (most recent call last)" in details
    assert f"assay {' '.join(words)}" in details
    assert leaks(details) == []
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_key_in_the_url_of_an_agent_on_the_command_line_is_in_no_report(home: Home) -> None:
    url = "http://127.0.0.1:9/?x=1;token=url-canary-1618"
    ran = run_broken(home, "tui.session.session:Session.run", "run", "suites/s.json", "--agent", url)
    assert ran.code == 3
    details = crash_files(home)[0].read_text()
    assert "--agent 'http://127.0.0.1:9/?x=1;token=[removed key]'" in details
    assert leaks(ran.err + details) == []
    assert "canary" not in ran.err + details


def test_a_file_that_is_no_yaml_hides_its_keys_too(home: Home) -> None:
    (home.folder / "assay_config_dir" / "config.yaml").write_text(f"providers: [[[\n  api_key: '{LITERAL}'\n")
    ran = run_broken(home, "tui.documents.yaml_nodes:Findings.in_order", "config", "check")
    assert ran.code == 3
    assert leaks(ran.err + crash_files(home)[0].read_text()) == []


@pytest.mark.long
def test_only_the_newest_reports_are_kept(home: Home) -> None:
    (home.data / "crashes").mkdir(parents=True)
    for number in range(12):
        (home.data / "crashes" / f"20200101T0000{number:02}.txt").touch()
    assert run_broken(home, "tui.store.sqlite:SqliteStore.list_runs", "runs").code == 3
    files = crash_files(home)
    assert len(files) == 10
    assert files[-1].read_text() != ""


def test_a_data_folder_that_cannot_be_written_leaves_the_details_on_stderr(home: Home) -> None:
    (home.folder / "file").touch()
    ran = run_broken(home, "tui.store.sqlite:SqliteStore.list_runs", "runs", ASSAY_DATA_DIR=str(home.folder / "file"))
    assert ran.code == 3
    assert leaks(ran.err) == []


@pytest.mark.parametrize(
    "place",
    [
        pytest.param("tui.app.open_suites:OpenSuites.__init__", marks=pytest.mark.long),
        "tui.app.explore.suite_tree:SuiteTree.on_mount",
    ],
)
def test_a_bug_in_the_app_restores_the_terminal_and_leaves_a_file(home: Home, place: str) -> None:
    words = (place, TEXT, "suites")
    with home.open(*words, module="tests.hostile.broken", env=KEYS) as terminal:
        assert terminal.wait_exit() == 3
        assert terminal.unrestored() == []
        terminal.wait_for("Error: Internal error in Assay: RuntimeError: raised [removed key]")
        raw = bytes(terminal.raw)
    assert leaks(raw.decode(errors="replace").split("Error: Internal")[1]) == []
    assert [key for key in (KEY, LITERAL, PROXY_PASSWORD) if key.encode() in raw] == []
    (file,) = crash_files(home)
    assert leaks(file.read_text()) == []
    assert place.rpartition(".")[2] in file.read_text() or "fail" in file.read_text()


def test_an_error_that_quotes_a_key_is_filtered(home: Home) -> None:
    (home.folder / "suites" / "s.json").write_text(json.dumps({"name": KEY}))
    ran = run_broken(home, "json:load", "report", LITERAL)
    assert ran.code == 2
    assert leaks(ran.err) == []
    assert "[removed key]" in ran.err


@pytest.mark.parametrize("words", [("paths",), ("config", "path")])
def test_a_path_is_sanitized_for_a_terminal_only(home: Home, words: tuple[str, ...]) -> None:
    folder = home.folder / "a\x1b]0;owned\x07b"
    folder.mkdir()
    env = {"ASSAY_CONFIG_DIR": str(folder)}
    with home.open(*words, env=env) as terminal:
        assert terminal.wait_exit() == 0
        assert hostile_bytes(bytes(terminal.raw)) == []
        assert "a␛]0;owned␇b" in terminal.raw.decode()
    done = subprocess.run(
        run_here("-m", "tui", *words), cwd=home.folder, env={**home.environ, **env}, capture_output=True, check=True
    )
    assert str(folder).encode() in done.stdout
