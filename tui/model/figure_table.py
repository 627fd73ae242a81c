"""A table of figures as text, which screens sort and display and files contain."""

import re
from dataclasses import dataclass, replace

from tui.model.risk import BANDS

_NUMBER = re.compile(r"[^\w−+-]*([−+-]?\d[\d,]*\.?\d*)")
_MISSING = frozenset({"", "–", "no value", "not enough data"})
_TOO_SMALL = "<"


@dataclass(frozen=True, slots=True)
class FigureTable:
    """A titled table of cells; the last `numbers` columns are right-aligned. `notes` explain it, a sentence each."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: int = 0
    notes: tuple[str, ...] = ()

    def order(self, column: int, *, reverse: bool = False) -> list[int]:
        """Return the indices of the rows sorted by a column; rows without a value are always last."""
        keys = [sort_key(row[column]) for row in self.rows]
        found = {index: key for index, key in enumerate(keys) if key is not None}
        order = sorted(found, key=found.__getitem__, reverse=reverse)
        return [*order, *(index for index, key in enumerate(keys) if key is None)]

    def ordered(self, order: list[int]) -> "FigureTable":
        """Return the table with its rows in another order."""
        return replace(self, rows=tuple(self.rows[index] for index in order))


def sort_key(cell: str) -> tuple[int, float, str] | None:
    """Return the key by which a cell is sorted: bands by risk, then numbers, then words; None without a value."""
    text = cell.strip()
    if text in _MISSING:
        return None
    if text in BANDS:
        return 0, BANDS.index(text), ""
    if number := _NUMBER.match(text):
        value = float(number[1].replace("−", "-").replace(",", ""))
        return 1, value - (1e-12 if text.startswith(_TOO_SMALL) else 0), text.casefold()
    return 2, 0.0, text.casefold()
