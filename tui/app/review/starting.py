"""Before a sitting: what there is to score, and how it stands for the one who asks."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui.app.presentation.pieces import Line, Piece
from tui.app.presentation.text_rows import text_rows
from tui.app.review.pace import minutes
from tui.app.runs.lines import day_and_time
from tui.model.sanitize import sanitize_line
from tui.model.scores import is_blind_open, replaced_answers
from tui.session.run_review import RunReview

BLIND = "Blind: names, verdicts, others' scores are hidden; shuffled"
NAMED = "With names, in the suite's order"
_STAYS_BLIND = "This was begun blind, and stays so until you reveal the names (!)."
_REVEALED = "You have revealed the names of this run: it is not blind any more."
_MOST_PROBLEMS = 3
REPEATS = 0, 5, 10, 20
"""Percent of the answers that a blind session may show twice, to see how far a reviewer agrees with themselves."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """Who scores, whether blind, and how many percent of the answers are shown a second time."""

    reviewer: str
    blind: bool
    repeats: int = 0


def repeat_line(repeats: int) -> Line:
    """The shares to choose from, the chosen one marked."""
    shares: list[Piece] = [
        (f" ▸{share}% ", "accent") if share == repeats else (f"  {share}% ", "dim")
        for share in sorted({*REPEATS, repeats})
    ]
    return ((" Shown a second time, unannounced (blind only)  ", "dim"), *shares)


def next_repeats(repeats: int) -> int:
    """Return the next share, after the largest the smallest."""
    return next((share for share in REPEATS if share > repeats), REPEATS[0])


def stays_blind(review: RunReview, name: str) -> bool:
    """Whether the person has begun blind and not revealed."""
    return is_blind_open(review.board.acts, name)


def why_not(review: RunReview, name: str, *, blind: bool) -> str:
    """Why it cannot be begun in this way; empty where it can."""
    if blind:
        return _REVEALED if review.board.revealed(name) else ""
    return _STAYS_BLIND if stays_blind(review, name) else ""


def problem_lines(problems: Sequence[object], width: int, most: int = _MOST_PROBLEMS) -> list[Line]:
    """Which lines of the score files could not be read, and why; at most so many are told one by one."""
    if not problems:
        return []
    count = len(problems)
    said = "1 line of the score files cannot be read, and counts for nothing:"
    if count > 1:
        said = f"{count} lines of the score files cannot be read, and count for nothing:"
    lines = text_rows(said, width, "error")
    for problem in problems[:most]:
        lines += text_rows(sanitize_line(str(problem), 400), width, "dim")
    if count > most:
        lines.append(((f"and {count - most} more; 'assay review agreement' lists them", "dim"),))
    return lines


def missing_words(count: int) -> str:
    """Of results without an answer."""
    return (
        f"{count} result has no answer, and is not among them"
        if count == 1
        else (f"{count} results have no answer, and are not among them")
    )


def start_lines(review: RunReview, name: str, width: int) -> list[Line]:
    """How many items there are, how many are open for this person, and what is to be known before it begins."""
    board, items, record = review.board, review.items, review.record
    mine = [score for item in items if (score := board.score(item.key, name)) is not None]
    answers = len({item.answer for item in items})
    lines: list[Line] = [
        (
            (sanitize_line(record.suite_name, 60), "strong"),
            (f"  run of {day_and_time(record.started_at).strip()}", "dim"),
        ),
        ((f"{len(items)} items: {answers} answers × their criteria", "plain"),),
    ]
    open_ = len(items) - len(mine)
    if mine:
        spent = sum(act.took_ms or 0 for act in board.acts if act.reviewer == name)
        took = f" in {minutes(spent)}" if spent else ""
        lines.append(((f"{len(mine)} scored{took}, ", "plain"), (f"{open_} open", "accent" if open_ else "plain")))
    else:
        lines.append(((f"{open_} open: nothing is scored under this name", "accent"),))
    others = [reviewer for reviewer in board.reviewers if reviewer != name]
    if others:
        also = f"{len(others)} other reviewer{'s have' if len(others) > 1 else ' has'} scored too"
        lines.append(((also, "dim"),))
    for sentence in replaced_answers(board):
        lines += text_rows(sentence, width, "flaky")
    if review.missing:
        lines.append(((missing_words(len(review.missing)), "dim"),))
    if record.state == "running":
        lines += text_rows("The run is still going on: later answers come in when it is opened again.", width, "flaky")
    if stays_blind(review, name):
        lines += text_rows(_STAYS_BLIND, width, "flaky")
    elif board.revealed(name):
        lines += text_rows(_REVEALED, width, "flaky")
    return lines
