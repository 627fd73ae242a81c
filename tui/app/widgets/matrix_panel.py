"""The matrix in its frame: heads, rows, the filter, and what can be said of two models."""

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.widgets import Static

from tui.app.matrix.head import head_lines
from tui.app.matrix.layout import column_at
from tui.app.matrix.table import Matrix
from tui.app.painting import content_of
from tui.app.presentation.pieces import Line, text_of, width_of
from tui.app.widgets.line_list import LineList
from tui.app.widgets.matrix_head import MatrixHead
from tui.app.widgets.matrix_table import MatrixTable
from tui.model.filtering import Filter, parse_filter

if TYPE_CHECKING:
    from tui.app.widgets.typing_line import TypingLine

_HIGH = 27
_SAID, _SAID_LOW = 4, 2
_FRAME, _AROUND = 4, 4  # cells beside the rows, and lines above and below them, where the panel fills the window


class MatrixPanel(Vertical):
    """Shows a Matrix; what is chosen in it is changed by whoever answers the messages."""

    DEFAULT_CSS = """
    MatrixPanel {
        height: 1fr; padding: 0 1; background: $background; border: round $quiet-border;
        border-title-color: $foreground; border-subtitle-color: $dim;
        &:focus-within { border: round $focused-border; border-title-color: $accent; }
    }
    MatrixPanel > MatrixHead { margin-bottom: 1; }
    MatrixPanel.-low > MatrixHead { margin-bottom: 0; }
    MatrixPanel > MatrixTable { height: 1fr; min-height: 1; }
    MatrixPanel > #sentence { height: auto; max-height: 4; margin-top: 1; }
    MatrixPanel.-low > #sentence { max-height: 2; margin-top: 0; }
    MatrixPanel > #sentence.-empty { display: none; }
    """

    class CaseChosen(Message):
        """A case is to be opened."""

        def __init__(self, case: str) -> None:
            super().__init__()
            self.case = case

    class ColumnChosen(Message):
        """The rows are to be sorted by a column: a model's place, −1 for names, the models' number for changes."""

        def __init__(self, column: int) -> None:
            super().__init__()
            self.column = column

    class FilterChanged(Message):
        """Another filter holds."""

        def __init__(self, wanted: Filter) -> None:
            super().__init__()
            self.wanted = wanted

    def __init__(self, matrix: Matrix, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._matrix = matrix
        self.head = MatrixHead(id="heads")
        self.table = MatrixTable(matrix, id="cells")
        self._width = 1
        self._turned = False
        self._said: tuple[Line, Line] = (), ()
        self._sentence = Static(Content(), markup=False, id="sentence", classes="-empty")

    def compose(self) -> ComposeResult:
        """The filter comes when it is asked for."""
        yield self.head
        yield self.table
        yield self._sentence

    # --- what is shown

    def on_mount(self) -> None:
        """Everything has its place before the first layout: a second one would cost as much as the first."""
        size = self.app.size
        self._fit(size.width - _FRAME, size.height - _AROUND)
        self.show_title()

    def on_resize(self, event: Resize) -> None:
        """Columns for the width there is; fewer heads where it is low."""
        self._fit(event.size.width, event.size.height)

    def _fit(self, width: int, height: int) -> None:
        self.set_class(height < _HIGH, "-low")
        self._width = width
        self.table.lay_out(width)
        self.draw_heads()
        if self._said[0]:
            self.show_sentence(*self._said)

    def rows_changed(self, case: str | None) -> None:
        """Other rows, or other models; the cursor goes to a case."""
        self.table.lay_out(self._width)
        self.table.rows_changed(case)
        self.draw_heads()
        self.show_title()

    @on(MatrixTable.LayoutChanged)
    def draw_heads(self) -> None:
        """Bring the heads up to date."""
        matrix, survey = self._matrix, self._matrix.survey
        whole = self.has_class("-low") == self._turned
        self.head.show(head_lines(self.table.columns, matrix.models, survey.figures, survey.since, whole=whole))

    def turn_figures(self) -> None:
        """All figures in the heads where there were fewer, and the other way round."""
        self._turned = not self._turned
        self.draw_heads()

    def show_sentence(self, line: Line, shorter: Line = ()) -> None:
        """Say this below the rows; shorter where there is no room for all of it."""
        self._said = line, shorter
        rows = _SAID_LOW if self.has_class("-low") else _SAID
        if shorter and width_of(text_of(line)) > rows * self._width * 0.9:
            line = shorter
        self._sentence.update(content_of(line))
        self._sentence.set_class(not line, "-empty")

    def show_title(self) -> None:
        """How many cases and models, and how the filter stands."""
        wanted = self._matrix.wanted
        self.border_title = Content(self._matrix.title)
        if wanted.filter.hint:
            self.border_subtitle = Content.styled(wanted.filter.hint, "$failed")
        elif wanted.filter or wanted.differing:
            count = self._matrix.case_count
            self.border_subtitle = Content.styled(f"{count} {'case' if count == 1 else 'cases'}", "$accent")
        else:
            self.border_subtitle = Content("/ filter")

    # --- what is chosen

    @on(LineList.Chosen)
    def open_case(self, message: LineList.Chosen) -> None:
        """A case, to be opened."""
        message.stop()
        case = self._matrix.case_at(message.place)
        if case is not None:
            self.post_message(self.CaseChosen(case.id))

    @on(MatrixHead.HeadClicked)
    def choose_column(self, message: MatrixHead.HeadClicked) -> None:
        """A head, to sort by it."""
        message.stop()
        column = column_at(self.table.columns, message.x)
        if column is not None:
            self.post_message(self.ColumnChosen(column))

    # --- the filter

    async def open_filter(self) -> None:
        """Type a filter."""
        line = self._line
        if line is None:
            from tui.app.widgets.typing_line import TypingLine

            line = TypingLine("status:fail tag:… sev:crit model:… !word", id="filter")
            await self.mount(line)
        line.start()

    async def close_filter(self) -> bool:
        """All cases again. False where there was no filter."""
        line = self._line
        if line is not None:
            await line.remove()
            self.post_message(self.FilterChanged(Filter()))
        self.table.focus()
        return line is not None

    @property
    def _line(self) -> "TypingLine | None":
        found: TypingLine | None = next(iter(self.query("#filter").results()), None)  # type: ignore[assignment]
        return found

    def on_typing_line_typed(self, message: "TypingLine.Typed") -> None:
        """Filter while it is being typed."""
        message.stop()
        self.post_message(self.FilterChanged(parse_filter(message.text)))

    async def on_typing_line_entered(self, message: "TypingLine.Entered") -> None:
        """Enter goes to the cases that were found."""
        message.stop()
        if message.text.strip():
            self.table.focus()
        else:
            await self.close_filter()

    async def on_typing_line_left(self, message: "TypingLine.Left") -> None:
        """Escape: no filter."""
        message.stop()
        await self.close_filter()
