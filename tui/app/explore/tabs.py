"""The tabs below the answers: Checks, Diff, Prompt, Risk, Attempts."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from tui.app.bindings import bind
from tui.app.context import AppContext
from tui.app.diff.changes import count_changes, has_changes, has_other_changes, missing_changes
from tui.app.explore.attempt_lines import (
    AttemptRow,
    attempt_line,
    attempt_rows,
    name_width,
    retry_lines,
    served_lines,
    tool_lines,
)
from tui.app.explore.checks_tab import ChecksTab
from tui.app.explore.overview_lines import prompt_lines
from tui.app.explore.risk_lines import (
    BesideRow,
    beside_line,
    beside_rows,
    detail_lines,
    hidden_line,
    left_out_line,
    models_beside,
)
from tui.app.keymap import shared, with_keys
from tui.app.open_suites import OpenSuite, Selection
from tui.app.presentation.checks_lines import CheckRow
from tui.app.presentation.names import model_names
from tui.app.presentation.pieces import Line
from tui.app.session_protocol import Session
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.tab_bar import Tab, TabBar
from tui.app.widgets.text_views import FittedTextPanel, TextPanel
from tui.app.workers import start_worker
from tui.model.context import wants_context
from tui.model.events import RepositoryCloned
from tui.model.progress import TrialProgress
from tui.model.risk import BandRule
from tui.model.sanitize import sanitize_line
from tui.model.scores import ItemKey
from tui.model.suite import Case, Suite

if TYPE_CHECKING:
    from tui.app.diff.panel import DiffPanel
    from tui.session.run_review import RunReview


class _AttemptTable(LineListView):
    """The rows of the attempts."""

    rows: Sequence[AttemptRow] = ()

    @property
    def line_count(self) -> int:
        return len(self.rows)

    def line_at(self, place: int, width: int) -> Line:
        repeats = any(row.trial.key.repeat > 1 for row in self.rows)
        return attempt_line(self.rows[place], name_width(self.rows, width), repeats=repeats)


class AttemptsTab(Vertical):
    """A list of attempts; below it the transport retries of the selected one, its server, and its cost."""

    DEFAULT_CSS = """
    AttemptsTab { height: 1fr; }
    AttemptsTab > _AttemptTable { height: auto; max-height: 70%; }
    AttemptsTab > TextPanel { margin-top: 1; min-height: 1; }
    """

    class AttemptChosen(Message):
        """Posted to display the answer of an attempt."""

        def __init__(self, trial: TrialProgress, number: int) -> None:
            super().__init__()
            self.trial, self.number = trial, number

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._table, self._detail = _AttemptTable(), TextPanel()
        self._shown: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """Compose the rows and the details."""
        yield self._table
        yield self._detail

    def show(self, selection: Selection) -> None:
        """Display the attempts of the selected case."""
        names = dict(zip(selection.models, model_names(selection.models), strict=True))
        self._table.rows = attempt_rows((names[trial.key.model], trial) for trial in selection.repeats())
        shown = selection.path, selection.case_id
        self._table.lines_changed(self._table.cursor if shown == self._shown else 0)
        self._shown = shown
        self._table.display = bool(self._table.rows)
        self._show_details()

    def _show_details(self) -> None:
        if not 0 <= self._table.cursor < len(self._table.rows):
            self._detail.show_lines(
                [((with_keys(self.screen, "No attempt yet. Press {run_case} to run this case."), "dim"),)]
            )
            return
        attempt = self._table.rows[self._table.cursor].attempt
        lines = [*retry_lines(attempt), *served_lines(attempt), *tool_lines(attempt)]
        enter: Line = (("Enter: show the answer in the pane of the model.", "dim"),)
        self._detail.show_lines([*lines, (), enter] if lines else [enter])

    def on_line_list_view_reached(self, message: LineListView.Reached) -> None:
        """Display the details of the highlighted attempt."""
        message.stop()
        self._show_details()

    def on_line_list_view_chosen(self, message: LineListView.Chosen) -> None:
        """Post the chosen attempt."""
        message.stop()
        row = self._table.rows[message.place]
        self._show_details()
        self.post_message(self.AttemptChosen(row.trial, row.attempt.number))


class _RiskTable(LineListView):
    """The rows of the Risk tab."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("enter", "choose", "risk.review", "Score this answer", "review", "Enter"),
        shared("look.review", "choose", "Score this answer", label=""),
        bind("T", "trail", "risk.trail", "Show the history of this item", "trail"),
    ]
    rows: Sequence[BesideRow] = ()
    rule = BandRule()
    models: Sequence[str] = ()

    class TrailRequested(Message):
        """Posted to show the history of the highlighted row."""

    @property
    def line_count(self) -> int:
        return len(self.rows)

    def line_at(self, place: int, width: int) -> Line:
        return beside_line(self.rows[place], self.rule, self.models, width)

    def action_trail(self) -> None:
        self.post_message(self.TrailRequested())


