"""Which rows there are, in which order and in which groups."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from tui.app.matrix.baseline import Change
from tui.app.matrix.cells import FAILURES, Cell
from tui.model import filter
from tui.model.suite import Case

OrderKind = Literal["suite", "name", "differ", "all fail", "change", "model"]
Grouping = Literal["category", "tag", "none"]
GROUPINGS: tuple[Grouping, ...] = ("category", "tag", "none")

CellsOf = Callable[[Case], Sequence[Cell]]
SortKey = tuple[float | str, ...]


class Order(NamedTuple):
    """By what the rows are sorted; `model` is that of the column, for that kind alone."""

    kind: OrderKind = "suite"
    model: str = ""
    reverse: bool = False


class Heading(NamedTuple):
    """The row above a group: its name, and how many cases stand below it."""

    group: str
    size: int


Row = Case | Heading


def spread_of(cells: Iterable[Cell]) -> float:
    """How far the models are apart at a case; 0 where they agree."""
    return filter.spread_of(cell.share for cell in cells)


def all_fail(cells: Sequence[Cell]) -> bool:
    """Whether no model passes."""
    return bool(cells) and all(cell.status in FAILURES for cell in cells)


def sorted_cases(
    cases: Sequence[Case],
    order: Order,
    cells_of: CellsOf,
    column: int = 0,
    changed: Callable[[Case], Change] | None = None,
) -> list[Case]:
    """The cases in an order, alike ones as the suite has them; `column` is where the cells of the order's model are."""

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
        return (case.name.casefold(),)

    found = [*cases]
    if order.kind != "suite":
        found.sort(key=key)
    if order.reverse:
        found.reverse()
    return found


def grouped(cases: Sequence[Case], grouping: Grouping) -> list[Row]:
    """The rows: groups stand in the order of their first case; a case with several tags stands below each of them."""
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
    """`sorted by disagreement`"""
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
