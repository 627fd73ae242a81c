"""A parsed diff: files, hunks and numbered lines."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

LineKind = Literal["context", "added", "removed"]
FileKind = Literal["added", "modified", "deleted", "renamed"]


class DiffLine(NamedTuple):
    """One line of a diff without its LF; a CR before the LF is preserved.

    `old` and `new` are line numbers counted from 1, None on the side that does not have the line. `newline` is False
    for a last line that does not end with a newline.
    """

    kind: LineKind
    text: str
    old: int | None
    new: int | None
    newline: bool = True


@dataclass(frozen=True, slots=True)
class Hunk:
    """A group of changed lines with their context. `heading` is the text after the second `@@`."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    heading: str
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The changes of one file.

    `old_path` differs from `path` only if the file was renamed. Modes are git's octal modes, None if that side has no
    file or the diff does not include it. `added` and `removed` count lines. `old_id` is the abbreviated id of the
    original's content, empty if the diff does not include it.
    """

    path: str
    kind: FileKind
    hunks: tuple[Hunk, ...] = ()
    old_path: str | None = None
    binary: bool = False
    old_mode: int | None = None
    new_mode: int | None = None
    added: int = 0
    removed: int = 0
    old_id: str = ""
