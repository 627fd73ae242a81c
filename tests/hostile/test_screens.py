"""Every screen and dialog of the app over a canary of control sequences and markup, in a pseudo-terminal.

What comes out is read as raw bytes: no sequence of the canary, and no character that a terminal does not show.
"""

import base64
import re
from pathlib import Path

import pytest

from tests.app.test_screens import classes_that_close
from tests.hostile.screens_app import CANARY, MARKUP, UNSEEN
from tests.support.terminal import Terminal, run_here
from tui.app.explore.screen import ExploreScreen
from tui.app.splash import SplashScreen

_SEQUENCES = re.compile(
    rb"\x1b\]22;[a-z-]*\x07"
    rb"|\x1b\[[0-9;:]*m|\x1b\[[0-9;]*[ABCDHJK]|\x1b\[\?[0-9;]*(?:[hl]|\$p)|\x1b\[[<>=]?[0-9;]*u|\x1b\[[0-9]+;[0-9]+;[0-9]+t"
)
"""What Textual writes itself: pointer shapes, styles, places, modes and the keyboard protocol."""
_CLIPBOARD = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/]*=*)\x07")
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\ufffd-\uffff\U0001fffe\U0001ffff\U000e0000-\U000e0fff]"
)


def hostile_bytes(raw: bytes) -> list[str]:
    """Everything in the bytes that a program may not write."""
    text = _SEQUENCES.sub(b"", _CLIPBOARD.sub(b"", raw)).decode(errors="replace")
    return [text[max(0, found.start() - 20) : found.end() + 20] for found in _UNSEEN.finditer(text)]


def screens_of_the_app() -> set[str]:
    """Return the names of all classes of screens in the app but base classes."""
    return {kind.__name__ for kind in (*classes_that_close(), SplashScreen, ExploreScreen)}


class Visitor:
    """A person who opens one screen after the other."""

    def __init__(self, terminal: Terminal, folder: Path, *, wanders: bool) -> None:
        self._terminal, self._folder, self._wanders = terminal, folder, wanders

    def press(self, *keys: str, until: str = "", gone: str = "") -> None:
        """Press keys, then wait for a text, or for its absence."""
        for key in keys:
            # As the keyboard protocol writes it: a lone ESC and the next key would be one key.
            self._terminal.send("\x1b[27u") if key == "escape" else self._terminal.press(key)
        if until:
            self._terminal.wait_for(until)
        if gone:
            self._terminal.wait_while(gone)

    def wander(self, *keys: str) -> None:
        """Press keys that open no screen, such as those of other lines, tabs and layouts, in a long visit only."""
        if self._wanders:
            self.press(*keys)

    def look(self, key: str, text: str, *keys: str, close: str = "escape") -> None:
        """Open a dialog with a key that shows a text, press keys in it, and close it."""
        self.press(key, until=text)
        self.press(*keys)
        self.close(close)
        self._terminal.wait_while(text)

    def fill(self, key: str, text: str, *keys: str) -> None:
        """Open a form with a key that shows a text, change it, and close it without saving."""
        self.press(key, until=text)
        self.press(*keys)
        self.discard()
        self._terminal.wait_while(text)

    def discard(self) -> None:
        """Close a form that was changed."""
        self.press("escape", until="Esc again closes")
        self.close()

    def leave(self, text: str) -> None:
        """Close a screen with Escape, and wait until a text of it is gone: the next screen may have the same text."""
        self.close()
        self._terminal.wait_while(text)

    def close(self, key: str = "escape") -> None:
        """Close a screen with a key. Its text alone is no sign: it may disappear while the screen is painted."""
        closed = self._closed()
        self.press(key)
        self._terminal.wait_until(lambda _: self._closed() != closed, "a screen is closed")

    def _closed(self) -> int:
        return (self._folder / "screens").read_text().split().count("-")

    def paste(self, text: str) -> None:
        """Paste a text as a terminal does."""
        self._terminal.send(f"\x1b[200~{text}\x1b[201~")


