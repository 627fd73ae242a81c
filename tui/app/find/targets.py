"""What a person can go to in the suite tree: folders, suites and cases, with their lines in a list."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tui.app.open_suites import OpenSuite
from tui.app.presentation.fuzzy import fold_case, marked, matching_places, rank_entries
from tui.app.presentation.pieces import Line, Piece, spread
from tui.model.suite import Case


class Target(NamedTuple):
    """A row of the suite tree: a folder, a suite (`path`) or a case of it (`case_id`).

    `fields` are the texts that are searched, in lower case: name, id, and where it is.
    """

    name: str
    id: str
    where: str
    folder: str
    path: Path | None
    case_id: str | None
    fields: tuple[str, str, str]


def targets_of(open_suites: Sequence[OpenSuite]) -> tuple[Target, ...]:
    """Return all targets in the order of the tree. A suite that was not read yet is found by the name of its file."""
    return tuple(_targets(open_suites))


def _targets(open_suites: Sequence[OpenSuite]) -> Iterator[Target]:
    folders = {open_suite.folder for open_suite in open_suites}
    above = None
    for open_suite in open_suites:
        folder, title = open_suite.folder, open_suite.title
        if len(folders) > 1 and folder != above:
            above = folder
            yield _target(folder, "", "folder", folder, None, None)
        inside = folder if len(folders) > 1 else ""
        kind = "suite" if open_suite.read else "suite, not read yet"
        where = f"{kind} in {inside}" if inside else kind
        yield _target(title, open_suite.path.name, where, folder, open_suite.path, None)
        for case in open_suite.suite.cases if open_suite.suite else ():
            where = " · ".join(filter(None, (case.category, title)))
            yield _target(case.title if case.row else case.name, case.id, where, folder, open_suite.path, case.id)


def case_targets(cases: Sequence[Case]) -> tuple[Target, ...]:
    """Return the targets for cases of one suite."""
    return tuple(_target(case.name, case.id, case.category, "", None, case.id) for case in cases)


def _target(name: str, id: str, where: str, folder: str, path: Path | None, case_id: str | None) -> Target:
    name = name or id
    return Target(name, id, where, folder, path, case_id, (fold_case(name), fold_case(id), fold_case(where)))


def find_targets(query: str, targets: Sequence[Target]) -> Sequence[Target]:
    """Return the targets that match a query, the best first; all of them in their order for an empty query."""
    return rank_entries(query, targets, lambda target: target.fields) if query.strip() else targets


def target_line(target: Target, query: str, width: int) -> Line:
    """Return the line of a target with the matching letters marked: its name and id, and at the right where it is."""
    name, id, where = matching_places(query, target.fields)
    left: list[Piece] = [(" ", "plain"), *marked(target.name, name, "plain" if target.case_id else "strong")]
    if target.id and target.id != target.name:
        left += [("  ", "plain"), *marked(target.id, id, "dim")]
    right = marked(target.where, where, "dim")
    return spread(left, (*_shortened(right, width // 2), (" ", "plain")), width)


def _shortened(line: Sequence[Piece], width: int) -> Line:
    return spread(line, (), width) if sum(len(text) for text, _ in line) > width else tuple(line)
