"""Figures of a run's scoring, over everything else."""

import asyncio

from textual import work

from tui.app.review.figure_lines import figure_lines
from tui.app.screens.text_screen import TextScreen
from tui.model.errors import AssayError
from tui.model.risk import Reviewed
from tui.model.run import RunRecord
from tui.model.sanitize import sanitize_line
from tui.session.reviews import Reviews


class RiskFiguresScreen(TextScreen):
    """They are worked out in a thread: intervals take a moment."""

    def __init__(self, reviews: Reviews, run: RunRecord) -> None:
        super().__init__("Figures of scoring", lambda _: [(("working out …", "dim"),)], "f")
        self._reviews, self._record = reviews, run

    def on_mount(self) -> None:
        """Begin."""
        self._work_out()

    @work(group="figures", exclusive=True)
    async def _work_out(self) -> None:
        try:
            reviewed: Reviewed = await asyncio.to_thread(self._reviews.reviewed, self._record.id)
        except AssayError as error:
            said = sanitize_line(str(error), 600)
            self.change(lambda _: [((said, "error"),)])
            return
        self.change(lambda width: figure_lines(reviewed, width, self._record.models))
