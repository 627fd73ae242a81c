"""Answers as they are read from the store, the last few kept: an answer has several criteria."""

from collections import OrderedDict
from typing import NamedTuple

from tui.app.diff.answer_diff import ShownDiff
from tui.app.review.answer import ReadAnswer, masked_changes, read_answer
from tui.model.diffs import FileDiff
from tui.model.results import TrialKey, TrialResult
from tui.risk.queue import ReviewItem
from tui.session.run_review import RunReview

_MOST = 6


class OpenedAnswer(NamedTuple):
    """An answer, ready to be shown."""

    trial: TrialKey
    read: ReadAnswer
    result: TrialResult
    changes: ShownDiff
    files: tuple[FileDiff, ...]


class OpenAnswers:
    """Answers of one review."""

    def __init__(self, review: RunReview) -> None:
        self._review = review
        self._kept: OrderedDict[tuple[TrialKey, bool], OpenedAnswer] = OrderedDict()

    def kept(self, item: ReviewItem) -> OpenedAnswer | None:
        """An answer that was read before."""
        return self._kept.get((item.key.trial, self._review.blind))

    def open(self, item: ReviewItem) -> OpenedAnswer:
        """Read it; it blocks: for a thread. Raises StoreError."""
        hidden, trial = self._review.blind, item.key.trial
        result = self._review.read_answer(trial)
        names = self._review.names if hidden else None
        read = read_answer(item.case, result, names)
        result = masked_changes(result, names) if names is not None else result
        changes = ShownDiff(item.case, trial, read.text, result.changes, result.not_applied)
        opened = OpenedAnswer(trial, read, result, changes, changes.read_files())
        self._kept[trial, hidden] = opened
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return opened
