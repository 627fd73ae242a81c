"""Hold notifications back while they could name a model to a blind reviewer or be below a question.

And notify of errors uniformly.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from textual.app import App
from textual.screen import Screen
from textual.widget import Widget

from tui.model.sanitize import sanitize_line

_MOST_HELD = 50


class NotificationHold:
    """Pass notifications to `show`, or keep them until the hold is released.

    `clear` removes the displayed notifications. An app sends every notification through `notify`; the screen that holds
    them back uses `show_now` for its own.
    """

    def __init__(self, show: Callable[..., None], clear: Callable[[], None]) -> None:
        self._show, self._clear = show, clear
        self._held: list[tuple[str, dict[str, Any]]] = []
        self._hides_names = False
        self._questions = 0
        self._released = asyncio.Event()
        self._released.set()

    @property
    def holds(self) -> bool:
        """Return whether notifications are held back, because names are hidden."""
        return self._hides_names

    def hold(self) -> None:
        """Hold notifications back from now on, and remove the displayed ones."""
        if not self._hides_names:
            self._hides_names = True
            self._released.clear()
            self._clear()

    def release(self) -> None:
        """Show the notifications that were held back, and stop holding."""
        self._hides_names = False
        self._released.set()
        self._show_held()

    async def wait_until_released(self) -> None:
        """Wait until notifications are not held back, because names are hidden."""
        await self._released.wait()

    @contextmanager
    def until_answered(self) -> Iterator[None]:
        """Hold notifications back while a question is displayed, which is above them."""
        self._questions += 1
        try:
            yield
        finally:
            self._questions -= 1
            self._show_held()

    def _show_held(self) -> None:
        if self._hides_names or self._questions:
            return
        held, self._held = self._held, []
        for message, options in held[-_MOST_HELD:]:
            self._show(message, **options)

    def notify(self, message: str, **options: Any) -> None:
        """Show a notification now, or when no hold is left."""
        self._held.append((message, options))
        self._show_held()

    def show_now(self, message: str, **options: Any) -> None:
        """Show a notification even while others are held back."""
        self._show(message, **options)


def notify_typist(
    widget: Widget,
    message: str,
    *,
    severity: Literal["information", "warning", "error"] = "warning",
    timeout: float = 6,
) -> None:
    """Notify of what a key just did, even while other notifications are held back; it must not name a model."""
    App.notify(widget.app, sanitize_line(message, 600), severity=severity, markup=False, timeout=timeout)


def notify_error(
    target: App[Any] | Screen[Any], error: Exception, severity: Literal["warning", "error"] = "error"
) -> None:
    """Notify of an error with the text of the exception, cut to a few lines."""
    target.notify(sanitize_line(str(error), 600), severity=severity, markup=False, timeout=12)
