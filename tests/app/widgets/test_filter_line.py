"""Completion of a filter below its input, in every place that filters."""

from pathlib import Path

import pytest
from textual.events import Key
from textual.widgets import Static

from tests.app.explore.explored import Seen, explored, session_for
from tests.support.scripted_session import Opened, case_of, suite_of
from tui.app.presentation.pieces import text_of
from tui.app.widgets.filter_line import FilterLine
from tui.app.widgets.list_view import FoundList
from tui.app.widgets.saved_filters_dialog import SavedFiltersDialog
from tui.session.saved_filters import SavedFilters


def line_of(seen: Seen) -> FilterLine:
    return seen.app.screen.query_one(FilterLine)


def proposed(seen: Seen) -> list[str]:
    """Return the displayed completions; none if the list is hidden."""
    found = line_of(seen).query_one(FoundList)
    lines = (text_of(found.line_at(place, 60)) for place in range(found.line_count)) if found.display else ()
    return [" ".join(line.split()) for line in lines]


async def opened(seen: Seen) -> None:
    await seen.press("/")
    await seen.until(lambda: seen.screen.suites.typing and proposed(seen), "keys are proposed")


async def test_tab_accepts_a_key_then_a_value(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await opened(seen)
        assert proposed(seen)[:2] == ["status: result of a displayed model", "tag: tag of the case"]
        await seen.press("c")
        await seen.until(lambda: proposed(seen) == ["cat: category of the case"])
        await seen.press("tab")
        await seen.until(lambda: proposed(seen) == ["Code Generation", "Security"])
        await seen.press("down", "tab")
        await seen.until(lambda: line_of(seen).line.value == "cat:Security ")
        await seen.until(lambda: len(seen.rows) == 4, "the filter is applied")
        assert proposed(seen) == []
        await seen.press("s", "e", "v", ":", "h", "tab")
        await seen.until(lambda: line_of(seen).line.value == "cat:Security sev:high ")


async def test_keys_pressed_at_once_are_completed_in_their_order(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await opened(seen)
        for key in ("s", "e", "v", "tab", "h", "tab"):
            seen.app.post_message(Key(key, key if len(key) == 1 else "\t"))
        await seen.until(lambda: line_of(seen).line.value == "sev:high ")


@pytest.mark.long
async def test_without_a_completion_tab_moves_the_focus_and_the_list_is_hidden(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await opened(seen)
        await seen.press(*"hash")
        await seen.until(lambda: not proposed(seen))
        await seen.press("tab")
        await seen.until(lambda: not seen.screen.suites.typing)
        await seen.press("/")
        await seen.press("backspace", "backspace", "backspace", "backspace")
        await seen.until(lambda: proposed(seen))
        await seen.press("s", "enter")
        await seen.until(lambda: seen.app.focused is seen.screen.suites.suite_tree and not proposed(seen))


async def test_a_completion_is_accepted_with_a_click(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await opened(seen)
        await seen.pilot.click(line_of(seen).query_one(FoundList), offset=(3, 1))
        await seen.until(lambda: line_of(seen).line.value == "tag:" and seen.screen.suites.typing)


@pytest.mark.long
async def test_a_hint_names_the_nearest_key(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await opened(seen)
        await seen.press(*"tagg:x")
        await seen.until(lambda: "unknown filter tagg:; did you mean tag:?" in seen.screen.suites.hint)


@pytest.mark.parametrize(
    "name",
    [
        "[/foo] [bold]x",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("\x1b[31mred \u202e", "x" * 900, 'a "b"')),
    ],
)
async def test_hostile_values_are_displayed_and_accepted(tmp_path: Path, name: str) -> None:
    session = session_for(tmp_path)
    path = tmp_path / "quickstart.yaml"
    session.suites[path] = Opened(suite_of(path, case_of("x", name="n", category=name), name="q"))
    async with explored(session) as seen:
        await opened(seen)
        await seen.press(*"cat:")
        await seen.until(lambda: len(proposed(seen)) == 1)
        assert all(line.isprintable() for line in proposed(seen))
        await seen.press("tab")
        await seen.until(lambda: not proposed(seen))
        assert line_of(seen).line.value.startswith("cat:")


async def test_a_filter_is_saved_used_and_deleted(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await opened(seen)
        await seen.press(*"sev:high", "ctrl+s")
        await seen.until(lambda: "type a name" in dialog_text(seen))
        await seen.press(*"Worst", "enter")
        await seen.until(lambda: "Saved as @worst" in dialog_text(seen))
        assert seen.session.filters.texts == {"worst": "sev:high"}
        await seen.press("enter")
        await seen.until(lambda: seen.app.screen is seen.screen and line_of(seen).line.value == "@worst ")
        count = len(seen.rows)
        await seen.press("escape", "/")
        await seen.until(lambda: proposed(seen)[:1] == ["@worst sev:high"])
        await seen.press("@", "w", "tab")
        await seen.until(lambda: line_of(seen).line.value == "@worst " and len(seen.rows) == count)
        await seen.press("ctrl+s", "D", "y")
        await seen.until(lambda: "Deleted @worst" in dialog_text(seen))
        await seen.press("escape")
        await seen.until(lambda: "unknown saved filter @worst" in seen.screen.suites.hint)


@pytest.mark.long
async def test_a_saved_filter_is_renamed_or_replaced(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.filters.save("old", "tag:x")
    async with explored(session) as seen:
        await opened(seen)
        await seen.press("ctrl+s", "r", *"er", "enter")
        await seen.until(lambda: "Renamed to @older" in dialog_text(seen))
        await seen.press("escape")
        await seen.press(*"status:fail", "ctrl+s", *"older", "enter")
        await seen.until(lambda: "@older is tag:x. Enter again replaces it" in dialog_text(seen))
        SavedFilters(tmp_path / "data" / "filters.json").save("older", "tag:y")
        await seen.press("enter")
        await seen.until(lambda: "@older is tag:y. Enter again replaces it" in dialog_text(seen))
        await seen.press("enter")
        await seen.until(lambda: session.filters.texts == {"older": "status:fail"})
        await seen.press("s", *"no/name", "enter")
        await seen.until(lambda: "letters, digits" in dialog_text(seen) and "Save" not in dialog_text(seen))


async def test_filters_that_another_program_saved_are_proposed(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        await opened(seen)
        assert proposed(seen)[0].startswith("status:")
        await seen.press("escape")
        other = SavedFilters(tmp_path / "data" / "filters.json")
        other.save("theirs", "sev:high")
        await seen.press("/")
        await seen.until(lambda: proposed(seen)[:1] == ["@theirs sev:high"])


async def test_a_damaged_file_is_reported(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        file = tmp_path / "data" / "filters.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text("{")
        await seen.press("/")
        await seen.until(lambda: any("It was renamed" in notice.message for notice in seen.app._notifications))


def dialog_text(seen: Seen) -> str:
    """Return the message of the dialog of saved filters."""
    dialog = seen.app.screen
    return str(dialog.query_one(Static).render()) if isinstance(dialog, SavedFiltersDialog) else ""
