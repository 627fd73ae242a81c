"""The form for a whole case over real suite files."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual.command import CommandPalette
from textual.widgets import Input

from tests.app.check_editor.test_screen import SUITE, FileSession, shown, shows
from tests.app.explore.explored import Seen, explored
from tests.support.histories import run_history
from tests.support.pilots import press_at_once
from tests.support.scripted_session import Opened
from tui.app.case_editor.case_state import LONGEST_FIELD
from tui.app.case_editor.screen import CaseEditorScreen, CheckList
from tui.app.check_editor.screen import CheckEditorScreen
from tui.app.dialogs import ConfirmScreen
from tui.app.presentation.pieces import text_of
from tui.app.widgets.form import Field, Form, FormDialog, TextField
from tui.app.widgets.list_view import LineListView
from tui.store.sqlite import SqliteStore

CASE = """\
  - id: a   # first
    name: A
    category: C
    prompt: p
    expectedPatterns: [parameter, '\\d']
"""


@asynccontextmanager
async def opened(folder: Path, key: str = "ctrl+e", suite: str = SUITE) -> AsyncIterator[Seen]:
    """Run the app with the form that a key opens on the first case."""
    path = folder / "s.yaml"
    path.write_text(suite)
    store = SqliteStore(folder / "runs.sqlite")
    session = FileSession({path: Opened(None)})
    session.keeps = run_history(store, folder, session.resolve)
    async with explored(session) as seen:
        await seen.until(lambda: seen.screen.selection.case is not None)
        await seen.press(key)
        await seen.until(lambda: isinstance(seen.app.screen, CaseEditorScreen))
        yield seen
    store.close()


def checks(seen: Seen) -> list[str]:
    """Return the rows of the checks."""
    table = seen.app.screen.query_one(CheckList)
    return [" ".join(text_of(table.line_at(place, 80)).split()) for place in range(table.line_count)]


async def saved(seen: Seen) -> None:
    """Save the case, and wait for Explore."""
    await seen.press("ctrl+s")
    await seen.until(lambda: seen.app.screen is seen.screen)


async def test_the_fields_are_written_and_all_else_stays(tmp_path: Path) -> None:
    async with opened(tmp_path) as seen:
        await shows(seen, "Edit case A", "parameter")
        await seen.press("tab", "ctrl+u", *"New: title", "tab", "tab", "end", "enter", "enter", *"last", "tab")
        await seen.press(*"good", "tab", "tab", "tab", *"x, y")
        await saved(seen)
        assert seen.screen.selection.case_id == "a"
        await seen.until(lambda: seen.row.endswith("New: title"))
    written = CASE.replace("name: A", "name: 'New: title'").replace("prompt: p", "prompt: |-\n      p\n\n      last")
    written += "    expectedBehavior: good\n    tags: [x, y]\n"
    assert (tmp_path / "s.yaml").read_text() == SUITE.replace(CASE, written)


async def test_what_a_line_cannot_show_is_displayed_as_pictures_and_stays(tmp_path: Path) -> None:
    name = '    name: |\n      Block title\n    tags: ["two\\nlines", "x\\e]0;y"]\n'
    suite = SUITE.replace("    name: A\n", name, 1)
    async with opened(tmp_path, suite=suite) as seen:
        fields = [each for each in seen.app.screen.query(Input) if each.disabled]
        assert [each.value for each in fields] == ["Block title", "two lines, x\u241b]0;y"]
        await seen.press("tab", "tab", "end", *" more")
        await saved(seen)
    assert (tmp_path / "s.yaml").read_text() == suite.replace("prompt: p", "prompt: p more", 1)


async def test_white_space_at_the_ends_of_prompts_and_checks_is_written(tmp_path: Path) -> None:
    suite = SUITE.replace("    prompt: p\n", '    prompt: "    return x\\n"\n', 1)
    async with opened(tmp_path, suite=suite) as seen:
        await seen.press("tab", "tab", "tab", "end", *"END", *["tab"] * 6, "a")
        await seen.until(lambda: isinstance(seen.app.screen, FormDialog))
        await seen.press("ctrl+u", *"not-contains", "down", "space", *"Paris")
        await shows(seen, "The spaces at the ends are a part of the text.")
        await seen.press("space", "enter")
        await seen.until(lambda: isinstance(seen.app.screen, CaseEditorScreen))
        await saved(seen)
    text = (tmp_path / "s.yaml").read_text()
    assert 'prompt: "    return xEND\\n"' in text
    assert "assertions: [{type: not-contains, value: ' Paris '}]" in text


async def test_a_text_of_spaces_only_is_empty(tmp_path: Path) -> None:
    async with opened(tmp_path, "A") as seen:
        await seen.press("tab", "tab", "tab", "tab", "space", "enter", "space")
        assert seen.app.screen.query_one(Form).texts()["expectedBehavior"] == ""


async def test_keys_that_arrive_together_go_to_the_fields_that_they_select(tmp_path: Path) -> None:
    async with opened(tmp_path, "a") as seen:
        keys = [*"first", "down", *"Second", "tab", *"Third", "enter", *"fourth", "tab", "shift+tab", *" again"]
        press_at_once(seen.app, *keys)
        form = seen.app.screen.query_one(Form)
        await seen.until(lambda: form.texts()["prompt"] == "fourth again")
        assert [*form.texts().values()][:4] == ["new-casefirst", "Second", "CThird", "fourth again"]


async def test_keys_that_arrive_together_go_to_the_fields_of_a_dialog(tmp_path: Path) -> None:
    async with opened(tmp_path, "A") as seen:
        await seen.press("tab", "tab")
        fields = [Field(name, name, "") for name in "abcd"]
        dialog = FormDialog[None]("Title", "", fields, lambda texts: texts_saved.append(dict(texts)))
        texts_saved: list[dict[str, str]] = []
        await seen.app.push_screen(dialog)
        press_at_once(seen.app, *"1a", "down", *"2b", "tab", *"3c", "up", "shift+tab", *"1", "tab", "tab", "tab", "4")
        await seen.until(lambda: dialog.query_one(Form).texts()["d"] == "4")
        await seen.press("enter")
        await seen.until(lambda: texts_saved)
    assert texts_saved == [{"a": "1a1", "b": "2b", "c": "3c", "d": "4"}]


async def test_a_file_of_the_context_keeps_its_content_or_nothing_is_saved(tmp_path: Path) -> None:
    files = "    codeContext:\n" + "".join(
        f"      - filePath: {name}.md\n        content: {text}   # {text}\n"
        for name, text in (("a", "one"), ("a", "two"))
    )
    suite = SUITE.replace(CASE, CASE + files)
    (tmp_path / "b.md").touch()
    (tmp_path / "c.md").touch()
    async with opened(tmp_path, suite=suite) as seen:
        (field,) = [each for each in seen.app.screen.query(TextField) if each.text == "a.md\na.md"]
        field.text = "a.md\nb.md\nc.md"
        await seen.press("ctrl+s")
        await seen.until(lambda: "different entries of this file" in " ".join(shown(seen).split()))
        assert (tmp_path / "s.yaml").read_text() == suite
        field.text = "c.md\na.md\na.md"
        await saved(seen)
    added = files.replace("codeContext:\n", "codeContext:\n      - {filePath: c.md}\n")
    assert (tmp_path / "s.yaml").read_text() == suite.replace(files, added)


@pytest.mark.long
async def test_a_field_is_validated_when_it_is_left(tmp_path: Path) -> None:
    async with opened(tmp_path, "a") as seen:
        await seen.press("tab")
        await seen.until(lambda: "is empty" not in shown(seen))
        await seen.press("tab")
        await shows(seen, "is empty; add text")
        await seen.press("shift+tab", "shift+tab", "ctrl+u", *"b", "tab")
        await shows(seen, "duplicate id `b`, already used by another case; choose another")
        await seen.press("ctrl+s")
        await seen.until(lambda: any("Not saved" in notice for notice in seen.notices))
        assert shown(seen).count("is empty; add text") == 2
    assert (tmp_path / "s.yaml").read_text() == SUITE


@pytest.mark.long
async def test_a_new_case_is_written_by_the_command_of_the_palette(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SUITE)
    store = SqliteStore(tmp_path / "runs.sqlite")
    session = FileSession({tmp_path / "s.yaml": Opened(None)})
    session.keeps = run_history(store, tmp_path, session.resolve)
    async with explored(session) as seen:
        await seen.until(lambda: seen.screen.selection.case is not None)
        await seen.press("ctrl+p")
        await seen.until(lambda: isinstance(seen.app.screen, CommandPalette))
        await seen.until(lambda: isinstance(seen.app.screen.focused, Input))
        await seen.press(*"new case")
        options = seen.app.screen.query_one("CommandList")
        await seen.until(lambda: "New case" in str(getattr(options, "get_option_at_index")(0).prompt))  # noqa: B009
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, CaseEditorScreen))
        await seen.press("tab", *"Mine", "tab", "tab", *"ask")
        await saved(seen)
        await seen.until(lambda: seen.screen.selection.case_id == "new-case")
        assert seen.row.endswith("Mine")
    written = CASE + "  - id: new-case\n    name: Mine\n    category: C\n    prompt: ask\n"
    assert (tmp_path / "s.yaml").read_text() == SUITE.replace(CASE, written)
    store.close()


async def test_a_copy_is_written_with_what_was_changed_in_it(tmp_path: Path) -> None:
    async with opened(tmp_path, "A") as seen:
        await shows(seen, "Duplicate of case A", "a-copy", "A (copy)")
        await seen.press("tab", "tab", "ctrl+u", *"D")
        await saved(seen)
        await seen.until(lambda: seen.screen.selection.case_id == "a-copy")
    copy = (
        CASE.replace("id: a ", "id: a-copy ").replace("name: A", "name: A (copy)").replace("category: C", "category: D")
    )
    assert (tmp_path / "s.yaml").read_text() == SUITE.replace(CASE, CASE + copy)


async def test_checks_are_added_changed_and_removed(tmp_path: Path) -> None:
    async with opened(tmp_path, "A") as seen:
        await seen.press(*["tab"] * 9)
        assert checks(seen) == ["expected parameter", "expected \\d"]
        await seen.press("a")
        await seen.until(lambda: isinstance(seen.app.screen, FormDialog))
        await seen.press("ctrl+u", *"latncy", "down", "down", *"x", "enter")
        await shows(seen, "Unknown kind. Did you mean latency?")
        await seen.press("ctrl+u", *"latency", "enter")
        await shows(seen, "expected a number, got the text `x`")
        await seen.press("ctrl+u", *"2000", "enter")
        await seen.until(lambda: isinstance(seen.app.screen, CaseEditorScreen))
        assert checks(seen) == ["expected parameter", "latency limit 2000", "expected \\d"]
        await seen.press("up", "enter")
        await seen.until(lambda: isinstance(seen.app.screen, FormDialog))
        await seen.press("down", "ctrl+u", *"(", "enter")
        await shows(seen, "is not a valid JavaScript pattern")
        await seen.press("escape")
        await seen.until(lambda: any("Esc again closes the form" in notice for notice in seen.notices))
        await seen.press("x", "escape")
        assert isinstance(seen.app.screen, FormDialog)
        await seen.press("escape")
        await seen.until(lambda: isinstance(seen.app.screen, CaseEditorScreen))
        assert checks(seen)[0] == "expected parameter"
        await seen.press("D")
        await saved(seen)
    text = (tmp_path / "s.yaml").read_text()
    assert "expectedPatterns: ['\\d']\n    assertions: [{type: latency, threshold: 2000}]\n" in text


async def test_a_check_that_is_removed_before_its_form_opens_or_while_it_is_open_ends_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, "A") as seen:
        editor = seen.app.screen
        assert isinstance(editor, CaseEditorScreen)
        await seen.press(*["tab"] * 9, "down")
        listed = editor.query_one(CheckList)
        await seen.until(lambda: listed.cursor == 1)
        editor.edit_check(LineListView.Chosen(listed, 1))
        editor.action_remove_check()
        await seen.until(lambda: checks(seen) == ["expected parameter"])
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, FormDialog))
        editor.action_remove_check()
        editor.edit_check(LineListView.Chosen(listed, 0))
        await seen.press("tab", "end", *"s", "enter")
        await seen.until(lambda: seen.app.screen is editor)
        assert checks(seen) == ["expected parameters"]


async def test_a_check_of_the_file_opens_the_check_editor_and_edits_stay(tmp_path: Path) -> None:
    async with opened(tmp_path) as seen:
        await seen.press("tab", "ctrl+u", *"B", *["tab"] * 8, "enter")
        await seen.until(lambda: isinstance(seen.app.screen, CheckEditorScreen))
        await shows(seen, "No recorded answers")
        await seen.press("s", "ctrl+s")
        await seen.until(lambda: any("Saved" in notice for notice in seen.notices))
        await seen.press("escape")
        await seen.until(lambda: isinstance(seen.app.screen, CaseEditorScreen))
        await seen.until(lambda: checks(seen) == ["expected parameters", "expected \\d"])
        await saved(seen)
    changed = CASE.replace("name: A", "name: B").replace("[parameter,", "[parameters,")
    assert (tmp_path / "s.yaml").read_text() == SUITE.replace(CASE, changed)


@pytest.mark.parametrize(
    ("old", "new", "is_saved"),
    [pytest.param("category: C\n", "category: D\n", True, marks=pytest.mark.long), ("name: A", "name: Z", False)],
)
async def test_what_another_program_changed_meanwhile_is_not_lost(
    tmp_path: Path, old: str, new: str, is_saved: bool
) -> None:
    file = tmp_path / "s.yaml"
    async with opened(tmp_path) as seen:
        await seen.press("tab", "ctrl+u", *"B")
        changed = SUITE.replace(old, new, 1)
        file.write_text(changed)
        if is_saved:
            await saved(seen)
            assert file.read_text() == changed.replace("name: A", "name: B")
        else:
            await seen.press("ctrl+s")
            await seen.until(lambda: any("has changed in the file" in notice for notice in seen.notices))
            assert isinstance(seen.app.screen, CaseEditorScreen)
            assert file.read_text() == changed


TESTS = """\
- memory: {user: admin}
  input: i
  assert: {output.includes: x, output.matches: z}
