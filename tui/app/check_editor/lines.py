"""The recorded answers in the check editor, ordered and counted, and their lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tui.app.presentation.figures import counted
from tui.app.presentation.marks import kind_word, mark_of, word_of
from tui.app.presentation.names import model_names
from tui.app.presentation.pieces import Line, Piece, Role, fill, width_of
from tui.app.runs.lines import SHORT_ID
from tui.model.results import MOST_SPANS
from tui.model.sanitize import sanitize_line
from tui.model.suite import Case, Check
from tui.session.check_edits import JudgedAnswer, RecordedAnswer

_LONGEST_CASE, _LONGEST_MODEL = 30, 40
_LANGUAGES = {
    "expected_pattern": "JavaScript pattern, ignores case, has to match",
    "forbidden_pattern": "JavaScript pattern, ignores case, may not match",
    "output.matches": "Python pattern (re.search), has to match",
    "output.includes": "text that the answer has to contain",
    "output.equals": "the exact answer",
}


@dataclass(slots=True)
class AnswerRows:
    """The recorded answers with what is known of them under the current text of the check, changed verdicts first."""

    answers: Sequence[RecordedAnswer] = ()
    judged: dict[int, JudgedAnswer] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)

    def show(self, answers: Sequence[RecordedAnswer]) -> None:
        """Take other answers, of which none is judged yet."""
        self.answers = answers
        self.forget()

    def forget(self) -> None:
        """Forget what was judged: the text of the check has changed. The order of the rows stays until it is judged."""
        self.judged = {}
        if len(self.order) != len(self.answers):
            self.order = list(range(len(self.answers)))

    def add(self, judged: Mapping[int, JudgedAnswer]) -> None:
        """Add judged answers by their number; order the rows when all are judged."""
        self.judged.update(judged)
        if self.is_complete:
            self.order.sort(key=lambda number: (not self.judged[number].is_changed, number))

    @property
    def is_complete(self) -> bool:
        """Return whether all answers are judged."""
        return len(self.judged) == len(self.answers)

    @property
    def changed(self) -> int:
        """Return the number of verdicts that would change, as far as they are known."""
        return sum(each.is_changed for each in self.judged.values())

    def at(self, row: int) -> tuple[RecordedAnswer, JudgedAnswer | None] | None:
        """Return the answer in a row, and how it is judged if that is known."""
        if not 0 <= row < len(self.order):
            return None
        number = self.order[row]
        return self.answers[number], self.judged.get(number)

    def row_of(self, answer: RecordedAnswer) -> int:
        """Return the row of an answer; the first row if there is none."""
        return next((row for row, number in enumerate(self.order) if self.answers[number] is answer), 0)


def head_line(case: Case, check: Check, path: Path) -> Line:
    """Return the title: what is edited, where."""
    name = dict.fromkeys(sanitize_line(text, 80) for text in (case.id, case.name))
    return (
        ("Edit check  ", "accent"),
        (" · ".join(name), "strong"),
        (f"  {kind_word(check.kind)}  ", "plain"),
        (sanitize_line(path.name, 80), "dim"),
    )


def language_of(check: Check) -> str:
    """Return how the text of a check is understood."""
    return _LANGUAGES.get(check.kind, check.kind)


def status_line(rows: AnswerRows, fault: str, *, searching: bool, is_saved: bool, cases: int) -> Line:
    """Return what the text of the check would change; `cases` is the number of cases in which it is edited."""
    scope = f"  in this case and {counted(cases - 1, 'other case')}" if cases > 1 else "  in this case"
    saved: Piece = ("saved", "dim") if is_saved else ("not saved", "flaky")
    if fault:
        return (("Invalid: ", "failed"), (sanitize_line(fault, 300), "plain"), ("  ", "plain"), saved)
    if not rows.answers:
        return (
            ("No recorded answers." if not searching else "Reading answers…", "dim"),
            (scope, "dim"),
            ("  ", "dim"),
            saved,
        )
    total = counted(len(rows.answers), "verdict")
    if searching and not rows.is_complete:
        return ((f"{len(rows.judged)} of {total} judged, {rows.changed} would change…", "dim"), ("  ", "dim"), saved)
    slow = sum(each.result.state == "timed_out" for each in rows.judged.values())
    pieces: list[Piece] = [
        (f"{rows.changed} of {total} would change", "flaky" if rows.changed else "passed"),
        (scope, "dim"),
        ("  ", "dim"),
        saved,
    ]
    if slow:
        pieces.append((f"  ! the pattern took too long in {counted(slow, 'answer')}", "error"))
    return tuple(pieces)


def answer_line(
    answer: RecordedAnswer, judged: JudgedAnswer | None, names: dict[str, str], width: int, *, with_case: bool
) -> Line:
    """Return the row of an answer: old and new verdict, case, model, repeat and run."""
    old, new = mark_of(answer.verdict), mark_of(judged.verdict) if judged else ("…", "dim")
    is_changed = judged is not None and judged.is_changed
    role: Role = "plain" if is_changed or judged is None else "dim"
    pieces: list[Piece] = [
        old,
        (" → " if is_changed else "   ", "plain"),
        new if is_changed or not judged else (" ", "plain"),
    ]
    texts = [names.get(answer.trial.model, "")]
    if with_case:
        texts.insert(0, sanitize_line(answer.trial.case, _LONGEST_CASE))
    if answer.trial.repeat > 1:
        texts.append(f"#{answer.trial.repeat}")
    texts.append(sanitize_line(answer.run[:SHORT_ID]))
    room = max(1, width - 7)
    text = "  ".join(texts)
    return (*pieces, ("  ", "plain"), (fill(text, room) if width_of(text) > room else text, role))


def names_of(answers: Sequence[RecordedAnswer]) -> dict[str, str]:
    """Return the short name of each model of the answers."""
    models = list(dict.fromkeys(answer.trial.model for answer in answers))
    return {model: sanitize_line(name, _LONGEST_MODEL) for model, name in zip(models, model_names(models), strict=True)}


def verdict_words(answer: RecordedAnswer, judged: JudgedAnswer | None) -> str:
    """Return the words for an answer: `passed → failed · 2 matches`."""
    old = word_of(answer.verdict).replace("_", " ")
    if judged is None:
        return old
    words = f"{old} → {word_of(judged.verdict).replace('_', ' ')}" if judged.is_changed else old
    if judged.result.state == "timed_out":
        return f"{words} · pattern ran too long"
    spans = len(judged.result.spans)
    return f"{words} · {spans:,}{'+' if spans >= MOST_SPANS else ''} {'match' if spans == 1 else 'matches'}"
