"""All rows of an answer pane: reasoning and other texts above the answer, the answer, and a note below it."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tui.app.text.page import Page, Run, TextStyle
from tui.model.sanitize import sanitize_text

_DIM = TextStyle("dim")
_MOST_NOTE_ROWS, _MOST_NOTE_ROWS_ALONE = 4, 60


class _Above(NamedTuple):
    """A text above the answer: its heading is in row `first`, its page below that, unless it is folded."""

    heading: str
    page: Page
    first: int
    folded: bool = False

    @property
    def end(self) -> int:
        """Return the row after the page and the blank row below it."""
        return self.first + 1 if self.folded else self.first + self.page.row_count + 2

    def row_in_page(self, row: int) -> int | None:
        """Return the row of the page at a row of the sheet; None for rows outside the page."""
        inside = row - self.first - 1
        return inside if not self.folded and 0 <= inside < self.page.row_count else None


class Sheet:
    """The rows of a pane, counted from 0.

    `parts` are headings and texts above the answer, which then has a heading, too. The last row stays free for a note
    while text may still arrive, so that a note moves no text.
    """

    def __init__(self, width: int, parts: Iterable[tuple[str, str]] = ()) -> None:
        self._width = max(1, width)
        self.answer = Page(self._width)
        self.reasoning: Page | None = None
        self.folded = False
        self.keeps_foot = False
        self._parts: list[tuple[str, Page]] = []
        for heading, text in parts:
            page = Page(self._width)
            page.append(text.strip("\n"))
            page.finish()
            self._parts.append((heading, page))
        self._title = "Answer" if self._parts else ""
        self._note = ""
        self._foot: Page | None = None

    @property
    def width(self) -> int:
        """Return the width of a row in cells."""
        return self._width

    @property
    def pages(self) -> tuple[Page, ...]:
        """Return the pages whose code is highlighted."""
        return (*(page for _, page in self._parts), self.answer)

    def set_width(self, width: int) -> None:
        """Lay out all pages for another width."""
        self._width = max(1, width)
        for page in self._all_pages:
            page.set_width(self._width)

    @property
    def is_behind(self) -> bool:
        """Return whether `lay_out_more` has anything to do."""
        return any(page.is_behind for page in self._all_pages)

    @property
    def _all_pages(self) -> Iterator[Page]:
        return (page for page in (*self.pages, self.reasoning, self._foot) if page is not None)

    def lay_out_more(self) -> int | None:
        """Lay out the next part of a long text, and return the first row that may have changed, or None."""
        page = next((page for page in self._all_pages if page.is_behind), self.answer)
        changed = page.lay_out_more()
        if changed and page is self.answer:
            return self.head_rows + changed
        return None if changed is None else 0

    def set_note(self, text: str) -> bool:
        """Set the note, which is external text, or remove it (""); return whether it has changed."""
        note = sanitize_text(text).strip()
        if note == self._note:
            return False
        self._note = note
        self._foot = None
        if self._note:
            self._foot = Page(self._width, "dim")
            self._foot.append(self._note)
            self.keeps_foot = True
        return True

    def append_reasoning(self, raw: str) -> None:
        """Append reasoning of the model as it arrives."""
        if self.reasoning is None:
            self.reasoning = Page(self._width, "dim")
        self.reasoning.append(raw)

    def _above(self) -> Iterator[_Above]:
        row = 0
        if self.reasoning is not None:
            count = self.reasoning.line_count
            folded = f"▸ thinking · {count} line{'s' if count != 1 else ''}"
            above = _Above(folded if self.folded else "▾ thinking", self.reasoning, row, self.folded)
            row = above.end
            yield above
        for heading, page in self._parts:
            above = _Above(heading, page, row)
            row = above.end
            yield above

    @property
    def head_rows(self) -> int:
        """Return the number of rows above the answer."""
        if self.reasoning is None and not self._parts:
            return int(bool(self._title))
        return sum(above.end - above.first for above in self._above()) + bool(self._title)

    @property
    def reasoning_end(self) -> int:
        """Return the row in which the reasoning continues; 0 if it is folded or there is none yet."""
        return 0 if self.reasoning is None or self.folded else self.reasoning.row_count

    @property
    def foot_row(self) -> int:
        """Return the first row below the answer."""
        return self.head_rows + self.answer.row_count

    @property
    def last_line_row(self) -> int:
        """Return the first row of the last line of the answer."""
        return self.head_rows + self.answer.last_line_row

    @property
    def row_count(self) -> int:
        """Return the number of rows."""
        most = _MOST_NOTE_ROWS_ALONE if self.answer.is_empty else _MOST_NOTE_ROWS
        note = min(self._foot.row_count, most) if self._foot else 0
        return self.foot_row + max(note, int(self.keeps_foot))

    def page_at(self, row: int) -> tuple[Page, int] | None:
        """Return the page of a row, and the row in that page; None for headings and blank rows between pages."""
        head = self.head_rows
        if row < head:
            found = ((above.page, above.row_in_page(row)) for above in self._above())
            return next(((page, inner) for page, inner in found if inner is not None), None)
        foot_row = head + self.answer.row_count
        if row < foot_row:
            return self.answer, row - head
        foot = row - foot_row
        return (self._foot, foot) if self._foot and foot < self._foot.row_count else None

    def runs(self, row: int) -> list[Run]:
        """Return the styled pieces of a row."""
        found = self.page_at(row)
        if found is not None:
            return found[0].runs(found[1])
        if self._title and row == self.head_rows - 1:
            return [(self._title[: self._width], _DIM)]
        heading = next((above.heading for above in self._above() if above.first == row), None)
        return [] if heading is None else [(heading[: self._width], _DIM)]

    def position_at(self, row: int) -> tuple[Page | None, int]:
        """Return the text position at the beginning of a row, as a page and an offset in its text.

        `row_of` returns its row, also after the width has changed.
        """
        found = self.page_at(min(row, self.row_count - 1))
        return (None, row) if found is None else (found[0], found[0].offset_at(found[1], 0))

    def row_of(self, place: tuple[Page | None, int]) -> int:
        """Return the row of a text position."""
        page, offset = place
        if page is None:
            return offset
        first = {id(above.page): above.first + 1 for above in self._above()}
        first |= {id(self.answer): self.head_rows, id(self._foot): self.foot_row}
        return first[id(page)] + page.row_at(offset)

    def prepare(self, first: int, last: int) -> int | None:
        """Compute the colors of the code in some rows, and return the first row that may have changed, or None."""
        places = [(above.first + 1, above.page) for above in self._above() if above.page is not self.reasoning]
        changed: list[int] = []
        for begin, page in (*places, (self.head_rows, self.answer)):
            end = begin + page.row_count - 1
            if begin <= last and end >= first:
                row = page.prepare(max(first, begin) - begin, min(last, end) - begin)
                if row is not None:
                    changed.append(begin + row)
        return min(changed, default=None)

    def text_between(self, start: tuple[int, int] | None, end: tuple[int, int] | None) -> str:
        """Return the unwrapped text between two positions, each a row and an index of its drawn text.

        None means the beginning or the end of the sheet.
        """
        first = start[0] if start else 0
        last = min(end[0] if end else self.row_count, self.row_count - 1)
        parts: list[str] = []
        row = first
        while row <= last:
            found = self.page_at(row)
            if found is None:
                row += 1
                continue
            page, inner = found
            until = min(last, row + page.row_count - 1 - inner)
            begin = page.offset_at(inner, start[1] if start and row == first else 0)
            stops_here = end is not None and until == end[0]
            parts.append(page.slice(begin, page.offset_at(until - row + inner, end[1] if end and stops_here else None)))
            row = until + 1
        return "\n".join(parts)
