"""Edits of a suite file: the text of a check, a case, a copy, a new case. The bytes around an edit stay the same."""

import codecs
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from pathlib import Path as FilePath
from typing import Any, Literal, NamedTuple

from tui.documents.files import NotRead, decode
from tui.documents.positions import Path
from tui.documents.problems import MOST_JSON_BYTES, MOST_YAML_BYTES
from tui.documents.source_edits import EditableText, NotEditable, change_object, read_editable
from tui.model.sanitize import sanitize_line
from tui.model.suite import Case, CheckKind, Suite
from tui.model.values import JsonObject, value_at
from tui.suites.load import syntax_of
from tui.suites.schema1.case_checks import PATTERN_KINDS

EDITABLE_KINDS: frozenset[CheckKind] = frozenset(
    ("expected_pattern", "forbidden_pattern", "output.includes", "output.matches", "output.equals")
)
"""The kinds of checks whose target is a text of its own in the file."""
_LIMITS = {"JSON": (MOST_JSON_BYTES, "16 MiB"), "YAML": (MOST_YAML_BYTES, "1 MiB")}
_NEW_CASE = {"id": "new-case", "name": "New case", "category": "", "prompt": "Write the prompt here."}
_NEW_TEST = {"description": "New test", "input": "Write the input here."}
_COPY = "-copy"
_MISSING: Any = object()


class CheckPlace(NamedTuple):
    """A check of a suite: the id of its case, its step, and its number in the step, both counted from 0."""

    case: str
    step: int
    number: int


CaseEdit = Literal["edit", "copy", "new"]
"""How a case is written: in place, as a copy behind the case, or as a new case behind the case."""


class AddedCase(NamedTuple):
    """The new content of a file, and the id of the case that was added or changed."""

    content: bytes
    case: str


def places_of_check(suite: Suite, kind: CheckKind, target: str) -> tuple[CheckPlace, ...]:
    """Return every check of a suite with this kind and target, except those with text of a data set."""
    return tuple(
        CheckPlace(case.id, step, number)
        for case in suite.cases
        for step, each in enumerate(case.steps)
        for number, check in enumerate(each.checks)
        if check.kind == kind and check.target == target and not is_filled_in(case, number)
    )


def is_filled_in(case: Case, number: int) -> bool:
    """Return whether a check has text of a data set, so that it is not in the file as it is displayed."""
    return case.row is not None and number in case.row.filled


def change_checks(suite: Suite, content: bytes, places: Collection[CheckPlace], old: str, new: str) -> bytes:
    """Return the content of the suite's file with another target in these checks, whose target is `old` now.

    Raises NotEditable.
    """
    text, bom = _editable(suite, content)
    in_file = {case.id: _id_in_file(case) for case in suite.cases}
    # Rows of a data set have one place in the file.
    once = {(in_file.get(place.case, place.case), place.step, place.number): place for place in places}
    paths = [_path_of_check(suite, text.value, place) for place in once.values()]
    if any(value_at(text.value, path) != old for path in paths):
        raise NotEditable("The check is no longer in the file as it is displayed; reload the suite.")
    return _encoded(text, text.replace(dict.fromkeys(paths, new)), bom)


def copy_case(suite: Suite, content: bytes, case: Case) -> AddedCase:
    """Return the content of the suite's file with a copy of a case, under another id and name. Raises NotEditable.

    The copy follows its original; in a TestHaven list, whose ids are the positions of the tests, it is the last one. A
    row of a data set is copied with all rows.
    """
    text, bom = _editable(suite, content)
    path, index, last = _cases_in(suite, text.value, case)
    if suite.format == "schema-1.0.0":
        identity = _fresh(_id_in_file(case), {_id_in_file(each) for each in suite.cases})
        names = {each.name for each in suite.cases}
        changes: Mapping[str, str] = {"id": identity, "name": _fresh_name(case.name, names)}
        added = f"{identity}.{case.row.id}" if case.row else identity
        return AddedCase(_encoded(text, text.copy_item(path, index, changes, index), bom), added)
    original = value_at(text.value, (*path, index))
    named = isinstance(original, dict) and "description" in original
    changes = {"description": _fresh_name(case.name, {each.name for each in suite.cases})} if named else {}
    return AddedCase(_encoded(text, text.copy_item(path, index, changes, last), bom), _id_after(suite, last))


