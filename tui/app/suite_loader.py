"""Read the open suites in the background, and again when they change on disk."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from textual.message import Message

from tui.app.open_suites import OpenSuites
from tui.app.run_queue import RunQueue
from tui.model.errors import AssayError
from tui.model.state import RunState

_POLL_SECONDS = 1.0
_POLLS_PER_SEARCH = 5


class SuitesRead(Message, bubble=False):
    """Posted when suite files were read: `again` if they had changed on disk, `more` while others are unread."""

    def __init__(self, paths: Sequence[Path], *, again: bool, more: bool = False) -> None:
        super().__init__()
        self.paths, self.again, self.more = tuple(paths), again, more


class SuiteLoader:
    """Read each suite, then poll every second for changed files and every few seconds for new ones."""

    def __init__(self, open_suites: OpenSuites, runs: RunQueue, post: Callable[[Message], object]) -> None:
        self._open_suites, self._runs, self._post = open_suites, runs, post

    async def work(self) -> None:
        """Read and poll until cancelled; run this as a worker."""
        with contextlib.suppress(AssayError):  # the first suite that is read has a warning about it
            await asyncio.to_thread(self._open_suites.note_results)
        await self._read_new()
        polls = 0
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            polls += 1
            changed = await asyncio.to_thread(self._open_suites.read_changed)
            if changed:
                self._open_suites.display(changed)
                self._post(SuitesRead(changed, again=True))
            await self._read_saved_results()
            if polls % _POLLS_PER_SEARCH == 0:
                await self._search()

    async def _read_saved_results(self) -> None:
        """Display results that were saved elsewhere; during a run they wait until its end."""
        if not self._runs.busy:
            with contextlib.suppress(AssayError):  # whoever needs the history reports it
                self.replace_results(await asyncio.to_thread(self._open_suites.read_saved_results))

    def replace_results(self, found: Mapping[Path, RunState]) -> None:
        """Display other results of suite files, but of none with a run in progress."""
        idle = {path: state for path, state in found.items() if not self._runs.is_active(path)}
        if changed := [path for path, state in idle.items() if self._open_suites.replace_state(path, state)]:
            self._post(SuitesRead(changed, again=False))

    async def _read_new(self) -> None:
        unread = [each.path for each in self._open_suites.all if not each.read]
        for place, path in enumerate(unread):
            await asyncio.to_thread(self._open_suites.read, path)
            self._post(SuitesRead([path], again=False, more=place < len(unread) - 1))

    async def _search(self) -> None:
        try:
            found = await asyncio.to_thread(self._open_suites.find)
        except AssayError:  # the folder is missing at the moment: keep the suites that were read
            return
        if found:
            self._post(SuitesRead([], again=True))
            await self._read_new()
