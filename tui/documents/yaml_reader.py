"""A reader that builds plain values with positions from YAML events, after checking their limits."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from tui.documents.positions import OpenBranch, Path, Tree, start_of
from tui.documents.problems import (
    MOST_ALIASED_CHARACTERS,
    MOST_ALIASED_VALUES,
    MOST_DEPTH,
    MOST_PROBLEMS,
    MOST_YAML_VALUES,
    PARSER_TOO_DEEP,
    TOO_DEEP,
    Finding,
    Unreadable,
)
from tui.documents.yaml_scalars import TAG, no_tag, resolved
from tui.model.sanitize import sanitize_line
from tui.model.values import JsonValue


@dataclass(slots=True)
class OpenNode(OpenBranch):
    """An object or list that is being read; `size` and `letters` include all of its content, `height` its levels."""

    anchor: str | None = None
    size: int = 1
    letters: int = 0
    height: int = 1


@dataclass(frozen=True, slots=True)
class Finished:
    """A complete value with its size; the target of an alias."""

    value: JsonValue
    tree: Tree
    size: int = 1
    letters: int = 0
    height: int = 0


def copied(value: JsonValue) -> JsonValue:
    """Return a deep copy of the value, so that two parts of a suite share no mutable value."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


_HINTS = (
    ("violates indentation", "indent with spaces only"),
    ("cannot start any token", "put the text in quotes, and indent with spaces only"),
    ("mapping values are not allowed", "quote text that contains `: `, or check the indentation"),
    ("could not find expected ':'", "add a colon after the key; text over several lines needs quotes or `|`"),
    ("did not find expected key", "check the indentation, and quotes inside a quoted text"),
    ("did not find expected '-' indicator", "check the indentation of the list"),
    ("did not find expected ',' or ']'", "add the missing comma or `]`, or quote text that contains `[` or `{`"),
    ("did not find expected ',' or '}'", "add the missing comma or `}`, or quote text that contains `[` or `{`"),
    ("did not find expected node content", "add the missing value, or quote text that begins with a special character"),
    ("unknown escape character", "put patterns in single quotes, which keep backslashes as they are"),
    ("unexpected end of stream", "close the quotation mark"),
    ("alphabetic or numeric", "quote text that begins with `*` or `&`"),
    ("block sequence entries are not allowed", "start the list on its own line"),
    ("hexadecimal", "put patterns in single quotes, which keep backslashes as they are"),
)


def explain(error: yaml.MarkedYAMLError) -> str:
    """Return the parser's message with a fix."""
    problem = sanitize_line(str(error.problem or error.context or "cannot be read"), 100)
    hint = next(
        (hint for sign, hint in _HINTS if sign in problem), "check the syntax, and quote text with special characters"
    )
    return f"{problem}; {hint}"


