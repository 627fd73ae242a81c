"""The shelf is filled, and kept as the disk is, in the background: the screen is painted before."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from textual.message import Message
from textual.message_pump import MessagePump

from tui.app.open_suites import OpenSuites
from tui.app.session_protocol import Session
from tui.model.errors import AssayError

_POLL_SECONDS = 1.0
_POLLS_A_SEARCH = 5


class SuiteLoader:
    """Opens the desk, finds and reads the suites, and looks again every second."""

    class SessionOpened(Message):
        """The desk stands, and it is known which suite files there are."""

        def __init__(self, session: Session, open_suites: OpenSuites) -> None:
            super().__init__()
            self.session, self.open_suites = session, open_suites

    class SessionFailed(Message):
        """There is nothing to work with; `why` is a sentence."""

        def __init__(self, why: str) -> None:
            super().__init__()
            self.why = why

    class SuitesRead(Message):
        """Suite files were read; `again` where they had changed on disk. `more` while others are still to be read."""

        def __init__(self, paths: Sequence[Path], *, again: bool, more: bool = False) -> None:
            super().__init__()
            self.paths, self.again, self.more = tuple(paths), again, more

    def __init__(self, open_session: Callable[[], Session], paths: Sequence[Path], told: MessagePump) -> None:
        self._open_session, self._paths, self._told = open_session, tuple(paths), told

    async def work(self) -> None:
        """Never ends, unless there is nothing to work with; made to be run as a worker."""
        try:
            session = await asyncio.to_thread(self._open_session)
            open_suites = OpenSuites(session, self._paths)
            await asyncio.to_thread(open_suites.find)
        except AssayError as error:
            self._told.post_message(self.SessionFailed(str(error)))
            return
        self._told.post_message(self.SessionOpened(session, open_suites))
        await self._read_new(open_suites)
        await self._follow(open_suites)

    async def _read_new(self, open_suites: OpenSuites) -> None:
        unread = [open_suite.path for open_suite in open_suites.suites if not open_suite.read]
        for place, path in enumerate(unread):
            await asyncio.to_thread(open_suites.read, path)
            self._told.post_message(self.SuitesRead([path], again=False, more=place < len(unread) - 1))

    async def _follow(self, open_suites: OpenSuites) -> None:
        polls = 0
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            polls += 1
            changed = await asyncio.to_thread(open_suites.look_again)
            if changed:
                self._told.post_message(self.SuitesRead(changed, again=True))
            if polls % _POLLS_A_SEARCH == 0:
                await self._search(open_suites)

    async def _search(self, open_suites: OpenSuites) -> None:
        try:
            found = await asyncio.to_thread(open_suites.find)
        except AssayError:  # the folder is away for the moment; what was read stays
            return
        if found:
            self._told.post_message(self.SuitesRead([], again=True))
            await self._read_new(open_suites)
