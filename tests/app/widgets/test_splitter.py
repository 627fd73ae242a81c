"""The border between two parts of a screen: dragged, moved by keys, bounded, and remembered."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.events import Resize
from textual.pilot import Pilot

from tests.support.pilots import screen_rows, until
from tui.app.theme.themed_app import ThemedApp
from tui.app.widgets.splitter import Room, Side, Splitter, focus_next_splitter
from tui.session.pane_sizes import PaneSizes


class TwoPanels(ThemedApp[None]):
    """A panel and what is beside it, with the border between them at a side of the panel."""

    CSS = """
    #room { layers: panels borders; }
    #room.-top { layout: vertical; }
    VerticalScroll { border: round $quiet-border; width: 1fr; height: 1fr; }
    """
    BINDINGS = [("W", "move_borders", "borders")]  # noqa: RUF012

    def __init__(self, side: Side, sizes: PaneSizes) -> None:
        super().__init__()
        self.side, self.panel, self.beside = side, VerticalScroll(id="panel"), VerticalScroll(id="beside")
        self.splitter = Splitter(self.panel, sizes)

    def compose(self) -> ComposeResult:
        first, last = (self.panel, self.beside) if self.side == "right" else (self.beside, self.panel)
        with Horizontal(id="room") as room:
            room.set_class(self.side == "top", "-top")
            yield first
            yield self.splitter
            yield last

    def on_resize(self, event: Resize) -> None:
        total = event.size.height if self.side == "top" else event.size.width
        self.splitter.fit(Room("test.panel", self.side, total, total // 4, 5, 10))

    def action_move_borders(self) -> None:
        focus_next_splitter(self.screen)

    @property
    def sizes_of_both(self) -> tuple[int, int]:
        extents = [panel.outer_size for panel in (self.panel, self.beside)]
        first, last = (extent.height if self.side == "top" else extent.width for extent in extents)
        return first, last


@asynccontextmanager
async def opened(file: Path, side: Side = "right") -> AsyncIterator[tuple[TwoPanels, Pilot[None]]]:
    sizes = PaneSizes(file)
    sizes.load()
    app = TwoPanels(side, sizes)
    async with app.run_test(size=(80, 40)) as pilot:
        await until(pilot, lambda: all(app.sizes_of_both))
        yield app, pilot


async def drag(pilot: Pilot[None], splitter: Splitter, x: int, y: int) -> None:
    """Drag a splitter by its middle to a cell of the screen."""
    middle = splitter.size.width // 2, splitter.size.height // 2
    await pilot.mouse_down(splitter, offset=middle)
    await pilot.hover(offset=(x, y))
    await pilot.mouse_up(offset=(x, y))
    await pilot.pause()


async def test_the_border_looks_like_that_of_its_panel_until_the_mouse_is_on_it(tmp_path: Path) -> None:
    async with opened(tmp_path / "sizes.json") as (app, pilot):
        assert screen_rows(app.screen)[0] == f"╭{'─' * 18}╮╭{'─' * 58}╮"
        assert screen_rows(app.screen)[20][18:22] == " ││ "
        await pilot.hover(app.splitter, offset=(0, 20))
        await until(pilot, lambda: screen_rows(app.screen)[20][18:22] == " ┃│ ")
        await pilot.hover(app.beside, offset=(9, 9))
        await until(pilot, lambda: screen_rows(app.screen)[20][18:22] == " ││ ")


@pytest.mark.parametrize(
    ("side", "before", "to", "after"),
    [
        ("right", (20, 60), (29, 3), (30, 50)),
        ("left", (20, 60), (50, 3), (30, 50)),
        ("top", (10, 30), (3, 25), (15, 25)),
        ("right", (20, 60), (0, 3), (5, 75)),
        ("right", (20, 60), (79, 3), (70, 10)),
        ("left", (20, 60), (79, 3), (5, 75)),
        ("top", (10, 30), (3, 0), (30, 10)),
    ],
)
async def test_a_drag_moves_the_border_within_its_bounds(
    tmp_path: Path, side: Side, before: tuple[int, int], to: tuple[int, int], after: tuple[int, int]
) -> None:
    async with opened(tmp_path / "sizes.json", side) as (app, pilot):
        assert app.sizes_of_both == before
        await drag(pilot, app.splitter, *to)
        await until(pilot, lambda: app.sizes_of_both == after)
        assert app.mouse_captured is None
        await until(pilot, (tmp_path / "sizes.json").exists, "it is saved")
    async with opened(tmp_path / "sizes.json", side) as (app, pilot):
        assert app.sizes_of_both == after
        await pilot.click(app.splitter, times=2)
        await until(pilot, lambda: app.sizes_of_both == before)
        await until(pilot, lambda: json.loads((tmp_path / "sizes.json").read_text()) == {})


@pytest.mark.parametrize(("side", "keys", "grows"), [("right", "right", 2), ("left", "left", 2), ("top", "up", 1)])
async def test_keys_move_the_border_and_give_the_focus_back(tmp_path: Path, side: Side, keys: str, grows: int) -> None:
    async with opened(tmp_path / "sizes.json", side) as (app, pilot):
        app.beside.focus()
        size = app.sizes_of_both[0]
        await pilot.press("W", keys, keys)
        await until(pilot, lambda: app.sizes_of_both[0] == size + 2 * grows)
        await pilot.press("equals_sign")
        await until(pilot, lambda: app.sizes_of_both[0] == size)
        await pilot.press("escape")
        assert app.focused is app.beside
        await pilot.press("W", "W")
        assert app.focused is app.beside
        await pilot.press("tab", "tab", "tab")
        assert not isinstance(app.focused, Splitter)


async def test_a_size_is_a_share_of_the_screen(tmp_path: Path) -> None:
    async with opened(tmp_path / "sizes.json") as (app, pilot):
        await drag(pilot, app.splitter, 39, 3)
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: app.sizes_of_both == (60, 60))
        await pilot.resize_terminal(14, 40)
        await until(pilot, lambda: sum(app.sizes_of_both) == 14)
        await pilot.resize_terminal(80, 40)
        await until(pilot, lambda: app.sizes_of_both == (40, 40))


@pytest.mark.parametrize("share", ["0.0001", "0.9999", "1e-300", "0.5", "NaN", "-3", "[]"])
async def test_whatever_the_file_contains_both_parts_have_their_least_size(tmp_path: Path, share: str) -> None:
    (tmp_path / "sizes.json").write_text(f'{{"test.panel": {share}}}')
    async with opened(tmp_path / "sizes.json") as (app, _):
        panel, beside = app.sizes_of_both
        assert panel >= 5
        assert beside >= 10
        assert panel + beside == 80


async def test_a_file_that_cannot_be_written_is_a_notice(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    async with opened(tmp_path / "data" / "sizes.json") as (app, pilot):
        await pilot.press("W", "right")
        await until(pilot, lambda: app._notifications)
        assert "Cannot save the sizes" in next(iter(app._notifications)).message
        assert app.sizes_of_both == (22, 58)


def test_the_usual_size_is_kept_where_the_least_sizes_do_not_fit() -> None:
    room = Room("a", "right", 30, 12, 20, 34)
    assert [room.bounded(size) for size in (0, 12, 29)] == [12, 12, 12]
    assert Room("a", "right", 8, 12, 20, 34).bounded(20) == 8