def add_case(suite: Suite, content: bytes, case: Case) -> AddedCase:
    """Return the content of the suite's file with a new case in the category of another one. Raises NotEditable.

    It follows that case; in a TestHaven list it is the last one.
    """
    text, bom = _editable(suite, content)
    path, index, last = _cases_in(suite, text.value, case)
    if suite.format == "schema-1.0.0":
        identity = _unused(_NEW_CASE["id"], {_id_in_file(each) for each in suite.cases})
        item = {**_NEW_CASE, "id": identity, "category": case.category}
        return AddedCase(_encoded(text, text.add_item(path, item, index), bom), identity)
    return AddedCase(_encoded(text, text.add_item(path, _NEW_TEST, last), bom), _id_after(suite, last))


def draft_of(suite: Suite, content: bytes, case: Case, edit: CaseEdit) -> JsonObject:
    """Return the value that a case has in the suite's file, or the first value of a copy or a new case.

    For a row of a data set it is the case with the data set. Raises NotEditable.
    """
    text, _, path, _ = _opened(suite, content, case, edit)
    draft: JsonObject = deepcopy(_draft_at(text.value, path))
    if edit == "new":
        draft |= dict.fromkeys(("name", "prompt") if suite.format == "schema-1.0.0" else ("description", "input"), "")
    return draft


def find_case(suite: Suite, content: bytes, case: Case, old: JsonObject) -> Case:
    """Return the case of a suite that was `case` when its value in the file was `old`. Raises NotEditable.

    Its id names it, except in a TestHaven list: there the id is the position, which another program may have changed,
    and the test must be in the file as it was.
    """
    value = _editable(suite, content)[0].value
    here = next((each for each in suite.cases if each.id == case.id), None)
    if suite.format == "schema-1.0.0" or (here is not None and not isinstance(value, list)):
        if here is None:
            raise NotEditable("The case is no longer in the suite; reload it.")
        return here
    tests = value if isinstance(value, list) else [value]
    same = [each for each, test in zip(suite.cases, tests, strict=False) if _same(test, old)]
    if here is not None and any(each.id == here.id for each in same):
        return here
    if len(same) != 1:
        raise NotEditable("The test has changed in the file since it was opened.")
    return same[0]


def write_draft(
    suite: Suite, content: bytes, case: Case, edit: CaseEdit, old: JsonObject, new: JsonObject
) -> AddedCase:
    """Return the content of the suite's file with a case changed from the draft `old` to `new`, or added.

    Entries that the draft does not change stay as they are in the file now. Raises NotEditable.
    """
    if edit == "edit":
        case = find_case(suite, content, case, old)
    elif edit == "copy" and suite.format != "schema-1.0.0" and not _same(draft_of(suite, content, case, edit), old):
        edit = "new"  # another test has this position now: its comments do not belong to the copy
    text, bom, path, identity = _opened(suite, content, case, edit)
    if edit == "edit":
        new = _merged(old, new, _draft_at(text.value, path))
    if suite.format == "schema-1.0.0":
        identity = f"{new['id']}.{case.row.id}" if case.row and edit != "new" else str(new["id"])
    return AddedCase(_encoded(text, change_object(text, path, new).text, bom), identity)


def _draft_at(value: Any, path: Path) -> JsonObject:
    found = value_at(value, path)
    if not isinstance(found, dict):
        raise NotEditable("This case cannot be edited here; edit the file.")
    return found


def _opened(suite: Suite, content: bytes, case: Case, edit: CaseEdit) -> tuple[EditableText, bytes, Path, str]:
    """Return the text of the file with the case that is edited or was added, its byte order mark, and the path and the
    id of that case."""
    added = AddedCase(content, case.id)
    if edit != "edit":
        added = (copy_case if edit == "copy" else add_case)(suite, content, case)
    text, bom = _editable(suite, added.content)
    behind = 0 if edit == "edit" else 1
    if suite.format == "schema-1.0.0":
        return text, bom, ("testCases", _index_of(suite, text.value, case.id) + behind), added.case
    if not isinstance(text.value, list):
        return text, bom, (), added.case
    return text, bom, (len(text.value) - 1 if behind else _index_of(suite, text.value, case.id),), added.case


def _same(value: Any, old: JsonObject) -> bool:
    """Return whether a value of the file has the entries of `old`, in any order."""
    return isinstance(value, dict) and sorted(map(repr, value.items())) == sorted(map(repr, old.items()))


