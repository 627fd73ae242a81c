"""Something to read over everything else."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from tui.app.presentation.pieces import Line
from tui.app.widgets.text_views import TextPanel


class TextScreen(ModalScreen[None]):
    """`lines` are made for the width that there is; `keys` close it besides Esc."""

    DEFAULT_CSS = """
    TextScreen { align: center middle; background: $background 60%; }
    TextScreen > Vertical {
        width: 100; max-width: 96%; height: auto; max-height: 92%; padding: 1 2; background: $raised;
        border: round $focused-border; border-title-color: $accent; border-subtitle-color: $dim;
    }
    TextScreen TextPanel { background: $raised; height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "leave", "Close", id="text.leave", tooltip="Close it"),
    ]

    def __init__(self, title: str, lines: Callable[[int], Sequence[Line]], key: str = "") -> None:
        super().__init__()
        self._title, self._lines, self._key = title, lines, key
        self._reading = TextPanel()

    def compose(self) -> ComposeResult:
        """One text."""
        with Vertical() as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("↑ ↓ scroll · Esc closes")
            yield self._reading

    def on_mount(self) -> None:
        """The key that opened it closes it."""
        if self._key:
            self._bindings.bind(self._key, "leave", show=False)
        self._reading.focus()

    def change(self, lines: Callable[[int], Sequence[Line]]) -> None:
        """Show others."""
        self._lines = lines
        self.on_resize()

    def on_resize(self) -> None:
        """Fill it, for the room that there is."""
        lines = self._lines(max(20, min(100, self.size.width * 96 // 100) - 7))
        self._reading.show_lines(lines)
        self._reading.styles.height = max(1, min(len(lines), self.size.height * 92 // 100 - 4))

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)
