"""What the Review screen shows as lines: title, queue, last act, start and end of a session, and its dialogs."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tui.app.presentation.bands import band_mark, band_of, band_piece, band_role, extent_words, severity_weight
from tui.app.presentation.figures import minutes
from tui.app.presentation.names import model_names
from tui.app.presentation.pieces import Line, Piece, cut, cut_middle, fill, spread, width_of
from tui.app.presentation.text_rows import hanging_indent, text_rows
from tui.app.review.queue import ReviewSession
from tui.app.review.queue_filter import ItemStatus
from tui.app.review.scoring import RecordedScore
from tui.app.runs.lines import day_and_time
from tui.model.risk import BANDS, EXTENTS, Band, BandRule, Guidance, rule_rows, rule_sentence
from tui.model.sanitize import sanitize_line
from tui.model.scores import ItemKey, ReviewItem, is_blind_open, replaced_answers
from tui.model.suite import Severity
from tui.session.run_review import RunReview

_BAR = "━"
_LEAST_IMPORTANT = ("seed", "rest", "suite", "who")


@dataclass(frozen=True, slots=True)
class Title:
    """What the title shows. `filtered` counts the items that the filter selects (done, all); None without a filter."""

    suite: str = ""
    blind: bool = False
    seed: int | None = None
    reviewer: str = ""
    scored: int = 0
    items: int = 0
    spent_ms: float = 0
    filtered: tuple[int, int] | None = None
    deciding: bool = False


def title_line(title: Title, width: int) -> Line:
    """Return the title in at most `width` cells: the least important parts are left out first."""
    for least in ("", *_LEAST_IMPORTANT):
        left, right = _title_parts(title, least)
        room = width - _width(left) - _width(right)
        if room >= 2:
            return spread([*left], [*right[:1], *_bar(title, min(26, room - 2)), *right[1:]], width)
    return spread(left, right, width)


def _title_parts(title: Title, least: str) -> tuple[list[Piece], list[Piece]]:
    """Return the left and the right part without `least` and everything less important."""
    out = _LEAST_IMPORTANT[: _LEAST_IMPORTANT.index(least) + 1] if least else ()
    parts: list[Piece] = [] if "suite" in out else [(sanitize_line(title.suite, 40), "plain")]
    parts += [("blind", "accent")] if title.blind else []
    parts += [(f"seed {title.seed}", "dim")] if title.blind and title.seed is not None and "seed" not in out else []
    parts += [("deciding", "accent")] if title.deciding else []
    left: list[Piece] = [(" Assay", "accent"), ("  Review  ", "strong")]
    for number, piece in enumerate(parts):
        left += [(" · " if number else "", "dim"), piece]
    if title.filtered is not None:
        left.append((f"  filter {title.filtered[0]}/{title.filtered[1]}", "dim"))
    right: list[Piece] = [(f"{title.scored:>{len(str(title.items))}}/{title.items}", "accent")]
    if "who" not in out:
        right += [(f"  {sanitize_line(title.reviewer, 30)}", "plain"), (f" · {minutes(title.spent_ms)}", "dim")]
    rest = time_left(title.spent_ms, title.scored, title.items - title.scored)
    return left, [*right, (f" · {rest}" if rest and "rest" not in out else "", "dim"), (" ", "plain")]


def _width(part: list[Piece]) -> int:
    return sum(width_of(text) for text, _ in part)


def _bar(title: Title, room: int) -> list[Piece]:
    if room < 10 or not title.items:
        return []
    room -= 2
    filled = round(title.scored / title.items * room)
    return [("  ", "plain"), (_BAR * filled, "accent"), (_BAR * (room - filled), "quiet")]


def answer_name(item: ReviewItem, *, hidden: bool) -> str:
    """Return the model of an answer; the number of the answer while names are hidden."""
    if hidden:
        return f"Answer {item.answer}"
    name = model_names([item.key.model])[0]
    return f"{name} · repeat {item.key.repeat}" if item.key.repeat > 1 else name


def queue_line(item: ReviewItem, status: ItemStatus, *, hidden: bool, width: int) -> Line:
    """Return an item of the queue: its status, model, case and criterion, and the extent and band that count."""
    if status.disputed:
        mark: Piece = ("≠", "flaky")
    elif status.band is not None:
        mark = band_mark(status.band)
    else:
        mark = ("·", "dim") if status.counted is None else ("-", "dim")
    right: list[Piece] = []
    if status.disputed:
        right = [("differ ", "flaky")]
    elif status.band is not None and status.counted is not None:
        right = [(f"{status.counted.extent} ", "plain"), band_piece(status.band), (" ", "plain")]
    elif status.counted is not None:
        right = [("n/a ", "dim")]
    room = width - 3 - sum(width_of(text) for text, _ in right)
    who = f"{item.answer:>3}" if hidden else cut_middle(answer_name(item, hidden=False), max(6, room // 3))
    left: list[Piece] = [(" ", "plain"), mark, (f" {who}  ", "dim"), (sanitize_line(item.case.id, 60), "plain")]
    left.append((f" {sanitize_line(item.criterion.name, 80)}", "dim" if status.mine is not None else "strong"))
    return spread(left, right, width)


def recorded_line(recorded: RecordedScore, rule: BandRule, width: int, undo: str = "u") -> Line:
    """Return what was recorded last, with the key `undo`: `sec-001 · SQL injection: 3 major → critical  u undoes`."""
    item, extent = recorded.item, recorded.extent
    band = band_of(item.criterion.severity, extent, rule)
    end: list[Piece] = [(f" {extent_words(extent)}", "strong")]
    if band is not None:
        end += [(" → ", "dim"), band_piece(band)]
    end += [] if recorded.is_repeated else [("  ", "dim"), (undo, "accent"), (" undoes ", "dim")]
    what = "Already " if recorded.is_repeated else "Decided " if recorded.is_decision else ""
    room = width - _width(end) - 2
    name = f" {what}{sanitize_line(item.case.id, 60)} · {sanitize_line(item.criterion.name, 100)}:"
    return ((cut(name, room), "plain"), *end)


def taken_back_line(key: ItemKey) -> Line:
    """Return of which item an act was taken back."""
    return ((f" Undone: {sanitize_line(key.case, 60)} · {sanitize_line(key.criterion, 100)}", "plain"),)


def unsaved_notes(session: ReviewSession, *, writing: bool) -> str:
    """Return which notes are lost when a session is left, in sentences; `writing` means that one is being written."""
    drafts = sum(bool(note) for note in session.drafts.values())
    sentences = ["The unsaved note will be lost. Press Enter to save it."] if writing else []
    if drafts:
        has = "1 note without an extent will be" if drafts == 1 else f"{drafts} notes without an extent will be"
        sentences.append(f"{has} lost.")
    return " ".join(sentences)


def time_left(spent_ms: float, scored: int, left: int) -> str:
    """Return `about 22 min left`, estimated from the time spent so far; empty for fewer than three scores."""
    if scored < 3 or not left or spent_ms <= 0:
        return ""
    return f"about {minutes(spent_ms / scored * left)} left"


def next_line(item: ReviewItem | None, here: ReviewItem | None, rule: BandRule, width: int) -> Line:
    """Return the next open item in one line."""
    if item is None or item is here:
        return (("All items are scored." if item is None else "This is the last open item.", "dim"),)
    same = here is not None and item.answer == here.answer
    name = sanitize_line(item.criterion.name, 100)
    left: list[Piece] = [(f"Next: {name}" if same else f"Next answer: {name}", "dim")]
    return spread(left, [severity_weight(item.criterion.severity, rule)], width)


BLIND = "Blind: names, verdicts and other scores hidden; shuffled"
NAMED = "With names, in suite order"
_STAYS_BLIND = "This review is blind until you reveal the names (!)."
_REVEALED = "You have revealed the names of this run, so it can no longer be reviewed blind."
_MOST_PROBLEMS = 3
REPEATS = 0, 5, 10, 20
"""Percentages of the answers that a blind session can show twice, to see how far reviewers agree with themselves."""


@dataclass(frozen=True, slots=True)
class StartChoice:
    """Who scores, whether blind, and which percentage of the answers is shown a second time."""

    reviewer: str
    blind: bool
    repeats: int = 0


_REPEAT_LABELS = (
    " Answers shown twice, without notice (blind only)  ",
    " Answers shown twice (blind only)  ",
    " Twice  ",
)


def repeat_line(repeats: int, width: int) -> Line:
    """Return the percentages to choose from, the chosen one marked, with a label that fits in `width` cells."""
    shares: list[Piece] = [
        (f" ▸{share}% ", "accent") if share == repeats else (f"  {share}% ", "dim")
        for share in sorted({*REPEATS, repeats})
    ]
    room = width - sum(width_of(text) for text, _ in shares)
    label = next((label for label in _REPEAT_LABELS if width_of(label) <= room), "")
    return ((label, "dim"), *shares)


def next_repeats(repeats: int) -> int:
    """Return the next percentage, after the greatest one the least."""
    return next((share for share in REPEATS if share > repeats), REPEATS[0])


def stays_blind(review: RunReview, name: str) -> bool:
    """Return whether a person has begun blind and has not revealed the names."""
    return is_blind_open(review.board.acts, name)


def why_unavailable(review: RunReview, name: str, *, blind: bool) -> str:
    """Return why a person cannot begin blind, or with names; empty if they can."""
    if blind:
        return _REVEALED if review.board.revealed(name) else ""
    return _STAYS_BLIND if stays_blind(review, name) else ""


def problem_lines(problems: Sequence[object], width: int, most: int = _MOST_PROBLEMS) -> list[Line]:
    """Return which lines of the score files could not be read, and why: the first `most` of them one by one."""
    if not problems:
        return []
    count = len(problems)
    heading = "1 line of the score files cannot be read and is not counted:"
    if count > 1:
        heading = f"{count} lines of the score files cannot be read and are not counted:"
    lines = text_rows(heading, width, "error")
    for problem in problems[:most]:
        lines += text_rows(sanitize_line(str(problem), 400), width, "dim")
    if count > most:
        lines.append(((f"and {count - most} more; run 'assay review agreement' to list them", "dim"),))
    return lines


def missing_words(count: int) -> str:
    """Return a sentence about results without an answer."""
    return (
        f"{count} result has no answer and is not included"
        if count == 1
        else (f"{count} results have no answer and are not included")
    )


def start_lines(review: RunReview, name: str, width: int) -> list[Line]:
    """Return how many items there are, how many are open for a person, and what they should know before they begin."""
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
        lines.append(((f"{open_} open: no scores under this name yet", "accent"),))
    others = [reviewer for reviewer in board.reviewers if reviewer != name]
    if others:
        also = f"{len(others)} other reviewer{'s have' if len(others) > 1 else ' has'} scored too"
        lines.append(((also, "dim"),))
    for sentence in replaced_answers(board):
        lines += text_rows(sentence, width, "flaky")
    if review.missing:
        lines.append(((missing_words(len(review.missing)), "dim"),))
    if record.state == "running":
        lines += text_rows("The run is still in progress. Reopen the review to include later answers.", width, "flaky")
    if stays_blind(review, name):
        lines += text_rows(_STAYS_BLIND, width, "flaky")
    elif board.revealed(name):
        lines += text_rows(_REVEALED, width, "flaky")
    return lines


def end_lines(session: ReviewSession, width: int, key_of: Callable[[str], str]) -> list[Line]:
    """Return what was done in a session, and what can be done next. `key_of` returns the key of a binding."""
    review = session.review
    count, done = len(review.items), session.scored
    if session.deciding and not session.visible:
        head = "No open disagreement between reviewers."
    elif session.deciding:
        head = f"All {len(session.visible)} are decided." if len(session.visible) > 1 else "The item is decided."
    elif not session.visible:
        head = "No item matches the filter."
    elif done < count:
        head = f"All filtered items are done; {count - done} other items are open."
    else:
        of_queue = " of this queue" if review.later else ""
        head = f"All {count} items{of_queue} are scored." if count != 1 else f"The only item{of_queue} is scored."
    lines: list[Line] = [((head, "strong"),), (), *_figures(session)]
    if later := later_sentence(session):
        lines += [(), *text_rows(later, width, "flaky")]
    if review.missing:
        lines += [(), *text_rows(missing_sentence(session), width, "dim")]
    lines += [(), (("Next", "dim"),)]
    for key, does in _next_steps(session, key_of):
        lines += hanging_indent(((fill(key, 11), "accent"),), does, "plain", width)
    return lines


def later_sentence(session: ReviewSession) -> str:
    """Return how many answers came after the queue was made, and how to score them; empty without any."""
    later = session.review.later
    if not later:
        return ""
    came, them = ("1 answer was", "it") if later == 1 else (f"{later:,} answers were", "them")
    before = " before you reveal the names" if session.hidden else ""
    return f"{came} saved after this queue was made. Close Review and open it again to score {them}{before}."


def missing_sentence(session: ReviewSession) -> str:
    """Return which answers are missing, without their models while names are hidden."""
    missing, hidden = session.review.missing, session.hidden
    names = [key.case if hidden else f"{key.case} · {key.model}" for key in missing[:6]]
    more = f" and {len(missing) - 6} more" if len(missing) > 6 else ""
    are = "answer is" if len(missing) == 1 else "answers are"
    shown = ", ".join(dict.fromkeys(sanitize_line(name, 80) for name in names))
    return f"{len(missing)} {are} missing and not in the queue: {shown}{more}."


def _figures(session: ReviewSession) -> list[Line]:
    """Return figures of all answers together, which do not reveal models: of what counts, while names are hidden of the
    reviewer's own scores."""
    review = session.review
    extents = Counter(status.counted.extent for status in session.statuses if status.counted is not None)
    worst: dict[int, int] = {}
    for item, status in zip(review.items, session.statuses, strict=True):
        if not item.key.again and status.band is not None:
            worst[item.answer] = max(worst.get(item.answer, 0), BANDS.index(status.band))
    answers = len({item.answer for item in review.items})
    lines: list[Line] = [
        (
            (f"{sanitize_line(review.reviewer, 40)}  ", "plain"),
            (f"{session.scored} of {len(review.items)} items of {answers} answers", "plain"),
            (f" · {minutes(session.spent_ms)}", "dim"),
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


def _next_steps(session: ReviewSession, key_of: Callable[[str], str]) -> list[tuple[str, str]]:
    steps = [(key_of("look.case-before"), f"previous item; {key_of('review.undo')} undo")]
    if session.filter:
        steps.append((f"{key_of('look.filter')} Esc", "clear the filter"))
    if session.hidden:
        steps.append(
            (key_of("review.reveal"), "reveal the names (recorded, cannot be undone); enables reports and figures")
        )
    else:
        if session.disputed:
            one = session.disputed == 1
            steps.append(
                (
                    key_of("review.adjudicate"),
                    f"decide {'one item' if one else f'{session.disputed} items'} on which reviewers disagree",
                )
            )
        steps += [
            (key_of("look.figures"), "figures: bands, means, agreement"),
            (key_of("look.export"), "export a report of the run"),
        ]
    return [*steps, (key_of("review.leave"), "close; scores are saved")]


def empty_lines(session: ReviewSession, width: int) -> list[Line]:
    """Return why there is nothing to score, and what to do."""
    suite = session.review.suite
    if not any(case.risk_criteria for case in suite.cases):
        what = "This suite has no risk criteria, so there is nothing to score."
        do = (
            "Add `riskCriteria` to its cases, each with a name, a description and a severity (low, medium, high, "
            "critical), and run the suite again: a saved run uses the suite as it was then."
        )
    else:
        what = "This run has no answers to score yet."
        do = "Run the cases that have risk criteria; their answers can be scored when they finish."
    lines: list[Line] = [((what, "strong"),), (), *text_rows(do, width)]
    if session.review.missing:
        lines += [(), *text_rows(missing_sentence(session), width, "dim")]
    if session.review.problems:
        lines += [(), *problem_lines(session.review.problems, width)]
    return [*lines, (), (("Esc", "accent"), (" back", "plain"))]


_DIFFER = (
    "If reviewers disagree and there is no decision, bands use the highest extent and means use the mean of the "
    "reviewers; the item is marked as disputed. Decisions are not scores and do not count for agreement."
)
_INHERENT = "Scores are judgements of reviewers. They are independent of the verdicts of checks."


def guidance_lines(guidance: Guidance, item: ReviewItem | None, width: int) -> list[Line]:
    """Return what each extent means, with the version of the text."""
    lines: list[Line] = []
    for extent, text in enumerate(guidance.levels):
        first: Line = ((f"{extent}  ", "accent"), (fill(EXTENTS[extent], 9), "strong"))
        lines += hanging_indent(first, text, "plain", width)
    first = (("-  ", "accent"), (fill("n/a", 9), "strong"))
    lines += hanging_indent(first, "The criterion does not apply to this answer: no band, not counted.", "plain", width)
    if item is not None:
        lines += [(), ((sanitize_line(item.criterion.name), "strong"),)]
        lines += text_rows(item.criterion.description, width)
    lines += [(), *text_rows(_DIFFER, width, "dim"), (), *text_rows(_INHERENT, width, "dim")]
    return [*lines, (), ((f"Version {guidance.version} of the guidance is saved with each score.", "dim"),)]


def rule_lines(rule: BandRule, width: int, here: Severity | None = None) -> list[Line]:
    """Return the table of severity × extent with its bands, the severity `here` marked, and the rule in a sentence."""
    rows = rule_rows(rule)
    bands: dict[tuple[str, int], Band] = {
        (severity, extent): rule.band(severity, extent) for severity in rule.weights for extent in range(len(EXTENTS))
    }
    columns = [max(width_of(row[place]) for row in rows) + 2 for place in range(len(rows[0]))]
    if sum(columns) > width:
        return [*_narrow_rule(rule, here), (), *text_rows(rule_sentence(rule), width)]
    lines: list[Line] = [tuple((fill(text, room), "dim") for text, room in zip(rows[0], columns, strict=True))]
    for row in rows[1:]:
        pieces: list[Piece] = [
            (fill(row[0], columns[0]), "strong" if row[0] == here else "plain"),
            (fill(f"×{row[1]}", columns[1]), "dim"),
        ]
        for extent, text in enumerate(row[2:]):
            pieces.append((fill(text, columns[extent + 2]), band_role(bands[row[0], extent])))
        lines.append(tuple(pieces))
    return [*lines, (), *text_rows(rule_sentence(rule), width)]


def _narrow_rule(rule: BandRule, here: Severity | None) -> list[Line]:
    lines: list[Line] = []
    for severity, weight in rule.weights.items():
        lines.append(((severity, "strong" if severity == here else "plain"), (f"  weight {weight}", "dim")))
        for extent in range(len(EXTENTS)):
            product = f"  {weight} × {extent} = {weight * extent:>2}  "
            lines.append(((product, "dim"), band_piece(rule.band(severity, extent))))
    return lines
