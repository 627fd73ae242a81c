"""After the answer: what it changes in the repository, and what the case's command says of that."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tui.model.errors import WorkspaceError
from tui.model.results import Change, NotApplied, StepResult, TrialKey
from tui.model.suite import Case
from tui.runner.control import Control, go_on_after_cancel
from tui.runner.trial_context import Tools


@dataclass(frozen=True, slots=True)
class Changed:
    """What came of the answers. `steps` is None where the steps stand as they were; a command adds its check. `error`
    is why the repository could not be worked on."""

    changes: tuple[Change, ...] = ()
    not_applied: tuple[NotApplied, ...] = ()
    steps: tuple[StepResult, ...] | None = None
    error: str | None = None
    cancelled: bool = False


NO_CHANGE = Changed()


async def apply_answers(
    case: Case, trial: TrialKey, steps: Sequence[StepResult], tools: Tools, control: Control
) -> Changed:
    """Apply the last answer and run the case's command over it. What is or is not applied never changes the
    verdict."""
    if tools.repository is None or not (case.apply_changes or case.command):
        return NO_CHANGE
    changed = NO_CHANGE
    try:
        applied = await tools.repository.apply(case, steps[-1].response, trial)
        # A line of the repository that stands in a diff may hold a key as well.
        changes = tuple(replace(change, diff=tools.secrets.hide(change.diff)) for change in applied.changes)
        changed = Changed(changes, applied.not_applied)
        if case.command is None:
            return changed
        check = await tools.repository.run_command(applied, case.command)
    except WorkspaceError as error:
        return replace(changed, error=str(error))
    except asyncio.CancelledError:
        if not control.stops(trial):
            raise
        go_on_after_cancel()
        return replace(changed, cancelled=True)
    last = replace(steps[-1], checks=(*steps[-1].checks, check))
    return replace(changed, steps=(*steps[:-1], last))
