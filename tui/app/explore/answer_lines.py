"""The text of an answer pane: the answers of all steps of an attempt, its marks, and the notes below."""

from collections.abc import Mapping

from tui.app.run_requests import WaitReason
from tui.model.progress import TrialProgress
from tui.model.sanitize import sanitize_line, sanitize_text

_REASONS: Mapping[WaitReason, str] = {
    "queued": "Queued: starts when the current run finishes.",
    "preparing": "Preparing run.",
    "starting": "Starting the local model…",
    "changed": "This case, its files or its model changed after it was run: the earlier answers are in the saved"
    " runs ({runs}). Press {run_case} to run it.",
    "paused": "Run paused: this case starts when it continues.",
}


def waiting_note(trial: TrialProgress | None, reason: WaitReason = "") -> str:
    """Return the note of a pane without text, empty if there is nothing to say; actions in braces mean their keys."""
    if reason:
        return _REASONS[reason]
    if trial is None:
        return "Not run yet. Press {run_case} to run this case, {run_suite} to run the suite, {app.tour} for a tour."
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
    if step is not None and step.turns:
        names = ", ".join(dict.fromkeys(call.name for call in step.tool_calls if call.kind == "tool"))
        return f"Called {sanitize_line(names, 200)}. No text received since."
    if step is None or step.sent_at is not None:
        return "Request sent. No text received yet."
    if trial.key.model.startswith("local/"):
        return "Waiting for the local model to finish another answer."
    return "Waiting until the provider accepts another request."


def closing_note(trial: TrialProgress | None) -> str:
    """Return why a trial ended without a judged answer; empty if it has one."""
    if trial is None or trial.result is None or trial.result.error is None:
        return "Cancelled." if trial is not None and trial.status == "cancelled" else ""
    return sanitize_text(trial.result.error)
