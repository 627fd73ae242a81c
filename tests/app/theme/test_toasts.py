"""Notifications that expire while a screen opens: they are removed, and the app goes on."""

import subprocess
from pathlib import Path

import pytest

from tests.support.terminal import WAIT_SECONDS, run_here

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
