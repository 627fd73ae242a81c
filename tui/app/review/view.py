"""The current item of a review session: the queue, the answer and the criterion, or the end of the queue."""

import asyncio
from functools import partial

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.geometry import Size
from textual.message import Message

from tui.app.keymap import key_of, keys_of
from tui.app.presentation.pieces import Line
from tui.app.review.answer_panel import AnswerPanel
from tui.app.review.answers import AnswerCache, LoadedAnswer, checks_line, masked_words
from tui.app.review.criterion_lines import CriterionState, ScoringKeys
from tui.app.review.criterion_panel import CriterionPanel
from tui.app.review.lines import answer_name, empty_lines, end_lines
from tui.app.review.queue import ReviewSession
from tui.app.review.queue_panel import QueuePanel
from tui.app.widgets.key_queue import KeyQueue
from tui.app.widgets.splitter import Room, Splitter
from tui.app.widgets.text_views import FittedTextPanel
from tui.model.errors import AssayError
from tui.model.risk import EXTENTS
from tui.model.sanitize import sanitize_line
from tui.model.scores import ItemKey, ReviewItem
from tui.session.pane_sizes import PaneSizes
from tui.session.saved_filters import SavedFilters

_STACKED_BELOW, _TALL_FROM = 110, 40  # columns, rows of the screen
_QUEUE_FROM = 200  # columns of the screen from which the queue is displayed beside the answer
_USUAL_QUEUE, _MOST_USUAL_QUEUE, _MOST_USUAL_CRITERION = 44, 70, 100
_LEAST_QUEUE, _LEAST_CRITERION, _LEAST_ANSWER = 24, 40, 40
_SCORING_KEYS = (
    *(f"review.{name}" for name in (*(f"extent-{extent}" for extent in range(len(EXTENTS))), "not-applicable")),
    *("review.note", "review.guidance"),
)


