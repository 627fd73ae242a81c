"""Dialogs that several screens use."""

import re

import pytest
from textual.containers import Vertical, VerticalScroll
from textual.events import Key, Paste
from textual.pilot import Pilot
from textual.widgets._toast import Toast

from tests.support.pilots import screen_rows, until
from tui.app.dialogs import ConfirmScreen, PaintedText, without_ambiguous_answers
from tui.app.theme.themed_app import ThemedApp
from tui.model.shipped import shipped_folder


async def test_a_long_question_is_answered_only_at_its_end() -> None:
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    answers: list[bool | None] = []
    async with app.run_test(size=(100, 30)) as pilot:
        question = "\n".join(f"line {number}" for number in range(60))
        dialog = ConfirmScreen("Allow?", question, yes="allow it", no="do not run")
        await app.push_screen(dialog, answers.append)
        await until(pilot, lambda: any("y answers at its end" in row for row in screen_rows(app.screen)))
        assert any("y allow it" in row for row in screen_rows(app.screen)), "the keys are always displayed"
        assert not any("line 59" in row for row in screen_rows(app.screen))
        pages = 0
        while not any("line 59" in row for row in screen_rows(app.screen)):
            assert app.screen is dialog
            await pilot.press("y")
            pages += 1
        assert pages > 1
        assert answers == []
        await pilot.press("y")
        await until(pilot, lambda: answers == [True])


async def test_the_keys_of_a_question_are_those_of_the_keymap() -> None:
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    app.set_keymap({"confirm.yes": "n", "confirm.no": "y,escape"})
    answers: list[bool | None] = []
    async with app.run_test(size=(100, 30)) as pilot:
        question = "\n".join(f"line {number}" for number in range(60))
        await app.push_screen(ConfirmScreen("Reveal?", question, yes="reveal", no="stay blind"), answers.append)
        await until(pilot, lambda: any("n reveal    y stay blind" in row for row in screen_rows(app.screen)))
        await until(pilot, lambda: any("n answers at its end" in row for row in screen_rows(app.screen)))
        await pilot.press("y")
        await until(pilot, lambda: answers == [False])


def test_a_key_that_the_config_gives_to_both_answers_of_a_question_answers_no() -> None:
    for keymap in ({"confirm.yes": "n"}, {"confirm.yes": "f2, escape", "confirm.no": "y"}, {"confirm.no": "y"}):
        expected = {} if "f2, escape" not in keymap.values() else keymap
        assert without_ambiguous_answers({**keymap, "look.matrix": "f9"}) == {**expected, "look.matrix": "f9"}


WORDS = [f"W{number}W" for number in range(150)]


def displayed(app: ThemedApp[None]) -> set[str]:
    return set(re.findall(r"W\d+W", "\n".join(screen_rows(app.screen))))


async def answer_with_y(app: ThemedApp[None], pilot: Pilot[None], answers: list[bool | None]) -> set[str]:
    """Press `y` until the question is answered, and return the words that were displayed."""
    seen: set[str] = set()
    for _ in range(300):
        # Also what the key before still has to do: rows that come and go between two looks would be missed.
        await until(pilot, lambda: not app.screen.message_queue_size and not app.screen._callbacks)
        await until(pilot, lambda: not app.screen._dirty_widgets and not app.screen._layout_required)
        if answers:
            return seen
        seen |= displayed(app)
        await pilot.press("y")
    return seen


@pytest.mark.parametrize(
    "size",
    [
        *((80, 24), (80, 9), (18, 9)),
        *(pytest.param(size, marks=pytest.mark.long) for size in ((80, 15), (80, 12), (80, 6), (24, 12))),
    ],
)
async def test_every_row_of_a_question_is_displayed_before_it_is_answered(size: tuple[int, int]) -> None:
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    answers: list[bool | None] = []
    async with app.run_test(size=size) as pilot:
        dialog = ConfirmScreen("Allow?", " ".join(WORDS), yes="allow it", no="do not run")
        await app.push_screen(dialog, answers.append)
        seen = await answer_with_y(app, pilot, answers)
        assert (answers, sorted(set(WORDS) - seen)) == ([True], [])


async def test_a_question_without_room_is_not_answered_with_yes() -> None:
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    answers: list[bool | None] = []
    async with app.run_test(size=(80, 2)) as pilot:
        await app.push_screen(ConfirmScreen("Allow?", "An agent.", yes="allow it", no="do not run"), answers.append)
        await pilot.press("y", "y", "y")
        await pilot.pause()
        assert answers == []
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: any("An agent." in row for row in screen_rows(app.screen)))
        await pilot.press("y")
        await until(pilot, lambda: answers == [True])


@pytest.mark.parametrize("disturb", ["end", "wider"])
async def test_rows_that_were_skipped_are_displayed_before_yes(disturb: str) -> None:
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    answers: list[bool | None] = []
    async with app.run_test(size=(40, 12)) as pilot:
        dialog = ConfirmScreen("Allow?", " ".join(WORDS), yes="allow it", no="do not run")
        await app.push_screen(dialog, answers.append)
        await until(pilot, lambda: any("more text" in row for row in screen_rows(app.screen)))
        before = displayed(app) if disturb == "end" else set()
        if disturb == "end":
            dialog.query_one(VerticalScroll).scroll_end(animate=False)
        else:
            await pilot.press("y", "y")
            await pilot.resize_terminal(120, 12)
        await until(pilot, lambda: not any("W0W" in row for row in screen_rows(app.screen)))
        seen = await answer_with_y(app, pilot, answers)
        assert (answers, sorted(set(WORDS) - seen - before)) == ([True], [])
        assert len(before) < len(WORDS) / 2


