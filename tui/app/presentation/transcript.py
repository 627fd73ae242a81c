"""The transcript of an attempt: the answers of its steps, each below its heading, and the matches of checks in it."""

from collections.abc import Iterator

from tui.app.text.page import Mark, MarkKind
from tui.model.call_tree import call_lines
from tui.model.progress import AttemptProgress
from tui.model.results import Attempt
from tui.model.suite import FORBIDDING, Case


def step_heading(step: int, steps: int, text: str) -> str:
    """Return the heading above the answer of a step, empty where the case has one step."""
    if steps < 2:
        return ""
    one_line = " ".join(text.split())
    return f"{chr(10) * 2 if step else ''}▸ {step + 1}/{steps}  {one_line[:400]}\n\n"


def transcript(case: Case, attempt: AttemptProgress | None) -> str:
    """Return the answers of all steps so far."""
    if attempt is None:
        return ""
    return "".join(
        step_heading(number, len(case.steps), case.steps[number].input if number < len(case.steps) else "") + step.text
        for number, step in enumerate(attempt.steps)
    )


def starts(case: Case, attempt: AttemptProgress) -> list[int]:
    """Return where the answer of each step starts in the transcript."""
    return [at + len(head) for at, head in _heads(case, attempt)]


def steps_at(case: Case, attempt: AttemptProgress) -> list[int]:
    """Return where each step starts in the transcript, with its heading."""
    return [at + len(head) - len(head.lstrip("\n")) for at, head in _heads(case, attempt)]


def _heads(case: Case, attempt: AttemptProgress) -> Iterator[tuple[int, str]]:
    at = 0
    for number, step in enumerate(attempt.steps):
        head = step_heading(number, len(case.steps), case.steps[number].input if number < len(case.steps) else "")
        yield at, head
        at += len(head) + step.size


def reasoning(attempt: AttemptProgress | None) -> str:
    """Return the reasoning of all steps."""
    if attempt is None:
        return ""
    return "".join(step.result.reasoning if step.result else "".join(step.reasoning) for step in attempt.steps)


def marks_in(case: Case, attempt: AttemptProgress | None) -> list[Mark]:
    """Return the matches of the checks of all steps, in code points of the transcript."""
    if attempt is None:
        return []
    marks: list[Mark] = []
    for number, (step, at) in enumerate(zip(attempt.steps, starts(case, attempt), strict=True)):
        checks = case.steps[number].checks if number < len(case.steps) else ()
        for index, live in step.checks.items():
            forbidden = index < len(checks) and checks[index].kind in FORBIDDING
            kind: MarkKind = "forbidden" if forbidden else "expected"
            marks += [Mark(start + at, end + at, kind) for start, end in live.spans]
    return marks


def recorded_transcript(case: Case, attempt: Attempt) -> tuple[str, list[Mark]]:
    """Return the answers of all steps of a finished attempt with their tools, and the matches of their checks."""
    text, marks = "", list[Mark]()
    for number, step in enumerate(attempt.steps):
        text += step_heading(number, len(case.steps), step.input)
        at = len(text)
        text += step.response
        used = [f"tools used: {', '.join(step.tools_used)}"] if step.tools_used else []
        if lines := [*used, *(f"  {line}" for line in call_lines(step.tool_calls))]:
            text += "\n\n" + "".join(f"{line}\n" for line in lines)
        for check in step.checks:
            kind: MarkKind = "forbidden" if check.kind in FORBIDDING else "expected"
            marks += [Mark(start + at, end + at, kind) for start, end in check.spans]
    return text, marks
