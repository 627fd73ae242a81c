"""The forms of the dialog that chooses models, in the running app."""

from pathlib import Path

import pytest

from tests.app.explore.explored import Seen, session_for
from tests.app.explore.test_model_dialog import closed, models, opened, row, rows
from tests.support.model_server import ModelServer
from tui.app.explore.model_dialog import ModelChooser
from tui.app.widgets.form import FormDialog
from tui.app.widgets.prompt_input import PromptInput
from tui.model.subjects import Config, join_settings, split_settings
from tui.providers.registry import resolve_subject

SERVER = {"OPENAI_BASE_URL": "http://localhost:1/v1"}


def faults(seen: Seen) -> list[str]:
    """Return the displayed errors of the form."""
    return [text for each in seen.app.screen.query(".fault") if (text := str(each.render()))]


async def edited(seen: Seen) -> None:
    await seen.press("e")
    await seen.until(lambda: isinstance(seen.app.screen, FormDialog))


@pytest.mark.long
async def test_settings_become_a_part_of_the_name(tmp_path: Path) -> None:
    async with opened(session_for(tmp_path)) as seen:
        await edited(seen)
        await seen.press(*"0.8", "down", "down", *"7", "down", "down", *"Be brief & kind", "enter")
        await seen.until(lambda: isinstance(seen.app.screen, ModelChooser))
        name = "mock-a?temperature=0.8&seed=7&system=Be%20brief%20%26%20kind"
        assert rows(seen)[:3] == ["· mock-a", f"1 {name}", "2 mock-b"]
        await seen.press("enter")
        await closed(seen)
        assert models(seen) == (name, "mock-b")
        settings = resolve_subject(name, Config(), SERVER).settings
        assert (settings.temperature, settings.seed, settings.system) == (0.8, 7, "Be brief & kind")


async def test_errors_are_beside_their_fields(tmp_path: Path) -> None:
    async with opened(session_for(tmp_path)) as seen:
        await edited(seen)
        await seen.press("9", "down", "x", "down", "down", "0", "enter")
        await seen.until(lambda: faults(seen))
        assert faults(seen) == [
            "is not between 0 and 2",
            "is not a number",
            "is less than 1 or not below 2^63",
        ]
        assert seen.app.focused is seen.app.screen.query(PromptInput).first()
        await seen.press("escape", "escape")
        await seen.until(lambda: isinstance(seen.app.screen, ModelChooser))
        assert rows(seen) == ["1 mock-a", "2 mock-b", "· local/smollm2-135m"]


@pytest.mark.long
async def test_an_error_is_hidden_when_its_field_changes(tmp_path: Path) -> None:
    async with opened(session_for(tmp_path)) as seen:
        await edited(seen)
        await seen.press("9", "down", "x", "enter")
        await seen.until(lambda: len(faults(seen)) == 2)
        shown = [each for each in seen.app.screen.query(".fault") if each.display]
        assert len(shown) == 2
        await seen.press("backspace", "1")
        await seen.until(lambda: [each.display for each in shown] == [False, True])


@pytest.mark.long
async def test_a_form_starts_with_the_settings_and_can_remove_them(tmp_path: Path) -> None:
    async with opened(session_for(tmp_path)) as seen:
        await seen.press("a", *"m?seed=7&api=chat&system=a%0Ab", "enter")
        await seen.until(lambda: rows(seen)[-1].startswith("3 m?"))
        await seen.press("end")
        await edited(seen)
        await seen.press("down", "down", "backspace", "up", "up", "1", "enter")
        await seen.until(lambda: isinstance(seen.app.screen, ModelChooser))
        assert "3 m?temperature=1&system=a%0Ab&api=chat" in rows(seen)


@pytest.mark.parametrize("name", ["m", "a/b?temperature=1", "a/b?seed=7&system=x%20y%26z%3F%2B%25%2C%23", "m?api=chat"])
def test_a_name_is_split_and_joined_again(name: str) -> None:
    assert join_settings(*split_settings(name)) == name


async def test_a_provider_is_added_and_its_models_are_listed(tmp_path: Path) -> None:
    async with ModelServer(models=("one", "two")) as server:
        session = session_for(tmp_path)
        file = tmp_path / "config" / "config.yaml"
        file.parent.mkdir()
        file.write_text("theme: assay  # mine\n")
        async with opened(session) as seen:
            await seen.press("n")
            await seen.until(lambda: isinstance(seen.app.screen, FormDialog))
            await seen.press("enter")
            await seen.until(lambda: len(faults(seen)) == 2, "the errors are displayed")
            await seen.press(*"mine", "down", "down", *server.url, "enter")
            await seen.until(lambda: isinstance(seen.app.screen, ModelChooser), "the provider is added")
            await seen.until(lambda: "· mine/two" in rows(seen), "its models are listed")
            assert row(seen) == "▾ mine 2 models · no key set"
        text = f"theme: assay  # mine\nproviders:\n  mine:\n    kind: openai\n    base_url: {server.url}\n"
        assert file.read_text() == text
        assert session.config.providers["mine"].base_url == server.url


async def test_a_key_in_place_of_its_variable_is_refused(tmp_path: Path) -> None:
    async with opened(session_for(tmp_path)) as seen:
        await seen.press("n")
        await seen.until(lambda: isinstance(seen.app.screen, FormDialog))
        await seen.press(*"mine", "down", "down", *"http://localhost:1/v1", "down", *"sk-0815", "enter")
        await seen.until(lambda: faults(seen) == ["expected the name of a variable (A-Z, 0-9, _), not the key"])
        await seen.press("escape", "escape")
        await seen.until(lambda: isinstance(seen.app.screen, ModelChooser))
    assert not (tmp_path / "config").exists()
