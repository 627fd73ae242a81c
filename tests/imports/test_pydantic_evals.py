"""Reports of pydantic-evals, written by pydantic-evals itself with a function as its task, become a run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tui.imports.imported import HEAD_BYTES, ImportedRun, kind_of_file
from tui.imports.pydantic_evals import read_pydantic_evals
from tui.model.errors import SuiteError
from tui.model.results import CheckResult, TrialKey, TrialResult, Usage, Verdict
from tui.model.run import ReportFormat
from tui.model.secrets import Secrets
from tui.model.suite import Check

FILES = Path(__file__).parent / "files" / "pydantic_evals"
REPORT, REPEATS = FILES / "report.json", FILES / "repeats.json"


def document(path: Path = REPORT) -> Any:
    return json.loads(path.read_text())


def imported(folder: Path, value: Any, secrets: Secrets | None = None) -> ImportedRun:
    path = folder / "report.json"
    path.write_text(json.dumps(value))
    return read_pydantic_evals(path, secrets=secrets)


def result(run: ImportedRun, case: str, repeat: int = 1) -> TrialResult:
    return next(each for each in run.results if (each.trial.case, each.trial.repeat) == (case, repeat))


def test_cases_and_the_task_are_those_of_the_report() -> None:
    run = read_pydantic_evals(REPORT)
    suite = run.plan.suite
    assert (suite.name, suite.models, run.plan.options.repeats) == ("towns", ("answer",), 1)
    assert [subject.model_id for subject in run.plan.subjects] == ["mock/model-1"]
    assert [case.id for case in suite.cases] == ["france", "peru", "Case 3", "object", "nothing", "broken"]
    assert (suite.cases[0].category, suite.cases[0].expected_behavior) == ("Geography", "Paris, of course.")
    assert suite.cases[1].steps[0].checks == tuple(
        Check("recorded", name) for name in ("EqualsExpected", "Contains", "polite")
    )
    assert run.is_named_by_content


def test_answers_and_verdicts_are_those_of_the_report() -> None:
    whole, run = document(), read_pydantic_evals(REPORT)
    answers = {each["name"]: each["output"] for each in whole["cases"]}
    assert len(run.results) == len(whole["cases"]) + len(whole["failures"])
    for each in run.results[:3]:
        assert each.attempts[0].steps[0].response == answers[each.trial.case]
    assert result(run, "object").attempts[0].steps[0].response == '{"name": "Paris", "people": 2100000}'
    assert result(run, "nothing").attempts[0].steps[0].response == "null"
    assert [each.verdict for each in run.results] == ["passed", "failed", "failed", "failed", "failed", "error"]
    assert result(run, "broken").error == "ConnectionError: the model does not answer"


def test_assertions_are_checks_and_everything_else_notes() -> None:
    (step,) = result(read_pydantic_evals(REPORT), "peru").attempts[0].steps
    assert step.checks == (
        CheckResult("recorded", "EqualsExpected", "failed", ""),
        CheckResult("recorded", "Contains", "failed", "Output string 'Cusco' does not contain expected string 'Lima'"),
        CheckResult("recorded", "polite", "failed", "looks for please"),
    )
    assert step.notes == (
        "pydantic-evals score of brevity: 0.5 (1 words)",
        "pydantic-evals score of words: 1",
        "pydantic-evals label of register: casual",
        "attribute prompt: Answer briefly: Capital of Peru?",
    )
    assert (step.usage, step.cost_usd) == (Usage(12, 5), 0.00025)


def test_an_evaluator_that_raised_an_exception_is_a_check_without_a_verdict(tmp_path: Path) -> None:
    checks = result(read_pydantic_evals(REPORT), "Case 3").attempts[0].steps[0].checks
    assert checks[-1] == CheckResult(
        "recorded", "Fragile", "timed_out", "RuntimeError: the judge is out of order\n(try again)"
    )
    whole = document()
    whole["cases"][2]["assertions"]["polite"]["value"] = True
    found = result(imported(tmp_path, whole), "Case 3")
    assert (found.verdict, found.error) == ("error", "An evaluator raised an exception")


def test_repeats_keep_their_numbers() -> None:
    run = read_pydantic_evals(REPEATS)
    assert [each.trial for each in run.results] == [
        TrialKey(case, "answer v2", repeat) for case in ("flaky", "france") for repeat in (1, 2, 3)
    ]
    verdicts: list[Verdict] = ["failed", "timed_out", "passed", "passed", "passed", "passed"]
    assert [each.verdict for each in run.results] == verdicts
    assert run.plan.options.repeats == 3
    assert [result(run, "flaky", number).attempts[0].steps[0].response for number in (1, 2, 3)] == [
        "try 1",
        "",
        "try 3",
    ]


def test_without_assertions_an_answer_is_unchecked(tmp_path: Path) -> None:
    whole = document()
    whole["cases"][0]["assertions"] = {}
    assert result(imported(tmp_path, whole), "france").verdict == "unchecked"


def test_a_report_of_an_older_version(tmp_path: Path) -> None:
    whole = document()
    old = ("name", "inputs", "metadata", "expected_output", "output", "scores", "labels", "assertions", "task_duration")
    whole = {"name": "t", "cases": [{key: case[key] for key in old} for case in whole["cases"]]}
    run = imported(tmp_path, whole)
    assert (run.plan.suite.name, len(run.results)) == ("report", 5)


@pytest.mark.parametrize(
    "value", [10**40, -1, float("1e300"), float("nan"), True, "12", None, {"a": []}, [1], "x" * 100_000]
)
def test_metrics_of_any_kind(value: Any, tmp_path: Path) -> None:
    whole = document()
    whole["cases"][0]["metrics"] = {"input_tokens": value, "cost": value, "other": value}
    (step,) = result(imported(tmp_path, whole), "france").attempts[0].steps
    assert (step.usage.input_tokens, step.cost_usd) == (None, None)
    assert all(len(note) < 700 for note in step.notes)
    assert any(note.startswith("metric other: ") for note in step.notes)


def test_the_same_report_is_the_same_run(tmp_path: Path) -> None:
    one, other = read_pydantic_evals(REPORT), imported(tmp_path, document())
    assert one.plan.run_id[12:] == other.plan.run_id[12:]
    changed = document()
    changed["cases"][0]["output"] = "Lyon"
    assert imported(tmp_path, changed).plan.run_id[12:] != one.plan.run_id[12:]


def test_keys_do_not_come_in(tmp_path: Path) -> None:
    whole = document()
    whole["cases"][0]["output"] = "sk-very-secret-1"
    run = imported(tmp_path, whole, Secrets(["sk-very-secret-1"]))
    assert result(run, "france").attempts[0].steps[0].response == "[removed key]"


@pytest.mark.parametrize("indent", [None, 2])
def test_a_report_is_known_by_its_content(indent: int | None) -> None:
    whole = document()
    for case in whole["cases"]:
        case["inputs"] = {"results": [1], "eval": {}, "samples": []}
    assert kind_of_file(json.dumps(whole, indent=indent).encode()[:HEAD_BYTES]) == "pydantic-evals"


def test_reports_work_on_it() -> None:
    from tests.support.kept_runs import keep
    from tui.reports.render import render_report

    run = read_pydantic_evals(REPORT)
    formats: tuple[ReportFormat, ...] = ("markdown", "html", "json", "csv", "junit")
    for format_ in formats:
        assert "broken" in render_report(keep(run.plan, run.results), format_, responses=True, risk_analysis=True)


def broken(**changes: Any) -> str:
    whole = document()
    whole["cases"][0] |= changes
    return json.dumps(whole)


def without(key: str) -> str:
    whole = document()
    del whole["cases"][0][key]
    return json.dumps(whole)


ASSERTION = {"EqualsExpected": {"value": "yes"}}
BAD: dict[str, tuple[Callable[[], str], str]] = {
    "empty": (lambda: "", "FILE:1:1: error: JSON: EOF while parsing a value"),
    "truncated": (lambda: REPORT.read_text()[:900], "error: JSON: EOF while parsing"),
    "no case": (lambda: '{"name": "n", "cases": []}', "FILE: error: cases: expected at least one case"),
    "a missing output": (lambda: without("output"), "FILE: error: cases[0].output: is missing"),
    "a missing name": (lambda: without("name"), "FILE: error: cases[0].name: is missing"),
    "an assertion in words": (
        lambda: broken(assertions=ASSERTION),
        "cases[0].assertions.EqualsExpected.value: expected true or false, got the text `yes`",
    ),
    "a duration before the start": (lambda: broken(task_duration=-1.0), "cases[0].task_duration: input should be"),
    "an endless duration": (lambda: broken(task_duration=float("inf")), "cases[0].task_duration: input should be"),
    "a case twice": (lambda: broken(name="peru"), 'cases[1].name: repeat 1 of the case "peru" appears twice'),
    "deep": (lambda: broken(inputs="DEEP").replace('"DEEP"', "[" * 90_000), "error: JSON: recursion limit exceeded"),
    "a data set": (
        lambda: '{"name": "towns", "cases": [{"name": "france", "inputs": "?"}], "evaluators": []}',
        "FILE: error: cases[0].output: is missing",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_reports(name: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(BAD[name][0]())
    with pytest.raises(SuiteError) as raised:
        read_pydantic_evals(path)
    assert BAD[name][1] in str(raised.value.problems[0]).replace(str(path), "FILE")
    assert "EvaluationReportAdapter" in raised.value.fix