async def test_rows_that_pass_by_in_an_animation_are_not_displayed() -> None:
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    answers: list[bool | None] = []
    async with app.run_test(size=(80, 24)) as pilot:
        app.animation_level = "full"
        text = "\n".join(f"row {number}" for number in range(60))
        await app.push_screen(ConfirmScreen("Allow?", text, yes="allow it", no="do not run"), answers.append)
        scroll = app.screen.query_one(VerticalScroll)
        await until(pilot, lambda: scroll.max_scroll_y > 30 and "row 0" in "\n".join(screen_rows(app.screen)))
        await pilot.press("end")
        await until(pilot, lambda: scroll.scroll_y == scroll.max_scroll_y)
        await pilot.press("y")
        await until(pilot, lambda: scroll.scroll_y < scroll.max_scroll_y)
        assert answers == []


async def test_a_question_that_was_below_another_screen_is_displayed_before_yes() -> None:
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    answers: list[bool | None] = []
    async with app.run_test(size=(80, 12)) as pilot:
        dialog = ConfirmScreen("Allow?", " ".join(WORDS), yes="allow it", no="do not run")
        await app.push_screen(dialog, answers.append)
        await app.push_screen(ConfirmScreen("Quit?", "Now?", yes="quit", no="stay"))
        await until(pilot, lambda: app.screen.query_one(PaintedText).next_row is None)
        await pilot.resize_terminal(60, 12)
        await until(pilot, lambda: dialog.query_one(PaintedText).next_row == 0)
        await pilot.press("n")
        await until(pilot, lambda: app.screen is dialog)
        seen = await answer_with_y(app, pilot, answers)
        assert (answers, sorted(set(WORDS) - seen)) == ([True], [])


async def test_notifications_do_not_cover_a_question() -> None:
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.notify("before " * 60, timeout=3600)
        await app.push_screen(ConfirmScreen("Allow?", " ".join(WORDS), yes="allow it", no="do not run"))
        app.notify("after " * 60, timeout=3600)
        await until(pilot, lambda: len(app.screen.query(Toast)) == 2)
        await until(pilot, lambda: any("▌" in row for row in screen_rows(app.screen)), "a part beside the dialog")
        frame = app.screen.query_one(Vertical).region
        inside = [row[frame.x + 1 : frame.right - 1] for row in screen_rows(app.screen)[frame.y : frame.bottom]]
        assert not any(sign in row for row in inside for sign in ("▌", "before", "after"))
        assert "y allow it" in "".join(inside)


async def test_a_question_for_permission_has_the_screen_and_characters_of_a_known_width() -> None:
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    async with app.run_test(size=(80, 24)) as pilot:
        hidden = "👍🏽" * 19 + "; touch it"
        dialog = ConfirmScreen("Allow?", hidden, yes="allow it", no="do not run", asks_permission=True)
        await app.push_screen(dialog)
        await until(pilot, lambda: any("touch it" in row for row in screen_rows(app.screen)))
        screen = "".join(screen_rows(app.screen))
        assert dialog.styles.background.a == 1, "the screens below are not painted"
        assert "🏽" not in screen
        assert screen.count("👍") == 19


async def test_a_short_question_is_answered_at_once_and_every_other_key_answers_no() -> None:
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    answers: list[bool | None] = []
    async with app.run_test(size=(100, 30)) as pilot:
        for key, answer in (("y", True), ("n", False), ("escape", False), ("q", False)):
            await app.push_screen(ConfirmScreen("Run?", "14 trials.", yes="run", no="cancel"), answers.append)
            await pilot.press(key)
            await until(pilot, lambda: len(app.screen_stack) == 1)
            assert answers.pop() is answer, key


@pytest.mark.parametrize(("asks_permission", "text"), [(True, "y"), (True, "many queries"), (False, "/security")])
async def test_the_letters_of_a_text_are_no_answer(
    monkeypatch: pytest.MonkeyPatch, asks_permission: bool, text: str
) -> None:
    monkeypatch.setattr(ConfirmScreen, "quiet_seconds", 3600.0)
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    answers: list[bool | None] = []

    def ignores_keys() -> bool:
        return any("keys are ignored while you type" in row for row in screen_rows(app.screen))

    async with app.run_test(size=(100, 30)) as pilot:
        dialog = ConfirmScreen("Allow?", "An agent.", yes="allow it", no="do not run", asks_permission=asks_permission)
        await app.push_screen(dialog, answers.append)
        pressed = Key("y", "y")
        await pilot.press(*text)
        await until(pilot, ignores_keys)
        assert (answers, app.screen) == ([], dialog)
        monkeypatch.setattr(ConfirmScreen, "quiet_seconds", 0.01)
        await pilot.press("y")
        await until(pilot, lambda: not ignores_keys())
        assert answers == []
        monkeypatch.setattr(ConfirmScreen, "quiet_seconds", 3600.0)
        dialog.post_message(pressed)  # a busy app handles it only now
        await until(pilot, ignores_keys)
        assert answers == []
        monkeypatch.setattr(ConfirmScreen, "quiet_seconds", 0.01)
        await pilot.press("y")
        await until(pilot, lambda: not ignores_keys())
        await pilot.press("y")
        await until(pilot, lambda: answers == [True])


async def test_a_key_after_a_paste_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ConfirmScreen, "quiet_seconds", 3600.0)
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    answers: list[bool | None] = []
    async with app.run_test(size=(100, 30)) as pilot:
        dialog = ConfirmScreen("Delete?", "A run.", yes="delete", no="keep")
        await app.push_screen(dialog, answers.append)
        app.post_message(Paste(""))
        await until(pilot, lambda: any("keys are ignored while you type" in row for row in screen_rows(app.screen)))
        await pilot.press("y")
        await pilot.pause()
        assert (answers, app.screen) == ([], dialog)
