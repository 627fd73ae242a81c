"""The end of a sitting in words, and why there is nothing to score."""

from collections import Counter

from tui.app.presentation.bands import band_of, band_piece
from tui.app.presentation.pieces import Line, Piece, fill
from tui.app.presentation.text_rows import hung, text_rows
from tui.app.review.pace import minutes
from tui.app.review.queue import ReviewSession
from tui.app.review.starting import problem_lines
from tui.model.risk import BANDS
from tui.model.sanitize import sanitize_line


def end_lines(review_session: ReviewSession, width: int) -> list[Line]:
    """Nothing is left to do here: what was done, and what can come next."""
    review = review_session.review
    count, done = len(review.items), review_session.scored
    if review_session.deciding and not review_session.shown:
        head = "Reviewers differ nowhere that is left to decide."
    elif review_session.deciding:
        head = f"All {len(review_session.shown)} are decided." if len(review_session.shown) > 1 else "It is decided."
    elif not review_session.shown:
        head = "The filter shows no item."
    elif done < count:
        head = f"Everything that the filter shows is done; {count - done} more are open."
    else:
        head = f"All {count} items are scored." if count != 1 else "The one item is scored."
    lines: list[Line] = [((head, "strong"),), (), *_own_figures(review_session)]
    if review.missing:
        lines += [(), *text_rows(missing_sentence(review_session), width, "dim")]
    lines += [(), (("Next", "dim"),)]
    for key, does in _next_steps(review_session):
        lines += hung(((fill(key, 11), "accent"),), does, "plain", width)
    return lines


def missing_sentence(review_session: ReviewSession) -> str:
    """Which answers cannot be scored; of hidden ones not whose they are."""
    missing, hidden = review_session.review.missing, review_session.hidden
    names = [key.case if hidden else f"{key.case} · {key.model}" for key in missing[:6]]
    more = f" and {len(missing) - 6} more" if len(missing) > 6 else ""
    are = "answer is" if len(missing) == 1 else "answers are"
    shown = ", ".join(dict.fromkeys(sanitize_line(name, 80) for name in names))
    return f"{len(missing)} {are} missing, and not in the queue: {shown}{more}."


def _own_figures(review_session: ReviewSession) -> list[Line]:
    """Over all answers together: what tells one model from another is not in it."""
    review = review_session.review
    extents = Counter(stand.mine.extent for stand in review_session.stands if stand.mine is not None)
    worst: dict[int, int] = {}
    for item, stand in zip(review.items, review_session.stands, strict=True):
        if not item.key.again and stand.mine is not None and stand.mine.extent not in (None, "n/a"):
            band = band_of(item.criterion.severity, stand.mine.extent, review.rule)
            worst[item.answer] = max(worst.get(item.answer, 0), BANDS.index(band) if band else 0)
    answers = len({item.answer for item in review.items})
    lines: list[Line] = [
        (
            (f"{sanitize_line(review.reviewer, 40)}  ", "plain"),
            (f"{review_session.scored} of {len(review.items)} items of {answers} answers", "plain"),
            (f" · {minutes(review_session.spent_ms)}", "dim"),
        )
    ]
    counts = Counter(BANDS[place] for place in worst.values())
    if counts:
        pieces: list[Piece] = [("answers  ", "dim")]
        for band in reversed(BANDS):
            if counts[band]:
                pieces += [(f"{counts[band]} ", "strong"), band_piece(band), ("   ", "plain")]
        lines.append(tuple(pieces))
    if extents["n/a"]:
        lines.append(((f"n/a      {extents['n/a']}", "dim"),))
    return lines


def _next_steps(review_session: ReviewSession) -> list[tuple[str, str]]:
    steps = [("[", "back to the last item; u undoes")]
    if review_session.wanted:
        steps.append(("/ Esc", "out of the filter"))
    if review_session.hidden:
        steps.append(("!", "reveal the names: recorded, and not to be undone. Reports and figures come after it"))
    else:
        if review_session.disputed:
            one = review_session.disputed == 1
            steps.append(
                (
                    "a",
                    f"decide the {'one item' if one else f'{review_session.disputed} items'} in which reviewers differ",
                )
            )
        steps += [("f", "figures: bands, means, agreement"), ("o", "write a report of the run to a file")]
    return [*steps, ("Esc", "leave; all is kept")]


def empty_lines(review_session: ReviewSession, width: int) -> list[Line]:
    """Why there is nothing to score, and what to do."""
    suite = review_session.review.suite
    if not any(case.risk_criteria for case in suite.cases):
        what = "This suite names no risk criteria, so there is nothing to score."
        do = (
            "Add `riskCriteria` to its cases, each with a name, a description and a severity (low, medium, high, "
            "critical), and run it again: a run keeps the suite as it was run."
        )
    else:
        what = "This run has no answer to score yet."
        do = "Run the cases that have risk criteria; what is running can be scored when it is over."
    lines: list[Line] = [((what, "strong"),), (), *text_rows(do, width)]
    if review_session.review.missing:
        lines += [(), *text_rows(missing_sentence(review_session), width, "dim")]
    if review_session.review.problems:
        lines += [(), *problem_lines(review_session.review.problems, width)]
    return [*lines, (), (("Esc", "accent"), (" goes back", "plain"))]
