"""Edits of one value in the text of a YAML or JSON file: every other character stays as it is."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from tui.documents.json_reader import ExactJson
from tui.documents.places import Place, all_places, json_place, yaml_places
from tui.documents.positions import Path, spell
from tui.documents.yaml_text import entry_lines, literal_block, yaml_block, yaml_text, yaml_value
from tui.model.sanitize import sanitize_line
from tui.model.values import JsonObject, JsonValue

if TYPE_CHECKING:
    from tui.documents.yaml_reader import ExactYaml

Syntax = Literal["JSON", "YAML"]
_HEADER_COMMENT = re.compile(r"[|>][-+0-9]*([ \t]+#[^\r\n]*)")
_LINE_COMMENT = re.compile(r"[ \t]+#[^\r\n]*")
_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n|\Z)")


class NotEditable(Exception):
    """A value that cannot be changed in the text; the message is a sentence with the reason."""


@dataclass(frozen=True, slots=True)
class EditableText:
    """The text of a file with its value and the place of each value. Edits return the new text, or raise NotEditable.

    An edit is checked: the new text is read again, and its value differs from the old one in nothing but the edit.
    """

    text: str
    syntax: Syntax
    value: JsonValue
    root: Place
    aliased: frozenset[str] = field(default_factory=frozenset)

    def replace(self, values: Mapping[Path, str]) -> str:
        """Return the text with other texts as the values at these paths, in their quotes if possible."""
        expected = deepcopy(self.value)
        edits: list[tuple[Place, str, bool]] = []
        for path, new in values.items():
            place, is_flow = self._find(path)
            holder: Any = expected
            for step in path[:-1]:
                holder = holder[step]
            if not isinstance(holder[path[-1]], str):
                raise NotEditable(f"{_shown(path)} is not a text.")
            if holder[path[-1]] != new:
                holder[path[-1]] = new
                edits.append((place, new, is_flow))
        if not edits:
            return self.text
        edits.sort(key=lambda edit: edit[0].start)
        return self._first_right((self._with(edits, attempt) for attempt in range(2)), expected)

    def copy_item(self, path: Path, index: int, changes: Mapping[str, str], after: int) -> str:
        """Return the text with a copy of an item of the list at `path` behind the item `after`.

        `changes` are the texts of the copy that differ from the original.
        """
        items, place = self._items(path, index)
        expected, holder = self._copied_list(path)
        original = holder[index]
        if not isinstance(original, dict):
            raise NotEditable(f"{_shown((*path, index))} is not an object.")
        holder.insert(after + 1, {**deepcopy(original), **changes})
        start, end = self._region(place, items[index])
        if any(each.anchor for each in all_places(items[index])):
            raise NotEditable(f"{_shown((*path, index))} has an anchor, which cannot be defined twice.")
        edits = []
        for key, new in changes.items():
            member = items[index].below(key)
            if member is None or member.alias:
                raise NotEditable(f"{_shown((*path, index, key))} is not written out in the file.")
            edits.append((member, new, items[index].flow))
        edits.sort(key=lambda edit: edit[0].start)
        copies = (self._with(edits, attempt, start, end) for attempt in range(2))
        return self._first_right((self._inserted(place, after, copy) for copy in copies), expected)

    def add_item(self, path: Path, item: Mapping[str, JsonValue], after: int) -> str:
        """Return the text with a new object behind the item `after` of the list at `path`, in the layout of that
        item."""
        items, place = self._items(path, after)
        expected, holder = self._copied_list(path)
        holder.insert(after + 1, dict(item))
        like = items[after]
        if place.flow or self.syntax == "JSON":
            written = [self._written_in_brackets(like, item)]
        else:
            written = []
            start, _ = self._region(place, like)
            prefix = self.text[start : like.start]
            line_end, indent = self._line_end, len(prefix)
            for block in (line_end, ""):
                lines = [line for key, value in item.items() for line in entry_lines([key], value, indent, block)]
                written.append(prefix + line_end.join(lines)[indent:] + line_end)
        return self._first_right([self._inserted(place, after, each) for each in written], expected)

    def add_entry(self, section: str, name: str, entry: JsonObject) -> str:
        """Return YAML text with a new object at the end of a section of the file, which may be missing or empty."""
        held = self.value.get(section) if isinstance(self.value, dict) else None
        if isinstance(held, dict) and name in held:
            raise NotEditable(f"{_shown((section, name))} is in the file already.")
        return self.put((section, name), entry)

    def put(self, path: Path, value: JsonValue) -> str:
        """Return the text with another value at a path, whose last keys may be missing.

        The value is a scalar, a list, or an object of scalars that is new.
        """
        expected: Any = {} if self.value is None else deepcopy(self.value)
        holder: Any = expected
        for step in path[:-1]:
            if isinstance(holder, dict) and holder.get(step) is None:
                holder[step] = {}
            holder = holder[step] if _may_have(holder, step) else None
        if not _may_have(holder, path[-1]):
            raise NotEditable(f"{_shown(path)} cannot be added to this file; edit it in an editor.")
        old = holder[path[-1]] if isinstance(path[-1], int) else holder.get(path[-1])
        holder[path[-1]] = value
        place, known = self.root, 0
        while known < len(path) and (below := place.below(path[known])) is not None:
            self._find(path[: known + 1])
            place, known = below, known + 1
        if known < len(path):
            names = [str(step) for step in path[known:]]
            added = (self._added(place, names, value, known == 0, attempt) for attempt in range(2))
            return self._first_right(added, expected)
        is_flow = self._find(path)[1]
        if isinstance(old, list) and isinstance(value, list) and old:
            changed = self._changed_in_brackets if place.flow or self.syntax == "JSON" else self._changed_list
            return self._first_right([changed(place, old, value)], expected)
        if isinstance(old, dict) or ("#" in self.text[place.start : place.end] and place.items is not None):
            raise NotEditable(f"{_shown(path)} is written over several lines; edit it in an editor.")
        written = (self._replaced(place, value, is_flow, attempt) for attempt in range(2))
        return self._first_right(written, expected)

    def remove(self, path: Path) -> str:
        """Return the text without the entry at a path, and without the objects that only contain this entry."""
        place, _ = self._find(path)
        while len(path) > 1:
            parent, _ = self._find(path[:-1])
            if len(parent.members or ()) > 1 or "#" in self.text[parent.key_start : place.key_start]:
                break
            path, place = path[:-1], parent
        expected: Any = deepcopy(self.value)
        parent, _ = self._find(path[:-1])
        holder = expected
        for step in path[:-2]:
            holder = holder[step]
        owner = holder[path[-2]] if len(path) > 1 else holder
        del owner[path[-1]]
        if not owner and not parent.flow and len(path) > 1:
            holder[path[-2]] = None
        elif not owner and not parent.flow:
            expected = None
        start, end = self._region_of_entry(parent, place)
        return self._first_right([self.text[:start] + self.text[end:]], expected)

    def _region_of_entry(self, parent: Place, place: Place) -> tuple[int, int]:
        """Return the range of an entry: in brackets with one of its commas, else its lines with their comment."""
        start, end = place.key_start, place.end
        line = start - self._column(start)
        has_line = not self.text[line:start].strip()
        if parent.flow or self.syntax == "JSON":
            if comma := re.compile(r"\s*,[ \t]*(\r\n|\r|\n)?").match(self.text, end):
                return (
                    (line, comma.end())
                    if has_line and comma[1]
                    else (start, comma.start(1) if comma[1] else comma.end())
                )
            before = re.search(r"\s*,\s*\Z", self.text[:start])
            return (before.start() if before else start), end
        rest = _REST_OF_LINE.match(self.text, end)
        if not has_line or rest is None:
            raise NotEditable("The entry is not on lines of its own; edit the file.")
        return line, rest.end()

    def _replaced(self, place: Place, value: JsonValue, is_flow: bool, attempt: int) -> str:
        """Return the text with another scalar, or with a list in brackets, in the place of an old value."""
        if isinstance(value, str) and place.end > place.start and place.items is None:
            start, end, written = self._written(place, value, is_flow, attempt)
        else:
            start, end, written = place.start, place.end, self._value_text(value, is_flow=is_flow)
        space = " " if self.text[start - 1 : start] == ":" and self.syntax == "YAML" else ""
        return self.text[:start] + space + written + self.text[end:]

    def _value_text(self, value: JsonValue, *, is_flow: bool = True) -> str:
        """Return a value as it is written in one line of the file."""
        return json.dumps(value, ensure_ascii=False) if self.syntax == "JSON" else yaml_value(value, is_flow=is_flow)

    def _changed_in_brackets(self, place: Place, old: Sequence[JsonValue], new: Sequence[JsonValue]) -> str:
        """Return the text with other items in a list in brackets; equal items, and what is between them, stay."""
        items = place.items or []
        lead = self.text[place.start + 1 : items[0].start]
        gaps = [self.text[before.end : after.start] for before, after in pairwise(items)]
        tail = self.text[items[-1].end : place.end - 1]
        if any("#" in part for part in (lead, *gaps, tail)):
            raise NotEditable("The list has comments between its items; edit it in an editor.")
        known = {repr(value): self.text[item.start : item.end] for value, item in zip(old, items, strict=True)}
        gap_of = dict(zip(pairwise(map(repr, old)), gaps, strict=True))
        between = gaps[0] if gaps else f",{lead or ' '}"
        written = [known.get(repr(value)) or self._value_text(value) for value in new]
        for number, pair in enumerate(pairwise(map(repr, new)), 1):
            written[number] = gap_of.get(pair, between) + written[number]
        inner = f"{lead}{''.join(written)}{tail}" if new else ""
        return self.text[: place.start + 1] + inner + self.text[place.end - 1 :]

    def _changed_list(self, place: Place, old: Sequence[JsonValue], new: Sequence[JsonValue]) -> str:
        """Return the text with other items in a list that has an item on each line; equal items stay as they are.

        Raises NotEditable where it cannot be said to which of the new items a comment belongs.
        """
        if not new:
            raise NotEditable("The list cannot become empty; remove the entry.")
        items = place.items or []
        before, _ = self._region(place, items[0])
        prefix = self.text[before : items[0].start]
        pieces, last = [], before
        for tag, first, until, begin, end in _differences(old, new):
            if tag == "equal":
                continue
            at = self._region(place, items[first])[0] if first < len(items) else self._region(place, items[-1])[1]
            pieces.append(self.text[last:at])
            last = self._region(place, items[until - 1])[1] if until > first else at
            if pieces[-1] and not pieces[-1].endswith(("\n", "\r")):
                pieces.append(self._line_end)
            comments = [""] * (end - begin)
            if tag == "replace" and until - first == end - begin:
                comments = [self._comment(place, item) for item in items[first:until]]
            elif tag == "replace" and self._has_comments(place, items[first:until]):
                raise NotEditable(
                    "A changed item beside one that was added or removed has a comment; "
                    "save one of the changes, then the other."
                )
            lines = zip(new[begin:end], comments, strict=True)
            pieces += [f"{prefix}{yaml_value(item)}{comment}{self._line_end}" for item, comment in lines]
        return self.text[:before] + "".join(pieces) + self.text[last:]

    def _comment(self, place: Place, item: Place) -> str:
        """Return the comment in the line after an item of a list, with the space before it."""
        rest = self.text[item.end : self._region(place, item)[1]]
        return rest.rstrip() if rest.strip() else ""

    def _has_comments(self, place: Place, items: Sequence[Place]) -> bool:
        """Return whether the lines of some items of a list have comments; a `#` in an object counts as one."""
        start, end = self._region(place, items[0])[0], self._region(place, items[-1])[1]
        scalars = [item for item in items if item.members is None and item.items is None]
        edges = [start, *(edge for item in scalars for edge in (item.start, item.end)), end]
        has_header_comment = any(_HEADER_COMMENT.match(self.text, item.start) for item in scalars)
        between = (self.text[begin:until] for begin, until in zip(edges[::2], edges[1::2], strict=True))
        return has_header_comment or any("#" in part for part in between)

    def _added(self, place: Place, path: Sequence[str], value: JsonValue, is_root: bool, attempt: int) -> str:
        """Return the text with a new entry at the end of an object, which may be empty.

        `attempt` 0 writes a text of several lines as a block, 1 in quotes.
        """
        if place.members is not None and (self.syntax == "JSON" or (place.flow and not is_root)):
            return self._added_in_brackets(place, place.members, path, value)
        if is_root:
            at, indent = len(self.text), self._column(place.start) if place.members else 0
        else:
            rest = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)").match(self.text, place.end)
            at = rest.end() if rest else len(self.text)
            indent = self._column(place.start) if place.members else self._column(place.key_start) + 2
        line_end = self._line_end
        lines = entry_lines(path, value, indent, line_end if attempt == 0 else "")
        head = self.text[:at]
        if head and not head.endswith(("\n", "\r")):
            head += self._line_end
        return head + "".join(f"{line}{line_end}" for line in lines) + self.text[at:]

    def _added_in_brackets(
        self, place: Place, members: Mapping[str, Place], path: Sequence[str], value: JsonValue
    ) -> str:
        for name in reversed(path[1:]):
            value = {name: value}
        key = json.dumps(path[0], ensure_ascii=False) if self.syntax == "JSON" else yaml_text(path[0], is_flow=True)
        pair = f"{key}: {self._value_text(value)}"
        before = self.text[: place.end - 1].rstrip()
        lead = self.text[place.start + 1 : next(iter(members.values())).key_start] if members else ""
        is_spread = "\n" in lead and not lead.strip()
        comma = "" if before.endswith(("{", ",")) else "," if is_spread else ", "
        rest = self.text[len(before) if is_spread else place.end - 1 :]
        return f"{before}{comma}{lead if is_spread else ''}{pair}{rest}"

    def _column(self, at: int) -> int:
        """Return how many characters are before a place in its line."""
        return at - max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) - 1

    def _find(self, path: Path) -> tuple[Place, bool]:
        """Return the place of a text, and whether it is inside brackets."""
        place: Place | None = self.root
        is_flow = False
        for step in path:
            if place is None or place.alias:
                break
            self._refuse_shared(place, path)
            is_flow = is_flow or (place.flow and (place.items is not None or place.members is not None))
            place = place.below(step)
        if place is None:
            raise NotEditable(f"{_shown(path)} is not in the file.")
        if place.alias:
            name = sanitize_line(place.alias, 40)
            raise NotEditable(f"{_shown(path)} comes from the alias *{name}; edit the value at its anchor &{name}.")
        self._refuse_shared(place, path)
        return place, is_flow

    def _refuse_shared(self, place: Place, path: Path) -> None:
        if place.anchor in self.aliased:
            name = sanitize_line(place.anchor, 40)
            raise NotEditable(f"{_shown(path)} is shared by the anchor &{name}; edit the file to change all its uses.")

    def _items(self, path: Path, index: int) -> tuple[list[Place], Place]:
        place, _ = self._find(path)
        if place.items is None or not 0 <= index < len(place.items):
            raise NotEditable(f"{_shown((*path, index))} is not in the file.")
        if place.items[index].alias:
            raise NotEditable(f"{_shown((*path, index))} is an alias.")
        return place.items, place

    def _copied_list(self, path: Path) -> tuple[JsonValue, list[Any]]:
        expected = deepcopy(self.value)
        holder: Any = expected
        for step in path:
            holder = holder[step]
        return expected, holder

    def _region(self, parent: Place, item: Place) -> tuple[int, int]:
        """Return the range of an item: its characters in brackets, else its lines with their line breaks."""
        if parent.flow or self.syntax == "JSON":
            return item.start, item.end
        start = max(self.text.rfind("\n", 0, item.start), self.text.rfind("\r", 0, item.start)) + 1
        if not re.fullmatch(r" *-[ ]+", self.text[start : item.start]):
            raise NotEditable("The case does not begin on a line of its own after `- `; edit the file.")
        found = _REST_OF_LINE.match(self.text, item.end)
        if found is None:
            raise NotEditable("The case does not end on a line of its own; edit the file.")
        return start, found.end()

    def _inserted(self, parent: Place, after: int, item: str) -> str:
        """Return the text with a written item behind an item of a list; in a block with the blank line of its items."""
        items = parent.items or []
        start, end = self._region(parent, items[after])
        if parent.flow or self.syntax == "JSON":
            space = re.search(r"\s*\Z", self.text[:start])
            return f"{self.text[:end]},{space[0] if space else ''}{item}{self.text[end:]}"
        head, line_end = self.text[:end], self._line_end
        if not head.endswith(("\n", "\r")):
            head += line_end
        if not item.endswith(("\n", "\r")):
            item += line_end
        between = ""
        if len(items) > 1:
            first = max(0, after - 1)
            between = self.text[items[first].end : items[first + 1].start]
        is_spaced = re.search(r"(?:\n|\r(?!\n))[ \t]*[\r\n]", between) is not None
        return head + (line_end if is_spaced else "") + item + self.text[end:]

    def _written_in_brackets(self, like: Place, item: Mapping[str, JsonValue]) -> str:
        pairs = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in item.items()]
        lines = re.split(r"(?:\r\n|\r|\n)", self.text[like.start : like.end])
        inner = re.match(r"[ \t]*", lines[1]) if len(lines) > 2 else None
        closing = re.match(r"[ \t]*", lines[-1])
        if inner is None or closing is None:
            return "{" + ", ".join(pairs) + "}"
        line_end = self._line_end
        return "{" + line_end + inner[0] + f",{line_end}{inner[0]}".join(pairs) + line_end + closing[0] + "}"

    @property
    def _line_end(self) -> str:
        found = re.search(r"\r\n|\r|\n", self.text)
        return found[0] if found else "\n"

    def _with(
        self, edits: Sequence[tuple[Place, str, bool]], attempt: int, start: int = 0, end: int | None = None
    ) -> str:
        """Return a part of the text with these edits; `attempt` 0 keeps the style of each text, 1 changes it."""
        pieces, last = [], start
        for place, new, is_flow in edits:
            first, until, written = self._written(place, new, is_flow, attempt)
            pieces += [self.text[last:first], written]
            last = until
        return "".join((*pieces, self.text[last:end]))

    def _written(self, place: Place, new: str, is_flow: bool, attempt: int) -> tuple[int, int, str]:
        """Return the range to replace, and the text in its place."""
        raw = self.text[place.start : place.end]
        if self.syntax == "JSON":
            return place.start, place.end, json.dumps(new, ensure_ascii=raw.isascii() and "\\u" in raw)
        properties = re.match(r"(?:[&!][^\s]*\s+(?:#[^\r\n]*\s+)*)*", raw)
        start = place.start + (properties.end() if properties else 0)
        if place.style in ("|", ">"):
            block = yaml_block(self.text, start, place.style, new) if attempt == 0 else None
            comment = _HEADER_COMMENT.match(self.text, start)
            quoted = yaml_text(new, is_flow=is_flow, quote="'")
            return start, place.end, block or quoted + (comment[1] if comment else "")
        if attempt == 0 and "\n" in new and place.key_start and not is_flow:
            comment = _LINE_COMMENT.match(self.text, place.end)
            indent, end = self._column(place.key_start) + 2, comment.end() if comment else place.end
            literal = literal_block(new, indent, self._line_end, comment[0] if comment else "")
            if literal is not None:
                return start, end, literal
        quote = place.style if attempt == 0 else '"'
        return start, place.end, yaml_text(new, is_flow=is_flow, quote=quote)

    def _first_right(self, texts: Iterator[str] | Sequence[str], expected: JsonValue) -> str:
        shown = repr(expected)
        for text in texts:
            reader = _reader(text, self.syntax)
            if reader.read() and repr(reader.value) == shown:
                return text
        raise NotEditable("The file cannot be edited without changing something else in it; edit it in an editor.")


def change_object(text: EditableText, path: Path, new: JsonObject) -> EditableText:
    """Return a text with another object at a path: only the entries and items that differ are written again.

    Raises NotEditable.
    """
    old: Any = text.value
    for step in path:
        old = old[step]
    changes = list(_changes(path, old, new))
    texts = {at: value for at, value, was in changes if isinstance(value, str) and isinstance(was, str)}
    if texts:
        text = read_editable(text.replace(texts), text.syntax)
    for at, value, _ in changes:
        if at not in texts:
            edited = text.remove(at) if value is _REMOVED else text.put(at, value)
            text = read_editable(edited, text.syntax)
    return text


_REMOVED: Any = object()


def _changes(path: Path, old: JsonValue, new: JsonValue) -> Iterator[tuple[Path, Any, JsonValue]]:
    """Yield the path of each value that differs, with the new value or _REMOVED, and the old one."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            if key not in new:
                yield (*path, key), _REMOVED, old[key]
            elif key not in old:
                yield (*path, key), new[key], None
            else:
                yield from _changes((*path, key), old[key], new[key])
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _changes((*path, index), before, after)
    elif isinstance(old, list) and isinstance(new, list):
        # Changed items are written in their places, which keeps their comments, before others are added or removed.
        changed = _with_changed_items(old, new)
        yield from _changes(path, old, changed)
        yield path, new, changed
    elif repr(old) != repr(new):
        yield path, new, old


