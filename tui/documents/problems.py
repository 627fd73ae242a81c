"""What is found wrong in a suite while it is read, before it has a line and a column."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tui.documents.positions import Path, Tree, offset_of, places_of, spell
from tui.model.errors import Level, Problem
from tui.model.sanitize import sanitize_line

MOST_PROBLEMS = 1_000


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong at `path`; at its key where `at_key`; at `offset` where the reader itself knows the place."""

    path: Path
    what: str
    level: Level = "error"
    at_key: bool = False
    offset: int | None = None
    where: str = ""


class Unreadable(Exception):
    """The text cannot be read any further."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.what)
        self.finding = finding


def problems_of(file: str, text: str, tree: Tree, findings: Iterable[Finding]) -> tuple[Problem, ...]:
    """The findings with their places, in the order of the file, each place and sentence once.

    What the reader said of a place outweighs what was found later at the same place.
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
    kept = (errors or problems)[:MOST_PROBLEMS]
    rest = len(problems) - len(kept)
    level: Level = "error" if errors else "warning"
    return (
        *kept,
        Problem(file, None, None, level, "file", f"{rest} more problems not listed; fix these and check again"),
    )


MOST_JSON_BYTES = 16 * 1024 * 1024
MOST_YAML_BYTES = 1024 * 1024
MOST_DEPTH = 64
MOST_VALUES = 500_000
MOST_YAML_VALUES = 250_000
# As many digits as Python's own limit for turning text into a number.
MOST_DIGITS = 4_300
# What aliases may add to a YAML file: what the same suite may hold as JSON.
MOST_ALIASED_VALUES = 100_000
MOST_ALIASED_CHARACTERS = MOST_JSON_BYTES

TOO_DEEP = f"is nested deeper than {MOST_DEPTH} levels; a suite needs only a few"


def pruned(value: Any, findings: Iterable[Finding]) -> None:
    """Unknown keys (warnings) go, misfits (errors) become None where they stand; what is missing stays missing."""
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
