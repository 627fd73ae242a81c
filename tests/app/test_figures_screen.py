"""The screen of figures: tabs, the order of rows, the choice of a row, and what is exported."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen

from tests.support.pilots import screen_rows, until
from tui.app.export_dialog import ExportScreen
from tui.app.figures_screen import FigureRows, FiguresScreen
from tui.app.presentation.table_lines import FigurePage, Figures
from tui.app.theme.themed_app import ThemedApp
from tui.app.widgets.prompt_input import PromptInput
from tui.model.errors import StoreError
from tui.model.figure_table import FigureTable
from tui.model.sanitize import sanitize_line

RANKING = FigureTable(
    "Ranking", ("Model", "Won"), tuple((f"model {place}", str(place)) for place in (3, 1, 2)), 1, ("A note.",)
)
PAIRS = FigureTable("Pairs", ("A", "Finding"), (("=HYPERLINK(1)", "a | b"), ("x\x1b[31m", "tie")))
MORE = FigureTable("Reviewers", ("Name",), (("Ada",),))


def figures() -> Figures:
    pages = (
        FigurePage(RANKING, selects=True),
        FigurePage(PAIRS, "Both", text=lambda width: [((f"A text for {width} cells", "plain"),)]),
        FigurePage(PAIRS, details=lambda row: lambda _: [((f"details of row {row}", "plain"),)]),
    )
    return Figures("Preferences", "Sample suite", pages, (MORE,), selected=2)


class Shown(ThemedApp[None]):
    """An app with the screen of figures on top."""

    def __init__(self, screen: FiguresScreen) -> None:
        super().__init__(theme_folders=[])
        self.figures, self.floor = screen, Screen[None]()
        self.results: list[object] = []

    def on_mount(self) -> None:
        self.push_screen(self.floor)
        self.push_screen(self.figures, self.results.append)

    @property
    def text(self) -> str:
        return "\n".join(screen_rows(self.screen))

    @property
    def rows(self) -> list[str]:
        rows = self.figures.query_one(FigureRows)
        return [rows.render_line(y).text.split("  ")[0].strip() for y in range(min(rows.line_count, rows.size.height))]


async def shown(app: Shown, pilot: Any, text: str) -> None:
    await until(pilot, lambda: text in app.text, text)


async def test_rows_are_sorted_and_the_chosen_one_is_the_result() -> None:
    app = Shown(FiguresScreen(figures))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, "A note.")
        assert app.rows == ["model 3", "model 1", "model 2"]
        assert app.figures.query_one(FigureRows).row == 2, "the row that the screen began with"
        await pilot.press("s", "end", "enter")
        await until(pilot, lambda: app.rows == ["model 1", "model 2", "model 3"])
        await shown(app, pilot, "sorted by Won")
        assert app.figures.query_one(FigureRows).row == 2, "the cursor stays on its row"
        await pilot.press("o")
        await until(pilot, lambda: app.rows == ["model 3", "model 2", "model 1"])
        await pilot.press("home", "enter")
        await until(pilot, lambda: app.results == [0], "the index in the table")


async def test_a_click_on_a_column_sorts_by_it() -> None:
    app = Shown(FiguresScreen(figures))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, "A note.")
        await pilot.click("ColumnHeads", offset=(2, 0))
        await until(pilot, lambda: app.rows == ["model 1", "model 2", "model 3"])
        await pilot.click("ColumnHeads", offset=(2, 0))
        await until(pilot, lambda: app.rows == ["model 3", "model 2", "model 1"])


@pytest.mark.parametrize("size", [(80, 24), (160, 45), (40, 16)])
async def test_tabs_are_walked_around_the_ends(size: tuple[int, int]) -> None:
    app = Shown(FiguresScreen(figures))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.figures.page is not None)
        await pilot.press("]")
        await shown(app, pilot, "A text for")
        assert not any(key in app.screen.active_bindings and app.screen.active_bindings[key].enabled for key in "so")
        await pilot.press("]")
        await shown(app, pilot, "details of row 0")
        await pilot.press("down")
        await shown(app, pilot, "details of row 1")
        await pilot.press("]")
        await until(pilot, lambda: app.figures.page is not None and app.figures.page.table is RANKING)
        await pilot.press("[", "enter")
        await shown(app, pilot, "details of row 0")
        await pilot.press("I")
        await until(pilot, lambda: app.results == [None])


async def test_an_error_is_displayed_and_nothing_is_exported() -> None:
    def load() -> Figures:
        raise StoreError("The history cannot be read")

    app = Shown(FiguresScreen(load))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, "The history cannot be read")
        await pilot.press("O", "s", "o", "]", "escape")
        await until(pilot, lambda: app.results == [None])


async def test_files_have_the_displayed_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = Shown(FiguresScreen(figures))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, "A note.")
        await pilot.press("o")
        await until(pilot, lambda: app.rows[0] == "model 3" and app.rows[1] == "model 2")
        for keys in (("enter",), ("down", "enter")):
            await pilot.press("O")
            await until(pilot, lambda: isinstance(app.screen, ExportScreen))
            await pilot.press(*keys)
            await until(pilot, lambda: isinstance(app.screen.focused, PromptInput))
            await pilot.press("enter")
            await shown(app, pilot, "Saved")
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, FiguresScreen))
    page = (tmp_path / "sample-suite-preferences.md").read_text()
    assert page.startswith(
        "# Preferences: Sample suite\n\n## Ranking\n\n| Model | Won |\n| --- | ---: |\n| model 3 | 3 |"
    )
    assert page.count("## Pairs") == 1
    assert "## Reviewers" in page
    assert r"a \| b" in page
    assert "\x1b" not in page
    rows = [*csv.reader(io.StringIO((tmp_path / "sample-suite-preferences.csv").read_text()))]
    assert rows == [["Model", "Won"], ["model 3", "3"], ["model 2", "2"], ["model 1", "1"]]


async def test_a_table_of_formulas_is_harmless_in_a_spreadsheet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = Shown(FiguresScreen(figures))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, "A note.")
        await pilot.press("]", "]")
        await shown(app, pilot, "details of row 0")
        await pilot.press("O")
        await until(pilot, lambda: isinstance(app.screen, ExportScreen))
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen.focused, PromptInput))
        await pilot.press("enter")
        await shown(app, pilot, "Saved")
    rows = [*csv.reader(io.StringIO((tmp_path / "sample-suite-preferences.csv").read_text()))]
    assert rows[1][0] == "'=HYPERLINK(1)"
    assert rows[2][0] == sanitize_line("x\x1b[31m")


async def test_figures_that_are_computed_again_keep_the_order_and_the_row() -> None:
    table = RANKING
    app = Shown(
        FiguresScreen(lambda: Figures("Preferences", "Sample suite", (FigurePage(table, selects=True),), selected=1))
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, "A note.")
        await pilot.press("s", "end", "enter")
        await until(pilot, lambda: app.rows == ["model 1", "model 2", "model 3"])
        await pilot.press("end")
        assert app.figures.query_one(FigureRows).row == 0
        table = FigureTable(
            RANKING.title, RANKING.head, tuple((name, str(9 - int(won))) for name, won in RANKING.rows), 1
        )
        app.figures.reload()
        await until(pilot, lambda: app.rows == ["model 3", "model 2", "model 1"], "sorted by the new numbers")
        assert app.figures.query_one(FigureRows).row == 0
