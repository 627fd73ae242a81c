"""What the Review screen tells at length: guidance, rule, trail, the end, and why there is nothing to score."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from tui.app.presentation.bands import BANDS, band_of, band_piece, band_role, extent_words
from tui.app.presentation.pieces import Line, Piece, fill, width_of
from tui.app.review.pace import minutes
from tui.app.review.rows import hung, rows_of, text_rows
from tui.app.review.sitting import Sitting
from tui.model.bands import EXTENTS, Band, BandRule
from tui.model.risk import Guidance
from tui.model.rule_words import rule_rows, rule_sentence
from tui.model.scores import Act
from tui.model.shown import show_line
from tui.model.suite import Severity
from tui.risk.queue import ReviewItem

_DIFFER = (
    "Where reviewers differ and nobody has decided, the highest extent counts, and the item is marked as disputed. "
    "Decisions are not reviewers' scores: they do not enter agreement."
)
_INHERENT = "Scores say what a person found in an answer. They are never mixed with the verdicts of checks."
_ACTS = {"score": "scored", "invalidate": "took back", "adjudicate": "decided", "reveal": "revealed the names"}


def guidance_lines(guidance: Guidance, item: ReviewItem | None, width: int) -> list[Line]:
    """What each extent means, whole, with the version of the text."""
    lines: list[Line] = []
    for extent, text in enumerate(guidance.levels):
        first: Line = ((f"{extent}  ", "accent"), (fill(EXTENTS[extent], 9), "strong"))
        lines += hung(first, text, "plain", width)
    first = (("-  ", "accent"), (fill("n/a", 9), "strong"))
    lines += hung(first, "The criterion does not apply to this answer: no band, and it counts nowhere.", "plain", width)
    if item is not None:
        lines += [(), ((show_line(item.criterion.name), "strong"),)]
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
    title = f"{show_line(item.case.id, 80)} · {show_line(item.criterion.name, 120)}"
    lines: list[Line] = [((title, "strong"),)]
    if not acts:
        return [*lines, (), (("Nothing has happened to it yet.", "dim"),)]
    for act in acts:
        lines += [(), _act_line(act, item, rule)]
        how = ["blind" if act.blind else "not blind", f"guidance {show_line(act.guidance, 12) or '–'}"]
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
        (show_line(act.reviewer, 40), "strong"),
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
        return show_line(text, 32)
    zone = f"{moment:%z}"
    return f"{moment:%Y-%m-%d %H:%M:%S} {zone[:3]}:{zone[3:5]}" if zone else f"{moment:%Y-%m-%d %H:%M:%S}"


def end_lines(sitting: Sitting, width: int) -> list[Line]:
    """Nothing is left to do here: what was done, and what can come next."""
    review = sitting.review
    count, done = len(review.items), sitting.scored
    if sitting.deciding and not sitting.shown:
        head = "Reviewers differ nowhere that is left to decide."
    elif sitting.deciding:
        head = f"All {len(sitting.shown)} are decided." if len(sitting.shown) > 1 else "It is decided."
    elif not sitting.shown:
        head = "The filter shows no item."
    elif done < count:
        head = f"Everything that the filter shows is done; {count - done} more are open."
    else:
        head = f"All {count} items are scored." if count != 1 else "The one item is scored."
    lines: list[Line] = [((head, "strong"),), (), *_own_figures(sitting)]
    if review.missing:
        lines += [(), *text_rows(missing_sentence(sitting), width, "dim")]
    lines += [(), (("Next", "dim"),)]
    for key, does in _next_steps(sitting):
        lines += hung(((fill(key, 11), "accent"),), does, "plain", width)
    return lines


def missing_sentence(sitting: Sitting) -> str:
    """Which answers cannot be scored; of hidden ones not whose they are."""
    missing, hidden = sitting.review.missing, sitting.hidden
    names = [key.case if hidden else f"{key.case} · {key.model}" for key in missing[:6]]
    more = f" and {len(missing) - 6} more" if len(missing) > 6 else ""
    are = "answer is" if len(missing) == 1 else "answers are"
    shown = ", ".join(dict.fromkeys(show_line(name, 80) for name in names))
    return f"{len(missing)} {are} missing, and not in the queue: {shown}{more}."


def _own_figures(sitting: Sitting) -> list[Line]:
    """Over all answers together: what tells one model from another is not in it."""
    review = sitting.review
    extents = Counter(stand.mine.extent for stand in sitting.stands if stand.mine is not None)
    worst: dict[int, int] = {}
    for item, stand in zip(review.items, sitting.stands, strict=True):
        if stand.mine is not None and stand.mine.extent not in (None, "n/a"):
            band = band_of(item.criterion.severity, stand.mine.extent, review.rule)
            worst[item.answer] = max(worst.get(item.answer, 0), BANDS.index(band) if band else 0)
    answers = len({item.answer for item in review.items})
    lines: list[Line] = [
        (
            (f"{show_line(review.reviewer, 40)}  ", "plain"),
            (f"{sitting.scored} of {len(review.items)} items of {answers} answers", "plain"),
            (f" · {minutes(sitting.spent_ms)}", "dim"),
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


def _next_steps(sitting: Sitting) -> list[tuple[str, str]]:
    steps = [("[", "back to the last item; u undoes")]
    if sitting.wanted:
        steps.append(("/ Esc", "out of the filter"))
    if sitting.hidden:
        steps.append(("!", "reveal the names: recorded, and not to be undone. Reports and figures come after it"))
    else:
        if sitting.disputed:
            one = sitting.disputed == 1
            steps.append(
                ("a", f"decide the {'one item' if one else f'{sitting.disputed} items'} in which reviewers differ")
            )
        steps += [("f", "figures: bands, means, agreement"), ("o", "write a report of the run to a file")]
    return [*steps, ("Esc", "leave; all is kept")]


def empty_lines(sitting: Sitting, width: int) -> list[Line]:
    """Why there is nothing to score, and what to do."""
    suite = sitting.review.suite
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
    if sitting.review.missing:
        lines += [(), *text_rows(missing_sentence(sitting), width, "dim")]
    return [*lines, (), (("Esc", "accent"), (" goes back", "plain"))]
