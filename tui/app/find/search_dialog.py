"""A dialog to search the answers of all saved runs, or of the displayed one."""

import asyncio
import re
from collections.abc import Callable
from time import monotonic
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key

from tui.app.context import AppContext
from tui.app.find.search_panel import SearchPanel, SearchResult
from tui.app.keymap import key_of
from tui.app.notifications import notify_error
from tui.app.presentation.figures import counted
from tui.app.presentation.marks import mark_of
from tui.app.presentation.pieces import Line, Piece, fill, spread
from tui.app.runs.lines import day_and_time
from tui.app.screens import Dialog
from tui.app.widgets.prompt_input import PromptInput
from tui.app.workers import start_worker
from tui.model.answer_search import MATCH_END, MATCH_START, AnswerHit, IndexProgress
from tui.model.errors import AssayError
from tui.model.filter import STATUS_WORDS
from tui.model.sanitize import sanitize_line

_MOST_HITS = 100
_WIDE = 120
_SECONDS_BETWEEN_SEARCHES = 1.0
_SPACES = re.compile(r"\s+")


class SearchDialog(Dialog[AnswerHit | None]):
    """A dialog that lists the newest answers with the typed words. The result is the chosen one, or None.

    The index of answers is brought up to date while the dialog is open; `run_of_selection` returns the id of the run
    whose answers Explore displays, and blocks.
    """

    DEFAULT_CSS = """
    SearchDialog > Vertical { width: 94%; max-width: 220; height: 86%; padding: 1 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="search.leave", tooltip="Close the search"),
        Binding("enter", "accept", "Open", id="search.open", tooltip="Open the run at this answer", show=False),
        Binding("ctrl+r", "toggle_scope", "Scope", id="search.scope", tooltip="Search all runs, or the displayed one"),
    ]

    def __init__(self, context: AppContext, run_of_selection: Callable[[], str]) -> None:
        super().__init__()
        self.context, self._run_of_selection = context, run_of_selection
        self._frame = Vertical()
        self._only_displayed = False
        self._progress: IndexProgress | None = None
        self._panel = SearchPanel('words and "phrases" of an answer', self._search, hit_line, self.dismiss)

    def compose(self) -> ComposeResult:
        """Compose the frame and the search."""
        with self._frame:
            yield self._panel

    def on_mount(self) -> None:
        """Bring the index up to date."""
        self._show_scope()
        start_worker(self, self._index, group="index")

    def _show_scope(self) -> None:
        self._frame.border_title = Content(f"Search {'the displayed run' if self._only_displayed else 'all runs'}")
        other = "all runs" if self._only_displayed else "displayed run"
        key = key_of(self, "search.scope")
        self._frame.border_subtitle = Content(f"↑ ↓ select · Enter open · {key} {other} · Esc close")

    async def _index(self) -> None:
        """Index the answers that are not indexed yet, a few at a time, and search them too."""
        history = self.context.session.history
        try:
            self._progress = progress = await asyncio.to_thread(history.begin_index)
            searched_at = 0.0
            while not progress.is_complete:
                self._progress = progress = await asyncio.to_thread(history.update_index)
                if monotonic() - searched_at > _SECONDS_BETWEEN_SEARCHES or progress.is_complete:
                    searched_at = monotonic()
                    self._panel.search_again()
        except AssayError as error:
            notify_error(self, error)

    @property
    def is_settled(self) -> bool:
        """Return whether the entries are those of the displayed text in all saved answers."""
        is_complete = self._progress is not None and self._progress.is_complete
        return is_complete and not self._panel.searching and self._panel.shown_text == self._panel.text

    def _search(self, text: str) -> SearchResult[AnswerHit]:
        """Return the answers with the words of a text. Called in a thread."""
        if not text.strip():
            saved = self._progress.saved if self._progress else 0
            return SearchResult((), f"{self._indexing()}{counted(saved, 'saved result')}")
        run_id = self._run_of_selection() if self._only_displayed else ""
        if self._only_displayed and not run_id:
            return SearchResult((), "The displayed suite has no saved run.")
        found = self.context.session.history.search_answers(text, _MOST_HITS, run_id)
        count = counted(len(found.hits), "answer") if found.hits else "No answer matches"
        more = "" if found.complete else "; there may be more, type more words"
        return SearchResult(found.hits, f"{self._indexing()}{count}{more}.")

    def _indexing(self) -> str:
        progress = self._progress
        if progress is None:
            return "Reading the saved runs… "
        return "" if progress.is_complete else f"Indexing: {progress.indexed} of {progress.saved} results. "

    @on(SearchPanel.Searched)
    def record_names(self, message: SearchPanel.Searched) -> None:
        """Record for runs that are reviewed blind that model names were displayed."""
        for run_id in dict.fromkeys(hit.run for hit in message.entries):
            self.context.scores.record_names(run_id, "a search")

    @on(PromptInput.Left)
    def leave(self) -> None:
        """Close the search."""
        self.action_leave()

    def on_key(self, event: Key) -> None:
        """Type keys that were pressed before the dialog was displayed."""
        self._panel.type_key(event)

    def action_accept(self) -> None:
        """Open the answer under the cursor."""
        self._panel.accept()

    def action_toggle_scope(self) -> None:
        """Search the displayed run only, or all runs again."""
        self._only_displayed = not self._only_displayed
        self._show_scope()
        self._panel.search_again()


def hit_line(hit: AnswerHit, width: int) -> Line:
    """Return the line of an answer: verdict, case, model, and the context with the match; date and suite if wide."""
    wide = width >= _WIDE
    status = next((word for word in STATUS_WORDS if word == hit.verdict), "unchecked")
    left: list[Piece] = [(" ", "plain"), mark_of(status), (" ", "plain")]  # type: ignore[arg-type]
    if wide:
        left += [(f"{fill(day_and_time(hit.started_at), 12)} ", "dim"), (f"{_cell(hit.suite, 14)} ", "plain")]
    model = hit.model if wide else hit.model.rpartition("/")[2]
    left += [(f"{_cell(hit.case, 20 if wide else 12)} ", "strong"), (f"{_cell(model, 20 if wide else 12)} ", "dim")]
    return spread((*left, *_context(hit.context)), (), width)


def _cell(text: str, width: int) -> str:
    return fill(sanitize_line(text, 4 * width), width)


def _context(text: str) -> list[Piece]:
    """Return the context of a match in pieces, each of them sanitized."""
    pieces: list[Piece] = []
    for number, part in enumerate(text.split(MATCH_START)):
        match, _, rest = part.partition(MATCH_END) if number else ("", "", part)
        pieces += [(_inline(match), "accent"), (_inline(rest), "plain")]
    return [piece for piece in pieces if piece[0]]


def _inline(text: str) -> str:
    """Return a sanitized text on one line, with one space for each run of white space, also at its ends."""
    return sanitize_line(f"|{_SPACES.sub(' ', text)}|", 800)[1:-1]
