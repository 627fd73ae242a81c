"""The Runs screen and saved runs in Explore, over a scripted session with a real history."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from textual.widgets import Static

from tests.app.explore.explored import Seen, explored, session_for
from tests.support.histories import run_history
from tests.support.kept_runs import keep as keep_run
from tests.support.kept_runs import (
    large_run,
    make_case,
    make_plan,
    make_result,
    make_subject,
    priced_run,
    small_run,
)
from tests.support.pilots import press_at_once
from tests.support.scripted_session import ScriptedSession, result_of, step_of
from tui.app.dialogs import ChoiceScreen, ConfirmScreen
from tui.app.explore.screen import ExploreScreen
from tui.app.export_dialog import ExportScreen
from tui.app.presentation.pieces import text_of
from tui.app.run_controls import rerun_lines
from tui.app.runs.screen import RunsScreen
from tui.app.widgets.filter_line import FilterLine
from tui.app.widgets.prompt_input import PromptInput
from tui.model.current_folder import real_path
from tui.model.events import Event, TrialFinished
from tui.model.results import TrialKey
from tui.model.run import KeptRun, Plan, RunState
from tui.model.subjects import Config
from tui.runner.control import Control
from tui.session.reviews import Reviews
from tui.store.sqlite import SqliteStore

A, B = "openai/mock-a", "local/mock-b"


@dataclass
class RecordingSession(ScriptedSession):
    """A session that records the plans that were run in `ran`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.ran: list[Plan] = []

    async def run(self, plan: Plan, control: Control) -> AsyncGenerator[Event, None]:
        self.ran.append(plan)
        self.plans.append(plan)
        async for event in super().run(plan, control):
            yield event


def numbered(kept: KeptRun, number: int, state: RunState = "finished", name: str = "Sample suite") -> KeptRun:
    """Return the same run with another id and start."""
    id, started = f"0193f2a4c6d{number:x}{'0' * 20}", f"2026-11-{10 + number:02}T10:15:00.000+00:00"
    plan = replace(kept.plan, run_id=id, suite=replace(kept.plan.suite, name=name))
    return replace(kept, plan=plan, record=replace(kept.record, id=id, state=state, started_at=started))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "data" / "runs.sqlite")
    yield opened
    opened.close()


def keep(store: SqliteStore, *runs: KeptRun) -> None:
    for kept in runs:
        store.begin_run(kept.plan, kept.record.started_at)
        store.save_trials(kept.record.id, kept.results)
        if kept.record.state != "running":
            store.finish_run(kept.record.id, kept.record.state, kept.record.finished_at or kept.record.started_at)


@asynccontextmanager
async def at_runs(
    store: SqliteStore, folder: Path, size: tuple[int, int] = (140, 44)
) -> AsyncIterator[tuple[Seen, RecordingSession]]:
    """Run the app with the list of runs open."""
    (folder / "suites").mkdir()
    session = RecordingSession(session_for(folder / "suites").suites)
    session.keeps = run_history(store, folder / "data", lambda names: tuple(make_subject(name) for name in names))
    async with explored(session, size) as seen:
        await seen.press("H")
        await seen.until(lambda: listed(seen), "the runs are listed")
        yield seen, session


def runs_screen(seen: Seen) -> RunsScreen:
    screen = seen.app.screen
    assert isinstance(screen, RunsScreen)
    return screen


def listed(seen: Seen) -> list[str]:
    screen = seen.app.screen
    if not isinstance(screen, RunsScreen):
        return []
    return [text_of(screen.lines.line_at(place, 130)) for place in range(screen.lines.line_count)]


def in_explore(seen: Seen) -> bool:
    return isinstance(seen.app.screen, ExploreScreen)


async def test_every_run_is_listed_newest_first_with_what_it_was_made_with(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, numbered(small_run(), 1), numbered(small_run(), 2, "interrupted", "Other"))
    async with at_runs(store, tmp_path) as (seen, _):
        assert "12 Nov" in listed(seen)[0]
        assert "◐ interrupted" in listed(seen)[0]
        assert "■ finished" in listed(seen)[1]
        assert "2/8" in listed(seen)[0]
        setup = runs_screen(seen).query_one("RunSetupLines Static")
        await seen.until(lambda: "temperature 0.0 · seed 7" in str(setup.render()))
        await seen.press("escape")
        await seen.until(lambda: in_explore(seen))