class RiskTab(Vertical):
    """The criteria of the selected case, with the scores of each answer. It posts which item to review or explain."""

    DEFAULT_CSS = """
    RiskTab { height: 1fr; }
    RiskTab > _RiskTable { height: auto; max-height: 60%; }
    RiskTab > FittedTextPanel { margin-top: 1; min-height: 1; }
    """

    class ReviewRequested(Message):
        """Posted to review an item, or any item of the case if it is None."""

        def __init__(self, item: ItemKey | None) -> None:
            super().__init__()
            self.item = item

    class TrailRequested(Message):
        """Posted to show the history of an item."""

        def __init__(self, item: ItemKey) -> None:
            super().__init__()
            self.item = item

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._table, self._detail = _RiskTable(), FittedTextPanel()
        self.review: RunReview | None = None
        self._left_out: Line = ()
        self._shown: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """Compose the table, and the details of the highlighted row."""
        yield self._table
        yield self._detail

    def take(self, review: "RunReview | None") -> None:
        """Set the review of the run; None if there is none."""
        self.review, self._shown = review, ()

    def show(self, selection: Selection) -> None:
        """Display the selected case, unless nothing has changed."""
        case, review = selection.case, self.review
        shown = (selection.path, case, selection.models, review)
        if shown == self._shown:
            return
        again = self._shown[:2] == shown[:2]
        self._shown = shown
        table = self._table
        table.rows = beside_rows(case, selection.models, review, selection.state) if case else ()
        table.models, table.rule = models_beside(selection.models, review), review.rule if review else BandRule()
        table.display = bool(table.rows)
        table.lines_changed(table.cursor if again else 0)
        self._left_out = left_out_line(case, selection.models, review, selection.state) if case else ()
        self._show_details()

    def _show_details(self) -> None:
        table = self._table
        row = table.rows[table.cursor] if 0 <= table.cursor < len(table.rows) else None
        if row is None:
            none: Line = (("This case has no risk criteria.", "dim"),)
            self._detail.show_fitted(lambda _: [none, *([self._left_out] if self._left_out else [])])
            return
        end = [line for line in (self._left_out, hidden_line(table.rows), _invitation(table.rows)) if line]
        self._detail.show_fitted(lambda width: [*detail_lines(row, table.rule, width), (), *end])

    def on_line_list_view_reached(self, message: LineListView.Reached) -> None:
        """Display the details of the highlighted row."""
        message.stop()
        self._show_details()

    def on_line_list_view_chosen(self, message: LineListView.Chosen) -> None:
        """Request a review of the chosen item."""
        message.stop()
        self._show_details()
        self.post_message(self.ReviewRequested(self._table.rows[message.place].item))

    @on(_RiskTable.TrailRequested)
    def request_trail(self, message: _RiskTable.TrailRequested) -> None:
        """Request the history of the highlighted answer; a criterion has none."""
        message.stop()
        rows = self._table.rows
        item = rows[self._table.cursor].item if 0 <= self._table.cursor < len(rows) else None
        if item is not None:
            self.post_message(self.TrailRequested(item))


def _invitation(rows: Sequence[BesideRow]) -> Line:
    if not any(row.item is not None for row in rows):
        return (("Run the case to score its answers.", "dim"),)
    return (("Enter", "accent"), (" scores the answer, ", "dim"), ("T", "accent"), (" shows its history", "dim"))


