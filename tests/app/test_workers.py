"""Workers that are cancelled at once."""

import asyncio

import pytest
from textual.app import App
from textual.dom import NoScreen
from textual.screen import Screen
from textual.widgets import Static

from tests.support.pilots import until
from tui.app.theme.themed_app import ThemedApp
from tui.app.workers import start_worker
from tui.model.shipped import shipped_folder


async def test_a_worker_that_is_cancelled_before_it_starts_leaves_no_coroutine() -> None:
    begun: list[int] = []

    async def work() -> None:
        begun.append(len(begun))

    app: App[None] = App()
    async with app.run_test():
        first = start_worker(app, work, group="count", exclusive=True)
        second = start_worker(app, work, group="count", exclusive=True)
        await second.wait()
        assert first.is_cancelled
    assert begun == [0]


async def test_a_worker_that_draws_on_a_closed_screen_ends_and_the_app_goes_on() -> None:
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])

    async def draw() -> None:
        _ = Static().screen

    async with app.run_test() as pilot:
        worker = start_worker(app, draw, group="drawing")
        await until(pilot, lambda: worker.is_finished)
        assert isinstance(worker.error, NoScreen)
        await pilot.pause()
        assert app.is_running
        assert not app.has_crashed


@pytest.mark.parametrize("turns", range(8))
async def test_a_screen_that_is_closed_while_its_worker_opens_another_does_not_end_the_app(turns: int) -> None:
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])

    async def open_another() -> None:
        while first in app.screen_stack:  # noqa: ASYNC110 as the turns are counted
            await asyncio.sleep(0)
        for _ in range(turns):  # of the loop: the removal of the screen takes some
            await asyncio.sleep(0)
        await app.push_screen_wait(Screen())

    async with app.run_test() as pilot:
        first, below = Screen[None](), app.screen
        await app.push_screen(first)
        worker = start_worker(first, open_another, group="opening")
        app.call_next(app.pop_screen)
        await until(pilot, lambda: worker.is_finished)
        await pilot.pause()
        assert app.is_running
        assert app.screen_stack == [below]
