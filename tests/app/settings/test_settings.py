"""The settings in the running app: they are found, edited, reset and added, and themes are previewed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.app.snapshots.stage import Stage, fixed_world, settings_session, staged
from tui.app.explore.screen import ExploreScreen
from tui.app.explore.tabs import DetailTabs
from tui.app.find.search_panel import SearchPanel
from tui.app.matrix.screen import MatrixScreen
from tui.app.settings.dialogs import SettingsDialog, ThemeDialog
from tui.app.theme.palette import DEFAULT_PALETTE
from tui.app.theme.themed_app import ThemedApp
from tui.app.widgets.form import FormDialog

__all__ = ["fixed_world"]
DARK, LIGHT = DEFAULT_PALETTE.name, "assay-light"


@asynccontextmanager
async def opened(folder: Path, *keys: str) -> AsyncIterator[Stage]:
    """Run the app with a config file, open the settings, and type."""
    async with staged(settings_session, folder, (120, 40), DARK) as stage:
        await stage.opens(ExploreScreen)
        await stage.press("f2")
        await stage.opens(SettingsDialog)
        await stage.press(*keys)
        await found(stage)
        yield stage


async def found(stage: Stage) -> None:
    """Wait until the list shows what was searched."""
    panel = stage.app.screen.query_one(SearchPanel)
    await stage.until(lambda: panel.result.entries and panel.shown_text == panel.text, "entries are found")


def config_of(stage: Stage) -> str:
    """Return the content of the config file."""
    return stage.session.folders.config_file.read_text()


def faults(stage: Stage) -> list[str]:
    """Return the displayed errors of the form."""
    return [text for each in stage.app.screen.query(".fault") if (text := str(each.render()))]


async def notified(stage: Stage, message: str) -> None:
    """Wait for a notification."""
    await stage.until(lambda: message in [each.message for each in stage.app._notifications], message)


async def test_every_setting_has_its_value_origin_and_description(fixed_world: Path) -> None:
    async with opened(fixed_world) as stage:
        await stage.shows("models.warm.temperature")
        rows = [row.split() for row in stage.text.splitlines()]
        assert any(row[2:5] == ["models.warm.temperature", "0.8", "config"] for row in rows)
        await stage.press(*"shown twice")
        await found(stage)
        await stage.shows("Percentage of answers that are shown twice (0 to 30)")
        await stage.shows("Default: 0. Value from: project file suites/.assay.yaml:1.")
        await stage.press("escape")
        await stage.opens(ExploreScreen)


async def test_a_value_is_validated_and_written_with_its_comment(
    fixed_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_again: list[str] = []
    monkeypatch.setattr(DetailTabs, "forget_scores", lambda self: read_again.append(str(self)))
    async with opened(fixed_world, *"limits.high") as stage:
        before = config_of(stage)
        await stage.press("enter")
        await stage.opens(FormDialog)
        await stage.press("x", "enter")
        await stage.until(lambda: faults(stage), "a fault")
        assert faults(stage) == ["expected a whole number from 0 to 400"]
        assert config_of(stage) == before
        await stage.press("backspace", "backspace", "9", "enter")
        await stage.opens(SettingsDialog)
        assert config_of(stage) == before.replace("high: 8  # strict", "high: 9  # strict")
        assert dict(stage.session.config.rule.limits)["high"] == 9
        await stage.until(lambda: read_again, "the bands are those of the new rule")
        assert stage.session.config.repeats == 10, "the project file counts"


async def test_a_setting_is_reset(fixed_world: Path) -> None:
    async with opened(fixed_world, *"limits.high") as stage:
        before = config_of(stage)
        await stage.press("ctrl+r")
        await stage.until(lambda: config_of(stage) != before, "the file changes")
        assert config_of(stage) == before.replace("risk:\n  limits:\n    high: 8  # strict\n", "")
        await stage.until(lambda: "default" in stage.text and "config file" not in stage.text, "the list is read again")
        await stage.press("ctrl+r")
        await notified(stage, "The config file does not set it.")


async def test_an_entry_is_added(fixed_world: Path) -> None:
    async with opened(fixed_world, *"rules") as stage:
        await stage.press("ctrl+n")
        await stage.opens(FormDialog)
        await stage.press(*"qwen*", "down", *"mein", "enter")
        await stage.until(lambda: faults(stage), "a fault")
        assert "unknown provider mein. Did you mean mine?" in faults(stage)[0]
        await stage.press("backspace", "backspace", "backspace", *"ine", "enter")
        await stage.opens(SettingsDialog)
        assert config_of(stage).endswith("rules:\n  qwen*: mine\n")
        assert stage.session.config.rules == (("qwen*", "mine"),)


async def test_a_provider_is_added_by_its_form_and_not_edited(fixed_world: Path) -> None:
    async with opened(fixed_world, *"providers.mine.api") as stage:
        await stage.shows("${MINE} (not set)")
        await stage.press("enter")
        await notified(stage, "A provider is changed in the config file; its keys are read from variables.")
        await stage.press("ctrl+n")
        await stage.opens(FormDialog)


async def test_a_setting_with_a_key_is_not_edited(fixed_world: Path) -> None:
    async with opened(fixed_world, *"reviewer") as stage:
        file = stage.session.folders.config_file
        literal = "providers: {lab: {kind: openai, api_key: sk-lab-0123456789abcdef}}"
        file.write_text(f"{literal}\nreviewer: with sk-lab-0123456789abcdef\n")
        await stage.press("escape", "f2")
        await stage.opens(SettingsDialog)
        await stage.press(*"reviewer")
        await stage.shows("with [removed key]")
        await stage.press("enter")
        await notified(stage, "It contains what may be a key, which is not displayed: change it in the config file.")


async def test_changed_keys_apply_at_once(fixed_world: Path) -> None:
    async with opened(fixed_world, *"keys") as stage:
        await stage.press("ctrl+n")
        await stage.opens(FormDialog)
        await stage.press(*"look.matri", "down", *"f9", "enter")
        await stage.until(lambda: faults(stage), "a fault")
        assert faults(stage)[0].startswith("unknown id look.matri. Did you mean look.matrix?")
        await stage.press(*"x", "enter")
        await stage.opens(SettingsDialog)
        await stage.press("escape")
        await stage.opens(ExploreScreen)
        await stage.press("f9")
        await stage.opens(MatrixScreen)
        await stage.press("f2")
        await stage.opens(SettingsDialog)


async def test_a_value_with_characters_that_nobody_sees_is_not_edited(fixed_world: Path) -> None:
    async with opened(fixed_world, *"models.warm.system") as stage:
        file = stage.session.folders.config_file
        await stage.press("escape")
        await stage.opens(ExploreScreen)
        before = config_of(stage).replace("temperature: 0.8", 'system: "zero\\u200bwidth \\e"')
        assert "zero" in before
        file.write_text(before)
        await stage.press("f2")
        await stage.opens(SettingsDialog)
        await stage.press(*"models.warm.system")
        await found(stage)
        await stage.press("enter")
        await stage.opens(FormDialog)
        await stage.shows("not visible here")
        await stage.press("Z", "enter")
        assert config_of(stage) == before


async def test_a_question_keeps_its_keys_if_the_config_gives_one_to_both_answers(fixed_world: Path) -> None:
    async with opened(fixed_world, *"keys") as stage:
        await stage.press("ctrl+n")
        await stage.opens(FormDialog)
        await stage.press(*"confirm.yes", "down", "n", "enter")
        await notified(stage, "keys: confirm.yes and confirm.no have the same key n.")
        assert "confirm.yes" not in stage.app.keymap


@pytest.mark.long
async def test_the_edit_of_another_program_is_shown_and_stays(fixed_world: Path) -> None:
    async with opened(fixed_world, *"limits.high") as stage:
        file = stage.session.folders.config_file
        await stage.press("enter")
        await stage.opens(FormDialog)
        changed = config_of(stage).replace("high: 8", "high: 7") + "reviewer: Bob\n"
        file.write_text(changed)
        await stage.press("backspace", "6", "enter")
        await stage.until(lambda: faults(stage), "a fault")
        assert faults(stage) == ["Another program has changed it: it is 7 now."]
        await stage.press("escape", "escape")
        await stage.opens(SettingsDialog)
        await stage.until(lambda: " 7 " in stage.text, "the list is read again")
        assert config_of(stage) == changed


async def test_a_broken_file_is_reported_in_the_list(fixed_world: Path) -> None:
    async with opened(fixed_world) as stage:
        stage.session.folders.config_file.write_text("them: x\n")
        await stage.shows("config.yaml:1:1: error: them: unknown key. Did you mean theme?")


@pytest.mark.parametrize("saved", [True, pytest.param(False, marks=pytest.mark.long)])
async def test_a_theme_is_shown_as_the_cursor_moves(fixed_world: Path, saved: bool) -> None:
    async with opened(fixed_world, *"theme") as stage:
        app, before = stage.app, config_of(stage)
        await stage.until(lambda: LIGHT in app.available_themes, "the themes are read")
        await stage.press("enter")
        await stage.opens(ThemeDialog)
        await found(stage)
        assert app.theme == DARK
        await stage.press("down")
        await stage.until(lambda: app.theme == LIGHT, "the preview")
        assert config_of(stage) == before
        await stage.press("enter" if saved else "escape")
        await stage.opens(SettingsDialog)
        if saved:
            await stage.until(lambda: config_of(stage) != before, "the file changes")
            assert config_of(stage) == before + f"theme: {LIGHT}\n"
        assert app.theme == (LIGHT if saved else DARK)


@pytest.mark.long
async def test_the_palette_opens_the_same_list_of_themes(fixed_world: Path) -> None:
    async with staged(settings_session, fixed_world, (120, 40), DARK) as stage:
        await stage.opens(ExploreScreen)
        await stage.until(lambda: LIGHT in stage.app.available_themes, "the themes are read")
        stage.app.action_change_theme()
        await stage.opens(ThemeDialog)
        await stage.press(*"light")
        await stage.until(lambda: stage.app.theme == LIGHT, "the preview")
        await stage.press(*["backspace"] * 5, "escape")
        await stage.opens(ExploreScreen)
        assert stage.app.theme == DARK


async def test_a_faulty_theme_file_is_named_and_not_applied(fixed_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = "themes/broken.yaml:2:19: error: colours.accent: expected a colour"
    monkeypatch.setattr(ThemedApp, "theme_faults", (fault,))
    async with opened(fixed_world, *"theme") as stage:
        await stage.press("enter")
        await stage.opens(ThemeDialog)
        await found(stage)
        await stage.press("end", *["down"] * 10)
        await stage.shows(fault)
        await stage.shows("has errors")
        assert stage.app.theme == DARK
        await stage.press("enter", "escape")
        await stage.opens(SettingsDialog)
        assert stage.app.theme == DARK


@pytest.mark.long
async def test_a_theme_of_the_project_file_is_not_overwritten(fixed_world: Path) -> None:
    async with opened(fixed_world, *"theme") as stage:
        project = stage.session.project
        assert project is not None
        project.write_text(f"theme: {DARK}\n")
        await stage.until(lambda: LIGHT in stage.app.available_themes, "the themes are read")
        before = config_of(stage)
        await stage.press("enter")
        await stage.opens(ThemeDialog)
        await found(stage)
        await stage.press("down", "enter")
        await notified(stage, f"It is set by the project file, {project}:1; edit that file.")
        assert config_of(stage) == before
        await stage.until(lambda: stage.app.theme == DARK, "the theme of before")
