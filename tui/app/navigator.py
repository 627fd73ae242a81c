"""Open other screens above the current one, and go back; each screen module is imported on first use."""

import asyncio
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from textual.message import Message
from textual.screen import Screen

from tui.app.context import AppContext
from tui.app.keymap import with_keys
from tui.app.notifications import notify_error
from tui.app.open_suites import OpenSuite
from tui.app.run_requests import models_with_results
from tui.app.run_scores import ScoresChanged
from tui.model.errors import AssayError
from tui.model.scores import ItemKey
from tui.model.suite import Suite
from tui.session.answers import Source

if TYPE_CHECKING:
    from tui.app.runs.screen import RunChoice
    from tui.model.run import RunRecord

_NO_RUN = "No saved run of this suite. Run it first, then score its answers."
_NO_MODEL = "Nothing to compare here. The suite has no models."

ScreenName = Literal["matrix", "compare", "review", "runs"]


class Subject(NamedTuple):
    """What a screen displays: a suite by the path of its file, one of its runs (None: the newest), and a case."""

    suite_path: str
    run: "RunRecord | None" = None
    case_id: str | None = None


_SCREENS: dict[ScreenName, tuple[str, str]] = {
    "matrix": ("tui.app.matrix.screen", "MatrixScreen"),
    "compare": ("tui.app.compare.screen", "CompareScreen"),
    "review": ("tui.app.review.screen", "ReviewScreen"),
    "runs": ("tui.app.runs.screen", "RunsScreen"),
}
"""The module and the class of each screen. They are imported by name: the screens themselves import this module."""


def _kind(name: ScreenName) -> Any:
    """Import the class of a screen."""
    module, kind = _SCREENS[name]
    return getattr(import_module(module), kind)


class RunChosen(Message, bubble=False):
    """Posted after Runs was closed, with the chosen action (None: none) and the deleted runs."""

    def __init__(self, choice: "RunChoice | None", deleted: Sequence["RunRecord"]) -> None:
        super().__init__()
        self.choice, self.deleted = choice, deleted


class CaseChosen(Message, bubble=False):
    """Posted to display a case of an open suite in Explore, with the current model of its matrix."""

    def __init__(self, path: Path, case_id: str) -> None:
        super().__init__()
        self.path, self.case_id = path, case_id


