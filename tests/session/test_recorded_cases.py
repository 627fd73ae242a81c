"""Results belong to the case as it was run: over suite files that change, a real store and the app's open suites."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.app import App

from tests.support.kept_runs import FINISHED, STARTED, make_plan, make_result
from tests.support.scripted_session import result_of, step_of
from tui.app.compare.pairs import AnswerPairs
from tui.app.explore.risk_lines import beside_rows, left_out_line
from tui.app.open_suites import OpenSuites
from tui.app.presentation.pieces import text_of
from tui.app.run_scores import RunScores
from tui.model.outcomes import Outcome
from tui.model.results import OTHER_PROMPT, IncludedFile, Message, Prompt, TrialKey
from tui.model.run import RunState
from tui.model.servers import clone_without_secrets
from tui.model.subjects import replay_name
from tui.model.suite import RepositoryContext, Suite, SuiteCase
from tui.session.answers import SavedAnswers, Source
from tui.session.preferences import PreferenceLog
from tui.session.session import Session

MODEL = "local/m"
SUITE = "name: n\ndescription: d\nmodels: [local/m]\ntestCases:\n"
CASE = "- {id: a, name: n, category: c, prompt: 'Capital of France?', expectedPatterns: [Paris]}\n"
ROWS = (
    "- {id: cap, name: n, category: c, prompt: 'Capital of {{land}}?', expectedPatterns: ['{{town}}'],"
    " data: rows.csv}\n"
)
FRANCE, ITALY = "land,town\nFrance,Paris\n", "land,town\nItaly,Rome\nFrance,Paris\n"


@pytest.fixture
def opened(tmp_path: Path) -> Session:
    return Session({f"ASSAY_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "CACHE")})


def load(session: Session, file: Path) -> Suite:
    suite = session.open_suite(file).suite
    assert suite is not None
    return suite


def run_once(session: Session, suite: Suite, state: RunState = "running") -> None:
    plan = make_plan(suite.cases, [MODEL])
    plan = replace(plan, suite=suite)
    session.store.begin_run(plan, STARTED)
    session.store.save_trials(plan.run_id, [make_result(trial, response="It is Paris.") for trial in plan.trials])
    if state != "running":
        session.store.finish_run(plan.run_id, state, FINISHED)


async def test_a_row_that_is_inserted_gets_no_result_of_another_row(opened: Session, tmp_path: Path) -> None:
    file, rows = tmp_path / "suite.yaml", tmp_path / "rows.csv"
    file.write_text(SUITE + ROWS)
    rows.write_text(FRANCE)
    run_once(opened, load(opened, file))
    suites = OpenSuites(opened, [file])
    suites.find()
    suites.read(file)
    assert set(suites.state(file).trials) == {TrialKey("cap.1", MODEL)}
    rows.write_text(ITALY)
    assert suites.read_changed() == (file,)
    suites.display([file])
    assert not suites.state(file).trials
    assert suites.state(file).is_outdated("cap.1", MODEL)
    again = OpenSuites(opened, [file])
    again.find()
    again.read(file)
    assert not again.state(file).trials
    assert again.state(file).is_outdated("cap.1", MODEL)
    answers = SavedAnswers(opened.store, PreferenceLog(tmp_path / "p.jsonl"))
    assert answers.outcomes(Source(str(file), "", MODEL), load(opened, file)) == {}
    rows.write_text(FRANCE + "Italy,Rome\n")
    suites.read_changed()
    suites.display([file])
    assert set(suites.state(file).trials) == {TrialKey("cap.1", MODEL)}
    assert set(answers.outcomes(Source(str(file), "", MODEL), load(opened, file))) == {"cap.1"}
    await opened.close()


async def test_a_result_comes_with_the_checks_that_judged_it(opened: Session, tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(SUITE + CASE)
    suite = load(opened, file)
    run_once(opened, suite)
    latest = opened.latest_results(suite)
    assert latest.cases == {TrialKey("a", MODEL): SuiteCase(suite.cases[0], suite)}
    file.write_text(SUITE + CASE.replace("expected", "forbidden"))
    changed = load(opened, file)
    latest = opened.latest_results(changed)
    assert [check.kind for check in latest.cases[TrialKey("a", MODEL)].case.steps[0].checks] == ["expected_pattern"]
    assert len(latest.results) == 1, "the answer is to the same question"
    file.write_text(SUITE + CASE.replace("id: a", "id: b"))
    assert opened.latest_results(load(opened, file)).cases.keys() == {TrialKey("a", MODEL)}
    await opened.close()


async def test_a_removed_case_of_an_unfinished_run_does_not_make_results_interim(
    opened: Session, tmp_path: Path
) -> None:
    def is_interim() -> bool:
        suites = OpenSuites(opened, [file])
        suites.find()
        suites.read(file)
        return suites.state(file).is_interim

    file, other = tmp_path / "suite.yaml", CASE.replace("id: a", "id: b")
    file.write_text(SUITE + CASE + other)
    suite = load(opened, file)
    ends: tuple[RunState, ...] = ("finished", "interrupted")
    for digit, cases, state in zip("12", (suite.cases[:1], suite.cases[1:]), ends, strict=True):
        plan = replace(make_plan(cases, [MODEL], run_id=digit * 32), suite=suite)
        opened.store.begin_run(plan, STARTED)
        opened.store.save_trials(plan.run_id, [make_result(trial) for trial in plan.trials])
        opened.store.finish_run(plan.run_id, state, FINISHED)
    assert is_interim()
    file.write_text(SUITE + CASE)
    assert not is_interim()
    await opened.close()


async def test_results_of_a_redefined_name_are_not_mixed(opened: Session, tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(SUITE.replace("local/m", "warm") + CASE + CASE.replace("id: a", "id: b"))
    suite = load(opened, file)
    a, b = TrialKey("a", "warm"), TrialKey("b", "warm")
    for digit, model, trials in (("1", "cold-model", (a, b)), ("2", "warm-model", (a,))):
        plan = make_plan(suite.cases, ["warm"], run_id=digit * 32)
        (subject,) = plan.subjects
        plan = replace(plan, suite=suite, trials=trials, subjects=(replace(subject, model_id=model),))
        opened.store.begin_run(plan, STARTED)
        opened.store.save_trials(plan.run_id, [make_result(trial) for trial in trials])
        opened.store.finish_run(plan.run_id, "finished", FINISHED)
    suites = OpenSuites(opened, [file])
    suites.find()
    suites.read(file)
    assert suites.state(file).trials.keys() == {a}
    answers = SavedAnswers(opened.store, PreferenceLog(tmp_path / "p.jsonl"))
    assert answers.outcomes(Source(str(file), "", "warm"), suite).keys() == {"a"}
    assert answers.outcomes(Source(str(file), "1" * 32, "warm"), suite).keys() == {"a", "b"}
    file.write_text(file.read_text().replace("Capital", "Main town", 1))
    assert answers.outcomes(Source(str(file), "", "warm"), load(opened, file)) == {}, "the newest run decides"
    definitions = {"warm": opened.store.read_setup("2" * 32).subjects[0].definition}
    assert opened.history.read_comparable("1" * 32, suite, {}, definitions).outcomes == ()
    assert {each.trial for each in opened.history.read_comparable("1" * 32, suite, {}).outcomes} == {a, b}
    await opened.close()


async def test_compare_shows_the_prompt_of_a_replayed_answer(opened: Session, tmp_path: Path) -> None:
    file, replayed = tmp_path / "suite.yaml", replay_name("1" * 32, MODEL)
    file.write_text(SUITE + CASE)
    suite = load(opened, file)
    plan = replace(make_plan(suite.cases, [MODEL, replayed]), suite=suite)
    opened.store.begin_run(plan, STARTED)
    for trial in plan.trials:
        result = make_result(trial)  # it was asked `Write code.`
        if trial.model == replayed:
            attempt = result.attempts[0]
            noted = replace(attempt.steps[0], notes=(OTHER_PROMPT,))
            result = replace(result, attempts=(replace(attempt, steps=(noted,)),))
        opened.store.save_trials(plan.run_id, [result])
    pairs = AnswerPairs(SavedAnswers(opened.store, PreferenceLog(tmp_path / "p.jsonl")), suite, lambda: None)
    session = pairs.open(Source(str(file), "", MODEL), Source(str(file), "", replayed), None)
    read = pairs.read(session, "a", folded=False)
    assert read.note == "different versions of this case"
    assert [case.inputs for case in read.asked] == ["Capital of France?", "Write code."]
    await opened.close()


async def test_scores_are_shown_beside_the_answers_of_their_run_only(opened: Session, tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    criteria = "riskCriteria: [{name: Tone, description: d, severity: critical}]"
    cases = [f"- {{id: {id}, name: n, category: c, prompt: p, {criteria}}}\n" for id in ("a", "b")]
    file.write_text(SUITE + "".join(cases))
    suite = load(opened, file)
    older, newer = (replace(make_plan(suite.cases, [MODEL], run_id=digit * 32), suite=suite) for digit in "12")
    newer = replace(newer, trials=newer.trials[:1])
    for plan in (older, newer):
        opened.store.begin_run(plan, STARTED)
        opened.store.save_trials(plan.run_id, [make_result(trial) for trial in plan.trials])
    review = opened.reviews.open_review(older.run_id, "Ada", blind=False)
    for item in review.items:
        review.give(item.key, 4)
    suites = OpenSuites(opened, [file])
    suites.find()
    open_suite = suites.read(file)
    scores = RunScores(App(), opened, suites, lambda _: None)
    assert await scores.read_bands(open_suite) == {older.trials[1]: "critical"}, "a displays an answer of the newer run"
    assert [scores.run_of_case(open_suite, case, [MODEL]) for case in "ab"] == [newer.run_id, older.run_id]
    for case, run, rows in (("a", newer, 1), ("b", older, 1), ("a", older, 0)):
        found = await scores.read_review(open_suite, run.run_id)
        assert found is not None
        [each] = [each for each in suite.cases if each.id == case]
        beside = [row for row in beside_rows(each, [MODEL], found, suites.state(file)) if row.item]
        assert len(beside) == rows
        assert [len(row.scores) for row in beside] == [case == "b"] * rows
        note = text_of(left_out_line(each, [MODEL], found, suites.state(file)))
        assert ("answered in another run" in note) is (rows == 0)
        renamed = replace(each, risk_criteria=(replace(each.risk_criteria[0], name="Style"),))
        assert "Tone: removed from the case" in text_of(left_out_line(renamed, [MODEL], found, suites.state(file)))
    file.write_text(SUITE + "".join(cases).replace("prompt: p", "prompt: another"))
    changed = suites.read(file)
    suites.display([file])
    assert changed.suite is not None
    assert await scores.read_bands(changed) == {}
    found = await scores.read_review(changed, older.run_id)
    for edited in changed.suite.cases:
        assert not [row for row in beside_rows(edited, [MODEL], found, suites.state(file)) if row.item]
        assert "changed after it was run" in text_of(left_out_line(edited, [MODEL], found, suites.state(file)))
    await opened.close()


async def test_answers_that_were_sent_with_other_files_are_not_compared(opened: Session, tmp_path: Path) -> None:
    file, other = tmp_path / "suite.yaml", "local/other"
    file.write_text(SUITE + CASE.replace("category: c", "category: c, codeContext: [{filePath: a.py}]"))
    (tmp_path / "a.py").write_text("pass\n")
    suite = load(opened, file)
    answers = SavedAnswers(opened.store, PreferenceLog(tmp_path / "p.jsonl"))

    def run(digit: str, files: str, *models: str) -> list[dict[str, list[Outcome]]]:
        plan = replace(make_plan(suite.cases, models, run_id=digit * 32), suite=suite)
        opened.store.begin_run(plan, STARTED)
        prompt = Prompt("go", (Message("user", files),), (IncludedFile("a.py", 5),))
        opened.store.save_trials(
            plan.run_id, [result_of(trial, "passed", replace(step_of("x"), prompt=prompt)) for trial in plan.trials]
        )
        return [answers.outcomes(Source(str(file), "", model), suite) for model in (MODEL, other)]

    assert all(run("1", "old", MODEL, other))
    assert [bool(found) for found in run("2", "new", MODEL)] == [True, False]
    assert all(run("3", "new", other))
    compared = TrialKey("a", MODEL)
    for digit, is_same in (("3", True), ("1", False)):
        found = opened.history.read_comparable("2" * 32, suite, {"a": (digit * 32, compared._replace(model=other))})
        assert bool(found.outcomes) is is_same
        assert found.changed == (frozenset() if is_same else {"a"})
        removed = replace(suite, cases=tuple(case for case in suite.cases if case.id != "a"))
        displayed = {"a": (digit * 32, compared)}
        assert opened.history.read_comparable("2" * 32, removed, displayed).changed == frozenset()
    assert all(run("4", "old", replay_name("1" * 32, MODEL))), "a replay has the files of its recording"
    await opened.close()


async def test_results_with_files_of_another_repository_are_no_results_of_the_suite(
    opened: Session, tmp_path: Path
) -> None:
    file = tmp_path / "suite.yaml"
    for name in "ab":
        (tmp_path / name).mkdir()
    here, elsewhere = (SUITE.replace("models:", f"repositoryContext: {{path: {name}}}\nmodels:") for name in "ab")
    file.write_text(here + CASE)
    run_once(opened, load(opened, file), "finished")
    answers = SavedAnswers(opened.store, PreferenceLog(tmp_path / "p.jsonl"))
    trial = TrialKey("a", MODEL)
    for text, is_same in ((elsewhere, False), (here + "# the same file sends the same files\n", True)):
        file.write_text(text + CASE)
        suites = OpenSuites(opened, [file])
        suites.find()
        suite = suites.read(file).suite
        assert suite is not None
        assert bool(suites.state(file).trials) is is_same
        assert suites.state(file).is_outdated("a", MODEL) is not is_same
        assert bool(answers.outcomes(Source(str(file), "", MODEL), suite)) is is_same
        [record] = opened.history.list_runs()
        assert opened.history.latest_runs(suite, [trial]) == {trial: record.id if is_same else ""}
        assert bool(opened.history.read_comparable(record.id, suite, {}).outcomes) is is_same
    await opened.close()


@pytest.mark.parametrize("suite_names", ["nothing", "a folder", "a repository"])
async def test_results_of_a_run_whose_options_named_other_files_are_no_results_of_the_suite(
    opened: Session, tmp_path: Path, suite_names: str
) -> None:
    (tmp_path / "here").mkdir()
    file = tmp_path / "suite.yaml"
    sources = {
        "nothing": "",
        "a folder": "repositoryContext: {path: here}\n",
        "a repository": "repoClone: {repoUrl: 'https://user:pass@example.com/repo?token=b4ef5a0c1d&x=1'}\n",
    }[suite_names]
    file.write_text(SUITE.replace("models:", f"{sources}models:") + CASE)
    suite, trial = load(opened, file), TrialKey("a", MODEL)
    clone = suite.repo_clone and clone_without_secrets(suite.repo_clone)
    run_once(opened, replace(suite, repo_clone=clone), "finished")
    [record] = opened.history.list_runs()
    assert opened.history.latest_runs(suite, [trial]) == {trial: record.id}
    opened.store.delete_run(record.id)
    hidden = RepositoryContext("folder of [removed key]")
    run_once(opened, replace(suite, repository_context=hidden, repo_clone=clone), "finished")
    [record] = opened.history.list_runs()
    assert opened.history.latest_runs(suite, [trial]) == {trial: record.id}, "what was removed cannot be compared"
    opened.store.delete_run(record.id)
    elsewhere = replace(suite, repository_context=RepositoryContext("elsewhere"), repo_clone=None)
    run_once(opened, elsewhere, "finished")
    [record] = opened.history.list_runs()
    assert record.suite_sha256 == suite.sha256
    assert opened.history.latest_runs(suite, [trial]) == {trial: ""}
    assert opened.history.read_comparable(record.id, suite, {}).outcomes == ()
    answers = SavedAnswers(opened.store, PreferenceLog(tmp_path / "p.jsonl"))
    assert answers.outcomes(Source(str(file), "", MODEL), suite) == {}
    suites = OpenSuites(opened, [file])
    suites.find()
    suites.read(file)
    assert not suites.state(file).trials
    assert suites.state(file).is_outdated("a", MODEL)
    await opened.close()