async def test_an_open_run_that_another_program_continues_shows_its_new_results(
    store: SqliteStore, tmp_path: Path
) -> None:
    whole = numbered(small_run(), 1, "running")
    failed = next(result for result in whole.results if result.verdict == "failed")
    keep(store, replace(whole, results=(failed,)))
    async with at_runs(store, tmp_path) as (seen, _):
        await seen.press("enter")
        await seen.until(lambda: in_explore(seen) and seen.screen.selection.run)
        selection = seen.screen.selection
        await seen.until(lambda: selection.state.trials.keys() == {failed.trial})
        first, *others = (result for result in whole.results if result is not failed)
        passed = replace(failed.attempts[0], number=2, asking=1, verdict="passed")
        rerun = replace(failed, verdict="passed", attempts=(*failed.attempts, passed))
        store.save_trials(whole.record.id, [first, *others, rerun])
        loader = seen.screen.context.suite_loader
        await loader.read_results({real_path(whole.plan.suite.path)})
        assert selection.state.trials.keys() == {result.trial for result in whole.results}
        ended = selection.state.trials[failed.trial].ended
        assert ended is not None
        assert ended.reruns == 1
        await seen.until(lambda: any("Use a parameter." in seen.text(place) for place in (0, 1)))


@pytest.mark.long
async def test_costs_who_answered_and_what_took_part_are_reported(store: SqliteStore, tmp_path: Path) -> None:
    kept = priced_run()
    store.begin_run(kept.plan, kept.record.started_at, kept.versions)
    store.save_trials(kept.record.id, kept.results)
    async with at_runs(store, tmp_path) as (seen, _):
        setup = runs_screen(seen).query_one("RunSetupLines Static")
        message = (
            "openai/mock-a  openai mock-a answers as mock-a-2026-01-01  temperature 0.0 · seed 7  cost $1.25  $1.75 in"
        )
        await seen.until(lambda: message in str(setup.render()))
        assert "cost ≥ $0.12" in str(setup.render())
        assert "with     python 3.11.7" in str(setup.render())


async def test_runs_are_filtered_while_it_is_typed(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, numbered(small_run(), 1), numbered(small_run(), 2, "interrupted", "Other"))
    async with at_runs(store, tmp_path) as (seen, _):
        await seen.press("slash", *"state:fin")
        await seen.until(lambda: len(listed(seen)) == 1)
        await seen.press("enter", "down")
        assert "11 Nov" in listed(seen)[0]
        assert runs_screen(seen).lines.has_focus
        await seen.press("escape")
        await seen.until(lambda: len(listed(seen)) == 2)


@pytest.mark.long
async def test_the_filter_of_runs_is_completed_and_names_the_nearest_key(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, numbered(small_run(), 1), numbered(small_run(), 2, "interrupted", "Other"))
    async with at_runs(store, tmp_path) as (seen, _):
        await seen.press("slash", *"suite:ot")
        line = runs_screen(seen).query_one(FilterLine)
        await seen.until(lambda: [each.label for each in line.completions] == ["Other"])
        await seen.press("tab")
        await seen.until(lambda: line.line.value == "suite:Other " and len(listed(seen)) == 1)
        await seen.press(*"modle:x")
        await seen.until(lambda: line.hint == "unknown filter modle:; did you mean model:?")


@pytest.mark.long
async def test_a_key_right_after_escape_from_the_filter_is_a_command(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, numbered(small_run(), 1), numbered(small_run(), 2, "interrupted", "Other"))
    async with at_runs(store, tmp_path) as (seen, _):
        await seen.press("slash", *"state:fin")
        await seen.until(lambda: len(listed(seen)) == 1)
        press_at_once(seen.app, "escape", "slash")
        await seen.until(lambda: len(listed(seen)) == 2 and isinstance(seen.app.focused, PromptInput))
        await seen.press(*"suite:Other")
        await seen.until(lambda: len(listed(seen)) == 1)


