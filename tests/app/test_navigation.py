"""The work screens open each other, return to one that is open below, and go to a case or a saved answer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.app.snapshots.scenes import SCENES, play
from tests.app.snapshots.stage import Stage, fixed_world, staged
from tui.app.compare.screen import CompareScreen
from tui.app.dialogs import ConfirmScreen
from tui.app.explore.screen import ExploreScreen
from tui.app.find.jump_dialog import JumpDialog
from tui.app.find.search_dialog import SearchDialog
from tui.app.find.search_panel import SearchPanel
from tui.app.matrix.screen import MatrixScreen
from tui.app.review.dialogs import ReviewStartScreen
from tui.app.review.screen import ReviewScreen
from tui.app.runs.screen import RunsScreen

__all__ = ["fixed_world"]


@asynccontextmanager
async def opened(name: str, folder: Path) -> AsyncIterator[Stage]:
    scene = next(scene for scene in SCENES if scene.name == name)
    async with staged(scene.session, folder, (80, 24), scene.theme) as stage:
        await play(scene, stage)
        yield stage


def kinds(stage: Stage) -> list[type]:
    return [type(screen) for screen in stage.app.screen_stack]


async def until_stack(stage: Stage, *expected: type) -> None:
    await stage.until(lambda: kinds(stage) == [ExploreScreen, *expected], f"{expected} are open")


async def go_to(stage: Stage, text: str) -> str:
    """Go to the first case that matches a text with the key `g`, and return its id."""
    await stage.press("g")
    await stage.opens(JumpDialog)
    panel = stage.app.screen.query_one(SearchPanel)
    await stage.press(*text)
    await stage.until(lambda: panel.shown_text == panel.text == text and panel.result.entries, "cases are found")
    found: Any = panel.result.entries[0]
    await stage.press("enter")
    await stage.until(lambda: not isinstance(stage.app.screen, JumpDialog), "the dialog is closed")
    return str(found.case_id)


@pytest.fixture(autouse=True)
def in_the_world(fixed_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(fixed_world)


async def test_matrix_opens_runs_and_runs_the_matrix_of_a_run(fixed_world: Path) -> None:
    async with opened("matrix", fixed_world) as stage:
        await stage.press("H")
        await until_stack(stage, MatrixScreen, RunsScreen)
        await stage.press("H")
        await until_stack(stage, MatrixScreen)
        await stage.press("H")
        await until_stack(stage, MatrixScreen, RunsScreen)
        runs = stage.app.screen
        assert isinstance(runs, RunsScreen)
        await stage.until(lambda: runs.lines.run, "the runs are listed")
        await stage.press("m")
        await stage.until(lambda: stage.app.screen is not runs, "the list is closed")
        await until_stack(stage, MatrixScreen)
        matrix = stage.app.screen
        assert isinstance(matrix, MatrixScreen)
        assert matrix.matrix.run


async def test_compare_opens_matrix_review_and_runs_and_they_go_back(fixed_world: Path) -> None:
    async with opened("compare", fixed_world) as stage:
        await stage.press("m")
        await until_stack(stage, CompareScreen, MatrixScreen)
        await stage.press("v")
        await stage.opens(ReviewStartScreen)
        await stage.press("end", "enter")
        await until_stack(stage, CompareScreen, MatrixScreen, ReviewScreen)
        await stage.press("m")
        await until_stack(stage, CompareScreen, MatrixScreen)
        await stage.press("v")
        await stage.opens(ReviewStartScreen)
        await stage.press("end", "enter")
        await until_stack(stage, CompareScreen, MatrixScreen, ReviewScreen)
        await stage.press("C")
        await until_stack(stage, CompareScreen)
        await stage.press("H")
        await until_stack(stage, CompareScreen, RunsScreen)
        await stage.press("escape")
        await until_stack(stage, CompareScreen)
        await stage.press("C")
        await until_stack(stage)


async def test_unsaved_notes_are_asked_about_before_review_is_closed(fixed_world: Path) -> None:
    async with opened("matrix", fixed_world) as stage:
        await stage.press("v")
        await stage.opens(ReviewStartScreen)
        await stage.press("end", "enter")
        await until_stack(stage, MatrixScreen, ReviewScreen)
        review = stage.app.screen
        assert isinstance(review, ReviewScreen)
        await stage.press("c", *"why", "enter")
        await stage.until(review.describe_unsaved_notes, "the note is kept")
        await stage.press("m")
        await stage.opens(ConfirmScreen)
        await stage.press("n")
        await until_stack(stage, MatrixScreen, ReviewScreen)
        await stage.press("m")
        await stage.opens(ConfirmScreen)
        await stage.press("y")
        await until_stack(stage, MatrixScreen)


async def test_a_blind_review_opens_nothing_that_shows_names(fixed_world: Path) -> None:
    async with opened("review-start", fixed_world) as stage:
        await stage.press("home", "enter")
        await until_stack(stage, ReviewScreen)
        review = stage.app.screen
        assert isinstance(review, ReviewScreen)
        assert review.review_session.hidden
        for key in ("m", "C", "H", "ctrl+f"):
            await stage.press(key)
            await stage.pilot.pause()
            assert kinds(stage) == [ExploreScreen, ReviewScreen]


async def test_the_matrix_goes_to_a_case(fixed_world: Path) -> None:
    async with opened("matrix", fixed_world) as stage:
        matrix = stage.app.screen
        assert isinstance(matrix, MatrixScreen)
        case = await go_to(stage, "hash")
        reached = matrix.matrix.case_at(matrix.panel.table.cursor)
        assert reached is not None
        assert reached.id == case
        await stage.press("C")
        await until_stack(stage, MatrixScreen, CompareScreen)


@pytest.mark.long
async def test_review_goes_to_a_case(fixed_world: Path) -> None:
    async with opened("review", fixed_world) as stage:
        review = stage.app.screen
        assert isinstance(review, ReviewScreen)
        last = review.review_session.cases[-1]
        case = await go_to(stage, last.id)
        item = review.review_session.item
        assert item is not None
        assert item.key.case == case == last.id


@pytest.mark.long
async def test_compare_goes_to_a_case(fixed_world: Path) -> None:
    async with opened("compare", fixed_world) as stage:
        case = await go_to(stage, "hash")
        await stage.press("m")
        await until_stack(stage, CompareScreen, MatrixScreen)
        matrix = stage.app.screen
        assert isinstance(matrix, MatrixScreen)
        await stage.until(lambda: matrix.matrix.case_at(matrix.panel.table.cursor), "the rows are there")
        reached = matrix.matrix.case_at(matrix.panel.table.cursor)
        assert reached is not None
        assert reached.id == case


@pytest.mark.parametrize(
    "name", ["matrix", *(pytest.param(name, marks=pytest.mark.long) for name in ("review", "compare", "runs"))]
)
async def test_the_search_opens_above_each_work_screen(name: str, fixed_world: Path) -> None:
    async with opened(name, fixed_world) as stage:
        below = stage.app.screen
        await stage.press("ctrl+f")
        await stage.opens(SearchDialog)
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen is below, "the search is closed")
