"""The panel of the matrix: column heads, rows, the filter and the comparison of two models."""

from collections.abc import Callable, Iterable, Mapping

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from tui.app.matrix.columns import column_at
from tui.app.matrix.header_lines import HeadNotes, head_lines
from tui.app.matrix.matrix import Matrix
from tui.app.matrix.table_view import MatrixHead, MatrixTable
from tui.app.presentation.bands import band_legend
from tui.app.presentation.pieces import Line, text_of, width_of
from tui.app.theme.styles import content_of
from tui.app.widgets.filter_panel import FilteredPanel
from tui.model.filter import DataColumns, case_values
from tui.model.results import TrialKey
from tui.model.risk import Band
from tui.session.saved_filters import SavedFilters

_HIGH, _LEAST_WITH_CELL = 27, 16
_SENTENCE_ROWS, _SENTENCE_ROWS_LOW = 4, 2
_BESIDE_FROM, _CELL_COLUMNS = 196, 90  # columns of the panel with the cell beside the rows, and of the cell
_NAME_COLUMNS, _MODEL_COLUMNS = 30, 20  # what the rows need beside the cell
_FRAME, _AROUND = 4, 4  # cells beside the rows, and lines above and below them, in the Matrix screen


class MatrixPanel(FilteredPanel):
    """Display a matrix. The screen handles the messages of the panel and changes the matrix.

    `on_case_chosen` is called with the id of a case that is to be opened.
    """

    DEFAULT_CSS = """
    MatrixPanel { height: 1fr; }
    MatrixPanel > MatrixHead { margin-bottom: 1; }
    MatrixPanel.-low > MatrixHead { margin-bottom: 0; }
    MatrixPanel > MatrixTable { height: 1fr; min-height: 1; }
    MatrixPanel > #cell { height: 8; }
    MatrixPanel.-low > #cell { height: 4; }
    MatrixPanel.-lowest > #cell { display: none; }
    MatrixPanel.-beside > #cell {
        dock: right; width: 90; height: 100%; padding-left: 1; border-top: none; border-left: solid $quiet-border;
    }
    MatrixPanel > #sentence { height: auto; max-height: 4; margin-top: 1; }
    MatrixPanel.-low > #sentence { max-height: 2; margin-top: 0; }
    MatrixPanel > #sentence.-empty { display: none; }
    MatrixPanel.-zoomed > MatrixHead, MatrixPanel.-zoomed > MatrixTable, MatrixPanel.-zoomed > #cell,
    MatrixPanel.-zoomed > #sentence { display: none; }
    """

    class ColumnChosen(Message):
        """Posted when a column head is clicked.

        `column` is the index of a model, −1 for the names, and the number of models for the changes.
        """

        def __init__(self, column: int) -> None:
            super().__init__()
            self.column = column

    def __init__(
        self,
        matrix: Matrix,
        filters: SavedFilters,
        *,
        on_case_chosen: Callable[[str], object] = lambda _: None,
        id: str | None = None,
    ) -> None:
        super().__init__(filters, id=id)
        self._matrix, self._on_case_chosen = matrix, on_case_chosen
        self._columns = DataColumns()
        self.head = MatrixHead(id="heads")
        self.table = MatrixTable(matrix, on_chosen=self._choose_case, id="cells")
        self._width = self._panel_width = 1
        self._toggled = False
        self._sentence_lines: tuple[Line, Line] = (), ()
        self._sentence = Static(Content(), markup=False, id="sentence", classes="-empty")

    @property
    def rows(self) -> MatrixTable:
        """Return the table of the cells."""
        return self.table

    def filter_values(self, key: str) -> Iterable[str]:
        """Return the values of a key of the filter that occur in the suite."""
        return (
            self._matrix.models if key == "model" else case_values(key, self._matrix.suite.cases, self.filter_columns())
        )

    def filter_columns(self) -> Iterable[str]:
        """Return the columns of the data sets of the suite."""
        return self._columns.of([self._matrix.suite.cases])

    def compose(self) -> ComposeResult:
        """Compose the heads, the table and the sentence; the filter is mounted when it is opened."""
        yield self.head
        yield self.table
        yield self._sentence

    def on_mount(self) -> None:
        """Lay out before the first paint: a second layout would cost as much as the first."""
        size = self.app.size
        self._fit(size.width - _FRAME, size.height - _AROUND)
        self.show_title()

    def on_resize(self) -> None:
        """Fit the columns to the width, and the heads to the height."""
        self._fit(self.size.width, self.size.height)

    def _fit(self, width: int, height: int) -> None:
        self.set_class(height < _HIGH, "-low")
        self.set_class(height < _LEAST_WITH_CELL, "-lowest")
        self._panel_width = width
        self._lay_out()
        self.draw_heads()
        if self._matrix.has_bands:
            self.show_title()
        if self._sentence_lines[0]:
            self._show_sentence(*self._sentence_lines)

    def _lay_out(self) -> None:
        """Fit the columns; the cell is beside the rows where the panel is wide enough for all models."""
        rows = self._panel_width - _CELL_COLUMNS
        needed = _NAME_COLUMNS + len(self._matrix.models) * _MODEL_COLUMNS
        beside = self._panel_width >= _BESIDE_FROM and rows >= needed and not self.has_class("-lowest")
        self.set_class(beside, "-beside")
        self._width = rows if beside else self._panel_width
        self.table.lay_out(self._width)

    def rows_changed(self, case: str | None) -> None:
        """Draw other rows or models, with the cursor on a case."""
        self._lay_out()
        self.table.rows_changed(case)
        self.draw_heads()
        self.show_title()

    @on(MatrixTable.LayoutChanged)
    def draw_heads(self) -> None:
        """Redraw the column heads."""
        matrix, statistics = self._matrix, self._matrix.statistics
        whole = self.has_class("-low") == self._toggled
        notes = HeadNotes(matrix.column, matrix.faults)
        since, columns = statistics.since, self.table.columns
        self.head.show(head_lines(columns, matrix.models, statistics.figures, since, whole=whole, notes=notes))

    def toggle_figures(self) -> None:
        """Display all figures in the column heads, or fewer."""
        self._toggled = not self._toggled
        self.draw_heads()

    def _show_sentence(self, line: Line, shorter: Line = ()) -> None:
        """Display a sentence below the rows; the shorter one if the other does not fit."""
        self._sentence_lines = line, shorter
        rows = _SENTENCE_ROWS_LOW if self.has_class("-low") else _SENTENCE_ROWS
        if shorter and width_of(text_of(line)) > rows * self._width * 0.9:
            line = shorter
        self._sentence.update(content_of(line))
        self._sentence.set_class(not line, "-empty")

    def show_comparison(self) -> None:
        """Display the comparison of the chosen pair of models below the rows."""
        matrix = self._matrix
        pair = matrix.statistics.pair(matrix.pair)
        if pair is None:
            self._show_sentence(())
            return
        from tui.app.matrix.comparison_lines import brief, sentence

        names, progress = matrix.names, matrix.progress
        self._show_sentence(sentence(pair, names, progress), brief(pair, names, progress))

    def show_bands(self, bands: Mapping[TrialKey, Band]) -> None:
        """Display other risk bands, with a legend in the frame."""
        self.table.show_bands(bands)
        self.show_title()

    def show_title(self) -> None:
        """Display the numbers of cases and models, and the state of the filter, in the frame."""
        matrix = self._matrix
        legend = band_legend(self._panel_width - width_of(matrix.title) - _AROUND) if matrix.has_bands else ()
        self.border_title = content_of(((matrix.title, "plain"), *legend)) if legend else Content(matrix.title)
        self.show_filter(matrix.row_options.filter, matrix.case_count, chosen=matrix.row_options.differing)

    def _choose_case(self, place: int) -> None:
        case = self._matrix.case_at(place)
        if case is not None:
            self._on_case_chosen(case.id)

    @on(MatrixHead.HeadClicked)
    def choose_column(self, message: MatrixHead.HeadClicked) -> None:
        """Post the column whose head was clicked."""
        message.stop()
        column = column_at(self.table.columns, message.x)
        if column is not None:
            self.post_message(self.ColumnChosen(column))