async def test_a_run_is_opened_with_its_own_suite_and_its_answers(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, numbered(small_run(), 1, "interrupted"))
    async with at_runs(store, tmp_path) as (seen, _):
        await seen.press("enter")
        await seen.until(lambda: in_explore(seen) and "Use a parameter." in seen.text(0))
        assert "Use a string." in seen.text(1)
        assert "saved runs: 11 Nov" in seen.header
        assert any("saved runs" in row for row in seen.rows)
        assert seen.row.startswith("✓✗ SQL query")
        await seen.press("down")
        await seen.until(lambda: "401: the key" in seen.text(1), "the next case is read too")
        await seen.press("e")
        assert "cannot be edited" in seen.notices[-1]


@pytest.mark.long
async def test_a_file_that_is_gone_is_reported_in_the_overview(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, numbered(small_run(), 1))
    async with at_runs(store, tmp_path) as (seen, _):
        await seen.press("enter")
        await seen.until(lambda: in_explore(seen) and seen.row.startswith("✓✗"))
        await seen.press("left", "left")
        await seen.until(lambda: "no longer exists" in seen.overview)


async def test_an_interrupted_run_is_resumed_where_it_stopped(store: SqliteStore, tmp_path: Path) -> None:
    kept = numbered(small_run(), 1, "interrupted")
    keep(store, kept)
    async with at_runs(store, tmp_path) as (seen, session):
        await seen.press("r")
        await seen.until(lambda: session.ran)
        missing = TrialKey("bug-002", B)
        assert (session.ran[0].run_id, session.ran[0].trials, session.ran[0].earlier) == (
            kept.record.id,
            (missing,),
            {},
        )
        assert session.ran[0].suite == kept.plan.suite
        session.say(TrialFinished(result_of(missing, "passed", step_of("resumed"))))
        session.finish()
        await seen.until(lambda: not seen.busy)
        await seen.until(lambda: "◌✓ Race in the cache" in "\n".join(seen.rows))


@pytest.mark.parametrize(
    ("keys", "size"),
    [
        (("enter",), 4),
        *(pytest.param(*each, marks=pytest.mark.long) for each in ((("down", "enter"), 5), (("escape",), 0))),
    ],
)
async def test_f_offers_errors_first_and_asks_in_the_run(
    store: SqliteStore, tmp_path: Path, keys: tuple[str, ...], size: int
) -> None:
    kept = numbered(small_run(), 1)
    keep(store, kept)
    async with at_runs(store, tmp_path) as (seen, session):
        await seen.press("f")
        await seen.until(lambda: isinstance(seen.app.screen, ChoiceScreen))
        shown = [text_of(line) for line in rerun_lines(4, 1)]
        assert shown[0].startswith(" Errors only (4)  no judged answer")
        assert shown[1].startswith(" All not passed (5)  original verdicts stay, except of changed cases")
        await seen.press(*keys)
        await seen.until(lambda: in_explore(seen))
        if not size:
            assert session.ran == []
            return
        await seen.until(lambda: session.ran)
        assert session.ran[0].run_id == kept.record.id
        assert len(session.ran[0].trials) == size
        assert (TrialKey("sec-001", B) in session.ran[0].earlier) == (size == 5)


async def test_a_rerun_shows_both_verdicts_and_counts_as_before(store: SqliteStore, tmp_path: Path) -> None:
    plan = make_plan([make_case("one"), make_case("two")], ["openai/mock-a"])
    failed, unchecked = make_result(plan.trials[0], "failed"), make_result(plan.trials[1], "unchecked")
    again = replace(make_result(plan.trials[0]).attempts[0], number=2, asking=1)
    rerun = replace(failed, verdict="passed", attempts=(*failed.attempts, again))
    kept = numbered(keep_run(plan, [rerun, unchecked]), 1)
    keep(store, kept)
    async with at_runs(store, tmp_path) as (seen, _):
        assert "0/1   0%" in listed(seen)[0]
        await seen.press("enter")
        await seen.until(lambda: in_explore(seen) and "Use a parameter." in seen.text(0))
        await seen.until(lambda: "passed on rerun 1, counts as failed" in str(seen.pane(0).border_subtitle))
        await seen.until(lambda: "○ Case two" in "\n".join(seen.rows))
        await seen.press("f")
        await seen.until(lambda: "No failed trials here." in seen.notices)


