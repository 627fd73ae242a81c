"""An imported run, and the kind of a file of results by its content."""

import codecs
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tui.model.errors import Problem
from tui.model.results import TrialResult
from tui.model.run import Plan, RunState

FileKind = Literal["assay", "promptfoo", "promptfoo-lines", "inspect", "answers-lines", "answers-csv"]
RUN_FILE_KEY = "assay_run"
"""The key of the first line of a run that Assay exported; its value is the version of the format."""
HEAD_BYTES = 64 * 1024
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_INSPECT = re.compile(r'"(?:eval|samples)"\s*:')
_ANSWER = frozenset(("case", "answer"))


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
