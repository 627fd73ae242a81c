"""Lists drawn line by line: the position mark beside them, and what is drawn anew."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.events import Click
from textual.geometry import Region
from textual.strip import Strip

from tests.app.matrix.matrix_app import MatrixApp, running_app
from tests.app.matrix.samples import large, result
from tests.support.pilots import until
from tui.app.matrix.table_view import MatrixTable
from tui.app.widgets.scroll_view import THUMB
from tui.model.events import TrialFinished
from tui.model.results import TrialKey


def drawn(table: MatrixTable) -> list[Strip]:
    """As Textual asks for it, whatever it paints."""
    return table.render_lines(Region(0, 0, *table.size))


def marked(table: MatrixTable) -> list[int]:
    """Return the rows of the view that have the mark."""
    return [y for y, strip in enumerate(drawn(table)) if strip.text.endswith(THUMB)]


@asynccontextmanager
async def long_table(cases: int = 300) -> AsyncIterator[tuple[MatrixApp, MatrixTable]]:
    """A matrix with more rows than fit."""
    async with running_app(large(cases), (120, 40)) as app:
        table = app.place.panel.table
        await until(app.hand, lambda: app.place.query_one("#sentence").size.height and table.size.height, "all is said")
        yield app, table


async def test_the_mark_says_where_one_is_and_can_be_dragged() -> None:
    async with long_table() as (app, table):
        assert marked(table)[0] == 0
        cursor = table.cursor
        x, bottom = table.size.width - 1, table.size.height - 1
        await app.hand.mouse_down("#cells", offset=(x, 0))
        await app.hand.hover("#cells", offset=(x, bottom))
        await app.hand.mouse_up("#cells", offset=(x, bottom))
        assert table.scroll_offset.y == table.max_scroll_y > 0
        await until(app.hand, lambda: marked(table)[-1] == table.size.height - 1)
        await app.hand.click("#cells", offset=(x, bottom // 2))
        assert 0 < table.scroll_offset.y < table.max_scroll_y
        await app.hand.mouse_down("#cells", offset=(x, 0))
        await app.hand.mouse_up("#cells", offset=(x - 20, 3))
        table.on_click(Click(table, x - 20, 3, 0, 0, 1, False, False, False))  # as Textual does where it is let go
        assert table.cursor == cursor, "who drags does not choose"
        assert app.chosen == []
        await app.hand.press("home")
        await until(app.hand, lambda: marked(table)[0] == 0)


async def test_where_everything_fits_there_is_no_mark() -> None:
    async with long_table(8) as (_, table):
        assert marked(table) == []
        assert table.allow_vertical_scroll is False


async def test_the_cursor_stays_in_sight_and_the_view_within_the_rows() -> None:
    async with long_table() as (app, table):
        await app.hand.press("end")
        assert 0 <= table.cursor - table.scroll_offset.y < table.size.height
        await app.hand.resize_terminal(120, 24)
        await until(app.hand, lambda: table.cursor == table.scroll_offset.y + table.size.height - 1, "still in sight")
        assert table.scroll_offset.y == table.max_scroll_y
        app.place.matrix.row_options = app.place.matrix.row_options._replace(grouping="none")
        app.place.matrix.arrange()
        app.place.updates.rows_changed()
        assert table.scroll_offset.y <= table.max_scroll_y
        assert table.virtual_size.height == 300
        assert "Case number 299" in "\n".join(strip.text for strip in drawn(table))


async def test_only_what_has_changed_is_drawn_anew() -> None:
    async with long_table() as (app, table):
        before = drawn(table)
        assert all(one is other for one, other in zip(drawn(table), before, strict=True))
        key = TrialKey("case-2", "provider/model-0")
        app.matrix.state.take(TrialFinished(result(key, "t")))
        table.refresh_rows(app.matrix.update_trial(key))
        after = drawn(table)
        assert [y for y, (one, other) in enumerate(zip(after, before, strict=True)) if one is not other] == [3]
        assert "timed out" in after[3].text
        await until(app.hand, lambda: "assay-light" in app.available_themes, "the theme files are read")
        app.theme = "assay-light"
        await until(app.hand, lambda: all(one is not other for one, other in zip(drawn(table), after, strict=True)))


async def test_the_cursor_is_quieter_without_the_focus() -> None:
    async with long_table() as (app, table):
        focused = drawn(table)[table.cursor - table.scroll_offset.y]
        app.place.set_focus(None)
        await until(app.hand, lambda: not table.has_focus)
        quiet = drawn(table)[table.cursor - table.scroll_offset.y]
        assert focused.text == quiet.text
        assert [segment.style for segment in focused] != [segment.style for segment in quiet]
