"""Known keys are removed from imported results, also where escapes of JSON, numbers or the end of a text hide them."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.kept_runs import large_run
from tui.imports.answers import answer_file, read_answers
from tui.imports.inspect_log import read_inspect
from tui.imports.promptfoo import read_promptfoo
from tui.imports.pydantic_evals import read_pydantic_evals
from tui.imports.result_file import ResultFile
from tui.model.secrets import Secrets
from tui.session.result_import import ImportOptions, read_results
from tui.session.run_files import read_run_file, run_lines

FILES = Path(__file__).parent / "files"
KEY = "sk-very-secret-1"
SECRETS = Secrets([KEY])
ROW = {"provider": "p", "prompt": "q", "success": True, "response": {"output": KEY}}
SAMPLE = {"id": 1, "epoch": 1, "input": "q", "output": {"completion": KEY}}
EVAL = {"task": "t", "model": "m", "created": "2026-01-01T00:00:00+00:00"}
RUN = [line.replace("The parameter is", KEY) for line in run_lines(large_run(1))]


def read_lines(path: Path, _name: str | None, secrets: Secrets) -> Any:
    return read_answers(answer_file(path, secrets), path.read_bytes(), lines=True)


def read_run(path: Path, _name: str | None, secrets: Secrets) -> Any:
    return read_run_file(path, secrets)


FORMATS: dict[str, tuple[Callable[[Path, str | None, Secrets], Any], str]] = {
    "promptfoo": (
        read_promptfoo,
        json.dumps({"results": {"version": 3, "timestamp": "2026-01-01T00:00:00Z", "results": [ROW]}}),
    ),
    "Inspect": (read_inspect, json.dumps({"eval": EVAL, "samples": [SAMPLE]})),
    "pydantic-evals": (
        read_pydantic_evals,
        json.dumps({"name": "n", "cases": [{"name": "c", "inputs": "i", "output": KEY}]}),
    ),
    "answers": (read_lines, json.dumps({"case": "c", "model": "m", "answer": KEY})),
    "exported run": (read_run, "\n".join(RUN).replace(large_run(1).plan.run_id, "0" * 32)),
}


@pytest.mark.parametrize("escaped", ["s\\u006b-very-secret-\\u0031", "sk\\u002Dvery\\u002dsecret-1", KEY])
@pytest.mark.parametrize("name", FORMATS)
def test_a_key_with_escaped_letters_is_removed(name: str, escaped: str, tmp_path: Path) -> None:
    read, text = FORMATS[name]
    assert KEY in text
    path = tmp_path / "results.json"
    path.write_text(text.replace(KEY, escaped))
    found = repr(read(path, None, SECRETS))
    assert "[removed key]" in found
    assert KEY not in found


@pytest.mark.parametrize("name", FORMATS)
def test_the_beginning_of_a_key_at_the_end_of_a_text_is_removed(name: str, tmp_path: Path) -> None:
    read, text = FORMATS[name]
    path = tmp_path / "results.json"
    path.write_text(re.sub(rf'{KEY}[^"\\]*', KEY[:-3], text))
    found = repr(read(path, None, SECRETS))
    assert "[removed key]" in found
    assert KEY[:8] not in found


@pytest.mark.parametrize(
    "text",
    [
        r'{"a\u0041\\": "\u00422\u0022\\u0073k-very", "b": "\ud83d x", "c\"": 1}',
        '{"b": "no end, one \\" after the other',
        '"ends with a sign of an escape \\',
        "sk-very-secret-1",
    ],
)
def test_a_text_without_keys_stays_as_it_is_written(text: str) -> None:
    assert ResultFile(Path("x"), "", SECRETS).json_text(text.encode()) == text


def test_many_quotation_marks_without_an_end_are_read_once() -> None:
    text = '"' + '\\"' * 200_000 + "\\"
    assert ResultFile(Path("x"), "", SECRETS).json_text(text.encode()) == text


@pytest.mark.parametrize(
    "text",
    [
        "case,model,answer,duration_ms\n123456,m,Paris 123456,1234567.5\n",
        '{"case": 123456, "model": "m", "answer": "Paris 123456", "duration_ms": 1234567.5}\n',
    ],
    ids=["csv", "lines"],
)
def test_a_key_of_digits_is_removed_from_texts_and_not_from_measures(text: str, tmp_path: Path) -> None:
    path = tmp_path / "answers"
    path.write_text(text)
    environ = {f"ASSAY_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "CACHE")}
    found = read_results(path, ImportOptions(), {**environ, "LM_API_TOKEN": "123456"})
    [step] = found.results[0].attempts[0].steps
    assert (found.results[0].trial.case, step.response) == ("[removed key]", "Paris [removed key]")
    assert step.timing.duration_ms == 1_234_567.5


def test_a_key_of_digits_is_removed_from_the_numbers_of_an_agents_memory(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in RUN]
    for line in lines[1:]:
        line["result"]["attempts"][0]["steps"][0]["memory"] = {"pin": 1234567}
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)).replace(large_run(1).plan.run_id, "0" * 32))
    environ = {f"ASSAY_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "CACHE")}
    found = read_results(path, ImportOptions(), {**environ, "LM_API_TOKEN": "123456"})
    assert {str(result.attempts[0].steps[0].memory) for result in found.results} == {"{'pin': '[removed key]7'}"}


def test_a_key_of_digits_is_removed_from_the_ids_of_inspect(tmp_path: Path) -> None:
    samples = [SAMPLE | {"id": 12345}, SAMPLE | {"id": 123456}]
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"eval": EVAL | {"dataset": {"sample_ids": [123456, 12345]}}, "samples": samples}))
    kept, found = read_inspect(path), read_inspect(path, None, Secrets(["123456"]))
    assert [case.id for case in kept.plan.suite.cases] == ["123456", "12345"]
    assert [case.id for case in found.plan.suite.cases] == ["[removed key]", "12345"]
    assert [result.trial.case for result in found.results] == ["[removed key]", "12345"]
    assert kept.plan.run_id == found.plan.run_id
