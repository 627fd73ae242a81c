"""Where the events of a run gather until somebody takes them."""

import asyncio

from tui.model.events import Event


class Outbox:
    """Events in the order in which they happened. A list and one wake-up for many events cost a third of a queue."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._arrived = asyncio.Event()
        self._closed = False

    def tell(self, event: Event) -> None:
        """Add an event."""
        self._events.append(event)
        self._arrived.set()

    def close(self) -> None:
        """Nothing more will come."""
        self._closed = True
        self._arrived.set()

    async def take(self) -> list[Event]:
        """All events that have gathered, at least one; an empty list when there are none and no more will come."""
        if not self._events and not self._closed:
            self._arrived.clear()
            await self._arrived.wait()
        taken, self._events = self._events, []
        return taken
