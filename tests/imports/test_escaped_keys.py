"""Known keys are removed from imported results, also where the letters of one are escapes of JSON."""

import json
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


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (r'"\u0041\u00422\u0022\u005c\u005C\u007f\u00e9\u000a"', r'"AB2\u0022\u005c\u005C\u007f\u00e9\u000a"'),
        (r'"\\u0041 \\\u0041 \\\\u0041 \n\u0041\\"', r'"\\u0041 \\A \\\\u0041 \nA\\"'),
    ],
)
def test_only_escapes_of_letters_and_signs_are_replaced(text: str, same: str) -> None:
    found = ResultFile(Path("x"), "").json_text(text.encode())
    assert found == same
    assert json.loads(found) == json.loads(text)
