"""The text of an answer pane: the answers of all steps of an attempt, its marks, and the notes below."""

from collections.abc import Iterator

from tui.app.run_requests import WaitReason
from tui.app.text.page import Mark, MarkKind
from tui.model.sanitize import sanitize_text
from tui.model.state import AttemptProgress, TrialProgress
from tui.model.suite import Case


def heading(step: int, steps: int, text: str) -> str:
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
        heading(number, len(case.steps), case.steps[number].input if number < len(case.steps) else "") + step.text
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
        head = heading(number, len(case.steps), case.steps[number].input if number < len(case.steps) else "")
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
            forbidden = index < len(checks) and checks[index].kind == "forbidden_pattern"
            kind: MarkKind = "forbidden" if forbidden else "expected"
            marks += [Mark(start + at, end + at, kind) for start, end in live.spans]
    return marks


def waiting_note(trial: TrialProgress | None, reason: WaitReason = "") -> str:
    """Return what a pane without text displays; empty where that is nothing."""
    if reason == "queued":
        return "Queued: starts when the current run finishes."
    if reason == "preparing":
        return "Preparing run."
    if reason == "paused":
        return "Run paused: this case starts when it continues."
    if trial is None:
        return "Not run yet. Press r to run this case, R to run the suite."
    if trial.waits is not None:
        why = sanitize_text(trial.waits.reason).rstrip()
        stop = "" if why.endswith((".", "!", "?")) else "."
        return f"{why}{stop} Retrying in {trial.waits.waited_ms / 1000:.1f} s."
    if trial.status == "waiting":
        return "Waiting for a free slot."
    if trial.status == "delayed":
        return f"Waiting {(trial.delay_ms or 0) / 1000:g} s before the next case (delayBetweenTestsMs)."
    if trial.status != "running":
        return ""
    step = trial.attempt.steps[-1] if trial.attempt and trial.attempt.steps else None
    is_out = step is None or step.sent_at is not None
    return "Request sent. No text received yet." if is_out else "Waiting for the rate limit of the provider."


def closing_note(trial: TrialProgress | None) -> str:
    """Return why a trial ended without a judged answer; empty where it did not."""
    if trial is None or trial.result is None or trial.result.error is None:
        return "Cancelled." if trial is not None and trial.status == "cancelled" else ""
    return sanitize_text(trial.result.error)
