"""The data sets of cases: each row of `data` or `vars` makes a case of its own, with `{{column}}` filled in."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path as FilePath
from typing import Any

from tui.documents.files import NotRead
from tui.documents.positions import Path, spell
from tui.documents.problems import MOST_PROBLEMS, Finding
from tui.documents.tables import DATA_SUFFIXES, MOST_DATA_FILES, MOST_ROWS, Table, read_data_file, read_table, row_of
from tui.model.current_folder import real_path
from tui.model.errors import Level, Problem
from tui.model.suite import DataRow
from tui.suites.context import Around
from tui.suites.messages import ID_PATTERN, quoted
from tui.suites.schema1.build import made
from tui.suites.schema1.case_checks import PATTERN_KINDS, case_findings, is_blank

MOST_FILLED_CHARACTERS = 64 * 1024 * 1024
Row = Mapping[str, str]
Fill = Callable[[Row], Any]
_ID = re.compile(ID_PATTERN)
_KEYS = frozenset(("data", "vars"))
_TEXTS = ("prompt", "systemMessage", "expectedBehavior")
_PLACEHOLDER = re.compile(r"\{\{([^{}\n]{1,200})\}\}")
_BACKSLASHES = re.compile(r"\\*\Z")
# Signs with a meaning in a pattern of JavaScript or Python, also within a set of characters.
_SIGNS = re.compile(r"[\\^$.*+?()\[\]{}|/-]")
# An escape to which a digit or a letter could be added.
_OPEN_ESCAPE = re.compile(r"\\(?:\d+|x[\da-fA-F]?|u[\da-fA-F]{0,3}|c)\Z")
_MOST_NAMES = 20


@dataclass(slots=True)
class FilledCases:
    """The cases of a suite after their rows were filled in.

    `templates` are the indexes of the cases in the file, `rows` None for a case without a data set. `digests` are the
    SHA-256 of the data files by name; `data_files` names also those that could not be read. A finding is in the suite's
    file, a problem in a data file.
    """

    cases: list[dict[str, Any]] = field(default_factory=list)
    templates: list[int] = field(default_factory=list)
    rows: list[DataRow | None] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    data_files: list[str] = field(default_factory=list)
    outside: list[FilePath] = field(default_factory=list)
    """The data files outside the suite's folder that must not be read, with links resolved."""
    findings: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    slots: set[Path] = field(default_factory=set)
    """The paths in the file of the values that have placeholders."""
    ids: set[str] = field(default_factory=set)

    def is_filled(self, path: Path) -> bool:
        """Return whether the value at a path of the file has placeholders, so that only its rows can be judged."""
        return any(path[:size] in self.slots for size in range(3, 6))


def has_data(cases: list[dict[str, Any] | None]) -> bool:
    """Return whether any case has a data set."""
    return any(case is not None and not _KEYS.isdisjoint(case) for case in cases)


def fill_cases(cases: list[dict[str, Any] | None], around: Around) -> FilledCases:
    """Return the cases with their rows filled in, and all problems of the data sets.

    Values that did not fit their shape are None, and have been reported already.
    """
    plain = (case["id"] for case in cases if case is not None and _KEYS.isdisjoint(case) and case.get("id"))
    filled = FilledCases(ids=set(plain))
    files = _DataFiles(around, filled)
    for index, case in enumerate(cases):
        if case is None:
            continue
        if _KEYS.isdisjoint(case):
            filled.cases.append(case)
            filled.templates.append(index)
            filled.rows.append(None)
            continue
        table = files.table_of(case, index)
        if table is not None:
            _fill_case(case, index, table, around, filled)
    return filled


@dataclass(slots=True)
class _Rows:
    """The rows of one case. Problems of a row are reported with `report`, errors up to a limit and no more warnings."""

    rows: list[Mapping[str, str]]
    key: str
    add: Callable[[int, str, str, Level], None]
    counts: Counter[Level] = field(default_factory=Counter)

    def report(self, row: int, where: str, what: str, level: Level = "error") -> None:
        """Report a problem of the row with this index."""
        self.counts[level] += 1
        if self.counts[level] <= MOST_PROBLEMS:
            self.add(row, where, what, level)

    @property
    def is_full(self) -> bool:
        """Whether no more errors are reported."""
        return self.counts["error"] >= MOST_PROBLEMS


