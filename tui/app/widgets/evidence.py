"""The tabs below the answers: Checks, Prompt, Risk, Attempts."""

from collections.abc import Sequence
from typing import Literal

from textual.app import ComposeResult
from textual.containers import Vertical

from tui.app.exploring import Exploring
from tui.app.presentation.telling import prompt_lines, risk_lines
from tui.app.widgets.attempts_tab import AttemptsTab
from tui.app.widgets.checks_tab import ChecksTab
from tui.app.widgets.reading import Reading
from tui.app.widgets.tab_line import Tab, TabLine

TabId = Literal["checks", "prompt", "risk", "attempts"]
TABS: tuple[TabId, ...] = ("checks", "prompt", "risk", "attempts")


class Evidence(Vertical):
    """Shows one tab at a time; only that one is kept up to date."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._line = TabLine(id="tabs")
        self._tabs: dict[TabId, ChecksTab | AttemptsTab | Reading] = {
            "checks": ChecksTab(id="tab-checks"),
            "prompt": Reading(id="tab-prompt"),
            "risk": Reading(id="tab-risk"),
            "attempts": AttemptsTab(id="tab-attempts"),
        }
        self.current: TabId = "checks"

    def compose(self) -> ComposeResult:
        """The line of names, and what they stand for."""
        yield self._line
        for name, tab in self._tabs.items():
            tab.display = name == self.current
            yield tab

    def turn_to(self, tab: TabId, looking: Exploring, model: str) -> None:
        """Show another tab."""
        self.current = tab
        for name, widget in self._tabs.items():
            widget.display = name == tab
        self.show(looking, model)

    def beside(self, by: int) -> TabId:
        """The tab so many to the right, around the ends."""
        return TABS[(TABS.index(self.current) + by) % len(TABS)]

    def show(self, looking: Exploring, model: str) -> None:
        """Show what is known now; `model` is the one whose prompt is shown."""
        self._line.show(self._names(looking), self.current)
        tab = self._tabs[self.current]
        case = looking.case
        if isinstance(tab, ChecksTab | AttemptsTab):
            tab.show(looking)
        elif case is None:
            tab.show_lines([])
        elif self.current == "prompt":
            tab.show_lines(prompt_lines(case, looking.trial(model), model))
        else:
            tab.show_lines(risk_lines(case))

    def _names(self, looking: Exploring) -> Sequence[Tab]:
        case = looking.case
        risks = len(case.risk_criteria) if case else 0
        attempts = sum(len(trial.attempts) for trial in looking.repeats())
        return (
            Tab("checks", "Checks"),
            Tab("prompt", "Prompt"),
            Tab("risk", f"Risk {risks}" if risks else "Risk"),
            Tab("attempts", f"Attempts {attempts}" if attempts else "Attempts"),
        )
