"""Workers that are cancelled at once."""

from textual.app import App

from tui.app.workers import start_worker


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
