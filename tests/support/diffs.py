"""Results with real diffs: an answer applied to a real repository."""

from pathlib import Path

from tests.support.repositories import Files, git, make_repository
from tests.support.scripted_session import result_of, step_of
from tui.app.diff.answer_diff import ShownDiff, kept_diff
from tui.model.progress import TrialProgress
from tui.model.results import TrialKey, TrialResult
from tui.model.suite import Case, Step
from tui.workspace.answer.apply import apply_answer
from tui.workspace.git.base import open_base

MODEL = "local/smollm2"


def case_for(target: str | None = None, id: str = "case") -> Case:
    """A case that applies changes."""
    return Case(id, "Mend it", "Bug Fixing", (Step("Mend it."),), apply_changes=True, target_file=target)


def applied(folder: Path, files: Files, answer: str, case: Case) -> TrialResult:
    """What comes of the answer in a repository with these files, which stands in `work` and, bare, in `bare.git`."""
    from dataclasses import replace

    make_repository(folder / "work", files)
    git(folder, "clone", "-q", "--bare", "work", "bare.git")
    key = TrialKey(case.id, MODEL)
    made = apply_answer(open_base(folder / "bare.git"), case, answer, key)
    return replace(result_of(key, "passed", step_of(answer)), changes=made.changes, not_applied=made.not_applied)


def shown_for(folder: Path, files: Files, answer: str, case: Case) -> ShownDiff:
    """The same as the tab takes it."""
    result = applied(folder, files, answer, case)
    shown = kept_diff(case, TrialProgress(result.trial, "passed", result=result))
    assert shown is not None
    return shown


def block(text: str, info: str = "python") -> str:
    """A fenced block of an answer."""
    fence = "`````"
    return f"{fence}{info}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}\n"
