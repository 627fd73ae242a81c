"""The matrix in its frame: heads, rows, the filter, and what can be said of two models."""

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from tui.app.matrix.columns import column_at
from tui.app.matrix.header_lines import head_lines
from tui.app.matrix.matrix import Matrix
from tui.app.matrix.table_view import MatrixHead, MatrixTable
from tui.app.presentation.pieces import Line, text_of, width_of
from tui.app.theme.styles import content_of
from tui.app.widgets.filter_panel import FilteredPanel
from tui.app.widgets.list_view import LineListView

_HIGH = 27
_SAID, _SAID_LOW = 4, 2
_FRAME, _AROUND = 4, 4  # cells beside the rows, and lines above and below them, where the panel fills the window


class MatrixPanel(FilteredPanel):
    """The table of a Matrix with its heads, the filter, and the comparison of two models below."""

    DEFAULT_CSS = """
    MatrixPanel { height: 1fr; }
    MatrixPanel > MatrixHead { margin-bottom: 1; }
    MatrixPanel.-low > MatrixHead { margin-bottom: 0; }
    MatrixPanel > MatrixTable { height: 1fr; min-height: 1; }
    MatrixPanel > #sentence { height: auto; max-height: 4; margin-top: 1; }
    MatrixPanel.-low > #sentence { max-height: 2; margin-top: 0; }
    MatrixPanel > #sentence.-empty { display: none; }
    """

    class CaseChosen(Message):
        """Posted when a case is selected."""

        def __init__(self, case: str) -> None:
            super().__init__()
            self.case = case

    class ColumnChosen(Message):
        """Posted when the head of a column is clicked: the number of the model, −1 for names, the number of models for
        changes."""

        def __init__(self, column: int) -> None:
            super().__init__()
            self.column = column

    def __init__(self, matrix: Matrix, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._matrix = matrix
        self.head = MatrixHead(id="heads")
        self.table = MatrixTable(matrix, id="cells")
        self._width = 1
        self._turned = False
        self._said: tuple[Line, Line] = (), ()
        self._sentence = Static(Content(), markup=False, id="sentence", classes="-empty")

    @property
    def rows(self) -> MatrixTable:
        """The widget that has the focus when the filter is closed."""
        return self.table

    def compose(self) -> ComposeResult:
        """Yield heads, table and comparison; the filter is mounted when it is opened."""
        yield self.head
        yield self.table
        yield self._sentence

    # --- what is shown

    def on_mount(self) -> None:
        """Lay everything out before the first paint: a second layout would cost as much as the first."""
        size = self.app.size
        self._fit(size.width - _FRAME, size.height - _AROUND)
        self.show_title()

    def on_resize(self) -> None:
        """Lay the columns out for the new width, with fewer heads in a low window."""
        self._fit(self.size.width, self.size.height)

    def _fit(self, width: int, height: int) -> None:
        self.set_class(height < _HIGH, "-low")
        self._width = width
        self.table.lay_out(width)
        self.draw_heads()
        if self._said[0]:
            self.show_sentence(*self._said)

    def rows_changed(self, case: str | None) -> None:
        """Show other rows or models, with the cursor on a case."""
        self.table.lay_out(self._width)
        self.table.rows_changed(case)
        self.draw_heads()
        self.show_title()

    @on(MatrixTable.LayoutChanged)
    def draw_heads(self) -> None:
        """Update the heads."""
        matrix, survey = self._matrix, self._matrix.survey
        whole = self.has_class("-low") == self._turned
        self.head.show(head_lines(self.table.columns, matrix.models, survey.figures, survey.since, whole=whole))

    def turn_figures(self) -> None:
        """Toggle between all figures in the heads and the most important ones."""
        self._turned = not self._turned
        self.draw_heads()

    def show_sentence(self, line: Line, shorter: Line = ()) -> None:
        """Show the comparison below the rows, in its shorter form where there is no room."""
        self._said = line, shorter
        rows = _SAID_LOW if self.has_class("-low") else _SAID
        if shorter and width_of(text_of(line)) > rows * self._width * 0.9:
            line = shorter
        self._sentence.update(content_of(line))
        self._sentence.set_class(not line, "-empty")

    def show_title(self) -> None:
        """Update the title and the state of the filter."""
        matrix = self._matrix
        self.border_title = Content(matrix.title)
        self.tell_filter(matrix.wanted.filter, matrix.case_count, chosen=matrix.wanted.differing)

    # --- what is chosen

    @on(LineListView.Chosen)
    def open_case(self, message: LineListView.Chosen) -> None:
        """Post the selected case."""
        message.stop()
        case = self._matrix.case_at(message.place)
        if case is not None:
            self.post_message(self.CaseChosen(case.id))

    @on(MatrixHead.HeadClicked)
    def choose_column(self, message: MatrixHead.HeadClicked) -> None:
        """Post the column whose head was clicked."""
        message.stop()
        column = column_at(self.table.columns, message.x)
        if column is not None:
            self.post_message(self.ColumnChosen(column))
