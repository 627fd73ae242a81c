"""The answers that are scored: their text with marks or masked names, and a cache of those that were loaded."""

import threading
from collections import Counter, OrderedDict
from dataclasses import replace
from typing import NamedTuple

from tui.app.diff.answer_diff import ShownDiff
from tui.app.presentation.marks import mark_of
from tui.app.presentation.pieces import Line, Piece
from tui.app.presentation.text_rows import text_rows
from tui.app.presentation.transcript import recorded_transcript
from tui.app.text.page import Mark
from tui.model.diffs import FileDiff
from tui.model.name_mask import KINDS, MASK, MaskedText, NameMask
from tui.model.results import TrialKey, TrialResult, rerun_note
from tui.model.sanitize import sanitize_line
from tui.model.scores import ReviewItem, current_answer_hash, prompt_texts
from tui.model.suite import Case
from tui.session.run_review import RunReview

_MOST_MASKS, _CONTEXT = 20, 40
_CACHED_ANSWERS = 6
_MASKING = (
    f"{MASK} replaces the name of a model, a provider or a vendor. Answers with masked names are marked, and reports "
    "show figures with and without them. `review: {mask: […]}` in the config file adds names."
)


class Part(NamedTuple):
    """A text and its heading."""

    title: str
    text: str


class AnswerContent(NamedTuple):
    """The text of an answer, and the parts above it: its prompt and the expected behavior.

    `marks` count code points of `text`. `masked` holds each part in which names are masked, by its title.
    """

    before: tuple[Part, ...]
    text: str
    marks: tuple[Mark, ...] = ()
    masked: tuple[tuple[str, MaskedText], ...] = ()

    @property
    def masks(self) -> int:
        """Return how many names are masked in all parts."""
        return sum(len(part.names) for _, part in self.masked)


def answer_content(case: Case, result: TrialResult, names: NameMask | None = None) -> AnswerContent:
    """Return prompt, expected behavior and answer of a case.

    With `names` everything that could reveal the model is masked or left out: matches of checks are not marked. The
    prompt has no system message: that of a variant could reveal it.
    """
    attempt = result.current_attempt
    one = len(case.steps) == 1
    prompts = prompt_texts(case, attempt.steps if attempt is not None else ())
    prompt = prompts[0] if one else f"{len(case.steps)} steps; each is shown above its answer."
    before = [Part("Prompt", prompt)]
    if case.expected_behavior.strip():
        before.append(Part("Expected behavior", case.expected_behavior))
    text, marks = recorded_transcript(case, attempt) if attempt is not None else ("", [])
    if names is None:
        return AnswerContent(tuple(before), text, tuple(marks))
    *parts, answer = [(part.title, names.mask(part.text)) for part in (*before, Part("Answer", text))]
    hidden = tuple((title, part) for title, part in (*parts, answer) if part.names)
    return AnswerContent(tuple(Part(title, part.text) for title, part in parts), answer[1].text, (), hidden)


def masked_changes(result: TrialResult, names: NameMask) -> TrialResult:
    """Return the result with names masked in its changes, and in the reasons why changes were not applied."""
    changes = [
        replace(change, path=names.mask(change.path).text, diff=names.mask(change.diff).text)
        for change in result.changes
    ]
    refused = [
        replace(each, path=each.path and names.mask(each.path).text, reason=names.mask(each.reason).text)
        for each in result.not_applied
    ]
    return replace(result, changes=tuple(changes), not_applied=tuple(refused))


def masked_words(count: int) -> str:
    """Return `2 names masked`; empty for none."""
    return f"{count} name{'' if count == 1 else 's'} masked" if count else ""


def mask_lines(answer: AnswerContent, width: int) -> list[Line]:
    """Return where names are masked and of which kind they are, without the names."""
    if not answer.masked:
        return [(("No masked names in this answer or its prompt.", "dim"),)]
    lines: list[Line] = []
    for title, part in answer.masked:
        kinds = Counter(KINDS[name.kind] for name in part.names)
        lines += [((f"{title}  ", "strong"), (masked_words(len(part.names)), "plain"))]
        lines += text_rows(", ".join(f"{count} × {kind}" for kind, count in kinds.items()), width, "dim")
        for name in part.names[:_MOST_MASKS]:
            context = part.text[max(0, name.start - _CONTEXT) : name.end + _CONTEXT]
            lines += text_rows(f"… {sanitize_line(context)} …", width)
        lines.append(())
    return [*lines, *text_rows(_MASKING, width, "dim")]


def checks_line(result: TrialResult | None) -> Line:
    """Return how many checks passed. The line is separate from scores: those are judgements of people."""
    attempt = result.current_attempt if result is not None else None
    if result is None or attempt is None:
        return ()
    states = [check.state for step in attempt.steps for check in step.checks]
    passed = states.count("passed")
    mark: Piece = mark_of("flaky" if result.flaky and attempt.verdict == "passed" else attempt.verdict)
    count = f" {passed} of {len(states)} passed" if states else " none"
    note = rerun_note(result)
    error = f" · {sanitize_line(result.error, 120)}" if result.error else ""
    return (("Checks  ", "dim"), mark, (count, "plain"), (f" · {note}" if note else "", "strong"), (error, "dim"))


class LoadedAnswer(NamedTuple):
    """An answer that is ready to be shown, with its changes; `hash` identifies it."""

    trial: TrialKey
    hash: str
    content: AnswerContent
    result: TrialResult
    changes: ShownDiff
    files: tuple[FileDiff, ...]


class AnswerCache:
    """Load the answers of a review, and keep the last few: an answer is shown once for each criterion."""

    def __init__(self, review: RunReview) -> None:
        self._review = review
        self._cached: OrderedDict[tuple[TrialKey, bool], LoadedAnswer] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, item: ReviewItem) -> LoadedAnswer | None:
        """Return the answer of an item if it is cached."""
        return self._cached.get((item.key.trial, self._review.blind))

    def load(self, item: ReviewItem) -> LoadedAnswer:
        """Read the answer of an item from the store; call it in a thread. Raises StoreError.

        Two threads that load the same answer get the same version: the one that the review has read last.
        """
        with self._lock:
            return self.find(item) or self._read(item)

    def _read(self, item: ReviewItem) -> LoadedAnswer:
        hidden, trial = self._review.blind, item.key.trial
        result = self._review.read_answer(trial)
        answer = current_answer_hash(result)
        names = self._review.names if hidden else None
        content = answer_content(item.case, result, names)
        result = masked_changes(result, names) if names is not None else result
        changes = ShownDiff(item.case, trial, content.text, result.changes, result.not_applied)
        loaded = LoadedAnswer(trial, answer, content, result, changes, changes.read_files())
        self._cached[trial, hidden] = loaded
        while len(self._cached) > _CACHED_ANSWERS:
            self._cached.popitem(last=False)
        return loaded

    def clear(self) -> None:
        """Forget all answers."""
        self._cached.clear()
