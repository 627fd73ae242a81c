"""Looking at suites and their answers: the tree, the panes, the tabs, and how they follow each other."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import DescendantFocus

from tui.app.desk import Desk
from tui.app.exploring import Exploring
from tui.app.presentation.outline import Volume
from tui.app.presentation.pace import limit_lines
from tui.app.presentation.starting import start_lines
from tui.app.presentation.telling import problem_lines, suite_lines
from tui.app.running import RunQueue, resolve_each
from tui.app.screens.frame import FrameScreen
from tui.app.watching import ShelfWatch
from tui.app.widgets.answers import Answers
from tui.app.widgets.attempts_tab import AttemptsTab
from tui.app.widgets.evidence import TABS, Evidence, TabId
from tui.app.widgets.footer import KeysLine
from tui.app.widgets.header_bar import HeaderLine
from tui.app.widgets.scroll_view import FollowView
from tui.app.widgets.suite_panel import SuitePanel
from tui.app.widgets.suite_tree import SuiteTree
from tui.app.widgets.tab_bar import TabLine
from tui.app.widgets.text_views import Reading
from tui.model.sanitize import show_line
from tui.model.suite import Case, Suite


class LookingScreen(FrameScreen):
    """What the cursor is on decides what is shown; keys and runs are the business of its subclasses."""

    DEFAULT_CSS = """
    LookingScreen Evidence {
        height: 40%; min-height: 7; border: round $quiet-border; border-subtitle-color: $dim; padding: 0 1;
        &:focus-within { border: round $focused-border; }
    }
    LookingScreen.-short Evidence { height: 48%; }
    LookingScreen Answers, LookingScreen Evidence, LookingScreen.-case #overview { display: none; }
    LookingScreen.-case Answers, LookingScreen.-case Evidence { display: block; }
    LookingScreen.-case.-low Evidence, LookingScreen.-case.-zoomed Evidence, LookingScreen.-zoomed SuitePanel,
    LookingScreen.-no-suites SuitePanel { display: none; }
    LookingScreen.-case.-only-evidence Evidence { display: block; height: 1fr; }
    LookingScreen.-case.-only-evidence Answers, LookingScreen.-case.-only-evidence SuitePanel { display: none; }
    """
    AUTO_FOCUS = "#tree"

    def __init__(self, open_desk: Callable[[], Desk], paths: Sequence[Path]) -> None:
        super().__init__()
        self._watch = ShelfWatch(open_desk, paths, self)
        self.desk: Desk | None = None
        self.looking: Exploring | None = None
        self.queue: RunQueue | None = None
        self.faults: dict[str, str] = {}
        self.header = HeaderLine(id="header")
        self.suites = SuitePanel(id="suites")
        self.answers = Answers(id="answers")
        self.overview = Reading(id="overview")
        self.evidence = Evidence(id="evidence")

    def compose(self) -> ComposeResult:
        """Header, body, footer."""
        yield self.header
        with Horizontal(id="body"):
            yield self.suites
            with Vertical(id="middle"):
                yield self.overview
                yield self.answers
                yield self.evidence
        yield KeysLine()

    def on_mount(self) -> None:
        """The screen is painted first; suites are read after."""
        self.overview.border_title = Content("Start")
        self.overview.show_lines(start_lines(""))
        self.call_after_refresh(self._follow_shelf)

    @work(group="watch")
    async def _follow_shelf(self) -> None:
        await self._watch.work()

    # --- what comes from the shelf

    @on(ShelfWatch.DeskMissed)
    def tell_missing(self, message: ShelfWatch.DeskMissed) -> None:
        """Nothing can be done without a desk: say why."""
        self.overview.show_lines(start_lines(message.why))

    @on(ShelfWatch.DeskOpened)
    def take_desk(self, message: ShelfWatch.DeskOpened) -> None:
        """From now on there is something to look at."""
        self.desk, self.looking = message.desk, Exploring(message.shelf)
        self.suites.show(self.looking)
        if not message.shelf.volumes:
            self.overview.show_lines(start_lines("There are no suites here. `assay init` writes one to begin with."))
        for notice in message.desk.notices:
            self.notify(show_line(notice, 600), severity="warning", markup=False, timeout=12)
        self.desk_taken(message.desk)

    def desk_taken(self, desk: Desk) -> None:
        """For a subclass."""

    def person_moved(self) -> None:
        """For a subclass: the person has chosen what to look at."""

    @on(ShelfWatch.SuitesRead)
    def show_read(self, message: ShelfWatch.SuitesRead) -> None:
        """Show what was read; at the start, open the first suite that can be used and select its first case."""
        looking = self.looking
        if looking is None:
            return
        self.suites.show(looking)
        if looking.path is None:
            self._open_first(more=message.more)
        elif looking.path in message.paths:
            self._take_again(looking)
        if message.again and message.paths:
            names = ", ".join(show_line(path.name, 60) for path in message.paths)
            self.notify(f"Read again: {names}", markup=False, timeout=3)

    def _open_first(self, *, more: bool) -> None:
        looking = self.looking
        if looking is None:
            return
        volumes = looking.shelf.volumes
        first = next((volume for volume in volumes if volume.suite is not None), None)
        if first is None and (more or not volumes):
            return
        volume = first or volumes[0]
        self.open_case(volume, volume.suite.cases[0] if volume.suite and volume.suite.cases else None)

    def open_case(self, volume: Volume, case: Case | None) -> None:
        """Look at a case of a suite, with the cursor on it; the suite itself where there is none."""
        looking = self.looking
        if looking is None:
            return
        before = looking.path
        looking.path, looking.case_id = volume.path, case.id if case else None
        self.suites.reveal(volume, case)
        if looking.path != before:
            self.suite_chosen()
        self.show_choice()

    def _take_again(self, looking: Exploring) -> None:
        """The suite that is looked at has changed on disk: stay at the case, if it is still there."""
        if looking.case is None and looking.suite is not None and looking.case_id is not None:
            looking.case_id = None
        self.suite_chosen()
        self.show_choice()

    # --- what the cursor is on

    @on(SuiteTree.RowReached)
    def look_at(self, message: SuiteTree.RowReached) -> None:
        """Look at what the cursor is on."""
        if self.looking is None:
            return
        self.person_moved()
        before = self.looking.path
        if message.row.case is None:
            self.looking.case_id = None
        self.looking.take_row(message.row)
        if self.looking.path != before:
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
        looking = self.looking
        if looking is not None and looking.suite is not None:
            self._resolve(looking.suite, looking.models)

    @work(group="resolve", exclusive=True)
    async def _resolve(self, suite: Suite, models: tuple[str, ...]) -> None:
        if self.desk is not None:
            _, faults = await asyncio.to_thread(resolve_each, self.desk, suite, models)
            if faults != self.faults:
                self.faults = faults
                self.show_choice()

    # --- showing it

    def show_choice(self) -> None:
        """Show the case that is looked at, or the suite where none is."""
        looking = self.looking
        if looking is None:
            return
        has_case = looking.case is not None and bool(looking.models)
        self.set_class(has_case, "-case")
        if has_case:
            self.answers.show(looking, self.queue, self.faults)
            self.show_evidence()
        elif looking.volume is not None:
            self._show_volume(looking, looking.volume)
        self.show_heading()

    def _show_volume(self, looking: Exploring, volume: Volume) -> None:
        self.overview.border_title = Content(f"{show_line(volume.path.name)}")
        if volume.suite is None:
            self.overview.show_lines(problem_lines(volume.problems))
        else:
            path = str(volume.path)
            lines = suite_lines(path, volume.suite, looking.models, volume.problems, self.faults)
            paced = limit_lines(looking.state.limits) if looking.state.running else []
            self.overview.show_lines([*lines, (), *paced] if paced else lines)

    def show_evidence(self) -> None:
        """Bring the tab that is open up to date."""
        if self.looking is not None and self.has_class("-case"):
            self.evidence.show(self.looking, self._model())

    def show_heading(self) -> None:
        """For a subclass."""

    def _model(self) -> str:
        return self.answers.current.model if self.answers.current else ""

    @on(SuitePanel.FilterChanged)
    def take_filter(self, message: SuitePanel.FilterChanged) -> None:
        """Only the cases that are wanted."""
        if self.looking is not None:
            self.looking.filter = message.wanted
            self.suites.show(self.looking)
            row = self.suites.first_case_if_lost(self.looking)
            if row is not None:
                self.look_at(SuiteTree.RowReached(row))

    @on(TabLine.TabChosen)
    def turn_tab(self, message: TabLine.TabChosen) -> None:
        """Show another tab."""
        self.turn_to(next(tab for tab in TABS if tab == message.tab))

    def turn_to(self, tab: TabId) -> None:
        """Show this tab."""
        if self.looking is not None:
            self.evidence.turn_to(tab, self.looking, self._model())

    @on(FollowView.ScrolledByHand)
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
