"""promptfoo's results become a run that says what they say."""

import json
from pathlib import Path
from typing import Any

import pytest

from tui.imports.imported import HEAD_BYTES, ImportedRun, kind_of_file
from tui.imports.promptfoo import read_promptfoo
from tui.model.errors import SuiteError
from tui.model.results import CheckResult, Message, Timing, TrialKey, TrialResult, Usage
from tui.model.run import RunOptions
from tui.model.secrets import Secrets
from tui.model.suite import Check, RiskCriterion
from tui.model.values import JsonObject
from tui.statistics.run_figures import ModelTotals

FILES = Path(__file__).parent / "files"
MINI, HAIKU = "mini", "anthropic:messages:claude-haiku"


@pytest.fixture(scope="module")
def capitals() -> ImportedRun:
    return read_promptfoo(FILES / "version-3.json")


def document() -> Any:
    return json.loads((FILES / "version-3.json").read_text())


def imported(folder: Path, value: Any, secrets: Secrets | None = None) -> ImportedRun:
    path = folder / "results.json"
    path.write_text(json.dumps(value))
    return read_promptfoo(path, secrets=secrets)


def result(run: ImportedRun, case: str, model: str, repeat: int = 1) -> TrialResult:
    return next(each for each in run.results if each.trial == TrialKey(case, model, repeat))


def test_the_suite_is_made_of_the_tests(capitals: ImportedRun) -> None:
    suite = capitals.plan.suite
    assert (suite.name, suite.format) == ("Capitals", "schema-1.0.0")
    assert suite.description == "Imported from promptfoo 0.121.3, evaluation eval-Qx2-2026-10-04T08:15:30."
    assert [(case.id, case.name, case.category, case.tags) for case in suite.cases[:2]] == [
        ("test-1", "Capital of France", "Geography", ("quick",)),
        ("test-2", "Capital of Peru", "Geography", ("quick",)),
    ]
    assert [case.id for case in suite.cases] == ["test-1", "test-2", "test-3"]
    assert suite.cases[0].steps[0].input == "What is the capital of France?"
    assert suite.cases[0].steps[0].checks == (
        Check("assert.contains", "Paris", "Paris"),
        Check("forbidden_pattern", "i don't know"),
        Check("recorded", "llm-rubric: Is short and polite"),
    )
    assert suite.cases[0].risk_criteria == (RiskCriterion("Tone", "Is short and polite", "high"),)
    assert suite.cases[2].risk_criteria[0].name == "Overall"


def test_the_run_is_that_of_the_file(capitals: ImportedRun) -> None:
    plan = capitals.plan
    assert (capitals.started_at, capitals.finished_at) == (
        "2026-10-04T08:15:30.123+00:00",
        "2026-10-04T08:16:31.123+00:00",
    )
    assert [(subject.name, subject.provider, subject.model_id) for subject in plan.subjects] == [
        (MINI, "promptfoo", "openai:gpt-4o-mini"),
        (HAIKU, "promptfoo", HAIKU),
    ]
    assert plan.options == RunOptions(delay_ms=0, repeats=2)
    assert plan.trials[:4] == (
        TrialKey("test-1", MINI, 1),
        TrialKey("test-1", MINI, 2),
        TrialKey("test-1", HAIKU, 1),
        TrialKey("test-1", HAIKU, 2),
    )
    assert len(plan.trials) == 10
    assert len(plan.run_id) == 32
    assert plan.run_id[12] == "7"


def test_an_answer(capitals: ImportedRun) -> None:
    found = result(capitals, "test-1", HAIKU)
    (attempt,) = found.attempts
    (step,) = attempt.steps
    assert (found.verdict, found.error, found.flaky) == ("passed", None, False)
    assert step.response == "Paris, of course. Paris!"
    assert step.checks == (
        CheckResult("assert.contains", "Paris", "passed", "Assertion passed"),
        CheckResult("forbidden_pattern", "i don't know", "passed", "Assertion passed"),
        CheckResult("recorded", "llm-rubric: Is short and polite", "passed", "It is."),
    )
    assert step.usage == Usage(20, 7, 5)
    assert step.timing == Timing(None, 421.0)
    assert step.finish_reason == "stop"
    assert step.notes == ("promptfoo score: 1", "cost according to promptfoo: 0.000125 USD")
    assert step.cost_usd == 0.000125


