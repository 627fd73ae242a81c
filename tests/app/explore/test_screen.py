"""Looking at suites: what is open at the start, what follows the cursor, what the filter leaves."""

from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from tests.app.explore.explored import CASES, explored, session_for
from tests.support.kept_runs import STARTED
from tests.support.pilots import press_at_once, screen_rows, until
from tests.support.repositories import write_files
from tests.support.scripted_session import Opened, ScriptedSession, case_of, prompt_of, result_of, step_of, suite_of
from tests.support.terminal import WAIT_SECONDS
from tui.app.app import AssayApp
from tui.app.dialogs import ConfirmScreen, HelpScreen
from tui.app.explore.model_dialog import ModelChooser
from tui.app.explore.screen import ExploreScreen
from tui.app.explore.suite_tree import SuiteTree
from tui.app.explore.tabs import PromptTab
from tui.app.navigator import RunChosen
from tui.model.errors import ConfigError, Problem
from tui.model.events import AttemptStarted, StepStarted, TextArrived, TrialFinished, TrialStarted
from tui.model.results import Attempt, CheckResult, Message, Prompt, TrialKey, Verdict
from tui.model.run import RunRecord
from tui.model.subjects import Config, Variant
from tui.model.suite import Case, CodeContext, RepositoryContext, Step


async def test_the_first_suite_is_open_and_its_first_case_selected(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path, "quickstart", "other")) as seen:
        assert seen.row == "·· reverse a text"
        assert [pane.model for pane in seen.screen.answers.panes] == ["mock-a", "mock-b"]
        assert "Not run yet. Press r" in seen.text(0)
        assert "3 cases × 2 models" in seen.header
        await seen.until(lambda: len(seen.rows) == 7 and seen.rows[-1].startswith("▸ other"))


