"""The matrix of a suite: its filter, order and groups, and the rows that follow from them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from tui.app.matrix.baseline import Baseline, Change, change_line, changes
from tui.app.matrix.cells import FAILURES, Cell, CellCounts, cell_line, with_band
from tui.app.matrix.columns import Layout, joined
from tui.app.matrix.header_lines import MatrixHeading
from tui.app.matrix.statistics import Snapshot, Statistics
from tui.app.presentation.bands import worst_band
from tui.app.presentation.names import model_names
from tui.app.presentation.pieces import Line, cut_middle, width_of
from tui.model import filter
from tui.model.filter import Filter
from tui.model.outcomes import Outcome
from tui.model.results import CountedVerdict, TrialKey
from tui.model.risk import Band
from tui.model.sanitize import sanitize_line
from tui.model.state import RunState
from tui.model.suite import Case, Suite, clusters_of

OrderKind = Literal["suite", "name", "differ", "all fail", "change", "model"]
Grouping = Literal["category", "tag", "none"]
GROUPINGS: tuple[Grouping, ...] = ("category", "tag", "none")

CellsOf = Callable[[Case], Sequence[Cell]]
SortKey = tuple[float | str, ...]


class Order(NamedTuple):
    """The order of the rows; `model` is the column to sort by, for the kind `model` alone."""

    kind: OrderKind = "suite"
    model: str = ""
    reverse: bool = False


class Heading(NamedTuple):
    """The row above a group: its name, and how many cases are in it."""

    group: str
    size: int


Row = Case | Heading


def spread_of(cells: Iterable[Cell]) -> float:
    """Return how far the models differ at a case; 0 where they agree."""
    return filter.spread_of(cell.share for cell in cells)


def all_fail(cells: Sequence[Cell]) -> bool:
    """Return whether no model passes."""
    return bool(cells) and all(cell.status in FAILURES for cell in cells)


def sorted_cases(
    cases: Sequence[Case],
    order: Order,
    cells_of: CellsOf,
    column: int = 0,
    changed: Callable[[Case], Change] | None = None,
) -> list[Case]:
    """Return the cases in an order; ties keep suite order. `column` is the number of the order's model."""

    keys: Mapping[OrderKind, Callable[[Case], SortKey]] = {
        "name": lambda case: (case.name.casefold(),),
        "differ": lambda case: _disagreement(cells_of(case)),
        "all fail": lambda case: _failures_first(cells_of(case)),
        "model": lambda case: cells_of(case)[column].rank,
        "change": lambda case: _changes_first(changed(case) if changed else Change()),
    }
    found = [*cases]
    if order.kind != "suite":
        found.sort(key=keys[order.kind])
    if order.reverse:
        found.reverse()
    return found


def _disagreement(cells: Sequence[Cell]) -> SortKey:
    """Sort the largest differences of shares first, and of these the ones with the evenest split."""
    shares = [cell.share for cell in cells if cell.share >= 0]
    if not shares:
        return 0.0, 0
    passing = shares.count(1.0)
    return min(shares) - max(shares), -min(passing, len(shares) - passing)


def _failures_first(cells: Sequence[Cell]) -> SortKey:
    return not all_fail(cells), sum([cell.share for cell in cells if cell.share > 0])


def _changes_first(change: Change) -> SortKey:
    return -change.worse, -change.better


def grouped(cases: Sequence[Case], grouping: Grouping) -> list[Row]:
    """Return the cases with headings above their groups. Groups are in the order of their first case; a case with
    several tags is in several groups."""
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
    """Return the order in words, such as `sorted by disagreement`."""
    match order.kind:
        case "suite":
            words = "as in the suite"
        case "name":
            words = "sorted by name"
        case "differ":
            words = "sorted by disagreement"
        case "all fail":
            words = "what all fail first"
        case "change":
            words = "sorted by change"
        case "model":
            words = f"sorted by {name_of(order.model)}"
    return f"{words}, reversed" if order.reverse else words


_LONGEST_NAME = 60


class QueueFilter(NamedTuple):
    """What a person chose to see."""

    order: Order = Order()
    grouping: Grouping = "category"
    filter: Filter = Filter()
    differing: bool = False


