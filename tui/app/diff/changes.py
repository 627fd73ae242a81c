"""Whether an answer has changes, and how many. The diff itself is imported when it is displayed."""

from collections.abc import Iterable

from tui.model.progress import TrialProgress
from tui.model.sanitize import sanitize_line
from tui.model.suite import Case


def has_changes(case: Case | None, trials: Iterable[TrialProgress | None]) -> bool:
    """Return whether the case, or an answer to it, can change files."""
    if case is None:
        return False
    results = (trial.result for trial in trials if trial is not None)
    return case.apply_changes or any(result and (result.changes or result.not_applied) for result in results)


def count_changes(trial: TrialProgress | None) -> int:
    """Return the number of files that an answer changed."""
    return len(trial.result.changes) if trial is not None and trial.result is not None else 0


def has_other_changes(trial: TrialProgress | None) -> bool:
    """Return whether the attempt that is shown is not the one of the current answer, whose changes are stored."""
    current = trial.result.current_attempt if trial is not None and trial.result is not None else None
    shown = trial.attempt if trial is not None else None
    return shown is not None and current is not None and shown.number != current.number


def missing_changes(case: Case, trial: TrialProgress | None, model: str) -> str:
    """Return why there is no diff to display, with actions in braces for their keys."""
    name = sanitize_line(model, 100)
    if trial is not None and trial.is_open:
        return f"{name} is still running. Its changes appear here when the answer is complete."
    if trial is None or trial.result is None:
        return f"{name} has not run yet. Press {{run_case}} to run this case."
    current = trial.result.current_attempt
    if trial.attempt is not None and current is not None and has_other_changes(trial):
        other = f"attempt {current.number}"
        return f"The changes of attempt {trial.attempt.number} of {name} are not stored, only those of {other}."
    if not case.apply_changes:
        return f"The answer of {name} changed nothing: the case does not use applyChanges."
    return f"The answer of {name} has no code block, so it changed nothing."