def test_what_failed_and_what_broke(capitals: ImportedRun) -> None:
    failed = result(capitals, "test-2", MINI)
    assert (failed.verdict, failed.error) == ("failed", None)
    assert [check.state for check in failed.attempts[0].steps[0].checks] == ["failed", "failed", "passed"]
    broke = result(capitals, "test-2", HAIKU)
    assert (broke.verdict, broke.error) == ("error", "API call error: 529 overloaded")
    assert broke.attempts[0].steps[0].usage == Usage()
    assert broke.attempts[0].steps[0].checks == ()


def test_a_conversation_and_an_answer_that_is_no_text(capitals: ImportedRun) -> None:
    (step,) = result(capitals, "test-3", MINI).attempts[0].steps
    assert step.response == '{"sum": 4}'
    assert step.prompt.messages == (Message("system", "Answer as JSON."), Message("user", "Two and two?"))
    assert [(check.kind, check.target) for check in step.checks] == [
        ("assert.is-json", ""),
        ("assert.equals", '{"sum": 4}'),
    ]


def test_version_2() -> None:
    run = read_promptfoo(FILES / "version-2.json", "Greetings")
    assert run.plan.suite.name == "Greetings"
    assert [each.verdict for each in run.results] == ["unchecked", "timed_out"]
    assert run.results[1].error == "Error: Request timed out after 30000 ms"
    assert run.results[0].attempts[0].steps[0].usage == Usage(8, 1)
    assert [case.id for case in run.plan.suite.cases] == ["test-1"]


def test_the_evaluation_alone(tmp_path: Path) -> None:
    run = imported(tmp_path, document()["results"])
    assert (run.plan.suite.name, len(run.results)) == ("results", 10)


def test_the_same_results_are_the_same_run(tmp_path: Path, capitals: ImportedRun) -> None:
    value = document()
    value["metadata"]["exportedAt"] = "2026-11-01T00:00:00.000Z"
    value["shareableUrl"] = "https://example.com"
    assert imported(tmp_path, value).plan.run_id == capitals.plan.run_id
    value["results"]["results"][0]["response"]["output"] = "Another answer."
    assert imported(tmp_path, value).plan.run_id != capitals.plan.run_id


def test_two_prompts_are_two_cases_and_two_settings_two_models(tmp_path: Path) -> None:
    value = document()
    (first, second, *_) = value["results"]["results"]
    rows = [first, second]
    other = json.loads(json.dumps(first))
    other |= {"promptIdx": 2, "prompt": {"raw": "France's capital?", "label": "{{country}}'s capital?"}}
    again = json.loads(json.dumps(first)) | {"promptIdx": 3}
    value["results"]["results"] = [*rows, other, again]
    run = imported(tmp_path, value)
    assert sorted(run.plan.trials) == [
        ("test-1.prompt-1", HAIKU, 1),
        ("test-1.prompt-1", MINI, 1),
        ("test-1.prompt-1", f"{MINI} (2)", 1),
        ("test-1.prompt-2", MINI, 1),
    ]


def test_tests_without_variables_are_distinguished_by_their_prompts(tmp_path: Path) -> None:
    value = document()
    first = value["results"]["results"][0]
    test = {key: each for key, each in first["testCase"].items() if key not in ("description", "vars")}
    value["results"]["results"] = [
        first
        | {"testIdx": number, "promptIdx": column, "vars": {}, "testCase": test, "provider": {"id": name}}
        | {"prompt": {"raw": f"Capital of {land}?{name}", "label": "Capital of {{land}}?"}}
        for number, land in enumerate(["France", "Peru", "France"])
        for column, name in enumerate(["p", "q"])
    ]
    assert imported(tmp_path, value).plan.trials == (
        ("test-1", "p", 1),
        ("test-1", "p", 2),
        ("test-1", "q", 1),
        ("test-1", "q", 2),
        ("test-2", "p", 1),
        ("test-2", "q", 1),
    )


