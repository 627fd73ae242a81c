"""The shelf is filled, and kept as the disk is, in the background: the screen is painted before."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from textual.message import Message
from textual.message_pump import MessagePump

from tui.app.desk import Desk
from tui.app.shelf import Shelf
from tui.model.errors import AssayError

_POLL_SECONDS = 1.0
_POLLS_A_SEARCH = 5


class ShelfWatch:
    """Opens the desk, finds and reads the suites, and looks again every second."""

    class DeskOpened(Message):
        """The desk stands, and it is known which suite files there are."""

        def __init__(self, desk: Desk, shelf: Shelf) -> None:
            super().__init__()
            self.desk, self.shelf = desk, shelf

    class DeskMissed(Message):
        """There is nothing to work with; `why` is a sentence."""

        def __init__(self, why: str) -> None:
            super().__init__()
            self.why = why

    class SuitesRead(Message):
        """Suite files were read; `again` where they had changed on disk. `more` while others are still to be read."""

        def __init__(self, paths: Sequence[Path], *, again: bool, more: bool = False) -> None:
            super().__init__()
            self.paths, self.again, self.more = tuple(paths), again, more

    def __init__(self, open_desk: Callable[[], Desk], paths: Sequence[Path], told: MessagePump) -> None:
        self._open_desk, self._paths, self._told = open_desk, tuple(paths), told

    async def work(self) -> None:
        """Never ends, unless there is nothing to work with; made to be run as a worker."""
        try:
            desk = await asyncio.to_thread(self._open_desk)
            shelf = Shelf(desk, self._paths)
            await asyncio.to_thread(shelf.find)
        except AssayError as error:
            self._told.post_message(self.DeskMissed(str(error)))
            return
        self._told.post_message(self.DeskOpened(desk, shelf))
        await self._read_new(shelf)
        await self._follow(shelf)

    async def _read_new(self, shelf: Shelf) -> None:
        unread = [volume.path for volume in shelf.volumes if not volume.read]
        for place, path in enumerate(unread):
            await asyncio.to_thread(shelf.read, path)
            self._told.post_message(self.SuitesRead([path], again=False, more=place < len(unread) - 1))

    async def _follow(self, shelf: Shelf) -> None:
        polls = 0
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            polls += 1
            changed = await asyncio.to_thread(shelf.look_again)
            if changed:
                self._told.post_message(self.SuitesRead(changed, again=True))
            if polls % _POLLS_A_SEARCH == 0:
                await self._search(shelf)

    async def _search(self, shelf: Shelf) -> None:
        try:
            found = await asyncio.to_thread(shelf.find)
        except AssayError:  # the folder is away for the moment; what was read stays
            return
        if found:
            self._told.post_message(self.SuitesRead([], again=True))
            await self._read_new(shelf)
