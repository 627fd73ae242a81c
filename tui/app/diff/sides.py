"""The whole text of both sides of a file, as far as a kept answer tells it."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui.model.diffs import DiffLine, FileDiff
from tui.model.sanitize import show_text
from tui.model.suite import Case


@dataclass(frozen=True, slots=True)
class Sides:
    """All lines of a file before and after, without LF."""

    old: Sequence[str]
    new: Sequence[str]


def find_sides(case: Case, answer: str, file: FileDiff, block: int | None = None) -> Sides | None:
    """Both sides; None where the diff alone is left. Reads the whole answer: call it in a thread."""
    from tui.workspace.git.widen import new_lines, old_lines

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
    """Whether every line ends with a CR: then the file says so once, and not each line."""
    some = False
    for hunk in file.hunks:
        for line in hunk.lines:
            some = True
            if not line.text.endswith("\r") and line.newline:
                return False
    return some


def show_code(text: str, *, without_return: bool) -> str:
    """A line as it is shown: in one line, whatever it holds."""
    if without_return:
        text = text.removesuffix("\r")
    return show_text(text).replace("\n", "␊")


def shown_lines(lines: Sequence[str], *, without_return: bool) -> list[str]:
    """Lines as they are shown."""
    return [show_code(line, without_return=without_return) for line in lines]


def side_of(lines: Sequence[DiffLine], side: str) -> list[DiffLine]:
    """The lines of a hunk that are on the `old` or the `new` side."""
    return [line for line in lines if getattr(line, side) is not None]