@pytest.mark.parametrize("others", [["p (2)"], ["p (2)", "p (3)"]])
def test_another_setting_of_a_provider_is_never_merged_with_a_provider_of_that_name(
    others: list[str], tmp_path: Path
) -> None:
    value = document()
    first = value["results"]["results"][0]
    value["results"]["results"] = [
        first | {"promptIdx": number, "provider": {"id": name}} for number, name in enumerate(["p", "p", *others, "p"])
    ]
    run = imported(tmp_path, value)
    assert [trial.repeat for trial in run.plan.trials] == [1] * (3 + len(others))
    assert sorted(trial.model for trial in run.plan.trials) == ["p", *(f"p ({n + 2})" for n in range(2 + len(others)))]
    ids = {subject.name: subject.model_id for subject in run.plan.subjects}
    assert all(ids[name] == name for name in others)


def component(kind: str, value: Any, passed: bool = True) -> dict[str, Any]:
    return {"pass": passed, "score": 1, "reason": "r", "assertion": {"type": kind, "value": value}}


SCHEMA: JsonObject = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    ("kind", "value", "check"),
    [
        ("contains", "a.b", Check("assert.contains", "a.b", "a.b")),
        ("contains", "{{country}}", Check("assert.contains", "France", "France")),
        ("contains", "{{ nothing }}", Check("recorded", "contains: {{ nothing }}")),
        ("contains", "file://expected.txt", Check("recorded", "contains: file://expected.txt")),
        ("contains", 42, Check("recorded", "contains: 42")),
        ("contains", "", Check("recorded", "contains: ")),
        ("icontains", "a.b|c", Check("assert.icontains", "a.b|c", "a.b|c")),
        ("not-contains", "x{2}", Check("assert.not-contains", "x{2}", "x{2}")),
        ("not-icontains", "x{2}", Check("forbidden_pattern", "x\\{2\\}")),
        ("regex", "\\d+(?<y>x)", Check("expected_pattern", "\\d+(?<y>x)")),
        ("not-regex", "^no", Check("forbidden_pattern", "^no")),
        ("equals", "yes", Check("assert.equals", "yes", "yes")),
        ("equals", {"a": [1, None]}, Check("assert.equals", '{"a": [1, null]}', {"a": [1, None]})),
        ("equals", {"a": "{{country}}"}, Check("recorded", 'equals: {"a": "{{country}}"}')),
        ("equals", {"a": float("nan")}, Check("recorded", 'equals: {"a": NaN}')),
        ("not-equals", "yes", Check("recorded", "not-equals: yes")),
        ("starts-with", "(a", Check("assert.starts-with", "(a", "(a")),
        ("contains-any", ["a+", "b"], Check("assert.contains-any", '["a+", "b"]', ["a+", "b"])),
        ("contains-any", 'a, "b, c"', Check("assert.contains-any", 'a, "b, c"', 'a, "b, c"')),
        ("icontains-any", ["a+", "b"], Check("expected_pattern", "a\\+|b")),
        ("not-icontains-any", ["a", "b"], Check("forbidden_pattern", "a|b")),
        ("contains-all", ["a", "{{country}}"], Check("assert.contains-all", '["a", "France"]', ["a", "France"])),
        ("contains-any", ["a", 1], Check("recorded", 'contains-any: ["a", 1]')),
        ("contains-any", ["a", "file://b"], Check("assert.contains-any", '["a", "file://b"]', ["a", "file://b"])),
        ("is-json", None, Check("assert.is-json")),
        ("is-json", "file://schema.json", Check("recorded", "is-json: file://schema.json")),
        ("contains-json", SCHEMA, Check("assert.contains-json", json.dumps(SCHEMA), SCHEMA)),
        (
            "word-count",
            {"min": 2, "max": 9},
            Check("assert.word-count", "at least 2 and at most 9 words", {"min": 2, "max": 9}),
        ),
        ("word-count", {"least": 2}, Check("recorded", 'word-count: {"least": 2}')),
        ("finish-reason", "stop", Check("assert.finish-reason", "stop", "stop")),
        ("is-refusal", None, Check("assert.refusal")),
        ("not-is-refusal", None, Check("recorded", "not-is-refusal")),
        ("javascript", "output.length < 5", Check("recorded", "javascript: output.length < 5")),
        ("latency", None, Check("recorded", "latency")),
    ],
)
@pytest.mark.parametrize("passed", [True, False])
def test_assertions(kind: str, value: Any, check: Check, passed: bool, tmp_path: Path) -> None:
    assert_imported_as(component(kind, value, passed), check, tmp_path)