class _DataFiles:
    """Reads the data files of a suite, each of them once."""

    def __init__(self, around: Around, filled: FilledCases) -> None:
        self._around, self._filled = around, filled
        self._tables: dict[str, Table | None] = {}

    def table_of(self, case: dict[str, Any], index: int) -> _Rows | None:
        """Return the rows of a case, None if they cannot be used."""
        at: Path = ("testCases", index)
        if case.keys() >= _KEYS:
            self._add(Finding((*at, "vars"), "cannot be combined with `data`; remove one of them", at_key=True))
            return None
        if "vars" in case:
            return None if case["vars"] is None else self._rows_of(case["vars"], (*at, "vars"))
        name = case["data"]
        if name is None:
            return None
        if name not in self._tables:
            self._tables[name] = self._read(name, (*at, "data"))
        table = self._tables[name]
        if table is None:
            return None
        file = os.path.normpath(self._around.folder / name)
        lines, problems = table.lines, self._filled.problems

        def add(row: int, where: str, what: str, level: Level) -> None:
            problems.append(Problem(file, lines[row], 1, level, where, what))

        return _Rows(table.rows, "data", add)

    def _rows_of(self, values: list[dict[str, Any] | None], at: Path) -> _Rows | None:
        findings = self._filled.findings
        rows: list[Row] = []
        faults = len(findings)
        if not values:
            self._add(Finding(at, "has no rows; add at least one"))
        elif len(values) > MOST_ROWS:
            self._add(Finding(at, f"has more than {MOST_ROWS:,} rows, the limit of a suite; remove some"))
        for number, value in enumerate(values[:MOST_ROWS]):
            if value is None:
                return None
            row, fault = row_of(value)
            rows.append(row)
            if fault is not None:
                self._add(Finding((*at, number), fault))

        def add(row: int, where: str, what: str, level: Level) -> None:
            findings.append(Finding((*at, row), what, level, where=where))

        return None if len(findings) > faults else _Rows(rows, "vars", add)

    def _read(self, name: str, at: Path) -> Table | None:
        path = self._around.folder / name
        self._filled.data_files.append(name)
        try:
            if fault := self._fault(name, path):
                raise NotRead(fault)
            content = read_data_file(path)
            table = read_table(content, path.suffix.lower())
        except NotRead as reason:
            self._add(Finding(at, f"the data file {quoted(name)} {reason}"))
            return None
        self._filled.digests[name] = hashlib.sha256(content).hexdigest()
        file = os.path.normpath(path)
        self._filled.problems += [
            Problem(file, each.line, each.column, "error", "", each.what) for each in table.faults
        ]
        return None if table.faults else table

    def _fault(self, name: str, path: FilePath) -> str | None:
        """Return why a data file must not be read, or None."""
        if len(self._filled.data_files) > MOST_DATA_FILES:
            return f"is one too many: a suite can have {MOST_DATA_FILES:,} data files; combine some"
        if is_blank(name) or not name.isprintable():
            return "is not a path; write the path of a .csv or .jsonl file"
        if path.suffix.lower() not in DATA_SUFFIXES:
            return "is neither .csv nor .jsonl; write the path of such a file"
        place = FilePath(real_path(path))
        if place.is_relative_to(real_path(self._around.folder)) or self._around.may_read(place):
            return None
        self._filled.outside.append(place)
        fix = "copy it into the folder, or allow it with `--allow-outside`; the app asks when you run the suite"
        return f"is outside the suite's folder; {fix}"

    def _add(self, finding: Finding) -> None:
        self._filled.findings.append(finding)


