"""The Explore screen: suites on the left, the answers to the selected case side by side, and the current run."""

import asyncio
from time import monotonic
from typing import ClassVar, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import DescendantFocus, Resize

from tui.app.context import AppContext
from tui.app.explore.answer_panes import AnswerPanes
from tui.app.explore.copy_menu import copies, copy_one
from tui.app.explore.header_bar import HeaderBar
from tui.app.explore.header_lines import clone_note
from tui.app.explore.keys import EXPLORE_KEYS
from tui.app.explore.layout import ExploreLayout
from tui.app.explore.live_run import LiveRun
from tui.app.explore.overview import SuiteOverview
from tui.app.explore.saved_runs import RunChoices, SavedRuns
from tui.app.explore.suite_edits import SuiteEdits, What
from tui.app.explore.suite_rows import Row
from tui.app.explore.suite_tree import SuitePanel, SuiteTree
from tui.app.explore.tabs import AttemptsTab, DetailTabs, RiskTab
from tui.app.keymap import key_of
from tui.app.navigator import Navigator, RunChosen
from tui.app.notifications import notify_error
from tui.app.open_suites import HeldAction, OpenSuite
from tui.app.presentation.model_faults import LOCAL_MODEL, not_run_words
from tui.app.run_controls import RunControls
from tui.app.run_messages import (
    FLUSHES_PER_SECOND,
    CloneProgress,
    ModelsUnresolved,
    PaceChanged,
    RunBegan,
    RunEnded,
    RunQueued,
    TrialChanged,
)
from tui.app.run_queue import resolve_models
from tui.app.run_requests import request_cases, request_failed, request_folder, request_suite
from tui.app.run_scores import ScoresChanged
from tui.app.splash import FrameScreen
from tui.app.suite_loader import SuitesRead
from tui.app.widgets.footer import KeyFooter
from tui.app.widgets.question_line import QuestionLine
from tui.app.widgets.scroll_view import TailView
from tui.model.errors import AssayError
from tui.model.results import TrialKey
from tui.model.scores import ItemKey
from tui.model.suite import Case

_FLUSHES_A_FIGURE = 4
_CASE_ACTIONS = frozenset({"copy", "go_to_diff", "match", "pane", "pane_beside", "tab_beside", "toggle_panes", "zoom"})
"""Actions on the panes and tabs, which are displayed only while a case is selected."""


