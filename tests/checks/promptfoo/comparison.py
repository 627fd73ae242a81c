"""Compare the assertions of a case with promptfoo's, answer by answer.

`cases.json` has the answers and assertions, `recorded.json` what promptfoo says of them (see `record.mjs`).
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, cast

from tui.checks.assertions import Answer
from tui.checks.case_assertions import decide_case_assertion
from tui.model.assertions import assertion_check
from tui.model.results import CheckResult

CASES, RECORDED, SCRIPT = (Path(__file__).with_name(name) for name in ("cases.json", "recorded.json", "record.mjs"))
_STATES = {"p": "passed", "f": "failed", "e": "timed_out"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """An answer, and what promptfoo and this project say of it."""

    assertion: Mapping[str, Any]
    answer: Any
    theirs: str
    ours: CheckResult
    score: float | None

    @property
    def agrees(self) -> bool:
        """Return whether both come to the same verdict, and to the same score where promptfoo gives one."""
        return self.ours.state == _STATES[self.theirs] and self._has_same_score

    @property
    def _has_same_score(self) -> bool:
        shown = re.search(r"got (at least )?([\d,.]+)$", self.ours.detail)
        if self.score is None or shown is None:
            return self.score is None
        number = float(shown[2].replace(",", ""))
        return number <= self.score if shown[1] else abs(number - self.score) < 0.0051


def comparisons(recorded: str) -> Iterator[Comparison]:
    """Yield each answer with each assertion; `recorded` is the output of the script."""
    groups = json.loads(CASES.read_text(encoding="utf-8"))
    asked = chain.from_iterable(((group, assertion) for assertion in group["assertions"]) for group in groups)
    for (group, assertion), row in zip(asked, json.loads(recorded), strict=True):
        check = assertion_check(assertion)
        scores = row.get("scores", [None] * len(row["states"]))
        for answer, theirs, score in zip(group["answers"], row["states"], scores, strict=True):
            ours = decide_case_assertion(check, _answer_of(answer, group.get("figure")))
            yield Comparison(assertion, answer, theirs, ours, score)


def _answer_of(answer: Any, figure: str | None) -> Answer:
    return Answer(cast("str", answer)) if figure is None else Answer("text", **{figure: answer})
