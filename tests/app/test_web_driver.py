"""The driver of the app in a browser, beside the pages of `assay serve`."""

import asyncio

import pytest
from textual.app import App
from textual.events import Key

from tui.app.web_driver import CrashSafeWebDriver


def driver_of(loop: asyncio.AbstractEventLoop) -> CrashSafeWebDriver:
    """Return a driver without the standard input that a test does not have."""
    driver = CrashSafeWebDriver.__new__(CrashSafeWebDriver)
    driver._app, driver._loop = App[None](), loop
    return driver


def test_a_key_that_comes_after_the_end_of_the_app_is_dropped() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    driver_of(loop).send_message(Key("escape", None))


async def test_a_key_that_cannot_be_sent_to_a_running_app_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = driver_of(asyncio.get_running_loop())

    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("not now")

    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", refuse)
    with pytest.raises(RuntimeError, match="not now"):
        driver.send_message(Key("escape", None))