def _merged(old: JsonObject, new: JsonObject, current: JsonObject) -> JsonObject:
    """Return the current value of a case with the entries in which `new` differs from `old`."""
    merged = dict(current)
    for key in dict.fromkeys((*old, *new)):
        if repr(old.get(key, _MISSING)) == repr(new.get(key, _MISSING)):
            continue
        if repr(current.get(key, _MISSING)) != repr(old.get(key, _MISSING)):
            raise NotEditable(f"`{sanitize_line(key, 40)}` of the case has changed in the file since it was opened.")
        if key in new:
            merged[key] = new[key]
        else:
            del merged[key]
    return merged


def _editable(suite: Suite, content: bytes) -> tuple[EditableText, bytes]:
    """Return the text of a file, and its byte order mark if it has one."""
    bom = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    body = content.removeprefix(bom)
    try:
        syntax = syntax_of(FilePath(suite.path), body)
        return read_editable(decode(body), syntax), bom
    except NotRead as reason:
        raise NotEditable(f"The file {reason}.") from reason


def _encoded(text: EditableText, new: str, bom: bytes) -> bytes:
    try:
        content = bom + new.encode()
    except UnicodeEncodeError as error:
        raise NotEditable("The text has half of a surrogate pair, which cannot be saved.") from error
    most, words = _LIMITS[text.syntax]
    if len(content) > most:
        raise NotEditable(f"The file would become larger than {words}, the limit for {text.syntax}.")
    return content


def _index_of(suite: Suite, value: Any, case_id: str) -> int:
    """Return the index of a case in the file; of a row, that of the case with the data set."""
    found = next((index for index, case in enumerate(suite.cases) if case.id == case_id), None)
    if found is None:
        raise NotEditable("The case is no longer in the suite; reload it.")
    if suite.format != "schema-1.0.0":
        return found
    written = _id_in_file(suite.cases[found])
    cases = value_at(value, ("testCases",))
    if not isinstance(cases, list):
        raise NotEditable("This case cannot be edited here; edit the file.")
    found = next((index for index in range(len(cases)) if value_at(cases, (index, "id")) == written), None)
    if found is None:
        raise NotEditable("The case is no longer in the file as it is displayed; reload the suite.")
    return found


def _id_in_file(case: Case) -> str:
    return case.row.template if case.row else case.id


def _path_of_check(suite: Suite, value: Any, place: CheckPlace) -> Path:
    """Return the path of a check's target in the value of the file."""
    index = _index_of(suite, value, place.case)
    if suite.format == "schema-1.0.0":
        case, number = value_at(value, ("testCases", index)), place.number
        for key, _ in PATTERN_KINDS:
            patterns = case.get(key, []) if isinstance(case, dict) else []
            if number < len(patterns):
                return ("testCases", index, key, number)
            number -= len(patterns)
        raise NotEditable("This check cannot be edited here; edit the file.")
    at: Path = (index,) if isinstance(value, list) else ()
    test = value_at(value, at)
    at = (*at, "steps", place.step) if isinstance(test, dict) and "steps" in test else at
    keys: Sequence[str] = list(value_at(value, (*at, "assert")) or {})
    if place.number >= len(keys):
        raise NotEditable("This check cannot be edited here; edit the file.")
    return (*at, "assert", keys[place.number])


def _cases_in(suite: Suite, value: Any, case: Case) -> tuple[Path, int, int]:
    """Return the path of the list of cases, the index of a case in it, and that of the last one."""
    index = _index_of(suite, value, case.id)
    if suite.format == "schema-1.0.0":
        path: Path = ("testCases",)
        return path, index, len(value_at(value, path)) - 1
    if not isinstance(value, list):
        raise NotEditable("The file has a single test; write it as a list to add others.")
    return (), index, len(value) - 1


def _id_after(suite: Suite, last: int) -> str:
    return f"{FilePath(suite.path).stem}#{last + 2}"


def _fresh(identity: str, used: Collection[str]) -> str:
    """Return an unused id for a copy: `query-copy`, `query-copy-2`."""
    return _unused(f"{identity.partition(_COPY)[0]}{_COPY}", used)


def _unused(wanted: str, used: Collection[str]) -> str:
    number, identity = 1, wanted
    while identity in used:
        number += 1
        identity = f"{wanted}-{number}"
    return identity


def _fresh_name(name: str, used: Collection[str]) -> str:
    wanted = f"{name.partition(' (copy')[0]} (copy)"
    number, fresh = 1, wanted
    while fresh in used:
        number += 1
        fresh = f"{wanted[:-1]} {number})"
    return fresh
