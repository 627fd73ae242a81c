"""Positions in a file: trees of offsets parallel to the values, converted to lines and columns on demand."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from tui.model.values import JsonValue

Path: TypeAlias = tuple[str | int, ...]


@dataclass(slots=True)
class Branch:
    """The offset of an object or a list and of its items, for an object also the offsets of its keys."""

    start: int
    members: dict[str, tuple[int, "Tree"]] | None = None
    items: list["Tree"] | None = None

    def below(self, step: str | int) -> tuple[int, "Tree"] | None:
        """Return the offset of the key and the tree below it, or None if there is no such key."""
        if self.members is not None:
            return self.members.get(step) if isinstance(step, str) else None
        if self.items is not None and isinstance(step, int) and step < len(self.items):
            tree = self.items[step]
            return start_of(tree), tree
        return None


# A scalar is represented by its offset.
Tree: TypeAlias = int | Branch


@dataclass(slots=True)
class OpenBranch:
    """An object or list that is being read: its value and positions so far, and the key of the next value."""

    value: dict[str, JsonValue] | list[JsonValue]
    start: int
    items: list[Tree] = field(default_factory=list)
    members: dict[str, tuple[int, Tree]] = field(default_factory=dict)
    key: str | None = None
    key_start: int = 0

    def put(self, value: JsonValue, tree: Tree) -> None:
        """Add the next item, or the value of the pending key."""
        if isinstance(self.value, list):
            self.value.append(value)
            self.items.append(tree)
        elif self.key is not None:
            self.value[self.key] = value
            self.members[self.key] = (self.key_start, tree)
            self.key = None

    def here(self) -> str | int:
        """Return the last step of the path to the next value."""
        return len(self.value) if isinstance(self.value, list) else self.key or ""

    def tree(self) -> Branch:
        """Return the complete tree of positions."""
        if isinstance(self.value, list):
            return Branch(self.start, items=self.items)
        return Branch(self.start, members=self.members)


def start_of(tree: Tree) -> int:
    """Return the offset of the start of a tree."""
    return tree if isinstance(tree, int) else tree.start


def offset_of(tree: Tree, path: Path, at_key: bool = False) -> int:
    """Return the offset of the value at the path, or of its key.

    If the path does not exist, the offset of the nearest enclosing value.
    """
    key_offset = start_of(tree)
    for step in path:
        found = None if isinstance(tree, int) else tree.below(step)
        if found is None:
            return start_of(tree)
        key_offset, tree = found
    return key_offset if at_key else start_of(tree)


def places_of(text: str, offsets: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Return the line and column (both from 1, in code points) of each offset. Lines end at LF, CRLF or CR."""
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    places: dict[int, tuple[int, int]] = {}
    line, line_start, last = 1, 0, 0
    for offset in sorted(set(offsets)):
        crossed = text.count("\n", last, offset)
        if crossed:
            line += crossed
            line_start = text.rfind("\n", last, offset) + 1
        last = offset
        places[offset] = (line, offset - line_start + 1)
    return places


def lines_of(content: bytes, offsets: Iterable[int]) -> list[int]:
    """Return the line (from 1) of each offset into the bytes of a text; the offsets ascend."""
    if b"\r" in content:
        content = content.replace(b"\r\n", b" \n").replace(b"\r", b"\n")
    lines = []
    line, last = 1, 0
    for offset in offsets:
        line += content.count(b"\n", last, offset)
        last = offset
        lines.append(line)
    return lines


def spell(path: Path) -> str:
    """Return the path as text: `testCases[3].expectedPatterns[0]`."""
    spelled = ""
    for step in path:
        if isinstance(step, int):
            spelled += f"[{step}]"
        else:
            spelled += f".{step}" if spelled else step
    return spelled