def app_in(folder: Path, *args: str) -> Terminal:
    command = run_here("-m", "tests.hostile.screens_app", folder, *args)
    (folder / ".gitconfig").write_text(f"[user]\n  name = reviewer {UNSEEN} {MARKUP}\n".replace("[/foo]", "/foo"))
    return Terminal(command, size=(260, 60), cwd=Path(__file__).parents[2], env={"HOME": folder})


@pytest.mark.parametrize("wanders", [False, pytest.param(True, marks=pytest.mark.long)])
def test_nothing_hostile_comes_out_of_any_screen(tmp_path: Path, wanders: bool) -> None:
    with app_in(tmp_path) as terminal:
        visitor = Visitor(terminal, tmp_path, wanders=wanders)
        terminal.wait_for("Unknown theme")
        explore(visitor)
        matrix(visitor)
        runs(visitor)
        compare(visitor)
        review(visitor)
        assert terminal.wait_exit() == 0
        assert hostile_bytes(bytes(terminal.raw)) == []
    assert screens_of_the_app() - set((tmp_path / "screens").read_text().split()) == set()


def explore(visitor: Visitor) -> None:
    visitor.press(until="Not run yet")
    visitor.look("f1", "Tour 1 of 6", "right", "right", "left")
    visitor.press("]", until="Context: 1 file")
    visitor.press("[", gone="Context: 1 file")
    visitor.look("r", "Allow?", close="n")
    visitor.press("R", until="Allow?")
    visitor.press("y", until="■ 4/4")
    visitor.press("[", until="tool calls")
    visitor.press("]", gone="tool calls")
    visitor.wander(
        ".", ".", ".", ".", ".", ",", "2", "n", "N", "z", "z", "=", "shift+tab", "down", "right", "down", "home", "end"
    )
    visitor.look("?", "Esc close", "down", "end")
    visitor.press("ctrl+o")
    visitor.close()
    visitor.press("f2", until="A change applies")
    visitor.press(*"system", until="System prompt")
    visitor.press("enter", until="may be a key")
    visitor.leave("A change applies")
    visitor.press("f2", until="A change applies")
    visitor.press(*"theme", until="Name of the theme")
    visitor.look("enter", "preview", "down", "end")
    visitor.leave("A change applies")
    visitor.press("M", until="Models")
    visitor.fill("e", "Settings of", "9", "enter", "down")
    visitor.press("space", "down", "end", "space", "up", "space", "up", "space", "a", "c", "a", "enter")
    visitor.press("escape", "escape", gone="Models")
    visitor.press("M", until="Models")
    visitor.fill("n", "Add a provider", "c", "down", "down", "enter")
    visitor.leave("Models")
    visitor.press("E", until="Recorded answers")
    visitor.paste(CANARY)
    visitor.press("down", "enter", "n", until="not saved")
    visitor.press("escape", until="Discard?")
    visitor.press("y", gone="Recorded answers")
    visitor.press("ctrl+e", until="also in the file")
    visitor.press(*["tab"] * 5, until="a add check")
    visitor.press("down", "enter", until="Kinds:")
    visitor.press("c", "enter", until="Unknown kind")
    visitor.discard()
    visitor.press("D", "ctrl+s", until="Not saved")
    visitor.press("escape", until="Discard?")
    visitor.press("y", gone="also in the file")
    visitor.look("g", "Enter go", "c", "a", "n", "down", "up")
    visitor.look("ctrl+f", "Enter open", "c", "a", "n", "a", "r", "y", "down", "up", "ctrl+r", "ctrl+r")
    visitor.look("ctrl+p", "Search for commands")
    visitor.press("/", until="Enter apply")
    visitor.paste(CANARY)
    visitor.press(until="0 cases")
    visitor.press("ctrl+s", until="type a name")
    visitor.paste("canary")
    visitor.press("enter", until="Saved as @canary")
    visitor.press("s", "b", "enter", until="Saved as @b")
    visitor.press("r", "c", "enter", until="Renamed to @bc")
    visitor.press("D", until="Delete @bc?")
    visitor.press("y", until="Deleted @bc")
    visitor.close()
    visitor.press("escape", gone="0 cases")


