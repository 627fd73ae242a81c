"""The export of a saved run as a report, from any screen: the same file that `assay report` writes."""

import asyncio
import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from textual.screen import Screen

from tui.app.dialogs import ChoiceScreen
from tui.app.export_dialog import ExportScreen, Format, Option, file_stem
from tui.app.notifications import notify_error
from tui.app.presentation.pieces import Line
from tui.app.runs.lines import run_title
from tui.model.errors import AssayError
from tui.model.run import ReportContent, ReportFormat, RunRecord
from tui.session.run_history import RunHistory

_COMPLETE = {"json": "JSON is always complete"}
_NOTHING = "No saved run to export here."


class ReportExport:
    """A report of a run. `record_names` is called when it was written: its file shows the model names.

    `hidden` counts the scores that the reviewer gave blind and has not revealed.
    """

    title = "Export report"
    formats: Sequence[Format] = (
        Format("html", ".html", "single page for a browser"),
        Format("markdown", ".md", "for reading and pull requests"),
        Format("json", ".json", "complete data for other programs"),
        Format("csv", ".csv", "one row per trial, for spreadsheets"),
        Format("junit", ".xml", "for CI servers"),
    )
    options: Sequence[Option] = (
        Option("answers", "Answers in full", _COMPLETE),
        Option("risk", "Risk analysis: criteria and scores", _COMPLETE),
        Option("times", "Timestamps", _COMPLETE),
    )
    chosen = frozenset({"risk", "times"})

    def __init__(self, history: RunHistory, run: RunRecord, hidden: int, record_names: Callable[[], object]) -> None:
        self._history, self._run, self._record_names = history, run, record_names
        self.stem = f"{file_stem(run.suite_name) or 'run'}-{run.id[:12]}"
        self.warning = ""
        if hidden:
            scores = "1 score" if hidden == 1 else f"{hidden} scores"
            self.warning = (
                f"Warning: the report shows model names next to {scores} that you gave blind and have not revealed."
            )

    def write(self, file: Path, format: str, chosen: frozenset[str], *, replaces: bool) -> None:
        """Write the report. Blocks. Raises AssayError and FileExistsError."""
        included = _without_fixed(format, chosen)
        content = ReportContent(
            cast("ReportFormat", format),
            responses="answers" in included,
            timestamps="times" in included,
            risk_analysis="risk" in included,
        )
        self._history.export(self._run.id, content, file, replaces=replaces)

    def written(self) -> None:
        """Record that model names were displayed."""
        self._record_names()

    def command(self, file: str, format: str, chosen: frozenset[str]) -> str:
        """Return the command line that writes the same report."""
        flags = {"answers": "-r", "risk": "--risk-analysis", "times": "-t"}
        words = ["assay", "report", self._run.id, "-f", format]
        words += [flag for name, flag in flags.items() if name in _without_fixed(format, chosen)]
        # In quotes, the shell leaves `~` as it is.
        return shlex.join([*words, "-o", os.path.expanduser(file)])


def _without_fixed(format: str, chosen: frozenset[str]) -> frozenset[str]:
    """Return the chosen options that a format has: JSON is complete without any."""
    return frozenset() if format in _COMPLETE else chosen


class ReportExporter:
    """Open the export dialog for a saved run above `screen`.

    `hidden_scores` returns how many scores of a run were given blind and are not revealed, and blocks; `record_names`
    records that the model names of a run are displayed, with the place where.
    """

    def __init__(
        self,
        screen: Screen[Any],
        history: RunHistory,
        hidden_scores: Callable[[str], int],
        record_names: Callable[[str, str], object],
    ) -> None:
        self._screen, self._history = screen, history
        self._hidden_scores, self._record_names = hidden_scores, record_names

    async def open(self, run_ids: Sequence[str]) -> None:
        """Export the run with this id; of several ones, ask which. Await this in a worker. Errors are notified."""
        try:
            records = await asyncio.to_thread(self._history.list_runs)
            runs = [each for each in records if each.id in run_ids]
            if not runs:
                self._screen.notify(_NOTHING, severity="warning", markup=False)
                return
            place: int | None = 0
            if len(runs) > 1:
                lines: list[Line] = [((f" {run_title(run)}", "plain"), (f"  {run.id[:12]}", "dim")) for run in runs]
                choice = ChoiceScreen("A report is of one run. Which one?", lines, 0)
                place = await self._screen.app.push_screen_wait(choice)
            if place is not None:
                await self._open(runs[place])
        except AssayError as error:
            notify_error(self._screen, error)

    async def _open(self, run: RunRecord) -> None:
        try:
            hidden = await asyncio.to_thread(self._hidden_scores, run.id)
        except AssayError:
            hidden = 0  # The report says that scores cannot be read.
        export = ReportExport(self._history, run, hidden, lambda: self._record_names(run.id, "a report"))
        await self._screen.app.push_screen_wait(ExportScreen(export))
