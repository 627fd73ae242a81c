"""Which two models of a case are worth being held against each other."""

from collections.abc import Sequence

from tui.app.matrix.cells import Cell


def two_to_compare(
    models: Sequence[str], cells: Sequence[Cell], first: int = 0, chosen: tuple[str, str] | None = None
) -> tuple[str, str] | None:
    """The pair that a person chose; else the model in column `first` and the next that does otherwise, else the first
    two that differ, else it and the one beside it. Those that have answered come first; None where there is one."""
    if chosen is not None:
        return chosen
    columns = [*range(first, len(models)), *range(first)]
    columns.sort(key=lambda column: not cells[column].results)
    pairs = [(a, b) for at, a in enumerate(columns) for b in columns[at + 1 :]]
    known = [(a, b) for a, b in pairs if cells[a].share >= 0 and cells[b].share >= 0]
    differing = [(a, b) for a, b in known if cells[a].share != cells[b].share]
    found = (differing or pairs)[:1]
    return (models[found[0][0]], models[found[0][1]]) if found else None
