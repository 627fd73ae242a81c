"""Checks are changed, and cases copied and added, in files of both formats; the result is a valid suite."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.suites.loaded import pattern_error, suite_of
from tui.documents.problems import MOST_YAML_BYTES
from tui.documents.source_edits import NotEditable
from tui.model.shipped import shipped_folder
from tui.model.suite import Case, Suite
from tui.suites.edits import (
    AddedCase,
    CaseEdit,
    CheckPlace,
    add_case,
    change_checks,
    copy_case,
    draft_of,
    places_of_check,
    write_draft,
)
from tui.suites.load import load_suite

SUITE = """\
name: S
description: Two cases
models: [m]
testCases:
  - id: a
    name: A
    category: C
    prompt: p
    expectedPatterns: ['x', "y"]
    forbiddenPatterns: [x]
  - id: b
    name: B
    category: C
    prompt: p
    expectedPatterns:
      - x   # the same
"""
STEPS = """\
description: Steps
steps:
  - input: one
    assert:
      output.includes: x
      tools_used: [a]
  - input: two
    assert: {memory.a: 1, output.matches: x}
"""
LIST = '[{"description": "T", "input": "i", "assert": {"output.includes": "x"}}, {"input": "j"}]'


def read(path: Path) -> Suite:
    loaded = load_suite(path, pattern_error)
    assert loaded.suite is not None, loaded.problems
    return loaded.suite


def targets(suite: Suite) -> list[list[str]]:
    return [[check.target for step in case.steps for check in step.checks] for case in suite.cases]


def test_a_check_of_one_case_changes(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "s.yaml", SUITE)
    changed = change_checks(suite, SUITE.encode(), [CheckPlace("a", 0, 2)], "x", "eval")
    assert changed.decode() == SUITE.replace("[x]", "[eval]")


def test_a_check_changes_in_all_cases_that_have_it(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "s.yaml", SUITE)
    places = places_of_check(suite, "expected_pattern", "x")
    assert places == (CheckPlace("a", 0, 0), CheckPlace("b", 0, 0))
    changed = change_checks(suite, SUITE.encode(), places, "x", r"\d")
    assert changed.decode() == SUITE.replace("'x'", r"'\d'").replace("- x ", r"- \d ")


@pytest.mark.parametrize(
    ("place", "new"), [(CheckPlace("s", 0, 0), "includes: z"), (CheckPlace("s", 1, 1), "matches: z")]
)
def test_an_assertion_of_a_step_changes(tmp_path: Path, place: CheckPlace, new: str) -> None:
    suite = suite_of(tmp_path, "s.yaml", STEPS)
    changed = change_checks(suite, STEPS.encode(), [place], "x", "z")
    assert changed.decode() == STEPS.replace(new.replace("z", "x"), new)


def test_an_assertion_in_a_list_of_tests_changes(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "s.json", LIST)
    assert change_checks(suite, LIST.encode(), [CheckPlace("s#1", 0, 0)], "x", "ü").decode() == LIST.replace("x", "ü")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_a_byte_order_mark_stay(tmp_path: Path, line_end: str, bom: bytes) -> None:
    content = bom + SUITE.replace("\n", line_end).encode()
    path = tmp_path / "s.yaml"
    path.write_bytes(content)
    suite = read(path)
    assert change_checks(suite, content, [CheckPlace("a", 0, 2)], "x", "z") == content.replace(b"[x]", b"[z]")
    copied = copy_case(suite, content, suite.cases[0]).content
    assert copied.startswith(bom)
    assert copied.count(line_end.encode()) == content.count(line_end.encode()) + 6
    path.write_bytes(copied)
    assert targets(read(path)) == [["x", "y", "x"], ["x", "y", "x"], ["x"]]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (SUITE.replace("'x'", "'w'"), "no longer in the file as it is displayed"),
        (SUITE.partition("    expectedPatterns")[0], "cannot be edited here"),
        ("", "cannot be edited here"),
        ("a: [", "The file cannot be read"),
        ("\ufeffa: 1\n---\nb: 1\n", "a second document"),
    ],
)
def test_a_file_with_other_content_is_refused(tmp_path: Path, content: str, reason: str) -> None:
    suite = suite_of(tmp_path, "s.yaml", SUITE)
    with pytest.raises(NotEditable, match=reason):
        change_checks(suite, content.encode(), [CheckPlace("a", 0, 0)], "x", "z")


def test_a_text_that_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "s.json", LIST)
    place = [CheckPlace("s#1", 0, 0)]
    with pytest.raises(NotEditable, match="surrogate"):
        change_checks(suite, LIST.encode(), place, "x", "\ud800")
    suite = suite_of(tmp_path, "s.yaml", SUITE)
    with pytest.raises(NotEditable, match="larger than 1 MiB"):
        change_checks(suite, SUITE.encode(), [CheckPlace("a", 0, 0)], "x", "z" * MOST_YAML_BYTES)


def test_checks_without_a_text_of_their_own_are_refused(tmp_path: Path) -> None:
    expected = "expected: {output: x, tools_used: [], memory: {}}"
    suite = suite_of(tmp_path, "s.yaml", STEPS.replace("assert: {memory.a: 1, output.matches: x}", expected))
    with pytest.raises(NotEditable, match="cannot be edited here"):
        change_checks(suite, Path(suite.path).read_bytes(), [CheckPlace("s", 1, 0)], "", "z")
    with pytest.raises(NotEditable, match="reload"):
        change_checks(suite, Path(suite.path).read_bytes(), [CheckPlace("gone", 0, 0)], "", "z")


Edit = Callable[[Suite, bytes, Case], AddedCase]


@pytest.mark.parametrize(
    ("edit", "id", "name"), [(copy_case, "a-copy", "A (copy)"), (add_case, "new-case", "New case")]
)
def test_a_case_is_added_after_another_one(tmp_path: Path, edit: Edit, id: str, name: str) -> None:
    suite = suite_of(tmp_path, "s.yaml", SUITE)
    path = Path(suite.path)
    added = edit(suite, path.read_bytes(), suite.cases[0])
    path.write_bytes(added.content)
    after = read(path)
    assert [case.id for case in after.cases] == ["a", id, "b"]
    assert added.case == id
    assert (after.cases[1].name, after.cases[1].category) == (name, "C")
    assert after.cases[0] == suite.cases[0]
    # Again: the ids and names stay unique.
    again = edit(after, added.content, after.cases[0])
    path.write_bytes(again.content)
    assert [case.id for case in read(path).cases] == ["a", f"{id}-2", id, "b"]


@pytest.mark.parametrize("edit", [copy_case, add_case])
def test_a_test_of_a_list_is_added_at_the_end(tmp_path: Path, edit: Edit) -> None:
    suite = suite_of(tmp_path, "s.json", LIST)
    path = Path(suite.path)
    added = edit(suite, path.read_bytes(), suite.cases[0])
    path.write_bytes(added.content)
    after = read(path)
    assert added.case == after.cases[-1].id == "s#3"
    assert [case.steps for case in after.cases[:2]] == [case.steps for case in suite.cases]
    assert after.cases[2].name == ("T (copy)" if edit is copy_case else "New test")


@pytest.mark.parametrize("edit", [copy_case, add_case])
def test_a_single_test_gets_no_other_one(tmp_path: Path, edit: Edit) -> None:
    suite = suite_of(tmp_path, "s.yaml", STEPS)
    with pytest.raises(NotEditable, match="write it as a list"):
        edit(suite, STEPS.encode(), suite.cases[0])


SHIPPED = sorted(path for path in shipped_folder("test-suites").rglob("*.*") if path.suffix in (".yaml", ".json"))
SEEDS = sorted(path for path in (Path(__file__).parent / "seeds").glob("*.*") if "fragment" not in path.name)


@pytest.mark.parametrize("path", [*SHIPPED, *SEEDS], ids=lambda path: path.name)
def test_every_check_of_shipped_suites_can_be_edited(path: Path, tmp_path: Path) -> None:
    loaded = load_suite(path, pattern_error)
    if loaded.suite is None:
        pytest.skip("needs files beside it")
    suite, content = loaded.suite, path.read_bytes()
    copy = tmp_path / path.name
    places = [
        (CheckPlace(case.id, step, number), check.target)
        for case in suite.cases
        for step, each in enumerate(case.steps)
        for number, check in enumerate(each.checks)
        if check.target and check.kind not in ("memory", "command")
    ]
    for place, target in places[:6]:
        changed = change_checks(suite, content, [place], target, "other[a-z]+")
        assert len(changed) - len(content) <= len("'other[a-z]+'") - len(target.encode()) + 2
        copy.write_bytes(changed)
        assert sum(map(len, targets(suite))) == sum(map(len, targets(replace(suite, cases=read_again(copy, suite)))))
    if suite.format == "schema-1.0.0":
        added = copy_case(suite, content, suite.cases[0])
        copy.write_bytes(added.content)
        assert [case.id for case in read_again(copy, suite)][1] == added.case


def read_again(copy: Path, suite: Suite) -> tuple[Case, ...]:
    """Return the cases of a copy in another folder, in which the files of the suite are missing."""
    loaded = load_suite(copy, pattern_error)
    if loaded.suite is not None:
        return loaded.suite.cases
    assert all("does not exist" in problem.what for problem in loaded.problems if problem.level == "error")
    pytest.skip(f"{suite.name} needs files beside it")


@pytest.mark.parametrize("edit", ["edit", "copy", "new"])
@pytest.mark.parametrize("name", ["s.yaml", "s.json"])
def test_a_draft_is_written(tmp_path: Path, edit: CaseEdit, name: str) -> None:
    suite = suite_of(tmp_path, name, SUITE if name == "s.yaml" else LIST)
    path = Path(suite.path)
    draft = draft_of(suite, path.read_bytes(), suite.cases[0], edit)
    title, prompt = ("name", "prompt") if name == "s.yaml" else ("description", "input")
    assert (draft[title] == "", draft[prompt] == "") == (edit == "new", edit == "new")
    written = write_draft(suite, path.read_bytes(), suite.cases[0], edit, draft, {**draft, title: "N", prompt: "a\nb"})
    path.write_bytes(written.content)
    cases = {case.id: case for case in read(path).cases}
    assert (cases[written.case].name, cases[written.case].steps[0].input) == ("N", "a\nb")
    assert len(cases) == 2 + (edit != "edit")


def test_an_entry_that_changed_in_the_file_is_not_replaced(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "s.yaml", SUITE)
    draft = draft_of(suite, SUITE.encode(), suite.cases[0], "edit")
    content = SUITE.replace("name: A", "name: B").encode()
    written = write_draft(suite, content, suite.cases[0], "edit", draft, {**draft, "prompt": "q"})
    assert written.content.decode() == SUITE.replace("name: A", "name: B").replace("prompt: p", "prompt: q", 1)
    with pytest.raises(NotEditable, match="`name` of the case has changed in the file"):
        write_draft(suite, content, suite.cases[0], "edit", draft, {**draft, "name": "C"})


GUEST = "# for guests\n- description: Guest\n  memory: {user: guest}\n  input: i\n  assert: {output.includes: x}\n"
ADMIN = "# for administrators\n" + GUEST.partition("\n")[2].replace("guest", "admin").replace("Guest", "Admin")
OTHER = "- description: Other\n  input: o\n"


@pytest.mark.parametrize(
    ("now", "saved"),
    [
        (OTHER + GUEST + ADMIN, OTHER + GUEST + ADMIN.replace("input: i", "input: q")),
        (ADMIN, ADMIN.replace("input: i", "input: q")),
        (ADMIN + GUEST, ADMIN.replace("input: i", "input: q") + GUEST),
        (GUEST + ADMIN + ADMIN, GUEST + ADMIN.replace("input: i", "input: q") + ADMIN),
        (OTHER + GUEST, None),
        (OTHER + ADMIN.replace("admin", "root"), None),
        (GUEST.replace("- ", "  ").replace("\n  ", "\n").replace("guests\n  ", "guests\n"), None),
        (OTHER + GUEST + ADMIN + ADMIN, None),
    ],
)
def test_a_test_of_a_list_is_saved_where_it_is_now(tmp_path: Path, now: str, saved: str | None) -> None:
    suite = suite_of(tmp_path, "s.yaml", GUEST + ADMIN)
    draft, case = draft_of(suite, (GUEST + ADMIN).encode(), suite.cases[1], "edit"), suite.cases[1]
    suite = suite_of(tmp_path, "s.yaml", now)
    if saved is None:
        with pytest.raises(NotEditable, match="The test has changed in the file since it was opened"):
            write_draft(suite, now.encode(), case, "edit", draft, {**draft, "input": "q"})
        return
    written = write_draft(suite, now.encode(), case, "edit", draft, {**draft, "input": "q"})
    assert written.content.decode() == saved
    read_again = suite_of(tmp_path, "s.yaml", saved).cases
    assert [case.steps[0].input for case in read_again if case.id == written.case] == ["q"]


def test_a_copy_has_no_comments_of_another_test(tmp_path: Path) -> None:
    text = GUEST + ADMIN.replace("input: i", "input: i  # as administrator")
    suite = suite_of(tmp_path, "s.yaml", text)
    draft, case = draft_of(suite, text.encode(), suite.cases[1], "copy"), suite.cases[1]
    now = OTHER + GUEST.replace("input: i", "input: i  # as guest") + ADMIN
    written = write_draft(suite_of(tmp_path, "s.yaml", now), now.encode(), case, "copy", draft, draft)
    added = written.content.decode().removeprefix(now)
    assert "user: admin" in added
    assert "guest" not in added


def test_the_draft_of_a_row_is_the_case_with_the_data_set(tmp_path: Path) -> None:
    text = SUITE.replace("prompt: p", "prompt: 'Say {{word}}'\n    vars: [{word: x}, {word: z}]", 1)
    path = tmp_path / "s.yaml"
    path.write_text(text)
    suite = read(path)
    draft = draft_of(suite, text.encode(), suite.cases[1], "edit")
    assert draft["prompt"] == "Say {{word}}"
    written = write_draft(suite, text.encode(), suite.cases[1], "edit", draft, {**draft, "id": "c"})
    assert written.case == suite.cases[1].id.replace("a.", "c.")
    path.write_bytes(written.content)
    assert len(read(path).cases) == 3
