"""The dialog that chooses models, in the running app: providers with their lists, search, and faults of models."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.app.explore.explored import CASES, Seen, explored, session_for
from tests.support.model_server import ModelServer, closed_port
from tests.support.replies import status
from tests.support.scripted_session import Opened, ScriptedSession, result_of, step_of, suite_of
from tui.app.explore.model_dialog import ModelChooser
from tui.app.presentation.pieces import text_of
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.prompt_input import PromptInput
from tui.model.results import TrialKey


def rows(seen: Seen) -> list[str]:
    """Return the rows of the dialog, with single spaces."""
    found = seen.app.screen.query_one(LineListView)
    return [" ".join(text_of(found.line_at(place, 90)).split()) for place in range(found.line_count)]


def row(seen: Seen) -> str:
    """Return the row under the cursor of the dialog."""
    return rows(seen)[seen.app.screen.query_one(LineListView).cursor]


def hint(seen: Seen) -> str:
    return str(seen.app.screen.query("Static").last().render())


def models(seen: Seen) -> tuple[str, ...]:
    return seen.screen.selection.models


@asynccontextmanager
async def opened(session: ScriptedSession) -> AsyncIterator[Seen]:
    """Open the dialog over a session, and wait for the states of its providers."""
    async with explored(session) as seen:
        await seen.press("M")
        await seen.until(lambda: isinstance(seen.app.screen, ModelChooser))
        await seen.until(lambda: len(rows(seen)) == 3 + len(session.providers), "the providers are listed")
        yield seen


async def closed(seen: Seen) -> None:
    await seen.until(lambda: not isinstance(seen.app.screen, ModelChooser), "the dialog is closed")


async def test_each_provider_is_displayed_with_its_state_and_none_is_asked(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.providers = ("openai", "anthropic", "ollama")
    async with ModelServer() as server:
        session.environ = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        async with opened(session) as seen:
            assert rows(seen) == [
                "1 mock-a",
                "2 mock-b",
                "· local/smollm2-135m",
                "▸ openai key set (OPENAI_API_KEY)",
                "▸ anthropic key missing: ANTHROPIC_API_KEY",
                "▸ ollama no key set",
            ]
            await seen.press("down", "down", "down", "down", "space")
            assert "ANTHROPIC_API_KEY is not set" in rows(seen)[5]
        assert server.listed == []


@pytest.mark.long
async def test_a_provider_is_asked_when_it_is_unfolded_and_once_only(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.providers = ("openai", "vllm")
    async with ModelServer(models=("one", "two")) as server:
        session.environ = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        async with opened(session) as seen:
            await seen.press("down", "down", "down", "space")
            await seen.until(lambda: "· openai/two" in rows(seen), "the models are listed")
            assert row(seen) == "▾ openai 2 models · key set (OPENAI_API_KEY)"
            await seen.press("space", "space", "down", "down", "space")
            assert row(seen) == "3 openai/two"
            await seen.press("enter")
            await closed(seen)
            assert models(seen) == ("mock-a", "mock-b", "openai/two")
            await seen.press("M")
            await seen.until(lambda: isinstance(seen.app.screen, ModelChooser) and "2 models" in " ".join(rows(seen)))
        assert len(server.listed) == 1


async def test_a_server_that_cannot_be_reached_is_displayed_with_the_reason(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.providers = ("openai",)
    session.environ = {"OPENAI_BASE_URL": f"http://127.0.0.1:{closed_port()}/v1", "OPENAI_API_KEY": "k"}
    async with opened(session) as seen:
        await seen.press("end", "space")
        await seen.until(lambda: "unreachable: Cannot connect" in row(seen), "the reason is displayed")


async def test_closing_the_dialog_cancels_the_request(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.providers = ("openai",)
    async with ModelServer(listing=status(200, {"data": [{"id": "x" * 5_000}]}).trickled(0.02)) as server:
        session.environ = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        async with opened(session) as seen:
            await seen.press("end", "space")
            await seen.until(lambda: server.listed, "the provider is asked")
            assert "waiting" in row(seen)
            await seen.press("escape")
            await closed(seen)
            await server.wait_until_idle()
            assert session.catalog.lists == {}


async def test_a_search_finds_models_of_all_providers_that_can_be_asked(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.providers = ("openai", "anthropic")
    async with ModelServer(models=("large-2", "small-2")) as server:
        session.environ = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        async with opened(session) as seen:
            await seen.press("a", *"sml")
            await seen.until(lambda: "· openai/small-2" in rows(seen), "the model is found")
            assert row(seen) == "+ sml as it is typed"
            await seen.press("down")
            await seen.until(lambda: row(seen).startswith("· "))
            chosen = row(seen).removeprefix("· ")
            await seen.press("enter", "enter")
            await closed(seen)
            assert models(seen) == ("mock-a", "mock-b", chosen)


async def test_a_search_that_is_left_changes_nothing(tmp_path: Path) -> None:
    async with opened(session_for(tmp_path)) as seen:
        await seen.press("a", *"zzz")
        await seen.until(lambda: rows(seen) == ["+ zzz as it is typed"])
        await seen.press("escape")
        await seen.until(lambda: len(rows(seen)) == 3, "all rows are back")
        assert not seen.app.screen.query_one(PromptInput).has_focus


async def test_models_that_cannot_be_run_are_named_before_the_dialog_closes(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.unresolved = {"other/x": "other/x: unknown provider other"}
    async with opened(session) as seen:
        await seen.press("a", *"other/x", "enter", "enter")
        await seen.until(lambda: "unknown provider other" in hint(seen), "the error is displayed")
        assert "3 other/x error" in rows(seen)
        assert isinstance(seen.app.screen, ModelChooser)
        await seen.press("end", "space")
        assert hint(seen) == "2 of at most 32 selected"
        await seen.press("space", "enter")
        await closed(seen)
        assert models(seen) == ("mock-a", "mock-b", "other/x")


@pytest.mark.long
async def test_more_than_four_models_are_displayed_in_pages(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    path, names = tmp_path / "quickstart.yaml", [f"mock-{letter}" for letter in "abcdefghij"]
    session.suites[path] = Opened(suite_of(path, *CASES, models=names))
    session.kept = (result_of(TrialKey("one", "mock-f"), "passed", step_of("The answer of the sixth.")),)
    async with explored(session, (170, 50)) as seen:
        panes = seen.screen.answers
        await seen.until(lambda: [pane.model for pane in panes.displayed] == names[:4])
        assert str(seen.pane(0).border_title).startswith("1–4 of 10 · ")
        await seen.press("4", "ctrl+right")
        await seen.until(lambda: [pane.model for pane in panes.displayed] == names[4:8])
        assert str(seen.pane(0).border_title).startswith("5–8 of 10 · ")
        assert panes.current_model == "mock-e"
        assert "The answer of the sixth." in seen.text(1)
        await seen.press("1", "ctrl+left", "ctrl+left", "ctrl+left", "ctrl+left", "ctrl+left")
        await seen.until(lambda: [pane.model for pane in panes.displayed] == names[8:])
        assert panes.current_model == "mock-j"
        assert seen.app.focused is seen.pane(1).view
        await seen.press("R")
        await seen.until(lambda: session.plans)
        assert {trial.model for trial in session.plans[0].trials} == set(names)


async def test_a_choice_is_remembered_for_its_suite(tmp_path: Path) -> None:
    async with opened(session_for(tmp_path, "first", "second")) as seen:
        await seen.press("space", "end", "space", "enter")
        await closed(seen)
        file = tmp_path / "data" / "chosen-models.json"
        await seen.until(file.exists, "the choice is saved")
    assert json.loads(file.read_text()) == {str(tmp_path / "first.yaml"): ["mock-b", "local/smollm2-135m"]}
    async with opened(session_for(tmp_path, "first", "second")) as seen:
        assert rows(seen) == ["1 mock-b", "2 local/smollm2-135m", "· mock-a"]
        assert seen.screen.selection.models_of(tmp_path / "second.yaml") == ("mock-a", "mock-b")
        await seen.press("down", "space", "down", "space", "up", "up", "enter")
        await closed(seen)
        assert models(seen) == ("mock-b", "mock-a")
        await seen.press("M")
        await seen.until(lambda: isinstance(seen.app.screen, ModelChooser) and rows(seen))
        await seen.press("space", "space", "enter")
        await closed(seen)
        assert models(seen) == ("mock-a", "mock-b")
        await seen.until(lambda: json.loads(file.read_text()) == {}, "the models of the suite need not be remembered")
