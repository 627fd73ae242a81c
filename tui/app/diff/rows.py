"""What stands in the diff of a file, one entry below the other: its head, gaps, lines, notes."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from tui.app.diff.word_diff import Pair, pair_lines
from tui.model.diffs import DiffLine, FileDiff, Hunk
from tui.model.results import NotApplied
from tui.model.sanitize import show_line

_NO_NEWLINE = "no newline at the end of the file"


class HeadEntry(NamedTuple):
    """The name of a file, what happened to it, and how many lines."""

    file: FileDiff


class GapEntry(NamedTuple):
    """What is not shown above a hunk: so many lines, and in what they are."""

    hidden: int
    heading: str


class LineEntry(NamedTuple):
    """A line. Context has both sides; where they do not stand beside each other, a changed line has one, and
    `partner` is the other."""

    old: DiffLine | None
    new: DiffLine | None
    partner: DiffLine | None = None


class NoteEntry(NamedTuple):
    """Something said of the line above, for each side that it is said of."""

    old: str
    new: str


class TitleEntry(NamedTuple):
    """What the entries below it are."""

    text: str


class SayEntry(NamedTuple):
    """A sentence, over the whole width; `subject` stands before it."""

    subject: str
    text: str


class BlankEntry(NamedTuple):
    """Room between two files."""


Entry = HeadEntry | GapEntry | LineEntry | NoteEntry | TitleEntry | SayEntry | BlankEntry


class Listed(NamedTuple):
    """The entries of a file, and which of them begin a hunk."""

    entries: list[Entry]
    hunks: list[int]


def list_entries(file: FileDiff, *, beside: bool, head: bool, notes: Sequence[str] = ()) -> Listed:
    """Everything that is shown of a file; `beside` puts both sides next to each other."""
    entries: list[Entry] = [BlankEntry(), HeadEntry(file)] if head else []
    entries += (SayEntry("", note) for note in (*_said(file), *notes))
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
    """The blocks that were not applied, each with its reason."""
    entries: list[Entry] = [] if first else [BlankEntry()]
    count = len(refused)
    entries.append(TitleEntry(f"{count} {'block' if count == 1 else 'blocks'} not applied"))
    for block in refused:
        named = " · ".join(show_line(word, 200) for word in (block.language, block.path) if word)
        reason = show_line(block.reason, 1_000)
        entries.append(SayEntry(f"block {block.block + 1}{' · ' if named else ''}{named}", reason))
    return Listed(entries, [])


def _said(file: FileDiff) -> Iterator[str]:
    if file.binary:
        yield "A binary file: what changed in it cannot be shown."
    elif not file.hunks and file.kind in ("added", "deleted"):
        yield "The file is empty."
    elif not file.hunks and file.kind == "renamed":
        yield "Only the name changed."
    if file.old_mode is not None and file.new_mode is not None and file.old_mode != file.new_mode:
        yield f"The mode changed from {file.old_mode:06o} to {file.new_mode:06o}."


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
            yield NoteEntry(_note(old), _note(new))


def _below(removed: Sequence[DiffLine], added: Sequence[DiffLine], pairs: Sequence[Pair]) -> Iterator[Entry]:
    """All that was removed, then all that was added."""
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


def _note(line: DiffLine | None) -> str:
    return _NO_NEWLINE if line is not None and not line.newline else ""