class PromptTab(TextPanel):
    """The prompt of the selected case: what was sent to a model, or what will be sent."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._session = session
        self._case: tuple[Suite, Case] | None = None
        self._planned: Sequence[str] = ()  # about the files of that case
        self._shown: Callable[[], None] = lambda: None

    def show(self, selection: Selection, model: str, chosen: TrialProgress | None) -> None:
        """Show the prompt of the selected case for a model, or of the trial that was `chosen`.

        The files that it will contain are read in a thread.
        """
        case, open_suite = selection.case, selection.open_suite
        if case is None or open_suite is None or open_suite.suite is None:
            self._case = None
            self.show_lines([])
            return
        suite, trial = open_suite.suite, chosen or selection.trial(model)
        if self._case is None or self._case[0] is not suite or self._case[1] is not case:
            self._case, self._planned = (suite, case), ()
            if wants_context(suite) and not open_suite.run:
                start_worker(self, partial(self._read_files, suite, case), group="files", exclusive=True)
        self._shown = lambda: self.show_lines(prompt_lines(case, trial, model, self._planned))
        self._shown()

    async def _read_files(self, suite: Suite, case: Case) -> None:
        planned = await asyncio.to_thread(self._session.context_previews.plan, suite, (case,))
        if planned is not None and self._case == (suite, case):
            self._planned = planned.lines
            self._shown()


TabId = Literal["checks", "diff", "prompt", "risk", "attempts"]
TABS: tuple[TabId, ...] = ("checks", "diff", "prompt", "risk", "attempts")


class DetailTabs(Vertical):
    """The tabs of the selected case. Only the current one is updated; Diff is imported when it is first displayed."""

    def __init__(self, context: AppContext, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._selection, self._scores = context.selection, context.scores
        self._model = ""
        self._chosen: Mapping[str, TrialProgress] = {}
        self._scores_of: tuple[Path, str] | None = None
        self._line = TabBar(id="tabs")
        self.risk = RiskTab(id="tab-risk")
        self._tabs: dict[TabId, ChecksTab | AttemptsTab | RiskTab | PromptTab | DiffPanel] = {
            "checks": ChecksTab(id="tab-checks"),
            "prompt": PromptTab(context.session, id="tab-prompt"),
            "risk": self.risk,
            "attempts": AttemptsTab(id="tab-attempts"),
        }
        self.current: TabId = "checks"
        self._named = ""

    def compose(self) -> ComposeResult:
        """Compose the bar of tabs and the tabs."""
        yield self._line
        for name, tab in self._tabs.items():
            tab.display = name == self.current
            yield tab

    def switch_to(self, tab: TabId) -> None:
        """Switch to another tab, unless no case is displayed."""
        if self._selection.case is None:
            return
        self.current = tab
        if tab == "diff" and tab not in self._tabs:
            self._load_diff()
            self.call_after_refresh(self.show, self._model, self._chosen)
        else:
            self.show(self._model, self._chosen)

    @on(TabBar.TabChosen)
    def show_tab(self, message: TabBar.TabChosen) -> None:
        """Switch to the clicked tab."""
        message.stop()
        self.switch_to(next(tab for tab in TABS if tab == message.tab))

    @property
    def diff(self) -> "DiffPanel | None":
        """Return the Diff tab; None until it is first displayed."""
        return self._tabs.get("diff")  # type: ignore[return-value]

    @property
    def check_row(self) -> CheckRow | None:
        """Return the highlighted check; None if another tab than Checks is displayed."""
        tab = self._tabs["checks"]
        return tab.row if isinstance(tab, ChecksTab) and tab.display else None

    @property
    def searches_diff(self) -> bool:
        """Return whether the diff has the focus: the key of the filter searches it."""
        return self.diff is not None and self.diff.has_focus_within

    def offers(self, tab: TabId) -> bool:
        """Return whether the selected case has a tab."""
        return any(each.id == tab for each in self._line.tabs)

    def focus_diff(self) -> None:
        """Focus the diff, if it is displayed."""
        if self.diff is not None and self.diff.display:
            self.diff.view.focus()

    def _load_diff(self) -> None:
        from tui.app.diff.panel import DiffPanel

        tab = self._tabs["diff"] = DiffPanel(id="tab-diff")
        tab.display = False
        self.mount(tab)

    def beside(self, by: int) -> TabId:
        """Return the next or previous tab, around the ends."""
        names = [tab.id for tab in self._line.tabs]
        if not names:  # no case is displayed yet
            return self.current
        at = names.index(self.current) if self.current in names else 0
        return next(tab for tab in TABS if tab == names[(at + by) % len(names)])

    def show(self, model: str, chosen: Mapping[str, TrialProgress]) -> None:
        """Update the current tab; `model` is the one whose prompt and diff are displayed.

        `chosen` has the trials of models of which not the last attempt is displayed, up to that attempt.
        """
        self._model, self._chosen, selection = model, chosen, self._selection
        names = self._names(selection, model)
        # For a case without a diff Checks is displayed; the next case with a diff displays it again.
        seen = self.current if any(tab.id == self.current for tab in names) and self.current in self._tabs else "checks"
        if [tab.id for tab in names] != [tab.id for tab in self._line.tabs]:
            self.call_after_refresh(self.screen.refresh_bindings)
        self._line.show(names, seen)
        for name, widget in self._tabs.items():
            widget.display = name == seen
        tab, case = self._tabs[seen], selection.case
        self._put_name(case)
        if isinstance(tab, ChecksTab):
            tab.show(selection, chosen)
        elif isinstance(tab, AttemptsTab | RiskTab):
            tab.show(selection)
        elif isinstance(tab, PromptTab):
            tab.show(selection, model, chosen.get(model))
        else:
            self._show_diff(tab, selection, model, chosen)
        if seen == "risk":
            self._read_scores()

    def forget_scores(self) -> None:
        """Read the scores again when the Risk tab is displayed next."""
        self._scores_of = None

    def _read_scores(self) -> None:
        open_suite = self._selection.open_suite
        if open_suite is not None:
            selection = self._selection
            run = open_suite.path, self._scores.run_of_case(open_suite, selection.case_id, selection.models)
            if run != self._scores_of:
                self._scores_of = run
                self._read_scores_of(open_suite, run[1])

    @work(group="scores", exclusive=True)
    async def _read_scores_of(self, open_suite: OpenSuite, run_id: str) -> None:
        self.risk.take(await self._scores.read_review(open_suite, run_id))
        self.show(self._model, self._chosen)

    @on(RiskTab.TrailRequested)
    def show_trail(self, message: RiskTab.TrailRequested) -> None:
        """Display the history of an item, without scores that are still hidden."""
        from tui.app.dialogs import TextScreen
        from tui.app.presentation.trail_lines import trail_lines

        message.stop()
        review = self.risk.review
        item = next((each for each in review.items if each.key == message.item), None) if review else None
        if review is not None and item is not None:
            acts = () if review.blind else review.board.trail(item.key)
            lines = partial(trail_lines, item, acts, review.rule)
            self.app.push_screen(TextScreen("Trail", lines, "risk.trail"))

    def _put_name(self, case: Case | None) -> None:
        """Display the id and the full name of the case in the frame, because the tree may cut them."""
        shown = [sanitize_line(text) for text in (case.id, case.name) if text] if case else []
        name = " · ".join(dict.fromkeys(shown))
        if name != self._named:  # the setter repaints everything
            self._named, self.border_subtitle = name, Content(name)

    @staticmethod
    def _show_diff(tab: "DiffPanel", selection: Selection, model: str, chosen: Mapping[str, TrialProgress]) -> None:
        from tui.app.diff.answer_diff import kept_diff

        trials = {each: chosen.get(each) or selection.trial(each) for each in (model, *selection.models)}
        case, trial, cloned = selection.case, trials.pop(model), selection.state.repository
        if case is None:
            return
        kept = cloned.kept_folder if isinstance(cloned, RepositoryCloned) else None
        missing = with_keys(tab.screen, missing_changes(case, trial, model))
        shown, *others = (
            None if has_other_changes(each) else kept_diff(case, each) for each in (trial, *trials.values())
        )
        tab.show(shown, missing, Path(kept) if kept else None, [each for each in others if each])

    def _names(self, selection: Selection, model: str) -> Sequence[Tab]:
        case = selection.case
        risks = len(case.risk_criteria) if case else 0
        attempts = sum(len(trial.attempts) for trial in selection.repeats())
        changed = count_changes(selection.trial(model))
        diff = (Tab("diff", f"Diff {changed}" if changed else "Diff"),) if has_changes(case, selection.trials()) else ()
        return (
            Tab("checks", "Checks"),
            *diff,
            Tab("prompt", "Prompt"),
            Tab("risk", f"Risk {risks}" if risks else "Risk"),
            Tab("attempts", f"Attempts {attempts}" if attempts else "Attempts"),
        )
