"""The frame of the first place: suites at the left, what is looked at beside them, as there is room."""

from textual.events import Resize
from textual.screen import Screen

_WIDE, _NARROW, _TINY = 150, 110, 60
_SHORT, _LOW = 30, 18


class FrameScreen(Screen[None]):
    """Lays out `#suites`, `#middle` and, in that, `#overview`."""

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
        """What does not fit is left out, and comes back when it fits."""
        self.set_class(event.size.width >= _WIDE, "-wide")
        self.set_class(event.size.width < _NARROW, "-narrow")
        self.set_class(event.size.width < _TINY, "-tiny")
        self.set_class(event.size.height < _SHORT, "-short")
        self.set_class(event.size.height < _LOW, "-low")
