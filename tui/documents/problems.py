"""What is found wrong in a suite while it is read, before it has a line and a column."""

from collections.abc import Iterable
from dataclasses import dataclass

from tui.documents.positions import Path, Tree, offset_of, places_of, spell
from tui.model.problems import Level, Problem
from tui.model.sanitize import show_line

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
    return show_line(finding.where or spell(finding.path)) or "file"


def _capped(file: str, problems: list[Problem]) -> tuple[Problem, ...]:
    if len(problems) <= MOST_PROBLEMS:
        return tuple(problems)
    errors = [problem for problem in problems if problem.level == "error"]
    kept = (errors or problems)[:MOST_PROBLEMS]
    rest = len(problems) - len(kept)
    level: Level = "error" if errors else "warning"
    return (*kept, Problem(file, None, None, level, "file", f"{rest} more problems are not listed; mend these first"))
