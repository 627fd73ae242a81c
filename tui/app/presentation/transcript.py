"""An attempt as one text: the answers of its steps in order, each under its input where there are several."""

from collections.abc import Sequence
from typing import NamedTuple

from tui.model.state import AttemptProgress
from tui.model.suite import Case
from tui.model.trials import Span


class Found(NamedTuple):
    """What checks found, in code points of the transcript."""

    expected: tuple[Span, ...] = ()
    forbidden: tuple[Span, ...] = ()


def heading(step: int, steps: int, text: str) -> str:
    """What stands above the answer of a step; nothing where there is only one."""
    if steps < 2:
        return ""
    one_line = " ".join(text.split())
    return f"{chr(10) * 2 if step else ''}▸ {step + 1}/{steps}  {one_line[:400]}\n\n"


def transcript(case: Case, attempt: AttemptProgress | None) -> str:
    """The whole text so far."""
    if attempt is None:
        return ""
    return "".join(
        heading(number, len(case.steps), case.steps[number].input if number < len(case.steps) else "") + step.text
        for number, step in enumerate(attempt.steps)
    )


def starts(case: Case, attempt: AttemptProgress) -> list[int]:
    """Where the answer of each step begins in the transcript."""
    places, at = [], 0
    for number, step in enumerate(attempt.steps):
        at += len(heading(number, len(case.steps), case.steps[number].input if number < len(case.steps) else ""))
        places.append(at)
        at += step.size
    return places


def found_in(case: Case, attempt: AttemptProgress | None) -> Found:
    """Where the checks of all steps found something."""
    if attempt is None:
        return Found()
    expected: list[Span] = []
    forbidden: list[Span] = []
    for number, (step, start) in enumerate(zip(attempt.steps, starts(case, attempt), strict=True)):
        checks = case.steps[number].checks if number < len(case.steps) else ()
        for index, live in step.checks.items():
            wanted = index >= len(checks) or checks[index].kind != "forbidden_pattern"
            (expected if wanted else forbidden).extend(_moved(live.spans, start))
    return Found(tuple(sorted(expected)), tuple(sorted(forbidden)))


def _moved(spans: Sequence[Span], by: int) -> list[Span]:
    return [(start + by, end + by) for start, end in spans] if by else list(spans)
