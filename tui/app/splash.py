"""What is seen at once, while the rest of the app is loaded."""

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


class OpeningScreen(FrameScreen):
    """Looks like Explore before anything is read. Keys are kept in `typed`: they are meant for what comes next."""

    DEFAULT_CSS = """
    OpeningScreen #suites { border: round $focused-border; border-title-color: $accent; border-subtitle-color: $dim; }
    """
    AUTO_FOCUS = ""

    class Painted(Message):
        """It is on the terminal."""

    def __init__(self) -> None:
        super().__init__()
        self.typed: list[Key] = []

    def compose(self) -> ComposeResult:
        """The frame of Explore."""
        yield _Name()
        with Horizontal(id="body"):
            suites = Vertical(id="suites")
            suites.border_title, suites.border_subtitle = Content("Suites"), Content("/ filter")
            yield suites
            with Vertical(id="middle"):
                overview = TextPanel(id="overview")
                overview.border_title = Content("Start")
                overview.show_lines(start_lines(""))
                yield overview
        yield KeyFooter()

    def on_mount(self) -> None:
        """Only what can be seen already can be waited for."""
        self.call_after_refresh(self.post_message, self.Painted())

    def on_key(self, event: Key) -> None:
        """Keep it."""
        event.stop()
        event.prevent_default()
        self.typed.append(event)
