"""Where things stand in a file: trees of offsets beside the values, turned into lines and columns when asked."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from tui.model.values import JsonValue

Path: TypeAlias = tuple[str | int, ...]


@dataclass(slots=True)
class Branch:
    """Where an object or a list begins, and what stands in it: of an object's members also where their keys are."""

    start: int
    members: dict[str, tuple[int, "Tree"]] | None = None
    items: list["Tree"] | None = None

    def below(self, step: str | int) -> tuple[int, "Tree"] | None:
        """Where the key is and what is below it; None where there is no such thing."""
        if self.members is not None:
            return self.members.get(step) if isinstance(step, str) else None
        if self.items is not None and isinstance(step, int) and step < len(self.items):
            tree = self.items[step]
            return start_of(tree), tree
        return None


# A scalar is only its offset.
Tree: TypeAlias = int | Branch


@dataclass(slots=True)
class OpenBranch:
    """An object or list that is being read: its value so far, its places so far, and the key whose value is due."""

    value: dict[str, JsonValue] | list[JsonValue]
    start: int
    items: list[Tree] = field(default_factory=list)
    members: dict[str, tuple[int, Tree]] = field(default_factory=dict)
    key: str | None = None
    key_start: int = 0

    def put(self, value: JsonValue, tree: Tree) -> None:
        """Add the next item, or the value of the key that is due."""
        if isinstance(self.value, list):
            self.value.append(value)
            self.items.append(tree)
        elif self.key is not None:
            self.value[self.key] = value
            self.members[self.key] = (self.key_start, tree)
            self.key = None

    def here(self) -> str | int:
        """The last step of the path to what is read now."""
        return len(self.value) if isinstance(self.value, list) else self.key or ""

    def tree(self) -> Branch:
        """The places, complete."""
        if isinstance(self.value, list):
            return Branch(self.start, items=self.items)
        return Branch(self.start, members=self.members)


def start_of(tree: Tree) -> int:
    """The offset at which it begins."""
    return tree if isinstance(tree, int) else tree.start


def offset_of(tree: Tree, path: Path, at_key: bool = False) -> int:
    """The offset of what the path leads to, or of its key; of the nearest thing around it where there is no such."""
    key_offset = start_of(tree)
    for step in path:
        found = None if isinstance(tree, int) else tree.below(step)
        if found is None:
            return start_of(tree)
        key_offset, tree = found
    return key_offset if at_key else start_of(tree)


def places_of(text: str, offsets: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Line and column (both from 1, in code points) of each offset. Lines end at LF, CRLF or CR."""
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
    """The line (from 1) of each offset into the bytes of a text; the offsets ascend."""
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
    """The path as a person writes it: `testCases[3].expectedPatterns[0]`."""
    spelled = ""
    for step in path:
        if isinstance(step, int):
            spelled += f"[{step}]"
        else:
            spelled += f".{step}" if spelled else step
    return spelled
