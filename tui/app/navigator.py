"""Open other screens above the current one; each screen module is imported on first use."""

import asyncio
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from textual.message import Message
from textual.screen import Screen

from tui.app.context import AppContext
from tui.app.keymap import with_keys
from tui.app.notifications import notify_error
from tui.app.open_suites import OpenSuite
from tui.model.errors import AssayError
from tui.model.scores import ItemKey
from tui.model.suite import Suite
from tui.session.answers import Source

if TYPE_CHECKING:
    from tui.app.runs.screen import RunChoice
    from tui.model.run import RunRecord

_NO_RUN = "No saved run of this suite. Press {run_suite} to run it, then score its answers."
_NO_MODEL = "Nothing to compare here. The suite has no models."


class ScoresChanged(Message, bubble=False):
    """Posted after a session of Review was closed: displayed scores may be out of date."""


class Navigator:
    """Open other screens above `screen`.

    Its coroutines end when the opened screen is closed: await them in a worker. Errors are notified.
    """

    def __init__(self, context: AppContext, screen: Screen[Any]) -> None:
        self._context, self._screen = context, screen

    async def choose_run(self) -> "tuple[RunChoice | None, list[str]]":
        """Open the list of runs, and return the chosen action with its run, and the ids of the deleted runs."""
        from tui.app.runs.screen import RunsScreen

        session, scores = self._context.session, self._context.scores
        screen = RunsScreen(session.history, session.filters, scores.hidden_scores, scores.record_names)
        return await self._screen.app.push_screen_wait(screen), screen.deleted

    async def export(self, run_ids: Sequence[str]) -> None:
        """Open the export dialog for a saved run; of several ones, ask which."""
        from tui.app.report_export import ReportExporter

        scores = self._context.scores
        exporter = ReportExporter(
            self._screen, self._context.session.history, scores.hidden_scores, scores.record_names
        )
        await exporter.open(run_ids)

    async def export_suite(self, open_suite: OpenSuite) -> None:
        """Open the export dialog for the run whose answers a suite displays."""
        try:
            run_id = await asyncio.to_thread(self._context.scores.run_of, open_suite)
        except AssayError as error:
            notify_error(self._screen, error)
        else:
            await self.export([run_id] if run_id else [])

    def compare(self, suite: Suite, sources: tuple[Source, Source] | None, case_id: str | None) -> None:
        """Open Compare with the answers of two sources; `case_id` is the case to start on."""
        from tui.app.compare.screen import CompareScreen

        if sources is None:
            self._screen.notify(_NO_MODEL, severity="warning", markup=False)
            return
        self._screen.app.push_screen(CompareScreen(suite, *sources, case_id, self._context))

    async def compare_models(
        self, open_suite: OpenSuite, models: tuple[str, ...], current: str, case_id: str | None
    ) -> None:
        """Open Compare with the answers of the current model of a suite and of another model."""
        from tui.app.compare.pairs import sources_of_models

        suite = open_suite.suite
        if suite is None:
            return
        try:
            runs = await asyncio.to_thread(self._context.session.history.answers.list_runs, suite.path)
        except AssayError as error:
            notify_error(self._screen, error)
            return
        self.compare(suite, sources_of_models(suite.path, open_suite.run, models, current, runs), case_id)

    async def compare_run(self, run: "RunRecord") -> None:
        """Open Compare with a run and its baseline, or with two models of the run."""
        from tui.app.compare.pairs import sources_of_run

        history = self._context.session.history
        try:
            opened = await asyncio.to_thread(history.open_run, run.id)
            runs = await asyncio.to_thread(history.answers.list_runs, run.suite_path)
            baseline = await asyncio.to_thread(history.baseline_of, run)
        except AssayError as error:
            notify_error(self._screen, error)
            return
        self.compare(opened.suite, sources_of_run(run, baseline, runs), None)

    async def review(self, open_suite: OpenSuite, start: ItemKey | None = None) -> None:
        """Open Review for the run whose answers a suite displays. It starts on `start` unless names are hidden."""
        try:
            run_id = await asyncio.to_thread(self._context.scores.run_of, open_suite)
            if run_id:
                await self._review(run_id, start)
            else:
                self._screen.notify(with_keys(self._screen, _NO_RUN), severity="warning", markup=False)
        except AssayError as error:
            notify_error(self._screen, error)

    async def review_run(self, run_id: str) -> None:
        """Open Review for a saved run."""
        try:
            await self._review(run_id, None)
        except AssayError as error:
            notify_error(self._screen, error)

    async def _review(self, run_id: str, start: ItemKey | None) -> None:
        await asyncio.to_thread(import_module, "tui.app.review.screen")  # the first import takes about 0.1 s
        from tui.app.review.dialogs import ReviewStartScreen
        from tui.app.review.screen import ReviewScreen

        context, scores = self._context, self._context.scores
        reviews = context.session.reviews
        name = await asyncio.to_thread(lambda: scores.reviewer() or reviews.suggested_reviewer())
        review = await asyncio.to_thread(reviews.open_review, run_id, name or "reviewer", blind=False)
        if review.items:
            repeats = review.repeats if review.done() else reviews.repeats
            start_screen = ReviewStartScreen(review, name, named=start is not None, repeats=repeats)
            begin = await self._screen.app.push_screen_wait(start_screen)
            if begin is None:
                return
            review = await asyncio.to_thread(
                lambda: reviews.open_review(run_id, begin.reviewer, blind=begin.blind, repeats=begin.repeats)
            )
            await scores.set_reviewer(begin.reviewer)
        screen = ReviewScreen(review, context, None if review.blind else start)
        scores.begin_review(run_id)
        await self._screen.app.push_screen_wait(screen)
        scores.end_review(run_id)
        context.post(ScoresChanged())
