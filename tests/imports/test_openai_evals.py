"""Logs of OpenAI's evals, written by `oaieval` itself with a function instead of a model, become a run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.work import is_linear
from tui.imports.imported import HEAD_BYTES, ImportedRun, kind_of_file
from tui.imports.openai_evals import read_openai_evals
from tui.model.errors import SuiteError
from tui.model.results import CheckResult, Message, TrialResult, Usage, Verdict
from tui.model.run import ReportFormat
from tui.model.secrets import Secrets

FILES = Path(__file__).parent / "files" / "openai_evals"
TOWNS, FUZZY, GRADED = (FILES / f"{name}.jsonl" for name in ("towns", "fuzzy", "graded"))
MODEL = "mock/model-1"


def lines(path: Path = TOWNS) -> list[Any]:
    return [json.loads(line) for line in path.read_text().split("\n") if line]


def write(folder: Path, values: list[Any]) -> Path:
    path = folder / "log.jsonl"
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values))
    return path


def imported(folder: Path, values: list[Any], secrets: Secrets | None = None) -> ImportedRun:
    return read_openai_evals(write(folder, values), secrets=secrets)


def result(run: ImportedRun, case: str) -> TrialResult:
    return next(each for each in run.results if each.trial.case == case)


def event(kind: str, data: Any, number: int = 90, sample: str = "towns.dev.0") -> dict[str, Any]:
    return {"run_id": "r", "event_id": number, "sample_id": sample, "type": kind, "data": data}


def test_the_run_is_that_of_the_log() -> None:
    run = read_openai_evals(TOWNS)
    assert (run.plan.suite.name, run.plan.suite.models, run.state) == ("towns.dev.v0", (MODEL,), "finished")
    assert [(each.model_id, each.provider) for each in run.plan.subjects] == [("mock-model-1-0101", "openai-evals")]
    assert [case.id for case in run.plan.suite.cases] == [f"towns.dev.{number}" for number in range(4)]
    assert [case.expected_behavior for case in run.plan.suite.cases] == ["Paris", "Lima", "4\nfour", ""]
    assert (run.started_at, run.finished_at) == ("2026-11-22T22:34:51.097+00:00", "2026-11-22T22:34:51.120+00:00")
    assert not run.is_named_by_content


@pytest.mark.parametrize("path", [TOWNS, FUZZY], ids=["towns", "fuzzy"])
def test_answers_and_verdicts_are_those_of_the_log(path: Path) -> None:
    run, events = read_openai_evals(path), [line for line in lines(path) if "type" in line]
    sampled = {each["sample_id"]: each["data"]["sampled"][0] for each in events if each["type"] == "sampling"}
    correct = {each["sample_id"]: each["data"]["correct"] for each in events if each["type"] == "match"}
    assert len(run.results) == len({each["sample_id"] for each in events})
    for found in run.results:
        (step,) = found.attempts[0].steps
        assert step.response == sampled.get(found.trial.case, "")
        if found.trial.case in correct:
            assert found.verdict == ("passed" if correct[found.trial.case] else "failed")
        else:
            assert (found.verdict, found.error) == ("error", "ConnectionError: the server closed the connection")


def test_an_answer() -> None:
    (step,) = result(read_openai_evals(TOWNS), "towns.dev.0").attempts[0].steps
    assert step.input == "Capital of France?"
    assert step.prompt.messages == (Message("system", "Answer with a town."), Message("user", "Capital of France?"))
    assert step.checks == (CheckResult("recorded", "match: Paris", "passed", "picked: Paris"),)
    assert step.usage == Usage(13, 3)
    (step,) = result(read_openai_evals(FUZZY), "fuzzy.dev.2").attempts[0].steps
    assert step.notes == ("metric accuracy: 1.0", "metric f1_score: 0.5")
    assert "\u2028" in step.response


def test_the_answer_of_a_grading_model_is_not_that_of_the_model() -> None:
    run = read_openai_evals(GRADED)
    assert {each.trial.case: [step.response for step in each.attempts[0].steps] for each in run.results} == {
        "graded.dev.0": ["Paris, of course."],
        "graded.dev.1": ["Cusco"],
    }
    assert {each.verdict for each in run.results} == {"unchecked"}
    assert run.results[1].attempts[0].steps[0].notes == (
        "the grading model answered: N",
        "metric choice: N",
        "metric score: 0.0",
    )


def test_several_samplings_are_steps_and_tools_belong_to_them(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "1"}]
    run = imported(
        tmp_path,
        [
            lines()[0],
            event("sampling", {"prompt": turns[:1], "sampled": "1"}, 1),
            event("function_call", {"name": "add", "arguments": {"a": 1}, "return_value": 2}, 2),
            event("sampling", {"prompt": [*turns, {"role": "user", "content": "two"}], "sampled": ["2", "zwei"]}, 3),
            event("match", {"correct": True, "expected": 2}, 4),
            event("embedding", [0.5], 5),
        ],
    )
    steps = run.results[0].attempts[0].steps
    assert [(step.input, step.response, step.tools_used) for step in steps] == [
        ("one", "1", ("add",)),
        ("two", "2\n\nzwei", ()),
    ]
    assert [len(step.checks) for step in steps] == [0, 1]
    assert [len(step.checks) for step in run.plan.suite.cases[0].steps] == [0, 1]
    assert run.state == "interrupted"


@pytest.mark.parametrize(
    ("events", "verdict", "answer"),
    [
        ([("match", {"correct": True}), ("match", {"correct": False, "expected": "x"})], "failed", ""),
        ([("match", {"correct": True, "sampled": "Paris"})], "passed", "Paris"),
        ([("match", {"correct": True}), ("error", {"type": "ValueError", "message": "m"})], "passed", ""),
        ([("error", {"type": "TimeoutError", "message": "too slow"})], "timed_out", ""),
        ([("error", {})], "error", ""),
        ([("metrics", {"accuracy": 1})], "error", ""),
        ([("sampling", {"prompt": 5, "sampled": None})], "error", ""),
        ([("sampling", {"prompt": ["a"], "sampled": "b"})], "unchecked", "b"),
        ([("sampling", {"prompt": "a", "sampled": "b"}), ("metrics", {"choice": "Y"})], "unchecked", "b"),
    ],
)
def test_verdicts(events: list[tuple[str, Any]], verdict: Verdict, answer: str, tmp_path: Path) -> None:
    given = [event(kind, data, number) for number, (kind, data) in enumerate(events)]
    run = imported(tmp_path, [lines()[0], *given])
    (found,) = run.results
    assert (found.verdict, found.attempts[0].steps[0].response) == (verdict, answer)
    assert (found.error is None) == (verdict not in ("error", "timed_out"))


def test_the_same_log_is_the_same_run(tmp_path: Path) -> None:
    one, other = read_openai_evals(TOWNS), imported(tmp_path, lines())
    assert one.plan.run_id == other.plan.run_id
    changed = lines()
    changed[2]["data"]["sampled"] = ["5"]
    assert imported(tmp_path, changed).plan.run_id != one.plan.run_id


def test_keys_do_not_come_in(tmp_path: Path) -> None:
    values = [lines()[0], event("sampling", {"prompt": "p", "sampled": "sk-very-secret-1"})]
    run = imported(tmp_path, values, Secrets(["sk-very-secret-1"]))
    assert run.results[0].attempts[0].steps[0].response == "[removed key]"


def test_a_log_is_known_by_its_content() -> None:
    assert {kind_of_file(path.read_bytes()[:HEAD_BYTES]) for path in (TOWNS, FUZZY, GRADED)} == {"openai-evals"}


def test_reports_work_on_it() -> None:
    from tests.support.kept_runs import keep
    from tui.reports.render import render_report

    run = read_openai_evals(FUZZY)
    formats: tuple[ReportFormat, ...] = ("markdown", "html", "json", "csv", "junit")
    for format_ in formats:
        assert "fuzzy.dev.1" in render_report(keep(run.plan, run.results), format_, responses=True, risk_analysis=True)


def with_line(value: Any) -> str:
    return TOWNS.read_text() + (value if isinstance(value, str) else json.dumps(value)) + "\n"


BAD: dict[str, tuple[Callable[[], str], str]] = {
    "the first line alone": (lambda: json.dumps(lines()[0]), "FILE: error: file: has no sample"),
    "no spec": (lambda: json.dumps(lines()[2]), "FILE: error: file: has no line with the `spec` of the run"),
    "two runs": (lambda: with_line(lines()[0]), "FILE:11: error: spec: a second run begins"),
    "an event twice": (lambda: with_line(lines()[2]), "FILE:11: error: event_id: the event 0 is on line 3 already"),
    "truncated": (lambda: TOWNS.read_text()[:-30], "FILE:10:"),
    "no JSON": (lambda: with_line("hello"), "FILE:11:1: error: JSON: expected value"),
    "a list": (lambda: with_line([1]), "FILE:11: error: event: expected an object with keys, got a list"),
    "a type that is no text": (lambda: with_line({"type": ["x"]}), "FILE:11: error: event.sample_id: is missing"),
    "no sampled text": (
        lambda: with_line(event("sampling", {"prompt": "p"})),
        "FILE:11: error: sampling.data.sampled: is missing",
    ),
    "correct in words": (
        lambda: with_line(event("match", {"correct": "yes"})),
        "FILE:11: error: match.data.correct: expected true or false, got the text `yes`",
    ),
    "very many tokens": (
        lambda: with_line(event("sampling", {"prompt": "", "sampled": "", "usage": {"prompt_tokens": 10**40}})),
        "sampling.data.usage.prompt_tokens: input should be less than",
    ),
    "deep": (lambda: with_line('{"type": ' + "[" * 90_000), "FILE:11:210: error: JSON: recursion limit exceeded"),
    "a time in the future": (
        lambda: TOWNS.read_text().replace('"created_at": "2026', '"created_at": "9998', 1),
        "spec.created_at: expected a time that is not in the future",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_logs(name: str, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(BAD[name][0]())
    with pytest.raises(SuiteError) as raised:
        read_openai_evals(path)
    assert BAD[name][1] in str(raised.value.problems[0]).replace(str(path), "FILE")


def test_many_bad_lines_are_cut_short(tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as raised:
        imported(tmp_path, [lines()[0], *[{"type": "match"}] * 10_000])
    assert len(raised.value.problems) == 50


def test_the_cost_is_linear_in_the_number_of_events(tmp_path: Path) -> None:
    def reading(count: int) -> Callable[[], ImportedRun]:
        folder = tmp_path / str(count)
        folder.mkdir(exist_ok=True)
        data = {"prompt": "p", "sampled": "s"}
        events = (event("sampling", data, number, f"towns.dev.{number}") for number in range(count))
        path = write(folder, [lines()[0], *events])
        return lambda: read_openai_evals(path)

    assert is_linear(reading, 40)
