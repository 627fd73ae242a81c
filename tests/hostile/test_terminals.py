"""Terminals, streams and users of every kind: the app is drawn and can be left, commands end without a traceback."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.hostile.home import PROJECT, Home, as_user, make_home, needs_setpriv
from tests.support.command_line import CommandLine, Ran
from tests.support.model_server import ModelServer, say
from tests.support.terminal import Terminal, run_here

UNKNOWN_USER = 54321


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
        {"TERM": "dumb", "COLUMNS": "0", "LINES": "x", "LC_ALL": "POSIX"},
        pytest.param({"LC_ALL": "POSIX", "NO_COLOR": "1", "HOME": "/nonexistent"}, marks=pytest.mark.long),
        pytest.param({"TERM": ""}, marks=pytest.mark.long),
        pytest.param({"TERM": "no-such-terminal"}, marks=pytest.mark.long),
        pytest.param({"LANG": "C", "LC_ALL": "C"}, marks=pytest.mark.long),
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


@pytest.mark.parametrize(
    "streams", ["<&-", "> out", *(pytest.param(each, marks=pytest.mark.long) for each in ("< /dev/null", "| cat"))]
)
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


@pytest.mark.parametrize(
    ("commands", "streams"),
    [
        (("--help", "report last"), "| true"),
        (("--version", "report last"), ">&- 2>&- <&-"),
        *(
            pytest.param(COMMANDS, streams, marks=pytest.mark.long)
            for streams in ("| true", "| head -1", ">&-", ">&- 2>&- <&-")
        ),
    ],
)
def test_output_that_nobody_reads_is_no_failure(saved: Home, streams: str, commands: Sequence[str]) -> None:
    lines = (f'{{ $assay {command}; }} {streams}; echo "$? {command}" >> codes' for command in commands)
    (saved.folder / "codes").unlink(missing_ok=True)
    ran = in_shell(saved, "\n".join(lines))
    assert "Traceback" not in ran.err
    assert "Exception ignored" not in ran.err
    assert (saved.folder / "codes").read_text().splitlines() == [f"0 {command}" for command in commands]


@needs_setpriv
@pytest.mark.skipif(os.geteuid() != 0, reason="needs a user without an entry in the system's list")
@pytest.mark.parametrize(
    "words", [("runs",), *(pytest.param((each,), marks=pytest.mark.long) for each in ("paths", "models", "doctor"))]
)
def test_a_user_without_a_home_folder_is_a_sentence(saved: Home, words: tuple[str, ...]) -> None:
    ran = as_user(saved, UNKNOWN_USER, *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "Error: The user has no home folder. Set HOME or ASSAY_CONFIG_DIR.\n"
