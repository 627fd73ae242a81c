"""Moving about in Review: from item to item, in the queue, in the answer."""

from textual import on

from tui.app.presentation.pieces import Line
from tui.app.review.queue_panel import ReviewQueue
from tui.app.review.scoring import ReviewActs
from tui.model.sanitize import sanitize_line
from tui.session.run_review import RunReview


class ReviewMoving(ReviewActs):
    """The queue is a list beside the answer, or in its place."""

    def __init__(self, review: RunReview) -> None:
        super().__init__(review)
        self._queue_was_open = False

    def action_go_on(self) -> None:
        """To the next open item."""
        review_session = self.review_session
        here = review_session.item
        review_session.go_on()
        if here is not None and review_session.item is here:
            self.notify("This is the last open item.", markup=False, timeout=3)
        self.show_item()

    def action_step(self, by: int) -> None:
        """To the item beside."""
        if self.review_session.step(by):
            self.show_item()
        else:
            self.notify(f"This is the {'last' if by > 0 else 'first'} item.", markup=False, timeout=3)

    def action_turn_prompt(self) -> None:
        """A prompt may be long, and is read once; the answer is what is scored."""
        self.touched()
        if self.answer.has_class("-diff"):
            self.answer.turn_diff()
        if not self.answer.view.turn_prompt():
            self.notify("Prompt and answer are in sight together.", markup=False, timeout=3)

    def action_turn_diff(self) -> None:
        """What the answer changed."""
        self.touched()
        if self.answer.changes:
            self.answer.turn_diff()
        else:
            self.notify("This answer changed no file.", markup=False, timeout=3)

    def action_zoom(self) -> None:
        """The answer alone, or everything."""
        self.touched()
        self.toggle_class("-zoomed")
        self.set_focus(self.answer.view)

    def action_match(self, by: int) -> None:
        """Where a check has found something."""
        if by > 0:
            self.answer.view.next_match()
        else:
            self.answer.view.previous_match()

    def action_look_at_extents(self) -> None:
        """To scroll in them."""
        self.criterion.look()

    # --- the queue

    def action_turn_queue(self) -> None:
        """The list beside."""
        self.touched()
        self._open_queue(not self.has_class("-queue"))
        self.set_focus(self.queue.lines if self.has_class("-queue") else self.answer.view)

    def _open_queue(self, is_open: bool) -> None:
        self.set_class(is_open, "-queue")
        self.queue.display = is_open
        self.call_after_refresh(self.queue.look)

    def action_filter(self) -> None:
        """Type a filter."""
        self.remove_class("-zoomed")
        self._queue_was_open = self.has_class("-queue")
        self._open_queue(True)
        self.queue.open_filter()

    @on(ReviewQueue.FilterTyped)
    def take_filter(self, message: ReviewQueue.FilterTyped) -> None:
        """Only what is wanted."""
        self.stopwatch.touch()
        self.ask(message.text)

    def ask(self, text: str) -> None:
        """Show what a filter wants; not while an act is on its way, since it reads what stands."""
        if self.busy:
            self.call_after_refresh(self.ask, text)
        else:
            self.review_session.ask(text)
            self.show_item()

    @on(ReviewQueue.FilterClosed)
    def leave_filter(self) -> None:
        """Back to the answer."""
        self._open_queue(self._queue_was_open)
        if self.review_session.wanted.hint:
            self.notify(
                sanitize_line(self.review_session.wanted.hint, 300), severity="warning", markup=False, timeout=6
            )
        self.set_focus(self.answer.view)
        self.release()

    @on(ReviewQueue.ItemReached)
    def look_at(self, message: ReviewQueue.ItemReached) -> None:
        """The item under the cursor; chosen, it is to be read."""
        if self.busy:
            return
        if message.place != self.review_session.at:
            self.review_session.at = message.place
            self.show_item()
        if message.chosen:
            if self.has_class("-stacked"):
                self._open_queue(False)
            self.set_focus(self.answer.view)

    def action_sort(self) -> None:
        """Choose an order."""
        from tui.app.screens.choice import ChoiceScreen

        orders = self.review_session.orders
        current = next((at for at, (order, _) in enumerate(orders) if order == self.review_session.order), 0)
        lines: list[Line] = [((f" {words}", "plain"),) for _, words in orders]

        def take(place: int | None) -> None:
            if place is not None:
                self.review_session.sort(orders[place][0])
                self.show_item()

        self.app.push_screen(ChoiceScreen("Order of the queue", lines, current, takes="sorts"), take)

    def action_adjudicate(self) -> None:
        """Only what reviewers differ in, to be decided; or everything again."""
        deciding = self.review_session.deciding
        if not deciding and not self.review_session.disputed:
            self.notify("Reviewers differ nowhere that is left to decide.", markup=False, timeout=4)
            return
        text = "" if deciding else "is:disputed"
        self.queue.put_filter(text)
        self.ask(text)
