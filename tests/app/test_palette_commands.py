"""The main actions in the palette: each is found by its name on every screen, and is done, or says why it cannot be."""

from pathlib import Path

import pytest
from textual.command import CommandPalette
from textual.widgets import Input, OptionList

from tests.app.snapshots.scenes import SCENES, Scene, play
from tests.app.snapshots.stage import Stage, fixed_world, staged
from tests.app.test_in_a_terminal import app_in
from tui.app.explore.screen import ExploreScreen
from tui.app.find.jump_dialog import JumpDialog
from tui.app.palette_commands import NAMED
from tui.app.runs.screen import RunsScreen
from tui.app.widgets.saved_filters_dialog import SavedFiltersDialog

__all__ = ["fixed_world"]

NAMES = (*NAMED.values(), "Change theme")
OPENS = {
    "Matrix": "MatrixScreen",
    "Compare": "CompareScreen",
    "Review": "ReviewStartScreen",
    "Runs": "RunsScreen",
    "Models": "ModelChooser",
    "Settings": "SettingsDialog",
    "Jump to case": "JumpDialog",
    "Search answers": "SearchDialog",
    "Edit pattern": "CheckEditorScreen",
    "Export report": "ExportScreen",
    "Change theme": "ThemeDialog",
}


def test_the_names_are_those_of_the_documents() -> None:
    assert (
        *("Matrix", "Compare", "Review", "Runs", "Models", "Settings", "Jump to case", "Search answers"),
        *("Edit pattern", "New case", "Edit case", "Save filter", "Rendered or raw", "Export report", "Change theme"),
    ) == NAMES


async def choose(stage: Stage, name: str) -> None:
    """Type a name in the palette, and take the first command."""
    await stage.press("ctrl+p")
    await stage.opens(CommandPalette)
    palette = stage.app.screen
    await stage.until(lambda: isinstance(palette.focused, Input), "the palette can be typed into")
    palette.query_one(Input).value = name
    await stage.until(lambda: first_command(stage).startswith(name), f"{name} is the first command")
    await stage.press("enter")
    await stage.until(lambda: stage.app.screen is not palette, "the palette is closed")


def first_command(stage: Stage) -> str:
    options = stage.app.screen.query_one("CommandList", OptionList)
    return str(options.get_option_at_index(0).prompt) if options.option_count else ""


def was_notified(stage: Stage, name: str) -> bool:
    """Whether a notification says why the action of this name is not done."""
    return any(name in notice.message for notice in stage.app._notifications)


def scene_of(name: str) -> Scene:
    return next(scene for scene in SCENES if scene.name == name)


async def test_a_name_leads_from_explore_to_its_screen(fixed_world: Path) -> None:
    scene = scene_of("explore-answers")
    async with staged(scene.session, fixed_world, (80, 24), scene.theme) as stage:
        await play(scene, stage)
        for name, kind in OPENS.items():
            await choose(stage, name)
            await stage.until(lambda kind=kind: type(stage.app.screen).__name__ == kind, kind)  # type: ignore[misc]
            await stage.press("escape")
            await stage.opens(ExploreScreen)


async def test_the_palette_fits_a_terminal_of_any_size(fixed_world: Path) -> None:
    scene = scene_of("explore-answers")
    async with staged(scene.session, fixed_world, (80, 24), scene.theme) as stage:
        await play(scene, stage)
        await stage.press("ctrl+p")
        await stage.opens(CommandPalette)
        await stage.until(lambda: first_command(stage), "there are commands")
        for size in (*((columns, 24) for columns in range(1, 9)), (140, 1), (1, 1), (80, 24)):
            await stage.pilot.resize_terminal(*size)
            await stage.press("pagedown", "pageup", "down")
        await stage.press("escape")
        await stage.opens(ExploreScreen)


async def test_the_actions_on_a_case_are_done_in_explore(fixed_world: Path) -> None:
    scene = scene_of("explore-answers")
    async with staged(scene.session, fixed_world, (80, 24), scene.theme) as stage:
        await play(scene, stage)
        explore = stage.app.screen
        assert isinstance(explore, ExploreScreen)
        await choose(stage, "Rendered or raw")
        await stage.until(lambda: explore.answers.renders, "the answers are rendered")
        await choose(stage, "Save filter")
        await stage.until(lambda: explore.suites.typing, "a filter can be typed")
        await stage.press(*"hash")
        await choose(stage, "Jump to case")
        await stage.opens(JumpDialog)
        await stage.press("escape")
        await stage.opens(ExploreScreen)
        await choose(stage, "Save filter")
        await stage.opens(SavedFiltersDialog)
        await stage.press("escape", "escape")


@pytest.mark.long
def test_a_name_that_is_typed_in_a_terminal_is_done(tmp_path: Path) -> None:
    editor = tmp_path / "vi"
    editor.write_text('#!/bin/sh\necho "EDITING $@"\nread answer\n')
    editor.chmod(0o755)
    with app_in(tmp_path, EDITOR=str(editor)) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("ctrl+p")
        terminal.wait_for("Search for commands")
        terminal.send("Edit case")
        terminal.wait_for("Edit case: ")
        terminal.wait_until(
            lambda screen: screen.cell_of("Edit case: ").back != screen.cell_of("Edit case").back,
            "what enter would take",
        )
        terminal.press("enter")
        terminal.wait_for("EDITING")
        terminal.send("done\n")


async def test_a_new_case_has_the_command_of_its_key(fixed_world: Path) -> None:
    scene = scene_of("explore-answers")
    async with staged(scene.session, fixed_world, (80, 24), scene.theme) as stage:
        await play(scene, stage)
        titles = [command.title for command in stage.app.get_system_commands(stage.app.screen)]
        assert [title for title in titles if title.startswith("New case: ") and title.endswith("  a")] != []


@pytest.mark.parametrize(
    "place",
    ["start", *(pytest.param(place, marks=pytest.mark.long) for place in ("matrix", "compare", "review", "runs"))],
)
async def test_every_screen_has_every_name_and_says_why_it_does_not_do_it(place: str, fixed_world: Path) -> None:
    scene = scene_of(place)
    async with staged(scene.session, fixed_world, (80, 24), scene.theme) as stage:
        await play(scene, stage)
        screen = stage.app.screen
        commands = [*stage.app.get_system_commands(screen)]
        names = [command.title.partition(":")[0].partition("  ")[0] for command in commands]
        assert [name for name in NAMES if names.count(name) != 1] == []
        for name in ("Rendered or raw", "New case", "Edit case") if place != "start" else ("Rendered or raw",):
            commands[names.index(name)].callback()
            await stage.until(lambda name=name: was_notified(stage, name), f"why {name} is not done")  # type: ignore[misc]
            assert stage.app.screen is screen


async def test_a_screen_is_not_closed_by_its_own_name(fixed_world: Path) -> None:
    scene = scene_of("runs")
    async with staged(scene.session, fixed_world, (80, 24), scene.theme) as stage:
        await play(scene, stage)
        await choose(stage, "Runs")
        await stage.until(lambda: was_notified(stage, "Runs"), "the reason")
        assert isinstance(stage.app.screen, RunsScreen)
