"""Files that are none, and hostile ones: a sentence with its place, soon, and never a traceback."""

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.work import is_linear
from tui.imports import result_file
from tui.imports.answers import answer_file, read_answers
from tui.imports.inspect_log import read_inspect
from tui.imports.promptfoo import read_promptfoo
from tui.imports.pydantic_evals import read_pydantic_evals
from tui.imports.report_file import read_report_file
from tui.model.errors import SuiteError
from tui.model.values import MOST_JSON_VALUES

FILES = Path(__file__).parent / "files"


def problems(path: Path) -> list[str]:
    with pytest.raises(SuiteError) as raised:
        read_promptfoo(path)
    assert "promptfoo" in str(raised.value) or "timestamp" in str(raised.value.problems[0])
    return [str(problem).replace(str(path), "FILE") for problem in raised.value.problems]


def changed(**changes: Any) -> str:
    """The document with values changed by their place; `...` takes one away."""
    whole = json.loads((FILES / "version-3.json").read_text())
    for place, value in changes.items():
        *steps, last = place.replace("row", "results__results__0").split("__")
        holder: Any = whole
        for step in steps:
            holder = holder[int(step) if isinstance(holder, list) else step]
        if value is ...:
            del holder[last]
        else:
            holder[last] = value
    return json.dumps(whole)


