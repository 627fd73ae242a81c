"""From Explore to Review: the run that is looked at, or a kept one."""

import asyncio

from textual import on, work

from tui.app.screens.matrix_asks import ReviewRequested
from tui.app.screens.recalling import RecallingScreen
from tui.app.screens.runs import RunChoice
from tui.model.errors import AssayError
from tui.model.scores import ItemKey
from tui.model.shown import show_line
from tui.session.run_history import RunHistory


class ReviewingScreen(RecallingScreen):
    """Scores belong to a run: a suite's file stands for its newest one."""

    def action_review(self) -> None:
        """Score the answers of the suite that is looked at."""
        self.review_here()

    @on(ReviewRequested)
    def review_from_matrix(self) -> None:
        """The same, from the matrix above."""
        self.review_here()

    @work(group="review", exclusive=True)
    async def review_here(self, start: ItemKey | None = None) -> None:
        """`start` is the item to begin with, where names are shown."""
        looking, desk = self.looking, self.desk
        volume = looking.volume if looking else None
        if looking is None or desk is None or volume is None or volume.suite is None:
            self.notify("Nothing to review here: choose a suite first.", severity="warning", markup=False)
            return
        try:
            run_id = await asyncio.to_thread(
                _run_of, desk.history, volume.run or looking.state.run_id or "", volume.suite.path
            )
            if run_id:
                await self._review(run_id, start)
            else:
                said = "No run of this suite is kept: run it first (R), then score its answers."
                self.notify(said, severity="warning", markup=False)
        except AssayError as error:
            self.notify(show_line(str(error), 600), severity="error", markup=False, timeout=12)

    async def follow_choice(self, choice: RunChoice) -> None:
        """Scoring is no reason to open the run in Explore."""
        if choice.act == "review":
            await self._review(choice.run.id, None)
        else:
            await super().follow_choice(choice)

    async def _review(self, run_id: str, start: ItemKey | None) -> None:
        from tui.app.review.who import guess_name
        from tui.app.screens.review import ReviewScreen
        from tui.app.screens.review_start import ReviewStartScreen

        desk = self.desk
        if desk is None:
            return
        reviews = desk.reviews
        name = await asyncio.to_thread(lambda: reviews.default_reviewer() or guess_name())
        review = await asyncio.to_thread(reviews.open_review, run_id, name or "reviewer", blind=False)
        if review.items:
            begin = await self.app.push_screen_wait(ReviewStartScreen(review, name, named=start is not None))
            if begin is None:
                return
            review = await asyncio.to_thread(reviews.open_review, run_id, begin.reviewer, blind=begin.blind)
            if begin.reviewer != name:
                await asyncio.to_thread(reviews.remember_reviewer, begin.reviewer)
        screen = ReviewScreen(review, reviews, desk.history, None if review.blind else start)
        await self.app.push_screen_wait(screen)
        self.scores_changed(run_id)

    def scores_changed(self, run_id: str) -> None:
        """For a subclass: somebody has scored answers of that run."""


def _run_of(history: RunHistory, run_id: str, suite: str) -> str:
    """That run if it is kept, else the newest of the suite; empty where there is none."""
    runs = [run.id for _, run in history.answers.list_sources(suite) if run is not None]
    return run_id if run_id in runs else next(iter(runs), "")
