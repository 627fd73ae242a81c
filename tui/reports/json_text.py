"""JSON text without characters that a terminal could obey or an eye could miss."""

import json
from collections.abc import Iterator, Mapping, Sequence

from tui.model.risk import Reviewed
from tui.model.run import KeptRun
from tui.model.sanitize import escape_unseen
from tui.model.values import SURROGATE
from tui.reports.json_report import build_head, build_results


def json_text(value: object, indent: int | None = None) -> str:
    """Return the value as JSON, on several lines if `indent` is given. Raises ValueError for NaN and infinities."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    if text.isascii() and "\x7f" not in text:
        return text
    # A lone surrogate has no UTF-8: it is replaced by one replacement character, so that spans stay correct.
    return escape_unseen(SURROGATE.sub("\ufffd", text))


def render_json(runs: Sequence[KeptRun], reviewed: Mapping[str, Reviewed], margin: float | None = None) -> str:
    """Return one report, or an array of them."""
    pieces = [] if len(runs) == 1 else ["[\n"]
    for place, kept in enumerate(runs):
        pieces += [",\n"] * (place > 0)
        pieces += _render(kept, reviewed.get(kept.record.id), margin)
    # Answers can be large: the text is put together once.
    return "".join([*pieces, "\n" if len(runs) == 1 else "\n]\n"])


def _render(kept: KeptRun, reviewed: Reviewed | None, margin: float | None) -> Iterator[str]:
    """Yield the pieces of one report."""
    yield "{"
    for key, value in build_head(kept, reviewed, margin).items():
        yield f"{json_text(key)}: {json_text(value)},\n"
    yield '"results": ['
    between = "\n"
    for result in build_results(kept, reviewed):
        yield between
        yield json_text(result)
        between = ",\n"
    yield "]}" if between == "\n" else "\n]}"
