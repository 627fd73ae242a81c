"""Ctrl-C while Assay starts or exits: exit code 130, and no traceback."""

import asyncio
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import tui
from tests.cli.test_run import keys_for, write_suite
from tests.support.command_line import CommandLine
from tests.support.model_server import ModelServer
from tests.support.replies import whole
from tui.__main__ import main
from tui.cli.main import assay, run_command_line

INTERRUPTED_AT = """
import atexit, os, signal, sys
point, sys.argv = sys.argv[1], ["assay", *sys.argv[2:]]
imports = 0

def interrupt(event="import", args=()):
    global imports
    if event == "import":
        imports += 1
        if point in ("exit", str(imports)):
            os.kill(os.getpid(), signal.SIGINT)

from tui.__main__ import main

if point == "exit":
    atexit.register(interrupt)
else:
    sys.addaudithook(interrupt)
main()
"""
OTHER_POINTS = ("2", "5", "20", "120", "180", "240")
OTHER_COMMANDS = ("--help", "runs", "paths")
SUITE = "description: greets\nmemory: {}\nsteps:\n  - input: Ann\n    assert: {output.includes: Hello}\n"
AGENT = "def agent(input, memory):\n    return {'output': 'Hello'}\n"


def words(assay: CommandLine, command: str) -> list[str]:
    """The command with its files, which are written first."""
    (assay.home / "greet.yaml").write_text(SUITE)
    (assay.home / "agent.py").write_text(AGENT)
    return command.split()


def interrupt_at(assay: CommandLine, point: str, command: str) -> "subprocess.CompletedProcess[str]":
    environ = assay.environ({"PYTHONPATH": str(Path(tui.__file__).parents[1])})
    call = [sys.executable, "-c", INTERRUPTED_AT, point, *words(assay, command)]
    return subprocess.run(
        call, capture_output=True, text=True, env=environ, cwd=assay.home, stdin=subprocess.DEVNULL, check=False
    )


@pytest.mark.parametrize(
    "point", ["1", "60", "300", "exit", *(pytest.param(point, marks=pytest.mark.long) for point in OTHER_POINTS)]
)
def test_a_run_that_is_interrupted_while_it_is_imported_exits_with_130(assay: CommandLine, point: str) -> None:
    done = interrupt_at(assay, point, "run greet.yaml --agent agent.py")
    assert (done.returncode, "Traceback" in done.stderr, "Exception" in done.stderr) == (130, False, False), done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "--version",
        "validate greet.yaml",
        *(pytest.param(command, marks=pytest.mark.long) for command in OTHER_COMMANDS),
    ],
)
def test_a_command_that_is_interrupted_while_it_exits_exits_with_130(assay: CommandLine, command: str) -> None:
    done = interrupt_at(assay, "exit", command)
    assert (done.returncode, "Traceback" in done.stderr, "Exception" in done.stderr) == (130, False, False), done.stderr


def test_an_ignored_interrupt_remains_ignored(assay: CommandLine) -> None:
    signal_before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = interrupt_at(assay, "60", "run greet.yaml --agent agent.py")
    finally:
        signal.signal(signal.SIGINT, signal_before)
    assert done.returncode == 0, done.stderr


async def test_a_run_under_nohup_does_not_end_with_its_terminal(assay: CommandLine) -> None:
    gate, suite, whole_reply = asyncio.Event(), write_suite(assay.home, 1), whole("yes")
    async with ModelServer(lambda _: replace(whole_reply, body=(gate, *whole_reply.body), wire=None)) as server:
        signal_before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            process = assay.start("run", str(suite), "--no-stream", env=keys_for(server))
        finally:
            signal.signal(signal.SIGHUP, signal_before)
        await server.wait_for_requests(1)
        process.send_signal(signal.SIGHUP)
        gate.set()
        _, err = await asyncio.to_thread(process.communicate, timeout=120)
    assert process.returncode == 0, err


def is_from_before_main(traceback: str) -> bool:
    """Return whether an error was raised before `main` has called the function that handles the signal."""
    own_code = re.escape(str(Path(tui.__file__).parent))
    frames = re.findall(rf'File "{own_code}/([^"]*)", line (\d+), in (\S+)', traceback)
    call = main.__code__.co_firstlineno + 2
    return all(file == "__main__.py" and (name != "main" or int(line) <= call) for file, line, name in frames)


@pytest.mark.parametrize("command", ["--version", "run greet.yaml --agent agent.py"])
def test_an_interrupt_in_the_first_milliseconds_shows_no_traceback(assay: CommandLine, command: str) -> None:
    for milliseconds in range(0, 80, 16):
        process = assay.start(*words(assay, command))
        time.sleep(milliseconds / 1000)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        # Until Assay handles the signal, Python itself ends by it or prints its own traceback.
        assert is_from_before_main(err), err
        if "Traceback" not in err:
            assert process.returncode in (130, -signal.SIGINT, 0), err


@pytest.mark.parametrize(("cause", "code"), [(KeyboardInterrupt(), 130), (SystemExit(143), 143)])
def test_a_signal_while_a_class_is_created_is_no_internal_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], cause: BaseException, code: int
) -> None:
    class Field:
        def __set_name__(self, owner: type, name: str) -> None:
            raise cause

    def create(**_: object) -> None:
        class Owner:
            field = Field()

    monkeypatch.setattr(assay, "main", create)
    for prepare in ("fill_closed_streams", "settle_encoding", "filter_stderr"):  # they change the streams for good
        monkeypatch.setattr(f"tui.cli.main.{prepare}", lambda: None)
    assert run_command_line() == code
    assert capfd.readouterr().err == ""
