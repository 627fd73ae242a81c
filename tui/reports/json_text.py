"""JSON text without characters that a terminal could obey or an eye could miss."""

import json
import re
from collections.abc import Mapping, Sequence

from tui.model.risk import Reviewed
from tui.model.run import KeptRun
from tui.model.sanitize import escape_unseen
from tui.reports.json_report import build_head, build_results

_SURROGATE = re.compile("[\ud800-\udfff]")


def json_text(value: object, indent: int | None = None) -> str:
    """Return the value as JSON, on several lines if `indent` is given. Raises ValueError for NaN and infinities."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    if text.isascii() and "\x7f" not in text:
        return text
    # A lone surrogate has no UTF-8: it is replaced by one replacement character, so that spans stay correct.
    return escape_unseen(_SURROGATE.sub("\ufffd", text))


def render_json(runs: Sequence[KeptRun], reviewed: Mapping[str, Reviewed], margin: float | None = None) -> str:
    """Return one report, or an array of them."""
    reports = [_render(kept, reviewed.get(kept.record.id), margin) for kept in runs]
    return f"{reports[0]}\n" if len(reports) == 1 else "[\n" + ",\n".join(reports) + "\n]\n"


def _render(kept: KeptRun, reviewed: Reviewed | None, margin: float | None) -> str:
    head = ",\n".join(
        f"{json_text(key)}: {json_text(value)}" for key, value in build_head(kept, reviewed, margin).items()
    )
    lines = ",\n".join(json_text(result) for result in build_results(kept, reviewed))
    return f'{{{head},\n"results": [\n{lines}\n]}}' if lines else f'{{{head},\n"results": []}}'
