"""An imported run, and the kind of a file of results by its content."""

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from tui.imports.answers import COLUMNS
from tui.model.errors import Problem, SuiteError
from tui.model.results import JUDGED, TrialResult
from tui.model.run import Plan, RunOptions, RunState
from tui.model.sanitize import sanitize_line
from tui.model.subjects import Subject
from tui.model.suite import Case, Suite

FileKind = Literal[
    "assay",
    "promptfoo",
    "promptfoo-lines",
    "inspect",
    "pydantic-evals",
    "openai-evals",
    "answers-lines",
    "answers-csv",
    "report",
]
RUN_FILE_KEY = "assay_run"
"""The key of the first line of a run that Assay exported; its value is the version of the format."""
HEAD_BYTES = 64 * 1024
_REPORT_KEYS = {"version", "run"}  # the first two of a JSON report of Assay
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_MOST_COMMON_CHECKS = 100_000  # of all cases
# A string, also one that the end of the text cuts off, or a bracket.
_TOKEN = re.compile(r'"(?:[^"\\]|\\(?:.|\Z))*+(?:"|\Z)|[{}\[\]]', re.DOTALL)
# How far ahead the clock of the computer may be that wrote a file.
_CLOCK_SKEW = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ScoreLines:
    """Lines of score files that are within another file, each at its line number there; the other lines are empty."""

    file: Path
    text: str


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """A run that was made elsewhere.

    If its id is derived from its content, the same results are the same run. If only the end of the id is
    (`is_named_by_content`), the time in it is set when the run is stored. Of a run that Assay exported (`is_exported`),
    the id says nothing about the content. `changed_hashes` maps the hash of each answer in the file from which a key
    was removed to that of the imported one.
    """

    plan: Plan
    results: tuple[TrialResult, ...]
    started_at: str
    finished_at: str
    warnings: tuple[Problem, ...] = ()
    state: RunState = "finished"
    versions: Mapping[str, str] = field(default_factory=dict)
    scores: ScoreLines | None = None
    changed_hashes: Mapping[str, str] = field(default_factory=dict)
    is_named_by_content: bool = False
    is_exported: bool = False


def kind_of_file(head: bytes) -> FileKind:
    """Return the kind of a file of results by its first bytes, at most HEAD_BYTES of them.

    Anything else that begins with a brace or bracket is taken for promptfoo's results, other text for CSV.
    """
    if head.startswith(_GZIP):
        return "assay"
    if head.startswith(_ZIP):
        return "inspect"
    text = head.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace").lstrip()
    if not text.startswith(("{", "[")):
        return "answers-csv"
    keys, is_line, is_whole = _keys_of(text)
    if is_line and RUN_FILE_KEY in keys:
        return "assay"
    if is_line and ("answer" in keys or (not is_whole and keys and keys <= COLUMNS)):
        return "answers-lines"
    if is_line and "spec" in keys:
        return "openai-evals"
    if keys & {"eval", "samples"}:
        return "inspect"
    if keys >= _REPORT_KEYS:
        return "report"
    if "cases" in keys and "results" not in keys:
        return "pydantic-evals"
    return "promptfoo-lines" if is_line and keys and "results" not in keys else "promptfoo"


def _keys_of(text: str) -> tuple[frozenset[str], bool, bool]:
    """Return the keys of the first value of a text, whether it is on one line, and whether the text has all of it."""
    keys, depth, end = set[str](), 0, len(text)
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
            if depth == 0:
                end = found.end()
                break
        elif depth == 1 and text[found.end() : found.end() + 10].lstrip().startswith(":"):
            keys.add(token[1:-1])
    return frozenset(keys), "\n" not in text[:end], bool(text) and depth == 0


def time_of(path: Path, where: str, timestamp: str) -> datetime:
    """Return the time that a file has at the place `where`, such as that at which a run began. Raises SuiteError.

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


def with_common_checks(cases: Iterable[Case], results: Iterable[TrialResult]) -> tuple[Case, ...]:
    """Return cases that all have the same evaluators, of which those that only ended in errors show none.

    They get the checks of the others: without one, their errors would count in no rate.
    """
    cases = tuple(cases)
    judged = {result.trial.case for result in results if result.verdict in JUDGED}
    common = tuple(dict.fromkeys(check for case in cases for step in case.steps for check in step.checks))
    # One is enough to count. A file of 200 KB with many names of scores would become a suite of gigabytes.
    common = common[: max(1, _MOST_COMMON_CHECKS // max(1, len(cases)))]
    return tuple(
        case
        if case.is_checked or case.id in judged
        else replace(case, steps=(*case.steps[:-1], replace(case.steps[-1], checks=common)))
        for case in cases
    )


def most_repeats(results: Iterable[TrialResult]) -> int:
    """Return how often a case was run by one model at most; the numbers of the repeats may have gaps."""
    return max(Counter((result.trial.case, result.trial.model) for result in results).values())


def run_id_of(started: datetime | None, content: str) -> str:
    """Return a run id: 32 hex digits that sort by time, the rest derived from the digest of the content.

    Without a time the first digits are 0, until `with_stored_id` sets them.
    """
    time = int(started.timestamp() * 1_000) & (1 << 48) - 1 if started else 0
    return f"{time:012x}7{content[:3]}{0x8 | int(content[3], 16) & 0x3:x}{content[4:19]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What a file of another tool says: its cases, its models, and the results in the order of the cases.

    `digest` is one of all that makes the evaluation what it is.
    """

    path: Path
    name: str
    description: str
    digest: str
    cases: tuple[Case, ...]
    subjects: tuple[Subject, ...]
    results: tuple[TrialResult, ...]
    started: datetime
    finished: datetime
    state: RunState = "finished"
    warnings: tuple[Problem, ...] = ()

    def as_run(self, *, is_named_by_content: bool = False) -> ImportedRun:
        """Return the evaluation as a run."""
        suite = Suite(
            name=self.name,
            description=self.description,
            path=str(self.path),
            sha256=self.digest,
            format="schema-1.0.0",
            cases=self.cases,
            models=tuple(subject.name for subject in self.subjects),
        )
        plan = Plan(
            run_id=run_id_of(self.started, self.digest),
            suite=suite,
            subjects=self.subjects,
            options=RunOptions(repeats=most_repeats(self.results), delay_ms=0),
            trials=tuple(result.trial for result in self.results),
            command=f"assay import {self.path.name}",
        )
        begun, finished = (moment.isoformat(timespec="milliseconds") for moment in (self.started, self.finished))
        return ImportedRun(
            plan,
            self.results,
            begun,
            finished,
            (*self.warnings, *self._ended_early()),
            self.state,
            is_named_by_content=is_named_by_content,
        )

    def _ended_early(self) -> Iterator[Problem]:
        """Yield a warning if answers that ended early do not count as passed, whatever the other tool made of them."""
        if count := sum(result.verdict == "incomplete" for result in self.results):
            answers = "1 answer that ended early is" if count == 1 else f"{count:,} answers that ended early are"
            yield Problem(str(self.path), None, None, "warning", "results", f"{answers} incomplete, not passed")
