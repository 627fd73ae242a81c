"""A sheet on which other texts stand above the answer, each under its heading."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tui.app.text.page import Ink, Page, Run
from tui.app.text.sheet import Sheet

_HEAD = Ink("dim")


class _Placed(NamedTuple):
    title: str
    page: Page
    first: int  # the row of the title


class PartsSheet(Sheet):
    """`parts` are headings with outside text; `title` is the heading of the answer itself."""

    def __init__(self, width: int, parts: Iterable[tuple[str, str]] = (), title: str = "Answer") -> None:
        super().__init__(width)
        self._title = title
        self._parts: list[tuple[str, Page]] = []
        for name, text in parts:
            page = Page(self.width)
            page.append(text.strip("\n"))
            page.finish()
            self._parts.append((name, page))

    @property
    def pages(self) -> tuple[Page, ...]:
        """Those whose code gets colours."""
        return (*(page for _, page in self._parts), self.answer)

    def set_width(self, width: int) -> None:
        """Lay everything out anew."""
        super().set_width(width)
        for _, page in self._parts:
            page.set_width(self.width)

    @property
    def head_rows(self) -> int:
        """The rows above the answer."""
        return sum(page.row_count + 2 for _, page in self._parts) + 1

    def page_at(self, row: int) -> tuple[Page, int] | None:
        """The page to which a row belongs, and the row in it; None for headings and what is between pages."""
        if row >= self.head_rows:
            return super().page_at(row)
        for placed in self._placed():
            if 0 <= row - placed.first - 1 < placed.page.row_count:
                return placed.page, row - placed.first - 1
        return None

    def runs(self, row: int) -> list[Run]:
        """What a row is drawn as."""
        if row == self.head_rows - 1:
            return [(self._title[: self.width], _HEAD)]
        title = next((placed.title for placed in self._placed() if placed.first == row), None)
        return super().runs(row) if title is None else [(title[: self.width], _HEAD)]

    def row_of(self, place: tuple[Page | None, int]) -> int:
        """The row in which a place stands now."""
        page, offset = place
        for placed in self._placed():
            if placed.page is page:
                return placed.first + 1 + page.row_at(offset)
        return super().row_of(place)

    def prepare(self, first: int, last: int) -> int | None:
        """Find the colours of code in some rows; returns the first row that may look otherwise now."""
        changed = [super().prepare(first, last)]
        for placed in self._placed():
            begin, end = placed.first + 1, placed.first + placed.page.row_count
            if begin <= last and end >= first:
                found = placed.page.prepare(max(first, begin) - begin, min(last, end) - begin)
                changed.append(None if found is None else begin + found)
        return min((row for row in changed if row is not None), default=None)

    def _placed(self) -> Iterator[_Placed]:
        row = 0
        for title, page in self._parts:
            yield _Placed(title, page, row)
            row += page.row_count + 2
