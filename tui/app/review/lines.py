"""The title, the queue and the last line of the Review screen."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tui.app.presentation.bands import band_mark, band_of, band_piece, band_role, extent_words, severity_weight
from tui.app.presentation.names import model_names
from tui.app.presentation.pieces import Line, Piece, cut, cut_middle, fill, spread, width_of
from tui.app.presentation.text_rows import hung, rows_of, text_rows
from tui.app.review.queue import ReviewSession, left_words, minutes
from tui.app.review.queue_filter import ItemStatus
from tui.app.runs.lines import day_and_time
from tui.model.risk import BANDS, EXTENTS, Band, BandRule, Guidance, rule_rows, rule_sentence
from tui.model.sanitize import sanitize_line
from tui.model.scores import Act, Extent, is_blind_open, replaced_answers
from tui.model.suite import Severity
from tui.risk.queue import ReviewItem
from tui.session.run_review import RunReview

_BAR = "━"


@dataclass(frozen=True, slots=True)
class Title:
    """What the title tells. `filtered` is (done, all) of what the filter shows, None without one."""

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
    """The line in at most so many cells: what matters least is left out first."""
    for least in ("", "seed", "rest", "suite", "who"):
        left, right = _title_parts(title, least)
        room = width - _width(left) - _width(right)
        if room >= 2:
            return spread([*left], [*right[:1], *_bar(title, min(26, room - 2)), *right[1:]], width)
    return spread(left, right, width)


_LEFT_OUT = ("seed", "rest", "suite", "who")


def _title_parts(title: Title, least: str) -> tuple[list[Piece], list[Piece]]:
    """Without `least` and all that matters less."""
    out = _LEFT_OUT[: _LEFT_OUT.index(least) + 1] if least else ()
    said: list[Piece] = [] if "suite" in out else [(sanitize_line(title.suite, 40), "plain")]
    said += [("blind", "accent")] if title.blind else []
    said += [(f"seed {title.seed}", "dim")] if title.blind and title.seed is not None and "seed" not in out else []
    said += [("deciding", "accent")] if title.deciding else []
    left: list[Piece] = [(" Assay", "accent"), ("  Review  ", "strong")]
    for number, piece in enumerate(said):
        left += [(" · " if number else "", "dim"), piece]
    if title.filtered is not None:
        left.append((f"  filter {title.filtered[0]}/{title.filtered[1]}", "dim"))
    right: list[Piece] = [(f"{title.scored:>{len(str(title.items))}}/{title.items}", "accent")]
    if "who" not in out:
        right += [(f"  {sanitize_line(title.reviewer, 30)}", "plain"), (f" · {minutes(title.spent_ms)}", "dim")]
    rest = left_words(title.spent_ms, title.scored, title.items - title.scored)
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
    """Whose answer it is; of hidden ones the number alone."""
    if hidden:
        return f"Answer {item.answer}"
    name = model_names([item.key.model])[0]
    return f"{name} · repeat {item.key.repeat}" if item.key.repeat > 1 else name


def queue_line(item: ReviewItem, stand: ItemStatus, rule: BandRule, *, hidden: bool, width: int) -> Line:
    """An item in the queue: whether it is done, whose answer, which criterion, the band."""
    if stand.disputed:
        mark: Piece = ("≠", "flaky")
    elif stand.band is not None:
        mark = band_mark(stand.band)
    else:
        mark = ("·", "dim") if stand.standing is None else ("-", "dim")
    right: list[Piece] = []
    if stand.mine is not None and stand.mine.extent is not None and not stand.disputed:
        extent = stand.mine.extent
        band = band_of(item.criterion.severity, extent, rule)
        right = [("n/a ", "dim")] if band is None else [(f"{extent} ", "plain"), band_piece(band), (" ", "plain")]
    elif stand.disputed:
        right = [("differ ", "flaky")]
    elif stand.band is not None:
        right = [band_piece(stand.band), (" ", "plain")]
    room = width - 3 - sum(width_of(text) for text, _ in right)
    who = f"{item.answer:>3}" if hidden else cut_middle(answer_name(item, hidden=False), max(6, room // 3))
    left: list[Piece] = [(" ", "plain"), mark, (f" {who}  ", "dim"), (sanitize_line(item.case.id, 60), "plain")]
    left.append((f" {sanitize_line(item.criterion.name, 80)}", "dim" if stand.mine is not None else "strong"))
    return spread(left, right, width)


def given_line(item: ReviewItem, extent: Extent, rule: BandRule, what: str, width: int, *, undoes: bool = True) -> Line:
    """What was just given, and that it can be taken back: `sec-001 · SQL injection: 3 major → critical  u undoes`."""
    band = band_of(item.criterion.severity, extent, rule)
    end: list[Piece] = [(f" {extent_words(extent)}", "strong")]
    if band is not None:
        end += [(" → ", "dim"), band_piece(band)]
    end += [("  ", "dim"), ("u", "accent"), (" undoes ", "dim")] if undoes else []
    room = width - _width(end) - 2
    name = f" {what}{sanitize_line(item.case.id, 60)} · {sanitize_line(item.criterion.name, 100)}:"
    return ((cut(name, room), "plain"), *end)


def next_line(item: ReviewItem | None, here: ReviewItem | None, rule: BandRule, width: int) -> Line:
    """What comes next, in one line."""
    if item is None or item is here:
        return (("Everything is scored." if item is None else "This is the last open item.", "dim"),)
    same = here is not None and item.answer == here.answer
    right: list[Piece] = [severity_weight(item.criterion.severity, rule), ("   next", "dim")]
    left: list[Piece] = [(sanitize_line(item.criterion.name, 100), "dim"), ("" if same else "  next answer", "dim")]
    return spread(left, right, width)


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


_DIFFER = (
    "Where reviewers differ and nobody has decided, bands use the highest extent and means the mean of the reviewers; "
    "the item is marked as disputed. "
    "Decisions are not reviewers' scores: they do not enter agreement."
)
_INHERENT = "Scores say what a person found in an answer. They are never mixed with the verdicts of checks."
_ACTS = {
    "score": "scored",
    "invalidate": "took back",
    "adjudicate": "decided",
    "reveal": "revealed the names",
    "look": "saw names",
}


def guidance_lines(guidance: Guidance, item: ReviewItem | None, width: int) -> list[Line]:
    """What each extent means, whole, with the version of the text."""
    lines: list[Line] = []
    for extent, text in enumerate(guidance.levels):
        first: Line = ((f"{extent}  ", "accent"), (fill(EXTENTS[extent], 9), "strong"))
        lines += hung(first, text, "plain", width)
    first = (("-  ", "accent"), (fill("n/a", 9), "strong"))
    lines += hung(first, "The criterion does not apply to this answer: no band, and it counts nowhere.", "plain", width)
    if item is not None:
        lines += [(), ((sanitize_line(item.criterion.name), "strong"),)]
        lines += text_rows(item.criterion.description, width)
    lines += [(), *text_rows(_DIFFER, width, "dim"), (), *text_rows(_INHERENT, width, "dim")]
    return [*lines, (), ((f"Version {guidance.version} of this text is written beside each score.", "dim"),)]


def rule_lines(rule: BandRule, width: int, here: Severity | None = None) -> list[Line]:
    """The table of severity × extent with its bands, and the rule in a sentence."""
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


def trail_lines(item: ReviewItem, acts: Sequence[Act], rule: BandRule, width: int) -> list[Line]:
    """Everything that happened to an item: who, when with zone, what, how, why."""
    title = f"{sanitize_line(item.case.id, 80)} · {sanitize_line(item.criterion.name, 120)}"
    lines: list[Line] = [((title, "strong"),)]
    if not acts:
        return [*lines, (), (("Nothing has happened to it yet.", "dim"),)]
    for act in acts:
        lines += [(), _act_line(act, item, rule)]
        how = ["blind" if act.blind else "not blind", f"guidance {sanitize_line(act.guidance, 12) or '–'}"]
        how += [f"attempt {act.attempt}"] if act.attempt else []
        how += [f"seed {act.seed}"] if act.seed is not None else []
        how += [f"took {minutes(act.took_ms)}"] if act.took_ms else []
        lines += [((f"  {row}", "dim"),) for row in rows_of(" · ".join(how), width - 2)]
        lines += [((f"  {row}", "plain"),) for row in rows_of(act.note, width - 2)]
    return [*lines, (), *text_rows("Nothing is overwritten: the latest act of each reviewer counts.", width, "dim")]


def _act_line(act: Act, item: ReviewItem, rule: BandRule) -> Line:
    what = "took a decision back" if act.withdraws else _ACTS[act.act]
    pieces: list[Piece] = [
        (f"{_when(act.scored_at)}  ", "dim"),
        (sanitize_line(act.reviewer, 40), "strong"),
        (f" {what} ", "plain"),
    ]
    if act.extent is not None:
        pieces.append((extent_words(act.extent), "strong"))
        band = band_of(item.criterion.severity, act.extent, rule)
        pieces += [("  ", "plain"), band_piece(band)] if band else []
    return tuple(pieces)


def _when(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return sanitize_line(text, 32)
    zone = f"{moment:%z}"
    return f"{moment:%Y-%m-%d %H:%M:%S} {zone[:3]}:{zone[3:5]}" if zone else f"{moment:%Y-%m-%d %H:%M:%S}"
