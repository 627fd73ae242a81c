"""The commands for runs that screens share."""

from dataclasses import replace
from pathlib import Path

from textual.message import Message

from tests.app.contexts import Notified, make_context, select_first
from tests.app.explore.explored import session_for
from tests.support.pilots import screen_rows, until
from tests.support.repositories import write_files
from tests.support.scripted_session import result_of
from tui.app.dialogs import ChoiceScreen
from tui.app.run_controls import RunControls
from tui.app.run_messages import RunQueued
from tui.app.run_requests import request_failed, request_suite
from tui.app.theme.themed_app import ThemedApp
from tui.model.results import TrialKey
from tui.model.shipped import shipped_folder
from tui.model.suite import RepositoryContext


def shown(app: ThemedApp[None]) -> str:
    """Everything on the screen as one line, without the frames."""
    return " ".join(" ".join(screen_rows(app.screen)).replace("│", " ").split())


async def test_a_request_is_queued_and_nothing_to_run_is_notified(tmp_path: Path) -> None:
    posted: list[Message] = []
    context, screen = await make_context(session_for(tmp_path), posted=posted), Notified()
    select_first(context, "one")
    controls = RunControls(context, screen)
    controls.start(None, "There is nothing to run.")
    assert screen.notices == ["There is nothing to run."]
    controls.start(request_suite(context.selection), "")
    assert [type(message) for message in posted] == [RunQueued]
    controls.start(request_suite(context.selection), "")
    assert len(context.runs.queued) == 2
    assert len(screen.notices) == 2, "the second one waits"
    controls.cancel_all()
    assert not context.runs.busy


async def test_the_question_before_a_run_shows_its_files_and_their_cost(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    path, opened = next(iter(session.suites.items()))
    assert opened.suite is not None
    write_files(tmp_path / "work", {"a.py": "x" * 80, "data.bin": "\0"})
    suite = replace(opened.suite, folder=str(tmp_path), repository_context=RepositoryContext("work"))
    session.suites[path] = replace(opened, suite=suite)
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    async with app.run_test(size=(120, 40)) as pilot:
        context, screen = await make_context(session, app), Notified()
        await app.push_screen(screen)
        select_first(context, "one")
        request = request_suite(context.selection)
        assert request is not None
        RunControls(context, screen).start_asked([request], "")
        await until(pilot, lambda: "Context: 1 file, 107 characters" in shown(app))
        assert "Omitted: is binary: data.bin" in shown(app)
        assert "price unknown: mock-a" in shown(app)
        await pilot.press("y")
        await until(pilot, lambda: context.runs.busy)


async def test_commands_without_a_run_say_so(tmp_path: Path) -> None:
    context, screen = await make_context(session_for(tmp_path)), Notified()
    path = select_first(context, "one")
    controls = RunControls(context, screen)
    assert not controls.can_pause
    controls.toggle_pause()
    assert screen.notices == []
    controls.cancel_all()
    controls.change_concurrency(1)
    controls.cancel(path, (TrialKey("one", "mock-a"),))
    assert len(screen.notices) == 3


async def test_a_rerun_asks_which_trials_where_some_failed_and_some_have_no_answer(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    failed, lost = TrialKey("one", "mock-a"), TrialKey("two", "mock-a")
    session.kept = (result_of(failed, "failed"), result_of(lost, "error", error="refused"))
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    async with app.run_test() as pilot:
        context, screen = await make_context(session, app), Notified()
        await app.push_screen(screen)
        path = select_first(context, "one")
        request = request_failed(context.selection)
        assert request is not None
        assert set(request.trials) == {failed, lost}
        saved = context.open_suites.get(path)
        assert saved is not None
        context.open_suites.add_saved_run(
            saved._replace(path=tmp_path / "run", run="1"), context.open_suites.state(path)
        )
        context.selection.select(tmp_path / "run", "one")
        RunControls(context, screen).rerun(request_failed(context.selection), "")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        await pilot.press("enter")
        await until(pilot, lambda: context.runs.queued)
        assert context.runs.queued[0].trials == (lost,)
        assert context.runs.queued[0].run == "1"
