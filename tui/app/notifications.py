"""Notices that are held back while they could tell what somebody must not know yet."""

import asyncio
from typing import Any, Protocol, runtime_checkable

from textual.app import ReturnType

from tui.app.theming import ThemedApp

_MOST = 50


@runtime_checkable
class Unkept(Protocol):
    """A screen that can hold something which is kept nowhere yet."""

    def unkept(self) -> str:
        """What would be lost with it, in a sentence or more; empty for nothing."""


class NotificationHold(ThemedApp[ReturnType]):
    """An app in which one screen can have the notices of all others wait; `tell` is not held back."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._held_notices: list[tuple[str, dict[str, Any]]] | None = None
        self._nothing_held = asyncio.Event()
        self._nothing_held.set()

    def hold_notices(self) -> None:
        """From now on they wait; those that stand on the screen go."""
        if self._held_notices is None:
            self._held_notices = []
            self._nothing_held.clear()
            self.clear_notifications()

    def let_notices_go(self) -> None:
        """Tell what was held back."""
        held, self._held_notices = self._held_notices or [], None
        self._nothing_held.set()
        for message, how in held[-_MOST:]:
            self.notify(message, **how)

    async def until_nothing_is_held(self) -> None:
        """Wait for the moment at which everything may be told."""
        await self._nothing_held.wait()

    def notify(self, message: str, **how: Any) -> None:
        """Tell it, now or later."""
        if self._held_notices is None:
            super().notify(message, **how)
        else:
            self._held_notices.append((message, how))

    def tell(self, message: str, **how: Any) -> None:
        """Tell it now."""
        super().notify(message, **how)
