"""The dialog that goes to a case or suite, in the running app."""

from pathlib import Path

import pytest
from textual.events import Key

from tests.app.explore.explored import Seen, explored, session_for
from tests.support.scripted_session import Opened, case_of, suite_of
from tui.app.find.jump_dialog import JumpDialog
from tui.app.find.search_panel import SearchPanel
from tui.app.presentation.pieces import text_of
from tui.app.widgets.list_view import FoundList
from tui.model.errors import Problem


def entries(seen: Seen) -> list[str]:
    """Return the lines of the dialog, with single spaces."""
    found = seen.app.screen.query_one(FoundList)
    return [" ".join(text_of(found.line_at(place, 90)).split()) for place in range(found.line_count)]


def entry(seen: Seen) -> str:
    """Return the line under the cursor of the dialog."""
    return entries(seen)[seen.app.screen.query_one(FoundList).cursor]


async def opened(seen: Seen) -> None:
    await seen.press("g")
    await seen.until(lambda: isinstance(seen.app.screen, JumpDialog) and entries(seen), "the dialog lists cases")


async def typed(seen: Seen, text: str) -> None:
    await seen.press(*text)
    panel = seen.app.screen.query_one(SearchPanel)
    await seen.until(lambda: panel.shown_text == text, f"{text} is searched")


async def test_a_case_of_another_suite_is_selected_and_the_tree_has_the_focus(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path, "first", "second", "third")) as seen:
        await seen.until(lambda: all(each.read for each in seen.screen.context.open_suites.all))
        await opened(seen)
        assert entry(seen).startswith("reverse a text one"), "the cursor is on the selected case"
        await typed(seen, "hash third")
        assert entries(seen) == ["hash a password three Security · third"]
        await seen.press("enter")
        await seen.until(lambda: seen.screen.selection.path == tmp_path / "third.yaml")
        assert seen.screen.selection.case_id == "three"
        await seen.until(lambda: seen.row.endswith("high") and "hash a password" in seen.row)
        assert seen.app.focused is seen.screen.suites.suite_tree


async def test_suites_and_files_that_were_not_read_are_listed(tmp_path: Path) -> None:
    session = session_for(tmp_path, "first", "second")
    session.suites[tmp_path / "second.yaml"] = Opened(None, (Problem("second.yaml", 1, 1, "error", "x", "broken"),))
    async with explored(session) as seen:
        await opened(seen)
        await typed(seen, "second")
        assert len(entries(seen)) == 1
        await seen.press("enter")
        await seen.until(lambda: seen.screen.selection.path == tmp_path / "second.yaml")


@pytest.mark.long
async def test_a_folder_is_a_target(tmp_path: Path) -> None:
    session = session_for(tmp_path, "first")
    other = tmp_path / "web" / "later.yaml"
    other.parent.mkdir()
    other.write_text("")
    session.suites[other] = Opened(suite_of(other, case_of("x", name="log in"), name="later"))
    async with explored(session) as seen:
        await seen.until(lambda: all(each.read for each in seen.screen.context.open_suites.all))
        await opened(seen)
        await typed(seen, "web folder")
        await seen.press("enter")
        await seen.until(lambda: seen.row.endswith("/web"))


async def test_a_filter_that_excludes_the_case_is_closed_and_one_that_selects_it_stays(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await seen.press("/", *"hash", "enter")
        await seen.until(lambda: len(seen.rows) == 3 and seen.screen.selection.case_id == "three")
        await opened(seen)
        await typed(seen, "hash")
        await seen.press("enter")
        await seen.until(lambda: seen.app.screen is seen.screen)
        assert seen.screen.suites.filtering
        await opened(seen)
        await typed(seen, "reverse")
        await seen.press("enter")
        await seen.until(lambda: seen.screen.selection.case_id == "one" and not seen.screen.suites.filtering)
        await seen.until(lambda: "reverse a text" in seen.row)


async def test_keys_typed_at_once_go_into_the_dialog(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        for key in "ghash":
            seen.app.post_message(Key(key, key))
        seen.app.post_message(Key("enter", "\r"))
        await seen.until(lambda: seen.screen.selection.case_id == "three", "the case is selected")
        assert seen.screen.selection.streaming is None, "the s of hash is no command"
        await seen.until(lambda: seen.app.screen is seen.screen)


async def test_arrows_move_the_cursor_and_escape_changes_nothing(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        before = seen.screen.selection.case_id
        await opened(seen)
        await seen.press("down")
        await seen.until(lambda: entry(seen).startswith("query by mail"))
        await seen.press("up", "up")
        await seen.until(lambda: entry(seen).startswith("quickstart"))
        await seen.press("escape")
        await seen.until(lambda: seen.app.screen is seen.screen)
        assert seen.screen.selection.case_id == before


async def test_nothing_found_is_displayed_and_enter_does_nothing(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await opened(seen)
        await typed(seen, "zzz")
        assert entries(seen) == []
        assert "No case or suite matches." in str(seen.app.screen.query("SearchPanel > Static").last().render())
        await seen.press("enter")
        await seen.pilot.pause()
        assert isinstance(seen.app.screen, JumpDialog)


@pytest.mark.long
async def test_a_suite_that_is_read_later_is_searched_again(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await opened(seen)
        await typed(seen, "brand new")
        path = tmp_path / "quickstart.yaml"
        seen.session.suites[path] = Opened(suite_of(path, case_of("n", name="a brand new case")))
        path.write_text("# changed\n")
        await seen.until(lambda: entries(seen), "the changed file is read")


async def test_g_is_a_character_of_the_filter(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await seen.press("/", "g")
        await seen.until(lambda: seen.screen.suites.typing and seen.screen.selection.filter)
        assert seen.app.screen is seen.screen


@pytest.mark.parametrize(
    "name",
    [
        "\x1b[31mred \u202e [/foo] [bold]x",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("[/foo] [bold]x", "line\nbreak", "İ" * 400, " ")),
    ],
)
async def test_hostile_names_are_displayed(tmp_path: Path, name: str) -> None:
    session = session_for(tmp_path)
    path = tmp_path / "quickstart.yaml"
    session.suites[path] = Opened(suite_of(path, case_of("x", name=name), name="q"))
    async with explored(session) as seen:
        await opened(seen)
        assert all(line.isprintable() for line in entries(seen))
