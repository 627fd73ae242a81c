"""A terminal that goes away in the middle of a run ends the app; nothing waits for it for ever."""

import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

import psutil

from tests.support.command_line import CommandLine
from tui.app.driver import TolerantFile
from tui.model.shipped import shipped_folder


def read_until(terminal: int, words: bytes, seconds: float = 30.0) -> None:
    seen, deadline = b"", time.monotonic() + seconds
    while words not in seen:
        assert time.monotonic() < deadline, seen[-2000:]
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 65536)


def test_closing_the_terminal_during_a_run_ends_the_app_and_its_processes(tmp_path: Path) -> None:
    environ = CommandLine(tmp_path).environ({"TERM": "xterm-256color"})
    suite = shipped_folder("test-suites") / "quickstart.yaml"
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(shipped_folder("test-suites").parent)
        os.execve(sys.executable, [sys.executable, "-m", "tui", str(suite)], environ)
    read_until(terminal, b"capital of France")
    os.write(terminal, b"R")
    read_until(terminal, "●".encode())
    family = psutil.Process(child).children(recursive=True)
    os.close(terminal)
    deadline = time.monotonic() + 20
    ended, status = os.waitpid(child, os.WNOHANG)
    while not ended and time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
    if not ended:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended, "it hangs"
    assert os.waitstatus_to_exitcode(status) == 129
    assert psutil.wait_procs(family, timeout=10)[1] == []


def test_a_file_that_is_gone_swallows_what_is_written() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding="utf-8", buffering=1) as broken:
        file = TolerantFile(broken)
        assert file.write("lost\n") == 5
        file.flush()
        assert not file.isatty()
        # What the broken file still holds would be tried again at its own end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), writer)