class ExploreScreen(FrameScreen):
    """Display the selected suite or case, and follow the run that is in progress."""

    DEFAULT_CSS = """
    ExploreScreen.-few-rows ToastRack { dock: top; align: right top; margin: 1 0 0 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = EXPLORE_KEYS
    AUTO_FOCUS = "#tree"

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.VERTICAL_BREAKPOINTS = [(0, "-few-rows"), (30, "-many-rows")]
        self.context, self.selection = context, context.selection
        self.run_controls = RunControls(context, self)
        self.navigator = Navigator(context, self)
        self.saved_runs = SavedRuns(context)
        controls = self.navigator, self.run_controls
        self.run_choices = RunChoices(context, self.saved_runs, controls, self.open_run, self.show_saved_run)
        self.suite_edits = SuiteEdits(context, self)
        self.live_run = LiveRun(context)
        self.header = HeaderBar(id="header")
        self.suites = SuitePanel(context.selection, context.session.filters, id="suites")
        self.answers = AnswerPanes(context, id="answers")
        self.overview = SuiteOverview(context.selection, id="overview")
        self.details = DetailTabs(context, id="details")
        self.question = QuestionLine(id="question")
        self._held = HeldAction(context.selection)
        self.arrangement = ExploreLayout(
            self.suites, self.overview, self.question, self.answers, self.details, context.session.pane_sizes
        )
        self._marks_changed = False
        self._flushes = 0

    def compose(self) -> ComposeResult:
        """Compose the header, the suites beside the overview or the answers, and the footer."""
        yield self.header
        yield self.arrangement
        yield KeyFooter()

    def on_mount(self) -> None:
        """Display the suites that have been found, and create the timer that displays streamed text."""
        self.arrangement.fit(self.app.size)
        self._flush_timer = self.set_interval(1 / FLUSHES_PER_SECOND, self._flush, pause=True)
        self.suites.show()

    def on_resize(self, event: Resize) -> None:
        """Arrange the parts for the size, before Textual lays them out."""
        self.arrangement.fit(event.size)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key is active. The key of the filter is a character of the filter, or searches the diff."""
        del parameters
        if action in _CASE_ACTIONS and not self.arrangement.has_case:
            return False
        if action == "go_to_diff":
            return self.details.offers("diff")
        if action == "cancel":
            return self.context.runs.busy or None
        if action == "toggle_pause":
            return self.run_controls.can_pause
        if action == "follow_run":
            return self.live_run.can_follow
        return action != "filter" or not (self.suites.typing or self.details.searches_diff)

    # Selection

    def select(self, open_suite: OpenSuite, case: Case | None) -> None:
        """Select a case of a suite, or the suite itself, and put the cursor on it."""
        other = self.selection.select(open_suite.path, case.id if case else None)
        self.suites.reveal(open_suite, case)
        if other:
            self._resolve_models()
        self.show_selection()

    def _select_row(self, row: Row) -> None:
        """Select the suite, case or step of a row of the tree."""
        self.stop_auto_follow()
        other = False
        if row.open_suite is None:
            self.selection.case_id = None
        else:
            other = self.selection.select(row.open_suite.path, row.case.id if row.case else None)
        if other:
            self._resolve_models()
        self.show_selection()
        if row.kind == "step":
            self.answers.go_to_step(row.step)

    def _select_first(self) -> None:
        """Select the first case of the first suite without errors, else the first suite."""
        suites = self.context.open_suites
        first = suites.first_usable() or next(iter(suites.all), None)
        if first is not None:
            self.select(first, first.suite.cases[0] if first.suite and first.suite.cases else None)

    def show_selection(self) -> None:
        """Display the selected case, or the suite if no case is selected."""
        has_case = self.selection.case is not None and bool(self.selection.models)
        self.arrangement.show_case(has_case)
        self.question.show(self.selection.asked_case if has_case else None)
        if has_case:
            self.answers.show()
            self._show_details()
            self.context.scores.record_answers(self.selection)
            if unread := self.saved_runs.unread_trials():
                self._read_trials(unread)
        elif self.selection.open_suite is not None:
            self.overview.show(self.selection.open_suite)
        self._show_header()

    def _show_details(self) -> None:
        """Update the open tab."""
        if self.arrangement.has_case:
            self.details.show(self.answers.current_model, self.answers.chosen_trials())

    def _show_header(self) -> None:
        key = key_of(self, "run.pause") if self.context.runs.is_paused else ""
        self.header.show(self.live_run.header(monotonic(), key))

    @work(group="resolve", exclusive=True)
    async def _resolve_models(self) -> None:
        """Find the models of the selected suite that cannot be resolved; those of a saved run are not needed."""
        suite = self.selection.suite
        if suite is None or self.selection.run:
            return
        _, errors = await asyncio.to_thread(resolve_models, self.context.session, suite, self.selection.models)
        if errors != self.selection.model_errors:
            self.selection.model_errors = errors
            self.show_selection()

    @on(SuiteTree.RowReached)
    @on(SuiteTree.RowChosen)
    def select_row(self, message: SuiteTree.RowReached) -> None:
        """Select the row under the cursor."""
        self._select_row(message.row)

    @on(SuitePanel.FilterChanged)
    def apply_filter(self, message: SuitePanel.FilterChanged) -> None:
        """Display the cases that the filter selects."""
        self.selection.filter = message.case_filter
        self.suites.show()
        row = self.suites.first_case_if_lost()
        if row is not None:
            self._select_row(row)

    @on(SuitesRead)
    def show_suites(self, message: SuitesRead) -> None:
        """Display suites that were read; select the first usable one if nothing is selected."""
        selection, suites = self.selection, self.context.open_suites
        self.suites.show()
        if selection.path is None:
            if suites.first_usable() is not None or not message.more:
                self._select_first()
                self._held.release()
        elif selection.path in message.paths:
            if selection.case is None and selection.suite is not None:
                selection.case_id = None
            selection.model_errors = {}
            self._resolve_models()
            self.show_selection()
        if message.again and message.paths:
            self.run_controls.notify_reloaded(message.paths)

    # The current run

    def _flush(self) -> None:
        """Display what has happened in the run since the last call."""
        self._flushes += 1
        if follow := self.live_run.case_to_follow(monotonic()):
            self.select(*follow)
        changed = self.live_run.flush({pane.model: pane for pane in self.answers.displayed})
        if self._marks_changed:
            self._marks_changed = False
            self.suites.suite_tree.refresh_marks()
        if any(key.case == self.selection.case_id for key in changed):
            self._show_details()
        if self._flushes % _FLUSHES_A_FIGURE == 0:
            self._show_header()
            self.answers.draw_figures()

    @on(TailView.ScrolledByHand)
    def stop_auto_follow(self) -> None:
        """Stop following the run after the user has selected or scrolled something."""
        if self.live_run.auto_follow.on:
            self.live_run.auto_follow.stop()
            self.refresh_bindings()
            self._show_header()

    @on(RunQueued)
    def show_queued(self, message: RunQueued) -> None:
        """Display the queued trials, and follow a run of several cases."""
        self._flush_timer.resume()
        if len({trial.case for trial in message.request.trials}) > 1:
            self.live_run.auto_follow.start()
        self.refresh_bindings()
        self.show_selection()

    @on(RunBegan)
    @on(PaceChanged)
    def show_run(self) -> None:
        """Display the waiting trials, and whether the run is paused."""
        self.refresh_bindings()
        self.suites.suite_tree.refresh_marks()
        self.show_selection()

    @on(TrialChanged)
    def show_trial(self, message: TrialChanged) -> None:
        """Display the new state of a trial in its pane; its mark is updated with the next flush."""
        self._marks_changed = True
        if self.selection.path == message.path and self.selection.case_id == message.trial.case:
            self.question.show(self.selection.asked_case)
            self.answers.show_trial(message.trial.model)

    @on(CloneProgress)
    def show_clone(self, message: CloneProgress) -> None:
        """Display the progress of a clone, and notify of its notes when it is complete."""
        self._show_header()
        text = clone_note(message.cloned) if message.cloned else ""
        if text:
            self.notify(text, title="Cloned", markup=False, timeout=12)

    @on(ModelsUnresolved)
    def show_unresolved(self, message: ModelsUnresolved) -> None:
        """Display in the panes of these models why they cannot be run, and notify the user."""
        if self.selection.path == message.path:
            self.selection.model_errors |= message.errors
            self.show_selection()
        self.notify(not_run_words(message.errors), title="Not run", severity="warning", markup=False, timeout=8)

    @on(RunEnded)
    def show_end(self) -> None:
        """Display the final state of a run; a filter by status may select other cases now."""
        if not self.context.runs.busy:
            self._flush_timer.pause()
            self.live_run.auto_follow.stop()
        self._flush()
        self.refresh_bindings()
        if self.selection.filter:
            self.suites.show()
        self.suites.suite_tree.refresh_marks(exact=True)
        self.details.forget_scores()
        self.show_selection()

    # Saved runs

    @work(group="saved run", exclusive=True)
    async def action_runs(self) -> None:
        """Open the list of saved runs."""
        await self.navigator.open_runs()

    @on(RunChosen)
    @work(group="chosen run", exclusive=True)
    async def use_chosen_run(self, message: RunChosen) -> None:
        """Close the deleted runs, and carry out the chosen action."""
        choice, deleted = message.choice, message.deleted
        if deleted:
            await self.saved_runs.remove_deleted(deleted)
            self.suites.show()
        if self.selection.path is not None and self.selection.open_suite is None:
            self.selection.path = self.selection.case_id = None
            self._select_first()
        if choice is not None:
            try:
                await self.run_choices.carry_out(choice)
            except AssayError as error:
                notify_error(self, error)

    async def open_run(self, run_id: str) -> OpenSuite:
        """Open a saved run and select it. Raises StoreError."""
        saved, unread = await self.saved_runs.open(run_id)
        self.show_saved_run(saved)
        if unread:
            await _wait_until_painted(self)
            await self.saved_runs.read_outcomes(saved)
            self.suites.suite_tree.refresh_marks(exact=True)
            self.show_selection()
            self.context.post(SuitesRead([saved.path], again=False))
        self.context.scores.record_names(run_id, "Explore")
        return saved

    def show_saved_run(self, saved: OpenSuite) -> None:
        """Select a saved run, with the case that is selected already if the run was displayed before."""
        self.stop_auto_follow()
        case = self.selection.case if self.selection.path == saved.path else None
        if case is None and saved.suite and saved.suite.cases:
            case = saved.suite.cases[0]
        self.select(saved, case)

    @work(group="read trials", exclusive=True)
    async def _read_trials(self, trials: tuple[TrialKey, ...]) -> None:
        """Read full answers of a saved run, and display them."""
        state = self.selection.state
        try:
            await self.saved_runs.read_trials(trials)
        except AssayError as error:
            notify_error(self, error)
            return
        if self.selection.state is state:
            self.answers.show()
            self._show_details()

    # Other screens

    @work(group="matrix", exclusive=True)
    async def action_matrix(self) -> None:
        """Open the matrix of the selected suite."""
        open_suite = self.selection.usable
        if open_suite is None:
            self.notify("No suite to show here.", severity="warning", markup=False)
            return
        await self.navigator.open_matrix(open_suite, self.selection.case_id)

    @work(group="compare", exclusive=True)
    async def action_compare(self) -> None:
        """Open Compare with the answers of two models to the selected case."""
        open_suite = self.selection.usable
        if open_suite is None:
            self.notify(f"Nothing to compare here. {self.selection.advice}", severity="warning", markup=False)
            return
        await self.navigator.compare_models(
            open_suite, self.selection.models, self.answers.current_model, self.selection.case_id
        )

    @on(RiskTab.ReviewRequested)
    def review_item(self, message: RiskTab.ReviewRequested) -> None:
        """Open Review at the answer under the cursor of the Risk tab."""
        self.action_review(message.item)

    @work(group="review", exclusive=True)
    async def action_review(self, start: ItemKey | None = None) -> None:
        """Open Review for the selected suite; it starts on `start` unless names are hidden."""
        open_suite = self.selection.usable
        if open_suite is None:
            self.notify(f"Nothing to review here. {self.selection.advice}", severity="warning", markup=False)
        else:
            models = self.selection.models
            run_id = self.context.scores.run_of_case(open_suite, self.selection.case_id, models)
            await self.navigator.review(open_suite, start, run_id)

    @on(ScoresChanged)
    def show_scores(self) -> None:
        """Read the scores again after Review was closed."""
        self.details.forget_scores()
        self._show_details()

    @work(group="models", exclusive=True)
    async def action_choose_models(self) -> None:
        """Ask for the models to display side by side."""
        from tui.app.explore.model_dialog import choose_models

        if await choose_models(self, self.context):
            self._resolve_models()
            self.suites.show()
            self.show_selection()

    @work(group="edit", exclusive=True)
    async def action_edit(self, what: What) -> None:
        """Edit the suite's file or the selected check, or add a case and select it."""
        added = await self.suite_edits.edit(what, self.details.check_row, self.answers.current_model)
        open_suite = self.selection.open_suite
        if open_suite is not None and (case := open_suite.find_case(added)):
            self.suites.show()
            self.select(open_suite, case)

    # Keys for runs

    def action_run_case(self) -> None:
        """Run the selected case; the category, suite or folder under the cursor after a question."""
        if self._held.hold(self.action_run_case):
            return
        row, selection = self.suites.suite_tree.row, self.selection
        nothing = "Nothing to run here. Select a case."
        if row is None or row.kind in ("case", "step"):
            cases = (selection.case,) if selection.case else ()
            self.run_controls.start(request_cases(selection, cases), nothing)
        elif row.open_suite is None:
            self.run_controls.start_asked(request_folder(selection, row.name), nothing)
        else:
            request = request_cases(selection, row.cases, row.open_suite)
            self.run_controls.start_asked([request] if request else [], nothing)

    def action_run_suite(self) -> None:
        """Run the whole suite."""
        if self._held.hold(self.action_run_suite):
            return
        self.run_controls.start(request_suite(self.selection), f"Nothing to run here. {self.selection.advice}")

    def action_run_local(self) -> None:
        """Run the selected case, or what is under the cursor, on the bundled local model."""
        if self._held.hold(self.action_run_local):
            return
        if self.selection.usable is None:
            self.notify("Nothing to run here. Select a case.", severity="warning", markup=False)
            return
        self.selection.choose_models((LOCAL_MODEL,))
        self.suites.show()
        self.show_selection()
        self.action_run_case()

    def action_run_failed(self) -> None:
        """Rerun the trials that did not pass."""
        self.run_controls.rerun(request_failed(self.selection), "No failed trials here.")

    def action_follow_run(self) -> None:
        """Select the running case, and follow the run from now on."""
        self.live_run.auto_follow.start()
        self.refresh_bindings()
        self._show_header()

    def action_toggle_pause(self) -> None:
        """Pause the run, or resume it."""
        self.run_controls.toggle_pause()

    def action_change_concurrency(self, by: int) -> None:
        """Change the concurrency of the model whose pane has the focus, else of all models."""
        focused = self.answers.focused
        self.run_controls.change_concurrency(by, focused.model if focused else "")

    def action_cancel(self) -> None:
        """Cancel the running trials of the selected case; only those of one model if its pane has the focus."""
        focused = self.answers.focused
        trials = map(self.selection.trial, (focused.model,) if focused else self.selection.models)
        self.run_controls.cancel(self.selection.path, tuple(trial.key for trial in trials if trial and trial.is_open))

    def action_cancel_all(self) -> None:
        """Cancel the run and all queued runs."""
        self.run_controls.cancel_all()
        self.show_selection()

    def action_toggle_streaming(self) -> None:
        """Toggle streaming for the next run."""
        self.selection.streaming = not self.selection.streams
        mode = "streams" if self.selection.streaming else "does not stream"
        self.notify(f"The next run {mode}.", markup=False, timeout=3)

    # Keys for the view

    def action_match(self, by: int) -> None:
        """Go to the next or previous match in the current pane."""
        self.stop_auto_follow()
        self.answers.go_to_match(by)

    @work(group="copy", exclusive=True)
    async def action_copy(self) -> None:
        """Ask what to copy of the selected case, and copy it to the clipboard."""
        open_suite, case, pane = self.selection.usable, self.selection.case, self.answers.current
        if open_suite is not None and case is not None and pane is not None:
            await copy_one(self, copies(open_suite, case, pane.model, pane.answer))

    def action_zoom(self) -> None:
        """Zoom the current pane, or the tabs if they have the focus, or restore the layout."""
        self.arrangement.zoom()

    async def action_filter(self) -> None:
        """Open the filter, outside of a zoom."""
        if self.arrangement.is_zoomed:
            self.arrangement.zoom()
        self.arrangement.show_suites(True)
        await self.suites.open_filter()

    def action_back(self) -> None:
        """Close the zoom, else the filter, else focus the suites."""
        if self.arrangement.is_zoomed:
            self.arrangement.zoom()
        elif self.suites.filtering and self.suites.has_focus_within:
            self.suites.close_filter()
        else:
            self.suites.suite_tree.focus()

    def action_pane(self, number: int) -> None:
        """Go to a pane by its index."""
        self.arrangement.show_only_details(False)
        self.answers.go_to(number)

    def action_pane_beside(self, by: int) -> None:
        """Go to the next or previous pane."""
        self.arrangement.show_only_details(False)
        self.answers.step(by)
        self._show_details()

    def action_toggle_tree(self) -> None:
        """Show or hide the suites."""
        self.arrangement.toggle_suites()

    def action_toggle_panes(self, option: Literal["in_step", "rendered"]) -> None:
        """Scroll the panes together or separately, or switch them between text and rendered Markdown."""
        if option == "in_step":
            self.answers.in_step = not self.answers.in_step
            text = f"Panes scroll {'together' if self.answers.in_step else 'separately'}"
        else:
            self.answers.render_markdown(not self.answers.renders)
            text = f"Answers as {'rendered Markdown' if self.answers.renders else 'text'}"
        self.notify(text, markup=False, timeout=2)

    def action_case_beside(self, by: int) -> None:
        """Select the next or previous case."""
        row = self.suites.case_beside(by)
        if row is not None:
            self._select_row(row)

    # The tabs

    def action_tab_beside(self, by: int) -> None:
        """Switch to the next or previous tab."""
        self.details.switch_to(self.details.beside(by))

    def action_go_to_diff(self) -> None:
        """Switch to the Diff tab and focus it; full screen if nothing else fits beside it."""
        self.details.switch_to("diff")
        self.arrangement.reveal_details()
        self.details.call_after_refresh(self.details.focus_diff)

    @on(AttemptsTab.AttemptChosen)
    def show_attempt(self, message: AttemptsTab.AttemptChosen) -> None:
        """Display an attempt in the pane of its model, and its checks and its prompt in the tabs."""
        self.stop_auto_follow()
        self.answers.pin(message.trial, message.number)
        self._show_details()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Display the prompt and the diff of the focused pane."""
        follows = self.details.current in ("prompt", "diff")
        if follows and any(event.widget is pane.view for pane in self.answers.panes):
            self._show_details()


async def _wait_until_painted(screen: ExploreScreen) -> None:
    """Wait for the paint of the selection: a thread that reads the store meanwhile would delay it."""
    for _ in range(2):  # the first paint is of the screen below the closed one
        painted = asyncio.Event()
        screen.call_after_refresh(painted.set)
        await painted.wait()
