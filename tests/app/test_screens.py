"""Every screen and dialog closes once, whatever is pressed while it closes, and never closes the screen below."""

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.command import CommandList, CommandPalette
from textual.screen import Screen

import tui.app
from tests.app.snapshots.scenes import ANSWERED, REVIEW, SCENES, Scene, play
from tests.app.snapshots.stage import Stage, fixed_world, run_session, scored_session, staged
from tests.support.pilots import press_at_once, until
from tui.app.dialogs import ChoiceScreen, ConfirmScreen, PaintedText, TextScreen
from tui.app.explore.model_dialog import ModelChooser
from tui.app.explore.screen import ExploreScreen
from tui.app.figures_screen import FiguresScreen
from tui.app.presentation.pieces import Line
from tui.app.screens import AppScreen, Dialog
from tui.app.splash import FrameScreen, SplashScreen
from tui.app.theme.themed_app import ThemedApp
from tui.app.widgets.list_view import LineListView

__all__ = ["fixed_world"]

LINES: tuple[Line, ...] = ((("one", "plain"),), (("two", "plain"),), (("three", "plain"),))


async def listed(stage: Stage) -> None:
    """Wait until the palette lists commands."""
    await stage.until(lambda: stage.app.screen.query_one(CommandList).option_count, "commands in the palette")


NAMES = (
    *("block-chooser", "matrix", "matrix-pairs", "compare", "review-start", "review", "review-guidance", "runs"),
    *("export", "model-chooser", "add-provider", "help", "confirm", "jump", "search", "jump-mode", "check-editor"),
    *("case-editor", "saved-filters", "tour", "settings", "theme"),
)
OPENED = (
    *(scene for scene in SCENES if scene.name in NAMES),
    Scene("palette", run_session, (*ANSWERED, "ctrl+p", CommandPalette, listed)),
)
"""Every class of screens once."""
KINDS = ("compare", "confirm", "export", "case-editor", "palette")
"""A work screen, a question, a list, a form, and the palette of Textual."""
OPENED_AGAIN = (
    *(scene for scene in SCENES if scene.name in ("model-settings", "setting")),
    Scene("figures", scored_session, (*REVIEW, "I", FiguresScreen)),
    Scene("rule", scored_session, (*REVIEW, "B", TextScreen)),
)


def subclasses(kind: type) -> Iterator[type]:
    """Yield all classes below a class."""
    kinds: list[type] = kind.__subclasses__()
    for each in kinds:
        yield each
        yield from subclasses(each)


def classes_that_close() -> set[type]:
    """Return all classes of screens of the app but base classes, and the two screens that stay."""
    for module in pkgutil.walk_packages(tui.app.__path__, "tui.app."):
        importlib.import_module(module.name)
    kinds = {kind for kind in subclasses(Screen) if kind.__module__.startswith("tui.")}
    return kinds - {AppScreen, Dialog, FrameScreen, SplashScreen, ExploreScreen}


def disable(screen: Screen[Any], patch: pytest.MonkeyPatch) -> None:
    """Disable all keys of a screen."""
    patch.setattr(screen, "check_action", lambda *_: False)
    patch.setattr(screen, "AUTO_FOCUS", "")
    screen.set_focus(None)


def test_all_screens_close_in_one_way() -> None:
    assert [kind for kind in classes_that_close() if not issubclass(kind, AppScreen)] == []
    assert [kind for kind in classes_that_close() if "dismiss" in vars(kind)] == []


async def close_by_quick_keys(scene: Scene, world: Path, patch: pytest.MonkeyPatch) -> type:
    """Close the screen of a scene by many keys at once, expect the one below, and return the class of what closed."""
    folder = world / scene.name
    folder.mkdir()
    patch.chdir(folder)
    async with staged(scene.session, folder, (80, 24), scene.theme) as stage:
        await play(scene, stage)
        app, top, below = stage.app, stage.app.screen, stage.app.screen_stack[-2]
        disable(below, patch)
        press_at_once(app, "enter", "escape", "escape", "n", "n")
        for _ in range(5):  # what the keys have not closed has opened something, or its filter has the focus
            await stage.pilot.pause()
            if app.screen is not below:
                await stage.press("y" if isinstance(app.screen, ConfirmScreen) else "escape")
        assert app.screen is below, scene.name
        top.dismiss()  # as by a worker that finishes late
        assert app.screen is below, scene.name
    return type(top)