def _with_changed_items(old: list[JsonValue], new: list[JsonValue]) -> list[JsonValue]:
    """Return the old items with those of `new` where as many others were."""
    items = [*old]
    for tag, first, until, begin, end in _differences(old, new):
        if tag == "replace" and until - first == end - begin:
            items[first:until] = new[begin:end]
    return items


def _differences(old: Sequence[JsonValue], new: Sequence[JsonValue]) -> Sequence[tuple[str, int, int, int, int]]:
    """Return the differences of two lists, as `SequenceMatcher.get_opcodes` does."""
    return SequenceMatcher(None, list(map(repr, old)), list(map(repr, new))).get_opcodes()


def read_editable(text: str, syntax: Syntax) -> EditableText:
    """Return a text with its value and places. Raises NotEditable if it cannot be read."""
    reader = _reader(text, syntax)
    if not reader.read():
        raise NotEditable(f"The file cannot be read: {reader.findings[-1].what}.")
    if syntax == "JSON":
        return EditableText(text, syntax, reader.value, json_place(text, reader.tree))
    root, aliased = yaml_places(text)
    return EditableText(text, syntax, reader.value, root, aliased)


def _reader(text: str, syntax: Syntax) -> "ExactJson | ExactYaml":
    if syntax == "JSON":
        return ExactJson(text)
    from tui.documents.yaml_reader import ExactYaml

    return ExactYaml(text)


def _may_have(holder: object, step: str | int) -> bool:
    """Return whether a value is a list, or an object, as the step into it requires."""
    return isinstance(holder, list if isinstance(step, int) else dict)


def _shown(path: Path) -> str:
    return sanitize_line(spell(path), 80)
