"""How panes stand beside each other in the room there is."""

from typing import NamedTuple

LEAST_WIDTH = 34
LEAST_HEIGHT = 8


class Arrangement(NamedTuple):
    """Columns and rows of panes; `single` where they do not fit and are shown one at a time."""

    columns: int
    rows: int
    single: bool


def arrange(panes: int, width: int, height: int) -> Arrangement:
    """All beside each other where each has room to be read, else in two rows, else one at a time."""
    if panes <= 1:
        return Arrangement(1, 1, False)
    fitting = max(1, width // LEAST_WIDTH)
    if panes <= fitting:
        return Arrangement(panes, 1, False)
    columns = (panes + 1) // 2
    if columns <= fitting and height >= 2 * LEAST_HEIGHT and columns > 1:
        return Arrangement(columns, 2, False)
    if panes == 2 and height >= 3 * LEAST_HEIGHT and width >= LEAST_WIDTH:
        return Arrangement(1, 2, False)
    return Arrangement(1, 1, True)
