"""Wait in pilot tests for conditions, never for time."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from textual.app import App
from textual.events import Key
from textual.pilot import Pilot
from textual.screen import Screen

from tests.support.terminal import WAIT_SECONDS

Result = TypeVar("Result")

_MOST_CHARACTERS = 8000  # of a screen in a failure
_CHARACTERS = {"enter": "\r", "escape": "\x1b", "slash": "/", "space": " "}


async def until(
    pilot: Pilot[Result], condition: Callable[[], object], what: str = "", within: float = WAIT_SECONDS
) -> None:
    """Run the app until the condition holds. Raises AssertionError with the displayed screen after `within` seconds."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within
    while not condition():
        if loop.time() > deadline:
            raise AssertionError(
                f"{what or 'the condition'} does not hold after {within:g} s{_source(condition)}\n{describe(pilot.app)}"
            )
        await pilot.pause()


def press_at_once(app: App[Any], *keys: str) -> None:
    """Press keys so quickly that all of them wait when the app handles the first one."""
    for key in keys:
        app.post_message(Key(key, _CHARACTERS.get(key, key if len(key) == 1 else None)))


def screen_rows(screen: Screen[Any]) -> list[str]:
    """Return every row of a screen as it is painted, without trailing spaces."""
    rows = screen._compositor.render_strips()
    return ["".join(segment.text for segment in row).rstrip() for row in rows]


def describe(app: App[Any]) -> str:
    """Return what a person would see now: the screens, the focus, the notifications and the rows of the top screen."""
    screens = " > ".join(type(screen).__name__ for screen in app.screen_stack)
    notices = [f"notification: {notice.message}" for notice in app._notifications]
    rows = [row for row in screen_rows(app.screen) if row]
    text = "\n".join((f"screens: {screens}", f"focus: {app.focused!r}", *notices, *rows))
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}\n…"


def _source(condition: Callable[[], object]) -> str:
    """Return the source of a condition in parentheses; nothing where there is none."""
    try:
        return f": {' '.join(inspect.getsource(condition).split())}"
    except (OSError, TypeError):  # a built-in or a partial
        return ""
