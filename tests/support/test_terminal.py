"""The terminal of the tests, tried on small programs."""

import signal
from pathlib import Path

import pyte
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.terminal import FastScreen, FastStream, Screen, Terminal, run_here

ECHO = """
import sys, termios, tty
tty.setraw(0)
print("ready", end="\\r\\n", flush=True)
while True:
    data = sys.stdin.buffer.raw.read(64)
    print(repr(data), end="\\r\\n", flush=True)
    if data == b"q":
        sys.exit(7)
"""


def test_keys_go_in_and_the_screen_comes_out() -> None:
    with Terminal(run_here("-c", ECHO), size=(60, 10)) as terminal:
        terminal.wait_for("ready")
        for key, seen in (("down", r"b'\x1b[B'"), ("ctrl+p", r"b'\x10'"), ("é", r"b'\xc3\xa9'")):
            terminal.press(key)
            terminal.wait_for(seen)
        terminal.mouse(4, 2, kind="scroll_down")
        terminal.wait_for(r"\x1b[<65;5;3M")
        begin = len(terminal.raw)
        terminal.press("z")
        arrived = terminal.wait_for_bytes(b"b'z'", begin)
        assert arrived in [moment for moment, written in terminal.arrivals if written > begin]
        terminal.press("q")
        assert terminal.wait_exit() == 7
        assert b"ready\r\n" in terminal.raw


def test_size_folder_and_environment_are_the_programs_own(tmp_path: Path) -> None:
    program = """
import os, signal
size = lambda *_: print(os.get_terminal_size(0), os.getcwd(), os.environ["COLOUR"], flush=True)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})  # a signal before sigwait stays pending
size()
while True: size(signal.sigwait({signal.SIGWINCH}))
"""
    with Terminal(run_here("-c", program), size=(90, 20), cwd=tmp_path, env={"COLOUR": "gold"}) as terminal:
        terminal.wait_until(lambda screen: "columns=90, lines=20" in screen and "gold" in screen)
        terminal.resize(120, 30)
        terminal.wait_for("columns=120, lines=30")
        terminal.signal(signal.SIGTERM)
        assert terminal.wait_exit() == -signal.SIGTERM


def test_a_program_that_ends_or_hangs_fails_the_wait_with_its_screen() -> None:
    with (
        Terminal(run_here("-c", "print('last words')")) as terminal,
        pytest.raises(AssertionError, match=r"'more' does not hold and the program has ended(.|\n)*last words"),
    ):
        terminal.wait_for("more")
    with (
        Terminal(run_here("-c", "input('? ')")) as terminal,
        pytest.raises(AssertionError, match="s have passed"),
    ):
        terminal.wait_for("never", within=0.1)


def test_cut_and_strange_sequences_leave_no_trace_on_the_screen() -> None:
    data = b"\x1b[>1u\x1b[<u\x1bP+q544e\x1b\\\x1b[31mred\x1b[0m \x1b[1;38;2;1;2;3;48;2;255;0;16mx\x1b[0m \xe6\x97\xa5."
    for cut in range(len(data)):
        screen = Screen(20, 3)
        screen.feed(data[:cut])
        screen.feed(data[cut:])
        assert screen.lines[0] == "red x 日.", cut
        assert screen.cell_of("red").front == "red"
        assert screen.cell_of("x")[1:4] == ("010203", "ff0010", True)


_PIECES = [
    "plain", "日本", "e\u0301", "│─", "x" * 19, "\u200b", "\t", "\r\n", "\x0e", "\x7f",
    "\x1b]0;a\x1b[1m\x07", "\x1b]0;", "\x1b[m", "\x1b[0m", "\x1b[1;31m", "\x1b[38;2;1;2;3;48;5;9m", "\x1b[;7m",
    "\x1b[39m", "\x1b[38m", "\x1b[99999m", "\x1b[2;3H", "\x1b[K", "\x1b[2J", "\x1b[4h", "\x1b[4l", "\x1b[?7l",
    "\x1b[?7h", "\x1b[2@", "\x1b[3P", "\x1b[L", "\x1bc",
]  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=40))
@example(["plain", "\x1b[2;3H", "│─", "\x1b[2;3H", "\x1b[4h", "plain"])
def test_the_screen_is_that_of_pyte(pieces: list[str]) -> None:
    plain, fast = pyte.Screen(20, 5), FastScreen(20, 5)
    fed, fed_fast = pyte.Stream(plain), FastStream(fast)
    for piece in pieces:
        fed.feed(piece)
        fed_fast.feed(piece)
    cells = [[[screen.buffer[y][x] for x in range(20)] for y in range(5)] for screen in (plain, fast)]
    assert cells[0] == cells[1]
    assert (plain.cursor.x, plain.cursor.y, plain.title) == (fast.cursor.x, fast.cursor.y, fast.title)
    assert [line.strip() for line in fast.display] == ["".join(cell.data for cell in row).strip() for row in cells[0]]
