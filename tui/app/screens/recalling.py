"""Kept runs in Explore: opened beside the suites, gone on with, played again."""

import asyncio
from pathlib import Path

from textual import work

from tui.app.exploring import Selection
from tui.app.presentation.outline import OpenSuite
from tui.app.run_requests import RunRequest
from tui.app.runs.lines import SHORT_ID, run_title
from tui.app.runs.screen import RunChoice, RunsScreen
from tui.app.screens.pacing import PacingScreen
from tui.app.screens.rerun import choose_rerun, requests_by_run
from tui.model.errors import AssayError, Problem, StoreError
from tui.model.results import TrialKey
from tui.model.run import RunRecord
from tui.model.sanitize import sanitize_line
from tui.model.state import RunState
from tui.session.run_history import OpenedRun, RunHistory, replay_name

_KEPT, _AGAIN = "kept runs", "recorded answers"


class RecallingScreen(PacingScreen):
    """A kept run is a volume like a suite's file; of its results only what is looked at is read whole."""

    def start_request(self, request: RunRequest | None, nothing: str) -> None:
        """For a subclass: run this, or say that there is nothing to run."""

    @work(group="rerun", exclusive=True)
    async def start_rerun(self, request: RunRequest | None, nothing: str) -> None:
        """Run this again, all of it or only what has no judged answer, each trial in the run that its result is of."""
        known = self.selection.open_suites.state(request.path).trials if request and self.selection else {}
        chosen = await choose_rerun(self.app, request, known) if request else None
        if request is not None and chosen is None:
            return
        if chosen is None or chosen.run or self.session is None:
            self.start_request(chosen, nothing)
            return
        try:
            requests = await asyncio.to_thread(requests_by_run, self.session.history, chosen)
        except StoreError as error:
            self.notify(sanitize_line(str(error), 600), severity="error", markup=False, timeout=12)
            return
        for each in requests:
            self.start_request(each, nothing)

    def action_runs(self) -> None:
        """All kept runs."""
        self._choose_run()

    @work(group="recall", exclusive=True)
    async def _choose_run(self) -> None:
        try:
            screen = RunsScreen(self.places()[0], self.hidden_scores, self.note_names)
        except StoreError as error:
            self.notify(str(error), severity="warning", markup=False)
            return
        choice = await self.app.push_screen_wait(screen)
        self._forget(screen.deleted)
        if choice is None:
            return
        try:
            await self.follow_choice(choice)
        except AssayError as error:
            self.notify(sanitize_line(str(error), 600), severity="error", markup=False, timeout=12)

    def hidden_scores(self, run_id: str) -> int:
        """For a subclass: how many scores of a run may not be seen beside names yet. It blocks; raises AssayError."""
        del run_id
        return 0

    async def follow_choice(self, choice: RunChoice) -> None:
        """Do what was chosen. Raises AssayError."""
        if choice.act in ("replay", "replay at once"):
            await self._replay(choice.run, 1.0 if choice.act == "replay" else None)
            return
        path = await self.open_run(choice.run.id)
        if choice.act != "open":
            await self._go_on(path, choice)

    def note_names(self, run_id: str, where: str) -> None:
        """For a subclass: names are shown beside answers of the run now."""

    def places(self) -> tuple[RunHistory, Selection]:
        """Where runs come from, and where they are shown."""
        if self.session is None or self.selection is None:
            raise StoreError("The history is not open yet")
        return self.session.history, self.selection

    async def open_run(self, run_id: str) -> Path:
        """Look at a kept run. Raises StoreError."""
        history, selection = self.places()
        open_suites = selection.open_suites
        opened = await asyncio.to_thread(history.open_run, run_id)
        path = _path_of(opened.record)
        queued = [each.path for each in self.queue.waiting] if self.queue else []
        if open_suites.open_suite(path) is None or not (open_suites.state(path).running or path in queued):
            state = RunState()
            state.take_unread(opened.first)
            self._put(path, opened, opened.record.models, state, run_id)
            await self._painted()
            state.take_known(await asyncio.to_thread(history.read_standing, run_id))
            self.suites.tree_of_suites.refresh_marks(exact=True)
            self.show_choice()
            self.kept_read(path)
        else:
            self._look_at(path)
        self.note_names(run_id, "Explore")
        return path

    async def _painted(self) -> None:
        """What is read in a thread would take its time from what is being painted."""
        done = asyncio.Event()
        self.call_after_refresh(done.set)
        await done.wait()

    def kept_read(self, path: Path) -> None:
        """For a subclass: how the trials of a kept run ended is known now."""

    def _put(self, path: Path, opened: OpenedRun, models: tuple[str, ...], state: RunState, run: str = "") -> None:
        selection = self.places()[1]
        said = (Problem(str(path), None, None, "warning", "kept run", opened.changed),) if opened.changed else ()
        selection.open_suites.put_kept(
            OpenSuite(path, _KEPT if run else _AGAIN, opened.suite, said, True, run, run_title(opened.record)), state
        )
        selection.show_models(path, models)
        self._look_at(path)

    def _look_at(self, path: Path) -> None:
        selection = self.selection
        open_suite = selection.open_suites.open_suite(path) if selection else None
        if selection is None or open_suite is None or open_suite.suite is None:
            return
        self.person_moved()
        if selection.path == path and selection.case is not None:
            case = selection.case
        else:
            case = open_suite.suite.cases[0] if open_suite.suite.cases else None  # type: ignore[assignment]
        self.suites.show(selection)
        self.open_case(open_suite, case)
        self.suites.tree_of_suites.refresh_marks(exact=True)

    async def _go_on(self, path: Path, choice: RunChoice) -> None:
        history, selection = self.places()
        run_id, open_suite = choice.run.id, selection.open_suites.open_suite(path)
        resumes = choice.act == "resume"
        trials = await asyncio.to_thread(history.missing_trials if resumes else history.failed_trials, run_id)
        nothing = "Every trial of this run has its result." if resumes else "Everything in this run has passed."
        suite = open_suite.suite if open_suite else None
        again = "missing" if resumes else "attempts"
        request = RunRequest(path, suite, trials, None, run_id, again) if suite and trials else None  # type: ignore[arg-type]
        if resumes:
            self.start_request(request, nothing)
        else:
            self.start_rerun(request, nothing)

    async def _replay(self, run: RunRecord, speed: float | None) -> None:
        history, _ = self.places()
        opened = await asyncio.to_thread(history.open_run, run.id)
        self.note_names(run.id, "a replay")
        standing = await asyncio.to_thread(history.read_standing, run.id)
        models = tuple(replay_name(run.id, model) for model in dict.fromkeys(key.model for key in standing))
        trials = tuple(TrialKey(key.case, replay_name(run.id, key.model), key.repeat) for key in standing)
        path = Path(f"{run.suite_path} (replay of run {run.id[:SHORT_ID]})")
        self._put(path, opened, models, RunState())
        request = RunRequest(path, opened.suite, trials, None, run.id, "replay", speed) if trials else None
        self.start_request(request, "This run has no answers to play again.")

    def _forget(self, runs: list[str]) -> None:
        """What was deleted is not shown any more."""
        selection = self.selection
        if selection is None or not runs:
            return
        for open_suite in selection.open_suites.suites:
            if open_suite.run in runs:
                selection.open_suites.drop_kept(open_suite.path)
        self.suites.show(selection)
        if selection.path is not None and selection.open_suite is None:
            first = selection.open_suites.first(lambda open_suite: open_suite.suite is not None)
            selection.path = selection.case_id = None
            if first is not None:
                self.open_case(first, first.suite.cases[0] if first.suite and first.suite.cases else None)

    # --- what is looked at is read whole

    def show_choice(self) -> None:
        """Show it as far as it is known, and read the rest."""
        super().show_choice()
        selection = self.selection
        open_suite = selection.open_suite if selection else None
        if selection is not None and open_suite is not None and open_suite.run and selection.case_id is not None:
            unread = tuple(trial.key for trial in selection.repeats() if trial.is_unread)
            if unread:
                self._read_trials(open_suite.run, selection.state, unread)

    @work(group="read-trials", exclusive=True)
    async def _read_trials(self, run_id: str, state: RunState, trials: tuple[TrialKey, ...]) -> None:
        if self.session is None:
            return
        try:
            results = await asyncio.to_thread(self.session.history.read_trials, run_id, trials)
        except AssayError as error:
            self.notify(sanitize_line(str(error), 600), severity="error", markup=False, timeout=12)
            return
        state.take_unread(results)
        if results and self.selection is not None and self.selection.state is state:
            super().show_choice()

    def suite_chosen(self) -> None:
        """The models of a kept run have answered: where their names lead today is asked when they are asked again."""
        open_suite = self.selection.open_suite if self.selection else None
        if open_suite is None or not open_suite.run:
            super().suite_chosen()
        else:
            self.faults = {}

    def action_edit(self) -> None:
        """A kept run is no file."""
        open_suite = self.selection.open_suite if self.selection else None
        if open_suite is not None and open_suite.label:
            self.notify("A kept run is no file to edit; its suite may be among the others.", markup=False)
        else:
            super().action_edit()


def _path_of(run: RunRecord) -> Path:
    return Path(f"{run.suite_path} (run {run.id[:SHORT_ID]})")
