"""A terminal that is closed or resized at any moment: the app ends, or paints everything again."""

import json
import os
import pty
import random
import select
import signal
import sys
import time
from pathlib import Path

import psutil

from tests.support.command_line import CommandLine
from tests.support.processes import wait_until
from tests.support.terminal import Terminal, run_here
from tui.app.linux_driver import TolerantFile
from tui.model.shipped import shipped_folder


def read_until(terminal: int, words: bytes, seconds: float = 60.0) -> None:
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
    deadline = time.monotonic() + 60
    ended, status = os.waitpid(child, os.WNOHANG)
    while not ended and time.monotonic() < deadline:
        time.sleep(0.01)
        ended, status = os.waitpid(child, os.WNOHANG)
    if not ended:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended, "it hangs"
    assert os.waitstatus_to_exitcode(status) == 129
    assert psutil.wait_procs(family, timeout=60)[1] == []


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


def test_everything_is_painted_after_a_storm_of_sizes(tmp_path: Path) -> None:
    """A signal that interrupts the handler of the one before must not win with its older size, and a change and back
    within one frame must be painted although the size is the same as before."""
    sizes = random.Random(0)
    steps = tmp_path / "steps.json"
    steps.write_text(json.dumps([["show", "\n".join(f"line {number:2}" for number in range(17))]]))
    command = run_here("-m", "tests.app.widgets.answer_app", steps)
    with Terminal(command, size=(60, 20), cwd=Path(__file__).parents[2]) as terminal:
        terminal.wait_for("step 0")
        terminal.press("x")
        painted = terminal.wait_for("line 16").lines
        assert painted[0] == f"╭{'─' * 58}╮"
        for storm in range(60):
            for _ in range(sizes.randint(1, 12)):
                terminal.resize(sizes.randint(1, 9), sizes.randint(1, 5))
            terminal.resize(60, 20)
            terminal.wait_until(lambda screen: screen.lines == painted, f"the whole screen after storm {storm}")


def test_sizes_that_change_while_the_app_starts_do_no_harm(tmp_path: Path) -> None:
    steps = tmp_path / "steps.json"
    steps.write_text("[]")
    command = run_here("-m", "tests.app.widgets.answer_app", steps)
    with Terminal(command, size=(60, 20), cwd=Path(__file__).parents[2]) as terminal:
        for _ in range(100_000):
            terminal.resize(9, 5)
            terminal.resize(60, 20)
            if b"\x1b[?2004h" in terminal.raw:  # written when the app has taken over the terminal
                break
        terminal.wait_until(
            lambda screen: (screen.lines[0], screen.lines[19]) == (f"╭{'─' * 58}╮", "step 0"), "the whole screen"
        )


STOPPED_WHILE_IT_WRITES = """
import os, signal
from tui.app.theme.themed_app import ThemedApp

class Stopped(ThemedApp[None]):
    def on_key(self) -> None:
        with self._driver._writer_thread._queue.mutex:  # as while a text is handed to the thread
            os.kill(os.getpid(), signal.SIGTSTP)
            sum(range(1000))
        self.notify("goes on")

Stopped().run()
"""


def test_a_stop_while_the_screen_is_written_waits_until_it_is_written() -> None:
    with Terminal(run_here("-c", STOPPED_WHILE_IT_WRITES), cwd=Path(__file__).parents[2]) as terminal:
        terminal.wait_for_bytes(b"\x1b[?2004h")
        program = psutil.Process(terminal.pid)
        terminal.press("x")
        wait_until(lambda: program.status() == psutil.STATUS_STOPPED)
        terminal.signal(signal.SIGCONT)
        terminal.wait_for("goes on")


STOPPED_AT_EACH_STAGE = """
import asyncio, os, signal
from tui.app.theme.themed_app import ThemedApp

async def be_stopped():
    for number in (signal.SIGCONT, signal.SIGTSTP):
        os.kill(os.getpid(), number)
        for _ in range(100):
            await asyncio.sleep(0)

class Stopped(ThemedApp[None]):
    def on_mount(self) -> None:
        self.call_after_refresh(self.exit)

    async def on_unmount(self) -> None:
        await be_stopped()

async def main():
    await Stopped().run_async()
    for _ in range(3):
        await be_stopped()

asyncio.run(main())
"""


def test_an_app_that_has_ended_is_not_started_again_by_a_signal() -> None:
    with Terminal(run_here("-c", STOPPED_AT_EACH_STAGE), cwd=Path(__file__).parents[2]) as terminal:
        program = psutil.Process(terminal.pid)
        for _ in range(4):
            wait_until(lambda: program.status() == psutil.STATUS_STOPPED)
            terminal.signal(signal.SIGCONT)
        assert terminal.wait_exit() == 0
        assert terminal.unrestored() == []
