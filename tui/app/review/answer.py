"""An answer as it is read for scoring: the parts of it, the marks in it, what it changed."""

from typing import NamedTuple

from tui.app.presentation.marks import mark_of
from tui.app.presentation.pieces import Line, Piece
from tui.app.presentation.transcript import heading
from tui.app.text.marks import Mark, MarkKind
from tui.model.shown import show_line
from tui.model.suite import Case
from tui.model.trials import Attempt, TrialResult


class Part(NamedTuple):
    """A text under a heading."""

    title: str
    text: str


class ReadAnswer(NamedTuple):
    """`before` stands above the answer, each part under its heading; marks are in code points of `text`."""

    before: tuple[Part, ...]
    text: str
    marks: tuple[Mark, ...] = ()


def read_answer(case: Case, result: TrialResult, *, hidden: bool) -> ReadAnswer:
    """Prompt, expected behaviour, answer. Matches tell how the checks went, so hidden ones are not marked; what was
    really sent may tell a variant, so the prompt is the suite's own."""
    attempt = result.attempts[-1] if result.attempts else None
    one = len(case.steps) == 1
    asked = case.steps[0].input if one else f"{len(case.steps)} steps; each stands above its answer."
    before = [Part("Prompt", asked)]
    if case.expected_behavior.strip():
        before.append(Part("Expected behaviour", case.expected_behavior))
    if attempt is None:
        return ReadAnswer(tuple(before), "")
    text, marks = _text(case, attempt)
    return ReadAnswer(tuple(before), text, () if hidden else tuple(marks))


def _text(case: Case, attempt: Attempt) -> tuple[str, list[Mark]]:
    text, marks = "", list[Mark]()
    for number, step in enumerate(attempt.steps):
        text += heading(number, len(case.steps), step.input)
        at = len(text)
        text += step.response
        if step.tools_used:
            text += f"\n\ntools used: {', '.join(step.tools_used)}\n"
        for check in step.checks:
            kind: MarkKind = "forbidden" if check.kind == "forbidden_pattern" else "expected"
            marks += [Mark(start + at, end + at, kind) for start, end in check.spans]
    return text, marks


def checks_line(result: TrialResult | None) -> Line:
    """How the checks went, in one line of its own: a person's score is something else."""
    if result is None or not result.attempts:
        return ()
    states = [check.state for step in result.attempts[-1].steps for check in step.checks]
    passed = states.count("passed")
    mark: Piece = mark_of("flaky" if result.flaky and result.verdict == "passed" else result.verdict)
    said = f" {passed} of {len(states)} passed" if states else " none"
    error = f" · {show_line(result.error, 120)}" if result.error else ""
    return (("Checks  ", "dim"), mark, (said, "plain"), (error, "dim"))
