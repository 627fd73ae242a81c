"""A case while it is edited in a form: its fields as texts, its checks, and the value that is saved."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

from tui.app.presentation.field_text import text_refusal
from tui.app.presentation.pieces import Line, fill
from tui.model.sanitize import sanitize_line
from tui.model.suite import ASSERTION, CheckKind, SuiteFormat, comma_separated
from tui.model.values import JsonObject, JsonValue, value_at

CasePath = tuple[str | int, ...]
FieldKind = Literal["line", "text", "files", "tags"]
LONGEST_FIELD = 20_000  # characters
_PATTERNS = {"expected": "expectedPatterns", "forbidden": "forbiddenPatterns"}
_ASSERTIONS = tuple(kind.removeprefix(ASSERTION) for kind in get_args(CheckKind) if kind.startswith(ASSERTION))
_OUTPUTS = ("output.includes", "output.matches", "output.equals")
_JSON_VALUES = frozenset(("is-json", "contains-json", "word-count", "command"))
KIND_NOTES: Mapping[str, str] = {
    "expected": "The answer has to match the JavaScript pattern. It ignores case.",
    "forbidden": "The answer may not match the JavaScript pattern. It ignores case.",
    "contains": "The answer contains the text.",
    "icontains": "The answer contains the text; upper and lower case are the same.",
    "contains-all": 'The answer contains every text: Paris, Rome or ["Paris", "Rome"].',
    "contains-any": 'The answer contains one of the texts: Paris, Rome or ["Paris", "Rome"].',
    "not-contains": "The answer does not contain the text.",
    "starts-with": "The answer begins with the text.",
    "equals": "The answer is equal to the text, or as JSON to the object or list.",
    "is-json": "The whole answer is JSON, and fits the JSON Schema of Text if there is one.",
    "contains-json": "The answer contains JSON that fits the JSON Schema of Text if there is one.",
    "word-count": 'The number of words is in the range of Text: {"min": 20, "max": 200}.',
    "levenshtein": "At most Limit characters (5) have to be changed to get the text.",
    "rouge-n": "The words and those of the text have an F1 score of at least Limit (0.75).",
    "latency": "The answer took at most Limit milliseconds. Text stays empty.",
    "cost": "The answer cost at most Limit US dollars. Text stays empty.",
    "tokens": "Input and output have at most Limit tokens. Text stays empty.",
    "finish-reason": "The provider's finish reason means the same as Text: stop, length, …",
    "refusal": "The model refuses to answer. Text stays empty.",
    "command": 'The command ends with exit status 0 and reads the answer: ["python", "check.py"].',
    "tools-used": 'The names of the called tools are those of the list, in this order: ["search"].',
    "output.includes": "The answer contains the text.",
    "output.matches": "The answer has to match the Python pattern (re.search).",
    "output.equals": "The answer is equal to the text.",
    "tools_used": 'The names of the called tools are those of the list, in this order: ["search"].',
    "expected answer": "The whole answer is expected as it is in the file, where it is edited.",
    "memory": "The memory of the test has this value after the step.",
}
"""What each kind of check requires, in one sentence."""
_FILE = re.compile(r"(.*?)(?::(\d{1,9})-(\d{1,9}))?", re.DOTALL)


class _FileEdit(NamedTuple):
    """The lines of a text, each with its file if it is unchanged, or with that in whose place it is; removed files.

    It is in place if the number of lines is that of the files.
    """

    lines: Sequence[tuple[str, JsonObject | None, JsonObject | None]]
    removed: Sequence[JsonObject]
    in_place: bool


class CaseField(NamedTuple):
    """A field of the form: its name, its label, the path of its value, what is expected, and how it is written."""

    name: str
    label: str
    path: CasePath
    expected: str = ""
    kind: FieldKind = "line"


_FIELDS = (
    CaseField("id", "Id", ("id",), "letters, digits, - _ ."),
    CaseField("name", "Title", ("name",), "one line for lists"),
    CaseField("category", "Category", ("category",), "a group of cases"),
    CaseField("prompt", "Prompt", ("prompt",), "the text that is sent to the model", "text"),
    CaseField(
        "expectedBehavior",
        "Expected",
        ("expectedBehavior",),
        "what a good answer does, for reviewers; or empty",
        "text",
    ),
    CaseField("systemMessage", "System message", ("systemMessage",), "empty: made from the repository's files", "text"),
    CaseField("codeContext", "Context files", ("codeContext",), "one path a line; path:10-20 for lines", "files"),
    CaseField("tags", "Tags", ("tags",), "smoke, sql", "tags"),
    CaseField("testType", "Task type", ("testType",), "bug-fix, code-review, …, or empty"),
)


def fields_of(suite_format: SuiteFormat, value: JsonObject) -> tuple[CaseField, ...]:
    """Return the fields of a case: those of schema 1.0.0, or the description and the inputs of a TestHaven test."""
    if suite_format == "schema-1.0.0":
        return _FIELDS
    title = CaseField("description", "Title", ("description",), "the purpose of the test")
    paths = _step_paths(value)
    inputs = [
        CaseField(f"input {n}", f"Input {n}" if len(paths) > 1 else "Input", (*path, "input"), "what is asked", "text")
        for n, path in enumerate(paths, 1)
    ]
    return (title, *inputs)


def _step_paths(value: JsonObject) -> list[CasePath]:
    steps = value.get("steps")
    return [("steps", index) for index in range(len(steps))] if isinstance(steps, list) else [()]


@dataclass(frozen=True, slots=True)
class CheckEntry:
    """A check in the form: its kind as a word, and its value and limit as texts.

    `step` is the index of its step. `source` is the value that the check has in the file, and `key` its key in a
    TestHaven test; a new check has neither.
    """

    kind: str
    text: str
    limit: str = ""
    step: int = 0
    source: JsonValue = None
    key: str = ""

    @property
    def has_text(self) -> bool:
        """Return whether the check is written as a kind and a text; the expectation of a whole answer is not."""
        return self.kind != "expected answer"


class CaseState:
    """The value of a case in the file, and its checks as they are in the form."""

    def __init__(self, suite_format: SuiteFormat, value: JsonObject) -> None:
        self.base = value
        self._is_schema = suite_format == "schema-1.0.0"
        self.fields = fields_of(suite_format, value)
        self.kinds: Sequence[str] = (*_PATTERNS, *_ASSERTIONS) if self._is_schema else (*_OUTPUTS, "tools_used")
        self.first_checks = tuple(self._read_checks(value))
        self.checks: list[CheckEntry] = list(self.first_checks)

    def text_of(self, field: CaseField) -> str:
        """Return the text of a field, as it is in the file."""
        value = value_at(self.base, field.path)
        if field.kind == "tags":
            return ", ".join(_quoted(str(tag)) for tag in value or ())
        if field.kind == "files":
            return "\n".join(_file_line(context) for context in value or ())
        return "" if value is None else str(value)

    def refusal(self, field: CaseField) -> str:
        """Return why a field cannot be edited in the form, or an empty text."""
        return text_refusal(self.text_of(field), LONGEST_FIELD, is_line=field.kind in ("line", "tags"))

    def value_with(self, texts: Mapping[str, str], checks: Sequence[CheckEntry] | None = None) -> JsonObject:
        """Return the value of the case with these texts, by the fields, and the current or the given checks."""
        checks = self.checks if checks is None else checks
        value = deepcopy(self.base)
        for field in self.fields:
            text = texts.get(field.name)
            if text is None or text == self.text_of(field):
                continue
            holder = value_at(value, field.path[:-1])
            if not text.strip() and not _is_required(field):
                holder.pop(field.path[-1], None)
            else:
                holder[field.path[-1]] = self._parsed(field, text)
        if tuple(checks) != self.first_checks:
            self._write_checks(value, checks)
        return value

    def _parsed(self, field: CaseField, text: str) -> JsonValue:
        if field.kind == "tags":
            tags = comma_separated(text)
            return [tag for tag in tags if tag] if tags is not None else [text]
        if field.kind == "files":
            return self._parsed_files(text)
        return text

    def _parsed_files(self, text: str) -> list[JsonValue]:
        """Return the files of these lines; those of unchanged lines stay as they are in the suite file."""
        edit = self._file_edit(text)
        found: list[JsonValue] = []
        for line, own, renamed in edit.lines:
            if own is not None:
                found.append(own)
                continue
            path, start, end = _FILE.fullmatch(line).groups()  # type: ignore[union-attr]
            context = {**(renamed or {}), "filePath": path}
            context.pop("lineRange", None)
            if start:
                context["lineRange"] = {"start": int(start), "end": int(end)}
            found.append(context)
        return found

    def _file_edit(self, text: str) -> _FileEdit:
        """Match lines with the files of the case: equal lines in their order, and the others by their place.

        Where a line is missing among equal ones, those that are where they were stay.
        """
        files = self._files_by_line()
        texts = [line.strip() for line in text.splitlines() if line.strip()]
        counts, in_place = Counter(texts), len(texts) == sum(map(len, files.values()))
        own: dict[int, JsonObject] = {}
        left: dict[str, Iterator[tuple[int, JsonObject]]] = {}
        for line, same in files.items():
            is_missing = in_place and counts[line] < len(same)
            stay = {at: context for at, context in same if is_missing and texts[at] == line}
            own |= stay
            left[line] = iter([each for each in same if each[0] not in stay])
        for index, line in enumerate(texts):
            if index not in own and (found := next(left.get(line, iter(())), None)):
                own[index] = found[1]
        rest = dict(sorted(each for same in left.values() for each in same))
        lines = []
        for index, line in enumerate(texts):
            renamed = rest.pop(index, None) if in_place and index not in own else None
            lines.append((line, own.get(index), renamed))
        return _FileEdit(lines, list(rest.values()), in_place)

    def _files_by_line(self) -> dict[str, list[tuple[int, JsonObject]]]:
        """Return the files of the case, with their indexes, by the line that the form shows for them."""
        files: dict[str, list[tuple[int, JsonObject]]] = {}
        for index, context in enumerate(value_at(self.base, ("codeContext",)) or ()):
            files.setdefault(_file_line(context).strip(), []).append((index, context))
        return files

    def unclear_files(self, texts: Mapping[str, str]) -> Mapping[CasePath, str]:
        """Return why it is not clear which file of the case a line means, by the path of the line.

        What the suite file says about a file beyond its path and lines would get lost, or to another file.
        """
        field = next((field for field in self.fields if field.kind == "files"), None)
        text = texts.get(field.name) if field is not None else None
        if field is None or text is None or text == self.text_of(field):
            return {}
        edit = self._file_edit(text)
        counts = Counter(line for line, _, _ in edit.lines)
        for line, same in self._files_by_line().items():
            if not edit.in_place and 0 < counts[line] < len(same) and any(context != same[0][1] for _, context in same):
                index = next(index for index, (other, _, _) in enumerate(edit.lines) if other == line)
                return {(*field.path, index): "the suite file has different entries of this file: remove one there"}
        added = next((index for index, (_, *found) in enumerate(edit.lines) if found == [None, None]), None)
        for removed in edit.removed:
            keys = ", ".join(key for key in removed if key not in ("filePath", "lineRange"))
            if added is not None and keys:
                what = f"in place of {_file_line(removed)}, with its {keys}, or beside it? Save one change at a time"
                return {(*field.path, added): what}
        return {}

    def _read_checks(self, value: JsonObject) -> Iterator[CheckEntry]:
        if self._is_schema:
            for kind, key in _PATTERNS.items():
                yield from (CheckEntry(kind, str(each), source=each) for each in value_at(value, (key,)) or ())
            for each in value_at(value, ("assertions",)) or ():
                limit = each.get("threshold")
                text = _written(each["value"]) if "value" in each else ""
                yield CheckEntry(each["type"], text, "" if limit is None else _written(limit), source=each)
            return
        for step, path in enumerate(_step_paths(value)):
            for key, each in (value_at(value, (*path, "assert")) or {}).items():
                kind = next((kind for kind in self.kinds if key.startswith(kind)), key)
                yield CheckEntry(kind, _written(each), step=step, source=each, key=key)
            if (expected := value_at(value, (*path, "expected"))) is not None:
                yield CheckEntry("expected answer", _written(expected), step=step, source=expected)

    def _write_checks(self, value: JsonObject, entries: Sequence[CheckEntry]) -> None:
        lists = self._check_lists(entries)
        for path, checks in lists.items():
            holder = value_at(value, path[:-1])
            if checks:
                holder[path[-1]] = checks
            else:
                holder.pop(path[-1], None)

    def _check_lists(self, entries: Sequence[CheckEntry]) -> dict[CasePath, Any]:
        """Return the values of the checks by the path of their list, or of the `assert` of their step."""
        if self._is_schema:
            lists: dict[CasePath, Any] = {(key,): [] for key in (*_PATTERNS.values(), "assertions")}
            for entry in entries:
                place = _PATTERNS.get(entry.kind, "assertions")
                lists[(place,)].append(entry.text if entry.kind in _PATTERNS else _assertion(entry))
            return lists
        asserts: dict[CasePath, Any] = {(*path, "assert"): {} for path in _step_paths(self.base)}
        for entry, (path, key) in zip(entries, self._places(entries), strict=True):
            if entry.has_text:
                asserts[path][key] = _value_of(entry, entry.source)
        return asserts

    def _places(self, entries: Sequence[CheckEntry]) -> Iterator[tuple[CasePath, str | int]]:
        """Yield the path of the list or the `assert` of each check, and its index or its key there."""
        steps, counts = _step_paths(self.base), dict[CasePath, int]()
        taken = {(entry.step, entry.key) for entry in entries if entry.key}
        for entry in entries:
            if self._is_schema:
                path: CasePath = (_PATTERNS.get(entry.kind, "assertions"),)
                counts[path] = counts.get(path, -1) + 1
                yield path, counts[path]
                continue
            number, key = 1, entry.key or entry.kind
            while not entry.key and (entry.step, key) in taken:
                number += 1
                key = f"{entry.kind}.{number}"
            taken.add((entry.step, key))
            yield (*steps[entry.step], "assert"), key

    def place_of(self, fault: CasePath, checks: Sequence[CheckEntry] | None = None) -> str | int:
        """Return the name of the field, or the index of the check, that a fault at a path belongs to; else ""."""
        for field in self.fields:
            if fault[: len(field.path)] == field.path:
                return field.name
        for index, (path, key) in enumerate(self._places(self.checks if checks is None else checks)):
            if fault[: len(path) + 1] == (*path, key):
                return index
        return ""

    def changed_check(self, entry: CheckEntry, kind: str, text: str, limit: str) -> CheckEntry:
        """Return a check with another kind, text and limit."""
        if (kind, text, limit) == (entry.kind, entry.text, entry.limit):
            return entry
        return replace(entry, kind=kind, text=text, limit=limit, key=entry.key if kind == entry.kind else "")

    def place_in_file(self, entry: CheckEntry) -> int | None:
        """Return the index of a check among those in the file, or None if it is new or changed.

        Two checks of a case may be equal.
        """
        return next((at for at, saved in enumerate(self.first_checks) if saved is entry), None)

    def adopt_checks(self, value: JsonObject) -> None:
        """Use the checks that the file has now as those of before; changes in the form are kept."""
        now = tuple(self._read_checks(value))
        places = [self.place_in_file(entry) for entry in self.checks]
        if len(self.first_checks) == len(now):
            self.checks = [entry if at is None else now[at] for entry, at in zip(self.checks, places, strict=True)]
        else:
            self.checks = list(now)
        self.first_checks = now
        keys = ("expectedPatterns", "forbiddenPatterns", "assertions", "assert", "steps")
        rest = {key: each for key, each in self.base.items() if key not in keys}
        self.base = {**rest, **{key: each for key, each in value.items() if key in keys}}

    def other_keys(self) -> list[str]:
        """Return the keys of the case that the form does not show."""
        known = {str(field.path[0]) for field in self.fields}
        known |= {*_PATTERNS.values(), "assertions", "assert", "expected", "steps"}
        return [key for key in self.base if key not in known]


def check_line(entry: CheckEntry, fault: str, width: int) -> Line:
    """Return the row of a check: its kind, and its text with its limit, or its fault."""
    text = sanitize_line(f"{entry.text}  limit {entry.limit}" if entry.limit else entry.text, 300)
    kind = fill(sanitize_line(entry.kind, 30), 16)
    if fault:
        return (("! ", "error"), (kind, "dim"), (fill(f" {sanitize_line(fault, 300)}", max(1, width - 18)), "error"))
    return (("  ", "plain"), (kind, "dim"), (fill(f" {text}", max(1, width - 18)), "plain"))


def _is_required(field: CaseField) -> bool:
    return field.name in ("id", "name", "category", "prompt") or field.name.startswith("input")


def _quoted(tag: str) -> str:
    is_plain = tag and "," not in tag and '"' not in tag and tag == tag.strip()
    return tag if is_plain else '"' + tag.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _file_line(context: Mapping[str, Any]) -> str:
    lines = context.get("lineRange")
    path = str(context.get("filePath", ""))
    return f"{path}:{lines['start']}-{lines['end']}" if lines else path


def _written(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _value_of(entry: CheckEntry, source: JsonValue) -> JsonValue:
    """Return the value that the text of a check means; that in the file if the text has not changed."""
    if source is not None and entry.text == _written(source):
        return source
    reads_json = entry.kind in _JSON_VALUES or not (source is None or isinstance(source, str))
    if reads_json or entry.kind.startswith(("tools_used", "memory")):
        try:
            return json.loads(entry.text)  # type: ignore[no-any-return]
        except ValueError:
            return entry.text
    return entry.text


def _assertion(entry: CheckEntry) -> JsonObject:
    source: Any = entry.source if isinstance(entry.source, dict) else {}
    written: JsonObject = {**source, "type": entry.kind}
    for key, text in (("value", entry.text), ("threshold", entry.limit)):
        if text == (_written(source[key]) if key in source else ""):
            continue
        if not text:
            written.pop(key, None)
        elif key == "value":
            written[key] = _value_of(entry, source.get("value"))
        else:
            written[key] = _number(text)
    return written


def _number(text: str) -> JsonValue:
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() and "." not in text and "e" not in text.lower() else number
