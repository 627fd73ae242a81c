"""Workers that are cancelled at once."""

from textual.app import App
from textual.dom import NoScreen
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