class _Template:
    """The values of a case that have placeholders."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.names: dict[Path, tuple[str, ...]] = {}
        """The names in each text that has placeholders, by its path in the case."""
        self.commands: list[Path] = []
        """The paths of commands with placeholders, which are not filled in."""
        self._characters = 0
        self._keys_of_objects: list[list[tuple[str, Fill | None]]] = []
        self.fills: dict[str, Fill] = {}
        for key in _TEXTS:
            self._take(key, self._text(case.get(key), (key,)))
        for key, _ in PATTERN_KINDS:
            self._take(key, self._value(case.get(key), (key,), is_pattern=True))
        self._take("assertions", self._list(case.get("assertions"), ("assertions",), self._assertion))
        self._take("riskCriteria", self._list(case.get("riskCriteria"), ("riskCriteria",), self._criterion))
        self._take("tools", self._list(case.get("tools"), ("tools",), self._tool))
        self.slots = frozenset(path[:3] for path in self.names)
        """The paths of the values that have placeholders; of an assertion, the whole value."""
        self.checks = tuple(_filled_checks(case, self.names))
        """The numbers of the patterns that have placeholders."""

    def characters(self, rows: list[Row]) -> int:
        """Return how many characters the filled texts of these rows have, without the escapes of patterns."""
        names = [name for each in self.names.values() for name in each]
        return self._characters * len(rows) + sum(len(row.get(name, "")) for name in names for row in rows)

    def repeated_key(self, row: Row) -> str | None:
        """Return a key that an object has twice when it is filled in with a row: one of its values would be lost."""
        for keys in self._keys_of_objects:
            filled = Counter(fill(row) if fill else key for key, fill in keys)
            if (most := filled.most_common(1)) and most[0][1] > 1:
                return most[0][0]
        return None

    def _take(self, key: str, fill: Fill | None) -> None:
        if fill is not None:
            self.fills[key] = fill

    def _text(self, text: Any, at: Path, *, is_pattern: bool = False) -> Fill | None:
        if not isinstance(text, str):
            return None
        parts = _parts_of(text, is_pattern)
        if len(parts) == 1:
            return None
        self.names[at] = (*self.names.get(at, ()), *parts[1::2])  # of a key and of its value
        self._characters += sum(map(len, parts[::2]))
        return lambda row: _filled_pattern(parts, row) if is_pattern else _filled_text(parts, row)

    def _value(self, value: Any, at: Path, *, is_pattern: bool = False) -> Fill | None:
        """Return what fills in the texts of a JSON value; with `is_pattern`, they are patterns."""
        if isinstance(value, list):
            return self._list(value, at, lambda item, place: self._value(item, place, is_pattern=is_pattern))
        if isinstance(value, dict):
            fills = {key: self._value(item, (*at, key)) for key, item in value.items()}
            return _fill_of_object(value, fills, self._keys(value, at))
        return self._text(value, at, is_pattern=is_pattern)

    def _keys(self, value: dict[str, Any], at: Path, *, is_pattern: bool = False) -> dict[str, Fill]:
        """Return what fills in the keys of a JSON object."""
        fills = {key: self._text(key, (*at, key), is_pattern=is_pattern) for key in value}
        known = {key: fill for key, fill in fills.items() if fill}
        if known and len(fills) > 1:
            self._keys_of_objects.append([*fills.items()])
        return known

    def _list(self, items: Any, at: Path, fill_of: Callable[[Any, Path], Fill | None]) -> Fill | None:
        fills = [fill_of(item, (*at, index)) for index, item in enumerate(items or ())]
        if not any(fills):
            return None
        return lambda row: [fill(row) if fill else item for item, fill in zip(items, fills, strict=True)]

    def _assertion(self, assertion: Any, at: Path) -> Fill | None:
        if not isinstance(assertion, dict):
            return None
        value = assertion.get("value")
        if assertion.get("type") == "command":
            words = value if isinstance(value, list) else [value]
            if any(isinstance(word, str) and len(_parts_of(word, False)) > 1 for word in words):
                self.commands.append((*at, "value"))
            return None
        of_schema = assertion.get("type") in ("is-json", "contains-json")
        fill = self._schema(value, (*at, "value")) if of_schema else self._value(value, (*at, "value"))
        return _fill_of_object(assertion, {"value": fill})

    def _schema(self, value: Any, at: Path) -> Fill | None:
        """Return what fills in the texts of a JSON Schema.

        Those of `pattern` and the keys of `patternProperties` are patterns.
        """
        if isinstance(value, list):
            return self._list(value, at, self._schema)
        if not isinstance(value, dict):
            return self._text(value, at)
        fills = {
            key: self._text(item, (*at, key), is_pattern=True)
            if key == "pattern" and isinstance(item, str)
            else self._schema(item, (*at, key))
            for key, item in value.items()
        }
        return _fill_of_object(value, fills, self._keys(value, at, is_pattern=at[-1] == "patternProperties"))

    def _tool(self, tool: Any, at: Path) -> Fill | None:
        if not isinstance(tool, dict):
            return None
        keys = ("description", "result", "results")
        return _fill_of_object(tool, {key: self._value(tool.get(key), (*at, key)) for key in keys})

    def _criterion(self, criterion: Any, at: Path) -> Fill | None:
        if not isinstance(criterion, dict):
            return None
        fills = {key: self._text(criterion.get(key), (*at, key)) for key in ("name", "description")}
        return _fill_of_object(criterion, fills)


def _fill_of_object(
    value: dict[str, Any], fills: Mapping[str, Fill | None], keys: Mapping[str, Fill] | None = None
) -> Fill | None:
    known = {key: fill for key, fill in fills.items() if fill}
    if not keys:
        return (lambda row: {**value, **{key: fill(row) for key, fill in known.items()}}) if known else None
    return lambda row: {
        keys[key](row) if key in keys else key: known[key](row) if key in known else item for key, item in value.items()
    }


def _parts_of(text: str, is_pattern: bool) -> list[str]:
    """Return a text split at its placeholders: literal text and names alternate.

    In a pattern, a placeholder behind a backslash is literal text: `\\{{2}}` is an escaped brace with a repetition.
    """
    parts, start = [], 0
    for match in _PLACEHOLDER.finditer(text):
        name = match[1].strip()
        before = _BACKSLASHES.search(text, start, match.start()) if is_pattern else None
        if name and not (before and len(before[0]) % 2):
            parts += [text[start : match.start()], name]
            start = match.end()
    return [*parts, text[start:]]


def missing_columns(pattern: str, row: Row) -> list[str]:
    """Return the names in `{{…}}` of a pattern that are no columns of a row."""
    return [name for name in dict.fromkeys(_parts_of(pattern, is_pattern=True)[1::2]) if name not in row]


def fill_pattern(pattern: str, row: Row) -> str:
    """Return a pattern with the texts of a row, as the case of the row has it; all its names have to be columns."""
    return _filled_pattern(_parts_of(pattern, is_pattern=True), row)


def _filled_text(parts: list[str], row: Row) -> str:
    filled = list(parts)
    filled[1::2] = [row[name] for name in parts[1::2]]
    return "".join(filled)


def _behind_backslash(sign: re.Match[str]) -> str:
    return f"\\{sign[0]}"


def _filled_pattern(parts: list[str], row: Row) -> str:
    filled = parts[0]
    for name, literal in zip(parts[1::2], parts[2::2], strict=True):
        value = row[name]
        escaped = value if value.isalnum() else _SIGNS.sub(_behind_backslash, value)
        if "\\" in filled[-12:] and value[:1].isascii() and value[:1].isalnum() and _OPEN_ESCAPE.search(filled):
            escaped = f"\\x{ord(value[0]):02x}{escaped[1:]}"
        filled += escaped + literal
    return filled


def _fill_case(case: dict[str, Any], index: int, data: _Rows, around: Around, filled: FilledCases) -> None:
    """Add the case of each row, or the problems of its placeholders and rows."""
    at: Path = ("testCases", index)
    template, identity = _Template(case), case.get("id")
    filled.slots |= {(*at, *path) for path in template.slots}
    found = [*_placeholder_findings(template, data, at)]
    if len(filled.cases) + len(data.rows) > MOST_ROWS:
        found.append(Finding((*at, data.key), f"the suite has more than {MOST_ROWS:,} cases; remove some rows"))
    elif template.characters(data.rows) > MOST_FILLED_CHARACTERS:
        what = "has more than 64 million characters when its rows are filled in; use fewer or shorter texts"
        found.append(Finding((*at, data.key), what))
    filled.findings += found
    if found or identity is None:
        return
    rows = _made_rows(identity, data, template, filled.ids)
    if not _are_fine([values for _, values in rows.values()], template, around):
        for number, (row, values) in rows.items():
            if data.is_full:
                break
            for finding in _row_findings(values, template, around):
                data.report(number, f"{identity}.{row.id}.{spell(finding.path)}", finding.what, finding.level)
    constant = {key: value for key, value in case.items() if key not in _KEYS}
    filled.cases += [{**constant, **values, "id": f"{identity}.{row.id}"} for row, values in rows.values()]
    filled.templates += [index] * len(rows)
    filled.rows += [row for row, _ in rows.values()]


def _made_rows(
    identity: str, data: _Rows, template: _Template, ids: set[str]
) -> dict[int, tuple[DataRow, dict[str, Any]]]:
    """Return the rows with their filled values by number; report rows with a missing column or an invalid id."""
    numbers: list[int] = []
    names: list[str] = []
    used = frozenset(name for names in template.names.values() for name in names)
    for number, row in enumerate(data.rows):
        if data.is_full:
            break
        name = row.get("id") or str(number + 1)
        where = f"{identity}.{name}"
        if what := _fault_of_row(row, name, template, used):
            data.report(number, where, what)
        elif where in ids:
            what = f"duplicate id {quoted(where)}; choose another `id` for the row, or for the case"
            data.report(number, where, what)
        else:
            ids.add(where)
            numbers.append(number)
            names.append(name)
    given = [data.rows[number] for number in numbers]
    rows = made(
        DataRow,
        len(given),
        template=repeat(identity),
        id=names,
        values=map(dict, given),
        filled=repeat(template.checks),
    )
    fills = template.fills.items()
    return dict(
        zip(numbers, zip(rows, [{key: fill(row) for key, fill in fills} for row in given], strict=True), strict=True)
    )


def _fault_of_row(row: Mapping[str, str], name: str, template: _Template, used: frozenset[str]) -> str:
    """Return what is wrong with a row as such, `used` being the columns that the case uses; empty for nothing."""
    if not used <= row.keys():
        missing = next(each for each in sorted(used) if each not in row)
        return f"has no {quoted(missing)}, which the case uses; add it"
    if (key := template.repeated_key(row)) is not None:
        return f"an object in the case has the key {quoted(key)} twice when it is filled in; use different texts"
    if not _ID.fullmatch(name):
        return f"the id {quoted(name)} has a character that is not allowed; use letters, digits, `-`, `_` and `.`"
    return ""


def _are_fine(filled: list[dict[str, Any]], template: _Template, around: Around) -> bool:
    """Return whether no filled text has a problem; false if that has to be found out row by row."""
    if not {"assertions", "riskCriteria", "tools"}.isdisjoint(template.fills):
        return False
    if "prompt" in template.fills and not all(values["prompt"].strip() for values in filled):
        return False
    return not any(
        not pattern or around.pattern_fault(kind, pattern) or around.pattern_risk(kind, pattern)
        for key, kind in PATTERN_KINDS
        if key in template.fills
        for pattern in dict.fromkeys(chain.from_iterable(values[key] for values in filled))
    )


def _filled_checks(case: dict[str, Any], paths: Container[Path]) -> Iterator[int]:
    first = 0
    for key, _ in PATTERN_KINDS:
        patterns = case.get(key) or ()
        yield from (first + number for number in range(len(patterns)) if (key, number) in paths)
        first += len(patterns)


def _placeholder_findings(template: _Template, data: _Rows, at: Path) -> Iterator[Finding]:
    columns = dict.fromkeys(name for row in data.rows for name in row)
    listed = ", ".join(quoted(name) for name in list(columns)[:_MOST_NAMES])
    for path, names in template.names.items():
        for name in dict.fromkeys(names):
            if name not in columns:
                what = f"the data has no column {quoted(name)}; correct the name, or use one of: {listed}"
                yield Finding((*at, *path), what)
    for path in template.commands:
        what = "a command is not filled in, because each needs your permission; remove the `{{…}}`"
        yield Finding((*at, *path), what)


def _row_findings(values: dict[str, Any], template: _Template, around: Around) -> Iterator[Finding]:
    """Yield the problems of the filled texts of a row."""
    for finding in case_findings(values, (), True, (), around):
        if not template.slots.isdisjoint(finding.path[:size] for size in (1, 2, 3)):
            yield finding
