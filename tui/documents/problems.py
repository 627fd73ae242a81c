"""The problems found while a document is read, before they have a line and a column."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tui.documents.positions import Path, Tree, offset_of, places_of, spell
from tui.model.errors import Level, Problem
from tui.model.sanitize import sanitize_line

MOST_PROBLEMS = 1_000


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem at `path`: at its key if `at_key`, or at `offset` if the reader knows the position itself."""

    path: Path
    what: str
    level: Level = "error"
    at_key: bool = False
    offset: int | None = None
    where: str = ""


class Unreadable(Exception):
    """A text that cannot be read any further."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.what)
        self.finding = finding


def problems_of(file: str, text: str, tree: Tree, findings: Iterable[Finding]) -> tuple[Problem, ...]:
    """Return the findings with their positions in the order of the file, without duplicates.

    A finding of the reader replaces later findings at the same position.
    """
    by_offset: dict[int, list[Finding]] = {}
    seen: set[tuple[int, str, str]] = set()
    for finding in findings:
        offset = finding.offset if finding.offset is not None else offset_of(tree, finding.path, finding.at_key)
        here = by_offset.setdefault(offset, [])
        outweighed = finding.offset is None and any(other.offset is not None for other in here)
        key = (offset, spell(finding.path), finding.what)
        if not outweighed and key not in seen:
            seen.add(key)
            here.append(finding)
    places = places_of(text, by_offset)
    problems = [
        Problem(file, *places[offset], finding.level, _where(finding), finding.what)
        for offset in sorted(by_offset)
        for finding in by_offset[offset]
    ]
    return _capped(file, problems)


def _where(finding: Finding) -> str:
    return sanitize_line(finding.where or spell(finding.path)) or "file"


def _capped(file: str, problems: list[Problem]) -> tuple[Problem, ...]:
    if len(problems) <= MOST_PROBLEMS:
        return tuple(problems)
    errors = [problem for problem in problems if problem.level == "error"]
    listed = (errors or problems)[:MOST_PROBLEMS]
    rest = len(problems) - len(listed)
    level: Level = "error" if errors else "warning"
    return (
        *listed,
        Problem(file, None, None, level, "file", f"{rest} more problems not listed; fix these and check again"),
    )


MOST_JSON_BYTES = 16 * 1024 * 1024
MOST_YAML_BYTES = 1024 * 1024
MOST_DEPTH = 64
MOST_VALUES = 500_000
MOST_YAML_VALUES = 250_000
# The limit of Python for the conversion between text and numbers; it applies to the value in every notation.
MOST_DIGITS = 4_300
_TOO_LARGE = 10**MOST_DIGITS
LONG_NUMBER = "a number of {:,} characters is too long; write a smaller one, or put it in quotes"
# The size that aliases may add to a YAML file: the maximum of the same suite as JSON.
MOST_ALIASED_VALUES = 100_000
MOST_ALIASED_CHARACTERS = MOST_JSON_BYTES

TOO_DEEP = f"is nested deeper than {MOST_DEPTH} levels; a suite needs only a few"
# What the parser of PyYAML 6.0.4 and later says of 1,000 levels, which it may look for before it returns the first.
PARSER_TOO_DEEP = "maximum nesting depth"


def has_most_errors(findings: Iterable[Finding]) -> bool:
    """Return whether there are so many errors that others are not reported."""
    return sum(finding.level == "error" for finding in findings) >= MOST_PROBLEMS


def has_too_many_digits(value: object) -> bool:
    """Return whether a value is a whole number that Python cannot convert to decimal text."""
    return isinstance(value, int) and abs(value) >= _TOO_LARGE


def pruned(value: Any, findings: Iterable[Finding]) -> None:
    """Remove unknown keys (warnings) from the value, and replace mismatches (errors) by None."""
    for finding in findings:
        *steps, last = finding.path or (None,)
        holder = value
        for step in steps:
            holder = _below(holder, step)
        if finding.level == "warning" and isinstance(holder, dict):
            holder.pop(last, None)
        elif _below(holder, last) is not None:
            holder[last] = None


def _below(holder: Any, step: Any) -> Any:
    if isinstance(holder, dict):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int) and step < len(holder):
        return holder[step]
    return None
