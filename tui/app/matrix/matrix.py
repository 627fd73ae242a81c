"""The matrix of a suite: its filter, order and groups, and the rows that result from them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, get_args

from tui.app.matrix.baseline import Baseline, Change, change_line, changes
from tui.app.matrix.cells import FAILURES, CellCounts, cell_line, with_band
from tui.app.matrix.columns import Layout, joined
from tui.app.matrix.header_lines import MatrixHeading
from tui.app.matrix.statistics import Snapshot, Statistics
from tui.app.presentation.bands import worst_band
from tui.app.presentation.cells import NOT_RUN, Cell
from tui.app.presentation.model_faults import ModelFault
from tui.app.presentation.names import model_names
from tui.app.presentation.pieces import Line, cut_middle, width_of
from tui.model import filter
from tui.model.filter import Filter
from tui.model.outcomes import Outcome
from tui.model.results import CountedVerdict, TrialKey
from tui.model.risk import Band
from tui.model.sanitize import sanitize_line
from tui.model.state import RunState
from tui.model.suite import Case, Suite

OrderKind = Literal["suite", "name", "differ", "all fail", "change", "model"]
Grouping = Literal["category", "tag", "none"]
GROUPINGS: tuple[Grouping, ...] = ("category", "tag", "none")

CellsOf = Callable[[Case], Sequence[Cell]]
SortKey = tuple[float | str, ...]


class Order(NamedTuple):
    """The sort order of the rows; `model` is set only for the kind `model`."""

    kind: OrderKind = "suite"
    model: str = ""
    reverse: bool = False


class Heading(NamedTuple):
    """The row above a group: the name of the group, and the number of its cases."""

    group: str
    size: int


Row = Case | Heading


def spread_of(cells: Iterable[Cell]) -> float:
    """Return the difference between the best and the worst share of a case; 0 if the models agree."""
    return filter.spread_of(cell.share for cell in cells)


def all_fail(cells: Sequence[Cell]) -> bool:
    """Return whether no model passes any repeat."""
    return bool(cells) and all(cell.status in FAILURES and not cell.earlier for cell in cells)


def sorted_cases(
    cases: Sequence[Case],
    order: Order,
    cells_of: CellsOf,
    column: int = 0,
    changed: Callable[[Case], Change] | None = None,
) -> list[Case]:
    """Return the cases in an order; equal cases keep the order of the suite.

    `column` is the index of the order's model among the cells of a case.
    """

    def key(case: Case) -> SortKey:
        cells = cells_of(case)
        match order.kind:
            case "differ":
                shares = [cell.share for cell in cells if cell.share >= 0]
                passing = sum(share == 1.0 for share in shares)
                return -spread_of(cells), -min(passing, len(shares) - passing)
            case "all fail":
                return not all_fail(cells), sum(cell.share for cell in cells if cell.share > 0)
            case "model":
                return cells[column].rank
            case "change":
                change = changed(case) if changed else Change()
                return -change.worse, -change.better
        return (case.title.casefold(),)

    found = [*cases]
    if order.kind != "suite":
        found.sort(key=key)
    if order.reverse:
        found.reverse()
    return found


def grouped(cases: Sequence[Case], grouping: Grouping) -> list[Row]:
    """Return the rows with a heading for each group, in the order of the first case of each group.

    A case with several tags is below each of them.
    """
    if grouping == "none":
        return [*cases]
    groups: dict[str, list[Case]] = {}
    if grouping == "tag":
        for case in cases:
            for tag in case.tags or ("",):
                groups.setdefault(tag, []).append(case)
    else:
        for case in cases:
            category = case.category
            if category in groups:
                groups[category].append(case)
            else:
                groups[category] = [case]
    rows: list[Row] = []
    for group, members in groups.items():
        if group or len(groups) > 1:
            rows.append(Heading(group, len(members)))
        rows += members
    return rows


def order_words(order: Order, name_of: Callable[[str], str]) -> str:
    """Return the words for an order: `sorted by disagreement`."""
    match order.kind:
        case "suite":
            words = "suite order"
        case "name":
            words = "sorted by name"
        case "differ":
            words = "sorted by disagreement"
        case "all fail":
            words = "all-fail cases on top"
        case "change":
            words = "sorted by change"
        case "model":
            words = f"sorted by {name_of(order.model)}"
    return f"{words}, reversed" if order.reverse else words


_LONGEST_NAME = 60


class RowOptions(NamedTuple):
    """The order, the groups and the filter of the rows; `differing` omits cases in which the models agree."""

    order: Order = Order()
    grouping: Grouping = "category"
    filter: Filter = Filter()
    differing: bool = False


class Matrix:
    """The matrix of cases and models of a suite.

    `run` is the id of the displayed saved run. `saved` has the outcomes of its trials whose full results the state does
    not have; `unfinished` is the number of its trials if it was not finished, else 0. `rows` are as of the last
    `arrange`; cells are always current. `column` is the index of the model under the cursor, and `faults` has the
    models that cannot run.
    """

    def __init__(
        self,
        suite: Suite,
        state: RunState,
        models: Sequence[str],
        run: str = "",
        saved: Mapping[TrialKey, Outcome] | None = None,
        unfinished: int = 0,
    ) -> None:
        self.suite, self.row_options = suite, RowOptions()
        self.baseline: Baseline | None = None
        self.baseline_read = False
        self.pair: tuple[str, str] | None = None
        self.rows: list[Row] = []
        self.column = 0
        self.faults: Mapping[str, ModelFault] = {}
        self._places: dict[str, list[int]] | None = None
        self.statistics = Statistics()
        self.set_saved_run(run, saved or {}, unfinished)
        self.set_bands({})
        self.show(suite, state, models)

    def set_saved_run(self, run: str, saved: Mapping[TrialKey, Outcome], unfinished: int = 0) -> None:
        """Set the saved run and its outcomes; call `show` after this."""
        self.run, self._saved, self._unfinished = run, saved, unfinished

    def set_bands(self, bands: Mapping[TrialKey, Band]) -> None:
        """Set the risk bands of the trials; a cell displays the worst band of its repeats."""
        found: dict[tuple[str, str], Band] = {}
        for (case, model, _), band in bands.items():
            known = found.get((case, model))
            found[case, model] = band if known is None else worst_band(known, band)
        self._bands: Mapping[tuple[str, str], Band] = found

    @property
    def has_bands(self) -> bool:
        """Return whether any trial has a risk band."""
        return bool(self._bands)

    def show(self, suite: Suite, state: RunState, models: Sequence[str]) -> None:
        """Display a suite with its state and models, with the same options; everything is counted again.

        The baseline of another version of the suite has to be read again: it may have cases that ask something else.
        """
        if self.baseline is not None and suite is not self.suite:
            self.baseline = replace(self.baseline, cells={}, changed=frozenset())
        self.suite, self.state, self.models = suite, state, tuple(models)
        self.names = dict(zip(self.models, model_names(self.models), strict=True))
        self.column = max(0, min(self.column, len(self.models) - 1))
        self.recount()
        longest = max((width_of(case.title) for case in suite.cases), default=0) if len(suite.cases) < 500 else 60
        self.longest_name = min(_LONGEST_NAME, longest)
        if self.pair and not set(self.pair) <= set(self.models):
            self.pair = None
        if self.row_options.order.kind == "model" and self.row_options.order.model not in self.models:
            self.row_options = self.row_options._replace(order=Order())
        self.arrange()

    def recount(self) -> None:
        """Count everything again: a run that ended may have restored the earlier results of trials."""
        suite, models = self.suite, self.models
        self.cell_counts = CellCounts(self.state, suite.cases, models, suite.options.attempts, self._saved)

    def arrange(self) -> None:
        """Filter, sort and group the rows by the current state of the trials."""
        options = self.row_options
        cases: Sequence[Case] = self.suite.cases
        if options.filter or options.differing:
            cases = [case for case in cases if self._is_displayed(case)]
        column = self.models.index(options.order.model) if options.order.kind == "model" else 0
        self.rows = grouped(sorted_cases(cases, options.order, self.cells, column, self.change), options.grouping)
        self.case_count = len(cases)
        self._places = None

    def _is_displayed(self, case: Case) -> bool:
        options = self.row_options
        if not options.differing and not options.filter.needs_statuses:
            return options.filter.matches(case, {})
        cells = self.cells(case)
        if options.differing and not spread_of(cells):
            return False
        statuses = dict(zip(self.models, [cell.status for cell in cells], strict=True))
        shares = dict(zip(self.models, [cell.share for cell in cells], strict=True))
        return options.filter.matches(case, statuses, shares)

    def cells(self, case: Case) -> list[Cell]:
        """Return the cells of a case, one for each model."""
        if not self.state.has_trials(case.id):
            return [NOT_RUN] * len(self.models)
        cell, case_id = self.cell_counts.cell, case.id
        return [cell(case_id, model) for model in self.models]

    def change(self, case: Case) -> Change:
        """Return how a case has changed since the baseline."""
        if self.baseline is None:
            return Change()
        return changes(self.baseline, case.id, self.models, self.cells(case))

    def case_at(self, place: int) -> Case | None:
        """Return the case of a row; None for a heading and beyond the rows."""
        row = self.rows[place] if 0 <= place < len(self.rows) else None
        return row if isinstance(row, Case) else None

    def first_row_of(self, case: str) -> int | None:
        """Return the index of the first row of a case, or None."""
        return next((at for at, row in enumerate(self.rows) if isinstance(row, Case) and row.id == case), None)

    @property
    def model(self) -> str:
        """Return the model under the cursor; empty without models."""
        return self.models[self.column] if self.column < len(self.models) else ""

    def places_of(self, case: str) -> Sequence[int]:
        """Return the indexes of all rows of a case."""
        if self._places is None:
            self._places = {}
            for place, row in enumerate(self.rows):
                if isinstance(row, Case):
                    self._places.setdefault(row.id, []).append(place)
        return self._places.get(case, ())

    def update_trial(self, key: TrialKey) -> Sequence[int]:
        """Update the cell of a changed trial, and return the indexes of its rows."""
        self.cell_counts.update(key)
        return self.places_of(key.case)

    def row_line(self, place: int, layout: Layout, beat: int = 0) -> Line:
        """Return the text of a row; `beat` counts animation frames."""
        case = self.rows[place]
        if not isinstance(case, Case):
            return ((sanitize_line(case.group) or "others", "strong"), (f"  {case.size}", "dim"))
        cells: list[Line] = []
        for column in layout.visible:
            model = self.models[column]
            cell = self.cell_counts.cell(case.id, model)
            before = self.baseline.before(case.id, model, cell) if self.baseline else None
            band = self._bands.get((case.id, model))
            cells.append(with_band(cell_line(cell, beat, before), band, layout.cell))
        change = change_line(self.change(case)) if self.baseline else ()
        if self.baseline is not None and case.id in self.baseline.changed:
            change = (("changed", "dim"),)
        indent = "" if self.row_options.grouping == "none" else "  "
        name = cut_middle(sanitize_line(case.title, 200), layout.name - 1 - len(indent))
        return joined(layout, ((f"{indent}{name}", "plain"),), cells, change)

    def snapshot(self) -> Snapshot:
        """Return a copy of the current results, for `compute_statistics`."""
        cell_counts = self.cell_counts
        totals = {model: each.copy() for model, each in cell_counts.totals.items()}
        return Snapshot(totals, cell_counts.cells_so_far(), self.baseline, self.suite.cases, self.interim)

    @property
    def interim(self) -> bool:
        """Return whether some results are of an unfinished run: then counts are displayed, but no tests."""
        return self.state.is_interim or (self.state.run_id is None and self._unfinished > 0)

    @property
    def progress(self) -> str:
        """Return how many trials of an unfinished run have ended: `65 of 120`."""
        counts = self.state.counts
        if self.state.running or (self.state.run_id is not None and self.state.is_of_one_run):
            return f"{counts.done:,} of {counts.trials:,}"
        if not self._unfinished:  # the latest results of several runs
            displayed = {case.id for case in self.suite.cases}
            return f"{sum(key.case in displayed for key in self.state.trials):,} results"
        return f"{len(self._saved):,} of {self._unfinished:,}"

    @property
    def words(self) -> Mapping[CountedVerdict, int]:
        """Return the number of trials for each counted verdict."""
        totals = self.cell_counts.totals.values()
        return {word: sum(each.words[word] for each in totals) for word in get_args(CountedVerdict)}

    @property
    def heading(self) -> MatrixHeading:
        """Return the content of the header."""
        state, baseline = self.state, self.baseline
        run = self.run or (state.run_id if state.is_of_one_run else None) or ""
        counts = state.counts if state.running else None
        against = baseline.run_id if baseline else ""
        totals = self.cell_counts.totals.values()
        return MatrixHeading(
            self.suite.name,
            run,
            against,
            self.words,
            counts,
            self.order_words,
            passed_since=sum(each.passed_since for each in totals),
            failed_since=sum(each.failed_since for each in totals),
            earlier=sum(len(each.earlier) for each in totals),
            changed=len(baseline.changed) if baseline else 0,
        )

    @property
    def title(self) -> str:
        """Return the size of the matrix: `14 cases × 3 models`."""
        cases, models = self.case_count, len(self.models)
        of = f" of {len(self.suite.cases)}" if cases != len(self.suite.cases) else ""
        words = "case" if cases == 1 and not of else "cases"
        return f"{cases}{of} {words} × {models} {'model' if models == 1 else 'models'}"

    @property
    def order_words(self) -> str:
        """Return the words for the order of the rows, and whether cases without differences are omitted."""
        words = order_words(self.row_options.order, lambda model: self.names.get(model, ""))
        return f"differing only · {words}" if self.row_options.differing else words


def pair_to_compare(
    models: Sequence[str], cells: Sequence[Cell], first: int = 0, chosen: tuple[str, str] | None = None
) -> tuple[str, str] | None:
    """Return the two models to compare at a case, models with answers first; None if there is only one model.

    This is the chosen pair, else the model in column `first` and the next one with another result, else the first two
    that differ, else the first two.
    """
    if chosen is not None:
        return chosen
    columns = [*range(first, len(models)), *range(first)]
    columns.sort(key=lambda column: not cells[column].results)
    pairs = [(a, b) for at, a in enumerate(columns) for b in columns[at + 1 :]]
    known = [(a, b) for a, b in pairs if cells[a].share >= 0 and cells[b].share >= 0]
    differing = [(a, b) for a, b in known if cells[a].share != cells[b].share]
    found = (differing or pairs)[:1]
    return (models[found[0][0]], models[found[0][1]]) if found else None
