"""Answers as they are read from the store, the last few kept: an answer has several criteria."""

from collections import Counter, OrderedDict
from dataclasses import replace
from typing import NamedTuple

from tui.app.diff.answer_diff import ShownDiff
from tui.app.presentation.marks import mark_of
from tui.app.presentation.pieces import Line, Piece
from tui.app.presentation.text_rows import text_rows
from tui.app.presentation.transcript import heading
from tui.app.text.page import Mark, MarkKind
from tui.model.diffs import FileDiff
from tui.model.name_mask import KINDS, MASK, MaskedText, NameMask
from tui.model.results import Attempt, TrialKey, TrialResult, rerun_note
from tui.model.sanitize import sanitize_line
from tui.model.suite import Case
from tui.risk.queue import ReviewItem
from tui.session.run_review import RunReview

_MOST_MASKS, _AROUND = 20, 40
_MASKING = (
    f"{MASK} stands for the name of a model, a provider or a vendor. Answers with masked names are flagged, and "
    "reports give the figures with and without them. `review: {mask: […]}` in the config adds names."
)


class Part(NamedTuple):
    """A text under a heading."""

    title: str
    text: str


class ReadAnswer(NamedTuple):
    """`before` stands above the answer, each part under its heading; marks are in code points of `text`. `masked` are
    the parts in which names are masked, with where and of what kind they are."""

    before: tuple[Part, ...]
    text: str
    marks: tuple[Mark, ...] = ()
    masked: tuple[tuple[str, MaskedText], ...] = ()

    @property
    def masks(self) -> int:
        """How many names are masked in all."""
        return sum(len(part.names) for _, part in self.masked)


def read_answer(case: Case, result: TrialResult, names: NameMask | None = None) -> ReadAnswer:
    """Return prompt, expected behaviour and answer. With `names` what could show whose answer it is is left out or
    masked: matches of checks are not marked, and the prompt is the suite's own (what was really sent may show a
    variant)."""
    attempt = result.attempts[-1] if result.attempts else None
    one = len(case.steps) == 1
    asked = case.steps[0].input if one else f"{len(case.steps)} steps; each stands above its answer."
    before = [Part("Prompt", asked)]
    if case.expected_behavior.strip():
        before.append(Part("Expected behaviour", case.expected_behavior))
    text, marks = _text(case, attempt) if attempt is not None else ("", [])
    if names is None:
        return ReadAnswer(tuple(before), text, tuple(marks))
    *parts, answer = [(part.title, names.mask(part.text)) for part in (*before, Part("Answer", text))]
    hidden = tuple((title, part) for title, part in (*parts, answer) if part.names)
    return ReadAnswer(tuple(Part(title, part.text) for title, part in parts), answer[1].text, (), hidden)


def masked_changes(result: TrialResult, names: NameMask) -> TrialResult:
    """Return the result with names masked in what it changed, and in why something was not applied."""
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
    """`2 names masked`; empty without one."""
    return f"{count} name{'' if count == 1 else 's'} masked" if count else ""


def mask_lines(answer: ReadAnswer, width: int) -> list[Line]:
    """Where names are masked, and of which kind they are, without showing any."""
    if not answer.masked:
        return [(("No name is masked in this answer or its prompt.", "dim"),)]
    lines: list[Line] = []
    for title, part in answer.masked:
        kinds = Counter(KINDS[name.kind] for name in part.names)
        lines += [((f"{title}  ", "strong"), (masked_words(len(part.names)), "plain"))]
        lines += text_rows(", ".join(f"{count} × {kind}" for kind, count in kinds.items()), width, "dim")
        for name in part.names[:_MOST_MASKS]:
            around = part.text[max(0, name.start - _AROUND) : name.end + _AROUND]
            lines += text_rows(f"… {sanitize_line(around)} …", width)
        lines.append(())
    return [*lines, *text_rows(_MASKING, width, "dim")]


def _text(case: Case, attempt: Attempt) -> tuple[str, list[Mark]]:
    text, marks = "", list[Mark]()
    for number, step in enumerate(attempt.steps):
        text += heading(number, len(case.steps), step.input)
        at = len(text)
        text += step.response
        if step.tools_used:
            text += f"\n\ntools used: {', '.join(step.tools_used)}\n"
        for check in step.checks:
            kind: MarkKind = "forbidden" if check.kind == "forbidden_pattern" else "expected"
            marks += [Mark(start + at, end + at, kind) for start, end in check.spans]
    return text, marks


def checks_line(result: TrialResult | None) -> Line:
    """How the checks went, in one line of its own: a person's score is something else."""
    if result is None or not result.attempts:
        return ()
    states = [check.state for step in result.attempts[-1].steps for check in step.checks]
    passed = states.count("passed")
    mark: Piece = mark_of("flaky" if result.flaky and result.verdict == "passed" else result.verdict)
    said = f" {passed} of {len(states)} passed" if states else " none"
    note = rerun_note(result)
    error = f" · {sanitize_line(result.error, 120)}" if result.error else ""
    return (("Checks  ", "dim"), mark, (said, "plain"), (f" · {note}" if note else "", "strong"), (error, "dim"))


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
