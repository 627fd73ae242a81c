"""Hold notifications back while they could name a model to a blind reviewer, and notify of errors uniformly."""

import asyncio
from collections.abc import Callable
from typing import Any, Literal

from textual.app import App
from textual.screen import Screen

from tui.model.sanitize import sanitize_line

_MOST_HELD = 50


class NotificationHold:
    """Pass notifications to `show`, or keep them until the hold is released.

    `clear` removes the displayed notifications. An app sends every notification through `notify`; the screen that holds
    them back uses `show_now` for its own.
    """

    def __init__(self, show: Callable[..., None], clear: Callable[[], None]) -> None:
        self._show, self._clear = show, clear
        self._held: list[tuple[str, dict[str, Any]]] | None = None
        self._released = asyncio.Event()
        self._released.set()

    @property
    def holds(self) -> bool:
        """Return whether notifications are held back, because names are hidden."""
        return self._held is not None

    def hold(self) -> None:
        """Hold notifications back from now on, and remove the displayed ones."""
        if self._held is None:
            self._held = []
            self._released.clear()
            self._clear()

    def release(self) -> None:
        """Show the notifications that were held back, and stop holding."""
        held, self._held = self._held or [], None
        self._released.set()
        for message, options in held[-_MOST_HELD:]:
            self._show(message, **options)

    async def wait_until_released(self) -> None:
        """Wait until notifications are not held back."""
        await self._released.wait()

    def notify(self, message: str, **options: Any) -> None:
        """Show a notification now, or when the hold is released."""
        if self._held is None:
            self._show(message, **options)
        else:
            self._held.append((message, options))

    def show_now(self, message: str, **options: Any) -> None:
        """Show a notification even while others are held back."""
        self._show(message, **options)


def notify_error(
    target: App[Any] | Screen[Any], error: Exception, severity: Literal["warning", "error"] = "error"
) -> None:
    """Notify of an error with the text of the exception, cut to a few lines."""
    target.notify(sanitize_line(str(error), 600), severity=severity, markup=False, timeout=12)
