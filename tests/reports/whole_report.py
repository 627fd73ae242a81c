"""The JSON report of a run as values, before it is written as text."""

from typing import Any

from tui.model.risk import Reviewed
from tui.model.run import KeptRun
from tui.reports.json_report import build_head, build_results


def build_report(kept: KeptRun, *, reviewed: Reviewed | None = None, margin: float | None = None) -> dict[str, Any]:
    """Return the head and all results of a report."""
    return {**build_head(kept, reviewed, margin), "results": list(build_results(kept, reviewed))}
