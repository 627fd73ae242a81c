"""Suites that are open, the command of the editor and the theme in the config: what needs no screen."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from textual.message import Message

from tests.app.contexts import make_context
from tests.app.explore.explored import CASES, session_for
from tests.support.scripted_session import Opened, ScriptedSession, case_of, result_of, step_of, suite_of
from tui.app.editor import editor_command
from tui.app.matrix.matrix import Matrix
from tui.app.open_suites import CaseMarks, OpenSuite, OpenSuites, Selection
from tui.app.presentation.model_faults import ModelFault
from tui.app.run_requests import request_cases, request_failed, request_suite
from tui.app.suite_loader import SuitesRead
from tui.model.errors import Problem, StoreError
from tui.model.events import RunFinished, RunStarted
from tui.model.filter import parse_filter
from tui.model.progress import TrialProgress
from tui.model.results import Attempt, TrialKey, TrialResult, Verdict
from tui.model.state import RunState
from tui.model.suite import Suite, SuiteCase
from tui.session.recorded_cases import LatestResults
from tui.session.session import Session


def open_suites_of(folder: Path, *names: str) -> tuple[OpenSuites, ScriptedSession]:
    session = ScriptedSession()
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        session.suites[path] = Opened(suite_of(path, *CASES))
    return OpenSuites(session, [folder]), session


def test_folders_are_named_as_short_as_they_can_be_distinguished(tmp_path: Path) -> None:
    open_suites, _ = open_suites_of(tmp_path / "suites", "a.yaml", "more/b.yaml")
    assert open_suites.find()
    assert not open_suites.find()
    assert [open_suite.folder for open_suite in open_suites.all] == ["suites", "suites/more"]
    single, _ = open_suites_of(tmp_path / "alone", "a.yaml")
    single.find()
    assert [open_suite.folder for open_suite in single.all] == ["alone"]


def test_the_advice_is_to_wait_until_the_suites_are_read(tmp_path: Path) -> None:
    open_suites, _ = open_suites_of(tmp_path, "a.yaml", "b.yaml")
    open_suites.find()
    selection = Selection(open_suites)
    assert selection.advice == "Wait until the suites are read."
    first, second = (each.path for each in open_suites.all)
    open_suites.read(first)
    selection.select(second, None)
    assert selection.advice == "Wait until the suites are read."
    selection.select(first, None)
    assert selection.advice == "Select a suite."
    open_suites.read(second)
    assert Selection(open_suites).advice == "Select a suite."


def test_folders_that_share_only_the_root_are_named_whole(tmp_path: Path) -> None:
    _, session = open_suites_of(tmp_path, "a.yaml")
    places = [Path("/there/suites/a.yaml"), Path("/here/b.yaml")]
    session.suites = {place: Opened(suite_of(place, *CASES)) for place in places}
    open_suites = OpenSuites(session, places)
    open_suites.find()
    assert sorted(open_suite.folder for open_suite in open_suites.all) == ["/here", "/there/suites"]


def test_a_file_that_is_named_without_its_folder_has_a_folder_with_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, session = open_suites_of(tmp_path / "here", "a.yaml")
    monkeypatch.chdir(tmp_path / "here")
    session.suites = {Path("a.yaml"): Opened(suite_of(Path("a.yaml"), *CASES))}
    open_suites = OpenSuites(session, [Path("a.yaml")])
    open_suites.find()
    assert [open_suite.folder for open_suite in open_suites.all] == ["here"]


def test_the_suites_of_a_folder_that_is_removed_stay_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = Session({f"ASSAY_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "CACHE")})
    path, other = Path("here/suites/a.yaml"), Path("here/suites/b.yaml")
    path.parent.mkdir(parents=True)
    for each in (path, other):
        each.write_text("name: n\ninput: hello\nmodels: [m]\n")
    monkeypatch.chdir(tmp_path / "here")
    path, other = Path("suites/a.yaml"), Path("suites/b.yaml")
    open_suites = OpenSuites(session, [path, other])
    open_suites.find()
    read = open_suites.read(path)
    shutil.rmtree(tmp_path / "here")
    assert open_suites.read_changed() == (path,)
    assert [(each.path, each.outdated) for each in open_suites.all] == [(path, True), (other, False)]
    assert "does not exist" in open_suites.read(other).problems[0].what
    assert Selection(open_suites).models_of(path) == ()
    assert read.suite is not None
    assert session.latest_results(read.suite).results == ()
    assert OpenSuites(ScriptedSession({path: Opened(read.suite), other: Opened(read.suite)}), [path]).find()
    assert editor_command({}, path, 1)[-1] == str(tmp_path / "here" / path)


def test_a_running_suite_and_the_last_one_stay_without_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_suites, session = open_suites_of(tmp_path, "a.yaml", "b.yaml")
    open_suites.find()
    one, two = (each.path for each in open_suites.all)
    open_suites.state(one).take(RunStarted("r", (TrialKey("c", "m"),), ""))
    removed = session.suites.pop(one)
    assert open_suites.find()
    assert [each.path for each in open_suites.all] == [two, one]
    assert not open_suites.find()
    open_suites.state(one).take(RunFinished("r", "finished", ""))
    assert open_suites.find()
    assert [each.path for each in open_suites.all] == [two]
    with monkeypatch.context() as patched:
        patched.setattr(session, "find_suites", lambda _: [])
        assert not open_suites.find()
    session.suites[one] = removed
    assert open_suites.find()
    assert [each.path for each in open_suites.all] == [two, one]


def test_a_suite_whose_file_had_errors_at_first_has_its_results_once_they_are_corrected(tmp_path: Path) -> None:
    open_suites, session = open_suites_of(tmp_path, "a.yaml")
    open_suites.find()
    path = open_suites.all[0].path
    session.kept = (result_of(TrialKey("one", "mock-a"), "passed"),)
    opened = session.suites[path]
    session.suites[path] = Opened(None, (Problem(str(path), 1, 1, "error", "", "wrong"),))
    open_suites.read(path)
    assert not open_suites.state(path).trials
    session.suites[path] = opened
    open_suites.read(path)
    assert open_suites.state(path).trials.keys() == {TrialKey("one", "mock-a")}
    state = open_suites.state(path)
    open_suites.read(path)
    assert open_suites.state(path) is state


def test_a_file_that_is_not_listed_any_more_can_be_read(tmp_path: Path) -> None:
    open_suites, session = open_suites_of(tmp_path, "a.yaml", "b.yaml")
    open_suites.find()
    del session.suites[tmp_path / "b.yaml"]
    assert open_suites.find()
    session.suites[tmp_path / "b.yaml"] = Opened(suite_of(tmp_path / "b.yaml", *CASES))
    assert open_suites.read(tmp_path / "b.yaml").suite is not None
    assert [each.path for each in open_suites.all] == [tmp_path / "a.yaml"]


def test_what_changed_on_disk_is_read_again_and_what_is_known_of_it_stays(tmp_path: Path) -> None:
    open_suites, session = open_suites_of(tmp_path, "a.yaml", "b.yaml")
    open_suites.find()
    for open_suite in open_suites.all:
        open_suites.read(open_suite.path)
    assert open_suites.read_changed() == ()
    path = tmp_path / "a.yaml"
    state = open_suites.state(path)
    path.write_text("changed")
    session.suites[path] = Opened(suite_of(path, CASES[0]))
    assert open_suites.read_changed() == (path,)
    assert open_suites.state(path) is state
    path.unlink()
    assert open_suites.read_changed() == (path,)
    assert open_suites.read_changed() == ()


@pytest.mark.parametrize("error", [StoreError("The history is damaged"), TypeError("The history is damaged")])
def test_a_history_that_cannot_be_read_is_a_problem_and_not_the_end(error: Exception, tmp_path: Path) -> None:
    class Forgetful(ScriptedSession):
        def latest_results(self, _suite: Suite) -> LatestResults:
            raise error

    path = tmp_path / "a.yaml"
    path.write_text("")
    open_suites = OpenSuites(Forgetful({path: Opened(suite_of(path, *CASES))}), [tmp_path])
    open_suites.find()
    open_suite = open_suites.read(path)
    assert open_suite.suite is not None
    assert "The history is damaged" in open_suite.problems[0].what


async def test_a_history_that_became_unreadable_does_not_end_the_app(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    posted: list[Message] = []
    context = await make_context(session, posted=posted)
    path = next(iter(session.suites))
    session.kept = (result_of(TrialKey("one", "mock-a")),)
    await context.suite_loader.read_results({str(path.resolve())})
    assert [type(message) for message in posted] == [SuitesRead]
    state = context.open_suites.state(path)
    session.latest_results = None  # type: ignore[assignment, method-assign]
    await context.suite_loader.read_results({str(path.resolve())})
    assert context.open_suites.state(path) is state
    assert len(posted) == 1


def test_requests_name_the_trials_that_a_key_means(tmp_path: Path) -> None:
    open_suites, session = open_suites_of(tmp_path, "a.yaml")
    session.kept = (result_of(TrialKey("one", "mock-a"), "failed"), result_of(TrialKey("one", "mock-b")))
    open_suites.find()
    selection = Selection(open_suites)
    assert request_suite(selection) is None
    selection.path, selection.case_id = open_suites.read(tmp_path / "a.yaml").path, "two"
    case = request_cases(selection, CASES[1:2])
    suite = request_suite(selection)
    failed = request_failed(selection)
    assert case is not None
    assert suite is not None
    assert failed is not None
    assert case.trials == (TrialKey("two", "mock-a"), TrialKey("two", "mock-b"))
    assert len(suite.trials) == 6
    assert failed.trials == (TrialKey("one", "mock-a"),)
    selection.choose_models(["x"])
    assert request_failed(selection) is None


def test_a_few_kept_runs_stand_beside_the_files(tmp_path: Path) -> None:
    open_suites, _ = open_suites_of(tmp_path, "a.yaml")
    open_suites.find()
    for number in range(6):
        path = Path(f"a.yaml (run {number})")
        open_suites.add_saved_run(OpenSuite(path, "saved runs", suite_of(path, *CASES), run=str(number)), RunState())
    assert [open_suite.run for open_suite in open_suites.all] == ["", "2", "3", "4", "5"]
    assert not open_suites.find()
    assert open_suites.read_changed() == ()
    open_suites.remove_saved_run(Path("a.yaml (run 3)"))
    assert [open_suite.run for open_suite in open_suites.all] == ["", "2", "4", "5"]
    assert open_suites.get(Path("a.yaml (run 3)")) is None


def test_a_case_with_repeats_has_one_mark_and_every_repeat_that_failed_is_run_again(tmp_path: Path) -> None:
    open_suites, _ = open_suites_of(tmp_path, "a.yaml")
    open_suites.find()
    path = open_suites.all[0].path
    open_suites.read(path)
    exploring = Selection(open_suites)
    exploring.path = path
    exploring.choose_models(["m"])
    case = CASES[0]
    keys = [TrialKey(case.id, "m", repeat) for repeat in (1, 2, 3)]
    verdicts: tuple[Verdict, ...] = ("passed", "failed", "passed")
    open_suites.state(path).take_results(result_of(key, verdict) for key, verdict in zip(keys, verdicts, strict=True))
    assert exploring.statuses(path, case) == ["flaky"]
    request = request_failed(exploring)
    assert request is not None
    assert request.trials == (keys[1],)


def test_the_errors_of_models_belong_to_the_selected_suite_and_its_models(tmp_path: Path) -> None:
    open_suites, _ = open_suites_of(tmp_path, "a.yaml", "b.yaml")
    open_suites.find()
    first, second = (open_suite.path for open_suite in open_suites.all)
    selection = Selection(open_suites)
    assert selection.usable is None
    selection.select(first, None)
    assert selection.usable is None, "the file is not read yet"
    open_suites.read(first)
    assert selection.usable == open_suites.get(first)
    for forget in (lambda: selection.choose_models(["mock-a"]), lambda: selection.select(second, None)):
        selection.model_errors = {"mock-a": ModelFault("unknown")}
        selection.select(first, "other case")
        selection.choose_models(["mock-a"], second)
        assert selection.model_errors
        forget()
        assert not selection.model_errors


def test_the_editor_opens_at_the_case_or_at_the_first_problem(tmp_path: Path) -> None:
    open_suites, _ = open_suites_of(tmp_path, "a.yaml")
    open_suites.find()
    path = open_suites.all[0].path
    open_suites.read(path)
    read = open_suites.all[0]
    assert read.suite is not None
    case = read.suite.cases[0]
    assert read.find_case(case.id) == case
    assert read.find_case("none") is None
    assert read.line_of(None) == 1
    assert read.line_of(replace(case, line=7)) == 7
    problems = tuple(Problem(str(path), line, None, "error", "file", "is wrong") for line in (None, 4, 9))
    assert read._replace(suite=None, problems=problems).line_of(None) == 4
    assert read._replace(problems=problems).line_of(None) == 1


def test_a_filter_looks_up_no_trials_of_cases_that_were_never_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_suites, _ = open_suites_of(tmp_path, "a.yaml")
    open_suites.find()
    path = open_suites.all[0].path
    open_suites.read(path)
    selection = Selection(open_suites)
    selection.choose_models(["a", "b"], path)
    one, two = CASES[:2]
    open_suites.state(path).take_results([result_of(TrialKey(one.id, "a"))])
    looked_up: set[str] = set()
    trial = RunState.trial

    def look_up(state: RunState, case: str, model: str, repeat: int = 1) -> TrialProgress | None:
        looked_up.add(case)
        return trial(state, case, model, repeat)

    monkeypatch.setattr(RunState, "trial", look_up)
    for text, expected in (
        ("status:not", [True, True]),
        ("status:passed", [True, False]),
        ("differs:yes", [False] * 2),
    ):
        selection.filter = parse_filter(text)
        assert [selection.matches_filter(path, case) for case in (one, two)] == expected
    suite = open_suites.read(path).suite
    assert suite is not None
    matrix = Matrix(suite, open_suites.state(path), ("a", "b"))
    assert [cell.status for case in (one, two) for cell in matrix.cells(case)] == ["passed"] + ["not_run"] * 3
    assert looked_up == {one.id}


def test_models_that_different_checks_judged_do_not_differ(tmp_path: Path) -> None:
    open_suites, _ = open_suites_of(tmp_path, "a.yaml")
    open_suites.find()
    path, case = open_suites.all[0].path, CASES[0]
    suite = open_suites.read(path).suite
    assert suite is not None
    selection = Selection(open_suites)
    selection.choose_models(["a", "b"], path)
    a, b = TrialKey(case.id, "a"), TrialKey(case.id, "b")
    before = case_of(case.id, prompt=case.steps[0].input, expects=["something else"])
    selection.filter = parse_filter("differs:yes")
    for cases, differs in (({a: case, b: case}, True), ({a: before, b: case}, False)):
        state = RunState()
        state.display(suite)
        asked = {key: SuiteCase(each, suite) for key, each in cases.items()}
        state.take_results([result_of(a, "failed"), result_of(b)], asked)
        open_suites.replace_state(path, RunState())
        open_suites.replace_state(path, state)
        assert selection.matches_filter(path, case) is differs


def test_a_case_that_failed_and_passed_on_a_rerun_still_counts_as_failed(tmp_path: Path) -> None:
    open_suites, _ = open_suites_of(tmp_path, "a.yaml")
    open_suites.find()
    path, case = open_suites.all[0].path, CASES[0]
    open_suites.read(path)
    selection = Selection(open_suites)
    selection.choose_models(["a"], path)
    first, again = (
        Attempt(1, "failed", None, (step_of("no"),)),
        Attempt(2, "passed", None, (step_of("yes"),), asking=1),
    )
    result = TrialResult(TrialKey(case.id, "a"), "passed", False, None, (first, again))
    open_suites.state(path).take_results([result])
    assert selection.marks(path, case) == CaseMarks(["failed"], 1)
    for text, selects in (("status:fail", True), ("status:pass", False)):
        selection.filter = parse_filter(text)
        assert selection.matches_filter(path, case) is selects
