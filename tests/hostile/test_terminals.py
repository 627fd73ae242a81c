"""Terminals, streams and users of every kind: the app is drawn and can be left, commands end without a traceback."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.hostile.home import PROJECT, SAVED, Home, make_home
from tests.support.command_line import CommandLine, Ran
from tests.support.kept_runs import STARTED
from tests.support.model_server import ModelServer, say
from tests.support.terminal import Terminal, run_here
from tui.store.sqlite import SqliteStore

NOBODY, UNKNOWN = 65534, 54321
RESULTS = PROJECT / "tests" / "imports" / "files" / "version-3.json"


def run_suite(home: Home, env: Mapping[str, str]) -> None:
    with home.open("suites", env=env) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("R")
        terminal.wait_for("■ 3/3")
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert terminal.unrestored() == []
        assert b"Traceback" not in terminal.raw


@pytest.mark.parametrize(
    "env",
    [
        {"TERM": "dumb"},
        {"TERM": ""},
        {"TERM": "no-such-terminal"},
        {"LANG": "C", "LC_ALL": "C"},
        {"LC_ALL": "POSIX"},
        {"NO_COLOR": "1"},
        {"COLUMNS": "0", "LINES": "x"},
        {"HOME": "/nonexistent"},
    ],
    ids=lambda env: " ".join(f"{name}={value}" for name, value in env.items()),
)
async def test_the_app_runs_in_any_terminal_and_locale(tmp_path: Path, env: Mapping[str, str]) -> None:
    async with ModelServer(say("yes")) as server:
        await asyncio.to_thread(run_suite, make_home(tmp_path, server.url), env)


def test_a_terminal_of_one_cell_grows(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    command = run_here("-m", "tui", "suites")
    with Terminal(command, size=(1, 1), cwd=tmp_path, env=home.environ) as terminal:
        terminal.wait_for_bytes(b"\x1b[?2004h")
        terminal.resize(2, 1)
        terminal.resize(1, 2)
        terminal.resize(120, 40)
        terminal.wait_for("Not run yet")
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert terminal.unrestored() == []


def test_the_app_is_drawn_on_stdout_when_stderr_is_a_file(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    command = ["/bin/sh", "-c", f"exec '{sys.executable}' -m tui suites 2> messages"]
    with Terminal(command, size=(120, 40), cwd=tmp_path, env=home.environ) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert terminal.unrestored() == []
    assert (tmp_path / "messages").read_text() == ""


@pytest.mark.parametrize("streams", ["< /dev/null", "<&-", "> out", "| cat"])
def test_without_a_terminal_the_app_is_one_sentence(tmp_path: Path, streams: str) -> None:
    home = make_home(tmp_path)
    command = ["/bin/bash", "-o", "pipefail", "-c", f"'{sys.executable}' -m tui suites {streams}"]
    with Terminal(command, size=(120, 40), cwd=tmp_path, env=home.environ) as terminal:
        assert terminal.wait_exit() == 2
        assert "Error: The app needs a terminal. Use 'assay run SUITE'" in terminal.screen.text
        assert b"\x1b[?1049h" not in terminal.raw


COMMANDS = (
    "--version", "--help", "run --help", "schema", "runs", "runs --json", "report last", "report last -f json",
    "report last -f html", "report last -f csv", "review export last --template", "paths", "doctor", "validate suites",
    "completion bash",
)  # fmt: skip


def in_shell(home: Home, line: str) -> Ran:
    """Run a line of bash in which `$assay` is the command; the exit code is that of the first part that failed."""
    environ = CommandLine(home.folder).environ({"PYTHONPATH": str(PROJECT), "assay": f"{sys.executable} -m tui"})
    done = subprocess.run(
        ["/bin/bash", "-o", "pipefail", "-c", line],
        cwd=home.folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home that no test changes."""
    return make_home(tmp_path_factory.mktemp("saved"), saved=True)


