"""Saved runs opened beside the suite files, to be displayed, resumed, rerun and replayed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from tui.app.context import AppContext
from tui.app.navigator import Navigator
from tui.app.open_suites import OpenSuite
from tui.app.run_controls import RunControls
from tui.app.run_requests import RunRequest
from tui.app.runs.lines import SHORT_ID, run_title
from tui.app.runs.screen import RunChoice
from tui.model.errors import Problem, SuiteError
from tui.model.results import TrialKey
from tui.model.run import RunRecord
from tui.model.state import RunState
from tui.model.subjects import replay_name
from tui.session.run_history import OpenedRun, RunHistory

_RUNS_FOLDER, _REPLAYS_FOLDER, _REJUDGED_FOLDER = "saved runs", "recorded answers", "judged again"


class SavedRuns:
    """Open saved runs as suites. Only the displayed results of a run are read in full.

    The coroutines read the store in a thread, and raise StoreError.
    """

    def __init__(self, context: AppContext) -> None:
        self._session, self._runs = context.session, context.runs
        self._selection, self._open_suites = context.selection, context.open_suites
        self._suite_loader = context.suite_loader

    @property
    def _history(self) -> RunHistory:
        return self._session.history

    async def open(self, run_id: str) -> tuple[OpenSuite, bool]:
        """Open a run with its first results, and return whether `read_outcomes` has to read the others.

        A run that is in progress or queued is not read again.
        """
        opened = await asyncio.to_thread(self._history.open_run, run_id)
        path = Path(f"{opened.record.suite_path} (run {run_id[:SHORT_ID]})")
        known = self._open_suites.get(path)
        if known is not None and self._runs.is_active(path):
            return known, False
        state = RunState()
        state.take_unread(opened.first)
        return self._add(path, opened, opened.record.models, state, _RUNS_FOLDER), True

    async def read_outcomes(self, saved: OpenSuite) -> None:
        """Read the outcome of each trial of an open run."""
        outcomes = await asyncio.to_thread(self._history.read_progress, saved.run)
        self._open_suites.state(saved.path).take_known(outcomes)

    def unread_trials(self) -> tuple[TrialKey, ...]:
        """Return the trials of the selected case of a saved run whose results were not read in full."""
        if not self._selection.run:
            return ()
        return tuple(trial.key for trial in self._selection.repeats() if trial.is_unread)

    async def read_trials(self, trials: Sequence[TrialKey]) -> None:
        """Read the full results of trials of the selected run."""
        selected = self._selection.open_suite
        if selected is not None and selected.run:
            results = await asyncio.to_thread(self._history.read_trials, selected.run, trials)
            self._open_suites.state(selected.path).take_unread(results)

    async def request(self, saved: OpenSuite, trials: Literal["missing", "failed"]) -> RunRequest | None:
        """Return a request for the missing or the failed trials of a run; None if there are none."""
        read = self._history.missing_trials if trials == "missing" else self._history.failed_trials
        found = await asyncio.to_thread(read, saved.run)
        if saved.suite is None or not found:
            return None
        mode: Literal["missing", "attempts"] = "missing" if trials == "missing" else "attempts"
        return RunRequest(saved.path, saved.suite, tuple(found), None, saved.run, mode)

    async def replay(self, run: RunRecord, speed: float | None) -> tuple[OpenSuite, RunRequest | None]:
        """Open a suite for the replay of a run, and return it with the request that replays the answers."""
        opened = await asyncio.to_thread(self._history.open_run, run.id)
        outcomes = await asyncio.to_thread(self._history.read_progress, run.id)
        models = tuple(replay_name(run.id, model) for model in dict.fromkeys(key.model for key in outcomes))
        trials = tuple(TrialKey(key.case, replay_name(run.id, key.model), key.repeat) for key in outcomes)
        path = Path(f"{run.suite_path} (replay of run {run.id[:SHORT_ID]})")
        added = self._add(path, opened, models, RunState(), _REPLAYS_FOLDER)
        request = RunRequest(path, opened.suite, trials, None, run.id, "replay", speed) if trials else None
        return added, request

    async def rejudge(self, run: RunRecord) -> tuple[OpenSuite, RunRequest]:
        """Open a suite in which the answers of a run are judged with the checks of the suite's file.

        Return it with the request that judges them. Raises SuiteError for a file with errors, and if no case was run
        with the same input.
        """
        loaded = await asyncio.to_thread(self._session.open_suite, Path(run.suite_file))
        if loaded.suite is None:
            raise SuiteError("The suite cannot be read", where=run.suite_path, fix="Correct its errors first.")
        opened = await asyncio.to_thread(self._history.open_run, run.id)
        plan = await asyncio.to_thread(self._history.plan_rejudge, run.id, loaded.suite)
        if not plan.trials:
            what = "No case of the file was run with its current prompt"
            raise SuiteError(what, where=run.suite_path, fix="Run the suite again.")
        models = tuple(dict.fromkeys(trial.model for trial in plan.trials))
        path = Path(f"{run.suite_path} (run {run.id[:SHORT_ID]} judged again)")
        opened = replace(opened, suite=plan.suite, changed="")
        added = self._add(path, opened, models, RunState(), _REJUDGED_FOLDER)
        return added, RunRequest(path, plan.suite, plan.trials, None, run.id, "rejudge")

    async def remove_deleted(self, runs: Sequence[RunRecord]) -> None:
        """Close runs that were deleted, and display the latest results that are left of their suites."""
        deleted = {run.id for run in runs}
        for each in self._open_suites.all:
            if each.run in deleted:
                self._open_suites.remove_saved_run(each.path)
        await self._suite_loader.read_results({run.suite_file for run in runs})

    def _add(self, path: Path, opened: OpenedRun, models: tuple[str, ...], state: RunState, folder: str) -> OpenSuite:
        problems: tuple[Problem, ...] = ()
        if opened.changed:
            problems = (Problem(str(path), None, None, "warning", "saved run", opened.changed),)
        run = opened.record.id if folder == _RUNS_FOLDER else ""
        saved = OpenSuite(path, folder, opened.suite, problems, True, run, run_title(opened.record))
        self._open_suites.add_saved_run(saved, state)
        self._selection.choose_models(models, path)
        return saved


class RunChoices:
    """Carry out the actions that were chosen in the list of runs.

    `open_run` opens a saved run and selects it, `show_run` selects one that is open.
    """

    def __init__(
        self,
        context: AppContext,
        saved_runs: SavedRuns,
        controls: tuple[Navigator, RunControls],
        open_run: Callable[[str], Awaitable[OpenSuite]],
        show_run: Callable[[OpenSuite], None],
    ) -> None:
        self._scores, self._saved_runs = context.scores, saved_runs
        self._navigator, self._run_controls = controls
        self._open_run, self._show_run = open_run, show_run

    async def carry_out(self, choice: RunChoice) -> None:
        """Carry out an action on a run; it may end only when the opened screen is closed. Raises AssayError."""
        match choice.act:
            case "matrix":
                await self._navigator.open_matrix(await self._open_run(choice.run.id), None)
            case "compare":
                await self._navigator.compare_run(choice.run)
            case "review":
                await self._navigator.review_run(choice.run.id)
            case "replay" | "replay at once":
                self._scores.record_names(choice.run.id, "a replay")
                added, request = await self._saved_runs.replay(choice.run, 1.0 if choice.act == "replay" else None)
                self._show_run(added)
                self._run_controls.start(request, "This run has no answers to replay.")
            case "rejudge":
                self._scores.record_names(choice.run.id, "a replay")
                added, request = await self._saved_runs.rejudge(choice.run)
                self._show_run(added)
                self._run_controls.start(request)
            case "open":
                await self._open_run(choice.run.id)
            case "resume":
                request = await self._saved_runs.request(await self._open_run(choice.run.id), "missing")
                self._run_controls.start(request, "Every trial of this run has a result.")
            case "failed":
                request = await self._saved_runs.request(await self._open_run(choice.run.id), "failed")
                self._run_controls.rerun(request, "All trials of this run passed.")