ROW = "FILE: error: results.results[0]"
BAD: dict[str, tuple[Callable[[], str | bytes], list[str]]] = {
    "empty": (lambda: "", ["FILE:1:1: error: JSON: EOF while parsing a value"]),
    "no json": (lambda: "hello", ["FILE:1:1: error: JSON: expected value"]),
    "truncated": (lambda: changed()[:900], ["FILE:1:900: error: JSON: EOF while parsing"]),
    "a comma too many": (lambda: '{"results": 1,}', ["FILE:1:15: error: JSON: trailing comma"]),
    "a list": (lambda: "[]", ["FILE: error: file: expected an object with keys, got an empty list"]),
    "nothing in it": (lambda: "{}", ["FILE: error: results: is missing"]),
    "latin 1": (lambda: b'{"a": "\xe9"}', ["FILE: error: file: is not UTF-8 (byte 0xe9 at offset 7)"]),
    "no results": (
        lambda: changed(results__results=[]),
        ["FILE: error: results.results: expected a list with at least one result, got an empty list"],
    ),
    "no success": (lambda: changed(row__success=...), [f"{ROW}.success: is missing"]),
    "success in words": (
        lambda: changed(row__success="yes"),
        [f"{ROW}.success: expected true or false, got the text `yes`"],
    ),
    "three faults": (
        lambda: changed(row__success=1, row__provider=[], row__latencyMs="5"),
        [
            f"{ROW}.provider: expected an object with keys, got an empty list",
            f"{ROW}.success: expected true or false, got the number 1",
            f"{ROW}.latencyMs: expected a number, got the text `5`",
        ],
    ),
    "a negative time": (
        lambda: changed(row__latencyMs=-1),
        [f"{ROW}.latencyMs: input should be greater than"],
    ),
    "no number": (lambda: changed(row__score=float("nan")), [f"{ROW}.score: input should be a finite number"]),
    "an endless time": (lambda: changed(row__latencyMs=float("inf")), [f"{ROW}.latencyMs: input should be less than"]),
    "very many tokens": (
        lambda: changed(row__tokenUsage={"prompt": 10**40}),
        [f"{ROW}.tokenUsage.prompt: input should be less than or equal to 9007199254740992"],
    ),
    "an assertion without a type": (
        lambda: changed(row__gradingResult__componentResults=[{"pass": True, "assertion": {}}]),
        [f"{ROW}.gradingResult.componentResults[0].assertion.type: is missing"],
    ),
    "no time": (
        lambda: changed(results__timestamp="yesterday"),
        ["results.timestamp: expected a time such as"],
    ),
    "a time before time": (
        lambda: changed(results__timestamp="0001-01-01T00:00:00Z"),
        ["results.timestamp: expected"],
    ),
    "a time in the future": (
        lambda: changed(results__timestamp="9998-01-01T00:00:00Z"),
        ["results.timestamp: expected a time that is not in the future, got `9998-01-01T00:00:00Z`"],
    ),
    "deep": (lambda: '{"results": ' + "[" * 100_000, ["error: JSON: recursion limit exceeded"]),
    "deep objects": (
        lambda: changed(row__vars="DEEP").replace('"DEEP"', '{"a":' * 5_000 + "1" + "}" * 5_000),
        ["error: JSON: recursion limit exceeded"],
    ),
    "a number of 5,000 digits": (
        lambda: changed(row__vars="LONG").replace('"LONG"', '{"a": ' + "9" * 5_000 + "}"),
        ["error: JSON: number out of range"],
    ),
    "controls in a key": (lambda: '{"results": {"\x1b[31m": 1}}', ["error: JSON: control character"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(name: str, tmp_path: Path) -> None:
    content, expected = BAD[name][0](), BAD[name][1]
    path = tmp_path / "results.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = problems(path)
    assert len(found) == len(expected)
    for line, part in zip(found, expected, strict=True):
        assert part in line
        assert "\x1b" not in line


def test_what_is_no_file(tmp_path: Path) -> None:
    assert problems(tmp_path / "nowhere.json") == ["FILE: error: file: does not exist; check the path"]
    assert problems(tmp_path) == ["FILE: error: file: is a folder; pass a file in it"]
    os.mkfifo(tmp_path / "pipe")
    assert problems(tmp_path / "pipe") == ["FILE: error: file: is not a regular file; pass a file"]


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_file, "MOST_BYTES", 1024 * 1024)
    (tmp_path / "large.json").write_bytes(b" " * (1024 * 1024 + 1))
    assert problems(tmp_path / "large.json")[0].startswith("FILE: error: file: is larger than 1 MiB")


def test_a_report_of_our_own_is_none_of_promptfoos(tmp_path: Path) -> None:
    from tests.support.kept_runs import small_run
    from tui.reports.render import render_report

    path = tmp_path / "report.json"
    path.write_text(render_report(small_run(), "json"))
    assert "FILE: error: results[0].provider: is missing" in problems(path)


def test_very_many_faults_are_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    whole = json.loads(changed())
    whole["results"]["results"] = [{"success": 1}] * 20_000
    path.write_text(json.dumps(whole))
    found = problems(path)
    assert len(found) == 51
    assert found[-1] == "FILE: error: file: 59950 more problems not listed; fix these and check again"


STRANGE = {
    "a number of 4,000 digits": "9" * 4_000,
    "a long text": json.dumps("x" * 10**6),
    "many templates": json.dumps(["{{a}}"] * 10_000),
    "an object": '{"a": {"b": [null, -0.0, NaN]}}',
    "controls": '"\\u001b]0;x\\u0007"',
}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_values_are_taken_as_they_are(name: str, tmp_path: Path) -> None:
    component = {"pass": True, "assertion": {"type": "contains", "value": "VALUE"}}
    text = changed(row__response__output="VALUE", row__vars={"a": "VALUE"}, row__testCase__metadata={"tags": "VALUE"})
    text = text.replace('"componentResults": [', f'"componentResults": [{json.dumps(component)}, ', 1)
    (tmp_path / "results.json").write_text(text.replace('"VALUE"', STRANGE[name]))
    run = read_promptfoo(tmp_path / "results.json")
    assert len(run.results) == 10


def test_the_cost_is_linear_in_the_number_of_rows(tmp_path: Path) -> None:
    assert is_linear(lambda rows: partial(read_promptfoo, write_rows(tmp_path, rows)), 40)


def write_rows(folder: Path, rows: int) -> Path:
    whole = json.loads(changed())
    row = json.dumps(whole["results"]["results"][0])
    whole["results"]["results"] = [
        json.loads(row) | {"testIdx": number, "vars": {"country": str(number)}} for number in range(rows)
    ]
    path = folder / f"{rows}.json"
    path.write_text(json.dumps(whole))
    return path


LARGE: dict[str, tuple[Callable[[Path], Any], dict[str, Any], str]] = {
    "promptfoo": (read_promptfoo, {"results": {"version": 3, "timestamp": "2026-01-01", "results": ...}}, "provider"),
    "Inspect": (read_inspect, {"eval": {"task": "t", "model": "m", "created": "2026-01-01"}, "samples": ...}, "id"),
    "scores of Inspect": (
        read_inspect,
        {
            "eval": {"task": "t", "model": "m", "created": "2026-01-01"},
            "samples": [{"id": 1, "epoch": 1, "input": "", "messages": ..., "scores": {"a": 1, "b": 1, "c": 1}}],
        },
        "scores.a",
    ),
    "pydantic-evals": (read_pydantic_evals, {"name": "n", "cases": ...}, "name"),
    "report": (
        read_report_file,
        {"version": 1, "run": {"id": "", "state": "finished"}, "suite": {"name": "s"}, "results": ...},
        "case",
    ),
}


@pytest.mark.parametrize("kind", LARGE)
def test_in_a_large_file_only_the_first_faulty_item_of_a_list_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    read, whole, key = LARGE[kind]
    path = tmp_path / "results.json"
    text = json.dumps(whole, default=lambda _: [{}] * 30)
    path.write_text(text)
    with pytest.raises(SuiteError) as raised:
        read(path)
    assert len(raised.value.problems) > 30, "a small file is checked completely"
    monkeypatch.setattr(result_file, "_MOST_CHECKED", 20)
    with pytest.raises(SuiteError) as raised:
        read(path)
    wheres = [problem.where for problem in raised.value.problems]
    assert 0 < len(wheres) < 10
    assert any(where.endswith(f".{key}") for where in wheres)
    monkeypatch.setattr(result_file, "MOST_VALUES", 25)
    with pytest.raises(SuiteError) as raised:
        read(path)
    assert [problem.what for problem in raised.value.problems] == [
        "contains more than 25 values; import it as several files"
    ]


def test_a_line_of_answers_with_too_many_values_is_not_parsed(tmp_path: Path) -> None:
    lines = ['{"case": [' + "0," * MOST_JSON_VALUES + "0]}", "\n \n", '{"case": 1}', '{"case": "\u2028']
    file = answer_file(tmp_path / "answers.jsonl")
    with pytest.raises(SuiteError) as raised:
        read_answers(file, "\n".join(lines).encode(), lines=True)
    first, *others = [(problem.line, problem.what) for problem in raised.value.problems]
    assert first == (1, f"contains more than {MOST_JSON_VALUES:,} values")
    assert [line for line, _ in others] == [5, 6]
