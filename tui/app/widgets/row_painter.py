"""Rows of a sheet as strips: painted once, kept until they change."""

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.app.text.page import Run
from tui.app.widgets.ink_styles import InkStyles

_CURSOR, _THUMB = "▌", "▐"
_MOST = 2_000


class RowPainter:
    """Paints rows and keeps their strips by number, with and without a piece of the position mark at their end."""

    def __init__(self) -> None:
        self._styles: InkStyles | None = None
        self._kept: tuple[dict[int, Strip], dict[int, Strip]] = {}, {}
        self._ends: tuple[Segment, Segment] = Segment(" "), Segment(_THUMB)

    def wear(self, styles: InkStyles) -> None:
        """Paint in these styles from now on."""
        if styles != self._styles:
            self._styles = styles
            self._ends = Segment(" ", styles.blank), Segment(_THUMB, styles.thumb)
            self.forget()

    def forget(self, first: int = 0) -> None:
        """Rows from this one on have changed."""
        for kept in self._kept:
            if first == 0:
                kept.clear()
            else:
                for row in [row for row in kept if row >= first]:
                    del kept[row]

    def forget_rows(self, first: int, last: int) -> None:
        """These rows have changed."""
        for kept in self._kept:
            for row in range(first, last + 1):
                kept.pop(row, None)

    def kept(self, row: int, thumb: bool) -> Strip | None:
        """The strip of a row, if it is known."""
        return self._kept[thumb].get(row)

    def keep(self, row: int, thumb: bool, strip: Strip) -> Strip:
        """Keep a row's strip."""
        if len(self._kept[thumb]) >= _MOST:
            self._kept[thumb].clear()
        self._kept[thumb][row] = strip
        return strip

    def paint(self, runs: list[Run], width: int, thumb: bool, cursor: bool) -> Strip:
        """A row of so many cells: its runs, perhaps the cursor, and in the last cell a piece of the position mark."""
        styles = self._styles
        assert styles is not None, "paint only what wears something"
        segments = [Segment(text, styles.style(ink)) for text, ink in runs if text]
        used = sum(len(text) if text.isascii() else cell_len(text) for text, _ in runs)
        if cursor:
            segments.append(Segment(_CURSOR, styles.cursor))
            used += 1
        room = width - 1
        if used < room:
            segments.append(Segment(" " * (room - used), styles.blank))
        elif used > room:  # one character wider than the pane
            segments = [*Strip(segments, used).crop(0, room)]
        segments.append(self._ends[thumb])
        return Strip(segments, width)