_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(slots=True)
class ExactYaml:
    """A YAML text with its value, the tree of its positions, and all of its problems.

    Reading ends at the first syntax error; duplicate keys and invalid values are recorded, and reading continues.
    """

    text: str
    value: JsonValue = None
    tree: Tree = 0
    findings: list[Finding] = field(default_factory=list)
    _open: list[OpenNode] = field(default_factory=list)
    _anchors: dict[str, Finished] = field(default_factory=dict)
    _count: int = 0
    _aliased_size: int = 0
    _aliased_letters: int = 0

    def read(self) -> bool:
        """Read the text, and return whether its end was reached."""
        try:
            if bad := _UNPRINTABLE.search(self.text):
                code = ord(bad[0])
                raise self._unreadable(
                    bad.start(), f"the character U+{code:04X} is not allowed in YAML; write an escape"
                )
            self._read()
        except Unreadable as stopped:
            self.findings.append(stopped.finding)
            return False
        return True

    def _read(self) -> None:
        documents = 0
        for event in self._events():
            start = event.start_mark.index
            match event:
                case yaml.ScalarEvent():
                    self._scalar(event, start)
                case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                    self._enter(event, start)
                case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                    self._leave()
                case yaml.AliasEvent():
                    self._alias(event.anchor or "", start)
                case yaml.DocumentStartEvent():
                    documents += 1
                    if documents > 1:
                        raise self._unreadable(start, "a second document begins here; a file contains one suite")

    def _events(self) -> Iterator[Any]:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(self.text)
        try:
            while loader.check_event():
                yield loader.get_event()
        except yaml.MarkedYAMLError as error:
            # Point at a quotation mark that is never closed, not at the end of the file.
            opened = "end of stream" in str(error.problem) and error.context_mark
            mark = opened or error.problem_mark or error.context_mark
            text = TOO_DEEP if PARSER_TOO_DEEP in str(error.problem) else explain(error)
            raise self._unreadable(mark.index if mark else 0, text) from error
        except yaml.YAMLError as error:
            raise self._unreadable(0, f"cannot be read ({sanitize_line(str(error), 100)}); check the syntax") from error
        finally:
            loader.dispose()

    def _enter(self, event: Any, start: int) -> None:
        self._refuse_as_key(start)
        if len(self._open) >= MOST_DEPTH:
            raise self._unreadable(start, TOO_DEEP)
        mapping = isinstance(event, yaml.MappingStartEvent)
        if event.tag not in (None, "!", f"{TAG}{'map' if mapping else 'seq'}"):
            self._note(start, no_tag(event.tag))
        if event.anchor:
            self._anchors.pop(event.anchor, None)
        self._open.append(OpenNode({} if mapping else [], start, anchor=event.anchor))

    def _leave(self) -> None:
        inner = self._open.pop()
        finished = Finished(inner.value, inner.tree(), inner.size, inner.letters, inner.height)
        self._finish(finished, inner.anchor)

    def _scalar(self, event: Any, start: int) -> None:
        if self._awaits_key():
            self._key(event, start)
            return
        scalar = resolved(event)
        if scalar.fault:
            self._note(start, scalar.fault)
        elif scalar.doubt and any(str(step).startswith("memory") for step in self._path()):
            self.findings.append(Finding(self._path(), scalar.doubt, "warning", offset=start))
        self._finish(Finished(scalar.value, start, 1, len(event.value)), event.anchor)

    def _alias(self, anchor: str, start: int) -> None:
        self._refuse_as_key(start)
        name = sanitize_line(anchor, 40)
        target = self._anchors.get(anchor)
        if target is None:
            if any(outer.anchor == anchor for outer in self._open):
                raise self._unreadable(
                    start, f"the alias *{name} is inside the value that it refers to; write the values out"
                )
            raise self._unreadable(start, f"the alias *{name} has no anchor; add &{name} before it, or quote the text")
        self._aliased_size += target.size
        self._aliased_letters += target.letters
        if self._aliased_size > MOST_ALIASED_VALUES or self._aliased_letters > MOST_ALIASED_CHARACTERS:
            raise self._unreadable(start, "the aliases expand to too many values; write the values out")
        if len(self._open) + target.height > MOST_DEPTH:
            raise self._unreadable(start, TOO_DEEP)
        copy = Finished(copied(target.value), target.tree, target.size, target.letters, target.height)
        self._finish(copy, None)

    def _finish(self, finished: Finished, anchor: str | None) -> None:
        """Add a complete value to its parent."""
        self._count += 1
        if self._count > MOST_YAML_VALUES:
            raise self._unreadable(
                start_of(finished.tree), f"contains more than {MOST_YAML_VALUES:,} values; split the file"
            )
        if anchor:
            self._anchors[anchor] = finished
        if not self._open:
            self.value, self.tree = finished.value, finished.tree
            return
        outer = self._open[-1]
        outer.size += finished.size
        outer.letters += finished.letters
        outer.height = max(outer.height, finished.height + 1)
        outer.put(finished.value, finished.tree)

    def _awaits_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def _refuse_as_key(self, start: int) -> None:
        if self._awaits_key():
            raise self._unreadable(
                start, "expected a plain text key, got a list, an object or an alias; write the key out"
            )

    def _key(self, event: Any, start: int) -> None:
        outer, text = self._open[-1], str(event.value)
        shown = sanitize_line(text, 60)
        if text == "<<" and event.implicit[0]:
            raise self._unreadable(start, "merge keys (`<<`) are not supported in suites; write the keys out")
        outer.key, outer.key_start = text, start
        outer.letters += len(text)
        scalar = resolved(event)
        if not isinstance(scalar.value, str):
            self._note(start, scalar.fault or f"the key `{shown}` is not text; put it in quotes")
        if text in outer.members:
            self._note(start, f"duplicate key `{shown}`; remove one")

    def _path(self) -> Path:
        return tuple(outer.here() for outer in self._open)

    def _note(self, start: int, what: str) -> None:
        if len(self.findings) > MOST_PROBLEMS:
            raise self._unreadable(start, "contains too many errors to continue; fix the ones listed")
        self.findings.append(Finding(self._path(), what, offset=start))

    def _unreadable(self, start: int, what: str) -> Unreadable:
        return Unreadable(Finding((), what, offset=start, where="YAML"))
