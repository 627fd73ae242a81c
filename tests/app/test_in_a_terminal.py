"""The app in a real pseudo-terminal: it starts, streams, restores the terminal and writes no hostile text."""

import re
import shlex
import signal
import sys
from pathlib import Path

import psutil
import pytest

from tests.support.processes import has_ended, wait_until
from tests.support.terminal import Terminal, run_here

RESTORED = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?2004l", b"\x1b[?1000l")


def app_in(folder: Path, kind: str = "plain", size: tuple[int, int] = (140, 40), **env: str) -> Terminal:
    command = run_here("-m", "tests.support.scripted_app", folder, kind)
    return Terminal(command, size=size, cwd=Path(__file__).parents[2], env=env)


def restored(terminal: Terminal) -> bool:
    end = bytes(terminal.raw[-400:])
    return all(sequence in end for sequence in RESTORED)


@pytest.mark.long
def test_it_starts_streams_and_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    with app_in(tmp_path) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("r")
        terminal.wait_for("done")
        terminal.wait_for("■ 2/2")
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert restored(terminal)


@pytest.mark.parametrize(
    ("number", "code"), [pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long), (signal.SIGHUP, 129)]
)
def test_a_signal_ends_the_run_restores_the_terminal_and_is_reported(tmp_path: Path, number: int, code: int) -> None:
    with app_in(tmp_path, "endless") as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("r")
        terminal.wait_for("word9")
        terminal.signal(number)
        assert terminal.wait_exit() == code
        assert restored(terminal)
        assert (tmp_path / "ended").read_text() == "interrupted"


@pytest.mark.long
def test_a_signal_to_continue_without_a_stop_leaves_no_thread_behind(tmp_path: Path) -> None:
    with app_in(tmp_path) as terminal:
        terminal.wait_for("Not run yet")
        for _ in range(3):
            start = len(terminal.raw)
            terminal.signal(signal.SIGCONT)
            terminal.wait_for_bytes(b"\x1b[?1049h", start)
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert restored(terminal)


@pytest.mark.long
@pytest.mark.parametrize("typed", ["2/xq", *(pytest.param(keys, marks=pytest.mark.long) for keys in ("/qsh", "/q/s"))])
def test_what_is_typed_right_after_the_filter_key_is_typed_into_the_filter(tmp_path: Path, typed: str) -> None:
    with app_in(tmp_path) as terminal:
        terminal.wait_for("Not run yet")
        terminal.send(typed)
        terminal.wait_for(typed.partition("/")[2])
        terminal.wait_for("0 cases")
        terminal.press("escape")
        terminal.wait_while("0 cases")
        terminal.press("q")
        assert terminal.wait_exit() == 0


def test_ctrl_z_goes_to_the_shell_and_comes_back(tmp_path: Path) -> None:
    with app_in(tmp_path) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("ctrl+z")
        terminal.wait_until(lambda _: restored(terminal), "the terminal is given back")
        app = psutil.Process(terminal.pid)
        # Sent any sooner, the signal to go on would come before the one to stop.
        terminal.wait_until(lambda _: app.status() == psutil.STATUS_STOPPED, "it is stopped")
        before = len(terminal.raw)
        terminal.signal(signal.SIGCONT)
        # Bracketed paste is asked for last, when keys are read again; what was typed before that is thrown away.
        terminal.wait_until(lambda _: b"\x1b[?2004h" in terminal.raw[before:], "it comes back")
        terminal.wait_for("Not run yet")
        terminal.press("r")
        terminal.wait_for("done")
        terminal.wait_for("■ 2/2")
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert restored(terminal)


def words_in(folder: Path) -> int:
    """How far the endless answer is; 0 at a moment at which that is being written."""
    return int((folder / "words").read_text() or 0)


def wait_for_words(folder: Path, count: int) -> None:
    """Wait until the endless answer is so far, while the terminal itself is still."""
    wait_until(lambda: words_in(folder) >= count)


