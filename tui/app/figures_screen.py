"""A screen of figures: tabs with sortable tables and texts, and their export as Markdown or CSV."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click, Resize

from tui.app.bindings import bind
from tui.app.dialogs import ChoiceScreen
from tui.app.export_dialog import ExportScreen, Format, Option, file_stem
from tui.app.keymap import shared
from tui.app.presentation.pieces import Line, spread
from tui.app.presentation.table_lines import (
    FigurePage,
    Figures,
    LinesFor,
    column_at,
    column_widths,
    head_line,
    natural_widths,
    record_lines,
    row_line,
    safe_table,
)
from tui.app.screens import AppScreen
from tui.app.widgets.footer import KeyFooter
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.tab_bar import Tab, TabBar
from tui.app.widgets.text_views import FittedTextPanel, PieceLine
from tui.model.errors import AssayError
from tui.model.figure_table import FigureTable
from tui.model.sanitize import sanitize_line
from tui.session.figure_files import FigureFormat, write_figures

_LOW = 16


class FiguresExport:
    """The export of figures: all tables as Markdown, or the displayed one as CSV."""

    title = "Export figures"
    warning = ""
    options: Sequence[Option] = ()
    chosen: frozenset[str] = frozenset()

    def __init__(self, figures: Figures, tables: Sequence[FigureTable], shown: FigureTable) -> None:
        self._figures, self._tables, self._shown = figures, tables, shown
        self.stem = "-".join(filter(None, (file_stem(figures.about), file_stem(figures.title))))
        self.formats: Sequence[Format] = (
            Format("markdown", ".md", "all tables, for reading and pull requests"),
            Format("csv", ".csv", f"the table {shown.title}, for spreadsheets"),
        )

    def write(self, file: Path, format: str, chosen: frozenset[str], *, replaces: bool) -> None:
        """Write the tables in their displayed order. Blocks. Raises AssayError and FileExistsError."""
        del chosen
        tables = [self._shown] if format == "csv" else self._tables
        title = f"{self._figures.title}: {self._figures.about}"
        write_figures(title, tables, cast("FigureFormat", format), file, replaces=replaces)

    def written(self) -> None:
        """Do nothing: the names are on the screen already."""

    def command(self, file: str, format: str, chosen: frozenset[str]) -> str:
        """Return no command line: the order of the rows is that of the screen."""
        del file, format, chosen
        return ""


class _Title(PieceLine):
    figures: Figures | None = None

    def line_for(self, width: int) -> Line:
        title = (self.figures.title, self.figures.about) if self.figures else ("Figures", "calculating …")
        return spread(
            [(" Assay", "accent"), (f"  {title[0]}  ", "strong"), (sanitize_line(title[1], 80), "dim")], [], width
        )


class ColumnHeads(PieceLine):
    """The names of the columns."""

    make: Callable[[int], Line] | None = None

    def line_for(self, width: int) -> Line:
        return self.make(width) if self.make is not None else ()


class FigureRows(LineListView):
    """The rows of a table in the chosen order."""

    page: FigurePage | None = None

    def __init__(self, on_chosen: Callable[[int], object]) -> None:
        super().__init__(on_chosen=on_chosen, id="rows")
        self.order: list[int] = []
        self._table = FigureTable("", (), ())
        self._natural: Sequence[int] = ()

    @property
    def line_count(self) -> int:
        """Return the number of rows."""
        return len(self.order)

    @property
    def row(self) -> int:
        """Return the index in the table of the row under the cursor, -1 without one."""
        return self.order[self.cursor] if 0 <= self.cursor < len(self.order) else -1

    def show(self, page: FigurePage, table: FigureTable, natural: Sequence[int], order: list[int], row: int) -> None:
        """Show the rows of a page in an order, with the cursor on one of them.

        `table` has the cells as they are displayed, `natural` the widths of its columns.
        """
        self.page, self._table, self._natural, self.order = page, table, natural, order
        self.lines_changed(order.index(row) if row in order else 0)
        self.go_to(self.cursor)

    def widths(self, width: int) -> list[int]:
        """Return the widths of the columns that fit."""
        return column_widths(self._natural, self._table.numbers, width)

    def line_at(self, place: int, width: int) -> Line:
        """Return the line of a row."""
        if self.page is not None and self.page.line is not None:
            return self.page.line(self.order[place], width)
        return row_line(self._table, self.order[place], self.widths(width))

    def details(self) -> LinesFor:
        """Return what is shown below the table for the row under the cursor."""
        page, table, row = self.page, self._table, self.row
        if page is not None and page.details is not None and row >= 0:
            return page.details(row)
        return lambda width: record_lines(table, row, width)

    def heads(self, sorted_by: int | None, *, reverse: bool) -> Callable[[int], Line]:
        """Return what draws the names of the columns for a width."""
        table = self._table
        return lambda width: head_line(
            table, self.widths(min(width, self.line_width or width)), sorted_by, reverse=reverse
        )


class FiguresScreen(AppScreen[int | None]):
    """Display figures in tabs. The result is the index of the row that was chosen, or None.

    `load` is called in a thread and returns the figures; its AssayError is displayed.
    """

    DEFAULT_CSS = """
    FiguresScreen { background: $background; color: $foreground; }
    FiguresScreen TabBar { margin-top: 1; }
    FiguresScreen #table {
        height: auto; padding: 0 1; border: round $quiet-border; border-subtitle-color: $dim;
    }
    FiguresScreen #table:focus-within { border: round $focused-border; }
    FiguresScreen #rows { height: auto; max-height: 50vh; }
    FiguresScreen #details { height: 1fr; border: round $quiet-border; padding: 0 1; }
    FiguresScreen #text { height: 1fr; border: round $quiet-border; padding: 0 1; }
    FiguresScreen #details:focus, FiguresScreen #text:focus { border: round $focused-border; }
    FiguresScreen.-text #table, FiguresScreen.-text #details, FiguresScreen.-table #text { display: none; }
    FiguresScreen.-low #rows { max-height: 25vh; }
    FiguresScreen.-own-lines ColumnHeads { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("tabs.before", "tab(-1)", label="previous tab"),
        shared("tabs.next", "tab(1)", label="next tab"),
        shared("look.sort", "sort", "Sort the rows by a column", label="sort"),
        bind("o", "reverse", "figures.reverse", "Reverse the order of the rows", "reverse"),
        shared("look.export", "export", "Export the figures as Markdown or CSV"),
        shared("look.figures", "leave", "Close the figures", label=""),
        bind("escape", "leave", "figures.leave", "Close the figures", "back"),
    ]

    def __init__(self, load: Callable[[], Figures]) -> None:
        super().__init__()
        self._load, self._figures = load, Figures("", "", ())
        self._place = 0
        self._displayed: Sequence[tuple[FigureTable, Sequence[int]]] = ()
        self._sorts: dict[int, tuple[int, bool]] = {}
        self._orders: dict[int, list[int]] = {}
        self._title, self._tabs, self._heads = _Title(), TabBar(), ColumnHeads()
        self._table, self._rows = Vertical(id="table"), FigureRows(self._choose)
        self._details, self._text = FittedTextPanel(id="details"), FittedTextPanel(id="text")

    def compose(self) -> ComposeResult:
        """Compose the title, the tabs, the table, the text in its place, and the details of a row."""
        yield self._title
        yield self._tabs
        with self._table:
            yield self._heads
            yield self._rows
        yield self._text
        yield self._details
        yield KeyFooter()

    def on_mount(self) -> None:
        """Compute the figures."""
        self.add_class("-text")
        self._open()

    def on_resize(self, event: Resize) -> None:
        """Leave more room for the table on a low screen."""
        self.set_class(event.size.height < _LOW, "-low")

    def reload(self) -> None:
        """Compute the figures again; the tab, the order of the rows and the row under the cursor stay."""
        self._open(again=True)

    @work(group="load", exclusive=True)
    async def _open(self, *, again: bool = False) -> None:
        try:
            self._figures, self._displayed, self._orders = await asyncio.to_thread(self._load_and_measure)
        except AssayError as error:
            message = sanitize_line(str(error), 600)
            self._text.show_fitted(lambda _: [((message, "error"),)])
            return
        self._title.figures = self._figures
        self._title.draw()
        self._show_page(self._rows.row if again else self._figures.selected)

    def _load_and_measure(self) -> tuple[Figures, list[tuple[FigureTable, Sequence[int]]], dict[int, list[int]]]:
        figures = self._load()
        tables = [safe_table(page.table) for page in figures.pages]
        sorts = [*self._sorts.items()]
        orders = {place: figures.pages[place].table.order(column, reverse=up) for place, (column, up) in sorts}
        return figures, [(table, natural_widths(table)) for table in tables], orders

    @property
    def page(self) -> FigurePage | None:
        """The displayed page, None until the figures are computed."""
        return self._figures.pages[self._place] if self._figures.pages else None

    def _show_page(self, row: int = 0) -> None:
        page = self.page
        if page is None:
            return
        tabs = [Tab(str(place), each.name or each.table.title) for place, each in enumerate(self._figures.pages)]
        self._tabs.show(tabs, str(self._place))
        self.set_class(page.text is not None, "-text")
        self.set_class(page.text is None, "-table")
        self.set_class(page.line is not None, "-own-lines")
        self.refresh_bindings()
        if page.text is not None:
            self._text.show_fitted(page.text)
            self._text.scroll_home(animate=False)
            self.call_after_refresh(self._text.fit)
            self.set_focus(self._text)
            return
        self._rows.show(page, *self._displayed[self._place], self._order_of(self._place), row)
        sorted_by, reverse = self._sorts.get(self._place, (None, False))
        order = (
            f"sorted by {page.table.head[sorted_by]}{', reversed' if reverse else ''}" if sorted_by is not None else ""
        )
        self._table.border_subtitle = Content(sanitize_line(order, 60))
        self._heads.make = self._rows.heads(sorted_by, reverse=reverse)
        self.call_after_refresh(self._heads.draw)
        self._show_details()
        self.set_focus(self._rows)

    def _order_of(self, place: int) -> list[int]:
        return self._orders.get(place) or [*range(len(self._figures.pages[place].table.rows))]

    def _show_details(self) -> None:
        self._details.show_fitted(self._rows.details())
        self._details.scroll_home(animate=False)
        self.call_after_refresh(self._details.fit)

    @on(LineListView.Reached)
    def show_row(self) -> None:
        """Show the details of the row under the cursor."""
        self._show_details()

    def _choose(self, place: int) -> None:
        if self.page is not None and self.page.selects:
            self.dismiss(self._rows.order[place])
        else:
            self._show_details()

    @on(TabBar.TabChosen)
    def show_tab(self, message: TabBar.TabChosen) -> None:
        """Show the tab that was chosen."""
        self._place = int(message.tab)
        self._show_page()

    def action_tab(self, by: int) -> None:
        """Show the next or previous tab, around the ends."""
        if self._figures.pages:
            self._place = (self._place + by) % len(self._figures.pages)
            self._show_page()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key is active: a text has no rows to sort."""
        del parameters
        if action in ("sort", "reverse"):
            return self.page is not None and self.page.text is None
        return action != "export" or self.page is not None

    def action_sort(self) -> None:
        """Ask for the column by which the rows are sorted; the same column again reverses their order."""
        page = self.page
        if page is None:
            return
        lines: list[Line] = [((f" {sanitize_line(name, 60)}", "plain"),) for name in page.table.head]
        current, reverse = self._sorts.get(self._place, (-1, False))

        def sort(column: int | None) -> None:
            if column is not None:
                self._sort(column, reverse=column == current and not reverse)

        self.app.push_screen(ChoiceScreen("Sort rows by", lines, max(0, current), verb="sort"), sort)

    def action_reverse(self) -> None:
        """Reverse the order of the rows."""
        column, reverse = self._sorts.get(self._place, (0, False))
        self._sort(column, reverse=not reverse)

    def _sort(self, column: int, *, reverse: bool) -> None:
        self._sorts[self._place] = column, reverse
        self._show_sorted(self._place)

    @work(group="sort", exclusive=True)
    async def _show_sorted(self, place: int) -> None:
        column, reverse = self._sorts[place]
        table = self._figures.pages[place].table
        self._orders[place] = await asyncio.to_thread(table.order, column, reverse=reverse)
        if place == self._place:
            self._show_page(self._rows.row)

    def on_click(self, event: Click) -> None:
        """Sort by the column whose name was clicked."""
        column = column_at(self._rows.widths(self._rows.line_width), event.x) if event.widget is self._heads else None
        if column is not None:
            before, reverse = self._sorts.get(self._place, (-1, False))
            self._sort(column, reverse=column == before and not reverse)

    def action_export(self) -> None:
        """Open the dialog that exports the figures in their displayed order."""
        pages = self._figures.pages
        tables = [each.table.ordered(self._order_of(place)) for place, each in enumerate(pages)]
        different = {each.title: each for each in (*tables, *self._figures.more)}
        export = FiguresExport(self._figures, [*different.values()], tables[self._place])
        self.app.push_screen(ExportScreen(export))

    def action_leave(self) -> None:
        """Close the screen without a choice."""
        self.dismiss(None)
