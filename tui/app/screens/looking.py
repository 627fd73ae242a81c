"""Looking at suites and their answers: the tree, the panes, the tabs, and how they follow each other."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import DescendantFocus

from tui.app.exploring import Selection
from tui.app.presentation.outline import OpenSuite
from tui.app.presentation.pace import limit_lines
from tui.app.presentation.starting import start_lines
from tui.app.presentation.telling import problem_lines, suite_lines
from tui.app.run_queue import RunQueue, resolve_each
from tui.app.screens.frame import FrameScreen
from tui.app.session_protocol import Session
from tui.app.suite_loader import SuiteLoader
from tui.app.widgets.answers import AnswerPanes
from tui.app.widgets.attempts_tab import AttemptsTab
from tui.app.widgets.evidence import TABS, DetailTabs, TabId
from tui.app.widgets.footer import KeyFooter
from tui.app.widgets.header_bar import HeaderBar
from tui.app.widgets.scroll_view import TailView
from tui.app.widgets.suite_panel import SuitePanel
from tui.app.widgets.suite_tree import SuiteTree
from tui.app.widgets.tab_bar import TabBar
from tui.app.widgets.text_views import TextPanel
from tui.model.sanitize import sanitize_line
from tui.model.suite import Case, Suite


class LookingScreen(FrameScreen):
    """What the cursor is on decides what is shown; keys and runs are the business of its subclasses."""

    DEFAULT_CSS = """
    LookingScreen DetailTabs {
        height: 40%; min-height: 7; border: round $quiet-border; border-subtitle-color: $dim; padding: 0 1;
        &:focus-within { border: round $focused-border; }
    }
    LookingScreen.-short DetailTabs { height: 48%; }
    LookingScreen AnswerPanes, LookingScreen DetailTabs, LookingScreen.-case #overview { display: none; }
    LookingScreen.-case AnswerPanes, LookingScreen.-case DetailTabs { display: block; }
    LookingScreen.-case.-low DetailTabs, LookingScreen.-case.-zoomed DetailTabs, LookingScreen.-zoomed SuitePanel,
    LookingScreen.-no-suites SuitePanel { display: none; }
    LookingScreen.-case.-only-evidence DetailTabs { display: block; height: 1fr; }
    LookingScreen.-case.-only-evidence AnswerPanes, LookingScreen.-case.-only-evidence SuitePanel { display: none; }
    """
    AUTO_FOCUS = "#tree"

    def __init__(self, open_session: Callable[[], Session], paths: Sequence[Path]) -> None:
        super().__init__()
        self._watch = SuiteLoader(open_session, paths, self)
        self.session: Session | None = None
        self.selection: Selection | None = None
        self.queue: RunQueue | None = None
        self.faults: dict[str, str] = {}
        self.header = HeaderBar(id="header")
        self.suites = SuitePanel(id="suites")
        self.answers = AnswerPanes(id="answers")
        self.overview = TextPanel(id="overview")
        self.evidence = DetailTabs(id="evidence")

    def compose(self) -> ComposeResult:
        """Header, body, footer."""
        yield self.header
        with Horizontal(id="body"):
            yield self.suites
            with Vertical(id="middle"):
                yield self.overview
                yield self.answers
                yield self.evidence
        yield KeyFooter()

    def on_mount(self) -> None:
        """The screen is painted first; suites are read after."""
        self.overview.border_title = Content("Start")
        self.overview.show_lines(start_lines(""))
        self.call_after_refresh(self._follow_open_suites)

    @work(group="watch")
    async def _follow_open_suites(self) -> None:
        await self._watch.work()

    # --- what comes from the shelf

    @on(SuiteLoader.SessionFailed)
    def tell_missing(self, message: SuiteLoader.SessionFailed) -> None:
        """Nothing can be done without a desk: say why."""
        self.overview.show_lines(start_lines(message.why))

    @on(SuiteLoader.SessionOpened)
    def take_session(self, message: SuiteLoader.SessionOpened) -> None:
        """From now on there is something to look at."""
        self.session, self.selection = message.session, Selection(message.open_suites)
        self.suites.show(self.selection)
        if not message.open_suites.suites:
            self.overview.show_lines(start_lines("There are no suites here. `assay init` writes one to begin with."))
        for notice in message.session.notices:
            self.notify(sanitize_line(notice, 600), severity="warning", markup=False, timeout=12)
        self.session_taken(message.session)

    def session_taken(self, session: Session) -> None:
        """For a subclass."""

    def person_moved(self) -> None:
        """For a subclass: the person has chosen what to look at."""

    @on(SuiteLoader.SuitesRead)
    def show_read(self, message: SuiteLoader.SuitesRead) -> None:
        """Show what was read; at the start, open the first suite that can be used and select its first case."""
        selection = self.selection
        if selection is None:
            return
        self.suites.show(selection)
        if selection.path is None:
            self._open_first(more=message.more)
        elif selection.path in message.paths:
            self._take_again(selection)
        if message.again and message.paths:
            names = ", ".join(sanitize_line(path.name, 60) for path in message.paths)
            self.notify(f"Read again: {names}", markup=False, timeout=3)

    def _open_first(self, *, more: bool) -> None:
        selection = self.selection
        if selection is None:
            return
        suites = selection.open_suites.suites
        first = next((open_suite for open_suite in suites if open_suite.suite is not None), None)
        if first is None and (more or not suites):
            return
        open_suite = first or suites[0]
        self.open_case(open_suite, open_suite.suite.cases[0] if open_suite.suite and open_suite.suite.cases else None)

    def open_case(self, open_suite: OpenSuite, case: Case | None) -> None:
        """Look at a case of a suite, with the cursor on it; the suite itself where there is none."""
        selection = self.selection
        if selection is None:
            return
        before = selection.path
        selection.path, selection.case_id = open_suite.path, case.id if case else None
        self.suites.reveal(open_suite, case)
        if selection.path != before:
            self.suite_chosen()
        self.show_choice()

    def _take_again(self, selection: Selection) -> None:
        """The suite that is looked at has changed on disk: stay at the case, if it is still there."""
        if selection.case is None and selection.suite is not None and selection.case_id is not None:
            selection.case_id = None
        self.suite_chosen()
        self.show_choice()

    # --- what the cursor is on

    @on(SuiteTree.RowReached)
    def look_at(self, message: SuiteTree.RowReached) -> None:
        """Look at what the cursor is on."""
        if self.selection is None:
            return
        self.person_moved()
        before = self.selection.path
        if message.row.case is None:
            self.selection.case_id = None
        self.selection.take_row(message.row)
        if self.selection.path != before:
            self.suite_chosen()
        self.show_choice()
        if message.row.kind == "step":
            self.answers.go_to_step(message.row.step)

    @on(SuiteTree.RowChosen)
    def choose(self, message: SuiteTree.RowChosen) -> None:
        """The same for Enter and a click."""
        self.look_at(message)

    def suite_chosen(self) -> None:
        """Another suite: where do its models lead?"""
        self.faults = {}
        selection = self.selection
        if selection is not None and selection.suite is not None:
            self._resolve(selection.suite, selection.models)

    @work(group="resolve", exclusive=True)
    async def _resolve(self, suite: Suite, models: tuple[str, ...]) -> None:
        if self.session is not None:
            _, faults = await asyncio.to_thread(resolve_each, self.session, suite, models)
            if faults != self.faults:
                self.faults = faults
                self.show_choice()

    # --- showing it

    def show_choice(self) -> None:
        """Show the case that is looked at, or the suite where none is."""
        selection = self.selection
        if selection is None:
            return
        has_case = selection.case is not None and bool(selection.models)
        self.set_class(has_case, "-case")
        if has_case:
            self.answers.show(selection, self.queue, self.faults)
            self.show_evidence()
        elif selection.open_suite is not None:
            self._show_suite(selection, selection.open_suite)
        self.show_heading()

    def _show_suite(self, selection: Selection, open_suite: OpenSuite) -> None:
        self.overview.border_title = Content(f"{sanitize_line(open_suite.path.name)}")
        if open_suite.suite is None:
            self.overview.show_lines(problem_lines(open_suite.problems))
        else:
            path = str(open_suite.path)
            lines = suite_lines(path, open_suite.suite, selection.models, open_suite.problems, self.faults)
            paced = limit_lines(selection.state.limits) if selection.state.running else []
            self.overview.show_lines([*lines, (), *paced] if paced else lines)

    def show_evidence(self) -> None:
        """Bring the tab that is open up to date."""
        if self.selection is not None and self.has_class("-case"):
            self.evidence.show(self.selection, self._model())

    def show_heading(self) -> None:
        """For a subclass."""

    def _model(self) -> str:
        return self.answers.current.model if self.answers.current else ""

    @on(SuitePanel.FilterChanged)
    def take_filter(self, message: SuitePanel.FilterChanged) -> None:
        """Only the cases that are wanted."""
        if self.selection is not None:
            self.selection.filter = message.wanted
            self.suites.show(self.selection)
            row = self.suites.first_case_if_lost(self.selection)
            if row is not None:
                self.look_at(SuiteTree.RowReached(row))

    @on(TabBar.TabChosen)
    def turn_tab(self, message: TabBar.TabChosen) -> None:
        """Show another tab."""
        self.turn_to(next(tab for tab in TABS if tab == message.tab))

    def turn_to(self, tab: TabId) -> None:
        """Show this tab."""
        if self.selection is not None:
            self.evidence.turn_to(tab, self.selection, self._model())

    @on(TailView.ScrolledByHand)
    def stay_for_reading(self) -> None:
        """Nobody wants to have what they read taken away."""
        self.person_moved()

    @on(AttemptsTab.AttemptChosen)
    def show_attempt(self, message: AttemptsTab.AttemptChosen) -> None:
        """Show the answer of an attempt in its model's pane."""
        self.person_moved()
        pane = self.answers.pane_of(message.trial.key.model)
        if pane is not None:
            pane.pin(message.trial, message.number)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """The prompt and the diff that are shown are those of the pane with the focus."""
        follows = self.evidence.current in ("prompt", "diff")
        if follows and any(event.widget is pane.view for pane in self.answers.panes):
            self.show_evidence()
