"""Exported runs are read line by line, within limits of size, lines and memory."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.session.test_score_exchange import line as score_line
from tests.support.kept_runs import large_run
from tui.imports import result_file
from tui.imports.imported import ImportedRun
from tui.model.errors import SuiteError
from tui.model.run import new_run_id
from tui.model.sanitize import sanitize_text
from tui.model.secrets import Secrets
from tui.model.suite import Check, RiskCriterion
from tui.risk.score_lines import read_line
from tui.session import run_files
from tui.session.run_files import content_of, import_fault, pack_lines, read_run_file, run_lines

KEPT = large_run(10)


def exported(folder: Path, *, compressed: bool) -> Path:
    path = folder / "run.jsonl"
    path.write_bytes(
        pack_lines(run_lines(replace(KEPT, plan=replace(KEPT.plan, run_id="0" * 32))), compressed=compressed)
    )
    return path


def read(path: Path) -> ImportedRun:
    return read_run_file(path, Secrets())


def refusal(path: Path) -> str:
    with pytest.raises(SuiteError) as raised:
        read(path)
    [problem] = raised.value.problems
    return f"{problem.line}: {problem.what}"


@pytest.mark.parametrize("compressed", [False, True])
def test_a_run_within_the_limits_is_read(tmp_path: Path, compressed: bool) -> None:
    run = read(exported(tmp_path, compressed=compressed))
    assert run.results == KEPT.results
    assert content_of(run.plan, run.results) == content_of(KEPT.plan, reversed(KEPT.results))
    assert content_of(run.plan, run.results) != content_of(KEPT.plan, KEPT.results[1:])


def test_a_line_has_nothing_that_a_terminal_obeys_and_the_same_value(tmp_path: Path) -> None:
    hostile = "\x9d0;title\x9c \x9b2J \u202e \x7f \x1b[2J \ufffe \U000e0041 é 日本"
    first, *others = KEPT.results
    attempt = first.attempts[-1]
    answered = replace(attempt, steps=(replace(attempt.steps[0], response=hostile), *attempt.steps[1:]))
    results = (replace(first, attempts=(*first.attempts[:-1], answered)), *others)
    plan = replace(KEPT.plan, run_id="0" * 32, suite=replace(KEPT.plan.suite, name=f"S \x7f {hostile}"))
    path = tmp_path / "run.jsonl"
    path.write_bytes(pack_lines(run_lines(replace(KEPT, plan=plan, results=results)), compressed=False))
    text = path.read_text()
    assert sanitize_text(text) == text
    assert "é 日本" in text
    run = read(path)
    assert (run.results, run.plan.suite.name) == (results, plan.suite.name)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    ("name", "limit", "message"),
    [
        ("MOST_BYTES", 1 << 20, "None: is larger than 1 MiB when decompressed"),
        ("MOST_LINE_BYTES", 1 << 20, "None: has a line of more than 1 MiB"),
        ("MOST_LINES", 15, "None: has more than 15 lines"),
    ],
)
def test_a_file_over_a_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: int, message: str, compressed: bool
) -> None:
    path = tmp_path / "run.jsonl"
    lines = [*run_lines(replace(KEPT, plan=replace(KEPT.plan, run_id="0" * 32))), " " * (1 << 20)]
    path.write_bytes(pack_lines(lines, compressed=compressed))
    assert read(path).results
    monkeypatch.setattr(run_files, name, limit)
    assert refusal(path) == message


def test_the_memory_of_all_results_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = exported(tmp_path, compressed=True)
    monkeypatch.setattr(result_file, "MOST_MEMORY", 1 << 20)
    assert read(path).results
    # The last answer takes four bytes for each character.
    text = run_lines(replace(KEPT, plan=replace(KEPT.plan, run_id="0" * 32)))
    *lines, last = text
    long = last.replace('"response":"', '"response":"\U0001f600' + "x" * 300_000, 1)
    assert len(long) > 300_000
    path.write_bytes(pack_lines([*lines, long], compressed=True))
    assert refusal(path) == "21: needs more than 1 MiB of memory; import it as several files"


@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_that_is_too_large_to_be_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compressed: bool
) -> None:
    path = exported(tmp_path, compressed=compressed)
    lines = [*run_lines(KEPT)]
    data = pack_lines(lines, compressed=compressed)
    assert import_fault(KEPT, lines, data) is None
    with monkeypatch.context() as limited:
        limited.setattr(result_file, "MOST_BYTES", 100)
        limited.setattr(run_files, "MOST_FILE_BYTES", 100)
        limited.setattr(run_files, "MOST_BYTES", 8_000)
        fault = import_fault(KEPT, lines, data)
        assert fault is not None
        assert fault.startswith("is larger than 0 MiB")
        assert ("when decompressed" in fault) == compressed
        assert refusal(path).startswith("None: is larger than 0 MiB")
    sizes = [(run_files, name) for name in ("MOST_LINE_BYTES", "MOST_VALUES", "MOST_LINE_VALUES")]
    for module, name in (*sizes, (result_file, "MOST_MEMORY")):
        with monkeypatch.context() as limited:
            limited.setattr(module, name, 20)
            fault = import_fault(KEPT, lines, data)
            assert fault is not None
            assert fault.endswith(": `assay import` cannot read it")
            with pytest.raises(SuiteError):
                read(path)


def test_a_run_with_too_many_scores_to_be_imported_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [*run_lines(KEPT, score_line(1) + score_line(2))]
    data = pack_lines(lines, compressed=False)
    size = sum(map(len, lines[-2:]))
    for most, fault in ((size, None), (size - 1, "has more than 0 MiB of scores: `assay import` cannot read it")):
        monkeypatch.setattr(run_files, "LARGEST_FILE", most)
        assert import_fault(KEPT, lines, data) == fault


def test_the_answers_to_score_are_limited_by_criterion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case, *others = KEPT.plan.suite.cases
    judged = replace(case, risk_criteria=(RiskCriterion("Tone", "", "low"), RiskCriterion("Truth", "", "high")))
    plan = replace(KEPT.plan, run_id="0" * 32, suite=replace(KEPT.plan.suite, cases=(judged, *others)))
    items = sum(
        len(each.risk_criteria) for each in plan.suite.cases for result in KEPT.results if result.trial.case == each.id
    )
    path, kept = tmp_path / "run.jsonl", replace(KEPT, plan=plan)
    lines = [*run_lines(kept)]
    path.write_bytes(data := pack_lines(lines, compressed=False))
    for most, is_read in ((items, True), (items - 1, False)):
        monkeypatch.setattr(run_files, "MOST_ITEMS", most)
        fault = f"has more than {most:,} answers to score, each once for each criterion"
        assert import_fault(kept, lines, data) == (None if is_read else f"{fault}: `assay import` cannot read it")
        if is_read:
            assert read(path).results
        else:
            assert refusal(path) == f"None: {fault}"


@pytest.mark.parametrize(("days", "is_read"), [(3_600, True), (4_000, False), (1_600_000, False)])
def test_the_id_of_a_run_is_at_most_some_years_ahead(tmp_path: Path, days: int, is_read: bool) -> None:
    """Those of later runs follow it: behind a limit that does not move with the clock, none could be imported."""
    milliseconds = (time.time_ns() // 1_000_000) + days * 86_400_000
    for run_id in (f"{milliseconds:012x}{'0' * 20}", new_run_id(f"{milliseconds:012x}{'0' * 20}")):
        kept = replace(KEPT, record=replace(KEPT.record, id=run_id))
        (path := tmp_path / "run.jsonl").write_bytes(pack_lines(run_lines(kept), compressed=False))
        if is_read:
            assert read(path).results
        else:
            assert refusal(path) == f"1: id: {run_id} is not one of Assay"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"folder": "/a\0"}, "path: no file can have it: "),
        ({"path": "\ud800"}, "path: no file can have it: "),
        ({"risk_guidance": ["a"] * 4}, "risk_guidance: expected 5 lines, found 4"),
        ({"options": {"timeout_ms": 0}}, "options: timeout_ms: expected a number from 1 to "),
        ({"options": {"delay_ms": -1}}, "options: delay_ms: expected a number from 0 to "),
        ({"repository_context": {"max_files": 0}}, "repository_context: max_files: expected a number from 1 to "),
        ({"repo_clone": {"url": "https://a/b", "depth": 0}}, "repo_clone: depth: expected a number from 1 to "),
        ({"max_turns": 33}, "max_turns: expected a number from 1 to 32, found 33"),
        ({"min_pass_rate": 0}, "min_pass_rate: expected a number above 0, up to 1"),
        ({"min_pass_rate": 1.5}, "min_pass_rate: expected a number above 0, up to 1"),
        ({"command": {"run": "true", "timeout_ms": -1}}, "command: timeout_ms: expected a number from 1 to "),
        (
            {"code_context": [{"file_path": "a", "line_range": {"start": 0, "end": 1}}]},
            "line_range: start: expected a number from 1 to ",
        ),
    ],
)
def test_a_suite_that_no_file_can_have_is_refused(tmp_path: Path, changes: dict[str, Any], fault: str) -> None:
    path = exported(tmp_path, compressed=False)
    head, lines = path.read_text().split("\n", 1)
    run = json.loads(head)
    of_suite = {"folder", "path", "risk_guidance", "options", "repository_context", "repo_clone"}
    holder = run["suite"] if of_suite & changes.keys() else run["suite"]["cases"][0]
    for key, value in changes.items():
        holder[key] = {**(holder.get(key) or {}), **value} if isinstance(value, dict) else value
    path.write_text(f"{json.dumps(run)}\n{lines}")
    assert refusal(path).startswith(f"None: suite: {fault}")


@pytest.mark.parametrize(
    ("folder", "fault"), [("x" * 3_000, None), ("a\0b", "None: suite: path: no file can have it: ")]
)
def test_a_suite_is_looked_for_only_where_it_can_be(tmp_path: Path, folder: str, fault: str | None) -> None:
    path = exported(tmp_path, compressed=False)
    head, lines = path.read_text().split("\n", 1)
    run = json.loads(head)
    run["suite"]["path"] = f"/{folder}/s.yaml"
    path.write_text(f"{json.dumps(run)}\n{lines}")
    if fault is None:
        assert read(path).results == KEPT.results
    else:
        assert refusal(path).startswith(fault)


def test_large_numbers_of_a_suite_and_of_models_are_read_again(tmp_path: Path) -> None:
    large = 1_234_567_890_123_456_789
    case, *others = KEPT.plan.suite.cases
    checks = (
        Check("memory", "memory.user", expected=large),
        Check("assert.cost", "cost", threshold=1e20),
    )
    suite = replace(KEPT.plan.suite, cases=(replace(case, steps=(replace(case.steps[0], checks=checks),)), *others))
    seeded = tuple(replace(each, settings=replace(each.settings, seed=large)) for each in KEPT.plan.subjects)
    kept = replace(KEPT, plan=replace(KEPT.plan, run_id="0" * 32, suite=suite, subjects=seeded))
    (path := tmp_path / "large.jsonl").write_bytes(pack_lines(run_lines(kept), compressed=False))
    plan = read(path).plan
    assert (plan.suite.cases[0].steps[0].checks, plan.subjects) == (checks, seeded)


@pytest.mark.parametrize("written", ['"1e999"', '"-inf"', '"NaN"', "1e999"])
def test_a_number_that_is_not_finite_is_refused_also_as_text(tmp_path: Path, written: str) -> None:
    case, *others = KEPT.plan.suite.cases
    steps = (replace(case.steps[0], checks=(Check("assert.cost", "cost", threshold=4711.5),)),)
    suite = replace(KEPT.plan.suite, cases=(replace(case, steps=steps), *others))
    kept = replace(KEPT, plan=replace(KEPT.plan, run_id="0" * 32, suite=suite))
    data = pack_lines(run_lines(kept), compressed=False)
    (path := tmp_path / "run.jsonl").write_bytes(data.replace(b"4711.5", written.encode()))
    if written.startswith('"'):
        assert refusal(path).startswith("None: the run itself is invalid: threshold: expected a finite number")
    else:
        assert refusal(path) == "1: is no JSON object (1e999 is no JSON value)"


def with_score(folder: Path, **changes: object) -> Path:
    path = exported(folder, compressed=False)
    score = json.loads(score_line(1)) | changes
    path.write_bytes(path.read_bytes() + json.dumps({"score": score}).encode() + b"\n")
    return path


def score_of(path: Path) -> str:
    scores = read(path).scores
    assert scores is not None
    *before, line = scores.text.splitlines(keepends=True)
    assert (scores.file, before) == (path, ["\n"] * 21)
    return line


@pytest.mark.parametrize("key", ["case", "model", "criterion", "note", "reviewer", "guidance", "answered by \ud800"])
def test_half_of_a_surrogate_pair_in_a_score_stays_an_escape(tmp_path: Path, key: str) -> None:
    line = score_of(with_score(tmp_path, **{key: "\ud800"})).encode()
    assert getattr(read_line(line), key, "") in ("\ud800", "")


@pytest.mark.parametrize("key", ["act", "id", "scored_at", "answer"])
def test_an_invalid_score_is_refused_with_its_line(tmp_path: Path, key: str) -> None:
    assert refusal(with_score(tmp_path, **{key: "\ud800"})).startswith(f'22: score: {key}: "<U+D800>" is not')


def test_a_line_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    whole = with_score(tmp_path, note=4711).read_bytes()
    for depth in range(850, 1_000, 7):
        (tmp_path / "run.jsonl").write_bytes(whole.replace(b"4711", b"[" * depth + b"]" * depth))
        assert refusal(tmp_path / "run.jsonl").startswith("22: is nested ")


def test_a_score_of_this_run_that_is_also_a_line_of_a_packet_is_no_score_of_the_packet(tmp_path: Path) -> None:
    packet = {"packet": "1" * 32, "criteria": [{"name": "Tone", "extent": 4}]}
    assert score_of(with_score(tmp_path, **packet)) == score_line(1)
