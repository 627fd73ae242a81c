"""Notifications are removed and painted over, also if they expire while a screen opens."""

import subprocess
from pathlib import Path

import pytest
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static
from textual.widgets._toast import Toast

from tests.support.pilots import until
from tests.support.terminal import WAIT_SECONDS, run_here
from tui.app.theme.themed_app import ThemedApp

# In a process of its own, which can be ended: the loop of a timer without time never ends.
PROGRAM = """
import asyncio, sys
from textual.notifications import Notification
from textual.widgets._toast import Toast, ToastHolder
from tests.support.pilots import until
from tui.app.theme.themed_app import ThemedApp

async def main():
    app = ThemedApp()
    async with app.run_test() as pilot:
        await app.screen.mount(ToastHolder(Toast(Notification("expired", timeout=float(sys.argv[1])))))
        await until(pilot, lambda: not app.screen.query(Toast))

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "seconds", [0.0, *(pytest.param(seconds, marks=pytest.mark.long) for seconds in (-1.0, -1e-9))]
)
def test_a_notification_that_expires_while_its_screen_opens_is_removed(seconds: float) -> None:
    command = run_here("-c", PROGRAM, str(seconds))
    subprocess.run(command, cwd=Path(__file__).parents[3], check=True, timeout=WAIT_SECONDS)


async def test_what_was_removed_is_painted_over_also_if_a_place_was_looked_up_after_a_scroll() -> None:
    painted: list[tuple[int, int, int]] = []

    class ScrollingApp(ThemedApp[None]):
        CSS = "VerticalScroll { height: 10; } #removed { dock: bottom; height: 3; }"

        def compose(self) -> ComposeResult:
            with VerticalScroll():
                yield Static("\n".join(map(str, range(100))))
            yield Static("removed", id="removed")

        def _display(self, screen: Screen[object], renderable: object) -> None:
            painted.extend(getattr(renderable, "spans", ()))
            super()._display(screen, renderable)  # type: ignore[arg-type]

    async with (app := ScrollingApp()).run_test() as pilot:
        await pilot.pause()
        removed = app.query_one("#removed")
        rows = removed.region.line_range
        app.query_one(VerticalScroll).scroll_to(y=5, animate=False)
        await until(pilot, lambda: app.screen._compositor._full_map_invalidated)
        with app.batch_update():
            await removed.remove()
            assert removed not in app.screen._compositor.full_map
        painted.clear()
        await until(pilot, lambda: {row for row, *_ in painted} >= set(rows), within=20)


async def test_a_new_notification_replaces_the_oldest_of_the_least_severity_if_there_are_too_many() -> None:
    """Each is a widget that Textual mounts, lays out and removes: thousands froze the app."""
    app: ThemedApp[None] = ThemedApp()
    async with app.run_test(size=(80, 100), notifications=True) as pilot:
        app.notify("lasting", severity="error", timeout=60)
        for number in range(400):
            app.notify(str(number), severity="warning", timeout=60)
        app.notify("last", timeout=60)
        await until(pilot, lambda: bool(app.screen.query(Toast)))
        await pilot.pause()
        shown = [str(toast.render()) for toast in app.screen.query(Toast)]
    assert shown == ["lasting", *map(str, range(390, 400)), "last"]
