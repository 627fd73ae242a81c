"""The entries of a diff (heads, gaps, lines, notes), both sides of a file, and changes without white space."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby
from typing import NamedTuple

from tui.app.diff.word_diff import Pair, pair_lines
from tui.model.diffs import DiffLine, FileDiff, Hunk
from tui.model.results import NotApplied
from tui.model.sanitize import sanitize_line, sanitize_text
from tui.model.suite import Case

_NO_NEWLINE = "no newline at end of file"


class HeadEntry(NamedTuple):
    """The name of a file, its kind of change, and the numbers of changed lines."""

    file: FileDiff


class GapEntry(NamedTuple):
    """The hidden lines above a hunk: their number, and the heading of the hunk."""

    hidden: int
    heading: str


class LineEntry(NamedTuple):
    """A line. Context has both sides; in a unified view a changed line has one, and `partner` is the other."""

    old: DiffLine | None
    new: DiffLine | None
    partner: DiffLine | None = None


class PairHeadEntry(NamedTuple):
    """The name of a file that two answers may have changed, with the numbers of lines that each added and removed."""

    file: FileDiff
    left: tuple[int, int] | None
    right: tuple[int, int] | None


class PairEntry(NamedTuple):
    """A row of the changes of two answers: the line of each, and the line that it replaced or was replaced by.

    A line of the base that only the other answer's diff shows is context without a number in the new file.
    """

    lines: tuple[DiffLine | None, DiffLine | None]
    partners: tuple[DiffLine | None, DiffLine | None] = (None, None)

    @property
    def base(self) -> int | None:
        """Return the number of the line in the base; None for inserted lines."""
        return next((line.old for line in self.lines if line is not None and line.old is not None), None)


class NoteEntry(NamedTuple):
    """A note on the line above, for each side that it applies to."""

    old: str
    new: str


class TitleEntry(NamedTuple):
    """A heading for the entries below it."""

    text: str


class SayEntry(NamedTuple):
    """A sentence over the whole width, after its `subject`."""

    subject: str
    text: str


class BlankEntry(NamedTuple):
    """A blank row between two files."""


Entry = HeadEntry | PairHeadEntry | GapEntry | LineEntry | PairEntry | NoteEntry | TitleEntry | SayEntry | BlankEntry


def is_on_both_sides(entry: Entry) -> bool:
    """Return whether the entry is an unchanged line, which is on both sides."""
    if isinstance(entry, PairEntry):
        one, other = entry.lines
        return one is not None and other is not None and one.kind == other.kind == "context" and one.text == other.text
    return isinstance(entry, LineEntry) and entry.old is entry.new


class Listed(NamedTuple):
    """The entries of a file, and the indexes of those that begin a hunk."""

    entries: list[Entry]
    hunks: list[int]


def list_entries(file: FileDiff, *, beside: bool, head: bool, notes: Sequence[str] = ()) -> Listed:
    """Return the entries of a file; `beside` puts both sides next to each other."""
    entries: list[Entry] = [BlankEntry(), HeadEntry(file)] if head else []
    entries += (SayEntry("", note) for note in (*file_notes(file), *notes))
    hunks: list[int] = []
    shown = 0
    for hunk in file.hunks:
        start = hunk.new_start - (1 if hunk.new_count else 0)
        hunks.append(len(entries))
        if start > shown or hunk.heading or len(file.hunks) > 1:
            entries.append(GapEntry(max(0, start - shown), hunk.heading))
        shown = start + hunk.new_count
        entries += _lines(hunk, beside)
    return Listed(entries, hunks)


def list_refused(refused: Sequence[NotApplied], *, first: bool) -> Listed:
    """Return the entries for the blocks that were not applied, each with its reason."""
    entries: list[Entry] = [] if first else [BlankEntry()]
    count = len(refused)
    entries.append(TitleEntry(f"{count} {'block' if count == 1 else 'blocks'} not applied"))
    for block in refused:
        named = " · ".join(sanitize_line(word, 200) for word in (block.language, block.path) if word)
        reason = sanitize_line(block.reason, 1_000)
        entries.append(SayEntry(f"block {block.block + 1}{' · ' if named else ''}{named}", reason))
    return Listed(entries, [])


def file_notes(file: FileDiff) -> Iterator[str]:
    """Yield what the lines of a diff do not show: a binary or empty file, a new name or mode."""
    if file.binary:
        yield "Binary file: changes cannot be displayed."
    elif not file.hunks and file.kind in ("added", "deleted"):
        yield "The file is empty."
    elif not file.hunks and file.kind == "renamed":
        yield "File renamed without changes."
    if file.old_mode is not None and file.new_mode is not None and file.old_mode != file.new_mode:
        yield f"File mode changed from {file.old_mode:06o} to {file.new_mode:06o}."


def _lines(hunk: Hunk, beside: bool) -> Iterator[Entry]:
    for is_context, run in groupby(hunk.lines, lambda line: line.kind == "context"):
        if is_context:
            for line in run:
                yield LineEntry(line, line)
                if not line.newline:
                    yield NoteEntry(_NO_NEWLINE, _NO_NEWLINE)
            continue
        lines = list(run)
        removed = [line for line in lines if line.kind == "removed"]
        added = [line for line in lines if line.kind == "added"]
        pairs = pair_lines(removed, added)
        yield from _beside(pairs) if beside else _below(removed, added, pairs)


def _beside(pairs: Sequence[Pair]) -> Iterator[Entry]:
    for old, new in pairs:
        yield LineEntry(old, new)
        if (old and not old.newline) or (new and not new.newline):
            yield NoteEntry(newline_note(old), newline_note(new))


def _below(removed: Sequence[DiffLine], added: Sequence[DiffLine], pairs: Sequence[Pair]) -> Iterator[Entry]:
    """Yield all removed lines, then all added lines."""
    after = {id(old): new for old, new in pairs if old and new}
    before = {id(new): old for old, new in pairs if old and new}
    for line in removed:
        yield LineEntry(line, None, after.get(id(line)))
        if not line.newline:
            yield NoteEntry(_NO_NEWLINE, "")
    for line in added:
        yield LineEntry(None, line, before.get(id(line)))
        if not line.newline:
            yield NoteEntry("", _NO_NEWLINE)


def newline_note(line: DiffLine | None) -> str:
    """Return the note for a last line without a newline, else an empty text."""
    return _NO_NEWLINE if line is not None and not line.newline else ""


@dataclass(frozen=True, slots=True)
class Sides:
    """All lines of a file before and after the change, without LF."""

    old: Sequence[str]
    new: Sequence[str]


def find_sides(case: Case, answer: str, file: FileDiff, block: int | None = None) -> Sides | None:
    """Return both sides of a file; None if only the diff is known. Reads the whole answer: call this in a thread."""
    from tui.session.changes import new_lines, old_lines

    lines = [line for hunk in file.hunks for line in hunk.lines]
    if file.kind == "added":
        return Sides((), [line.text for line in lines])
    if file.kind == "deleted":
        return Sides([line.text for line in lines], ())
    if file.binary or not lines:
        return None
    new = new_lines(case, answer, file, block)
    return None if new is None else Sides(old_lines(file, new), new)


def hides_returns(file: FileDiff) -> bool:
    """Return whether every line that ends at all ends with CR, which is then displayed once for the file."""
    has_return = False
    for hunk in file.hunks:
        for line in hunk.lines:
            if line.text.endswith("\r"):
                has_return = True
            elif line.newline:
                return False
    return has_return


def show_code(text: str, *, without_return: bool) -> str:
    """Return a line sanitized for display on a single row."""
    if without_return:
        text = text.removesuffix("\r")
    return sanitize_text(text).replace("\n", "␊")


def shown_lines(lines: Sequence[str], *, without_return: bool) -> list[str]:
    """Return lines sanitized for display, each on a single row."""
    return [show_code(line, without_return=without_return) for line in lines]


_MOST_COMPARED = 40_000


def ignore_spacing(file: FileDiff) -> FileDiff:
    """Return the file without changes of white space: those lines become context, and empty hunks are removed."""
    hunks = tuple(hunk for hunk in map(_ignore, file.hunks) if any(line.kind != "context" for line in hunk.lines))
    kinds = [line.kind for hunk in hunks for line in hunk.lines]
    return replace(file, hunks=hunks, added=kinds.count("added"), removed=kinds.count("removed"))


def _ignore(hunk: Hunk) -> Hunk:
    lines: list[DiffLine] = []
    for is_context, run in groupby(hunk.lines, lambda line: line.kind == "context"):
        together = [*run]
        lines += together if is_context else _unchanged_apart(together)
    return replace(hunk, lines=tuple(lines))


def _unchanged_apart(lines: Sequence[DiffLine]) -> Iterator[DiffLine]:
    removed = [line for line in lines if line.kind == "removed"]
    added = [line for line in lines if line.kind == "added"]
    i = j = 0
    for at, other, size in [*_alike(_keys(removed), _keys(added)), (len(removed), len(added), 0)]:
        yield from removed[i:at]
        yield from added[j:other]
        for old, new in zip(removed[at : at + size], added[other : other + size], strict=True):
            yield new._replace(kind="context", old=old.old)
        i, j = at + size, other + size


def _keys(lines: Iterable[DiffLine]) -> list[str]:
    return ["".join(line.text.split()) for line in lines]


def _alike(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the blocks of equal lines: the index in `old`, the index in `new`, the number of lines."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    yield 0, 0, start
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    if a and b and len(a) * len(b) <= _MOST_COMPARED:
        for at, other, size in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()[:-1]:
            yield at + start, other + start, size
    yield len(old) - end, len(new) - end, end
