"""Review as it is looked at: the item, its answer, the queue; what is given to it is the business of a subclass."""

import asyncio

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.events import Resize

from tui.app.presentation.pieces import Line
from tui.app.review.answer_panel import ReviewAnswer
from tui.app.review.answers import OpenAnswers, OpenedAnswer, checks_line, masked_words
from tui.app.review.criterion_lines import Judged
from tui.app.review.criterion_panel import CriterionPanel
from tui.app.review.lines import Title, answer_name, empty_lines, end_lines
from tui.app.review.note_editor import LONGEST_NOTE, NoteEditor
from tui.app.review.queue import ReviewSession, Stopwatch
from tui.app.review.queue_panel import ReviewQueue
from tui.app.widgets.footer import KeyFooter
from tui.app.widgets.key_queue import KeyQueue
from tui.app.widgets.review_lines import LastLine, ReviewTitle
from tui.app.widgets.text_views import FittedReading
from tui.app.widgets.writer import KeyCapture
from tui.model.errors import AssayError
from tui.model.sanitize import sanitize_line
from tui.model.scores import ItemKey
from tui.risk.queue import ReviewItem
from tui.session.run_review import RunReview

_STACKED, _TALL = 110, 40
_TICK_SECONDS = 5.0


class ReviewLooking(KeyQueue[None]):
    """Shows one item at a time. `seen` is the item whose answer is on the screen, None while another one comes."""

    DEFAULT_CSS = """
    ReviewLooking { background: $background; color: $foreground; }
    ReviewLooking #body { height: 1fr; }
    ReviewLooking.-stacked #body { layout: vertical; }
    ReviewLooking.-stacked ReviewQueue { width: 1fr; }
    ReviewLooking.-stacked.-queue ReviewAnswer, ReviewLooking.-zoomed ReviewQueue,
    ReviewLooking.-zoomed CriterionPanel, ReviewLooking.-end ReviewAnswer, ReviewLooking.-end CriterionPanel,
    ReviewLooking #end { display: none; }
    ReviewLooking.-end #end {
        display: block; width: 1fr; border: round $focused-border; border-title-color: $accent; padding: 1 2;
    }
    """
    AUTO_FOCUS = "PartsView"

    def __init__(self, review: RunReview) -> None:
        super().__init__()
        self.review_session, self.open_suites = ReviewSession(review), OpenAnswers(review)
        self.stopwatch = Stopwatch()
        self.title_line, self.last = ReviewTitle(), LastLine()
        self.queue, self.answer, self.criterion = ReviewQueue(), ReviewAnswer(), CriterionPanel()
        self._end = FittedReading(id="end")
        self._opened: OpenedAnswer | None = None
        self._seen: ItemKey | None = None

    def compose(self) -> ComposeResult:
        """Title, queue, answer, criterion, what was given last, keys."""
        yield self.title_line
        with Horizontal(id="body"):
            yield self.queue
            yield self.answer
            yield self.criterion
            yield self._end
        yield self.last
        yield KeyFooter()

    def on_mount(self) -> None:
        """Begin with what is open."""
        self.set_interval(_TICK_SECONDS, self.show_title)
        self.show_item()

    def on_resize(self, event: Resize) -> None:
        """Below each other where there is no room beside."""
        stacked = event.size.width < _STACKED
        self.set_class(stacked, "-stacked")
        self.criterion.set_class(stacked, "-stacked")
        self.answer.set_class(event.size.height >= _TALL and not stacked, "-tall")

    # --- what keys have to know

    @property
    def seen(self) -> ItemKey | None:
        """What stands on the screen."""
        return self._seen

    @property
    def writer(self) -> KeyCapture | None:
        """The note, or the filter."""
        if self.criterion.editor.is_open:
            return self.criterion.editor
        return self.queue.line if self.queue.typing else None

    def touched(self) -> None:
        """Somebody is there."""
        self.stopwatch.touch()

    @on(NoteEditor.Typed)
    def note_typed(self) -> None:
        """The same while a note is written."""
        self.stopwatch.touch()

    @on(NoteEditor.Full)
    def note_full(self) -> None:
        """What was typed or pasted beyond its end is not in it."""
        said = f"A note has at most {LONGEST_NOTE:,} characters: what came after them was left out."
        self.notify(said, severity="warning", markup=False, timeout=6)

    # --- showing

    def show_item(self) -> None:
        """Show the item that the sitting is at, or the end."""
        item, opened = self.review_session.item, self._opened
        self.set_class(item is None, "-end")
        self.show_title()
        self.queue.show(self.review_session)
        if item is None:
            self._seen = None
            self._show_end()
            return
        if self._end.has_focus:
            self.set_focus(self.answer.view)
        if self._seen != item.key:
            self._seen = None
            self.stopwatch.restart()
        if opened is not None and opened.trial == item.key.trial:
            self._show_criterion(item, opened)
        elif (kept := self.open_suites.kept(item)) is not None:
            self._show_answer(item, kept)
        else:
            self.answer.show_nothing()
            self._name_answer(item)
            self._open(item)

    @work(group="answer", exclusive=True)
    async def _open(self, item: ReviewItem) -> None:
        self._opened = None
        try:
            opened = await asyncio.to_thread(self.open_suites.open, item)
        except AssayError as error:
            if self.review_session.item is item:
                self.answer.view.note(sanitize_line(str(error), 600))
                self._tell_criterion(item, ())
            return
        if self.review_session.item is item:
            self._show_answer(item, opened)

    def _show_answer(self, item: ReviewItem, opened: OpenedAnswer) -> None:
        self._opened = opened
        self._name_answer(item)
        self.answer.show(opened.read, opened.changes, opened.files)
        self._show_criterion(item, opened)
        self._open_ahead()

    def _name_answer(self, item: ReviewItem) -> None:
        ids = dict.fromkeys(sanitize_line(text, 120) for text in (item.case.id, item.case.name) if text)
        opened = self._opened
        masks = opened.read.masks if opened is not None and opened.trial == item.key.trial else 0
        self.answer.name_it(
            answer_name(item, hidden=self.review_session.hidden),
            " · ".join(filter(None, (f"{masked_words(masks)} (m)" if masks else "", *ids))),
        )

    def _show_criterion(self, item: ReviewItem, opened: OpenedAnswer) -> None:
        self._tell_criterion(item, () if self.review_session.hidden else checks_line(opened.result))
        self.call_after_refresh(self._is_seen, item.key)

    def _tell_criterion(self, item: ReviewItem, checks: Line) -> None:
        review_session, review = self.review_session, self.review_session.review
        self.criterion.show(
            Judged(
                item,
                review_session.stand(item.key),
                review.rule,
                review.guidance,
                review_session.kept(item),
                review_session.note_of(item),
                review_session.has_draft(item),
                review_session.deciding,
                review_session.upcoming(),
                checks,
                review_session.hidden,
            )
        )

    def _is_seen(self, key: ItemKey) -> None:
        """It is on the screen now: keys may be about it."""
        item = self.review_session.item
        if item is not None and item.key == key:
            self._seen = key
            self.refresh_bindings()
            if not self.bound_keys:
                self.learn_keys()

    def learn_keys(self) -> None:
        """For a subclass: which keys are about an item, and which open a place to type."""

    @work(group="ahead", exclusive=True)
    async def _open_ahead(self) -> None:
        """The next answer is there when it is wanted; if it cannot be read, that is told then."""
        item = self.review_session.upcoming()
        if item is not None and self.open_suites.kept(item) is None:
            try:
                await asyncio.to_thread(self.open_suites.open, item)
            except AssayError:
                return

    def _show_end(self) -> None:
        review_session = self.review_session
        if review_session.item is None:
            lines = end_lines if review_session.review.items else empty_lines
            self._end.show_fitted(lambda width: lines(review_session, width))
            if not self.queue.has_focus_within:
                self._end.focus()
            self.refresh_bindings()

    def show_title(self) -> None:
        """How far one is."""
        review_session, review = self.review_session, self.review_session.review
        self.title_line.show(
            Title(
                review.suite.name,
                review_session.hidden,
                review.seed,
                review.reviewer,
                review_session.scored,
                len(review.items),
                review_session.spent_ms + (self.stopwatch.milliseconds if review_session.item is not None else 0),
                review_session.scored_in_filter if review_session.wanted else None,
                review_session.deciding,
            )
        )