async def test_a_chosen_case_is_asked_again_in_the_run(store: SqliteStore, tmp_path: Path) -> None:
    kept = numbered(small_run(), 1)
    keep(store, kept)
    async with at_runs(store, tmp_path) as (seen, session):
        await seen.press("enter")
        await seen.until(lambda: in_explore(seen) and "Use a parameter." in seen.text(0))
        await seen.press("r")
        await seen.until(lambda: session.ran)
        assert session.ran[0].run_id == kept.record.id
        assert session.ran[0].trials == (TrialKey("sec-001", A), TrialKey("sec-001", B))
        assert set(session.ran[0].earlier) == set(session.ran[0].trials)


async def test_answers_are_played_again_and_labelled(store: SqliteStore, tmp_path: Path) -> None:
    kept = numbered(small_run(), 1)
    keep(store, kept)
    async with at_runs(store, tmp_path) as (seen, session):
        await seen.press("p")
        await seen.until(lambda: session.ran)
        assert session.ran[0].run_id != kept.record.id
        assert {trial.model for trial in session.ran[0].trials} == {
            f"replay/{kept.record.id}/{name}" for name in (A, B)
        }
        assert "recorded answers: 11 Nov" in seen.header
        await seen.until(lambda: "↺ mock-a" in str(seen.pane(0).border_title))


async def test_what_is_going_on_is_not_taken_up(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, numbered(small_run(), 1, "running"))
    async with at_runs(store, tmp_path) as (seen, session):
        for key in ("r", "f", "D"):
            await seen.press(key)
            await seen.until(lambda: "still in progress" in seen.notices[-1] if seen.notices else False)
            assert listed(seen)
        assert not session.ran


async def test_one_run_of_a_suite_is_the_baseline(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, numbered(small_run(), 1), numbered(small_run(), 2))
    async with at_runs(store, tmp_path) as (seen, session):
        await seen.press("b")
        await seen.until(lambda: listed(seen)[0].startswith(" ★"))
        await seen.press("down", "b")
        await seen.until(lambda: listed(seen)[1].startswith(" ★"))
        assert listed(seen)[0].startswith("   ")
        assert session.history.baseline_of(small_run().plan.suite) == numbered(small_run(), 1).record.id


async def test_a_run_is_deleted_only_when_the_person_is_sure(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, numbered(small_run(), 1), numbered(small_run(), 2))
    async with at_runs(store, tmp_path) as (seen, _):
        await seen.press("enter")
        await seen.until(lambda: in_explore(seen) and "saved runs" in seen.header)
        await seen.press("H")
        await seen.until(lambda: listed(seen))
        for answer, left in (("n", 2), ("y", 1)):
            await seen.press("D")
            await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
            await seen.press(answer)
            await seen.until(lambda left=left: len(listed(seen)) == left)
        assert len(store.list_runs()) == 1
        await seen.press("escape")
        await seen.until(lambda: "quickstart" in seen.header, "what is gone is not shown any more")
        assert not any("saved runs" in row for row in seen.rows)


@pytest.mark.long
async def test_who_deletes_a_run_is_reported_how_many_scores_go_with_it(store: SqliteStore, tmp_path: Path) -> None:
    kept = numbered(small_run(), 1)
    keep(store, kept)
    reviews = Reviews(store, tmp_path / "data", Config())
    review = reviews.open_review(kept.record.id, "Ada", blind=False)
    for extent in (1, 2):
        review.give(review.items[0].key, extent)
    async with at_runs(store, tmp_path) as (seen, _):
        await seen.press("D")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        assert "2 scores by 1 reviewer will be lost" in str(seen.app.screen.query(Static).first().content)
        await seen.press("y")
        await seen.until(lambda: not listed(seen))
        assert reviews.count_scores(kept.record.id).scores == 0