@pytest.mark.parametrize("streams", ["| true", "| head -1", ">&-", ">&- 2>&- <&-"])
@pytest.mark.parametrize(
    "commands", [("--version", "--help", "report last"), pytest.param(COMMANDS, marks=pytest.mark.long)]
)
def test_output_that_nobody_reads_is_no_failure(saved: Home, streams: str, commands: Sequence[str]) -> None:
    lines = (f'{{ $assay {command}; }} {streams}; echo "$? {command}" >> codes' for command in commands)
    (saved.folder / "codes").unlink(missing_ok=True)
    ran = in_shell(saved, "\n".join(lines))
    assert "Traceback" not in ran.err
    assert "Exception ignored" not in ran.err
    assert (saved.folder / "codes").read_text().splitlines() == [f"0 {command}" for command in commands]


def as_user(home: Home, user: int, *words: str, **env: str) -> Ran:
    """Run the command as another user, who may read everything, but write only what is theirs."""
    call = [sys.executable, "-m", "tui", *words]
    if os.geteuid() == 0:
        reading = "+dac_read_search"
        ids = (f"--reuid={user}", f"--regid={user}", "--clear-groups")
        call = ["setpriv", *ids, f"--inh-caps={reading}", f"--ambient-caps={reading}", *call]
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT), "PYTHONDONTWRITEBYTECODE": "1", **env}
    done = subprocess.run(call, cwd=home.folder, env=environ, capture_output=True, text=True, check=False)
    return Ran(done.returncode, done.stdout, done.stderr)


needs_setpriv = pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None, reason="needs setpriv to become another user"
)


@needs_setpriv
def test_who_may_not_write_the_data_folder_can_read_it(saved: Home) -> None:
    """Any user but root: nothing is written, and what cannot be saved is said."""
    data = saved.data
    data.chmod(0o500)
    files = [path for path in data.iterdir() if path.is_file()]
    try:
        for path in files:
            path.chmod(0o400)
        listed = as_user(saved, NOBODY, "runs", ASSAY_DATA_DIR=str(data), HOME="/nonexistent")
        assert (listed.code, SAVED.run_id[:8] in listed.out) == (0, True), listed.err
        refused = as_user(saved, NOBODY, "import", str(RESULTS), ASSAY_DATA_DIR=str(data), HOME="/nonexistent")
        assert (refused.code, refused.out) == (3, "")
        assert "is read-only. Make the file and its folder writable" in refused.err
    finally:
        data.chmod(0o700)
        for path in files:
            path.chmod(0o600)


@needs_setpriv
@pytest.mark.skipif(os.geteuid() != 0, reason="needs a user without an entry in the system's list")
@pytest.mark.parametrize("words", [("runs",), ("paths",), ("models",), ("doctor",)])
def test_a_user_without_a_home_folder_is_a_sentence(saved: Home, words: tuple[str, ...]) -> None:
    ran = as_user(saved, UNKNOWN, *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "Error: The user has no home folder. Set HOME or ASSAY_CONFIG_DIR.\n"


def test_a_data_folder_that_others_could_read_becomes_private(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    home.data.mkdir(0o755)
    home.data.chmod(0o755)
    tmp_path.chmod(0o755)
    assert CommandLine(tmp_path).run("runs").code == 0
    assert home.data.stat().st_mode & 0o777 == 0o700
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_newer_history_is_refused_by_every_command_and_unchanged(tmp_path: Path) -> None:
    home = make_home(tmp_path, saved=True)
    file = home.data / "runs.sqlite"
    with closing(SqliteStore(file)) as store:
        store.begin_run(SAVED, STARTED)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = file.read_bytes()
    for words in (("runs",), ("report", "last"), ("import", str(RESULTS)), ("run", "suites/s.json")):
        ran = CommandLine(tmp_path).run(*words)
        assert (ran.code, ran.out) == (3, ""), words
        assert "was written by a newer version of Assay" in ran.err
    with home.open("suites") as terminal:
        terminal.wait_for("newer version of Assay")
        terminal.press("q")
        assert terminal.wait_exit() == 0
    assert file.read_bytes() == before