@pytest.mark.parametrize(
    ("assertion", "check"),
    [
        ({"type": "latency", "threshold": 500}, Check("assert.latency", "at most 500 ms", None, 500.0)),
        ({"type": "cost", "threshold": 0.002}, Check("assert.cost", "at most 0.002 USD", None, 0.002)),
        ({"type": "cost", "threshold": -1}, Check("recorded", "cost")),
        ({"type": "levenshtein", "value": "a"}, Check("assert.levenshtein", "a", "a")),
        ({"type": "levenshtein", "value": "a", "threshold": 3}, Check("assert.levenshtein", "a", "a", 3.0)),
        ({"type": "rouge-n", "value": "a", "threshold": 0.5}, Check("assert.rouge-n", "a", "a", 0.5)),
        ({"type": "rouge-n", "value": "a", "threshold": 2}, Check("recorded", "rouge-n: a")),
        ({"type": "contains", "value": "a", "transform": "output.b"}, Check("recorded", "contains: a")),
    ],
)
def test_assertions_with_a_threshold_or_a_transform(assertion: dict[str, Any], check: Check, tmp_path: Path) -> None:
    assert_imported_as({"pass": True, "reason": "r", "assertion": assertion}, check, tmp_path)


def assert_imported_as(recorded: dict[str, Any], check: Check, folder: Path) -> None:
    whole = document()
    row = whole["results"]["results"][0]
    row["gradingResult"]["componentResults"] = [recorded, None]
    whole["results"]["results"] = [row]
    run = imported(folder, whole)
    assert run.plan.suite.cases[0].steps[0].checks == (check,)
    (found,) = run.results[0].attempts[0].steps[0].checks
    assert found == CheckResult(check.kind, check.target, "passed" if recorded["pass"] else "failed", "r")


def test_a_verdict_without_assertions(tmp_path: Path) -> None:
    whole = document()
    row = whole["results"]["results"][0]
    row |= {"success": False, "failureReason": 1, "error": "too slow"}
    row["gradingResult"] = {"pass": False, "score": 0, "reason": "too slow"}
    whole["results"]["results"] = [row]
    run = imported(tmp_path, whole)
    assert run.results[0].verdict == "failed"
    assert run.results[0].attempts[0].steps[0].checks == (CheckResult("recorded", "promptfoo", "failed", "too slow"),)


def test_a_success_with_an_error_is_none(tmp_path: Path) -> None:
    whole = document()
    whole["results"]["results"][0]["error"] = "the connection broke"
    assert result(imported(tmp_path, whole), "test-1", MINI).verdict == "error"


def test_assertions_of_a_test_that_nobody_graded(tmp_path: Path) -> None:
    whole = document()
    whole["results"]["results"] = [row for row in whole["results"]["results"] if row["failureReason"] == 2]
    run = imported(tmp_path, whole)
    assert [check.kind for check in run.plan.suite.cases[0].steps[0].checks] == [
        "assert.contains",
        "forbidden_pattern",
        "recorded",
    ]


@pytest.mark.parametrize("odd", [["high"], {"a": 1}, 5, None, True])
def test_a_severity_and_the_name_of_a_rubric_of_any_type(odd: object, tmp_path: Path) -> None:
    whole = document()
    row = whole["results"]["results"][0]
    row["gradingResult"] = None
    row["testCase"] |= {"metadata": {"severity": odd}, "assert": [{"type": "llm-rubric", "value": "r", "metric": odd}]}
    whole["results"]["results"] = [row]
    [criterion] = imported(tmp_path, whole).plan.suite.cases[0].risk_criteria
    assert (criterion.name, criterion.severity) == ("Rubric 1", "medium")