async def test_the_prompt_is_in_the_first_displayed_pane_without_an_answer(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        case = seen.screen.selection.case
        assert case is not None
        prompt = case.steps[0].input
        await seen.until(lambda: prompt in seen.text(0) and "Not run yet. Press r" in seen.text(1))
        assert prompt not in seen.text(1)
        await seen.press("2", "z")
        await seen.until(lambda: prompt in seen.text(1))
        await seen.press("z")
        await seen.until(lambda: prompt not in seen.text(1))


async def test_the_cursor_says_what_is_shown(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await seen.press("down", "down")
        assert seen.row == "·· query by mail                crit"
        assert seen.screen.selection.case_id == "two"
        await seen.press("full_stop")
        assert seen.screen.selection.case_id == "three"
        await seen.press("comma", "comma")
        assert seen.screen.selection.case_id == "one"
        assert [type(message) for message in seen.posted(SuiteTree.RowReached)]


async def test_folding_hides_and_counts(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await seen.press("left", "left")
        await seen.until(lambda: "▸ Code Generation" in seen.row)
        await seen.press("left", "left")
        await seen.until(lambda: len(seen.rows) == 1)
        assert "3 cases" in seen.row
        assert "For tests." in seen.overview
        await seen.press("enter")
        await seen.until(lambda: len(seen.rows) > 1)


async def test_a_key_right_after_unfolding_is_meant_for_what_was_unfolded(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    path = tmp_path / "quickstart.yaml"
    many = [case_of(f"{number}", name=f"case {number}", category=f"Category {number % 40}") for number in range(400)]
    session.suites[path] = Opened(suite_of(path, *many))
    async with explored(session, (120, 30)) as seen:
        tree = seen.screen.suites.suite_tree
        await seen.press("end")
        await seen.until(lambda: "▸ Category 39" in seen.row)
        tree.action_unfold()
        tree.action_move(1)
        assert "case 39" in seen.row
        tree.action_move(-1)
        tree.action_toggle_fold()
        tree.scroll_to(y=tree.cursor - tree.size.height + 1, animate=False)
        tree.action_toggle_fold()
        await seen.until(lambda: tree.scroll_offset.y + tree.size.height >= tree.cursor + 10, "what is below is seen")


async def test_a_revealed_case_is_displayed_with_its_suite(tmp_path: Path) -> None:
    session = session_for(tmp_path, "quickstart", "other")
    path = tmp_path / "quickstart.yaml"
    session.suites[path] = Opened(suite_of(path, *[case_of(f"{number}", category="One") for number in range(80)]))
    async with explored(session, (120, 30)) as seen:
        await seen.until(lambda: "other" in seen.rows[-1])
        suites, other = seen.screen.suites, seen.screen.selection.open_suites.all[1]
        assert other.suite is not None
        suites.reveal(other, other.suite.cases[0])
        tree = suites.suite_tree
        await seen.until(lambda: "reverse a text" in seen.row and tree.cursor > 80)
        await seen.until(lambda: tree.scroll_offset.y + tree.size.height >= len(tree.rows), "all of its cases")


@pytest.mark.long
async def test_the_mouse_chooses_and_unfolds(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await seen.pilot.click("#tree", offset=(10, 4))
        assert "query by mail" in seen.row
        await seen.pilot.click("#tree", offset=(2, 3))
        await seen.until(lambda: any("▸ Security" in row for row in seen.rows))


async def test_a_broken_suite_shows_its_problems_and_the_first_good_one_is_open(tmp_path: Path) -> None:
    session = session_for(tmp_path, "quickstart")
    bad = Problem("bad.json", 12, 5, "error", "testCases[2]", "there is no prompt")
    session.suites = {tmp_path / "bad.json": Opened(None, (bad,)), **session.suites}
    async with explored(session) as seen:
        assert "reverse a text" in seen.row
        await seen.press("home")
        assert "1 problem" in seen.row
        assert "bad.json:12:5" in seen.overview
        assert "there is no prompt" in seen.overview


@pytest.mark.parametrize(
    ("session", "message"),
    [
        (ScriptedSession(), "There is no file or folder"),
        (
            ScriptedSession(fault=ConfigError("The config is broken", where="config.yaml")),
            "config.yaml: The config is broken",
        ),
    ],
)
async def test_a_session_that_cannot_be_opened_says_why_and_can_be_left(session: ScriptedSession, message: str) -> None:
    app = AssayApp(lambda: session, [Path("suites")])
    async with app.run_test(size=(140, 44)) as pilot:

        def overview() -> str:
            return str(app.screen.query_one("#overview Static").render())

        await until(pilot, lambda: message in overview())
        assert "start Assay again" in overview()
        assert "run the case" not in overview(), "no key works that needs a suite"
        assert session.closed
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await pilot.press("escape", "q")
        await until(pilot, lambda: app.return_code == 0)


@pytest.mark.parametrize(("key", "trials"), [("r", 2), ("R", 6)])
async def test_a_run_that_is_requested_while_the_first_suite_is_read_starts_after_it(
    tmp_path: Path, key: str, trials: int
) -> None:
    opening, session = Event(), session_for(tmp_path)
    open_suite = session.open_suite

    def open_slowly(path: Path) -> Opened:
        opening.wait(WAIT_SECONDS)
        return open_suite(path)

    session.open_suite = open_slowly  # type: ignore[method-assign]
    app = AssayApp(lambda: session, [Path("suites")])
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.screen, ExploreScreen))
        await pilot.press(key)
        await pilot.pause()
        assert not app._notifications
        opening.set()
        await until(pilot, lambda: session.plans)
        assert len(session.plans[0].trials) == trials
        session.finish("cancelled")
        explore = app.screen_stack[0]
        assert isinstance(explore, ExploreScreen)
        await until(pilot, lambda: not explore.context.runs.busy)


async def test_a_key_for_the_tabs_before_there_are_any_does_nothing(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    bad = Problem("quickstart.yaml", 1, 1, "error", "", "not yet")
    session.suites = {tmp_path / "quickstart.yaml": Opened(None, (bad,))}
    async with explored(session) as seen:
        await seen.until(lambda: "not yet" in seen.overview)
        await seen.press("right_square_bracket", "left_square_bracket")
        assert seen.screen.details.current == "checks"


async def test_a_filter_leaves_what_it_wants_and_escape_brings_all_back(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await seen.press("slash", *"sev:crit")
        await seen.until(lambda: len(seen.rows) == 3)
        assert "query by mail" in seen.rows[-1]
        assert "1 case" in str(seen.screen.suites.border_subtitle)
        await seen.press("escape")
        await seen.until(lambda: len(seen.rows) == 6)
        await seen.press("slash", *"tags:x")
        await seen.until(lambda: "did you mean tag" in seen.screen.suites.hint)


@pytest.mark.long
async def test_a_key_right_after_escape_from_the_filter_is_a_command(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await seen.press("slash", *"hash")
        await seen.until(lambda: len(seen.rows) == 3)
        press_at_once(seen.app, "x", "escape", "slash")
        await seen.until(lambda: len(seen.rows) == 6 and seen.screen.suites.typing)
        await seen.press(*"mail")
        await seen.until(lambda: len(seen.rows) == 3 and "query by mail" in seen.rows[-1])
        press_at_once(seen.app, "escape", "home")
        await seen.until(lambda: len(seen.rows) == 6 and seen.screen.suites.suite_tree.cursor == 0)
        assert not seen.screen.suites.filtering


@pytest.mark.long
async def test_the_cases_in_which_models_differ_are_found_by_all_their_repeats(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    signs: dict[str, tuple[Verdict, ...]] = {"one": ("passed", "passed", "failed"), "two": ("passed",) * 3}
    session.kept = tuple(
        result_of(TrialKey(case, model, repeat), verdict if model == "mock-a" else "passed")
        for case, verdicts in signs.items()
        for repeat, verdict in enumerate(verdicts, 1)
        for model in ("mock-a", "mock-b")
    )
    async with explored(session) as seen:
        await seen.press("slash", *"differs:yes")
        await seen.until(lambda: "1 case" in str(seen.screen.suites.border_subtitle))
        assert "reverse a text" in seen.rows[-1]
        await seen.press("escape", "slash", *"differs:no")
        await seen.until(lambda: "query by mail" in seen.rows[-1])
        await seen.press("escape", "slash", *"differs:x")
        await seen.until(lambda: "unknown value differs:x; available: yes, no" in seen.screen.suites.hint)


@pytest.mark.long
async def test_the_first_case_that_a_filter_leaves_is_shown_and_run(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        await seen.press("slash", *"hash", "enter")
        await seen.until(lambda: "hash a password" in seen.row)
        assert seen.screen.selection.case_id == "three"
        await seen.press("r")
        await seen.until(lambda: session.plans)
        assert {trial.case for trial in session.plans[-1].trials} == {"three"}


async def test_a_suite_that_changes_on_disk_is_read_again_in_place(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    path = tmp_path / "quickstart.yaml"
    async with explored(session) as seen:
        await seen.press("down", "down")
        more = case_of("new", name="a new case", category="Code Generation")
        session.suites[path] = Opened(suite_of(path, *CASES, more, name="quickstart"))
        path.write_text("changed")
        await seen.until(lambda: any("a new case" in row for row in seen.rows))
        assert "query by mail" in seen.row
        assert seen.screen.selection.case_id == "two"
        session.suites[path] = Opened(None, (Problem(str(path), 1, 1, "error", "", "now it is broken"),))
        path.write_text("changed again")
        await seen.until(lambda: any("line 1: now it is broken" in notice for notice in seen.notices))
        assert "query by mail" in seen.row
        assert seen.screen.selection.case_id == "two"
        assert "! quickstart" in seen.rows[0]
        assert "1 problem" in seen.rows[0]
        await seen.press("r")
        await seen.until(lambda: sum("now it is broken" in notice for notice in seen.notices) == 2, "r says why not")
        assert session.plans == []
        await seen.press("home")
        await seen.until(lambda: "now it is broken" in seen.overview)
        assert "last version without errors" in seen.overview
        session.suites[path] = Opened(suite_of(path, *CASES, name="quickstart"))
        path.write_text("repaired")
        await seen.until(lambda: "problem" not in seen.rows[0])
        assert seen.row.startswith("▾ quickstart")


async def test_an_answer_stays_with_the_case_that_was_run_while_its_file_changes(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    path, key = tmp_path / "quickstart.yaml", TrialKey("one", "mock-a")

    def write(case: Case) -> None:
        session.suites[path] = Opened(suite_of(path, case, *CASES[1:], name="quickstart"))
        path.write_text(f"{case.steps} changed")

    async with explored(session) as seen:
        await seen.press("r")
        await seen.until(lambda: session.plans, "a plan was made")
        spans = ((0, 2), (3, 9))
        judged = [
            CheckResult(check.kind, check.target, "passed", spans=spans if check.kind == "expected_pattern" else ())
            for check in CASES[0].steps[0].checks
        ]
        session.say(TrialFinished(result_of(key, "passed", step_of("An answer.", *judged))))
        session.finish("cancelled")
        await seen.until(lambda: not seen.busy and "An answer." in seen.text(0))
        before = seen.checks
        write(case_of("one", name=CASES[0].name, prompt=CASES[0].steps[0].input, expects=["other"]))
        await seen.until(lambda: seen.checks != before)
        assert seen.checks[0].split()[:4] == ["expected", "other", "not", "evaluated"]
        assert all(row.startswith("earlier ") and "✓" in row for row in seen.checks[1:])
        assert "An answer." in seen.text(0)
        await seen.press("r")
        await seen.until(lambda: len(session.plans) == 2)
        session.say(
            TrialFinished(
                result_of(key, "passed", step_of("An answer.", CheckResult("expected_pattern", "other", "passed")))
            )
        )
        session.finish()
        await seen.until(lambda: not seen.busy and not any("earlier" in row for row in seen.checks))
        write(case_of("one", prompt="Something else.", expects=["other"]))
        await seen.until(lambda: "its files or its model changed" in seen.text(0))
        assert seen.row.startswith("··")
        write(CASES[0])
        await seen.until(lambda: "An answer." in seen.text(0))
        assert any(row.startswith("earlier expected") for row in seen.checks)


async def test_a_prompt_that_is_edited_while_it_is_answered_does_not_stand_above_the_answer(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    path, key = tmp_path / "quickstart.yaml", TrialKey("one", "mock-a")
    async with explored(session) as seen:
        await seen.press("R")
        await seen.until(lambda: session.plans, "a plan was made")
        session.say(TrialStarted(key), AttemptStarted(key, 1, 1), StepStarted(key, 1, 0, prompt_of()))
        session.say(TextArrived(key, 1, 0, "An answer."))
        await seen.until(lambda: "An answer." in seen.text(0))
        session.suites[path] = Opened(suite_of(path, case_of("one", prompt="Other."), *CASES[1:], name="quickstart"))
        path.write_text("changed")
        await seen.until(lambda: seen.screen.selection.case is not CASES[0] and seen.screen.selection.case is not None)
        await seen.pilot.pause()
        assert CASES[0].steps[0].input in str(seen.screen.question.render())
        session.say(TrialFinished(result_of(key, "passed", step_of("An answer."))))
        await seen.until(lambda: "its files or its model changed" in seen.text(0))
        assert CASES[0].steps[0].input in str(seen.screen.question.render()), "the other model waits for its answer"
        session.say(TrialFinished(result_of(key._replace(model="mock-b"), "passed", step_of("Another answer."))))
        await seen.until(lambda: "Other." in str(seen.screen.question.render()))
        assert seen.busy
        session.finish("cancelled")
        await seen.until(lambda: not seen.busy)


async def test_a_suite_that_returns_with_another_prompt_does_not_get_the_answers_to_the_old_one(tmp_path: Path) -> None:
    session = session_for(tmp_path, "quickstart", "other")
    path, key = tmp_path / "quickstart.yaml", TrialKey("one", "mock-a")
    async with explored(session) as seen:
        await seen.press("r")
        await seen.until(lambda: session.plans, "a plan was made")
        session.say(TrialFinished(result_of(key, "passed", step_of("An answer."))))
        session.finish("cancelled")
        await seen.until(lambda: not seen.busy and "An answer." in seen.text(0))
        del session.suites[path]
        await seen.until(lambda: not any("quickstart" in row for row in seen.rows))
        changed = case_of("one", name=CASES[0].name, prompt="Never sent.")
        session.suites[path] = Opened(suite_of(path, changed, *CASES[1:], name="quickstart"))
        await seen.until(lambda: any("quickstart" in row for row in seen.rows))
        context = seen.screen.context
        await seen.until(lambda: context.open_suites.state(path).is_outdated("one", "mock-a"))
        assert not context.open_suites.state(path).trials


async def test_the_results_that_are_left_are_shown_after_a_run_was_deleted(tmp_path: Path) -> None:
    session = session_for(tmp_path, "quickstart", "other")
    key = TrialKey("one", "mock-a")
    session.kept = (result_of(key, "failed", step_of("An answer of the run.")),)
    async with explored(session) as seen:
        await seen.until(lambda: "An answer of the run." in seen.text(0) and seen.row.startswith("✗"))
        session.kept = (result_of(key, "passed", step_of("An earlier answer.")),)
        path = str(tmp_path / "quickstart.yaml")
        run = RunRecord("1" * 32, "finished", "quickstart", path, "", ("mock-a",), STARTED, STARTED, 1, 0)
        other = replace(run, suite_path=str(tmp_path / "elsewhere.yaml"))
        seen.screen.post_message(RunChosen(None, [other]))
        seen.screen.post_message(RunChosen(None, [run]))
        await seen.until(lambda: "An earlier answer." in seen.text(0) and seen.row.startswith("✓"))


async def test_results_that_are_saved_elsewhere_are_shown_and_those_of_a_run_of_this_app_stay(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    key, file = TrialKey("one", "mock-a"), str(tmp_path / "quickstart.yaml")
    async with explored(session) as seen:
        await seen.press("r")
        await seen.until(lambda: session.plans, "a plan was made")
        own = result_of(key, "passed", step_of("An answer of this app."))
        session.say(TrialFinished(own))
        session.kept, session.newest = (own,), (1, frozenset([file]))
        session.unfinished = session.plans[0].run_id
        session.finish("cancelled")
        await seen.until(lambda: not seen.busy and "An answer of this app." in seen.text(0))
        state = seen.screen.selection.state
        await seen.until(lambda: seen.screen.context.open_suites._newest_result == 1, "the results were read")
        assert seen.screen.selection.state is state, "the header keeps the figures of the run"
        session.kept = (result_of(key, "failed", step_of("An answer of another program.")),)
        session.newest, session.unfinished = (2, frozenset([file])), ""
        await seen.until(lambda: "An answer of another program." in seen.text(0) and seen.row.startswith("✗"))


async def test_a_suite_a_category_and_a_folder_are_run_after_a_question(tmp_path: Path) -> None:
    session = session_for(tmp_path, "quickstart", "second")
    more = tmp_path / "more"
    more.mkdir()
    (more / "other.yaml").write_text("")
    session.suites[more / "other.yaml"] = Opened(suite_of(more / "other.yaml", CASES[0], name="other"))
    async with explored(session) as seen:

        def asks(text: str) -> bool:
            screen = seen.app.screen
            return isinstance(screen, ConfirmScreen) and any(text in row for row in screen_rows(screen))

        open_suites = seen.screen.context.open_suites
        await seen.until(lambda: all(each.read for each in open_suites.all), "all suites are read")
        await seen.press("home", "r")
        await seen.until(lambda: asks("12 trials: 6 cases in 2 suites × 2 models."), "the folder")
        await seen.press("n")
        await seen.until(lambda: seen.app.screen is seen.screen)
        assert session.plans == []
        await seen.press("down", "r")
        await seen.until(lambda: asks("6 trials: 3 cases × 2 models."), "the suite")
        await seen.press("y")
        await seen.until(lambda: session.plans)
        assert len(session.plans[-1].trials) == 6


async def test_only_displayed_widgets_take_the_focus(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await seen.press("home")
        await seen.until(lambda: seen.screen.selection.case_id is None)
        for key in ("2", "3", "ctrl+right", "left_square_bracket", "right_square_bracket", "z", "n", "d", "1"):
            await seen.press(key)
            assert seen.app.focused is not None
            assert seen.app.focused.is_on_screen, key
            assert seen.app.focused is seen.screen.suites.suite_tree, key


async def test_a_suite_without_keys_names_them_once_and_runs_on_the_local_model(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    for model in ("mock-a", "mock-b"):
        session.needs[model] = "MOCK_API_KEY"
    async with explored(session) as seen:
        await seen.until(lambda: "mock-a needs MOCK_API_KEY." in seen.text(0))
        assert "L runs on local/smollm2-135m" in seen.text(0)
        assert seen.text(1) == "mock-b needs MOCK_API_KEY."
        await seen.press("home")
        await seen.until(lambda: "mock-a and mock-b need MOCK_API_KEY." in seen.overview)
        assert seen.overview.count("M chooses models") == 1
        await seen.press("end", "L")
        await seen.until(lambda: session.plans)
        assert {trial.model for trial in session.plans[-1].trials} == {"local/smollm2-135m"}


async def test_results_of_earlier_runs_are_shown(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    first = Attempt(1, "failed", None, (step_of("no"),), duration_ms=400)
    session.kept = (
        result_of(TrialKey("one", "mock-a"), "passed", step_of("The second answer."), flaky=True, earlier=[first]),
        result_of(TrialKey("one", "mock-b"), "error", error="Cannot connect to localhost:1 (refused)."),
    )
    async with explored(session) as seen:
        assert seen.row == "◐! reverse a text"
        await seen.until(lambda: "The second answer." in seen.text(0))
        assert "Cannot connect to localhost:1" in seen.text(1)
        await seen.press("left_square_bracket")
        assert seen.screen.details.current == "attempts"
        await seen.press("tab", "tab", "tab")
        await seen.pilot.click("#tab-attempts LineListView", offset=(3, 0))
        await seen.until(lambda: seen.text(0) == "no")
        assert "1/2" in seen.pane(0).figures


async def test_a_model_that_leads_nowhere_says_so_in_its_pane(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.unresolved["mock-b"] = "There is no key for mock-b. Set MOCK_API_KEY."
    async with explored(session) as seen:
        await seen.until(lambda: "Set MOCK_API_KEY." in seen.text(1))
        assert "Press r" in seen.text(0)


async def test_a_long_sentence_about_a_model_is_there_to_the_end(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.unresolved["mock-b"] = "There is no key for mock-b. " * 8 + "Set MOCK_API_KEY."
    async with explored(session, (110, 30)) as seen:
        await seen.until(lambda: "Set MOCK_API_KEY." in seen.text(1))
        fault = seen.pane(1).query_one(".fault")
        await seen.until(lambda: fault.size.height > 6)
        assert fault.virtual_size.height <= fault.size.height
        shown = [strip.text for strip in fault.render_lines(fault.size.region)]
        assert any("Set MOCK_API_KEY." in row for row in shown)
        assert seen.pane(1).view.position_mark() == (0, 0)


async def test_the_whole_name_of_a_case_is_somewhere(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    path, name = tmp_path / "quickstart.yaml", "a name of a case that is much longer than the tree is wide"
    session.suites[path] = Opened(suite_of(path, case_of("long", name=name), case_of("plain")))
    async with explored(session) as seen:
        evidence = seen.screen.details
        await seen.until(lambda: str(evidence.border_subtitle) == f"long · {name}")
        await seen.press("down")
        await seen.until(lambda: str(evidence.border_subtitle) == "plain")


async def test_steps_are_rows_and_stand_in_order_in_the_pane(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    path = tmp_path / "quickstart.yaml"
    case = case_of("talk", category="", steps=[Step("Book a flight"), Step("Thanks")])
    session.suites[path] = Opened(suite_of(path, case))
    session.kept = (result_of(TrialKey("talk", "mock-a"), "passed", step_of("Booked."), step_of("Welcome.")),)
    async with explored(session) as seen:
        await seen.until(lambda: "▸ 2/2  Thanks" in seen.text(0))
        shown = seen.text(0)
        assert shown.index("Book a flight") < shown.index("Booked.") < shown.index("Thanks") < shown.index("Welcome.")
        await seen.press("right")
        await seen.until(lambda: any(row.strip() == "2 Thanks" for row in seen.rows))


async def test_a_step_row_brings_that_step_to_the_top_of_the_panes(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    case = case_of("talk", category="", steps=[Step("Book a flight"), Step("Thanks"), Step("Bye")])
    session.suites[tmp_path / "quickstart.yaml"] = Opened(suite_of(tmp_path / "quickstart.yaml", case))
    long = "\n".join(f"\x1b line {number}" for number in range(200))
    steps = [step_of(long), step_of(long), step_of(long)]
    session.kept = tuple(result_of(TrialKey("talk", model), "passed", *steps) for model in ("mock-a", "mock-b"))
    async with explored(session) as seen:
        await seen.until(lambda: "line 0" in seen.text(1))
        await seen.press("right")
        await seen.until(lambda: len(seen.rows) == 5)
        await seen.press("down", "down")
        assert seen.text(0).startswith("▸ 2/3  Thanks")
        assert seen.text(1).startswith("▸ 2/3  Thanks")
        await seen.press("down", "up", "up")
        assert seen.text(1).startswith("▸ 1/3  Book a flight")


async def test_all_repeats_of_a_kept_case_can_be_looked_at(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.kept = tuple(
        result_of(TrialKey("one", model, repeat), "passed", step_of(f"Answer {repeat} of {model}."))
        for model in ("mock-a", "mock-b")
        for repeat in (1, 2, 3)
    )
    async with explored(session) as seen:
        await seen.until(lambda: "Answer 1 of mock-b." in seen.text(1))
        await seen.press("left_square_bracket")
        rows = seen.attempts
        assert [row.split()[:3] for row in rows][4:] == [["mock-b", "repeat", "2"], ["mock-b", "repeat", "3"]]
        await seen.pilot.click("#tab-attempts LineListView", offset=(3, 4))
        await seen.until(lambda: "Answer 2 of mock-b." in seen.text(1))
        assert "Answer 1 of mock-a." in seen.text(0)
        assert "repeat 2" in seen.pane(1).figures
        await seen.pilot.click("#tab-attempts LineListView", offset=(3, 3))
        await seen.until(lambda: "Answer 1 of mock-b." in seen.text(1))
        assert "repeat" not in seen.pane(1).figures


async def test_the_tabs_have_the_checks_and_the_prompt_of_the_displayed_attempt(tmp_path: Path) -> None:
    session, case = session_for(tmp_path), CASES[0]
    check = case.steps[0].checks[0]
    missed = step_of("first try", CheckResult(check.kind, check.target, "failed", "not found"))
    found = step_of("second try", CheckResult(check.kind, check.target, "passed", spans=((0, 6),)))
    missed = replace(missed, prompt=Prompt("ask", (Message("user", "first prompt"),)))
    found = replace(found, prompt=Prompt("ask", (Message("user", "second prompt"),)))
    first = Attempt(1, "failed", None, (missed,), "2026-11-20T09:00:00+00:00", 900.0)
    session.kept = (result_of(TrialKey(case.id, "mock-a"), "passed", found, earlier=[first]),)
    async with explored(session) as seen:
        await seen.until(lambda: "second try" in seen.text(0))
        assert "✓" in seen.checks[0]
        await seen.press("left_square_bracket")
        await seen.pilot.click("#tab-attempts LineListView", offset=(3, 0))
        await seen.until(lambda: "first try" in seen.text(0))
        await seen.press("right_square_bracket")
        await seen.until(lambda: seen.screen.details.current == "checks")
        assert "✗" in seen.checks[0]
        assert "✓" not in seen.checks[0]
        seen.screen.details.switch_to("prompt")
        await seen.until(lambda: any("first prompt" in row for row in screen_rows(seen.app.screen)))


@pytest.mark.long
async def test_models_can_be_chosen(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.config = Config(variants={"warm": Variant("smollm2")})
    async with explored(session) as seen:
        await seen.press("M")
        await seen.until(lambda: isinstance(seen.app.screen, ModelChooser))
        await seen.press("space", "down", "down", "space", "a", *"other/one", "enter", "enter")
        await seen.until(lambda: not isinstance(seen.app.screen, ModelChooser))
        await seen.until(lambda: [pane.model for pane in seen.screen.answers.panes] == ["mock-b", "warm", "other/one"])
        assert "···" in seen.row


async def test_panes_take_the_focus_and_zoom(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await seen.press("2")
        assert seen.app.focused is seen.pane(1).view
        await seen.press("ctrl+right")
        assert seen.app.focused is seen.pane(0).view
        await seen.press("z")
        await seen.until(lambda: not seen.pane(1).display)
        assert seen.pane(0).size.width > 120
        assert not seen.screen.suites.display
        await seen.press("escape")
        await seen.until(lambda: seen.pane(1).display)


async def test_help_and_palette_name_the_keys(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.config = Config(keymap={"run.case": "g"})
    async with explored(session) as seen:
        await seen.until(lambda: "g run" in seen.footer)
        await seen.press("question_mark")
        await seen.until(lambda: isinstance(seen.app.screen, HelpScreen))
        shown = str(seen.app.screen.query_one("Static").render())
        assert "Run the whole suite" in shown
        assert "Next match" in shown
        await seen.press("escape")
        titles = [command.title for command in seen.app.get_system_commands(seen.screen)]
        assert any(title.startswith("Run the whole suite") for title in titles)
        assert "Change theme" in titles
        assert not any("^p" in title for title in titles), "who reads it has the palette open"


@pytest.mark.parametrize(
    "size", [(60, 20), *(pytest.param(size, marks=pytest.mark.long) for size in ((80, 24), (160, 45)))]
)
async def test_help_can_be_read_in_its_own_column_in_every_size(tmp_path: Path, size: tuple[int, int]) -> None:
    async with explored(session_for(tmp_path), size) as seen:
        await seen.press("question_mark")
        await seen.until(lambda: isinstance(seen.app.screen, HelpScreen))
        static = seen.app.screen.query_one("Static")
        await seen.until(lambda: "Run the whole suite" in str(static.render()))
        rows = str(static.render()).splitlines()
        assert max(len(row) for row in rows) <= static.size.width
        start = next(row for row in rows if row.startswith("R ")).index("Run the whole")
        texts = [row[start:] for row in rows if row.startswith(" ")]
        assert all(text and not text.startswith(" ") for text in texts)


@pytest.mark.parametrize(
    "size", [(3, 2), *(pytest.param(size, marks=pytest.mark.long) for size in ((80, 24), (160, 45), (40, 12), (20, 5)))]
)
async def test_it_can_be_used_in_every_size(tmp_path: Path, size: tuple[int, int]) -> None:
    async with explored(session_for(tmp_path), size) as seen:
        await seen.press(
            "down", "down", "2", "z", "z", "slash", "escape", "right_square_bracket", "question_mark", "escape"
        )
        await seen.pilot.resize_terminal(1, 1)
        await seen.pilot.pause()
        await seen.pilot.resize_terminal(140, 44)
        await seen.until(lambda: all(pane.display for pane in seen.screen.answers.panes))
        assert "reverse a text" in seen.rows[2]


async def test_at_eighty_columns_one_pane_is_shown_and_the_others_are_named(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path), (80, 24)) as seen:
        assert [pane.display for pane in seen.screen.answers.panes] == [True, False]
        await seen.until(lambda: str(seen.pane(0).border_title).count("mock-") == 2)
        assert "? help" in seen.footer
        await seen.press("2")
        await seen.until(lambda: [pane.display for pane in seen.screen.answers.panes] == [False, True])


async def test_a_suite_that_names_nobody_says_how_to_choose(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    path = tmp_path / "quickstart.yaml"
    session.suites[path] = Opened(suite_of(path, CASES[0], models=()))
    async with explored(session) as seen:
        await seen.until(lambda: "chooses models" in seen.overview)


async def test_b_switches_the_answers_to_rendered_markdown_and_back(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    text = "# Reversed\n\n| a | b |\n|---|---|\n| def | 2 |\n"
    session.kept = tuple(
        result_of(TrialKey(case, model), "passed", step_of(text if case == "one" else "**plain**"))
        for case in ("one", "two")
        for model in ("mock-a", "mock-b")
    )
    async with explored(session) as seen:
        await seen.until(lambda: "| def | 2 |" in seen.text(0))
        await seen.press("1", "b")
        await seen.until(lambda: any("def │ 2" in row for row in screen_rows(seen.screen)))
        assert seen.app.focused is seen.screen.answers.panes[0].shown_view
        await seen.press("full_stop")
        await seen.until(lambda: any("**plain**" not in row and "plain" in row for row in screen_rows(seen.screen)))
        await seen.press("comma", "n")  # matches are marked in the text
        await seen.until(lambda: any("| def | 2 |" in row for row in screen_rows(seen.screen)))
        assert seen.app.focused is seen.screen.answers.panes[0].view


async def test_the_prompt_tab_shows_the_files_that_will_be_sent(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    path, opened = next(iter(session.suites.items()))
    assert opened.suite is not None
    write_files(tmp_path / "work", {"a.py": "x" * 80, "b.py": "y"})
    cases = (replace(opened.suite.cases[0], code_context=(CodeContext("work/a.py"),)), *opened.suite.cases[1:])
    context = RepositoryContext("work", languages=("pyton", "python"))
    suite = replace(opened.suite, folder=str(tmp_path), repository_context=context, cases=cases)
    session.suites[path] = replace(opened, suite=suite)
    async with explored(session) as seen:
        tab, opened_suite = seen.screen.details.query_one(PromptTab), seen.screen.selection.open_suite
        assert opened_suite is not None

        def text() -> str:
            return str(tab.query_one("Static").render())

        seen.screen.details.switch_to("prompt")
        await seen.until(lambda: "Context: 2 files, " in text())
        assert "Warning: repositoryContext.languages: no file is in pyton." in text()
        (tmp_path / "work" / "a.py").unlink()
        seen.screen.select(opened_suite, suite.cases[1])
        await seen.until(lambda: "Context: 1 file, " in text())
        seen.screen.select(opened_suite, suite.cases[0])
        await seen.until(lambda: f"Warning: {suite.cases[0].id}: " in text())
