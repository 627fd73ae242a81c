"""The formats of a report as a person chooses them, and how its file is called at first."""

import re
from typing import NamedTuple

from tui.app.presentation.pieces import Line
from tui.model.run import ReportFormat, RunRecord

_NOT_FOR_NAMES = re.compile(r"[^A-Za-z0-9]+")


class Format(NamedTuple):
    """A format, the end of its file's name, and for whom it is."""

    format: ReportFormat
    suffix: str
    says: str


FORMATS = (
    Format("markdown", ".md", "to read, and for a pull request"),
    Format("html", ".html", "one page for a browser"),
    Format("json", ".json", "everything, for other programs"),
    Format("csv", ".csv", "a row for each trial, for a spreadsheet"),
    Format("junit", ".xml", "for a build server"),
)


def format_line(format: Format, answers: bool) -> Line:
    """A line of the list; JSON is always whole, the tables never."""
    full = format.format == "json" or (answers and format.format in ("markdown", "html"))
    return (
        (f" {format.format:<10}", "strong"),
        (format.says, "dim"),
        (" · with full answers" if full else "", "accent"),
    )


def default_file(run: RunRecord, suffix: str) -> str:
    """A name in the folder where the app was started."""
    stem = _NOT_FOR_NAMES.sub("-", run.suite_name).strip("-").lower()[:60] or "run"
    return f"{stem}-{_NOT_FOR_NAMES.sub('', run.id)[:12]}{suffix}"
