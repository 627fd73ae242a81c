"""The report as JSON text: one result a line, so that it can be read, searched and compared line by line."""

from collections.abc import Mapping, Sequence

from tui.model.kept import KeptRun
from tui.model.risk import Reviewed
from tui.reports.json_report import build_head, build_results
from tui.reports.json_text import json_text


def render_json(runs: Sequence[KeptRun], reviewed: Mapping[str, Reviewed], margin: float | None = None) -> str:
    """One report, or an array of them."""
    reports = [_render(kept, reviewed.get(kept.record.id), margin) for kept in runs]
    return f"{reports[0]}\n" if len(reports) == 1 else "[\n" + ",\n".join(reports) + "\n]\n"


def _render(kept: KeptRun, reviewed: Reviewed | None, margin: float | None) -> str:
    head = ",\n".join(
        f"{json_text(key)}: {json_text(value)}" for key, value in build_head(kept, reviewed, margin).items()
    )
    lines = ",\n".join(json_text(result) for result in build_results(kept, reviewed))
    return f'{{{head},\n"results": [\n{lines}\n]}}' if lines else f'{{{head},\n"results": []}}'
