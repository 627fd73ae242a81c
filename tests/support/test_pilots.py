"""The message of a wait that fails."""

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Static

from tests.support.pilots import until


class Greeting(App[None]):
    """An app with a text."""

    def compose(self) -> ComposeResult:
        yield Static("Good morning")


async def test_a_wait_that_fails_shows_the_condition_the_notifications_and_the_screen() -> None:
    app = Greeting()
    async with app.run_test(size=(40, 10)) as pilot:
        app.notify("The store is busy.")
        await until(pilot, lambda: app._notifications)
        with pytest.raises(AssertionError) as raised:
            await until(pilot, lambda: app.size == (1, 1), "the app is small", within=0)
    message = str(raised.value)
    assert "the app is small does not hold after 0 s: " in message
    assert "lambda: app.size == (1, 1)" in message
    assert "notification: The store is busy." in message
    assert "Good morning" in message


async def test_a_condition_without_source_and_a_long_screen_are_reported_too() -> None:
    app = Greeting()
    async with app.run_test(size=(200, 90)) as pilot:
        app.query_one(Static).update("word " * 3000)
        await pilot.pause()
        with pytest.raises(AssertionError) as raised:
            await until(pilot, [].__len__, within=0)
    message = str(raised.value)
    assert message.startswith("the condition does not hold after 0 s\nscreens: Screen")
    assert len(message) < 9000
    assert message.endswith("…")
