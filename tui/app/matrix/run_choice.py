"""The runs of a suite, to choose one to measure against."""

import os
from collections.abc import Iterable

from tui.app.presentation.names import model_names
from tui.app.presentation.pieces import Line
from tui.app.runs.lines import SHORT_ID, day_and_time
from tui.model.run import RunRecord
from tui.model.sanitize import show_line
from tui.model.suite import Suite


def runs_of(runs: Iterable[RunRecord], suite: Suite) -> list[RunRecord]:
    """Those of a suite, in their order."""
    place = _place(suite.path)
    return [run for run in runs if _place(run.suite_path) == place]


def run_choice_line(run: RunRecord) -> Line:
    """When, which, how it went, whom it asked."""
    models = ", ".join(model_names(run.models))
    state = "" if run.state == "finished" else f" · {run.state}"
    return (
        (f" {day_and_time(run.started_at):>12}", "plain"),
        (f"  {show_line(run.id[:SHORT_ID])}", "dim"),
        (f"  {run.passed:>5}/{run.trials} passed{state}", "plain"),
        (f"  {models}", "dim"),
    )


def _place(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # NUL, or what no file name can hold
        return path
