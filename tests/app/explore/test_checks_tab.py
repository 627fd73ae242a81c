"""The Checks tab over scripted trials."""

from dataclasses import replace
from pathlib import Path

from textual.widgets import Static

from tests.app.explore.explored import CASES, explored, session_for
from tests.support.scripted_session import case_of
from tui.app.explore.checks_tab import ChecksTab
from tui.app.widgets.text_views import TextPanel
from tui.model.progress import TrialProgress
from tui.model.results import TrialKey
from tui.model.suite import SuiteCase


async def test_only_verdicts_of_other_checks_are_called_earlier(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await seen.until(lambda: seen.screen.selection.case is not None)
        tab, selection = seen.screen.query_one(ChecksTab), seen.screen.selection
        suite, case = selection.suite, selection.case
        assert suite is not None
        assert case is CASES[0]
        accepting = replace(suite, options=replace(suite.options, accept_truncated=True))
        model = selection.page[0]
        for ran, is_earlier in (
            (SuiteCase(case, suite), False),
            (SuiteCase(replace(case, steps=(replace(case.steps[0], input="other"),)), suite), False),
            (SuiteCase(case_of("one", expects=["class"]), suite), True),
            (SuiteCase(case, accepting), True),
        ):
            tab.show(selection, {model: TrialProgress(TrialKey("one", model), "passed", asked=ran)})
            shown = str(tab.query_one(TextPanel).query_one(Static).render())
            assert ("were changed after it was run" in shown) is is_earlier, ran
