"""From Explore to Review, and what was scored there beside the answers."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from textual import on, work

from tui.app.matrix.messages import ReviewRequested
from tui.app.presentation.outline import OpenSuite
from tui.app.run_queue import RunQueue
from tui.app.runs.screen import RunChoice
from tui.app.screens.tabulating import TabulatingScreen
from tui.app.session_protocol import Session
from tui.app.widgets.evidence import TabId
from tui.app.widgets.risk_tab import RiskTab
from tui.model.errors import AssayError
from tui.model.results import TrialKey
from tui.model.risk import Band
from tui.model.sanitize import sanitize_line
from tui.model.scores import ItemKey
from tui.session.run_history import RunHistory

if TYPE_CHECKING:
    from tui.session.reviews import Reviews
    from tui.session.run_review import RunReview

Found = TypeVar("Found")
_NO_RUN = "No run of this suite is kept: run it first (R), then score its answers."


class ReviewingScreen(TabulatingScreen):
    """Scores belong to a run: a suite's file stands for its newest one."""

    _risk_of: tuple[Path | None, str | None] | None = None
    _reviewer: str | None = None

    def __init__(self, open_session: Callable[[], Session], paths: Sequence[Path]) -> None:
        super().__init__(open_session, paths)
        self._noted: set[str] = set()

    def action_review(self) -> None:
        """Score the answers of the suite that is looked at."""
        self.review_here()

    @on(ReviewRequested)
    def review_from_matrix(self) -> None:
        """The same, from the matrix above."""
        self.review_here()

    @on(RiskTab.ReviewAsked)
    def review_item(self, message: RiskTab.ReviewAsked) -> None:
        """The answer under the cursor, by the criterion that it stands under."""
        self.review_here(message.item)

    @work(group="review", exclusive=True)
    async def review_here(self, start: ItemKey | None = None) -> None:
        """`start` is the item to begin with, where names are shown."""
        selection, session = self.selection, self.session
        open_suite = selection.open_suite if selection else None
        if selection is None or session is None or open_suite is None or open_suite.suite is None:
            self.notify("Nothing to review here: choose a suite first.", severity="warning", markup=False)
            return
        try:
            run_id = await asyncio.to_thread(
                _run_of, session.history, self._run_here(open_suite), open_suite.suite.path
            )
            if run_id:
                await self._review(session, run_id, start)
            else:
                self.notify(_NO_RUN, severity="warning", markup=False)
        except AssayError as error:
            self.notify(sanitize_line(str(error), 600), severity="error", markup=False, timeout=12)

    def _run_here(self, open_suite: OpenSuite) -> str:
        state = self.selection.open_suites.state(open_suite.path) if self.selection else None
        return open_suite.run or (state.run_id if state else None) or ""

    async def follow_choice(self, choice: RunChoice) -> None:
        """Scoring is no reason to open the run in Explore."""
        if choice.act == "review" and self.session is not None:
            await self._review(self.session, choice.run.id, None)
        else:
            await super().follow_choice(choice)

    async def _review(self, session: Session, run_id: str, start: ItemKey | None) -> None:
        await asyncio.to_thread(import_module, "tui.app.review.screen")  # a tenth of a second the first time
        from tui.app.review.dialogs import ReviewStartScreen
        from tui.app.review.screen import ReviewScreen

        reviews = session.reviews
        name = await asyncio.to_thread(lambda: self._who(session) or reviews.suggested_reviewer())
        review = await asyncio.to_thread(reviews.open_review, run_id, name or "reviewer", blind=False)
        if review.items:
            repeats = review.repeats if review.done() else reviews.repeats
            begin = await self.app.push_screen_wait(
                ReviewStartScreen(review, name, named=start is not None, repeats=repeats)
            )
            if begin is None:
                return
            review = await asyncio.to_thread(
                lambda: reviews.open_review(run_id, begin.reviewer, blind=begin.blind, repeats=begin.repeats)
            )
            self._reviewer = begin.reviewer
            await self._remember(session, begin.reviewer)
        screen = ReviewScreen(review, reviews, session.history, None if review.blind else start)
        self._noted.discard(run_id)
        await self.app.push_screen_wait(screen)
        self._noted.add(run_id)  # Leaving is the look.
        self.scores_changed()

    def _who(self, session: Session) -> str | None:
        """Whoever scored last here, also where the config names somebody else: what they gave blind is hidden from
        them. It blocks: for a thread."""
        return self._reviewer or session.reviews.default_reviewer()

    def hidden_scores(self, run_id: str) -> int:
        """What was given blind here and not revealed."""
        return self.session.reviews.hidden_scores(run_id, self._who(self.session)) if self.session is not None else 0

    def note_names(self, run_id: str, where: str) -> None:
        """Record a look where the run is scored blind, once between two sessions of Review, and say so."""
        if self.session is not None and run_id not in self._noted:
            self._noted.add(run_id)
            self._note_look(self.session, run_id, where)

    @work(group="look")
    async def _note_look(self, session: Session, run_id: str, where: str) -> None:
        try:
            name = await asyncio.to_thread(lambda: session.reviews.note_look(run_id, where, self._who(session)))
        except AssayError as error:
            self._noted.discard(run_id)
            self.notify(sanitize_line(str(error), 600), severity="error", markup=False, timeout=12)
            return
        if name is not None:
            said = f"{sanitize_line(name, 60)} scores this run blind and sees names now: recorded in the score file."
            self.notify(said, severity="warning", markup=False, timeout=8)

    async def _remember(self, session: Session, name: str) -> None:
        """Whoever scores is proposed the next time; where that cannot be kept, scores still can."""
        try:
            if name != await asyncio.to_thread(session.reviews.default_reviewer):
                await asyncio.to_thread(session.reviews.remember_reviewer, name)
        except AssayError as error:
            self.notify(sanitize_line(str(error), 600), severity="warning", markup=False, timeout=8)

    # --- what was scored, beside the answers

    def turn_to(self, tab: TabId) -> None:
        """The same for the Risk tab."""
        super().turn_to(tab)
        if tab == "risk":
            self._read_risk()

    def show_evidence(self) -> None:
        """The Risk tab reads what was scored when it is looked at."""
        super().show_evidence()
        if self.evidence.current == "risk":
            self._read_risk()

    def _read_risk(self) -> None:
        selection = self.selection
        open_suite = selection.open_suite if selection else None
        if selection is None or open_suite is None:
            return
        which = (selection.path, self._run_here(open_suite))
        if which != self._risk_of:
            self._risk_of = which
            self._read_scores(open_suite)

    @work(group="scores", exclusive=True)
    async def _read_scores(self, open_suite: OpenSuite) -> None:
        self.evidence.risk.take(await self._scores_of(open_suite))
        super().show_evidence()

    async def _scores_of(self, open_suite: OpenSuite) -> "RunReview | None":
        return await self._read_of_run(
            open_suite, lambda reviews, run, who: reviews.open_review(run, who or "reviewer", blind=False)
        )

    async def bands_of(self, open_suite: OpenSuite) -> Mapping[TrialKey, Band]:
        """For the matrix; without what its reviewer may not see beside names yet."""
        return await self._read_of_run(open_suite, lambda reviews, run, who: reviews.bands(run, who)) or {}

    async def _read_of_run(
        self, open_suite: OpenSuite, read: "Callable[[Reviews, str, str | None], Found]"
    ) -> Found | None:
        """What is kept of scoring the run here, for whoever scores; None where there is no run, or it cannot be read,
        which is told."""
        session, suite = self.session, open_suite.suite
        if session is None or suite is None:
            return None
        wanted = self._run_here(open_suite)

        def read_it() -> Found | None:
            run_id = _run_of(session.history, wanted, suite.path)
            return read(session.reviews, run_id, self._who(session)) if run_id else None

        try:
            return await asyncio.to_thread(read_it)
        except AssayError as error:
            self.notify(sanitize_line(str(error), 600), severity="warning", markup=False, timeout=8)
            return None

    def scores_changed(self) -> None:
        """Somebody has scored: what is shown of it is read again."""
        self._risk_of = None
        if self.evidence.current == "risk":
            self.show_evidence()
        if self._open is not None:
            self._show_bands_again()

    @work(group="bands", exclusive=True)
    async def _show_bands_again(self) -> None:
        open_suite = self.selection.open_suites.open_suite(self._open[0]) if self.selection and self._open else None
        bands = await self.bands_of(open_suite) if open_suite else {}
        if self._open is not None:
            self._open[1].panel.table.show_bands(bands)

    @on(RunQueue.RunEnded)
    def read_risk_again(self) -> None:
        """There may be other answers now."""
        self._risk_of = None

    @on(RiskTab.TrailAsked)
    def show_trail(self, message: RiskTab.TrailAsked) -> None:
        """Everything that happened to an item, as far as it may be seen beside a name."""
        from tui.app.review.lines import trail_lines
        from tui.app.screens.text_screen import TextScreen

        review = self.evidence.risk.review
        item = next((each for each in review.items if each.key == message.item), None) if review else None
        if review is None or item is None:
            return
        acts = [act for act in review.board.trail(item.key) if not review.hides(act)]
        self.app.push_screen(TextScreen("Trail", lambda width: trail_lines(item, acts, review.rule, width), "T"))


def _run_of(history: RunHistory, run_id: str, suite: str) -> str:
    """That run if it is kept, else the newest of the suite; empty where there is none."""
    runs = [run.id for run in history.answers.list_runs(suite)]
    return run_id if run_id in runs else next(iter(runs), "")