class Matrix:
    """The matrix of one suite. `run` is the id of the saved run that is displayed, `kept` has its outcomes that `state`
    does not contain. `rows` are those of the last `arrange`; cells are always up to date."""

    def __init__(
        self,
        suite: Suite,
        state: RunState,
        models: Sequence[str],
        run: str = "",
        kept: Mapping[TrialKey, Outcome] | None = None,
        unfinished: int = 0,
    ) -> None:
        self.wanted = QueueFilter()
        self.baseline: Baseline | None = None
        self.asked_for_baseline = False
        self.pair: tuple[str, str] | None = None
        self.rows: list[Row] = []
        self._places: dict[str, list[int]] | None = None
        self.survey = Statistics()
        self.take_kept(run, kept or {}, unfinished)
        self.take_bands({})
        self.show(suite, state, models)

    def take_kept(self, run: str, kept: Mapping[TrialKey, Outcome], unfinished: int = 0) -> None:
        """Set the saved run and its outcomes, to be used by the next `show`. `unfinished` is the number of its trials
        where it was not finished, else 0."""
        self.run, self._kept, self._unfinished = run, kept, unfinished

    def take_bands(self, bands: Mapping[TrialKey, Band]) -> None:
        """Set the risk bands of scored trials; a cell shows the worst band of its repeats."""
        found: dict[tuple[str, str], Band] = {}
        for (case, model, _), band in bands.items():
            known = found.get((case, model))
            found[case, model] = band if known is None else worst_band(known, band)
        self._bands: Mapping[tuple[str, str], Band] = found

    def show(self, suite: Suite, state: RunState, models: Sequence[str]) -> None:
        """Show another suite, state or models with the same options; everything is counted again."""
        self.suite, self.state, self.models = suite, state, tuple(models)
        self.names = dict(zip(self.models, model_names(self.models), strict=True))
        self.recount()
        longest = max((width_of(case.name) for case in suite.cases), default=0) if len(suite.cases) < 500 else 60
        self.longest_name = min(_LONGEST_NAME, longest)
        if self.pair and not set(self.pair) <= set(self.models):
            self.pair = None
        if self.wanted.order.kind == "model" and self.wanted.order.model not in self.models:
            self.wanted = self.wanted._replace(order=Order())
        self.arrange()

    def recount(self) -> None:
        """Count everything again: the end of a run may restore earlier results of trials."""
        suite, models = self.suite, self.models
        self.ledger = CellCounts(self.state, suite.cases, models, suite.options.attempts, self._kept)

    # --- rows

    def arrange(self) -> None:
        """Filter, sort and group the rows by the current results."""
        wanted = self.wanted
        cases = self._filtered()
        column = self.models.index(wanted.order.model) if wanted.order.kind == "model" else 0
        self.rows = grouped(sorted_cases(cases, wanted.order, self.cells, column, self.change), wanted.grouping)
        self.case_count = len(cases)
        self._places = None

    def _filtered(self) -> Sequence[Case]:
        """Return the cases that pass the filter, in the order of the suite."""
        wanted = self.wanted
        filter, differing, cases = wanted.filter, wanted.differing, self.suite.cases
        if differing:
            cases = tuple([case for case in cases if spread_of(self.cells(case))])
        if not filter:
            return cases
        if not filter.needs_statuses:
            return [case for case in cases if filter.matches(case, {})]
        needs_shares = filter.needs_shares

        def matches(case: Case) -> bool:
            cells = self.cells(case)
            statuses = dict(zip(self.models, [cell.status for cell in cells], strict=True))
            shares = dict(zip(self.models, [cell.share for cell in cells], strict=True)) if needs_shares else None
            return filter.matches(case, statuses, shares)

        return [case for case in cases if matches(case)]

    def cells(self, case: Case) -> Sequence[Cell]:
        """Return the current cells of a case, one for each model."""
        return self.ledger.row(case.id)

    def change(self, case: Case) -> Change:
        """Return what changed at a case since the baseline."""
        if self.baseline is None:
            return Change()
        return changes(self.baseline, case.id, self.models, self.cells(case))

    def case_at(self, place: int) -> Case | None:
        """Return the case of a row; None for headings and beyond the rows."""
        row = self.rows[place] if 0 <= place < len(self.rows) else None
        return row if isinstance(row, Case) else None

    def place_of(self, case: str) -> int | None:
        """Return the first row of a case."""
        return next((at for at, row in enumerate(self.rows) if isinstance(row, Case) and row.id == case), None)

    def places_of(self, case: str) -> Sequence[int]:
        """Return all rows of a case."""
        if self._places is None:
            self._places = {}
            for place, row in enumerate(self.rows):
                if isinstance(row, Case):
                    self._places.setdefault(row.id, []).append(place)
        return self._places.get(case, ())

    def take(self, key: TrialKey) -> Sequence[int]:
        """Update a trial, and return the rows that show it."""
        self.ledger.take(key)
        return self.places_of(key.case)

    # --- lines

    def row_line(self, place: int, layout: Layout, beat: int = 0) -> Line:
        """Return a row as a line."""
        case = self.rows[place]
        if not isinstance(case, Case):
            return ((sanitize_line(case.group) or "others", "strong"), (f"  {case.size}", "dim"))
        cells: list[Line] = []
        for column in layout.visible:
            model = self.models[column]
            cell = self.ledger.cell(case.id, model)
            before = self.baseline.before(case.id, model, cell) if self.baseline else None
            band = self._bands.get((case.id, model))
            cells.append(with_band(cell_line(cell, beat, before), band, layout.cell))
        change = change_line(self.change(case)) if self.baseline else ()
        indent = "" if self.wanted.grouping == "none" else "  "
        name = cut_middle(sanitize_line(case.name or case.id, 200), layout.name - 1 - len(indent))
        return joined(layout, ((f"{indent}{name}", "plain"),), cells, change)

    def snapshot(self) -> Snapshot:
        """Return the current data for `statistics`, to be computed in a thread."""
        ledger = self.ledger
        tallies = {model: tally.copy() for model, tally in ledger.tallies.items()}
        return Snapshot(tallies, ledger.cells_so_far(), self.baseline, clusters_of(self.suite.cases), self.interim)

    @property
    def interim(self) -> bool:
        """Whether the results are of an unfinished run: there are counts then, but no significance tests."""
        if self.state.run_id is not None:
            return self.state.ended != "finished"
        return self._unfinished > 0

    @property
    def progress(self) -> str:
        """How many trials of an unfinished run are over, as `65 of 120`."""
        counts = self.state.counts
        if self.state.run_id is not None:
            return f"{counts.done:,} of {counts.trials:,}"
        return f"{len(self._kept):,} of {self._unfinished:,}"

    @property
    def words(self) -> Mapping[CountedVerdict, int]:
        """How many trials there are of each status."""
        tallies = self.ledger.tallies.values()
        return {word: sum(tally.words[word] for tally in tallies) for word in get_args(CountedVerdict)}

    @property
    def heading(self) -> MatrixHeading:
        """What the header shows."""
        state, baseline = self.state, self.baseline
        run = self.run or state.run_id or ""
        counts = state.counts if state.running else None
        against = baseline.run_id if baseline else ""
        since = sum(tally.passed_since for tally in self.ledger.tallies.values())
        return MatrixHeading(self.suite.name, run, against, self.words, counts, self.order_words, passed_since=since)

    @property
    def title(self) -> str:
        """The size of the matrix, as `14 cases × 3 models`."""
        cases, models = self.case_count, len(self.models)
        of = f" of {len(self.suite.cases)}" if cases != len(self.suite.cases) else ""
        words = "case" if cases == 1 and not of else "cases"
        return f"{cases}{of} {words} × {models} {'model' if models == 1 else 'models'}"

    @property
    def order_words(self) -> str:
        """The order of the rows in words, and what is left out."""
        words = order_words(self.wanted.order, lambda model: self.names.get(model, ""))
        return f"only differing · {words}" if self.wanted.differing else words


def two_to_compare(
    models: Sequence[str], cells: Sequence[Cell], first: int = 0, chosen: tuple[str, str] | None = None
) -> tuple[str, str] | None:
    """Return the two models to compare at a case: the pair that was chosen; else the model in column `first` and the
    next one with another result, else the first two that differ, else it and its neighbour. Models with answers come
    first; None where there is only one."""
    if chosen is not None:
        return chosen
    columns = [*range(first, len(models)), *range(first)]
    columns.sort(key=lambda column: not cells[column].results)
    pairs = [(a, b) for at, a in enumerate(columns) for b in columns[at + 1 :]]
    known = [(a, b) for a, b in pairs if cells[a].share >= 0 and cells[b].share >= 0]
    differing = [(a, b) for a, b in known if cells[a].share != cells[b].share]
    found = (differing or pairs)[:1]
    return (models[found[0][0]], models[found[0][1]]) if found else None