@pytest.mark.parametrize("change", [pytest.param("a result", marks=pytest.mark.long), "a score"])
async def test_a_run_that_changes_while_the_question_is_displayed_is_not_deleted(
    store: SqliteStore, tmp_path: Path, change: str
) -> None:
    kept = numbered(small_run(), 1, state="interrupted")
    keep(store, replace(kept, results=kept.results[1:]))
    reviews = Reviews(store, tmp_path / "data", Config())
    async with at_runs(store, tmp_path) as (seen, _):
        await seen.press("D")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        if change == "a result":
            store.begin_run(kept.plan, kept.record.started_at)
            store.save_trials(kept.record.id, kept.results[:1])
            store.finish_run(kept.record.id, "finished", "2026-11-21T10:16:30.500+00:00")
        else:
            review = reviews.open_review(kept.record.id, "Ada", blind=False)
            review.give(review.items[0].key, 1)
        await seen.press("y")
        await seen.until(lambda: any("was not deleted: it has changed" in notice for notice in seen.notices))
        assert len(store.list_runs()) == 1
        await seen.until(lambda: ("finished" in listed(seen)[0]) == (change == "a result"))
        await seen.press("D")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        await seen.press("y")
        await seen.until(lambda: not listed(seen))
    assert (store.list_runs(), reviews.count_scores(kept.record.id).scores) == ((), 0)


async def test_a_report_is_written_where_the_person_says(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, numbered(small_run(), 1))
    file = tmp_path / "report.json"
    file.write_text("mine")
    async with at_runs(store, tmp_path) as (seen, _):
        await seen.press("O")
        await seen.until(lambda: isinstance(seen.app.screen, ExportScreen))
        line = seen.app.screen.query_one(PromptInput)
        await seen.press("down", "down")
        await seen.until(lambda: line.value.endswith(".json"))
        line.value = str(file)
        await seen.press("enter", "enter")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen), "there is such a file")
        assert file.read_text() == "mine"
        await seen.press("y")
        await seen.until(lambda: isinstance(seen.app.screen, ExportScreen) and file.read_text() != "mine")
        await seen.until(lambda: line.value == str(file), "it is written")
        await seen.press("enter")
        await seen.until(lambda: isinstance(seen.app.screen, RunsScreen))
        assert '"version"' in file.read_text()


@pytest.mark.long
async def test_a_large_run_is_opened_without_reading_its_answers(store: SqliteStore, tmp_path: Path) -> None:
    kept = numbered(large_run(500), 1)
    keep(store, kept)
    async with at_runs(store, tmp_path) as (seen, _):
        await seen.press("enter")
        await seen.until(lambda: in_explore(seen) and "bound by the driver" in seen.text(0))
        known = seen.screen.selection.state.trials
        assert len(known) == 1000
        assert sum(not trial.is_unread for trial in known.values()) == 2


@pytest.mark.long
async def test_the_mouse_looks_first_and_opens_then(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, numbered(small_run(), 1), numbered(small_run(), 2, name="Newer"))
    async with at_runs(store, tmp_path) as (seen, _):
        await seen.pilot.click("RunLines", offset=(10, 1))
        await seen.until(lambda: runs_screen(seen).lines.cursor == 1)
        await seen.pilot.click("RunLines", offset=(10, 1))
        await seen.until(lambda: in_explore(seen) and "saved runs: 11 Nov" in seen.header)


async def test_nothing_is_kept_yet(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "suites").mkdir()
    session = RecordingSession(session_for(tmp_path / "suites").suites)
    session.keeps = run_history(store, tmp_path / "data", lambda names: tuple(make_subject(name) for name in names))
    async with explored(session, (80, 24)) as seen:
        await seen.press("H")
        await seen.until(lambda: isinstance(seen.app.screen, RunsScreen))
        title = runs_screen(seen).query_one("RunsTitle")
        await seen.until(lambda: "no saved runs yet" in str(title.render()))
        await seen.press("enter", "r", "f", "p", "b", "O", "D", "delete", "escape")
        await seen.until(lambda: in_explore(seen))
