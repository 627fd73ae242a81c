"""The splash screen, displayed at once while the rest of the app is loaded and the session is opened."""

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Key, Resize
from textual.message import Message

from tui.app.presentation.pieces import Line
from tui.app.screens import AppScreen
from tui.app.widgets.footer import KeyFooter
from tui.app.widgets.text_views import PieceLine, TextPanel
from tui.model.sanitize import sanitize_text

_KEYS = (
    ("", "↑ ↓", "select a suite or a case"),
    ("", "Enter", "open or unfold it"),
    ("run.case", "r", "run the case"),
    ("run.suite", "R", "run the whole suite"),
    ("look.models", "M", "choose the models to show side by side"),
    ("look.filter", "/", "filter the cases"),
    ("app.palette", "^p", "search all commands and themes"),
    ("app.help", "?", "show the keys of this screen"),
    ("app.leave", "q", "quit"),
)
"""The ids of the most important bindings, their default keys, and their effects."""


def start_lines(message: str, key_of: Callable[[str], str] = lambda _: "") -> list[Line]:
    """Return an optional message, then the most important keys; `key_of` returns that of a binding, or nothing."""
    rows: list[Line] = [
        (("Assay", "accent"), ("  tests language models, side by side", "dim")),
        (),
    ]
    if message:
        rows += [*(((row, "plain"),) for row in sanitize_text(message).splitlines()), ()]
    shown = [((id and key_of(id)) or key, does) for id, key, does in _KEYS]
    return rows + [((f"{key:>7}  ", "accent"), (does, "plain")) for key, does in shown]


def error_lines(why: str) -> list[Line]:
    """Return why nothing was opened, and what to do."""
    rows: list[Line] = [((row, "plain"),) for row in sanitize_text(why).splitlines()]
    advice: Line = (("Correct this, then start Assay again. ", "plain"), ("q", "accent"), (" quits.", "plain"))
    return [(("Nothing was opened", "error"),), (), *rows, (), advice]


WIDE, NARROW, TINY = 150, 110, 60
"""Columns from which, or below which, the frame has another width."""


class FrameScreen(AppScreen[None]):
    """A screen with `#suites` beside `#middle`, which contains `#overview`, laid out for the size of the terminal."""

    DEFAULT_CSS = """
    FrameScreen { background: $background; color: $foreground; }
    FrameScreen #body { height: 1fr; }
    FrameScreen #suites { width: 34; }
    FrameScreen.-wide #suites { width: 42; }
    FrameScreen.-narrow #suites { width: 26; }
    FrameScreen #middle { width: 1fr; }
    FrameScreen #overview { border: round $quiet-border; border-title-color: $foreground; padding: 1 2; }
    FrameScreen.-tiny #suites { display: none; }
    """

    def on_resize(self, event: Resize) -> None:
        """Set the classes for the size, by which the stylesheet hides widgets without room."""
        self.set_class(event.size.width >= WIDE, "-wide")
        self.set_class(event.size.width < NARROW, "-narrow")
        self.set_class(event.size.width < TINY, "-tiny")


class _Name(PieceLine):
    """The name of the app in the header line."""

    def line_for(self, width: int) -> Line:
        del width
        return ((" Assay", "accent"),)


class SplashScreen(FrameScreen):
    """The frame of Explore without content. It collects the keys that are typed until Explore is ready."""

    DEFAULT_CSS = """
    SplashScreen #suites { border: round $focused-border; border-title-color: $accent; border-subtitle-color: $dim; }
    """
    AUTO_FOCUS = ""

    class Painted(Message):
        """Posted after the first paint of the splash."""

    def __init__(self) -> None:
        super().__init__()
        self._keys: list[Key] = []
        self._collects_keys = True
        self._overview = TextPanel(id="overview")

    def compose(self) -> ComposeResult:
        """Compose the frame of Explore without content."""
        yield _Name()
        with Horizontal(id="body"):
            suites = Vertical(id="suites")
            suites.border_title, suites.border_subtitle = Content("Suites"), Content("/ filter")
            yield suites
            with Vertical(id="middle"):
                self._overview.border_title = Content("Start")
                self._overview.show_lines(start_lines(""))
                yield self._overview
        yield KeyFooter()

    def on_mount(self) -> None:
        """Post `Painted` after the first paint."""
        self.call_after_refresh(self.post_message, self.Painted())

    def on_key(self, event: Key) -> None:
        """Collect a key for the screen that follows; pass on the keys that quit."""
        if self._collects_keys and event.key not in ("ctrl+c", "ctrl+q"):
            event.stop()
            event.prevent_default()
            self._keys.append(event)

    def pop_keys(self) -> list[Key]:
        """Return the collected keys, and stop collecting."""
        self._collects_keys = False
        return self._keys

    def show_error(self, why: str) -> None:
        """Display the error message of a session that cannot be opened."""
        self._overview.show_lines(error_lines(why))
