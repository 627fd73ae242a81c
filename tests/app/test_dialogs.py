"""Dialogs that several screens use."""

import pytest

from tests.support.pilots import screen_rows, until
from tui.app.dialogs import ConfirmScreen
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


async def test_a_short_question_is_answered_at_once_and_every_other_key_answers_no() -> None:
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    answers: list[bool | None] = []
    async with app.run_test(size=(100, 30)) as pilot:
        for key, answer in (("y", True), ("n", False), ("escape", False), ("q", False)):
            await app.push_screen(ConfirmScreen("Run?", "14 trials.", yes="run", no="cancel"), answers.append)
            await pilot.press(key)
            await until(pilot, lambda: len(app.screen_stack) == 1)
            assert answers.pop() is answer, key


@pytest.mark.parametrize(("while_typing", "text"), [(True, "many queries"), (False, "/security")])
async def test_the_letters_of_a_text_are_no_answer(
    monkeypatch: pytest.MonkeyPatch, while_typing: bool, text: str
) -> None:
    monkeypatch.setattr(ConfirmScreen, "quiet_seconds", 3600.0)
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    answers: list[bool | None] = []

    def ignores_keys() -> bool:
        return any("keys are ignored while you type" in row for row in screen_rows(app.screen))

    async with app.run_test(size=(100, 30)) as pilot:
        dialog = ConfirmScreen("Allow?", "An agent.", yes="allow it", no="do not run", while_typing=while_typing)
        await app.push_screen(dialog, answers.append)
        await pilot.press(*text)
        await until(pilot, ignores_keys)
        assert (answers, app.screen) == ([], dialog)
        monkeypatch.setattr(ConfirmScreen, "quiet_seconds", 0.01)
        await pilot.press("y")
        await until(pilot, lambda: not ignores_keys())
        assert answers == []
        await pilot.press("y")
        await until(pilot, lambda: answers == [True])
