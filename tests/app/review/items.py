"""Reviews and review sessions to test with, over a real store and real files."""

from dataclasses import replace
from pathlib import Path

from tests.app.review.reviewed_runs import ME, keep_run
from tests.support.kept_runs import RUN_ID
from tui.app.review.queue import ReviewSession
from tui.model.results import TrialKey
from tui.model.subjects import Config
from tui.session.reviews import Reviews
from tui.session.run_review import RunReview
from tui.store.sqlite import SqliteStore


def open_review(folder: Path, reviewer: str = ME, *, blind: bool = False, repeats: int | None = None) -> RunReview:
    """The run of `tests.app.review.reviewed_runs`, opened; it is made where it is not there."""
    if not (folder / "data" / "runs.sqlite").exists():
        keep_run(folder).close()
    store = SqliteStore(folder / "data" / "runs.sqlite")
    return Reviews(store, folder / "data", Config()).open_review(RUN_ID, reviewer, blind=blind, repeats=repeats)


def session_of(folder: Path, *, blind: bool = False, repeats: int | None = None) -> ReviewSession:
    """Return a session at its first open item."""
    return ReviewSession(open_review(folder, blind=blind, repeats=repeats))


def replace_answer(folder: Path, trial: TrialKey) -> None:
    """Save another answer of a trial, as another process would."""
    store = SqliteStore(folder / "data" / "runs.sqlite")
    result = store.read_trial(RUN_ID, trial)
    assert result is not None
    attempt = result.attempts[-1]
    again = replace(attempt, number=2, asking=1, steps=(replace(attempt.steps[0], response="Another answer."),))
    store.save_trials(RUN_ID, [replace(result, attempts=(*result.attempts, again))])
    store.close()
