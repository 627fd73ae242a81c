"""All rows of an answer pane: reasoning or other texts above the answer, the answer, and a note below."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tui.app.text.page import Ink, Page, Run
from tui.model.sanitize import show_text

_DIM = Ink("dim")
_MOST_NOTE_ROWS = 4


class Sheet:
    """The rows of a pane, counted from 0. The foot, where a note stands, is kept free while text may still come: a note
    moves nothing."""

    def __init__(self, width: int) -> None:
        self._width = max(1, width)
        self.answer = Page(self._width)
        self.reasoning: Page | None = None
        self.folded = False
        self.keeps_foot = False
        self._note = ""
        self._foot: Page | None = None

    @property
    def width(self) -> int:
        """Cells in a row."""
        return self._width

    @property
    def pages(self) -> tuple[Page, ...]:
        """Those whose code gets colours."""
        return (self.answer,)

    def set_width(self, width: int) -> None:
        """Lay everything out anew."""
        self._width = max(1, width)
        for page in (self.answer, self.reasoning, self._foot):
            if page is not None:
                page.set_width(self._width)

    def set_note(self, text: str) -> bool:
        """The note, outside text; "" for none. False where it is the same as before."""
        note = show_text(text).strip()
        if note == self._note:
            return False
        self._note = note
        self._foot = None
        if self._note:
            self._foot = Page(self._width, "dim")
            self._foot.append(self._note)
            self.keeps_foot = True
        return True

    def think(self, raw: str) -> None:
        """More of what was thought aloud, as it arrived."""
        if self.reasoning is None:
            self.reasoning = Page(self._width, "dim")
        self.reasoning.append(raw)

    # --- rows

    @property
    def head_rows(self) -> int:
        """The rows above the answer."""
        if self.reasoning is None:
            return 0
        return 1 if self.folded else self.reasoning.row_count + 2

    @property
    def reasoning_end(self) -> int:
        """The row in which what was thought aloud goes on; its head where that is folded or not there yet."""
        return 0 if self.reasoning is None or self.folded else self.reasoning.row_count

    @property
    def foot_row(self) -> int:
        """The first row under the answer."""
        return self.head_rows + self.answer.row_count

    @property
    def last_line_row(self) -> int:
        """The row with which the answer's last line begins."""
        return self.head_rows + self.answer.last_line_row

    @property
    def row_count(self) -> int:
        """All rows."""
        note = min(self._foot.row_count, _MOST_NOTE_ROWS) if self._foot else 0
        return self.foot_row + max(note, int(self.keeps_foot))

    def page_at(self, row: int) -> tuple[Page, int] | None:
        """The page to which a row belongs, and the row in it; None for a row between pages."""
        head = self.head_rows
        if row < head:
            inside = self.reasoning is not None and not self.folded and 1 <= row < head - 1
            return (self.reasoning, row - 1) if inside and self.reasoning else None
        if row < self.foot_row:
            return self.answer, row - head
        foot = row - self.foot_row
        return (self._foot, foot) if self._foot and foot < self._foot.row_count else None

    def runs(self, row: int) -> list[Run]:
        """What a row is drawn as."""
        found = self.page_at(row)
        if found is not None:
            return found[0].runs(found[1])
        if row == 0 and self.reasoning is not None:
            count = self.reasoning.line_count
            head = f"▸ thinking · {count} line{'s' if count != 1 else ''}" if self.folded else "▾ thinking"
            return [(head[: self._width], _DIM)]
        return []

    def place_of(self, row: int) -> tuple[Page | None, int]:
        """What stands at the beginning of a row, to be found again when everything has another width."""
        found = self.page_at(min(row, self.row_count - 1))
        return (None, row) if found is None else (found[0], found[0].offset_at(found[1], 0))

    def row_of(self, place: tuple[Page | None, int]) -> int:
        """The row in which a place stands now."""
        page, offset = place
        if page is None:
            return offset
        before = {id(self.answer): self.head_rows, id(self.reasoning): 1, id(self._foot): self.foot_row}
        return before[id(page)] + page.row_at(offset)

    def prepare(self, first: int, last: int) -> int | None:
        """Find the colours of code in some rows; returns the first row that may look otherwise now."""
        head = self.head_rows
        first, last = max(first, head), min(last, self.foot_row - 1)
        if first > last:
            return None
        changed = self.answer.prepare(first - head, last - head)
        return None if changed is None else head + changed

    def text_between(self, start: tuple[int, int] | None, end: tuple[int, int] | None) -> str:
        """The text from one place to another, each as (row, index of its drawn text), without the wrapping; None is the
        very beginning or end."""
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
