"""Timers that call their function although the machine is busy."""

import itertools

import pytest

from tests.support.pilots import until
from tui.app.theme.themed_app import ThemedApp


async def test_a_timer_calls_its_function_also_if_its_time_passes_before_it_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: list[int] = []
    async with (app := ThemedApp[None]()).run_test() as pilot:
        seconds = itertools.count()
        monkeypatch.setattr("textual._time.get_time", lambda: next(seconds))  # as if stopped for a second at each look
        app.set_timer(0.01, lambda: called.append(1))
        app.screen.set_timer(0.01, lambda: called.append(2))
        await until(pilot, lambda: len(called) == 2, within=20)
