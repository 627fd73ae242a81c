"""A diff as values: files, hunks and lines with their numbers."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

LineKind = Literal["context", "added", "removed"]
FileKind = Literal["added", "modified", "deleted", "renamed"]


class DiffLine(NamedTuple):
    """One line without its LF; a CR before it stays. `old` and `new` are its numbers, counted from 1, None on the side
    where it is not; `newline` is False for a last line that ends without one."""

    kind: LineKind
    text: str
    old: int | None
    new: int | None
    newline: bool = True


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that changed, with those around them. `heading` is what git shows after the second `@@`."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    heading: str
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file. `old_path` differs from `path` only where it was renamed; modes are git's octal ones, None where the
    side has no file or the diff does not say; `added` and `removed` count lines."""

    path: str
    kind: FileKind
    hunks: tuple[Hunk, ...] = ()
    old_path: str | None = None
    binary: bool = False
    old_mode: int | None = None
    new_mode: int | None = None
    added: int = 0
    removed: int = 0
