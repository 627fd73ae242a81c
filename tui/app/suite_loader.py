"""Read the open suites in the background, and again when they change on disk."""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
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
        with contextlib.suppress(Exception):  # the first suite that is read has a warning about it
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
            if not self._runs.busy:  # during a run, results that were saved elsewhere wait until its end
                await self._replace_results(self._open_suites.read_saved_results)
            if polls % _POLLS_PER_SEARCH == 0:
                await self._search()

    async def read_results(self, files: Collection[str]) -> None:
        """Display the latest results of the suites in these files, without links."""
        await self._replace_results(partial(self._open_suites.read_results, files))

    async def _replace_results(self, read: Callable[[], Mapping[Path, RunState]]) -> None:
        """Read results in a thread, and display those of suites without a run in progress."""
        try:
            found = await asyncio.to_thread(read)
        except Exception:  # noqa: BLE001 one bad history must not end the app; who opens it is told
            return
        idle = {path: state for path, state in found.items() if not self._runs.is_active(path)}
        if changed := [path for path, state in idle.items() if self._open_suites.replace_state(path, state)]:
            self._post(SuitesRead(changed, again=False))

    async def _read_new(self) -> None:
        unread = [each.path for each in self._open_suites.all if not each.read]
        for place, path in enumerate(unread):
            await asyncio.to_thread(self._open_suites.read, path)
            self._open_suites.display([path])  # the file may be back with other cases
            self._post(SuitesRead([path], again=False, more=place < len(unread) - 1))

    async def _search(self) -> None:
        try:
            found = await asyncio.to_thread(self._open_suites.find)
        except AssayError:  # the folder is missing at the moment: keep the suites that were read
            return
        if found:
            self._post(SuitesRead([], again=True))
            await self._read_new()
