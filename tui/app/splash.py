"""The splash: displayed at once, while the rest of the app is loaded and the session is opened."""

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Key
from textual.message import Message

from tui.app.presentation.pieces import Line
from tui.app.presentation.starting import start_lines
from tui.app.screens.frame import FrameScreen
from tui.app.widgets.footer import KeyFooter
from tui.app.widgets.text_views import PieceLine, TextPanel


class _Name(PieceLine):
    def line_for(self, width: int) -> Line:
        del width
        return ((" Assay", "accent"),)


class SplashScreen(FrameScreen):
    """Look like Explore before anything is read, and keep the keys that are typed meanwhile."""

    DEFAULT_CSS = """
    SplashScreen #suites { border: round $focused-border; border-title-color: $accent; border-subtitle-color: $dim; }
    """
    AUTO_FOCUS = ""

    class Painted(Message):
        """The splash has been painted."""

    def __init__(self) -> None:
        super().__init__()
        self._keys: list[Key] = []
        self._keeps_keys = True
        self._overview = TextPanel(id="overview")

    def compose(self) -> ComposeResult:
        """Compose the frame of Explore without its content."""
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
        """Keep a key for the screen that follows."""
        if self._keeps_keys:
            event.stop()
            event.prevent_default()
            self._keys.append(event)

    def take_keys(self) -> list[Key]:
        """Return the keys that were kept, and keep no more."""
        self._keeps_keys = False
        return self._keys

    def show_fault(self, why: str) -> None:
        """Display why the session cannot be opened: `why` is a sentence."""
        self._overview.show_lines(start_lines(why))
