"""Find a case, a suite or a saved answer, and show it in Explore."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tui.app.context import AppContext
from tui.app.explore.screen import ExploreScreen
from tui.app.explore.tabs import AttemptsTab
from tui.app.find.jump_dialog import JumpDialog
from tui.app.find.search_dialog import SearchDialog
from tui.app.find.targets import Target, targets_of
from tui.app.notifications import notify_error
from tui.app.open_suites import OpenSuite
from tui.app.workers import start_worker
from tui.model.answer_search import AnswerHit
from tui.model.errors import AssayError
from tui.model.filter import Filter
from tui.model.results import TrialKey
from tui.model.suite import Case


class Finder:
    """Open the dialogs that find something above Explore, and show there what was chosen.

    A dialog is opened at once, so that the next key is for its input.
    """

    def __init__(self, context: AppContext, explore: ExploreScreen) -> None:
        self._context, self._explore = context, explore

    @property
    def typing(self) -> bool:
        """Return whether a key is a character of the filter."""
        return self._explore.suites.typing

    def jump(self) -> None:
        """Ask for a folder, suite or case, and go to it."""
        selection = self._context.selection
        dialog = JumpDialog(self._read_targets, (selection.path, selection.case_id))
        self._explore.app.push_screen(dialog, self._start_to_go)

    def _read_targets(self) -> Sequence[Target]:
        return targets_of(self._context.open_suites.all)

    def _start_to_go(self, target: Target | None) -> None:
        if target is not None:
            start_worker(self._explore, partial(self._go, target), group="find", exclusive=True)

    async def _go(self, target: Target) -> None:
        """Put the cursor of the tree on a target, and display it."""
        explore = self._explore
        if not await explore.navigator.back_to_explore():
            return
        open_suite = self._context.open_suites.get(target.path) if target.path else None
        if open_suite is not None:
            self._select(open_suite, open_suite.find_case(target.case_id))
        elif not target.path:
            explore.stop_auto_follow()
            self._close_filter()
            explore.suites.go_to_folder(target.folder)
        explore.suites.suite_tree.focus()

    def show_case(self, path: Path, case_id: str) -> None:
        """Select a case that was chosen in a matrix, and focus the answer of the current model there."""
        open_suite = self._context.open_suites.get(path)
        if open_suite is not None and (case := open_suite.find_case(case_id)):
            self._explore.stop_auto_follow()
            self._explore.select(open_suite, case)
            self._explore.answers.show_model(self._context.matrices[path].model)

    def _select(self, open_suite: OpenSuite, case: Case | None) -> None:
        """Select a case of a suite, or the suite. A filter that excludes it is closed."""
        selection = self._context.selection
        self._explore.stop_auto_follow()
        if selection.filter and (case is None or not selection.matches_filter(open_suite.path, case)):
            self._close_filter()
        self._explore.select(open_suite, case)

    def _close_filter(self) -> None:
        self._context.selection.filter = Filter()
        self._explore.suites.close_filter()

    def search(self) -> None:
        """Ask for a saved answer, and open its run there."""
        context = self._context
        selected = context.selection.open_suite
        dialog = SearchDialog(context, lambda: context.scores.run_of(selected) if selected is not None else "")
        self._explore.app.push_screen(dialog, self._start_to_open)

    def _start_to_open(self, hit: AnswerHit | None) -> None:
        if hit is not None:
            start_worker(self._explore, partial(self._open, hit), group="find", exclusive=True)

    async def _open(self, hit: AnswerHit) -> None:
        """Open the run of an answer, and display the answer in its pane."""
        explore, selection = self._explore, self._context.selection
        if not await explore.navigator.back_to_explore():
            return
        try:
            saved = await explore.open_run(hit.run)
            trial = TrialKey(hit.case, hit.model, hit.repeat)
            models = selection.models_of(saved.path)
            if hit.model not in models:
                selection.choose_models((hit.model, *models), saved.path)
            await explore.saved_runs.read_trials([trial])
        except AssayError as error:
            notify_error(explore, error)
            return
        self._select(saved, saved.find_case(hit.case))
        progress = self._context.open_suites.state(saved.path).trials.get(trial)
        if progress is not None:
            explore.show_attempt(AttemptsTab.AttemptChosen(progress, hit.attempt))
        if hit.model in selection.models:
            explore.action_pane(selection.models.index(hit.model))
