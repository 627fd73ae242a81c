"""What is given to an item: on the disk first, then on the screen."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from textual import on, work

from tui.app.presentation.pieces import Line
from tui.app.review.criterion_panel import CriterionPanel
from tui.app.review.lines import given_line
from tui.app.review.note_editor import NoteEditor
from tui.app.review.view import ReviewLooking
from tui.model.errors import AssayError
from tui.model.sanitize import sanitize_line
from tui.model.scores import Extent, ItemKey
from tui.risk.queue import ReviewItem
from tui.session.run_review import RunReview

Kept = TypeVar("Kept")


class ReviewActs(ReviewLooking):
    """One act at a time: while one is being written, keys wait."""

    def __init__(self, review: RunReview) -> None:
        super().__init__(review)
        self._acting = self._refused = False
        self._noted: ReviewItem | None = None

    @property
    def busy(self) -> bool:
        """Whether an act is being written."""
        return self._acting

    def do(self, act: Callable[[], Kept], done: Callable[[Kept], None]) -> None:
        """Write an act in a thread; what follows from it is shown when it is on the disk."""
        if not self._acting:
            self._acting = True
            self._do(act, done)

    @work(group="act")
    async def _do(self, act: Callable[[], Kept], done: Callable[[Kept], None]) -> None:
        try:
            kept = await asyncio.to_thread(act)
        except AssayError as error:
            self._refused = True
            self.notify(sanitize_line(str(error), 600), title="Not kept", severity="error", markup=False, timeout=12)
        else:
            if self._refused:
                self.app.clear_notifications()  # beside what is kept "Not kept" would be a lie
            self._refused = False
            done(kept)
        finally:
            self._acting = False
            self.release()

    def _item(self) -> ReviewItem | None:
        """The item that is on the screen, and may be acted on."""
        item = self.review_session.item
        return item if item is not None and not self._acting and self.seen == item.key else None

    # --- extents

    def action_give(self, extent: str) -> None:
        """An extent for what is on the screen; then the next open item."""
        self.give("n/a" if extent == "n/a" else int(extent))

    @on(CriterionPanel.ExtentClicked)
    def take_click(self, message: CriterionPanel.ExtentClicked) -> None:
        """The same by the mouse; what is being written as a note belongs to it."""
        item, editor = self._item(), self.criterion.editor
        if item is not None and editor.is_open:
            self.review_session.write_note(item, editor.text.strip())
            self._close_editor()
        self.give(message.extent)

    def give(self, extent: Extent) -> None:
        """Score, or decide."""
        item = self._item()
        if item is None:
            return
        review_session, review, key = self.review_session, self.review_session.review, item.key
        note, took, before = review_session.note_of(item), self.stopwatch.milliseconds, review_session.kept(item)
        if before is not None and (before.extent, before.note) == (extent, note):
            self._tell_given(item, extent, "Already ", undoes=False)
            self._go_on()
        elif review_session.deciding:
            self.do(lambda: review.adjudicate(key, extent, note), lambda _: self._given(item, extent, "Decided "))
        else:
            self.do(lambda: review.give(key, extent, note, took), lambda _: self._given(item, extent, ""))

    def _given(self, item: ReviewItem, extent: Extent, what: str) -> None:
        self.review_session.forget_note(item.key)
        self.review_session.refresh(item.key)
        self.stopwatch.restart()
        self._tell_given(item, extent, what)
        self._go_on()

    def _tell_given(self, item: ReviewItem, extent: Extent, what: str, *, undoes: bool = True) -> None:
        rule = self.review_session.review.rule
        self.last.say(lambda width: given_line(item, extent, rule, what, width, undoes=undoes))

    def _go_on(self) -> None:
        self.review_session.go_on()
        self.show_item()

    # --- taking back

    def action_undo(self) -> None:
        """The last act of this sitting."""
        self.do(self.review_session.review.undo, self._undone)

    def _undone(self, key: ItemKey | None) -> None:
        if key is None:
            self.notify("Nothing was given in this sitting that could be taken back.", markup=False, timeout=4)
            return
        self._take_back(key)
        self.review_session.go_to(key)
        self.show_item()

    def action_withdraw(self) -> None:
        """One's own score of the item."""
        item, review = self._item(), self.review_session.review
        if item is None:
            return
        if self.review_session.stand(item.key).mine is None:
            self.notify("You have not scored this item.", markup=False, timeout=4)
            return
        self.do(lambda: review.invalidate(item.key), lambda _: self._withdrawn(item.key))

    def _withdrawn(self, key: ItemKey) -> None:
        self._take_back(key)
        self.show_item()

    def _take_back(self, key: ItemKey) -> None:
        """What was noted is not lost with the extent."""
        self.review_session.take_back(key)
        case = sanitize_line(key.case, 60)
        said: Line = ((f" Taken back: {case} · {sanitize_line(key.criterion, 100)}", "plain"),)
        self.last.say(lambda width: said if width else ())

    # --- notes

    def action_note(self) -> None:
        """Write a note to the item that is looked at."""
        item = self.review_session.item
        if item is None or self._acting:
            return
        self.remove_class("-zoomed")
        self._noted = item
        self.criterion.write(self.review_session.note_of(item))

    @on(NoteEditor.Kept)
    def keep_note(self, message: NoteEditor.Kept) -> None:
        """With the extent where there is one, else until there is."""
        item, review_session = self._noted, self.review_session
        self._close_editor()
        if item is None:
            return
        extent = review_session.write_note(item, message.text)
        if extent is None:
            self.show_item()
            return
        review, key, note, took = review_session.review, item.key, message.text, self.stopwatch.milliseconds
        if review_session.deciding:
            self.do(lambda: review.adjudicate(key, extent, note), lambda _: self._noted_down(key))
        else:
            self.do(lambda: review.give(key, extent, note, took), lambda _: self._noted_down(key))

    def _noted_down(self, key: ItemKey) -> None:
        self.review_session.forget_note(key)
        self.review_session.refresh(key)
        self.stopwatch.restart()
        self.show_item()

    @on(NoteEditor.Left)
    def leave_note(self) -> None:
        """As it was."""
        self._close_editor()

    def unkept(self) -> str:
        """Notes that belong to no score yet, and one that is being written."""
        item, editor = self._noted, self.criterion.editor
        drafts = sum(bool(note) for note in self.review_session.drafts.values())
        said = []
        if item is not None and editor.is_open and editor.text.strip() != self.review_session.note_of(item):
            said.append("The note that is being written is forgotten; Enter keeps it.")
        if drafts:
            has = "1 note has no extent, and is" if drafts == 1 else f"{drafts} notes have no extent, and are"
            said.append(f"{has} forgotten.")
        return " ".join(said)

    def _close_editor(self) -> None:
        self._noted = None
        self.criterion.close()
        self.set_focus(self.answer.view)
        self.release()
