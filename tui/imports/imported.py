"""An imported run, and the kind of a file of results by its content."""

import codecs
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from tui.model.errors import Problem, SuiteError
from tui.model.results import TrialResult
from tui.model.run import Plan, RunState
from tui.model.sanitize import sanitize_line

FileKind = Literal["assay", "promptfoo", "promptfoo-lines", "inspect", "answers-lines", "answers-csv"]
RUN_FILE_KEY = "assay_run"
"""The key of the first line of a run that Assay exported; its value is the version of the format."""
HEAD_BYTES = 64 * 1024
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_INSPECT = re.compile(r'"(?:eval|samples)"\s*:')
_ANSWER = frozenset(("case", "answer"))
# How far ahead the clock of the computer may be that wrote a file.
_CLOCK_SKEW = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """A run that was made elsewhere.

    If its id is derived from its content, the same results are the same run. If only the end of the id is
    (`is_named_by_content`), the time in it is set when the run is stored. `score_lines` are lines of score files.
    """

    plan: Plan
    results: tuple[TrialResult, ...]
    started_at: str
    finished_at: str
    warnings: tuple[Problem, ...] = ()
    state: RunState = "finished"
    versions: Mapping[str, str] = field(default_factory=dict)
    score_lines: str = ""
    is_named_by_content: bool = False


def kind_of_file(head: bytes) -> FileKind:
    """Return the kind of a file of results by its first bytes, at most HEAD_BYTES of them.

    Anything that begins with a brace or bracket and is nothing else is taken for promptfoo's results, other text for
    CSV.
    """
    if head.startswith(_GZIP):
        return "assay"
    if head.startswith(_ZIP):
        return "inspect"
    text = head.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace").lstrip()
    if not text.startswith(("{", "[")):
        return "answers-csv"
    keys = _keys_of_line(text.partition("\n")[0])
    if RUN_FILE_KEY in keys:
        return "assay"
    if keys >= _ANSWER:
        return "answers-lines"
    if keys and not keys & {"results", "eval", "samples"}:
        return "promptfoo-lines"
    found = _INSPECT.search(text)
    return "inspect" if found and '"results"' not in text[: found.start()] else "promptfoo"


def _keys_of_line(line: str) -> frozenset[str]:
    """Return the keys of the object on a line; none if the line is no whole object."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        # A line longer than the head; its keys are taken from what is there.
        return frozenset(re.findall(r'"(\w+)"\s*:', line[:4096])) if len(line) > 4096 else frozenset()
    return frozenset(value) if isinstance(value, dict) else frozenset()


def start_of(path: Path, where: str, timestamp: str) -> datetime:
    """Return the start time that a file has at the place `where`. Raises SuiteError.

    Runs are ordered by time: a run from the future would stay the last one.
    """
    expected = "a time such as 2026-11-20T10:15:00Z"
    try:
        moment = datetime.fromisoformat(timestamp)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if moment > datetime.now(UTC) + _CLOCK_SKEW:
            expected = "a time that is not in the future"
        elif moment.timestamp() >= 0:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    what = f"expected {expected}, got `{sanitize_line(timestamp, 40)}`"
    problem = Problem(str(path), None, None, "error", where, what)
    raise SuiteError("The results cannot be imported", [problem], where=str(path))


def run_id_of(started: datetime, content: str) -> str:
    """Return a run id: 32 hex digits that sort by time, the rest derived from the digest of the content."""
    time = int(started.timestamp() * 1_000) & (1 << 48) - 1
    return f"{time:012x}7{content[:3]}{0x8 | int(content[3], 16) & 0x3:x}{content[4:19]}"