class Navigator:
    """Open other screens above `screen`.

    Its coroutines end when the opened screen is closed: await them in a worker. Errors are notified. What is chosen in
    Runs or in the matrix is done by Explore, the first screen of the stack: the screens above it are closed.
    """

    def __init__(self, context: AppContext, screen: Screen[Any]) -> None:
        self._context, self._screen = context, screen

    async def choose_run(self) -> "tuple[RunChoice | None, list[RunRecord]]":
        """Open the list of runs, and return the chosen action with its run, and the deleted runs."""
        session, scores = self._context.session, self._context.scores
        screen = _kind("runs")(session.history, session.filters, scores.hidden_scores, scores.record_names)
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
        """Open the export dialog for the run whose answers a suite displays; of several ones, ask which."""
        try:
            run_id = await asyncio.to_thread(self._context.scores.run_of, open_suite)
        except AssayError as error:
            notify_error(self._screen, error)
        else:
            trials = self._context.open_suites.state(open_suite.path).trials.values()
            await self.export([*dict.fromkeys(filter(None, (run_id, *(trial.run for trial in trials))))])

    async def open(self, name: ScreenName, subject: Subject) -> None:
        """Go back to a screen that is open below the current one, or open it for what the current one displays."""
        if await self._go_back_to(name):
            return
        if name == "runs":
            await self.open_runs()
        elif name == "review":
            await self._review_subject(subject)
        elif name == "compare" and subject.run is not None:
            await self.compare_run(subject.run, subject.case_id)
        elif name == "matrix":
            await self._open_matrix_of(subject)

    async def open_runs(self) -> None:
        """Open the list of runs; Explore carries out what is chosen in it."""
        choice, deleted = await self.choose_run()
        if choice is None or await self.back_to_explore():
            self._context.post(RunChosen(choice, deleted))

    async def open_matrix(self, open_suite: OpenSuite, case_id: str | None) -> None:
        """Open the matrix of a suite with the cursor on a case; Explore displays the case that is chosen in it."""
        module, _ = _SCREENS["matrix"]
        chosen = await import_module(module).open_matrix(self._context, self._screen, open_suite, case_id)
        if chosen is not None and await self.back_to_explore():
            self._context.post(CaseChosen(open_suite.path, chosen))

    async def _open_matrix_of(self, subject: Subject) -> None:
        open_suite = self._find_suite(subject)
        if open_suite is not None:
            await self.open_matrix(open_suite, subject.case_id)
        elif subject.run is not None and await self.back_to_explore():
            from tui.app.runs.screen import RunChoice

            self._context.post(RunChosen(RunChoice("matrix", subject.run), ()))

    async def _review_subject(self, subject: Subject) -> None:
        open_suite = self._find_suite(subject)
        if subject.run is not None:
            await self.review_run(subject.run.id)
        elif open_suite is not None:
            models = models_with_results(self._context.selection, open_suite)
            run_id = self._context.scores.run_of_case(open_suite, subject.case_id, models)
            await self.review(open_suite, run_id=run_id)

    def _find_suite(self, subject: Subject) -> OpenSuite | None:
        """Return the open suite that displays the subject's run, or its file if it has none."""
        suites, run = self._context.open_suites, subject.run
        if run is None:
            return suites.get(Path(subject.suite_path))
        return next((each for each in suites.all if self._context.scores.current_run(each) == run.id), None)

    async def _go_back_to(self, name: ScreenName) -> bool:
        """Close the screens above the nearest one of this kind, and return whether there is one."""
        _, kind = _SCREENS[name]
        below = self._screen.app.screen_stack[:-1]
        places = [place for place, screen in enumerate(below) if type(screen).__name__ == kind]
        if places:
            await self._close_above(places[-1])
        return bool(places)

    async def back_to_explore(self) -> bool:
        """Close the screens above Explore, after a question if changes would be lost; return whether."""
        return await self._close_above(0)

    async def _close_above(self, place: int) -> bool:
        """Close the screens above a place of the stack, after a question if changes would be lost; return whether."""
        from tui.app.dialogs import ConfirmScreen

        app = self._screen.app
        lost = "\n\n".join(filter(None, (describe() for describe in self._context.unsaved_work)))
        if lost and len(app.screen_stack) > place + 1:
            question = ConfirmScreen("Leave?", lost, yes="leave", no="stay")
            if not await app.push_screen_wait(question):
                return False
        for screen in reversed(app.screen_stack[place + 1 :]):
            screen.dismiss()
        return True

    def compare(self, suite: Suite, sources: tuple[Source, Source] | None, case_id: str | None) -> None:
        """Open Compare with the answers of two sources; `case_id` is the case to start on."""
        if sources is None:
            self._screen.notify(_NO_MODEL, severity="warning", markup=False)
            return
        self._screen.app.push_screen(_kind("compare")(suite, *sources, case_id, self._context))

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

    async def compare_run(self, run: "RunRecord", case_id: str | None = None) -> None:
        """Open Compare with a run and its baseline, or with two models of the run."""
        from tui.app.compare.pairs import sources_of_run

        history = self._context.session.history
        try:
            opened = await asyncio.to_thread(history.open_run, run.id)
            runs = await asyncio.to_thread(history.answers.list_runs, run.suite_file)
            baseline = await asyncio.to_thread(history.baseline_of, run)
        except AssayError as error:
            notify_error(self._screen, error)
            return
        self.compare(opened.suite, sources_of_run(run, baseline, runs), case_id)

    async def review(self, open_suite: OpenSuite, start: ItemKey | None = None, run_id: str = "") -> None:
        """Open Review for a run, by default for the one whose answers a suite displays.

        It starts on `start` unless names are hidden.
        """
        try:
            run_id = run_id or await asyncio.to_thread(self._context.scores.run_of, open_suite)
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
        review_screen = await asyncio.to_thread(_kind, "review")  # the first import takes about 0.1 s
        from tui.app.review.dialogs import ReviewStartScreen

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
        screen = review_screen(review, context, None if review.blind else start)
        scores.begin_review(run_id)
        try:
            await self._screen.app.push_screen_wait(screen)
        finally:  # the screen below may be closed together with Review, and this worker with it
            scores.end_review(run_id)
            context.post(ScoresChanged())
