"""One of several lines, over everything else."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from tui.app.presentation.pieces import Line
from tui.app.widgets.list_view import LineListView


class ChoiceScreen(ModalScreen[int | None]):
    """Gives the place of the line that was chosen, from 0, or None."""

    DEFAULT_CSS = """
    ChoiceScreen { align: center middle; background: $background 60%; }
    ChoiceScreen > Vertical {
        width: 86; max-width: 94%; height: auto; max-height: 80%; padding: 1 1; background: $raised;
        border: round $focused-border; border-title-color: $accent; border-subtitle-color: $dim;
    }
    ChoiceScreen LineListView { height: auto; max-height: 20; background: $raised; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Leave", id="choice.leave", tooltip="Leave it as it is"),
    ]

    def __init__(self, title: str, lines: Sequence[Line], current: int, *, takes: str = "takes it") -> None:
        super().__init__()
        self._title, self._lines, self._current, self._takes = title, lines, current, takes
        self._list = LineListView()

    def compose(self) -> ComposeResult:
        """The lines."""
        with Vertical() as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content(f"Enter {self._takes} · Esc leaves")
            yield self._list

    def on_mount(self) -> None:
        """Start on what holds now."""
        self._list.show_lines(self._lines)
        self._list.go_to(self._current)
        self._list.focus()

    def on_line_list_view_chosen(self, message: LineListView.Chosen) -> None:
        """This one."""
        self.dismiss(message.place)

    def action_leave(self) -> None:
        """None."""
        self.dismiss(None)