def test_the_editor_gets_the_terminal_while_the_run_goes_on(tmp_path: Path) -> None:
    editor = tmp_path / "vi"
    editor.write_text('#!/bin/sh\necho "EDITING $@"\nread answer\n')
    editor.chmod(0o755)
    with app_in(tmp_path, "endless", EDITOR=str(editor)) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("r")
        terminal.wait_for("word9")
        terminal.press("e")
        screen = terminal.wait_for("EDITING")
        assert f"EDITING +1 {tmp_path / 'a.yaml'}" in screen.text.replace("\n", "")
        at, words = len(terminal.raw), words_in(tmp_path)
        wait_for_words(tmp_path, words + 1500)  # so long that unheeded paints would have stopped it
        assert b"word" not in terminal.raw[at:]
        terminal.send("done\n")
        terminal.wait_until(lambda _: b"\x1b[?1049h" in terminal.raw[at:], "the app is back")
        terminal.wait_for("● ")
        terminal.press("X")
        terminal.wait_for("cancelled")


@pytest.mark.parametrize("editor", ["missing --wait", pytest.param("/etc/passwd", marks=pytest.mark.long)])
def test_an_editor_that_cannot_start_is_reported_in_the_app(tmp_path: Path, editor: str) -> None:
    with app_in(tmp_path, EDITOR=editor) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("e")
        terminal.wait_for("Cannot start")
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert restored(terminal)


WRAPPED_EDITOR = """\
import os, signal, sys, threading, tty
expected = {signal.SIGINT: "INTERRUPTED", signal.SIGCONT: "CONTINUED"}
signal.pthread_sigmask(signal.SIG_BLOCK, expected)

def report():
    while True:
        print(expected[signal.sigwait(expected)], flush=True)

threading.Thread(target=report, daemon=True).start()
print("EDITING", flush=True)
for line in sys.stdin:
    if line == "stop\\n":
        os.kill(0, signal.SIGTSTP)
    elif line == "raw\\n":
        tty.setraw(0)
        print("\\x1b[?1049h\\x1b[?25l\\x1b[?2004hRAW", flush=True)
    elif line == "quit\\n":
        os._exit(0)
"""


