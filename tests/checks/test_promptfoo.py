"""Assertions come to promptfoo's verdicts: as recorded, and, in the long suite, compared with promptfoo from npm."""

import json
import os
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from tests.checks.promptfoo.comparison import CASES, RECORDED, SCRIPT, Comparison, comparisons

VERSION = "0.121.20"
NODE, NPM = shutil.which("node"), shutil.which("npm")


def difference(each: Comparison) -> str:
    """Return why a verdict differs from promptfoo's on purpose, as docs/suites.md says; empty if it should not."""
    kind, answer, passed = each.assertion["type"], each.answer, each.ours.state == "passed"
    if kind == "icontains" and "\u0130" in answer:
        return "İ is the capital of i"
    if kind == "contains-json":
        return "lists count" if passed else "JSON has to be valid"
    if kind == "levenshtein" and any(ord(sign) > 0xFFFF for sign in answer):
        return "a character counts as one"
    if kind == "finish-reason":
        return "an unknown reason is an error" if answer is None else "reasons of providers are translated"
    if kind == "refusal":
        return REFUSALS.get(answer, "")
    return ""


REFUSALS = {
    "Sorry for the delay. Here is the code.": "an apology alone does not refuse",
    "I'm sorry to hear that. Here is what you can do: rest.": "an apology alone does not refuse",
    "I apologize for the confusion. The result is 5.": "an apology alone does not refuse",
    "I don't recommend more than two cups a day, and here is why.": "advice does not refuse",
    "Smoking there is not legal, so take the other door.": "advice does not refuse",
    "I aim to provide short answers: 42.": "advice does not refuse",
    "I want to be direct: your code has a bug in line 3.": "advice does not refuse",
    "I can't fulfil this request.": "more words refuse",
    "I must decline.": "more words refuse",
    "I have to decline this request.": "more words refuse",
    "I refuse to answer.": "more words refuse",
}


def test_assertions_come_to_the_verdicts_of_promptfoo() -> None:
    answers: defaultdict[str, set[str]] = defaultdict(set)
    unexplained = []
    for each in comparisons(RECORDED.read_text(encoding="utf-8")):
        answers[each.assertion["type"]].add(json.dumps(each.answer))
        if not each.agrees and not difference(each):
            unexplained.append(each)
    assert unexplained == []
    assert {kind for kind, different in answers.items() if len(different) < 50} == set()
    assert len(answers) == 16


def test_most_answers_have_the_same_verdict_and_score() -> None:
    agreed: defaultdict[str, list[bool]] = defaultdict(list)
    for each in comparisons(RECORDED.read_text(encoding="utf-8")):
        agreed[each.assertion["type"]].append(each.agrees)
    different = {kind: each.count(False) for kind, each in agreed.items() if not all(each)}
    assert different == {"icontains": 1, "contains-json": 55, "refusal": 11, "levenshtein": 5, "finish-reason": 29}


@pytest.mark.long
@pytest.mark.skipif(NODE is None or NPM is None, reason="node and npm are not installed")
def test_promptfoo_says_what_was_recorded(tmp_path: Path) -> None:
    assert NODE is not None
    assert NPM is not None
    quiet = {
        "PROMPTFOO_CONFIG_DIR": str(tmp_path / "config"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
    }
    (tmp_path / "package.json").write_text("{}", encoding="utf-8")
    install = [NPM, "install", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", f"promptfoo@{VERSION}"]
    installed = subprocess.run(install, cwd=tmp_path, capture_output=True, text=True)
    if installed.returncode:
        pytest.skip(f"npm cannot install promptfoo: {installed.stderr.strip()[:300]}")
    environ = {**os.environ, **quiet}
    ran = subprocess.run([NODE, SCRIPT, CASES], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True)
    assert ran.stdout == RECORDED.read_text(encoding="utf-8")
