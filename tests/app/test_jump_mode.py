"""Jump mode: a letter on each displayed place of a screen leads there; any other key leaves."""

from pathlib import Path

import pytest
from textual.widgets import Button

from tests.app.snapshots.scenes import SCENES, play
from tests.app.snapshots.stage import Stage, fixed_world, staged
from tui.app.explore.screen import ExploreScreen
from tui.app.explore.tabs import DetailTabs
from tui.app.jump_mode import JumpModeScreen, places_of
from tui.app.theme.palette import DEFAULT_PALETTE, contrast
from tui.app.theme.theme_files import ThemeFiles
from tui.app.widgets.prompt_input import PromptInput
from tui.model.shipped import shipped_folder

__all__ = ["fixed_world"]

SCREENS = (
    *("explore-answers", "matrix", "add-provider"),
    *(
        pytest.param(name, marks=pytest.mark.long)
        for name in ("explore-diff", "review-several", "runs", "compare", "export")
    ),
)


async def show_letters(stage: Stage) -> JumpModeScreen:
    await stage.press("ctrl+o")
    await stage.opens(JumpModeScreen)
    screen = stage.app.screen
    assert isinstance(screen, JumpModeScreen)
    return screen


@pytest.mark.parametrize("size", [pytest.param((160, 45), marks=pytest.mark.long), (80, 24)])
@pytest.mark.parametrize("name", SCREENS)
async def test_each_letter_leads_to_its_place(
    name: str, size: tuple[int, int], fixed_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = next(scene for scene in SCENES if scene.name == name)
    monkeypatch.chdir(fixed_world)
    async with staged(scene.session, fixed_world, size, scene.theme) as stage:
        await play(scene, stage)
        below = stage.app.screen
        letters = await show_letters(stage)
        columns = {(place.offset.x + shift, place.offset.y) for place in letters.places.values() for shift in range(3)}
        assert len(columns) == 3 * len(letters.places), "no letter covers another one"
        assert all(0 <= x < size[0] and 0 <= y < size[1] for x, y in columns)
        assert {place.widget for place in letters.places.values()} >= {
            widget for widget in below.focus_chain if below.find_widget(widget).visible_region
        }
        letter, last = list(letters.places.items())[-1]
        await stage.press(letter)
        await stage.until(lambda: stage.app.screen is below and below.focused is last.widget, "the place has the focus")


async def test_what_was_mounted_since_the_last_layout_has_no_letter(
    fixed_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = next(scene for scene in SCENES if scene.name == "explore-answers")
    monkeypatch.chdir(fixed_world)
    async with staged(scene.session, fixed_world, (80, 24), scene.theme) as stage:
        await play(scene, stage)
        known = [place.widget for place in places_of(stage.app.screen)]
        stage.app.screen.query_one(DetailTabs).mount(added := Button("added"))
        assert added in stage.app.screen.focus_chain
        assert [place.widget for place in places_of(stage.app.screen)] == known


async def test_a_letter_opens_a_tab(fixed_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = next(scene for scene in SCENES if scene.name == "explore-answers")
    monkeypatch.chdir(fixed_world)
    async with staged(scene.session, fixed_world, (160, 45), scene.theme) as stage:
        await play(scene, stage)
        explore = stage.app.screen
        assert isinstance(explore, ExploreScreen)
        letters = await show_letters(stage)
        letter = next(letter for letter, place in letters.places.items() if place.tab == "attempts")
        await stage.press(letter)
        await stage.until(lambda: explore.details.current == "attempts", "the tab is open")


async def test_any_other_key_leaves_and_does_nothing_else(fixed_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = next(scene for scene in SCENES if scene.name == "export")
    monkeypatch.chdir(fixed_world)
    async with staged(scene.session, fixed_world, (80, 24), scene.theme) as stage:
        await play(scene, stage)
        below = stage.app.screen
        line = below.query_one(PromptInput)
        line.focus()
        before = line.value
        for key in ("escape", "1", "enter", "ctrl+o"):
            await show_letters(stage)
            await stage.press(key)
            await stage.until(lambda: stage.app.screen is below, "jump mode is left")
            assert (below.focused, line.value) == (line, before)


def test_the_letters_are_readable_in_the_bundled_themes() -> None:
    palettes = {each.name: each for each in ThemeFiles((shipped_folder("themes"),)).read_changed().palettes}
    for palette in (DEFAULT_PALETTE, palettes["assay-light"]):
        assert contrast(palette.colours["accent"], palette.colours["background"]) >= 4.5
