"""The search for a text that is being typed: one call at a time, and only the last text waits."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from textual.dom import DOMNode

from tui.app.workers import start_worker

T = TypeVar("T")


class SearchLoop(Generic[T]):
    """Search each text that is typed, and hand its result to `show`.

    While a search runs, only the last text is remembered. `accept` calls `on_accepted` as soon as the result of the
    last text is displayed. `shown_text` is the text whose result is displayed; `show` still sees the one before.
    The searches run in workers of `owner`.
    """

    def __init__(
        self,
        owner: DOMNode,
        search: Callable[[str], Awaitable[T]],
        show: Callable[[str, T], object],
        on_accepted: Callable[[], object],
    ) -> None:
        self._owner, self._search, self._show, self._on_accepted = owner, search, show, on_accepted
        self._pending: str | None = None
        self.shown_text = ""
        self.is_running = self._is_accepting = False

    def start(self, text: str) -> None:
        """Search for a text, also if it is the displayed one."""
        self._pending = text
        if not self.is_running:
            self.is_running = True
            start_worker(self._owner, self._run, group="search")

    def accept(self, text: str) -> None:
        """Accept the result of a text: at once if it is displayed, otherwise after its search."""
        if text != self.shown_text and not self.is_running:
            self.start(text)
        self._is_accepting = self.is_running
        if not self._is_accepting:
            self._on_accepted()

    def show(self, text: str, result: T) -> None:
        """Display a result; call it while no search runs if the result of a text is known without a search."""
        self._show(text, result)
        self.shown_text = text

    def stop_accepting(self) -> None:
        """Accept nothing after the search that runs: the text has changed."""
        self._is_accepting = False

    async def _run(self) -> None:
        try:
            while (text := self._pending) is not None:
                self._pending = None
                self.show(text, await self._search(text))
        finally:
            self.is_running = False
        if self._is_accepting:
            self._is_accepting = False
            self._on_accepted()
