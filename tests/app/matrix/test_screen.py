"""The Matrix screen: from Explore and back, live, with its keys and the mouse."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.await_complete import AwaitComplete

from tests.app.contexts import make_context
from tests.app.explore.explored import Seen, explored, session_for
from tests.app.matrix.matrix_app import running_app
from tests.app.matrix.samples import EARLIER, MODELS, RUN, large, matrix_of, repeated, result
from tests.app.review import reviewed_runs
from tests.support.histories import run_history
from tests.support.kept_runs import RUN_ID, make_case, make_plan, make_result, make_subject
from tests.support.pilots import press_at_once, screen_rows, until
from tests.support.scripted_session import Opened, ScriptedSession
from tui.app.dialogs import ChoiceScreen, HelpScreen
from tui.app.figures_screen import FiguresScreen
from tui.app.matrix.matrix import Order
from tui.app.matrix.screen import MatrixScreen, read_matrix
from tui.app.matrix.statistics import compute_statistics
from tui.app.presentation.pieces import text_of
from tui.app.suite_loader import SuitesRead
from tui.app.widgets.list_view import LineListView
from tui.model.events import TrialFinished, TrialStarted
from tui.model.results import TrialKey
from tui.model.risk import Band
from tui.model.state import RunState
from tui.model.suite import Step, Suite
from tui.session.run_history import ComparableRun, RunHistory
from tui.store.sqlite import SqliteStore


def rows_of(screen: MatrixScreen) -> list[str]:
    """What can be seen of the rows."""
    table = screen.panel.table
    return [table.render_line(y).text.rstrip() for y in range(table.size.height)]


def heads_of(screen: MatrixScreen) -> list[str]:
    head = screen.panel.head
    return [head.render_line(y).text.rstrip() for y in range(head.size.height)]


def text(screen: MatrixScreen) -> str:
    return str(screen.query_one("#sentence").render())


@asynccontextmanager
async def opened(
    folder: Path, results: Sequence[str] = (), size: tuple[int, int] = (140, 44)
) -> AsyncIterator[tuple[Seen, MatrixScreen]]:
    """The matrix of three cases on two models, opened from Explore by its key; kept `results` by their marks."""
    session = session_with_history(folder)
    cases = ("one", "two", "three")
    session.kept = tuple(
        result(TrialKey(case, model), sign)
        for case, signs in zip(cases, results, strict=False)
        for model, sign in zip(("mock-a", "mock-b"), signs, strict=True)
    )
    async with explored(session, size) as seen:
        await seen.press("m")
        await seen.until(lambda: isinstance(seen.app.screen, MatrixScreen))
        screen = seen.app.screen
        assert isinstance(screen, MatrixScreen)
        await seen.until(lambda: screen.matrix.statistics.figures and screen.panel.table.size.height)
        yield seen, screen


def session_with_history(folder: Path) -> ScriptedSession:
    session = session_for(folder)
    store = SqliteStore(folder / "runs.sqlite")
    session.keeps = run_history(store, folder, lambda names: tuple(make_subject(name) for name in names))
    return session


async def test_it_opens_from_explore_and_enter_goes_to_the_case(tmp_path: Path) -> None:
    async with opened(tmp_path, ("✓✗", "✓✓", "◐t")) as (seen, screen):
        assert [row.split() for row in rows_of(screen)[:5]] == [
            ["Code", "Generation", "1"],
            ["reverse", "a", "text", "✓", "✗"],
            ["Security", "2"],
            ["query", "by", "mail", "✓", "✓"],
            ["hash", "a", "password", "◐", "2/2", "!", "timed", "out"],
        ]
        assert heads_of(screen)[1].split()[3:] == ["67%", "21–94", "33%", "6–79"]
        assert "not enough data; 3 cases in common, at least 6 needed" in text(screen)
        await seen.press("down", "down", "enter")
        await seen.until(lambda: seen.app.screen is seen.screen)
        assert seen.screen.selection.case_id == "three"
        assert "hash a password" in seen.row
        assert [pane.model for pane in seen.screen.answers.panes] == ["mock-a", "mock-b"]
        assert "Here it is." in seen.text(0)


async def test_enter_opens_the_case_at_the_model_under_the_cursor(tmp_path: Path) -> None:
    async with opened(tmp_path, ("✓✗", "✓✓", "◐t")) as (seen, _):
        await seen.press("down", "right", "enter")
        await seen.until(lambda: seen.app.screen is seen.screen)
        await seen.until(lambda: seen.screen.answers.current_model == "mock-b")
        assert seen.screen.selection.case_id == "two"


@pytest.mark.parametrize("key", [pytest.param("m", marks=pytest.mark.long), "escape"])
async def test_its_key_and_escape_go_back_and_leave_explore_as_it_was(tmp_path: Path, key: str) -> None:
    async with opened(tmp_path) as (seen, screen):
        await seen.press("down", key)
        await seen.until(lambda: seen.app.screen is seen.screen)
        assert seen.screen.selection.case_id == "one"
        assert not screen.is_mounted or not screen.is_attached


async def test_it_is_live_during_a_run(tmp_path: Path) -> None:
    async with opened(tmp_path, ("✓✓",)) as (seen, screen):
        await seen.press("R")
        await seen.until(lambda: rows_of(screen)[1].split()[-2:] == ["◦", "◦"])
        assert len(seen.session.plans[-1].trials) == 6
        a = TrialKey("one", "mock-a")
        seen.session.say(TrialStarted(a))
        await seen.until(lambda: {"∙", "•", "●"} & set(rows_of(screen)[1]))
        frames: set[str] = set()

        def moves() -> bool:
            frames.add(rows_of(screen)[1])
            return len(frames) > 1

        await seen.until(moves, "the mark moves")
        seen.session.say(TrialFinished(result(a, "✗")))
        await seen.until(lambda: rows_of(screen)[1].split()[-2:] == ["✗", "◦"])
        await seen.until(lambda: "▶ 1/6" in text_of(screen.header.line_for(200)))
        await seen.until(lambda: "0%" in heads_of(screen)[1])
        seen.session.finish("cancelled")
        await seen.until(lambda: rows_of(screen)[1].split()[-2:] == ["✗", "✓"], "the rest has its result again")
        await seen.until(lambda: not screen.updates.active, "nothing moves any more")


async def test_failed_again_asks_what_did_not_pass_and_cancel_ends_it(tmp_path: Path) -> None:
    async with opened(tmp_path, ("✓✗", "t✓", "✓◐")) as (seen, screen):
        await seen.press("f")
        await seen.until(lambda: isinstance(seen.app.screen, ChoiceScreen))
        await seen.press("down", "enter")
        await seen.until(lambda: seen.session.plans)
        assert set(seen.session.plans[-1].trials) == {TrialKey("one", "mock-b"), TrialKey("two", "mock-a")}
        await seen.until(lambda: screen.matrix.state.running)
        await seen.press("X")
        await seen.until(lambda: seen.session.ended == ["cancelled"])


@pytest.mark.long
async def test_a_kept_run_has_its_figures_though_its_answers_are_not_read(tmp_path: Path) -> None:
    session = session_with_history(tmp_path)
    assert session.keeps is not None
    cases = [make_case(f"case-{number}") for number in range(30)]
    plan = make_plan(cases, ("a", "b"), path=str(tmp_path / "kept.yaml"))
    store = SqliteStore(tmp_path / "runs.sqlite")
    store.begin_run(plan, "2026-11-19T10:00:00+00:00")
    store.save_trials(plan.run_id, [make_result(key, flaky=key.case == "case-3") for key in plan.trials])
    store.finish_run(plan.run_id, "finished", "2026-11-19T10:10:00+00:00")
    async with explored(session) as seen:
        await seen.screen.open_run(plan.run_id)
        await seen.press("m")
        await seen.until(lambda: isinstance(seen.app.screen, MatrixScreen))
        screen = seen.app.screen
        assert isinstance(screen, MatrixScreen)
        await seen.until(lambda: screen.matrix.statistics.figures and screen.panel.table.size.height)
        heads = [head.split() for head in heads_of(screen)]
        assert heads[1][3:5] == ["97%", "83–99"]
        assert heads[2][3:] == ["1", "·", "0"] * 2
        assert [row.split() for row in rows_of(screen) if "◐" in row] == [
            ["Case", "case-3", "◐", "2/2", "◐", "2/2", "▐"]
        ]
        assert "◐ 2 flaky" in text_of(screen.header.line_for(200))
        assert heads[3][3:] == ["1.2", "s", "·", "1.2", "s"] * 2
        assert heads[5][4:] == ["620", "·", "1240"] * 2
        assert f"run {plan.run_id[:12]}" in text_of(screen.header.line_for(200))
        await seen.press("m")
        await seen.until(lambda: seen.app.screen is seen.screen)
        asked_again = [make_result(TrialKey("case-3", model), "failed") for model in ("a", "b")]
        store.save_trials(plan.run_id, asked_again)  # by another process
        await seen.screen.open_run(plan.run_id)
        await seen.press("m")
        await seen.until(lambda: isinstance(seen.app.screen, MatrixScreen) and seen.app.screen is not screen)
        anew = seen.app.screen
        assert isinstance(anew, MatrixScreen)
        await seen.until(lambda: anew.panel.head.size.height and heads_of(anew)[2].split()[3:] == ["0", "·", "0"] * 2)
        assert all("◐" not in row for row in rows_of(anew))
    store.close()


@pytest.mark.long
async def test_it_is_in_the_palette_and_its_keys_are_in_the_help(tmp_path: Path) -> None:
    async with explored(session_with_history(tmp_path)) as seen:
        titles = [command.title for command in seen.app.get_system_commands(seen.app.screen)]
        assert "Matrix: all cases × all models  m" in titles
        await seen.press("m")
        await seen.until(lambda: isinstance(seen.app.screen, MatrixScreen))
        titles = [command.title for command in seen.app.get_system_commands(seen.app.screen)]
        assert "Sort rows  s" in titles
        await seen.press("question_mark")
        await seen.until(lambda: isinstance(seen.app.screen, HelpScreen))


async def test_rows_are_sorted_filtered_grouped_and_turned_around() -> None:
    async with running_app(matrix_of()) as app:
        screen, pilot, matrix = app.place, app.hand, app.matrix
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        await pilot.press("down", "down", "down", "enter")
        await until(pilot, lambda: matrix.row_options.order == Order("all fail"))
        assert rows_of(screen)[1].split()[:2] == ["Leap", "years"]
        await pilot.press("d")
        assert all("Leap" not in row for row in rows_of(screen))
        await pilot.press("d", "G", "G")
        assert rows_of(screen)[0].split()[:2] == ["Leap", "years"]
        await pilot.press("o")
        assert "reversed" in text_of(screen.header.line_for(200))
        await pilot.press("slash")
        await until(pilot, lambda: screen.panel.filtering)
        await pilot.press(*"cat:sec status:fail", "enter")
        await until(pilot, lambda: matrix.case_count == 3)
        await pilot.press("escape")
        await until(pilot, lambda: matrix.case_count == 10)
        assert app.screen is screen


async def test_a_key_right_after_escape_from_the_filter_is_a_command() -> None:
    async with running_app(matrix_of()) as app:
        screen, pilot, matrix = app.place, app.hand, app.matrix
        for accept in ((), ("enter",)):
            await pilot.press("slash", *"cat:sec", *accept)
            await until(pilot, lambda: matrix.case_count < 10)
            press_at_once(app, "escape", "slash")
            await until(pilot, lambda: matrix.case_count == 10 and screen.panel.typing)
            await pilot.press("escape")
            await until(pilot, lambda: not screen.panel.filtering)
        await pilot.press("slash")
        await until(pilot, lambda: screen.panel.typing)
        press_at_once(app, "escape", "escape")
        await until(pilot, lambda: app.screen is not screen)


async def test_the_cursor_stays_on_its_case_when_the_rows_change() -> None:
    async with running_app(matrix_of()) as app:
        table, pilot = app.place.panel.table, app.hand
        await pilot.press("end", "up", "up")
        assert table.case_id == "case-7"
        await pilot.press("o")
        assert table.case_id == "case-7"
        assert "Split a long function" in table.render_line(table.cursor - table.scroll_offset.y).text
        await pilot.press("G", "G")
        assert table.case_id == "case-7"
        assert table.cursor == 2


async def test_the_cursor_passes_headings_over_and_goes_to_what_differs() -> None:
    async with running_app(matrix_of()) as app:
        screen, pilot = app.place, app.hand
        assert screen.panel.table.case_id == "case-0"
        await pilot.press("end")
        assert screen.panel.table.case_id == "case-9"
        await pilot.press("up", "up", "up")
        assert screen.panel.table.case_id == "case-6"
        await pilot.press("N")
        assert screen.panel.table.case_id == "case-5"
        await pilot.press("home", "up")
        assert screen.panel.table.case_id == "case-0"


async def test_the_mouse_sorts_by_a_head_and_opens_by_a_second_click() -> None:
    async with running_app(matrix_of()) as app:
        screen, pilot = app.place, app.hand
        columns = screen.panel.table.columns
        at = columns.name + 2 * columns.cell + 1
        await pilot.click("#heads", offset=(at, 0))
        await until(pilot, lambda: app.matrix.row_options.order == Order("model", MODELS[2]))
        await pilot.click("#heads", offset=(at, 0))
        await until(pilot, lambda: app.matrix.row_options.order.reverse)
        await pilot.click("#heads", offset=(at, 0))
        await until(pilot, lambda: app.matrix.row_options.order == Order())
        await pilot.click("#cells", offset=(4, 3))
        assert screen.panel.table.case_id == "case-2"
        assert app.chosen == []
        await pilot.click("#cells", offset=(4, 3))
        await until(pilot, lambda: app.chosen == ["case-2"])


async def test_statistics_of_a_matrix_that_was_closed_meanwhile_do_not_open(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_app(matrix_of()) as app:
        counted, waits = asyncio.Event(), asyncio.Event()

        async def wait() -> bool:
            waits.set()
            return await counted.wait()

        matrix, dismiss = app.place, app.place.dismiss

        def dismiss_and_go_on(result: str | None = None) -> AwaitComplete:
            counted.set()  # the worker goes on before its screen is removed
            return dismiss(result)

        monkeypatch.setattr(matrix.updates.counted, "wait", wait)
        monkeypatch.setattr(matrix, "dismiss", dismiss_and_go_on)
        await app.hand.press("I")
        await waits.wait()
        await app.hand.press("m")
        await until(app.hand, lambda: app.chosen == [None])
        await until(app.hand, lambda: not any(worker.is_running for worker in app.workers if worker.node is matrix))
        assert len(app.screen_stack) == 1
        assert app.is_running


async def test_a_run_of_which_explore_has_read_the_first_case_only_is_counted_as_a_whole(tmp_path: Path) -> None:
    store = reviewed_runs.keep_run(tmp_path)
    context = await make_context(reviewed_runs.session_at(tmp_path, store))
    suite = context.open_suites.all[0]
    saved = suite._replace(path=tmp_path / "run", run=RUN_ID)
    state = RunState()
    state.take_unread(reviewed_runs.results()[:2])
    context.open_suites.add_saved_run(saved, state)
    matrix = await read_matrix(context, saved)
    assert state.trials.keys() == {result.trial for result in reviewed_runs.results()}
    assert set(matrix.models) >= {reviewed_runs.A, reviewed_runs.B}
    store.close()


async def test_figures_are_kept_for_the_same_results_and_not_for_those_after_a_run_was_deleted(tmp_path: Path) -> None:
    store = reviewed_runs.keep_run(tmp_path)
    context = await make_context(reviewed_runs.session_at(tmp_path, store))
    suite = context.open_suites.all[0]
    matrix = await read_matrix(context, suite)
    computed = matrix.statistics = compute_statistics(matrix.snapshot())
    assert (await read_matrix(context, suite)).statistics is computed
    state = RunState()
    state.take_unread(reviewed_runs.results()[:1])
    assert context.open_suites.replace_state(suite.path, state)
    assert (await read_matrix(context, suite)).statistics.figures == {}
    store.close()


async def test_a_baseline_is_chosen_and_taken_away() -> None:
    async with running_app(matrix_of()) as app:
        screen, pilot = app.place, app.hand
        await pilot.press("b")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        await pilot.press("down", "enter")
        await until(
            pilot,
            lambda: (
                heads_of(screen)[-1].split() == ["since", "baseline", "+1", "−3", "+2", "−2", "+2", "−1", "+5", "−6"]
            ),
        )
        assert "✗ was ✓" in rows_of(screen)[1]
        assert EARLIER[:12] in text_of(screen.header.line_for(200))
        await pilot.press("b")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        await pilot.press("home", "enter")
        await until(pilot, lambda: app.matrix.baseline is None)
        assert "was" not in rows_of(screen)[1]


async def test_a_baseline_whose_run_was_deleted_is_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_app(matrix_of(), marked=True) as app:
        await until(app.hand, lambda: app.matrix.baseline is not None)
        monkeypatch.setattr(RunHistory, "list_runs", lambda _: ())
        await app.hand.press("b")
        await until(app.hand, lambda: isinstance(app.screen, ChoiceScreen))
        await app.hand.press("enter")
        await until(app.hand, lambda: app.matrix.baseline is None)


async def test_a_baseline_is_compared_with_the_displayed_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = matrix_of()
    asked: list[tuple[str, dict[str, tuple[str, TrialKey]]]] = []

    def read(
        _history: RunHistory,
        run_id: str,
        _suite: Suite,
        displayed: dict[str, tuple[str, TrialKey]],
        _definitions: dict[str, str],
    ) -> ComparableRun:
        asked.append((run_id, displayed))
        return ComparableRun(())

    monkeypatch.setattr(RunHistory, "read_comparable", read)
    async with running_app(matrix) as app:
        for trial in app.matrix.state.trials.values():
            trial.run = RUN
        await app.hand.press("b")
        await until(app.hand, lambda: isinstance(app.screen, ChoiceScreen))
        await app.hand.press("down", "enter")
        await until(app.hand, lambda: asked)
    [(run_id, displayed)] = asked
    assert run_id == EARLIER
    assert {case: (run, key.case) for case, (run, key) in displayed.items()} == {
        case.id: (RUN, case.id) for case in matrix.suite.cases
    }


async def test_a_marked_baseline_is_taken_by_itself() -> None:
    async with running_app(matrix_of(), marked=True) as app:
        await until(app.hand, lambda: app.matrix.baseline is not None)
        assert app.matrix.baseline is not None
        assert app.matrix.baseline.run_id == EARLIER


async def test_a_baseline_leaves_out_the_cases_that_are_changed_while_it_is_in_use() -> None:
    async with running_app(matrix_of(), marked=True) as app:
        await until(app.hand, lambda: "✗ was ✓" in rows_of(app.place)[1])
        [(path, opened)] = app.session.suites.items()
        assert opened.suite is not None
        first, *others = opened.suite.cases
        asking = replace(first, steps=(Step("Something else?"),))
        app.session.suites[path] = Opened(replace(opened.suite, cases=(asking, *others), sha256="e" * 64))
        app.place.context.open_suites.read(path)
        app.place.post_message(SuitesRead([path], again=True))
        await until(app.hand, lambda: app.matrix.suite.cases[0] == asking)
        await until(app.hand, lambda: app.matrix.baseline is not None and bool(app.matrix.baseline.cells))
        assert app.matrix.baseline is not None
        assert {case for case, _ in app.matrix.baseline.cells} == {case.id for case in others}
        assert "was" not in rows_of(app.place)[1]


async def test_the_statistics_choose_the_pair_below() -> None:
    async with running_app(matrix_of()) as app:
        screen, pilot = app.place, app.hand
        assert "gpt-5.2 passes 3 cases that gemini-3-pro does not" in text(screen)
        await pilot.press("I")
        await until(pilot, lambda: isinstance(app.screen, FiguresScreen))
        await pilot.press("home", "enter")
        await until(pilot, lambda: "gpt-5.2 passes 2 cases that claude-sonnet-4.5 does not" in text(screen))


@pytest.mark.parametrize(("width", "expected"), [pytest.param(80, False, marks=pytest.mark.long), (140, True)])
async def test_figures_of_pairs_are_whole_or_left_out(width: int, expected: bool) -> None:
    matrix = matrix_of([("A", f"case {number}", "✓✗") for number in range(40)], ("good", "bad"))
    async with running_app(matrix, (width, 24)) as app:
        await until(app.hand, lambda: bool(app.matrix.statistics.pairs))
        await app.hand.press("I")
        await until(app.hand, lambda: isinstance(app.screen, FiguresScreen))
        shown = app.screen.query_one(LineListView)
        await until(app.hand, lambda: "40 won" in shown.render_line(0).text)
        assert shown.render_line(0).text.rstrip().endswith("points (+87 to +100)" if expected else "+100 points")


async def test_small_windows_keep_the_names_and_scroll_the_models() -> None:
    matrix = large(60, 6)
    async with running_app(matrix, (80, 24)) as app:
        screen, pilot = app.place, app.hand
        assert "1–3 of 6 ▸" in heads_of(screen)[0]
        await pilot.press("right", "right", "right", "right")
        assert "◂ 4–6 of 6" in heads_of(screen)[0]
        assert rows_of(screen)[1].split()[:3] == ["Case", "number", "0"]
        assert len(text(screen)) < 2 * 76
        await pilot.press("i")
        await until(pilot, lambda: "unknown" in heads_of(screen)[-1], "the cost is there too")
        await pilot.press("i")
        await pilot.resize_terminal(40, 10)
        await pilot.resize_terminal(1, 1)
        await pilot.resize_terminal(200, 50)
        await until(pilot, lambda: len(heads_of(screen)) == 7)


async def test_bands_are_shown_once_trials_are_scored() -> None:
    matrix = repeated()
    async with running_app(matrix) as app:
        screen, a, b = app.place, MODELS[0], MODELS[1]
        before = rows_of(screen)
        bands: dict[TrialKey, Band] = {
            TrialKey("case-0", a, 1): "low",
            TrialKey("case-0", a, 3): "critical",
            TrialKey("case-1", b, 2): "negligible",
        }
        screen.panel.table.show_bands(bands)
        after = rows_of(screen)
        assert "● critical" in after[1]
        assert "○ negligible" in after[2]
        assert [at for at, (one, other) in enumerate(zip(before, after, strict=True)) if one != other] == [1, 2]
        assert before[1].index("✓") == after[1].index("✓"), "nothing jumps"
        await app.hand.resize_terminal(80, 24)
        await until(app.hand, lambda: "● C" in rows_of(screen)[1])
        screen.panel.table.show_bands({})
        assert not any("●" in row or "○" in row for row in rows_of(screen))


async def test_its_keys_start_and_cancel_runs() -> None:
    async with running_app(matrix_of()) as app:
        session, matrix = app.session, app.matrix
        await app.hand.press("R")
        await until(app.hand, lambda: matrix.state.running)
        assert set(session.plans[-1].trials) == {
            TrialKey(case.id, model) for case in matrix.suite.cases for model in matrix.models
        }
        await app.hand.press("X")
        await until(app.hand, lambda: session.ended == ["cancelled"])


async def test_the_key_of_the_statistics_waits_until_they_are_computed() -> None:
    async with running_app(matrix_of()) as app:
        place = app.place
        place.updates.counted.clear()
        await app.hand.press("I")
        assert app.screen is place
        place.updates.counted.set()
        await until(app.hand, lambda: isinstance(app.screen, FiguresScreen))


async def test_statistics_that_were_opened_during_a_run_are_those_of_the_whole_run_after_it(tmp_path: Path) -> None:
    async with opened(tmp_path, ("✓✓",)) as (seen, screen):
        await seen.press("R")
        await seen.until(lambda: seen.session.plans)
        trials = seen.session.plans[-1].trials
        seen.session.say(*(TrialFinished(result(key, "✗")) for key in trials[:2]))
        await seen.until(lambda: "So far 2 of 6" in text(screen))
        await seen.press("I")
        await seen.until(lambda: "run not finished" in "\n".join(screen_rows(seen.app.screen)))
        figures = seen.app.screen
        await seen.press("right_square_bracket")
        seen.session.say(*(TrialFinished(result(key, "✓")) for key in trials[2:]))
        seen.session.finish()
        await seen.until(lambda: "67%" in "\n".join(screen_rows(figures)), "the tab stays, its rates are the last ones")
        await seen.press("left_square_bracket")
        await seen.until(lambda: "not enough data" in "\n".join(screen_rows(figures)))
        assert "run not finished" not in "\n".join(screen_rows(figures))
