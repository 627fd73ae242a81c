"""A dialog with the comparison of every pair of models, and the cases behind each number."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from tui.app.matrix.comparison_lines import PairsTable, pair_lines
from tui.app.presentation.pieces import Line
from tui.app.screens import Dialog
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.text_views import TextPanel
from tui.model.suite import Case
from tui.statistics.run_figures import ModelFigures


class _PairList(LineListView):
    """The list of pairs. Columns that do not fit in every row are omitted, from the last."""

    def __init__(self, table: PairsTable, on_chosen: Callable[[int], object]) -> None:
        super().__init__(on_chosen=on_chosen)
        self._table = table
        self.show_lines(table.lines)

    def line_at(self, place: int, width: int) -> Line:
        return super().line_at(place, width)[: self._table.pieces_in(width)]


class PairsScreen(Dialog[int | None]):
    """A dialog with every pair of models. The result is the index of the chosen pair, or None."""

    DEFAULT_CSS = """
    PairsScreen { align: center middle; background: $background 60%; }
    PairsScreen > Vertical {
        width: 128; max-width: 96%; height: 90%; max-height: 46; padding: 1 1; background: $raised;
        border: round $focused-border; border-title-color: $accent; border-subtitle-color: $dim;
    }
    PairsScreen LineListView { height: auto; max-height: 40%; background: $raised; }
    PairsScreen TextPanel { margin-top: 1; background: $raised; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,p", "leave", "Close", id="pairs.leave", tooltip="Close statistics"),
    ]

    def __init__(
        self,
        table: PairsTable,
        current: int,
        names: Mapping[str, str],
        cases: Mapping[str, Case],
        figures: Mapping[str, ModelFigures],
        progress: str = "",
    ) -> None:
        super().__init__()
        self._figures, self._progress = figures, progress
        self._table, self._current, self._names, self._cases = table, current, names, cases
        self._list, self._detail = _PairList(table, on_chosen=self.dismiss), TextPanel()

    def compose(self) -> ComposeResult:
        """Compose the list of pairs, and the details of the highlighted one."""
        with Vertical() as box:
            box.border_title = Content("Statistics: models compared on common cases")
            box.border_subtitle = Content("Enter show pair · Esc close")
            yield self._list
            yield self._detail

    def on_mount(self) -> None:
        """Put the cursor on the displayed pair."""
        self._list.go_to(self._current)
        self._list.focus()
        self._show_detail(self._current)

    def _show_detail(self, place: int) -> None:
        self._detail.show_lines(
            pair_lines(self._table.pairs[place], self._names, self._cases, self._figures, self._progress)
        )

    def on_line_list_view_reached(self, message: LineListView.Reached) -> None:
        """Display the details of the highlighted pair."""
        self._show_detail(message.place)
