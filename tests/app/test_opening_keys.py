"""Keys that are pressed while a screen is being opened: that screen gets them, not the one below it."""

from pathlib import Path

import pytest

from tests.app.snapshots.stage import fixed_world, new_session, run_session, staged
from tests.support.pilots import press_at_once
from tui.app.case_editor.screen import CaseEditorScreen
from tui.app.explore.model_dialog import ModelChooser
from tui.app.explore.screen import ExploreScreen
from tui.app.matrix.screen import MatrixScreen
from tui.app.runs.screen import RunsScreen
from tui.app.theme.palette import DEFAULT_PALETTE
from tui.app.widgets.form import Form

__all__ = ["fixed_world"]


@pytest.mark.parametrize("key", ["a", "A", "ctrl+e"])
async def test_a_text_that_is_typed_with_the_key_of_a_form_is_in_its_field(fixed_world: Path, key: str) -> None:
    async with staged(new_session, fixed_world, (120, 40), DEFAULT_PALETTE.name) as stage:
        await stage.opens(ExploreScreen)
        await stage.shows("hash a password")
        await stage.press("down", "down", "down")
        await stage.shows("Please write this")
        press_at_once(stage.app, key, *"Report", "tab", *"R", "tab")
        await stage.opens(CaseEditorScreen)
        form = stage.app.screen.query_one(Form)
        first, second = [*form.texts()][:2]
        await stage.until(lambda: form.texts()[second].endswith("R"), "the second field has its text")
        assert form.texts()[first].endswith("Report")
        assert stage.session.plans == []


async def test_keys_after_that_of_a_dialog_are_for_the_dialog(fixed_world: Path) -> None:
    async with staged(new_session, fixed_world, (120, 40), DEFAULT_PALETTE.name) as stage:
        await stage.opens(ExploreScreen)
        press_at_once(stage.app, "M", "R", "down", "space")
        await stage.opens(ModelChooser)
        await stage.press("escape")
        await stage.opens(ExploreScreen)
        assert stage.session.plans == []


async def test_a_screen_that_is_opened_and_closed_at_once_leaves_the_keys_after_it(fixed_world: Path) -> None:
    async with staged(run_session, fixed_world, (120, 40), DEFAULT_PALETTE.name) as stage:
        await stage.opens(ExploreScreen)
        press_at_once(stage.app, "m", "m", "m")
        await stage.opens(MatrixScreen)
        press_at_once(stage.app, "m", "slash", *"st")
        await stage.opens(ExploreScreen)
        await stage.shows("st")


async def test_a_search_that_is_typed_with_the_key_of_the_list_of_runs_is_its_own(fixed_world: Path) -> None:
    async with staged(run_session, fixed_world, (120, 40), DEFAULT_PALETTE.name) as stage:
        await stage.opens(ExploreScreen)
        await stage.press("H", "slash", *"state:fin")
        await stage.opens(RunsScreen)
        await stage.shows("state:fin")


async def test_without_another_screen_the_keys_are_for_the_one_that_stays(fixed_world: Path) -> None:
    async with staged(new_session, fixed_world, (120, 40), DEFAULT_PALETTE.name, notifications=True) as stage:
        await stage.opens(ExploreScreen)
        await stage.shows("Please write this")
        await stage.press("home")
        await stage.shows("runs the suite")
        press_at_once(stage.app, "ctrl+e", "m")
        await stage.opens(MatrixScreen)