class ReviewView(Horizontal):
    """Load and show the item at which a session is.

    The target of `keys` is the item whose answer is on the screen, None while another one is loaded.
    """

    DEFAULT_CSS = """
    ReviewView { height: 1fr; layers: panels borders; }
    ReviewView.-stacked { layout: vertical; }
    ReviewView.-stacked QueuePanel { width: 1fr; }
    ReviewView.-stacked.-queue AnswerPanel, ReviewView.-zoomed QueuePanel, ReviewView.-zoomed CriterionPanel,
    ReviewView.-end AnswerPanel, ReviewView.-end CriterionPanel, ReviewView.-end #criterion-border,
    ReviewView.-stacked Splitter, ReviewView.-zoomed Splitter, ReviewView #end { display: none; }
    ReviewView.-end #end {
        display: block; width: 1fr; border: round $focused-border; border-title-color: $accent; padding: 1 2;
    }
    """

    class ItemShown(Message):
        """The answer of the current item is on the screen."""

    def __init__(self, session: ReviewSession, keys: KeyQueue, sizes: PaneSizes, filters: SavedFilters) -> None:
        super().__init__()
        self.answers = AnswerCache(session.review)
        self.queue, self.answer, self.criterion = QueuePanel(keys, filters), AnswerPanel(), CriterionPanel(keys)
        self._queue_border = Splitter(self.queue, sizes, id="queue-border")
        self._criterion_border = Splitter(self.criterion, sizes, id="criterion-border")
        self._queue_border.display = self._is_wide = self._opened_by_width = False
        self._end = FittedTextPanel(id="end")
        self._session, self._keys = session, keys
        self._loaded: LoadedAnswer | None = None

    def compose(self) -> ComposeResult:
        """Yield the panels."""
        yield self.queue
        yield self._queue_border
        yield self.answer
        yield self._criterion_border
        yield self.criterion
        yield self._end

    def fit(self, screen: Size) -> None:
        """Arrange the panels for the size of the screen: below each other where it is narrow."""
        stacked = screen.width < _STACKED_BELOW
        self.set_class(stacked, "-stacked")
        self.criterion.set_class(stacked, "-stacked")
        self.answer.set_class(screen.height >= _TALL_FROM and not stacked, "-tall")
        self._open_queue_by_width(screen.width >= _QUEUE_FROM)
        if stacked:
            self._queue_border.release()
            self._criterion_border.release()
        else:
            self._fit_panels(screen.width)

    def _fit_panels(self, width: int) -> None:
        least = _LEAST_ANSWER + _LEAST_CRITERION
        usual = max(_USUAL_QUEUE, min(width // 4, _MOST_USUAL_QUEUE))
        self._queue_border.fit(Room("review.queue", "right", width, usual, _LEAST_QUEUE, least))
        queue = self._queue_border.panel_size if self.queue_open else 0
        usual = min((width - queue) // 2, _MOST_USUAL_CRITERION)
        rest = _LEAST_ANSWER + queue
        self._criterion_border.fit(Room("review.criterion", "left", width, usual, _LEAST_CRITERION, rest))

    @on(Splitter.Moved)
    def fit_again(self, message: Splitter.Moved) -> None:
        """Arrange the criterion for the room that the queue leaves."""
        message.stop()
        self.fit(self.screen.size)

    def _open_queue_by_width(self, wide: bool) -> None:
        """Display the queue where the screen becomes wide, and hide it again where it does not remain so."""
        if wide != self._is_wide:
            self._is_wide = wide
            if wide and not self.queue_open:
                self.open_queue(True)
                self._opened_by_width = True
            elif not wide and self._opened_by_width:
                self.open_queue(False)

    @property
    def loaded(self) -> LoadedAnswer | None:
        """The answer that was loaded last."""
        return self._loaded

    def shown_hash(self, item: ReviewItem) -> str | None:
        """Return the hash of the item's answer on the screen, or None if another answer is there."""
        loaded = self._answer_of(item)
        return loaded.hash if loaded is not None else None

    def show_item(self) -> None:
        """Show the current item of the session, or the end of the queue."""
        item, keys = self._session.item, self._keys
        self.set_class(item is None, "-end")
        self.queue.show(self._session)
        if item is None:
            keys.target = None
            self._show_end()
            return
        if self._end.has_focus:
            self.focus_answer()
        if keys.target != item.key:
            keys.target = None
            self._session.timer.restart()
        loaded = self._answer_of(item) or self.answers.find(item)
        if loaded is None:
            self.answer.clear()
            self._name_answer(item)
            self._load(item)
        elif loaded is self._loaded:
            self._show_criterion(item, loaded)
        else:
            self._show_answer(item, loaded)

    def reload(self) -> None:
        """Load and show the current item again: other parts may be visible now."""
        self._loaded, self._keys.target = None, None
        self.answers.clear()
        self.show_item()

    def focus_answer(self) -> None:
        """Move the focus to the text of the answer."""
        self.screen.set_focus(self.answer.view)

    @property
    def zoomed(self) -> bool:
        """Return whether the answer is shown alone."""
        return self.has_class("-zoomed")

    def zoom(self, zoomed: bool) -> None:
        """Show the answer alone, or everything."""
        self.set_class(zoomed, "-zoomed")

    @property
    def queue_open(self) -> bool:
        """Return whether the queue is shown."""
        return self.has_class("-queue")

    def open_queue(self, is_open: bool) -> None:
        """Show or hide the queue: beside the answer, or in its place where the panels are below each other."""
        self.set_class(is_open, "-queue")
        self.queue.display = self._queue_border.display = is_open
        self._opened_by_width = False
        if not self.has_class("-stacked"):
            self._fit_panels(self.screen.size.width)
        self.call_after_refresh(self.queue.show_cursor)

    def read_answer(self) -> None:
        """Move the focus to the answer, and close the queue if that is in its place."""
        if self.has_class("-stacked"):
            self.open_queue(False)
        self.focus_answer()

    def edit_note(self, item: ReviewItem) -> None:
        """Open the note of an item."""
        self.zoom(False)
        self.criterion.edit_note(item, self._session.note(item))

    def close_note(self) -> None:
        """Close the note."""
        self.criterion.close_note()
        self.focus_answer()

    @work(group="answer", exclusive=True)
    async def _load(self, item: ReviewItem) -> None:
        self._loaded = None
        try:
            loaded = await asyncio.to_thread(self.answers.load, item)
        except AssayError as error:
            if self._session.item is item:
                self.answer.clear(sanitize_line(str(error), 600))
                self._draw_criterion(item, ())
            return
        if self._session.item is item:
            self._show_answer(item, loaded)

    @work(group="ahead", exclusive=True)
    async def _load_ahead(self) -> None:
        """Load the next answer. If that fails, it is loaded again, and the error shown, when its turn comes."""
        item = self._session.next_open()
        if item is not None and self.answers.find(item) is None:
            try:
                await asyncio.to_thread(self.answers.load, item)
            except AssayError:
                return

    def _answer_of(self, item: ReviewItem) -> LoadedAnswer | None:
        loaded = self._loaded
        return loaded if loaded is not None and loaded.trial == item.key.trial else None

    def _show_answer(self, item: ReviewItem, loaded: LoadedAnswer) -> None:
        self._loaded = loaded
        if self._session.refresh_answer(loaded.trial):  # Another process has replaced the answer.
            self.queue.show(self._session)
        self._name_answer(item)
        self.answer.show(loaded.content, loaded.changes, loaded.files)
        self._show_criterion(item, loaded)
        self._load_ahead()

    def _name_answer(self, item: ReviewItem) -> None:
        ids = dict.fromkeys(sanitize_line(text, 120) for text in (item.case.id, item.case.name) if text)
        loaded = self._answer_of(item)
        masks, key = loaded.content.masks if loaded is not None else 0, key_of(self.screen, "review.masks")
        self.answer.set_titles(
            answer_name(item, hidden=self._session.hidden),
            " · ".join(filter(None, (f"{masked_words(masks)} ({key})" if masks else "", *ids))),
        )

    def _show_criterion(self, item: ReviewItem, loaded: LoadedAnswer) -> None:
        self._draw_criterion(item, () if self._session.hidden else checks_line(loaded.result))
        self.call_after_refresh(self._mark_shown, item.key)

    def _draw_criterion(self, item: ReviewItem, checks: Line) -> None:
        session, review = self._session, self._session.review
        *extents, note, guidance = keys_of(self.screen, *_SCORING_KEYS)
        self.criterion.show(
            CriterionState(
                item,
                session.status(item.key),
                review.rule,
                review.guidance,
                session.current_act(item),
                session.note(item),
                session.has_draft(item),
                session.deciding,
                session.next_open(),
                checks,
                session.hidden,
                keys=ScoringKeys(tuple(extents), note, guidance),
            )
        )

    def _mark_shown(self, key: ItemKey) -> None:
        """Let keys act on the item, unless another one has become the current one."""
        item = self._session.item
        if item is not None and item.key == key:
            self._keys.target = key
            self.post_message(self.ItemShown())

    def _show_end(self) -> None:
        session = self._session
        if session.review.items:
            self._end.show_fitted(lambda width: end_lines(session, width, partial(key_of, self.screen)))
        else:
            self._end.show_fitted(lambda width: empty_lines(session, width))
        if not self.queue.has_focus_within:
            self._end.focus()
        self.refresh_bindings()
