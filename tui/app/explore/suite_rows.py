"""The suite tree as a flat list of the visible rows: folder → suite → category → case → step.

The rows of a data set are below a row for their case.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal, NamedTuple

from tui.app.open_suites import CaseMarks, OpenSuite
from tui.app.presentation.figures import counted
from tui.app.presentation.marks import RERUN, mark_of, severity_piece, tally
from tui.app.presentation.pieces import Line, Piece, Role, cut_middle, spread, width_of
from tui.model.filter import severity_of
from tui.model.sanitize import sanitize_line
from tui.model.suite import Case

_NARROW = 28
_FEW_ROWS = 5
_MOST_MARKS = 8  # of the models of a case; more are counted

RowKey = tuple[str, ...]
RowKind = Literal["folder", "suite", "category", "rows", "case", "step"]
CaseTest = Callable[[Path, Case], bool]

MarksOf = Callable[[Case], CaseMarks]


class Row(NamedTuple):
    """One line of the tree.

    `unfolded` is None if the row has no children; `cases` are the cases at and below it.
    """

    kind: RowKind
    key: RowKey
    depth: int
    name: str
    unfolded: bool | None
    open_suite: OpenSuite | None
    cases: tuple[Case, ...]
    step: int = 0

    @property
    def case(self) -> Case | None:
        """Return the case of a case or step row."""
        return self.cases[0] if self.kind in ("case", "step") else None

    def displays(self, case_id: str | None) -> bool:
        """Return whether the row is that of a case, also of one in the folded rows of a data set."""
        if self.case is not None:
            return self.case.id == case_id
        return self.kind == "rows" and not self.unfolded and any(case.id == case_id for case in self.cases)


_WORST_FIRST: Sequence[Role] = ("failed", "error", "flaky", "running", "passed", "plain")


def suite_key(open_suite: OpenSuite) -> RowKey:
    """Return the key of the row of a suite."""
    return (open_suite.folder, str(open_suite.path))


def case_key(open_suite: OpenSuite, case: Case) -> RowKey:
    """Return the key of the row of a case."""
    template = (case.row.template,) if case.row else ()
    return (*suite_key(open_suite), case.category, *template, case.id)


def small_data_sets(open_suite: OpenSuite) -> set[RowKey]:
    """Return the keys of the data sets with few rows, which are unfolded at the start."""
    cases = open_suite.suite.cases if open_suite.suite else ()
    counts = Counter(case_key(open_suite, case)[:-1] for case in cases if case.row)
    return {key for key, count in counts.items() if count <= _FEW_ROWS}


def ancestors(key: RowKey) -> Iterator[RowKey]:
    """Yield the keys of all parent rows, from the top."""
    for size in range(1, len(key)):
        yield key[:size]


def outline(
    open_suites: Sequence[OpenSuite], unfolded: Collection[RowKey], accepts: CaseTest | None = None
) -> list[Row]:
    """Return the visible rows. With `accepts`, these are only the cases that it accepts, with all their parents
    unfolded."""
    rows: list[Row] = []
    folders = {open_suite.folder for open_suite in open_suites}
    shown_folder: str | None = None
    depth = 1 if len(folders) > 1 else 0
    for open_suite in open_suites:
        below = list(_suite_rows(open_suite, depth, unfolded, accepts))
        if not below:
            continue
        if depth and open_suite.folder != shown_folder:
            shown_folder = open_suite.folder
            is_open = accepts is not None or (shown_folder,) in unfolded
            rows.append(Row("folder", (shown_folder,), 0, shown_folder, is_open, None, ()))
        if not depth or accepts is not None or (open_suite.folder,) in unfolded:
            rows += below
    return rows


def _suite_rows(
    open_suite: OpenSuite, depth: int, unfolded: Collection[RowKey], accepts: CaseTest | None
) -> Iterator[Row]:
    suite = open_suite.suite
    cases = suite.cases if suite else ()
    if accepts is not None:
        cases = tuple(case for case in cases if accepts(open_suite.path, case))
        if not cases:
            return
    key = suite_key(open_suite)
    is_open = (accepts is not None or key in unfolded) if cases else None
    yield Row("suite", key, depth, open_suite.title, is_open, open_suite, cases)
    if not is_open:
        return
    for category, members in _by_category(cases):
        inner = (*key, category)
        below = depth + 1
        if category:
            is_open = accepts is not None or inner in unfolded
            yield Row("category", inner, below, category, is_open, open_suite, members)
            below += 1
            if not is_open:
                continue
        for template, group in groupby(members, _template_of):
            inside, deeper, of_group = inner, below, tuple(group)
            if template is not None:
                inside, deeper = (*inner, template), below + 1
                is_open = accepts is not None or inside in unfolded
                yield Row("rows", inside, below, of_group[0].name or template, is_open, open_suite, of_group)
                if not is_open:
                    continue
            yield from _case_rows(open_suite, of_group, inside, deeper, unfolded)


def _template_of(case: Case) -> str | None:
    return case.row.template if case.row else None


def _by_category(cases: Iterable[Case]) -> list[tuple[str, tuple[Case, ...]]]:
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(case.category, []).append(case)
    return [(category, tuple(members)) for category, members in found.items()]


def _case_rows(
    open_suite: OpenSuite, cases: Sequence[Case], above: RowKey, depth: int, unfolded: Collection[RowKey]
) -> Iterator[Row]:
    for case in cases:
        key = (*above, case.id)
        is_open = key in unfolded if len(case.steps) > 1 else None
        yield Row("case", key, depth, case.title, is_open, open_suite, (case,))
        if is_open:
            for number, step in enumerate(case.steps):
                yield Row("step", (*key, str(number)), depth + 1, step.input, None, open_suite, (case,), number)


def row_tally(row: Row, marks_of: MarksOf) -> Line:
    """Return the counts of the statuses below a folded row."""
    marks = [marks_of(case) for case in row.cases]
    return tally((status for each in marks for status in each.statuses), sum(each.reruns for each in marks))


def indent_of(row: Row, width: int) -> int:
    """Return the indent of a row in cells, smaller if the tree is narrow."""
    return row.depth * (1 if width < _NARROW else 2)


def row_line(
    row: Row,
    marks_of: MarksOf,
    width: int,
    tally_of: Callable[[Row, MarksOf], Line] = row_tally,
) -> Line:
    """Return one row in exactly `width` cells."""
    indent = " " * indent_of(row, width)
    if row.kind == "case":
        return _case_line(row, marks_of(row.cases[0]), indent, width)
    if row.kind == "step":
        return spread([(f"{indent}  {row.step + 1} ", "dim"), (sanitize_line(row.name), "dim")], (), width)
    arrow = " " if row.unfolded is None else "▾" if row.unfolded else "▸"
    left: list[Piece] = [(f"{indent}{arrow} ", "dim"), (sanitize_line(row.name) or "no name", "plain")]
    right: tuple[Piece, ...] = ()
    if row.open_suite is not None and row.open_suite.broken:
        arrow = "" if row.unfolded is None else f"{arrow} "
        left = [(f"{indent}{arrow}", "dim"), ("! ", "error"), (sanitize_line(row.name), "error")]
        right = ((counted(len(row.open_suite.problems), "problem"), "error"),)
    elif row.open_suite is not None and not row.open_suite.read:
        right = (("…", "dim"),)
    elif row.unfolded is False:
        counts = tally_of(row, marks_of)
        left[1:1] = [_worst_mark(counts), (" ", "plain")] if row.kind == "rows" else []
        right = counts or ((_size(row), "dim"),)
    return spread(left, right, width)


def _worst_mark(counts: Line) -> Piece:
    """Return the worst mark of a tally: that of a folded data set, which is one case in the file."""
    marks = ((text.strip()[:1], role) for text, role in counts if role in _WORST_FIRST)
    return min(marks, key=lambda mark: _WORST_FIRST.index(mark[1]), default=mark_of("not_run"))


def _case_line(row: Row, shown: CaseMarks, indent: str, width: int) -> Line:
    case = row.cases[0]
    severity = severity_of(case)
    right = (severity_piece(severity),) if severity in ("critical", "high") else ()
    arrow = "" if row.unfolded is None else "▾ " if row.unfolded else "▸ "
    marks = [*map(mark_of, shown.statuses), *([RERUN] if shown.reruns else [])]
    if len(shown.statuses) > _MOST_MARKS:
        marks = [*tally(shown.statuses, shown.reruns)] or [mark_of("not_run")]
    taken = sum(width_of(text) for text, _ in marks) + len(indent + arrow) + 1
    room = width - taken - (sum(width_of(text) for text, _ in right) + 1 if right else 0)
    name = cut_middle(sanitize_line(row.name or case.id), room)
    return spread([(indent + arrow, "dim"), *marks, (f" {name}", "plain")], right, width)


def _size(row: Row) -> str:
    if len(row.cases) == 1 and len(row.cases[0].steps) > 1:
        return counted(len(row.cases[0].steps), "step")
    return counted(len(row.cases), "case")
