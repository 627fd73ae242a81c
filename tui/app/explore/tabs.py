"""The tabs below the answers: Checks, Diff, Prompt, Risk, Attempts."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from tui.app.context import AppContext
from tui.app.diff.changes import count_changes, has_changes, missing_changes
from tui.app.explore.checks_tab import ChecksTab
from tui.app.explore.overview_lines import prompt_lines
from tui.app.open_suites import OpenSuite, Selection
from tui.app.widgets.attempts_tab import AttemptsTab
from tui.app.widgets.risk_tab import RiskTab
from tui.app.widgets.tab_bar import Tab, TabBar
from tui.app.widgets.text_views import TextPanel
from tui.model.events import RepositoryCloned
from tui.model.sanitize import sanitize_line
from tui.model.suite import Case

if TYPE_CHECKING:
    from tui.app.diff.panel import DiffPanel

TabId = Literal["checks", "diff", "prompt", "risk", "attempts"]
TABS: tuple[TabId, ...] = ("checks", "diff", "prompt", "risk", "attempts")


class DetailTabs(Vertical):
    """Shows one tab at a time; only that one is kept up to date. The diff is loaded when it is first turned to."""

    def __init__(self, context: AppContext, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._selection, self._scores = context.selection, context.scores
        self._model = ""
        self._scores_of: tuple[Path, str] | None = None
        self._line = TabBar(id="tabs")
        self.risk = RiskTab(id="tab-risk")
        self._tabs: dict[TabId, ChecksTab | AttemptsTab | RiskTab | TextPanel | DiffPanel] = {
            "checks": ChecksTab(id="tab-checks"),
            "prompt": TextPanel(id="tab-prompt"),
            "risk": self.risk,
            "attempts": AttemptsTab(id="tab-attempts"),
        }
        self.current: TabId = "checks"
        self._named = ""

    def compose(self) -> ComposeResult:
        """The line of names, and what they stand for."""
        yield self._line
        for name, tab in self._tabs.items():
            tab.display = name == self.current
            yield tab

    def turn_to(self, tab: TabId) -> None:
        """Show another tab; nothing while no case is displayed."""
        if self._selection.case is None:
            return
        self.current = tab
        if tab == "diff" and tab not in self._tabs:
            self._load_diff()
            self.call_after_refresh(self.show, self._model)
        else:
            self.show(self._model)

    @on(TabBar.TabChosen)
    def show_tab(self, message: TabBar.TabChosen) -> None:
        """Show the tab that was clicked."""
        message.stop()
        self.turn_to(next(tab for tab in TABS if tab == message.tab))

    @property
    def diff(self) -> "DiffPanel | None":
        """The diff, once it was looked at."""
        return self._tabs.get("diff")  # type: ignore[return-value]

    def offers(self, tab: TabId) -> bool:
        """Whether there is such a tab for what is looked at."""
        return any(each.id == tab for each in self._line.tabs)

    def focus_diff(self) -> None:
        """Read in the diff."""
        if self.diff is not None and self.diff.display:
            self.diff.view.focus()

    def _load_diff(self) -> None:
        from tui.app.diff.panel import DiffPanel

        tab = self._tabs["diff"] = DiffPanel(id="tab-diff")
        tab.display = False
        self.mount(tab)

    def beside(self, by: int) -> TabId:
        """The tab so many to the right, around the ends."""
        names = [tab.id for tab in self._line.tabs]
        if not names:  # no case is shown yet
            return self.current
        at = names.index(self.current) if self.current in names else 0
        return next(tab for tab in TABS if tab == names[(at + by) % len(names)])

    def show(self, model: str) -> None:
        """Show what is known now; `model` is the one whose prompt and diff are shown."""
        self._model, selection = model, self._selection
        names = self._names(selection, model)
        # A case without a diff shows its checks, and the next one that has one its diff again.
        seen = self.current if any(tab.id == self.current for tab in names) and self.current in self._tabs else "checks"
        if [tab.id for tab in names] != [tab.id for tab in self._line.tabs]:
            self.call_after_refresh(self.screen.refresh_bindings)
        self._line.show(names, seen)
        for name, widget in self._tabs.items():
            widget.display = name == seen
        tab, case = self._tabs[seen], selection.case
        self._put_name(case)
        if isinstance(tab, ChecksTab | AttemptsTab | RiskTab):
            tab.show(selection)
        elif not isinstance(tab, TextPanel):
            self._show_diff(tab, selection, model)
        elif case is None:
            tab.show_lines([])
        else:
            tab.show_lines(prompt_lines(case, selection.trial(model), model))
        if seen == "risk":
            self._read_scores()

    def forget_scores(self) -> None:
        """Read the scores again when the Risk tab is shown next."""
        self._scores_of = None

    def _read_scores(self) -> None:
        open_suite = self._selection.open_suite
        if open_suite is not None:
            run = open_suite.path, self._scores.current_run(open_suite)
            if run != self._scores_of:
                self._scores_of = run
                self._read_scores_of(open_suite)

    @work(group="scores", exclusive=True)
    async def _read_scores_of(self, open_suite: OpenSuite) -> None:
        self.risk.take(await self._scores.read_review(open_suite))
        self.show(self._model)

    @on(RiskTab.TrailAsked)
    def show_trail(self, message: RiskTab.TrailAsked) -> None:
        """Show everything that happened to an item, as far as it may be displayed beside a name."""
        from tui.app.review.lines import trail_lines
        from tui.app.screens.text_screen import TextScreen

        message.stop()
        review = self.risk.review
        item = next((each for each in review.items if each.key == message.item), None) if review else None
        if review is not None and item is not None:
            acts = [act for act in review.board.trail(item.key) if not review.hides(act)]
            self.app.push_screen(TextScreen("Trail", lambda width: trail_lines(item, acts, review.rule, width), "T"))

    def _put_name(self, case: Case | None) -> None:
        """The case's id and whole name stand below: the tree may have had no room for it."""
        shown = [sanitize_line(text) for text in (case.id, case.name) if text] if case else []
        name = " · ".join(dict.fromkeys(shown))
        if name != self._named:  # the setter paints everything anew
            self._named, self.border_subtitle = name, Content(name)

    @staticmethod
    def _show_diff(tab: "DiffPanel", selection: Selection, model: str) -> None:
        from tui.app.diff.answer_diff import kept_diff

        case, trial, cloned = selection.case, selection.trial(model), selection.state.repository
        if case is None:
            return
        kept = cloned.kept_folder if isinstance(cloned, RepositoryCloned) else None
        tab.show(kept_diff(case, trial), missing_changes(case, trial, model), Path(kept) if kept else None)

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
