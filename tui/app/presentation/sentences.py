"""What a pane says where there is no text yet, or no more to come: one clear sentence, and what to do."""

from typing import Literal

from tui.model.sanitize import sanitize_text
from tui.model.state import TrialProgress

Coming = Literal["", "queued", "preparing", "paused"]


def waiting_note(trial: TrialProgress | None, coming: Coming = "") -> str:
    """What the pane of a trial without text says; empty where there is nothing to say."""
    if coming == "queued":
        return "Queued: it starts when the run before it is over."
    if coming == "preparing":
        return "The run is being prepared."
    if coming == "paused":
        return "The run is paused: this is asked when it goes on."
    if trial is None:
        return "Not asked yet. Press r to run this case, R to run the whole suite."
    if trial.waits is not None:
        reason = sanitize_text(trial.waits.reason).rstrip()
        stop = "" if reason.endswith((".", "!", "?")) else "."
        return f"{reason}{stop} Trying again in {trial.waits.waited_ms / 1000:.1f} s."
    if trial.status == "waiting":
        return "Waiting for its turn."
    if trial.status == "delayed":
        return f"Waits {(trial.delay_ms or 0) / 1000:g} s before the next case, as the suite asks."
    if trial.status != "running":
        return ""
    step = trial.attempt.steps[-1] if trial.attempt and trial.attempt.steps else None
    is_out = step is None or step.sent_at is not None
    return "Asked. No text has arrived yet." if is_out else "Waiting until its provider may be asked."


def closing_note(trial: TrialProgress | None) -> str:
    """Why a trial ended without a clean answer; empty where it did not."""
    if trial is None or trial.result is None or trial.result.error is None:
        return "Cancelled." if trial is not None and trial.status == "cancelled" else ""
    return sanitize_text(trial.result.error)