@pytest.fixture
def wrapped_editor(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A shell script that starts an editor as its child; with the parameter `set -m` as a job in the foreground."""
    (tmp_path / "editor.py").write_text(WRAPPED_EDITOR)
    editor = shlex.join([sys.executable, str(tmp_path / "editor.py")])
    script = tmp_path / "wrapper"
    script.write_text(f'#!/bin/bash\n{getattr(request, "param", "")}\n{editor} "$@"\nstatus=$?\nexit $status\n')
    script.chmod(0o755)
    return str(script)


def test_ctrl_c_and_ctrl_z_belong_to_the_editor_while_it_is_open(tmp_path: Path, wrapped_editor: str) -> None:
    with app_in(tmp_path, EDITOR=wrapped_editor) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("e")
        terminal.wait_for("EDITING")
        terminal.press("ctrl+c")
        terminal.wait_for("INTERRUPTED")
        at = len(terminal.raw)
        terminal.send("stop\n")  # no shell controls this terminal: nobody else would continue the editor
        terminal.wait_for_bytes(b"CONTINUED", at)
        terminal.send("quit\n")
        terminal.wait_for("Not run yet")
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert not terminal.unrestored()


@pytest.mark.parametrize("wrapped_editor", ["", "set -m"], indirect=True)
def test_an_editor_that_a_script_started_ends_with_the_app_and_the_terminal_is_restored(
    tmp_path: Path, wrapped_editor: str
) -> None:
    with app_in(tmp_path, EDITOR=wrapped_editor) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("e")
        terminal.wait_for("EDITING")
        terminal.send("raw\n")
        terminal.wait_for("RAW")
        editors = psutil.Process(terminal.pid).children(recursive=True)
        terminal.signal(signal.SIGTERM)
        assert terminal.wait_exit() == 143
        assert not [process for process in editors if process.is_running()]
        assert not terminal.unrestored()


@pytest.mark.parametrize("wrapped_editor", ["set -m"], indirect=True)
def test_a_terminal_that_a_killed_editor_gave_to_its_job_is_taken_back(tmp_path: Path, wrapped_editor: str) -> None:
    with app_in(tmp_path, EDITOR=wrapped_editor) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("e")
        terminal.wait_for("EDITING")
        at = len(terminal.raw)
        (script,) = psutil.Process(terminal.pid).children()
        script.kill()
        terminal.wait_for_bytes(b"\x1b[?2004h", at)  # written when keys are read again
        terminal.press("r")
        terminal.wait_for("done")


@pytest.mark.parametrize("wrapped_editor", ["", pytest.param("set -m", marks=pytest.mark.long)], indirect=True)
def test_the_app_ends_if_its_terminal_is_closed_while_the_editor_has_it(tmp_path: Path, wrapped_editor: str) -> None:
    app = shlex.join(map(str, run_here("-m", "tests.support.scripted_app", tmp_path, "plain")))
    command = ["sh", "-c", f"{app}; true"]  # the shell, not the app, gets SIGHUP as the leader of the session
    with Terminal(command, cwd=Path(__file__).parents[2], env={"EDITOR": wrapped_editor}) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("e")
        terminal.wait_for("EDITING")
        programs = psutil.Process(terminal.pid).children(recursive=True)
        terminal.hang_up()
        wait_until(lambda: not any(program.is_running() and program.status() != "zombie" for program in programs))


@pytest.mark.parametrize(
    ("stopped", "how"),
    [
        ("app", "kill %1"),
        ("editor", "kill %1"),
        ("start", "kill -HUP %1"),
        pytest.param("app", "bg; kill %1", marks=pytest.mark.long),
    ],
)
def test_an_app_in_the_background_ends_on_a_signal(tmp_path: Path, wrapped_editor: str, stopped: str, how: str) -> None:
    app = shlex.join(map(str, run_here("-m", "tests.support.scripted_app", tmp_path, "plain")))
    shell = ["bash", "--norc", "--noprofile", "-ib"]
    with Terminal(shell, cwd=Path(__file__).parents[2], env={"EDITOR": wrapped_editor, "PS1": "prompt> "}) as terminal:
        terminal.wait_for("prompt>")
        terminal.send(f"{app} {'&' if stopped == 'start' else ''}\n")
        if stopped != "start":
            terminal.wait_for("Not run yet")
        if stopped == "editor":
            terminal.press("e")
            terminal.wait_for("EDITING")
        if stopped != "start":
            terminal.press("ctrl+z")
        terminal.wait_for("Stopped")
        (program,) = psutil.Process(terminal.pid).children()
        terminal.send(f"{how}\n")
        wait_until(lambda: has_ended(program.pid))
        terminal.send("clear; echo shell$((1 + 1))\n")
        terminal.wait_for("shell2")


@pytest.mark.long
def test_an_app_that_ran_in_the_background_draws_again_in_the_foreground(tmp_path: Path) -> None:
    app = shlex.join(map(str, run_here("-m", "tests.support.scripted_app", tmp_path, "plain")))
    with Terminal(
        ["bash", "--norc", "--noprofile", "-i"], cwd=Path(__file__).parents[2], env={"PS1": "prompt> "}
    ) as terminal:
        terminal.wait_for("prompt>")
        terminal.send(f"{app}\n")
        terminal.wait_for("Not run yet")
        terminal.press("ctrl+z")
        terminal.wait_for("Stopped")
        terminal.send("clear; bg; echo shell$((1 + 1))\n")
        terminal.wait_for("shell2")
        at = len(terminal.raw)
        terminal.send("fg\n")
        terminal.wait_for_bytes(b"\x1b[?1049h", at)
        terminal.wait_for("Not run yet")
        terminal.press("r")
        terminal.wait_for("■ 2/2")


@pytest.mark.long
def test_a_shell_gets_the_terminal_when_the_app_or_the_editor_stops(tmp_path: Path, wrapped_editor: str) -> None:
    app = shlex.join(map(str, run_here("-m", "tests.support.scripted_app", tmp_path, "plain")))
    shell = ["bash", "--norc", "--noprofile", "-i"]
    with Terminal(shell, cwd=Path(__file__).parents[2], env={"EDITOR": wrapped_editor, "PS1": "prompt> "}) as terminal:

        def stop_and_continue(number: int) -> None:
            terminal.press("ctrl+z")
            terminal.wait_for("Stopped")
            terminal.send(f"clear; echo shell$(({number} + 40))\n")
            terminal.wait_for(f"shell{number + 40}")
            terminal.send("clear; fg\n")

        terminal.wait_for("prompt>")
        terminal.send(f"sh -c {shlex.quote(f'{app}; true')}\n")  # its parent belongs to the job, as `uv run` does
        terminal.wait_for("Not run yet")
        stop_and_continue(1)
        terminal.wait_for("Not run yet")
        terminal.press("e")
        terminal.wait_for("EDITING")
        for number in (2, 3):
            stop_and_continue(number)
            terminal.wait_for("CONTINUED")
        terminal.send("quit\n")
        terminal.wait_for("Not run yet")
        terminal.press("q")
        terminal.wait_for("prompt>")


@pytest.mark.long
def test_many_sizes_are_survived(tmp_path: Path) -> None:
    with app_in(tmp_path, "endless") as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("r")
        terminal.wait_for("word9")
        for number in range(200):
            terminal.resize(1 + number * 37 % 200, 1 + number * 13 % 60)
        terminal.resize(1, 1)
        terminal.resize(140, 40)
        terminal.wait_for("Checks")
        terminal.resize(138, 40)  # as a person would who sees that the last of two hundred was not caught up with
        terminal.press("X")
        terminal.wait_for("cancelled")


ALLOWED = re.compile(
    rb"\x1b\]22;default\x07|\x1b\[[0-9;:]*m|\x1b\[[0-9;]*H|\x1b\[\?[0-9;]*[hlu$p]+|\x1b\[[<>=]?[0-9;]*u|\x1b\[\?2026[hl$p]+|\x1b\[\?2048\$p"
    rb"|\x1b\[[0-9;]*[ABCDJK]|\x1b\[[0-9]+;[0-9]+;[0-9]+t|\x1b\[\?[0-9]+\$p"
)


def hostile_bytes(raw: bytes) -> list[bytes]:
    """What came out that only hostile text can have brought."""
    rest = ALLOWED.sub(b"", raw)
    text = rest.decode(errors="replace")
    found = [
        sign.encode()
        for sign in re.findall("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b]", text)
    ]
    if b"]52;" in rest.replace("␛]52;".encode(), b"") or b"]0;" in rest.replace("␛]0;".encode(), b""):
        found.append(b"OSC")
    return found


@pytest.mark.long
def test_nothing_hostile_comes_out_of_any_place(tmp_path: Path) -> None:
    with app_in(tmp_path, "hostile", (160, 48)) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("r")
        terminal.wait_for("■ 1/1")
        for keys in ("]", "]", "]", "]", "2", "n", "z", "z", "=", "shift+tab", "down", "right", "down", "home", "end"):
            terminal.press(keys)
        terminal.press("?")
        terminal.wait_for("Esc close")
        terminal.press("escape")
        terminal.wait_while("Esc close")
        terminal.press("home", "M")
        terminal.wait_for("Models")
        terminal.press("escape")
        terminal.wait_while("Models")
        terminal.press("/")
        terminal.wait_for("Enter apply")
        terminal.press("q", "q")
        terminal.wait_for("0 cases")
        terminal.press("escape")
        terminal.wait_while("0 cases")
        terminal.press("ctrl+p")
        terminal.wait_for("Search for commands")
        terminal.press("escape")
        terminal.wait_while("Search for commands")
        terminal.press("m")
        terminal.wait_for("2 cases × 2 models")
        terminal.wait_for("! error")
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert hostile_bytes(bytes(terminal.raw)) == []


def test_the_canary_would_be_found() -> None:
    assert hostile_bytes("a \x1b]52;c;eA==\x07 \u202e".encode()) != []
    assert hostile_bytes(b"\x1b[38;2;1;2;3mfine\x1b[0m\x1b[3;4H") == []


@pytest.mark.long
def test_the_command_that_enter_would_take_is_seen(tmp_path: Path) -> None:
    with app_in(tmp_path) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("ctrl+p")
        terminal.wait_for("Run the whole suite")
        terminal.send("theme")
        terminal.wait_while("Search for commands")
        terminal.wait_until(lambda screen: screen.cell_of("Change theme").back != screen.cell_of("theme").back)
        terminal.press("escape")
        terminal.wait_while("Change theme")
        terminal.press("q")
        assert terminal.wait_exit() == 0
