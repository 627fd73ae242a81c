"""Scores, decisions and notes of a review session: saved to the disk first, then shown."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from tui.app.review.queue import ReviewSession
from tui.model.scores import Extent, ItemKey, ReviewItem
from tui.session.run_review import AnswersReplaced


@dataclass(frozen=True, slots=True)
class RecordedScore:
    """A score that was saved, a decision, or one that was there already and is not saved again."""

    item: ReviewItem
    extent: Extent
    is_decision: bool = False
    is_repeated: bool = False


class Scoring:
    """Change a review session, one coroutine at a time.

    Each one saves in a thread, and updates the session afterwards. It raises AssayError if that cannot be saved, and
    leaves the session as it was. Where all items would be scored, or names shown, and answers have been replaced
    meanwhile, their items are open again and it raises AnswersReplaced.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._session, self._review = session, session.review

    async def score(self, item: ReviewItem, extent: Extent, shown: str | None = None) -> RecordedScore:
        """Save an extent with the item's note, as a decision where reviewers are compared; go to the next open item.

        `shown` is the hash of the answer on the screen. Raises AnswerChanged if another one was read since.
        """
        session, before = self._session, self._session.current_act(item)
        note, is_decision = session.note(item), session.deciding
        repeated = before is not None and (before.extent, before.note) == (extent, note)
        if before is not None and repeated:
            await asyncio.to_thread(self._review.check_current, before)
        else:
            await self._save(item.key, extent, note, shown)
        if session.next_open() is None:
            await self._reopen_replaced(self._review.check_answers)
        session.go_to_next_open()
        return RecordedScore(item, extent, is_decision and not repeated, repeated)

    async def save_note(self, item: ReviewItem, extent: Extent, shown: str | None = None) -> None:
        """Save the item's note with an extent that was saved before; `shown` is as in `score`."""
        await self._save(item.key, extent, self._session.note(item), shown)

    async def withdraw(self, item: ReviewItem) -> None:
        """Take back the reviewer's own score; its note waits for another extent."""
        await asyncio.to_thread(self._review.invalidate, item.key)
        self._session.restore_note(item.key)

    async def undo(self) -> ItemKey | None:
        """Take back the last act of this session, and go to its item. Return the item, None if there was no act."""
        key = await asyncio.to_thread(self._review.undo)
        if key is not None:
            self._session.restore_note(key)
            self._session.go_to(key)
        return key

    async def look_again(self) -> None:
        """Show what was scored elsewhere since, and count the answers that were saved after the queue was made."""
        await self.read_new_acts()
        await asyncio.to_thread(self._review.count_later)

    async def reveal(self) -> None:
        """Show names from now on, for good."""
        await self._reopen_replaced(self._review.reveal)
        self._session.refresh()

    async def read_new_acts(self) -> None:
        """Show what other programs have scored and decided since."""
        await asyncio.to_thread(self._review.read_new_acts)
        self._session.refresh()

    async def record_look(self, where: str) -> None:
        """Record that the reviewer sees names although the session is blind and not finished."""
        await asyncio.to_thread(self._review.look, where)

    async def _reopen_replaced(self, check: Callable[[], object]) -> None:
        """Call what may raise AnswersReplaced in a thread; go to the first open item if it does."""
        try:
            await asyncio.to_thread(check)
        except AnswersReplaced:
            self._session.refresh()
            self._session.go_to_next_open()
            raise

    async def _save(self, key: ItemKey, extent: Extent, note: str, shown: str | None) -> None:
        session, review = self._session, self._review
        if session.deciding:
            await asyncio.to_thread(review.adjudicate, key, extent, note, shown=shown)
        else:
            await asyncio.to_thread(review.give, key, extent, note, session.timer.milliseconds, shown=shown)
        session.discard_draft(key)
        session.refresh(key)
        session.timer.restart()
