"""More context lines for a stored diff, taken from the answer, which holds the new text, without the repository."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from tui.model.diffs import DiffLine, FileDiff, Hunk
from tui.model.suite import Case
from tui.workspace.answer.blocks import find_blocks
from tui.workspace.answer.choose import choose_blocks


def new_lines(case: Case, answer: str, file: FileDiff, block: int | None = None) -> tuple[str, ...] | None:
    """Return the lines (without LF) of the file as the answer made it, or None if the diff contradicts it."""
    chosen = choose_blocks(find_blocks(answer), case.target_file, block).files.get(file.path)
    if chosen is None:
        return None
    plain = chosen.text.removesuffix("\n").split("\n") if chosen.text else []
    for end in ("", "\r"):
        lines = [line + end for line in plain]
        if lines and any(_is_last_and_open(hunk, len(lines)) for hunk in file.hunks):
            lines[-1] = plain[-1]
        if all(_agrees(hunk, lines) for hunk in file.hunks):
            return tuple(lines)
    return None


def _is_last_and_open(hunk: Hunk, count: int) -> bool:
    return any(line.new == count and not line.newline for line in hunk.lines)


def _agrees(hunk: Hunk, lines: Sequence[str]) -> bool:
    return all(line.new is None or lines[line.new - 1 : line.new] == [line.text] for line in hunk.lines)


def old_lines(file: FileDiff, lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines (without LF) that the file had before, computed from its current lines."""
    old: list[str] = []
    at = 0
    for change in _changes(file.hunks):
        old += lines[at : change.at]
        old += (line.text for line in change.lines if line.kind == "removed")
        at = change.end
    return (*old, *lines[at:])


class _Change(NamedTuple):
    """Adjacent lines that are not context.

    `at` is the number of new lines before them; `shift` is how much larger the numbers of old lines are before them.
    """

    at: int
    shift: int
    heading: str
    lines: tuple[DiffLine, ...]

    @property
    def end(self) -> int:
        return self.at + sum(line.kind == "added" for line in self.lines)

    @property
    def shift_after(self) -> int:
        return self.shift + sum(1 if line.kind == "removed" else -1 for line in self.lines)


def widen_hunks(hunks: Sequence[Hunk], lines: Sequence[str], context: int) -> tuple[Hunk, ...]:
    """Return the hunks with up to `context` lines around each change; hunks that meet are merged.

    `lines` are all lines of the new text, from `new_lines`.
    """
    groups: list[list[_Change]] = []
    for change in _changes(hunks):
        if groups and change.at - groups[-1][-1].end <= 2 * context:
            groups[-1].append(change)
        else:
            groups.append([change])
    return tuple(_hunk(group, lines, context) for group in groups)


def _changes(hunks: Iterable[Hunk]) -> Iterator[_Change]:
    for hunk in hunks:
        old = hunk.old_start - (1 if hunk.old_count else 0)
        new = hunk.new_start - (1 if hunk.new_count else 0)
        for is_context, run in groupby(hunk.lines, lambda line: line.kind == "context"):
            found = tuple(run)
            if not is_context:
                yield _Change(new, old - new, hunk.heading, found)
            old += sum(line.old is not None for line in found)
            new += sum(line.new is not None for line in found)


def _hunk(group: Sequence[_Change], lines: Sequence[str], context: int) -> Hunk:
    first, last = group[0], group[-1]
    start, end = max(first.at - context, 0), min(last.end + context, len(lines))
    shown = list(_context(lines, start, first.at, first.shift))
    for change, following in zip(group, [*group[1:], None], strict=True):
        shown += change.lines
        shown += _context(lines, change.end, following.at if following else end, change.shift_after)
    old_count = sum(line.old is not None for line in shown)
    old_start, new_count = start + first.shift, end - start
    return Hunk(
        old_start + (1 if old_count else 0),
        old_count,
        start + (1 if new_count else 0),
        new_count,
        first.heading,
        tuple(shown),
    )


def _context(lines: Sequence[str], start: int, end: int, shift: int) -> Iterator[DiffLine]:
    return (DiffLine("context", lines[at], at + shift + 1, at + 1) for at in range(start, end))