"""
INSERTED = TESTS.replace("admin", "guest")


@pytest.mark.parametrize(
    "moment", [*(pytest.param(moment, marks=pytest.mark.long) for moment in ("before", "during")), "after"]
)
async def test_a_test_that_was_moved_meanwhile_is_edited_with_the_check_editor(tmp_path: Path, moment: str) -> None:
    file = tmp_path / "s.yaml"
    async with opened(tmp_path, suite=TESTS) as seen:
        await seen.press("tab", "end", *"j", "tab")
        if moment == "before":
            file.write_text(INSERTED + TESTS)
            await asyncio.to_thread(seen.app.screen.context.open_suites.read, file)  # type: ignore[attr-defined]
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, CheckEditorScreen))
        await shows(seen, "No recorded answers")
        await seen.press("y", "ctrl+s")
        await seen.until(lambda: any("Saved" in notice for notice in seen.notices))
        changed = TESTS.replace("includes: x", "includes: xy")
        assert file.read_text() == (INSERTED if moment == "before" else "") + changed
        if moment == "during":
            file.write_text(INSERTED + changed)
        await seen.press("escape")
        await seen.until(lambda: isinstance(seen.app.screen, CaseEditorScreen))
        if moment == "during":
            await seen.until(lambda: any("changed since it was read" in notice for notice in seen.notices))
            await seen.press("ctrl+s")
            await seen.until(lambda: any("changed in the file since" in notice for notice in seen.notices))
            assert file.read_text() == INSERTED + changed
            return
        await seen.until(lambda: checks(seen) == ["output.includes xy", "output.matches z"])
        if moment == "after":
            file.write_text(INSERTED + changed)
        await saved(seen)
        assert seen.screen.selection.case_id == "s#2"
    assert file.read_text() == INSERTED + changed.replace("input: i", "input: ij")


@pytest.mark.parametrize("key", ["A", "ctrl+e"])
async def test_an_id_that_another_program_used_meanwhile_is_refused(tmp_path: Path, key: str) -> None:
    async with opened(tmp_path, key) as seen:
        await seen.press("ctrl+u", *"other")
        changed = SUITE.replace(CASE, CASE + CASE.replace("id: a ", "id: other "))
        (tmp_path / "s.yaml").write_text(changed)
        await seen.press("ctrl+s")
        await shows(seen, "duplicate id `other`, already used by another case")
        assert (tmp_path / "s.yaml").read_text() == changed


async def test_nothing_is_written_while_the_file_has_errors(tmp_path: Path) -> None:
    async with opened(tmp_path) as seen:
        await seen.press("tab", "ctrl+u", *"B")
        (tmp_path / "s.yaml").write_text("name: [")
        await seen.press("ctrl+s")
        await seen.until(lambda: any(notice.startswith("s.yaml, line 1: ") for notice in seen.notices))
        assert (tmp_path / "s.yaml").read_text() == "name: ["
        (tmp_path / "s.yaml").unlink()
        await seen.press("ctrl+s")
        await seen.until(lambda: any("s.yaml: does not exist" in notice for notice in seen.notices))
        (tmp_path / "s.yaml").write_text(SUITE)
        await saved(seen)
    assert (tmp_path / "s.yaml").read_text() == SUITE.replace("name: A", "name: B")


async def test_an_unsaved_case_is_closed_after_a_question(tmp_path: Path) -> None:
    async with opened(tmp_path) as seen:
        await seen.press("x", "escape")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        await seen.press("n")
        await seen.until(lambda: isinstance(seen.app.screen, CaseEditorScreen))
        await seen.press("y", "escape")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        await seen.press("y")
        await seen.until(lambda: seen.app.screen is seen.screen)
    assert (tmp_path / "s.yaml").read_text() == SUITE


@pytest.mark.long
async def test_only_the_beginning_of_a_very_long_text_is_displayed(tmp_path: Path) -> None:
    text, searched = "word " * 50_000, "line\n" * 5_000
    check = f"assertions: [{{type: contains, value: {json.dumps(searched)}}}]"
    suite = SUITE.replace("prompt: p\n", f"prompt: {json.dumps(text)}\n    {check}\n", 1)
    async with opened(tmp_path, suite=suite) as seen:
        form = seen.app.screen.query_one(Form)
        assert next(each.value for each in form.query(TextField)) == text[:LONGEST_FIELD] + "…"
        assert form.texts()["prompt"] == text
        await shows(seen, "has more than 20,000 characters; edit it in the file")
        await seen.press(*["tab"] * 9, "end", "enter")
        await seen.until(lambda: isinstance(seen.app.screen, FormDialog))
        assert seen.app.screen.query_one(TextField).value == searched[:LONGEST_FIELD] + "…"
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, CaseEditorScreen))
        await seen.press("shift+tab", "shift+tab", "x")
        await saved(seen)
    patterns = "    expectedPatterns: [parameter, '\\d']\n"
    assert (tmp_path / "s.yaml").read_text() == suite.replace(patterns, f"{patterns}    tags: [x]\n")


@pytest.mark.long
async def test_a_pasted_text_that_is_too_long_is_not_inserted(tmp_path: Path) -> None:
    async with opened(tmp_path) as seen:
        await seen.press("tab", "tab", "tab")
        field = seen.app.screen.focused
        assert isinstance(field, TextField)
        field.post_message(events.Paste("x" * LONGEST_FIELD))
        await seen.until(lambda: any("Not pasted" in notice for notice in seen.notices))
        field.post_message(events.Paste("x" * (LONGEST_FIELD - 1)))
        await seen.until(lambda: len(field.value) == LONGEST_FIELD)


async def test_a_test_of_testhaven_is_edited(tmp_path: Path) -> None:
    text = "description: T\ninput: i\nassert:\n  output.includes: x   # why\n"
    async with opened(tmp_path, suite=text) as seen:
        await seen.press("ctrl+u", *"U", "tab", "ctrl+a", "j", "tab", "a")
        await seen.until(lambda: isinstance(seen.app.screen, FormDialog))
        await seen.press("down", *"y", "enter")
        await seen.until(lambda: checks(seen) == ["output.includes x", "output.includes y"])
        await saved(seen)
    changed = text.replace(": T", ": U").replace("input: i", "input: ji")
    assert (tmp_path / "s.yaml").read_text() == f"{changed}  output.includes.2: y\n"


@pytest.mark.parametrize("size", [(40, 10), (30, 8), (1, 1)])
async def test_a_form_behind_a_dialog_is_resized(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(tmp_path) as seen:
        await seen.pilot.resize_terminal(220, 20)
        await seen.press("X", "escape")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        await seen.pilot.resize_terminal(*size)
        await seen.until(lambda: seen.app.screen.size == size)
        await seen.pilot.resize_terminal(140, 44)
        await seen.press("escape")
        await seen.until(lambda: isinstance(seen.app.screen, CaseEditorScreen))
        values = [each.value for each in seen.app.screen.query(TextField)]
        values += [each.value for each in seen.app.screen.query(Input)]
        assert any("X" in value for value in values)