async def test_quick_keys_close_one_screen(fixed_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for scene in OPENED:
        if scene.name in KINDS:
            await close_by_quick_keys(scene, fixed_world, monkeypatch)


@pytest.mark.long
async def test_quick_keys_close_each_screen(fixed_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {await close_by_quick_keys(scene, fixed_world, monkeypatch) for scene in OPENED}
    assert classes_that_close() - shown == set()


@pytest.mark.long
async def test_quick_keys_close_one_screen_opened_from_elsewhere(
    fixed_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for scene in OPENED_AGAIN:
        await close_by_quick_keys(scene, fixed_world, monkeypatch)


class Opener(ThemedApp[None]):
    """An app that opens a dialog, and records its results."""

    def __init__(self, dialog: Dialog[Any]) -> None:
        super().__init__(theme_folders=[])
        self.dialog, self.floor = dialog, Screen[None]()
        self.results: list[object] = []

    def on_mount(self) -> None:
        self.push_screen(self.floor)
        self.push_screen(self.dialog, self.results.append)


@pytest.mark.parametrize(
    ("keys", "result"),
    [
        (("enter", "escape"), 0),
        (("enter", "enter"), 0),
        (("down", "enter", "escape"), 1),
        (("down", "down", "enter", "q", "escape"), 2),
        (("escape", "enter"), None),
        (("escape", "escape", "escape"), None),
    ],
)
async def test_the_first_key_that_closes_a_choice_decides(keys: tuple[str, ...], result: int | None) -> None:
    app = Opener(ChoiceScreen("Choose", LINES, 0))
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.focused, LineListView))
        press_at_once(app, *keys)
        await until(pilot, lambda: app.results)
        await pilot.pause()
        assert (app.results, app.screen) == ([result], app.floor)


@pytest.mark.parametrize(("keys", "result"), [("yy", True), ("yn", True), ("ny", False), (("escape", "y"), False)])
async def test_the_first_answer_counts(keys: tuple[str, ...], result: bool) -> None:
    app = Opener(ConfirmScreen("Delete?", "It cannot be undone.", yes="delete", no="keep"))
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.screen is app.dialog and app.screen.query_one(PaintedText).next_row is None)
        press_at_once(app, *keys)
        await until(pilot, lambda: app.results)
        await pilot.pause()
        assert (app.results, app.screen) == ([result], app.floor)


async def test_a_key_that_closes_does_not_overtake_a_selection() -> None:
    app = Opener(ModelChooser(["a", "b"], ()))
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.focused, LineListView))
        press_at_once(app, "space", "down", "space", "enter", "escape")
        await until(pilot, lambda: app.results)
        await pilot.pause()
        assert (app.results, app.screen) == ([("a", "b")], app.floor)


async def test_a_double_click_chooses_once() -> None:
    app = Opener(ChoiceScreen("Choose", LINES, 0))
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.focused, LineListView))
        await pilot.click(LineListView, offset=(2, 1), times=2)
        await until(pilot, lambda: app.results)
        await pilot.pause()
        assert (app.results, app.screen) == ([1], app.floor)


async def test_a_dialog_below_another_one_closes_when_it_is_on_top() -> None:
    app = Opener(ChoiceScreen("Choose", LINES, 0))
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.screen is app.dialog)
        app.action_command_palette()
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        app.dialog.dismiss(2)
        app.dialog.dismiss(1)
        await pilot.pause()
        assert (app.results, isinstance(app.screen, CommandPalette)) == ([], True)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.floor)
        assert app.results == [2]


async def test_a_palette_that_is_closed_twice_leaves_the_screen_below() -> None:
    app: ThemedApp[None] = ThemedApp(theme_folders=[])
    async with app.run_test() as pilot:
        below: Screen[None] = Screen()
        await app.push_screen(below)
        app.action_command_palette()
        await until(pilot, lambda: isinstance(app.screen, CommandPalette) and app.screen.query("CommandList"))
        palette = app.screen
        palette.dismiss()
        palette.dismiss()
        await until(pilot, lambda: not isinstance(app.screen, CommandPalette))
        assert app.screen is below


async def test_a_palette_below_another_screen_closes_with_it() -> None:
    app: ThemedApp[None] = ThemedApp(theme_folders=[])
    async with app.run_test() as pilot:
        floor = app.screen
        above: Screen[None] = Screen()
        app.action_command_palette()
        await until(pilot, lambda: isinstance(app.screen, CommandPalette) and app.screen.query("CommandList"))
        await app.push_screen(above)
        app.action_command_palette()
        await until(pilot, lambda: isinstance(app.screen, CommandPalette) and app.screen.query("CommandList"))
        assert [type(screen).__name__ for screen in app.screen_stack[1:]] == ["_Palette", "Screen", "_Palette"]
        app.screen.dismiss()
        await until(pilot, lambda: app.screen is above)
        above.dismiss()
        await until(pilot, lambda: app.screen is floor)
