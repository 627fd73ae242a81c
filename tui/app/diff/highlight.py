"""The colours of all code that a diff shows: which lexer, which text, and what is to be lexed next."""

from bisect import bisect_right
from collections.abc import Sequence

from tui.app.diff.colours import SideColours
from tui.app.diff.sides import Sides, hides_returns, shown_lines
from tui.app.text.highlight import CodeLexer, LineColours, knows_language
from tui.model.diffs import DiffLine, FileDiff


def language_of(path: str) -> str | None:
    """The language in which a file gets colours, by its name; None where it gets none."""
    name = path.rpartition("/")[2].lower()
    stem, _, extension = name.rpartition(".")
    for each in (extension if stem else "", name, name.partition(".")[0]):
        if each and knows_language(each):
            return each
    return None


class FileColours:
    """The colours of one file. Where its whole text is not known, each hunk is lexed as if the language began there."""

    def __init__(self, file: FileDiff, sides: Sides | None, lexer: CodeLexer) -> None:
        without = hides_returns(file)
        self._firsts: tuple[list[int], list[int]] = ([], [])
        self._parts: tuple[list[SideColours], list[SideColours]] = ([], [])
        if sides is not None:
            for side, lines in enumerate((sides.old, sides.new)):
                self._add(side, 1, shown_lines(lines, without_return=without), lexer)
            return
        for hunk in file.hunks:
            for side, first in enumerate((hunk.old_start, hunk.new_start)):
                texts = [line.text for line in hunk.lines if (line.new if side else line.old) is not None]
                self._add(side, first, shown_lines(texts, without_return=without), lexer)

    def _add(self, side: int, first: int, lines: Sequence[str], lexer: CodeLexer) -> None:
        self._firsts[side].append(first)
        self._parts[side].append(SideColours(lexer, lines))

    def at(self, line: DiffLine, side: int) -> LineColours:
        """The colours of a line as it is on one side; none while they are not known."""
        number = line.new if side else line.old
        part = -1 if number is None else bisect_right(self._firsts[side], number) - 1
        if number is None or part < 0:
            return ()
        return self._parts[side][part].at(number - self._firsts[side][part])

    def work(self, side: int, first: int, last: int) -> bool | None:
        """Lex one slice more for the lines with these numbers (both included): whether one of them may look otherwise
        now. None when there is nothing left."""
        at = max(0, bisect_right(self._firsts[side], first) - 1)
        while at < len(self._parts[side]) and self._firsts[side][at] <= last:
            start = self._firsts[side][at]
            changed = self._parts[side][at].work(first - start, last - start)
            if changed is not None:
                return changed.start <= last - start and changed.stop > first - start
            at += 1
        return None
