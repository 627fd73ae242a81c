"""What a person changes about the rows of the matrix, and about its baseline."""

from pathlib import Path

from textual.app import App, ComposeResult
from textual.screen import Screen

from tests.app.matrix.samples import MODELS, matrix_of
from tui.app.matrix.controls import RowControls
from tui.app.matrix.matrix import Matrix, Order
from tui.app.matrix.panel import MatrixPanel
from tui.app.matrix.table_view import MatrixHeader
from tui.app.matrix.updates import MatrixUpdates
from tui.app.theme.themed_app import ThemedApp
from tui.model.filter import Filter, parse_filter
from tui.session.saved_filters import SavedFilters


class RowsScreen(Screen[str | None]):
    """A header and a panel, and the row controls for them."""

    def __init__(self, matrix: Matrix) -> None:
        super().__init__()
        self.header, self.panel = MatrixHeader(matrix), MatrixPanel(matrix, SavedFilters(Path("none/filters.json")))
        self.controls = RowControls(self, matrix, self.panel, MatrixUpdates(self, matrix, self.header, self.panel))

    def compose(self) -> ComposeResult:
        yield self.header
        yield self.panel


async def test_row_controls_change_the_options_and_the_rows() -> None:
    matrix = matrix_of()
    app: App[None] = ThemedApp()
    async with app.run_test(size=(120, 40)):
        screen = RowsScreen(matrix)
        await app.push_screen(screen)
        controls, table = screen.controls, screen.panel.table
        orders = []
        for column in (1, 1, 1, -1, len(MODELS)):
            controls.sort_by_column(column)
            orders.append(matrix.row_options.order)
        by_model = Order("model", MODELS[1])
        assert orders == [by_model, by_model._replace(reverse=True), Order(), Order("name"), Order("change")]
        controls.reverse()
        assert matrix.row_options.order == Order("change", reverse=True)
        groupings = []
        for _ in range(3):
            controls.change_grouping()
            groupings.append(matrix.row_options.grouping)
        assert groupings == ["tag", "none", "category"]
        controls.toggle_differing()
        assert matrix.case_count == 8
        controls.toggle_differing()
        controls.filter(parse_filter("cat:sec"))
        assert matrix.case_count == 4
        assert table.line_count == len(matrix.rows) == 5
        controls.filter(Filter())
        assert matrix.case_count == 10


async def test_the_cursor_goes_from_one_case_in_which_models_differ_to_the_next() -> None:
    matrix = matrix_of()
    app: App[None] = ThemedApp()
    async with app.run_test(size=(120, 40)):
        screen = RowsScreen(matrix)
        await app.push_screen(screen)
        screen.panel.rows_changed("case-5")
        table = screen.panel.table
        screen.controls.go_to_differing(1)
        assert table.case_id == "case-8"
        screen.controls.go_to_differing(-1)
        assert table.case_id == "case-5"
