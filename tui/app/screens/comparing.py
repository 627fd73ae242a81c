"""From Explore to Compare: the answers that are looked at, or those of a kept run."""

import asyncio

from textual import on, work

from tui.app.compare.pairs import sources_of_models, sources_of_run
from tui.app.matrix.messages import CompareRequested
from tui.app.runs.screen import RunChoice
from tui.app.screens.recalling import RecallingScreen
from tui.model.errors import AssayError
from tui.model.sanitize import sanitize_line
from tui.model.suite import Suite
from tui.session.answers import Source


class ComparingScreen(RecallingScreen):
    """Compare shows what is kept, so what runs now is there as soon as it is over."""

    def action_compare(self) -> None:
        """Hold two answers to the case against each other."""
        self._compare()

    @work(group="compare", exclusive=True)
    async def _compare(self) -> None:
        selection, session = self.selection, self.session
        open_suite = selection.open_suite if selection else None
        if selection is None or session is None or open_suite is None or open_suite.suite is None:
            self.notify("Nothing to compare here: choose a suite first.", severity="warning", markup=False)
            return
        suite, models = open_suite.suite, selection.models
        current = self.answers.current.model if self.answers.current else ""
        try:
            runs = await asyncio.to_thread(session.history.answers.list_runs, suite.path)
        except AssayError as error:
            self.notify(sanitize_line(str(error), 600), severity="error", markup=False, timeout=12)
            return
        self._show_compared(
            suite, sources_of_models(suite.path, open_suite.run, models, current, runs), selection.case_id
        )

    @on(CompareRequested)
    def compare_from_matrix(self, message: CompareRequested) -> None:
        """Above the matrix, which is there again afterwards."""
        a, b = (Source(message.suite.path, message.run, model) for model in message.models)
        self._show_compared(message.suite, (a, b), message.case)

    async def follow_choice(self, choice: RunChoice) -> None:
        """Comparing is no reason to open the run in Explore."""
        if choice.act != "compare":
            await super().follow_choice(choice)
            return
        history, _ = self.places()
        opened = await asyncio.to_thread(history.open_run, choice.run.id)
        runs = await asyncio.to_thread(history.answers.list_runs, choice.run.suite_path)
        baseline = await asyncio.to_thread(history.baseline_of, choice.run)
        self._show_compared(opened.suite, sources_of_run(choice.run, baseline, runs), None)

    def _show_compared(self, suite: Suite, sources: tuple[Source, Source] | None, case: str | None) -> None:
        from tui.app.compare.screen import CompareScreen

        if sources is None:
            self.notify("Nothing to compare here: there is no model.", severity="warning", markup=False)
            return
        history, _ = self.places()
        session = self.session
        who = session.reviews.default_reviewer if session else lambda: None
        self.app.push_screen(
            CompareScreen(history.answers, suite, *sources, case, reviewer=who, note_names=self.note_names)
        )