def matrix(visitor: Visitor) -> None:
    visitor.press("m", until="wins 0")
    visitor.look("s", "Sort rows", "down")
    visitor.look("?", "Focused place")
    visitor.press("I", until="Pairs")
    visitor.press("]")
    visitor.wander("down", "]", "down", "o")
    visitor.look("O", "Export figures", "down")
    visitor.leave("Pairs")
    visitor.press("o", "d", "d")
    visitor.wander("G", "n", "home", "end", "right", "i", "i")
    visitor.press("m", until="Checks")


def runs(visitor: Visitor) -> None:
    visitor.press("H", until="· repeats")
    visitor.press("b", until="★")
    visitor.look("O", "Export report", "down", "down", "a", "tab", "down", "enter")
    visitor.look("D", "Delete run?")
    visitor.leave("· repeats")


def compare(visitor: Visitor) -> None:
    visitor.press("H", until="· repeats")
    visitor.press("C", until="case 1/1")
    visitor.wander("J", "o", "V", "w", "3")
    visitor.press("a")
    visitor.look("1", "Answers on side A", "down")
    visitor.look("I", "Preferences", "]")
    visitor.leave("case 1/1")


def review(visitor: Visitor) -> None:
    visitor.press("H", until="· repeats")
    visitor.press("v", until="Enter start")
    visitor.press("down", "enter", until="0–4 extent")
    visitor.look("G", "Esc close", "end")
    visitor.look("B", "Esc close", "end")
    visitor.press("c", until="Enter")
    visitor.paste(CANARY)
    visitor.press("enter")
    visitor.press("3", until="undoes")
    visitor.press(",")
    visitor.look("T", "Esc close", "end")
    visitor.press("I", until="Answers by band")
    visitor.press("]")
    visitor.wander("end", "down", "]", "]", "]", "o", "[")
    visitor.look("s", "Sort rows by", "down")
    visitor.leave("Score figures")
    visitor.look("s", "Sort queue", "down")
    visitor.press("d", "d")
    visitor.wander("z", "z", "p", "n", "S", "S")
    visitor.press("q")


def test_nothing_hostile_comes_out_of_a_session_that_cannot_be_opened(tmp_path: Path) -> None:
    with app_in(tmp_path, "broken") as terminal:
        terminal.wait_for("canary")
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert hostile_bytes(bytes(terminal.raw)) == []


@pytest.mark.long
def test_nothing_hostile_comes_out_of_the_list_of_models() -> None:
    code = (
        "import asyncio; from tui.app.main import pick_models; from tests.hostile.screens_app import CANARY;"
        "asyncio.run(pick_models([CANARY, f'other {CANARY}'], [CANARY]))"
    )
    with Terminal(run_here("-c", code), size=(120, 30), cwd=Path(__file__).parents[2]) as terminal:
        terminal.wait_for("canary")
        terminal.press("down", "space", "escape")
        assert terminal.wait_exit() == 0
        assert hostile_bytes(bytes(terminal.raw).replace(b"\r\x1b[6n", b"")) == []  # asks where the cursor is


def test_the_canary_would_be_found() -> None:
    assert hostile_bytes(b"\x1b[38;2;1;2;3mfine\x1b[0m\x1b[3;4H\x1b]22;default\x07") == []
    assert hostile_bytes(b"\x1b]52;c;" + base64.b64encode(CANARY.encode()) + b"\x07") == []
    for start in range(CANARY.index("\x1b"), len(CANARY)):
        piece = CANARY[start : start + 3]
        assert piece.isprintable() == (not hostile_bytes(piece.encode())), repr(piece)
