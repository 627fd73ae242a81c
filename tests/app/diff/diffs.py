"""Diffs of two texts as the viewer takes them, and texts that are hard to lay out."""

from hypothesis import strategies as st

from tui.app.diff.layout import Document, Look
from tui.app.diff.render import Pen, draw_row
from tui.model.diffs import FileDiff
from tui.workspace.git.diff import diff_texts

SIGNS = "ab =()\t日語🙂\u200d👩\u0301\u202e\x1b\r"
LINES = st.lists(st.text(alphabet=SIGNS, max_size=30), max_size=12)
LOOKS = st.builds(
    Look,
    width=st.integers(1, 90),
    beside=st.booleans(),
    wrap=st.booleans(),
    ignore_space=st.booleans(),
    numbers=st.booleans(),
)


def file_of(old: str, new: str, path: str = "a.py", context: int = 3) -> FileDiff:
    """The diff of two texts, as git makes it."""
    made = diff_texts(old.encode(), new.encode(), context)
    return FileDiff(path, "modified", made.hunks, path, added=made.added, removed=made.removed)


def pen(shift: int = 0) -> Pen:
    """Without colours, with nothing found."""
    return Pen(lambda *_: (), lambda *_: (), shift)


def drawn(document: Document, shift: int = 0) -> list[str]:
    """The rows as text."""
    rows = []
    for row in range(document.row_count):
        number, below = document.find_row(row)
        rows.append("".join(text for text, _ in draw_row(document.sections[number], below, pen(shift))))
    return rows
