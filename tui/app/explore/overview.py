"""The panel of a suite without a selected case: what it contains, its problems, or how to begin."""

from functools import partial

from textual.content import Content

from tui.app.explore.overview_lines import SuiteKeys, outdated_lines, problem_lines, suite_lines
from tui.app.keymap import key_of
from tui.app.open_suites import OpenSuite, Selection
from tui.app.presentation.model_faults import fault_lines
from tui.app.presentation.pace import limit_lines
from tui.app.splash import start_lines
from tui.app.widgets.text_views import TextPanel
from tui.model.sanitize import sanitize_line

_NO_SUITES = "No suites found. Run `assay init` to write an example suite."


class SuiteOverview(TextPanel):
    """Display the selected suite, and before the first one is read how to begin."""

    def __init__(self, selection: Selection, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._selection = selection

    def on_mount(self) -> None:
        """Show how to begin."""
        self.border_title = Content("Start")
        message = "" if self._selection.open_suites.all else _NO_SUITES
        self.show_lines(start_lines(message, partial(key_of, self.screen)))

    def show(self, open_suite: OpenSuite) -> None:
        """Show a suite with its models and the pace of its run, or its problems where it cannot be used."""
        selection, suite = self._selection, open_suite.suite
        self.border_title = Content(sanitize_line(open_suite.path.name))
        if suite is None or open_suite.outdated:
            lines = problem_lines(open_suite.problems)
            self.show_lines([*lines, *outdated_lines(open_suite.path.name)] if suite else lines)
            return
        keys = SuiteKeys(*(key_of(self.screen, each) for each in ("run.suite", "look.models", "run.local")))
        faults = fault_lines(selection.model_errors, (keys.choose, keys.local))
        lines = suite_lines(str(open_suite.path), suite, selection.models, open_suite.problems, faults, keys)
        paced = limit_lines(selection.state.limits) if selection.state.running else []
        self.show_lines([*lines, (), *paced] if paced else lines)