def test_keys_do_not_come_in(tmp_path: Path) -> None:
    whole = document()
    whole["results"]["results"][0]["response"]["output"] = "Paris, and the key is sk-very-secret-1."
    run = imported(tmp_path, whole, Secrets(["sk-very-secret-1"]))
    assert result(run, "test-1", MINI).attempts[0].steps[0].response == "Paris, and the key is [removed key]."


def test_half_a_character_is_replaced(tmp_path: Path) -> None:
    text = (FILES / "version-3.json").read_text()
    cut = text.replace("It is Paris.", "It is \\ud83d Paris \\ud83d\\ude00 \\\\ud83d")
    (tmp_path / "cut.json").write_text(cut)
    run = read_promptfoo(tmp_path / "cut.json")
    assert result(run, "test-1", MINI).attempts[0].steps[0].response == "It is \ufffd Paris 😀 \\ud83d"


def test_a_newer_version_is_read_with_a_warning(tmp_path: Path) -> None:
    whole = document()
    whole["results"]["version"] = 9
    assert [str(problem).partition(": ")[2] for problem in imported(tmp_path, whole).warnings] == [
        "warning: results.version: version 9 is unknown; it was read like versions 2 to 4"
    ]


def test_reports_work_on_it(capitals: ImportedRun) -> None:
    from tests.support.kept_runs import keep
    from tui.model.run import ReportFormat
    from tui.reports.render import render_report
    from tui.reports.summary import summarize

    kept = keep(capitals.plan, capitals.results)
    summary = summarize(kept)
    assert summary.by_model == {MINI: ModelTotals(5, 3, 2, 0, 0), HAIKU: ModelTotals(5, 3, 1, 1, 0)}
    assert summary.comparisons[0].method == "sign-flip"
    formats: tuple[ReportFormat, ...] = ("markdown", "html", "json", "csv", "junit")
    for format_ in formats:
        assert "test-2" in render_report(kept, format_, responses=True, risk_analysis=True)


@pytest.mark.parametrize(
    ("recorded", "known"), [(0.5, 0.5), (2, 2.0), (0, None), (-1.0, None), (1e300, None), (None, None)]
)
def test_a_cost_is_carried_and_nothing_is_never_one(tmp_path: Path, recorded: object, known: float | None) -> None:
    whole = document()
    whole["results"]["results"] = [whole["results"]["results"][0] | {"cost": recorded}]
    (only,) = imported(tmp_path, whole).results
    assert only.attempts[0].steps[0].cost_usd == known
    assert any("cost" in note for note in only.attempts[0].steps[0].notes) == (known is not None)


def test_one_result_on_each_line_is_the_same_evaluation() -> None:
    whole, lines = read_promptfoo(FILES / "echoes.json"), read_promptfoo(FILES / "echoes.jsonl", lines=True)
    assert lines.plan.suite.cases == whole.plan.suite.cases
    assert lines.plan.subjects == whole.plan.subjects
    assert [(each.trial, each.verdict, each.attempts[0].steps) for each in lines.results] == [
        (each.trial, each.verdict, each.attempts[0].steps) for each in whole.results
    ]
    assert [each.verdict for each in whole.results].count("failed") == 2
    assert kind_of_file((FILES / "echoes.jsonl").read_bytes()[:HEAD_BYTES]) == "promptfoo-lines"
    assert lines.is_named_by_content


def test_a_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    good = (FILES / "echoes.jsonl").read_text()
    path.write_text(f'{good}\n{{"success": true}}\n{{"success"')
    with pytest.raises(SuiteError) as raised:
        read_promptfoo(path, lines=True)
    assert [str(each).removeprefix(str(path)) for each in raised.value.problems] == [
        ":8: error: provider: is missing",
        ":8: error: prompt: is missing",
        ":9:10: error: JSON: EOF while parsing an object",
    ]
